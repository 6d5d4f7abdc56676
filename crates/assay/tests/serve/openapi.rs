//! The document that says what is served: complete, as it was looked at, and true.

use super::client::request;
use super::server::{Server, events_path, here, needed};
use serde_json::{Value, json};
use std::process::Command;

/// The version that `scripts/install-deps.sh` installs.
const SCHEMATHESIS: &str = "4.32.5";

/// No 5xx, and only answers that the document has.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
    response_headers_conformance,response_schema_conformance";

fn document(server: &Server) -> Value {
    let answer = request(server.address, "GET", "/openapi.json", &[], "").expect("an answer");
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

#[test]
fn the_document_is_the_one_that_was_looked_at() {
    let found = serde_json::to_string_pretty(&document(&Server::start())).expect("text") + "\n";
    let path = here("openapi.json");
    if std::env::var_os("ASSAY_BLESS").is_some() {
        std::fs::write(&path, &found).expect("ours");
    }
    let wanted = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "ASSAY_BLESS=1 cargo test -p assay --test serve the_document writes it; read the diff"
    );
}

#[test]
fn every_route_of_the_document_answers_and_none_with_a_5xx() {
    let server = Server::start();
    let document = document(&server);
    for (path, item) in document["paths"].as_object().expect("paths") {
        let path = path.replace("{id}", "none").replace("{child}", "none");
        for method in item.as_object().expect("methods").keys() {
            let answer = server.call(&method.to_uppercase(), &path, &Value::Null);
            assert!(answer.status < 500, "{method} {path}: {} {}", answer.status, answer.body);
            let is_missing = answer.status == 404 && answer.body.contains("Route not found");
            assert!(!is_missing, "{method} {path} is not there");
        }
    }
}

#[test]
fn an_error_has_the_type_that_the_document_says() {
    let server = Server::start();
    let document = document(&server);
    let described = |status: u16| {
        let response = &document["components"]["responses"][format!("Error{status}")];
        let shape = response["content"]["application/json"]["schema"]["$ref"].as_str();
        let shape = shape.expect("a shape").rsplit('/').next().expect("a name");
        let kinds = &document["components"]["schemas"][shape]["properties"]["error"]["properties"];
        let text = response["description"].as_str().expect("a text").to_string();
        (kinds["type"]["enum"].clone(), text)
    };
    let large = json!({"name": "x".repeat(2 << 20)});
    let given = [
        server.call("POST", "/v1/agents", &json!({})),
        request(server.address, "GET", "/v1/agents", &[], "").expect("an answer"),
        server.call("GET", "/v1/agents/none", &Value::Null),
        server.call("POST", "/v1/agents", &large),
    ];
    let statuses = [400, 401, 404, 413];
    assert_eq!(given.each_ref().map(|answer| answer.status), statuses);
    for answer in given {
        let (kinds, _) = described(answer.status);
        assert_eq!(kinds, json!([answer.json()["error"]["type"]]), "{}", answer.status);
    }
    // It is more than the body that can be too large.
    let (kinds, text) = described(413);
    assert_eq!(kinds, json!(["request_too_large"]));
    for word in ["body", "file", "record"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

/// What takes away what the others ask for, and what never ends. Each is asked for by itself, when
/// all others were: what it takes away is then no longer needed.
const ENDINGS: [&str; 14] = [
    "CredentialDelete",
    "CredentialArchive",
    "VaultArchive",
    "VaultDelete",
    "ResourceDelete",
    "SessionDelete",
    "SessionArchive",
    "AgentArchive",
    "EnvironmentArchive",
    "EnvironmentDelete",
    "FileDelete",
    "SkillVersionDelete",
    "SkillDelete",
    STREAM,
];
const STREAM: &str = "EventStream";

/// Asks what the document allows, of a session and an agent that are there.
fn ask(server: &Server, selection: &[&str]) {
    let programs = format!("python/schemathesis-{SCHEMATHESIS}/bin");
    // Not by itself: it says where its interpreter was when it was installed.
    let ended = Command::new(needed(&format!("{programs}/python3")))
        .arg(needed(&format!("{programs}/st")))
        // It reads its settings and keeps its notes where it runs.
        .current_dir(&server.data)
        .args(["run", "--no-color", "--seed", "9", "--max-examples", "12"])
        .args(["--checks", CHECKS, "--request-timeout", "30"])
        .args(selection)
        .args(["-H", &format!("x-api-key: {}", server.key)])
        .args(["-H", "anthropic-beta: managed-agents-2026-04-01"])
        .arg(format!("http://{}/openapi.json", server.address))
        .output()
        .expect("schemathesis");
    let said = String::from_utf8_lossy(&ended.stdout);
    let complaints = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}\n{complaints}\n{}", server.log());
    assert!(said.contains("generated") && !server.log().contains("panic"), "{said}");
}

/// One of everything: which paths lead to it, and what stands there for `{id}` and `{child}`.
fn things(server: &Server) -> Vec<(&'static str, Value, Value)> {
    let mut wish = server.place(&Value::Null);
    let file = server.file("x");
    wish["resources"] = json!([{"type": "file", "file_id": file, "mount_path": "x"}]);
    let session = server.ok("POST", "/v1/sessions", &wish);
    let vault = server.ok("POST", "/v1/vaults", &json!({"display_name": "v"}));
    let auth = json!({"type": "static_bearer", "token": "t",
        "mcp_server_url": "https://m.example.com/mcp"});
    let path = format!("/v1/vaults/{}/credentials", vault["id"].as_str().expect("an id"));
    let credential = server.ok("POST", &path, &json!({"auth": auth}));
    let text = "---\nname: s\ndescription: d\n---\n";
    let skill = server.upload("/v1/skills", &[("files[]", "s/SKILL.md", text)]);
    assert_eq!(skill.status, 200, "{}", skill.body);
    vec![
        ("sessions", session["id"].clone(), session["resources"][0]["id"].clone()),
        ("agents", wish["agent"].clone(), Value::Null),
        ("environments", wish["environment_id"].clone(), Value::Null),
        ("files", json!(file), Value::Null),
        ("vaults", vault["id"].clone(), credential["id"].clone()),
        ("skills", skill.json()["id"].clone(), json!("latest")),
        ("models", json!("scripted"), Value::Null),
    ]
}

#[test]
fn whatever_the_document_allows_gets_an_answer_that_it_describes() {
    let server = Server::start();
    let settings = things(&server).into_iter().map(|(kind, id, child)| {
        assert!(id.is_string(), "{kind}");
        let child = child.as_str().map(|id| format!(", \"path.child\" = \"{id}\""));
        let child = child.unwrap_or_default();
        format!(
            "[[operations]]\ninclude-path-regex = \"^/v1/{kind}/\"\n\
             parameters = {{ \"path.id\" = {id}{child} }}\n"
        )
    });
    let settings: String = settings.collect();
    std::fs::write(server.data.join("schemathesis.toml"), settings).expect("ours");
    let left_out = ENDINGS.iter().flat_map(|id| ["--exclude-operation-id", *id]);
    ask(&server, &left_out.collect::<Vec<_>>());
    let endings = ENDINGS.iter().filter(|id| **id != STREAM);
    let endings = endings.flat_map(|id| ["--include-operation-id", *id]);
    ask(&server, &endings.collect::<Vec<_>>());
}

/// Which of these are not what the document says: names of shapes, and what has to be like them.
fn strange(server: &Server, cases: &[(String, Value)]) -> Vec<usize> {
    let (told, asked) = (server.data.join("document.json"), server.data.join("cases.json"));
    std::fs::write(&told, document(server).to_string()).expect("ours");
    std::fs::write(&asked, json!(cases).to_string()).expect("ours");
    let python = needed(&format!("python/schemathesis-{SCHEMATHESIS}/bin/python3"));
    let ran = Command::new(python).arg(here("conforms.py")).args([told, asked]).output();
    let ran = ran.expect("python");
    assert!(ran.status.success(), "{ran:?}");
    let said = String::from_utf8(ran.stdout).expect("text");
    eprint!("{said}");
    said.lines()
        .map(|line| line.split(' ').next().expect("a number").parse().expect("one"))
        .collect()
}

#[test]
fn a_document_of_a_message_is_taken_exactly_if_it_is_as_the_document_says() {
    let server = Server::start();
    let session = server.ok("POST", "/v1/sessions", &server.place(&Value::Null));
    let path = events_path(session["id"].as_str().expect("an id"));
    let (long, longer) = ("x".repeat(127), "x".repeat(128));
    let (longest, no_kind) = (format!("{long}/{long}"), format!("{longer}/b"));
    let no_sort = format!("a/{longer}");
    let kinds = [
        ("application/pdf", true),
        ("application/x_y", true),
        ("application/vnd.a.b+zip", true),
        ("a/!#$&-^_.+", true),
        (longest.as_str(), true),
        (no_kind.as_str(), false),
        (no_sort.as_str(), false),
        ("application", false),
        ("application/", false),
        ("/pdf", false),
        ("a/b/c", false),
        ("a/b c", false),
        ("a/b; c=d", false),
        ("a/ü", false),
    ];
    let source = |kind: &str| json!({"type": "base64", "media_type": kind, "data": "AAAA"});
    for (kind, is_taken) in kinds {
        let block = json!({"type": "document", "source": source(kind)});
        let message = json!({"type": "user.message", "content": [block]});
        let answer = server.call("POST", &path, &json!({"events": [message]}));
        assert_eq!(answer.status == 200, is_taken, "{kind}: {}", answer.body);
    }
    let cases = kinds.map(|(kind, _)| ("DocumentSource".to_string(), source(kind)));
    let wrong = (0..kinds.len()).filter(|at| !kinds[*at].1).collect::<Vec<_>>();
    assert_eq!(strange(&server, &cases), wrong);
}

#[test]
fn everything_that_sessions_show_is_as_the_document_says_to_the_last_field() {
    let server = Server::start();
    let mut wish = server.place(&Value::Null);
    wish["resources"] = json!([{"type": "file", "file_id": server.file("x")}]);
    let session = server.ok("POST", "/v1/sessions", &wish);
    let id = session["id"].as_str().expect("an id");
    let answer = |event: Value| server.ok("POST", &events_path(id), &json!({"events": [event]}));
    let events = server.turn(id, "weather");
    let call = events.iter().find(|event| event["type"] == "agent.custom_tool_use");
    let text = json!([{"type": "text", "text": "sunny"}]);
    answer(
        json!({"type": "user.custom_tool_result", "custom_tool_use_id": call.expect("a call")["id"],
        "content": text}),
    );
    server.rest(id, events.last().expect("idle")["id"].as_str().expect("an id"));
    for words in ["read", "think", "overload", "exhaust", "broken", "really"] {
        server.turn(id, words);
    }
    server.ok(
        "POST",
        &format!("/v1/sessions/{id}"),
        &json!({"title": "t", "metadata": {"a": "b"}}),
    );
    answer(json!({"type": "user.interrupt"}));
    let archived = server.ok("POST", &format!("/v1/sessions/{id}/archive"), &Value::Null);
    let listed = server.listed(id);
    let kinds: std::collections::BTreeSet<&str> =
        listed.iter().filter_map(|event| event["type"].as_str()).collect();
    assert!(kinds.len() > 12, "{kinds:?}");
    let get = |path: &str| server.ok("GET", path, &Value::Null);
    let one = |name: &str, value: &Value| (name.to_string(), value.clone());
    let mut cases = vec![
        one("Session", &session),
        one("Session", &archived),
        one("SessionList", &get("/v1/sessions?include_archived=true")),
        one("AgentList", &get("/v1/agents")),
        one("EnvironmentList", &get("/v1/environments")),
        one("ModelList", &get("/v1/models")),
    ];
    cases.extend(listed.iter().map(|event| one("Event", event)));
    assert_eq!(strange(&server, &cases), [0; 0]);
    // Each of them with one field more, or of another type, is something else.
    let spoil = |(name, value): &(String, Value)| {
        let (mut more, mut other) = (value.clone(), value.clone());
        match value.get("data") {
            Some(_) => more["data"][0]["more"] = json!(1),
            None => more["more"] = json!(1),
        }
        match value.get("data") {
            Some(_) => other["data"][0]["id"] = json!(1),
            None => other["type"] = json!("other"),
        }
        [(name.clone(), more), (name.clone(), other)]
    };
    let spoiled: Vec<(String, Value)> = cases.iter().flat_map(spoil).collect();
    assert_eq!(strange(&server, &spoiled), (0..spoiled.len()).collect::<Vec<_>>());
}

//! Secrets come in and never go out: not in answers, not in the log, not in the files.

use super::client::Answer;
use super::server::{Server, assay, call, make_key};
use serde_json::{Value, json};
use std::path::Path;

const TOKENS: [&str; 4] =
    ["sk-leak-one-1111", "sk-leak-two-2222", "sk-leak-three-3333", "sk-leak-four-4444"];

/// Every file below a directory.
pub fn files(directory: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(directory).expect("ours").flatten() {
        match entry.path().is_dir() {
            true => files(&entry.path(), found),
            false => found.push((
                entry.path().display().to_string(),
                std::fs::read(entry.path()).expect("ours"),
            )),
        }
    }
}

pub fn holds(bytes: &[u8], token: &str) -> bool {
    bytes.windows(token.len()).any(|window| window == token.as_bytes())
}

#[test]
fn no_secret_is_in_any_answer_log_or_file() {
    let server = Server::start();
    let mut said: Vec<Answer> = Vec::new();
    let mut ask = |method: &str, path: &str, body: Value| -> Value {
        let answer = server.call(method, path, &body);
        let json = answer.json();
        said.push(answer);
        json
    };
    let vault = ask("POST", "/v1/vaults", json!({"display_name": "v", "metadata": {"a": "b"}}));
    let path = format!("/v1/vaults/{}/credentials", vault["id"].as_str().expect("an id"));
    let auth = |url: &str, token: &str| {
        let auth = json!({"type": "static_bearer", "mcp_server_url": url, "token": token});
        json!({ "auth": auth })
    };
    let one = ask("POST", &path, auth("https://one.example/mcp", TOKENS[0]));
    let shown = json!({"type": "static_bearer", "mcp_server_url": "https://one.example/mcp"});
    assert_eq!(one["auth"], shown);
    let oauth = json!({"auth": {"type": "mcp_oauth", "mcp_server_url": "https://two.example",
        "access_token": TOKENS[1], "expires_at": "2030-01-01T00:00:00+01:00"}});
    let two = ask("POST", &path, oauth);
    assert_eq!(two["auth"]["expires_at"], "2029-12-31T23:00:00.000Z", "{two}");
    let one_path = format!("{path}/{}", one["id"].as_str().expect("an id"));
    let change = json!({"auth": {"type": "static_bearer", "token": TOKENS[2]}});
    ask("POST", &one_path, change);
    // What is refused is not repeated either.
    let refused = [
        auth("https://one.example/mcp", TOKENS[3]),
        auth(&format!("https://u:{}@x.example", TOKENS[3]), TOKENS[3]),
        auth("ftp://x.example", TOKENS[3]),
        auth("https://x.example", &format!("{} with spaces", TOKENS[3])),
        auth("https://x.example", &TOKENS[3].repeat(2000)),
        json!({"auth": {"type": TOKENS[3]}}),
        json!({"auth": TOKENS[3]}),
        json!({"auth": {"type": "environment_variable", "secret_value": TOKENS[3]}}),
        json!({"auth": {"type": "mcp_oauth", "mcp_server_url": "https://x.example",
            "access_token": TOKENS[3], "refresh": {"refresh_token": TOKENS[3]}}}),
        json!({"auth": {"type": "mcp_oauth", "mcp_server_url": "https://x.example",
            "access_token": TOKENS[3], "expires_at": TOKENS[3]}}),
    ];
    for body in refused {
        let error = ask("POST", &path, body);
        assert_eq!(error["type"], "error", "{error}");
    }
    ask("GET", &path, Value::Null);
    ask("GET", &one_path, Value::Null);
    ask("POST", &format!("{one_path}/archive"), Value::Null);
    ask("GET", "/v1/vaults", Value::Null);
    let mut kept = Vec::new();
    files(&server.data, &mut kept);
    assert!(kept.iter().any(|(path, _)| path.ends_with("store.sqlite")), "the store is looked at");
    let credential = two["id"].as_str().expect("an id");
    assert!(kept.iter().any(|(_, bytes)| holds(bytes, credential)), "it could be found");
    let master = std::fs::read_to_string(server.data.join("master.key")).expect("made");
    for token in TOKENS {
        let told = said.iter().find(|answer| answer.body.contains(token));
        assert!(told.is_none(), "{token} in {}", told.expect("some").body);
        assert!(!server.log().contains(token), "{token} in the log");
        let place = kept.iter().find(|(_, bytes)| holds(bytes, token));
        assert!(place.is_none(), "{token} in {}", place.expect("some").0);
    }
    let copies = kept.iter().filter(|(_, bytes)| holds(bytes, master.trim()));
    let copies: Vec<&String> = copies.map(|(path, _)| path).collect();
    assert!(matches!(copies.as_slice(), [only] if only.ends_with("master.key")), "{copies:?}");
}

#[test]
fn vaults_and_credentials_have_their_lives() {
    let server = Server::start();
    let other = make_key(&server.data, "other");
    let vault = server.ok("POST", "/v1/vaults", &json!({"display_name": "v"}));
    let at = format!("/v1/vaults/{}", vault["id"].as_str().expect("an id"));
    let path = format!("{at}/credentials");
    let auth = |url: &str| {
        let auth = json!({"type": "static_bearer", "mcp_server_url": url, "token": "t"});
        json!({"auth": auth})
    };
    let first = server.ok("POST", &path, &auth("https://a.example"));
    let first = format!("{path}/{}", first["id"].as_str().expect("an id"));
    let twice = server.call("POST", &path, &auth("https://a.example"));
    assert_eq!((twice.status, twice.header("x-should-retry")), (409, Some("false")));
    let cases = [
        (json!({"auth": {"type": "mcp_oauth"}}), "auth.type"),
        (json!({"auth": {"type": "static_bearer", "mcp_server_url": "https://b.example"}}), "url"),
        (json!({"auth": {"type": "static_bearer", "expires_at": null}}), "expires_at"),
        (json!({"colour": "red"}), "`colour`"),
    ];
    for (body, expected) in cases {
        let answer = server.call("POST", &first, &body);
        assert_eq!(answer.status, 400, "{expected}: {}", answer.body);
        assert!(answer.message().contains(expected), "{}", answer.body);
    }
    let named = server.ok("POST", &first, &json!({"display_name": "n", "metadata": {"k": "v"}}));
    assert_eq!((&named["display_name"], &named["metadata"]["k"]), (&json!("n"), &json!("v")));
    for path in [&at, &path, &first] {
        let foreign = call(server.address, &other, "GET", path, &Value::Null, &[]);
        assert_eq!(foreign.expect("an answer").status, 404, "{path}");
    }
    server.ok("POST", &format!("{first}/archive"), &Value::Null);
    assert_eq!(server.call("POST", &first, &json!({})).status, 400, "archived");
    let again = server.ok("POST", &path, &auth("https://a.example"));
    assert_eq!(again["archived_at"], Value::Null, "archiving has freed the address");
    let count = |path: String| {
        let page = server.ok("GET", &path, &Value::Null);
        page["data"].as_array().expect("a list").len()
    };
    assert_eq!((count(path.clone()), count(format!("{path}?include_archived=true"))), (1, 2));
    for index in 0..19 {
        server.ok("POST", &path, &auth(&format!("https://{index}.example")));
    }
    let many = server.call("POST", &path, &auth("https://more.example"));
    assert!(many.message().contains("at most 20"), "{}", many.body);
    let archived = server.ok("POST", &format!("{at}/archive"), &Value::Null);
    assert!(archived["archived_at"].is_string());
    assert_eq!(count(path.clone()), 0, "its credentials go with it");
    assert_eq!(server.call("POST", &path, &auth("https://b.example")).status, 400);
    let gone = server.ok("DELETE", &first, &Value::Null);
    assert_eq!(gone["type"], "vault_credential_deleted");
    assert_eq!(server.ok("DELETE", &at, &Value::Null)["type"], "vault_deleted");
    assert_eq!(server.call("GET", &path, &Value::Null).status, 404);
}

#[test]
fn a_store_is_served_only_with_the_key_that_sealed_it() {
    let mut server = Server::start();
    server.kill();
    let serve = |master: Option<&str>, arguments: &[&str]| {
        let mut command = assay();
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(arguments);
        command.arg("--data").arg(&server.data).env_remove("ASSAY_MASTER_KEY");
        if let Some(master) = master {
            command.env("ASSAY_MASTER_KEY", master);
        }
        let ended = command.output().expect("the binary");
        (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
    };
    let wrong = "A".repeat(43);
    let (code, said) = serve(Some(&wrong), &[]);
    assert_eq!(code, Some(69), "{said}");
    assert!(said.contains("is not the one that sealed"), "{said}");
    assert!(!said.contains(&wrong), "{said}");
    let (_, said) = serve(Some("nonsense"), &[]);
    assert!(said.contains("32 bytes in base64") && !said.contains("nonsense"), "{said}");
    let (_, said) = serve(None, &["--master-key-file", "nowhere"]);
    assert!(said.contains("cannot read the master key"), "{said}");
    let path = server.data.join("master.key");
    let right = std::fs::read_to_string(&path).expect("made at the first start");
    std::fs::remove_file(&path).expect("ours");
    let (_, said) = serve(None, &[]);
    assert!(said.contains("the master key is missing") && !path.exists(), "{said}");
    std::fs::write(&path, right).expect("ours");
    server.kill_and_restart();
    server.ok("GET", "/v1/vaults", &Value::Null);
}

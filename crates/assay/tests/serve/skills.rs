//! Skills: uploaded once, pinned when a session begins, and there for its tools to read.

use super::endpoint::{Endpoint, says};
use super::server::Server;
use serde_json::{Value, json};

fn manual(name: &str, text: &str) -> String {
    format!("---\nname: {name}\ndescription: Reads tables.\n---\n{text}\n")
}

fn upload(server: &Server, path: &str, name: &str, text: &str) -> Value {
    let (manual, file) = (manual(name, text), format!("{name}/SKILL.md"));
    let notes = format!("{name}/x/notes.txt");
    let parts = [("files[]", file.as_str(), manual.as_str()), ("files[]", &notes, text)];
    let answer = server.upload(path, &parts);
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

fn id(wire: &Value) -> &str {
    wire["id"].as_str().expect("an id")
}

#[test]
fn a_session_has_the_version_of_a_skill_that_was_the_newest_when_it_began() {
    let mut server = Server::start();
    let skill = upload(&server, "/v1/skills", "tables", "one");
    assert_eq!((&skill["display_title"], &skill["source"]), (&json!("tables"), &json!("custom")));
    let versions = format!("/v1/skills/{}/versions", id(&skill));
    let agent = json!({"skills": [{"type": "custom", "skill_id": id(&skill)}]});
    let wish = server.place(&agent);
    let first = server.ok("POST", "/v1/sessions", &wish);
    let pinned = json!([{"type": "custom", "skill_id": id(&skill),
        "version": skill["latest_version"]}]);
    assert_eq!(first["agent"]["skills"], pinned);
    let second = upload(&server, &versions, "tables", "two");
    assert!(second["version"].as_str() > skill["latest_version"].as_str(), "versions only grow");
    let later = server.ok("POST", "/v1/sessions", &wish);
    server.kill_and_restart();
    let read = |session: &Value| {
        let directory = server.data.join("workspaces/default").join(id(session));
        std::fs::read_to_string(directory.join("skills/tables/x/notes.txt"))
    };
    assert_eq!(read(&first).expect("placed"), "one");
    assert_eq!(read(&later).expect("placed"), "two");
    let content = format!("{versions}/latest/content");
    let headers = server.headers();
    let zip = super::client::request_bytes(server.address, "GET", &content, &headers);
    assert!(zip.expect("an answer").starts_with(b"PK"), "a zip");
    // What is deleted stays in the sessions that have it.
    let page = server.ok("GET", &versions, &Value::Null);
    assert_eq!(page["data"].as_array().map(Vec::len), Some(2));
    let refused = server.call("DELETE", &format!("/v1/skills/{}", id(&skill)), &Value::Null);
    assert!(refused.message().contains("has versions"), "{}", refused.body);
    for _ in 0..2 {
        let gone = server.ok("DELETE", &format!("{versions}/latest"), &Value::Null);
        assert_eq!(gone["type"], "skill_version_deleted");
    }
    server.ok("DELETE", &format!("/v1/skills/{}", id(&skill)), &Value::Null);
    assert_eq!(read(&first).expect("its own copy"), "one");
    let left = std::fs::read_dir(server.data.join("skills")).expect("there").count();
    assert_eq!(left, 0, "nothing else has one");
    let dangling = server.call("POST", "/v1/sessions", &wish);
    assert!(dangling.message().contains("agent.skills"), "{}", dangling.body);
}

#[test]
fn an_agent_is_told_which_skills_it_has_and_where_they_are() {
    let endpoint = Endpoint::start();
    let mut server = endpoint.server("");
    let folded = "---\nname: tables\ndescription: |\n  Reads\n  tables.\n---\nx\n";
    let parts = [("files[]", "tables/SKILL.md", folded)];
    let skill = server.upload("/v1/skills", &parts);
    assert_eq!(skill.status, 200, "{}", skill.body);
    let skill = skill.json();
    let agent = json!({
        "name": "a", "model": "m", "system": "You are terse.",
        "tools": [{"type": "agent_toolset_20260401"}],
        "skills": [{"type": "custom", "skill_id": id(&skill)}],
    });
    let session = server.session_of(&agent, &json!({"name": "e"}));
    let versions = format!("/v1/skills/{}/versions", id(&skill));
    let newer = "---\nname: tables\ndescription: Draws chairs.\n---\nx\n";
    let answer = server.upload(&versions, &[("files[]", "tables/SKILL.md", newer)]);
    assert_eq!(answer.status, 200, "{}", answer.body);
    endpoint.give([says("One."), says("Two.")]);
    server.turn(&session, "hi");
    server.kill_and_restart();
    server.turn(&session, "hi");
    let expected = "You are terse.\n\nYou have skills. Before you use one, read what it says:\n\
        - tables: Reads tables. (read /workspace/skills/tables/SKILL.md)";
    for asked in endpoint.asked() {
        assert_eq!(asked["system"], expected);
    }
    let later = server.session_of(&agent, &json!({"name": "e"}));
    endpoint.give([says("Three.")]);
    server.turn(&later, "hi");
    let system = endpoint.asked()[2]["system"].to_string();
    assert!(system.contains("Draws chairs.") && !system.contains("Reads"), "{system}");
}

const TAMPERS: &str = r#"
[[turn]]
when = "tamper"
steps = [
    { call = "read", input = { path = "/workspace/NOTES" } },
    { call = "write", input = { path = "NOTES", content = "two" } },
    { call = "write", input = { path = "/workspace/skills/other/SKILL.md", content = "two" } },
    { call = "edit", input = { path = "NOTES", old_string = "o", new_string = "t" } },
    { call = "bash", input = { command = "echo two > $ASSAY_SKILLS/tables/x/notes.txt" } },
    { call = "bash", input = { command = "rm -r $ASSAY_SKILLS/tables/x" } },
    { call = "bash", input = { command = "mkdir $ASSAY_SKILLS/new" } },
    { call = "bash", input = { command = "cat $ASSAY_SKILLS/tables/x/notes.txt" } },
    { call = "bash", input = { command = "cd $ASSAY_WORKSPACE; mv skills a; ln -s / skills; :" } },
    { call = "read", input = { path = "NOTES" } },
]
"#;

#[test]
fn tools_can_read_the_skills_of_their_session_and_not_change_them() {
    let mut server = Server::scripted(&TAMPERS.replace("NOTES", "skills/tables/x/notes.txt"));
    let skill = upload(&server, "/v1/skills", "tables", "one");
    let agent = json!({"skills": [{"type": "custom", "skill_id": id(&skill)}]});
    let session = server.ok("POST", "/v1/sessions", &server.place(&agent));
    for _ in 0..2 {
        let gave = super::tools::results(&server.turn(id(&session), "tamper"));
        let failed: Vec<bool> = gave.iter().map(|(_, is_error)| *is_error).collect();
        let expected = [false, true, true, true, true, true, true, false, false, false];
        assert_eq!(failed, expected, "{gave:?}");
        for index in [0, 7, 9] {
            assert!(gave[index].0.contains("one"), "{gave:?}");
        }
        for index in [1, 2, 3] {
            assert!(gave[index].0.contains("skills can only be read"), "{gave:?}");
        }
        server.kill_and_restart();
    }
}

#[test]
fn what_is_no_skill_or_cannot_be_read_by_an_agent_is_refused() {
    let server = Server::start();
    let good = manual("tables", "x");
    type Parts<'a> = &'a [(&'a str, &'a str, &'a str)];
    let cases: [(Parts, &str); 5] = [
        (&[], "files: Field required"),
        (&[("files[]", "SKILL.md", &good)], "must be a path like"),
        (&[("files[]", "tables/SKILL.md", "no head")], "must begin with"),
        (&[("files[]", "other/SKILL.md", &good)], "name of the skill"),
        (&[("files[]", "tables/SKILL.md", &good), ("colour", "", "red")], "`colour`"),
    ];
    for (parts, expected) in cases {
        let answer = server.upload("/v1/skills", parts);
        assert_eq!(answer.status, 400, "{expected}: {}", answer.body);
        assert!(answer.message().contains(expected), "{}", answer.body);
    }
    let skill = upload(&server, "/v1/skills", "tables", "x");
    let parts = [("files[]", "tables/SKILL.md", good.as_str())];
    let twice = server.upload("/v1/skills", &parts);
    assert!(twice.message().contains("has this title"), "{}", twice.body);
    assert_eq!(std::fs::read_dir(server.data.join("skills")).expect("there").count(), 1);
    let reference = |more: Value| {
        let mut skill = json!({"type": "custom", "skill_id": id(&skill)});
        for (field, value) in more.as_object().into_iter().flatten() {
            skill[field] = value.clone();
        }
        skill
    };
    let cases = [
        (json!([reference(json!({"type": "anthropic"}))]), "skills[0].type"),
        (json!([reference(json!({"skill_id": "skill_none"}))]), "skill_none"),
        (json!([reference(json!({"version": "1"}))]), "version 1"),
        (json!([reference(json!({})), reference(json!({}))]), "skills[1].skill_id: is there twice"),
    ];
    for (skills, expected) in cases {
        let agent = json!({"name": "a", "model": "scripted", "skills": skills});
        let answer = server.call("POST", "/v1/agents", &agent);
        assert_eq!(answer.status, 400, "{expected}: {}", answer.body);
        assert!(answer.message().contains(expected), "{}", answer.body);
    }
    let blind = server.place(&json!({"tools": [], "skills": [reference(json!({}))]}));
    let answer = server.call("POST", "/v1/sessions", &blind);
    assert!(answer.message().contains("skills require the read tool"), "{}", answer.body);
    let left = std::fs::read_dir(server.data.join("workspaces/default"));
    assert_eq!(left.map_or(0, Iterator::count), 0);
}

#[test]
fn names_in_a_skill_may_be_as_long_as_file_systems_have_them_and_no_longer() {
    let server = Server::start();
    let manual = manual("tables", "x");
    for (bytes, status) in [(256, 400), (255, 200)] {
        let long = format!("tables/x/{}", "y".repeat(bytes));
        let parts = [("files[]", "tables/SKILL.md", manual.as_str()), ("files[]", &long, "z")];
        let answer = server.upload("/v1/skills", &parts);
        assert_eq!(answer.status, status, "{bytes}: {}", answer.body);
        assert!(status == 200 || answer.message().contains("255 in each part"), "{}", answer.body);
    }
}

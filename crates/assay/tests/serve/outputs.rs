//! What tools leave in the outputs directory becomes files of the session.

use super::server::{Server, events_path};
use super::tools::wait_for;
use serde_json::{Value, json};

const SCRIPT: &str = r#"
[[turn]]
when = "make"
steps = [{ call = "bash", input = { command = '''
cd $ASSAY_OUTPUTS
echo one > a.txt
mkdir -p d
echo two > d/b.json
ln -sf /etc/passwd link''' } }]

[[turn]]
when = "change"
steps = [{ call = "bash", input = { command = "cd $ASSAY_OUTPUTS; echo three >> a.txt" } }]

[[turn]]
when = "ask"
steps = [
    { call = "write", input = { path = "/mnt/session/outputs/a.txt", content = "left" } },
    { call = "bash", input = { command = "echo no" } },
]

[[turn]]
when = "clash"
steps = [{ call = "bash", input = { command = '''
cd $ASSAY_OUTPUTS
cp a.txt d/a.txt
rm d/b.json''' } }]

[[turn]]
steps = [{ say = "ok" }]
"#;

fn session(server: &Server) -> String {
    let tools = json!([{"type": "agent_toolset_20260401"}]);
    let agent = json!({"name": "a", "model": "scripted", "tools": tools});
    server.session_of(&agent, &json!({"name": "e"}))
}

fn files(server: &Server, session: &str) -> Vec<Value> {
    let listed = server.ok("GET", &format!("/v1/files?scope_id={session}"), &Value::Null);
    let mut files = listed["data"].as_array().expect("a list").clone();
    files.sort_by_key(|file| file["filename"].to_string());
    files
}

#[test]
fn outputs_are_files_at_the_end_of_a_turn_and_go_with_their_session() {
    let mut server = Server::scripted(SCRIPT);
    let session = session(&server);
    server.turn(&session, "make");
    let made = files(&server, &session);
    assert_eq!(made.len(), 2, "links are none: {made:?}");
    let shape = json!({"type": "file", "filename": "a.txt", "mime_type": "text/plain",
        "size_bytes": 4, "downloadable": true, "scope": {"type": "session", "id": session},
        "expires_at": null});
    for (field, value) in shape.as_object().expect("fields") {
        assert_eq!(made[0][field], *value, "{field}");
    }
    let id = |file: &Value| file["id"].as_str().expect("an id").to_string();
    let content = |server: &Server, file: &Value| {
        server.call("GET", &format!("/v1/files/{}/content", id(file)), &Value::Null)
    };
    assert_eq!(content(&server, &made[1]).body, "two\n");
    server.kill_and_restart();
    assert_eq!(content(&server, &made[0]).body, "one\n");
    server.turn(&session, "change");
    let changed = files(&server, &session);
    assert_eq!(id(&changed[1]), id(&made[1]), "what did not change keeps its id");
    assert_ne!(id(&changed[0]), id(&made[0]));
    assert_eq!(content(&server, &changed[0]).body, "one\nthree\n");
    assert_eq!(content(&server, &made[0]).status, 404);
    // A set that cannot be taken as a whole leaves what was there.
    server.turn(&session, "clash");
    assert_eq!(files(&server, &session), changed);
    let other = self::session(&server);
    assert_eq!(files(&server, &other), Vec::<Value>::new());
    assert_eq!(server.turn(&other, "nothing").len(), 5);
    let workspace = server.data.join("workspaces/default").join(&session);
    assert!(workspace.is_dir());
    server.ok("DELETE", &format!("/v1/sessions/{session}"), &Value::Null);
    assert_eq!(files(&server, &session), Vec::<Value>::new());
    assert!(!workspace.exists(), "its workspace is gone");
    let left = std::fs::read_dir(server.data.join("objects")).expect("ours").count();
    assert_eq!(left, 0, "and its bytes");
}

#[test]
fn what_a_turn_left_that_waits_is_kept_when_its_session_is_archived() {
    let server = Server::scripted(SCRIPT);
    let bash = json!({"name": "bash", "permission_policy": {"type": "always_ask"}});
    let tools = json!([{"type": "agent_toolset_20260401", "configs": [bash]}]);
    let agent = json!({"name": "a", "model": "scripted", "tools": tools});
    let begin = || {
        let session = server.session_of(&agent, &json!({"name": "e"}));
        server.turn(&session, "ask");
        session
    };
    let (archived, deleted) = (begin(), begin());
    server.ok("POST", &format!("/v1/sessions/{archived}/archive"), &Value::Null);
    wait_for("what it left", || files(&server, &archived).len() == 1);
    assert_eq!(files(&server, &archived)[0]["filename"], "a.txt");
    // Of one that is deleted nothing is left, also not what its turn copies meanwhile.
    server.ok("DELETE", &format!("/v1/sessions/{deleted}"), &Value::Null);
    let last = begin();
    let interrupt = json!({"events": [{"type": "user.interrupt"}]});
    server.ok("POST", &events_path(&last), &interrupt);
    server.turn(&last, "nothing");
    let objects = || std::fs::read_dir(server.data.join("objects")).expect("ours").count();
    wait_for("as many copies as files", || objects() == 2);
    assert_eq!(files(&server, &last).len(), 1);
}

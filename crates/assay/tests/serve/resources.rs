//! Files in sessions: copies that are there before the first tool, and as long as the session.

use super::client::Connection;
use super::server::{Server, make_key};
use super::tools::wait_for;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn uploads(server: &Server, session: &str) -> PathBuf {
    server.data.join("workspaces/default").join(session).join("uploads")
}

fn read(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

fn workspaces(server: &Server) -> usize {
    let place = server.data.join("workspaces/default");
    std::fs::read_dir(place).map_or(0, Iterator::count)
}

fn id(wire: &Value) -> &str {
    wire["id"].as_str().expect("an id")
}

#[test]
fn a_file_in_a_session_is_a_copy_that_outlives_its_upload_and_goes_with_the_session() {
    let mut server = Server::start();
    let (first, second) = (server.file("first"), server.file("second"));
    let mut wish = server.place(&Value::Null);
    wish["resources"] = json!([{"type": "file", "file_id": first, "mount_path": "/data/a.txt"}]);
    let session = server.ok("POST", "/v1/sessions", &wish);
    let resource = &session["resources"][0];
    assert_eq!(resource["mount_path"], "/mnt/session/uploads/data/a.txt");
    assert_eq!(resource["file_id"], first.as_str());
    let (session, resource) = (id(&session).to_string(), id(resource).to_string());
    let place = uploads(&server, &session);
    assert_eq!(read(&place.join("data/a.txt")).as_deref(), Some("first"));
    let path = format!("/v1/sessions/{session}/resources");
    let added = server.ok("POST", &path, &json!({"type": "file", "file_id": second}));
    assert_eq!(added["mount_path"], format!("/mnt/session/uploads/{second}"));
    assert_eq!(read(&place.join(&second)).as_deref(), Some("second"));
    for file in [&first, &second] {
        server.ok("DELETE", &format!("/v1/files/{file}"), &Value::Null);
    }
    server.kill_and_restart();
    assert_eq!(read(&place.join("data/a.txt")).as_deref(), Some("first"));
    let page = server.ok("GET", &format!("{path}?limit=1"), &Value::Null);
    let next = page["next_page"].as_str().expect("more");
    let last = server.ok("GET", &format!("{path}?limit=1&page={next}"), &Value::Null);
    assert_eq!((id(&page["data"][0]), id(&last["data"][0])), (resource.as_str(), id(&added)));
    assert_eq!(last["next_page"], Value::Null);
    let gone = server.ok("DELETE", &format!("{path}/{resource}"), &Value::Null);
    assert_eq!(gone, json!({"id": resource, "type": "session_resource_deleted"}));
    assert_eq!(read(&place.join("data/a.txt")), None);
    let shown = server.ok("GET", &format!("/v1/sessions/{session}"), &Value::Null);
    assert_eq!(shown["resources"], json!([added]));
    server.ok("DELETE", &format!("/v1/sessions/{session}"), &Value::Null);
    assert_eq!(workspaces(&server), 0, "nothing is left of it");
}

#[test]
fn what_cannot_be_mounted_leaves_nothing_behind() {
    let server = Server::start();
    let other = make_key(&server.data, "other");
    let file = server.file("x");
    let large = server.file(&"x".repeat(19 * 1024 * 1024));
    let wish = server.place(&Value::Null);
    let mount = |path: &str| json!({"type": "file", "file_id": file, "mount_path": path});
    let big = |path: &str| json!({"type": "file", "file_id": large, "mount_path": path});
    let many: Vec<Value> = (0..101).map(|index| mount(&index.to_string())).collect();
    let cases = [
        (json!([{"type": "github_repository", "url": "https://x.org"}]), "github_repository."),
        (json!([{"type": "file"}]), "resources[0].file_id: Field required"),
        (json!([{"type": "file", "file_id": "file_none"}]), "file_none not found"),
        (json!([mount("../etc/passwd")]), "escapes /uploads/"),
        (json!([mount("a"), mount("a/b")]), "overlaps another resource"),
        (json!([{"type": "file", "file_id": file, "mode": 1}]), "`resources[0].mode`"),
        (json!([big("a"), big("b"), big("c")]), "at most 50 MiB"),
        (json!(many), "at most 100 files"),
    ];
    for (resources, expected) in cases {
        let mut wish = wish.clone();
        wish["resources"] = resources;
        let answer = server.call("POST", "/v1/sessions", &wish);
        assert_eq!(answer.status, 400, "{expected}: {}", answer.body);
        assert!(answer.message().contains(expected), "{expected}: {}", answer.body);
    }
    let mut unusable = wish.clone();
    (unusable["environment_id"], unusable["resources"]) = (json!("env_none"), json!([mount("a")]));
    assert_eq!(server.call("POST", "/v1/sessions", &unusable).status, 400);
    assert_eq!(workspaces(&server), 0);
    let session = server.ok("POST", "/v1/sessions", &wish);
    let path = format!("/v1/sessions/{}/resources", id(&session));
    let added = server.ok("POST", &path, &mount("a"));
    assert_eq!(server.call("POST", &path, &mount("a")).status, 400, "it is there already");
    assert_eq!(server.call("POST", &path, &mount("a/b")).status, 400);
    let change = json!({"authorization_token": "t"});
    let refused = server.call("POST", &format!("{path}/{}", id(&added)), &change);
    assert!(refused.message().contains("authorization_token"), "{}", refused.body);
    assert_eq!(server.call("GET", &format!("{path}/sesrsc_none"), &Value::Null).status, 404);
    let foreign = super::server::call(server.address, &other, "GET", &path, &Value::Null, &[]);
    assert_eq!(foreign.expect("an answer").status, 404);
    let moving = server.data.join("workspaces/default").join(id(&session)).join("moving");
    assert_eq!(std::fs::read_dir(moving).expect("there").count(), 0);
    server.ok("POST", &format!("/v1/sessions/{}/archive", id(&session)), &Value::Null);
    for (method, path) in [("POST", path.clone()), ("DELETE", format!("{path}/{}", id(&added)))] {
        let answer = server.call(method, &path, &mount("b"));
        assert_eq!(answer.status, 400, "{method}: {}", answer.body);
    }
    assert_eq!(read(&uploads(&server, id(&session)).join("a")).as_deref(), Some("x"));
}

#[test]
fn a_request_that_is_repeated_makes_one_copy_even_if_its_upload_is_gone() {
    let mut server = Server::start();
    let file = server.file("once");
    let mut wish = server.place(&Value::Null);
    wish["resources"] = json!([{"type": "file", "file_id": file, "mount_path": "a"}]);
    let begin = |server: &Server| {
        let key = [("idempotency-key", "k")];
        let answer = server.try_call("POST", "/v1/sessions", &wish, &key).expect("an answer");
        assert_eq!(answer.status, 200, "{}", answer.body);
        id(&answer.json()).to_string()
    };
    let first = begin(&server);
    server.ok("DELETE", &format!("/v1/files/{file}"), &Value::Null);
    assert_eq!(begin(&server), first);
    assert_eq!(workspaces(&server), 1);
    // What a crash can leave: a directory without a session, a copy that did not arrive.
    let orphan = server.data.join("workspaces/default/sesn_orphan/uploads");
    std::fs::create_dir_all(&orphan).expect("ours");
    server.kill_and_restart();
    assert_eq!(workspaces(&server), 1);
    assert_eq!(read(&uploads(&server, &first).join("a")).as_deref(), Some("once"));
}

#[test]
fn an_update_is_an_event_and_lists_can_be_cut_by_time() {
    let server = Server::start();
    let session = server.session();
    let path = format!("/v1/sessions/{session}");
    let before = server.ok("GET", &path, &Value::Null);
    server.ok("POST", &path, &json!({"title": "t", "metadata": {"k": "v"}}));
    server.ok("POST", &path, &json!({"title": "t"}));
    server.ok("POST", &path, &json!({"title": null}));
    let said: Vec<Value> = server.listed(&session);
    let titles: Vec<&Value> = said.iter().map(|event| &event["title"]).collect();
    assert_eq!(titles, [&json!("t"), &Value::Null], "{said:?}");
    assert_eq!(said[0]["metadata"], json!({"k": "v"}));
    assert!(said[1].get("metadata").is_none(), "only what changed");
    let created = before["created_at"].as_str().expect("a time");
    let first = said[0]["processed_at"].as_str().expect("a time");
    let count = |path: String| {
        let page = server.ok("GET", &path, &Value::Null);
        page["data"].as_array().expect("a list").len()
    };
    let cases = [
        (format!("/v1/sessions?created_at[gte]={created}"), 1),
        (format!("/v1/sessions?created_at[gt]={created}"), 0),
        (format!("/v1/sessions?created_at[lte]={created}"), 1),
        (format!("/v1/sessions?created_at[lt]={created}"), 0),
        ("/v1/agents?created_at[gte]=2000-01-01T00:00:00Z".to_string(), 1),
        ("/v1/agents?created_at[lte]=2000-01-01T00:00:00Z".to_string(), 0),
        (format!("{path}/events?created_at[lt]={first}"), 0),
        (format!("{path}/events?created_at[gte]={first}&types[]=session.updated"), 2),
    ];
    for (path, expected) in cases {
        assert_eq!(count(path.clone()), expected, "{path}");
    }
    assert_eq!(server.call("GET", "/v1/sessions?created_at[gt]=x", &Value::Null).status, 400);
}

#[test]
fn a_place_that_was_a_directory_can_be_a_file_and_what_nobody_mounted_goes() {
    let mut server = Server::start();
    let file = server.file("x");
    let session = server.session();
    let path = format!("/v1/sessions/{session}/resources");
    let mount = |path: &str| json!({"type": "file", "file_id": file, "mount_path": path});
    let first = server.ok("POST", &path, &mount("data/x"));
    server.ok("DELETE", &format!("{path}/{}", id(&first)), &Value::Null);
    server.ok("POST", &path, &mount("data"));
    let place = uploads(&server, &session);
    assert_eq!(read(&place.join("data")).as_deref(), Some("x"));
    // What an earlier server left when its disk refused a record.
    std::fs::create_dir(place.join("d")).expect("ours");
    for stray in ["x", "d/y"] {
        std::fs::write(place.join(stray), "stray").expect("ours");
    }
    server.kill_and_restart();
    let left: Vec<_> = std::fs::read_dir(&place).expect("there").flatten().collect();
    let left: Vec<_> = left.iter().map(std::fs::DirEntry::file_name).collect();
    assert_eq!(left, ["data"]);
}

#[test]
fn a_client_that_hangs_up_leaves_no_copies() {
    const FILE_BYTES: usize = 4 << 20;
    let server = Server::start();
    let file = server.file(&"x".repeat(FILE_BYTES));
    let mut wish = server.place(&Value::Null);
    // Nothing comes of it, which is known only after the copies were made.
    wish["environment_id"] = json!("env_none");
    let mount =
        |number: u32| json!({"type": "file", "file_id": file, "mount_path": number.to_string()});
    wish["resources"] = (0..4).map(mount).collect();
    let body = wish.to_string();
    for _ in 0..20 {
        let mut client = Connection::open(server.address).expect("a connection");
        client.head("POST", "/v1/sessions", &server.headers(), body.len()).expect("sent");
        client.write(body.as_bytes()).expect("sent");
        wait_for("a copy that is being made", || workspaces(&server) > 0);
        drop(client);
    }
    assert_eq!(server.call("POST", "/v1/sessions", &wish).status, 400);
    wait_for("nothing to be left", || workspaces(&server) == 0);
}

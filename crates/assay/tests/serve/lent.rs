//! Sessions that work in directories of this machine: only in what is lent, and in nothing else.

use super::server::{Server, Setup, refused};
use serde_json::{Value, json};
use std::path::Path;

/// A directory to lend, with a tree and a drop box, and one beside it that is not.
struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let directory = tempfile::tempdir().expect("a directory");
        for name in ["lent/tree", "lent/drop", "lent/objects", "other/tree"] {
            std::fs::create_dir_all(directory.path().join(name)).expect("ours");
        }
        std::fs::write(directory.path().join("lent/secret"), "must not be seen").expect("ours");
        Place { directory }
    }

    fn path(&self, name: &str) -> String {
        self.directory.path().canonicalize().expect("it is there").join(name).display().to_string()
    }

    fn workspace(&self) -> Value {
        json!({"type": "lent", "path": self.path("lent/tree"), "outputs": self.path("lent/drop"),
            "readable": [self.path("lent/objects")], "variables": {"nonce": "4711"}})
    }

    fn setup(&self, command: &str) -> Setup {
        let script = format!(
            "[[turn]]\n[[turn.steps]]\ncall = \"bash\"\n[turn.steps.input]\ncommand = \
             '''{command}'''\n[[turn.steps]]\nsay = \"{{answer}}\"\n"
        );
        let args = vec!["--lend".to_string(), self.path("lent")];
        Setup { script: Some(script), args, ..Setup::default() }
    }
}

/// A request for a session with this workspace.
fn wish(server: &Server, workspace: &Value) -> Value {
    let mut wish = server.place(&Value::Null);
    wish["workspace"] = workspace.clone();
    wish
}

#[test]
fn tools_work_in_what_is_lent_and_see_nothing_beside_it() {
    let place = Place::new();
    let key = "data/master.key";
    let server = Server::with(place.setup(&format!(
        "pwd; echo $ASSAY_NONCE $ASSAY_DROP_BOX; echo made > made; echo left > \
         $ASSAY_OUTPUTS/left; cat ../secret ../../{key} {0}/lent/secret 2>&1; ls {0}/other; echo x \
         > {0}/lent/objects/x; true",
        place.path("")
    )));
    let session = server.ok("POST", "/v1/sessions", &wish(&server, &place.workspace()));
    assert_eq!(session["workspace"], place.workspace(), "{session:#}");
    let id = session["id"].as_str().expect("an id");
    let said = json!(server.turn(id, "go")).to_string();
    assert!(said.contains(&place.path("lent/tree")), "{said}");
    assert!(said.contains(&format!("4711 {}", place.path("lent/drop"))), "{said}");
    assert!(!said.contains("must not be seen"), "{said}");
    let read = |name: &str| std::fs::read_to_string(place.path(name)).unwrap_or_default();
    assert_eq!(
        (read("lent/tree/made").as_str(), read("lent/drop/left").as_str()),
        ("made\n", "left\n")
    );
    assert!(!Path::new(&place.path("lent/objects/x")).exists());
    // Outputs are those of the session, too, and what is lent stays when it goes.
    let files = server.ok("GET", &format!("/v1/files?scope_id={id}"), &Value::Null);
    assert_eq!(files["data"][0]["filename"], "left", "{files:#}");
    server.ok("DELETE", &format!("/v1/sessions/{id}"), &Value::Null);
    assert_eq!(read("lent/tree/made"), "made\n");
}

#[test]
fn what_is_not_lent_is_refused_by_the_name_of_its_field() {
    let place = Place::new();
    let server = Server::with(place.setup("true"));
    let with = |field: &str, value: Value| {
        let mut workspace = place.workspace();
        workspace[field] = value;
        workspace
    };
    std::os::unix::fs::symlink(place.path("other"), place.path("lent/out")).expect("ours");
    for (workspace, expected) in [
        (with("path", json!(place.path("other/tree"))), "workspace.path: "),
        (with("path", json!(place.path("lent"))), "workspace.path: "),
        (with("path", json!(place.path("lent/out/tree"))), "workspace.path: "),
        (with("path", json!("tree")), "must be a whole path"),
        (with("path", Value::Null), "workspace.path: Field required"),
        (with("outputs", json!(place.path("lent/secret"))), "workspace.outputs: "),
        (with("readable", json!([place.path("")])), "workspace.readable[0]: "),
        (with("readable", json!([1])), "workspace.readable[0]: must be a path"),
        (with("type", json!("mine")), "workspace.type: must be lent"),
        (with("variables", json!({"A": "x"})), "workspace.variables: names have"),
        (with("variables", json!({"outputs": "x"})), "workspace.variables.outputs: "),
        (with("variables", json!({"a": 1})), "workspace.variables.a: must be text"),
        (with("mode", json!("rw")), "`workspace.mode` is not yet supported"),
    ] {
        let answer = server.call("POST", "/v1/sessions", &wish(&server, &workspace));
        assert_eq!(answer.status, 400, "{workspace}: {}", answer.body);
        assert!(answer.message().contains(expected), "{workspace}: {}", answer.message());
    }
    // Where nothing is lent there is nothing to name.
    let closed = Server::start();
    let answer = closed.call("POST", "/v1/sessions", &wish(&closed, &place.workspace()));
    assert_eq!(answer.status, 400, "{}", answer.body);
    assert!(answer.message().contains("was not started with --lend"), "{}", answer.message());
}

#[test]
fn another_directory_in_the_place_of_the_lent_one_is_not_worked_in() {
    let place = Place::new();
    let server = Server::with(place.setup("echo made > made"));
    let session = server.ok("POST", "/v1/sessions", &wish(&server, &place.workspace()));
    let id = session["id"].as_str().expect("an id");
    std::fs::rename(place.path("lent/tree"), place.path("lent/aside")).expect("ours");
    std::fs::create_dir(place.path("lent/tree")).expect("ours");
    let said = json!(server.turn(id, "go")).to_string();
    assert!(said.contains("the tool could not run"), "{said}");
    assert!(!Path::new(&place.path("lent/tree/made")).exists());
    assert!(server.log().contains("another directory stands there now"), "{}", server.log());
}

#[test]
fn a_server_does_not_begin_where_nothing_would_keep_tools_in_what_it_lends() {
    let place = Place::new();
    for (args, expected) in [
        (
            vec!["--lend".to_string(), place.path("lent"), "--sandbox".into(), "none".into()],
            "--sandbox none",
        ),
        (vec!["--lend".to_string(), place.path("lent/secret")], "is no directory"),
        (vec!["--lend".to_string(), place.path("gone")], "No such file"),
        (vec!["--lend".to_string(), "/".to_string()], "the server keeps its own things there"),
    ] {
        let ended = refused(&Setup { args: args.clone(), ..Setup::default() });
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(69), "{args:?}: {said}");
        assert!(said.contains("--lend") && said.contains(expected), "{args:?}: {said}");
    }
}

//! Sessions that work in directories of this machine: only in what is lent, and in nothing else.

use super::server::{Server, Setup, refused};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

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
        self.steps(&[command])
    }

    /// Commands of one turn, one after the other. What they print is looked for among all events,
    /// which hold the commands as well: none may have it in one piece.
    fn steps(&self, commands: &[&str]) -> Setup {
        let call = |command: &&str| {
            let begin = "[[turn.steps]]\ncall = \"bash\"\n[turn.steps.input]\ncommand = ";
            format!("{begin}'''{command}'''\n")
        };
        let calls: String = commands.iter().map(call).collect();
        let script = format!("[[turn]]\n{calls}[[turn.steps]]\nsay = \"{{answer}}\"\n");
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
    // The data lies where the paths below lead to, so that they would be read if they could be.
    let setup = place.setup(&format!(
        "pwd; echo $ASSAY_NONCE $ASSAY_DROP_BOX; echo made > made; echo left > \
         $ASSAY_OUTPUTS/left; cat ../secret {0}/lent/secret 2>&1; ls {0}/other; \
         for key in ../../{key} {0}/{key}; do \
         cat $key >/dev/null && printf \"the key was %s\" read; done; \
         echo x > {0}/lent/objects/x; true",
        place.path("")
    ));
    let server = Server::begin(place.directory.path(), setup);
    let from_tree = Path::new(&place.path("lent/tree")).join("../..").join(key);
    assert!(!std::fs::read(from_tree).expect("the key is there").is_empty());
    let session = server.ok("POST", "/v1/sessions", &wish(&server, &place.workspace()));
    assert_eq!(session["workspace"], place.workspace(), "{session:#}");
    let id = session["id"].as_str().expect("an id");
    let said = json!(server.turn(id, "go")).to_string();
    assert!(said.contains(&place.path("lent/tree")), "{said}");
    assert!(said.contains(&format!("4711 {}", place.path("lent/drop"))), "{said}");
    assert!(!said.contains("must not be seen"), "{said}");
    assert!(!said.contains("the key was read"), "{said}");
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
    for name in ["lent/tree/out", "lent/drop/in"] {
        std::fs::create_dir(place.path(name)).expect("ours");
    }
    for (workspace, expected) in [
        (with("path", json!(place.path("other/tree"))), "workspace.path: "),
        (with("path", json!(place.path("lent"))), "workspace.path: "),
        (with("path", json!(place.path("lent/out/tree"))), "workspace.path: "),
        (with("path", json!("tree")), "must be a whole path"),
        (with("path", Value::Null), "workspace.path: Field required"),
        (with("outputs", json!(place.path("lent/secret"))), "workspace.outputs: "),
        (with("readable", json!([place.path("")])), "workspace.readable[0]: "),
        (with("readable", json!([1])), "workspace.readable[0]: must be a path"),
        (with("outputs", json!(place.path("lent/tree/out"))), "hold or lie in workspace.path"),
        (with("path", json!(place.path("lent/drop/in"))), "workspace.outputs: "),
        (with("readable", json!([place.path("lent/tree/out")])), "lie in workspace.path"),
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
        (vec!["--lend".to_string(), "/var/tmp".to_string()], "something else in a sandbox"),
    ] {
        let ended = refused(&Setup { args: args.clone(), ..Setup::default() });
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(69), "{args:?}: {said}");
        assert!(said.contains("--lend") && said.contains(expected), "{args:?}: {said}");
    }
}

#[test]
fn a_link_in_the_place_of_the_lent_directory_is_not_followed_by_the_next_call_of_a_turn() {
    let place = Place::new();
    std::fs::write(place.path("other/tree/secret"), "must not be seen").expect("ours");
    let wait = "touch ready; until [ -e done ]; do sleep 0.05; done; echo waited";
    let look = "cat secret /workspace/secret; echo x > /workspace/new; printf look%s ed";
    let server = Server::with(place.steps(&[wait, look]));
    let session = server.ok("POST", "/v1/sessions", &wish(&server, &place.workspace()));
    let id = session["id"].as_str().expect("an id");
    let said = std::thread::scope(|scope| {
        let turn = scope.spawn(|| json!(server.turn(id, "go")).to_string());
        wait_for(Path::new(&place.path("lent/tree/ready")));
        std::fs::rename(place.path("lent/tree"), place.path("lent/aside")).expect("ours");
        let (other, tree) = (place.path("other/tree"), place.path("lent/tree"));
        std::os::unix::fs::symlink(other, tree).expect("ours");
        std::fs::write(place.path("lent/aside/done"), "").expect("ours");
        turn.join().expect("it ends")
    });
    assert!(said.contains("waited"), "{said}");
    assert!(said.contains("the tool could not run"), "{said}");
    assert!(!said.contains("must not be seen") && !said.contains("looked"), "{said}");
    assert!(!Path::new(&place.path("other/tree/new")).exists());
    assert!(server.log().contains("another directory stands there now"), "{}", server.log());
}

/// Waits until a file is there, with a bound.
fn wait_for(path: &Path) {
    let until = Instant::now() + PATIENCE;
    while !path.exists() {
        assert!(Instant::now() < until, "{} does not come", path.display());
        std::thread::yield_now();
    }
}

#[test]
fn sessions_that_go_on_work_apart_and_an_archived_one_leaves_its_directories_to_the_next() {
    let place = Place::new();
    for name in ["lent/tree/in", "lent/drop2"] {
        std::fs::create_dir(place.path(name)).expect("ours");
    }
    let server = Server::with(place.setup("echo again >> made; cat made"));
    let make = |workspace: &Value| server.call("POST", "/v1/sessions", &wish(&server, workspace));
    let with = |path: &str, outputs: &str| {
        let mut workspace = place.workspace();
        workspace["path"] = json!(place.path(path));
        workspace["outputs"] = json!(place.path(outputs));
        workspace
    };
    let first = server.ok("POST", "/v1/sessions", &wish(&server, &place.workspace()));
    let first = first["id"].as_str().expect("an id");
    assert!(json!(server.turn(first, "go")).to_string().contains("again"));
    for (workspace, field) in [
        (place.workspace(), "workspace.path: "),
        (with("lent/tree/in", "lent/drop2"), "workspace.path: "),
        (with("lent/drop2", "lent/drop"), "workspace.outputs: "),
        (with("lent/drop2", "lent/tree/in"), "workspace.outputs: "),
    ] {
        let answer = make(&workspace);
        assert_eq!(answer.status, 400, "{workspace}: {}", answer.body);
        let said = answer.message();
        assert!(said.contains(field) && said.contains("archive that one first"), "{said}");
    }
    server.ok("POST", &format!("/v1/sessions/{first}/archive"), &json!({}));
    // Another user works there now, if sessions have users.
    let second = server.ok("POST", "/v1/sessions", &wish(&server, &place.workspace()));
    let second = second["id"].as_str().expect("an id");
    let said = json!(server.turn(second, "go")).to_string();
    assert!(said.contains("again\\nagain"), "{said}");
    // One that is deleted leaves them, too.
    server.ok("DELETE", &format!("/v1/sessions/{second}"), &Value::Null);
    assert_eq!(make(&place.workspace()).status, 200);
}

/// A mounted file system that answers nothing; what waits for it fails when this is dropped.
struct Silent {
    at: String,
    _device: std::fs::File,
}

impl Silent {
    fn mount(at: String) -> Option<Silent> {
        let device = std::fs::File::options().read(true).write(true).open("/dev/fuse").ok()?;
        let number = std::os::fd::AsRawFd::as_raw_fd(&device);
        let options = format!("fd={number},rootmode=40000,user_id=0,group_id=0");
        let options = std::ffi::CString::new(options).expect("without NUL");
        let flags = rustix::mount::MountFlags::empty();
        rustix::mount::mount("silent", &at, "fuse", flags, Some(options.as_c_str())).ok()?;
        Some(Silent { at, _device: device })
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        let _gone = rustix::mount::unmount(&self.at, rustix::mount::UnmountFlags::DETACH);
    }
}

#[test]
fn a_lent_directory_that_does_not_answer_keeps_no_other_write_waiting() {
    let place = Place::new();
    std::fs::create_dir(place.path("lent/silent")).expect("ours");
    let server = Server::with(place.setup("true"));
    let Some(silent) = Silent::mount(place.path("lent/silent")) else {
        let what = "SKIPPED: a file system that does not answer takes root and /dev/fuse";
        // Not by the macro: what that says of a test that passes is swallowed.
        return writeln!(std::io::stderr(), "{what}").expect("somebody reads it");
    };
    let mut workspace = place.workspace();
    workspace["path"] = json!(place.path("lent/silent/tree"));
    let hanging = wish(&server, &workspace);
    let (is_asked, asked) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let server = &server;
        scope.spawn(move || {
            is_asked.send(()).expect("it is waited for");
            let answer = server.call("POST", "/v1/sessions", &hanging);
            assert_eq!(answer.status, 529, "{}", answer.body);
            assert!(answer.message().contains("did not answer"), "{}", answer.message());
        });
        asked.recv().expect("it is asked");
        for _ in 0..20 {
            server.session();
        }
    });
    drop(silent);
}

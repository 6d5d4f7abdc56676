//! `assay keys`, `assay serve --demo`, and what keeps either from its work.

use super::client::request;
use super::server::{Server, assay, headers, make_key, message, run};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, Stdio};

#[test]
fn a_revoked_key_opens_nothing_any_more_and_no_key_is_kept_in_the_clear() {
    let server = Server::start();
    let ask = || request(server.address, "GET", "/v1/models", &headers(&server.key), "");
    assert_eq!(ask().expect("an answer").status, 200);
    let listed = run(&["keys", "list", "--format", "json"], &server.data);
    let text = String::from_utf8(listed.stdout).expect("text");
    let key: Value = serde_json::from_str(text.trim()).expect("one key");
    assert_eq!((key["workspace"].as_str(), key["revoked_ms"].as_u64()), (Some("default"), None));
    let id = key["id"].as_str().expect("an id");
    assert!(run(&["keys", "revoke", id], &server.data).status.success());
    assert_eq!(ask().expect("an answer").status, 401, "at once, while it runs");
    for entry in std::fs::read_dir(&server.data).expect("ours").flatten() {
        if entry.path().is_file() {
            let bytes = std::fs::read(entry.path()).expect("ours");
            let is_there = bytes.windows(server.key.len()).any(|w| w == server.key.as_bytes());
            assert!(!is_there, "{} holds the key", entry.path().display());
        }
    }
    let unknown = run(&["keys", "revoke", "none"], &server.data);
    assert_eq!(unknown.status.code(), Some(64));
    for name in ["a/b", "..", ""] {
        let bad = run(&["keys", "create", "--workspace", name], &server.data);
        assert_eq!(bad.status.code(), Some(64), "{name:?}");
    }
}

#[test]
fn one_server_per_directory_and_a_bad_script_is_no_server() {
    let server = Server::start();
    let second = run(&["serve", "--listen", "127.0.0.1:0"], &server.data);
    assert_eq!(second.status.code(), Some(75), "{second:?}");
    let script = server.data.join("bad.toml");
    std::fs::write(&script, "[[turn]]\nsteps = [{}]").expect("ours");
    let bad = assay().args(["serve", "--demo", "--script"]).arg(&script).output().expect("runs");
    assert_eq!(bad.status.code(), Some(65), "{bad:?}");
    let said = String::from_utf8_lossy(&bad.stderr).into_owned();
    assert!(said.contains("turn 1, step 1"), "{said}");
    let nowhere = assay().args(["serve", "--listen", "127.0.0.1:0"]).output().expect("runs");
    assert_eq!(nowhere.status.code(), Some(64), "--data is needed");
}

/// `assay serve --demo`, and what it prints.
pub struct Demonstration {
    pub address: SocketAddr,
    pub key: String,
    pub agent: String,
    pub environment: String,
    child: Child,
}

impl Demonstration {
    pub fn start() -> Demonstration {
        let mut child = assay()
            .args(["serve", "--demo", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary");
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        let mut lines = stdout.lines().map(|line| line.expect("text"));
        let mut word = |name: &str| {
            let line = lines.next().unwrap_or_default();
            line.strip_prefix(name).unwrap_or_else(|| panic!("{line}")).trim().to_string()
        };
        let (key, agent, environment) = (word("key"), word("agent"), word("environment"));
        let address = word("ready http://").parse().expect("an address");
        Demonstration { address, key, agent, environment, child }
    }
}

impl Drop for Demonstration {
    fn drop(&mut self) {
        // Gone already is as good.
        let _gone = self.child.kill();
        let _ended = self.child.wait();
    }
}

#[test]
fn the_demonstration_prints_what_one_needs_and_serves() {
    let Demonstration { address, key, agent, environment, .. } = &Demonstration::start();
    let wish = serde_json::json!({"agent": agent, "environment_id": environment});
    let made = super::server::call(*address, key, "POST", "/v1/sessions", &wish, &[]);
    assert_eq!(made.expect("an answer").status, 200);
}

#[test]
fn a_stream_ends_when_its_key_is_revoked_and_no_other_one() {
    let server = Server::start();
    let session = server.session();
    let other = make_key(&server.data, "default");
    let path = format!("{}/stream", super::server::events_path(&session));
    let open = |key: &str| {
        super::client::Events::open(server.address, &path, &headers(key)).expect("a stream")
    };
    let (mut revoked, mut good) = (open(&server.key), open(&other));
    let listed = run(&["keys", "list", "--format", "json"], &server.data);
    let text = String::from_utf8(listed.stdout).expect("text");
    let first: Value = serde_json::from_str(text.lines().next().expect("two keys")).expect("one");
    let id = first["id"].as_str().expect("an id");
    assert!(run(&["keys", "revoke", id], &server.data).status.success());
    // Within two heartbeats, whether anything happens or not.
    assert_eq!(revoked.next().expect("closed in good order"), None, "it says nothing any more");
    let events = super::server::events_path(&session);
    let sent = super::server::call(server.address, &other, "POST", &events, &message("x"), &[]);
    assert_eq!(sent.expect("an answer").status, 200);
    good.until(|frame| frame.event == "session.status_idle");
}

#[test]
fn a_key_can_be_given_and_giving_it_again_changes_nothing() {
    let data = tempfile::tempdir().expect("a directory");
    let give = |key: &str| {
        let mut child = assay()
            .args(["keys", "create", "--given", "--data"])
            .arg(data.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary");
        let mut stdin = child.stdin.take().expect("piped");
        stdin.write_all(key.as_bytes()).expect("it reads");
        drop(stdin);
        child.wait_with_output().expect("our child")
    };
    let key = format!("asy_{}\n", "k".repeat(43));
    let (first, second) = (give(&key), give(&key));
    assert_eq!(first.status.code(), Some(0), "{first:?}");
    assert_eq!(first.stdout, second.stdout);
    assert!(!String::from_utf8_lossy(&first.stdout).contains(key.trim()), "never shown");
    let listed = run(&["keys", "list"], data.path());
    assert_eq!(listed.stdout, first.stdout, "one key");
    for bad in ["", "asy_short", &"k".repeat(50), &format!("asy_{} x", "k".repeat(50))] {
        assert_eq!(give(bad).status.code(), Some(64), "{bad}");
    }
}

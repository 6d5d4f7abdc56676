//! A disk that is really full: nothing that was said is lost, and nobody stands still.

use super::server::{Server, Setup, events_path};
use super::tools::wait_for;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

/// Enough for a server that has little to keep.
const DISK_BYTES: u64 = 24 << 20;
/// So many requests are refused: more than a page of the log has room for.
const REFUSALS: usize = 100;
/// So many are taken before, at most: what was free within files is used up then.
const TAKEN_MAX: usize = 5000;

const SCRIPT: &str = r#"
[[turn]]
when = "wait"
steps = [{ hold = "disk" }, { say = "waited" }]

[[turn]]
steps = [{ say = "ok" }]
"#;

/// A disk of its own, in memory.
struct SmallDisk {
    directory: tempfile::TempDir,
}

impl SmallDisk {
    /// Where the machine allows it.
    fn mount() -> Option<SmallDisk> {
        let directory = tempfile::tempdir().expect("a directory");
        let size = format!("size={DISK_BYTES},mode=700");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "assay-test"])
            .arg(directory.path())
            .output();
        let why = match &mounted {
            Ok(done) if done.status.success() => return Some(SmallDisk { directory }),
            Ok(done) => String::from_utf8_lossy(&done.stderr).trim().to_string(),
            Err(error) => error.to_string(),
        };
        let test = std::thread::current().name().unwrap_or_default().to_string();
        // Not by the macro: what that says of a test that passes is swallowed.
        let said = writeln!(std::io::stderr(), "SKIPPED {test}: no small disk here: {why}");
        said.expect("somebody reads it");
        None
    }

    fn ballast(&self) -> PathBuf {
        self.directory.path().join("ballast")
    }

    /// Takes all that is free.
    fn fill(&self) {
        let mut file = File::create(self.ballast()).expect("there is room");
        for size in [1 << 20, 1 << 12, 1] {
            let piece = vec![0; size];
            while file.write_all(&piece).is_ok() {}
        }
    }

    fn free(&self) {
        std::fs::remove_file(self.ballast()).expect("ours");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Where it stays, the directory cannot be removed, and says so.
        let _left = Command::new("umount").arg("-l").arg(self.directory.path()).status();
    }
}

/// Ids of events, in their order.
fn ids(events: &[Value]) -> Vec<String> {
    events.iter().map(|event| event["id"].as_str().expect("an id").to_string()).collect()
}

#[test]
fn a_disk_that_is_full_for_a_while_loses_nothing_and_ends_nothing() {
    let Some(disk) = SmallDisk::mount() else { return };
    let setup = Setup { script: Some(SCRIPT.to_string()), ..Setup::default() };
    let mut server = Server::begin(disk.directory.path(), setup);
    let (held, busy) = (server.session(), server.session());
    let sent = server.say(&held, "wait");
    server.stream(&held, &[]).until(|frame| frame.event == "span.model_request_start");
    disk.fill();
    // What was answered is there; what was refused is not, whoever asked how often.
    let path = events_path(&busy);
    let interrupts = json!({"events": vec![json!({"type": "user.interrupt"}); 100]});
    let (mut taken, mut refused) = (Vec::new(), 0);
    while refused < REFUSALS {
        let answer = server.call("POST", &path, &interrupts);
        match answer.status {
            200 => taken.extend(ids(answer.json()["data"].as_array().expect("a list"))),
            500 => {
                assert_eq!(answer.json()["error"]["type"], "api_error", "{}", answer.body);
                refused += 1;
            }
            other => panic!("{other}: {}", answer.body),
        }
        assert!(taken.len() < 100 * TAKEN_MAX, "the disk is not full");
    }
    assert_eq!(ids(&server.listed(&busy)), taken, "what is read is what was written");
    let upload = server.upload("/v1/files", &[("file", "a.txt", &"x".repeat(1 << 20))]);
    assert_eq!(upload.status, 500, "{}", upload.body);
    // The turn wants to go on, and cannot.
    File::create(server.data.join("holds/disk")).expect("a name needs no room");
    wait_for("a refusal", || server.call("POST", &path, &interrupts).status == 500);
    let status = server.ok("GET", &format!("/v1/sessions/{held}"), &Value::Null);
    assert_eq!(status["status"], "running");
    disk.free();
    let events = server.after(&held, &sent);
    let said: Vec<&str> = events.iter().filter_map(|e| e["content"][0]["text"].as_str()).collect();
    assert_eq!(said, ["waited"], "{events:?}");
    server.turn(&busy, "hi");
    let file = server.file("there is room again");
    let objects = std::fs::read_dir(server.data.join("objects")).expect("there");
    let names: Vec<String> =
        objects.map(|one| one.expect("ours").file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(names, [file], "nothing is left of the other");
    let all = ids(&server.listed(&busy));
    assert_eq!(all[..taken.len()], taken[..], "each once, in the same order");
    let stayed = (server.listed(&held), server.listed(&busy));
    server.kill_and_restart();
    assert_eq!((server.listed(&held), server.listed(&busy)), stayed);
}

#[test]
fn a_server_that_is_killed_on_a_full_disk_begins_again_when_there_is_room() {
    let Some(disk) = SmallDisk::mount() else { return };
    let setup = Setup { script: Some(SCRIPT.to_string()), ..Setup::default() };
    let mut server = Server::begin(disk.directory.path(), setup);
    let session = server.session();
    server.turn(&session, "hi");
    disk.fill();
    let path = events_path(&session);
    let interrupts = json!({"events": vec![json!({"type": "user.interrupt"}); 100]});
    wait_for("a refusal", || server.call("POST", &path, &interrupts).status == 500);
    let before = server.listed(&session);
    server.kill();
    disk.free();
    server.restart();
    assert_eq!(server.listed(&session), before, "no more and no less");
    let events = server.turn(&session, "hi");
    assert_eq!(events.last().expect("idle")["type"], "session.status_idle", "{events:?}");
}

//! A disk whose power fails: what was answered is there afterwards, with all of its bytes, and a
//! commit that broke off in the middle is not taken for one that was refused.

use super::server::{Server, Setup};
use assay_kernel::volume::{Volume, probe_forgetful};
use serde_json::{Value, json};
use std::io::Write;
use std::process::Command;

/// A directory that forgets what was not synced, where the machine has such.
fn volume() -> Option<(tempfile::TempDir, Volume)> {
    let directory = tempfile::tempdir().expect("a directory");
    if let Err(why) = probe_forgetful(directory.path()) {
        let test = std::thread::current().name().unwrap_or_default().to_string();
        // Not by the macro: what that says of a test that passes is swallowed.
        let said = writeln!(std::io::stderr(), "SKIPPED {test}: {why}");
        said.expect("somebody reads it");
        return None;
    }
    let (store, point) = (directory.path().join("store"), directory.path().join("point"));
    let volume = Volume::forgetful(&store, &point).expect("a directory that forgets");
    Some((directory, volume))
}

fn id(wire: &Value) -> &str {
    wire["id"].as_str().expect("an id")
}

#[test]
fn files_and_skills_that_were_answered_survive_a_power_failure() {
    let Some((_directory, volume)) = volume() else { return };
    let mut server = Server::begin(volume.mount_point(), Setup::default());
    let manual = "---\nname: tables\ndescription: d\n---\n";
    let parts =
        [("files[]", "tables/SKILL.md", manual), ("files[]", "tables/a/b/notes.txt", "nested")];
    let skill = server.upload("/v1/skills", &parts);
    assert_eq!(skill.status, 200, "{}", skill.body);
    let file = server.file("bytes");
    let mut wish = server.place(&json!({"skills": [
        {"type": "custom", "skill_id": id(&skill.json())}]}));
    wish["resources"] = json!([{"type": "file", "file_id": file, "mount_path": "x/y/first"}]);
    let session = server.ok("POST", "/v1/sessions", &wish);
    let path = format!("/v1/sessions/{}/resources", id(&session));
    let more = json!({"type": "file", "file_id": file, "mount_path": "z/second"});
    server.ok("POST", &path, &more);
    server.kill();
    volume.cut_power().expect("cut");
    volume.power_up().expect("up again");
    server.restart();
    let listed = server.ok("GET", &path, &Value::Null);
    assert_eq!(listed["data"].as_array().map(Vec::len), Some(2), "{listed}");
    let place = server.data.join("workspaces/default").join(id(&session));
    let cases = [
        ("uploads/x/y/first", "bytes"),
        ("uploads/z/second", "bytes"),
        ("skills/tables/SKILL.md", manual),
        ("skills/tables/a/b/notes.txt", "nested"),
    ];
    for (path, bytes) in cases {
        let read = std::fs::read_to_string(place.join(path)).ok();
        assert_eq!(read.as_deref(), Some(bytes), "{path}");
    }
    // The skill itself is whole, too: another session gets all of it.
    let later = server.ok("POST", "/v1/sessions", &wish);
    let place = server.data.join("workspaces/default").join(id(&later));
    let read = std::fs::read_to_string(place.join("skills/tables/a/b/notes.txt"));
    assert_eq!(read.expect("copied"), "nested");
    server.kill();
}

#[test]
fn a_commit_that_breaks_off_is_not_taken_for_one_that_was_refused() {
    let server = Server::start();
    // A file that may not grow is an error of the disk for SQLite, and not one that is full.
    let limited = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" keys create --data \"$1\""])
        .arg(env!("CARGO_BIN_EXE_assay"))
        .arg(&server.data)
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&limited.stderr);
    assert!(!limited.status.success(), "{limited:?}");
    assert!(said.contains("broke off in the middle"), "{said}");
    // The server has another connection, and a disk that takes everything.
    server.ok("POST", "/v1/agents", &json!({"name": "a", "model": "scripted"}));
}

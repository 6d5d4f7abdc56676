//! Campaigns and runs: found, judged again, and shown where they can do no harm.

use super::browser::play;
use super::server::{Server, assay};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::Path;

const RECORD: &str = include_str!("../../../assay-report/tests/run/example.json");
/// A report that tries what a report must not do, and says what it got.
const CURIOUS: &str = include_str!("curious.html");

fn shown(directory: &Path) -> [OsString; 2] {
    ["--show".into(), directory.as_os_str().to_os_string()]
}

fn list(server: &Server) -> Vec<Value> {
    let answer = server.ask("GET", "/console/api/shows", &Value::Null, &[]);
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()["data"].as_array().expect("a list").clone()
}

/// A run as `assay run` leaves it, as far as the list looks at it.
fn run_directory(root: &Path, record: &str) {
    std::fs::create_dir_all(root).expect("ours");
    for (name, text) in [("results.json", record), ("report.html", CURIOUS), ("secret", "hidden")] {
        std::fs::write(root.join(name), text).expect("ours");
    }
}

/// The shortest run there is; how it ends is not what is looked at here.
fn real_run(directory: &Path) {
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/plans/demo.md");
    let run = assay()
        .args(["run", plan, "--tier", "smoke", "--scenario", "S1", "--directory"])
        .arg(directory)
        .output()
        .expect("runs");
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(directory.join("report.html").exists(), "{said}");
}

/// Opens a report with a ticket, as the console does.
fn report(server: &Server, id: &str) -> super::client::Answer {
    let path = format!("/console/api/shows/{id}/ticket");
    let ticket = server.ask("POST", &path, &Value::Null, &[]);
    assert_eq!(ticket.status, 200, "{}", ticket.body);
    let path = ticket.json()["path"].as_str().expect("a path").to_string();
    server.open("GET", &format!("/console/{path}"), &[])
}

#[test]
fn campaigns_and_runs_are_listed_and_their_reports_are_kept_in_a_sandbox() {
    let directory = tempfile::tempdir().expect("a directory");
    let desks = directory.path().join("desks");
    let made = assay().args(["desk", "demo", "--directory"]).arg(&desks).output().expect("runs");
    assert_eq!(made.status.code(), Some(0), "{}", String::from_utf8_lossy(&made.stderr));
    run_directory(&directory.path().join("runs/2026"), RECORD);
    real_run(&directory.path().join("runs/real"));
    let mut server = Server::start(&shown(directory.path()));
    let all = list(&server);
    let state = |kind: &str, place: &str| {
        let is_it = |one: &&Value| {
            one["kind"] == kind && one["place"].as_str().is_some_and(|at| at.ends_with(place))
        };
        all.iter().find(is_it).map(|one| one["state"].clone()).unwrap_or_default()
    };
    assert_eq!(all.len(), 4, "{all:?}");
    assert_eq!(state("campaign", "honest"), "COMPLETE", "{all:?}");
    assert_eq!(state("campaign", "lying"), "BLOCKED", "{all:?}");
    let record: Value = serde_json::from_str(RECORD).expect("JSON");
    assert_eq!(state("run", "runs/2026"), record["verdict"], "{all:?}");
    play("reports", &mut server, json!({"verdict": record["verdict"]}));
}

#[test]
fn a_report_is_the_file_of_a_run_that_was_found_and_nothing_else() {
    let directory = tempfile::tempdir().expect("a directory");
    let outside = tempfile::tempdir().expect("a directory");
    let secret = outside.path().join("secret.html");
    std::fs::write(&secret, "do not show this").expect("ours");
    run_directory(&outside.path().join("run"), RECORD);
    let root = directory.path();
    run_directory(&root.join("good"), RECORD);
    run_directory(&root.join("linked"), RECORD);
    std::fs::remove_file(root.join("linked/report.html")).expect("ours");
    std::os::unix::fs::symlink(&secret, root.join("linked/report.html")).expect("ours");
    std::fs::write(root.join("linked/run.json"), "{}").expect("ours");
    std::fs::write(root.join("linked/plan.md"), "").expect("ours");
    std::os::unix::fs::symlink(outside.path().join("run"), root.join("elsewhere")).expect("ours");
    let server = Server::start(&shown(root));
    let all = list(&server);
    let id = |name: &str| {
        let ends = |one: &&Value| one["place"].as_str().is_some_and(|at| at.ends_with(name));
        all.iter().find(ends).and_then(|one| one["id"].as_str()).unwrap_or_default().to_string()
    };
    assert_eq!(all.len(), 2, "links to directories are not followed: {all:?}");
    let good = report(&server, &id("good"));
    assert_eq!((good.status, good.body.as_str()), (200, CURIOUS));
    let policy = good.header("content-security-policy").expect("a policy");
    assert!(policy.starts_with("sandbox allow-scripts; default-src 'none'"), "{policy}");
    assert_eq!(good.header("cache-control"), Some("no-store"));
    assert_eq!(good.header("referrer-policy"), Some("no-referrer"));
    let linked = report(&server, &id("linked"));
    assert_eq!(linked.status, 404, "{}", linked.body);
    assert!(!linked.body.contains("do not show"), "{}", linked.body);
    for path in ["good", "..", "..%2f..%2fetc", "%2e%2e"] {
        let path = format!("/console/api/shows/{path}/ticket");
        assert_eq!(server.ask("POST", &path, &Value::Null, &[]).status, 404, "{path}");
    }
}

#[test]
fn a_run_says_what_its_facts_carry_and_not_what_it_was_edited_to() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut record: Value = serde_json::from_str(RECORD).expect("JSON");
    let honest = record["verdict"].clone();
    record["verdict"] = json!("DONE");
    assert_ne!(honest, "DONE", "the example must not be one already");
    run_directory(&directory.path().join("a"), &record.to_string());
    run_directory(&directory.path().join("b"), "{");
    let server = Server::start(&shown(directory.path()));
    let all = list(&server);
    let states: Vec<&Value> = all.iter().map(|one| &one["state"]).collect();
    assert!(states.contains(&&honest), "{states:?}");
    assert!(states.contains(&&json!("cannot be read")), "{states:?}");
}

#[test]
fn a_directory_that_is_not_there_is_told_at_the_start() {
    let ended = assay().args(["serve", "--demo", "--show", "no/such/place"]).output();
    let ended = ended.expect("the binary");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(69), "{said}");
    assert!(said.contains("no/such/place: cannot show"), "{said}");
}

//! Faults that the kernel carries out, from a plan to landing evidence, and what becomes of them
//! when Assay is killed or has no rights.

use crate::support::{Running, cut_off_plan, events, replaced, run, scratch, text, write};
use rustix::process::{Signal, geteuid};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Once in a trial of smoke, twice in one of hardening.
const EVERY: &str = "every = \"2500ms\"";

/// A plan in which one fault happens, and little else.
fn plan(network: &str, fault: &str) -> String {
    let plan = cut_off_plan();
    let from = plan.find("[[nemesis]]").expect("faults");
    let to = plan.find("[model]").expect("and what comes after them");
    let fault = format!("[[nemesis]]\nat = \"800ms\"\nfor = \"1500ms\"\n{EVERY}\n{fault}\n\n");
    let plan = format!("{}{fault}{}", &plan[..from], &plan[to..]);
    let plan = replaced(&plan, "faults = 3", "faults = 2");
    replaced(&plan, "name = \"kv\"", &format!("name = \"kv\"\nnetwork = \"{network}\""))
}

/// What can be done to kv that its clients or nodes must notice.
const CASES: [(&str, &str); 7] = [
    (
        "proxies",
        "fault = \"slow-fsync\"\ntarget = \"all\"\nwith = { delay = \"150ms\" }\n\
         landing = { injector = \"held-calls >= 1\", victim = \"latency-p99 >= 100ms\" }",
    ),
    (
        "proxies",
        "fault = \"cpu-quota\"\ntarget = \"all\"\nwith = { percent = 2 }\n\
         landing = { injector = \"throttled >= 1\", victim = \"latency-p99 >= 50ms\" }",
    ),
    (
        "proxies",
        "fault = \"cg-freeze\"\ntarget = \"follower\"\n\
         landing = { injector = \"frozen >= 1\", victim = \"heartbeat-gap >= 500ms within 3s\" }",
    ),
    (
        "proxies",
        "fault = \"fsync-loss\"\ntarget = \"all\"\n\
         landing = { injector = \"power-cuts >= 3\", victim = \"restarts >= 3 within 60s\" }",
    ),
    (
        "proxies",
        "fault = \"slow-disk\"\ntarget = \"all\"\nwith = { rate = 4096 }\n\
         landing = { injector = \"throttled >= 1\", victim = \"latency-p99 >= 50ms\" }",
    ),
    (
        "bridge",
        "fault = \"leader-iso\"\ntarget = \"leader\"\n\
         landing = { injector = \"dropped >= 1\", victim = \"timeouts >= 1 within 5s\" }",
    ),
    (
        "switch",
        "fault = \"delay\"\ntarget = \"leader\"\nwith = { delay = \"60ms\", jitter = \"10ms\" }\n\
         landing = { injector = \"delayed >= 1\", victim = \"latency-p99 >= 50ms\" }",
    ),
];

fn is_root(what: &str) -> bool {
    let root = geteuid().is_root();
    if !root {
        eprintln!("SKIPPED: {what} needs root");
    }
    root
}

/// Landing of every window that was closed, with its evidence.
fn landings(directory: &Path) -> Vec<(String, String)> {
    let closed = events(directory).into_iter().filter(|event| event["event"] == "fault-closed");
    let words = |event: &Value, name: &str| event[name].as_str().unwrap_or_default().to_string();
    closed.map(|event| (words(&event, "landing"), words(&event, "evidence"))).collect()
}

#[test]
fn every_mechanism_lands_from_a_plan_with_numbers_of_both_sides() {
    if !is_root("disks and control groups") {
        return;
    }
    for (network, fault) in CASES {
        let scratch = scratch();
        let path = write(scratch.path(), "plan.md", &plan(network, fault));
        let directory = scratch.path().join("run");
        let (path, place) = (text(&path), text(&directory));
        let ended = run(&["run", path, "--directory", place, "--tier", "smoke"]);
        let landings = landings(&directory);
        assert_eq!(landings.len(), 1, "{fault}: {ended:#?}");
        assert_eq!(landings[0].0, "landed", "{fault}: {landings:?} {ended:#?}");
    }
}

/// Mounts, loop devices and control groups of a run. Other tests have theirs meanwhile.
fn left_of(directory: &Path) -> Vec<String> {
    let directory = directory.canonicalize().expect("the run has begun");
    let disks = assay_kernel::volume::leftovers(&directory).expect("readable");
    let mut found: Vec<String> = disks.iter().map(|disk| format!("{disk:?}")).collect();
    for trial in std::fs::read_dir(directory.join("artifacts/S1")).expect("trials").flatten() {
        let groups = assay_kernel::cgroup::leftovers(&trial.path()).expect("readable");
        found.extend(groups.iter().map(|group| format!("{group:?}")));
    }
    found
}

#[test]
fn after_a_kill_in_a_power_loss_heal_leaves_no_disk_and_no_group() {
    if !is_root("disks and control groups") {
        return;
    }
    let scratch = scratch();
    let frozen = CASES[2].1;
    let two = format!(
        "{}\n\n[[nemesis]]\nat = \"900ms\"\nfor = \"1500ms\"\n{EVERY}\n{frozen}",
        CASES[3].1
    );
    let mut running = Running::start(scratch.path(), &plan("proxies", &two));
    running.until_a_later_fault("fsync-loss");
    running.signal(Signal::KILL);
    assert_eq!(running.end(), None, "it was killed");
    let left = left_of(&running.directory);
    let shows = |what: &str| left.iter().any(|line| line.contains(what));
    assert!(shows("Mount") && shows("cgroup"), "disks and groups outlive the harness: {left:?}");
    let healed = run(&["heal", text(&running.directory)]);
    assert_eq!(healed.code, Some(0), "{healed:#?}");
    assert_eq!(left_of(&running.directory), [""; 0], "{healed:#?}");
}

#[test]
fn without_rights_a_scenario_is_inconclusive_and_says_what_to_do() {
    if !is_root("becoming somebody without rights") {
        return;
    }
    let scratch = scratch();
    let path = write(scratch.path(), "plan.md", &plan("proxies", CASES[3].1));
    let directory = scratch.path().join("run");
    let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(scratch.path(), everybody).expect("own directory");
    // Where the program lies, others may not be allowed to look.
    let program = scratch.path().join("assay");
    std::fs::copy(env!("CARGO_BIN_EXE_assay"), &program).expect("copied");
    let ended = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"])
        .args([text(&program), "run", text(&path), "--directory", text(&directory)])
        .args(["--tier", "smoke"])
        .current_dir(scratch.path())
        .output()
        .expect("setpriv runs");
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert_eq!(ended.status.code(), Some(2), "{said}{}", String::from_utf8_lossy(&ended.stderr));
    assert!(said.contains("INCONCLUSIVE-env"), "{said}");
    let report = std::fs::read_to_string(directory.join("findings/report.md")).expect("a report");
    assert!(report.contains("root"), "it says what to do: {report}");
}

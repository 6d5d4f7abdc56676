//! What somebody without rights is told.

use super::killed::Left;
use super::{CASES, laid_out};
use crate::support::{MARK, PATIENCE, events, text, wait_for};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Everybody may use FUSE here, as on most machines; mounts are made and seen in a namespace only,
/// and what is left of them at the end is told by 99.
const WITH_FUSE: &str = r#"
    mknod -m 666 fuse c 10 229 && mount --bind fuse /dev/fuse || exit 98
    "$@"; code=$?
    grep fuse.assay /proc/self/mountinfo && exit 99
    exit $code
"#;
/// Nobody, who cannot get rights by a program that has them.
const WITHOUT_RIGHTS: &str = r#"
    exec setpriv --no-new-privs "$@"
"#;

/// The same for a run that is killed: then somebody without rights heals it. What went otherwise is
/// told by the numbers below 99.
const KILLED_WITH_FUSE: &str = r#"
    mknod -m 666 fuse c 10 229 && mount --bind fuse /dev/fuse || exit 98
    "$@"
    [ $? = 137 ] || exit 97
    grep -q fuse.assay /proc/self/mountinfo || exit 96
    setpriv --reuid=65534 --regid=65534 --clear-groups ./assay heal run || exit 95
    grep fuse.assay /proc/self/mountinfo && exit 99
    exit 0
"#;

/// Runs a fault of the table as nobody.
fn as_nobody(script: &str, fault: &str, more: &[&str]) -> Option<(TempDir, Output)> {
    let case = CASES.iter().find(|case| case.fault == fault).expect("in the table");
    let (scratch, path) = laid_out(case);
    let directory = scratch.path().join("run");
    let words = ["run", text(&path), "--directory", text(&directory), "--tier", "smoke"];
    let ended = told_as_nobody(&scratch, script, &[&words, more].concat())?;
    Some((scratch, ended))
}

/// Runs a command of Assay as nobody.
fn told_as_nobody(scratch: &TempDir, script: &str, words: &[&str]) -> Option<Output> {
    Some(command_of_nobody(scratch, script, words)?.output().expect("unshare runs"))
}

fn command_of_nobody(scratch: &TempDir, script: &str, words: &[&str]) -> Option<Command> {
    if !geteuid().is_root() {
        eprintln!("SKIPPED: becoming somebody without rights takes root");
        return None;
    }
    let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(scratch.path(), everybody).expect("own directory");
    // Where the program lies, others may not be allowed to look.
    let program = scratch.path().join("assay");
    std::fs::copy(env!("CARGO_BIN_EXE_assay"), &program).expect("copied");
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "sh", "-c", script, "sh"])
        .args(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .args(words)
        .current_dir(scratch.path());
    Some(command)
}

/// Whether a kernel has FUSE; says so if not.
fn has_fuse() -> bool {
    let has = Path::new("/dev/fuse").exists();
    if !has {
        eprintln!("SKIPPED: the kernel of this machine has no FUSE");
    }
    has
}

#[test]
fn without_rights_no_disk_is_filled_and_that_is_said_before_anything_runs() {
    let Some((scratch, ended)) = as_nobody(WITHOUT_RIGHTS, "disk-full", &[]) else { return };
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert_eq!(ended.status.code(), Some(2), "{said}{}", String::from_utf8_lossy(&ended.stderr));
    assert!(said.contains("INCONCLUSIVE-env"), "{said}");
    let report = std::fs::read_to_string(scratch.path().join("run/findings/report.md"));
    assert!(report.expect("a report").contains("run as root"), "it says what to do");
    let doctor = ["doctor", "--format", "json"];
    let told = told_as_nobody(&scratch, WITHOUT_RIGHTS, &doctor).expect("as before").stdout;
    let told: serde_json::Value = serde_json::from_slice(&told).expect("JSON");
    let faults = told["faults"].as_array().expect("faults");
    let full = faults.iter().find(|fault| fault["id"] == "disk-full").expect("it is known");
    assert_eq!(full["here"], false, "{full:#}");
}

#[test]
fn without_rights_a_scenario_is_inconclusive_and_says_what_to_do() {
    let Some((scratch, ended)) = as_nobody(WITHOUT_RIGHTS, "fsync-loss", &[]) else { return };
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert_eq!(ended.status.code(), Some(2), "{said}{}", String::from_utf8_lossy(&ended.stderr));
    assert!(said.contains("INCONCLUSIVE-env"), "{said}");
    let report = std::fs::read_to_string(scratch.path().join("run/findings/report.md"));
    let report = report.expect("a report");
    assert!(report.contains("root") && report.contains("fuse3"), "it says what to do: {report}");
}

#[test]
fn without_root_disks_by_fuse_lose_power_and_refuse_writes_and_come_back() {
    let faults = [("fsync-loss", "volumes cut, by FUSE 0 → 3 → 0"), ("fs-readonly", READ_ONLY)];
    for (fault, counted) in faults.into_iter().filter(|_| has_fuse()) {
        let Some((scratch, ended)) = as_nobody(WITH_FUSE, fault, &[]) else { return };
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        let why = format!("{fault}: {said}{}", String::from_utf8_lossy(&ended.stderr));
        assert_eq!(ended.status.code(), Some(0), "{why}");
        let read = |name: &str| std::fs::read_to_string(scratch.path().join(name)).expect(name);
        let events = read("run/events.jsonl");
        let closed = events.lines().find(|line| line.contains("fault-closed")).expect("a fault");
        assert!(closed.contains(counted), "{closed}");
        assert!(closed.contains("\"landing\":\"landed\""), "{closed}");
        // The report says of what the disks were, and what that costs.
        assert!(read("run/findings/report.md").contains(counted), "{closed}");
        let cost = "A disk of its own, a directory by FUSE that forgets, adds to a synced write";
        assert!(read("run/results.json").contains(cost), "{fault}");
    }
}

const READ_ONLY: &str = "volumes read-only, by FUSE 0 → 1 → 0";

#[test]
fn without_root_a_power_loss_that_misses_the_nodes_proves_nothing() {
    if !has_fuse() {
        return;
    }
    let words = ["--sabotage", "injector-misses"];
    let Some((_scratch, ended)) = as_nobody(WITH_FUSE, "fsync-loss", &words) else { return };
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(said.contains("INCONCLUSIVE-fault-not-proven"), "{said}");
}

#[test]
fn without_root_nothing_is_left_of_a_killed_run_with_disks_by_fuse() {
    if !has_fuse() {
        return;
    }
    let case = CASES.iter().find(|case| case.fault == "fsync-loss").expect("in the table");
    let (scratch, path) = laid_out(case);
    let directory = scratch.path().join("run");
    let words = ["run", text(&path), "--directory", text(&directory), "--tier", "smoke"];
    let Some(mut command) = command_of_nobody(&scratch, KILLED_WITH_FUSE, &words) else { return };
    let command = command.env(MARK, &directory).stdout(Stdio::piped()).stderr(Stdio::piped());
    let running = command.spawn().expect("unshare runs");
    let assay = wait_for("a power loss", PATIENCE, || {
        let is_on = events(&directory).iter().any(|event| event["event"] == "fault-counted");
        is_on.then(|| pid_of(scratch.path())).flatten()
    });
    let during = Left::of(&directory, &Left::default());
    kill_process(assay, Signal::KILL).expect("it runs");
    let ended = running.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert_eq!(ended.status.code(), Some(0), "{said}{}", String::from_utf8_lossy(&ended.stderr));
    assert!(said.contains("HEALED"), "{said}");
    assert!(during.disks.iter().any(|disk| disk.contains("fuse.assay")), "{during:#?}");
    assert_eq!(Left::of(&directory, &during), Left::default(), "{said}");
}

/// The harness among the processes of a run.
fn pid_of(scratch: &Path) -> Option<Pid> {
    let program = format!("{}\0run\0", scratch.join("assay").display());
    let all = std::fs::read_dir("/proc").ok()?.flatten();
    let harness = all.filter(|entry| {
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        command.starts_with(program.as_bytes())
    });
    let pids = harness.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(Pid::from_raw).next()
}

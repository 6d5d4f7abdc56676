//! What somebody without rights is told.

use super::{CASES, laid_out};
use crate::support::text;
use rustix::process::geteuid;
use std::path::Path;
use std::process::{Command, Output};
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

/// Runs a fault of the table as nobody.
fn as_nobody(script: &str, fault: &str) -> Option<(TempDir, Output)> {
    let case = CASES.iter().find(|case| case.fault == fault).expect("in the table");
    let (scratch, path) = laid_out(case);
    let directory = scratch.path().join("run");
    let words = ["run", text(&path), "--directory", text(&directory), "--tier", "smoke"];
    let ended = told_as_nobody(&scratch, script, &words)?;
    Some((scratch, ended))
}

/// Runs a command of Assay as nobody.
fn told_as_nobody(scratch: &TempDir, script: &str, words: &[&str]) -> Option<Output> {
    if !geteuid().is_root() {
        eprintln!("SKIPPED: becoming somebody without rights takes root");
        return None;
    }
    let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(scratch.path(), everybody).expect("own directory");
    // Where the program lies, others may not be allowed to look.
    let program = scratch.path().join("assay");
    std::fs::copy(env!("CARGO_BIN_EXE_assay"), &program).expect("copied");
    let ended = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, "sh"])
        .args(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .args(words)
        .current_dir(scratch.path())
        .output()
        .expect("unshare runs");
    Some(ended)
}

#[test]
fn without_rights_no_disk_is_filled_and_that_is_said_before_anything_runs() {
    let Some((scratch, ended)) = as_nobody(WITHOUT_RIGHTS, "disk-full") else { return };
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
    let Some((scratch, ended)) = as_nobody(WITHOUT_RIGHTS, "fsync-loss") else { return };
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert_eq!(ended.status.code(), Some(2), "{said}{}", String::from_utf8_lossy(&ended.stderr));
    assert!(said.contains("INCONCLUSIVE-env"), "{said}");
    let report = std::fs::read_to_string(scratch.path().join("run/findings/report.md"));
    let report = report.expect("a report");
    assert!(report.contains("root") && report.contains("fuse3"), "it says what to do: {report}");
}

#[test]
fn without_root_a_node_loses_power_where_fuse_is_to_be_had() {
    if !Path::new("/dev/fuse").exists() {
        eprintln!("SKIPPED: the kernel of this machine has no FUSE");
        return;
    }
    let Some((scratch, ended)) = as_nobody(WITH_FUSE, "fsync-loss") else { return };
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert_eq!(ended.status.code(), Some(0), "{said}{}", String::from_utf8_lossy(&ended.stderr));
    let events = std::fs::read_to_string(scratch.path().join("run/events.jsonl")).expect("events");
    let closed = events.lines().find(|line| line.contains("fault-closed")).expect("a fault");
    assert!(closed.contains("volumes cut 0 → 3 → 0"), "{closed}");
    assert!(closed.contains("\"landing\":\"landed\""), "{closed}");
}

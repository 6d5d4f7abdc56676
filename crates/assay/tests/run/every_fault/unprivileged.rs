//! What somebody without rights is told.

use super::{CASES, laid_out};
use crate::support::text;
use rustix::process::geteuid;
use std::process::Command;

#[test]
fn without_rights_a_scenario_is_inconclusive_and_says_what_to_do() {
    if !geteuid().is_root() {
        eprintln!("SKIPPED: becoming somebody without rights takes root");
        return;
    }
    let power_loss = CASES.iter().find(|case| case.fault == "fsync-loss").expect("in the table");
    let (scratch, path) = laid_out(power_loss);
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

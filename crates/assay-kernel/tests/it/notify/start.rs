//! Starting under watch: it works, or says why not, and never hangs.

use super::support::{ALL, CLOCK, SYNCS, WRITES, can, wait_until};
use assay_kernel::notify::{NotifyError, Tapped, Watch};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

#[test]
fn a_program_that_cannot_be_started_is_reported_as_it_would_be_without_the_watch() {
    if !can() {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let plain = directory.path().join("plain");
    std::fs::write(&plain, "no program").expect("a file");
    let cases = [
        (directory.path().join("absent"), ErrorKind::NotFound),
        ("assay-no-such-program".into(), ErrorKind::NotFound),
        (plain, ErrorKind::PermissionDenied),
    ];
    for (program, expected) in cases {
        for watch in [Watch::default(), SYNCS, WRITES, CLOCK, ALL] {
            let error = Tapped::spawn(&mut Command::new(&program), watch).err();
            let Some(NotifyError::Start { source, .. }) = error else {
                panic!("{}: {error:?} with {watch:?}", program.display());
            };
            assert_eq!(source.kind(), expected, "{} with {watch:?}", program.display());
        }
    }
}

#[test]
fn a_command_that_was_watched_can_be_started_again_with_and_without() {
    if !can() {
        return;
    }
    let mut command = Command::new("true");
    for _ in 0..3 {
        let (mut child, tap) = Tapped::spawn(&mut command, ALL).expect("it starts");
        assert!(child.wait().expect("it ends").success());
        assert!(tap.counts().execs >= 1);
        wait_until("nobody is left to answer", || !tap.is_served());
    }
    assert!(command.status().expect("it starts").success());
}

#[test]
fn the_end_of_a_child_that_becomes_other_programs_is_told_rightly() {
    if !can() {
        return;
    }
    let script = "exec sh -c 'exec sh -c \"exec sh -c \\\"exit 7\\\"\"'";
    for _ in 0..50 {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null());
        let (mut child, tap) = Tapped::spawn(&mut command, CLOCK).expect("it starts");
        let mut ended = None;
        wait_until("it ends", || {
            ended = tap.try_wait(&mut child).expect("it is our child");
            ended.is_some()
        });
        assert_eq!(ended.and_then(|status| status.code()), Some(7));
        assert_eq!(tap.counts().execs, 4);
    }
}

#[test]
fn grandchildren_that_fail_to_start_or_die_early_are_heard_of_by_their_parents() {
    if !can() {
        return;
    }
    let script = "for i in 1 2 3 4 5 6 7 8; do /absent/program; test $? = 127 || exit 1; \
                  (sh -c 'kill -9 $$'); true | cat | cat || exit 2; done 2>/dev/null";
    let mut command = Command::new("sh");
    command.args(["-c", script]).stdin(Stdio::null());
    let (mut child, tap) = Tapped::spawn(&mut command, ALL).expect("it starts");
    let mut ended = None;
    wait_until("it ends", || {
        ended = tap.try_wait(&mut child).expect("it is our child");
        ended.is_some()
    });
    assert!(ended.is_some_and(|status| status.success()), "{ended:?}");
    assert_eq!(tap.counts().execs_missed, 0, "{:?}", tap.counts());
}

/// Runs tests of this binary again, as somebody who may do nothing.
#[test]
fn all_of_it_works_without_privileges() {
    if !can() {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(directory.path(), open).expect("it is ours");
    // Where this binary lies others may not be allowed to look.
    let program = directory.path().join("it");
    let this = std::env::current_exe().expect("it has a path");
    std::fs::copy(this, &program).expect("a copy");
    let tests = [
        "notify::calls::a_sync_fails_below_the_directory_and_nowhere_else",
        "notify::calls::a_full_disk_and_a_read_only_one_refuse_what_such_disks_refuse",
        "notify::clock::a_clock_moves_and_comes_back_for_the_program_and_those_it_starts",
    ];
    let mut again = Command::new("setpriv");
    again.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"]);
    again.arg(&program).arg("--exact").args(tests).env_remove("TMPDIR");
    // Tools that belong to the user who runs this are not for others.
    again.env("PATH", "/usr/local/bin:/usr/bin:/bin").current_dir("/");
    let output = match again.stdin(Stdio::null()).output() {
        Ok(output) => output,
        Err(error) => return eprintln!("SKIPPED: setpriv: {error}"),
    };
    let [said, complained] = [output.stdout, output.stderr].map(|bytes| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        text.trim().to_string()
    });
    if complained.starts_with("setpriv:") {
        return eprintln!("SKIPPED: only root can become somebody else: {complained}");
    }
    assert!(output.status.success(), "{said}\n{complained}");
    assert!(said.contains("3 passed"), "{said}");
    assert!(!complained.contains("SKIPPED"), "{complained}");
}

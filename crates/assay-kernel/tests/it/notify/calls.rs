//! Calls about files: which fail, which wait, and which nobody touches.

use super::support::{ALL, SYNCS, Server, WRITES, can, wait_until};
use assay_kernel::notify::{
    CallRule, Calls, DELAY_MAX, Deed, Errno, NotifyError, RULES_MAX, Share,
};
use std::time::Duration;

fn fail(calls: Calls, below: &std::path::Path, errno: Errno) -> CallRule {
    CallRule::new(calls, below, Deed::Fail(errno))
}

#[test]
fn a_sync_fails_below_the_directory_and_nowhere_else() {
    if !can() {
        return;
    }
    let [hit, spared] = [(); 2].map(|()| tempfile::tempdir().expect("a temporary directory"));
    let [inside, outside] = [&hit, &spared].map(|directory| directory.path().join("wal"));
    let mut server = Server::start(SYNCS);
    for file in [&inside, &outside] {
        assert_eq!(server.to("open", file), "ok");
        assert_eq!(server.to("truncate", file), "ok");
    }
    let syncs = ["fsync", "fdatasync", "msync"];
    for sync in syncs {
        assert_eq!(server.to(sync, &inside), "ok", "{sync} without a rule");
    }
    let rule = server.tap.impose(fail(Calls::Syncs, hit.path(), Errno::Io)).expect("watched");
    for sync in syncs {
        assert_eq!(server.to(sync, &inside), "EIO", "{sync} below the directory");
        assert_eq!(server.to(sync, &outside), "ok", "{sync} elsewhere");
    }
    assert_eq!(server.to("write", &inside), "ok", "writes are not watched");
    assert_eq!((rule.matched(), rule.hits()), (3, 3));
    let path = inside.canonicalize().expect("it is there");
    assert_eq!(server.tap.paths_hit(), vec![path; 3]);
    assert!(server.tap.lift(&rule), "it was on");
    assert!(!server.tap.lift(&rule), "it was lifted before");
    for sync in syncs {
        assert_eq!(server.to(sync, &inside), "ok", "{sync} after the rule was lifted");
    }
    let counts = server.tap.counts();
    assert_eq!((counts.syncs, counts.failed, counts.unknown), (12, 3, 0), "{counts:?}");
}

#[test]
fn a_rule_begins_with_its_nth_call_and_hits_its_share() {
    if !can() {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("wal");
    let mut server = Server::start(SYNCS);
    assert_eq!(server.to("open", &file), "ok");
    let rule = fail(Calls::Syncs, directory.path(), Errno::Io);
    let third = server.tap.impose(CallRule { from_nth: 3, ..rule.clone() }).expect("watched");
    let answers: Vec<String> = (0..4).map(|_| server.to("fsync", &file)).collect();
    assert_eq!(answers, ["ok", "ok", "EIO", "EIO"]);
    assert_eq!((third.matched(), third.hits()), (4, 2));
    server.tap.lift(&third);
    let share = Share::PerMille { share: 500, seed: 1 };
    let half = || CallRule { share, ..rule.clone() };
    let mut run = || {
        let on = server.tap.impose(half()).expect("watched");
        let answers: Vec<String> = (0..20).map(|_| server.to("fsync", &file)).collect();
        server.tap.lift(&on);
        answers
    };
    let first = run();
    assert!(first.contains(&"ok".to_string()) && first.contains(&"EIO".to_string()), "{first:?}");
    assert_eq!(first, run(), "the same seed hits the same calls");
}

#[test]
fn a_slow_sync_keeps_nobody_else_waiting_and_is_let_go_with_its_rule() {
    if !can() {
        return;
    }
    let [slow, fast] = [(); 2].map(|()| tempfile::tempdir().expect("a temporary directory"));
    let [inside, outside] = [&slow, &fast].map(|directory| directory.path().join("wal"));
    let mut server = Server::start(SYNCS);
    for file in [&inside, &outside] {
        assert_eq!(server.to("open", file), "ok");
    }
    let rule = CallRule::new(Calls::Syncs, slow.path(), Deed::Delay(DELAY_MAX));
    let rule = server.tap.impose(rule).expect("watched");
    server.request(&format!("later fsync {}", inside.display()));
    wait_until("the sync waits", || server.tap.counts().delayed == 1);
    assert_eq!(server.to("fsync", &outside), "ok", "the only answer so far is that of the other");
    server.tap.lift(&rule);
    assert_eq!(server.answer(), "ok", "long before the delay is over");
    let short = Deed::Delay(Duration::from_millis(30));
    let short = server.tap.impose(CallRule::new(Calls::Syncs, slow.path(), short));
    let short = short.expect("watched");
    assert_eq!(server.to("fsync", &inside), "ok", "after a delay it is done");
    assert_eq!(short.hits(), 1);
    // It brings to disk what the whole machine has written, which may take longer than anybody
    // waits for an answer here: that it was held is waited for, and that another was seen.
    server.request("sync");
    wait_until("bringing everything to disk waits as long", || short.hits() == 2);
    let mut second = Server::start(SYNCS);
    let broken = second.tap.impose(fail(Calls::Syncs, slow.path(), Errno::Io)).expect("watched");
    second.request("sync");
    wait_until("it is seen", || second.tap.counts().syncs == 1);
    assert_eq!(broken.matched(), 0, "it cannot say that it went wrong");
    assert_eq!(second.tap.counts().failed, 0);
}

#[test]
fn a_full_disk_and_a_read_only_one_refuse_what_such_disks_refuse() {
    if !can() {
        return;
    }
    let [hit, spared] = [(); 2].map(|()| tempfile::tempdir().expect("a temporary directory"));
    let [old, fresh] = ["old", "new"].map(|name| hit.path().join(name));
    let outside = spared.path().join("old");
    let mut server = Server::start(WRITES);
    assert_eq!(server.to("open", &old), "ok");
    assert_eq!(server.to("open", &outside), "ok");
    let cases = [
        ("write", "ENOSPC", "EROFS", "EIO"),
        ("pwrite", "ENOSPC", "EROFS", "EIO"),
        ("copy", "ENOSPC", "EROFS", "EIO"),
        ("sendfile", "ENOSPC", "EROFS", "EIO"),
        ("splice", "ENOSPC", "EROFS", "EIO"),
        ("allocate", "ENOSPC", "EROFS", "EIO"),
        ("truncate", "ok", "EROFS", "EIO"),
        ("open", "ok", "EROFS", "ok"),
        ("read", "ok", "ok", "ok"),
        ("fsync", "ok", "ok", "ok"),
    ];
    for (errno, which) in [(Errno::NoSpace, 0), (Errno::ReadOnly, 1), (Errno::Io, 2)] {
        let rule = server.tap.impose(fail(Calls::Writes, hit.path(), errno)).expect("watched");
        for (call, full, read_only, broken) in cases {
            let expected = [full, read_only, broken][which];
            assert_eq!(server.to(call, &old), expected, "{call} with {}", errno.name());
            assert_eq!(server.to(call, &outside), "ok", "{call} elsewhere");
        }
        if errno != Errno::Io {
            assert_eq!(server.to("open", &fresh), errno.name(), "a file that is not there yet");
            assert!(!fresh.exists(), "nor was it made");
        }
        server.tap.lift(&rule);
    }
    assert_eq!(server.to("open", &fresh), "ok");
    assert_eq!(server.to("write", &old), "ok");
}

#[test]
fn rules_that_could_do_nothing_are_refused() {
    if !can() {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let server = Server::start(SYNCS);
    let impose = |rule: CallRule| server.tap.impose(rule).map(|_| ());
    let refused = impose(fail(Calls::Writes, directory.path(), Errno::Io));
    assert!(matches!(refused, Err(NotifyError::NotWatched { .. })), "{refused:?}");
    let refused = impose(fail(Calls::Syncs, &directory.path().join("absent"), Errno::Io));
    assert!(matches!(refused, Err(NotifyError::Directory { .. })), "{refused:?}");
    let long = Deed::Delay(DELAY_MAX + Duration::from_millis(1));
    let refused = impose(CallRule::new(Calls::Syncs, directory.path(), long));
    assert!(matches!(refused, Err(NotifyError::Range { .. })), "{refused:?}");
    let refused = server.tap.impose_clock(Default::default()).map(|_| ());
    assert!(matches!(refused, Err(NotifyError::NotWatched { .. })), "{refused:?}");
    for _ in 0..RULES_MAX {
        impose(fail(Calls::Syncs, directory.path(), Errno::Io)).expect("there is room");
    }
    let refused = impose(fail(Calls::Syncs, directory.path(), Errno::Io));
    assert!(matches!(refused, Err(NotifyError::TooMany { .. })), "{refused:?}");
}

#[test]
fn a_process_killed_in_the_middle_of_a_delay_is_gone_and_so_is_the_answering() {
    if !can() {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("wal");
    let mut server = Server::start(ALL);
    assert_eq!(server.to("open", &file), "ok");
    let rule = CallRule::new(Calls::Syncs, directory.path(), Deed::Delay(DELAY_MAX));
    let _on = server.tap.impose(rule).expect("watched");
    server.request(&format!("fsync {}", file.display()));
    wait_until("the sync waits", || server.tap.counts().delayed == 1);
    assert!(server.tap.is_served());
    server.child.kill().expect("it runs");
    server.child.wait().expect("it was killed");
    wait_until("nobody answers nobody", || !server.tap.is_served());
}

#[test]
fn a_tap_that_is_dropped_takes_its_rules_with_it_and_calls_are_still_answered() {
    if !can() {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("wal");
    let mut server = Server::start(SYNCS);
    let untapped = Server::start(SYNCS);
    assert_eq!(server.to("open", &file), "ok");
    let rule = server.tap.impose(fail(Calls::Syncs, directory.path(), Errno::Io));
    let _on = rule.expect("watched");
    assert_eq!(server.to("fsync", &file), "EIO");
    server.tap = std::sync::Arc::clone(&untapped.tap);
    assert_eq!(server.to("fsync", &file), "ok");
}

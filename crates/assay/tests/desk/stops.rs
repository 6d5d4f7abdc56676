//! A person between two runs: who stops the Leader, stands on its branch, asks again how it ended,
//! or cleans up behind it.

use super::{Bench, USUAL, Wish};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const WORK: &str = "work; commit; sign";
const JUDGE: &str = "verdict \"$good\"";
const PATIENCE: Duration = Duration::from_secs(60);

fn until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "waited {PATIENCE:?} for: {what}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

#[test]
fn stopping_the_leader_in_one_check_as_often_as_one_likes_costs_nothing() {
    let long = "work; sed -i \"1i : > started; while [ -e $HOME/wait ]; do sleep 0.1; done; rm -f \
                started\" t/1.sh; commit; sign";
    let bench = Bench::new(Wish { limits: "iterations = 1", ..USUAL }, long, JUDGE);
    let wait = bench.home().join("wait");
    std::fs::write(&wait, "").expect("a file");
    let engine = bench.engine();
    let args = ["run", "small", "--worker", &engine, "--verifier", &engine, "--sandbox", "off"];
    let started = bench.root.join(".assay/desk/small/trees/work/started");
    let signals = [("INT", 130), ("TERM", 143), ("HUP", 129), ("TERM", 143)];
    for (signal, code) in signals {
        let mut command = bench.desk(&args);
        let mut leader = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("runs");
        until("a check that has begun", || started.exists());
        let kill = Command::new("kill").args(["-s", signal, &leader.id().to_string()]).status();
        assert!(kill.expect("kill runs").success());
        let ended = leader.wait().expect("it ends");
        assert_eq!(ended.code(), Some(code), "{signal}");
        let lock = std::fs::File::open(bench.root.join(".git/assay-desk.lock"));
        lock.and_then(|lock| lock.lock()).expect("nobody leads any more");
        _ = std::fs::remove_file(&started);
    }
    std::fs::remove_file(&wait).expect("it is there");
    let ended = bench.ask(&args);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
}

#[test]
fn a_branch_on_which_the_user_stands_is_not_moved() {
    let bench = Bench::new(USUAL, WORK, JUDGE);
    bench.git(&["checkout", "-q", "-b", "desk/small"]);
    let stopped = bench.run(&[]);
    assert_eq!(stopped.code, Some(65), "{}\n{}", stopped.out, stopped.err);
    assert!(stopped.err.contains("desk/small is checked out there"), "{}", stopped.err);
    bench.git(&["diff", "--quiet", "HEAD"]);
    bench.git(&["checkout", "-q", "--detach"]);
    let ended = bench.run(&[]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
}

#[test]
fn a_campaign_that_is_over_says_again_how_it_ended() {
    let bench = Bench::new(USUAL, WORK, JUDGE);
    for _ in 0..2 {
        let ended = bench.run(&[]);
        assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
        let said = "COMPLETE  every criterion was shown at one tree";
        assert_eq!(ended.out.matches(said).count(), 1, "{}", ended.out);
    }
}

#[test]
fn cleaning_puts_the_record_aside_first_and_opens_what_is_closed() {
    let bench = Bench::new(USUAL, WORK, JUDGE);
    assert_eq!(bench.run(&[]).code, Some(0));
    let closed = bench.root.join(".assay/desk/small/trees/worker/closed");
    std::fs::create_dir_all(&closed).expect("a directory");
    std::fs::write(closed.join("a"), "").expect("a file");
    let rights = std::fs::Permissions::from_mode(0o555);
    std::fs::set_permissions(&closed, rights).expect("it is ours");
    let cleaned = bench.ask(&["clean", "small"]);
    assert_eq!(cleaned.code, Some(0), "{}\n{}", cleaned.out, cleaned.err);
    assert!(bench.root.join(".assay/desk/small/archive/001").is_dir());
    assert!(!bench.root.join(".assay/desk/small/trees").exists());
}

#[test]
fn a_contract_whose_judges_can_be_written_by_the_judged_is_warned_of() {
    let bench = Bench::new(USUAL, WORK, JUDGE);
    bench.edit("paths = [\"n1\", \"n0\"]", "paths = [\"**\"]");
    let linted = bench.ask(&["lint", "small"]);
    let all = format!("{}\n{}", linted.out, linted.err);
    assert_eq!(linted.code, Some(0), "{all}");
    assert!(all.contains("suite: `t/all` is among `tests`"), "{all}");
    assert!(all.contains("`paths` is everything"), "{all}");
}

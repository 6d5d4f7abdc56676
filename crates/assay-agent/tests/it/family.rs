//! Nothing an agent starts outlives it, nor whoever runs it.

use crate::Test;
use crate::support::{
    PATIENCE, Place, SILENCE, assert_exited, is_gone, itself, pid_in, run, shell, wait_until,
};
use assay_agent::{Limits, Outcome};
use std::process::{Command, Stdio};

pub const TESTS: &[Test] = &[
    ("what_an_agent_leaves_running_is_ended", left),
    ("what_an_agent_started_ends_with_a_timeout", with_timeout),
    ("a_killed_leader_takes_agent_and_grandchildren_along", killed_leader),
];

/// Starts processes that try to get away: in the background, in a session of their own, as orphans
/// of an orphan, and at the end of a chain of parents that live. Each writes its number.
const RUNAWAYS: &str = "
    sleep 600 & echo $! > background
    setsid sh -c 'echo $$ > session; exec sleep 600' &
    sh -c '(setsid sh -c \"echo \\$\\$ > orphan; exec sleep 600\" &) &'
    echo 'if [ $1 = 0 ]; then echo $$ > deep; sleep 600; else setsid sh chain $(($1 - 1)); fi; :' \
        > chain
    sh chain 4 &
    for name in background session orphan deep; do
        while ! [ -s $name ]; do sleep 0.01; done
    done
";

const NAMES: [&str; 4] = ["background", "session", "orphan", "deep"];

fn assert_all_gone(place: &Place) {
    for name in NAMES {
        let pid = pid_in(&place.path("work").join(name)).expect(name);
        wait_until(&format!("{name}, process {pid}, to end"), || is_gone(pid));
    }
}

fn left() {
    let place = Place::new();
    let (ran, _) = run(&shell(RUNAWAYS), &place.task());
    assert_exited(&ran, 0);
    // Nothing to wait for: they were gone when the run was over.
    for name in NAMES {
        let pid = pid_in(&place.path("work").join(name)).expect(name);
        assert!(is_gone(pid), "{name}");
    }
    assert!(ran.stragglers >= 8, "{}", ran.stragglers);
}

fn with_timeout() {
    let place = Place::new();
    let limits = Limits { wall: PATIENCE, idle: SILENCE, output_bytes: 1 << 20 };
    let agent = shell(&format!("{RUNAWAYS} echo ready; sleep 600"));
    let (ran, events) = run(&agent, &place.task().limits(limits));
    assert_eq!(ran.outcome, Outcome::IdleTimeout);
    assert!(!events.is_empty(), "it got as far as having a family");
    assert_all_gone(&place);
}

/// As somebody whose leader is killed with SIGKILL: nothing can clean up, and all must be gone.
fn killed_leader() {
    let place = Place::new();
    let mut leader = Command::new(itself())
        .arg("role-leader")
        .arg(place.root.path())
        .arg(format!("{RUNAWAYS} echo $$ > agent; sleep 600"))
        .stdout(Stdio::null())
        .spawn()
        .expect("this program can be started again");
    let agent = place.path("work/agent");
    wait_until("the agent to be there", || pid_in(&agent).is_some());
    let agent = pid_in(&agent).expect("it is there");
    assert!(!is_gone(agent));
    leader.kill().expect("it runs");
    leader.wait().expect("it is gone");
    wait_until("the agent to end with its leader", || is_gone(agent));
    assert_all_gone(&place);
}

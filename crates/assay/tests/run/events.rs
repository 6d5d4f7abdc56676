//! Faults that begin on events: after them, and not before.

use crate::support::{events, pause_plan, replaced, run, scratch, text, write};
use serde_json::{Value, json};

/// A leader that is cut off once clients were answered, and a follower that is stopped once that
/// has led to an election. The first leader was elected before anybody worked: that one is not
/// meant.
const ON_EVENTS: &str = "[[nemesis]]\nfault = \"leader-iso\"\ntarget = \"leader\"\n\
    on = \"acks >= 60\"\nfor = \"2500ms\"\nlanding = { injector = \"dropped >= 1\", \
    victim = \"elections >= 1 within 5s\" }\n\n\
    [[nemesis]]\nfault = \"pause\"\ntarget = \"follower\"\non = \"elections >= 1\"\n\
    for = \"700ms\"\nlanding = { injector = \"stopped >= 1\", \
    victim = \"heartbeat-gap >= 300ms within 3s\" }\n\n";

fn on_events() -> String {
    let plan = pause_plan();
    let from = plan.find("[[nemesis]]").expect("faults");
    let to = plan.find("[model]").expect("and what comes after them");
    let plan = format!("{}{ON_EVENTS}{}", &plan[..from], &plan[to..]);
    let plan = replaced(&plan, "duration = \"4s\"", "duration = \"6s\"");
    replaced(&plan, "duration = \"2500ms\"", "duration = \"5s\"")
}

#[test]
fn a_fault_that_waits_for_an_event_begins_after_it() {
    let directory = scratch();
    let plan = write(directory.path(), "plan.md", &on_events());
    let root = directory.path().join("run");
    let ended = run(&["run", text(&plan), "--tier", "smoke", "--directory", text(&root)]);
    let all = events(&root);
    let opened: Vec<&Value> = all.iter().filter(|e| e["event"] == "fault-opened").collect();
    let ids: Vec<&str> = opened.iter().filter_map(|event| event["id"].as_str()).collect();
    assert_eq!(ids, ["leader-iso-1", "pause-1"], "{ended:#?}\n{all:#?}");
    for (event, name, wanted) in [(opened[0], "acks", 60), (opened[1], "elections", 1)] {
        let awaited = &event["awaited"];
        assert_eq!(awaited["event"], name, "{event:#}");
        assert_eq!(awaited["wanted"], wanted, "{event:#}");
        assert!(awaited["seen"].as_u64() >= Some(wanted), "{event:#}");
    }
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    says_what_it_does(&all);
}

/// Everything that can take long is told when it begins, and how many trials there are to come.
fn says_what_it_does(all: &[Value]) {
    let of = |name: &str| all.iter().filter(|e| e["event"] == name).collect::<Vec<_>>();
    let phases = of("phase-began");
    let phases: Vec<&str> = phases.iter().filter_map(|e| e["phase"].as_str()).collect();
    let wanted = [
        "surveying",
        "starting",
        "working",
        "resting",
        "last-reads",
        "stopping",
        "judging",
        "calibrating",
        "reporting",
    ];
    assert_eq!(phases, wanted);
    assert_eq!(of("run-started")[0]["trials"], 1);
    let trial = of("trial-started")[0];
    assert_eq!((&trial["number"], &trial["of"]), (&json!(1), &json!(1)), "{trial:#}");
}

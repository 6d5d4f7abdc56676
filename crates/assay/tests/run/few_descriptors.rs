//! A run that may not have many descriptors, as in a container with a low limit. While a leader is
//! frozen the connections of everybody who tries again pile up in the proxies; nevertheless it can
//! be resumed, because they leave some for that.

use crate::support::{
    assay, events, nothing_is_left_of, pause_plan, replaced, scratch, text, write,
};
use assay_kernel::jail::limit_on_exec;
use rustix::process::Resource;

const DESCRIPTORS: u64 = 160;

#[test]
fn what_piles_up_while_a_leader_is_frozen_does_not_keep_it_from_being_resumed() {
    let scratch = scratch();
    let plan = replaced(&pause_plan(), "target = \"follower\"", "target = \"leader\"");
    let plan =
        replaced(&plan, "for = \"1500ms\"\nevery = \"1700ms\"", "for = \"6s\"\nevery = \"7s\"");
    let plan = replaced(&plan, "duration = \"2500ms\"", "duration = \"8s\"");
    let plan = replaced(&plan, "duration = \"4s\"", "duration = \"16s\"");
    let plan = write(scratch.path(), "plan.md", &plan);
    let directory = scratch.path().join("run");
    let mut command = assay(&["run", text(&plan), "--tier", "smoke", "--directory"]);
    command.arg(&directory);
    limit_on_exec(&mut command, vec![(Resource::Nofile, DESCRIPTORS)]);
    let output = command.output().expect("assay runs");
    let is_pause = |event: &serde_json::Value| event["id"] == "pause-1";
    let events = events(&directory);
    let closed = events.iter().rfind(|event| is_pause(event)).expect("a leader was frozen");
    assert_eq!(closed["landing"], "landed", "{closed:#} {output:#?}");
    let evidence = closed["evidence"].as_str().unwrap_or_default();
    assert!(!evidence.contains("not healed"), "{closed:#}");
    let record = std::fs::read_to_string(directory.join("artifacts/S1/smoke-seed-1/trial.json"));
    let record: serde_json::Value = record.expect("it has ended").parse().expect("JSON");
    assert_ne!(record["turned_away"], 0, "the limit was not low enough to matter");
    let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(told.contains("INCONCLUSIVE") && told.contains("room for every connection"), "{told}");
    nothing_is_left_of(&directory);
}

//! A run keeps the description of its system: it goes on with it, and a finding is seen again from
//! it, whatever becomes of the original.

use crate::support::{pause_plan, replaced, run, scratch, text, write};
use serde_json::Value;

#[test]
fn a_run_goes_on_with_its_own_description_and_can_be_moved() {
    let directory = scratch();
    let at = |name: &str| directory.path().join(name);
    let described = include_str!("../../../../systems/kv.toml");
    let plan = replaced(&pause_plan(), "name = \"kv\"", "name = \"mine\"");
    let plan = write(directory.path(), "plan.md", &plan);
    let original = write(directory.path(), "systems/mine.toml", described);
    let root = at("run");
    let smoke = ["run", text(&plan), "--tier", "smoke", "--directory", text(&root)];
    let ended = run(&smoke);
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    let copy = std::fs::read_to_string(root.join("systems/mine.toml")).expect("a copy");
    assert_eq!(copy, described);

    std::fs::write(&original, described.replace("about = \"", "about = \"Another: ")).expect("new");
    let ended = run(&["run", "--resume", text(&root)]);
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    assert!(ended.err.contains("note: ") && ended.err.contains("has changed since"), "{ended:#?}");
    assert!(ended.err.contains("(kept)"), "the trial is still that of its description: {ended:#?}");

    // A trial of it as a finding, moved to where nobody knows the system.
    let trial = std::fs::read_to_string(root.join("artifacts/S1/smoke-seed-1/trial.json"));
    let trial: Value = serde_json::from_str(&trial.expect("a trial")).expect("JSON");
    let digest = trial["spec"]["system"]["digest"].as_str().expect("a digest");
    assert!(digest.starts_with("sha256:"), "{digest}");
    let moved = at("elsewhere/run");
    std::fs::create_dir(at("elsewhere")).expect("made");
    std::fs::rename(&root, &moved).expect("moved");
    std::fs::remove_dir_all(at("systems")).expect("gone");
    let finding = write(&moved, "findings/F1.repro.json", &trial["spec"].to_string());
    let ended = run(&["reproduce", text(&finding)]);
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    assert!(ended.out.starts_with("NOT REPRODUCED"), "{ended:#?}");
    assert!(!ended.err.contains("not described as it was"), "{ended:#?}");
    // The same trial with the description of something else says so.
    let text_of = std::fs::read_to_string(moved.join("systems/mine.toml")).expect("the copy");
    write(&moved, "systems/mine.toml", &format!("# changed\n{text_of}"));
    let ended = run(&["reproduce", text(&finding)]);
    assert!(ended.err.contains("mine is not described as it was"), "{ended:#?}");
}

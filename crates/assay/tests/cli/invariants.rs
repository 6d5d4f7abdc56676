//! `assay invariants scan`, through the real binary.

use super::{json, run, scratch};
use std::path::Path;

fn root() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").display().to_string()
}

#[test]
fn our_own_invariants_and_the_bank_have_no_holes() {
    let done = run(&["invariants", "scan", &root(), "--format", "json"]);
    let matrix = json(&done);
    assert_eq!((done.code, &matrix["holes"]), (0, &serde_json::json!([])), "{}", done.err);
    let rows = matrix["rows"].as_array().expect("rows");
    let ids: Vec<&str> = rows.iter().filter_map(|row| row["id"].as_str()).collect();
    for id in ["BK-1", "BK-4", "DK-1", "DK-9"] {
        assert!(ids.contains(&id), "{ids:?}");
    }
    let bank = run(&["invariants", "scan", &format!("{}/examples/invariants", root())]);
    assert_eq!(bank.code, 0, "{}", bank.out);
    assert!(bank.out.starts_with("4 invariants, 0 holes; "), "{}", bank.out);
}

#[test]
fn a_hole_has_its_place_and_ends_in_1_and_nothing_declared_in_3() {
    let directory = scratch();
    let path = directory.path().display().to_string();
    let empty = run(&["invariants", "scan", &path]);
    assert_eq!(empty.code, 3, "{}", empty.out);
    assert!(
        empty.out.starts_with("no invariants are declared in 0 files\nnext: "),
        "{}",
        empty.out
    );
    let source = "invariants! {\n    pub registry All for Tank;\n    state LOW {\n        \
                  id: \"TK-1\",\n        says: \"a\",\n        see: \"a.md\",\n        \
                  holds: |t| t.a,\n    }\n}\n";
    std::fs::write(directory.path().join("tank.rs"), source).expect("written");
    let done = run(&["invariants", "scan", &path]);
    assert_eq!(done.code, 1, "{}", done.out);
    assert!(done.out.starts_with("1 invariant, 5 holes; 1 files were read\n"), "{}", done.out);
    for rule in ["I02", "I05", "I06", "I07", "I08"] {
        assert!(done.out.contains(&format!("\ntank.rs:3: [{rule}] TK-1: ")), "{}", done.out);
        assert_eq!(run(&["explain", rule]).code, 0, "{rule}");
    }
    let page = run(&["invariants", "scan", &path, "--format", "markdown"]);
    assert!(page.out.starts_with("**1 invariant, 5 holes**\n"), "{}", page.out);
}

#[test]
fn a_directory_that_is_not_there_is_told() {
    let done = run(&["invariants", "scan", "/no/such/place"]);
    assert_eq!(done.code, 69);
    assert!(done.err.contains("/no/such/place: cannot read"), "{}", done.err);
}

//! Plans under whatever a file may hold.

use assay_plan::ids::Id;
use assay_plan::{diff, edit, lint, parse, view};
use std::collections::BTreeMap;

/// Reads, checks, shows and edits a plan; what is printed is what was read, byte for byte.
pub fn read_plan(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let plan = parse(text);
    assert_eq!(plan.print(), text, "the source stays");
    for diagnostic in lint(&plan) {
        let span = diagnostic.span;
        assert!(text.get(span.start..span.end).is_some(), "{diagnostic:?} is in the text");
        assert!(plan.line(span.start) >= 1 && plan.column(span.end) >= 1);
        assert!(!diagnostic.message.is_empty());
    }
    let claims = view::claims(&plan, &BTreeMap::new());
    assert_eq!(claims.len(), plan.claims.len());
    view::matrix(&plan);
    assert!(diff::diff(&plan, &plan).is_empty(), "nothing changed");
    if let Ok(changed) = edit::set_header(&plan, "Status", "reviewed") {
        let status = parse(&changed).header.status.expect("a status that was set");
        assert_eq!(status.text.text, "reviewed");
    }
    if let Ok(changed) = edit::set_block(&plan, &Id::new('S', 1), "seed", "7") {
        let again = parse(&changed);
        let machine = again.scenarios.iter().find(|s| s.id == Id::new('S',
            1)).and_then(|s| s.machine());
        assert_eq!(machine.and_then(|machine| machine.seed), Some(7));
    }
}

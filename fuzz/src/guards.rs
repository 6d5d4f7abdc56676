//! The guard under whatever a file may hold.

use assay_guard::{Config, Tree, compare};

/// Compares a file with a part of itself, both ways: no panic, no hang, and nothing to say about a
/// file that did not change. A zero byte, if there is one, parts the old text from the new.
pub fn guard_file(path: &str, bytes: &[u8]) {
    let config = Config::default();
    let tree = |text: &[u8]| Tree::from([(path.to_string(), text.to_vec())]);
    let middle = bytes.iter().position(|byte| *byte == 0);
    let (old, new) = match middle {
        Some(at) => (&bytes[..at], &bytes[at + 1..]),
        None => (bytes, &bytes[..bytes.len() / 2]),
    };
    assert!(compare(&tree(old), &tree(old), &config).is_empty(), "nothing changed");
    for (before, after) in [(old, new), (new, old)] {
        for finding in compare(&tree(before), &tree(after), &config) {
            assert!(!finding.reason.is_empty() && !finding.object.is_empty(), "{finding:?}");
            let places = [&finding.old, &finding.new];
            assert!(places.into_iter().flatten().all(|place| place.line >= 1), "{finding:?}");
        }
    }
}

//! Did anything ask for less than before? What `assay-guard` says about the two trees of a claim.
//!
//! It reads syntax and meaning, in the languages it knows; [`super::gaming`] compares lines, in all
//! languages. Records of approvals are not looked at: they are part of the tree that the Worker
//! wrote. A person amends the contract or changes the test before the campaign.

use super::{Finding, Severity};
use assay_guard::{Config, Tree, Verdict, compare};

/// What asks for less in `after` than in `before`; what only looks like it is worth saying.
pub fn check(before: &Tree, after: &Tree) -> Vec<Finding> {
    let found = compare(before, after, &Config::default());
    let findings = found.iter().filter_map(|finding| {
        let severity = match finding.verdict {
            Verdict::Weaker => Severity::Critical,
            Verdict::Suspect => Severity::Minor,
            Verdict::Changed | Verdict::Stronger => return None,
        };
        let place = finding.new.as_ref().or(finding.old.as_ref());
        let place = place.map_or(finding.object.clone(), ToString::to_string);
        let text = format!("{place}: {}: {} ({})", finding.object, finding.reason, finding.rule);
        Some(Finding::new("gaming", severity, text))
    });
    findings.collect()
}

#[cfg(test)]
mod tests {
    use super::{Severity, check};
    use assay_guard::Tree;

    fn tree(path: &str, text: &str) -> Tree {
        Tree::from([(path.to_string(), text.into())])
    }

    #[test]
    fn what_lines_do_not_show_is_found_by_meaning() {
        let before = "def test_sum():\n    assert total([1, 2]) == 3\n";
        for (after, wanted) in [
            ("def test_sum():\n    assert total([1, 2]) >= 3\n", true),
            ("def test_sum():\n    assert total([1, 2]) == 3 or True\n", true),
            ("def test_sum():\n    assert 3 == total([1, 2])\n", false),
            ("def test_sum():\n    assert total([1, 2]) == 3\n    assert total([]) == 0\n", false),
        ] {
            let found = check(&tree("tests/test_a.py", before), &tree("tests/test_a.py", after));
            let blocks = found.iter().any(|finding| finding.severity == Severity::Critical);
            assert_eq!(blocks, wanted, "{after}: {found:?}");
        }
    }
}

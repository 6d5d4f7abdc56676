//! Whatever a file holds: no panic, no hang, and every place has a line.

use super::corpus::cases;
use super::formulas::Dice;
use assay_guard::{Config, Tree, compare};

/// A text with some bytes removed, doubled or replaced.
fn damaged(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut text = bytes.to_vec();
    for _ in 0..=dice.below(4) {
        if text.is_empty() {
            break;
        }
        let at = dice.below(text.len() as u64) as usize;
        let end = (at + 1 + dice.below(12) as usize).min(text.len());
        match dice.below(5) {
            0 => drop(text.drain(at..end)),
            1 => {
                let part = text[at..end].to_vec();
                text.splice(at..at, part);
            }
            2 => text[at] = b"(){}[]\"'\\/=<>:.\n\t "[dice.below(18) as usize],
            3 => text.truncate(at),
            _ => text[at] = dice.below(256) as u8,
        }
    }
    text
}

#[test]
fn damaged_files_of_every_kind_are_compared_without_a_panic() {
    let mut dice = Dice(1);
    let config = Config::default();
    let mut seen = std::collections::BTreeSet::new();
    for case in cases() {
        for (path, bytes) in &case.before {
            if !seen.insert((path.clone(), bytes.clone())) {
                continue;
            }
            for _ in 0..40 {
                let broken = damaged(bytes, &mut dice);
                let tree = |text: &[u8]| Tree::from([(path.clone(), text.to_vec())]);
                for (old, new) in [(bytes, &broken), (&broken, bytes)] {
                    for finding in compare(&tree(old), &tree(new), &config) {
                        let places = [&finding.old, &finding.new].into_iter().flatten();
                        assert!(places.clone().all(|p| p.line >= 1), "{finding:?}");
                        assert!(!finding.reason.is_empty(), "{finding:?}");
                    }
                }
            }
        }
    }
}

/// Names that stand twice included: what is damaged has them, and nobody forbids them.
#[test]
fn a_file_that_did_not_change_says_nothing_however_broken_it_is() {
    let mut dice = Dice(2);
    let config = Config::default();
    for case in cases() {
        for (path, bytes) in &case.before {
            let twice = bytes.repeat(2);
            let (cut, from) =
                (dice.below(bytes.len() as u64 + 1), dice.below(bytes.len() as u64 + 1));
            let crossed = [&bytes[..cut as usize], &bytes[from as usize..]].concat();
            for text in [bytes, &twice, &crossed, &damaged(bytes, &mut dice)] {
                let tree = Tree::from([(path.clone(), text.clone())]);
                let found = compare(&tree, &tree, &config);
                assert!(found.is_empty(), "{path}: {found:#?} {}", String::from_utf8_lossy(text));
            }
        }
    }
}

#[test]
fn nesting_without_end_is_refused_and_not_followed() {
    let config = Config::default();
    let deep = |open: &str, close: &str, middle: &str| {
        format!("{}{middle}{}", open.repeat(20_000), close.repeat(20_000))
    };
    let files = [
        ("tests/a.rs", format!("#[test]\nfn a() {{ assert!({}); }}\n", deep("(", ")", "x"))),
        ("tests/b.rs", format!("#[test]\nfn a() {{ assert!({}x); }}\n", "!".repeat(20_000))),
        ("tests/test_a.py", format!("def test_a():\n    assert {}\n", deep("(", ")", "x"))),
        ("a_test.go", format!("package a\nfunc TestA(t *testing.T) {}\n", deep("{", "}", ""))),
        ("a.test.ts", format!("it('a', () => {{ expect({}).toBe(1) }})\n", deep("[", "]", ""))),
        ("ATest.java", format!("class A {{ @Test void a() {} }}\n", deep("{", "}", ""))),
        ("A.tla", format!("---- MODULE A ----\nInv == {}\n====\n", deep("(", ")", "TRUE"))),
        (".github/workflows/a.yml", deep("[", "]", "")),
        ("pyproject.toml", format!("a = {}\n", deep("[", "]", "1"))),
        ("docs/prd.md", deep("> ", "\n", "- AC-1: must")),
    ];
    for (path, text) in files {
        let tree = |text: &str| Tree::from([(path.to_string(), text.as_bytes().to_vec())]);
        compare(&tree(&text), &tree("x\n"), &config);
        compare(&tree("x\n"), &tree(&text), &config);
    }
}

#[test]
fn variables_that_double_each_other_are_left_as_they_are_written() {
    let config = Config::default();
    let mut text = String::new();
    for at in 0..40 {
        text += &format!("A{at:02}=$(A{:02})$(A{:02})\n", at + 1, at + 1);
    }
    text += "A40=xxxxxxxxxxxxxxxx\ntest:\n\tcargo test $(A00)\n";
    let tree = |text: &str| Tree::from([("Makefile".to_string(), text.as_bytes().to_vec())]);
    let found = compare(&tree(&text), &tree(&text.replace("cargo test", "true")), &config);
    assert!(!found.is_empty(), "a recipe with such variables is still compared");
}

#[test]
fn a_function_in_a_macro_has_its_line_also_in_a_file_that_is_broken() {
    let text = "#[test]\nfn other() {\n    assert!(true);\n}\n\nproptest! {\n    #[test]\n    \
                fn sums(n in 0..1000u&4) {\n        prop_assert_eq!(sum(n), n);\n    }\n}\n";
    let tree = |text: &str| Tree::from([("tests/a.rs".to_string(), text.as_bytes().to_vec())]);
    let found = compare(&tree(text), &tree(""), &Config::default());
    let gone = found.iter().find(|finding| finding.object.ends_with("sums")).expect("it is gone");
    assert_eq!(gone.old.as_ref().map(|place| place.line), Some(8), "{gone:?}");
}

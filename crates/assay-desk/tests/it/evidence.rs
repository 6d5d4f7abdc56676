//! What mapped tests show, and what they do not.

use assay_desk::contract::{Category, MappedTest, ResultFormat, Story};
use assay_desk::event::{Counts, Issue};
use assay_desk::gate::beside::Beside;
use assay_desk::gate::symbols::words;
use assay_desk::gate::tests::{green, red, shown, whole};
use assay_desk::gate::{Finding, Severity, diff, hunks, kept, scope};
use assay_desk::results::{Results, read};
use std::collections::BTreeSet;

fn story() -> Story {
    super::contract(1, "LOW", "critical").stories.remove(0)
}

fn mapped(names: &[(&str, Category)]) -> Vec<MappedTest> {
    let test = |(name, category): &(&str, Category)| MappedTest {
        criterion: "AC-1".to_string(),
        name: name.to_string(),
        category: *category,
    };
    names.iter().map(test).collect()
}

const THREE: [(&str, Category); 3] =
    [("a", Category::Happy), ("b", Category::Negative), ("c", Category::Boundary)];

fn tap(text: &str) -> Results {
    read(ResultFormat::Tap, text)
}

fn said(findings: &[Finding]) -> String {
    findings.iter().map(|f| f.text.clone()).collect::<Vec<_>>().join("; ")
}

#[test]
fn green_needs_every_mapped_test_to_exist_run_and_pass() {
    let all = tap("ok 1 - a\nok 2 - b\nok 3 - c\n");
    assert_eq!(green(&story(), &mapped(&THREE), &all, &[]), []);
    for (names, output, why) in [
        (&THREE[..2], "ok 1 - a\nok 2 - b\n", "2 tests of 2 categories"),
        (
            &[THREE[0], ("b", Category::Happy), ("c", Category::Happy)],
            "ok - a\nok - b\nok - c\n",
            "3 tests of 1 categories",
        ),
        (
            &[("a", Category::Happy), ("a", Category::Negative), ("b", Category::Happy), THREE[2]],
            "ok - a\nok - b\nok - c\n",
            "`a` has two categories",
        ),
        (&THREE[..], "ok 1 - a\nok 2 - b\n", "`c` does not exist"),
        (&THREE[..], "ok 1 - a\nok 2 - b\nnot ok 3 - c\n", "`c` fails"),
        (&THREE[..], "ok 1 - a\nok 2 - b\nok 3 - c # SKIP later\n", "`c` was skipped"),
        (&THREE[..], "ok - a\nok - b\nok - c\nok - d # SKIP\n", "`d` is skipped"),
        (&THREE[..], "nothing at all", "no tests were collected"),
    ] {
        let found = said(&green(&story(), &mapped(names), &tap(output), &[]));
        assert!(found.contains(why), "{output}: {found}");
    }
    let skipped = tap("ok - a\nok - b\nok - c\nok - d # SKIP\n");
    assert_eq!(green(&story(), &mapped(&THREE), &skipped, &["d".to_string()]), []);
}

#[test]
fn a_doctest_that_may_be_skipped_is_named_without_its_line() {
    let text = "test a ... ok\ntest b ... ok\ntest c ... ok\ntest src/lib.rs - f (line 12) ... \
                ignored\n";
    let results = read(ResultFormat::Libtest, text);
    for (skip, wanted) in [
        ("src/lib.rs - f", true),
        ("src/lib.rs - f (line 12)", true),
        ("src/lib.rs - f (line 9)", true),
        ("src/lib.rs - g", false),
        ("src/lib.rs", false),
    ] {
        let found = green(&story(), &mapped(&THREE), &results, &[skip.to_string()]);
        assert_eq!(found.is_empty(), wanted, "{skip}: {found:?}");
    }
}

#[test]
fn the_whole_shows_every_mapped_test_in_the_suite_or_by_a_runner_of_its_own() {
    let counts = |passed, failed| Counts { passed, failed, skipped: 0 };
    for (suite, others, lacks) in [
        (counts(3, 0), 0, false),
        (counts(2, 0), 0, true),
        (counts(2, 0), 1, false),
        (counts(9, 1), 0, true),
    ] {
        assert_eq!(whole(suite, others, 3).is_some(), lacks, "{suite:?} {others}");
    }
    let suite = tap("ok - a\nnot ok - b\n");
    let found = said(&shown(&story(), &mapped(&THREE), &suite, &tap("ok - c\n")));
    assert!(found.contains("the mapped test `b`") && !found.contains("`c`"), "{found}");
}

#[test]
fn changes_of_tests_beside_the_code_are_not_taken_back() {
    let tree = |text: &str| [("src/a.rs".to_string(), text.into())].into();
    let (old, new) = ("fn a() {}\n", "fn a() { b() }\n#[test]\nfn t() {}\n");
    let diff = "diff --git a/src/a.rs b/src/a.rs\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1 +1 @@\n\
                -fn a() {}\n+fn a() { b() }\n@@ -1,0 +2,2 @@\n+#[test]\n+fn t() {}\n";
    for (beside, wanted) in [
        (Beside::of(&tree(old), &tree(new), &[]), &["src/a.rs:1"][..]),
        (Beside::default(), &["src/a.rs:1", "src/a.rs:2"]),
    ] {
        let changes = hunks::changes(&diff::parse(diff), &[], &beside);
        let places: Vec<&str> = changes.iter().map(|change| change.place.as_str()).collect();
        assert_eq!(places, wanted);
    }
}

#[test]
fn red_needs_every_mapped_test_to_fail_by_name_or_for_want_of_the_work() {
    let none = BTreeSet::new();
    let fails = tap("not ok - a\nnot ok - b\nnot ok - c\n");
    assert_eq!(red(&story(), &mapped(&THREE), &fails, "", &none), []);
    let one = tap("not ok - a\nok - b\nnot ok - c\n");
    let found = said(&red(&story(), &mapped(&THREE), &one, "", &none));
    assert!(found.contains("`b` passes without the work"), "{found}");
    let found = said(&red(&story(), &mapped(&THREE), &tap(""), "some other error", &none));
    assert!(found.contains("not because of it"), "{found}");
    let added = words(["def total_price(basket):"].into_iter());
    let output = "ImportError: cannot import name 'total_price' from 'basket'";
    assert_eq!(red(&story(), &mapped(&THREE), &tap(""), output, &added), []);
    let found = said(&red(&story(), &[], &fails, "", &none));
    assert!(found.contains("no test was seen to fail"), "{found}");
    let mut existing = story();
    existing.existing.insert("AC-1".to_string(), "it was there".to_string());
    assert_eq!(red(&existing, &mapped(&THREE), &tap("ok - a\n"), "", &none), []);
}

#[test]
fn what_passed_before_still_passes_or_a_person_let_go_of_it() {
    let before = "test a ... ok\ntest b ... FAILED\ntest c ... ignored\n\
                  test src/lib.rs - f (line 12) ... ok\n";
    for (now, outdated, skips, why) in [
        ("test a ... ok\ntest src/lib.rs - f (line 30) ... ok\ntest b ... ok\n", "", "", ""),
        ("test a ... FAILED\ntest src/lib.rs - f (line 12) ... ok\n", "", "", "`a` passed before"),
        ("test a ... FAILED\ntest src/lib.rs - f (line 12) ... ok\n", "", "a", "and fails now"),
        ("test a ... FAILED\ntest src/lib.rs - f (line 12) ... ok\n", "a", "", ""),
        ("test a ... ignored\ntest src/lib.rs - f (line 1) ... ok\n", "", "", "is skipped now"),
        ("test a ... ignored\ntest src/lib.rs - f (line 1) ... ok\n", "", "a", ""),
        (
            "test a ... ok\n",
            "",
            "",
            "`src/lib.rs - f` passed before the work, and does not run now",
        ),
        ("test a ... ok\n", "src/lib.rs - f", "", ""),
        ("error: it cannot be built", "", "", "`a` passed before the work, and does not run now"),
    ] {
        let mut settings = super::contract(1, "LOW", "critical").settings;
        settings.outdated = vec![outdated.to_string()];
        settings.skips = vec![skips.to_string()];
        let results = |text: &str| read(ResultFormat::Libtest, text);
        let found = kept::check(&results(before), &results(now), &settings);
        assert_eq!(found.is_empty(), why.is_empty(), "{now}: {found:?}");
        assert!(found.iter().all(Finding::blocks) && said(&found).contains(why), "{found:?}");
    }
    let many: String = (0..50).map(|n| format!("test t{n} ... ok\n")).collect();
    let (many, settings) =
        (read(ResultFormat::Libtest, &many), super::contract(1, "LOW", "critical").settings);
    let found = kept::check(&many, &Results::default(), &settings);
    assert_eq!(found.len(), 21);
    assert!(said(&found).contains("and 30 more tests"), "{found:?}");
}

#[test]
fn only_allowed_paths_may_change() {
    let contract = super::contract(1, "LOW", "critical");
    let check = |path: &str| {
        said(&scope::check(&contract.settings, &contract.stories[0], &[path.to_string()]))
    };
    for path in ["n1", "t/a", "t/deep/b"] {
        assert_eq!(check(path), "", "{path}");
    }
    for (path, why) in [
        ("n2", "not among the paths"),
        (".github/workflows/ci.yml", "is protected"),
        (".assay/desk/x/contract.md", "is protected"),
        ("CLAUDE.md", "is protected"),
        (".gitattributes", "is protected"),
        ("t/.gitattributes", "is protected"),
        ("t/CLAUDE.md", "is protected"),
        ("t/deep/CLAUDE.local.md", "is protected"),
        ("t/AGENTS.md", "is protected"),
        ("t/AGENTS.override.md", "is protected"),
        ("t/GEMINI.md", "is protected"),
        ("t/.claude/settings.json", "is protected"),
        ("t/deep/.codex/config.toml", "is protected"),
        ("t/.cursor/rules/a.mdc", "is protected"),
        ("t/.mcp.json", "is protected"),
        (".mcp.json", "is protected"),
    ] {
        assert!(check(path).contains(why), "{path}: {}", check(path));
    }
}

#[test]
fn a_fix_names_what_it_mends() {
    let issue = |id: &str| Issue {
        id: id.to_string(),
        finding: Finding::new("US-001/AC-1", Severity::Major, "no"),
    };
    let ids = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    assert_eq!(scope::traced(&[], &[]), None, "there was nothing to mend");
    assert_eq!(scope::traced(&[issue("I1.1"), issue("I1.2")], &ids(&["I1.2"])), None);
    for resolves in [&[][..], &["I9.9"]] {
        let found = scope::traced(&[issue("I1.1")], &ids(resolves)).expect("a finding");
        assert!(found.blocks() && found.text.contains("(I1.1)"), "{found:?}");
    }
}

#[test]
fn each_change_of_a_source_can_be_taken_back() {
    let text = "diff --git a/n b/n\n--- a/n\n+++ b/n\n@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n+// why\n\
                diff --git a/t/n b/t/n\n--- a/t/n\n+++ b/t/n\n@@ -1 +1 @@\n-a\n+b\n";
    let changes = hunks::changes(&diff::parse(text), &["t/**".to_string()], &Beside::default());
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].place, "n:1");
    assert!(changes[0].patch.starts_with("diff --git a/n b/n"), "{}", changes[0].patch);
}

#[test]
fn mutation_evidence_that_is_empty_or_in_part_untried_shows_nothing() {
    let taken = |noticed: usize, unnoticed: &[&str], stuck: &[&str]| {
        let places = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        let taken =
            hunks::TakenBack { noticed, unnoticed: places(unnoticed), stuck: places(stuck) };
        hunks::judged("US-001", &taken)
    };
    assert_eq!(taken(2, &[], &[]), []);
    for (findings, why) in [
        (taken(0, &[], &[]), "no source was changed"),
        (taken(2, &["n:1"], &[]), "n:1: no test fails without this change"),
        (taken(2, &[], &["logo"]), "logo: this change cannot be taken back"),
    ] {
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].blocks() && findings[0].text.contains(why), "{findings:?}");
    }
}

#[test]
fn a_file_that_is_no_text_is_a_change_all_the_same() {
    let text = "diff --git a/logo b/logo\nindex 1..2 100644\nBinary files a/logo and b/logo \
                differ\ndiff --git a/t/pic b/t/pic\nnew file mode 100644\nBinary files /dev/null \
                and b/t/pic differ\ndiff --git a/old b/old\ndeleted file mode 100644\nBinary \
                files a/old and /dev/null differ\n";
    let changes = hunks::changes(&diff::parse(text), &["t/**".to_string()], &Beside::default());
    let places: Vec<&str> = changes.iter().map(|change| change.place.as_str()).collect();
    assert_eq!(places, ["logo", "old"]);
}

//! Proofs that tests are heard and look at something: where a runner stops at the first failure,
//! and where tests look at the sources instead of what they do.

use super::{Bench, USUAL, Wish, beside};

const WORK: &str = "work; commit; sign";
const JUDGE: &str = "verdict \"$good\"";

#[test]
fn cargo_stops_after_a_binary_that_fails_and_the_tests_of_the_others_are_seen_to_fail() {
    let tests = beside::TESTS.replace("NAME", "total");
    let at = tests.find("    #[test]\n    fn nothing").expect("it is there");
    let file = |tests: &str| format!("use basket::total;\n{tests}");
    let files = [
        ("src/lib.rs", beside::done("")),
        ("tests/a.rs", file(&tests[..at])),
        ("tests/b.rs", file(&tests[at..])),
    ];
    let ended = beside::campaign("MEDIUM", "", &files);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
    assert!(ended.out.contains("3 of 3 mapped tests were made to fail"), "{}", ended.out);
    assert!(ended.out.contains("RED: 3 tests fail without the work"), "{}", ended.out);
}

/// Tests that fail without the work, by name, and look at nothing that it does.
const READERS: &str = "    #[test]
    fn two_prices() {
        assert!(include_str!(\"lib.rs\").contains(&[\"try\", \"fold\"].join(\"_\")));
    }
    #[test]
    fn nothing() {
        assert!(include_str!(\"lib.rs\").contains(&[\"checked\", \"add\"].join(\"_\")));
    }
    #[test]
    fn too_much() {
        assert!(include_str!(\"lib.rs\").contains(&[\"|sum\", \" price|\"].join(\",\")));
    }
";

#[test]
fn tests_that_read_the_sources_show_nothing() {
    let ended = beside::campaign("MEDIUM", "tests", &[("src/lib.rs", beside::done(READERS))]);
    assert!(matches!(ended.code, Some(1 | 2)), "{}\n{}", ended.out, ended.err);
    let said = "pass although each function that the claim adds or changes fails";
    assert!(ended.out.contains(said), "{}\n{}", ended.out, ended.err);
}

#[test]
fn a_test_with_a_title_that_has_no_end_breaks_nobody() {
    let work = "work; printf 'test(\"\\303\\251\\n, () => {});\\n' > t/a.js; commit; sign";
    let ended = Bench::new(USUAL, work, JUDGE).run(&[]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
}

/// A suite that reads settings of a runner, and work that writes them.
const SET_UP: &str = "echo 'echo 0.7' > n0; printf 'sh() { case $1 in t/0.sh) for name in \
                      \"prints a half\" \"says nothing else\" \"is nearly a half\"; do echo \"ok \
                      - $name\"; done;; *) command sh \"$@\";; esac; }\\n' > tox.ini; ";

#[test]
fn tests_from_before_are_run_as_runners_were_set_up_before() {
    let shared = Wish { settings: "shared = [\"tox.ini\"]\n", ..USUAL };
    for (set_up, holds) in [("", true), (SET_UP, false)] {
        let bench = Bench::new(shared, &format!("{set_up}{WORK}"), JUDGE);
        let all = "[ ! -f tox.ini ] || . ./tox.ini\nbad=0\nfor f in t/[0-9].sh; do sh \"$f\" || \
                   bad=1; done\nexit $bad\n";
        bench.write("t/all", all);
        bench.git(&["commit", "-qam", "Settings"]);
        let ended = bench.run(&[]);
        assert_eq!(ended.code == Some(0), holds, "{}\n{}", ended.out, ended.err);
        let said = "`prints a half` passed before the work, and fails now";
        assert_eq!(ended.out.contains(said), !holds, "{}\n{}", ended.out, ended.err);
    }
}

#[test]
fn what_is_found_at_the_end_goes_to_a_story_that_can_mend_it() {
    let work = "work; [ $ASSAY_STORY = US-002 ] || { sed -i '1i exit 0' t/0.sh; echo 'echo 0.7' > \
                n0; }; commit; sign";
    let ended = Bench::new(Wish { stories: 2, ..USUAL }, work, JUDGE).run(&[]);
    assert!(matches!(ended.code, Some(1 | 2)), "{}\n{}", ended.out, ended.err);
    let (_, end) = ended.out.split_once("ALL tests from before").expect("the end was looked at");
    let fix = end.lines().find(|line| line.contains("fix ")).expect("something is to be mended");
    assert!(fix.contains("US-001"), "{}", ended.out);
}

#[test]
fn mutation_evidence_is_of_the_tree_of_the_end() {
    let critical = Wish { stories: 2, risk: "CRITICAL", ..USUAL };
    let bench = Bench::new(critical, WORK, JUDGE);
    let ended = bench.run(&[]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
    // The second story added tests, so what the first one showed is shown again.
    assert!(ended.out.contains("ALL mutation: 1 stories again"), "{}", ended.out);
    assert_eq!(bench.ask(&["verify", "small"]).code, Some(0));
}

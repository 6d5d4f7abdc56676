//! The end: what the suite has to show, what a killed Leader costs, and what a person is told when
//! patching has to stop.

use super::{Bench, USUAL, Wish};

const WORK: &str = "work; commit; sign";
const JUDGE: &str = "verdict \"$good\"";
const TWO: Wish = Wish { stories: 2, ..USUAL };

#[test]
fn a_suite_that_leaves_out_mapped_tests_does_not_complete_and_does_not_hang() {
    let bench = Bench::new(TWO, WORK, JUDGE);
    bench.edit("[suite]\nrun = [\"sh\", \"t/all\"]", "[suite]\nrun = [\"sh\", \"t/0.sh\"]");
    let ended = bench.run(&[]);
    assert!(matches!(ended.code, Some(1 | 2)), "{:?} {}\n{}", ended.code, ended.out, ended.err);
    let said = "the suite does not show the mapped test `prints 1`";
    assert!(ended.out.contains(said), "{}\n{}", ended.out, ended.err);
    assert_eq!(bench.ask(&["verify", "small"]).code, Some(0));
}

#[test]
fn work_that_changes_what_old_tests_ask_for_needs_a_person() {
    let work = "work; echo 'echo 0.50' > n0; sed -i 's/\"$2\" =/\"${2%0}\" =/' t/lib; commit; sign";
    for (settings, completes) in [
        ("", false),
        ("outdated = [\"prints a half\"]\n", false),
        ("outdated = [\"prints a half\", \"says nothing else\"]\n", true),
        ("outdated = [\"t/l*\"]\n", true),
    ] {
        let bench = Bench::new(Wish { settings, ..USUAL }, work, JUDGE);
        let ended = bench.run(&[]);
        assert_eq!(ended.code == Some(0), completes, "{settings}: {}\n{}", ended.out, ended.err);
        assert!(matches!(ended.code, Some(0..=2)), "{settings}: {}\n{}", ended.out, ended.err);
        let said = "passed before the work, and fails now";
        assert_eq!(ended.out.contains(said), !completes, "{settings}: {}", ended.out);
        assert_eq!(bench.ask(&["verify", "small"]).code, Some(0), "{settings}");
    }
}

#[test]
fn a_layer_with_a_runner_of_its_own_shows_what_the_suite_cannot() {
    // The suite speaks TAP; the story's tests are those of another runner.
    let cases = "n=${ASSAY_STORY#US-00}; printf '<testsuite><testcase name=\"prints %s\"/>\
                 <testcase name=\"refuses a word %s\"/><testcase name=\"refuses two words \
                 %s\"/></testsuite>' $n $n $n > t/cases$n; printf 'sh n%s || exit 1\\ncp t/cases%s \
                 results.xml\\n' $n $n > t/unit$n";
    let bench = Bench::new(TWO, &format!("work; rm t/[12].sh; {cases}; commit; sign"), JUDGE);
    for n in 1..=2 {
        let (from, story) = (bench.contract(), format!("### US-00{n}"));
        let at = from.find(&story).expect("a story");
        let own = from[at..].replacen(
            "run = [\"sh\", \"t/all\"], results = \"tap\"",
            &format!("run = [\"sh\", \"t/unit{n}\"], results = \"junit\", file = \"results.xml\""),
            1,
        );
        bench.write(".assay/desk/small/contract.md", &format!("{}{own}", &from[..at]));
        bench.edit("category = \"boundary\"\n```", "category = \"boundary\"\n\n```");
    }
    let text = bench.contract();
    let existing = "existing = { \"AC-1\" = \"the cases stand in a file\" }\nrisk =";
    bench.write(".assay/desk/small/contract.md", &text.replace("risk =", existing));
    let ended = bench.run(&[]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
    assert_eq!(bench.ask(&["verify", "small"]).code, Some(0));
}

#[test]
fn a_leader_that_is_killed_takes_no_iteration_from_the_worker() {
    let once = Wish { limits: "iterations = 1\nidle_seconds = 60", ..USUAL };
    let bench = Bench::new(once, WORK, JUDGE);
    let engine = bench.engine();
    let args = ["run", "small", "--worker", &engine, "--verifier", &engine];
    bench.stop_when(&args, |line| line.contains("sent out"));
    let ended = bench.ask(&args);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
    assert!(ended.out.contains("iteration 2/2"), "{}", ended.out);
    assert_eq!(bench.ask(&["verify", "small"]).code, Some(0));
}

#[test]
fn a_person_is_told_what_was_tried_and_kept_failing() {
    let bench = Bench::new(USUAL, "work; echo \"echo 2$ASSAY_RUN\" > n1; commit; sign", JUDGE);
    let escalation = bench.root.join(".assay/desk/small/escalation.md");
    let ended = bench.run(&[]);
    assert_eq!(ended.code, Some(1), "{}\n{}", ended.out, ended.err);
    assert!(ended.out.contains("category repeat_axis"), "{}", ended.out);
    assert!(ended.out.contains("read the last fix contract"), "{}", ended.out);
    let text = std::fs::read_to_string(&escalation).expect("an escalation");
    for words in [
        "# Escalation: small",
        "## US-001: The number 1",
        "- iteration 1: US-001/AC-1",
        "- iteration 2: US-001/AC-1",
        "I1.1 [Critical]",
        "the mapped test `prints 1` fails",
        "`assay desk clean small`",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    // Nobody has to be told about a campaign that completes.
    let honest = Bench::new(USUAL, WORK, JUDGE);
    assert_eq!(honest.run(&[]).code, Some(0));
    assert!(!honest.root.join(".assay/desk/small/escalation.md").exists());
}

//! Ends are final: what each says, its exit code, and how one begins again.

use super::{Bench, USUAL, Wish};

const WORK: &str = "work; commit; sign";
const JUDGE: &str = "verdict \"$good\"";
/// A Worker that does its work only if a file says so.
const UNABLE: &str = "[ -e \"$(dirname $0)/able\" ] && { work; commit; sign; exit; }; printf \
                      '{\"nonce\":\"%s\",\"story\":\"%s\",\"status\":\"blocked\",\"reason\":\"no \
                      number is named\"}' $ASSAY_NONCE $ASSAY_STORY > $ASSAY_SIGNAL";

#[test]
fn after_an_end_a_person_edits_the_contract_and_begins_again() {
    let bench = Bench::new(USUAL, UNABLE, JUDGE);
    let blocked = bench.run(&[]);
    assert_eq!(blocked.code, Some(1), "{}{}", blocked.out, blocked.err);
    assert!(blocked.out.contains("category worker_blocked"), "{}", blocked.out);
    assert!(!blocked.out.contains("amend"), "that is not possible any more: {}", blocked.out);
    for words in ["assay desk clean small", "assay desk run small"] {
        assert!(blocked.out.contains(words), "{words}: {}", blocked.out);
    }
    bench.edit("reader sees 1", "reader sees the number 1");
    for refused in [
        bench.ask(&["amend", "small", "--by", "me", "--why", "so"]),
        bench.ask(&["abort", "small", "--why", "so"]),
    ] {
        assert_eq!(refused.code, Some(65), "{}{}", refused.out, refused.err);
        let says = refused.err.contains("BLOCKED, which is final");
        assert!(says && refused.err.contains("assay desk clean small"), "{}", refused.err);
    }
    // What was advised works.
    bench.write(".assay/desk/small/able", "");
    assert_eq!(bench.ask(&["clean", "small"]).code, Some(0));
    let ended = bench.run(&[]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
}

#[test]
fn an_answer_needs_a_question() {
    let bench = Bench::new(USUAL, WORK, JUDGE);
    let answer = ["resume", "small", "--answer", "yes", "--by", "me"];
    for begun in [false, true] {
        let refused = bench.ask(&answer);
        assert_eq!(refused.code, Some(64), "{}{}", refused.out, refused.err);
        let says = refused.err.contains("no question to answer");
        assert!(says && refused.err.contains("assay desk run small"), "{}", refused.err);
        if !begun {
            assert_eq!(bench.run(&[]).code, Some(0));
        }
    }
}

#[test]
fn a_campaign_that_runs_out_of_budget_is_a_timeout_and_exits_with_2() {
    let once = Wish { limits: "iterations = 1\nidle_seconds = 60", ..USUAL };
    let bench = Bench::new(once, "work; echo 'echo 2' > n1; commit; sign", JUDGE);
    let ended = bench.run(&[]);
    assert_eq!(ended.code, Some(2), "{}{}", ended.out, ended.err);
    assert!(ended.out.contains("TIMEOUT  1 iterations are used up"), "{}", ended.out);
    assert!(ended.out.contains("assay desk clean small"), "{}", ended.out);
    assert_eq!(bench.run(&[]).code, Some(2), "an end is the end");
    assert_eq!(bench.ask(&["verify", "small"]).code, Some(0));
}

#[test]
fn critical_work_needs_mutation_evidence_with_figures() {
    let critical = Wish { risk: "CRITICAL", ..USUAL };
    let only_tests = "work; git checkout -q n1; commit; sign";
    let tool = "mutation = { run = [\"sh\", \"mutate\"] }\n";
    let enough = "echo '{\"caught\":3,\"missed\":2,\"unviable\":1}' > mutants.json";
    let strict = format!("{tool}mutants_percent = 61\n");
    for (tool, mutate, passes, said) in [
        ("", "", false, "no source was changed"),
        (tool, "sh t/all", false, "wrote no mutants.json"),
        (tool, "echo '{\"caught\":0,\"missed\":0}' > mutants.json", false, "no mutant was tried"),
        (tool, enough, true, "3 of 5 mutants caught (60 %), 2 missed, 0 timeouts, 1 unviable"),
        (&strict, enough, false, "at least 61 % have to be caught"),
        (tool, &format!("{enough}; exit 1"), false, "has exit code 1, expected is 0"),
    ] {
        let bench = Bench::new(critical, only_tests, JUDGE);
        bench.write("n1", "#!/bin/sh\n[ $# -eq 0 ] || exit 3\necho 1\n");
        bench.write("mutate", mutate);
        bench.git(&["add", "n1", "mutate"]);
        bench.git(&["commit", "-qm", "It is there"]);
        bench.edit("risk =", "existing = { \"AC-1\" = \"it was there\" }\nrisk =");
        bench.edit("tests = [", &format!("{tool}tests = ["));
        let ended = bench.run(&[]);
        assert_eq!(ended.code == Some(0), passes, "{mutate}: {}{}", ended.out, ended.err);
        assert!(ended.out.contains(said), "{said}: {}", ended.out);
        assert_eq!(bench.ask(&["verify", "small"]).code, Some(0), "{mutate}");
    }
}

#[test]
fn taking_a_change_back_is_noticed_by_results_as_well_as_by_an_exit_code() {
    let critical = Wish { risk: "CRITICAL", ..USUAL };
    let two = "work; printf '[ \"$1\" = x ] && { echo y; exit; }\\necho 0.5\\n' > n0; sed -i \
               's/^exit/check \"says y\" \"$(sh n0 x)\" y\\nexit/' t/1.sh; commit; sign";
    let bench = Bench::new(critical, two, JUDGE);
    // A suite whose exit code says nothing.
    bench.write("t/all", "for f in t/[0-9].sh; do sh \"$f\"; done\nexit 0\n");
    bench.git(&["commit", "-qam", "No exit code"]);
    let ended = bench.run(&[]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
}

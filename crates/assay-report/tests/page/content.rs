//! What stands on the page of a run.

use crate::views;
use assay_report::run::{Refusal, Residual, RunRecord, RunView, page};
use assay_verdict::{Facts, RunVerdict, Verdict};

fn shown(view: &RunView) -> String {
    page(view).unwrap_or_else(|refusals| panic!("{:#?}", refusals.0))
}

#[test]
fn a_failed_run_shows_everything_it_rests_on() {
    let html = shown(&views::everything(200));
    for wanted in [
        "C2 is broken by S2 (F1).",
        "Exit code <b>1</b>",
        "<b>1</b> <span>✕ FAIL-reproducible</span>",
        "consumed 119004 of 119004 operations, no anomaly; caught 20 of 20 planted anomalies",
        "leader cut off, one way: injector packets dropped 0 → 14712 → 14712",
        "<a class=\"row\" href=\"#s-S2\">",
        "Process 7 took order 8812 again, 600 ms after that acknowledgement.",
        "<img src=\"data:image/svg+xml;base64,",
        "Whose fault: SUT",
        "harness and checker are sound",
        " → ",
        "12.000 s to 21.000 s",
        "healed: all 5 nodes reach each other again, 41 ms after",
        "No operation in flight",
        "unknown: n2 was not asked",
        "a violation came back with the same seed: <b>yes, so FAIL-reproducible</b>",
        "of 10 red flags and 14 weak oracles",
        "the system&#39;s log was searched",
        "missing tooling: the export job has no test harness yet",
        "Holds for (a). (b) is open until S4 can run.",
        "What stays unverified",
        "no machine is free for a day",
        "C1 (c): clusters of seven nodes and more. The plan leaves it open: the laboratory has",
        "dry run dropped 1 packet",
        "a file system that drops unsynced writes",
        "scripts/cluster.sh",
        "artifacts/S2-history.jsonl.zst",
        "Anomalies planted into copies of these histories",
        "stale-read",
        "lost-write",
    ] {
        assert!(html.contains(wanted), "{wanted} is not on the page");
    }
    assert!(!html.contains("http://") && !html.contains("https://"), "nothing to be fetched");
}

#[test]
fn a_trial_without_its_operations_keeps_its_counts_and_says_what_is_missing() {
    let mut view = views::everything(200);
    let trial = &mut view.trials[2];
    trial.ops = assay_report::run::OpTable::default();
    trial.counts = Some(assay_report::run::OpCounts { ok: 2_999_990, fail: 8, unknown: 2 });
    trial.ops_left_out = "it did not fit".to_string();
    let html = shown(&view);
    for wanted in [
        "3,000,000 operations: 2,999,990 ok, 8 fail, 2 unknown",
        "2 in an anomaly; not in this page",
        "S2 seed 11, hardening: its 3,000,000 operations; it did not fit.",
    ] {
        let plain = html.replace("<span class=\"sign broken\">✕</span> ", "");
        assert!(plain.contains(wanted), "{wanted} is not on the page");
    }
    assert!(!html.contains("marks of operations that are not there"), "they are counted");
}

#[test]
fn what_a_checker_missed_is_seen_in_the_table_of_planted_anomalies() {
    let mut view = views::everything(0);
    view.record.scenarios[0].arms[0].planted[0].certain_caught = 7;
    let html = shown(&view);
    assert!(html.contains("7 (3 missed)"), "3 of 10 are missing");
}

/// What the section about open things says of a run in which everything was tried and passed.
#[test]
fn what_the_plan_leaves_open_is_never_called_nothing() {
    let row = Residual {
        uncertainty: "five nodes and more".to_string(),
        why_uncovered: "there are three".to_string(),
        why_acceptable: "nobody runs five".to_string(),
        revisit_when: "when somebody does".to_string(),
    };
    let nothing = "Nothing that the plan names";
    let rows = [
        (Some(vec![row]), "five nodes and more. The plan leaves it open", false),
        (None, "What the plan itself leaves open: this record does not say.", false),
        (Some(Vec::new()), nothing, true),
    ];
    for (residual, wanted, is_nothing) in rows {
        let mut view = views::everything(0);
        view.trials.clear();
        view.findings.clear();
        empty(&mut view.record);
        view.record.residual = residual;
        let html = shown(&view);
        assert!(html.contains(wanted), "{wanted} is not on the page");
        assert_eq!(html.contains(nothing), is_nothing, "{wanted}");
    }
}

#[test]
fn a_calibration_that_was_cut_short_says_so_on_the_page_and_in_the_report() {
    let mut view = views::everything(0);
    assert!(!shown(&view).contains("<b>Left out</b>"));
    let why = "seed 7: slo: fewer rounds than asked for, the time was up";
    view.record.scenarios[0].arms[0].planted_less = vec![why.to_string()];
    assert!(shown(&view).contains(&format!("<b>Left out</b>: {why}")));
    let documents = assay_report::run::render(&view.record).expect("it can be reported");
    for path in ["findings/report.md", "findings/S1.md"] {
        let document = documents.iter().find(|document| document.path == path);
        let text = &document.expect("a file").text;
        assert!(text.contains("- **Left out**: ") && text.contains(why), "{path}: {text}");
    }
}

#[test]
fn an_empty_run_says_that_it_shows_nothing() {
    let mut view = views::everything(0);
    view.trials.clear();
    view.findings.clear();
    empty(&mut view.record);
    let html = shown(&view);
    for wanted in ["BLOCKED", "The plan has no scenarios", "Exit code <b>3</b>", "None. That says"]
    {
        assert!(html.contains(wanted), "{wanted} is not on the page");
    }
}

fn empty(record: &mut RunRecord) {
    record.scenarios.clear();
    record.findings.clear();
    record.claims.clear();
    record.confidence.clear();
    record.hypotheses.clear();
    record.coverage.clear();
    record.timeline.clear();
    record.environment.clear();
    record.toolbox.tools.clear();
    record.artifacts.clear();
    record.verdict = RunVerdict::Blocked;
}

#[test]
fn a_blocked_run_says_why_nothing_ran() {
    let mut view = views::everything(0);
    view.trials.clear();
    view.findings.clear();
    view.record.findings.clear();
    for scenario in &mut view.record.scenarios {
        scenario.verdict = Verdict::NotRun;
        for arm in &mut scenario.arms {
            arm.facts = Facts::NotAttempted { reason: "the cluster never came up".into() };
            arm.verdict = Verdict::NotRun;
        }
    }
    view.record.confidence.iter_mut().for_each(|row| row.delta = assay_report::run::Delta::Less);
    view.record.verdict = RunVerdict::Blocked;
    let html = shown(&view);
    for wanted in [
        "no scenario was attempted",
        "it was not attempted (the cluster never came up)",
        "It did not run, so no fault was injected.",
        "It did not run, so there is nothing to audit.",
        "made without the histories",
    ] {
        assert!(html.contains(wanted), "{wanted} is not on the page");
    }
}

#[test]
fn what_cannot_be_reported_is_refused_here_as_well() {
    let mut view = views::everything(10);
    view.record.findings[0].blame = None;
    view.record.verdict = RunVerdict::Done;
    view.trials[0].scenario = "S9".into();
    view.trials[1].arm = "api".into();
    view.findings[0].finding = "F9".into();
    let found = page(&view).expect_err("five reasons").0;
    assert_eq!(found.len(), 5, "{found:#?}");
    let dangling = |wanted: &str| {
        let named =
            |f: &Refusal| matches!(f, Refusal::DanglingReference { id, .. } if id == wanted);
        found.iter().any(named)
    };
    assert!(dangling("S9") && dangling("api") && dangling("F9"), "{found:#?}");
}

#[test]
fn a_recorded_word_does_not_reach_the_page() {
    // The verdict is computed: with the right facts the page says so, and a wrong word is refused.
    let mut view = views::everything(10);
    view.record.scenarios[3].verdict = Verdict::PassHardening;
    assert!(page(&view).is_err());
}

#[test]
fn what_is_left_out_is_said() {
    let mut view = views::one_trial(10);
    view.trials[0].marks[0].op = 10;
    let html = shown(&view);
    assert!(html.contains("S2 seed 11: 1 marks of operations that are not there."), "{html}");
}

#[test]
fn the_same_view_gives_the_same_bytes() {
    assert_eq!(shown(&views::everything(500)), shown(&views::everything(500)));
}

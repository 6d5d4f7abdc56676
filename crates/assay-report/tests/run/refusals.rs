//! Everything that keeps a run from being reported, one line each.

use crate::example;
use assay_report::run::{Delta, Gap, Refusal, Reproducer, RunRecord, TimelineEntry, Utc, render};
use assay_verdict::{Check, Facts, Fault, RunVerdict, Tier, Verdict, Violation};

type Change = fn(&mut RunRecord);

fn utc(text: &str) -> Utc {
    Utc::try_from(text.to_string()).expect("a moment")
}

/// The refusals of the changed example.
fn refused(change: Change) -> Vec<Refusal> {
    let mut record = example();
    change(&mut record);
    render(&record).err().map_or(Vec::new(), |refusals| refusals.0)
}

fn run_of(record: &mut RunRecord, scenario: usize) -> &mut assay_verdict::RunFacts {
    match &mut record.scenarios[scenario].arms[0].facts {
        Facts::Ran(run) => run,
        _ => panic!("scenario {scenario} ran"),
    }
}

fn gap(gap: Gap) -> Refusal {
    Refusal::FindingIncomplete { finding: "F1".into(), gap }
}

/// Case, change, and a part of the one sentence expected.
const CASES: &[(&str, Change, &str)] = &[
    ("R-a", |r| r.findings[0].blame = None, "F1: no blame"),
    ("R-b", |r| drop(r.coverage.remove(0)), "H1: missing from the coverage summary"),
    (
        "R-c",
        |r| drop(r.confidence.remove(2)),
        "C3: has no confidence delta; the verdicts suggest Less",
    ),
    ("class", |r| r.findings[0].class = None, "F1: no class of bug (TaxDC)"),
    ("severity", |r| r.findings[0].severity = None, "F1: no severity"),
    ("evidence", |r| r.findings[0].evidence = vec![" ".into()], "F1: no evidence"),
    ("what", |r| r.findings[0].what_happened.clear(), "F1: does not say what happened"),
    ("cause", |r| r.findings[0].root_cause.clear(), "F1: no guess"),
    ("next", |r| r.findings[0].next_action.clear(), "F1: no next action"),
    (
        "reason",
        |r| {
            r.findings[0].reproducer = Reproducer::NotMinimised { command: None, reason: "".into() }
        },
        "F1: no reproducer",
    ),
    ("coverage row", |r| r.coverage[2].not_exercised = None, "H3: neither exercised"),
    (
        "coverage reason",
        |r| r.coverage[2].not_exercised.as_mut().expect("set").reason.clear(),
        "H3: neither",
    ),
    ("adequacy", |r| r.claims[1].adequacy = None, "C2: has no adequacy row"),
    (
        "adequacy text",
        |r| r.claims[1].adequacy.as_mut().expect("set").after.clear(),
        "C2: has no adequacy row",
    ),
    (
        "too sure",
        |r| r.confidence[0].delta = Delta::More,
        "C1: confidence More, but the verdicts carry at most Less",
    ),
    ("no reason", |r| r.confidence[0].reason.clear(), "C1: the reason of its confidence is empty"),
    (
        "backwards",
        |r| r.timeline[2].at = utc("2026-11-16T08:59:59Z"),
        "goes backwards at 2026-11-16T08:59:59Z",
    ),
    (
        "run verdict",
        |r| r.verdict = RunVerdict::Done,
        "recorded as DONE, but its scenarios say FAIL",
    ),
    (
        "aggregate",
        |r| r.scenarios[2].verdict = Verdict::PassHardening,
        "S3: recorded as PASS-hardening, but its arms say PARTIAL-surface: 1 NOT-RUN arm",
    ),
    (
        "tier",
        |r| run_of(r, 0).tier = Tier::Release,
        "S1: recorded tier release, but its size meets hardening",
    ),
    (
        "seeds",
        |r| r.scenarios[0].arms[0].seeds.truncate(2),
        "S1: 2 seeds listed, 3 counted, 3 said to agree",
    ),
    (
        "faults",
        |r| r.scenarios[2].arms[1].size.faults = 1,
        "S3/sdk: 1 faults counted, but none planned",
    ),
    ("path", |r| r.hypotheses[3].id = "../H4".into(), "`../H4`: ids are"),
    ("reserved", |r| r.findings[0].id = "Report".into(), "`report` is taken"),
    ("twice", |r| r.scenarios[2].arms[1].id = "API".into(), "`API` is used twice"),
    ("unknown claim", |r| r.scenarios[0].claims.push("C9".into()), "S1 names `C9`"),
    ("unknown scenario", |r| r.coverage[0].exercised_by.push("S9".into()), "H1 names `S9`"),
    ("no name", |r| r.operator = " ".into(), "the header: operator is empty"),
    ("nobody's finding", |r| r.findings[0].hypothesis = "H9".into(), "F1 names `H9`"),
];

#[test]
fn each_gap_is_refused_by_name() {
    for (case, change, wanted) in CASES {
        let found: Vec<String> = refused(*change).iter().map(ToString::to_string).collect();
        assert!(found.iter().any(|text| text.contains(wanted)), "{case}: {found:#?}");
    }
    assert_eq!(refused(|_| ()), []);
}

#[test]
fn a_hardening_pass_with_an_empty_landing_cell_is_refused() {
    let found = refused(|r| {
        let Fault::Planned { landings, .. } = &mut run_of(r, 0).fault else { return };
        landings.clear();
    });
    assert!(found.contains(&Refusal::LandingEmpty { arm: "S1".into() }), "{found:?}");
    // Numbers without names are an empty cell as well, though they prove a landing.
    let found = refused(|r| {
        let Fault::Planned { landings, .. } = &mut run_of(r, 0).fault else { return };
        landings[0].victim.what.clear();
    });
    assert_eq!(found, [Refusal::LandingEmpty { arm: "S1".into() }]);
}

#[test]
fn a_scenario_before_the_toolbox_is_refused() {
    let early: [Change; 2] = [
        |r| r.toolbox.discovered_at = None,
        |r| r.toolbox.discovered_at = Some(utc("2026-11-16T09:00:01Z")),
    ];
    for change in early {
        let found = refused(change);
        let (scenario, at) = ("S1".into(), "2026-11-16T09:00:00Z".into());
        assert!(found.contains(&Refusal::ScenarioBeforeToolbox { scenario, at }), "{found:?}");
    }
    // The same second is in time, and an empty toolbox is an answer.
    let found = refused(|r| {
        r.toolbox.discovered_at = Some(utc("2026-11-16T09:00:00Z"));
        r.toolbox.tools.clear();
    });
    assert_eq!(found, []);
}

#[test]
fn a_verdict_that_is_not_what_the_facts_say_is_refused() {
    let found = refused(|r| r.scenarios[1].arms[0].verdict = Verdict::PassHardening);
    let [Refusal::VerdictNotComputed { arm, recorded, sentence }] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!((arm.as_str(), *recorded), ("S2", Verdict::PassHardening));
    assert!(sentence.starts_with("FAIL-reproducible: "), "{sentence}");
    // Nor do facts help that are written into the audits instead of being measured.
    let found = refused(|r| {
        r.scenarios[0].arms[0].measured.log = None;
        let run = run_of(r, 0);
        run.audits.red_flags[6] = Check::Clean("trust me".into());
        run.audits.red_flags[0] = Check::Clean("198 of 200".into());
    });
    let audit = |f: &Refusal| match f {
        Refusal::AuditNotComputed { item, .. } => item.contains("red flag 7"),
        _ => false,
    };
    assert!(found.iter().any(audit), "{found:?}");
    let verdict =
        |f: &Refusal| f.to_string().contains("INCONCLUSIVE-oracle-too-weak: the result is held");
    assert!(found.iter().any(verdict), "{found:#?}");
}

#[test]
fn a_failure_without_a_finding_is_refused() {
    let found = refused(|r| r.findings.clear());
    let verdict = Verdict::FailReproducible;
    assert_eq!(found, [Refusal::FindingMissing { scenario: "S2".into(), verdict }]);
    let found = refused(|r| run_of(r, 0).violation = Violation::NotRerun);
    assert!(
        found
            .iter()
            .any(|f| matches!(f, Refusal::FindingMissing { scenario, .. } if scenario == "S1"))
    );
}

#[test]
fn all_reasons_are_listed_not_only_the_first() {
    let found = refused(|r| {
        r.findings[0].blame = None;
        r.findings[0].class = None;
        r.confidence.clear();
        r.coverage.clear();
        r.scenarios[0].arms.clear();
    });
    assert!(found.contains(&gap(Gap::Blame)) && found.contains(&gap(Gap::Class)));
    assert!(found.contains(&Refusal::NoArms { scenario: "S1".into() }));
    let missing = |f: &&Refusal| {
        matches!(f, Refusal::ConfidenceMissing { .. } | Refusal::HypothesisMissing { .. })
    };
    assert_eq!(found.iter().filter(missing).count(), 3 + 4);
    assert!(found.len() >= 10, "{found:#?}");
}

#[test]
fn the_draft_of_confidence_follows_the_verdicts() {
    // Without S4 every scenario of C1 is hardened; less confidence than that is allowed.
    let without = |r: &mut RunRecord| drop(r.scenarios.pop());
    let mut record = example();
    without(&mut record);
    for delta in [Delta::More, Delta::Unchanged, Delta::Less] {
        record.confidence[0].delta = delta;
        assert!(render(&record).is_ok(), "{delta:?}");
    }
    // Smoke passes show that the harness works: they add no confidence.
    let mut smoked = record.clone();
    smoked.scenarios[2].arms.pop();
    smoked.scenarios[2].verdict = Verdict::PassSmoke;
    smoked.confidence[2].delta = Delta::Unchanged;
    assert_eq!(render(&smoked).err(), None);
    smoked.confidence[2].delta = Delta::More;
    let (recorded, draft) = (Delta::More, Delta::Unchanged);
    let refusals = render(&smoked).expect_err("smoke carries no more");
    assert_eq!(refusals.0, [Refusal::ConfidenceTooHigh { claim: "C3".into(), recorded, draft }]);
    // A claim that nothing tries stays where it was.
    record.scenarios.remove(0);
    record.coverage[0].exercised_by = vec!["S2".into()];
    record.timeline.retain(|entry: &TimelineEntry| entry.scenario.as_deref() != Some("S1"));
    record.confidence[0].delta = Delta::More;
    let refusals = render(&record).expect_err("more than nothing carries");
    let draft = Delta::Unchanged;
    let recorded = Delta::More;
    assert_eq!(refusals.0, [Refusal::ConfidenceTooHigh { claim: "C1".into(), recorded, draft }]);
}

#[test]
fn hostile_text_stays_in_its_cell() {
    let mut record = example();
    record.scenarios[0].name = "a | b\n| <script>alert(1)</script> | [x](javascript:y)".into();
    record.timeline[0].notes = "\u{1b}[2J|||".into();
    let documents = render(&record).expect("text is never refused for how it looks");
    for document in documents {
        assert!(!document.text.contains("<script>"), "{}", document.path);
        assert!(!document.text.contains('\u{1b}'), "{}", document.path);
        for table in document.text.split("\n\n").filter(|block| block.contains("\n|---|")) {
            let rows = table.lines().filter(|line| line.starts_with('|'));
            let widths: Vec<usize> =
                rows.map(|row| row.replace("\\|", "").matches('|').count()).collect();
            assert!(widths.windows(2).all(|pair| pair[0] == pair[1]), "{table}");
        }
    }
}

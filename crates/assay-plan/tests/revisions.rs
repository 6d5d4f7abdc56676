//! What changed between two revisions, how a plan is shown, and edits that touch nothing else.

use assay_plan::diff::{Direction, diff};
use assay_plan::edit::{EditError, set_block, set_header, set_text};
use assay_plan::ids::Id;
use assay_plan::{parse, view};
use std::collections::BTreeMap;

const BASE: &str = include_str!("lint/base.md");

#[test]
fn changes_say_whether_the_plan_got_weaker() {
    use Direction::{Changed, Stronger, Weaker};
    for (from, to, what, direction) in [
        ("faults = 5\nseeds = 3", "faults = 5\nseeds = 2", "budget.hardening", Weaker),
        ("faults = 5\nseeds = 3", "faults = 6\nseeds = 3", "budget.hardening", Stronger),
        ("faults = 5\nseeds = 3", "faults = 6\nseeds = 2", "budget.hardening", Changed),
        ("8 clients x 5 min x 3", "8 clients x 4 min x 3", "budget.hardening", Weaker),
        ("dropped >= 1\"", "dropped >= 10\"", "landing of leader-iso", Stronger),
        ("elections >= 1 within 10s", "elections >= 1", "landing of leader-iso", Weaker),
        ("elections >= 1 within 10s", "timeouts >= 1", "landing of leader-iso", Changed),
        ("fault = \"leader-iso\"", "fault = \"pause\"", "faults", Changed),
        ("| safety |", "| liveness |", "category", Weaker),
        (
            "| C2 | p99 stays below 200 ms | performance-SLO | README.md | no |\n",
            "",
            "removed",
            Weaker,
        ),
        ("Could falsify: C1\n", "Could falsify: C1, C2\n", "could falsify", Stronger),
        ("name = \"linearizability:register\"", "name = \"no-lost-ack\"", "checker", Changed),
        ("#### Arm S3/export: denied", "#### Other denied", "removed", Weaker),
        ("reads are linearizable per key", "reads are recent", "claim", Changed),
        (
            "16 clients x 24 h x 30 faults x 30 seeds",
            "not provided — x. Revisit when: y.",
            "budget.release",
            Weaker,
        ),
    ] {
        assert!(BASE.contains(from), "{from}");
        let changes = diff(&parse(BASE), &parse(&BASE.replacen(from, to, 1)));
        let found = changes.iter().find(|change| change.what == what);
        assert_eq!(found.map(|change| change.direction), Some(direction), "{to}: {changes:?}");
    }
    assert_eq!(diff(&parse(BASE), &parse(BASE)), []);
    let prose_only = BASE.replace("Reads go through", "All reads go through");
    assert_eq!(diff(&parse(BASE), &parse(&prose_only)), []);
}

#[test]
fn claims_are_shown_with_their_scenarios_and_verdicts() {
    let verdicts = BTreeMap::from([("S1".to_string(), "PASS-hardening".to_string())]);
    let claims = view::claims(&parse(BASE), &verdicts);
    let shown: Vec<String> = claims
        .iter()
        .flat_map(|c| {
            c.scenarios.iter().map(|s| format!("{} {} {} {}", c.id, s.id, s.runnable, s.verdict))
        })
        .collect();
    assert_eq!(
        shown,
        [
            "C1 S1 true PASS-hardening",
            "C2 S2 false NOT-RUN",
            "C3 S3 false NOT-RUN",
            "C3 S3/api false NOT-RUN",
            "C3 S3/export false NOT-RUN",
        ]
    );
}

#[test]
fn the_matrix_is_sorted_worst_first() {
    let open = BASE.replace("- **Closes:** H1\n", "- **Closes:** H2\n");
    let matrix = view::matrix(&parse(&open));
    let shown: Vec<String> = matrix
        .rows
        .iter()
        .map(|row| format!("{} {} {} {}", row.claim, row.hypothesis, row.coverage, row.weight))
        .collect();
    assert_eq!(shown, ["C1 H1 open 6", "C3 H3 planned 3", "C2 H2 planned 1"]);
    assert_eq!(matrix.rollup, None);
}

#[test]
fn edits_change_what_they_mean_and_nothing_else() {
    let plan = parse(BASE);
    let s1 = Id::new('S', 1);
    let edits = [
        (set_header(&plan, "Status", "reviewed"), "**Status:** draft", "**Status:** reviewed"),
        (
            set_text(&plan, &plan.claims[0].claim, "reads are fresh"),
            "reads are linearizable per key",
            "reads are fresh",
        ),
        (
            set_block(&plan, &s1, "budget.smoke.seeds", "2"),
            "faults = 1\nseeds = 1",
            "faults = 1\nseeds = 2",
        ),
        (set_block(&plan, &s1, "system.name", "\"etcd\""), "name = \"kv\"", "name = \"etcd\""),
        (set_block(&plan, &s1, "workload.mix.read", "50"), "read = 60,", "read = 50,"),
    ];
    for (changed, from, to) in edits {
        let changed = changed.expect(to);
        assert_eq!(changed, BASE.replacen(from, to, 1), "{to}");
        assert_eq!(parse(&changed).print(), changed);
    }
    let added =
        set_block(&plan, &s1, "system.options", "{ defects = [\"stale-reads\"] }").expect("added");
    assert_eq!(added.replacen("options = { defects = [\"stale-reads\"] }\n", "", 1), BASE);
}

#[test]
fn a_header_line_without_a_value_gets_one_and_odd_markup_does_not_swallow_it() {
    for (line, expected) in [
        ("- **Status:**", Some("- **Status:** done")),
        ("- **Status:** dr**aft", Some("- **Status:** done")),
        ("- Status — `draft`", Some("- Status — `done`")),
        ("- **Status", None),
    ] {
        let text = |line: &str| format!("# Test Plan: a-b\n\n{line}\n\n## 1. Scope\n");
        let changed = set_header(&parse(&text(line)), "Status", "done").ok();
        assert_eq!(changed, expected.map(text), "{line}");
    }
}

#[test]
fn an_empty_block_is_filled_between_its_fences() {
    let text = |body: &str| {
        format!(
            "## 7. Scenarios\n\n### Scenario S1: \
        a_b\n\n```toml\n{body}```\n"
        )
    };
    let filled = set_block(&parse(&text("")), &Id::new('S', 1), "seed", "7");
    assert_eq!(filled.as_deref(), Ok(text("seed = 7\n").as_str()));
    let open = text("").replace("```\n", "");
    let filled = set_block(&parse(&open), &Id::new('S', 1), "seed", "7");
    assert!(filled.is_ok() || matches!(filled, Err(EditError::Block { .. })), "{filled:?}");
}

#[test]
fn impossible_edits_are_errors() {
    let plan = parse(BASE);
    let s1 = Id::new('S', 1);
    assert!(matches!(set_header(&plan, "Mood", "good"), Err(EditError::Missing(_))));
    assert!(matches!(set_header(&plan, "SUT", "a\nb"), Err(EditError::Breaks(_))));
    assert!(matches!(set_text(&plan, &plan.claims[0].claim, "a | b"), Err(EditError::Breaks(_))));
    assert!(matches!(set_block(&plan, &Id::new('S', 2), "seed", "2"), Err(EditError::Missing(_))));
    for (path, value) in [("seed", "= 2"), ("seed.x", "2"), ("system", "2"), ("no.such", "2")] {
        let error = set_block(&plan, &s1, path, value);
        assert!(matches!(error, Err(EditError::Block { .. })), "{path}: {error:?}");
    }
}

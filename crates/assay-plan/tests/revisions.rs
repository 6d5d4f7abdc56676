//! What changed between two revisions, how a plan is shown, and edits that touch nothing else.

use assay_plan::diff::Direction::{self, Changed, Stronger, Weaker};
use assay_plan::diff::diff;
use assay_plan::edit::{EditError, set_block, set_header, set_text};
use assay_plan::ids::Id;
use assay_plan::{parse, view};
use std::collections::BTreeMap;

const BASE: &str = include_str!("lint/base.md");

#[test]
fn changes_say_whether_the_plan_got_weaker() {
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

/// What a change of a plan is expected to be called, and its direction.
type Expected = &'static [(&'static str, Direction)];

/// The base plan with one piece of text replaced, before and after.
#[track_caller]
fn check(old: &str, from: &str, to: &str, expected: &[(&str, Direction)]) {
    assert!(old.contains(from), "{from}");
    let changes = diff(&parse(old), &parse(&old.replacen(from, to, 1)));
    let found: Vec<(&str, Direction)> =
        changes.iter().map(|change| (change.what.as_str(), change.direction)).collect();
    assert_eq!(found, expected, "{from} -> {to}: {changes:?}");
    let shown = changes.iter().all(|change| change.old != change.new);
    assert!(shown, "a change shows what changed: {changes:?}");
}

/// What is replaced in the block, and what is to be said.
const BLOCK: &[(&str, &str, Expected)] = &[
    ("seed = 1\n", "seed = 2\n", &[("seed", Changed)]),
    ("seed = 1\n", "", &[]),
    ("seed = 1\n", "expect = \"refuted\"\n", &[("expect", Weaker)]),
    ("seed = 1\n", "expect = \"upheld\"\n", &[]),
    ("name = \"kv\"", "name = \"etcd\"", &[("system.name", Changed)]),
    (
        "nodes = 3",
        "nodes = 5\noptions = { a = nan }",
        &[
            ("system.options", Changed),
            ("budget.hardening", Stronger),
            ("budget.smoke", Stronger),
            ("system.nodes", Stronger),
        ],
    ),
    ("generator = \"register\"", "generator = \"set\"", &[("workload.generator", Changed)]),
    (
        "clients = 4\nrate = 200",
        "clients = 3\nrate = 200",
        &[("budget.smoke", Weaker), ("workload.clients", Weaker)],
    ),
    ("timeout = \"1s\"", "timeout = \"2s\"", &[("workload.timeout", Changed)]),
    (
        "timeout = \"1s\"",
        "timeout = \"1s\"\ndistribution = \"zipf\"",
        &[("workload.distribution", Changed)],
    ),
    ("timeout = \"1s\"", "timeout = \"1s\"\noptions = { a = 1 }", &[("workload.options", Changed)]),
    ("{ read = 60, write = 40 }", "{ read = 50, write = 50 }", &[("workload.mix", Changed)]),
    ("{ read = 60, write = 40 }", "{ write = 40 }", &[("workload.mix", Weaker)]),
    ("{ read = 60, write = 40 }", "{ read = 0, write = 40 }", &[("workload.mix", Weaker)]),
    (
        "{ read = 60, write = 40 }",
        "{ read = 6, write = 4, cas = 1 }",
        &[("workload.mix", Stronger)],
    ),
    ("[model]\nname = \"register\"\n", "[model]\nname = \"map\"\n", &[("model", Changed)]),
    ("[model]\nname = \"register\"\n", "", &[("model", Weaker)]),
    ("[history]\n", "options = { initial = 0 }\n[history]\n", &[("model.options", Changed)]),
    ("[ambiguity]\n", "options = { initial = 0 }\n[ambiguity]\n", &[("checker.options", Changed)]),
    (
        "[ambiguity]\n",
        "justification = \"why\"\n[ambiguity]\n",
        &[("checker.justification", Changed)],
    ),
    (
        "\"linearizability:register\"",
        "[\"linearizability:register\", \"no-lost-ack\"]",
        &[("checker", Stronger)],
    ),
    ("recording = \"in-process\"", "recording = []", &[("history.recording", Weaker)]),
    (
        "recording = \"in-process\"",
        "recording = [\"in-process\", \"server-side\"]",
        &[("history.recording", Stronger)],
    ),
    ("[checker]\n", "columns = [\"x\"]\n[checker]\n", &[("history.columns", Stronger)]),
    ("[checker]\n", "without = [\"node\"]\n[checker]\n", &[("history.without", Weaker)]),
    ("[ambiguity]\ntimeouts = \"unknown\"\n", "", &[]),
    ("timeouts = \"unknown\"", "timeouts = \"fail\"", &[("ambiguity.timeouts", Weaker)]),
    ("timeouts = \"unknown\"", "retries = \"one\"", &[("ambiguity.retries", Weaker)]),
    ("reruns = 20", "reruns = 19", &[("reduction.reruns", Weaker)]),
    ("reruns = 20", "reruns = 20\ntime = \"5m\"", &[("reduction.time", Stronger)]),
    ("reruns = 20", "reruns = 20\nnodes = 3", &[("reduction.nodes", Changed)]),
    ("reruns = 20", "reruns = 20\nnote = \"x\"", &[("reduction.note", Changed)]),
    ("at = \"5s\"", "at = \"6s\"", &[("start of leader-iso", Changed)]),
    ("for = \"5s\"", "for = \"4s\"", &[("duration of leader-iso", Weaker)]),
    ("every = \"20s\"\n", "", &[("period of leader-iso", Weaker)]),
    ("every = \"20s\"", "every = \"10s..20s\"", &[("period of leader-iso", Stronger)]),
];

#[test]
fn no_value_of_the_block_changes_unnoticed() {
    for (from, to, expected) in BLOCK {
        check(BASE, from, to, expected);
    }
    let canary = BASE.replacen("seed = 1\n", "expect = \"refuted\"\n", 1);
    check(&canary, "expect = \"refuted\"\n", "", &[("expect", Weaker)]);
    let guessed = BASE.replacen("timeouts = \"unknown\"", "timeouts = \"fail\"", 1);
    check(&guessed, "\"fail\"", "\"unknown\"", &[("ambiguity.timeouts", Stronger)]);
    check(&guessed, "\"fail\"", "\"ok\"", &[("ambiguity.timeouts", Changed)]);
    let nan = BASE.replacen("nodes = 3", "nodes = 3\noptions = { a = nan }", 1);
    assert_eq!(diff(&parse(&nan), &parse(&nan)), [], "nan is what it was");
}

/// The base plan with a second, equal fault, each with a strength.
fn two_faults(first: &str, second: &str) -> String {
    let begin = BASE.find("[[nemesis]]").expect("a fault");
    let end = BASE.find("[model]").expect("a model");
    let one = &BASE[begin..end];
    let with = |strength: &str| one.replacen("landing", &format!("with = {strength}\nlanding"), 1);
    format!("{}{}{}{}", &BASE[..begin], with(first), with(second), &BASE[end..])
}

const SLOW: &str = "{ delay = \"100ms\" }";
const SLOWER: &str = "{ delay = \"0.2s\" }";

/// How strong two equal faults were and are.
const STRENGTHS: &[([&str; 2], [&str; 2], Expected)] = &[
    ([SLOW, SLOW], [SLOW, SLOWER], &[("delay of leader-iso", Stronger)]),
    ([SLOW, SLOWER], [SLOW, SLOW], &[("delay of leader-iso", Weaker)]),
    ([SLOW, SLOWER], [SLOWER, SLOW], &[]),
    ([SLOW, SLOWER], ["{ delay = 100 }", SLOWER], &[("delay of leader-iso", Changed)]),
    ([SLOW, SLOW], [SLOW, "{}"], &[("delay of leader-iso", Changed)]),
    (
        ["{ rate = \"64KiB\" }"; 2],
        ["{ rate = \"64KiB\" }", "{ rate = \"1 MB\" }"],
        &[("rate of leader-iso", Weaker)],
    ),
    (
        ["{ offset = \"-5s\" }"; 2],
        ["{ offset = \"-5s\" }", "{ offset = \"-6s\" }"],
        &[("offset of leader-iso", Stronger)],
    ),
    (
        ["{ offset = \"-5s\" }"; 2],
        ["{ offset = \"-5s\" }", "{ offset = \"6s\" }"],
        &[("offset of leader-iso", Changed)],
    ),
    (
        ["{ loss = \"5%\" }"; 2],
        ["{ loss = \"5%\" }", "{ loss = 0.01 }"],
        &[("loss of leader-iso", Weaker)],
    ),
    (["{ mood = 1 }"; 2], ["{ mood = 1 }", "{ mood = 2 }"], &[("mood of leader-iso", Changed)]),
    (["{ a = [1] }"; 2], ["{ a = [1] }", "{ a = [2] }"], &[("a of leader-iso", Changed)]),
];

#[test]
fn a_fault_that_stands_twice_is_compared_twice() {
    for ([a, b], [c, d], expected) in STRENGTHS {
        let (old, new) = (two_faults(a, b), two_faults(c, d));
        check(&old, &old, &new, expected);
    }
    let (two, one) = (two_faults(SLOW, SLOW), two_faults(SLOW, SLOW));
    let end = one.find("[model]").expect("a model");
    let last = one.rfind("[[nemesis]]").expect("a fault");
    let one = format!("{}{}", &one[..last], &one[end..]);
    check(&two, &two, &one, &[("faults", Weaker)]);
    check(&one, &one, &two, &[("faults", Stronger)]);
}

/// What is replaced in labelled lines.
const LINES: &[(&str, &str, Expected)] = &[
    (
        "**Technique:** jepsen-and-elle\n- **Oracle",
        "**Technique:** other\n- **Oracle",
        &[("technique", Changed)],
    ),
    (
        "required:** client history, proxy",
        "required:** proxy",
        &[("observability required", Changed)],
    ),
    ("- **Observability required:** audit log\n", "", &[("observability required", Weaker)]),
    ("- **Workload:** 8 clients, reads\n", "", &[("workload", Weaker)]),
    ("tests/auto/s2_latency.rs", "tests/s2.rs", &[("target test file", Changed)]),
    ("- **Target test file:** tests/auto/s2_latency.rs\n", "", &[("target test file", Changed)]),
    ("// TODO 1 workload", "// TODO 1", &[("code of the skeleton", Changed)]),
    ("API, export, admin", "API, export", &[("surfaces", Weaker)]),
    ("read, list, export", "read, list, export, write", &[("operations", Stronger)]),
    ("acme/ and acme-corp/", "acme/", &[("adversarial inputs", Changed)]),
    ("- **Positive controls:** the owner reads\n", "", &[("positive controls", Weaker)]),
    ("paths:** metrics", "paths:** metrics, traces", &[("observability paths", Stronger)]),
    ("arms:** S3/api, S3/export", "arms:** S3/api", &[("scenario arms", Weaker)]),
    (
        "- **Reduction plan:** fixed seed, two tenants, then classify\n",
        "",
        &[("reduction plan", Weaker)],
    ),
    (
        "- **Model under test:** map\n",
        "- **Model under test:** log\n",
        &[("model under test", Changed)],
    ),
    (
        "Not applicable — no gated claim category falsified.\n",
        "",
        &[("7.M not applicable", Stronger)],
    ),
];

#[test]
fn no_labelled_line_changes_unnoticed() {
    for (from, to, expected) in LINES {
        check(BASE, from, to, expected);
    }
}

#[test]
fn an_arm_is_compared_as_it_is_run_and_a_broken_block_by_its_text() {
    let arms = "#### Arm S1/near: near\n\n```toml\n[system]\nname = \"kv\"\nnodes = 5\n```\n\n";
    let with_arm = BASE.replacen("### Scenario S2", &format!("{arms}### Scenario S2"), 1);
    // Without a table of its own the arm has the scenario's, of three nodes.
    let changes = diff(&parse(&with_arm), &parse(&with_arm.replacen("nodes = 5", "", 1)));
    assert!(changes.iter().all(|change| change.id.to_string() == "S1/near"), "{changes:?}");
    assert!(changes.iter().any(|c| c.what == "system.nodes" && c.direction == Weaker));
    // What changes in the scenario is said once.
    check(&with_arm, "seed = 1\n", "seed = 2\n", &[("seed", Changed)]);
    let broken = BASE.replacen("seed = 1\n", "seed = \n", 1);
    check(&broken, "nodes = 3", "nodes = 1", &[("unreadable block", Changed)]);
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

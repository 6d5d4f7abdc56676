//! The lint, rule by rule: for each code a plan that breaks it, one that does not, and one on the
//! edge. Plans are edits of one base plan, so that a row shows only what matters.

mod argument_rows;
mod document_rows;
mod machine_rows;
mod scenario_rows;

use assay_plan::rules::RULES;
use assay_plan::{lint, parse};

/// A plan with next to nothing wrong.
const BASE: &str = include_str!("base.md");

/// What a row shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shows {
    /// The rule is broken.
    Fails,
    /// The rule is kept.
    Passes,
    /// Just about broken.
    EdgeFails,
    /// Just about kept.
    EdgePasses,
}

use Shows::{EdgeFails, EdgePasses, Fails, Passes};

/// How the base is changed.
#[derive(Clone, Copy)]
enum Edit {
    /// Each first text is replaced by the second, once.
    Replace(&'static [(&'static str, &'static str)]),
    /// By a function.
    Make(fn(&str) -> String),
}

/// Code, what it shows, the acceptance case if it is one, and the edit.
struct Row(u16, Shows, &'static str, Edit);

const fn row(
    code: u16,
    shows: Shows,
    case: &'static str,
    edits: &'static [(&'static str, &'static str)],
) -> Row {
    Row(code, shows, case, Edit::Replace(edits))
}

fn rows() -> Vec<&'static Row> {
    let parts = [document_rows::ROWS, scenario_rows::ROWS, argument_rows::ROWS, machine_rows::ROWS];
    parts.into_iter().flatten().collect()
}

fn edited(row: &Row) -> String {
    match row.3 {
        Edit::Make(make) => make(BASE),
        Edit::Replace(edits) => edits.iter().fold(BASE.to_string(), |text, (from, to)| {
            assert!(text.contains(from), "P{:03}: the base has no {from:?}", row.0);
            text.replacen(from, to, 1)
        }),
    }
}

fn codes(text: &str) -> Vec<(u16, String)> {
    let plan = parse(text);
    let found = lint(&plan);
    for diagnostic in &found {
        assert!(diagnostic.span.end <= text.len().max(1), "{diagnostic:?}");
        assert!(text.is_char_boundary(diagnostic.span.start), "{diagnostic:?}");
        assert!(!diagnostic.message.contains('\n'), "{diagnostic:?}");
    }
    let line = |d: &assay_plan::Diagnostic| plan.line(d.span.start);
    found
        .iter()
        .map(|d| (d.code.0, format!("{} line {}: {}", d.code, line(d), d.message)))
        .collect()
}

#[test]
fn every_rule_is_broken_where_it_is_broken_and_only_there() {
    let mut wrong = Vec::new();
    for row in rows() {
        let found = codes(&edited(row));
        let broken = found.iter().any(|(code, _)| *code == row.0);
        if broken != matches!(row.1, Fails | EdgeFails) {
            let all: Vec<&str> = found.iter().map(|(_, shown)| shown.as_str()).collect();
            wrong.push(format!("P{:03} {:?} {}: {all:#?}", row.0, row.1, row.2));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_a_failing_a_passing_and_an_edge_row_and_a_page() {
    for rule in RULES.iter() {
        let of_rule: Vec<Shows> =
            rows().iter().filter(|row| row.0 == rule.code.0).map(|row| row.1).collect();
        let edge = of_rule.contains(&EdgeFails) || of_rule.contains(&EdgePasses);
        assert!(of_rule.contains(&Fails), "{} has no failing row", rule.code);
        assert!(of_rule.contains(&Passes), "{} has no passing row", rule.code);
        assert!(edge, "{} has no row on the edge", rule.code);
        assert!(rule.page().len() > 100, "{} has no page", rule.code);
    }
}

#[test]
fn every_acceptance_case_of_the_method_is_a_row() {
    let cases: Vec<&str> = rows().iter().flat_map(|row| row.2.split(' ')).collect();
    for number in 1..=23 {
        let case = format!("A{number}");
        assert!(cases.contains(&case.as_str()), "{case} is no row");
    }
    assert!(cases.contains(&"E3"), "E3 is no row");
}

#[test]
fn the_base_has_nothing_but_scenarios_without_blocks() {
    let found = codes(BASE);
    assert!(found.iter().all(|(code, _)| *code == 51), "{found:?}");
}

#[test]
fn a_plan_with_errors_is_not_loaded_and_warnings_do_not_matter() {
    let plan = assay_plan::load(BASE).expect("the base has warnings only");
    assert_eq!(plan.scenarios[0].trials().len(), 1, "S1 can be run");
    let vague = BASE.replace("p99 <= 200 ms in every window of 10 s", "logs look fine");
    let refused = assay_plan::load(&vague).expect_err("an oracle nobody can check");
    assert!(refused.iter().any(|d| d.code.to_string() == "P044"), "{refused:?}");
}

#[test]
fn arms_are_run_with_what_they_have_from_their_scenario() {
    let block = "\n```toml\n[system]\nname = \"kv\"\n[checker]\nname = \"property\"\n```\n";
    let own = "\n```toml\n[system]\nname = \"export\"\n```\n\n- **Model under test:** map\n";
    let plan =
        BASE.replacen("\n#### 7.M.S Surface", &format!("{block}\n#### 7.M.S Surface"), 1).replacen(
            "in any export\n- **Model under test:** map\n",
            &format!("in any export\n{own}"),
            1,
        );
    let trials = parse(&plan).scenarios[2].trials();
    let shown: Vec<String> = trials
        .iter()
        .map(|(id, m)| {
            let system = m.system.as_ref().map_or("", |system| system.name.as_str());
            let checker = m.checker.as_ref().map_or("", |checker| checker.name[0].as_str());
            format!("{id} {system} {checker}")
        })
        .collect();
    assert_eq!(shown, ["S3/api kv property", "S3/export export property"]);
}

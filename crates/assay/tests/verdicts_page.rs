//! docs/verdicts.md is made from the table of rules and what the verdicts say about themselves.

use assay_verdict::{
    Annotation, Blame, Exit, Level, RULES, RedFlag, RunVerdict, Verdict, WeakOracle,
};
use std::fmt::Write;
use std::path::Path;

const HEAD: &str = "\
# Verdicts

A verdict is computed from recorded facts and from nothing else; there is no switch to change it.
This page is made from the code: a test fails when they differ (`ASSAY_BLESS=1` writes it anew).
Why the rules stand in this order is in [adr/0005](adr/0005-verdict-order.md); what the facts are,
field by field, in [formats/run-record.md](formats/run-record.md).

## The ten verdicts

| verdict | meaning | level |
|---|---|---|
";

const ORDER: &str = "
Worse facts never lead to a higher level. Verdicts of one level answer different questions and are
not compared. From bottom to top:
";

const RULES_HEAD: &str = "
## How one is reached
A scenario that nobody tried is `NOT-RUN`; so is one that lacks a capability nobody was told about.
One that lacks a capability and whose operator knows is `INCONCLUSIVE-env`. For one that ran, the
first line that is true decides; if none is, it is `PASS-hardening`.

| # | when | verdict |
|---|---|---|
";

const ANNOTATIONS: &str = "
Beside a verdict stand annotations, where its name alone would hide something: ";

const AUDITS: &str = "
## The audits
Every item is *clean*, *raised*, *not applicable* or *unknown*. What nobody looked at is unknown,
and an unknown item lowers a result like a raised one. Weak oracles count in serious scenarios.

### Ten red flags: ways for a broken test to be green

| # | has to be shown | while it is open | may be \"not applicable\" |
|---|---|---|---|
";

const WEAK: &str = "
### Fourteen weak oracles: ways of looking that miss too much alone

| # | has to be shown | while it is open | may be \"not applicable\" |
|---|---|---|---|
";

const FOLDS: &str = "
## Budgets
A run meets a tier when config size, duration, number of faults and number of seeds are all met:
*none*, *smoke*, *hardening* or *release*. Hardening has to ask for more than smoke in each of the
four. A release is a `PASS-hardening` with the annotation `release`.

## Landing
A fault has landed when a counter of the injector *and* a signal of a victim moved while it was on.
A number that was not read is unknown, and unknown is not landed.

## Arms
Each arm has its verdict. The scenario is `FAIL-reproducible` if an arm is, else
`FAIL-nondeterministic` if an arm is, else `PARTIAL-surface` if any arm is `NOT-RUN` or `PARTIAL-*`
(`NOT-RUN` if all are), else the first `INCONCLUSIVE-*`, else the weakest pass.

## The run

| verdict | when | exit code |
|---|---|---|
";

const BLAME: &str = "
## Whose fault is it?
Every `FAIL-*` names one, a class of bug (after TaxDC) and a severity before it can be reported.

| blame | goes to |
|---|---|
";

fn page() -> String {
    let mut page = HEAD.to_string();
    let mut line = |text: String| writeln!(page, "{text}").expect("strings grow");
    for verdict in Verdict::ALL {
        line(format!("| `{verdict}` | {} | {} |", verdict.meaning(), verdict.level()));
    }
    let levels: Vec<&str> = Level::ALL.iter().map(|level| level.name()).collect();
    line(format!("{ORDER}*{}*.\n\n### What to do about each\n", levels.join("*; *")));
    for verdict in Verdict::ALL {
        line(format!("- `{verdict}`: {}", verdict.advice()));
    }
    line(RULES_HEAD.trim_end().to_string());
    for (number, rule) in RULES.iter().enumerate() {
        line(format!("| {} | {} | `{}` |", number + 1, rule.when, rule.verdict));
    }
    let notes: Vec<String> = Annotation::ALL.iter().map(|note| format!("`{note}`")).collect();
    line(format!("{ANNOTATIONS}{}.", notes.join(", ")));
    line(AUDITS.trim_end().to_string());
    for item in RedFlag::ALL {
        let (number, question) = (item.number(), item.question());
        line(format!("| {number} | {question} | {} | {} |", item.effect(), item.exemption()));
    }
    line(WEAK.trim_end().to_string());
    for item in WeakOracle::ALL {
        let (number, question) = (item.number(), item.question());
        line(format!("| {number} | {question} | {} | {} |", item.effect(), item.exemption()));
    }
    line(FOLDS.trim_end().to_string());
    for run in RunVerdict::ALL {
        line(format!("| `{run}` | {} | {} |", run.meaning(), run.exit().code()));
    }
    line(BLAME.trim_end().to_string());
    for blame in Blame::ALL {
        line(format!("| {blame} | {} |", blame.queue()));
    }
    line("\n## Exit codes\n\n| code | meaning |\n|---|---|".to_string());
    for exit in Exit::ALL {
        line(format!("| {} | {} |", exit.code(), exit.meaning()));
    }
    page
}

#[test]
fn the_page_says_what_the_code_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/verdicts.md");
    let wanted = page();
    if std::env::var_os("ASSAY_BLESS").is_some() {
        std::fs::write(&path, &wanted).expect("the documentation is writable");
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == wanted, "docs/verdicts.md is not what the code does: ASSAY_BLESS=1");
}

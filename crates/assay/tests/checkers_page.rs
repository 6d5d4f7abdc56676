//! docs/checkers.md is made from what the checkers say about themselves.

use assay_check::MODELS;
use assay_oracle::ORACLES;
use assay_oracle::picker::ROWS;
use std::fmt::Write;
use std::path::Path;

const HEAD: &str = "\
# Checkers

Every checker reads operations by type and answers *upheld*, *refuted*, *undecided* or *nothing
checked*. An operation of unknown outcome neither hides nor invents an anomaly; a refutation
carries a certificate that a separate verifier re-checks. This page is made from what the
checkers say about themselves: a test fails when they differ (`ASSAY_BLESS=1` writes it anew).

- `assay check FILE --model MODEL`: linearizability of single objects, or isolation of
  transactions.
- `assay check FILE --checker NAME`: all other promises.
- `assay check FILE`: proposes what fits, from the operations and `--claim CATEGORY`.

## Linearizability
What operations mean is in [models.md](models.md).

| model | objects |
|---|---|
";

const LINEARIZABILITY: &str = "
- **Claim**: the operations on each object have one order that respects real time and the model.
- **Needs**: invocation and completion of every operation, its key, input and output.
- **Decides by**: special cases in O(n log n) where values are unique (registers with
  compare-and-swap, FIFO queues) or only grow (sets); else a just-in-time search whose memory
  depends on how many operations overlap.
- **Cost**: about 0.1 µs an operation without search, 1 to 10 µs with.
- **Cannot see**: promises across objects; anything about operations that nobody observed.
- **Goes wrong when**: the history is cut short: counts of sent, recorded and consumed
  operations are compared first.

## Isolation
Transactions are lists of micro-operations; see [the guide](guides/isolation.md).

| model | transactions |
|---|---|
| `list-append` | append to lists and read them whole |
| `rw-register` | write registers and read them |
| `set-add` | add to sets and read them whole |
| `counter-inc` | increment counters and read their sums |

- **Claim**: an isolation model, from read uncommitted to strict serializable
  (`--consistency-model`; `assay explain isolation`).
- **Needs**: every value is written to a key once (not of counters); micro-operations with what
  reads returned.
- **Decides by**: dependencies between transactions, components of their graph, and the exact
  classes of cycles in each with a shortest one; monotonic atomic view, read atomic and causal
  consistency also without knowing the order of versions.
- **Cost**: about 1 µs a transaction to read and check, linear, whatever the number of clients.
- **Cannot see**: predicates (phantom rows); of registers, any order of versions that was not
  declared or does not follow; of sets, overwriting (adds have no order); of counters, who is in a
  sum that several increments could make.
- **Goes wrong when**: an assumption about versions is declared that the system never made:
  *cyclic versions* then says so.

## Other promises
A **final state** is an operation of type `final`, `dump` or `final-read` whose output is a
list, or a map by key. What a checker must know beforehand is given by `--set` (`assay explain
settings`).

| checker | pattern | claim it can refute |
|---|---|---|
";

fn list(items: &[&str]) -> String {
    let items: Vec<String> = items.iter().map(|item| format!("`{item}`")).collect();
    items.join(", ")
}

/// The page as it should be.
fn page() -> String {
    let mut page = HEAD.to_string();
    for info in &MODELS {
        writeln!(page, "| {} | {} |", list(info.names), info.about).expect("strings grow");
    }
    page += LINEARIZABILITY;
    for oracle in ORACLES {
        let info = oracle.info();
        let patterns: Vec<String> = info.patterns.iter().map(ToString::to_string).collect();
        let (name, claim) = (info.name, info.claim);
        writeln!(page, "| [`{name}`](#{name}) | {} | {claim} |", patterns.join(", "))
            .expect("strings grow");
    }
    page += "\n## Which one?\nWhere a history and the category of a claim fit several lines, \
             nobody but the user can choose.\n\n| model | category | checkers | needs |\n\
             |---|---|---|---|\n";
    for row in ROWS {
        let (model, category) = (row.proposal.model, row.proposal.category.name());
        let (checkers, needs) = (list(row.proposal.checkers), row.needs);
        writeln!(page, "| {model} | {category} | {checkers} | {needs} |").expect("strings grow");
    }
    for oracle in ORACLES {
        let info = oracle.info();
        write!(page, "\n## {}\n", info.name).expect("strings grow");
        if !info.aliases.is_empty() {
            writeln!(page, "Also called {}.", list(info.aliases)).expect("strings grow");
        }
        for (what, text) in [
            ("Claim", info.claim),
            ("Needs", info.needs),
            ("Decides by", info.algorithm),
            ("Cost", info.cost),
            ("Cannot see", info.cannot_see),
            ("Goes wrong when", info.failure_mode),
        ] {
            writeln!(page, "- **{what}**: {text}").expect("strings grow");
        }
        writeln!(page, "- **Anomalies**: {}", list(info.kinds)).expect("strings grow");
    }
    page
}

#[test]
fn the_page_says_what_the_checkers_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/checkers.md");
    let wanted = page();
    if std::env::var_os("ASSAY_BLESS").is_some() {
        std::fs::write(&path, &wanted).expect("the documentation is writable");
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == wanted, "docs/checkers.md is not what the checkers say: ASSAY_BLESS=1");
}

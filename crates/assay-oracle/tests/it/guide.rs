//! The page about oracles is made from what they say about themselves.

use assay_oracle::ORACLES;
use assay_oracle::picker::ROWS;
use std::fmt::Write;
use std::path::Path;

/// The page as it should be.
fn page() -> String {
    let mut page = String::from(
        "# Oracles: promises that are not linearizability\n\n\
         Each oracle of the crate `assay-oracle` reads operations by type and answers *upheld*, \
         *refuted*, *undecided* or *nothing\nchecked*. An operation of unknown outcome neither \
         hides nor invents an anomaly; a history that is cut short is undecided at best. A\n\
         **final state** is an operation of type `final`, `dump` or `final-read` whose output is a \
         list, or a map by key. What operations mean\nto the linearizability models is in \
         [models.md](models.md).\n\nThis page is made from the oracles' own descriptions: a test \
         fails when they differ.\n\n| oracle | pattern | claim it can refute |\n|---|---|---|\n",
    );
    let list = |items: &[&str]| {
        let items: Vec<String> = items.iter().map(|item| format!("`{item}`")).collect();
        items.join(", ")
    };
    for oracle in ORACLES {
        let info = oracle.info();
        let patterns: Vec<String> = info.patterns.iter().map(ToString::to_string).collect();
        let (name, claim) = (info.name, info.claim);
        writeln!(page, "| [`{name}`](#{name}) | {} | {claim} |", patterns.join(", ")).unwrap();
    }
    page += "\n## Which one?\nWhere a history and the category of a claim fit several lines, \
             nobody but the user can choose.\n\n| model | category | checkers | needs |\n\
             |---|---|---|---|\n";
    for row in ROWS {
        let (model, category) = (row.proposal.model, row.proposal.category.name());
        let (checkers, needs) = (list(row.proposal.checkers), row.needs);
        writeln!(page, "| {model} | {category} | {checkers} | {needs} |").unwrap();
    }
    for oracle in ORACLES {
        let info = oracle.info();
        write!(page, "\n## {}\n", info.name).unwrap();
        if !info.aliases.is_empty() {
            writeln!(page, "Also called {}.", list(info.aliases)).unwrap();
        }
        for (what, text) in [
            ("Claim", info.claim),
            ("Needs", info.needs),
            ("Decides by", info.algorithm),
            ("Cost", info.cost),
            ("Cannot see", info.cannot_see),
            ("Goes wrong when", info.failure_mode),
        ] {
            writeln!(page, "- **{what}**: {text}").unwrap();
        }
        writeln!(page, "- **Anomalies**: {}", list(info.kinds)).unwrap();
    }
    page
}

#[test]
fn the_page_says_what_the_oracles_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/oracles.md");
    let found = std::fs::read_to_string(path).unwrap_or_default();
    let wanted = page();
    assert!(found == wanted, "docs/oracles.md should read:\n=====\n{wanted}=====");
}

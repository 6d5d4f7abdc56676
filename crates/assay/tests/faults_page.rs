//! docs/faults.md is made from the catalogue of faults.

use assay_nemesis::{CATALOG, Carried};
use std::fmt::Write;
use std::path::Path;

const HEAD: &str = "\
# Faults

Everything Assay can do to a system on purpose, and how it knows that it did. Most of it needs no
privilege; what needs root says so under *beware*.
This page is made from the code: a test fails when they differ (`ASSAY_BLESS=1` writes it anew).

A fault has landed when the *injector's counter* and a *victim's signal* both moved while it was on;
see [verdicts.md](verdicts.md). Every fault stands in a journal before it is done
([formats/nemesis-journal.md](formats/nemesis-journal.md)); it is undone by its guard, and what a
killed run has left is undone by `assay heal`.

All links between nodes and from clients lead through proxies. A link has two directions: requests
go from the side that connected, responses come back. What node *a* says to node *b* travels as
requests on the link from *a* to *b* and as responses on the link from *b* to *a*; a partition cuts
both. A connection that lost bytes is reset when the cut ends, because no network delivers a stream
with a hole in it.
";

const ELSEWHERE: &str = "
## Not injected by Assay
Named so that a plan that asks for one gets an answer, not a fault that quietly did nothing.

| id | fault | why |
|---|---|---|
";

fn page() -> String {
    let mut page = HEAD.to_string();
    let mut group = "";
    for row in CATALOG {
        let Carried::Here { does, counter, victim, heal } = row.carried else { continue };
        if group != row.group {
            group = row.group;
            write!(page, "\n## {group}\n").expect("strings grow");
        }
        write!(
            page,
            "\n### `{}`: {}\n- does: {does}\n- counter: {counter}\n- victim: {victim}\n\
             - heal: {heal}\n- beware: {}\n",
            row.id, row.name, row.caveat
        )
        .expect("strings grow");
    }
    page += ELSEWHERE;
    for row in CATALOG.iter().filter(|row| row.carried == Carried::Elsewhere) {
        writeln!(page, "| `{}` | {} | {} |", row.id, row.name, row.caveat).expect("strings grow");
    }
    page
}

#[test]
fn the_page_says_what_the_catalogue_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/faults.md");
    let wanted = page();
    if std::env::var_os("ASSAY_BLESS").is_some() {
        std::fs::write(&path, &wanted).expect("the documentation is writable");
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == wanted, "docs/faults.md is not what the code does: ASSAY_BLESS=1");
}

#[test]
fn every_id_is_unique() {
    let mut ids: Vec<&str> = CATALOG.iter().map(|row| row.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), CATALOG.len());
}

//! docs/faults.md is made from the catalogue of faults.

use assay_nemesis::{CATALOG, Carried};
use assay_plan::faults::{FAULTS, Fault, Rights};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

const HEAD: &str = "\
# Faults

Everything Assay can do to a system on purpose, and how it knows that it did. Most of it needs no
privilege; what needs root says so under *beware*. *Options* are what a plan may say in `with`: what
each takes, and after the semicolon what it is unless given. Anything else is refused.
This page is made from the code: a test fails when they differ (`ASSAY_BLESS=1` writes it anew).

A fault has landed when the *injector's counter* and a *victim's signal* both moved while it was on;
see [verdicts.md](verdicts.md). Every fault stands in a journal before it is done
([formats/nemesis-journal.md](formats/nemesis-journal.md)); it is undone by its guard, and what a
killed run has left is undone by `assay heal`.

Unless a scenario says `network = \"bridge\"` or `\"switch\"`, all links between nodes and from
clients lead through proxies. There, a link has two directions: requests go from the side that
connected, responses come back. What node *a* says to node *b* travels as requests on the link from
*a* to *b* and as responses on the link from *b* to *a*; a partition cuts both. A connection that
lost bytes is reset when the cut ends, because no network delivers a stream with a hole in it. In
the two networks of namespaces there are no proxies: nodes have addresses of their own, and faults
are laid on the packets between them, one counter for each direction.

Of a fault on links, one link that counted is enough: over many a link of a cut nobody says anything
meanwhile, as between two followers, and there the cut hit nobody. What each link has counted stands
in the record of the trial (`parts`), and the victim's signal says whether the cut was felt. Of a
fault on processes, disks and groups every one of them has to show it.

Losing power needs a disk of the node's own that can be cut off. With root that is an ext4 volume in
a loop device; without, where `fusermount3` is installed, a file system in user space (FUSE) that
takes back what was not synced.
";

const ELSEWHERE: &str = "
## Not injected by Assay
Named so that a plan that asks for one gets an answer, not a fault that quietly did nothing.

| id | fault | why |
|---|---|---|
";

/// What a plan may say about a fault.
fn options(id: &str) -> String {
    let options = Fault::named(id).map(Fault::options).unwrap_or_default();
    let words = options
        .iter()
        .map(|option| format!("`{}`, {} ({})", option.name, option.about, option.worth.words()));
    let words: Vec<String> = words.collect();
    if words.is_empty() { "none".to_string() } else { words.join("; ") }
}

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
             - heal: {heal}\n- options: {}\n- beware: {}\n",
            row.id,
            row.name,
            options(row.id),
            row.caveat
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
fn the_page_sends_nobody_to_a_gap_that_is_closed() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let closed = |link: &str| {
        let gap = std::fs::read_to_string(docs.join(link)).expect("the page links what is there");
        gap.contains("**Status:** Closed")
    };
    let page = page();
    let links = page.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let stale: Vec<&str> = links
        .map(|(link, _)| link)
        .filter(|link| link.starts_with("adr/gaps/") && closed(link))
        .collect();
    assert!(stale.is_empty(), "{stale:?}");
}

#[test]
fn every_id_is_unique() {
    let mut ids: Vec<&str> = CATALOG.iter().map(|row| row.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), CATALOG.len());
}

#[test]
fn plans_know_the_faults_of_the_catalogue_and_what_they_need() {
    let of_plans: BTreeSet<&str> = FAULTS.iter().map(|fault| fault.id).collect();
    let of_catalogue: BTreeSet<&str> = CATALOG.iter().map(|row| row.id).collect();
    assert_eq!(of_plans, of_catalogue);
    for row in CATALOG.iter().filter(|row| matches!(row.carried, Carried::Here { .. })) {
        let rights = Fault::named(row.id).expect("just compared").rights;
        let said = match () {
            () if row.caveat.contains("needs root, or fusermount3") => Rights::Disk,
            () if row.caveat.contains("needs root") => Rights::Root,
            () if row.caveat.starts_with("in a network of namespaces") => Rights::Namespaces,
            () => Rights::None,
        };
        assert_eq!(rights, said, "{}: {}", row.id, row.caveat);
    }
}

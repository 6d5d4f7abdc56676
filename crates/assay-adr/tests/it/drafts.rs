//! New records: numbers, names, what changes with them, and what lint says about them.

use super::{good, linted, shown};
use assay_adr::template::{Draft, New, NewError, new};
use assay_adr::{Config, Files, Id, Kind};

fn draft(kind: Kind, title: &str) -> Draft<'_> {
    Draft { kind, title, day: "2026-11-17", owner: "Bea", parent: None, supersedes: None }
}

fn applied(mut files: Files, made: &New) -> Files {
    assert!(files.insert(made.record.path.clone(), made.record.text.clone()).is_none());
    for change in &made.others {
        files.insert(change.path.clone(), change.text.clone());
    }
    files
}

const ADR_2: Id = Id { kind: Kind::Adr, number: 2 };

#[test]
fn a_new_record_has_the_next_number_and_a_row_and_lacks_only_its_text() {
    let with_parent = |kind, title| Draft { parent: Some(ADR_2), ..draft(kind, title) };
    let cases = [
        (draft(Kind::Adr, "Keep it small"), "0003-keep-it-small.md"),
        (draft(Kind::Gap, "Disks | again"), "gaps/0003-disks-again.md"),
        (with_parent(Kind::Deviation, "No columns"), "deviations/0002-no-columns.md"),
        (with_parent(Kind::Supplement, "Plan"), "supplements/0002-keep-columns-plan.md"),
    ];
    for (draft, name) in cases {
        let made = new(&good(), &Config::default(), &draft).expect("it can be made");
        assert_eq!(made.record.path, format!("docs/adr/{name}"));
        let report = linted(&applied(good(), &made), None, &Config::default());
        let left: Vec<String> = shown(&report);
        // What only its author can write: text, enumerations, the quotation.
        let open = ["A10", "A17", "A19", "A24"];
        let own = |found: &String| open.contains(&&found[..3]) && found.contains(name);
        assert!(!left.is_empty() && left.iter().all(own), "{name}: {left:#?}");
    }
}

#[test]
fn the_first_record_makes_the_index() {
    let made = new(&Files::new(), &Config::default(), &draft(Kind::Gap, "First")).expect("made");
    assert_eq!(made.record.path, "docs/adr/gaps/0001-first.md");
    assert_eq!(made.others.len(), 1);
    let index = &made.others[0];
    assert_eq!(index.path, "docs/adr/README.md");
    assert!(index.text.contains("## Gaps\n\n| Gap | Title | Status |"), "{}", index.text);
    assert!(index.text.ends_with("| [GAP-0001](gaps/0001-first.md) | First | Open |\n"));
}

#[test]
fn numbers_have_as_many_digits_as_those_there_are_or_as_configured() {
    let files: Files =
        [("docs/adr/007-a.md".to_string(), "# ADR-007: A\n".to_string())].into_iter().collect();
    let made = new(&files, &Config::default(), &draft(Kind::Adr, "B")).expect("made");
    assert_eq!(made.record.path, "docs/adr/008-b.md");
    let config = Config::parse("[adr]\ndirectory = \"adr/\"\ndigits = 5\n").expect("a table");
    let made = new(&Files::new(), &config, &draft(Kind::Adr, "B")).expect("made");
    assert_eq!(made.record.path, "adr/00001-b.md");
}

#[test]
fn superseding_changes_the_old_record_and_its_row() {
    let draft = Draft { supersedes: Some(ADR_2), ..draft(Kind::Adr, "Keep nothing") };
    let made = new(&good(), &Config::default(), &draft).expect("made");
    let files = applied(good(), &made);
    let old = &files["docs/adr/0002-keep-columns.md"];
    assert!(old.contains("Status: Superseded by [ADR-0003](0003-keep-nothing.md)\n"), "{old}");
    let index = &files["docs/adr/README.md"];
    assert!(index.contains("| Keep columns | Superseded |"), "{index}");
    let report = linted(&files, None, &Config::default());
    assert!(shown(&report).iter().all(|found| found.contains("0003-")), "{:?}", shown(&report));
}

#[test]
fn what_cannot_be_made_is_refused() {
    let gap = Id { kind: Kind::Gap, number: 1 };
    let rows = Id { kind: Kind::Adr, number: 1 };
    let nine = Id { kind: Kind::Adr, number: 9 };
    let long = "x".repeat(121);
    let supersedes = |id| Draft { supersedes: Some(id), ..draft(Kind::Adr, "A") };
    let cases = [
        (draft(Kind::Adr, "…"), NewError::Title("…".to_string())),
        (draft(Kind::Adr, &long), NewError::Long),
        (draft(Kind::Adr, "two\nlines"), NewError::Long),
        (draft(Kind::Supplement, "Plan"), NewError::NoParent),
        (Draft { parent: Some(nine), ..draft(Kind::Deviation, "A") }, NewError::NoRecord(nine)),
        (supersedes(gap), NewError::Superseded(gap, Kind::Adr)),
        (supersedes(rows), NewError::Superseded(rows, Kind::Adr)),
        (
            Draft { parent: Some(ADR_2), ..draft(Kind::Supplement, "Roadmap") },
            NewError::There("docs/adr/supplements/0002-keep-columns-roadmap.md".to_string()),
        ),
    ];
    for (draft, expected) in cases {
        let error = new(&good(), &Config::default(), &draft).expect_err("refused");
        assert_eq!(error, expected);
        assert!(!error.to_string().is_empty());
    }
}

//! Every rule with what breaks it and what does not.

use super::{good, linted, shown};
use assay_adr::rules::RULES;
use assay_adr::{Config, Files};
use std::collections::BTreeSet;

/// What is done to the good repository.
enum Edit {
    /// Replaces the first occurrence of a text, which must be there.
    Replace(&'static str, &'static str, &'static str),
    /// Moves a file.
    Move(&'static str, &'static str),
    /// Copies a file.
    Double(&'static str, &'static str),
    /// Writes a file.
    Write(&'static str, &'static str),
    /// Removes a file.
    Remove(&'static str),
}

use Edit::{Double, Move, Remove, Replace, Write};

fn path(name: &str) -> String {
    match name.starts_with("src/") {
        true => name.to_string(),
        false => format!("docs/adr/{name}"),
    }
}

fn edited(edits: &[Edit]) -> Files {
    let mut files = good();
    for edit in edits {
        match *edit {
            Replace(file, from, to) => {
                let text = files.get_mut(&path(file)).unwrap_or_else(|| panic!("no {file}"));
                assert!(text.contains(from), "{file} has no {from:?}");
                *text = text.replacen(from, to, 1);
            }
            Move(from, to) => {
                let text = files.remove(&path(from)).unwrap_or_else(|| panic!("no {from}"));
                files.insert(path(to), text);
            }
            Double(from, to) => {
                let text = files[&path(from)].clone();
                files.insert(path(to), text);
            }
            Write(file, text) => drop(files.insert(path(file), text.to_string())),
            Remove(file) => drop(files.remove(&path(file)).expect("a file to remove")),
        }
    }
    files
}

const ROWS: &str = "0001-keep-rows.md";
const COLUMNS: &str = "0002-keep-columns.md";
const INDEX: &str = "README.md";
const CLOSED: &str = "gaps/0001-full-disks.md";
const OPEN: &str = "gaps/0002-slow-reads.md";
const DEVIATION: &str = "deviations/0001-rows-in-tests.md";
const ROADMAP: &str = "supplements/0002-keep-columns-roadmap.md";

/// What is done, and what is found.
type Case = (&'static [Edit], &'static [&'static str]);

const NAMES: &[Case] = &[
    (&[], &[]),
    (&[Double(OPEN, "gaps/Notes.md")], &["A01 gaps/Notes.md:1"]),
    (&[Double(OPEN, "gaps/template.md")], &[]),
    (&[Double(OPEN, "gaps/0000-how-to.md")], &[]),
    (&[Double(OPEN, "notes/Notes.md")], &[]),
    (
        &[
            Move(OPEN, "gaps/002-slow-reads.md"),
            Replace("gaps/002-slow-reads.md", "GAP-0002", "GAP-002"),
            Replace(INDEX, "0002-slow-reads", "002-slow-reads"),
        ],
        &["A01 gaps/002-slow-reads.md:1"],
    ),
    (
        &[Replace(OPEN, "# GAP-0002: Reads are slow", "# GAP-0003: Reads are slow")],
        &["A02 gaps/0002-slow-reads.md:1"],
    ),
    (&[Replace(OPEN, "# GAP-0002: ", "# ")], &["A02 gaps/0002-slow-reads.md:1"]),
    (&[Replace(DEVIATION, "# Deviation 0001: ", "# DEV-0001: ")], &[]),
    (
        &[
            Double(OPEN, "gaps/0002-twice.md"),
            Replace(
                INDEX,
                "## Deviations",
                "| [GAP-0002](gaps/0002-twice.md) | Reads are slow | Open |\n\n## Deviations",
            ),
            Replace(INDEX, "| Open |\n\n", "| Open |\n"),
        ],
        &["A03 gaps/0002-twice.md:1"],
    ),
    (
        &[
            Move(OPEN, "gaps/0004-slow-reads.md"),
            Replace("gaps/0004-slow-reads.md", "GAP-0002", "GAP-0004"),
            Replace(INDEX, "[GAP-0002](gaps/0002", "[GAP-0004](gaps/0004"),
        ],
        &["A04 gaps/0004-slow-reads.md:1"],
    ),
];

const FIELDS: &[Case] = &[
    (&[Replace(OPEN, "| Owner | Bea |\n", "")], &["A05 gaps/0002-slow-reads.md:1"]),
    (&[Replace(CLOSED, "Owner:** Bea", "Owner:**")], &["A05 gaps/0001-full-disks.md:5"]),
    (&[Replace(COLUMNS, "Date: 2026-11-10", "Date: yesterday")], &["A05 0002-keep-columns.md:4"]),
    (&[Replace(COLUMNS, "Date: 2026-11-10", "## Metadata\n- **Date**: 2026-11-10")], &[]),
    (
        &[
            Replace(COLUMNS, "Status: Accepted\n", ""),
            Replace(COLUMNS, "## Context", "## Status\nAccepted\n\n## Context"),
        ],
        &[],
    ),
    (
        &[
            Replace(OPEN, "| Open |", "| Partially resolved |"),
            Replace(INDEX, "slow | Open", "slow | Partially resolved"),
        ],
        &["A06 gaps/0002-slow-reads.md:5"],
    ),
    (&[Replace(COLUMNS, "Status: Accepted", "Status: accepted")], &[]),
    (&[Replace(OPEN, "## Evidence\n\nMeasured.\n\n", "")], &["A08 gaps/0002-slow-reads.md:31"]),
    (
        &[
            Replace(OPEN, "## Evidence\n\nMeasured.", ""),
            Replace(OPEN, "## References", "## Evidence\n\nMeasured.\n\n## References"),
        ],
        &["A09 gaps/0002-slow-reads.md:33"],
    ),
    (&[Replace(OPEN, "## Evidence\n", "## More\n\nWords.\n\n## Evidence\n")], &[]),
    (&[Replace(OPEN, "Measured.", "<!-- to do -->")], &["A10 gaps/0002-slow-reads.md:13"]),
    (&[Replace(OPEN, "Measured.", "```\nmeasured\n```")], &[]),
    (
        &[Replace(CLOSED, "Severity:** High", "Severity:** quite high")],
        &["A17 gaps/0001-full-disks.md:25"],
    ),
    (&[Replace(CLOSED, "- **Frequency:** Rare\n", "")], &["A17 gaps/0001-full-disks.md:23"]),
    (
        &[Replace(COLUMNS, "| 2026-11-12 | Intern", "| later | Intern")],
        &["A24 0002-keep-columns.md:27"],
    ),
    (
        &[Replace(COLUMNS, "| 2026-11-12 | Intern", "| 2026-11-09 | Intern")],
        &["A24 0002-keep-columns.md:27"],
    ),
    (&[Replace(COLUMNS, "| Memory |", "| |")], &["A24 0002-keep-columns.md:26"]),
    (
        &[Replace(
            ROWS,
            "| Date | Decision | Rationale |\n|---|---|---|\n| 2026-11-01 | Keep rows | Simple |",
            "We kept rows.",
        )],
        &["A24 0001-keep-rows.md:18"],
    ),
];

const INDEXES: &[Case] = &[
    (&[Remove(INDEX)], &["A11 README.md:1"]),
    (
        &[Replace(INDEX, "| [GAP-0002](gaps/0002-slow-reads.md) | Reads are slow | Open |\n", "")],
        &["A11 README.md:12"],
    ),
    (
        &[Write("gaps/README.md", "| Gap |\n|---|\n| [GAP-0001](0001-full-disks.md) |\n")],
        &["A11 gaps/README.md:1"],
    ),
    (&[Replace(INDEX, "| Reads are slow |", "| Slow reads |")], &["A12 README.md:15"]),
    (
        &[Replace(INDEX, "| Reads are slow | Open |", "| Reads are slow | Closed |")],
        &["A12 README.md:15"],
    ),
    (
        &[Replace(
            INDEX,
            "Keep rows | Superseded |",
            "Keep rows | Superseded by [ADR-0002](0002-keep-columns.md) |",
        )],
        &[],
    ),
    (
        &[Replace(
            INDEX,
            "\n## Deviations",
            "| [GAP-0002](gaps/0002-slow-reads.md) | Reads are slow | Open |\n\n## Deviations",
        )],
        &["A12 README.md:16"],
    ),
    (
        &[Replace(
            INDEX,
            "\n## Deviations",
            "| [GAP-0003](gaps/0003-gone.md) | Gone | Open |\n\n## Deviations",
        )],
        &["A12 README.md:16"],
    ),
    (
        &[
            Replace(INDEX, "| Gap | Title | Status |", "| Gap | Name | State |"),
            Replace(INDEX, "Reads are slow | Open", "anything | at all"),
        ],
        &[],
    ),
];

const LINKS: &[Case] = &[
    (&[Replace(ROWS, "Simple.", "See [it](../store.rs).")], &["A13 0001-keep-rows.md:16"]),
    (&[Replace(ROWS, "Simple.", "See [it](../../../store.rs).")], &["A13 0001-keep-rows.md:16"]),
    (
        &[Replace(
            ROWS,
            "Simple.",
            "See [it](../../src/store.rs), [web](https://example.org), [up](..).",
        )],
        &[],
    ),
    (
        &[
            Replace(CLOSED, "## Problem", "## Problems"),
            Replace(CLOSED, "## Evidence", "## Problem\n\nx\n\n## Evidence"),
        ],
        &[],
    ),
    (
        &[Replace(COLUMNS, "full-disks.md#problem", "full-disks.md#trouble")],
        &["A13 0002-keep-columns.md:9"],
    ),
    (
        &[Replace(ROWS, "Simple.", "See [above](#decision) and ![picture](a.svg).")],
        &["A13 0001-keep-rows.md:16"],
    ),
    (&[Replace(ROWS, "Simple.", "See ADR-0007 and `ADR-0008`.")], &["A14 0001-keep-rows.md:16"]),
    (&[Replace(ROWS, "Simple.", "See GAP-0002, Deviation 0001.")], &[]),
    (
        &[Replace(ROWS, "Simple.", "See [GAP-0002](gaps/0001-full-disks.md).")],
        &["A14 0001-keep-rows.md:16"],
    ),
    (
        &[Replace(ROWS, "Superseded by [ADR-0002](0002-keep-columns.md)", "Superseded")],
        &["A15 0001-keep-rows.md:3", "A15 0002-keep-columns.md:5"],
    ),
    (
        &[Replace(COLUMNS, "Supersedes: [ADR-0001](0001-keep-rows.md)\n", "")],
        &["A15 0001-keep-rows.md:3"],
    ),
    (
        &[
            Replace(ROWS, "Superseded by [ADR-0002](0002-keep-columns.md)", "Accepted"),
            Replace(INDEX, "rows | Superseded", "rows | Accepted"),
        ],
        &["A15 0002-keep-columns.md:5"],
    ),
    (
        &[Replace(ROWS, "[ADR-0002](0002-keep-columns.md)", "ADR-0001")],
        &["A15 0001-keep-rows.md:3", "A15 0002-keep-columns.md:5"],
    ),
];

const CITATIONS: &[Case] = &[
    (
        &[Replace("src/store.rs", "//! Columns.\n", "//! Columns.\n//! More.\n")],
        &["A16 0002-keep-columns.md:35"],
    ),
    (
        &[Replace(COLUMNS, "store.rs:3 struct Columns", "store.rs:4 struct Columns")],
        &["A16 0002-keep-columns.md:35"],
    ),
    (&[Replace(COLUMNS, "store.rs:5-6", "store.rs:5-7")], &["A16 0002-keep-columns.md:35"]),
    (&[Replace(COLUMNS, "store.rs:5-6", "store.rs:0")], &["A16 0002-keep-columns.md:35"]),
    (&[Replace(COLUMNS, "store.rs:5-6", "gone.rs:5")], &["A16 0002-keep-columns.md:35"]),
    (&[Replace(COLUMNS, "store.rs:5-6", "store.rs:2")], &["A16 0002-keep-columns.md:35"]),
    (&[Replace(COLUMNS, "#L4", "#L40")], &["A16 0002-keep-columns.md:36"]),
    (&[Replace(COLUMNS, "store.rs:5-6", "store.rs:6:4, `localhost:80`, 12:30")], &[]),
    (
        &[Replace(COLUMNS, "| `src/store.rs` |", "| `src/gone.rs` |")],
        &["A21 0002-keep-columns.md:33"],
    ),
    (
        &[
            Replace(COLUMNS, "Status: Accepted", "Status: Proposed"),
            Replace(INDEX, "columns | Accepted", "columns | Proposed"),
        ],
        &["A21 0002-keep-columns.md:33"],
    ),
    (
        &[
            Replace(COLUMNS, "Status: Accepted", "Status: Proposed"),
            Replace(INDEX, "columns | Accepted", "columns | Proposed"),
            Replace(COLUMNS, "| Implemented |", "| not yet |"),
        ],
        &[],
    ),
];

const RELATIONS: &[Case] = &[
    (
        &[Replace(CLOSED, "[ADR-0002](../0002-keep-columns.md)", "columns")],
        &["A18 gaps/0001-full-disks.md:3"],
    ),
    (
        &[Replace(
            CLOSED,
            "[ADR-0002](../0002-keep-columns.md)",
            "[DEV-0001](../deviations/0001-rows-in-tests.md)",
        )],
        &[],
    ),
    (
        &[
            Replace(CLOSED, "Status:** Closed", "Status:** ADR-Drafted"),
            Replace(
                CLOSED,
                "[ADR-0002](../0002-keep-columns.md)",
                "[DEV-0001](../deviations/0001-rows-in-tests.md)",
            ),
            Replace(INDEX, "unnoticed | Closed", "unnoticed | ADR-Drafted"),
        ],
        &["A18 gaps/0001-full-disks.md:3"],
    ),
    (
        &[Replace(DEVIATION, "[ADR-0002](../0002-keep-columns.md), section", "None, section")],
        &["A19 deviations/0001-rows-in-tests.md:11"],
    ),
    (
        &[Replace(DEVIATION, "> Keep every field", "> Keep most fields")],
        &["A19 deviations/0001-rows-in-tests.md:17"],
    ),
    (
        &[Replace(DEVIATION, "> Keep every field", "Keep every field")],
        &["A19 deviations/0001-rows-in-tests.md:15"],
    ),
    (
        &[Replace(
            DEVIATION,
            "> Keep every field in a column, and intern values.",
            "> Keep every\n> field in a **column**",
        )],
        &[],
    ),
    (
        &[
            Replace(ROADMAP, "Status:** In Progress", "Status:** Done"),
            Replace(INDEX, "In Progress", "Done"),
        ],
        &["A20 supplements/0002-keep-columns-roadmap.md:16"],
    ),
    (
        &[
            Replace(ROADMAP, "Status:** In Progress", "Status:** Done"),
            Replace(INDEX, "In Progress", "Done"),
            Replace(ROADMAP, "- [ ]", "- [x]"),
        ],
        &[],
    ),
    (
        &[Replace(ROADMAP, "[ADR-0002](../0002-keep-columns.md)", "columns")],
        &["A20 supplements/0002-keep-columns-roadmap.md:4"],
    ),
    (
        &[Replace(COLUMNS, "- [Roadmap](supplements/0002-keep-columns-roadmap.md)", "None.")],
        &["A20 supplements/0002-keep-columns-roadmap.md:4"],
    ),
    (
        &[
            Move(ROADMAP, "supplements/0002-roadmap.md"),
            Replace(INDEX, "0002-keep-columns-roadmap", "0002-roadmap"),
            Replace(COLUMNS, "0002-keep-columns-roadmap", "0002-roadmap"),
        ],
        &["A20 supplements/0002-roadmap.md:1"],
    ),
];

const GROUPS: &[&[Case]] = &[NAMES, FIELDS, INDEXES, LINKS, CITATIONS, RELATIONS];

#[test]
fn what_breaks_a_rule_is_found_where_it_is_and_nothing_else() {
    let mut wrong = String::new();
    for (edits, expected) in GROUPS.iter().copied().flatten() {
        let report = linted(&edited(edits), None, &Config::default());
        if shown(&report) != *expected {
            let found = report.findings.iter().map(|rated| format!("\n  {}", rated.finding));
            wrong += &format!("expected {expected:?}, found:{}\n", found.collect::<String>());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What was there before, what is done since, and what is found.
const CHANGES: &[(&[Edit], &[Edit], &[&str])] = &[
    (&[], &[], &[]),
    (&[Replace(OPEN, "| Open |", "| Investigating |")], &[], &["A07 gaps/0002-slow-reads.md:5"]),
    (&[Replace(CLOSED, "Closed", "Open")], &[], &[]),
    (
        &[Replace(COLUMNS, "Keep every field", "Keep each field")],
        &[],
        &["A22 0002-keep-columns.md:11"],
    ),
    (
        &[
            Replace(COLUMNS, "Keep every field", "Keep each field"),
            Replace(COLUMNS, "| 2026-11-12 | Intern values | Memory, too |\n", ""),
        ],
        &[],
        &[],
    ),
    (
        &[
            Replace(COLUMNS, "Keep every field", "Keep each field"),
            Replace(COLUMNS, "Status: Accepted", "Status: Proposed"),
        ],
        &[],
        &[],
    ),
    (&[Replace(COLUMNS, "Histories", "All histories")], &[], &[]),
    (&[Double(OPEN, "gaps/0003-deleted.md")], &[], &["A04 README.md:1"]),
    (
        &[Replace("src/store.rs", "struct Columns {\n", "struct Columns {\n    keys: u32,\n")],
        &[],
        &["A16 0002-keep-columns.md:35", "A16 0002-keep-columns.md:36"],
    ),
    (
        &[
            Replace("src/store.rs", "struct Columns {\n", "struct Columns {\n    keys: u32,\n"),
            Replace(COLUMNS, "src/store.rs:5-6", "src/store.rs:6-7"),
            Replace(COLUMNS, "#L4", "#L5"),
        ],
        &[],
        &[],
    ),
];

#[test]
fn what_changed_since_a_revision_is_found() {
    for (before, since, expected) in CHANGES {
        let now = edited(since);
        let mut old = edited(before);
        old.retain(|path, text| now.get(path) != Some(text));
        let report = linted(&now, Some(&old), &Config::default());
        let messages: Vec<String> =
            report.findings.iter().map(|rated| rated.finding.to_string()).collect();
        assert_eq!(shown(&report), *expected, "{messages:#?}");
    }
}

#[test]
fn every_rule_is_broken_by_some_case() {
    let found = GROUPS.iter().copied().flatten().flat_map(|(_, expected)| expected.iter());
    let changes = CHANGES.iter().flat_map(|(_, _, expected)| expected.iter());
    let mut tried: BTreeSet<&str> = found.chain(changes).map(|found| &found[..3]).collect();
    // Files that cannot be read have no text: see `robust`.
    tried.insert("A23");
    let all: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
    assert_eq!(tried, all);
}

#[test]
fn messages_say_what_to_write() {
    let report = linted(&edited(INDEXES[1].0), None, &Config::default());
    let message = &report.findings[0].finding.message;
    let row = "| [GAP-0002](gaps/0002-slow-reads.md) | Reads are slow | Open |";
    assert!(message.contains(row), "{message}");
    let report = linted(&edited(CITATIONS[0].0), None, &Config::default());
    let message = &report.findings[0].finding.message;
    assert!(message.contains("line 4 now"), "{message}");
}

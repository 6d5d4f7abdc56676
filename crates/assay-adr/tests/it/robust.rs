//! Whatever a record holds: no panic, no hang, and every finding has a file, a line and words.

use super::{good, linted};
use assay_adr::template::{Draft, new};
use assay_adr::{Config, Files, Graph, Input, Kind, Records, lint, report};

/// Numbers from a seed: a linear congruential generator is chance enough to damage texts.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// Texts that mean something to the reader of records.
const PIECES: &[&str] = &[
    "# ADR-0001: ",
    "## Decision Log\n",
    "## ADR States\n",
    "> ",
    "|",
    "|---|\n",
    "- [ ] ",
    "`",
    "[",
    "](",
    ")",
    "#",
    "ADR-0002",
    "Status: ",
    "**",
    "\n",
    "\r\n",
    "\u{0}",
    "é",
    "…",
    ":",
    "a/b.rs:1-",
    "L9",
    "<!--",
    "-->",
    "```\n",
    "%2",
    "..",
    "Supersedes: ADR-0001\n",
    "Superseded by ",
    "://",
    "    ",
    "9999999999",
];

fn damaged(text: &str, dice: &mut Dice) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=dice.below(6) {
        let at = dice.below(chars.len() + 1);
        let end = (at + dice.below(40)).min(chars.len());
        match dice.below(4) {
            0 => drop(chars.drain(at..end)),
            1 => {
                let part = chars[at..end].to_vec();
                chars.splice(at..at, part);
            }
            2 => chars.truncate(at),
            _ => drop(chars.splice(at..at, PIECES[dice.below(PIECES.len())].chars())),
        }
    }
    chars.into_iter().collect()
}

fn survives(files: &Files, before: Option<&Files>) {
    let config = Config::default();
    let found = linted(files, before, &config);
    for rated in &found.findings {
        let finding = &rated.finding;
        assert!(finding.line >= 1 && !finding.message.is_empty(), "{finding}");
        let known = files.contains_key(&finding.path) || finding.path == config.index();
        assert!(known, "{finding}");
        let lines = files.get(&finding.path).map_or(1, |text| text.lines().count().max(1));
        assert!(finding.line <= lines, "{finding} of {lines} lines");
    }
    assert!(!report::text(&found).is_empty() && report::json(&found).is_object());
    report::github(&found);
    let graph = Graph::of(&Records::read(files, &config), &config);
    assert!(graph.svg().starts_with("<svg") && graph.dot().starts_with("digraph"));
    graph.text();
    for kind in Kind::ALL {
        let id = assay_adr::Id::typed("2", Kind::Adr);
        let draft = Draft { kind, title: "A", day: "", owner: "", parent: id, supersedes: None };
        // It may be refused; what is made is a record.
        if let Ok(made) = new(files, &config, &draft) {
            assert!(!files.contains_key(&made.record.path));
        }
    }
}

#[test]
fn damaged_records_are_read_without_a_panic() {
    const SEED: u64 = 20_261_117;
    let mut dice = Dice(SEED);
    let good = good();
    let paths: Vec<&String> = good.keys().collect();
    for _ in 0..120 {
        let mut files = good.clone();
        for _ in 0..=dice.below(3) {
            let path = paths[dice.below(paths.len())].clone();
            let text = damaged(&files[&path], &mut dice);
            files.insert(path, text);
        }
        survives(&files, None);
        survives(&good, Some(&files));
        survives(&files, Some(&good));
    }
}

#[test]
fn texts_made_of_pieces_are_read_without_a_panic() {
    let mut dice = Dice(7);
    for _ in 0..300 {
        let text: String = (0..dice.below(60)).map(|_| PIECES[dice.below(PIECES.len())]).collect();
        let mut files = good();
        for path in ["README.md", "0002-keep-columns.md", "gaps/0003-x.md"] {
            files.insert(format!("docs/adr/{path}"), text.clone());
        }
        survives(&files, None);
    }
}

#[test]
fn large_and_deep_texts_take_no_longer_than_they_are_long() {
    let texts = [
        "> ".repeat(2_000),
        "- ".repeat(2_000),
        "[".repeat(2_500),
        "| a ".repeat(2_500),
        "## Context\n".repeat(2_000),
        "`src/store.rs:1-6 nothing like it` ".repeat(2_500),
        "[ADR-0001](README.md#a) ".repeat(2_500),
        "| [ADR-0001](0001-keep-rows.md) |\n".repeat(2_000),
        "Status: x\n<b>\n\n".repeat(2_500),
    ];
    for text in texts {
        let mut files = good();
        files.insert("docs/adr/README.md".to_string(), format!("|a|\n|---|\n{text}"));
        files.insert("docs/adr/0002-keep-columns.md".to_string(), text);
        survives(&files, None);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_a_finding() {
    let files = good();
    let unreadable = [("docs/adr/0003-x.md".to_string(), "it is not UTF-8".to_string())];
    let input = Input { unreadable: &unreadable, ..Input::of(&files) };
    let report = lint(&input, &Config::default());
    let found: Vec<String> = report.findings.iter().map(|r| r.finding.to_string()).collect();
    assert_eq!(found, ["docs/adr/0003-x.md:1: [A23] cannot be read: it is not UTF-8"]);
}

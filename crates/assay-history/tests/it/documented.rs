//! The examples in docs/formats/history.md are read as they stand there.

use crate::common::read_text;
use assay_history::{ReadOptions, read};

const PAGE: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats/history.md"));

/// The fenced blocks whose info string is `language`, with any words after it.
fn blocks(language: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut lines = PAGE.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let (name, words) = info.split_once(' ').unwrap_or((info, ""));
        if name == language {
            blocks.push((words.to_string(), body.join("\n") + "\n"));
        }
    }
    blocks
}

#[test]
fn every_example_is_read() {
    let mut seen = 0;
    for language in ["jsonl", "edn", "json", "log"] {
        let blocks = blocks(language);
        assert!(!blocks.is_empty(), "no {language} example");
        for (words, text) in blocks {
            seen += 1;
            if let Some(expected) = words.strip_prefix("error: ") {
                let error = read(text.as_bytes(), &ReadOptions::default()).unwrap_err();
                assert!(error.to_string().contains(expected), "{error}\nin:\n{text}");
                continue;
            }
            let independent = words == "independent";
            let options = ReadOptions { independent, ..ReadOptions::default() };
            let history = read(text.as_bytes(), &options)
                .unwrap_or_else(|error| panic!("{error}\nin:\n{text}"));
            assert!(!history.is_empty(), "{text}");
        }
    }
    assert!(seen >= 7, "{seen} examples");
}

#[test]
fn the_first_example_means_what_the_page_says() {
    let (_, text) = blocks("jsonl").remove(0);
    let history = read_text(&text);
    assert_eq!((history.len(), history.meta.fault_windows.len()), (3, 1));
    assert_eq!((history.meta.sent, history.meta.recorded), (Some(3), Some(3)));
    let unmarked = assay_history::validate(&history, &assay_history::ValidateOptions::default());
    assert_eq!(unmarked, [], "the example is a history without findings");
}

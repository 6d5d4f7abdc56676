//! Third-party histories with published verdicts, where they are at hand.
//!
//! `ASSAY_CORPUS` names a directory with an `expected.tsv` (file, model, verdict). The histories
//! are not ours to ship, so without it this test says loudly that it checked nothing.

use super::{json, run};
use std::path::PathBuf;

#[test]
fn every_corpus_history_is_decided_as_published() {
    let Some(corpus) = std::env::var_os("ASSAY_CORPUS").map(PathBuf::from) else {
        eprintln!("SKIPPED: ASSAY_CORPUS is not set, so no third-party history was checked");
        return;
    };
    let table = std::fs::read_to_string(corpus.join("expected.tsv"))
        .unwrap_or_else(|error| panic!("{}: {error}", corpus.display()));
    let mut checked = 0;
    for line in table.lines().filter(|line| !line.trim().is_empty()) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [file, model, verdict] = fields[..] else { panic!("expected.tsv: {line}") };
        let path = corpus.join(file).display().to_string();
        let run = run(&["check", &path, "--model", model, "--format", "json"]);
        let expected = if verdict == "linearizable" { 0 } else { 1 };
        assert_eq!(run.code, expected, "{file}: {}{}", run.out, run.err);
        for refutation in json(&run)["refutations"].as_array().expect("a list") {
            assert_eq!(refutation["verified"]["ok"], true, "{file}");
            assert_eq!(refutation["witness"]["minimal"], true, "{file}");
        }
        checked += 1;
    }
    eprintln!("{checked} corpus histories decided as published");
    assert!(checked > 0, "expected.tsv is empty");
}

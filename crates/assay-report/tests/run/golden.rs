//! What the example looks like, byte by byte; and the published schema.

use crate::{EXAMPLE, example};
use assay_report::run::{Judged, RunRecord, read, render, schema};
use std::fs;
use std::path::{Path, PathBuf};

fn check(path: &Path, actual: &str) {
    if std::env::var_os("ASSAY_BLESS").is_some() {
        fs::create_dir_all(path.parent().expect("a file is in a directory")).expect("writable");
        fs::write(path, actual).expect("the golden directory is writable");
        return;
    }
    let expected = fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("{}: {error}; bless it first", path.display()));
    let differs = expected.lines().zip(actual.lines()).position(|(old, new)| old != new);
    let line = differs.unwrap_or(expected.lines().count().min(actual.lines().count())) + 1;
    assert!(expected == actual, "{} differs from line {line} on", path.display());
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

#[test]
fn the_example_reads_as_it_did() {
    let documents = render(&example()).unwrap_or_else(|refusals| panic!("{:#?}", refusals.0));
    let paths: Vec<&str> = documents.iter().map(|document| document.path.as_str()).collect();
    let expected = ["session-log.md", "findings/report.md", "findings/S1.md", "findings/S2.md"];
    assert_eq!(paths[..4], expected);
    for document in &documents {
        check(&root().join("tests/golden/run").join(&document.path), &document.text);
    }
}

#[test]
fn the_published_schema_is_that_of_the_code() {
    check(&root().join("../../docs/formats/run-record.schema.json"), &schema());
}

#[test]
fn a_record_survives_being_written_and_read() {
    let written = serde_json::to_string(&example()).expect("a record is JSON");
    assert_eq!(read(&written).expect("a record"), example());
    assert_eq!(render(&example()), render(&example()), "the same input gives the same bytes");
}

#[test]
fn every_verdict_of_the_example_is_computed() {
    let mut record: RunRecord = example();
    let expected: Vec<_> = record.scenarios.iter().map(|scenario| scenario.verdict).collect();
    // Whatever a record claims, the computed verdicts stay.
    for scenario in &mut record.scenarios {
        scenario.verdict = assay_verdict::Verdict::PassHardening;
        scenario.arms.iter_mut().for_each(|arm| arm.verdict = scenario.verdict);
    }
    let judged = Judged::of(&record);
    let computed: Vec<_> = judged.scenarios.iter().map(|scenario| scenario.verdict).collect();
    assert_eq!(computed, expected);
}

#[test]
fn a_slip_of_the_pen_is_an_error_with_its_line() {
    for (from, to, wanted) in [
        ("\"sut\"", "\"sud\"", "sud"),
        ("assay-run/1", "assay-run/2", "assay-run/1"),
        ("2026-11-16T08:52:00Z", "yesterday", "yesterday"),
        ("\"PASS-smoke\"", "\"PASS\"", "PASS-hardening"),
        ("\"seeds_agreeing\": 3", "\"seeds_agreeing\": -3", "-3"),
    ] {
        let error = read(&EXAMPLE.replacen(from, to, 1)).expect_err(to);
        assert!(error.to_string().contains(wanted), "{error}");
        assert!(error.line > 1, "{error}");
    }
}

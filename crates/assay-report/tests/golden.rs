//! What the samples look like, byte by byte.
//!
//! After a wanted change: `ASSAY_BLESS=1 cargo test -p assay-report --test golden`, then look at
//! the difference (and at the pictures: `cargo run -p assay-report --example gallery`).

mod samples;

use std::fs;
use std::path::Path;

use assay_report::{Glyphs, Spacing, html, svg, svg_spaced, text};

fn check(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("ASSAY_BLESS").is_some() {
        fs::write(&path, actual).expect("the golden directory is writable");
        return;
    }
    let expected = fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; bless it first", path.display()));
    let differs = expected.lines().zip(actual.lines()).position(|(old, new)| old != new);
    let line = differs.unwrap_or(expected.lines().count().min(actual.lines().count())) + 1;
    assert!(
        expected == actual,
        "{name} differs from line {line} on.\nexpected: {:?}\n  actual: {:?}",
        expected.lines().nth(line - 1),
        actual.lines().nth(line - 1),
    );
}

#[test]
fn pictures_are_as_they_were() {
    for (name, timeline) in samples::all() {
        check(&format!("{name}.svg"), &svg(&timeline));
    }
    let faults = &samples::all()[4].1;
    check("faults-to-scale.svg", &svg_spaced(faults, Spacing::Real));
}

#[test]
fn terminal_pictures_are_as_they_were() {
    let mut narrow = String::new();
    let mut wide = String::new();
    for (_, timeline) in samples::all() {
        narrow += &text(&timeline, 80, Glyphs::Ascii);
        narrow += "\n";
        wide += &text(&timeline, 120, Glyphs::Unicode);
        wide += "\n";
    }
    check("terminal-80-ascii.txt", &narrow);
    check("terminal-120.txt", &wide);
}

#[test]
fn the_page_is_as_it_was() {
    check("report.html", &html(&samples::page()));
}

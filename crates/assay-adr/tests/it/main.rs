//! Records that break the rules and records that do not; new ones; pictures; hostile texts.

mod drafts;
mod pictures;
mod robust;
mod rules;
mod settings;

use assay_adr::{Config, Files, Input, Report, lint};

const STORE: &str = "//! Columns.\n\nstruct Columns {\n    values: u32,\n}\nfn read() {}\n";

/// A small repository in which nothing is wrong.
fn good() -> Files {
    let records = [
        ("README.md", include_str!("good/README.md.txt")),
        ("0001-keep-rows.md", include_str!("good/0001-keep-rows.md.txt")),
        ("0002-keep-columns.md", include_str!("good/0002-keep-columns.md.txt")),
        ("gaps/0001-full-disks.md", include_str!("good/gap-1.md.txt")),
        ("gaps/0002-slow-reads.md", include_str!("good/gap-2.md.txt")),
        ("deviations/0001-rows-in-tests.md", include_str!("good/deviation.md.txt")),
        ("supplements/0002-keep-columns-roadmap.md", include_str!("good/supplement.md.txt")),
    ];
    let mut files: Files = records
        .map(|(path, text)| (format!("docs/adr/{path}"), text.to_string()))
        .into_iter()
        .collect();
    files.insert("src/store.rs".to_string(), STORE.to_string());
    files
}

fn linted(files: &Files, before: Option<&Files>, config: &Config) -> Report {
    lint(&Input { before, ..Input::of(files) }, config)
}

/// Findings as `rule path:line`, paths without the directory of records.
fn shown(report: &Report) -> Vec<String> {
    let one = |finding: &assay_adr::Finding| {
        let path = finding.path.strip_prefix("docs/adr/").unwrap_or(&finding.path);
        format!("{} {path}:{}", finding.rule, finding.line)
    };
    report.findings.iter().map(|rated| one(&rated.finding)).collect()
}

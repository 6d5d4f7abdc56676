//! What `assay.toml` can say, and what it cannot.

use super::{good, linted, shown};
use assay_adr::{Config, Files, Level, Outcome};

fn parsed(text: &str) -> Config {
    Config::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn mistakes_in_the_table_are_named() {
    let cases = [
        ("[adr]\nfolder = \"x\"\n", "folder"),
        ("[adr.rules]\nA99 = \"off\"\n", "A99"),
        ("[adr.rules]\nA01 = \"quiet\"\n", "quiet"),
        ("[adr.sections]\nrfc = []\n", "rfc"),
        ("[adr]\ndirectory = \"../adr\"\n", "../adr"),
        ("[adr]\ndirectory = \"/adr\"\n", "/adr"),
        ("[adr]\ngaps = \"\"\n", "adr.gaps"),
        ("[adr]\ndigits = 2\n", "2"),
        ("[adr\n", "adr"),
    ];
    for (text, part) in cases {
        let error = Config::parse(text).expect_err(text).to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    assert!(Config::parse("[guard]\nanything = 1\n").is_ok(), "other tables are left to others");
}

#[test]
fn levels_decide_what_a_finding_means() {
    let mut files = good();
    files.remove("docs/adr/README.md");
    let outcome = |text: &str| linted(&files, None, &parsed(text)).outcome();
    assert_eq!(outcome(""), Outcome::Broken);
    assert_eq!(outcome("[adr.rules]\nA11 = \"warn\"\n"), Outcome::Warned);
    assert_eq!(outcome("[adr.rules]\nA11 = \"off\"\n"), Outcome::Clean);
    assert_eq!(parsed("[adr.rules]\nA11 = \"warn\"\n").level("A11"), Level::Warn);
    assert_eq!(linted(&Files::new(), None, &Config::default()).outcome(), Outcome::Nothing);
}

#[test]
fn sections_statuses_fields_and_places_can_be_ones_own() {
    let text = "\
[adr]
directory = \"decisions\"
gaps = \"open\"

[adr.sections]
adr = [\"Situation\"]

[adr.statuses]
adr = [\"draft\", \"valid\"]

[adr.fields]
adr = [\"Status\"]
";
    let files: Files = [
        ("decisions/001-a.md", "# ADR-001: A\n\nStatus: valid\n\n## Situation\n\nx\n"),
        ("decisions/002-b.md", "# ADR-002: B\n\nStatus: Accepted\n\n## Context\n\nx\n"),
        ("decisions/README.md", "| ADR | Title |\n|---|---|\n| [1](001-a.md) | A |\n"),
    ]
    .map(|(path, text)| (path.to_string(), text.to_string()))
    .into_iter()
    .collect();
    let report = linted(&files, None, &parsed(text));
    let expected =
        ["A06 decisions/002-b.md:3", "A08 decisions/002-b.md:5", "A11 decisions/README.md:1"];
    let mut found = shown(&report);
    found.sort();
    assert_eq!(found, expected);
    // A status of one's own may follow any other.
    let mut before = files.clone();
    before.retain(|path, _| path.ends_with("001-a.md"));
    let mut now = files.clone();
    let record = now.get_mut("decisions/001-a.md").expect("there");
    *record = record.replace("valid", "draft");
    let report = linted(&now, Some(&before), &parsed(text));
    assert!(shown(&report).iter().all(|found| !found.starts_with("A07")));
}

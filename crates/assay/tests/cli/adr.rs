//! `assay adr`, through the real binary in real directories; and on our own records.

use super::{Run, assay, finished, json, scratch};
use std::path::Path;
use std::process::Command;

/// Runs `assay adr ...` in a directory.
fn adr(directory: &Path, args: &[&str]) -> Run {
    let all = [&["adr"], args].concat();
    finished(assay(&all).current_dir(directory).output().expect("assay runs"))
}

/// A directory that looks like a repository.
fn place() -> tempfile::TempDir {
    let directory = scratch();
    std::fs::write(directory.path().join("assay.toml"), "").expect("a file");
    directory
}

fn edit(directory: &Path, file: &str, from: &str, to: &str) {
    let path = directory.join(file);
    let text = std::fs::read_to_string(&path).expect("a file");
    assert!(text.contains(from), "{file} has no {from:?}:\n{text}");
    std::fs::write(path, text.replacen(from, to, 1)).expect("a file");
}

/// Replaces the comments of a new record by words, so that nothing is missing.
fn fill(directory: &Path, file: &str) {
    let path = directory.join(file);
    let text = std::fs::read_to_string(&path).expect("a file");
    let mut filled = String::new();
    for (i, part) in text.split("<!--").enumerate() {
        let rest = if i == 0 { Some(part) } else { part.split_once("-->").map(|(_, rest)| rest) };
        filled += if i == 0 { "" } else { "Words." };
        filled += rest.expect("comments end");
    }
    std::fs::write(path, filled).expect("a file");
}

/// The findings: rule, file and line.
fn found(directory: &Path, args: &[&str]) -> Vec<String> {
    let run = adr(directory, &[&["lint", "--format", "json"], args].concat());
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_string();
    let findings = json(&run)["findings"].as_array().expect("findings").clone();
    findings
        .iter()
        .map(|f| format!("{} {}:{}", text(&f["rule"]), text(&f["path"]), f["line"]))
        .collect()
}

const FIRST: &str = "docs/adr/0001-acknowledge-after-fsync.md";

/// A directory with one finished decision.
fn decided() -> tempfile::TempDir {
    let directory = place();
    let run = adr(directory.path(), &["new", "adr", "Acknowledge after fsync"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    fill(directory.path(), FIRST);
    directory
}

#[test]
fn our_own_records_keep_their_form() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let run = adr(&root, &["lint"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(run.out.starts_with("nothing is wrong: "), "{}", run.out);
    let graph = json(&adr(&root, &["graph", "--format", "json"]));
    let files = std::fs::read_dir(root.join("docs/adr")).expect("our records");
    let numbered = |name: &str| name.starts_with(|c: char| c.is_ascii_digit());
    let decisions = files
        .filter(|entry| numbered(&entry.as_ref().expect("an entry").file_name().to_string_lossy()))
        .count();
    let nodes = graph["nodes"].as_array().expect("nodes");
    let shown = nodes.iter().filter(|node| node["kind"] == "adr").count();
    assert_eq!(shown, decisions, "every decision of ours was looked at");
    assert!(decisions >= 9, "{decisions}");
}

#[test]
fn a_record_is_begun_written_and_clean() {
    let directory = place();
    let here = directory.path();
    assert_eq!(adr(here, &["lint"]).code, 3, "nothing was checked");
    assert_eq!(adr(here, &["graph"]).code, 3);
    let run = adr(here, &["new", "adr", "Acknowledge after fsync"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    let written = format!("{FIRST}: written\ndocs/adr/README.md: changed\n");
    assert!(run.out.starts_with(&written), "{}", run.out);
    let run = adr(here, &["lint"]);
    assert_eq!(run.code, 1, "{}", run.out);
    assert!(run.out.contains(&format!("{FIRST}:6: [A10]")), "{}", run.out);
    fill(here, FIRST);
    let run = adr(here, &["lint"]);
    assert_eq!((run.code, run.out.as_str()), (0, "nothing is wrong: 1 decision\n"));
}

#[test]
fn nothing_that_is_there_is_overwritten() {
    let directory = decided();
    let here = directory.path();
    // A file that no record is, where the next one would be: only creating it can find out.
    let taken = here.join("docs/adr/0002-b.md");
    std::fs::create_dir(&taken).expect("a directory in the way");
    let run = adr(here, &["new", "adr", "B"]);
    assert_eq!(run.code, 69, "{}{}", run.out, run.err);
    assert!(run.err.contains("0002-b.md"), "{}", run.err);
    let index = std::fs::read_to_string(here.join("docs/adr/README.md")).expect("the index");
    assert!(!index.contains("0002"), "no row without a record: {index}");
    let usage: [&[&str]; 6] = [
        &["new", "adr", "…"],
        &["new", "rfc", "A"],
        &["new", "supplement", "Plan"],
        &["new", "deviation", "A", "--parent", "ADR-0009"],
        &["new", "adr", "A", "--supersedes", "what"],
        &["lint", "--root", "nowhere"],
    ];
    for args in usage {
        let run = adr(here, args);
        assert_eq!(run.code, 64, "{args:?}: {}{}", run.out, run.err);
        assert!(!run.err.is_empty() && run.out.is_empty(), "{args:?}");
    }
}

#[test]
fn all_kinds_hang_together() {
    let directory = decided();
    let here = directory.path();
    let commands: [&[&str]; 4] = [
        &["new", "gap", "Disks fill up", "--owner", "Bea"],
        &["new", "deviation", "No fsync in tests", "--parent", "1", "--owner", "Bea"],
        &["new", "supplement", "Roadmap", "--parent", "ADR-0001"],
        &["new", "adr", "Acknowledge by a quorum", "--supersedes", "ADR-0001"],
    ];
    for args in commands {
        let run = adr(here, args);
        assert_eq!(run.code, 0, "{args:?}: {}{}", run.out, run.err);
    }
    let text = adr(here, &["graph"]).out;
    for line in [
        "ADR-0001  Superseded  Acknowledge after fsync",
        "    supersedes ADR-0001 (Acknowledge after fsync)",
        "    deviates from ADR-0001 (Acknowledge after fsync)",
        "    supplements ADR-0001 (Acknowledge after fsync)",
        "GAP-0001  Open  Disks fill up",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let svg = adr(here, &["graph", "--format", "svg"]);
    assert!(svg.code == 0 && svg.out.starts_with("<svg") && svg.out.contains("supersedes"));
    let dot = adr(here, &["graph", "--format", "dot"]);
    assert!(dot.out.contains("n1 -> n0 [label=\"supersedes\"]"), "{}", dot.out);
    assert_eq!(json(&adr(here, &["graph", "--format", "json"]))["nodes"][0]["id"], "ADR-0001");
    // What is left to say is in the new records; nothing is wrong between them.
    let open = ["A10", "A17", "A19", "A24"];
    let all = found(here, &[]);
    assert!(all.iter().all(|found| open.contains(&&found[..3])), "{all:#?}");
    let gaps = found(here, &["docs/adr/gaps"]);
    assert!(!gaps.is_empty() && gaps.iter().all(|found| found.contains("/gaps/")), "{gaps:?}");
}

#[test]
fn findings_have_a_file_and_a_line_in_every_format() {
    let directory = decided();
    let here = directory.path();
    std::fs::create_dir(here.join("src")).expect("a directory");
    std::fs::write(here.join("src/log.rs"), "fn sync() {}\n").expect("a file");
    edit(here, FIRST, "None yet.", "`src/log.rs:1 fn sync`, `src/log.rs:7`, [gone](gone.md)");
    let text = std::fs::read_to_string(here.join(FIRST)).expect("the record");
    let line = text.lines().position(|line| line.contains("gone.md")).expect("there") + 1;
    let expected = [format!("A13 {FIRST}:{line}"), format!("A16 {FIRST}:{line}")];
    assert_eq!(found(here, &[]), expected);
    let run = adr(here, &["lint"]);
    assert_eq!(run.code, 1);
    assert!(run.out.starts_with("2 findings: 1 decision\n"), "{}", run.out);
    assert!(run.out.contains(&format!("{FIRST}:{line}: [A16]\n")), "{}", run.out);
    let sarif = json(&adr(here, &["lint", "--format", "sarif"]));
    let region = &sarif["runs"][0]["results"][1]["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region["startLine"], line);
    let github = adr(here, &["lint", "--format", "github"]).out;
    assert!(
        github.starts_with(&format!("::error file={FIRST},line={line},title=A13 ")),
        "{github}"
    );
    let rules = json(&adr(here, &["rules", "--format", "json"]));
    for rule in rules["rules"].as_array().expect("rules") {
        let id = rule["id"].as_str().expect("an id");
        assert_eq!(super::run(&["explain", id]).code, 0, "{id}");
    }
    std::fs::write(here.join("assay.toml"), "[adr.rules]\nA13 = \"off\"\nA16 = \"warn\"\n")
        .expect("a file");
    assert_eq!(adr(here, &["lint"]).code, 2, "warnings only");
}

#[test]
fn bad_files_are_named_and_nothing_ends_in_a_panic() {
    let directory = decided();
    let here = directory.path();
    std::fs::write(here.join("docs/adr/0002-binary.md"), [0xff, 0xfe, 0]).expect("a file");
    std::fs::write(here.join("docs/adr/0003-large.md"), "x".repeat((1 << 20) + 1)).expect("a file");
    let expected = ["A23 docs/adr/0002-binary.md:1", "A23 docs/adr/0003-large.md:1"];
    assert_eq!(found(here, &[]), expected);
    for (toml, part) in [("[adr]\nfolder = 1\n", "folder"), ("[adr.rules]\nX = \"off\"\n", "X")] {
        std::fs::write(here.join("assay.toml"), toml).expect("a file");
        let run = adr(here, &["lint"]);
        assert_eq!(run.code, 65, "{}", run.err);
        assert!(run.err.contains("assay.toml") && run.err.contains(part), "{}", run.err);
    }
    assert_eq!(adr(here, &["lint", "--config", "none.toml"]).code, 69);
}

fn git(directory: &Path, args: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"])
        .args(["-c", "commit.gpgsign=false"])
        .args(args)
        .current_dir(directory)
        .output()
        .expect("git runs");
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn what_changed_since_a_revision_is_found() {
    let directory = decided();
    let here = directory.path();
    std::fs::create_dir(here.join("src")).expect("a directory");
    std::fs::write(here.join("src/log.rs"), "fn sync() {}\nfn write() {}\n").expect("a file");
    edit(here, FIRST, "None yet.", "`src/log.rs:1`");
    edit(here, FIRST, "Proposed", "Accepted");
    edit(here, "docs/adr/README.md", "Proposed", "Accepted");
    git(here, &["init", "-q", "-b", "main"]);
    git(here, &["add", "-A"]);
    git(here, &["commit", "-q", "-m", "first"]);
    assert_eq!(adr(here, &["lint", "--base", "HEAD"]).code, 0);
    std::fs::write(here.join("src/log.rs"), "fn write() {}\nfn sync() {}\n").expect("a file");
    edit(here, FIRST, "Accepted", "Proposed");
    edit(here, "docs/adr/README.md", "Accepted", "Proposed");
    edit(here, FIRST, "## Decision\n\nWords.", "## Decision\n\nOther words.");
    let found = found(here, &["--base", "HEAD"]);
    let rules: Vec<&str> = found.iter().map(|found| &found[..3]).collect();
    assert_eq!(rules, ["A07", "A22", "A16"], "{found:?}");
    assert_eq!(adr(here, &["lint"]).code, 0, "without a revision nothing is known of before");
    assert_eq!(adr(here, &["lint", "--base", "nothing"]).code, 64);
}

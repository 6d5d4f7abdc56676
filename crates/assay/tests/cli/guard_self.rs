//! The guard on this repository: what is said, and what stops a merge (docs/adr/0013).

use super::guard::Repository;
use super::{assay, finished, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What got weaker between two revisions and nobody approved, one line each; nothing if the base is
/// not there.
fn open_since(place: &Path, base: &str) -> Vec<String> {
    let args = ["guard", "--base", base, "--head", "HEAD", "--format", "json"];
    let run = finished(assay(&args).current_dir(place).output().expect("assay runs"));
    assert!((0..=2).contains(&run.code), "{}{}", run.out, run.err);
    let report = json(&run);
    let findings = report["findings"].as_array().expect("findings");
    let open: Vec<String> = findings
        .iter()
        .filter(|finding| finding["verdict"] == "weaker" && finding["status"] != "approved")
        .map(|finding| format!("{} {}: {}", finding["key"], finding["object"], finding["reason"]))
        .collect();
    assert_eq!(run.code == 1, !open.is_empty(), "the code says the same: {}", run.out);
    open
}

/// Compared with the commit before the last one; ASSAY_GUARD_BASE names another one, as for a
/// branch of several commits.
#[test]
fn what_our_own_last_change_weakened_is_said() {
    let git = |args: &[&str]| {
        let said = Command::new("git").args(args).current_dir(root()).output().expect("git runs");
        let text = String::from_utf8_lossy(&said.stdout).trim().to_string();
        said.status.success().then_some(text)
    };
    let named = std::env::var("ASSAY_GUARD_BASE").ok();
    let before = || git(&["rev-parse", "--verify", "-q", "HEAD~1"]);
    // Not a macro: what those print is only shown of tests that fail.
    let say = |text: &str| drop(writeln!(std::io::stderr(), "{text}"));
    let Some(base) = named.or_else(before) else {
        return say(
            "SKIPPED: no git history, a first commit or a shallow clone (git fetch --unshallow): \
             what our last change weakened is not known",
        );
    };
    let open = open_since(&root(), &base);
    if !open.is_empty() {
        say(&format!("WEAKER since {base}, and nobody approved it:\n{}", open.join("\n")));
        // Nobody but a person approves: `make guard` stops a merge, a build goes on.
        assert!(std::env::var_os("ASSAY_GUARD_STRICT").is_none(), "assay guard approve ID --by …");
    }
}

#[test]
fn a_merge_is_stopped_by_what_is_weaker_until_a_person_approves() {
    let spec = "# Plan\n\n- AC-1: The client MUST send one request.\n";
    let repository = Repository::new(&[("docs/prd.md", spec)]);
    repository.write("docs/prd.md", &spec.replace("MUST", "SHOULD"));
    repository.commit("weaker");
    let open = open_since(repository.path(), "HEAD~1");
    assert_eq!(open.len(), 1, "{open:?}");
    let key = open[0].split([' ', '"']).find(|part| part.starts_with('Q')).expect("a key");
    let because = ["--because", "some send two", "--quote", "Then it should, not must."];
    let who = ["--by", "Bea", "--source", "call of Monday", "--cause", "over-strong"];
    let head = ["approve", key, "--base", "HEAD~1", "--head", "HEAD"];
    let approved = repository.run(&[&head[..], &because, &who].concat());
    assert_eq!(approved.code, 0, "{}{}", approved.out, approved.err);
    repository.commit("a decision");
    assert_eq!(open_since(repository.path(), "HEAD~2"), Vec::<String>::new());
}

/// The wiring: what a merge runs, and that neither half of it can be left out without a word.
#[test]
fn every_change_of_main_is_guarded_and_its_records_are_linted() {
    let read = |file: &str| std::fs::read_to_string(root().join(file)).expect("a file of ours");
    let makefile = read("Makefile");
    let guard = makefile.split_once("\nguard:").expect("a target").1;
    let guard = guard.split("\n\n").next().expect("its commands");
    assert!(guard.contains("-- adr lint\n"), "{guard}");
    assert!(guard.contains("-- guard --base \"$(GUARD_BASE)\" --head HEAD"), "{guard}");
    let workflow = read(".github/workflows/ci.yml");
    for part in ["branches: [main]", "pull_request:", "fetch-depth: 0", "run: make guard\n"] {
        assert!(workflow.contains(part), "{part}: {workflow}");
    }
    let files = [("Makefile", makefile.as_str()), (".github/workflows/ci.yml", &workflow)];
    let repository = Repository::new(&files);
    for (file, from, to) in [
        ("Makefile", "\tcargo run -q -p assay -- adr lint\n", ""),
        (".github/workflows/ci.yml", "run: make guard", "run: make guard || true"),
        (".github/workflows/ci.yml", "  pull_request:\n", ""),
    ] {
        let text = read(file);
        assert!(text.contains(from), "{file} has {from:?}");
        repository.write(file, &text.replacen(from, to, 1));
        let run = repository.run(&[]);
        assert_eq!(run.code, 1, "{file} without {from:?}: {}{}", run.out, run.err);
        repository.write(file, &text);
    }
}

//! `assay guard`, through the real binary in real repositories.

use super::{assay, finished, json, scratch};
use std::path::Path;
use std::process::Command;

const SPEC: &str = "---- MODULE Bank ----
EXTENDS Naturals
CONSTANT Accounts
VARIABLE bal
BK1_NonNegative == \\A a \\in Accounts : bal[a] >= 0
BK2_Live == []<>(bal[1] = 0)
Init == bal = [a \\in Accounts |-> 0]
Next == UNCHANGED bal
Spec == Init /\\ [][Next]_bal
====
";

const CFG: &str = "CONSTANT Accounts = {a, b}\nSPECIFICATION Spec\nINVARIANTS\n  BK1_NonNegative\n\
PROPERTY BK2_Live\n";

const PRD: &str = "# Storage\n\n## Goals\n\n- AC-1: Reads are streamed per page.\n\
- AC-2: Acknowledged writes are never lost.\n- AC-3: The export is byte-identical to the input.\n\
- AC-4: The client MUST send one request per append.\n- AC-5: Backups are made each night.\n\n\
## Out of scope\n\n- AC-9: Encryption.\n";

/// A repository with one commit.
pub(super) struct Repository {
    directory: tempfile::TempDir,
}

impl Repository {
    pub(super) fn new(files: &[(&str, &str)]) -> Repository {
        let repository = Repository { directory: scratch() };
        repository.git(&["init", "-q", "-b", "main"]);
        for (path, text) in files {
            repository.write(path, text);
        }
        repository.commit("first");
        repository
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(super) fn git(&self, args: &[&str]) {
        let identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
        let done = Command::new("git")
            .args(identity)
            .args(["-c", "commit.gpgsign=false", "-c", "protocol.file.allow=always"])
            .args(args)
            .current_dir(self.path())
            .output()
            .expect("git runs");
        assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    }

    pub(super) fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    pub(super) fn run(&self, args: &[&str]) -> super::Run {
        let all = [&["guard"], args].concat();
        finished(assay(&all).current_dir(self.path()).output().expect("assay runs"))
    }

    /// The findings that are not stronger: rule and verdict.
    pub(super) fn found(&self, args: &[&str]) -> Vec<(String, String)> {
        let run = self.run(&[args, &["--format", "json"]].concat());
        let findings = json(&run)["findings"].as_array().expect("findings").clone();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_string();
        findings
            .iter()
            .map(|finding| (text(&finding["rule"]), text(&finding["verdict"])))
            .filter(|(_, verdict)| verdict != "stronger")
            .collect()
    }
}

fn bank() -> Repository {
    Repository::new(&[("specs/Bank.tla", SPEC), ("specs/Bank.cfg", CFG), ("docs/prd.md", PRD)])
}

/// A change of some files, and the rule that has to call it weaker.
struct Edit {
    rule: &'static str,
    files: Vec<(&'static str, String)>,
}

/// The four edits of formulas that nobody may make in silence.
fn forbidden() -> Vec<Edit> {
    let both = |rule: &'static str, spec: String, cfg: String| Edit {
        rule,
        files: vec![("specs/Bank.tla", spec), ("specs/Bank.cfg", cfg)],
    };
    let deleted = SPEC.replace("BK1_NonNegative == \\A a \\in Accounts : bal[a] >= 0\n", "");
    vec![
        both(
            "T02",
            SPEC.replace("BK1_NonNegative", "Negative"),
            CFG.replace("BK1_NonNegative", "Negative"),
        ),
        both("T01", deleted, CFG.replace("  BK1_NonNegative\n", "")),
        both("T03", SPEC.replace("bal[a] >= 0", "bal[a] >= 0 => TRUE"), CFG.to_string()),
        both("T04", SPEC.replace("\\A a", "\\E a"), CFG.to_string()),
    ]
}

/// The five moves in English: coarser, hedged, less equal, less binding, put off.
fn moves() -> Vec<Edit> {
    let moved = PRD.replace("- AC-5: Backups are made each night.\n", "")
        + "- AC-5: Backups are made each night.\n";
    let one = |rule: &'static str, text: String| Edit { rule, files: vec![("docs/prd.md", text)] };
    vec![
        one("Q04", PRD.replace("per page", "per file")),
        one("Q02", PRD.replace("are never lost", "are typically never lost")),
        one("Q05", PRD.replace("byte-identical", "logically equivalent")),
        one("Q01", PRD.replace("MUST send", "SHOULD send")),
        one("Q07", moved),
    ]
}

#[test]
fn the_four_forbidden_edits_and_the_five_english_moves_are_caught() {
    let repository = bank();
    for Edit { rule, files } in forbidden().into_iter().chain(moves()) {
        files.iter().for_each(|(path, text)| repository.write(path, text));
        let run = repository.run(&[]);
        assert_eq!(run.code, 1, "{rule}: {}{}", run.out, run.err);
        let found = repository.found(&[]);
        assert!(found.contains(&(rule.to_string(), "weaker".to_string())), "{rule}: {found:?}");
        repository.git(&["checkout", "-q", "--", "."]);
    }
}

#[test]
fn each_of_them_passes_with_a_decision_and_not_when_a_text_changes_after_it() {
    for Edit { rule, files } in forbidden().into_iter().chain(moves()) {
        let repository = bank();
        files.iter().for_each(|(path, text)| repository.write(path, text));
        let shown = json(&repository.run(&["--format", "json"]));
        for finding in shown["findings"].as_array().expect("findings") {
            let key = finding["key"].as_str().expect("a key");
            let who = ["--by", "Bea", "--because", "the design cannot keep it"];
            let said = ["--quote", "Go on, I know what it costs.", "--source", "call of Monday"];
            let done = repository.run(&[&["approve", key], &who[..], &said].concat());
            assert_eq!(done.code, 0, "{rule} {key}: {}{}", done.out, done.err);
        }
        let clean = repository.run(&[]);
        assert_eq!(clean.code, 0, "{rule}: {}{}", clean.out, clean.err);
        repository.commit("weaker, with a decision");
        let committed = repository.run(&["--base", "HEAD~1", "--head", "HEAD"]);
        assert_eq!(committed.code, 0, "{rule}: {}{}", committed.out, committed.err);
        // The old text is another one: what was decided was not about it.
        repository.git(&["checkout", "-q", "-f", "-b", "other", "HEAD~1"]);
        repository.write("specs/Bank.tla", &SPEC.replace("bal[a] >= 0", "bal[a] >= 1"));
        repository.write("docs/prd.md", &strengthened());
        repository.commit("another old text");
        repository.git(&["checkout", "-q", "main", "--", "."]);
        assert_eq!(repository.run(&[]).code, 1, "{rule}: the old text is another one");
    }
}

/// Every requirement asks for more than before.
fn strengthened() -> String {
    PRD.replace("per page.", "per page, always.")
        .replace("writes are never lost.", "writes are never lost, not even one.")
        .replace("to the input.", "to the input, always.")
        .replace("per append.", "per append, always.")
        .replace("each night.", "each night, without exception.")
}

#[test]
fn an_approval_lets_a_change_pass_until_either_text_changes() {
    let repository = bank();
    let trivial = SPEC.replace("bal[a] >= 0", "bal[a] >= 0 => TRUE");
    repository.write("specs/Bank.tla", &trivial);
    let shown = repository.run(&["--format", "json"]);
    let key = json(&shown)["findings"][0]["key"].as_str().expect("a key").to_string();
    let approve = |by: &str, quote: &str, source: &str, cause: &str| {
        let because = ["--because", "overdrafts are allowed now", "--quote", quote];
        let who = ["--by", by, "--source", source, "--cause", cause];
        repository.run(&[&["approve", &key], &because[..], &who[..]].concat())
    };
    for (by, quote, source, cause, why) in [
        ("Claude", "go ahead", "mail", "bug", "agent"),
        ("Bea", "go ahead", "docs/plans/overdraft.md", "bug", "plan"),
        ("Bea", "go ahead", "mail", "unknown", "unknown"),
        ("Bea", " ", "mail", "bug", "quote"),
    ] {
        let refused = approve(by, quote, source, cause);
        assert_eq!(refused.code, 65, "{why}: {}{}", refused.out, refused.err);
        assert!(refused.err.contains(why), "{why}: {}", refused.err);
    }
    assert_eq!(repository.run(&[]).code, 1, "nothing was written");
    let approved = approve("Bea", "Let them overdraw, we insure it.", "mail of Monday", "bug");
    assert_eq!(approved.code, 0, "{}{}", approved.out, approved.err);
    let clean = repository.run(&[]);
    assert_eq!(clean.code, 0, "{}{}", clean.out, clean.err);
    assert!(clean.out.contains("approved by Bea"), "{}", clean.out);
    repository.commit("weaker, with a decision");
    let committed = repository.run(&["--base", "HEAD~1", "--head", "HEAD"]);
    assert_eq!(committed.code, 0, "{}{}", committed.out, committed.err);
    // Another new text, then another old text: the decision was about neither.
    repository.write("specs/Bank.tla", &SPEC.replace("bal[a] >= 0", "TRUE"));
    let stale = repository.run(&["--base", "HEAD~1"]);
    assert_eq!(stale.code, 1, "{}", stale.out);
    assert!(stale.out.contains("is stale"), "{}", stale.out);
    repository.git(&["checkout", "-q", "-f", "-b", "other", "HEAD~1"]);
    repository.write("specs/Bank.tla", &SPEC.replace("bal[a] >= 0", "bal[a] >= 1"));
    repository.commit("another old text");
    repository.git(&["checkout", "-q", "main", "--", "."]);
    assert_eq!(repository.run(&[]).code, 1, "the old text is another one");
}

#[test]
fn every_format_tells_the_same() {
    let repository = bank();
    repository.write("docs/prd.md", &PRD.replace("MUST send", "SHOULD send"));
    for (format, part) in [
        ("text", "weaker [Q01] AC-4"),
        ("github", "::error file=docs/prd.md,line=8,"),
        ("markdown", "| weaker | Q01 | AC-4 |"),
        ("sarif", "\"ruleId\":\"Q01\""),
        ("json", "\"rule\":\"Q01\""),
    ] {
        let run = repository.run(&["--format", format]);
        assert_eq!(run.code, 1, "{format}: {}", run.err);
        assert!(run.out.contains(part), "{format}: {}", run.out);
    }
    let sarif = json(&repository.run(&["--format", "sarif"]));
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(sarif["runs"][0]["tool"]["driver"]["rules"][0]["id"], "Q01");
}

#[test]
fn what_is_stronger_or_moved_is_clean_and_what_is_suspect_ends_with_two() {
    let repository = bank();
    assert_eq!(repository.run(&[]).code, 0, "nothing changed");
    repository.git(&["mv", "specs", "spec"]);
    repository.write("docs/prd.md", &PRD.replace("one request", "exactly one request"));
    let run = repository.run(&[]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    repository.write("spec/Bank.cfg", &format!("{CFG}CONSTRAINT Small\n"));
    let run = repository.run(&[]);
    assert_eq!(run.code, 2, "{}{}", run.out, run.err);
    repository.write("assay.toml", "[guard.rules]\nC04 = \"off\"\nK04 = \"off\"\n");
    let run = repository.run(&[]);
    assert_eq!(run.code, 1, "switching off is told: {}", run.out);
    assert!(run.out.contains("guard/rules/C04 is off"), "{}", run.out);
    repository.git(&["add", "assay.toml"]);
    repository.git(&["commit", "-q", "-m", "levels", "--", "assay.toml"]);
    assert_eq!(repository.run(&[]).code, 0, "switched off before");
    repository.write("assay.toml", "[guard.rules]\nX99 = \"off\"\n");
    let run = repository.run(&[]);
    assert_eq!(run.code, 65, "{}", run.err);
    assert!(run.err.contains("X99"), "{}", run.err);
}

#[test]
fn merges_compare_with_where_the_branch_began() {
    let repository = bank();
    repository.git(&["checkout", "-q", "-b", "work"]);
    repository.write("notes.md", "words\n");
    repository.commit("work");
    repository.git(&["checkout", "-q", "main"]);
    repository.write("docs/more.md", "- AC-20: It must be quick.\n");
    repository.commit("main goes on");
    // What main gained is not lost in the branch.
    let run = repository.run(&["--base", "main", "--head", "work"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    repository.git(&["checkout", "-q", "work"]);
    repository.git(&["merge", "-q", "--no-ff", "-m", "merge", "main"]);
    repository.write("docs/more.md", "- AC-20: It should be quick.\n");
    repository.commit("weaker after the merge");
    let found = repository.found(&["--base", "main", "--head", "work"]);
    assert_eq!(found, [("Q01".to_string(), "weaker".to_string())]);
}

#[test]
fn shallow_clones_bad_names_and_no_repository_get_one_clear_line() {
    let repository = bank();
    repository.write("notes.md", "words\n");
    repository.commit("second");
    let clone = scratch();
    let url = format!("file://{}", repository.path().display());
    let target = clone.path().join("clone");
    repository.git(&["clone", "-q", "--depth", "1", &url, &target.display().to_string()]);
    let inside =
        |args: &[&str]| finished(assay(args).current_dir(&target).output().expect("assay runs"));
    let run = inside(&["guard", "--base", "HEAD~1", "--head", "HEAD"]);
    assert_eq!(run.code, 64, "{}{}", run.out, run.err);
    assert!(run.err.contains("shallow"), "{}", run.err);
    let run = repository.run(&["--base", "no-such-branch"]);
    assert_eq!(run.code, 64, "{}", run.err);
    assert!(run.err.contains("no-such-branch: there is no such revision"), "{}", run.err);
    let nowhere = scratch();
    let run = finished(assay(&["guard"]).current_dir(nowhere.path()).output().expect("runs"));
    assert_eq!(run.code, 69, "{}", run.err);
    assert!(run.err.contains("no git repository"), "{}", run.err);
}

#[test]
fn binary_huge_and_broken_files_and_submodules_are_told_and_never_a_panic() {
    let repository = bank();
    let inner = Repository::new(&[("a.md", "words\n")]);
    let url = format!("file://{}", inner.path().display());
    repository.git(&["submodule", "add", "-q", &url, "inner"]);
    repository.write("tests/test_a.py", "def test_a():\n    assert f() == 1\n");
    repository.commit("more");
    std::fs::write(repository.path().join("docs/prd.md"), b"\0\0binary\0").expect("a file");
    repository.write("tests/test_a.py", &format!("# {}\n", "x".repeat(5 << 20)));
    repository.write("specs/Bank.tla", "---- MODULE Bank ----\n]] (( /\\ \\A \n====\n");
    repository.git(&["-C", "inner", "commit", "-q", "--allow-empty", "-m", "moves"]);
    repository.git(&["add", "inner"]);
    let run = repository.run(&[]);
    assert!((0..=2).contains(&run.code), "{}{}", run.out, run.err);
    for part in ["binary, not looked into", "too large", "inner: a submodule", "G01"] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
}

#[test]
fn a_merge_is_compared_with_each_parent_and_a_rename_with_what_it_was() {
    let repository = bank();
    repository.write("tests/test_a.py", "def test_a():\n    x = f()\n    assert x == 1\n");
    repository.commit("a test");
    repository.git(&["checkout", "-q", "-b", "work"]);
    repository.git(&["mv", "tests/test_a.py", "tests/test_b.py"]);
    repository.commit("only moved");
    let moved = repository.run(&["--base", "main", "--head", "work"]);
    assert_eq!(moved.code, 0, "{}{}", moved.out, moved.err);
    repository.write("tests/test_b.py", "def test_a():\n    x = f()\n    assert x\n");
    repository.commit("and weaker");
    let found = repository.found(&["--base", "main", "--head", "work"]);
    assert_eq!(found, [("R05".to_string(), "weaker".to_string())]);
    repository.git(&["checkout", "-q", "main"]);
    repository.write("docs/prd.md", &PRD.replace("MUST send", "SHOULD send"));
    repository.commit("main gets weaker, too");
    repository.git(&["merge", "-q", "--no-ff", "-m", "merge", "work"]);
    // What came with the other side is the change, seen from either.
    let first = repository.found(&["--base", "HEAD^1", "--head", "HEAD"]);
    assert_eq!(first, [("R05".to_string(), "weaker".to_string())]);
    let second = repository.found(&["--base", "HEAD^2", "--head", "HEAD"]);
    assert_eq!(second, [("Q01".to_string(), "weaker".to_string())]);
}

#[test]
fn a_shallow_clone_without_a_common_commit_says_what_to_fetch() {
    let repository = bank();
    repository.git(&["checkout", "-q", "-b", "work"]);
    repository.write("notes.md", "words\n");
    repository.commit("work");
    repository.git(&["checkout", "-q", "main"]);
    repository.write("more.md", "words\n");
    repository.commit("main goes on");
    let clone = scratch();
    let target = clone.path().join("clone");
    let url = format!("file://{}", repository.path().display());
    let place = target.display().to_string();
    repository.git(&["clone", "-q", "--depth", "1", "--no-single-branch", &url, &place]);
    let args = ["guard", "--base", "origin/main", "--head", "origin/work"];
    let run = finished(assay(&args).current_dir(&target).output().expect("assay runs"));
    assert_eq!(run.code, 69, "{}{}", run.out, run.err);
    assert!(run.err.contains("git fetch --unshallow"), "{}", run.err);
    assert_eq!(run.err.lines().count(), 1, "{}", run.err);
}

#[test]
fn a_module_that_becomes_binary_huge_a_link_or_a_directory_loses_its_properties() {
    let repository = bank();
    let module = repository.path().join("specs/Bank.tla");
    let gone = |what: &str| {
        let run = repository.run(&[]);
        assert_eq!(run.code, 1, "{what}: {}{}", run.out, run.err);
        assert!(run.out.contains("[T01] Bank!BK1_NonNegative"), "{what}: {}", run.out);
        run.out
    };
    std::fs::write(&module, b"---- MODULE Bank ----\0").expect("a file");
    assert!(gone("binary").contains("specs/Bank.tla: binary, not looked into"));
    repository.write("specs/Bank.tla", &format!("{SPEC}\\* {}\n", "x".repeat(5 << 20)));
    assert!(gone("huge").contains("specs/Bank.tla: too large"));
    std::fs::write(&module, [SPEC.as_bytes(), b"\xff\xfe"].concat()).expect("a file");
    gone("not UTF-8");
    std::fs::remove_file(&module).expect("a file");
    std::os::unix::fs::symlink("elsewhere.tla", &module).expect("a link");
    gone("a link");
    std::fs::remove_file(&module).expect("a link");
    repository.write("specs/Bank.tla/a.txt", "words\n");
    gone("a directory");
}

#[test]
fn init_installs_a_hook_that_stops_a_commit_and_leaves_files_alone() {
    let repository = bank();
    let run = repository.run(&["init"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(repository.path().join(".github/workflows/assay-guard.yml").is_file());
    repository.git(&["add", "-A"]);
    repository.write("docs/prd.md", &PRD.replace("MUST send", "SHOULD send"));
    let binary = Path::new(env!("CARGO_BIN_EXE_assay")).parent().expect("a directory");
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let commit = Command::new("git")
        .args(["-c", "user.name=Ann", "-c", "user.email=a@b.c", "commit", "-aqm", "weaker"])
        .env("PATH", path)
        .current_dir(repository.path())
        .output()
        .expect("git runs");
    assert!(!commit.status.success(), "the hook stops it");
    // Git shows what hooks print among its own messages.
    let said = [commit.stdout, commit.stderr].concat();
    assert!(String::from_utf8_lossy(&said).contains("Q01"));
    let again = repository.run(&["init"]);
    assert!(again.out.contains("left alone"), "{}", again.out);
}

#[test]
fn the_schema_that_is_published_is_the_one_the_binary_prints() {
    let run = super::run(&["guard", "schema"]);
    assert_eq!(run.code, 0);
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats/assay-toml.schema.json");
    if std::env::var_os("ASSAY_BLESS").is_some() {
        std::fs::write(&path, &run.out).expect("the schema can be written");
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        run.out, published,
        "ASSAY_BLESS=1 cargo test -p assay --test cli the_schema writes it; read the diff"
    );
}

#[test]
fn every_rule_has_a_page() {
    let rules = json(&super::run(&["guard", "rules", "--format", "json"]));
    for rule in rules["rules"].as_array().expect("rules") {
        let id = rule["id"].as_str().expect("an id");
        assert_eq!(super::run(&["explain", id]).code, 0, "{id}");
    }
}

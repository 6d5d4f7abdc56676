//! How long the guard takes on a repository of 5,000 files when 200 of them change, and when 20 do:
//! the cost is to grow with the change. `cargo bench -p assay-guard`.

use assay_guard::repository::{Request, read};
use assay_guard::{Config, Report};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const FILES: usize = 5_000;
const ROUNDS: usize = 5;

fn git(directory: &Path, args: &[&str]) {
    let identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"];
    let done = Command::new("git").args(identity).args(args).current_dir(directory).output();
    let done = done.expect("git runs");
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A file of one of the kinds the guard reads; a changed one asks for less.
fn content(at: usize, weaker: bool) -> (String, String) {
    let (equal, must) = if weaker { (">=", "should") } else { ("==", "must") };
    let mut text = String::new();
    match at % 4 {
        0 => {
            for test in 0..20 {
                let _ = writeln!(
                    text,
                    "#[test]\nfn t{test}() {{\n    let x = f({test});\n    assert!(x {equal} 1)\n}}"
                );
            }
            (format!("crates/c{}/tests/t{at}.rs", at % 50), text)
        }
        1 => {
            for test in 0..20 {
                let _ =
                    writeln!(text, "def test_{test}():\n    x = f({test})\n    assert x {equal} 1");
            }
            (format!("py/p{}/test_{at}.py", at % 50), text)
        }
        2 => {
            for item in 0..40 {
                let _ = writeln!(text, "- AC-{at}-{item}: The answer {must} be right.");
                let _ = writeln!(text, "- REQ-{}: It {must} be quick.", at * 100 + item);
            }
            (format!("requirements/d{}/r{at}.md", at % 50), text)
        }
        _ => {
            text.push_str("package a\n");
            for test in 0..20 {
                let _ = writeln!(
                    text,
                    "func Test{test}(t *testing.T) {{\n\tassert.True(t, f({test}) {equal} 1)\n}}"
                );
            }
            (format!("go/g{}/a{at}_test.go", at % 50), text)
        }
    }
}

fn write(directory: &Path, at: usize, weaker: bool) {
    let (path, text) = content(at, weaker);
    let path = directory.join(path);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    std::fs::write(path, text).expect("a file");
}

fn measure(name: &str, directory: &Path, base: &str, head: &str) {
    let request = Request { base: Some(base.into()), head: Some(head.into()), paths: Vec::new() };
    let config = Config::default();
    let mut best = f64::MAX;
    let mut findings = 0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let pair = read(directory, &request, &config).expect("both revisions are there");
        findings = Report::of(&pair, &config).findings.len();
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{name:<44} {:>8.1} ms  {findings} findings", best * 1e3);
}

fn main() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let directory = directory.path();
    git(directory, &["init", "-q", "-b", "main"]);
    for at in 0..FILES {
        write(directory, at, false);
    }
    git(directory, &["add", "-A"]);
    git(directory, &["commit", "-qm", "all"]);
    for (name, count) in [("few", 20), ("many", 200)] {
        git(directory, &["checkout", "-q", "-b", name, "main"]);
        (0..count).for_each(|at| write(directory, at, true));
        git(directory, &["commit", "-qam", name]);
    }
    measure("5,000 files, nothing changed", directory, "main", "main");
    measure("5,000 files, 20 changed", directory, "main", "few");
    measure("5,000 files, 200 changed (aim: 2 s)", directory, "main", "many");
    measure("5,000 files, 200 changed, as files", directory, "main", "worktree");
}

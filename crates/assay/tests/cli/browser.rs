//! The report in a real browser: what a person sees, with no network at all.

use super::{example, run, scratch};
use std::process::Command;

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

#[test]
fn the_report_opens_from_disk_and_shows_the_witness() {
    let has = |name: &&&str| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    let Some(browser) = BROWSERS.iter().find(has) else {
        eprintln!("SKIPPED: no browser ({}), so nobody looked at the report", BROWSERS.join(", "));
        return;
    };
    let directory = scratch();
    let page = directory.path().join("report.html");
    let path = page.display().to_string();
    let checked =
        run(&["check", &example("register-refuted.jsonl"), "--model", "register", "--html", &path]);
    assert_eq!(checked.code, 1, "{}", checked.err);
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", directory.path().join("profile").display()))
        .arg(format!("file://{path}"))
        .output()
        .expect("the browser starts");
    let shown = String::from_utf8_lossy(&output.stdout);
    for wanted in ["cannot be placed", "although every write of", "<svg", "certificate"] {
        assert!(shown.to_lowercase().contains(wanted), "{wanted} is not on the page:\n{shown}");
    }
}

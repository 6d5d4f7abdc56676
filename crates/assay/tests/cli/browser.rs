//! The report in a real browser: what a person sees, with no network at all.

use super::{example, run, scratch};
use serde_json::json;

#[path = "../../../assay-report/tests/webdriver/mod.rs"]
mod webdriver;

#[test]
fn the_report_opens_from_disk_and_shows_the_witness() {
    let directory = scratch();
    let page = directory.path().join("report.html");
    let path = page.display().to_string();
    let checked =
        run(&["check", &example("register-refuted.jsonl"), "--model", "register", "--html", &path]);
    assert_eq!(checked.code, 1, "{}", checked.err);
    let browser = webdriver::Browser::start(&directory.path().join("profile"), 1300, 900);
    browser.open(&page);
    let shown = browser.run("return document.documentElement.outerHTML", json!([]));
    let shown = shown.as_str().expect("a text").to_lowercase();
    for wanted in ["cannot be placed", "although every write of", "<svg", "certificate"] {
        assert!(shown.contains(wanted), "{wanted} is not on the page:\n{shown}");
    }
    assert_eq!(browser.errors(), Vec::<String>::new());
}

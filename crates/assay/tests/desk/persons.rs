//! What only people do: write contracts, amend them, answer, look at what happened.

use super::{Bench, USUAL, Wish};

const WORK: &str = "work; commit; sign";
const JUDGE: &str = "verdict \"$good\"";
const TWO: Wish = Wish { stories: 2, limits: "iterations = 9\nidle_seconds = 60", ..USUAL };

#[test]
fn a_contract_is_written_linted_and_refused_by_line() {
    let bench = Bench::new(USUAL, WORK, JUDGE);
    let new = bench.ask(&["new", "fresh"]);
    assert_eq!(new.code, Some(0), "{}", new.err);
    let linted = bench.ask(&["lint", "fresh"]);
    assert_eq!(linted.code, Some(0), "{}{}", linted.out, linted.err);
    assert!(linted.out.contains("US-001/AC-1"), "the table is shown: {}", linted.out);
    assert_eq!(bench.ask(&["new", "fresh"]).code, Some(64), "nothing is overwritten");
    assert_eq!(bench.ask(&["new", "Not a slug"]).code, Some(64));
    let path = ".assay/desk/fresh/contract.md";
    let text = std::fs::read_to_string(bench.root.join(path)).expect("a contract");
    bench.write(path, &text.replacen("risk = \"MEDIUM\"", "risk = \"TODO\"", 1));
    let refused = bench.ask(&["lint", "fresh"]);
    assert_eq!(refused.code, Some(65));
    let line = text.lines().position(|line| line.starts_with("risk")).expect("a line") + 1;
    assert!(refused.err.contains(&format!("contract.md:{line}: ")), "{}", refused.err);
    assert_eq!(bench.ask(&["run", "fresh"]).code, Some(65));
    assert_eq!(bench.ask(&["run", "absent"]).code, Some(65));
    let vague = text.replacen("Then the shopper sees 4.00", "Then US-001 works with get_it()", 1);
    let vague = vague.replacen("When a shopper asks for the total", "When it runs", 1);
    let vague =
        vague.replacen("Given a basket with apples at 2.50 and pears at 1.50", "Given it", 1);
    bench.write(path, &vague);
    let rejected = bench.ask(&["lint", "fresh", "--format", "json"]);
    assert_eq!(rejected.code, Some(65), "{}{}", rejected.out, rejected.err);
    assert!(rejected.out.contains("\"accepted\":false"), "{}", rejected.out);
}

#[test]
fn an_edited_contract_stops_the_leader_until_a_person_amends_it() {
    let bench = Bench::new(TWO, WORK, JUDGE);
    let path = ".assay/desk/small/contract.md";
    let text = std::fs::read_to_string(bench.root.join(path)).expect("a contract");
    let agent = format!("command:sh {}", bench.path(".assay/desk/small/agent.sh"));
    let args = ["run", "small", "--worker", &agent, "--verifier", &agent, "--format", "json"];
    bench.stop_when(&args, |line| line.contains("\"kind\":\"verified\""));
    let edited = text.replacen("reader sees 2", "reader sees the number 2", 1);
    bench.write(path, &edited);
    let stopped = bench.ask(&args);
    assert_eq!(stopped.code, Some(65), "{}{}", stopped.out, stopped.err);
    assert!(stopped.err.contains("assay desk amend"), "{}", stopped.err);
    let amended = bench.ask(&["amend", "small", "--by", "me", "--why", "clearer"]);
    assert_eq!(amended.code, Some(0), "{}", amended.err);
    assert!(amended.out.contains("1 of 1 verified stories"), "{}", amended.out);
    let ended = bench.ask(&args);
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    let log = bench.ask(&["log", "small"]);
    assert!(log.out.contains("amended   by me: clearer"), "{}", log.out);
    assert_eq!(bench.ask(&["verify", "small"]).code, Some(0));
}

#[test]
fn a_question_waits_for_a_person() {
    let asks = "if [ -e \"$(dirname $0)/asked\" ]; then verdict \"$good\"; else verdict \"$good\" \
                true                 ',\"question\":\"is 1 right?\"'; fi";
    let bench = Bench::new(TWO, WORK, asks);
    let waiting = bench.run(&[]);
    assert_eq!(waiting.code, Some(2), "{}{}", waiting.out, waiting.err);
    assert!(waiting.out.contains("is 1 right?"), "{}", waiting.out);
    bench.write(".assay/desk/small/asked", "");
    let ended = bench.ask(&["resume", "small", "--answer", "yes", "--by", "me"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
}

#[test]
fn what_happened_can_be_read_reported_and_put_aside() {
    let bench = Bench::new(USUAL, WORK, JUDGE);
    assert_eq!(bench.run(&[]).code, Some(0));
    let status = bench.ask(&["status", "small"]);
    assert!(status.out.starts_with("COMPLETE"), "{}", status.out);
    let one = bench.ask(&["log", "small", "2"]);
    assert!(one.out.contains("You are the Worker"), "its prompt is shown: {}", one.out);
    let page = bench.root.join("report.html");
    let text = bench.root.join("report.md");
    let (page_name, text_name) = (page.display().to_string(), text.display().to_string());
    let report = bench.ask(&["report", "small", "--html", &page_name, "--markdown", &text_name]);
    assert_eq!(report.code, Some(0), "{}", report.err);
    let text = std::fs::read_to_string(text).expect("a report");
    for section in 1..=10 {
        assert!(text.contains(&format!("\n## {section}. ")), "section {section}");
    }
    assert!(text.contains("**COMPLETE**") && text.contains("[leader]"), "{text}");
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.contains("<table>") && !page.contains("http"), "it needs no network");
    assert_eq!(bench.run(&[]).code, Some(0), "an end is the end");
    let cleaned = bench.ask(&["clean", "small"]);
    assert_eq!(cleaned.code, Some(0), "{}", cleaned.err);
    assert!(bench.root.join(".assay/desk/small/archive/001").exists());
    assert_eq!(bench.ask(&["status", "small"]).code, Some(69), "nothing is begun");
}

//! What is settled when a campaign begins, how people change it, and that the report says who did.

use super::{Bench, USUAL, Wish};

const WORK: &str = "work; commit; sign";
const JUDGE: &str = "verdict \"$good\"";
const TWO: Wish = Wish { stories: 2, limits: "iterations = 9\nidle_seconds = 60", ..USUAL };

/// A campaign that was begun and stands still.
fn begun(wish: Wish) -> Bench {
    let bench = Bench::new(wish, WORK, JUDGE);
    let engine = bench.engine();
    let args = ["run", "small", "--worker", &engine, "--verifier", &engine, "--format", "json"];
    bench.stop_when(&args, |line| line.contains("\"kind\":\"dispatched\""));
    bench
}

/// One event of the record.
fn event(bench: &Bench, kind: &str) -> serde_json::Value {
    let log = bench.ask(&["log", "small", "--format", "json"]);
    let all = log.out.lines().map(|line| serde_json::from_str(line).expect("an event"));
    let mut own = all.filter(|value: &serde_json::Value| value["event"]["kind"] == kind);
    own.next_back().unwrap_or_else(|| panic!("no {kind}"))["event"].clone()
}

#[test]
fn what_is_settled_is_not_changed_by_the_way() {
    let bench = begun(TWO);
    let same = bench.engine();
    bench.agent("other.sh", WORK, JUDGE);
    let other = format!("command:sh {}", bench.path(".assay/desk/small/other.sh"));
    bench.write("later", "x");
    bench.git(&["add", "later"]);
    bench.git(&["commit", "-qm", "Later"]);
    bench.write("scores.json", "{\"US-001/AC-1\": [2, 2, 2, 2, 2, 1]}");
    for (flags, said) in [
        (&["--worker", other.as_str()][..], "--worker"),
        (&["--worker", &same, "--worker", &other], "--worker"),
        (&["--verifier", &other], "--verifier"),
        (&["--second", &other], "--second"),
        (&["--base", "HEAD"], "--base HEAD is another commit"),
        (&["--score", "scores.json"], "assay desk amend"),
    ] {
        for command in ["run", "resume"] {
            let refused = bench.ask(&[&[command, "small"], flags].concat());
            assert_eq!(refused.code, Some(64), "{flags:?}: {}{}", refused.out, refused.err);
            let words = refused.err.contains(said) && refused.err.contains("small has begun");
            assert!(words && refused.err.contains("assay desk"), "{flags:?}: {}", refused.err);
        }
    }
    // By an amendment it is: the contract now names who works.
    let agents = format!("[agents]\nworker = [\"{other}\"]\nverifier = \"{other}\"\n[limits]");
    bench.edit("[limits]", &agents);
    let amended = bench.ask(&["amend", "small", "--by", "me", "--why", "another agent"]);
    assert_eq!(amended.code, Some(0), "{}{}", amended.out, amended.err);
    let ended = bench.ask(&["run", "small", "--worker", &other, "--base", "HEAD~1"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    assert!(ended.out.contains("other.sh sent out"), "{}", ended.out);
}

#[test]
fn engines_are_looked_at_again_when_a_campaign_goes_on_or_is_amended() {
    let bench = begun(TWO);
    bench.edit("[limits]", "[agents]\nworker = [\"nobody\"]\nverifier = \"nobody\"\n[limits]");
    let amended = bench.ask(&["amend", "small", "--by", "me", "--why", "so"]);
    assert_eq!(amended.code, Some(65), "{}{}", amended.out, amended.err);
    assert!(amended.err.contains("agent `nobody`"), "{}", amended.err);
    let bench = Bench::new(TWO, WORK, JUDGE);
    bench.write("agent", "#!/bin/sh\nexit 1\n");
    let engine = format!("command:{}", bench.path("agent"));
    let args = ["run", "small", "--worker", &engine, "--verifier", &engine, "--format", "json"];
    bench.stop_when(&args, |line| line.contains("\"kind\":\"dispatched\""));
    std::fs::remove_file(bench.root.join("agent")).expect("it was there");
    let gone = bench.ask(&["run", "small"]);
    assert_eq!(gone.code, Some(65), "{}{}", gone.out, gone.err);
    assert!(gone.err.contains("there is no program"), "{}", gone.err);
}

#[test]
fn a_readers_score_lowers_what_is_run_and_amended_and_is_stored() {
    let bench = Bench::new(TWO, WORK, JUDGE);
    let engine = bench.engine();
    let score = |text: &str| bench.write("scores.json", text);
    let begin = ["run", "small", "--worker", &engine, "--verifier", &engine];
    let run = |more: &[&str]| bench.ask(&[&begin, &["--score", "scores.json"][..], more].concat());
    for (text, said) in [
        ("{\"US-001/AC-1\": [0, 0, 0, 0, 2, 2]}", "not clear enough"),
        ("{\"US-009/AC-1\": [0, 0, 0, 0, 2, 2]}", "`US-009/AC-1` is no criterion"),
        ("{\"US-001/AC-1\": [3, 0, 0, 0, 2, 2]}", "at most 2"),
        ("[]", "scores.json"),
    ] {
        score(text);
        let refused = run(&[]);
        assert_eq!(refused.code, Some(65), "{text}: {}{}", refused.out, refused.err);
        assert!(refused.err.contains(said), "{text}: {}", refused.err);
    }
    assert_eq!(bench.ask(&["status", "small"]).code, Some(69), "nothing was begun");
    score("{\"US-001/AC-1\": [1, 1, 2, 2, 2, 2], \"US-002/AC-1\": [1, 1, 2, 2, 2, 2]}");
    let args = [&begin, &["--score", "scores.json", "--format", "json"][..]].concat();
    bench.stop_when(&args, |line| line.contains("\"kind\":\"dispatched\""));
    let points = |kind: &str, index: usize| {
        let points = event(&bench, kind)["scores"][index]["points"].clone();
        serde_json::from_value::<[u8; 6]>(points).expect("six numbers")
    };
    assert_eq!(points("opened", 0), [1, 1, 2, 2, 2, 2]);
    // An amendment keeps what was taken away, where the words are the same, and can take more.
    bench.edit("reader sees 2", "reader sees the number 2");
    let amended = bench.ask(&["amend", "small", "--by", "me", "--why", "clearer"]);
    assert_eq!(amended.code, Some(0), "{}", amended.err);
    assert!(amended.out.contains("US-002/AC-1"), "the table is shown: {}", amended.out);
    assert_eq!(points("amended", 0), [1, 1, 2, 2, 2, 2]);
    assert_eq!(points("amended", 1), [2; 6], "other words, other points");
    score("{\"US-002/AC-1\": [0, 0, 0, 0, 0, 2]}");
    let amend = ["amend", "small", "--by", "me", "--why", "so", "--score", "scores.json"];
    assert_eq!(bench.ask(&amend).code, Some(65));
    score("{\"US-002/AC-1\": [2, 2, 2, 2, 1, 2]}");
    assert_eq!(bench.ask(&amend).code, Some(0));
    assert_eq!(points("amended", 1), [2, 2, 2, 2, 1, 2]);
    assert_eq!(bench.ask(&["verify", "small"]).code, Some(0), "scores are part of what is checked");
}

#[test]
fn the_report_says_what_people_decided() {
    let asks = "if [ -e \"$(dirname $0)/asked\" ]; then verdict \"$good\"; else verdict \"$good\" \
                true ',\"question\":\"is 1 right?\"'; fi";
    let bench = Bench::new(TWO, WORK, asks);
    let engine = bench.engine();
    let args = ["run", "small", "--worker", &engine, "--verifier", &engine, "--format", "json"];
    bench.stop_when(&args, |line| line.contains("\"kind\":\"dispatched\""));
    let old = event(&bench, "opened")["contract"]["hash"].as_str().expect("a hash").to_string();
    let waiver =
        "risk = \"MEDIUM\"\nwaivers = [{ law = \"IL-4\", by = \"Ada\", why = \"a spike\" }]";
    bench.edit("risk = \"MEDIUM\"", waiver);
    let amended = bench.ask(&["amend", "small", "--by", "Grace", "--why", "too strict"]);
    assert_eq!(amended.code, Some(0), "{}", amended.err);
    let new = event(&bench, "amended")["contract"]["hash"].as_str().expect("a hash").to_string();
    let waiting = bench.ask(&args);
    assert_eq!(waiting.code, Some(2), "{}{}", waiting.out, waiting.err);
    bench.write(".assay/desk/small/asked", "");
    let ended = bench.ask(&["resume", "small", "--answer", "it is", "--by", "Edsger"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    let report = bench.ask(&["report", "small"]).out;
    for row in [
        format!("| Grace | amended the contract | too strict | `{old}` | `{new}` |"),
        format!("| Ada | waived IL-4 for US-001 | a spike |  | `{new}` |"),
        "| Edsger | answered “is 1 right?” | it is |".to_string(),
    ] {
        assert!(report.contains(&row), "{row}\n{report}");
    }
}

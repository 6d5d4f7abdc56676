//! Commands for programs, commands about records that are broken, and documents of others.

use super::{Bench, USUAL, Wish, files};

const WORK: &str = "work; commit; sign";
const JUDGE: &str = "verdict \"$good\"";
const PATIENT: Wish = Wish { limits: "iterations = 3\nidle_seconds = 60", ..USUAL };

/// The last line of a command, which is one JSON object.
fn json(bench: &Bench, args: &[&str]) -> serde_json::Value {
    let asked = bench.ask(&[args, &["--format", "json"]].concat());
    assert_eq!(asked.code, Some(0), "{args:?}: {}{}", asked.out, asked.err);
    for line in asked.out.lines() {
        let value = serde_json::from_str::<serde_json::Value>(line);
        assert!(value.is_ok(), "{args:?}: every line is an object: {line}");
    }
    let last = asked.out.lines().last().expect("a line");
    serde_json::from_str(last).expect("an object")
}

#[test]
fn every_command_speaks_to_programs() {
    let bench = Bench::new(PATIENT, WORK, JUDGE);
    let written = json(&bench, &["new", "fresh"])["written"].clone();
    assert!(written.as_str().is_some_and(|path| path.ends_with("fresh/contract.md")), "{written}");
    let engine = bench.engine();
    let args = ["run", "small", "--worker", &engine, "--verifier", &engine, "--format", "json"];
    bench.stop_when(&args, |line| line.contains("\"kind\":\"dispatched\""));
    bench.edit("reader sees 1", "reader sees the number 1");
    let amended = json(&bench, &["amend", "small", "--by", "me", "--why", "so"]);
    assert_eq!(amended["by"], "me");
    assert!(amended["old"] != amended["new"] && amended["new"].is_string(), "{amended}");
    assert_eq!(amended["scores"].as_array().map(Vec::len), Some(1), "{amended}");
    let aborted = json(&bench, &["abort", "small", "--why", "enough"]);
    assert_eq!((&aborted["phase"], &aborted["why"]), (&"ABORTED".into(), &"enough".into()));
    let report = json(&bench, &["report", "small"]);
    assert!(report["markdown"].as_str().is_some_and(|t| t.contains("**ABORTED**")), "{report}");
    let page = json(&bench, &["report", "small", "--html", "page.html"]);
    assert_eq!(page["written"][0], "page.html");
    let cleaned = json(&bench, &["clean", "small"]);
    assert!(cleaned["put_aside"].is_string(), "{cleaned}");
    let demo = json(&bench, &["demo"]);
    assert_eq!((&demo["upheld"], &demo["lying"]), (&true.into(), &false.into()));
}

#[test]
fn a_question_and_its_answer_are_told_to_programs() {
    let asks = "if [ -e \"$(dirname $0)/asked\" ]; then verdict \"$good\"; else verdict \"$good\" \
                true ',\"question\":\"is 1 right?\"'; fi";
    let bench = Bench::new(PATIENT, WORK, asks);
    let engine = bench.engine();
    let args = ["run", "small", "--worker", &engine, "--verifier", &engine];
    let resume = ["resume", "small", "--answer", "it is", "--by", "Edsger"];
    let early = bench.ask(&[&resume[..], &["--format", "json"]].concat());
    assert_eq!((early.code, early.out.as_str()), (Some(64), ""), "{}", early.err);
    assert_eq!(bench.ask(&args).code, Some(2));
    bench.write(".assay/desk/small/asked", "");
    let last = json(&bench, &resume);
    assert_eq!(last["event"]["kind"], "ended", "{last}");
    assert_eq!(bench.status()["phase"], "COMPLETE", "{last}");
    let log = bench.ask(&["log", "small", "--format", "json"]).out;
    let said = log.lines().find(|line| line.contains("\"kind\":\"answered\"")).expect("an answer");
    assert!(said.contains("Edsger") && said.contains("it is"), "{said}");
}

#[test]
fn the_help_names_every_command() {
    let bench = Bench::new(USUAL, WORK, JUDGE);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_assay"));
    let help = super::Ended::of(command.arg("--help").output().expect("assay runs"));
    let line = help.out.replace('\n', " ");
    let own = bench.ask(&["--help"]);
    let names = own.out.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let named: Vec<&str> = names.filter(|n| !n.is_empty() && !n.starts_with('-')).collect();
    assert!(named.contains(&"abort") && named.len() >= 14, "{named:?}");
    for name in named.iter().filter(|name| **name != "help") {
        assert!(
            line.contains(&format!(" {name},")) || line.contains(&format!(" {name} ")),
            "{name}"
        );
    }
}

#[test]
fn a_broken_record_is_not_listed_as_one_that_was_not_begun() {
    let bench = Bench::new(USUAL, WORK, JUDGE);
    assert!(bench.ask(&["list"]).out.contains("not begun"));
    assert_eq!(bench.run(&[]).code, Some(0));
    let ledger = bench.root.join(".assay/desk/small/ledger");
    for path in files(&ledger).iter().filter(|path| path.extension().is_some_and(|e| e == "sqlite"))
    {
        let mut bytes = std::fs::read(path).expect("a file");
        bytes.truncate(100);
        std::fs::write(path, bytes).expect("a file");
    }
    for path in files(&ledger).iter().filter(|p| p.to_string_lossy().contains("-wal")) {
        std::fs::remove_file(path).expect("a file");
    }
    let listed = bench.ask(&["list"]);
    assert_eq!(listed.code, Some(0), "{}", listed.err);
    let says = listed.out.contains("BROKEN") && listed.out.contains("assay desk verify small");
    assert!(says && !listed.out.contains("not begun"), "{}", listed.out);
    let listed = bench.ask(&["list", "--format", "json"]);
    assert!(listed.out.contains("\"phase\":\"BROKEN\""), "{}", listed.out);
}

#[test]
fn a_command_may_stand_twice_with_and_without_its_tests_counted() {
    let bench = Bench::new(
        PATIENT,
        WORK,
        "verdict '{\"command\":[\"sh\",\"t/all\"],\"exit_code\":0,\
                           \"passed\":6}'",
    );
    let twice = "commands = [{ run = [\"sh\", \"t/all\"] }, { run = [\"sh\", \"t/all\"]";
    bench.edit("commands = [{ run = [\"sh\", \"t/all\"]", twice);
    let ended = bench.run(&[]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    let verified = bench.ask(&["verify", "small"]);
    assert_eq!(verified.code, Some(0), "{}{}", verified.out, verified.err);
}

#[test]
fn what_documents_of_others_do_not_say_is_a_gap_that_lint_names() {
    let bench = Bench::new(USUAL, WORK, JUDGE);
    bench.write(
        "prd.md",
        "# PRD: fruit\n## Objective\nTotals.\n## User Stories\n### US-001: Total\n- Risk: HIGH\n- \
         **AC1**:\n  - Given: a shopper\n  - When: the shopper asks\n  - Then: the shopper sees \
         4\n",
    );
    let imported = bench.ask(&["import", "prd.md"]);
    assert_eq!(imported.code, Some(0), "{}", imported.err);
    for gap in ["tests:", "suite:", "results:", "agents:", "paths:", "L3:", "L2, L4:"] {
        assert!(imported.out.contains(&format!("open     {gap}")), "{gap} {}", imported.out);
    }
    let path = ".assay/desk/fruit/contract.md";
    let text = std::fs::read_to_string(bench.root.join(path)).expect("a contract");
    for guess in ["pytest\"", "src/**", "\"true\"", "\"false\"", "claude", "tests/**"] {
        assert!(!text.contains(guess), "{guess} was guessed: {text}");
    }
    let refused = bench.ask(&["lint", "fruit"]);
    assert_eq!(refused.code, Some(65), "{}{}", refused.out, refused.err);
    for words in [
        "suite: `run` names no program",
        "the suite has no `results`",
        "`tests` is empty",
        "`paths` is empty",
        "US-001/L1: one command needs `results`",
        "US-001/L3: `commands` is empty",
        "US-001/L3: end to end means",
        "US-001/L4 is missing",
    ] {
        assert!(refused.err.contains(words), "{words}: {}", refused.err);
    }
    assert_eq!(bench.ask(&["run", "fruit"]).code, Some(65), "and it is not run");
    let spec = "### Test\n```\nsh t/all\n```\n| US-001 | AC1 | t/1 :: prints | L1 |\n";
    bench.write("spec.md", spec);
    bench.write("prd.md", "# PRD: nuts\n## Objective\nX.\n### US-001: Total\n- AC1: Given a\n");
    assert_eq!(bench.ask(&["import", "prd.md", "spec.md", "--format", "json"]).code, Some(0));
    let refused = bench.ask(&["lint", "nuts"]);
    assert_eq!(refused.code, Some(65), "{}{}", refused.out, refused.err);
    assert!(refused.err.contains("unknown variant"), "no risk and no category: {}", refused.err);
}

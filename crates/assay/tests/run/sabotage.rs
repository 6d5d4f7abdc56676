//! The harness, broken on purpose: each mistake that makes a green run worthless has to cost the
//! pass, for the reason the rules of docs/verdicts.md give.

use crate::support::{cut_off_plan, replaced, run, scratch, text, write};
use assay_runner::sabotage::Sabotage;
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};

#[path = "../../../assay-report/tests/webdriver/mod.rs"]
mod webdriver;

/// A mistake, the verdict it must lead to, and words of the sentence that says why.
type Row = (Sabotage, &'static str, &'static [&'static str]);

const ROWS: [Row; 7] = [
    (
        Sabotage::ProxyBypassed,
        "INCONCLUSIVE-fault-not-proven",
        &["the proxies were bypassed", "was reached by", "without the proxy"],
    ),
    (
        Sabotage::WindowNeverOpens,
        "INCONCLUSIVE-fault-not-proven",
        &["leader-iso-1 of leader was never injected", "over before it could begin"],
    ),
    (
        Sabotage::InjectorMisses,
        "INCONCLUSIVE-fault-not-proven",
        &["the fault is not proven to have landed", "chunks dropped 0 → 0 → 0"],
    ),
    (
        Sabotage::CheckerAlwaysPasses,
        "INCONCLUSIVE-oracle-too-weak",
        &["the checker caught 0 of", "planted anomalies"],
    ),
    (
        Sabotage::RecorderDropsTimeouts,
        "PARTIAL-surface",
        &["red flag 2", "3 of 3 cycles judged", "operations recorded"],
    ),
    (
        Sabotage::GeneratorStopsEarly,
        "INCONCLUSIVE-oracle-too-weak",
        &["red flag 1 (raised", "operations a second"],
    ),
    (
        Sabotage::ClockJumps,
        "INCONCLUSIVE-oracle-too-weak",
        &["a clock that never jumps", "jumps were seen"],
    ),
];

/// Runs the plan with a mistake; its problems, if there are any.
fn tried((sabotage, verdict, words): &Row) -> Vec<String> {
    let directory = scratch();
    let plan = write(directory.path(), "plan.md", &cut_off_plan());
    let root = directory.path().join("run");
    let name = sabotage.name();
    let arguments = ["run", text(&plan), "--directory", text(&root), "--format", "json"];
    let ended = run(&[&arguments[..], &["--sabotage", name]].concat());
    if ended.out.is_empty() {
        return vec![format!("{name}: {ended:#?}")];
    }
    let scenario = &ended.json()["scenarios"][0];
    let mut problems = Vec::new();
    if scenario["verdict"] != *verdict {
        problems.push(format!("{name}: {scenario:#} instead of {verdict}"));
    }
    let sentence = scenario["sentence"].as_str().unwrap_or_default();
    for missing in words.iter().filter(|words| !sentence.contains(**words)) {
        problems.push(format!("{name}: `{missing}` is not in: {sentence}"));
    }
    if *sabotage == Sabotage::CheckerAlwaysPasses {
        problems.extend(calibration_that_saw_something(&root));
    }
    if ended.code != Some(2) {
        problems.push(format!("{name}: exit {:?}", ended.code));
    }
    problems
}

/// A checker that always passes is found out by planted anomalies alone, each of which it was
/// asked about: what calibration of such a run says it caught.
fn calibration_that_saw_something(root: &std::path::Path) -> Option<String> {
    let trial = root.join("artifacts/S1/hardening-seed-1/trial.json");
    let trial = std::fs::read_to_string(trial).expect("the record of a trial");
    let trial: serde_json::Value = serde_json::from_str(&trial).expect("JSON");
    let rows = trial["sharpness"]["rows"].as_array().expect("rows");
    let asked = |row: &&serde_json::Value| row["certain"].as_u64() > Some(0);
    let caught = |row: &serde_json::Value| row["caught"] != 0 || row["certain_caught"] != 0;
    let fine = rows.iter().any(|row| asked(&row)) && !rows.iter().any(caught);
    (!fine).then(|| format!("calibration of a checker that always passes: {rows:#?}"))
}

#[test]
fn every_mistake_of_the_harness_costs_the_pass_for_its_own_reason() {
    let rows: Vec<Sabotage> = ROWS.iter().map(|(sabotage, ..)| *sabotage).collect();
    assert!(Sabotage::ALL.iter().all(|(sabotage, ..)| rows.contains(sabotage)), "one has no row");
    // Two at a time: a run waits more than it works, and a machine with more to do than it can
    // is another test.
    let next = AtomicUsize::new(0);
    let problems: Vec<String> = std::thread::scope(|scope| {
        let worker = || {
            let mut problems = Vec::new();
            while let Some(row) = ROWS.get(next.fetch_add(1, Ordering::Relaxed)) {
                problems.extend(tried(row));
            }
            problems
        };
        let workers = [scope.spawn(worker), scope.spawn(worker)];
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
    });
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn without_a_mistake_the_same_plan_passes_and_its_report_shows_what_was_recorded() {
    let directory = scratch();
    let plan = write(directory.path(), "plan.md", &cut_off_plan());
    let root = directory.path().join("run");
    let ended = run(&["run", text(&plan), "--directory", text(&root), "--format", "json"]);
    let result = ended.json();
    assert_eq!(result["scenarios"][0]["verdict"], "PASS-hardening", "{result:#}");
    assert_eq!((&result["verdict"], ended.code), (&json!("DONE"), Some(0)), "{result:#}");

    let trial = root.join("artifacts/S1/smoke-seed-1/trial.json");
    let trial = std::fs::read_to_string(trial).expect("the record of a trial");
    let trial: serde_json::Value = serde_json::from_str(&trial).expect("JSON");
    let browser = webdriver::Browser::start(&directory.path().join("profile"), 1300, 900);
    browser.open(&root.join("report.html"));
    browser.wait_for("document.documentElement.dataset.script === 'ready'");
    browser.run("document.querySelector('[data-viewer=S1]').scrollIntoView()", json!([]));
    browser.wait_for("document.querySelector('[data-viewer=S1]').dataset.state === 'ready'");
    let shown = browser
        .run("return Number(document.querySelector('[data-viewer=S1]').dataset.ops)", json!([]));
    assert_eq!(shown.as_u64(), trial["operations"]["recorded"].as_u64(), "operations on screen");
    let page = browser.run("return document.body.innerText", json!([]));
    let page = page.as_str().expect("a text");
    for window in trial["windows"].as_array().expect("windows") {
        let (id, target) = (window["id"].as_str(), window["target"].as_str());
        let label = format!(
            "{}: {} of {}",
            id.expect("a name"),
            window["fault"].as_str().expect("a fault"),
            target.expect("a target")
        );
        assert!(page.contains(&label), "{label} is not on the page:\n{page}");
    }
    assert!(page.contains("PASS-hardening"), "{page}");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

/// Clients that wait for answers have no rate to fall short of: that they stopped is known by their
/// silence.
#[test]
fn a_generator_that_stops_early_is_noticed_where_it_has_no_rate() {
    let directory = scratch();
    let plan = replaced(&cut_off_plan(), "rate = 100\n", "");
    let plan = write(directory.path(), "plan.md", &plan);
    let root = directory.path().join("run");
    let words = ["run", text(&plan), "--directory", text(&root), "--format", "json"];
    let ended = run(&[&words[..], &["--sabotage", "generator-stops-early"]].concat());
    let scenario = &ended.json()["scenarios"][0];
    assert_eq!(scenario["verdict"], "INCONCLUSIVE-oracle-too-weak", "{scenario:#}");
    let sentence = scenario["sentence"].as_str().unwrap_or_default();
    for words in ["red flag 1 (raised", "a client had been silent for"] {
        assert!(sentence.contains(words), "`{words}` is not in: {sentence}");
    }
}

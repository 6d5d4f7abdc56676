//! Text from outside stays text, wherever it stands.

use crate::views;
use assay_report::run::{OpRow, OpTable, page, read};
use serde_json::Value;

/// Wants to end an element, an attribute, a comment and a script, and to turn the line around.
const EVIL: &str = "\"'></script></style><img src=x onerror=alert(1)><!--\u{202e}\u{0}\u{1b}[2J&";

/// Makes every text of a value hostile, except the ids and words the format checks.
fn poison(value: &mut Value) {
    const CHECKED: [&str; 24] = [
        "format",
        "expect",
        "id",
        "verdict",
        "at",
        "scenario",
        "hypothesis",
        "claim",
        "claims",
        "exercised_by",
        "delta",
        "kind",
        "presence",
        "blame",
        "class",
        "tags",
        "severity",
        "started",
        "ended",
        "discovered_at",
        "state",
        "fault",
        "measured",
        "facts",
    ];
    match value {
        Value::String(text) => *text = format!("{text}{EVIL}"),
        Value::Array(all) => all.iter_mut().for_each(poison),
        Value::Object(all) => {
            let open = all.iter_mut().filter(|(name, _)| !CHECKED.contains(&name.as_str()));
            open.for_each(|(_, each)| poison(each));
        }
        _ => {}
    }
}

#[test]
fn no_text_of_a_record_becomes_markup() {
    let mut view = views::everything(50);
    let mut value = serde_json::to_value(&view.record).expect("a record is JSON");
    poison(&mut value);
    view.record = read(&value.to_string()).expect("only free texts were changed");
    view.findings[0].witness[0] += EVIL;
    view.findings[0].picture += EVIL;
    view.findings[0].reruns[0].changed += EVIL;
    view.findings[0].reruns[0].says += EVIL;
    for trial in &mut view.trials {
        trial.purpose += EVIL;
        trial.windows[0].label += EVIL;
        trial.windows[0].injector.what += EVIL;
        trial.marks.iter_mut().for_each(|mark| mark.title += EVIL);
        let mut ops = OpTable::default();
        let (process, kind, key, node) = (EVIL, EVIL, EVIL, EVIL);
        let row = OpRow { process, kind, key, node, epoch: EVIL, input: EVIL, ..OpRow::default() };
        (0..50).for_each(|_| assert!(ops.push(&row) < 50));
        trial.ops = ops;
    }
    let html = page(&view).unwrap_or_else(|refusals| panic!("{:#?}", refusals.0));
    let clean = page(&views::everything(50)).expect("the example can be reported");
    for tag in ["<script", "</script", "</style", "<img", "<!--", "onerror=alert(1)>"] {
        assert_eq!(html.matches(tag).count(), clean.matches(tag).count(), "{tag}");
    }
    assert!(html.contains("&lt;img") || html.contains("&#60;img"), "the text itself is shown");
    assert!(!html.contains(['\u{202e}', '\u{0}', '\u{1b}']));
}

#[test]
fn huge_names_are_cut() {
    let mut view = views::one_trial(10);
    let huge = "x".repeat(2 << 20);
    view.record.sut = huge.clone();
    view.record.scenarios[0].name = huge.clone();
    view.record.findings[0].what_happened = huge.clone();
    view.trials[0].purpose = huge.clone();
    view.trials[0].windows[0].label = huge;
    let html = page(&view).expect("length is no reason to refuse");
    assert!(html.len() < 1 << 20, "{} bytes", html.len());
}

#[test]
fn strange_trials_do_not_disturb() {
    let mut view = views::one_trial(0);
    view.trials[0].duration_ns = u64::MAX;
    view.trials[0].windows[0].end_ns = Some(0);
    view.trials[0].marks[0].op = usize::MAX;
    assert!(page(&view).is_ok());
    let late = OpRow { late_ns: Some(u64::MAX), start_ns: u64::MAX, ..OpRow::default() };
    view.trials[0].ops.push(&late);
    assert!(page(&view).is_ok());
}

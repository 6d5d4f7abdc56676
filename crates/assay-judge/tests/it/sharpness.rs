//! Planted anomalies: what counts, and what is only shown.

use crate::support::{appends, limits, panel, register};
use assay_history::History;
use assay_judge::{Limits, Sharpness, SharpnessRow};
use assay_oracle::sketch;
use assay_verdict::{Calibration, Sharpness as Sharp};
use serde_json::json;
use std::time::Duration;

/// The kinds of which something certain was planted.
fn certain(sharpness: &Sharpness) -> Vec<&str> {
    let rows = sharpness.rows.iter().filter(|row| row.certain > 0);
    rows.map(|row| row.kind.as_str()).collect()
}

/// Everything that is wrong by construction is seen; that also checks the arguments behind it.
fn check(name: &str, history: &History, kinds: &[&str]) {
    let sharpness = panel(&[name], json!({})).calibrate(history, 10, 7, &limits());
    assert_eq!(sharpness.verdict().sharpness(), Sharp::Sharp, "{name}: {sharpness:#?}");
    assert_eq!(certain(&sharpness), kinds, "{name}: {sharpness:#?}");
    assert!(sharpness.cut.is_empty() && sharpness.notes.is_empty(), "{name}: {sharpness:#?}");
    serde_json::to_value(&sharpness).expect("it goes into a record");
}

#[test]
fn a_good_history_makes_each_family_sharp() {
    let all = ["stale-read", "lost-write", "impossible-value", "reordered-effect", "double-effect"];
    check("linearizability:register", &register(5_000, true), &all);
    let all = ["stale-read", "phantom", "aborted-read", "reordered", "lost-write", "duplicate"];
    check("list-append", &appends(300), &all);
}

/// Lines of a history, from a template with `$` for the number of the round.
fn rounds(count: usize, template: &str, end: &str) -> History {
    let lines: Vec<String> =
        (0..count).map(|i| template.replace('$', &(i + 1).to_string())).collect();
    sketch(&format!("{}\n{end}", lines.join("\n")))
}

#[test]
fn every_model_and_the_usual_oracles_have_something_certain_to_plant() {
    let list = |n: usize| (1..=n).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
    let whole = format!("0 final - - ok [{}]", list(20));
    let put_and_take = "0 enqueue q $ ok\n1 dequeue q - ok $";
    let adds = "0 add s $ ok";
    let reads = format!("1 read s - ok [{0}]\n2 read s - ok [{0}]", list(20));
    let counted = "0 add c 1 ok\n1 read c - ok $";
    let logged = format!("1 read s - ok [{0}]\n2 read s - ok [{0}]", list(20));
    let locked = "0 acquire l - ok\n0 release l - ok\n1 acquire l - ok\n1 release l - ok";
    let session = "0 write x $ ok rev=$\n0 read x - ok $ rev=$";
    let streamed = "0 send q $ ok\n1 consume q - ok $";
    let kinds = |name: &str, history: History| {
        let sharpness = panel(&[name], json!({})).calibrate(&history, 10, 3, &limits());
        assert_eq!(sharpness.verdict().sharpness(), Sharp::Sharp, "{name}: {sharpness:#?}");
        certain(&sharpness).into_iter().map(str::to_string).collect::<Vec<_>>().join(" ")
    };
    #[rustfmt::skip]
    let rows = [
        ("linearizability:queue", rounds(20, put_and_take, ""),
            "stale-read lost-write impossible-value reordered-effect double-effect"),
        ("linearizability:stack", rounds(20, "0 push q $ ok\n1 pop q - ok $", ""),
            "stale-read lost-write impossible-value reordered-effect double-effect"),
        ("linearizability:set", rounds(20, adds, &reads), "lost-write impossible-value"),
        ("linearizability:counter", rounds(20, counted, ""),
            "stale-read lost-write impossible-value reordered-effect double-effect"),
        ("linearizability:log", rounds(20, "0 append s $ ok", &logged),
            "lost-write impossible-value double-effect"),
        ("linearizability:mutex", rounds(20, locked, ""), "impossible-value double-effect"),
        ("no-lost-ack", rounds(20, "0 add - $ ok", &whole), "lost-ack"),
        ("no-lost-ack", rounds(20, "0 write x $ ok", r#"1 dump - - ok {"x":20}"#), "rolled-back"),
        ("order", rounds(20, streamed, ""), "reordered duplicate inserted"),
        ("fifo-producer", rounds(20, streamed, ""), "reordered duplicate phantom"),
        ("set", rounds(20, adds, &reads), "lost phantom"),
        ("log", rounds(20, "0 append s $ ok", &logged), "truncated divergence"),
        ("lock", rounds(20, locked, ""), "two-holders"),
        ("read-your-writes", rounds(20, session, ""), "stale-read"),
        ("monotonic-reads", rounds(20, session, ""), "stale-read"),
        ("ledger", rounds(20, "0 credit a 1 ok\n0 balance a - ok $", ""), "wrong-balance"),
    ];
    for (name, history, expected) in rows {
        assert_eq!(kinds(name, history), expected, "{name}");
    }
}

#[test]
fn what_may_be_no_anomaly_is_shown_and_not_counted() {
    // Every write overlaps every read: an older value may still be the last.
    let mut text = String::new();
    for i in 1..=6 {
        text += &format!("{i} write x {i} ok @0..1000\n");
    }
    text += "8 read x - ok 1 @1..999\n9 read x - ok 2 @1..999\n8 read x - ok 3 @1000..1001";
    let sharpness =
        panel(&["linearizability:register"], json!({})).calibrate(&sketch(&text), 10, 1, &limits());
    let lost = sharpness.rows.iter().find(|row| row.kind == "double-effect").expect("a row");
    assert!(lost.certain < lost.planted || lost.planted == 0, "{sharpness:#?}");
    // The write that the final state loses timed out: nobody promised it.
    let unsure =
        sketch("0 add - 1 unknown\n0 add - 2 unknown\n1 add - 9 ok\n0 final - - ok [1,2,9]");
    let sharpness = panel(&["no-lost-ack"], json!({})).calibrate(&unsure, 20, 1, &limits());
    let row = &sharpness.rows[0];
    assert!(row.certain < row.planted && row.certain == row.certain_caught, "{row:?}");
    assert_eq!(sharpness.verdict().sharpness(), Sharp::Sharp);
    // Writes side by side: the older value of the key may have been the last.
    let side_by_side = r#"0 write x 1 ok @0..9
        1 write x 2 ok @0..9
        2 dump - - ok {"x":2} @20..30"#;
    let sharpness =
        panel(&["no-lost-ack"], json!({})).calibrate(&sketch(side_by_side), 20, 1, &limits());
    let row = sharpness.rows.iter().find(|row| row.kind == "rolled-back").expect("a row");
    assert_eq!((row.planted, row.caught, row.certain), (20, 0, 0));
}

#[test]
fn replicas_with_a_declared_window_are_at_rest_although_a_write_timed_out() {
    let text = r#"0 write x 1 unknown @0..5
        2 dump - - ok {"x":1} @100..110 node=n1
        2 dump - - ok {"x":1} @111..120 node=n2"#;
    for (options, expected) in [(json!({}), 0), (json!({ "settle": "20ns" }), 10)] {
        let sharpness = panel(&["replicas"], options).calibrate(&sketch(text), 10, 1, &limits());
        assert_eq!(sharpness.rows[0].certain, expected, "{sharpness:#?}");
        assert_eq!(sharpness.rows[0].certain_caught, expected, "{sharpness:#?}");
    }
}

#[test]
fn what_consumers_were_handed_must_still_be_among_the_effects() {
    let queue = r#"0 enqueue q {"id":"a"} ok
        0 enqueue q {"id":"b"} ok
        1 dequeue q - ok {"id":"a"}
        2 dump q - ok [{"id":"a"},{"id":"b"}]"#;
    let panel = panel(&["at-least-once"], json!({ "business-key": "id" }));
    let sharpness = panel.calibrate(&sketch(queue), 10, 1, &limits());
    let row = &sharpness.rows[0];
    assert_eq!((row.kind.as_str(), row.certain, row.certain_caught), ("missing-effect", 10, 10));
}

#[test]
fn a_history_without_reads_shows_nothing_and_says_so() {
    let sharpness = panel(&["linearizability:register"], json!({})).calibrate(
        &register(500, false),
        10,
        1,
        &limits(),
    );
    assert_eq!(sharpness.verdict(), Calibration::NotDone);
    assert_eq!(sharpness.verdict().sharpness(), Sharp::Untried);
    assert!(sharpness.notes[0].contains("offers no place"), "{sharpness:?}");
}

#[test]
fn a_refuted_history_calibrates_nobody_and_no_checker_stands_in_for_another() {
    let names = ["linearizability:register", "no-lost-ack"];
    let bad = sketch("0 write x 1 ok\n0 write x 2 ok\n1 read x - ok 1");
    let sharpness = panel(&names, json!({})).calibrate(&bad, 5, 1, &limits());
    assert_eq!(sharpness.verdict(), Calibration::NotDone);
    assert!(sharpness.notes[0].contains("refuted on the history itself"), "{sharpness:?}");
    // The register checker is sharp; of the other nothing is known.
    let sharpness = panel(&names, json!({})).calibrate(&register(200, true), 5, 1, &limits());
    assert!(sharpness.rows.iter().any(|row| row.certain > 0));
    assert_eq!(sharpness.verdict(), Calibration::NotDone, "{sharpness:#?}");
}

#[test]
fn what_a_checker_caught_counts_where_nothing_was_certain() {
    let row = |checker: &str, [planted, caught, certain, certain_caught]: [u64; 4]| SharpnessRow {
        checker: checker.to_string(),
        kind: "lost-ack".to_string(),
        planted,
        caught,
        certain,
        certain_caught,
    };
    let done = |planted, caught| Calibration::Done { planted, caught };
    let rows = [
        (vec![row("a", [10, 10, 10, 10]), row("b", [10, 9, 0, 0])], done(19, 19)),
        (vec![row("a", [10, 10, 10, 9]), row("b", [10, 10, 0, 0])], done(20, 19)),
        (vec![row("a", [10, 10, 10, 10]), row("b", [10, 0, 0, 0])], Calibration::NotDone),
        (vec![row("a", [10, 10, 4, 4]), row("a", [9, 2, 0, 0])], done(4, 4)),
    ];
    for (rows, wanted) in rows {
        let (cut, notes) = (Vec::new(), Vec::new());
        let sharpness = Sharpness { seed: 1, asked: 10, rows, cut, notes };
        assert_eq!(sharpness.verdict(), wanted, "{sharpness:#?}");
    }
}

#[test]
fn the_same_seed_plants_the_same() {
    let (panel, history) = (panel(&["linearizability:register"], json!({})), register(400, true));
    let once = panel.calibrate(&history, 6, 42, &limits());
    assert_eq!(once, panel.calibrate(&history, 6, 42, &limits()));
}

#[test]
fn when_the_time_is_up_calibration_ends_and_says_so() {
    let short = Limits { time: Duration::from_millis(1), ..limits() };
    let panel = panel(&["linearizability:register"], json!({}));
    let sharpness = panel.calibrate(&register(100_000, true), u32::MAX, 1, &short);
    assert!(!sharpness.cut.is_empty() || !sharpness.notes.is_empty(), "{sharpness:?}");
}

#[test]
fn a_panel_that_upholds_everything_is_found_out_by_its_calibration() {
    let bad = sketch("0 write x 1 ok\n0 write x 2 ok\n1 read x - ok 1");
    let blind = |name: &str| panel(&[name], json!({})).blinded();
    let judged = blind("linearizability:register").judge(&bad, &limits());
    assert_eq!(judged.outcome, assay_verdict::Outcome::Upheld, "it is blind");
    assert_eq!((judged.anomalies.len(), judged.anomalies_total), (0, 0));
    let whole = "0 final - - ok [1,2,3,4,5,6,7,8,9,10]";
    #[rustfmt::skip]
    let rows = [
        ("linearizability:register", register(400, true)),
        ("list-append", appends(100)),
        ("no-lost-ack", rounds(10, "0 add - $ ok", whole)),
    ];
    for (name, history) in rows {
        let sharpness = blind(name).calibrate(&history, 5, 1, &limits());
        assert_eq!(sharpness.verdict().sharpness(), Sharp::Blind, "{name}: {sharpness:#?}");
        assert!(sharpness.rows.iter().all(|row| row.caught == 0), "{name}: {sharpness:#?}");
        let seeing = panel(&[name], json!({})).calibrate(&history, 5, 1, &limits());
        assert_eq!(seeing.verdict().sharpness(), Sharp::Sharp, "{name}: {seeing:#?}");
    }
}

#[test]
fn checkers_of_the_final_state_ask_for_rest_and_others_do_not() {
    let names = ["linearizability:register", "no-lost-ack", "monotonic-reads", "replicas"];
    assert_eq!(panel(&names, json!({})).needing_rest(), ["no-lost-ack", "replicas"]);
}

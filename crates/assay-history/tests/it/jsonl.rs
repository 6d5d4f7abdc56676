//! Assay's own JSON lines.

use crate::common::{briefs, error_of, op, read_text, row};
use assay_history::{Clock, Order, Outcome};

fn invoke(id: &str, ts: i64) -> String {
    format!(
        "{{\"event\":\"invoke\",\"op_id\":{id},\"process_id\":0,\"invoke_ts\":{ts},\
         \"op_type\":\"read\"}}\n"
    )
}

fn complete(id: &str, ts: i64) -> String {
    format!("{{\"event\":\"complete\",\"op_id\":{id},\"complete_ts\":{ts},\"output\":7}}\n")
}

#[test]
fn pairs_and_rows_give_the_same_operations() {
    let pairs = invoke("1", 10) + &invoke("2", 11) + &complete("2", 12) + &complete("1", 13);
    let history = read_text(&pairs);
    assert_eq!(briefs(&history), ["0 read null null -> ok 7 null"; 2]);
    assert_eq!((op(&history, 0).invoke_ts, op(&history, 0).complete_ts), (10, Some(13)));
    assert_eq!((op(&history, 1).invoke_at, op(&history, 1).complete_at), (2, 3));
    let rows = row(&[("op_type", "\"read\""), ("key", "null"), ("input", "null"), ("output", "7")]);
    assert_eq!(briefs(&read_text(&rows)), ["0 read null null -> ok 7 null"]);
}

#[test]
fn outcomes_follow_marker_then_error() {
    let cases = [
        (vec![], Outcome::Ok),
        (vec![("error", "\"refused\"")], Outcome::Fail),
        (vec![("timeout_marker", "true")], Outcome::Unknown),
        (vec![("timeout_marker", "true"), ("error", "\"reset\"")], Outcome::Unknown),
        (vec![("timeout_marker", "null")], Outcome::Ok),
    ];
    for (change, outcome) in cases {
        assert_eq!(op(&read_text(&row(&change)), 0).outcome(), outcome, "{change:?}");
    }
    assert_eq!(op(&read_text(&invoke("1", 1)), 0).outcome(), Outcome::Unknown, "never completed");
}

#[test]
fn header_faults_footer_revisions_and_due_times_are_kept() {
    let text =
        "{\"event\":\"header\",\"format\":\"assay-history\",\"version\":1,\"clock\":\"wall\",\
                \"time_unit\":\"ns\",\"pipelined\":true,\"note\":\"hm\"}\n\
                {\"event\":\"fault\",\"fault_epoch\":1,\"start_ts\":5,\"end_ts\":9}\n"
            .to_string()
            + &row(&[("revision", "42")])
            + &row(&[("op_id", "2"), ("due_ts", "-7")])
            + "{\"event\":\"footer\",\"sent\":3,\"recorded\":2}\n";
    let history = read_text(&text);
    let meta = &history.meta;
    assert_eq!((meta.clock, meta.order, meta.pipelined), (Clock::Wall, Order::Timestamps, true));
    assert_eq!((meta.sent, meta.recorded, meta.native), (Some(3), Some(2), true));
    assert_eq!((meta.fault_windows[0].start_ts, meta.fault_windows[0].end_ts), (5, 9));
    assert_eq!(meta.fields_ignored, [("note".to_string(), 1)]);
    assert_eq!(history.revision(op(&history, 0).index), Some(42));
    assert_eq!(history.revision(op(&history, 1).index), None);
    assert_eq!(history.due_ts(op(&history, 0).index), None);
    assert_eq!(history.due_ts(op(&history, 1).index), Some(-7));
    assert!(history.has_due_times() && !read_text(&row(&[])).has_due_times());
}

#[test]
fn the_order_of_fields_and_their_spacing_do_not_matter() {
    let mut text = String::new();
    for i in 0..50 {
        // Every line looks different from the one before, so no remembered shape fits.
        let pad = " ".repeat(i % 3);
        let (a, b) = (format!("\"op_id\":{pad}{i}"), format!("\"process_id\"{pad}:{i}"));
        let (a, b) = if i % 2 == 0 { (a, b) } else { (b, a) };
        let more = if i % 5 == 0 { "\"extra\":[1,{\"a\":\"}\"}]," } else { "" };
        text += &format!(
            "{{{pad}{a},{pad}{b},{more}\"op_type\":\"read\" ,\"invoke_ts\":{i},\
             \"complete_ts\":{i}}}\n"
        );
    }
    let history = read_text(&text);
    for (i, op) in history.ops().enumerate() {
        assert_eq!(history.values.as_int(op.op_id), Some(i as i64));
        assert_eq!(history.values.as_int(history.process(op.process)), Some(i as i64));
        assert_eq!((op.invoke_ts, op.complete_ts), (i as i64, Some(i as i64)));
    }
    assert_eq!(history.meta.fields_ignored, [("extra".to_string(), 10)]);
}

#[test]
fn mistakes_are_named_with_their_line() {
    let ok = row(&[]);
    let cases = [
        ("{\"op_id\":1,}\n".to_string(), 2, "expected"),
        ("{\"op_id\":1} {\"op_id\":2}\n".to_string(), 2, "end of the line"),
        ("[1]\n".to_string(), 2, "expected '{', found '['"),
        (row(&[("op_id", "-")]), 2, "\"op_id\" is missing"),
        (row(&[("process_id", "-")]), 2, "\"process_id\" is missing"),
        (row(&[("invoke_ts", "null")]), 2, "invoke_ts must not be null"),
        (row(&[("invoke_ts", "1.5")]), 2, "invoke_ts must be a whole number"),
        (row(&[("invoke_ts", "4611686018427387904")]), 2, "below 2^62"),
        (row(&[("op_type", "7")]), 2, "op_type must be a string"),
        (row(&[("timeout_marker", "1")]), 2, "timeout_marker must be"),
        (row(&[("input", "01")]), 2, "input: \"01\" is not a number"),
        (row(&[("input", "[1")]), 2, "expected ','"),
        (row(&[("input", "\"\\x\"")]), 2, "bad escape"),
        (row(&[("revision", "1.5")]), 2, "revision must be"),
        (row(&[("due_ts", "1.5")]), 2, "due_ts must be a whole number"),
        (row(&[("due_ts", "4611686018427387904")]), 2, "below 2^62"),
        (invoke("9", 5) + &complete("9", 6).replace("}", ",\"due_ts\":1}"), 3, "due_ts belongs"),
        (row(&[("event", "\"begin\"")]), 2, "unknown event \"begin\""),
        ("{\"op_id\":1,\"op_id\":2}\n".to_string(), 2, "stands twice"),
        (complete("9", 5), 2, "operation 9 completes, but it is not open"),
        (invoke("9", 5) + &invoke("9", 6), 3, "invoked again while it is still open"),
        (invoke("9", 5) + &complete("9", 6) + &complete("9", 7), 4, "not open"),
        ("{\"event\":\"header\",\"version\":2}\n".to_string(), 2, "unsupported version"),
        ("{\"event\":\"header\",\"time_unit\":\"ms\"}\n".to_string(), 2, "unsupported time_unit"),
        ("{\"event\":\"footer\",\"sent\":-1}\n".to_string(), 2, "footer"),
        ("{\"event\":\"footer\"}\n".to_string() + &ok, 3, "after the footer in line 2"),
        ("{\"event\":\"fault\",\"start_ts\":1,\"end_ts\":2}\n".to_string(), 2, "fault_epoch"),
        ("{\"event\":\"fault\",\"fault_epoch\":1,\"start_ts\":3,\"end_ts\":2}\n".into(), 2, "ends"),
    ];
    for (bad, line, message) in cases {
        let found = error_of(&format!("{ok}{bad}{}", row(&[("op_id", "77")])));
        assert!(found.0 == line && found.1.contains(message), "{bad}: {found:?}");
    }
}

#[test]
fn plain_histories_need_at_most_64_bytes_an_operation() {
    let text: String = (0..100_000)
        .map(|i| {
            let (id, time) = (i.to_string(), (i * 10).to_string());
            row(&[("op_id", &id), ("invoke_ts", &time), ("complete_ts", &time), ("key", "3")])
        })
        .collect();
    let history = read_text(&text);
    let per_op = history.heap_bytes() as f64 / history.len() as f64;
    assert!(per_op <= 64.0, "{per_op} bytes an operation");
}

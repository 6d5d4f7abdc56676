//! Each rule: a history that keeps it, one that breaks it, and the boundary between them.

use crate::common::{HEADER, footer, read_text, row};
use assay_history::{Finding, Rule, Severity, ValidateOptions, validate};

/// Rule, severity and line of every finding on a history of these lines, which get a header and a
/// footer.
fn findings(rows: &[String]) -> Vec<(Rule, Severity, Option<u64>)> {
    let text = format!("{HEADER}{}{}", rows.concat(), footer(rows.len()));
    brief(&validate(&read_text(&text), &ValidateOptions::default()))
}

fn brief(findings: &[Finding]) -> Vec<(Rule, Severity, Option<u64>)> {
    findings.iter().map(|f| (f.rule, f.severity, f.line)).collect()
}

fn op(id: &str, process: &str, begin: &str, end: &str) -> String {
    row(&[("op_id", id), ("process_id", process), ("invoke_ts", begin), ("complete_ts", end)])
}

use Rule::*;
use Severity::{Note, Unsound, Weak};

#[test]
fn a_clean_history_has_no_findings() {
    assert_eq!(findings(&[op("1", "0", "10", "20"), op("2", "0", "20", "30")]), []);
}

#[test]
fn v1_an_op_id_that_comes_twice_is_unsound() {
    let unsorted = [op("5", "0", "1", "2"), op("3", "1", "1", "2"), op("4", "2", "1", "2")];
    assert_eq!(findings(&unsorted), [], "ids need not rise");
    let twice = [op("5", "0", "1", "2"), op("3", "1", "1", "2"), op("5", "2", "1", "2")];
    assert_eq!(findings(&twice), [(V1, Unsound, Some(4))]);
    // The number 5 and the string "5" are two ids.
    assert_eq!(findings(&[op("5", "0", "1", "2"), op("\"5\"", "1", "1", "2")]), []);
}

#[test]
fn v1_says_when_the_repeat_has_another_output() {
    let text = format!(
        "{HEADER}{}{}",
        row(&[("output", "1"), ("process_id", "1")]),
        row(&[("output", "2")])
    );
    let found = validate(&read_text(&text), &ValidateOptions::default());
    assert_eq!(found[0].what, "op_id 1 stands here again with another output; line 2 has it first");
    assert!(found[0].consequence.starts_with("no checker can be sound because two operations"));
}

#[test]
fn v2_a_missing_column_weakens_or_is_noted() {
    let cases = [
        ("output", Weak),
        ("input", Weak),
        ("complete_ts", Weak),
        ("timeout_marker", Weak),
        ("key", Note),
        ("error", Note),
        ("node_seen", Note),
        ("fault_epoch", Note),
    ];
    for (column, severity) in cases {
        let rows = [row(&[(column, "-")])];
        let found = findings(&rows);
        assert!(found.contains(&(V2, severity, Some(2))), "{column}: {found:?}");
    }
    assert_eq!(findings(&[row(&[("colour", "7")])]), [(V2, Note, None)], "unknown field");
}

#[test]
fn v2_a_pair_that_never_completed_needs_only_the_columns_of_an_invocation() {
    let invoke = "{\"event\":\"invoke\",\"op_id\":1,\"process_id\":0,\"invoke_ts\":1,\
                  \"op_type\":\"read\",\"key\":null,\"input\":null,\"node_seen\":null,\
                  \"fault_epoch\":null}\n";
    assert_eq!(findings(&[invoke.to_string()]), [(V3, Note, Some(2))]);
    let lean = invoke.replace("\"input\":null,", "");
    assert_eq!(findings(&[lean]), [(V2, Weak, Some(2)), (V3, Note, Some(2))]);
}

#[test]
fn v3_an_end_without_time_needs_the_marker_and_no_output() {
    let timeout = [("complete_ts", "null"), ("timeout_marker", "true")];
    assert_eq!(findings(&[row(&timeout)]), []);
    assert_eq!(findings(&[row(&timeout[..1])]), [(V3, Unsound, Some(2))]);
    // An answer that does not tell the outcome has both a time and the marker.
    assert_eq!(findings(&[row(&[("timeout_marker", "true"), ("error", "\"reset\"")])]), []);
    let answered = row(&[("timeout_marker", "true"), ("output", "0")]);
    assert_eq!(findings(&[answered]), [(V3, Unsound, Some(2))]);
}

#[test]
fn v4_an_end_before_the_beginning_is_unsound_and_an_end_at_the_beginning_is_fine() {
    assert_eq!(findings(&[op("1", "0", "10", "10")]), []);
    assert_eq!(findings(&[op("1", "0", "10", "9")]), [(V4, Unsound, Some(2))]);
}

#[test]
fn v4_a_beginning_before_it_was_due_is_weak_and_one_at_that_time_is_fine() {
    let due = |due: &str| findings(&[row(&[("due_ts", due), ("invoke_ts", "10")])]);
    assert_eq!((due("9"), due("10")), (vec![], vec![]));
    assert_eq!(due("11"), [(V4, Weak, Some(2))]);
}

#[test]
fn v4_is_a_note_where_order_comes_from_positions() {
    let edn = "{:process 0, :type :invoke, :f :read, :value nil, :time 9}\n\
               {:process 0, :type :ok, :f :read, :value 1, :time 8}\n";
    let found = validate(&read_text(edn), &ValidateOptions::default());
    assert_eq!(brief(&found), [(V4, Note, Some(1))]);
}

#[test]
fn v5_output_and_error_exclude_each_other() {
    assert_eq!(findings(&[row(&[("output", "5")])]), []);
    assert_eq!(findings(&[row(&[("error", "\"e\"")])]), []);
    let both = row(&[("output", "false"), ("error", "0")]);
    assert_eq!(findings(&[both]), [(V5, Unsound, Some(2))]);
}

#[test]
fn v6_a_process_does_one_thing_at_a_time() {
    let (first, touching) = (op("1", "0", "10", "20"), op("2", "0", "20", "30"));
    let overlapping = op("2", "0", "19", "30");
    assert_eq!(findings(&[first.clone(), touching]), []);
    assert_eq!(findings(&[first.clone(), overlapping.clone()]), [(V6, Weak, Some(3))]);
    assert_eq!(findings(&[first.clone(), overlapping.replace("_id\":0", "_id\":1")]), []);
    // Rows may stand in any order.
    assert_eq!(findings(&[overlapping.clone(), first.clone()]), [(V6, Weak, Some(2))]);
    let text = "{\"event\":\"header\",\"clock\":\"monotonic\",\"pipelined\":true}\n".to_string()
        + &first
        + &overlapping
        + &footer(2);
    assert_eq!(validate(&read_text(&text), &ValidateOptions::default()), []);
}

#[test]
fn v6_a_client_that_gave_up_may_go_on_but_not_one_that_never_completed() {
    let timeout = row(&[("complete_ts", "null"), ("timeout_marker", "true")]);
    assert_eq!(findings(&[timeout, op("2", "0", "11", "12")]), []);
    let invoke = row(&[("event", "\"invoke\"")]);
    let found = findings(&[invoke, op("2", "0", "11", "12"), op("3", "0", "13", "14")]);
    assert_eq!(found, [(V6, Weak, Some(3)), (V3, Note, Some(2))]);
}

#[test]
fn v7_epochs_agree_with_the_windows() {
    let window = "{\"event\":\"fault\",\"fault_epoch\":\"f1\",\"start_ts\":100,\"end_ts\":200}\n";
    let later = window.replace("100", "300").replace("200", "400").replace("f1", "f2");
    let cases = [
        ("outside, without epoch", "10", "20", "null", None),
        ("outside, with epoch", "10", "20", "\"f1\"", Some(Weak)),
        ("inside, with epoch", "110", "120", "\"f1\"", None),
        ("inside, without epoch", "110", "120", "null", Some(Weak)),
        ("inside, with the other epoch", "110", "120", "\"f2\"", Some(Weak)),
        ("across, without epoch", "10", "900", "null", Some(Weak)),
        ("across both, with the second", "10", "900", "\"f2\"", None),
        ("ends as it starts, without", "10", "100", "null", None),
        ("ends as it starts, with", "10", "100", "\"f1\"", None),
        ("begins as it ends, without", "200", "210", "null", None),
        ("ends one later", "10", "101", "null", Some(Weak)),
        ("begins one earlier", "199", "210", "null", Some(Weak)),
        ("timeout before, without", "10", "null", "null", None),
        ("timeout before, with", "10", "null", "\"f2\"", None),
        ("timeout after, with", "500", "null", "\"f2\"", Some(Weak)),
    ];
    for (what, begin, end, epoch, expected) in cases {
        let marker = if end == "null" { "true" } else { "false" };
        let row = row(&[
            ("invoke_ts", begin),
            ("complete_ts", end),
            ("timeout_marker", marker),
            ("fault_epoch", epoch),
        ]);
        let text = format!("{HEADER}{later}{window}{row}{}", footer(1));
        let found = brief(&validate(&read_text(&text), &ValidateOptions::default()));
        let expected: Vec<_> =
            expected.map(|severity| (V7, severity, Some(4))).into_iter().collect();
        assert_eq!(found, expected, "{what}");
    }
    let stamped = row(&[("fault_epoch", "1")]);
    assert_eq!(findings(&[stamped]), [(V7, Note, Some(2))], "no windows are declared");
}

#[test]
fn v8_nodes_are_needed_only_where_the_claim_is_about_nodes() {
    let rows = [row(&[("node_seen", "\"n1\"")]), row(&[("op_id", "2"), ("invoke_ts", "20")])];
    let text = format!("{HEADER}{}{}", rows.concat(), footer(2));
    let history = read_text(&text);
    assert_eq!(validate(&history, &ValidateOptions::default()), []);
    let options = ValidateOptions { nodes_needed: true, ..ValidateOptions::default() };
    assert_eq!(brief(&validate(&history, &options)), [(V8, Weak, Some(3))]);
    let unknown = rows[1].replace("\"timeout_marker\":false", "\"timeout_marker\":true");
    let text = format!("{HEADER}{}{unknown}{}", rows[0], footer(2));
    assert_eq!(validate(&read_text(&text), &options), [], "an unknown outcome has no node");
}

#[test]
fn v9_types_outside_the_model_are_unsound() {
    let text = format!("{HEADER}{}{}", row(&[]), footer(1));
    let with = |allowed_types| {
        let options = ValidateOptions { allowed_types, ..ValidateOptions::default() };
        brief(&validate(&read_text(&text), &options))
    };
    assert_eq!(with(&["read", "write"]), []);
    assert_eq!(with(&[]), []);
    assert_eq!(with(&["read", "cas"]), [(V9, Unsound, Some(2))]);
}

#[test]
fn v10_a_wall_clock_is_unsound_for_two_processes() {
    let one = row(&[]);
    let two = op("2", "1", "10", "20");
    let of = |header: &str, rows: &[&str]| {
        let text = format!("{header}{}{}", rows.concat(), footer(rows.len()));
        brief(&validate(&read_text(&text), &ValidateOptions::default()))
    };
    let wall = HEADER.replace("monotonic", "wall");
    assert_eq!(of(HEADER, &[&one, &two]), []);
    assert_eq!(of(&wall, &[&one, &two]), [(V10, Unsound, None)]);
    assert_eq!(of(&wall, &[&one]), [(V10, Note, None)]);
    assert_eq!(of("", &[&one, &two]), [(V10, Note, None)]);
}

#[test]
fn v11_counts_must_agree() {
    let of = |footer: &str, consumed| {
        let text = format!("{HEADER}{}{footer}", row(&[]));
        let options = ValidateOptions { consumed, ..ValidateOptions::default() };
        brief(&validate(&read_text(&text), &options))
    };
    assert_eq!(of(&footer(1), None), []);
    assert_eq!(of(&footer(1), Some(1)), []);
    assert_eq!(of(&footer(1), Some(0)), [(V11, Unsound, None)]);
    assert_eq!(of("{\"event\":\"footer\",\"sent\":2}\n", None), [(V11, Unsound, None)]);
    assert_eq!(of("{\"event\":\"footer\",\"recorded\":0}\n", None), [(V11, Unsound, None)]);
    assert_eq!(of("", None), [(V11, Note, None)]);
    assert_eq!(of("{\"op_id\":", None), [(V11, Note, None), (V11, Note, Some(3))], "torn tail");
}

#[test]
fn five_findings_of_a_kind_are_told_and_the_rest_counted() {
    let rows: Vec<String> = (0..9).map(|i| op(&i.to_string(), "0", "10", "9")).collect();
    let text = format!("{HEADER}{}{}", rows.concat(), footer(9));
    let found = validate(&read_text(&text), &ValidateOptions::default());
    let more: Vec<u64> = found.iter().map(|f| f.more).collect();
    assert_eq!(brief(&found), [2, 3, 4, 5, 6].map(|line| (V4, Unsound, Some(line))));
    assert_eq!(more, [0, 0, 0, 0, 4]);
    // Notes do not use up the room of what is worse.
    let mut rows: Vec<String> = (0..9).map(|_| row(&[("key", "-")])).collect();
    rows.push(row(&[("output", "-")]));
    let found = findings(&rows);
    assert!(found.contains(&(V2, Weak, Some(11))), "{found:?}");
}

#[test]
fn findings_come_worst_first() {
    let rows = [row(&[("key", "-")]), op("2", "0", "12", "30"), op("3", "1", "10", "9")];
    let found = findings(&rows);
    assert_eq!(found, [(V4, Unsound, Some(4)), (V6, Weak, Some(3)), (V2, Note, Some(2))]);
}

#[test]
fn foreign_formats_are_not_blamed_for_columns_they_cannot_have() {
    let log = "INFO  jepsen.util - 0 :invoke :write 3\nINFO  jepsen.util - 0 :ok :write 3\n";
    assert_eq!(validate(&read_text(log), &ValidateOptions::default()), []);
}

#[test]
fn every_rule_explains_itself() {
    for rule in Rule::ALL {
        assert!(rule.title().len() > 10 && rule.page().len() > 200, "{rule}");
        assert_eq!(rule.to_string().to_lowercase().parse(), Ok(rule));
    }
    assert!("V12".parse::<Rule>().is_err());
}

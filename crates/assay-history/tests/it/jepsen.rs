//! Jepsen's operations, in EDN and JSON.

use crate::common::{briefs, error_of, op, read_bytes, read_text};
use assay_history::{Clock, Order, ReadOptions, read};

fn independent(text: &str) -> Result<Vec<String>, String> {
    let options = ReadOptions { independent: true, ..ReadOptions::default() };
    match read(text.as_bytes(), &options) {
        Ok(history) => Ok(briefs(&history)),
        Err(error) => Err(error.to_string()),
    }
}

/// An invocation and its completion, with what becomes of them.
const MEANINGS: [(&str, &str, &str); 22] = [
    (":f :write, :value 3", ":ok, :value 3", "0 write null 3 -> ok null null"),
    (":f :write, :value 3", ":ok, :value 4", "0 write null 3 -> ok 4 null"),
    (":f :read, :value nil", ":ok, :value 3", "0 read null null -> ok 3 null"),
    (":f :read, :value 7", ":ok, :value 7", "0 read null 7 -> ok 7 null"),
    (":f :cas, :value [1 2]", ":ok, :value [1 2]", "0 cas null [1,2] -> ok null null"),
    (":f :cas, :value [1 2]", ":fail, :value [1 2]", "0 cas null [1,2] -> fail null \"fail\""),
    (":f :add, :value 1", ":ok, :value 5", "0 add null 1 -> ok 5 null"),
    (":f :dequeue", ":ok, :value 5", "0 dequeue null null -> ok 5 null"),
    (":f :acquire", ":ok, :value 31", "0 acquire null null -> ok 31 null"),
    (":f :acquire", ":ok", "0 acquire null null -> ok null null"),
    (":f :contains, :value 5", ":ok, :value true", "0 contains null 5 -> ok true null"),
    (":f :read", ":fail, :error :timeout", "0 read null null -> fail null \":timeout\""),
    (":f :read", ":fail, :error nil", "0 read null null -> fail null \"fail\""),
    (
        ":f :write, :value 3",
        ":info, :error [:indeterminate \"x\"]",
        "0 write null 3 -> unknown null [\":indeterminate\",\"x\"]",
    ),
    (":f :write, :value 3", ":info", "0 write null 3 -> unknown null null"),
    (
        ":f :append, :key \"0\", :value \"x 0 y\"",
        ":ok, :key \"0\", :value \"x 0 y\"",
        "0 append \"0\" \"x 0 y\" -> ok null null",
    ),
    (
        ":f :get, :key \"7\", :value nil",
        ":ok, :key \"7\", :value \"\"",
        "0 get \"7\" null -> ok \"\" null",
    ),
    (
        ":f :txn, :value [[:r 1 nil]]",
        ":ok, :value [[:r 1 4]]",
        "0 txn null [[\":r\",1,null]] -> ok [[\":r\",1,4]] null",
    ),
    (":f :read", ":ok, :value #{3 1 2}", "0 read null null -> ok [1,2,3] null"),
    (
        ":f :read",
        ":ok, :value {:a 1, \"b\" [2.50 1e3 7N 1.5M -0]}",
        "0 read null null -> ok {\":a\":1,\"b\":[2.5,1000,7,1.5,0]} null",
    ),
    (
        ":f :read",
        ":ok, :value (\\a \\newline \\u0041 sym :ns/key 1/2 +5 12345678901234567890N)",
        "0 read null null -> ok [\"a\",\"\\n\",\"A\",\"sym\",\":ns/key\",\"1/2\",5,\
         12345678901234567890] null",
    ),
    (
        ":f :read",
        ":ok, :value \"q\\\"\\\\ \\t \\u00e9 \\ud83d\\ude00 {[(;\"",
        "0 read null null -> ok \"q\\\"\\\\ \\t é 😀 {[(;\" null",
    ),
];

#[test]
fn edn_operations_mean_what_the_table_says() {
    for (invoke, complete, expected) in MEANINGS {
        let text =
            format!("{{:process 0, :type :invoke, {invoke}}}\n{{:process 0, :type {complete}}}\n");
        assert_eq!(briefs(&read_text(&text)), [expected], "{text}");
    }
}

#[test]
fn json_operations_mean_the_same() {
    let cases = [
        (r#""write","value":3"#, r#""ok","value":3"#, "0 write null 3 -> ok null null"),
        (
            r#""read","value":null"#,
            r#""ok","value":[1,"a"]"#,
            "0 read null null -> ok [1,\"a\"] null",
        ),
        (
            r#""cas","value":[1,2]"#,
            r#""fail","value":[1,2]"#,
            "0 cas null [1,2] -> fail null \"fail\"",
        ),
        (r#""read""#, r#""fail","error":"gone""#, "0 read null null -> fail null \"gone\""),
        (
            r#""put","key":"k","value":"v""#,
            r#""info","error":"timeout""#,
            "0 put \"k\" \"v\" -> unknown null \"timeout\"",
        ),
    ];
    for (invoke, complete, expected) in cases {
        let invoke = format!("{{\"type\":\"invoke\",\"process\":0,\"f\":{invoke}}}");
        let complete = format!("{{\"type\":{complete},\"process\":0}}");
        for text in [format!("{invoke}\n{complete}\n"), format!("[{invoke},{complete}]")] {
            assert_eq!(briefs(&read_text(&text)), [expected], "{text}");
        }
    }
}

#[test]
fn records_may_be_laid_out_in_any_way() {
    let (a, b) =
        ("{:type :invoke, :process 0, :f :read}", "{:type :ok, :process 0, :f :read, :value 1}");
    let tagged = |map: &str| format!("#jepsen.history.Op{map}");
    let cases = [
        format!("{a}\n{b}\n"),
        format!("{a}\r\n\r\n{b}\r\n"),
        format!("\u{feff}{a}\n{b}"),
        format!("[{a} {b}]"),
        format!("({a}, {b})\n"),
        format!("[{} {}]", tagged(a), tagged(b)),
        format!("; a comment with {{ and \"\n{a} ; and }}\n{b}"),
        format!("[{a} #_{{:type :bogus}} #_ #_ 1 [2] {b}]"),
        format!("[{}\n{}]", a.replace(", ", "\n  "), b.replace(", ", "\n,  ")),
        a.replace("}", " #_ :x #_#_ 1 2}") + &b.replace("{", "{#_ a, "),
        a.replace("{", "{:weird \\} :brace \"}\" :set #{1 {2 3}} ") + b,
    ];
    for text in cases {
        assert_eq!(briefs(&read_text(&text)), ["0 read null null -> ok 1 null"], "{text}");
    }
}

#[test]
fn positions_are_ordinals_and_lines_are_lines() {
    let text = "[{:type :invoke, :process 0, :f :read, :time 50}\n\n\
                {:type :info, :process :nemesis}\n\
                {:type :ok, :process 0, :f :read, :value 1}]";
    let history = read_text(text);
    let meta = &history.meta;
    assert_eq!((meta.order, meta.clock, meta.native), (Order::Positions, Clock::Monotonic, false));
    assert_eq!(meta.records_skipped, 1);
    let op = op(&history, 0);
    assert_eq!((op.invoke_at, op.complete_at), (0, 2));
    assert_eq!((history.line(op.invoke_at), history.line(op.complete_at)), (1, 4));
    assert_eq!((op.invoke_ts, op.complete_ts), (50, Some(2)), "no time: the ordinal");
    assert_eq!(history.span(&op), (0, 2));
}

#[test]
fn a_process_may_go_on_after_info_only() {
    let record = |kind: &str| format!("{{:type :{kind}, :process 4, :f :read}}\n");
    let history = read_text(&["invoke", "info", "invoke", "ok"].map(record).concat());
    assert_eq!(briefs(&history).len(), 2);
    let (line, message) = error_of(&["invoke", "invoke"].map(record).concat());
    assert!(line == 2 && message.contains("line 1"), "{line}: {message}");
    for end in ["ok", "fail", "info"] {
        let (line, message) = error_of(&(record("invoke") + &record("info") + &record(end)));
        assert!(line == 3 && message.contains("none open"), "{line}: {message}");
    }
}

#[test]
fn records_of_processes_that_are_no_clients_are_skipped_and_counted() {
    let text = "{:type :info, :process :nemesis, :f :start}\n\
                {:type :invoke, :process 0, :f :read}\n\
                {:type :ok, :process \"watcher\", :f :x}\n{:type :info, :process 1.5}\n";
    let history = read_text(text);
    assert_eq!((history.len(), history.meta.records_skipped), (1, 3));
    assert_eq!(op(&history, 0).invoke_at, 1);
}

#[test]
fn independent_values_are_split() {
    let text = "{:type :invoke, :process 0, :f :cas, :value [\"k\" [1 2]]}\n\
                {:type :invoke, :process 1, :f :read, :value [3 nil]}\n\
                {:type :info, :process :nemesis, :value nil}\n\
                {:type :fail, :process 0, :f :cas, :value nil}\n\
                {:type :ok, :process 1, :f :read, :value [3 {:a 1}]}\n";
    let expected =
        ["0 cas \"k\" [1,2] -> fail null \"fail\"", "1 read 3 null -> ok {\":a\":1} null"];
    assert_eq!(independent(text).unwrap(), expected);
    let json = "[{\"type\":\"invoke\",\"process\":0,\"f\":\"read\",\"value\":[3,null]},\
                {\"type\":\"ok\",\"process\":0,\"f\":\"read\",\"value\":[3, 9]}]";
    assert_eq!(independent(json).unwrap(), ["0 read 3 null -> ok 9 null"]);
    for bad in ["3", "nil", "[1]", "[1 2 3]", "(1 2)", "{1 2}"] {
        let text = format!("{{:type :invoke, :process 0, :f :read, :value {bad}}}\n");
        let error = independent(&text).unwrap_err();
        assert!(error.starts_with("line 1: the value is not a pair"), "{bad}: {error}");
    }
    let moved = text.replace(":f :read, :value [3 {", ":f :read, :value [4 {");
    assert!(independent(&moved).unwrap_err().starts_with("line 5: this completes an operation on"));
}

#[test]
fn mistakes_are_named_with_their_line() {
    let ok = "{:type :invoke, :process 9, :f :read}\n{:type :ok, :process 9, :f :read}\n";
    let cases = [
        ("{:process 0, :f :read}", "the field :type is missing"),
        ("{:type :invoke, :f :read}", "no process"),
        ("{:type :invoke, :process 0}", "f must name"),
        ("{:type :invoke, :process 0, :f [1]}", "f must name"),
        ("{:type :begin, :process 0, :f :read}", "one of invoke, ok, fail and info"),
        ("{:type :ok, :process 0, :f :read}", "none open"),
        ("{:type :info, :process 0, :f :read}", "none open"),
        ("{:type :invoke, :process 0, :f :read, :time 1.5}", "time must be a whole number"),
        ("{:type :invoke, :process 0, :f :read, :value 08}", "\"08\" is not a number"),
        ("{:type :invoke, :process 0, :f :read, :value \"\\q\"}", "unknown escape"),
        ("{:type :invoke, :process 0, :f :read, :value \\nonsense}", "is not a character"),
        ("{:type :invoke, :process 0, :f :read, :value [1)}", "expected"),
        ("{:type :invoke, :process 0, :f :read, :value {1}}", "key without a value"),
        ("{:type :invoke, :process 0, :f :read, :value}", "expected a value"),
        ("{type :invoke}", "expected a field name"),
        ("7", "expected an operation"),
        ("}", "expected an operation"),
    ];
    for (bad, message) in cases {
        let (line, found) = error_of(&format!("{ok}\n{bad}\n{ok}"));
        assert!(line == 4 && found.contains(message), "{bad}: line {line}: {found}");
    }
    let mixed = "{:type :invoke, :process 0, :f :read}\n{:type :ok, :process 0, :f :write}\n";
    assert!(error_of(mixed).1.contains("another kind of operation than line 1"));
}

#[test]
fn one_long_line_names_the_record() {
    let record = |p: usize| format!("{{\"type\":\"invoke\",\"process\":{p},\"f\":\"read\"}}");
    let all: Vec<String> = [0, 1, 2, 1].map(record).into();
    let (line, message) = error_of(&format!("[{}]", all.join(",")));
    assert!(line == 1 && message.contains("(record 3, counted from 0)"), "{message}");
}

#[test]
fn a_bracket_missing_in_the_middle_is_no_torn_tail() {
    let good = "{:type :invoke, :process 0, :f :read}\n{:type :ok, :process 0, :f :read}\n";
    for bad in ["{:type :invoke, :process 1, :f :read\n", "{:type :invoke, :process 1, :f \"re}\n"]
    {
        let text = format!("{good}{bad}{good}");
        let (line, message) = error_of(&text);
        assert_eq!(line, 3, "{message}");
    }
    let json = "[{\"type\":\"invoke\",\"process\":0,\"f\":\"read\"},{\"type\":\"ok\",\"process\":0,\
                {\"type\":\"invoke\",\"process\":0,\"f\":\"read\"}]";
    assert!(read_bytes(json.as_bytes()).is_err());
}

//! What is written and read again is what it was.

use crate::common::read_bytes;
use assay_history::{
    Builder, Clock, Completion, FaultWindow, History, Invocation, NEVER, Op, Order, Outcome,
    ReadOptions, ValueId, Values, read, write_jepsen_edn, write_jepsen_json, write_jsonl,
    write_jsonl_rows,
};
use proptest::prelude::*;
use std::io;

/// A value, before it is in a pool.
#[derive(Clone, Debug)]
enum Shape {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    List(Vec<Shape>),
    Map(Vec<(String, Shape)>),
}

impl Shape {
    fn intern(&self, values: &mut Values) -> ValueId {
        match self {
            Shape::Null => ValueId::NULL,
            Shape::Bool(value) => values.bool(*value),
            Shape::Int(value) => values.int(*value),
            Shape::Float(value) => values.number(&format!("{value:e}")),
            Shape::Str(value) => values.str(value),
            Shape::List(items) => {
                let items: Vec<_> = items.iter().map(|item| item.intern(values)).collect();
                values.list(&items)
            }
            Shape::Map(pairs) => {
                let mut interned = Vec::new();
                for (key, value) in pairs {
                    interned.push((values.str(key), value.intern(values)));
                }
                values.map(&interned)
            }
        }
    }
}

fn value() -> impl Strategy<Value = Shape> {
    let float = prop_oneof![any::<f64>().prop_filter("finite", |f| f.is_finite()), -1e19..1e19];
    let leaf = prop_oneof![
        Just(Shape::Null),
        any::<bool>().prop_map(Shape::Bool),
        (-5i64..5).prop_map(Shape::Int),
        any::<i64>().prop_map(Shape::Int),
        float.prop_map(Shape::Float),
        "[a-z:é\"\\\\\u{0}-\u{1f}😀 ]{0,6}".prop_map(Shape::Str),
        ":[a-z-]{1,4}".prop_map(Shape::Str),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Shape::List),
            prop::collection::vec(("[a-z\"]{0,3}", inner), 0..3).prop_map(Shape::Map),
        ]
    })
}

/// How an operation ends.
#[derive(Clone, Debug)]
enum End {
    Never,
    Ok(Shape),
    Fail(Shape),
    Timeout,
    UnknownCommit(Shape),
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        Just(End::Never),
        value().prop_map(End::Ok),
        value().prop_map(End::Ok),
        value().prop_map(End::Fail),
        Just(End::Timeout),
        value().prop_map(End::UnknownCommit),
    ]
}

#[derive(Clone, Debug)]
struct Sketch {
    process: i64,
    op_type: &'static str,
    wait: i64,
    length: i64,
    key: Shape,
    input: Shape,
    end: End,
    extra: Option<(Shape, Shape, i64)>,
}

fn sketch() -> impl Strategy<Value = Sketch> {
    let types = prop::sample::select(vec!["read", "write", "cas", "append", "my op", "txn"]);
    let extra = prop::option::of((value(), value(), any::<i64>().prop_filter("", |&r| r != NEVER)));
    (0i64..4, types, 0i64..3, 0i64..6, value(), value(), end(), extra).prop_map(
        |(process, op_type, wait, length, key, input, end, extra)| Sketch {
            process,
            op_type,
            wait,
            length,
            key,
            input,
            end,
            extra,
        },
    )
}

fn build(sketches: &[Sketch]) -> History {
    let mut b = Builder::new();
    let (mut now, epoch) = (0, b.values().str("e1"));
    b.meta().clock = Clock::Monotonic;
    b.meta().sent = Some(sketches.len() as u64);
    b.fault_window(FaultWindow { epoch, start_ts: 3, end_ts: 9, at: 0 });
    for sketch in sketches {
        now += sketch.wait;
        let process = b.values().int(sketch.process);
        let mut call = Invocation::new(process, sketch.op_type, now);
        call = call.key(sketch.key.intern(b.values())).input(sketch.input.intern(b.values()));
        if let Some((node, epoch, _)) = &sketch.extra {
            call.node_seen = node.intern(b.values());
            call.fault_epoch = epoch.intern(b.values());
        }
        let op = b.invoke(call);
        if let Some((_, _, revision)) = &sketch.extra {
            b.revision(op, *revision);
            b.due(op, now - sketch.wait);
        }
        let at = now + sketch.length;
        let end = match &sketch.end {
            End::Never => continue,
            End::Ok(output) => Completion::at(at).output(output.intern(b.values())),
            End::Fail(error) => Completion::at(at).error(error.intern(b.values())),
            End::Timeout => Completion::unknown(),
            End::UnknownCommit(error) => Completion {
                timeout_marker: true,
                error: error.intern(b.values()),
                ..Completion::at(at)
            },
        };
        b.complete(op, end);
    }
    b.finish()
}

/// All twelve columns of an operation, its revision and when it was due, as text.
fn columns(history: &History, op: &Op) -> String {
    let show = |id| history.values.show(id).to_string();
    format!(
        "{} {} {} {:?} {} {} {} {} {} {} {} {} {:?} {:?}",
        show(op.op_id),
        show(history.process(op.process)),
        op.invoke_ts,
        op.complete_ts,
        history.type_name(op.op_type),
        show(history.key(op.key)),
        show(op.input),
        show(op.output),
        show(op.error),
        op.timeout_marker || !op.completed,
        show(op.node_seen),
        show(op.fault_epoch),
        history.revision(op.index),
        history.due_ts(op.index),
    )
}

fn all_columns(history: &History) -> Vec<String> {
    let mut all: Vec<String> = history.ops().map(|op| columns(history, &op)).collect();
    all.sort();
    all
}

type Writer = fn(&History, &mut dyn io::Write) -> io::Result<()>;

fn rewritten(history: &History, write: Writer) -> History {
    let mut bytes = Vec::new();
    write(history, &mut bytes).unwrap();
    read_bytes(&bytes)
        .unwrap_or_else(|error| panic!("{error}\nin:\n{}", String::from_utf8_lossy(&bytes)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn json_lines_keep_all_twelve_columns(sketches in prop::collection::vec(sketch(), 0..12)) {
        let history = build(&sketches);
        for write in [write_jsonl as Writer, write_jsonl_rows] {
            let again = rewritten(&history, write);
            prop_assert_eq!(all_columns(&again), all_columns(&history));
            prop_assert_eq!(again.meta.sent, history.meta.sent);
            prop_assert_eq!(again.meta.clock, history.meta.clock);
            prop_assert_eq!(again.meta.fault_windows.len(), 1);
        }
    }

    /// Jepsen's records keep process, type, key, input, times and outcome; outputs as far as the
    /// types have them.
    #[test]
    fn jepsen_records_keep_what_they_can(sketches in prop::collection::vec(sketch(), 1..12)) {
        let history = build(&sketches);
        let mut edn = Vec::new();
        match write_jepsen_edn(&history, &mut edn) {
            Ok(()) => {}
            // One process at a time, and a clock that tells moments apart: else it is refused.
            Err(error) => {
                prop_assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
                return Ok(());
            }
        }
        for write in [write_jepsen_edn as Writer, write_jepsen_json] {
            let again = rewritten(&history, write);
            prop_assert_eq!(carried(&again), carried(&history));
            prop_assert!(same_overlaps(&history, &again));
            // What came from Jepsen's format goes back without loss.
            let third = rewritten(&again, write);
            prop_assert_eq!(all_columns(&third), all_columns(&again));
        }
    }
}

fn carried(history: &History) -> Vec<String> {
    let show = |id| history.values.show(id).to_string();
    let mut all: Vec<String> = history
        .ops()
        .map(|op| {
            let name = history.type_name(op.op_type);
            let compared = name == "cas" && op.output == ValueId::FALSE;
            let outcome = if compared { Outcome::Fail } else { op.outcome() };
            let answer = matches!(name, "read" | "txn" | "my op") && outcome == Outcome::Ok;
            let end = op.complete_ts.filter(|_| outcome != Outcome::Unknown);
            format!(
                "{} {} {} {} {} {end:?} {outcome:?} {}",
                show(history.process(op.process)),
                name,
                show(history.key(op.key)),
                show(op.input),
                op.invoke_ts,
                if answer { show(op.output) } else { String::new() },
            )
        })
        .collect();
    all.sort();
    all
}

/// Whether the same pairs of operations of different processes follow each other; operations are
/// matched by process and rank.
fn same_overlaps(a: &History, b: &History) -> bool {
    let precedences = |h: &History| {
        let mut ops: Vec<Op> = h.ops().collect();
        ops.sort_by_key(|op| (h.values.as_int(h.process(op.process)), h.span(op).0, op.index));
        let mut pairs = Vec::new();
        for (i, x) in ops.iter().enumerate() {
            for (j, y) in ops.iter().enumerate() {
                let certain = |op: &Op| op.outcome() == Outcome::Ok && op.output != ValueId::FALSE;
                if x.process != y.process && certain(x) && h.span(x).1 < h.span(y).0 {
                    pairs.push((i, j));
                }
            }
        }
        pairs
    };
    precedences(a) == precedences(b)
}

#[test]
fn positions_are_written_as_times_that_keep_the_order() {
    let edn = "{:type :invoke, :process 0, :f :write, :value 1, :time 500}\n\
               {:type :invoke, :process 1, :f :read, :time 500}\n\
               {:type :ok, :process 0, :f :write, :value 1, :time 100}\n\
               {:type :info, :process 1, :f :read, :error :gone}\n";
    let history = read(edn.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(history.meta.order, Order::Positions);
    for write in [write_jsonl as Writer, write_jsonl_rows] {
        let again = rewritten(&history, write);
        let times: Vec<_> = again.ops().map(|op| (op.invoke_ts, op.complete_ts)).collect();
        assert_eq!(times, [(0, Some(2)), (1, None)]);
        assert_eq!(again.meta.order, Order::Timestamps);
    }
}

fn ops(list: &[(&str, i64, Option<i64>)]) -> History {
    let mut b = Builder::new();
    for &(process, begin, end) in list {
        let process = b.values().str(process);
        let op = b.invoke(Invocation::new(process, "write", begin));
        if let Some(end) = end {
            b.complete(op, Completion::at(end));
        }
    }
    b.finish()
}

fn edn_lines(history: &History) -> Result<Vec<String>, String> {
    let mut bytes = Vec::new();
    write_jepsen_edn(history, &mut bytes).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes).unwrap();
    let fields = |line: &str| {
        let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        let after =
            |name| words.iter().skip_while(|word| **word != name).nth(1).unwrap().to_string();
        format!("{} {}", after(":process"), after(":type"))
    };
    Ok(text.lines().map(fields).collect())
}

#[test]
fn operations_that_touch_overlap_also_in_jepsens_order() {
    let touching = ops(&[("a", 0, Some(5)), ("b", 5, Some(9))]);
    assert_eq!(edn_lines(&touching).unwrap(), ["0 :invoke", "1 :invoke", "0 :ok", "1 :ok"]);
    let goes_on = ops(&[("a", 0, Some(5)), ("b", 5, Some(9)), ("a", 5, Some(7))]);
    assert_eq!(
        edn_lines(&goes_on).unwrap(),
        ["0 :invoke", "1 :invoke", "0 :ok", "0 :invoke", "0 :ok", "1 :ok"]
    );
}

#[test]
fn what_jepsens_order_cannot_say_is_refused() {
    let both_go_on =
        ops(&[("a", 0, Some(5)), ("b", 0, Some(5)), ("a", 5, Some(7)), ("b", 5, Some(7))]);
    assert!(edn_lines(&both_go_on).unwrap_err().contains("a clock this coarse"));
    let pipelined = ops(&[("a", 0, Some(5)), ("a", 4, Some(7))]);
    assert!(edn_lines(&pipelined).unwrap_err().contains("still open"));
    // An operation that never completed is given up when its process goes on.
    let given_up = ops(&[("a", 0, None), ("a", 4, None)]);
    assert_eq!(edn_lines(&given_up).unwrap(), ["0 :invoke", "0 :info", "0 :invoke"]);
}

#[test]
fn long_values_survive() {
    let mut b = Builder::new();
    let (client, long) = (b.values().int(1 << 40), "\"\\é\n".repeat(300_000));
    let input = b.values().str(&long);
    b.invoke(Invocation::new(client, "write", -5).input(input));
    let history = b.finish();
    for write in [write_jsonl as Writer, write_jepsen_edn, write_jepsen_json] {
        let again = rewritten(&history, write);
        assert_eq!(again.values.as_str(again.ops().next().unwrap().input), Some(long.as_str()));
    }
}

#[test]
fn keys_that_are_no_strings_stand_where_they_will_stand_when_read_again() {
    let edn = "{:process 0, :type :invoke, :f :write, :value {\"a\" 1, 2 [1 2], :k nil}}\n";
    let rows = |history: &History| {
        let mut bytes = Vec::new();
        write_jsonl_rows(history, &mut bytes).expect("memory suffices");
        bytes
    };
    let first = rows(&read_bytes(edn.as_bytes()).expect("it is a history"));
    let again = rows(&read_bytes(&first).expect("what is written can be read"));
    assert_eq!(String::from_utf8_lossy(&first), String::from_utf8_lossy(&again));
}

#[test]
fn numbers_of_any_length_are_read_and_come_back() {
    let long = format!("-18424244982889316{}", "0".repeat(61));
    let numbers = ["-9223372036854775808", "9223372036854775807", "-9223372036854775809", &long];
    for number in numbers {
        let mut b = Builder::new();
        let (client, input) = (b.values().int(0), b.values().number(number));
        b.invoke(Invocation::new(client, "write", 0).input(input));
        let history = b.finish();
        for write in [write_jsonl as Writer, write_jepsen_edn, write_jepsen_json] {
            let again = rewritten(&history, write);
            let input = again.ops().next().expect("one was written").input;
            assert_eq!(again.values.show(input).to_string(), number);
        }
    }
}

//! Panels and histories for the tests.

use assay_history::{Builder, Clock, Completion, History, Invocation};
use assay_judge::{Ask, Limits, Panel, PanelError};
use serde_json::Value;
use std::collections::BTreeMap;

/// A panel of these checkers with these options.
pub fn try_panel(names: &[&str], options: Value) -> Result<Panel, PanelError> {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let options: BTreeMap<String, Value> = match options {
        Value::Object(fields) => fields.into_iter().collect(),
        _ => BTreeMap::new(),
    };
    let none = BTreeMap::new();
    let ask =
        Ask { names: &names, options: &options, model: Some("register"), model_options: &none };
    Panel::new(&ask)
}

/// As above, where it cannot go wrong.
pub fn panel(names: &[&str], options: Value) -> Panel {
    try_panel(names, options).expect("the checkers and options exist")
}

/// Limits that no test reaches.
pub fn limits() -> Limits {
    Limits::default()
}

/// A register history that keeps its promise: `writers` clients write different values in turn,
/// one reads after each of them, and neighbours overlap.
pub fn register(ops: usize, with_reads: bool) -> History {
    let mut builder = Builder::new();
    builder.meta().clock = Clock::Monotonic;
    builder.meta().sent = Some(ops as u64);
    builder.meta().recorded = Some(ops as u64);
    const KEYS: usize = 4;
    let mut last = [None; KEYS];
    for i in 0..ops {
        let key = i / 2 % KEYS;
        let (process, time) = (i % 5, i as i64 * 10);
        let values = builder.values();
        let (who, name) = (values.int(process as i64), values.str(&format!("k{key}")));
        let call = if with_reads && i % 2 == 1 {
            Invocation::new(who, "read", time).key(name)
        } else {
            let value = values.int(i as i64 + 1);
            last[key] = Some(value);
            Invocation::new(who, "write", time).key(name).input(value)
        };
        let is_read = with_reads && i % 2 == 1;
        let at = builder.invoke(call.at(i as u32 + 1));
        let mut end = Completion::at(time + 9).record(i as u32 + 1);
        if let (true, Some(value)) = (is_read, last[key]) {
            end = end.output(value);
        }
        builder.complete(at, end);
    }
    builder.finish()
}

/// Transactions that each append to a list and read another, one after the other.
pub fn appends(txns: usize) -> History {
    let mut builder = Builder::new();
    builder.meta().clock = Clock::Monotonic;
    builder.meta().sent = Some(txns as u64);
    builder.meta().recorded = Some(txns as u64);
    const KEYS: usize = 3;
    let mut lists: [Vec<String>; KEYS] = Default::default();
    for i in 0..txns {
        let (to, from) = (i % KEYS, (i + 1) % KEYS);
        let input = format!("[[\"append\",\"k{to}\",{i}],[\"r\",\"k{from}\",null]]");
        let read = lists[from].join(",");
        let output = format!("[[\"append\",\"k{to}\",{i}],[\"r\",\"k{from}\",[{read}]]]");
        lists[to].push(i.to_string());
        let values = builder.values();
        let who = values.int((i % 4) as i64);
        let input = values.parse_json(&input).expect("it is JSON");
        let output = values.parse_json(&output).expect("it is JSON");
        let call = Invocation::new(who, "txn", i as i64 * 10).input(input).at(i as u32 + 1);
        let at = builder.invoke(call);
        let end = Completion::at(i as i64 * 10 + 5).output(output).record(i as u32 + 1);
        builder.complete(at, end);
    }
    builder.finish()
}

//! Histories in a notation of one line per operation, for examples and tests.
//!
//! ```
//! let history = assay_oracle::sketch("
//!     0 write x 1 ok
//!     1 read  x - ok 1      @5..9 node=n1 rev=3
//!     0 write x 2 unknown
//!     1 write x 3 fail
//! ");
//! assert_eq!(history.len(), 4);
//! ```
//!
//! A line is `process type key input outcome [output]`, then any of `@start..end`, `node=`,
//! `rev=`, `due=`, `id=` and `epoch=`. Values are compact JSON without spaces and without escapes;
//! a bare word is a string and `-` is null. Without times each operation begins after the one above
//! has ended: line *i* (from 0) lasts from 10 *i* to 10 *i* + 5. The lines `%wall` and `%sent N`
//! set the clock and the footer. Lines that are empty or begin with `#` are skipped.

use assay_history::{Builder, Clock, Completion, History, Invocation, ValueId, Values};

/// Reads the notation.
///
/// # Panics
/// When a line does not follow it: sketches are written by hand, and a wrong one is a bug.
pub fn sketch(text: &str) -> History {
    let mut builder = Builder::new();
    builder.meta().clock = Clock::Monotonic;
    for (number, line) in text.lines().map(str::trim).enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match line.strip_prefix('%').map(|directive| directive.split_once(' ')) {
            Some(Some(("sent", count))) => builder.meta().sent = count.parse().ok(),
            Some(None) if line == "%wall" => builder.meta().clock = Clock::Wall,
            Some(_) => panic!("sketch: unknown directive `{line}`"),
            None => operation(line, number as u32 + 1, &mut builder),
        }
    }
    builder.finish()
}

fn operation(line: &str, number: u32, builder: &mut Builder) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [process, verb, key, input, outcome, rest @ ..] = &words[..] else {
        panic!("sketch: `{line}` has fewer than five words");
    };
    let place = builder.len() as i64;
    let values = builder.values();
    let mut call = Invocation::new(value(process, values), verb, place * 10)
        .key(value(key, values))
        .input(value(input, values))
        .at(number);
    let mut end = Completion::at(place * 10 + 5).record(number);
    let (mut revision, mut due) = (None, None);
    for word in rest {
        if let Some(times) = word.strip_prefix('@') {
            let (from, to) = times.split_once("..").expect("times are @start..end");
            (call.ts, end.ts) = (time(from), Some(time(to)));
            continue;
        }
        match word.split_once('=') {
            Some(("node", node)) => call.node_seen = value(node, values),
            Some(("rev", number)) => revision = Some(time(number)),
            Some(("due", number)) => due = Some(time(number)),
            Some(("id", id)) => call.op_id = Some(value(id, values)),
            Some(("epoch", epoch)) => call.fault_epoch = value(epoch, values),
            _ => end.output = value(word, values),
        }
    }
    match *outcome {
        "ok" => {}
        "fail" => end.error = values.str("failed"),
        "unknown" => end = Completion { output: ValueId::NULL, ..Completion::unknown() },
        _ => panic!("sketch: `{outcome}` in `{line}` is no outcome"),
    }
    let index = builder.invoke(call);
    builder.complete(index, end);
    if let Some(revision) = revision {
        builder.revision(index, revision);
    }
    if let Some(due) = due {
        builder.due(index, due);
    }
}

fn time(text: &str) -> i64 {
    text.parse().unwrap_or_else(|_| panic!("sketch: `{text}` is no whole number"))
}

/// A word as a value: JSON, a bare word, or `-` for null.
fn value(word: &str, values: &mut Values) -> ValueId {
    if word == "-" {
        return ValueId::NULL;
    }
    let mut rest = word;
    let found = json(&mut rest, values);
    assert!(rest.is_empty(), "sketch: `{rest}` is left over of `{word}`");
    found
}

fn json(rest: &mut &str, values: &mut Values) -> ValueId {
    if eat(rest, "[") {
        let mut items = Vec::new();
        while !eat(rest, "]") {
            items.push(json(rest, values));
            eat(rest, ",");
        }
        return values.list(&items);
    }
    if eat(rest, "{") {
        let mut pairs = Vec::new();
        while !eat(rest, "}") {
            let name = json(rest, values);
            assert!(eat(rest, ":"), "sketch: `:` is missing before `{rest}`");
            pairs.push((name, json(rest, values)));
            eat(rest, ",");
        }
        return values.map(&pairs);
    }
    if eat(rest, "\"") {
        let end = rest.find('"').expect("strings end");
        let text = &rest[..end];
        *rest = &rest[end + 1..];
        return values.str(text);
    }
    let end = rest.find([',', ']', '}', ':']).unwrap_or(rest.len());
    let word = &rest[..end];
    assert!(!word.is_empty(), "sketch: a value is missing before `{rest}`");
    *rest = &rest[end..];
    match word {
        "null" => ValueId::NULL,
        "true" => ValueId::TRUE,
        "false" => ValueId::FALSE,
        _ if word.parse::<f64>().is_ok() => values.number(word),
        _ => values.str(word),
    }
}

fn eat(rest: &mut &str, token: &str) -> bool {
    let found = rest.strip_prefix(token);
    *rest = found.unwrap_or(rest);
    found.is_some()
}

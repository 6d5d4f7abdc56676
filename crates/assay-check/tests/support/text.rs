//! Small histories as one line of text, for tables.
//!
//! Operations are separated by `|`: process, times, type, input and `-> output`. A `?` for the end
//! means that nobody knows the outcome, a `!` after the end that it failed:
//! `0 0..10 write 1 | 1 20..30 read -> 1 | 2 5..? cas [1,2] | 0 40..50! write 3`

use super::{Case, End, Op, V};
use assay_check::ModelKind;
use serde_json::Value;

/// The history that a line describes; all operations are on key 7.
pub fn parse(model: ModelKind, line: &str) -> Case {
    let ops = line.split('|').map(|op| parse_op(model, op.trim())).collect();
    Case { model, initial: V::Null, ops, by_position: false, revisions: vec![] }
}

fn parse_op(model: ModelKind, text: &str) -> Op {
    let (call, output) = text.split_once(" -> ").unwrap_or((text, "null"));
    let words: Vec<&str> = call.splitn(4, ' ').collect();
    let (start, end) = words[1].split_once("..").expect("times are start..end");
    let how = match end {
        "?" => End::TimedOut,
        _ if end.ends_with('!') => End::Fail,
        _ => End::Ok,
    };
    let known = model.info().verbs.iter().find(|(name, _)| *name == words[2]);
    Op {
        process: words[0].parse().expect("a process is a number"),
        f: known.expect("the model has this operation").0,
        key: V::Int(7),
        input: words.get(3).map_or(V::Null, |input| value(input)),
        output: value(output),
        start: start.parse().expect("a time is a number"),
        end: end.trim_end_matches('!').parse().unwrap_or(i64::MAX),
        how,
    }
}

fn value(text: &str) -> V {
    fn convert(value: Value) -> V {
        match value {
            Value::Null => V::Null,
            Value::Bool(flag) => V::Bool(flag),
            Value::Number(number) => V::Int(number.as_i64().expect("only integers are used")),
            Value::String(text) => V::Str(text),
            Value::Array(items) => V::List(items.into_iter().map(convert).collect()),
            Value::Object(_) => panic!("maps are not used"),
        }
    }
    convert(serde_json::from_str(text).expect("values are JSON"))
}

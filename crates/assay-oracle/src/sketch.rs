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
//! `rev=`, `id=` and `epoch=`. Values are compact JSON without spaces; a bare word is a string and
//! `-` is null. Without times each operation begins after the one above has ended: line *i* (from
//! 0) lasts from 10 *i* to 10 *i* + 5. The lines `%wall` and `%sent N` set the clock and the
//! footer. Lines that are empty or begin with `#` are skipped.

use assay_history::{History, ReadOptions, read};
use std::fmt::Write;

/// Reads the notation.
///
/// # Panics
/// When a line does not follow it: sketches are written by hand, and a wrong one is a bug.
pub fn sketch(text: &str) -> History {
    let mut header = String::from("{\"event\":\"header\",\"clock\":\"monotonic\"}\n");
    let (mut lines, mut footer) = (String::new(), String::new());
    let mut place = 0;
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(directive) = line.strip_prefix('%') {
            match directive.split_once(' ') {
                Some(("sent", n)) => footer = format!("{{\"event\":\"footer\",\"sent\":{n}}}\n"),
                _ if directive == "wall" => header = header.replace("monotonic", "wall"),
                _ => panic!("sketch: unknown directive `{line}`"),
            }
            continue;
        }
        row(line, place, &mut lines);
        place += 1;
    }
    let all = header + &lines + &footer;
    read(all.as_bytes(), &ReadOptions::default())
        .unwrap_or_else(|error| panic!("sketch: {error}\n{all}"))
}

fn row(line: &str, place: i64, out: &mut String) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [process, verb, key, input, outcome, rest @ ..] = &words[..] else {
        panic!("sketch: `{line}` has fewer than five words");
    };
    let mut output = "null".to_string();
    let (mut start, mut end) = (place * 10, place * 10 + 5);
    let mut more = String::new();
    let (mut id, mut node, mut epoch) = (place.to_string(), "null".into(), "null".into());
    for word in rest {
        if let Some(times) = word.strip_prefix('@') {
            let (a, b) = times.split_once("..").expect("times are @start..end");
            (start, end) = (number(a), number(b));
        } else if let Some((name, value)) = word.split_once('=').filter(|(n, _)| is_name(n)) {
            match name {
                "node" => node = json(value),
                "rev" => write!(more, ",\"revision\":{value}").expect("a string grows"),
                "id" => id = json(value),
                _ => epoch = json(value),
            }
        } else {
            output = json(word);
        }
    }
    let unknown = *outcome == "unknown";
    let end = if unknown { "null".to_string() } else { end.to_string() };
    let error = if *outcome == "fail" { "\"failed\"" } else { "null" };
    assert!(["ok", "fail", "unknown"].contains(outcome), "sketch: outcome in `{line}`");
    writeln!(
        out,
        "{{\"op_id\":{id},\"process_id\":{},\"op_type\":{},\"key\":{},\"input\":{},\
         \"output\":{output},\"invoke_ts\":{start},\"complete_ts\":{end},\"error\":{error},\
         \"timeout_marker\":{unknown},\"node_seen\":{node},\"fault_epoch\":{epoch}{more}}}",
        json(process),
        json(verb),
        json(key),
        json(input),
    )
    .expect("a string grows");
}

fn is_name(word: &str) -> bool {
    ["node", "rev", "id", "epoch"].contains(&word)
}

fn number(text: &str) -> i64 {
    text.parse().unwrap_or_else(|_| panic!("sketch: `{text}` is no time"))
}

/// A word as JSON: bare words are strings.
fn json(word: &str) -> String {
    let bare = !matches!(word, "null" | "true" | "false")
        && !word.starts_with(['[', '{', '"'])
        && word.parse::<f64>().is_err();
    match word {
        "-" => "null".to_string(),
        _ if bare => format!("\"{word}\""),
        _ => word.to_string(),
    }
}

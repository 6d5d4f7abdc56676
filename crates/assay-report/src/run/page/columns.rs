//! The operations of a trial as one compressed block of bytes, for the script of the page.
//!
//! Layout before compression (gzip, then base64):
//!
//! | bytes | what |
//! |---|---|
//! | 4 | length of the head, little endian |
//! | head | JSON: counts, names, fault windows, marks, and `columns`: name and length of each |
//! | the rest | the columns, in the order of the head |
//!
//! Rows are sorted by start. Numbers are variable-length: seven bits a byte, lowest first, the
//! high bit says that more follow. `start` holds differences. `span` is the duration plus one, or
//! zero if there is no end. `row` is the original number, as a difference to the one expected,
//! folded so that small negative numbers stay small. In a column of texts zero means "the next
//! text that was not used yet", anything else is the number of a text plus one; so a column of
//! texts that never repeat costs next to nothing. A table of texts is UTF-8, one line each.

use super::super::ops::{OPEN, OpTable, TextColumn};
use super::super::view::{TrialView, outcome_byte};
use crate::clean;
use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};
use std::io::Write;

/// Balances the time to write a page against its size.
const LEVEL: u32 = 5;
const LABEL_CELLS_MAX: usize = 120;
/// More fault windows of a trial are left out of its timeline.
pub(super) const WINDOWS_MAX: usize = 1_000;
/// More marks of a trial are left out of its timeline.
pub(super) const MARKS_MAX: usize = 1_000;

/// The block for one trial, in base64.
pub(super) fn packed(trial: &TrialView) -> String {
    let ops = &trial.ops;
    let mut order: Vec<u32> = (0..ops.len() as u32).collect();
    order.sort_by_key(|&row| (ops.start_ns[row as usize], row));
    let mut columns: Vec<(&'static str, Vec<u8>)> = vec![
        ("start", starts(ops, &order)),
        ("span", spans(ops, &order)),
        ("outcome", order.iter().map(|&r| outcome_byte(ops.outcome[r as usize])).collect()),
        ("row", rows(&order)),
    ];
    if ops.from_schedule {
        columns.push(("late", numbers(order.iter().map(|&r| ops.late_ns[r as usize]))));
    }
    for (name, texts, column) in [
        ("process", "processes", &ops.process),
        ("kind", "kinds", &ops.kind),
        ("key", "keys", &ops.key),
        ("node", "nodes", &ops.node),
        ("epoch", "epochs", &ops.epoch),
        ("input", "inputs", &ops.input),
        ("output", "outputs", &ops.output),
    ] {
        let (ids, lines) = texts_in_order(column, &order);
        columns.push((name, ids));
        columns.push((texts, lines));
    }
    let head = head(trial, &columns).to_string();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::new(LEVEL));
    let mut put = |bytes: &[u8]| gzip.write_all(bytes).expect("vectors grow");
    put(&u32::try_from(head.len()).expect("the head is limited").to_le_bytes());
    put(head.as_bytes());
    columns.iter().for_each(|(_, bytes)| put(bytes));
    base64(&gzip.finish().expect("vectors grow"))
}

fn head(trial: &TrialView, columns: &[(&'static str, Vec<u8>)]) -> Value {
    let columns: Vec<Value> =
        columns.iter().map(|(name, bytes)| json!([name, bytes.len()])).collect();
    let line = |text: &str| clean::line(text, LABEL_CELLS_MAX);
    let windows = trial.windows.iter().take(WINDOWS_MAX).map(|window| {
        json!({
            "label": line(&window.label),
            "start": window.start_ns,
            "end": window.end_ns,
            "landed": window.landed().name(),
            "injector": line(&window.injector.numbers()),
            "victim": line(&window.victim.numbers()),
        })
    });
    let known = trial.marks.iter().filter(|mark| mark.op < trial.ops.len()).take(MARKS_MAX);
    let marks = known.map(|mark| json!({ "row": mark.op, "title": line(&mark.title) }));
    json!({
        "ops": trial.ops.len(),
        "duration": trial.duration_ns.min(super::super::ops::TIME_NS_MAX),
        "columns": columns,
        "windows": windows.collect::<Vec<Value>>(),
        "marks": marks.collect::<Vec<Value>>(),
    })
}

fn number(out: &mut Vec<u8>, mut n: u64) {
    while n > 0x7f {
        out.push((n & 0x7f) as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

fn numbers(all: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut out = Vec::new();
    all.for_each(|n| number(&mut out, n));
    out
}

fn starts(ops: &OpTable, order: &[u32]) -> Vec<u8> {
    let mut before = 0;
    numbers(order.iter().map(|&row| {
        let start = ops.start_ns[row as usize];
        start - std::mem::replace(&mut before, start)
    }))
}

fn spans(ops: &OpTable, order: &[u32]) -> Vec<u8> {
    numbers(order.iter().map(|&row| match ops.end_ns[row as usize] {
        OPEN => 0,
        end => end - ops.start_ns[row as usize] + 1,
    }))
}

fn rows(order: &[u32]) -> Vec<u8> {
    let mut expected = 0_i64;
    numbers(order.iter().map(|&row| {
        let difference = i64::from(row) - std::mem::replace(&mut expected, i64::from(row) + 1);
        ((difference << 1) ^ (difference >> 63)) as u64
    }))
}

/// The ids of a column in order of first use, and the texts in that order.
fn texts_in_order(column: &TextColumn, order: &[u32]) -> (Vec<u8>, Vec<u8>) {
    const UNUSED: u32 = u32::MAX;
    let mut place = vec![UNUSED; column.texts.len()];
    let (mut ids, mut lines, mut used) = (Vec::new(), Vec::new(), 0_u32);
    for &row in order {
        let id = column.ids[row as usize] as usize;
        if place[id] == UNUSED {
            place[id] = used;
            used += 1;
            ids.push(0);
            lines.extend_from_slice(column.texts[id].as_bytes());
            lines.push(b'\n');
        } else {
            number(&mut ids, u64::from(place[id]) + 1);
        }
    }
    (ids, lines)
}

/// Bytes as text that fits between two tags.
pub(super) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place > chunk.len() { '=' } else { char::from(digit) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::super::ops::OpRow;
    use super::*;

    #[test]
    fn bytes_become_base64() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
            ("\u{ffff}", "77+/"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn numbers_take_as_many_bytes_as_they_need() {
        assert_eq!(numbers([0, 127, 128, 300].into_iter()), [0, 127, 0x80, 1, 0xac, 2]);
        assert_eq!(numbers([u64::MAX].into_iter()).len(), 10);
    }

    #[test]
    fn rows_are_sorted_by_start_and_remember_where_they_were() {
        let mut ops = OpTable::default();
        for (start_ns, key) in [(50, "b"), (10, "a"), (50, "a")] {
            ops.push(&OpRow { start_ns, end_ns: Some(60), key, ..OpRow::default() });
        }
        let order = [1, 0, 2];
        assert_eq!(starts(&ops, &order), [10, 40, 0]);
        assert_eq!(spans(&ops, &order), [51, 11, 11]);
        assert_eq!(rows(&order), [2, 3, 2], "1, then 2 early by two, then 1 late by one");
        assert_eq!(texts_in_order(&ops.key, &order), (vec![0, 0, 1], b"a\nb\n".to_vec()));
    }
}

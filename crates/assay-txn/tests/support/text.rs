//! Simulated histories as text, in the two notations people have.

use super::simdb::{Record, SimMop, What, Workload};
use std::io::Write;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notation {
    Json,
    Edn,
}

/// Writes one record as a line.
pub fn write_record(
    out: &mut impl Write,
    notation: Notation,
    workload: Workload,
    index: usize,
    record: &Record,
) {
    let (word, comma) = match notation {
        Notation::Json => ("\"", ","),
        Notation::Edn => (":", " "),
    };
    let close = if notation == Notation::Json { "\"" } else { "" };
    let what = match record.what {
        What::Invoke => "invoke",
        What::Ok => "ok",
        What::Fail => "fail",
        What::Info => "info",
    };
    match notation {
        Notation::Json => write!(
            out,
            "{{\"index\":{index},\"time\":{},\"type\":\"{what}\",\"process\":{},\"f\":\"txn\",\
             \"value\":[",
            index * 1000,
            record.process
        ),
        Notation::Edn => write!(
            out,
            "{{:index {index}, :time {}, :type :{what}, :process {}, :f :txn, :value [",
            index * 1000,
            record.process
        ),
    }
    .expect("the buffer grows");
    let write = match workload {
        Workload::ListAppend => "append",
        Workload::RwRegister => "w",
        Workload::SetAdd => "add",
        Workload::CounterInc => "inc",
    };
    for (i, mop) in record.mops.iter().enumerate() {
        let separator = if i > 0 { comma } else { "" };
        match mop {
            SimMop::Write(key, value) => {
                let value = if workload == Workload::CounterInc { amount(*value) } else { *value };
                write!(out, "{separator}[{word}{write}{close}{comma}{key}{comma}{value}]")
            }
            SimMop::Read(key, seen) => {
                write!(out, "{separator}[{word}r{close}{comma}{key}{comma}")
                    .expect("the buffer grows");
                write_seen(out, notation, workload, record.what, seen);
                write!(out, "]")
            }
        }
        .expect("the buffer grows");
    }
    writeln!(out, "]}}").expect("the buffer grows");
}

fn write_seen(
    out: &mut impl Write,
    notation: Notation,
    workload: Workload,
    what: What,
    seen: &[u32],
) {
    let (null, comma) = match notation {
        Notation::Json => ("null", ","),
        Notation::Edn => ("nil", " "),
    };
    let nothing = what != What::Ok || (workload == Workload::RwRegister && seen.is_empty());
    if nothing {
        write!(out, "{null}").expect("the buffer grows");
        return;
    }
    if workload == Workload::RwRegister {
        write!(out, "{}", seen[seen.len() - 1]).expect("the buffer grows");
        return;
    }
    if workload == Workload::CounterInc {
        let sum: u32 = seen.iter().map(|&value| amount(value)).sum();
        write!(out, "{sum}").expect("the buffer grows");
        return;
    }
    let (open, close) = match (workload, notation) {
        (Workload::SetAdd, Notation::Edn) => ("#{", "}"),
        _ => ("[", "]"),
    };
    let mut seen = seen.to_vec();
    if workload == Workload::SetAdd {
        // In some order that is not that of the adds.
        seen.sort_by_key(|value| value.wrapping_mul(0x9E37_79B9));
        seen.dedup();
    }
    write!(out, "{open}").expect("the buffer grows");
    for (i, value) in seen.iter().enumerate() {
        let separator = if i > 0 { comma } else { "" };
        write!(out, "{separator}{value}").expect("the buffer grows");
    }
    write!(out, "{close}").expect("the buffer grows");
}

/// By how much an increment counts.
fn amount(value: u32) -> u32 {
    1 + value % 3
}

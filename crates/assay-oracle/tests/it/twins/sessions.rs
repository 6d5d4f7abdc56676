//! Session guarantees: pairs of versions, and all orders of values.

use super::{Gen, O, compare, orders};
use assay_oracle::Options;

/// Reads and writes of one or two keys; with versions, without, or mixed.
fn history(seed: u64) -> String {
    let mut random = Gen::new(seed, 3);
    let versioned = random.below(3);
    let mut written: Vec<Vec<usize>> = vec![Vec::new(); 2];
    for next in 1..=2 + random.below(8) {
        let (client, key) = (random.client(), random.below(2));
        let outcome = random.outcome();
        let version = random.below(6);
        let rest = match versioned {
            0 => String::new(),
            1 => format!("rev={version}"),
            _ if random.below(2) == 0 => format!("rev={version}"),
            _ => String::new(),
        };
        match random.below(10) {
            0 => random.line(client, "reconnect - -", "ok", ""),
            1..5 => {
                random.line(client, &format!("write {key} {next}"), outcome, &rest);
                written[key].push(next);
            }
            _ => {
                let value = match written[key].len() {
                    0 => "null".to_string(),
                    _ if random.below(5) == 0 => "null".to_string(),
                    n => written[key][random.below(n)].to_string(),
                };
                random.line(client, &format!("read {key} -"), outcome, &format!("{value} {rest}"));
            }
        }
    }
    random.text
}

/// The operations of each session and key, in order, with their places in the history.
fn sessions(ops: &[O]) -> Vec<Vec<&O>> {
    type Session<'a> = ((u32, usize, &'a str), Vec<&'a O>);
    let mut all: Vec<Session<'_>> = Vec::new();
    for (i, op) in ops.iter().enumerate() {
        let reconnects = ops[..=i]
            .iter()
            .filter(|other| other.client == op.client && other.verb == "reconnect")
            .count();
        let name = (op.client, reconnects, op.key.as_str());
        match all.iter_mut().find(|(other, _)| *other == name) {
            Some((_, list)) => list.push(op),
            None => all.push((name, vec![op])),
        }
    }
    all.into_iter().map(|(_, list)| list.into_iter().filter(|op| op.ok()).collect()).collect()
}

/// Whether some pair of a session has versions in the wrong order.
fn pair(ops: &[O], first: &str, second: &str, strictly: bool) -> bool {
    sessions(ops).iter().any(|session| {
        session.iter().enumerate().any(|(i, a)| {
            session[i + 1..].iter().any(|b| match (a.version, b.version) {
                (Some(x), Some(y)) if a.verb == first && b.verb == second => {
                    y < x || (strictly && x == y)
                }
                _ => false,
            })
        })
    })
}

/// Whether no order of values, the initial one first, fits a session. `fits` says whether a place
/// of each value does.
fn no_order(ops: &[O], fits: impl Fn(&[&O], &dyn Fn(&str) -> usize) -> bool) -> bool {
    sessions(ops).iter().any(|session| {
        let mut values: Vec<&str> = Vec::new();
        for op in session {
            let value = if op.verb == "read" { &op.output } else { &op.input };
            if value != "null" && !values.contains(&value.as_str()) {
                values.push(value);
            }
        }
        let places: Vec<usize> = (0..values.len()).collect();
        !orders(&places).into_iter().any(|order| {
            let place = |value: &str| match values.iter().position(|v| *v == value) {
                Some(at) => order[at] + 1,
                None => 0,
            };
            fits(session, &place)
        })
    })
}

#[test]
fn monotonic_reads_agrees_with_all_orders_of_values() {
    compare("monotonic-reads", &Options::default(), history, |ops| {
        let by_value = no_order(ops, |session, place| {
            let reads: Vec<usize> =
                session.iter().filter(|op| op.verb == "read").map(|op| place(&op.output)).collect();
            reads.windows(2).all(|pair| pair[0] <= pair[1])
        });
        by_value || pair(ops, "read", "read", false)
    });
}

#[test]
fn read_your_writes_agrees_with_all_orders_of_values() {
    compare("read-your-writes", &Options::default(), history, |ops| {
        let by_value = no_order(ops, |session, place| {
            let mut own = 0;
            session.iter().all(|op| {
                if op.verb == "write" {
                    // A session's own writes are taken in session order.
                    let rises = place(&op.input) > own;
                    own = place(&op.input);
                    rises
                } else {
                    op.verb != "read" || place(&op.output) >= own
                }
            })
        });
        by_value || pair(ops, "write", "read", false)
    });
}

#[test]
fn monotonic_writes_and_writes_follow_reads_agree_with_all_pairs() {
    compare("monotonic-writes", &Options::default(), history, |ops| {
        pair(ops, "write", "write", false)
    });
    compare("writes-follow-reads", &Options::default(), history, |ops| {
        pair(ops, "read", "write", true)
    });
}

/// The causal order as a full table, and the bad patterns by definition.
fn not_causal(ops: &[O]) -> bool {
    let n = ops.len();
    let relevant = |op: &O| (op.verb == "read" && op.ok()) || (op.verb == "write" && op.possible());
    let session = |i: usize| {
        let own = |op: &&O| op.client == ops[i].client && op.verb == "reconnect";
        (ops[i].client, ops[..=i].iter().filter(own).count())
    };
    let returns = |r: usize, w: usize| {
        let (read, write) = (&ops[r], &ops[w]);
        read.verb == "read"
            && read.ok()
            && write.verb == "write"
            && write.possible()
            && read.key == write.key
            && read.output == write.input
    };
    let mut before = vec![vec![false; n]; n];
    for i in 0..n {
        for j in 0..n {
            let both = relevant(&ops[i]) && relevant(&ops[j]);
            let in_session = both && i < j && ops[i].ok() && session(i) == session(j);
            before[i][j] = in_session || (both && returns(j, i));
        }
    }
    for k in 0..n {
        for i in 0..n {
            for j in 0..n {
                before[i][j] |= before[i][k] && before[k][j];
            }
        }
    }
    let cycle = (0..n).any(|i| before[i][i]);
    let phantom = (0..n).any(|r| {
        let read = ops[r].verb == "read" && ops[r].ok() && ops[r].output != "null";
        read && !(0..n).any(|w| returns(r, w))
    });
    let overwritten = (0..n).filter(|&r| ops[r].verb == "read" && ops[r].ok()).any(|r| {
        let source = (0..n).find(|&w| returns(r, w));
        (0..n).any(|w| {
            let other = ops[w].verb == "write" && ops[w].key == ops[r].key && Some(w) != source;
            other
                && ops[w].possible()
                && before[w][r]
                && match source {
                    Some(source) => before[source][w],
                    None => ops[r].output == "null",
                }
        })
    });
    cycle || phantom || overwritten
}

#[test]
fn causal_agrees_with_the_closure_of_the_causal_order() {
    let two_keys = |seed: u64| {
        let mut random = Gen::new(seed, 3);
        let count = 3 + random.below(9);
        // Values are chosen before they are written, so that reads may come from the future.
        for next in 1..=count {
            let (client, key, outcome) = (random.client(), random.below(2), random.outcome());
            match random.below(12) {
                0 => random.line(client, "reconnect - -", "ok", ""),
                1..6 => random.line(client, &format!("write {key} {next}"), outcome, ""),
                _ => {
                    let value = random.below(count + 2);
                    let value = if value == 0 { "null".into() } else { value.to_string() };
                    random.line(client, &format!("read {key} -"), outcome, &value);
                }
            }
        }
        random.text
    };
    compare("causal", &Options::default(), two_keys, not_causal);
    compare("causal", &Options::default(), history, not_causal);
}

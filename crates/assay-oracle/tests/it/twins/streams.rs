//! Order and queues, by looking at every pair.

use super::{Gen, O, compare};
use assay_oracle::Options;

/// Producers, then deliveries that are mostly in order.
fn history(seed: u64, send: &str, take: &str, positions: bool) -> String {
    let mut random = Gen::new(seed, 4);
    let count = 2 + random.below(4);
    for element in 0..count {
        let (client, outcome) = (random.below(2), random.outcome());
        let position = if positions { format!("rev={element}") } else { String::new() };
        random.line(client, &format!("{send} q {element}"), outcome, &position);
    }
    let base = random.clocks[0].max(random.clocks[1]);
    if random.below(2) == 0 {
        (random.clocks[2], random.clocks[3]) = (base, base);
    }
    let mut next = 0;
    for _ in 0..1 + random.below(5) {
        let client = 2 + random.below(2);
        let element = match random.below(6) {
            0 => random.below(count + 1),
            1 => next + 1,
            _ => next,
        };
        next = element + 1;
        let outcome = ["ok", "ok", "ok", "ok", "ok", "ok", "unknown"][random.below(7)];
        let shown = match random.below(8) {
            0 => "null".to_string(),
            1 => format!("[{element},{next}]"),
            _ => element.to_string(),
        };
        random.line(client, &format!("{take} q -"), outcome, &shown);
    }
    if random.below(3) == 0 {
        let left: Vec<String> = (next..count).map(|e| e.to_string()).collect();
        random.last("drain q -", &format!("[{}]", left.join(",")));
    }
    random.text
}

/// What an operation handed over.
fn handed(op: &O) -> Vec<String> {
    match op.output.as_str() {
        "null" => Vec::new(),
        list if list.starts_with('[') => op.items(),
        one => vec![one.to_string()],
    }
}

fn out_of_order(ops: &[O], window: usize, positions: bool) -> bool {
    let sends: Vec<&O> = ops.iter().filter(|op| op.verb == "send" && op.possible()).collect();
    let sent = |item: &str| sends.iter().copied().find(|op| op.input == item);
    let first = |a: &O, b: &O| match positions {
        true => a.ok() && b.ok() && a.version < b.version,
        false => a.client == b.client && a.ok() && a.end < b.start,
    };
    let mut clients: Vec<u32> = ops.iter().map(|op| op.client).collect();
    clients.dedup();
    clients.iter().any(|&client| {
        let takes = ops.iter().filter(|op| op.client == client && op.verb == "recv" && op.ok());
        let seen: Vec<String> = takes.flat_map(handed).collect();
        let inserted = seen.iter().any(|item| sent(item).is_none());
        let twice = (1..seen.len()).any(|i| seen[..i].contains(&seen[i]));
        let reordered = (0..seen.len()).any(|i| {
            (i + window + 1..seen.len()).any(|j| match (sent(&seen[i]), sent(&seen[j])) {
                (Some(early), Some(late)) => !seen[..j].contains(&seen[j]) && first(late, early),
                _ => false,
            })
        });
        let settled = seen.len().saturating_sub(window);
        let skipped = sends.iter().any(|x| {
            let later = |item: &String| sent(item).is_some_and(|y| first(x, y));
            x.ok() && !seen.contains(&x.input) && seen[..settled].iter().any(later)
        });
        inserted || twice || reordered || skipped
    })
}

#[test]
fn order_agrees_with_looking_at_every_pair() {
    for window in [0, 1] {
        for positions in [false, true] {
            let options = Options { reorder_window: window, ..Options::default() };
            let write = |seed| history(seed, "send", "recv", positions);
            // Where every send failed or is unknown there are no positions to go by.
            compare("order", &options, write, |ops| {
                let any_ok = ops.iter().any(|op| op.verb == "send" && op.ok());
                out_of_order(ops, window, positions && any_ok)
            });
        }
    }
}

fn bad_queue(ops: &[O], total: bool) -> bool {
    let sends: Vec<&O> = ops.iter().filter(|op| op.verb == "enqueue" && op.possible()).collect();
    let outs: Vec<&O> = ops
        .iter()
        .filter(|op| op.ok() && ["dequeue", "drain"].contains(&op.verb.as_str()))
        .collect();
    let all: Vec<(String, &O)> =
        outs.iter().flat_map(|op| handed(op).into_iter().map(move |item| (item, *op))).collect();
    let wrong_number = all.iter().any(|(item, _)| {
        let times = all.iter().filter(|(other, _)| other == item).count();
        times > sends.iter().filter(|op| op.input == *item).count()
    });
    let taken = |send: &O| {
        let found = all.iter().find(|(item, _)| *item == send.input);
        found.map(|(_, op)| *op).filter(|op| op.verb == "dequeue")
    };
    let overtaken = sends.iter().filter(|x| x.ok()).any(|x| {
        sends.iter().filter(|y| y.ok() && x.end < y.start).any(|y| {
            let line = total || x.client == y.client;
            let out = match (taken(x), taken(y)) {
                (Some(of_x), Some(of_y)) => of_y.end < of_x.start,
                _ => false,
            };
            line && out
        })
    });
    let lost = ops.iter().find(|op| op.verb == "drain").is_some_and(|drain| {
        let missing = sends.iter().filter(|op| {
            op.ok() && op.end < drain.start && !all.iter().any(|(item, _)| *item == op.input)
        });
        let swallowers = ops.iter().filter(|op| op.verb == "dequeue" && op.possible() && !op.ok());
        missing.count() > swallowers.count()
    });
    wrong_number || overtaken || lost
}

#[test]
fn queues_agree_with_looking_at_every_pair() {
    let write = |seed| history(seed, "enqueue", "dequeue", false);
    compare("queue", &Options::default(), write, |ops| bad_queue(ops, true));
    compare("fifo-producer", &Options::default(), write, |ops| bad_queue(ops, false));
}

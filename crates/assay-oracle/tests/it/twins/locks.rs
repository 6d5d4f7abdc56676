//! Locks and leases, moment by moment.

use super::{Gen, O, compare};
use assay_oracle::Options;

fn history(seed: u64, lease: bool) -> String {
    let mut random = Gen::new(seed, 3);
    let mut token = 0;
    for _ in 0..2 + random.below(7) {
        let (client, outcome) = (random.client(), random.outcome());
        // Often after everybody else, so that not all histories are broken.
        if random.below(4) > 0 {
            let latest = *random.clocks.iter().max().unwrap();
            random.clocks[client] = latest + random.below(12) as i64;
        }
        match random.below(if lease { 4 } else { 3 }) {
            0 | 1 => {
                token += 1;
                let shown = if random.below(20) == 0 { token - 1 } else { token };
                let shown = if random.below(2) == 0 { shown.to_string() } else { "null".into() };
                random.line(client, "acquire l -", outcome, &shown);
                random.clocks[client] += random.below(4) as i64;
                if random.below(4) > 0 {
                    let outcome = random.outcome();
                    random.line(client, "release l -", outcome, "");
                }
            }
            2 => {
                let used = token.max(1) - random.below(2);
                random.line(client, &format!("use l {used}"), outcome, "");
            }
            _ => random.line(client, "renew l -", outcome, ""),
        }
    }
    random.text
}

/// Whether a client certainly holds at a moment, told from its own operations up to then.
fn holds(ops: &[&O], twice_the_moment: i64, ttl: Option<i64>) -> bool {
    let mut until: Option<i64> = None;
    for op in ops {
        match op.verb.as_str() {
            "acquire" | "renew" if op.ok() && 2 * op.end <= twice_the_moment => {
                let expiry = ttl.map_or(i64::MAX, |ttl| 2 * (op.start + ttl));
                until = Some(expiry);
            }
            "release" if op.possible() && 2 * op.start <= twice_the_moment => until = None,
            _ => {}
        }
    }
    until.is_some_and(|until| twice_the_moment < until)
}

fn broken(ops: &[O], ttl: Option<i64>) -> bool {
    let clients: Vec<Vec<&O>> =
        (0..4).map(|client| ops.iter().filter(|op| op.client == client).collect()).collect();
    let end = 2 * ops.iter().map(|op| op.start).max().unwrap_or(0) + 400;
    // Halves of moments, so that spans between two neighbouring times are seen.
    let two =
        (0..end).any(|moment| clients.iter().filter(|own| holds(own, moment, ttl)).count() > 1);
    let unheld = clients.iter().any(|own| {
        own.iter().enumerate().any(|(i, op)| {
            let tried = own[..i].iter().any(|op| op.verb == "acquire" && op.possible());
            op.verb == "release" && op.ok() && !tried
        })
    });
    let number = |op: &O| {
        let text = if op.verb == "use" { &op.input } else { &op.output };
        text.parse::<i64>().ok()
    };
    let tokens = ops.iter().any(|a| {
        ops.iter().any(|b| {
            let pair = a.verb == b.verb && a.ok() && b.ok() && a.end < b.start;
            match (number(a), number(b)) {
                (Some(x), Some(y)) if pair && a.verb == "use" => y < x,
                (Some(x), Some(y)) if pair && a.verb == "acquire" => {
                    y < x || (y == x && a.client != b.client)
                }
                _ => false,
            }
        })
    });
    two || unheld || tokens
}

#[test]
fn lock_agrees_with_looking_at_every_moment() {
    let write = |seed| history(seed, false);
    compare("lock", &Options::default(), write, |ops| broken(ops, None));
}

#[test]
fn lease_agrees_with_looking_at_every_moment() {
    let options = Options { lease_ttl_ns: Some(9), ..Options::default() };
    compare("lease", &options, |seed| history(seed, true), |ops| broken(ops, Some(9)));
}

//! Lost acknowledgements, effects and sets: by definition, and by all orders of writes.

use super::{Gen, O, compare, orders};
use assay_oracle::Options;

fn list(items: &[usize]) -> String {
    let texts: Vec<String> = items.iter().map(ToString::to_string).collect();
    format!("[{}]", texts.join(","))
}

#[test]
fn no_lost_ack_of_elements_agrees_with_the_definition() {
    let history = |seed: u64| {
        let mut random = Gen::new(seed, 3);
        let mut present = Vec::new();
        for element in 0..1 + random.below(6) {
            let (client, outcome) = (random.client(), random.outcome());
            random.line(client, &format!("add - {element}"), outcome, "");
            if random.below(8) > 0 {
                present.push(element);
            }
            if random.below(10) == 0 {
                let (client, outcome) = (random.client(), random.outcome());
                random.line(client, &format!("remove - {element}"), outcome, "");
            }
        }
        // Sometimes the dump overlaps the end of the run.
        let shown = list(&present);
        if random.below(3) == 0 {
            random.line(0, "final - -", "ok", &shown);
        } else {
            random.last("final - -", &shown);
        }
        random.text
    };
    compare("no-lost-ack", &Options::default(), history, |ops| {
        let dump = ops.iter().find(|op| op.verb == "final").unwrap();
        ops.iter().any(|add| {
            let removed =
                ops.iter().any(|op| op.verb == "remove" && op.possible() && op.input == add.input);
            add.verb == "add"
                && add.ok()
                && add.end < dump.start
                && !removed
                && !dump.items().contains(&add.input)
        })
    });
}

/// Whether some order of the writes that respects real time leaves a value for the dump.
fn explained(writes: &[&O], dump: &O, value: &str) -> bool {
    let all: Vec<usize> = (0..writes.len()).collect();
    (0..1u32 << writes.len()).any(|chosen| {
        let there = |i: usize| chosen & (1 << i) != 0;
        // What was acknowledged before the dump has happened; what began after it has not.
        let lawful = all.iter().all(|&i| {
            (there(i) || !(writes[i].ok() && writes[i].end < dump.start))
                && (!there(i) || writes[i].start <= dump.end)
        });
        let happened: Vec<usize> = all.iter().copied().filter(|&i| there(i)).collect();
        lawful
            && orders(&happened).iter().any(|order| {
                let respects = (0..order.len()).all(|i| {
                    (i + 1..order.len()).all(|j| writes[order[j]].end >= writes[order[i]].start)
                });
                let last = order.last().map_or("null", |&i| writes[i].input.as_str());
                respects && last == value
            })
    })
}

#[test]
fn no_lost_ack_of_values_agrees_with_all_orders_of_writes() {
    let history = |seed: u64| {
        let mut random = Gen::new(seed, 3);
        let count = 1 + random.below(4);
        for value in 0..count {
            let (client, outcome) = (random.client(), random.outcome());
            random.line(client, &format!("write x {value}"), outcome, "");
        }
        let value = match random.below(count + 2) {
            0 => "null".to_string(),
            value => (value - 1).to_string(),
        };
        let shown = format!("{{\"x\":{value}}}");
        if random.below(2) == 0 {
            random.line(0, "final - -", "ok", &shown);
        } else {
            random.last("final - -", &shown);
        }
        random.text
    };
    compare("no-lost-ack", &Options::default(), history, |ops| {
        let dump = ops.iter().find(|op| op.verb == "final").unwrap();
        let writes: Vec<&O> = ops.iter().filter(|op| op.verb == "write" && op.possible()).collect();
        let due = writes.iter().any(|op| op.ok() && op.end < dump.start);
        let shown: serde_json::Value = serde_json::from_str(&dump.output).unwrap();
        due && !explained(&writes, dump, &shown["x"].to_string())
    });
}

#[test]
fn exactly_once_agrees_with_counting() {
    let history = |seed: u64| {
        let mut random = Gen::new(seed, 3);
        let mut effects = Vec::new();
        for _ in 0..1 + random.below(5) {
            let (client, outcome, key) = (random.client(), random.outcome(), random.below(4));
            random.line(client, &format!("pay - {{\"id\":{key}}}"), outcome, "id=-1");
            if !effects.contains(&key) && random.below(4) > 0 {
                effects.push(key);
            }
        }
        if random.below(6) == 0 {
            effects.push(random.below(4));
        }
        random.last("final - -", &list(&effects));
        random.text
    };
    let count = |ops: &[O], promise: &str| {
        let dump = ops.last().unwrap();
        (0..4).any(|key| {
            let wanted = format!("{{\"id\":{key}}}");
            let attempts: Vec<&O> = ops.iter().filter(|op| op.input == wanted).collect();
            let effects = dump.items().iter().filter(|item| **item == key.to_string()).count();
            let twice = effects > 1 && promise != "at-least-once";
            let due = attempts.iter().any(|op| op.ok() && op.end < dump.start);
            let missing = effects == 0 && due && promise != "at-most-once";
            let rejected = effects > 0 && !attempts.is_empty();
            let rejected = rejected && attempts.iter().all(|op| !op.possible());
            twice || missing || rejected
        })
    };
    let options = Options { business_key: Some("id".into()), ..Options::default() };
    for promise in ["exactly-once", "at-least-once", "at-most-once"] {
        compare(promise, &options, history, |ops| count(ops, promise));
    }
}

#[test]
fn set_agrees_with_looking_at_every_read_of_every_element() {
    let history = |seed: u64| {
        let mut random = Gen::new(seed, 3);
        let count = 1 + random.below(3);
        let mut added = Vec::new();
        for next in 0..3 + random.below(5) {
            let (client, outcome) = (random.client(), random.outcome());
            if next < count {
                random.line(client, &format!("add - {next}"), outcome, "");
                added.push(next);
                continue;
            }
            let mut shown: Vec<usize> = Vec::new();
            for &element in &added {
                if random.below(5) > 0 {
                    shown.push(element);
                }
            }
            if random.below(40) == 0 {
                shown.push(0);
            }
            random.line(client, "read - -", outcome, &list(&shown));
        }
        random.text
    };
    compare("set", &Options::default(), history, |ops| {
        let reads: Vec<&O> = ops.iter().filter(|op| op.verb == "read" && op.ok()).collect();
        reads.iter().any(|read| {
            let items = read.items();
            let twice = (1..items.len()).any(|i| items[..i].contains(&items[i]));
            let stranger = items.iter().any(|item| {
                !ops.iter().any(|op| op.verb == "add" && op.possible() && op.input == *item)
            });
            let gone = ops.iter().filter(|op| op.verb == "add" && op.possible()).any(|add| {
                let known = |op: &&O| {
                    let shows = op.verb == "read" && op.items().contains(&add.input);
                    op.ok() && op.end < read.start && (shows || op.input == add.input)
                };
                ops.iter().any(|op| known(&op)) && !items.contains(&add.input)
            });
            twice || stranger || gone
        })
    });
}

//! Witnesses as they occur, for the golden tests and the gallery.

use assay_report::{
    Band, Bar, Fact, Lane, Mark, Order, Outcome, Page, Ring, RingNode, Role, Step, Story, Stuck,
    Table, TimeUnit, Timeline, Verdict,
};

/// Every sample with the name of its files.
pub fn all() -> Vec<(&'static str, Timeline)> {
    vec![
        ("stale-read", stale_read()),
        ("eight-clients", eight_clients()),
        ("unknown-write", unknown_write()),
        ("pipelined", pipelined()),
        ("faults", faults()),
        ("one-bar", one_bar()),
        ("empty", Timeline::default()),
    ]
}

fn lanes(names: &[&str]) -> Vec<Lane> {
    names.iter().map(|&name| Lane::new(name)).collect()
}

fn op(lane: usize, start: i64, end: i64, label: &str) -> Bar {
    let detail = format!("op {start}, line {}, node n{}", start % 977, lane % 3 + 1);
    Bar { lane, start, end: Some(end), label: label.into(), detail, ..Bar::default() }
}

fn nth(order: u32, bar: Bar) -> Bar {
    Bar { order: Some(order), ..bar }
}

fn refuted(bar: Bar) -> Bar {
    Bar { role: Role::Refuted, ..bar }
}

fn context(bar: Bar) -> Bar {
    Bar { role: Role::Context, ..bar }
}

fn unknown(bar: Bar) -> Bar {
    Bar { outcome: Outcome::Unknown, ..bar }
}

fn stale_read() -> Timeline {
    Timeline {
        title: "key \"x\": a stale read".into(),
        subtitle: "client 3 read 3 although write 4 had completed and client 2 had read it.".into(),
        lanes: lanes(&["client 1", "client 2", "client 3"]),
        bars: vec![
            nth(1, context(op(0, 1_000_000, 1_420_000, "write 3"))),
            nth(2, op(0, 2_000_000, 3_204_000, "write 4")),
            nth(3, op(1, 2_600_000, 3_900_000, "read → 4")),
            refuted(op(2, 4_100_000, 4_900_000, "read → 3")),
        ],
        ..Timeline::default()
    }
}

fn eight_clients() -> Timeline {
    let mut bars: Vec<Bar> = (0..8)
        .map(|i| {
            let start = 100 * i as i64;
            let bar = op(i, start, 2_000 + (i as i64 * 733) % 1_900, &format!("write {i}"));
            if i == 5 { Bar { outcome: Outcome::Fail, ..bar } } else { nth(i as u32 + 1, bar) }
        })
        .collect();
    bars.push(nth(9, op(0, 4_000, 5_000_000, "read → 7")));
    bars.push(refuted(op(1, 4_500, 4_700, "read → 2")));
    bars.push(context(op(6, 4_100, 4_600, "cas [7, 12] → false")));
    bars.push(context(op(7, 4_650, 4_650, "read → 7")));
    Timeline {
        title: "key 17: eight clients at once".into(),
        lanes: (0..8).map(|i| Lane::new(format!("p{i}"))).collect(),
        bars,
        time_unit: TimeUnit::Microseconds,
        ..Timeline::default()
    }
}

fn unknown_write() -> Timeline {
    Timeline {
        title: "key \"cart/1\": a write that timed out appears and disappears".into(),
        lanes: lanes(&["worker-a", "worker-b", "worker-c"]),
        bars: vec![
            nth(2, unknown(op(0, 10, 5_000_000_010, "write 9"))),
            unknown(Bar { end: None, ..op(0, 6_000_000_000, 0, "write 11") }),
            nth(1, op(1, 0, 30, "write 7")),
            nth(3, op(2, 7_000_000_000, 7_000_400_000, "read → 9")),
            refuted(op(2, 7_000_500_000, 7_000_900_000, "read → 7")),
        ],
        ..Timeline::default()
    }
}

fn pipelined() -> Timeline {
    Timeline {
        title: "queue \"jobs\": one client with four requests in flight".into(),
        lanes: lanes(&["pipelined client", "consumer"]),
        bars: vec![
            nth(1, op(0, 0, 40, "enqueue {\"job\":1}")),
            nth(2, op(0, 5, 45, "enqueue {\"job\":2}")),
            op(0, 10, 12, "enqueue {\"job\":3}"),
            op(0, 12, 50, "enqueue {\"job\":4}"),
            nth(3, op(1, 60, 61, "dequeue → {\"job\":2}")),
            refuted(op(1, 61, 62, "dequeue → {\"job\":1}")),
            context(op(1, 62, 63, "dequeue → null")),
        ],
        time_unit: TimeUnit::Milliseconds,
        ..Timeline::default()
    }
}

fn faults() -> Timeline {
    let ms = 1_000_000;
    Timeline {
        title: "key \"lease\": two holders under a partition".into(),
        subtitle: "The old leader kept serving after the new one had granted the lease.".into(),
        lanes: lanes(&["client 1", "client 2", "client 3"]),
        bars: vec![
            nth(1, op(0, 0, 3 * ms, "acquire → 41")),
            nth(2, op(1, 40 * ms, 95 * ms, "acquire → 42")),
            nth(3, op(1, 99 * ms, 110 * ms, "use 42")),
            refuted(op(0, 3_600_000 * ms, 3_600_001 * ms, "use 41")),
            context(op(2, 50 * ms, 3_600_002 * ms, "read the log of everything that was granted")),
        ],
        bands: vec![
            Band {
                label: "partition {n1} | {n2 n3}".into(),
                start: -500,
                end: Some(3_600_000 * ms),
            },
            Band { label: "clock skew n1 +200 ms".into(), start: 97 * ms, end: None },
            Band { label: "kill -9 n3".into(), start: -9_000, end: Some(-8_000) },
        ],
        marks: vec![Mark { label: "n2 elected".into(), at: 40 * ms }],
        ..Timeline::default()
    }
}

fn one_bar() -> Timeline {
    Timeline {
        title: "one operation".into(),
        lanes: lanes(&["only"]),
        bars: vec![refuted(op(0, 7, 7, "read → 1"))],
        time_unit: TimeUnit::Steps("line".into()),
        ..Timeline::default()
    }
}

/// Two transactions, each before the other.
fn write_skew() -> Story {
    let node = |name: &str, text: &str, kind: &str, next: &str| RingNode {
        name: name.into(),
        text: text.into(),
        kind: kind.into(),
        next: next.into(),
    };
    Story {
        ring: Ring {
            title: "G2-item <i>".into(),
            nodes: vec![
                node("T1", "r x [], append y 1", "rw", "x: without 2"),
                node("T2", "r y [], append x \"2\"", "realtime", "real time"),
            ],
        },
        lines: vec!["T1 < T2 < T1".into()],
    }
}

/// A report with everything in it.
pub fn page() -> Page {
    let stuck =
        |label: &str, reason: &str| Some(Stuck { label: label.into(), reason: reason.into() });
    Page {
        stories: vec![write_skew()],
        verdict: Verdict::Refuted,
        headline: "orders.jsonl is not linearizable: 2 of 12 keys have no valid order".into(),
        explanation: vec![
            "On key \"x\", client 3 read 3 after client 2 had read 4. Once 4 was seen, a register \
             can only show 4 or something newer, and nothing newer was written."
                .into(),
            "Each of the other 10 keys has a valid order.".into(),
        ],
        timelines: vec![stale_read(), faults()],
        orders: vec![
            Order {
                title: "The longest order found".into(),
                placed: vec![
                    Step::new("write 3", "x = 3"),
                    Step::new("write 4", "x = 4"),
                    Step::new("read → 4", "x = 4"),
                ],
                stuck: stuck("read → 3", "the register holds 4"),
            },
            Order {
                title: "With the stale read as early as possible".into(),
                placed: vec![Step::new("write 3", "x = 3")],
                stuck: stuck("read → 3", "it was invoked after write 4 had completed"),
            },
        ],
        facts: vec![
            Fact::new("file", "orders.jsonl"),
            Fact::new("model", "register, initially null"),
            Fact::new("operations", "4,812 ok, 31 failed, 7 unknown"),
            Fact::new("keys", "12"),
            Fact::new("algorithm", "just-in-time linearization"),
            Fact::new("seed", "0x5eed"),
        ],
        tables: vec![Table {
            title: "Calibration".into(),
            head: vec!["corruption".into(), "copies".into(), "caught".into()],
            rows: vec![
                vec!["a read returns the previous value".into(), "40".into(), "40".into()],
                vec!["an acknowledged write is lost".into(), "40".into(), "39".into()],
            ],
        }],
        reproduce: vec!["assay check orders.jsonl --model register --seed 0x5eed".into()],
        notes: vec!["Times come from one monotonic clock.".into()],
        certificate: "{\n  \"kind\": \"refuted\",\n  \"key\": \"x\",\n  \"ops\": [3, 7, 9, 11]\n}"
            .into(),
    }
}

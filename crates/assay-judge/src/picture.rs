//! A witness as a picture: operations on a line of time, or transactions on a circle.

use assay_check::{ModelKind, PartReport, Refutation, phrase, sentence};
use assay_history::{History, NEVER, OpIndex, Order, Outcome, ProcessId};
use assay_report::{Band, Bar, Lane, Ring, RingNode, Role, TimeUnit, Timeline};

/// How many operations that could have helped, and did not, are drawn beside a witness.
const CONTEXT_MAX: usize = 12;

/// What `assay-report` draws.
#[derive(Clone, PartialEq, Debug)]
pub enum Picture {
    /// Operations, a lane for each client.
    Timeline(Timeline),
    /// Transactions that must each come before the next.
    Ring(Ring),
}

impl Picture {
    /// It as SVG.
    pub fn svg(&self) -> String {
        match self {
            Picture::Timeline(timeline) => assay_report::svg(timeline),
            Picture::Ring(ring) => assay_report::ring_svg(ring),
        }
    }
}

/// The key (and element) a part is about, as text; empty for the `null` key.
pub fn object(history: &History, part: &PartReport) -> String {
    let values = &history.values;
    let key = match part.key.is_null() {
        true => String::new(),
        false => format!("key {}", values.show(part.key)),
    };
    match part.element {
        Some(element) if key.is_empty() => format!("element {}", values.show(element)),
        Some(element) => format!("{key}, element {}", values.show(element)),
        None => key,
    }
}

/// The witness of a refutation: the operation that cannot be placed is marked, and those of the
/// best order are numbered.
pub fn refutation(history: &History, model: ModelKind, refutation: &Refutation) -> Timeline {
    let best = refutation.orders.first();
    let core = refutation.core.iter().map(|&op| (op, Role::Core));
    let context = refutation.context.iter().take(CONTEXT_MAX).map(|&op| (op, Role::Context));
    let placed = |index: OpIndex| {
        best.and_then(|order| order.placed.iter().position(|&placed| placed == index))
    };
    let ops = core.chain(context).map(|(index, role)| {
        let stuck = best.is_some_and(|order| order.stuck.contains(&index));
        Shown {
            index,
            role: if stuck { Role::Refuted } else { role },
            label: phrase(history, model, index),
            detail: sentence(history, model, index),
            order: placed(index).map(|place| place as u32 + 1),
        }
    });
    let object = object(history, &refutation.part);
    let title = if object.is_empty() { "Witness".into() } else { format!("Witness: {object}") };
    let subtitle = refutation.explanation.first().cloned().unwrap_or_default();
    timeline(history, title, subtitle, ops)
}

/// Operations that together break a promise; the last to end is the one that shows it.
pub fn operations(history: &History, title: &str, ops: &[OpIndex]) -> Timeline {
    let last = ops.iter().copied().max_by_key(|&op| (history.span(&history.op(op)).1, op));
    let shown = ops.iter().take(assay_report::BARS_MAX).map(|&index| Shown {
        index,
        role: if Some(index) == last { Role::Refuted } else { Role::Core },
        label: short(history, index),
        detail: short(history, index),
        order: None,
    });
    timeline(history, title.to_string(), String::new(), shown)
}

/// A transactional anomaly: its cycle, or the transactions it is about.
pub fn ring(kind: &str, story: &assay_txn::Story) -> Ring {
    let node = |txn: &assay_txn::Named, kind: &str, next: &str| RingNode {
        name: txn.name.clone(),
        text: txn.text.clone(),
        kind: kind.to_string(),
        next: next.to_string(),
    };
    let steps = story.steps.iter().map(|s| node(&story.txns[s.from], s.label.name(), &s.short));
    let mut nodes: Vec<RingNode> = steps.collect();
    if nodes.is_empty() {
        nodes = story.txns.iter().map(|txn| node(txn, "", "")).collect();
    }
    Ring { title: kind.to_string(), nodes }
}

/// `write x 1 -> ok`: an operation as its columns have it.
fn short(history: &History, index: OpIndex) -> String {
    let op = history.op(index);
    let mut words = vec![history.type_name(op.op_type).to_string()];
    let named = [history.key(op.key), op.input];
    words.extend(
        named.iter().filter(|id| !id.is_null()).map(|&id| history.values.show(id).to_string()),
    );
    if op.outcome() == Outcome::Ok && !op.output.is_null() {
        words.push(format!("→ {}", history.values.show(op.output)));
    }
    words.join(" ")
}

/// An operation in a picture.
struct Shown {
    index: OpIndex,
    role: Role,
    label: String,
    detail: String,
    order: Option<u32>,
}

fn timeline(
    history: &History,
    title: String,
    subtitle: String,
    ops: impl Iterator<Item = Shown>,
) -> Timeline {
    let mut lanes: Vec<ProcessId> = Vec::new();
    let mut bars = Vec::new();
    for shown in ops {
        let op = history.op(shown.index);
        let lane = lanes.iter().position(|&process| process == op.process).unwrap_or_else(|| {
            lanes.push(op.process);
            lanes.len() - 1
        });
        let (start, end) = history.span(&op);
        bars.push(Bar {
            lane,
            start,
            end: (end != NEVER).then_some(end),
            label: shown.label,
            detail: shown.detail,
            outcome: match op.outcome() {
                Outcome::Ok => assay_report::Outcome::Ok,
                Outcome::Fail => assay_report::Outcome::Fail,
                Outcome::Unknown => assay_report::Outcome::Unknown,
            },
            role: shown.role,
            order: shown.order,
        });
    }
    let name = |&process: &ProcessId| {
        Lane::new(format!("client {}", history.values.show(history.process(process))))
    };
    Timeline {
        title,
        subtitle,
        lanes: lanes.iter().map(name).collect(),
        bands: bands(history, &bars),
        bars,
        time_unit: match history.meta.order {
            Order::Timestamps => TimeUnit::Nanoseconds,
            Order::Positions => TimeUnit::Steps("record".to_string()),
        },
        ..Timeline::default()
    }
}

/// The fault windows that touch the witness; windows are in time, so not where order is by record.
fn bands(history: &History, bars: &[Bar]) -> Vec<Band> {
    if history.meta.order == Order::Positions {
        return Vec::new();
    }
    let first = bars.iter().map(|bar| bar.start).min();
    let last = bars.iter().map(|bar| bar.end.unwrap_or(bar.start)).max();
    let (Some(first), Some(last)) = (first, last) else { return Vec::new() };
    let windows = history.meta.fault_windows.iter();
    windows
        .filter(|window| window.start_ts <= last && window.end_ts >= first)
        .map(|window| Band {
            label: history.values.show(window.epoch).to_string(),
            start: window.start_ts.max(first),
            end: Some(window.end_ts.min(last)),
        })
        .collect()
}

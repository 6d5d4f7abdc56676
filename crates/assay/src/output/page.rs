//! Results as pictures: a witness becomes a timeline, a check becomes a page.

use super::json::certificate_json;
use super::{Checked, grouped, page_of};
use assay_check::{Anomaly, Refutation, phrase, sentence};
use assay_history::{OpIndex, Order, Outcome};
use assay_report::{Band, Bar, Fact, Lane, Page, Role, Step, Stuck, Table, TimeUnit, Timeline};

/// The page about all checked files: a single one fills it, several follow each other.
pub fn page(checked: &[Checked]) -> String {
    let results: Vec<_> =
        checked.iter().map(|one| (one.path.as_path(), one.exit, one.headline())).collect();
    let mut page = page_of(&results);
    for one in checked {
        add(&mut page, one);
    }
    assay_report::html(&page)
}

fn add(page: &mut Page, one: &Checked) {
    let mut certificates = Vec::new();
    for refutation in &one.report.refutations {
        page.explanation.extend(refutation.explanation.first().cloned());
        // The reason stands at the top of the page already.
        page.timelines.push(Timeline { subtitle: String::new(), ..timeline(one, refutation) });
        page.orders.extend(orders(one, refutation));
        certificates.push(certificate_json(&one.history, refutation));
    }
    if !certificates.is_empty() {
        let text = serde_json::to_string_pretty(&certificates).unwrap_or_default();
        page.certificate = format!("{}{text}\n", page.certificate);
    }
    page.facts.extend(facts(one));
    page.tables.extend(calibration(one));
    page.reproduce.push(one.command.clone());
    for finding in &one.findings {
        let place = super::place(&one.path, finding.line);
        page.notes.push(format!("{place}: {}", super::finding_text(finding)));
    }
}

/// The first witness as a standalone picture.
pub fn first_picture(one: &Checked) -> Option<String> {
    one.report.refutations.first().map(|refutation| assay_report::svg(&timeline(one, refutation)))
}

fn facts(one: &Checked) -> Vec<Fact> {
    let report = &one.report;
    let fact = |name: &str, value: String| Fact::new(name, value);
    let mut facts = vec![
        fact("history", one.path.display().to_string()),
        fact("model", report.model.name().to_string()),
        fact(
            "operations",
            format!(
                "{} consumed of {}",
                grouped(report.ops_checked as u64),
                grouped(report.ops_in as u64)
            ),
        ),
        fact(
            "objects",
            format!(
                "{} ({} without search, {} by search)",
                grouped(report.parts as u64),
                grouped(report.parts_special as u64),
                grouped(report.parts_search as u64)
            ),
        ),
    ];
    if report.parts_search > 0 {
        facts.push(fact("configurations", grouped(report.configurations)));
    }
    for (index, verified) in one.verified.iter().enumerate() {
        let text = match verified {
            Ok(v) => format!("re-checked: {} configurations, none explains it", v.configurations),
            Err(why) => why.clone(),
        };
        facts.push(fact(&format!("certificate {}", index + 1), text));
    }
    for part in &one.report.unfinished {
        let text = format!(
            "{} of {} operations can be explained, up to t={}; {} were open there",
            part.prefix_ops, part.part.ops, part.prefix_end, part.window_ops
        );
        facts.push(fact(&format!("undecided {}", one.object(&part.part)), text));
    }
    facts
}

fn calibration(one: &Checked) -> Option<Table> {
    let calibration = one.calibration.as_ref()?;
    let head = ["kind", "planted", "caught", "unseen", "undecided"];
    let rows = calibration.rows.iter().map(|row| {
        let name = Anomaly::ALL.iter().find(|(kind, _)| *kind == row.anomaly);
        vec![
            name.map_or("", |&(_, name)| name).to_string(),
            row.planted.to_string(),
            row.caught.to_string(),
            row.unseen.to_string(),
            row.undecided.to_string(),
        ]
    });
    Some(Table {
        title: format!("Calibration: planted anomalies, seed {}", calibration.seed),
        head: head.map(str::to_string).to_vec(),
        rows: rows.collect(),
    })
}

fn orders(one: &Checked, refutation: &Refutation) -> Vec<assay_report::Order> {
    let model = one.report.model;
    let describe = |&op: &OpIndex| phrase(&one.history, model, op);
    let order = |(i, order): (usize, &assay_check::PartialOrder)| assay_report::Order {
        title: format!("Order {}", i + 1),
        placed: order.placed.iter().map(|op| Step::new(describe(op), "")).collect(),
        stuck: order.stuck.first().map(|op| Stuck {
            label: order.stuck.iter().map(describe).collect::<Vec<_>>().join(", "),
            reason: format!("{} must come before anything later and cannot follow", describe(op)),
        }),
    };
    refutation.orders.iter().enumerate().map(order).collect()
}

/// How many operations that could have helped, and did not, are drawn beside a witness.
const CONTEXT_MAX: usize = 12;

/// A witness as a timeline: a lane per client, the operation that cannot be placed marked.
pub fn timeline(one: &Checked, refutation: &Refutation) -> Timeline {
    let history = &one.history;
    let best = refutation.orders.first();
    let mut lanes: Vec<assay_history::ProcessId> = Vec::new();
    let mut bars = Vec::new();
    let core = refutation.core.iter().map(|&op| (op, true));
    let context = refutation.context.iter().take(CONTEXT_MAX).map(|&op| (op, false));
    for (index, is_core) in core.chain(context) {
        let op = history.op(index);
        let lane = match lanes.iter().position(|&process| process == op.process) {
            Some(lane) => lane,
            None => {
                lanes.push(op.process);
                lanes.len() - 1
            }
        };
        let stuck = best.is_some_and(|order| order.stuck.contains(&index));
        let position =
            best.and_then(|order| order.placed.iter().position(|&placed| placed == index));
        let (start, end) = history.span(&op);
        bars.push(Bar {
            lane,
            start,
            end: (end != assay_history::NEVER).then_some(end),
            label: phrase(history, one.report.model, index),
            detail: sentence(history, one.report.model, index),
            outcome: match op.outcome() {
                Outcome::Ok => assay_report::Outcome::Ok,
                Outcome::Fail => assay_report::Outcome::Fail,
                Outcome::Unknown => assay_report::Outcome::Unknown,
            },
            role: match (stuck, is_core) {
                (true, _) => Role::Refuted,
                (false, true) => Role::Core,
                (false, false) => Role::Context,
            },
            order: position.map(|position| position as u32 + 1),
        });
    }
    let name = |&process: &assay_history::ProcessId| {
        Lane::new(format!("client {}", history.values.show(history.process(process))))
    };
    let object = one.object(&refutation.part);
    Timeline {
        title: if object.is_empty() { "Witness".to_string() } else { format!("Witness: {object}") },
        subtitle: refutation.explanation.first().cloned().unwrap_or_default(),
        lanes: lanes.iter().map(name).collect(),
        bands: bands(one, &bars),
        bars,
        time_unit: match history.meta.order {
            Order::Timestamps => TimeUnit::Nanoseconds,
            Order::Positions => TimeUnit::Steps("record".to_string()),
        },
        ..Timeline::default()
    }
}

/// The fault windows that touch the witness; windows are in time, so not where order is by record.
fn bands(one: &Checked, bars: &[Bar]) -> Vec<Band> {
    if one.history.meta.order == Order::Positions {
        return Vec::new();
    }
    let first = bars.iter().map(|bar| bar.start).min();
    let last = bars.iter().map(|bar| bar.end.unwrap_or(bar.start)).max();
    let (Some(first), Some(last)) = (first, last) else { return Vec::new() };
    let windows = one.history.meta.fault_windows.iter();
    windows
        .filter(|window| window.start_ts <= last && window.end_ts >= first)
        .map(|window| Band {
            label: one.history.values.show(window.epoch).to_string(),
            start: window.start_ts.max(first),
            end: Some(window.end_ts.min(last)),
        })
        .collect()
}

//! Results as pictures: a witness becomes a timeline, a check becomes a page.

use super::json::certificate_json;
use super::{Checked, grouped, page_of};
use assay_check::{Anomaly, Refutation, phrase};
use assay_history::OpIndex;
use assay_judge::picture;
use assay_report::{Fact, Page, Step, Stuck, Table, Timeline};

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

/// A witness as a timeline: a lane per client, the operation that cannot be placed marked.
pub fn timeline(one: &Checked, refutation: &Refutation) -> Timeline {
    picture::refutation(&one.history, one.report.model, refutation)
}

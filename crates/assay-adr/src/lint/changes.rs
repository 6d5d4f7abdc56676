//! What must not happen between two revisions: A04, A07 and A22.

use super::Lint;
use crate::kind::Kind;
use crate::record::{Record, Records};

pub fn check(lint: &mut Lint<'_>) {
    let Some(before) = lint.input.before else { return };
    let old = Records::read(before, lint.config);
    let records = lint.records;
    for old in &old.all {
        let new = match old.id.kind {
            Kind::Supplement => records.by_path(&old.path),
            _ => records.by_id(old.id),
        };
        match new {
            Some(new) => {
                status(lint, old, new);
                logged(lint, old, new);
            }
            None if old.id.kind == Kind::Supplement => {}
            None => {
                let message = format!("{} was there and is gone: {}", old.label(), old.path);
                let index = lint.config.index();
                lint.add("A04", &index, 1, message);
            }
        }
    }
}

fn status(lint: &mut Lint<'_>, old: &Record, new: &Record) {
    let kind = new.id.kind;
    // Statuses of one's own have no order that we know.
    if lint.config.statuses.contains_key(kind.name()) {
        return;
    }
    let (Some(was), Some(is)) = (old.status(lint.config), new.status(lint.config)) else {
        return;
    };
    let known = lint.config.statuses(kind);
    if known.contains(&was) && known.contains(&is) && !kind.may_become(&was, &is) {
        let message = format!("{} was {was} and cannot become {is}", new.label());
        lint.at("A07", new, new.status_line(), message);
    }
}

/// The sections that hold what was decided.
const DECIDED: [&str; 2] = ["Decision", "Invariants"];

fn logged(lint: &mut Lint<'_>, old: &Record, new: &Record) {
    let open = old.status(lint.config).is_none_or(|status| status == "Proposed");
    if new.id.kind != Kind::Adr || open || rows(new) > rows(old) {
        return;
    }
    for name in DECIDED {
        let (was, is) = (words(old, name), words(new, name));
        if !was.is_empty() && was != is {
            let line = new.document.section(name).map_or(1, |section| section.line);
            let message = format!("\"{name}\" changed, and the Decision Log has no new row");
            lint.at("A22", new, line, message);
        }
    }
}

fn words<'r>(record: &'r Record, section: &str) -> Vec<&'r str> {
    let section = record.document.section(section);
    let body = section.and_then(|section| record.text.get(section.body.clone()));
    body.unwrap_or("").split_whitespace().collect()
}

fn rows(record: &Record) -> usize {
    let Some(section) = record.document.section("Decision Log") else { return 0 };
    let tables = record.document.tables.iter();
    tables.filter(|t| section.body.contains(&t.range.start)).map(|t| t.rows.len()).sum()
}

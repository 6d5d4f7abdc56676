//! Sentences about an operation, the same in every format.

use crate::clean;
use crate::clock::Clock;
use crate::limit::{Shown, ShownBar};
use crate::timeline::{Outcome, Role};

/// Tooltips are cut here, at several lines of a screen.
const TOOLTIP_CELLS_MAX: usize = 1_000;

/// The label of a bar, which tells a failed operation apart without its colour.
pub(crate) fn label(bar: &ShownBar, cells_max: usize) -> String {
    match bar.bar.outcome {
        Outcome::Fail => {
            let label = clean::line(&bar.bar.label, cells_max.saturating_sub(9));
            format!("{label} (failed)").trim_start().to_owned()
        }
        Outcome::Ok | Outcome::Unknown => clean::line(&bar.bar.label, cells_max),
    }
}

/// From when to when.
pub(crate) fn times(clock: &Clock, bar: &ShownBar) -> String {
    let start = clock.exact(bar.bar.start);
    match (bar.end, bar.open) {
        (Some(end), false) if end == bar.bar.start => format!("at {start}"),
        (Some(end), false) => format!("{start} … {}", clock.exact(end)),
        (Some(end), true) => format!("{start} … ?, gave up at {}", clock.exact(end)),
        (None, _) => format!("{start} … ?"),
    }
}

/// What is known about its effect.
pub(crate) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => "ok",
        Outcome::Fail => "failed",
        Outcome::Unknown => "unknown",
    }
}

/// Its part in the contradiction.
pub(crate) fn role(role: Role) -> &'static str {
    match role {
        Role::Refuted => "cannot be placed in any order",
        Role::Core => "part of the contradiction",
        Role::Context => "context",
    }
}

/// Everything about a bar, on several lines.
pub(crate) fn tooltip(shown: &Shown, clock: &Clock, bar: &ShownBar) -> String {
    let cut = |text: &str| clean::line(text, TOOLTIP_CELLS_MAX);
    let mut lines = vec![
        format!("{}: {}", cut(shown.lanes[bar.lane]), cut(&bar.bar.label)),
        format!("{}, {}", times(clock, bar), outcome(bar.bar.outcome)),
        role(bar.bar.role).to_owned(),
    ];
    if let Some(order) = bar.bar.order {
        lines.push(format!("position {order} in the best order found"));
    }
    if !bar.bar.detail.is_empty() {
        lines.push(cut(&bar.bar.detail));
    }
    lines.join("\n")
}

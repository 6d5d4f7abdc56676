//! Words for every colour and shape that occurs, and the whole picture in words.

use super::measure::MARGIN;
use super::{LegendBox, Plan};
use crate::clean;
use crate::limit::{Shown, count};
use crate::timeline::{Outcome, Role};
use crate::words;

const ROW_HEIGHT: i32 = 20;
const SWATCH_ROOM: i32 = 32;
const ITEM_GAP: i32 = 22;
/// The description for screen readers lists at most this many operations.
const DESCRIBED_MAX: usize = 60;

/// The legend for what occurs in the picture, flowing in rows, which move `y` down.
pub(crate) fn legend(shown: &Shown, width: i32, y: &mut i32) -> Vec<LegendBox> {
    let any = |test: &dyn Fn(&crate::limit::ShownBar) -> bool| shown.bars.iter().any(test);
    let outcome = |outcome: Outcome| any(&|b| b.bar.outcome == outcome);
    let role = |role: Role| any(&|b| b.bar.role == role);
    let items = [
        (outcome(Outcome::Ok), "ok core", "ok: took effect"),
        (
            outcome(Outcome::Unknown),
            "unknown core",
            "unknown: may take effect at any later time, or never",
        ),
        (outcome(Outcome::Fail), "fail core", "failed: no effect"),
        (role(Role::Refuted), "plain refuted", "outlined: cannot be placed"),
        (role(Role::Context), "plain context", "pale: context"),
        (any(&|b| b.bar.order.is_some()), "badge", "position in the best order found"),
        (
            any(&|b| !b.open && b.end == Some(b.bar.start)),
            "plain core instant",
            "round: began and ended at the same time",
        ),
        (!shown.bands.is_empty(), "band", "fault active"),
    ];
    let mut boxes = Vec::new();
    let mut x = MARGIN;
    *y += 8;
    for (_, class, text) in items.into_iter().filter(|(present, _, _)| *present) {
        let wide = SWATCH_ROOM + i32::try_from(clean::cells(text)).unwrap_or(0) * 13 / 2;
        if x > MARGIN && x + wide > width - MARGIN {
            x = MARGIN;
            *y += ROW_HEIGHT;
        }
        boxes.push(LegendBox { class, x, y: *y, text });
        x += wide + ITEM_GAP;
    }
    *y += if boxes.is_empty() { 0 } else { ROW_HEIGHT + 2 };
    boxes
}

/// The picture for those who cannot see it.
pub(crate) fn description(plan: &Plan) -> String {
    let shown = plan.shown;
    let mut text = format!(
        "Timeline of {} by {}.",
        count(shown.bars.len(), "operation"),
        count(shown.lanes.len(), "client")
    );
    for bar in shown.bars.iter().take(DESCRIBED_MAX) {
        text += &format!(
            " {}: {}, {}, {}, {}.",
            clean::line(shown.lanes[bar.lane], 40),
            clean::line(&bar.bar.label, 80),
            words::times(&plan.clock, bar),
            words::outcome(bar.bar.outcome),
            words::role(bar.bar.role),
        );
    }
    for band in &shown.bands {
        text += &format!(" Fault: {}.", clean::line(&band.band.label, 80));
    }
    text
}

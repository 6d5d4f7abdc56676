//! What stands below the drawing: operations whose label did not fit, and what the signs mean.

use super::grid::Glyphs;
use crate::clean;
use crate::clock::Clock;
use crate::limit::{Shown, count};
use crate::timeline::{Outcome, Role};
use crate::words;

/// More operations than this are not listed.
const LISTED_MAX: usize = 60;

/// The letters that stand in for the label of the bar at `index`: a … z, aa, ab …
pub(crate) fn tag(index: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(index % 26).unwrap_or(0));
    match index / 26 {
        0 => letter.to_string(),
        more => tag(more - 1) + &letter.to_string(),
    }
}

/// One line for each bar that has a tag, and for each that cannot be placed.
pub(crate) fn operations(
    shown: &Shown,
    clock: &Clock,
    tags: &[String],
    width: usize,
    glyphs: Glyphs,
) -> Vec<String> {
    let mut listed: Vec<[String; 3]> = Vec::new();
    let mut more = 0;
    for (bar, tag) in shown.bars.iter().zip(tags) {
        let refuted = bar.bar.role == Role::Refuted;
        if tag.is_empty() && !refuted {
            continue;
        }
        if listed.len() == LISTED_MAX {
            more += 1;
            continue;
        }
        let sign = if tag.is_empty() { glyphs.cross().to_string() } else { tag.clone() };
        let name = format!(
            "{}: {}",
            glyphs.line(shown.lanes[bar.lane], 16),
            glyphs.line(&words::label(bar, 40), 40)
        );
        let mut facts =
            format!("{}, {}", words::times(clock, bar), words::outcome(bar.bar.outcome));
        if let Some(order) = bar.bar.order {
            facts += &format!(", #{order}");
        }
        if refuted {
            facts += ", cannot be placed";
        }
        listed.push([sign, name, facts]);
    }
    let mut lines = table(listed, width, glyphs);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    if !lines.is_empty() {
        lines.insert(0, String::new());
    }
    lines
}

/// Aligns the columns; facts that do not fit beside their operation go below it.
fn table(rows: Vec<[String; 3]>, width: usize, glyphs: Glyphs) -> Vec<String> {
    let widest = |column: usize| rows.iter().map(|row| clean::cells(&row[column])).max();
    let (signs, names) = (widest(0).unwrap_or(0), widest(1).unwrap_or(0));
    let facts = rows.iter().map(|row| clean::cells(&glyphs.line(&row[2], width))).max();
    let beside = signs + names + facts.unwrap_or(0) + 4 <= width;
    let pad = |text: &str, cells: usize| {
        format!("{text}{}", " ".repeat(cells.saturating_sub(clean::cells(text))))
    };
    let mut lines = Vec::new();
    for [sign, name, facts] in &rows {
        let sign = pad(sign, signs);
        if beside {
            lines.push(format!("{sign}  {}  {}", pad(name, names), glyphs.line(facts, width)));
        } else {
            let room = width.saturating_sub(signs + 2);
            lines.push(format!("{sign}  {}", glyphs.line(name, room)));
            lines.push(format!("{}  {}", pad("", signs), glyphs.line(facts, room)));
        }
    }
    lines
}

/// What the signs in the drawing mean, as far as they occur.
pub(crate) fn signs(shown: &Shown, glyphs: Glyphs) -> Vec<String> {
    let mut lines = Vec::new();
    if shown.bars.iter().any(|bar| bar.open && bar.bar.outcome == Outcome::Unknown) {
        let arrow = glyphs.arrow();
        lines.push(format!("{arrow} unknown: may take effect at any later time, or never"));
    }
    if shown.bars.iter().any(|bar| bar.bar.order.is_some()) {
        lines.push("#n position in the best order found, where there is room".into());
    }
    let outside = shown.bands.iter().filter(|b| b.end.is_none()).count();
    if outside > 0 {
        let windows = count(outside, "fault window");
        lines.push(format!("{} {windows} still open at the last event", glyphs.arrow()));
    }
    lines.push("Steps are events, not to scale; labels are times since the first.".into());
    lines
}

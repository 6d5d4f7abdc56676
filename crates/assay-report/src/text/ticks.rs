//! The time axis below the lanes: a line with a notch per event, and labels in two rows.

use super::grid::Row;
use super::picture::Sheet;
use crate::clean;
use crate::clock::Clock;
use crate::pack::{self, Span, Tag};

struct Label {
    notch: usize,
    left: usize,
    text: String,
}

/// The lines of the axis of `sheet`.
pub(crate) fn ticks(sheet: &Sheet, clock: &Clock) -> Vec<String> {
    let (width, glyphs) = (sheet.width, sheet.glyphs);
    let mut axis = Row::new(width);
    let line = glyphs.pick('─', '-').to_string();
    for at in 0..=sheet.open_end() {
        axis.put(sheet.column(at), &line);
    }
    let labels = labels(sheet, clock);
    let mut rows = [Row::new(width), Row::new(width)];
    let tags: Vec<Tag> = labels.iter().map(tag).collect();
    for (label, level) in labels.iter().zip(pack::tick_levels(&tags, rows.len(), 1)) {
        axis.put(label.notch, &glyphs.pick('┴', '+').to_string());
        if level == Some(1) {
            rows[0].put(label.notch, &glyphs.pick('│', '|').to_string());
        }
        if let Some(level) = level {
            rows[level].put(label.left, &label.text);
        }
    }
    let lines = [axis.line(), rows[0].line(), rows[1].line()];
    lines.into_iter().filter(|line| !line.is_empty()).collect()
}

/// A label for each event, centred below it as far as the width allows.
fn labels(sheet: &Sheet, clock: &Clock) -> Vec<Label> {
    let mut previous = None;
    let mut labels = Vec::new();
    for &time in sheet.axis.times() {
        let notch = sheet.column(sheet.axis.position(time));
        let text = sheet.glyphs.line(&clock.show_after(time, previous), sheet.width / 2);
        let cells = clean::cells(&text);
        let left = notch.saturating_sub(cells / 2).min(sheet.width - cells);
        labels.push(Label { notch, left, text });
        previous = Some(time);
    }
    labels
}

fn tag(label: &Label) -> Tag {
    let column = |n: usize| i32::try_from(n).unwrap_or(0);
    let right = column(label.left + clean::cells(&label.text));
    Tag { span: Span { left: column(label.left), right }, leader: column(label.notch) }
}

//! Lanes and ranks as rows and columns of characters.

use super::grid::{Glyphs, Row, Stroke};
use super::{legend, ticks};
use crate::axis::Axis;
use crate::clean;
use crate::clock::Clock;
use crate::limit::{Shown, ShownBand, ShownBar};
use crate::pack::{self, Span};
use crate::timeline::{Mark, Outcome, Role};
use crate::words;

const NAME_CELLS_MAX: usize = 16;
const LABEL_CELLS_MAX: usize = 40;
/// Closer than this, a bar could not show both of its ends and a letter between them.
const STEP_MIN: usize = 3;
const STEP_MAX: usize = 16;
/// Room for an instant operation at the last event.
const EDGE_ROOM: usize = 4;
/// Room for the arrow of an open bar beyond the last event, and where there is plenty, for words.
const OPEN_ROOM: usize = 4;
const OPEN_ROOM_WIDE: usize = 12;
/// A step that counts as plenty.
const STEP_WIDE: usize = 8;

/// The picture, and for each bar the letter that stands in for its label, if it needs one.
pub(crate) struct Drawn {
    pub(crate) lines: Vec<String>,
    pub(crate) tags: Vec<String>,
}

/// Something in a lane, with columns counted from the first event.
struct Item {
    /// All the room it takes.
    span: Span,
    shape: Shape,
    label: String,
}

enum Shape {
    /// A bar with its label inside.
    Bar { stroke: Stroke, open: bool },
    /// A bar with its label at a column outside of it.
    Labelled { bar: Span, stroke: Stroke, open: bool, label_at: i32 },
    /// Only words.
    Words,
}

/// Draws what is shown, unless it has more events than fit.
pub(crate) fn draw(shown: &Shown, clock: &Clock, width: usize, glyphs: Glyphs) -> Option<Drawn> {
    let names: Vec<String> =
        shown.lanes.iter().map(|name| glyphs.line(name, NAME_CELLS_MAX)).collect();
    let extra = if shown.bands.is_empty() && shown.marks.is_empty() { 0 } else { "faults".len() };
    let left = names.iter().map(|name| clean::cells(name)).max().unwrap_or(0).max(extra) + 2;
    let times = shown.times();
    let open = shown.bars.iter().any(|bar| bar.open) || shown.bands.iter().any(|b| b.end.is_none());
    let steps = times.len().saturating_sub(1).max(1);
    let step_with = |open_room: usize| width.saturating_sub(left + open_room + EDGE_ROOM) / steps;
    let open_room = match open {
        false => 0,
        true if step_with(OPEN_ROOM_WIDE) >= STEP_WIDE => OPEN_ROOM_WIDE,
        true => OPEN_ROOM,
    };
    let step = step_with(open_room).min(STEP_MAX);
    if step < STEP_MIN {
        return None;
    }
    let axis = Axis::ranked(times, i32::try_from(step).unwrap_or(1));
    let sheet = Sheet { shown, axis, left, width, glyphs, open_room };
    let mut lines = sheet.lane("faults", &sheet.bands());
    lines.extend(sheet.lane("marks", &sheet.marks()));
    let mut tags = vec![String::new(); shown.bars.len()];
    for (lane, name) in names.iter().enumerate() {
        let items = sheet.bars(lane, &mut tags);
        if items.is_empty() {
            lines.push(name.clone());
        }
        lines.extend(sheet.lane(name, &items));
    }
    lines.extend(ticks::ticks(&sheet, clock));
    Some(Drawn { lines, tags })
}

/// A small number as a column.
fn to_column(n: usize) -> i32 {
    i32::try_from(n).unwrap_or(0)
}

fn stroke(bar: &ShownBar) -> Stroke {
    match (bar.bar.role, bar.bar.outcome) {
        (Role::Refuted, _) => Stroke::Heavy,
        (Role::Context, _) | (Role::Core, Outcome::Fail) => Stroke::Pale,
        (Role::Core, Outcome::Ok | Outcome::Unknown) => Stroke::Thin,
    }
}

/// A bar with its label outside, taking the room of both.
fn labelled(bar: Span, stroke: Stroke, open: bool, label: String, label_at: i32) -> Item {
    let label_right = label_at + to_column(clean::cells(&label));
    let span = Span { left: bar.left.min(label_at), right: bar.right.max(label_right) };
    Item { span, shape: Shape::Labelled { bar, stroke, open, label_at }, label }
}

/// The plan of a drawing.
pub(crate) struct Sheet<'a> {
    shown: &'a Shown<'a>,
    pub(crate) axis: Axis,
    /// The column of the first event.
    left: usize,
    pub(crate) width: usize,
    pub(crate) glyphs: Glyphs,
    /// Columns for open bars after the last event.
    open_room: usize,
}

impl Sheet<'_> {
    fn span(&self, start: i64, end: Option<i64>) -> Span {
        let left = self.axis.position(start);
        let right = end.map_or(self.open_end(), |end| self.axis.position(end));
        Span { left, right: right.max(left + 2) }
    }

    /// The column of the sheet for a column counted from the first event.
    pub(crate) fn column(&self, at: i32) -> usize {
        self.left + usize::try_from(at).unwrap_or(0)
    }

    /// The number of columns right of the names.
    fn room(&self) -> i32 {
        to_column(self.width.saturating_sub(self.left))
    }

    fn columns(&self, span: Span) -> (usize, usize) {
        (self.column(span.left), self.column(span.right))
    }

    /// The last column of what has no end.
    pub(crate) fn open_end(&self) -> i32 {
        self.axis.length() + to_column(self.open_room)
    }

    /// Fault windows, with labels that do not fit inside after or before them.
    fn bands(&self) -> Vec<Item> {
        let item = |shown: &ShownBand| {
            let bar = self.span(shown.start, shown.end);
            let open = shown.end.is_none();
            let label = self.glyphs.line(&shown.band.label, LABEL_CELLS_MAX);
            let cells = to_column(clean::cells(&label));
            if cells < bar.right - bar.left {
                let shape = Shape::Bar { stroke: Stroke::Shade, open };
                return Item { span: bar, shape, label };
            }
            let after = bar.right + 2;
            let fits = after + cells <= self.room();
            let label_at = if fits { after } else { (bar.left - cells - 1).max(0) };
            labelled(bar, Stroke::Shade, open, label, label_at)
        };
        self.shown.bands.iter().map(item).collect()
    }

    /// Marks are an arrow with words after it.
    fn marks(&self) -> Vec<Item> {
        let item = |mark: &&Mark| {
            let left = self.axis.position(mark.at);
            let arrow = self.glyphs.pick('▼', 'v');
            let label = format!("{arrow} {}", self.glyphs.line(&mark.label, LABEL_CELLS_MAX));
            let right = left + to_column(clean::cells(&label));
            Item { span: Span { left, right }, shape: Shape::Words, label }
        };
        self.shown.marks.iter().map(item).collect()
    }

    /// The bars of a lane, with labels inside, beside, or replaced by a tag.
    fn bars(&self, lane: usize, tags: &mut [String]) -> Vec<Item> {
        let bars: Vec<(usize, &ShownBar)> =
            self.shown.bars.iter().enumerate().filter(|(_, bar)| bar.lane == lane).collect();
        let spans: Vec<Span> = bars
            .iter()
            .map(|(i, bar)| {
                let span = self.span(bar.bar.start, if bar.open { None } else { bar.end });
                let tag = to_column(legend::tag(*i).len());
                Span { right: span.right.max(span.left + 1 + tag), ..span }
            })
            .collect();
        let mut taken = spans.clone();
        let mut items = Vec::with_capacity(bars.len());
        for ((i, bar), span) in bars.into_iter().zip(spans) {
            let (stroke, open) = (stroke(bar), bar.open);
            let inside = usize::try_from(span.right - span.left - 1).unwrap_or(0);
            if let Some(label) = self.label(bar, inside) {
                items.push(Item { span, shape: Shape::Bar { stroke, open }, label });
            } else if let Some((label, at)) = self.beside(bar, span, &taken) {
                items.push(labelled(span, stroke, open, label, at));
                taken.extend(items.last().map(|item| item.span));
            } else {
                tags[i] = legend::tag(i);
                let label = tags[i].clone();
                items.push(Item { span, shape: Shape::Bar { stroke, open }, label });
            }
        }
        items
    }

    /// A label with its column after or before the bar, where nothing else in the lane stands.
    fn beside(&self, bar: &ShownBar, span: Span, taken: &[Span]) -> Option<(String, i32)> {
        let label = self.label(bar, LABEL_CELLS_MAX)?;
        let cells = to_column(clean::cells(&label));
        let after = span.right + 2;
        let before = span.left - 1 - cells;
        let free = |&at: &i32| {
            let words = Span { left: at - 2, right: at + cells + 2 };
            let others = taken.iter().filter(|other| **other != span);
            let mut met = others.filter(|other| other.touches(words, 1));
            at >= 0 && at + cells <= self.room() && met.next().is_none()
        };
        [after, before].into_iter().find(free).map(|at| (label, at))
    }

    /// The fullest label that fits, unless it would disturb the grid.
    fn label(&self, bar: &ShownBar, room: usize) -> Option<String> {
        let plain = self.glyphs.line(&words::label(bar, LABEL_CELLS_MAX), LABEL_CELLS_MAX);
        let full = match (bar.bar.role, bar.bar.order) {
            (Role::Refuted, _) => format!("{} {plain}", self.glyphs.cross()),
            (_, Some(order)) => format!("#{order} {plain}"),
            (_, None) => plain.clone(),
        };
        let fits = |label: &String| {
            clean::cells(label) <= room && !label.chars().any(clean::is_right_to_left)
        };
        [full, plain].into_iter().find(fits)
    }

    /// The rows of one lane, the name before the first.
    fn lane(&self, name: &str, items: &[Item]) -> Vec<String> {
        let spans: Vec<Span> = items.iter().map(|item| item.span).collect();
        let row_of = pack::rows(&spans, 1);
        let count = row_of.iter().max().map_or(0, |row| row + 1);
        let mut rows: Vec<Row> = (0..count).map(|_| Row::new(self.width)).collect();
        for (item, &row) in items.iter().zip(&row_of) {
            let row = &mut rows[row];
            match item.shape {
                Shape::Bar { stroke, open } => {
                    row.bar(self.glyphs, stroke, self.columns(item.span), open, &item.label);
                }
                Shape::Labelled { bar, stroke, open, label_at } => {
                    row.bar(self.glyphs, stroke, self.columns(bar), open, "");
                    row.put(self.column(label_at), &item.label);
                }
                Shape::Words => {
                    let at = self.column(item.span.left);
                    row.put(at, &self.glyphs.line(&item.label, self.width.saturating_sub(at)));
                }
            }
        }
        if let Some(first) = rows.first_mut() {
            first.put(0, name);
        }
        rows.iter().map(Row::line).collect()
    }
}

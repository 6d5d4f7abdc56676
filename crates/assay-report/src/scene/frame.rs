//! What stands around the bars: title, fault windows, marks, time axis, sentences.

use super::measure::{LEVEL_HEIGHT, MARGIN, small_width};
use super::{BandBox, Plan, Text, TickBox};
use crate::axis::Spacing;
use crate::clean;
use crate::limit::Shown;
use crate::pack::{self, Span, Tag};
use crate::timeline::TimeUnit;

/// Lines of fault labels above the lanes.
const HEADER_LEVELS_MAX: usize = 8;
/// Lines of tick labels below them.
const TICK_LEVELS: usize = 2;
const BAND_CELLS_MAX: usize = 48;
const TICK_HEIGHT: i32 = 15;
const LINE_HEIGHT: i32 = 17;
/// Upper bound for the mean width of a character of running text at 12 px.
const PROSE_CHAR_WIDTH: i32 = 7;

/// Fault windows and marks with the level of their labels.
pub(crate) struct Header {
    bands: Vec<(BandBox, Option<usize>)>,
    pub(crate) right: i32,
    pub(crate) height: i32,
    pub(crate) hidden: usize,
}

pub(crate) fn header(plan: &Plan) -> Header {
    let mut bands = bands(plan);
    bands.extend(marks(plan));
    // From right to left, so that leaders run down left of the labels that stand lower.
    bands.sort_by_key(|band| std::cmp::Reverse(band.left));
    let tags: Vec<Tag> = bands.iter().map(tag).collect();
    let levels = pack::levels(&tags, HEADER_LEVELS_MAX, 6);
    let used = levels.iter().flatten().max().map_or(0, |level| level + 1);
    Header {
        right: tags.iter().map(|tag| tag.span.right).max().unwrap_or(0),
        height: i32::try_from(used).unwrap_or(0) * LEVEL_HEIGHT + if used > 0 { 8 } else { 0 },
        hidden: levels.iter().filter(|level| level.is_none()).count(),
        bands: bands.into_iter().zip(levels).collect(),
    }
}

fn bands(plan: &Plan) -> Vec<BandBox> {
    let make = |shown: &crate::limit::ShownBand| {
        let left = plan.x(shown.start);
        let right = shown.end.map_or(plan.right, |end| plan.x(end)).max(left + 3);
        let before = if shown.band.start < shown.start { "◂ " } else { "" };
        let after = if shown.end.is_none() { " ▸" } else { "" };
        let label = clean::line(&shown.band.label, BAND_CELLS_MAX);
        let end = shown.band.end.map_or("never lifted".into(), |end| plan.clock.show(end));
        BandBox {
            class: "band",
            left,
            right,
            label: Some(Text { x: left + 3, y: 0, text: format!("{before}{label}{after}") }),
            tooltip: format!("fault: {label}\n{} … {end}", plan.clock.show(shown.band.start)),
        }
    };
    plan.shown.bands.iter().map(make).collect()
}

fn marks(plan: &Plan) -> impl Iterator<Item = BandBox> {
    plan.shown.marks.iter().map(|mark| {
        let x = plan.x(mark.at);
        let text = clean::line(&mark.label, BAND_CELLS_MAX);
        let tooltip = format!("{text}\nat {}", plan.clock.show(mark.at));
        let label = Some(Text { x: x + 3, y: 0, text });
        BandBox { class: "mark", left: x, right: x, label, tooltip }
    })
}

fn tag(band: &BandBox) -> Tag {
    let words = band.label.as_ref().map_or(0, |label| small_width(&label.text) + 4);
    let right = band.right.max(band.left + words);
    Tag { span: Span { left: band.left, right }, leader: band.left }
}

impl Header {
    /// The fault windows, their labels standing above `lanes_top`.
    pub(crate) fn bands(self, lanes_top: i32) -> Vec<BandBox> {
        let place = |(mut band, level): (BandBox, Option<usize>)| {
            let up = level.map(|level| i32::try_from(level).unwrap_or(0) * LEVEL_HEIGHT);
            band.label =
                band.label.zip(up).map(|(label, up)| Text { y: lanes_top - 9 - up, ..label });
            band
        };
        let mut bands: Vec<BandBox> = self.bands.into_iter().map(place).collect();
        bands.reverse();
        bands
    }
}

/// Ticks with the level of their labels.
pub(crate) struct Ticks {
    ticks: Vec<(i32, String, i32, Option<usize>)>,
    pub(crate) right: i32,
    pub(crate) height: i32,
}

pub(crate) fn axis(plan: &Plan) -> Ticks {
    let times = plan.axis.times();
    let mut ticks: Vec<(i32, String, Tag)> = Vec::with_capacity(times.len());
    for (i, &time) in times.iter().enumerate() {
        let previous = i.checked_sub(1).map(|i| times[i]);
        let text = plan.clock.show_after(time, previous);
        let (x, half) = (plan.x(time), small_width(&text) / 2 + 1);
        let span = Span { left: x - half, right: x + half };
        ticks.push((x, text, Tag { span, leader: x }));
    }
    let tags: Vec<Tag> = ticks.iter().map(|(_, _, tag)| *tag).collect();
    let level_of = pack::tick_levels(&tags, TICK_LEVELS, 3);
    let used = level_of.iter().flatten().max().map_or(0, |level| level + 1);
    Ticks {
        right: tags.iter().map(|tag| tag.span.right).max().unwrap_or(0),
        height: 12 + i32::try_from(used).unwrap_or(0) * TICK_HEIGHT,
        ticks: ticks
            .into_iter()
            .zip(level_of)
            .map(|((x, text, tag), level)| (x, text, tag.span.left, level))
            .collect(),
    }
}

impl Ticks {
    /// The ticks, their labels standing below `lanes_bottom`.
    pub(crate) fn ticks(self, lanes_bottom: i32) -> Vec<TickBox> {
        let place = |(x, text, left, level): (i32, String, i32, Option<usize>)| {
            let down = level.map(|level| i32::try_from(level).unwrap_or(0) * TICK_HEIGHT);
            let label = down.map(|down| Text { x: left + 1, y: lanes_bottom + 17 + down, text });
            TickBox { x, label }
        };
        self.ticks.into_iter().map(place).collect()
    }
}

/// How to read the axis.
pub(crate) fn axis_words(plan: &Plan) -> String {
    let origin = plan.clock.origin();
    let what = match &plan.shown.timeline.time_unit {
        TimeUnit::Steps(name) => format!("{} counted from {origin}", clean::line(name, 16)),
        _ => format!("time since the first event shown, at {origin}"),
    };
    match plan.axis.spacing() {
        Spacing::Rank => format!(
            "Not to scale: each line is the next event, however long it took. Labels: {what}. \
             What meets the same line happened at the same time."
        ),
        Spacing::Real => format!(
            "To scale, but no bar is narrower than a badge. Labels: {what}, where there is room."
        ),
    }
}

/// Title and subtitle, which move `y` down.
pub(crate) fn title(shown: &Shown, width: i32, y: &mut i32) -> (Vec<Text>, Vec<Text>) {
    let cells = usize::try_from((width - 2 * MARGIN) / 10).unwrap_or(0);
    let mut title = Vec::new();
    for text in clean::wrap(&shown.timeline.title, cells, 2) {
        *y += 20;
        title.push(Text { x: MARGIN, y: *y - 4, text });
    }
    let subtitle = paragraph(&shown.timeline.subtitle, width, y, 4);
    *y += if title.is_empty() && subtitle.is_empty() { 0 } else { 10 };
    (title, subtitle)
}

/// Running text broken into lines, which moves `y` down.
pub(crate) fn paragraph(text: &str, width: i32, y: &mut i32, lines_max: usize) -> Vec<Text> {
    let cells = usize::try_from((width - 2 * MARGIN) / PROSE_CHAR_WIDTH).unwrap_or(0);
    let mut lines = Vec::new();
    for text in clean::wrap(text, cells, lines_max) {
        *y += LINE_HEIGHT;
        lines.push(Text { x: MARGIN, y: *y - 4, text });
    }
    lines
}

//! Bars and the lanes they stand in.

use super::labels::{self, Line, Placed, Wish};
use super::measure::*;
use super::{BarBox, LaneBox, OpenBox, Plan, Text};
use crate::axis::{Axis, Spacing};
use crate::clean;
use crate::limit::{Shown, ShownBar};
use crate::pack::{self, Span};
use crate::timeline::{Outcome, Role};
use crate::words;

/// With real spacing, and with rank spacing where the labels allow it, lanes are this long.
const PLOT_LENGTH: i32 = 1_000;
/// Few events are spread at least this far.
const PLOT_LENGTH_MIN: i32 = 560;
const STEP_MAX: i32 = 140;
/// Room for tick labels in two rows.
const STEP_MIN: i32 = 40;
/// Pictures of more events than this are drawn tighter.
const TIGHT_EVENTS: usize = 60;
const TIGHT_STEP_MIN: i32 = 16;
const FADE_STEPS: i32 = 8;

/// A bar with its row, before it is known how far down the row is.
pub(crate) struct Drafted {
    pub(crate) placed: BarBox,
    pub(crate) incomplete: bool,
    words: Placed,
    row: usize,
}

/// For each lane, the number of lines of words above each of its rows.
pub(crate) type Rows = Vec<Vec<usize>>;

/// The axis for these bars: wide enough for most labels, not wider than needed.
pub(crate) fn axis(shown: &Shown, spacing: Spacing) -> Axis {
    let times = shown.times();
    if spacing == Spacing::Real {
        return Axis::real(times, PLOT_LENGTH);
    }
    let steps = i32::try_from(times.len().saturating_sub(1)).unwrap_or(1).max(1);
    let ranks = Axis::ranked(times, 1);
    let wanted = shown.bars.iter().filter(|bar| !bar.open).map(|bar| {
        let span = ranks.position(bar.end.unwrap_or(bar.bar.start)) - ranks.position(bar.bar.start);
        let badge = bar.bar.order.map_or(0, |n| badge_width(&n.to_string()) + PADDING);
        let label = mono_width(&words::label(bar, LABEL_CELLS_MAX)) + badge;
        (label + 2 * (PADDING + BAR_INSET)) / span.max(1) + 1
    });
    let tight = ranks.times().len() > TIGHT_EVENTS;
    let least = if tight { TIGHT_STEP_MIN } else { STEP_MIN };
    let step = wanted.max().unwrap_or(0).min(PLOT_LENGTH / steps).max(PLOT_LENGTH_MIN / steps);
    Axis::ranked(ranks.times().to_vec(), step.clamp(least, STEP_MAX))
}

/// Every bar with its row and its words, in the order of the timeline.
pub(crate) fn bars(plan: &Plan) -> (Vec<Drafted>, Rows) {
    let mut drafted: Vec<Option<Drafted>> = plan.shown.bars.iter().map(|_| None).collect();
    let mut rows: Rows = Vec::new();
    for lane in 0..plan.shown.lanes.len() {
        let in_lane = |&i: &usize| plan.shown.bars[i].lane == lane;
        let members: Vec<usize> = (0..plan.shown.bars.len()).filter(in_lane).collect();
        let spans: Vec<Span> = members.iter().map(|&i| span(plan, &plan.shown.bars[i])).collect();
        let row_of = pack::rows(&spans, BAR_GAP);
        let row_count = row_of.iter().max().map_or(1, |row| row + 1);
        let mut levels = vec![0; row_count];
        for (row, levels) in levels.iter_mut().enumerate() {
            let mut in_row: Vec<usize> = (0..members.len()).filter(|&m| row_of[m] == row).collect();
            in_row.sort_by_key(|&m| spans[m].left);
            let wishes: Vec<Wish> = in_row
                .iter()
                .map(|&m| wish(plan, &plan.shown.bars[members[m]], spans[m]))
                .collect();
            for (&m, words) in in_row.iter().zip(labels::place(&wishes)) {
                if let Some((Line::Above(level), _)) = words.leader {
                    *levels = (*levels).max(level + 1);
                }
                drafted[members[m]] = Some(draft(plan, members[m], spans[m], words, row));
            }
        }
        rows.push(levels);
    }
    (drafted.into_iter().flatten().collect(), rows)
}

/// The pixels a bar takes, including the fading end and the word after it.
fn span(plan: &Plan, bar: &ShownBar) -> Span {
    let start = plan.x(bar.bar.start);
    let end = bar.end.map_or(start, |end| plan.x(end));
    let (left, right) = (start + BAR_INSET, end - BAR_INSET);
    if bar.open {
        Span { left, right: plan.right }
    } else if right - left < BAR_WIDTH_MIN {
        let left = (left + right - BAR_WIDTH_MIN) / 2;
        Span { left, right: left + BAR_WIDTH_MIN }
    } else {
        Span { left, right }
    }
}

/// Where the full colour of an open bar ends.
fn solid_right(plan: &Plan) -> i32 {
    plan.last_x() + FADE / 3
}

fn wish(plan: &Plan, bar: &ShownBar, span: Span) -> Wish {
    let right = if bar.open { solid_right(plan) } else { span.right };
    Wish {
        span,
        inner: Span { left: span.left + PADDING - 1, right: right - PADDING + 1 },
        label: words::label(bar, LABEL_CELLS_MAX),
        order: bar.bar.order,
        refuted: bar.bar.role == Role::Refuted,
    }
}

fn draft(plan: &Plan, index: usize, span: Span, words: Placed, row: usize) -> Drafted {
    let bar = &plan.shown.bars[index];
    let outcome = match bar.bar.outcome {
        Outcome::Ok => "ok",
        Outcome::Fail => "fail",
        Outcome::Unknown => "unknown",
    };
    let role = match bar.bar.role {
        Role::Refuted => "refuted",
        Role::Core => "core",
        Role::Context => "context",
    };
    let placed = BarBox {
        class: format!("{outcome} {role}"),
        lane: bar.lane,
        left: span.left,
        right: if bar.open { solid_right(plan) } else { span.right },
        y: 0,
        tooltip: words::tooltip(plan.shown, &plan.clock, bar),
        instant: !bar.open && bar.end == Some(bar.bar.start),
        open: bar.open.then(|| open(plan, bar, span.left)),
        leader: None,
        pieces: Vec::new(),
    };
    Drafted { placed, incomplete: words.incomplete, words, row }
}

fn open(plan: &Plan, bar: &ShownBar, left: i32) -> OpenBox {
    let solid = solid_right(plan);
    let step = (FADE - FADE / 3) / FADE_STEPS;
    let fade = (0..FADE_STEPS)
        .map(|i| (solid + i * step, step, 100 - (i + 1) * 100 / (FADE_STEPS + 1)))
        .collect();
    let word = if bar.bar.outcome == Outcome::Unknown { "unknown" } else { "no end" };
    OpenBox {
        dashed_from: bar.end.map_or(left + 4, |end| plan.x(end).max(left + 4)),
        fade,
        word: Text { x: plan.last_x() + FADE + 4, y: 0, text: word.into() },
    }
}

/// The right end of the furthest word.
pub(crate) fn reach(bars: &[Drafted]) -> i32 {
    let pieces = bars.iter().flat_map(|bar| &bar.words.pieces);
    pieces.map(|piece| piece.left + piece.width).max().unwrap_or(0)
}

/// Stacks lanes and rows from `y` downwards.
pub(crate) fn stack(
    plan: &Plan,
    mut bars: Vec<Drafted>,
    rows: &Rows,
    y: &mut i32,
) -> (Vec<LaneBox>, Vec<Drafted>) {
    let mut lanes = Vec::with_capacity(rows.len());
    let mut row_tops: Vec<Vec<i32>> = Vec::with_capacity(rows.len());
    for (levels, name) in rows.iter().zip(&plan.shown.lanes) {
        let top = *y;
        let mut tops = Vec::with_capacity(levels.len());
        for &levels in levels {
            *y += ROW_GAP + i32::try_from(levels).unwrap_or(0) * LEVEL_HEIGHT;
            tops.push(*y);
            *y += BAR_HEIGHT;
        }
        *y += ROW_GAP;
        let text = clean::line(name, NAME_CELLS_MAX);
        let base = tops[0] + BAR_HEIGHT / 2 + 4;
        lanes.push(LaneBox {
            y: top,
            height: *y - top,
            name: Text { x: MARGIN, y: base, text },
            full_name: clean::line(name, 200),
        });
        row_tops.push(tops);
    }
    for bar in &mut bars {
        settle(bar, row_tops[bar.placed.lane][bar.row]);
    }
    (lanes, bars)
}

/// Gives a bar and its words their height.
fn settle(bar: &mut Drafted, y: i32) {
    let middle = y + BAR_HEIGHT / 2;
    let base = |line: Line| match line {
        Line::Inside | Line::Beside => middle + 4,
        Line::Above(level) => y - 5 - i32::try_from(level).unwrap_or(0) * LEVEL_HEIGHT,
    };
    bar.placed.y = y;
    if let Some(open) = &mut bar.placed.open {
        open.word.y = middle + 4;
    }
    bar.placed.leader = bar.words.leader.map(|(line, x)| match line {
        Line::Above(_) => [x, y, x, base(line) - 9],
        Line::Inside | Line::Beside => [x, middle, x + 6, middle],
    });
    let pieces = std::mem::take(&mut bar.words.pieces);
    bar.placed.pieces = pieces
        .into_iter()
        .map(|p| {
            let y = base(p.line);
            (p, y)
        })
        .collect();
}

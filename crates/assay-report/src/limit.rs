//! What part of a timeline is shown, and the sentences that say what is not.
//!
//! A witness is small, but nothing forces it to be. What is left out is chosen so that the
//! contradiction stays: refuted operations first, then the core, then context.

use crate::timeline::{Band, Bar, Mark, Outcome, Role, Timeline};

/// More lanes than this are not drawn.
pub const LANES_MAX: usize = 60;
/// More bars than this are not drawn.
pub const BARS_MAX: usize = 400;
/// More fault windows or marks than this are not drawn.
pub const BANDS_MAX: usize = 40;

/// A timeline within limits, with its open ends and stray lanes resolved.
pub(crate) struct Shown<'a> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) lanes: Vec<&'a str>,
    pub(crate) bars: Vec<ShownBar<'a>>,
    pub(crate) bands: Vec<ShownBand<'a>>,
    pub(crate) marks: Vec<&'a Mark>,
    /// The earliest time in the picture.
    pub(crate) first: i64,
    /// What was left out, in sentences.
    pub(crate) statements: Vec<String>,
}

/// A bar that is drawn.
pub(crate) struct ShownBar<'a> {
    pub(crate) bar: &'a Bar,
    /// Index into [`Shown::lanes`].
    pub(crate) lane: usize,
    /// When the client stopped waiting, not before the start.
    pub(crate) end: Option<i64>,
    /// Whether the operation may still take effect after everything else in the picture.
    pub(crate) open: bool,
}

/// A fault window cut to the times in the picture.
pub(crate) struct ShownBand<'a> {
    pub(crate) band: &'a Band,
    pub(crate) start: i64,
    /// `None`: it reaches beyond the right edge.
    pub(crate) end: Option<i64>,
}

impl<'a> Shown<'a> {
    pub(crate) fn new(timeline: &'a Timeline) -> Self {
        let mut statements = Vec::new();
        let (lanes, lane_of) = lanes(timeline, &mut statements);
        let bars = bars(timeline, &lane_of, &mut statements);
        let (first, last) = range(timeline, &bars);
        let bands = bands(timeline, first, last, &mut statements);
        let inside = |mark: &&Mark| (first..=last).contains(&mark.at);
        let marks: Vec<&Mark> = timeline.marks.iter().filter(inside).take(BANDS_MAX).collect();
        let hidden = timeline.marks.len() - marks.len();
        if hidden > 0 {
            statements.push(format!("Not shown: {}.", count(hidden, "mark")));
        }
        Self { timeline, lanes, bars, bands, marks, first, statements }
    }

    /// Every moment at which something in the picture begins or ends, ascending.
    pub(crate) fn times(&self) -> Vec<i64> {
        let bars = self.bars.iter().flat_map(|b| [Some(b.bar.start), b.end]);
        let bands = self.bands.iter().flat_map(|b| [Some(b.start), b.end]);
        let marks = self.marks.iter().map(|mark| Some(mark.at));
        let mut times: Vec<i64> = bars.chain(bands).chain(marks).flatten().collect();
        times.sort_unstable();
        times.dedup();
        times
    }
}

/// `1 bar`, `2 bars`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// The `keep` positions of lowest `rank`, in their original order.
fn most_important(ranks: &[Role], keep: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by_key(|&i| ranks[i]);
    order.truncate(keep);
    order.sort_unstable();
    order
}

/// The lanes that are drawn, and for each lane of the timeline where it went.
///
/// The last entry of the second answer is where bars without a lane go.
fn lanes<'a>(
    timeline: &'a Timeline,
    statements: &mut Vec<String>,
) -> (Vec<&'a str>, Vec<Option<usize>>) {
    let known = timeline.lanes.len();
    let mut names: Vec<&str> = timeline.lanes.iter().map(|lane| lane.name.as_str()).collect();
    if timeline.bars.iter().any(|bar| bar.lane >= known) {
        names.push("(no lane)");
    }
    let mut ranks = vec![Role::Context; names.len()];
    for bar in &timeline.bars {
        let rank = &mut ranks[bar.lane.min(known)];
        *rank = bar.role.min(*rank);
    }
    let kept = most_important(&ranks, LANES_MAX);
    if kept.len() < names.len() {
        let all = count(names.len(), "client");
        statements.push(format!("Only {} of {all} are shown, the core ones first.", kept.len()));
    }
    let mut lane_of = vec![None; known + 1];
    for (shown, &lane) in kept.iter().enumerate() {
        lane_of[lane] = Some(shown);
    }
    (kept.into_iter().map(|lane| names[lane]).collect(), lane_of)
}

fn bars<'a>(
    timeline: &'a Timeline,
    lane_of: &[Option<usize>],
    statements: &mut Vec<String>,
) -> Vec<ShownBar<'a>> {
    let stray = lane_of.len() - 1;
    let candidates: Vec<(&Bar, usize)> = timeline
        .bars
        .iter()
        .filter_map(|bar| lane_of[bar.lane.min(stray)].map(|lane| (bar, lane)))
        .collect();
    let ranks: Vec<Role> = candidates.iter().map(|(bar, _)| bar.role).collect();
    let bars: Vec<ShownBar> = most_important(&ranks, BARS_MAX)
        .into_iter()
        .map(|i| {
            let (bar, lane) = candidates[i];
            let end = bar.end.map(|end| end.max(bar.start));
            let open = end.is_none() || bar.outcome == Outcome::Unknown;
            ShownBar { bar, lane, end, open }
        })
        .collect();
    if timeline.bars.is_empty() {
        statements.push("There are no operations to show.".into());
    }
    if bars.len() < timeline.bars.len() {
        let all = count(timeline.bars.len(), "operation");
        statements.push(format!("Only {} of {all} are shown, the core ones first.", bars.len()));
    }
    bars
}

/// The earliest and latest time of the bars, or of everything else if there are none.
fn range(timeline: &Timeline, bars: &[ShownBar]) -> (i64, i64) {
    let mut times: Vec<i64> =
        bars.iter().flat_map(|b| [b.bar.start, b.end.unwrap_or(b.bar.start)]).collect();
    if times.is_empty() {
        let bands = timeline.bands.iter().flat_map(|b| [b.start, b.end.unwrap_or(b.start)]);
        times.extend(bands.chain(timeline.marks.iter().map(|mark| mark.at)));
    }
    let first = times.iter().copied().min().unwrap_or(0);
    (first, times.iter().copied().max().unwrap_or(first))
}

fn bands<'a>(
    timeline: &'a Timeline,
    first: i64,
    last: i64,
    statements: &mut Vec<String>,
) -> Vec<ShownBand<'a>> {
    let meets = |b: &&Band| b.start <= last && b.end.is_none_or(|e| e.max(b.start) >= first);
    let bands: Vec<ShownBand> = timeline
        .bands
        .iter()
        .filter(meets)
        .take(BANDS_MAX)
        .map(|band| ShownBand {
            band,
            start: band.start.max(first),
            end: band.end.map(|end| end.max(band.start)).filter(|&end| end <= last),
        })
        .collect();
    let hidden = timeline.bands.len() - bands.len();
    if hidden > 0 {
        let windows = count(hidden, "fault window");
        statements.push(format!("Not shown: {windows}, mostly before or after these operations."));
    }
    bands
}

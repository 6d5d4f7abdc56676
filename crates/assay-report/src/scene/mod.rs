//! Geometry: a timeline as boxes and texts with coordinates, ready for the template.
//!
//! Everything is decided here in whole pixels: the template only writes it down. What is promised
//! (and tested): bars of a lane never overlap, words never overlap words, and every operation that
//! is shown is visible.

mod frame;
mod labels;
mod lanes;
mod legend;
mod measure;
#[cfg(test)]
mod tests;

pub(crate) use labels::{Kind, Line, Piece};
pub(crate) use measure::BAR_HEIGHT;

use crate::axis::{Axis, Spacing};
use crate::clean;
use crate::clock::Clock;
use crate::limit::{self, Shown};
use measure::{MARGIN, NAME_CELLS_MAX, OPEN_ROOM, WIDTH_MIN, mono_width};

/// Where the picture is going to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// A file of its own, with title and styles.
    Alone,
    /// Inside a page that has both.
    Page,
}

/// A line of text with the position of its left end and base.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) text: String,
}

/// A horizontal strip for one client.
#[derive(Debug)]
pub(crate) struct LaneBox {
    pub(crate) y: i32,
    pub(crate) height: i32,
    pub(crate) name: Text,
    pub(crate) full_name: String,
}

/// A fault window or, with the same left and right, a mark.
#[derive(Debug)]
pub(crate) struct BandBox {
    pub(crate) class: &'static str,
    pub(crate) left: i32,
    pub(crate) right: i32,
    pub(crate) label: Option<Text>,
    pub(crate) tooltip: String,
}

/// A moment on the time axis; those without room for a label only have a line.
#[derive(Debug)]
pub(crate) struct TickBox {
    pub(crate) x: i32,
    pub(crate) label: Option<Text>,
}

/// One operation.
#[derive(Debug)]
pub(crate) struct BarBox {
    pub(crate) class: String,
    pub(crate) lane: usize,
    pub(crate) left: i32,
    pub(crate) right: i32,
    pub(crate) y: i32,
    pub(crate) tooltip: String,
    pub(crate) instant: bool,
    pub(crate) open: Option<OpenBox>,
    pub(crate) leader: Option<[i32; 4]>,
    pub(crate) pieces: Vec<(Piece, i32)>,
}

/// The right part of a bar that has no end.
#[derive(Debug)]
pub(crate) struct OpenBox {
    /// From here on the outline is dashed.
    pub(crate) dashed_from: i32,
    /// Position, width and percentage of opacity of each step of the fading end.
    pub(crate) fade: Vec<(i32, i32, i32)>,
    pub(crate) word: Text,
}

/// A colour or shape with the words for it.
#[derive(Debug)]
pub(crate) struct LegendBox {
    pub(crate) class: &'static str,
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) text: &'static str,
}

/// A whole picture.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) width: i32,
    pub(crate) height: i32,
    pub(crate) title: Vec<Text>,
    pub(crate) subtitle: Vec<Text>,
    pub(crate) plot_left: i32,
    pub(crate) plot_right: i32,
    pub(crate) lanes_top: i32,
    pub(crate) lanes_bottom: i32,
    pub(crate) lanes: Vec<LaneBox>,
    pub(crate) bands: Vec<BandBox>,
    pub(crate) ticks: Vec<TickBox>,
    pub(crate) bars: Vec<BarBox>,
    pub(crate) caption: Vec<Text>,
    pub(crate) legend: Vec<LegendBox>,
    pub(crate) statements: Vec<Text>,
}

/// The horizontal plan every part of a picture shares.
struct Plan<'a> {
    shown: &'a Shown<'a>,
    clock: Clock<'a>,
    axis: Axis,
    /// Where the first event is.
    left: i32,
    /// The right end of the lanes.
    right: i32,
}

impl Plan<'_> {
    fn x(&self, time: i64) -> i32 {
        self.left + self.axis.position(time)
    }

    /// Where the last event is.
    fn last_x(&self) -> i32 {
        self.left + self.axis.length()
    }
}

impl Scene {
    pub(crate) fn new(shown: &Shown, spacing: Spacing, setting: Setting) -> Self {
        let plan = plan(shown, spacing);
        let (bars, rows) = lanes::bars(&plan);
        let header = frame::header(&plan);
        let axis = frame::axis(&plan);

        let mut width = (plan.right + MARGIN).max(WIDTH_MIN);
        let reach = [lanes::reach(&bars), header.right, axis.right];
        width = reach.into_iter().fold(width, |width, right| width.max(right + MARGIN));

        let mut y = MARGIN;
        let (title, subtitle) = match setting {
            Setting::Alone => frame::title(shown, width, &mut y),
            Setting::Page => (Vec::new(), Vec::new()),
        };
        y += header.height;
        let lanes_top = y;
        let (lanes, bars) = lanes::stack(&plan, bars, &rows, &mut y);
        let lanes_bottom = y;
        y += axis.height;

        let mut statements = shown.statements.clone();
        let cut = bars.iter().filter(|bar| bar.incomplete).count();
        if cut > 0 {
            let labels = limit::count(cut, "label");
            statements.push(format!("No room for {labels}: point at the bar to read it."));
        }
        if header.hidden > 0 {
            let labels = limit::count(header.hidden, "fault label");
            statements.push(format!("No room for {labels}: point at the band to read it."));
        }
        let caption = frame::paragraph(&frame::axis_words(&plan), width, &mut y, 3);
        let legend = legend::legend(shown, width, &mut y);
        let statements =
            statements.iter().flat_map(|s| frame::paragraph(s, width, &mut y, 2)).collect();
        Self {
            name: clean::line(&shown.timeline.title, 200),
            description: legend::description(&plan),
            width,
            height: y + MARGIN,
            title,
            subtitle,
            plot_left: plan.left,
            plot_right: plan.right,
            lanes_top,
            lanes_bottom,
            lanes,
            bands: header.bands(lanes_top),
            ticks: axis.ticks(lanes_bottom),
            bars: bars.into_iter().map(|bar| bar.placed).collect(),
            caption,
            legend,
            statements,
        }
    }
}

fn plan<'a>(shown: &'a Shown<'a>, spacing: Spacing) -> Plan<'a> {
    let names = shown.lanes.iter().map(|name| mono_width(&clean::line(name, NAME_CELLS_MAX)));
    let left = MARGIN + names.max().unwrap_or(0).max(40) + 24;
    let clock = Clock::new(shown.first, &shown.timeline.time_unit);
    let axis = lanes::axis(shown, spacing);
    let open = shown.bars.iter().any(|bar| bar.open);
    let right = left + axis.length() + if open { OPEN_ROOM } else { 24 };
    Plan { shown, clock, axis, left, right }
}

//! A timeline as SVG.
//!
//! One lane per client, one bar per operation from invocation to completion, fault windows shaded
//! behind them. The file needs nothing else: styles for light and dark are inside, words stand
//! beside every colour, and each bar has a tooltip.
//!
//! ```
//! use assay_report::{Bar, Lane, Timeline};
//!
//! let timeline = Timeline {
//!     lanes: vec![Lane::new("<b>client</b>")],
//!     bars: vec![Bar { end: Some(5), label: "write \"&\"".into(), ..Bar::default() }],
//!     ..Timeline::default()
//! };
//! let picture = assay_report::svg(&timeline);
//! assert!(picture.starts_with("<?xml"));
//! assert!(!picture.contains("<b>"));
//! ```

use askama::Template;

use crate::axis::Spacing;
use crate::clean;
use crate::limit::Shown;
use crate::scene::{BAR_HEIGHT, Kind, Line, Piece, Scene, Setting};
use crate::timeline::Timeline;

#[derive(Template)]
#[template(path = "timeline.svg")]
struct Picture {
    scene: Scene,
    alone: bool,
    height: i32,
}

/// Draws `timeline` as a file of its own, with one step from each event to the next.
pub fn svg(timeline: &Timeline) -> String {
    svg_spaced(timeline, Spacing::Rank)
}

/// Draws `timeline` as a file of its own with a spacing of your choice.
pub fn svg_spaced(timeline: &Timeline, spacing: Spacing) -> String {
    draw(&Shown::new(timeline), spacing, Setting::Alone)
}

/// Draws what is shown of a timeline.
pub(crate) fn draw(shown: &Shown, spacing: Spacing, setting: Setting) -> String {
    let scene = Scene::new(shown, spacing, setting);
    let picture = Picture { scene, alone: setting == Setting::Alone, height: BAR_HEIGHT };
    picture.render().expect("rendering into a string cannot fail")
}

/// The width a text must be drawn with, given quarters of a pixel per cell.
///
/// Plain text in a monospaced font is as wide as computed. Everything else may come from another
/// font, so its width is prescribed.
fn fit(text: &str, quarters: usize) -> Option<usize> {
    let cells = clean::cells(text);
    (!text.is_ascii() && cells > 0).then_some(cells * quarters / 4)
}

impl Piece {
    fn is_badge(&self) -> bool {
        self.kind == Kind::Badge
    }

    fn class(&self) -> &'static str {
        match (self.kind, self.line) {
            (Kind::Refuted, _) => "out words",
            (_, Line::Inside) => "in",
            (_, Line::Beside | Line::Above(_)) => "out",
        }
    }
}

//! A timeline for a terminal, in plain characters and without colour.
//!
//! ```
//! use assay_report::{Bar, Glyphs, Lane, Outcome, Timeline, text};
//!
//! let timeline = Timeline {
//!     lanes: vec![Lane::new("c1")],
//!     bars: vec![Bar { label: "write 1".into(), outcome: Outcome::Unknown, ..Bar::default() }],
//!     ..Timeline::default()
//! };
//! let drawn = text(&timeline, 60, Glyphs::Ascii);
//! assert!(drawn.starts_with("c1  |- write 1 ->\n"));
//! assert!(drawn.contains("> unknown"));
//! ```
//!
//! Each event is one step to the right of the one before, as in the picture of [`crate::svg()`].
//! Timelines with more events than fit the width are listed instead of drawn.

mod grid;
mod legend;
mod picture;
mod ticks;

pub use grid::Glyphs;

use crate::clean;
use crate::clock::Clock;
use crate::limit::Shown;
use crate::timeline::Timeline;

/// Narrower terminals are treated as this wide.
const WIDTH_MIN: usize = 40;
/// Wider ones as this.
const WIDTH_MAX: usize = 400;

/// Draws `timeline` in at most `width` columns, each line ended by a line break.
pub fn text(timeline: &Timeline, width: usize, glyphs: Glyphs) -> String {
    let width = width.clamp(WIDTH_MIN, WIDTH_MAX);
    let shown = Shown::new(timeline);
    let clock = Clock::new(shown.first, &timeline.time_unit);
    let mut lines = vec![glyphs.line(&timeline.title, width)];
    lines.extend(prose(&timeline.subtitle, width, glyphs));
    lines.retain(|line| !line.is_empty());
    if !lines.is_empty() {
        lines.push(String::new());
    }
    match picture::draw(&shown, &clock, width, glyphs) {
        Some(_) if shown.bars.is_empty() => {}
        Some(drawn) => {
            lines.extend(drawn.lines);
            lines.extend(legend::operations(&shown, &clock, &drawn.tags, width, glyphs));
            lines.push(String::new());
            for sign in legend::signs(&shown, glyphs) {
                lines.extend(prose(&sign, width, glyphs));
            }
        }
        None => {
            let events = crate::limit::count(shown.times().len(), "event");
            let why = format!("{events} do not fit into {width} columns; as a list:");
            lines.extend(prose(&why, width, glyphs));
            let tags: Vec<String> = (0..shown.bars.len()).map(legend::tag).collect();
            lines.extend(legend::operations(&shown, &clock, &tags, width, glyphs));
        }
    }
    for statement in &shown.statements {
        lines.extend(prose(statement, width, glyphs));
    }
    lines.iter().flat_map(|line| [line.trim_end(), "\n"]).collect()
}

/// Running text in lines.
fn prose(text: &str, width: usize, glyphs: Glyphs) -> Vec<String> {
    let lines = clean::wrap(text, width, 6);
    lines.into_iter().map(|line| glyphs.line(&line, width)).collect()
}

//! Draws a witness, the smallest part of a history that shows a violation, so that a person sees
//! what went wrong.
//!
//! Fill a [`Timeline`] and render it: [`svg()`] for a picture, [`text()`] for a terminal. Put it
//! into a [`Page`] with the verdict and the facts around it, and [`html()`] gives one file that
//! opens from disk with no network. A whole run becomes documents, a page, or a file for other
//! programs in [`run`].
//!
//! ```
//! use assay_report::{Bar, Glyphs, Lane, Role, Timeline, text};
//!
//! let bar = |lane, start, end, label: &str| Bar {
//!     lane,
//!     start,
//!     end: Some(end),
//!     label: label.into(),
//!     ..Bar::default()
//! };
//! let timeline = Timeline {
//!     title: "key x: a stale read".into(),
//!     lanes: vec![Lane::new("client 1"), Lane::new("client 2")],
//!     bars: vec![
//!         bar(0, 0, 400, "write 1"),
//!         bar(0, 500, 900, "write 2"),
//!         Bar { role: Role::Refuted, ..bar(1, 1_200, 1_900, "read → 1") },
//!     ],
//!     ..Timeline::default()
//! };
//! println!("{}", text(&timeline, 80, Glyphs::Unicode));
//! ```
//!
//! Every string is untrusted: markup is escaped by the templates, characters that could disturb a
//! terminal or an XML reader become visible, and long text is cut. The same input gives the same
//! bytes. No input makes these functions panic; what is too much for a picture is left out with a
//! sentence that says so.
//!
//! This crate decides nothing about histories: which operations form a witness, and which orders
//! are worth showing, is up to the caller.

mod axis;
mod clean;
mod clock;
mod html;
mod limit;
mod pack;
pub mod page;
mod ring;
pub mod run;
mod scene;
mod svg;
mod text;
pub mod timeline;
mod words;

pub use axis::Spacing;
pub use html::html;
pub use limit::{BANDS_MAX, BARS_MAX, LANES_MAX};
pub use page::{Fact, Order, Page, Step, Story, Stuck, Table, Verdict};
pub use ring::{Ring, RingNode, ring_svg};
pub use svg::{svg, svg_spaced};
pub use text::{Glyphs, text};
pub use timeline::{Band, Bar, Lane, Mark, Outcome, Role, TimeUnit, Timeline};

//! Sizes in pixels. Words that must not collide are set in a monospaced font, whose width can be
//! known without loading it: no common one is wider than 0.604 em.

use crate::clean;

/// Height of a bar.
pub(crate) const BAR_HEIGHT: i32 = 24;
/// Distance between two lines of words above a bar.
pub(crate) const LEVEL_HEIGHT: i32 = 16;
/// Between two rows of bars in a lane, and above and below them.
pub(crate) const ROW_GAP: i32 = 6;
/// An operation that took no time is still this wide.
pub(crate) const BAR_WIDTH_MIN: i32 = 24;
/// Bars keep this distance from the line of the event they begin or end at.
pub(crate) const BAR_INSET: i32 = 2;
/// Two bars in a row are at least this far apart.
pub(crate) const BAR_GAP: i32 = 3;
/// Between two pieces of text.
pub(crate) const PADDING: i32 = 5;
/// Around the picture.
pub(crate) const MARGIN: i32 = 16;
/// How far an open bar reaches beyond the last event, fading.
pub(crate) const FADE: i32 = 48;
/// The room for an open bar and the word after it.
pub(crate) const OPEN_ROOM: i32 = FADE + 68;
/// Labels wider than this are cut; the tooltip has all of it.
pub(crate) const LABEL_CELLS_MAX: usize = 32;
/// Lane names wider than this are cut.
pub(crate) const NAME_CELLS_MAX: usize = 20;
/// A picture is at least this wide, so that title and legend have room.
pub(crate) const WIDTH_MIN: i32 = 720;

/// Width of monospaced text at 12 px.
pub(crate) fn mono_width(text: &str) -> i32 {
    scaled(text, 29)
}

/// How many cells of 12 px monospaced text fit into `width`.
pub(crate) fn mono_cells(width: i32) -> usize {
    usize::try_from(width.max(0) * 4 / 29).unwrap_or(0)
}

/// Width of monospaced text at 11 px, used for ticks and fault windows.
pub(crate) fn small_width(text: &str) -> i32 {
    scaled(text, 27)
}

/// Width of a badge around a number.
pub(crate) fn badge_width(text: &str) -> i32 {
    scaled(text, 27).max(9) + 7
}

/// Width in quarters of a pixel per cell, rounded up.
fn scaled(text: &str, quarters: i32) -> i32 {
    (i32::try_from(clean::cells(text)).unwrap_or(i32::MAX / 64) * quarters + 3) / 4
}

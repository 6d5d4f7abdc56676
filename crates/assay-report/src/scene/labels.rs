//! Where the words of one row of bars go: inside the bar, beside it, or above it on a leader.

use super::measure::{PADDING, badge_width, mono_cells, mono_width};
use crate::clean;
use crate::pack::{self, Span, Tag};

/// Words stand at most this many lines above their row; what does not fit is cut or counted.
const LEVELS_MAX: usize = 6;
/// Room between a bar and words beside it, in which the leader runs.
const BESIDE_LEADER: i32 = 8;
/// Room between a leader that runs down to a bar and its words.
const ABOVE_LEADER: i32 = 6;
/// Room between words beside a bar and the next bar, so that they are not read as its own.
const BESIDE_GAP: i32 = 14;
/// A label cut to fewer cells than this says nothing.
const CUT_CELLS_MIN: usize = 4;
/// What is said of an operation no order has a place for.
pub(crate) const REFUTED_WORDS: &str = "✗ cannot be placed";

/// What one bar has to say, and the room it has.
pub(crate) struct Wish {
    pub(crate) span: Span,
    /// Where words may stand inside the bar.
    pub(crate) inner: Span,
    pub(crate) label: String,
    pub(crate) order: Option<u32>,
    pub(crate) refuted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Badge,
    Label,
    Refuted,
}

/// The line a piece stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Inside,
    Beside,
    Above(usize),
}

/// A text with its place.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    pub(crate) left: i32,
    pub(crate) width: i32,
    pub(crate) line: Line,
}

/// The words of one bar.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placed {
    pub(crate) pieces: Vec<Piece>,
    /// Where the words outside the bar stand, and the position their leader starts from.
    pub(crate) leader: Option<(Line, i32)>,
    /// Whether a word had to be left out or cut to fit.
    pub(crate) incomplete: bool,
}

/// Places the words of a row whose bars come from left to right.
///
/// After the last bar there is always room: the picture grows with it.
pub(crate) fn place(row: &[Wish]) -> Vec<Placed> {
    let mut placed: Vec<Placed> = Vec::with_capacity(row.len());
    let mut above: Vec<(usize, Vec<Piece>)> = Vec::new();
    for (i, wish) in row.iter().enumerate() {
        let (inside, outside) = split(wish);
        let mut words = Placed { pieces: inside, ..Placed::default() };
        let width = extent(&outside);
        let next = row.get(i + 1).map_or(i32::MAX, |next| next.span.left - BESIDE_GAP);
        if outside.is_empty() {
        } else if !wish.refuted && wish.span.right + BESIDE_LEADER + width <= next {
            let from = wish.span.right;
            words.pieces.extend(shifted(outside, from + BESIDE_LEADER, Line::Beside));
            words.leader = Some((Line::Beside, from));
        } else {
            above.push((i, outside));
        }
        placed.push(words);
    }
    place_above(row, above, &mut placed);
    placed
}

/// Levels for words above the row: from right to left, so that each leader runs down left of the
/// words that stand lower. Should that leave no room for a refuted bar, those come first.
fn place_above(row: &[Wish], mut above: Vec<(usize, Vec<Piece>)>, placed: &mut [Placed]) {
    above.sort_by_key(|&(i, _)| std::cmp::Reverse(i));
    let mut levels = levels(row, &above);
    if above.iter().zip(&levels).any(|((i, _), level)| row[*i].refuted && level.is_none()) {
        above.sort_by_key(|&(i, _)| !row[i].refuted);
        levels = self::levels(row, &above);
    }
    for ((i, pieces), level) in above.into_iter().zip(levels) {
        match level {
            Some(level) => {
                let line = Line::Above(level);
                let leader = leader(&row[i]);
                placed[i].pieces.extend(shifted(pieces, leader + ABOVE_LEADER, line));
                placed[i].leader = Some((line, leader));
            }
            None => {
                placed[i].incomplete = true;
                let cut = cut(&row[i], &placed[i]);
                placed[i].pieces.extend(cut);
            }
        }
    }
}

fn leader(wish: &Wish) -> i32 {
    wish.span.left + 3
}

fn levels(row: &[Wish], above: &[(usize, Vec<Piece>)]) -> Vec<Option<usize>> {
    let tag = |(i, pieces): &(usize, Vec<Piece>)| {
        let leader = leader(&row[*i]);
        let right = leader + ABOVE_LEADER + extent(pieces);
        Tag { span: Span { left: leader - 1, right }, leader }
    };
    let tags: Vec<Tag> = above.iter().map(tag).collect();
    pack::levels(&tags, LEVELS_MAX, 3)
}

/// A label cut to the room inside its bar, if that is worth showing.
fn cut(wish: &Wish, placed: &Placed) -> Option<Piece> {
    let badge = placed.pieces.iter().find(|piece| piece.kind == Kind::Badge);
    let left = badge.map_or(wish.inner.left, |badge| badge.left + badge.width + PADDING);
    let cells = mono_cells(wish.inner.right - left);
    let text = clean::shorten(&wish.label, cells);
    let width = mono_width(&text);
    (cells >= CUT_CELLS_MIN).then_some(Piece {
        kind: Kind::Label,
        text,
        left,
        width,
        line: Line::Inside,
    })
}

/// What fits into the bar, at its place, and what does not, counted from 0.
fn split(wish: &Wish) -> (Vec<Piece>, Vec<Piece>) {
    let mut inside = Vec::new();
    let mut outside = Vec::new();
    let mut left = wish.inner.left;
    let mut pieces = Vec::new();
    if let Some(order) = wish.order {
        let text = order.to_string();
        pieces.push((Kind::Badge, badge_width(&text), text));
    }
    if !wish.label.is_empty() {
        pieces.push((Kind::Label, mono_width(&wish.label), wish.label.clone()));
    }
    for (kind, width, text) in pieces {
        let fits = outside.is_empty() && left + width <= wish.inner.right;
        let (list, line) =
            if fits { (&mut inside, Line::Inside) } else { (&mut outside, Line::Beside) };
        let at = if fits { left } else { extent(list) + if list.is_empty() { 0 } else { PADDING } };
        left += width + PADDING;
        list.push(Piece { kind, text, left: at, width, line });
    }
    if wish.refuted {
        let at = if outside.is_empty() { 0 } else { extent(&outside) + 2 * PADDING };
        let (text, width) = (REFUTED_WORDS.to_owned(), mono_width(REFUTED_WORDS));
        outside.push(Piece { kind: Kind::Refuted, text, left: at, width, line: Line::Beside });
    }
    (inside, outside)
}

fn extent(pieces: &[Piece]) -> i32 {
    pieces.last().map_or(0, |piece| piece.left + piece.width)
}

fn shifted(pieces: Vec<Piece>, by: i32, line: Line) -> impl Iterator<Item = Piece> {
    pieces.into_iter().map(move |piece| Piece { left: piece.left + by, line, ..piece })
}

//! Two small puzzles every picture has: rows for bars, and levels for tags beside them.
//!
//! Both work on integers (pixels or terminal cells), so the result is the same everywhere.

/// The room something takes from left to right, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) left: i32,
    pub(crate) right: i32,
}

impl Span {
    pub(crate) fn touches(self, other: Span, gap: i32) -> bool {
        self.left < other.right + gap && other.left < self.right + gap
    }
}

/// A text that stands some levels away from the point it belongs to, tied to it by a leader.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag {
    pub(crate) span: Span,
    /// Where the leader runs, through every level below the tag's own.
    pub(crate) leader: i32,
}

/// Gives each span the first row in which it keeps `gap` from the others.
///
/// Spans are placed from left to right whatever order they come in.
pub(crate) fn rows(spans: &[Span], gap: i32) -> Vec<usize> {
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by_key(|&i| (spans[i].left, spans[i].right, i));
    let mut rights: Vec<i32> = Vec::new();
    let mut row_of = vec![0; spans.len()];
    for i in order {
        let span = spans[i];
        let row = rights.iter().position(|&right| right + gap <= span.left);
        let row = row.unwrap_or_else(|| {
            rights.push(i32::MIN);
            rights.len() - 1
        });
        rights[row] = span.right;
        row_of[i] = row;
    }
    row_of
}

/// Gives each tag the lowest level where neither it nor its leader meets another, or `None`.
///
/// Tags are placed in the order they come in, so the first ones stand closest. Tags that belong to
/// the same position share one leader, like flags on a pole.
pub(crate) fn levels(tags: &[Tag], levels_max: usize, gap: i32) -> Vec<Option<usize>> {
    let mut taken: Vec<Vec<Tag>> = vec![Vec::new(); levels_max];
    let mut level_of = Vec::with_capacity(tags.len());
    for &tag in tags {
        let pole = Span { left: tag.leader - 1, right: tag.leader + 1 };
        let pole = Tag { span: pole, leader: tag.leader };
        let stands = |level: usize| taken[level].iter().all(|t| !t.span.touches(tag.span, gap));
        let passes = |level: usize| {
            let mut others = taken[level].iter().filter(|t| t.leader != tag.leader);
            others.all(|t| !t.span.touches(pole.span, gap))
        };
        let found = (0..levels_max).find(|&level| stands(level) && (0..level).all(passes));
        if let Some(level) = found {
            taken[level].push(tag);
            taken[..level].iter_mut().for_each(|below| below.push(pole));
        }
        level_of.push(found);
    }
    level_of
}

/// Levels for the ticks of an axis: the two ends come first, because they say how long all took.
pub(crate) fn tick_levels(tags: &[Tag], levels_max: usize, gap: i32) -> Vec<Option<usize>> {
    let last = tags.len().saturating_sub(1);
    let mut order: Vec<usize> = (0..tags.len()).collect();
    order.sort_by_key(|&i| (i != 0 && i != last, i));
    let ordered: Vec<Tag> = order.iter().map(|&i| tags[i]).collect();
    let mut level_of = vec![None; tags.len()];
    for (i, level) in order.into_iter().zip(levels(&ordered, levels_max, gap)) {
        level_of[i] = level;
    }
    level_of
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(left: i32, right: i32) -> Span {
        Span { left, right }
    }

    #[test]
    fn spans_that_overlap_get_rows_of_their_own() {
        let spans = [span(0, 10), span(5, 8), span(12, 20), span(9, 30)];
        assert_eq!(rows(&spans, 1), [0, 1, 0, 1]);
        assert_eq!(rows(&spans, 3), [0, 1, 1, 2]);
    }

    #[test]
    fn leaders_do_not_cross_tags() {
        let tag = |x: i32| Tag { span: span(x, x + 50), leader: x };
        // From right to left, each tag stands above the one it would cover.
        assert_eq!(levels(&[tag(40), tag(20), tag(0)], 3, 1), [Some(0), Some(1), Some(2)]);
        // From left to right, the second one's leader would cross the first.
        assert_eq!(levels(&[tag(0), tag(20)], 3, 1), [Some(0), None]);
        // Two for the same position share a leader.
        assert_eq!(levels(&[tag(0), tag(0)], 3, 1), [Some(0), Some(1)]);
    }
}

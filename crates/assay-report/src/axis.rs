//! From times to positions.
//!
//! The times of a witness can be nanoseconds and hours apart in the same picture. With
//! [`Spacing::Rank`] each event is one step to the right of the one before, which keeps every
//! overlap visible; with [`Spacing::Real`] distances are true to scale.

/// How far apart two events are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    /// One step from each event to the next, however much time passed between them.
    #[default]
    Rank,
    /// In proportion to the time that passed.
    Real,
}

/// Positions of the distinct times of a picture, in pixels or terminal cells.
pub(crate) struct Axis {
    times: Vec<i64>,
    spacing: Spacing,
    /// The width of one step with rank spacing; not used with real spacing.
    step: i32,
    length: i32,
}

impl Axis {
    /// An axis whose events are `step` apart. `times` must be ascending and distinct.
    pub(crate) fn ranked(times: Vec<i64>, step: i32) -> Self {
        debug_assert!(times.is_sorted_by(|a, b| a < b));
        let length = step * i32::try_from(times.len().saturating_sub(1)).unwrap_or(0);
        Self { times, spacing: Spacing::Rank, step, length }
    }

    /// An axis that is true to scale. `times` must be ascending and distinct.
    pub(crate) fn real(times: Vec<i64>, length: i32) -> Self {
        debug_assert!(times.is_sorted_by(|a, b| a < b));
        Self { times, spacing: Spacing::Real, step: 0, length }
    }

    pub(crate) fn spacing(&self) -> Spacing {
        self.spacing
    }

    pub(crate) fn times(&self) -> &[i64] {
        &self.times
    }

    /// The position of the last event; the first one is at 0.
    pub(crate) fn length(&self) -> i32 {
        self.length
    }

    /// How many events `time` comes after the first one.
    pub(crate) fn rank(&self, time: i64) -> usize {
        self.times.partition_point(|&t| t < time).min(self.times.len().saturating_sub(1))
    }

    /// Where `time` is drawn.
    pub(crate) fn position(&self, time: i64) -> i32 {
        match self.spacing {
            Spacing::Rank => i32::try_from(self.rank(time)).unwrap_or(0) * self.step,
            Spacing::Real => self.scaled(time),
        }
    }

    fn scaled(&self, time: i64) -> i32 {
        let (Some(&first), Some(&last)) = (self.times.first(), self.times.last()) else {
            return 0;
        };
        let span = (i128::from(last) - i128::from(first)).max(1);
        let since = i128::from(time.clamp(first, last)) - i128::from(first);
        i32::try_from(since * i128::from(self.length) / span).unwrap_or(self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_ignore_how_much_time_passed() {
        let axis = Axis::ranked(vec![i64::MIN, 0, 1, i64::MAX], 10);
        assert_eq!([i64::MIN, 0, 1, i64::MAX].map(|t| axis.position(t)), [0, 10, 20, 30]);
    }

    #[test]
    fn real_positions_are_in_proportion_and_do_not_overflow() {
        let axis = Axis::real(vec![i64::MIN, 0, i64::MAX], 1_000);
        assert_eq!([i64::MIN, 0, i64::MAX].map(|t| axis.position(t)), [0, 500, 1_000]);
        assert_eq!(Axis::real(vec![], 1_000).position(7), 0);
        assert_eq!(Axis::real(vec![7], 1_000).position(7), 0);
    }
}

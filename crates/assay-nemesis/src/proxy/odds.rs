//! Chances: how many of all datagrams a rule hits.

/// A share of all, in parts of a million: exact, so that rules can be compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Share(u32);

/// All of a million.
const WHOLE: u32 = 1_000_000;

impl Share {
    /// Nobody.
    pub const NONE: Share = Share(0);
    /// Everybody.
    pub const ALL: Share = Share(WHOLE);

    /// So many parts of a million, if there are so many.
    pub const fn parts(of_a_million: u32) -> Option<Share> {
        if of_a_million <= WHOLE { Some(Share(of_a_million)) } else { None }
    }

    /// So many percent, if that is a share; rounded to parts of a million.
    pub fn percent(percent: f64) -> Option<Share> {
        let parts = (percent * f64::from(WHOLE / 100)).round();
        (0.0..=f64::from(WHOLE)).contains(&parts).then_some(Share(parts as u32))
    }

    /// Whether one who drew `lot`, a number below a million, is among them.
    pub(crate) fn hits(self, lot: u32) -> bool {
        lot < self.0
    }

    /// One past the highest lot.
    pub(crate) const LOTS: u32 = WHOLE;

    /// Hit by either of two that do not know of each other.
    fn or(self, other: Share) -> Share {
        let both = u64::from(self.0) * u64::from(other.0) / u64::from(WHOLE);
        Share(self.0 + other.0 - both as u32)
    }
}

/// What happens to datagrams by chance. Streams know nothing of it: TCP repairs all of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Odds {
    /// Thrown away.
    pub lose: Share,
    /// Sent twice.
    pub duplicate: Share,
    /// Kept back until the next one has overtaken it.
    pub reorder: Share,
}

impl Odds {
    /// Both together.
    pub(crate) fn over(self, below: Odds) -> Odds {
        Odds {
            lose: self.lose.or(below.lose),
            duplicate: self.duplicate.or(below.duplicate),
            reorder: self.reorder.or(below.reorder),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Share;

    #[test]
    fn shares_are_between_nobody_and_everybody() {
        for (percent, expected) in [
            (0.0, Some(Share::NONE)),
            (100.0, Some(Share::ALL)),
            (2.5, Share::parts(25_000)),
            (100.1, None),
            (-1.0, None),
            (f64::NAN, None),
        ] {
            assert_eq!(Share::percent(percent), expected, "{percent}");
        }
        assert_eq!(Share::parts(1_000_001), None);
        assert!(!Share::NONE.hits(0) && Share::ALL.hits(Share::LOTS - 1));
    }

    #[test]
    fn two_chances_together_are_less_than_their_sum() {
        let half = Share::percent(50.0).expect("a share");
        assert_eq!(Some(half.or(half)), Share::percent(75.0));
        assert_eq!(half.or(Share::ALL), Share::ALL);
        assert_eq!(half.or(Share::NONE), half);
    }
}

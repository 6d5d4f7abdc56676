//! What happens to bytes on their way.
//!
//! A rule says what one direction of one link does to what passes. Several faults may lie on the
//! same link at the same time, so rules come in layers: [`Rules::over`] lays one upon another, and
//! healing a fault takes away its own layer and nothing else.
//!
//! ```
//! use assay_nemesis::{Flow, Rules};
//! use std::time::Duration;
//!
//! let slow = Rules::delay(Duration::from_millis(40), Duration::from_millis(10));
//! let cut = Rules::flow(Flow::Drop);
//! assert_eq!(cut.over(slow).flow, Flow::Drop);
//! assert!(!Rules::default().changes_anything());
//! ```

use super::odds::Odds;
use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

/// No rule delays by more than this: a longer delay is a cut, and should be called one.
pub const DELAY_MAX: Duration = Duration::from_secs(600);

/// What a rate keeps back for less than this nobody notices: it is not counted as limited.
pub(super) const RATE_FELT_MIN: Duration = Duration::from_millis(1);

/// Which way bytes go on a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Direction {
    /// From the side that connected.
    Request,
    /// Back to the side that connected.
    Response,
}

impl Direction {
    /// Both, requests first.
    pub const BOTH: [Direction; 2] = [Direction::Request, Direction::Response];

    /// Its word on screens and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::Request => "request",
            Direction::Response => "response",
        }
    }

    pub(crate) const fn index(self) -> usize {
        self as usize
    }

    pub(crate) const fn other(self) -> Direction {
        match self {
            Direction::Request => Direction::Response,
            Direction::Response => Direction::Request,
        }
    }
}

/// What a link carries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Transport {
    /// TCP connections.
    Stream,
    /// UDP datagrams.
    Datagrams,
}

/// Whether bytes get through, from harmless to harsh.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Flow {
    /// They do.
    #[default]
    Pass,
    /// They wait where they are: nothing is read, so the sender fills its buffers and stalls (a
    /// half-open connection). What waited arrives when the rule is lifted. Datagrams wait in a
    /// queue, because nobody who sends them would stall.
    Hold,
    /// They are read and thrown away: a black hole. A connection that lost bytes this way is reset
    /// when the rule is lifted, because no network delivers a stream with a hole in it.
    Drop,
}

/// Whether new connections are let in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Admission {
    /// They are.
    #[default]
    Accept,
    /// They are reset at once. The client sees its first read or write fail; a refusal by a closed
    /// port would fail its connect, but the port could then be taken by somebody else.
    Refuse,
}

/// How long bytes are kept back: `base` plus something between nothing and `jitter`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Delay {
    /// At least this long.
    pub base: Duration,
    /// And up to this much longer, drawn from the seed of the mesh.
    pub jitter: Duration,
}

/// What one direction of a link does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rules {
    /// Whether bytes get through.
    pub flow: Flow,
    /// Whether new connections are let in; counts for the link if either direction says so.
    pub admission: Admission,
    /// How long bytes are kept back.
    pub delay: Option<Delay>,
    /// How many bytes may pass per second, over each connection.
    pub rate: Option<NonZeroU64>,
    /// The largest piece written at once, in bytes.
    pub slice: Option<NonZeroU32>,
    /// What happens to datagrams by chance.
    pub odds: Odds,
}

impl Rules {
    /// Only whether bytes get through.
    pub fn flow(flow: Flow) -> Rules {
        Rules { flow, ..Rules::default() }
    }

    /// Only a delay; what exceeds [`DELAY_MAX`] is cut down to it.
    pub fn delay(base: Duration, jitter: Duration) -> Rules {
        let delay = Delay { base: base.min(DELAY_MAX), jitter: jitter.min(DELAY_MAX) };
        Rules { delay: Some(delay), ..Rules::default() }
    }

    /// Only a limit, in bytes per second.
    pub fn rate(bytes_per_second: NonZeroU64) -> Rules {
        Rules { rate: Some(bytes_per_second), ..Rules::default() }
    }

    /// Only small writes, of at most so many bytes.
    pub fn slice(bytes_max: NonZeroU32) -> Rules {
        Rules { slice: Some(bytes_max), ..Rules::default() }
    }

    /// Only chances, for datagrams.
    pub fn odds(odds: Odds) -> Rules {
        Rules { odds, ..Rules::default() }
    }

    /// New connections are reset.
    pub fn refuse() -> Rules {
        Rules { admission: Admission::Refuse, ..Rules::default() }
    }

    /// Both together: the harsher flow, the sum of delays, the smaller rate and slice.
    #[must_use]
    pub fn over(self, below: Rules) -> Rules {
        let delay = match (self.delay, below.delay) {
            (Some(a), Some(b)) => {
                Some(Delay { base: a.base + b.base, jitter: a.jitter + b.jitter })
            }
            (a, b) => a.or(b),
        };
        Rules {
            flow: self.flow.max(below.flow),
            admission: self.admission.max(below.admission),
            delay,
            rate: smaller(self.rate, below.rate),
            slice: smaller(self.slice, below.slice),
            odds: self.odds.over(below.odds),
        }
    }

    /// Whether bytes may take the short way: straight from one socket into the other.
    pub(crate) fn is_plain(&self) -> bool {
        self.flow == Flow::Pass
            && self.delay.is_none()
            && self.rate.is_none()
            && self.slice.is_none()
    }

    /// What of these rules could do nothing on such a link, and why.
    pub fn misfit(&self, transport: Transport) -> Option<&'static str> {
        match transport {
            Transport::Stream if self.odds != Odds::default() => {
                Some("loss, duplication and reordering are for datagrams: TCP repairs them")
            }
            Transport::Datagrams if self.slice.is_some() => {
                Some("a datagram cannot be handed on in pieces")
            }
            Transport::Datagrams if self.admission == Admission::Refuse => {
                Some("datagrams have no connections")
            }
            _ => None,
        }
    }

    /// Whether anything would be different without these rules.
    pub fn changes_anything(&self) -> bool {
        *self != Rules::default()
    }
}

fn smaller<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::super::odds::Share;
    use super::*;

    #[test]
    fn layers_add_up_and_the_harsher_one_wins() {
        let ms = Duration::from_millis;
        let rate = |n| Rules::rate(NonZeroU64::new(n).expect("not zero"));
        let lose = |percent| {
            let lose = Share::percent(percent).expect("a share");
            Rules::odds(Odds { lose, ..Odds::default() })
        };
        let cases = [
            (Rules::flow(Flow::Hold), Rules::flow(Flow::Drop), Rules::flow(Flow::Drop)),
            (Rules::flow(Flow::Pass), Rules::flow(Flow::Hold), Rules::flow(Flow::Hold)),
            (Rules::delay(ms(3), ms(1)), Rules::delay(ms(4), ms(2)), Rules::delay(ms(7), ms(3))),
            (Rules::delay(ms(3), ms(1)), Rules::default(), Rules::delay(ms(3), ms(1))),
            (rate(10), rate(4), rate(4)),
            (rate(10), Rules::default(), rate(10)),
            (Rules::refuse(), Rules::default(), Rules::refuse()),
            (lose(50.0), lose(20.0), lose(60.0)),
        ];
        for (upper, lower, both) in cases {
            assert_eq!(upper.over(lower), both, "{upper:?} over {lower:?}");
            assert_eq!(lower.over(upper), both, "{lower:?} over {upper:?}");
        }
    }
}

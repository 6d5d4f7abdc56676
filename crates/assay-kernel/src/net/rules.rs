//! What happens to packets on their way, and what is counted.

use super::NetError;
use std::num::NonZeroU64;
use std::time::Duration;

/// No rule delays by more than this: a longer delay is a cut, and should be called one.
pub const DELAY_MAX: Duration = Duration::from_secs(60);
/// A share of all packets is given in parts of this.
pub const SHARE_WHOLE: u32 = 1_000_000;

/// What one direction of a link does to packets. The default is nothing.
///
/// Shares are drawn from the seed of the network, packet by packet, in parts of a million.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PacketRule {
    /// None gets through.
    pub drop: bool,
    /// All are kept back for so long.
    pub delay: Duration,
    /// And up to this much longer, without overtaking each other.
    pub jitter: Duration,
    /// This share is thrown away.
    pub loss_ppm: u32,
    /// This share arrives twice.
    pub duplicate_ppm: u32,
    /// This share is kept back until later ones have overtaken it, for 20 ms.
    pub reorder_ppm: u32,
    /// So many bytes may pass per second; what would have to wait longer than 200 ms is thrown
    /// away, as a router would.
    pub rate_bytes_per_s: Option<NonZeroU64>,
}

impl PacketRule {
    /// None gets through.
    pub fn cut() -> PacketRule {
        PacketRule { drop: true, ..PacketRule::default() }
    }

    /// Whether it does anything.
    pub fn changes_anything(&self) -> bool {
        *self != PacketRule::default()
    }

    /// Whether it only cuts.
    pub(super) fn only_cuts(&self) -> bool {
        *self == PacketRule::cut()
    }

    pub(super) fn check(&self) -> Result<(), NetError> {
        let shares = [self.loss_ppm, self.duplicate_ppm, self.reorder_ppm];
        if shares.iter().any(|share| *share > SHARE_WHOLE) {
            return Err(NetError::Rule("a share is more than a million parts of a million"));
        }
        if self.delay > DELAY_MAX || self.jitter > DELAY_MAX {
            return Err(NetError::Rule("a delay is longer than 60 s; cut the link instead"));
        }
        Ok(())
    }
}

/// A rule for what one says to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DirectedRule {
    /// Who speaks.
    pub from: String,
    /// Who is spoken to.
    pub to: String,
    /// What happens to it.
    pub rule: PacketRule,
}

/// Rules that were imposed together and are lifted together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Layer(pub(super) u64);

/// Packets of one directed link since the network was built.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LinkCount {
    /// Who spoke.
    pub from: String,
    /// Who was spoken to.
    pub to: String,
    /// How many of each.
    pub packets: Packets,
}

/// Packets, by what became of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Packets {
    /// Passed on, each counted once.
    pub forwarded: u64,
    /// Thrown away by a cut or by loss.
    pub dropped: u64,
    /// Those of them that were thrown away by loss: a link may be cut and lossy at once, and what
    /// one of them does is no proof of the other.
    pub lost: u64,
    /// Kept back by a delay.
    pub delayed: u64,
    /// Passed on a second time.
    pub duplicated: u64,
    /// Passed on after one that came later.
    pub reordered: u64,
    /// Kept back by a rate, for a millisecond or longer.
    pub rate_delayed: u64,
    /// Thrown away by a rate.
    pub rate_dropped: u64,
    /// Lost by the hub itself, because somebody did not read fast enough: not a fault of ours, but
    /// nothing that may go unseen.
    pub overrun: u64,
}

//! What a link has seen and done, counted where it happens.
//!
//! These numbers are the injector's half of the proof that a fault landed, so each one moves at the
//! moment the deed is done and never when it is merely intended: bytes count as dropped when they
//! were read and thrown away, not when a rule that would drop them was set.

use super::rules::Direction;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that only grows. Relaxed order is enough: each counter stands for itself.
#[derive(Default, Debug)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

macro_rules! counters {
    ($(#[$live_doc:meta])* $live:ident, $(#[$seen_doc:meta])* $seen:ident {
        $($(#[$doc:meta])* $name:ident,)*
    }) => {
        $(#[$live_doc])*
        #[derive(Default, Debug)]
        pub(crate) struct $live { $(pub(crate) $name: Counter,)* }

        $(#[$seen_doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub struct $seen { $($(#[$doc])* pub $name: u64,)* }

        impl $live {
            pub(crate) fn snapshot(&self) -> $seen {
                $seen { $($name: self.$name.get(),)* }
            }
        }
    };
}

counters! {
    /// Live counters of a direction.
    FlowCounters,
    /// What happened in one direction of a link. A chunk is what one read gave, or a datagram.
    FlowCounts {
        /// Bytes handed on.
        bytes_passed,
        /// Writes that handed them on.
        chunks_passed,
        /// Bytes read and thrown away.
        bytes_dropped,
        /// Chunks read and thrown away, ends of streams among them.
        chunks_dropped,
        /// Those of them that were thrown away by chance, and not by a cut: both may lie on one
        /// link, and what one of them does is no proof of the other.
        chunks_lost,
        /// Times that a connection had something to say and was kept waiting by a hold.
        chunks_held,
        /// Chunks kept back by a delay.
        chunks_delayed,
        /// The delays given to them, summed up, in microseconds.
        delay_us,
        /// Chunks kept back by a rate.
        chunks_limited,
        /// Pieces cut out of larger chunks.
        chunks_sliced,
        /// Datagrams sent a second time.
        chunks_duplicated,
        /// Datagrams sent after one that came later.
        chunks_reordered,
        /// Datagrams thrown away because too many were waiting: no rule asked for that.
        chunks_overflowed,
    }
}

counters! {
    /// Live counters of the connections of a link.
    ConnectionCounters,
    /// What happened to the connections of a link.
    ConnectionCounts {
        /// Connections that arrived and were let in; of datagrams, senders not known before.
        opened,
        /// Connections that were reset on arrival; datagrams of senders that were not let in.
        refused,
        /// Connections that were reset on arrival because too many were there: no rule asked for
        /// that.
        turned_away,
        /// Connections let in or refused that were no probes of ours. Not of datagrams.
        made,
        /// Connections that were reset later on: asked for, or because bytes had been dropped.
        reset,
        /// Connections made to the other side.
        dialed,
        /// Connections that the other side did not take.
        dial_failed,
        /// Senders of datagrams that were forgotten because nothing came or went for a while.
        expired,
    }
}

/// Everything that was counted on one link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkCounts {
    /// Of its connections.
    pub connections: ConnectionCounts,
    /// Of the bytes sent by the side that connected.
    pub request: FlowCounts,
    /// Of the bytes sent back.
    pub response: FlowCounts,
}

impl LinkCounts {
    /// The counts of a direction.
    pub fn of(&self, direction: Direction) -> &FlowCounts {
        match direction {
            Direction::Request => &self.request,
            Direction::Response => &self.response,
        }
    }
}

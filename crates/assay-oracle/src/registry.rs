//! All oracles of this crate.

use crate::bank::BANK;
use crate::baseline::BASELINE;
use crate::causal::CAUSAL;
use crate::contract::Oracle;
use crate::differential::{DIFFERENTIAL, PROPERTY};
use crate::durable::NO_LOST_ACK;
use crate::effects::{AT_LEAST_ONCE, AT_MOST_ONCE, EXACTLY_ONCE};
use crate::fairness::FAIRNESS;
use crate::invariant::INVARIANT;
use crate::ledger::LEDGER;
use crate::lock::{LEASE, LOCK};
use crate::log::LOG;
use crate::membership::MEMBERSHIP;
use crate::order::ORDER;
use crate::queue::{FIFO_PRODUCER, QUEUE};
use crate::session::{MONOTONIC_READS, MONOTONIC_WRITES, READ_YOUR_WRITES, WRITES_FOLLOW_READS};
use crate::set::SET;
use crate::slo::SLO;
use crate::states::{REPLAY, REPLICAS};

/// Every oracle, in the order documents list them.
pub static ORACLES: [&'static dyn Oracle; 27] = [
    &READ_YOUR_WRITES,
    &MONOTONIC_READS,
    &MONOTONIC_WRITES,
    &WRITES_FOLLOW_READS,
    &CAUSAL,
    &NO_LOST_ACK,
    &EXACTLY_ONCE,
    &AT_LEAST_ONCE,
    &AT_MOST_ONCE,
    &ORDER,
    &SET,
    &FIFO_PRODUCER,
    &QUEUE,
    &LOG,
    &REPLAY,
    &REPLICAS,
    &INVARIANT,
    &BANK,
    &LEDGER,
    &LOCK,
    &LEASE,
    &MEMBERSHIP,
    &FAIRNESS,
    &SLO,
    &BASELINE,
    &DIFFERENTIAL,
    &PROPERTY,
];

/// The oracle with this name or alias.
pub fn named(name: &str) -> Option<&'static dyn Oracle> {
    let answers = |oracle: &&&'static dyn Oracle| {
        oracle.info().name == name || oracle.info().aliases.contains(&name)
    };
    ORACLES.iter().find(answers).copied()
}

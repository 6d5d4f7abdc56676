//! Restarts one after the other: a round in which every node has its turn.
//!
//! A round is one window: its operations carry one epoch, and it has landed when *every* turn did.
//! Who leads is asked before each turn, because a turn may change it.

use super::action::{PrepareError, Prepared, named, time};
use super::target::{Chosen, Target};
use super::window::{CUT_SHORT, Evidence, Stage, WindowRecord};
use crate::spec::WindowSpec;
use assay_nemesis::FaultId;
use assay_verdict::{Landing, Signal};
use rand::RngExt;
use rand_chacha::ChaCha20Rng;
use std::time::{Duration, Instant};

/// The fault of each turn.
const ONE_TURN: &str = "ctr-restart";
/// The option that says how long a node stays away before it is started again.
const DOWN: &str = "down";

/// Whose turn comes before whose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// As an operator does it: whoever leads has the last turn, so that leadership moves once.
    LeaderLast,
    /// The wrong way round: whoever leads is next, so that leadership moves again and again.
    LeaderFirst,
}

impl Order {
    /// The order of a fault; `None` if it is no round.
    pub fn of(fault: FaultId) -> Option<Order> {
        match fault.name() {
            "roll" => Some(Order::LeaderLast),
            "roll-wrong" => Some(Order::LeaderFirst),
            _ => None,
        }
    }

    /// Who is next of those who wait; there is somebody.
    fn next(self, waiting: &[usize], leaders: &[usize], rng: &mut ChaCha20Rng) -> usize {
        let leads = |node: &&usize| leaders.contains(*node);
        let found = match self {
            Order::LeaderLast => waiting.iter().find(|node| !leads(node)),
            Order::LeaderFirst => waiting.iter().find(leads),
        };
        *found.unwrap_or_else(|| &waiting[rng.random_range(0..waiting.len())])
    }
}

/// Both numbers of all turns; `least` turns make a round.
fn sum(turns: &[Signal], least: u64) -> Signal {
    let total = |of: fn(&Signal) -> Option<u64>| turns.iter().map(of).sum::<Option<u64>>();
    let what = turns.first().map(|turn| turn.what.clone()).unwrap_or_default();
    let [before, during, after] = match turns.is_empty() {
        true => [None; 3],
        false => [total(|s| s.before), total(|s| s.during), total(|s| s.after)],
    };
    Signal { what, before, during, after, moves_by_min: least }
}

impl Stage<'_> {
    /// Who is to be restarted, in the order of the description of the system.
    pub(super) fn round(
        &self,
        spec: &WindowSpec,
        rng: &mut ChaCha20Rng,
    ) -> Result<Vec<usize>, PrepareError> {
        let wrong = || PrepareError::WrongTarget {
            id: spec.fault.clone(),
            needed: "nodes",
            target: spec.target.clone(),
        };
        match Target::parse(&spec.target)? {
            Target::Nodes(side) => match self.chosen(&side, rng)? {
                Chosen { nodes, clients: false } if !nodes.is_empty() => Ok(nodes),
                _ => Err(wrong()),
            },
            Target::OneWay(..) | Target::BothWays(..) => Err(wrong()),
        }
    }

    /// Restarts them all, one after the other, and adds what was counted together.
    pub(super) fn roll(
        &self,
        record: &mut WindowRecord,
        (spec, order): (&WindowSpec, Order),
        nodes: &[usize],
        evidence: &mut Evidence<'_>,
        rng: &mut ChaCha20Rng,
    ) {
        let turn = Duration::from_millis(spec.hold_ms) / u32::try_from(nodes.len()).unwrap_or(1);
        let mut waiting = nodes.to_vec();
        let mut order_of_turns = Vec::new();
        while !waiting.is_empty() && record.trouble().is_none() && !self.is_over() {
            let until = Instant::now() + turn;
            let leaders = self.leaders();
            if order == Order::LeaderFirst && leaders.is_empty() && order_of_turns.is_empty() {
                record.trouble = Some("nobody is known to lead: there is no order".to_string());
                break;
            }
            let node = order.next(&waiting, &leaders, rng);
            waiting.retain(|other| *other != node);
            let name = self.cluster.names()[node].clone();
            order_of_turns.push(match leaders.contains(&node) {
                true => format!("{name} (leader)"),
                false => name.clone(),
            });
            match self.one_turn(spec, &name, rng) {
                // Whoever was missed on purpose has ended for good: there is no other turn.
                Ok(missed) if missed.killed.is_empty() => {
                    self.turn(record, spec, missed, evidence);
                    break;
                }
                Ok(prepared) => self.turn(record, spec, prepared, evidence),
                Err(error) => record.trouble = Some(error.to_string()),
            }
            self.wait_until(until, || evidence.sample());
        }
        if self.is_over() && !waiting.is_empty() {
            record.unhealed = Some(CUT_SHORT.to_string());
        }
        let landings = std::mem::take(&mut record.landings);
        let turns: Vec<Signal> = landings.iter().map(|turn| turn.injector.clone()).collect();
        record.target = format!("{} ({})", spec.target, order_of_turns.join(", then "));
        let all = nodes.len() as u64;
        let again = Signal {
            what: "nodes started again".to_string(),
            before: Some(0),
            during: Some(evidence.started()),
            after: Some(evidence.started()),
            moves_by_min: all,
        };
        let (fault, victim) = (record.id.clone(), Signal::default());
        for injector in [sum(&turns, all), again] {
            let (fault, victim) = (fault.clone(), victim.clone());
            record.landings.push(Landing { fault, injector, victim });
        }
    }

    /// One node's turn as a fault of its own, under the name of the round.
    fn one_turn(
        &self,
        spec: &WindowSpec,
        name: &str,
        rng: &mut ChaCha20Rng,
    ) -> Result<Prepared, PrepareError> {
        let strength = Default::default();
        let (fault, target) = (ONE_TURN.to_string(), name.to_string());
        let alone = WindowSpec { fault, target, strength, ..spec.clone() };
        let id = named(&spec.fault)?;
        Ok(Prepared { id, ..self.prepared(&alone, rng)? })
    }

    fn turn(
        &self,
        record: &mut WindowRecord,
        spec: &WindowSpec,
        prepared: Prepared,
        evidence: &mut Evidence<'_>,
    ) {
        match time(prepared.id, &spec.strength, DOWN) {
            Ok(down) => {
                let hold_ms = u64::try_from(down.as_millis()).unwrap_or(u64::MAX);
                let away = WindowSpec { hold_ms, ..spec.clone() };
                self.inflict(record, &away, prepared, evidence);
            }
            Err(error) => record.trouble = Some(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    /// Who has a turn after whom, if leadership goes to `heir` whenever whoever leads is restarted.
    fn turns(order: Order, mut leader: usize, heir: impl Fn(usize) -> usize) -> Vec<usize> {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let (mut waiting, mut turns) = (vec![0, 1, 2], Vec::new());
        while !waiting.is_empty() {
            let next = order.next(&waiting, &[leader], &mut rng);
            waiting.retain(|node| *node != next);
            turns.push(next);
            if next == leader {
                leader = heir(leader);
            }
        }
        turns
    }

    #[test]
    fn everybody_has_one_turn_and_the_leader_the_last_or_always_the_next() {
        let next = |node| (node + 1) % 3;
        for leader in 0..3 {
            let rolled = turns(Order::LeaderLast, leader, next);
            assert_eq!(rolled.last(), Some(&leader), "{rolled:?}");
            let wrong = turns(Order::LeaderFirst, leader, next);
            assert_eq!(wrong, [leader, next(leader), next(next(leader))]);
            // Leadership comes back to one that had its turn: somebody else is next.
            let mut back = turns(Order::LeaderFirst, leader, |node| if node == 0 { 1 } else { 0 });
            back.sort_unstable();
            assert_eq!(back, [0, 1, 2]);
        }
    }

    #[test]
    fn a_round_has_landed_only_with_all_its_turns() {
        let turn = |during| Signal {
            what: "processes gone".to_string(),
            before: Some(0),
            during,
            after: during,
            moves_by_min: 1,
        };
        use assay_verdict::LandingState::{Landed, Missed, Unknown};
        let rows = [
            (vec![turn(Some(1)); 3], Landed),
            (vec![turn(Some(1)); 2], Missed),
            (vec![turn(Some(1)), turn(Some(1)), turn(Some(0))], Missed),
            (vec![turn(Some(1)), turn(Some(1)), turn(None)], Unknown),
            (Vec::new(), Unknown),
        ];
        for (turns, state) in rows {
            assert_eq!(sum(&turns, 3).state(), state, "{turns:?}");
        }
    }
}

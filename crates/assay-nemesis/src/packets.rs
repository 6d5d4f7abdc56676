//! Faults on packets, in a network of namespaces.
//!
//! Proxies work on what applications say; the hub of a [`Network`] works on packets, below TCP and
//! around nobody: there is no other way from one node to another. A [`PacketFault`] lays one rule
//! on directed links, by [`shapes`](crate::shapes) or one by one; a [`DnsFault`] leaves questions
//! for names without an answer. Both end with the process that holds the network, whatever happens
//! to it, so their journal has nothing to undo for others.

use crate::journal::Undo;
use crate::means::{Means, Reading};
use crate::shapes::Cuts;
use assay_kernel::net::{DirectedRule, Layer, Network, PacketRule, Packets};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// How long a packet may take to show that a link is healed.
const PROBE_TIME_MAX: Duration = Duration::from_secs(5);

/// Rules for packets on directed links.
#[derive(Debug)]
pub struct PacketFault {
    network: Arc<Network>,
    rules: Vec<DirectedRule>,
    layer: Mutex<Option<Layer>>,
}

impl PacketFault {
    /// The same rule for everything that is cut.
    pub fn new(network: Arc<Network>, cuts: &Cuts, rule: PacketRule) -> PacketFault {
        let directed = |cut: &crate::shapes::Cut| DirectedRule {
            from: cut.from.clone(),
            to: cut.to.clone(),
            rule,
        };
        PacketFault { network, rules: cuts.iter().map(directed).collect(), layer: Mutex::default() }
    }

    /// What the rules move; all of them are the same one.
    fn moves(&self) -> Moves {
        self.rules.first().map_or(Moves::Nothing, |directed| Moves::by(&directed.rule))
    }

    fn layer(&self) -> MutexGuard<'_, Option<Layer>> {
        self.layer.lock().expect("nothing panics while it holds the layer")
    }

    fn passes(&self, link: &DirectedRule) -> Result<String, String> {
        let (from, to) = (&link.from, &link.to);
        if self.network.is_ruled(from, to) {
            return Ok(format!("{from} -> {to}: another fault is still on it"));
        }
        match self.network.passes(from, to, PROBE_TIME_MAX) {
            Ok(true) => Ok(format!("{from} -> {to}: a packet passes")),
            Ok(false) => Err(format!("{from} -> {to}: no packet passes")),
            Err(error) => Err(format!("{from} -> {to}: cannot be tried: {error}")),
        }
    }
}

/// The counter that a rule moves; the harshest part of the rule counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Moves {
    Dropped,
    Lost,
    Limited,
    Delayed,
    Duplicated,
    Reordered,
    Nothing,
}

impl Moves {
    fn by(rule: &PacketRule) -> Moves {
        match rule {
            PacketRule { drop: true, .. } => Moves::Dropped,
            PacketRule { loss_ppm: 1.., .. } => Moves::Lost,
            PacketRule { rate_bytes_per_s: Some(_), .. } => Moves::Limited,
            PacketRule { delay, jitter, .. } if !(*delay + *jitter).is_zero() => Moves::Delayed,
            PacketRule { duplicate_ppm: 1.., .. } => Moves::Duplicated,
            PacketRule { reorder_ppm: 1.., .. } => Moves::Reordered,
            _ => Moves::Nothing,
        }
    }

    fn what(self) -> &'static str {
        match self {
            Moves::Dropped | Moves::Lost => "packets dropped",
            Moves::Limited => "packets limited",
            Moves::Delayed => "packets delayed",
            Moves::Duplicated => "packets duplicated",
            Moves::Reordered => "packets reordered",
            Moves::Nothing => "packets",
        }
    }

    fn of(self, packets: &Packets) -> u64 {
        match self {
            Moves::Dropped => packets.dropped.saturating_sub(packets.lost),
            Moves::Lost => packets.lost,
            Moves::Limited => packets.rate_delayed + packets.rate_dropped,
            Moves::Delayed => packets.delayed,
            Moves::Duplicated => packets.duplicated,
            Moves::Reordered => packets.reordered,
            Moves::Nothing => 0,
        }
    }
}

impl Means for PacketFault {
    fn preflight(&self) -> Result<(), String> {
        if self.moves() == Moves::Nothing {
            return Err("hits nothing: no link, or a rule that changes nothing, was given".into());
        }
        let wrong = |rule| self.network.check(rule).map_err(|error| error.to_string());
        self.rules.iter().try_for_each(wrong)
    }

    fn undo_steps(&self) -> Vec<Undo> {
        vec![Undo::Lift { rules: self.rules.len() as u64 }]
    }

    fn begin(&self) -> Result<(), String> {
        let mut layer = self.layer();
        if layer.is_some() {
            return Err("is on already".to_string());
        }
        *layer = Some(self.network.impose(&self.rules).map_err(|error| error.to_string())?);
        Ok(())
    }

    fn undo(&self) -> Vec<Result<String, String>> {
        let mut layer = self.layer();
        let Some(on) = *layer else {
            return vec![Ok("no rules for packets: nothing to lift".to_string())];
        };
        let lifted = self.network.lift(on).map_err(|error| error.to_string());
        if lifted.is_ok() {
            *layer = None;
        }
        vec![lifted.map(|()| format!("{} rules for packets: lifted", self.rules.len()))]
    }

    fn counted(&self) -> &'static str {
        self.moves().what()
    }

    fn read(&self) -> Vec<Reading> {
        let counts = self.network.counts().ok();
        let one = |rule: &DirectedRule| {
            let mut links = counts.iter().flatten();
            let link = links.find(|link| link.from == rule.from && link.to == rule.to);
            let name = format!("{} -> {}", rule.from, rule.to);
            (name, link.map(|link| self.moves().of(&link.packets)))
        };
        self.rules.iter().map(one).collect()
    }

    fn proof(&self) -> Vec<Result<String, String>> {
        self.rules.iter().map(|rule| self.passes(rule)).collect()
    }
}

/// Nodes whose questions for names are not answered.
#[derive(Debug)]
pub struct DnsFault {
    network: Arc<Network>,
    nodes: Vec<String>,
    /// Those for whom it is on.
    on: Mutex<Vec<String>>,
}

impl DnsFault {
    /// For these nodes.
    pub fn new(network: Arc<Network>, nodes: &[&str]) -> DnsFault {
        let nodes = nodes.iter().map(ToString::to_string).collect();
        DnsFault { network, nodes, on: Mutex::default() }
    }

    fn on(&self) -> MutexGuard<'_, Vec<String>> {
        self.on.lock().expect("nothing panics while it holds the nodes")
    }

    fn answered(&self, node: &str) -> Result<String, String> {
        match self.network.dns_answers(node) {
            Ok(true) => Ok(format!("{node}: a question for a name is answered")),
            Ok(false) => Err(format!("{node}: a question for a name is not answered")),
            Err(error) => Err(format!("{node}: cannot ask for a name: {error}")),
        }
    }
}

impl Means for DnsFault {
    fn preflight(&self) -> Result<(), String> {
        if self.nodes.is_empty() {
            return Err("hits nobody: no node was given".to_string());
        }
        let unknown = |node: &String| self.network.address(node).map(drop);
        self.nodes.iter().try_for_each(unknown).map_err(|error| error.to_string())
    }

    fn undo_steps(&self) -> Vec<Undo> {
        vec![Undo::Lift { rules: self.nodes.len() as u64 }]
    }

    fn begin(&self) -> Result<(), String> {
        let mut on = self.on();
        if !on.is_empty() {
            return Err("is on already".to_string());
        }
        for node in &self.nodes {
            self.network.cut_dns(node).map_err(|error| error.to_string())?;
            on.push(node.clone());
        }
        Ok(())
    }

    fn undo(&self) -> Vec<Result<String, String>> {
        let on = std::mem::take(&mut *self.on());
        let restored = |node: String| match self.network.restore_dns(&node) {
            Ok(_) => Ok(format!("{node}: names are answered again")),
            Err(error) => Err(error.to_string()),
        };
        on.into_iter().map(restored).collect()
    }

    fn counted(&self) -> &'static str {
        "questions for names unanswered"
    }

    /// Each node has to ask.
    fn moves_by_min(&self) -> u64 {
        self.nodes.len() as u64
    }

    fn read(&self) -> Vec<Reading> {
        let one = |node: &String| {
            let count = self.network.dns_count(node).ok();
            (node.clone(), count.map(|count| count.unanswered))
        };
        self.nodes.iter().map(one).collect()
    }

    fn proof(&self) -> Vec<Result<String, String>> {
        self.nodes.iter().map(|node| self.answered(node)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_and_a_loss_on_one_link_count_their_own() {
        let packets = Packets { dropped: 7, lost: 2, ..Packets::default() };
        let loss = PacketRule { loss_ppm: 10, ..PacketRule::default() };
        assert_eq!(Moves::by(&PacketRule::cut()).of(&packets), 5);
        assert_eq!(Moves::by(&loss).of(&packets), 2);
    }
}

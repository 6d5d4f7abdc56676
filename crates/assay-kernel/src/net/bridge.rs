//! The kernel's bridge as a hub: cuts are rules of nftables, each with a counter.

use super::names::Names;
use super::nft::{PortRule, Table};
use super::rules::{Layer, Packets};
use super::space::Space;
use std::io;

/// Rules of faults come before the one that counts what passes.
const FAULT_PRIORITY: i32 = 0;
const COUNT_PRIORITY: i32 = 10;

/// The filters of a bridge.
#[derive(Debug)]
pub(super) struct Bridge {
    table: Table,
    ports: usize,
}

fn passed(from: usize, to: usize) -> String {
    format!("passed_{from}_{to}")
}

fn dropped(from: usize, to: usize) -> String {
    format!("dropped_{from}_{to}")
}

fn chain(layer: Layer) -> String {
    format!("fault_{}", layer.0)
}

impl Bridge {
    /// Counts what goes from which port to which.
    pub(super) fn start(hub: &Space, ports: usize) -> io::Result<Bridge> {
        let pairs: Vec<(usize, usize)> = (0..ports)
            .flat_map(|from| (0..ports).map(move |to| (from, to)))
            .filter(|(from, to)| from != to)
            .collect();
        let counters: Vec<String> =
            pairs.iter().flat_map(|(from, to)| [passed(*from, *to), dropped(*from, *to)]).collect();
        let rule = |(from, to): &(usize, usize)| PortRule {
            from: Names::index(*from),
            to: Names::index(*to),
            counter: passed(*from, *to),
            drop: false,
        };
        let rules: Vec<PortRule> = pairs.iter().map(rule).collect();
        let table = hub.run(|| {
            let mut table = Table::create("assay", &counters)?;
            table.hang("count", COUNT_PRIORITY, &rules)?;
            Ok(table)
        })?;
        Ok(Bridge { table, ports })
    }

    pub(super) fn cut(&mut self, layer: Layer, pairs: &[(usize, usize)]) -> io::Result<()> {
        let rule = |(from, to): &(usize, usize)| PortRule {
            from: Names::index(*from),
            to: Names::index(*to),
            counter: dropped(*from, *to),
            drop: true,
        };
        let rules: Vec<PortRule> = pairs.iter().map(rule).collect();
        self.table.hang(&chain(layer), FAULT_PRIORITY, &rules)
    }

    pub(super) fn lift(&mut self, layer: Layer) -> io::Result<()> {
        self.table.take_down(&chain(layer))
    }

    /// The packets of all directed links, by `from * ports + to`.
    pub(super) fn packets(&mut self) -> io::Result<Vec<Packets>> {
        let counted = self.table.packets()?;
        let of = |name: String| counted.get(&name).copied().unwrap_or(0);
        let one = |at: usize| {
            let (from, to) = (at / self.ports, at % self.ports);
            let (forwarded, dropped) = (of(passed(from, to)), of(dropped(from, to)));
            Packets { forwarded, dropped, ..Packets::default() }
        };
        Ok((0..self.ports * self.ports).map(one).collect())
    }
}

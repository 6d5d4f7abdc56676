//! Faults that the kernel carries out: system calls, disks, control groups, packets.

use super::action::{
    CLIENTS, Cutting, Maker, ONE_CLOCK, PrepareError, Prepared, natural, strength_error, time,
    whole,
};
use super::target::{Chosen, Side, Target};
use assay_kernel::cgroup::{CoreShare, WriteLimit};
use assay_kernel::net::PacketRule;
use assay_kernel::notify::{CallRule, Calls, ClockRule, Deed, Errno, Share};
use assay_nemesis::shapes::{Cut, Cuts};
use assay_nemesis::{
    Action, ByMeans, CallFault, ClockFault, CpuQuota, DiskNode, DnsFault, FewDescriptors, Freeze,
    Means, MemoryLimit, PacketFault, PowerLoss, Process, ReadOnlyDisk, Skew, SlowDisk, WatchedNode,
};
use assay_sut::BYSTANDER;
use rand_chacha::ChaCha20Rng;
use std::num::NonZeroU64;
use std::sync::Arc;

/// Parts of a million in a percent.
const PPM_PER_PERCENT: u64 = 10_000;

/// Links that nobody uses: the bystander says nothing, and nobody says anything to it.
fn unused_links() -> Cuts {
    [(BYSTANDER, CLIENTS), (CLIENTS, BYSTANDER)].map(|(from, to)| Cut::new(from, to)).into()
}

/// Links that are not the ones that are meant: those between nodes that a fault around one node
/// leaves alone. None if every node is hit: then there is no other link.
fn wrong_links(meant: &Cuts, nodes: &[String]) -> Cuts {
    let touches = |node: &String| meant.iter().all(|cut| cut.from == *node || cut.to == *node);
    let (hit, others): (Vec<&String>, Vec<&String>) = nodes.iter().partition(|node| touches(node));
    let pairs = others.iter().flat_map(|from| others.iter().map(move |to| (from, to)));
    let wrong = pairs.filter(|(from, to)| from != to);
    let cuts = wrong.map(|(from, to)| Cut::new(from, to)).filter(|cut| !meant.contains(cut));
    if hit.is_empty() { Cuts::default() } else { cuts.collect() }
}

impl Maker<'_> {
    /// A fault on nodes by one of the kernel's mechanisms.
    pub(super) fn kernel(&self, rng: &mut ChaCha20Rng) -> Result<Prepared, PrepareError> {
        let chosen = self.nodes(rng)?;
        let (means, killed): (Arc<dyn Means>, bool) = match self.id.name() {
            "fsync-fail" | "slow-fsync" | "disk-readonly" | "disk-enospc" => {
                (Arc::new(CallFault::new(self.call_rules(&chosen, rng)?)), false)
            }
            "skew" | "slowclock" => {
                (Arc::new(ClockFault::new(self.watched(&chosen)?, self.clock_rule()?)), false)
            }
            "fsync-loss" => (Arc::new(PowerLoss::of(self.disks(&chosen)?)), true),
            "fs-readonly" => (Arc::new(ReadOnlyDisk::of(self.disks(&chosen)?)), true),
            "fd-exhaustion" => {
                (Arc::new(FewDescriptors::of_nodes(self.processes(&chosen)?)), false)
            }
            "slow-disk" => (Arc::new(self.slow_disk(&chosen)?), false),
            _ => return self.limits(&chosen),
        };
        Ok(self.by(&chosen, means, killed))
    }

    fn by(&self, chosen: &Chosen, means: Arc<dyn Means>, killed: bool) -> Prepared {
        let names = self.names(chosen).join(", ");
        // The kernel kills what does not fit into its memory, and many a server gives up when it
        // cannot write, sync or open a file, or when its clock jumps.
        let may_end = if killed { Vec::new() } else { chosen.nodes.clone() };
        let killed = if killed { chosen.nodes.clone() } else { Vec::new() };
        Prepared { killed, may_end, ..self.prepared(&names, Action::By(ByMeans(means))) }
    }

    fn limits(&self, chosen: &Chosen) -> Result<Prepared, PrepareError> {
        let groups = chosen.nodes.iter().map(|&node| {
            let missing = || self.lacks(node, "control group");
            (self.scene.group)(node).ok_or_else(missing)
        });
        let groups = groups.collect::<Result<Vec<_>, _>>()?;
        let means: Arc<dyn Means> = match self.id.name() {
            "cpu-quota" => {
                let percent = self.number("percent")?;
                let share = u32::try_from(percent).ok().and_then(CoreShare::percent);
                let wrong = || {
                    strength_error(self.id, "percent", format!("{percent} is no share of a core"))
                };
                Arc::new(CpuQuota::of(groups, share.ok_or_else(wrong)?))
            }
            "memory-limit" => Arc::new(MemoryLimit::of(groups, self.number("bytes")?)),
            _ => Arc::new(Freeze::of(groups)),
        };
        Ok(self.by(chosen, means, false))
    }

    fn slow_disk(&self, chosen: &Chosen) -> Result<SlowDisk, PrepareError> {
        let mut disks = Vec::new();
        for &node in &chosen.nodes {
            let group = (self.scene.group)(node).ok_or_else(|| self.lacks(node, "group"))?;
            let volume = (self.scene.volume)(node).ok_or_else(|| self.lacks(node, "disk"))?;
            let device = volume.device().ok_or_else(|| self.lacks(node, "block device"))?;
            disks.push((group, device));
        }
        let bytes_per_s = Some(self.number("rate")?);
        Ok(SlowDisk::of(disks, WriteLimit { bytes_per_s, ios_per_s: None }))
    }

    fn disks(&self, chosen: &Chosen) -> Result<Vec<DiskNode>, PrepareError> {
        let one = |&node: &usize| {
            let volume = (self.scene.volume)(node).ok_or_else(|| self.lacks(node, "disk"))?;
            let (name, processes) = (self.name(node), (self.scene.processes)(node));
            Ok(DiskNode { node: name, processes, volume })
        };
        chosen.nodes.iter().map(one).collect()
    }

    /// All processes of each node: who was started may be a shell that keeps the server.
    fn processes(&self, chosen: &Chosen) -> Result<Vec<Vec<Process>>, PrepareError> {
        let one = |&node: &usize| match (self.scene.processes)(node) {
            none if none.is_empty() => Err(PrepareError::NotRunning(self.name(node))),
            all => Ok(all),
        };
        chosen.nodes.iter().map(one).collect()
    }

    fn watched(&self, chosen: &Chosen) -> Result<Vec<WatchedNode>, PrepareError> {
        let one = |&node: &usize| {
            let process = (self.scene.processes)(node).first().copied();
            let process = process.ok_or_else(|| PrepareError::NotRunning(self.name(node)))?;
            Ok(WatchedNode { node: self.name(node), process, tap: (self.scene.tap)(node) })
        };
        chosen.nodes.iter().map(one).collect()
    }

    fn call_rules(
        &self,
        chosen: &Chosen,
        rng: &mut ChaCha20Rng,
    ) -> Result<Vec<(WatchedNode, CallRule)>, PrepareError> {
        let (calls, deed) = match self.id.name() {
            "slow-fsync" => {
                let delay = time(self.id, &self.window.strength, "delay")?;
                (Calls::Syncs, Deed::Delay(delay))
            }
            "fsync-fail" => (Calls::Syncs, Deed::Fail(Errno::Io)),
            "disk-enospc" => (Calls::Writes, Deed::Fail(Errno::NoSpace)),
            _ => (Calls::Writes, Deed::Fail(Errno::ReadOnly)),
        };
        let percent = self.number("percent")?;
        let share = match percent {
            100.. => Share::All,
            _ => Share::PerMille {
                share: u16::try_from(percent * 10).unwrap_or(1000),
                seed: rand::RngExt::random(rng),
            },
        };
        let from_nth = self.number("from")?;
        let rule = |node: usize| {
            let below = (self.scene.data)(node);
            CallRule { from_nth, share, ..CallRule::new(calls, below, deed) }
        };
        let nodes = self.watched(chosen)?.into_iter();
        Ok(nodes.zip(&chosen.nodes).map(|(watched, &node)| (watched, rule(node))).collect())
    }

    fn clock_rule(&self) -> Result<ClockRule, PrepareError> {
        let strength = &self.window.strength;
        let behind = strength.get("behind").and_then(serde_json::Value::as_bool);
        let sign = if behind == Some(true) { -1 } else { 1 };
        if self.id.name() == "skew" {
            let offset = time(self.id, strength, "offset")?;
            let offset_ms = i64::try_from(offset.as_millis()).unwrap_or(i64::MAX);
            return Ok(ClockRule { offset_ms: sign * offset_ms, rate_ppm: 0 });
        }
        let ppm = whole(self.id, strength, "ppm")?;
        let rate_ppm = i32::try_from(ppm)
            .map_err(|_| strength_error(self.id, "ppm", format!("{ppm} is too much")))?;
        Ok(ClockRule { offset_ms: 0, rate_ppm })
    }

    /// The clock of one node, moved by a library it has loaded.
    pub(super) fn preloaded_clock(&self, rng: &mut ChaCha20Rng) -> Result<Prepared, PrepareError> {
        let chosen = self.nodes(rng)?;
        let [node] = chosen.nodes[..] else {
            return Err(self.wrong(ONE_CLOCK));
        };
        let clock = (self.scene.clock)(node).ok_or_else(|| self.lacks(node, "clock"))?;
        let process = (self.scene.processes)(node).first().copied();
        let process = process.ok_or_else(|| PrepareError::NotRunning(self.name(node)))?;
        let offset_ms = self.clock_rule()?.offset_ms;
        let skew = Skew { clock, offset_ms, processes: vec![process] };
        Ok(self.prepared(&self.names(&chosen).join(", "), Action::Skew(skew)))
    }

    /// Names that do not resolve.
    pub(super) fn names_out(&self, rng: &mut ChaCha20Rng) -> Result<Prepared, PrepareError> {
        let chosen = self.nodes(rng)?;
        let network = self.scene.network.clone().ok_or_else(|| self.no_network())?;
        // Clients are given addresses, and ask for no names.
        let names = match self.scene.misses {
            true => vec![CLIENTS.to_string()],
            false => self.names(&chosen),
        };
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Ok(self.by(&chosen, Arc::new(DnsFault::new(network, &names)), false))
    }

    /// What one side says to another, packet by packet.
    pub(super) fn on_packets(&self, cuts: &Cuts, rule: PacketRule) -> Result<Action, PrepareError> {
        let network = self.scene.network.clone().ok_or_else(|| self.no_network())?;
        let wrong = self.scene.misses.then(|| self.missing(cuts, &rule));
        let cuts = wrong.as_ref().unwrap_or(cuts);
        Ok(Action::By(ByMeans(Arc::new(PacketFault::new(network, cuts, rule)))))
    }

    /// Where rules are laid by an injector that is broken on purpose: on links nobody uses. Wrong
    /// links, between others who talk, are only for what does them no harm, and only where somebody
    /// with a role is meant: those who follow one leader say little to each other. Cut off from
    /// each other they hold an election when the machine is busy, and the miss has hit somebody.
    fn missing(&self, cuts: &Cuts, rule: &PacketRule) -> Cuts {
        let is_harmless = rule.duplicate_ppm > 0;
        let wrong = match &self.target {
            Target::Nodes(Side::Role(_)) if is_harmless => {
                wrong_links(cuts, self.scene.lookup.names)
            }
            _ => Cuts::default(),
        };
        if wrong.is_empty() { unused_links() } else { wrong }
    }

    /// A fault around nodes or between sides, packet by packet.
    pub(super) fn packets(&self, rng: &mut ChaCha20Rng) -> Result<Prepared, PrepareError> {
        let (cuts, words) = self.cuts_around(rng)?;
        let action = self.on_packets(&cuts, self.packet_rule()?)?;
        Ok(Prepared { cutting: Cutting::No, ..self.prepared(&words, action) })
    }

    fn packet_rule(&self) -> Result<PacketRule, PrepareError> {
        let strength = &self.window.strength;
        let ppm = || -> Result<u32, PrepareError> {
            let percent = self.number("percent")?.min(100);
            Ok(u32::try_from(percent * PPM_PER_PERCENT).unwrap_or(u32::MAX))
        };
        let none = PacketRule::default();
        Ok(match self.id.name() {
            "loss" => PacketRule { loss_ppm: ppm()?, ..none },
            "dup" => PacketRule { duplicate_ppm: ppm()?, ..none },
            "reorder" => PacketRule { reorder_ppm: ppm()?, ..none },
            "rate" => {
                let rate = self.number("rate")?;
                PacketRule { rate_bytes_per_s: NonZeroU64::new(rate.max(1)), ..none }
            }
            _ => PacketRule {
                delay: time(self.id, strength, "delay")?,
                jitter: time(self.id, strength, "jitter")?,
                ..none
            },
        })
    }

    fn number(&self, option: &str) -> Result<u64, PrepareError> {
        natural(self.id, &self.window.strength, option)
    }

    fn name(&self, node: usize) -> String {
        self.scene.lookup.names[node].clone()
    }

    pub(super) fn lacks(&self, node: usize, what: &str) -> PrepareError {
        let (id, node) = (self.id.to_string(), self.name(node));
        PrepareError::Elsewhere { id, why: format!("{node} has no {what} of its own") }
    }

    fn no_network(&self) -> PrepareError {
        let why = "it needs a network of namespaces: say system.network = \"switch\"".to_string();
        PrepareError::Elsewhere { id: self.id.to_string(), why }
    }
}

#[cfg(test)]
mod tests {
    use super::super::action::{Scene, prepare};
    use super::super::target::Lookup;
    use super::*;
    use crate::arm::Depth;
    use crate::samples::{machine, spec};
    use rand::SeedableRng;

    #[test]
    fn who_runs_out_of_descriptors_is_the_node_with_all_its_processes() {
        let names = ["n1".to_string(), "n2".to_string()];
        let process = |pid: usize| Process { pid: pid as u32, start_ticks: 1 };
        let scene = Scene {
            lookup: Lookup { names: &names, role: &|role| Err(role.to_string()) },
            links: Vec::new(),
            processes: &|node| [1, 2, 3].map(|child| process(10 * node + child)).to_vec(),
            clients: &Vec::new,
            data: &|_| std::path::PathBuf::new(),
            tap: &|_| None,
            volume: &|_| None,
            group: &|_| None,
            clock: &|_| None,
            network: None,
            misses: false,
        };
        let smoke = spec(&machine("linearizability:register"), Depth::Smoke, 1);
        for (target, processes) in [("n1", 3), ("all", 6)] {
            let mut window = smoke.windows[0].clone();
            (window.fault, window.target) = ("fd-exhaustion".to_string(), target.to_string());
            window.strength.clear();
            let mut rng = ChaCha20Rng::seed_from_u64(1);
            let prepared = prepare(&window, &scene, &mut rng).expect("it can be injected");
            let Action::By(means) = prepared.action else { panic!("{:?}", prepared.action) };
            assert_eq!(means.0.moves_by_min(), processes, "{target}");
        }
    }
}

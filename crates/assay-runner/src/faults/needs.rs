//! What a fault needs before anything runs: gear of the nodes, and rights on this machine.
//!
//! Whether a machine gives it is found out by trying, once for each process of ours. A fault that
//! it does not give is missing, with the sentence that says what to do; nothing weaker takes its
//! place under the same name.

use super::target::{Side, Target};
use crate::spec::WindowSpec;
use assay_kernel::cgroup::{self, Controller};
use assay_kernel::notify::{self, Watch};
use assay_kernel::volume::VolumeKind;
use assay_kernel::{inside, net, volume};
use assay_plan::machine::Network;
use assay_sut::{Disk, Gear};
use std::sync::OnceLock;

/// The size of a node's disk: etcd alone allocates 64 MB for its log before it writes a byte. The
/// image has holes, so that only what is written takes space.
const VOLUME_BYTES: u64 = 512 << 20;
/// The size of a disk that is going to be filled.
const SMALL_VOLUME_BYTES: u64 = 160 << 20;

/// What nodes have to be equipped with for a fault.
pub fn gear(fault: &str) -> Gear {
    let calls = |calls: Watch| Gear { calls, ..Gear::default() };
    let disk = |bytes: u64| Gear {
        disk: Some(Disk { bytes, kind: VolumeKind::Block }),
        ..Gear::default()
    };
    match fault {
        "fsync-fail" | "slow-fsync" => calls(Watch { syncs: true, ..Watch::default() }),
        "disk-readonly" | "disk-enospc" => calls(Watch { writes: true, ..Watch::default() }),
        "skew" | "slowclock" => calls(Watch { clock: true, ..Watch::default() }),
        "fsync-loss" | "fs-readonly" => {
            let kind = match (volumes(), forgetful()) {
                (Some(_), None) => VolumeKind::Forgetful,
                _ => VolumeKind::Block,
            };
            Gear { disk: Some(Disk { bytes: VOLUME_BYTES, kind }), ..Gear::default() }
        }
        "slow-disk" => Gear { groups: true, ..disk(VOLUME_BYTES) },
        "cpu-quota" | "memory-limit" | "cg-freeze" => Gear { groups: true, ..Gear::default() },
        // A directory has no end that could be reached without harm to others.
        "disk-full" => disk(SMALL_VOLUME_BYTES),
        _ => Gear::default(),
    }
}

/// The same for a window, whose fault may go by any name and have options.
pub fn gear_of(window: &WindowSpec) -> Gear {
    match is_preloaded(window) {
        true => Gear { clock: true, ..Gear::default() },
        false if hits_clients(window) => Gear { clients_apart: true, ..Gear::default() },
        false => {
            let named = assay_plan::faults::Fault::named(&window.fault);
            gear(named.map_or(&window.fault, |row| row.id))
        }
    }
}

/// Whether a fault hits the processes of clients, which have to have some then.
pub fn hits_clients(window: &WindowSpec) -> bool {
    let named = assay_plan::faults::Fault::named(&window.fault).map_or("", |row| row.id);
    let target = Target::parse(&window.target);
    matches!(named, "kill9" | "term" | "pause")
        && matches!(target, Ok(Target::Nodes(Side::Clients | Side::SomeClients)))
}

/// Whether a clock is to be moved by libfaketime.
pub fn is_preloaded(window: &WindowSpec) -> bool {
    window.strength.get("preload").and_then(serde_json::Value::as_bool) == Some(true)
}

/// Why libfaketime cannot be had; `None` if it can.
pub fn libfaketime() -> Option<String> {
    let missing = || assay_nemesis::ClockError::Missing.to_string();
    assay_nemesis::libfaketime().is_none().then(missing)
}

/// What this machine lacks for a fault on a network of this kind; `None`: nothing. `datagrams`:
/// whether the system has ports that take them.
pub fn lacks(fault: &str, network: Network, datagrams: bool) -> Option<String> {
    let (row, of_packets) = (gear(fault), network != Network::Proxies);
    let packets_only = matches!(fault, "loss" | "dup" | "reorder");
    let through_proxies = network == Network::Proxies && datagrams;
    if packets_only && network != Network::Switch && !through_proxies {
        return Some(format!(
            "{fault} needs packets or datagrams: say system.network = \"switch\" in the scenario, \
             or describe a port of the system as one of `datagrams`"
        ));
    }
    if fault == "dns-out" && !of_packets {
        return Some("dns-out needs namespaces: say system.network = \"bridge\"".to_string());
    }
    if of_packets && matches!(fault, "half-open" | "reset" | "refuse" | "slice") {
        return Some(format!(
            "{fault} is about connections: it needs system.network = \"proxies\""
        ));
    }
    if network == Network::Bridge && matches!(fault, "delay" | "rate" | "slow-follower") {
        return Some(format!("a bridge only cuts: {fault} needs system.network = \"switch\""));
    }
    let calls = (row.calls != Watch::default()).then(answers_calls).flatten();
    let disks = row.disk.and_then(|disk| match disk.kind {
        // Either would do for some: then both ways are told.
        VolumeKind::Block => volumes().map(|why| match (fault, forgetful()) {
            ("fsync-loss" | "fs-readonly", Some(other)) => format!("{why}; {other}"),
            _ => why,
        }),
        VolumeKind::Forgetful => forgetful(),
    });
    calls.or(disks).or_else(|| controller(fault).and_then(groups))
}

/// What this machine lacks for a network; `None`: nothing.
pub fn lacks_network(network: Network) -> Option<String> {
    match network {
        Network::Proxies => None,
        Network::Switch => namespaces(),
        Network::Bridge => namespaces().or_else(bridges),
    }
}

fn controller(fault: &str) -> Option<Controller> {
    match fault {
        "cpu-quota" => Some(Controller::Cpu),
        "memory-limit" => Some(Controller::Memory),
        "cg-freeze" => Some(Controller::Freezer),
        "slow-disk" => Some(Controller::Disk),
        _ => None,
    }
}

/// Why system calls cannot be answered here; `None` if they can.
pub fn answers_calls() -> Option<String> {
    static FOUND: OnceLock<Option<String>> = OnceLock::new();
    FOUND.get_or_init(|| notify::probe().err()).clone()
}

/// Why there are no disks that lose power here; `None` if there are.
pub fn volumes() -> Option<String> {
    static FOUND: OnceLock<Option<String>> = OnceLock::new();
    let look = || volume::probe(&std::env::temp_dir()).err().map(|error| error.to_string());
    FOUND.get_or_init(look).clone()
}

/// Why there are no directories that forget here, which take the place of such disks where nobody
/// is root; `None` if there are.
pub fn forgetful() -> Option<String> {
    static FOUND: OnceLock<Option<String>> = OnceLock::new();
    let look =
        || volume::probe_forgetful(&std::env::temp_dir()).err().map(|error| error.to_string());
    FOUND.get_or_init(look).clone()
}

/// Why there are no control groups of this kind here; `None` if there are.
pub fn groups(wanted: Controller) -> Option<String> {
    static FOUND: OnceLock<Vec<(Controller, Option<String>)>> = OnceLock::new();
    let look = || {
        let probed = cgroup::probe(None).into_iter();
        probed.map(|one| (one.controller, one.result.err().map(|e| e.to_string()))).collect()
    };
    let found = FOUND.get_or_init(look).iter().find(|(controller, _)| *controller == wanted);
    found.map_or(Some("nobody has tried this".to_string()), |(_, trouble)| trouble.clone())
}

/// Why there are no namespaces here; `None` if there are, with root or without.
pub fn namespaces() -> Option<String> {
    static FOUND: OnceLock<Option<String>> = OnceLock::new();
    let look = || {
        if inside::is_inside() {
            return of_networks(net::CABLES);
        }
        let facts = inside::probe();
        let works = facts.iter().any(inside::Fact::works);
        let why: Vec<String> = facts.into_iter().filter_map(|fact| fact.trouble).collect();
        (!works).then(|| why.join("; "))
    };
    FOUND.get_or_init(look).clone()
}

/// Why there is no bridge that filters here. That can be tried only where a network would be.
fn bridges() -> Option<String> {
    inside::is_inside().then(|| of_networks(net::BRIDGES)).flatten()
}

/// Why networks lack something here; `None` if they do not.
fn of_networks(what: &str) -> Option<String> {
    static FOUND: OnceLock<Vec<inside::Fact>> = OnceLock::new();
    let fact = FOUND.get_or_init(net::probe).iter().find(|fact| fact.what == what);
    fact.map_or(Some("nobody has tried this".to_string()), |fact| fact.trouble.clone())
}

/// How much this machine lets Assay do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    /// C: proxies, signals, and the system calls of nodes.
    Plain,
    /// B: namespaces besides.
    Namespaces,
    /// A: disks besides, and whatever else root may do here.
    Root,
}

impl Tier {
    /// Found by trying.
    pub fn of_this_machine() -> Tier {
        Tier::of(is_root() || volumes().is_none(), namespaces().is_none())
    }

    fn of(root: bool, namespaces: bool) -> Tier {
        match (root, namespaces) {
            (true, _) => Tier::Root,
            (false, true) => Tier::Namespaces,
            (false, false) => Tier::Plain,
        }
    }

    /// `A (root)` and so on, for people.
    pub fn words(self) -> String {
        match self {
            Tier::Root => match of_root_missing()[..] {
                [] => "A: root; all faults".to_string(),
                ref missing => format!("A: root; all faults but {}", missing.join(", ")),
            },
            Tier::Namespaces => {
                "B: user namespaces; packets are cut and lost, groups are not to be had, disks \
                 only by FUSE"
                    .to_string()
            }
            Tier::Plain => {
                "C: nothing special; proxies, signals, and system calls of nodes".to_string()
            }
        }
    }
}

/// Whether this process is root of the machine, and not only of a user namespace.
fn is_root() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    rustix::process::geteuid().is_root() && is_map_of_all(&map)
}

/// Whether a user namespace has all users there are: `0 0 4294967295`.
fn is_map_of_all(map: &str) -> bool {
    map.split_ascii_whitespace().eq(["0", "0", "4294967295"])
}

/// Faults that root may lack: a machine without loop devices gives no disks, for one.
fn of_root_missing() -> Vec<&'static str> {
    let grouped = ["cpu-quota", "memory-limit", "cg-freeze", "slow-disk"];
    let calls = ["fsync-fail", "slow-fsync", "disk-readonly", "disk-enospc", "skew", "slowclock"];
    let disks = ["fsync-loss", "fs-readonly", "disk-full"];
    let packets = ["loss", "dup", "reorder", "dns-out"];
    let lacking = |fault: &&str| lacks(fault, Network::Proxies, false).is_some();
    let on_proxies = grouped.into_iter().chain(disks).chain(calls).filter(lacking);
    on_proxies.chain(packets.into_iter().filter(|_| namespaces().is_some())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_never_replaced_by_a_weaker_one() {
        let cases = [
            ("loss", Network::Proxies, Some("switch")),
            ("loss", Network::Bridge, Some("switch")),
            ("delay", Network::Bridge, Some("switch")),
            ("reset", Network::Switch, Some("proxies")),
            ("dns-out", Network::Proxies, Some("bridge")),
            ("part-full", Network::Bridge, None),
            ("delay", Network::Proxies, None),
        ];
        for (fault, network, hint) in cases {
            let lacks = lacks(fault, network, false);
            match hint {
                None => assert_eq!(lacks, None, "{fault} on {network:?}"),
                Some(hint) => assert!(lacks.is_some_and(|why| why.contains(hint)), "{fault}"),
            }
        }
    }

    #[test]
    fn root_is_root_also_where_no_disk_is_to_be_had() {
        let tiers = [
            ((true, true), Tier::Root),
            ((true, false), Tier::Root),
            ((false, true), Tier::Namespaces),
            ((false, false), Tier::Plain),
        ];
        for ((root, namespaces), tier) in tiers {
            assert_eq!(Tier::of(root, namespaces), tier, "{root} {namespaces}");
        }
        let maps = [
            ("         0          0 4294967295\n", true),
            ("         0      65534          1\n", false),
            ("0 0 65536\n65536 100000 65536\n", false),
            ("", false),
        ];
        for (map, all) in maps {
            assert_eq!(is_map_of_all(map), all, "{map}");
        }
    }

    #[test]
    fn datagrams_through_proxies_can_be_lost_without_namespaces() {
        assert_eq!(lacks("loss", Network::Proxies, true), None);
        assert!(lacks("loss", Network::Bridge, true).is_some());
    }

    #[test]
    fn every_fault_that_needs_gear_is_in_the_catalogue() {
        let of = |row: &&assay_nemesis::CatalogRow| gear(row.id) != Gear::default();
        let ids: Vec<&str> = assay_nemesis::CATALOG.iter().filter(of).map(|row| row.id).collect();
        assert_eq!(ids.len(), 13, "{ids:?}");
    }
}

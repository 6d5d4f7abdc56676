//! From the name of a fault, whom it hits and how strong it is to what is done.

use super::needs;
use super::rolling::Order;
use super::target::{Chosen, Lookup, Side, Target, TargetError};
use crate::spec::{Options, WindowSpec};
use assay_kernel::cgroup::Group;
use assay_kernel::net::{Network, PacketRule};
use assay_kernel::notify::Tap;
use assay_kernel::volume::Volume;
use assay_nemesis::shapes::{self, Cuts, ShapeError};
use assay_nemesis::{
    Action, Carried, Clock, Corruption, Damage, FaultId, Fill, Flow, LinkId, LinkInfo, Odds,
    Process, Rules, Share, Transport,
};
use assay_plan::faults::{OptionProblem, Worth};
use assay_plan::machine::{Setting, Settings};
use rand_chacha::ChaCha20Rng;
use serde_json::Value;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What a clock is moved of by a library.
pub(super) const ONE_CLOCK: &str = "one node, where a library moves its clock";

/// The most that is written to fill a disk, unless a plan says otherwise.
const FILL_BYTES: u64 = 1 << 30;
/// What a fault on processes needs that does not hit clients.
const NODES_ALONE: &str = "nodes and nobody beside";
/// How clients are called as an end of a link.
pub const CLIENTS: &str = "clients";

/// Whether a partition cuts both ways.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cutting {
    /// It is no partition.
    No,
    /// Both ways.
    Symmetric,
    /// One way.
    Asymmetric,
}

/// A fault that is ready to be injected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Prepared {
    /// What it is called.
    pub id: FaultId,
    /// Whom it hits, in words: `leader n2`.
    pub words: String,
    /// What is done.
    pub action: Action,
    /// Nodes whose processes end with it and have to be started again.
    pub killed: Vec<usize>,
    /// Nodes that may end of it; those that did have to be started again.
    pub may_end: Vec<usize>,
    /// Whether it is a partition.
    pub cutting: Cutting,
}

/// Why a fault cannot be prepared.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PrepareError {
    /// No such fault.
    #[error("there is no fault `{0}`; assay explain fault lists them")]
    Unknown(String),
    /// Not without more rights or tools.
    #[error("fault {id} cannot be injected here: {why}")]
    Elsewhere {
        /// The fault.
        id: String,
        /// Why.
        why: String,
    },
    /// Nobody is hit.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The shape does not fit.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The target does not fit the fault.
    #[error("fault {id} needs {needed}, not `{target}`")]
    WrongTarget {
        /// The fault.
        id: String,
        /// What it needs.
        needed: &'static str,
        /// What was given.
        target: String,
    },
    /// An option is missing or wrong.
    #[error("fault {id}: with.{option}: {why}")]
    Strength {
        /// The fault.
        id: String,
        /// The option.
        option: String,
        /// What is wrong.
        why: String,
    },
    /// A node has no process.
    #[error("node {0} does not run")]
    NotRunning(String),
    /// Clients have no processes.
    #[error("no client is a process of its own now")]
    NoClients,
}

/// What the system is now, as far as faults need to know.
pub struct Scene<'s> {
    /// Names and roles.
    pub lookup: Lookup<'s>,
    /// All links.
    pub links: Vec<LinkInfo>,
    /// The processes of a node, the one that was started first; none while it does not run.
    pub processes: &'s dyn Fn(usize) -> Vec<Process>,
    /// The processes of each client.
    pub clients: &'s dyn Fn() -> Vec<Vec<Process>>,
    /// The directory of a node.
    pub data: &'s dyn Fn(usize) -> PathBuf,
    /// Where the system calls of a node are answered, if they are.
    pub tap: &'s dyn Fn(usize) -> Option<Arc<Tap>>,
    /// The disk of a node, if it has one of its own.
    pub volume: &'s dyn Fn(usize) -> Option<Arc<Volume>>,
    /// The control group of a node, if it has one of its own.
    pub group: &'s dyn Fn(usize) -> Option<Arc<Group>>,
    /// The clock of a node, if libfaketime can move it.
    pub clock: &'s dyn Fn(usize) -> Option<Clock>,
    /// The network of namespaces the nodes are in, if they are.
    pub network: Option<Arc<Network>>,
    /// The injector is broken on purpose: rules for packets are laid on the wrong links.
    pub misses: bool,
}

/// Whether a fault can be injected at all, and its target and options can be read: asked before
/// anything runs.
pub fn check(
    window: &WindowSpec,
    network: assay_plan::machine::Network,
    datagrams: bool,
) -> Result<(), PrepareError> {
    let id = named(&window.fault)?;
    let lacks = match needs::is_preloaded(window) {
        true => needs::libfaketime(),
        false => needs::lacks(id.name(), network, datagrams),
    };
    if let Some(why) = lacks {
        return Err(PrepareError::Elsewhere { id: id.to_string(), why });
    }
    let target = Target::parse(&window.target)?;
    if !needs::hits_clients(window) {
        if target.has(&Side::SomeClients) {
            return Err(TargetError::SomeClients.into());
        }
        let needs_nodes = id.row().group == "Process" || Order::of(id).is_some();
        if target.has(&Side::Clients) && needs_nodes {
            let (id, target) = (id.to_string(), window.target.clone());
            return Err(PrepareError::WrongTarget { id, needed: NODES_ALONE, target });
        }
    }
    let several = matches!(
        target,
        Target::Nodes(Side::All | Side::Minority | Side::Majority | Side::Several(_))
            | Target::OneWay(..)
            | Target::BothWays(..)
    );
    if needs::is_preloaded(window) && several {
        let (id, target) = (id.to_string(), window.target.clone());
        return Err(PrepareError::WrongTarget { id, needed: ONE_CLOCK, target });
    }
    strength_fits(id, &window.strength)
}

/// A round whose turns do not fit into its window.
pub fn too_short(window: &WindowSpec, nodes: usize) -> Option<String> {
    let id = named(&window.fault).ok()?;
    Order::of(id)?;
    let down = time(id, &window.strength, "down").ok()?;
    let turns = match Target::parse(&window.target).ok()? {
        Target::Nodes(Side::All) => nodes,
        Target::Nodes(Side::Several(some)) => some.len(),
        _ => 1,
    };
    let needed = down * u32::try_from(turns).unwrap_or(u32::MAX);
    (needed > Duration::from_millis(window.hold_ms)).then(|| {
        format!(
            "{} of {}: {turns} nodes that are each away for {down:?} do not fit into {} ms: a \
             longer `for`, or a shorter with.down",
            window.fault, window.target, window.hold_ms
        )
    })
}

pub(super) fn named(fault: &str) -> Result<FaultId, PrepareError> {
    let known = assay_plan::faults::Fault::named(fault).map_or(fault, |row| row.id);
    let id = FaultId::named(known).ok_or_else(|| PrepareError::Unknown(fault.to_string()))?;
    let row = id.row();
    match row.carried {
        Carried::Here { .. } => Ok(id),
        Carried::Elsewhere => {
            let (id, why) = (row.id.to_string(), row.caveat.to_string());
            Err(PrepareError::Elsewhere { id, why })
        }
    }
}

/// Whether the fault understands all it is told: by the table that the lint of plans has, too.
fn strength_fits(id: FaultId, strength: &Options) -> Result<(), PrepareError> {
    let problem = planned(id).and_then(|fault| fault.problems(&settings(strength)).pop());
    problem.map_or(Ok(()), |OptionProblem { option, why }| {
        Err(PrepareError::Strength { id: id.to_string(), option, why })
    })
}

fn planned(id: FaultId) -> Option<&'static assay_plan::faults::Fault> {
    assay_plan::faults::Fault::named(id.name())
}

/// What a plan may give: a value that is none of those is a list, which nobody takes.
fn settings(strength: &Options) -> Settings {
    let setting =
        |value: &Value| serde_json::from_value(value.clone()).unwrap_or(Setting::List(Vec::new()));
    strength.iter().map(|(name, value)| (name.clone(), setting(value))).collect()
}

/// What an option is worth in the table of options.
fn worth(id: FaultId, option: &str) -> Option<Worth> {
    let options = planned(id).map(assay_plan::faults::Fault::options).unwrap_or_default();
    options.iter().find(|known| known.name == option).map(|known| known.worth)
}

/// Makes a fault out of a window.
pub fn prepare(
    window: &WindowSpec,
    scene: &Scene<'_>,
    rng: &mut ChaCha20Rng,
) -> Result<Prepared, PrepareError> {
    let id = named(&window.fault)?;
    let target = Target::parse(&window.target)?;
    let maker = Maker { window, id, target, scene };
    match id.name() {
        "kill9" | "term" | "ctr-restart" | "pause" => maker.process(rng),
        "part-full" | "part-asym" | "part-minority" | "part-majority" | "leader-iso"
        | "part-bridge" | "part-ring" | "splitbrain" | "meta-out" => maker.partition(rng),
        "delay" | "slow-follower" | "rate" | "loss" | "dup" | "reorder"
            if scene.network.is_some() =>
        {
            maker.packets(rng)
        }
        "dns-out" => maker.names_out(rng),
        "skew" if needs::is_preloaded(window) => maker.preloaded_clock(rng),
        "fsync-fail" | "slow-fsync" | "disk-readonly" | "disk-enospc" | "skew" | "slowclock"
        | "fsync-loss" | "fs-readonly" | "slow-disk" | "cpu-quota" | "memory-limit"
        | "cg-freeze" | "fd-exhaustion" => maker.kernel(rng),
        "delay" | "slow-follower" => maker.around(delay(id, &window.strength)?, rng),
        "rate" => maker.around(rate(id, &window.strength)?, rng),
        "loss" | "dup" | "reorder" => maker.around(odds(id, &window.strength)?, rng),
        "slice" => maker.around(slice(id, &window.strength)?, rng),
        "half-open" => maker.around(Rules::flow(Flow::Hold), rng),
        "refuse" => maker.around(Rules::refuse(), rng),
        "reset" => maker.reset(rng),
        "disk-full" | "bitflip" | "corrupt" | "torn-tail" => maker.file(rng),
        other => Err(PrepareError::Elsewhere {
            id: other.to_string(),
            why: "it is no single deed; nobody has said how it is done".into(),
        }),
    }
}

pub(super) struct Maker<'m> {
    pub(super) window: &'m WindowSpec,
    pub(super) id: FaultId,
    pub(super) target: Target,
    pub(super) scene: &'m Scene<'m>,
}

impl Maker<'_> {
    pub(super) fn wrong(&self, needed: &'static str) -> PrepareError {
        let (id, target) = (self.id.to_string(), self.window.target.clone());
        PrepareError::WrongTarget { id, needed, target }
    }

    pub(super) fn nodes(&self, rng: &mut ChaCha20Rng) -> Result<Chosen, PrepareError> {
        match &self.target {
            Target::Nodes(side) => Ok(self.scene.lookup.one(side, rng)?),
            _ => Err(self.wrong("nodes")),
        }
    }

    pub(super) fn prepared(&self, chosen: &str, action: Action) -> Prepared {
        let words = match self.window.target == chosen {
            true => chosen.to_string(),
            false => format!("{} ({chosen})", self.window.target),
        };
        let (killed, may_end) = (Vec::new(), Vec::new());
        Prepared { id: self.id, words, action, killed, may_end, cutting: Cutting::No }
    }

    fn process(&self, rng: &mut ChaCha20Rng) -> Result<Prepared, PrepareError> {
        if needs::hits_clients(self.window) {
            return self.clients(rng);
        }
        let chosen = self.nodes(rng)?;
        let mut processes = Vec::new();
        for &node in &chosen.nodes {
            let all = (self.scene.processes)(node);
            let missing = || PrepareError::NotRunning(self.scene.lookup.names[node].clone());
            let first = *all.first().ok_or_else(missing)?;
            match self.id.name() {
                // Whoever is asked to end tells its children itself.
                "term" | "ctr-restart" => processes.push(first),
                _ => processes.extend(all),
            }
        }
        let (action, killed) = match self.id.name() {
            "pause" => (Action::Pause(processes), Vec::new()),
            "term" | "ctr-restart" => (Action::Terminate(processes), chosen.nodes.clone()),
            _ => (Action::Kill(processes), chosen.nodes.clone()),
        };
        Ok(Prepared { killed, ..self.prepared(&self.names(&chosen).join(", "), action) })
    }

    fn partition(&self, rng: &mut ChaCha20Rng) -> Result<Prepared, PrepareError> {
        let names: Vec<&str> = self.scene.lookup.names.iter().map(String::as_str).collect();
        let (cuts, words) = match (self.id.name(), &self.target) {
            ("part-ring", _) => (shapes::ring(&names)?, "ring".to_string()),
            ("part-bridge", _) => {
                let bridge = self.nodes(rng)?;
                let bridge = self.names(&bridge).remove(0);
                (shapes::bridge(&bridge, &names)?, format!("bridge {bridge}"))
            }
            ("part-majority", Target::Nodes(_)) => {
                let few = self.names(&self.scene.lookup.one(&Side::Minority, rng)?);
                let many: Vec<&str> = names.iter().copied().filter(|n| !holds(&few, n)).collect();
                let mut outside: Vec<&str> = few.iter().map(String::as_str).collect();
                outside.push(CLIENTS);
                (shapes::full(&many, &outside)?, many.join(", "))
            }
            ("part-asym", Target::Nodes(_)) => return Err(self.wrong("a direction, `a -> b`")),
            (_, Target::Nodes(side)) => {
                let chosen = self.names(&self.scene.lookup.one(side, rng)?);
                let others: Vec<&str> =
                    names.iter().copied().filter(|n| !holds(&chosen, n)).collect();
                let some: Vec<&str> = chosen.iter().map(String::as_str).collect();
                (shapes::full(&some, &others)?, chosen.join(", "))
            }
            (_, Target::OneWay(a, b)) => {
                let (from, to) = self.ends(a, b, rng)?;
                (cut(&from, &to)?, format!("{} -> {}", from.join(", "), to.join(", ")))
            }
            (_, Target::BothWays(a, b)) => {
                let (from, to) = self.ends(a, b, rng)?;
                let mut cuts = cut(&from, &to)?;
                cuts.extend(cut(&to, &from)?);
                (cuts, format!("{} <-> {}", from.join(", "), to.join(", ")))
            }
        };
        let action = match self.scene.network {
            Some(_) => self.on_packets(&cuts, PacketRule::cut())?,
            None => {
                let drop = Rules::flow(Flow::Drop);
                Action::Links(shapes::rules_for(&cuts, &self.scene.links, drop))
            }
        };
        let back = |c: &shapes::Cut| cuts.contains(&shapes::Cut::new(&c.to, &c.from));
        let cutting = match cuts.iter().all(back) {
            true => Cutting::Symmetric,
            false => Cutting::Asymmetric,
        };
        Ok(Prepared { cutting, ..self.prepared(&words, action) })
    }

    fn ends(
        &self,
        a: &Side,
        b: &Side,
        rng: &mut ChaCha20Rng,
    ) -> Result<(Vec<String>, Vec<String>), PrepareError> {
        let (from, to) = self.scene.lookup.two(a, b, rng)?;
        Ok((self.names(&from), self.names(&to)))
    }

    /// Who says what to whom around the nodes, or between the sides, that are hit.
    pub(super) fn cuts_around(
        &self,
        rng: &mut ChaCha20Rng,
    ) -> Result<(Cuts, String), PrepareError> {
        match &self.target {
            Target::Nodes(side) => {
                let chosen = self.names(&self.scene.lookup.one(side, rng)?);
                let all = self.scene.lookup.names.iter().map(String::as_str).chain([CLIENTS]);
                let others: Vec<&str> = all.filter(|name| !holds(&chosen, name)).collect();
                let some: Vec<&str> = chosen.iter().map(String::as_str).collect();
                Ok((shapes::full(&some, &others)?, chosen.join(", ")))
            }
            Target::OneWay(a, b) => {
                let (from, to) = self.ends(a, b, rng)?;
                Ok((cut(&from, &to)?, format!("{} -> {}", from.join(", "), to.join(", "))))
            }
            Target::BothWays(a, b) => {
                let (from, to) = self.ends(a, b, rng)?;
                let mut cuts = cut(&from, &to)?;
                cuts.extend(cut(&to, &from)?);
                Ok((cuts, format!("{} <-> {}", from.join(", "), to.join(", "))))
            }
        }
    }

    /// Rules on all links of nodes, or on what one side says to the other.
    fn around(&self, rules: Rules, rng: &mut ChaCha20Rng) -> Result<Prepared, PrepareError> {
        let links = &self.scene.links;
        let (imposed, words) = match &self.target {
            Target::Nodes(side) => {
                let chosen = self.names(&self.scene.lookup.one(side, rng)?);
                let mut all: Vec<_> =
                    chosen.iter().flat_map(|n| shapes::rules_around(n, links, rules)).collect();
                all.sort_by_key(|rule| (rule.link, rule.direction));
                all.dedup();
                (all, chosen.join(", "))
            }
            Target::OneWay(a, b) => {
                let (from, to) = self.ends(a, b, rng)?;
                let imposed = shapes::rules_for(&cut(&from, &to)?, links, rules);
                (imposed, format!("{} -> {}", from.join(", "), to.join(", ")))
            }
            Target::BothWays(a, b) => {
                let (from, to) = self.ends(a, b, rng)?;
                let mut cuts = cut(&from, &to)?;
                cuts.extend(cut(&to, &from)?);
                let imposed = shapes::rules_for(&cuts, links, rules);
                (imposed, format!("{} <-> {}", from.join(", "), to.join(", ")))
            }
        };
        // Of links that carry something else, this fault leaves them alone.
        let transport = |id: LinkId| {
            links.iter().find(|link| link.id == id).map_or(Transport::Stream, |link| link.transport)
        };
        let (fitting, others): (Vec<_>, Vec<_>) =
            imposed.into_iter().partition(|rule| rule.rules.misfit(transport(rule.link)).is_none());
        if let (true, Some(rule)) = (fitting.is_empty(), others.first()) {
            let why = rule.rules.misfit(transport(rule.link)).unwrap_or_default();
            let (id, why) = (self.id.to_string(), format!("on {words} it would do nothing: {why}"));
            return Err(PrepareError::Elsewhere { id, why });
        }
        Ok(self.prepared(&words, Action::Links(fitting)))
    }

    fn reset(&self, rng: &mut ChaCha20Rng) -> Result<Prepared, PrepareError> {
        let around = self.around(Rules::refuse(), rng)?;
        let Action::Links(rules) = &around.action else { return Ok(around) };
        let mut links: Vec<LinkId> = rules.iter().map(|rule| rule.link).collect();
        links.sort_unstable();
        links.dedup();
        Ok(Prepared { action: Action::Reset(links), ..around })
    }

    fn file(&self, rng: &mut ChaCha20Rng) -> Result<Prepared, PrepareError> {
        let chosen = self.nodes(rng)?;
        let [node] = chosen.nodes[..] else { return Err(self.wrong("one node")) };
        let directory = (self.scene.data)(node);
        let strength = &self.window.strength;
        let action = match self.id.name() {
            "disk-full" => {
                // Only a disk of its own: what is full is full for everybody who writes there.
                (self.scene.volume)(node).ok_or_else(|| self.lacks(node, "disk"))?;
                let quota_bytes = size(self.id, strength, "bytes")?.unwrap_or(FILL_BYTES);
                Action::Fill(Fill { directory, quota_bytes })
            }
            name => {
                let path = directory.join(file_name(self.id, strength)?);
                let truncate = match name {
                    "corrupt" => size(self.id, strength, "truncate")?,
                    _ => None,
                };
                let damage = match (name, truncate) {
                    (_, Some(bytes)) => Damage::Truncate { bytes },
                    ("torn-tail", None) => {
                        Damage::TearTail { bytes: natural(self.id, strength, "bytes")? }
                    }
                    _ => {
                        let count = natural(self.id, strength, "bits")?;
                        let count = u32::try_from(count).unwrap_or(u32::MAX);
                        Damage::FlipBits { count, seed: rand::RngExt::random(rng) }
                    }
                };
                Action::Corrupt(Corruption { path, damage })
            }
        };
        // Many a server gives up when its disk is full, or does not start on a damaged file.
        let may_end = chosen.nodes.clone();
        Ok(Prepared { may_end, ..self.prepared(&self.names(&chosen).join(", "), action) })
    }

    pub(super) fn names(&self, chosen: &Chosen) -> Vec<String> {
        let names = chosen.nodes.iter().map(|&node| self.scene.lookup.names[node].clone());
        names.chain(chosen.clients.then(|| CLIENTS.to_string())).collect()
    }
}

fn holds(names: &[String], name: &str) -> bool {
    names.iter().any(|known| known == name)
}

fn cut(from: &[String], to: &[String]) -> Result<Cuts, ShapeError> {
    let (from, to): (Vec<&str>, Vec<&str>) =
        (from.iter().map(String::as_str).collect(), to.iter().map(String::as_str).collect());
    shapes::asymmetric(&from, &to)
}

fn delay(id: FaultId, strength: &Options) -> Result<Rules, PrepareError> {
    Ok(Rules::delay(time(id, strength, "delay")?, time(id, strength, "jitter")?))
}

fn rate(id: FaultId, strength: &Options) -> Result<Rules, PrepareError> {
    let bytes = natural(id, strength, "rate")?;
    Ok(Rules::rate(NonZeroU64::new(bytes).unwrap_or(NonZeroU64::MIN)))
}

fn odds(id: FaultId, strength: &Options) -> Result<Rules, PrepareError> {
    let percent = natural(id, strength, "percent")?;
    let wrong = || strength_error(id, "percent", format!("{percent} is no share"));
    let share = Share::percent(percent as f64).ok_or_else(wrong)?;
    let none = Odds::default();
    Ok(Rules::odds(match id.name() {
        "loss" => Odds { lose: share, ..none },
        "dup" => Odds { duplicate: share, ..none },
        _ => Odds { reorder: share, ..none },
    }))
}

fn slice(id: FaultId, strength: &Options) -> Result<Rules, PrepareError> {
    let bytes = natural(id, strength, "bytes")?;
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    Ok(Rules::slice(NonZeroU32::new(bytes).unwrap_or(NonZeroU32::MIN)))
}

pub(super) fn strength_error(id: FaultId, option: &str, why: impl Into<String>) -> PrepareError {
    PrepareError::Strength { id: id.to_string(), option: option.to_string(), why: why.into() }
}

/// A time, as given or as the table has it.
pub(super) fn time(
    id: FaultId,
    strength: &Options,
    option: &str,
) -> Result<Duration, PrepareError> {
    match (strength.get(option), worth(id, option)) {
        (Some(Value::String(text)), Some(Worth::Time { .. })) => {
            let time = assay_plan::time::Time::parse(text);
            time.map(|time| time.0).map_err(|why| strength_error(id, option, why))
        }
        (None, Some(Worth::Time { default_ms, .. })) => Ok(Duration::from_millis(default_ms)),
        (given, _) => Err(strength_error(id, option, format!("{given:?} is no time"))),
    }
}

/// A size, if it is given or the table has one.
fn size(id: FaultId, strength: &Options, option: &str) -> Result<Option<u64>, PrepareError> {
    let given = settings(strength).remove(option);
    match (given, worth(id, option)) {
        (None, Some(Worth::Size { default, .. })) => Ok(default),
        (Some(given), Some(Worth::Size { .. })) => match assay_plan::faults::bytes(&given) {
            Some(bytes) => Ok(Some(bytes)),
            None => Err(strength_error(id, option, format!("{given:?} is no size"))),
        },
        (given, _) => Err(strength_error(id, option, format!("{given:?} is no size"))),
    }
}

/// A whole number, as given or as the table has it.
pub(super) fn whole(id: FaultId, strength: &Options, option: &str) -> Result<i64, PrepareError> {
    match (strength.get(option), worth(id, option)) {
        (None, Some(Worth::Count { default, .. })) => Ok(default),
        (Some(given), Some(Worth::Count { .. })) => {
            let wrong = || strength_error(id, option, format!("{given} is no whole number"));
            given.as_i64().ok_or_else(wrong)
        }
        (given, _) => Err(strength_error(id, option, format!("{given:?} is no number"))),
    }
}

/// A number or a size that is not less than nothing.
pub(super) fn natural(id: FaultId, strength: &Options, option: &str) -> Result<u64, PrepareError> {
    let wrong = || strength_error(id, option, "is missing or less than 0");
    match worth(id, option) {
        Some(Worth::Size { .. }) => size(id, strength, option)?.ok_or_else(wrong),
        _ => u64::try_from(whole(id, strength, option)?).map_err(|_| wrong()),
    }
}

/// A file of a node's own directory: a plain path that does not lead out of it.
fn file_name(id: FaultId, strength: &Options) -> Result<PathBuf, PrepareError> {
    let name = strength.get("file").and_then(Value::as_str).unwrap_or_default();
    let path = PathBuf::from(name);
    let plain = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    if name.is_empty() || !plain {
        let why = "name a file in the node's data directory, such as file = \"log\"";
        return Err(strength_error(id, "file", why));
    }
    Ok(path)
}

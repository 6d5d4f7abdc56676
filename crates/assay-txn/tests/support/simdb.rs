//! A simulated database that keeps its promises, and no more than them.
//!
//! Clients run transactions step by step, interleaved by a seeded scheduler. The isolation level
//! decides what a step sees and whether a commit goes through.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// What the database promises.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Isolation {
    /// One transaction at a time.
    StrictSerializable,
    /// Like that, but transactions that only read may see an old state.
    Serializable,
    /// Reads from the state at the beginning; of two that write the same key, one aborts.
    Snapshot,
    /// Like that, but transactions that write the same key do not abort each other.
    Prefix,
    /// Every read sees the last committed state.
    ReadCommitted,
    /// Reads see what others are writing.
    ReadUncommitted,
    /// Every read sees some earlier state of its key: replicas that nobody keeps together.
    Nothing,
}

impl Isolation {
    pub const ALL: [Isolation; 7] = [
        Isolation::StrictSerializable,
        Isolation::Serializable,
        Isolation::Snapshot,
        Isolation::Prefix,
        Isolation::ReadCommitted,
        Isolation::ReadUncommitted,
        Isolation::Nothing,
    ];
}

/// What micro-operations there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Workload {
    ListAppend,
    RwRegister,
    /// What is appended are elements of a set.
    SetAdd,
    /// What is appended stands for an increment; a read shows the sum.
    CounterInc,
}

/// How a simulation goes.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub isolation: Isolation,
    pub workload: Workload,
    pub clients: usize,
    pub txns: usize,
    pub mops_max: usize,
    /// Keys in use at the same time.
    pub keys: usize,
    /// A key is replaced by a new one after so many writes.
    pub writes_per_key: usize,
    pub abort_percent: u32,
    pub unknown_percent: u32,
    pub seed: u64,
}

/// One micro-operation, with what a read saw.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SimMop {
    Write(u32, u32),
    Read(u32, Vec<u32>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    Invoke,
    Ok,
    Fail,
    Info,
}

/// A record of the history.
#[derive(Clone, Debug)]
pub struct Record {
    pub process: u32,
    pub what: What,
    pub mops: Vec<SimMop>,
}

struct Running {
    process: u32,
    mops: Vec<SimMop>,
    at: usize,
    /// The number of commits when it began.
    began: usize,
    /// The state it reads, where that does not change.
    snapshot: usize,
}

/// A version of a key: its value, the commit that made it, and whether that is still to come.
#[derive(Clone, Copy)]
struct Version {
    value: u32,
    commit: usize,
}

const UNCOMMITTED: usize = usize::MAX;

struct Db {
    settings: Settings,
    rng: ChaCha8Rng,
    keys: BTreeMap<u32, Vec<Version>>,
    commits: usize,
    live: Vec<u32>,
    next_key: u32,
    /// By key: the next value.
    next_value: BTreeMap<u32, u32>,
}

/// Runs a simulation; every record goes to `emit`.
pub fn simulate(settings: Settings, mut emit: impl FnMut(&Record)) {
    let mut db = Db {
        settings,
        rng: ChaCha8Rng::seed_from_u64(settings.seed),
        keys: BTreeMap::new(),
        commits: 0,
        live: (0..settings.keys as u32).collect(),
        next_key: settings.keys as u32,
        next_value: BTreeMap::new(),
    };
    let mut clients: Vec<Option<Running>> = (0..settings.clients).map(|_| None).collect();
    let mut next_process: Vec<u32> = (0..settings.clients as u32).collect();
    let (mut begun, mut ended) = (0, 0);
    while ended < settings.txns {
        let c = db.rng.random_range(0..settings.clients);
        match clients[c].take() {
            None if begun < settings.txns => {
                begun += 1;
                let running = db.begin(next_process[c]);
                emit(&Record {
                    process: running.process,
                    what: What::Invoke,
                    mops: running.mops.clone(),
                });
                clients[c] = Some(running);
            }
            None => {}
            Some(mut running) if running.at < running.mops.len() => {
                db.step(&mut running);
                clients[c] = Some(running);
            }
            Some(mut running) => {
                ended += 1;
                if db.is_atomic(&running) {
                    (0..running.mops.len()).for_each(|at| db.read(&mut running, at));
                }
                let what = db.end(&running);
                let process = running.process;
                if what == What::Info {
                    next_process[c] += settings.clients as u32;
                }
                emit(&Record { process, what, mops: running.mops });
            }
        }
    }
}

impl Db {
    fn begin(&mut self, process: u32) -> Running {
        let count = self.rng.random_range(1..=self.settings.mops_max);
        let mops: Vec<SimMop> = (0..count).map(|_| self.mop()).collect();
        let reads_only = mops.iter().all(|mop| matches!(mop, SimMop::Read(..)));
        let mut snapshot = self.commits;
        if self.settings.isolation == Isolation::Serializable && reads_only {
            snapshot -= self.rng.random_range(0..=snapshot.min(3));
        }
        Running { process, mops, at: 0, began: self.commits, snapshot }
    }

    fn mop(&mut self) -> SimMop {
        let slot = self.rng.random_range(0..self.live.len());
        let key = self.live[slot];
        if self.rng.random_bool(0.5) {
            return SimMop::Read(key, Vec::new());
        }
        let value = self.next_value.entry(key).or_insert(0);
        *value += 1;
        let value = *value;
        if value as usize >= self.settings.writes_per_key {
            self.live[slot] = self.next_key;
            self.next_key += 1;
            self.next_value.remove(&key);
        }
        SimMop::Write(key, value)
    }

    fn is_atomic(&self, running: &Running) -> bool {
        match self.settings.isolation {
            Isolation::StrictSerializable => true,
            Isolation::Serializable => running.snapshot == running.began,
            _ => false,
        }
    }

    fn step(&mut self, running: &mut Running) {
        let at = running.at;
        running.at += 1;
        // What happens in one moment happens at the end.
        if self.is_atomic(running) {
            return;
        }
        if self.settings.isolation == Isolation::ReadUncommitted
            && let SimMop::Write(key, value) = running.mops[at]
        {
            let version = Version { value, commit: UNCOMMITTED };
            self.keys.entry(key).or_default().push(version);
        }
        self.read(running, at);
    }

    /// Fills in what the read at `at` sees.
    fn read(&mut self, running: &mut Running, at: usize) {
        let SimMop::Read(key, _) = running.mops[at] else { return };
        let visible = match self.settings.isolation {
            Isolation::Snapshot | Isolation::Prefix => running.snapshot,
            Isolation::Serializable if running.snapshot != running.began => running.snapshot,
            Isolation::ReadUncommitted => UNCOMMITTED,
            _ => self.commits,
        };
        let versions = self.keys.get(&key).map_or(&[][..], |versions| versions);
        let seen = versions.iter().filter(|v| v.commit <= visible).map(|v| v.value);
        let mut seen: Vec<u32> = seen.collect();
        if self.settings.isolation == Isolation::Nothing
            && self.settings.workload == Workload::SetAdd
        {
            // Replicas of a set have what reached them, in any order.
            seen.retain(|_| self.rng.random_bool(0.6));
        } else if self.settings.isolation == Isolation::Nothing {
            let length = self.rng.random_range(0..=seen.len());
            seen.truncate(length);
        }
        if self.settings.isolation != Isolation::ReadUncommitted {
            for mop in &running.mops[..at] {
                if let SimMop::Write(k, value) = *mop
                    && k == key
                {
                    seen.push(value);
                }
            }
        }
        running.mops[at] = SimMop::Read(key, seen);
    }

    fn end(&mut self, running: &Running) -> What {
        let roll = self.rng.random_range(0..100);
        let abort = roll < self.settings.abort_percent || self.conflicts(running);
        let unknown = !abort && self.rng.random_range(0..100) < self.settings.unknown_percent;
        let applied = !abort && (!unknown || self.rng.random_bool(0.5));
        if applied {
            self.commits += 1;
        }
        let commit = self.commits;
        for mop in &running.mops {
            let SimMop::Write(key, value) = *mop else { continue };
            let versions = self.keys.entry(key).or_default();
            if self.settings.isolation == Isolation::ReadUncommitted {
                match versions.iter().position(|v| v.value == value) {
                    Some(i) if applied => versions[i].commit = commit,
                    Some(i) => _ = versions.remove(i),
                    None => {}
                }
            } else if applied {
                versions.push(Version { value, commit });
            }
        }
        match (abort, unknown) {
            (true, _) => What::Fail,
            (false, true) => What::Info,
            (false, false) => What::Ok,
        }
    }

    fn conflicts(&self, running: &Running) -> bool {
        // Who increments holds the counter until it commits, also where views are weaker.
        let holds = self.settings.workload == Workload::CounterInc
            && matches!(self.settings.isolation, Isolation::Prefix | Isolation::ReadCommitted);
        (holds || self.settings.isolation == Isolation::Snapshot)
            && running.mops.iter().any(|mop| match mop {
                SimMop::Write(key, _) => self
                    .keys
                    .get(key)
                    .and_then(|versions| versions.last())
                    .is_some_and(|last| last.commit > running.snapshot),
                SimMop::Read(..) => false,
            })
    }
}

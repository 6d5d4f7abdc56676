//! Seeded walks: a machine does what it can, at random and repeatably, and every step is judged.

use crate::declare::{Invariant, Registry};
use crate::machine::Machine;
use crate::policy::Violation;
use crate::shrink::shrink;
use std::fmt::{self, Debug, Write};
use std::ops::Range;

/// How a walk went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace<A> {
    /// What happened, in order.
    pub actions: Vec<A>,
    /// A digest of all actions and states: the same for the same walk.
    pub digest: u64,
    /// It ended because nothing more could happen.
    pub ended: bool,
    /// What did not hold; the walk stops there.
    pub violation: Option<Violation>,
}

/// Walks, judged by a registry.
#[derive(Clone, Debug)]
pub struct Simulation<M> {
    machine: M,
    steps: usize,
    seeds: Range<u64>,
    command: String,
}

/// What failed: seed, walk and the shortest walk found that fails alike.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure<A> {
    /// The seed.
    pub seed: u64,
    /// What did not hold, at the end of the shrunk walk.
    pub violation: Violation,
    /// The walk as it came.
    pub actions: Vec<A>,
    /// A walk that fails alike, in which nothing can be left out.
    pub shrunk: Vec<A>,
    /// The digest of the walk, which a replay must have, too.
    pub digest: u64,
    /// The line that does it again.
    pub replay: String,
}

/// A machine that did two things with one seed: its walks prove nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsteady {
    /// The seed.
    pub seed: u64,
    /// The first step that differs, from 0.
    pub step: usize,
    /// What happened the first time.
    pub first: String,
    /// What happened the second time.
    pub second: String,
}

/// All walks passed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Summary {
    /// How many.
    pub walks: u64,
    /// Steps of all of them.
    pub steps: u64,
    /// Walks that went on to an end.
    pub ended: u64,
}

/// Why a simulation did not pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Broken<A> {
    /// An invariant does not hold.
    Violated(Box<Failure<A>>),
    /// The machine is not deterministic.
    Unsteady(Unsteady),
}

impl<M: Machine> Simulation<M> {
    /// Walks of at most 100 steps with the seeds 0 to 99. `command` is what a person types to run
    /// this again, `cargo test -p bank walks`; it stands in the replay line.
    pub fn new(machine: M, command: &str) -> Simulation<M> {
        Simulation { machine, steps: 100, seeds: 0..100, command: command.to_string() }
    }

    /// How long a walk may get.
    pub fn steps(mut self, steps: usize) -> Simulation<M> {
        self.steps = steps;
        self
    }

    /// Which seeds.
    pub fn seeds(mut self, seeds: Range<u64>) -> Simulation<M> {
        self.seeds = seeds;
        self
    }

    /// Only the seed in the variable `ASSAY_SEED`, if it has a number in it: the replay line.
    pub fn seed_from_environment(self) -> Simulation<M> {
        let given = std::env::var("ASSAY_SEED").ok();
        match given.and_then(|text| text.trim().parse::<u64>().ok()) {
            Some(seed) => self.seeds(seed..seed.saturating_add(1)),
            None => self,
        }
    }

    /// Walks with every seed, each twice: what differs is no evidence. Stops at the first failure,
    /// which is shrunk.
    pub fn run<R: Registry<State = M::State>>(&self) -> Result<Summary, Broken<M::Action>> {
        let mut summary = Summary { walks: 0, steps: 0, ended: 0 };
        for seed in self.seeds.clone() {
            let trace = self.walk::<R>(seed);
            self.steady(seed, &trace, &self.walk::<R>(seed)).map_err(Broken::Unsteady)?;
            summary.walks += 1;
            summary.steps += trace.actions.len() as u64;
            summary.ended += u64::from(trace.ended);
            if let Some(violation) = trace.violation {
                let shrunk = shrink::<M, R>(&self.machine, &trace.actions, violation.id);
                let violation = replay::<M, R>(&self.machine, &shrunk).unwrap_or(violation);
                return Err(Broken::Violated(Box::new(Failure {
                    seed,
                    violation,
                    actions: trace.actions,
                    shrunk,
                    digest: trace.digest,
                    replay: format!("ASSAY_SEED={seed} {}", self.command),
                })));
            }
        }
        Ok(summary)
    }

    /// One walk.
    pub fn walk<R: Registry<State = M::State>>(&self, seed: u64) -> Trace<M::Action> {
        let mut random = Random(seed);
        let mut digest = Digest::default();
        let mut judge = Judge::<M::State>::begin::<R>(self.machine.start());
        digest.add(&judge.state);
        let mut actions = Vec::new();
        let mut ended = false;
        while judge.violation.is_none() && actions.len() < self.steps {
            let possible = self.machine.actions(&judge.state);
            let moved = random.pick(possible).and_then(|action| {
                let next = self.machine.next(&judge.state, &action)?;
                Some((action, next))
            });
            let Some((action, next)) = moved else {
                ended = true;
                judge.end();
                break;
            };
            digest.add(&action);
            digest.add(&next);
            actions.push(action);
            judge.step::<R>(next);
        }
        Trace { actions, digest: digest.0, ended, violation: judge.violation }
    }

    /// Whether two walks with one seed are the same.
    fn steady(
        &self,
        seed: u64,
        one: &Trace<M::Action>,
        two: &Trace<M::Action>,
    ) -> Result<(), Unsteady> {
        if one == two {
            return Ok(());
        }
        let pairs = one.actions.iter().zip(&two.actions);
        let step = pairs.take_while(|(a, b)| a == b).count();
        let show = |trace: &Trace<M::Action>| {
            let action = trace.actions.get(step).map(|action| format!("{action:?}"));
            action.unwrap_or_else(|| format!("other states, digest {:016x}", trace.digest))
        };
        Err(Unsteady { seed, step, first: show(one), second: show(two) })
    }
}

/// Does actions again, leaving out those that are not possible; what is violated, if anything is.
pub(crate) fn replay<M: Machine, R: Registry<State = M::State>>(
    machine: &M,
    actions: &[M::Action],
) -> Option<Violation> {
    let mut judge = Judge::<M::State>::begin::<R>(machine.start());
    for action in actions {
        if judge.violation.is_some() {
            break;
        }
        if machine.actions(&judge.state).contains(action)
            && let Some(next) = machine.next(&judge.state, action)
        {
            judge.step::<R>(next);
        }
    }
    if judge.violation.is_none() && machine.actions(&judge.state).is_empty() {
        judge.end();
    }
    judge.violation
}

/// A walk as the invariants see it.
struct Judge<S: 'static> {
    state: S,
    /// Eventual invariants that have not held so far.
    open: Vec<&'static Invariant<S>>,
    violation: Option<Violation>,
}

impl<S: 'static> Judge<S> {
    fn begin<R: Registry<State = S>>(state: S) -> Judge<S> {
        let open = R::ALL.iter().copied().filter(|one| one.reached(&state) == Some(false));
        let open = open.collect();
        let violation = R::ALL.iter().find_map(|one| one.judge(None, &state));
        Judge { state, open, violation }
    }

    fn step<R: Registry<State = S>>(&mut self, next: S) {
        let before = std::mem::replace(&mut self.state, next);
        let state = &self.state;
        self.open.retain(|one| one.reached(state) == Some(false));
        self.violation = R::ALL.iter().find_map(|one| one.judge(Some(&before), state));
    }

    /// Nothing more can happen: what has not held so far never will.
    fn end(&mut self) {
        self.violation = self.open.first().map(|one| one.never(&self.state));
    }
}

/// SplitMix64: the same numbers everywhere and for ever.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn pick<A>(&mut self, mut from: Vec<A>) -> Option<A> {
        let count = u64::try_from(from.len()).ok().filter(|count| *count > 0)?;
        let at = usize::try_from(self.next() % count).ok()?;
        Some(from.swap_remove(at))
    }
}

/// FNV-1a of what things print.
struct Digest(u64);

impl Default for Digest {
    fn default() -> Digest {
        Digest(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    fn add(&mut self, thing: &impl Debug) {
        // Writing here cannot fail.
        _ = write!(self, "{thing:?};");
    }
}

impl Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}

impl<A: Debug> fmt::Display for Failure<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}: {}", self.seed, self.violation)?;
        let (steps, all) = (self.shrunk.len(), self.actions.len());
        writeln!(f, "in {steps} steps, shrunk from {all}, digest {:016x}:", self.digest)?;
        for (at, action) in self.shrunk.iter().enumerate() {
            writeln!(f, "  {}. {action:?}", at + 1)?;
        }
        write!(f, "replay: {}", self.replay)
    }
}

impl<A: Debug> fmt::Display for Broken<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Violated(failure) => write!(f, "{failure}"),
            Broken::Unsteady(Unsteady { seed, step, first, second }) => write!(
                f,
                "seed {seed} did two different things: step {step} was {first}, then {second}; \
                 look for clocks, randomness and hash maps in the machine"
            ),
        }
    }
}

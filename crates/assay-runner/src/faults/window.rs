//! One fault window: wait, choose, inject, watch, heal, prove.

use super::action::{CLIENTS, Cutting, PrepareError, Prepared, Scene, named, prepare};
use super::again::{Again, Away, mark, unmark, with};
use super::counters::{RESTARTED, counts, is_own, own_terms};
use super::decoy::Decoy;
use super::latency::{self, LATENCY};
use super::rolling::Order;
use super::target::{Chosen, Lookup, Side, TargetError};
use super::watch::{Watch, terms};
use crate::clock::TrialClock;
use crate::drive::Crew;
use crate::event::{Awaited, Events, RunEvent};
use crate::recorder::Recorder;
use crate::spec::{Opening, WindowSpec};
use assay_nemesis::{Fault, Guard, Injector, LinkCounts, LinkInfo, Victim, Window};
use assay_plan::landing::{Signal as Named, Term};
use assay_sut::Cluster;
use assay_verdict::{Landing, LandingState, Signal};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often signals are read while a fault is on.
const LOOK_STEP: Duration = Duration::from_millis(20);
/// How often to look whether it is time for a window, and how often clients are counted for it.
const OPENING_STEP: Duration = Duration::from_millis(5);
/// How often nodes are asked whether the event has come that a window waits for: each time is a
/// question to every one of them.
const EVENT_STEP: Duration = Duration::from_millis(100);
/// How long to wait for somebody to have the role a fault asks for.
const ROLE_TIME_MAX: Duration = Duration::from_secs(5);
/// How long a node may take to end in its turn.
const GONE_TIME_MAX: Duration = Duration::from_secs(20);
/// How long healing is tried again. What fails after a longer wait of its own is not repeated.
const HEAL_TIME_MAX: Duration = Duration::from_secs(5);

/// Why a window is unhealed whose trial had to end.
pub(super) const CUT_SHORT: &str = "the trial took too long and was ended before its time was over";

/// What became of a window.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowRecord {
    /// Its name.
    pub id: String,
    /// The fault.
    pub fault: String,
    /// Whom it hit, in words.
    pub target: String,
    /// When it opened, in nanoseconds of the trial; `None` if it never did.
    pub start_ns: Option<i64>,
    /// When it was healed; `None` if it never was.
    pub end_ns: Option<i64>,
    /// The numbers of both sides.
    pub landings: Vec<Landing>,
    /// The injector's numbers one by one.
    pub parts: Vec<Signal>,
    /// What was undone.
    pub undone: Vec<String>,
    /// How it was shown to be healed.
    pub proof: Vec<String>,
    /// What went wrong.
    pub trouble: Option<String>,
    /// Why it was not carried to its end: it was cut short, what it did was not undone, or who was
    /// killed did not come back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unhealed: Option<String>,
    /// The event it opened on, if it waited for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaited: Option<Awaited>,
    /// Frames that our own switch lost meanwhile, which no fault did.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub frames_lost: u64,
    /// Whether it was a partition.
    pub cutting: Cutting,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl WindowRecord {
    /// Whether it was opened, and landed on both sides.
    pub fn has_landed(&self) -> bool {
        let state = assay_verdict::landing_of(&self.landings);
        state == LandingState::Landed && self.start_ns.is_some()
    }

    /// What went wrong, at whichever end.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref().or(self.unhealed.as_deref())
    }
}

/// What windows need of their trial.
pub struct Stage<'t> {
    /// The system.
    pub cluster: &'t Arc<Cluster>,
    /// What injects.
    pub injector: &'t Injector,
    /// Where epochs are written.
    pub recorder: &'t Recorder,
    /// The clock.
    pub clock: &'t TrialClock,
    /// The clients.
    pub crew: &'t Crew<'t>,
    /// When the workload started.
    pub start_ns: i64,
    /// What nodes had counted by then of the events that windows wait for: the election of the
    /// first leader is none of the workload. An event that could not be read is not in it.
    pub counted_before: BTreeMap<String, u64>,
    /// Where choices come from.
    pub seed: u64,
    /// No window opens from then on, in milliseconds of the trial.
    pub opens_until_ms: u64,
    /// Where events go.
    pub events: &'t Events<'t>,
    /// Whom to hit instead of nodes, where the injector is broken on purpose.
    pub decoy: Option<&'t Decoy>,
    /// Nodes that a fault has ended and not started again yet: no other fault does that for it.
    pub away: Away,
}

/// What is watched while a window is open.
pub(super) struct Evidence<'w> {
    watches: Vec<(SideOf, Watch<'w>)>,
    /// Nodes that were started again.
    started: Arc<AtomicU64>,
    /// What is left of the fault.
    left: Left,
}

/// What is left of a fault when its window is over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    Nothing,
    /// What it did was not undone, or who was killed did not come back.
    Something,
}

impl Evidence<'_> {
    /// How many nodes were started again.
    pub(super) fn started(&self) -> u64 {
        self.started.load(Ordering::Relaxed)
    }

    /// Reads everything that is watched.
    pub(super) fn sample(&mut self) {
        self.watches.iter_mut().for_each(|(_, watch)| watch.sample());
    }
}

impl Stage<'_> {
    /// Carries out one window.
    pub fn perform(&self, number: usize, spec: &WindowSpec) -> WindowRecord {
        let mut record = WindowRecord {
            id: spec.id.clone(),
            fault: spec.fault.clone(),
            target: spec.target.clone(),
            start_ns: None,
            end_ns: None,
            landings: Vec::new(),
            parts: Vec::new(),
            undone: Vec::new(),
            proof: Vec::new(),
            trouble: None,
            unhealed: None,
            awaited: None,
            frames_lost: 0,
            cutting: Cutting::No,
        };
        match self.wait_for(&spec.opens) {
            Ok(awaited) => record.awaited = awaited,
            Err(why) => {
                record.trouble = Some(why);
                return self.with_missing_landing(record, spec);
            }
        }
        let mut rng = ChaCha20Rng::seed_from_u64(self.seed);
        rng.set_stream(1_000 + number as u64);
        match self.begun(record.clone(), spec, &mut rng) {
            Ok(record) => record,
            Err(error) => {
                record.trouble = Some(error.to_string());
                self.with_missing_landing(record, spec)
            }
        }
    }

    fn begun(
        &self,
        mut record: WindowRecord,
        spec: &WindowSpec,
        rng: &mut ChaCha20Rng,
    ) -> Result<WindowRecord, PrepareError> {
        if let Some(order) = Order::of(named(&spec.fault)?) {
            let nodes = self.round(spec, rng)?;
            return Ok(self.open(record, spec, |record, evidence| {
                self.roll(record, (spec, order), &nodes, evidence, rng);
            }));
        }
        let prepared = self.prepared(spec, rng)?;
        record.target.clone_from(&prepared.words);
        record.cutting = prepared.cutting;
        Ok(self.open(record, spec, |record, evidence| {
            self.inflict(record, spec, prepared, evidence);
        }))
    }

    /// A fault that never began has landed nowhere: numbers that were not read say so.
    fn with_missing_landing(&self, mut record: WindowRecord, spec: &WindowSpec) -> WindowRecord {
        let signal = |what: &str| Signal { what: what.to_string(), ..Signal::default() };
        let (injector, victim) = (signal(&spec.injector), signal(&spec.victim));
        let why = record.trouble.as_deref().unwrap_or("nobody knows why");
        let fault = format!("{} of {} was never injected, {why}", spec.id, spec.target);
        record.landings.push(Landing { fault, injector, victim });
        record
    }

    /// Waits until it is time to open: what it waited for, or why it never came.
    fn wait_for(&self, opening: &Opening) -> Result<Option<Awaited>, String> {
        let start_ms = u64::try_from(self.start_ns / 1_000_000).unwrap_or(0);
        let mut so_far = String::new();
        loop {
            let now_ms = self.clock.now_ms();
            if self.is_over() || now_ms >= self.opens_until_ms {
                return Err(format!("the workload was over before it could begin{so_far}"));
            }
            let step = match opening {
                Opening::AtMs(at) if now_ms >= start_ms.saturating_add(*at) => return Ok(None),
                Opening::AtMs(_) => OPENING_STEP,
                Opening::On { event, count } => {
                    let (seen, step) = self.happened(event);
                    if let Some(seen) = seen.filter(|seen| seen >= count) {
                        let (event, wanted) = (event.clone(), *count);
                        return Ok(Some(Awaited { event, wanted, seen }));
                    }
                    let seen = seen.map_or("cannot be read".to_string(), |seen| seen.to_string());
                    so_far = format!(": {event} >= {count} was waited for ({event}: {seen})");
                    step
                }
            };
            std::thread::sleep(step);
        }
    }

    /// How often an event has happened since the start of the workload, and how soon to look
    /// again.
    fn happened(&self, event: &str) -> (Option<u64>, Duration) {
        let counts = self.recorder.counts();
        let own = match event {
            "acks" => counts.ok,
            "ops" => counts.ended(),
            "timeouts" => counts.unknown,
            of_nodes => {
                let now = self.cluster.signal(of_nodes, None);
                let before = self.counted_before.get(of_nodes);
                let since = now.zip(before).map(|(now, before)| now.saturating_sub(*before));
                return (since, EVENT_STEP);
            }
        };
        (Some(own), OPENING_STEP)
    }

    /// Chooses whom to hit; waits a while for a role that nobody has yet.
    pub(super) fn prepared(
        &self,
        spec: &WindowSpec,
        rng: &mut ChaCha20Rng,
    ) -> Result<Prepared, PrepareError> {
        let until = Instant::now() + ROLE_TIME_MAX;
        let role = |role: &str| self.cluster.role(role).map_err(|error| error.to_string());
        let (cluster, decoy) = (self.cluster, self.decoy);
        let file = spec.strength.get("file").and_then(|file| file.as_str());
        let data = |node| Path::to_path_buf(cluster.data_directory(node));
        loop {
            let links = self.links();
            let scene = Scene {
                lookup: Lookup { names: cluster.names(), role: &role },
                links: decoy
                    .map_or(links.clone(), |decoy| decoy.links(&spec.id, &links, cluster.mesh())),
                processes: &|node| decoy.map_or_else(|| cluster.processes(node), Decoy::processes),
                clients: &|| {
                    let all = || cluster.client_processes();
                    decoy.map_or_else(all, |decoy| vec![decoy.processes()])
                },
                data: &|node| {
                    decoy.map_or_else(|| data(node), |decoy| decoy.data(&data(node), file))
                },
                tap: &|node| decoy.map_or_else(|| cluster.tap(node), Decoy::tap),
                volume: &|node| decoy.map_or_else(|| cluster.volume(node), Decoy::volume),
                group: &|node| decoy.map_or_else(|| cluster.group(node), Decoy::group),
                clock: &|node| decoy.map_or_else(|| cluster.clock(node), Decoy::clock),
                network: cluster.network(),
                misses: decoy.is_some(),
            };
            match prepare(spec, &scene, rng) {
                Err(PrepareError::Target(TargetError::NoRole { .. }))
                    if Instant::now() < until && !self.is_over() =>
                {
                    std::thread::sleep(LOOK_STEP);
                }
                // Another fault has ended it, or is starting it: what is chosen now is gone then.
                Ok(ready)
                    if with(&self.away, |away| ready.killed.iter().any(|n| away.contains(n)))
                        && Instant::now() < until
                        && !self.is_over() =>
                {
                    std::thread::sleep(LOOK_STEP);
                }
                // Who was missed need not be started again.
                Ok(missed) if scene.misses => {
                    return Ok(Prepared { killed: vec![], may_end: vec![], ..missed });
                }
                result => return result,
            }
        }
    }

    /// The links of nodes and clients; probes of Assay have links of their own, which stay whole.
    fn links(&self) -> Vec<LinkInfo> {
        let nodes = self.cluster.names();
        let ours = |end: &String| end == CLIENTS || nodes.contains(end);
        let all = self.cluster.mesh().links().into_iter();
        all.filter(|link| ours(&link.from) && ours(&link.to)).collect()
    }

    /// Opens the window, has something done in it, and closes it.
    fn open<'s>(
        &'s self,
        mut record: WindowRecord,
        spec: &WindowSpec,
        deed: impl FnOnce(&mut WindowRecord, &mut Evidence<'s>),
    ) -> WindowRecord {
        let (id, target) = (spec.id.clone(), record.target.clone());
        let awaited = record.awaited.clone();
        self.events.emit(&RunEvent::FaultOpened { id, target, awaited });
        let lost_before = self.cluster.frames_lost();
        let began = Instant::now();
        let start_ns = self.recorder.open_epoch(&spec.id);
        record.start_ns = Some(start_ns);
        let started = Arc::new(AtomicU64::new(0));
        let watches = self.watches(spec, start_ns, began, &started);
        let mut evidence = Evidence { watches, started, left: Left::Nothing };
        deed(&mut record, &mut evidence);
        evidence.sample();
        // A fault that is still on is the fault of every operation that comes.
        if evidence.left == Left::Nothing {
            record.end_ns = Some(self.recorder.close_epoch(&spec.id));
        }
        // What a victim notices may come after the healing: a restart, for one.
        while evidence.watches.iter().any(|(_, watch)| watch.may_still_move()) && !self.is_over() {
            evidence.sample();
            std::thread::sleep(LOOK_STEP);
        }
        record.frames_lost = self.cluster.frames_lost().saturating_sub(lost_before);
        let record = self.conclude(record, spec, evidence.watches);
        self.tell_closed(&record);
        record
    }

    /// Does it, lets it be for as long as it is to last, and undoes it.
    pub(super) fn inflict(
        &self,
        record: &mut WindowRecord,
        spec: &WindowSpec,
        prepared: Prepared,
        evidence: &mut Evidence<'_>,
    ) {
        let (killed, may_end) = (prepared.killed.clone(), prepared.may_end.clone());
        let is_round = Order::of(prepared.id).is_some();
        if let Err(node) = mark(&self.away, &killed) {
            let name = &self.cluster.names()[node];
            let why = "another fault has ended it, or is starting it again";
            record.trouble = Some(format!("{name} was not hit: {why}"));
            return;
        }
        match self.inject(spec, prepared) {
            Ok(mut guard) => {
                if is_round {
                    // How long it stays away counts from when it is gone.
                    guard.wait_counted(GONE_TIME_MAX, || self.is_over());
                }
                let until = Instant::now() + Duration::from_millis(spec.hold_ms);
                let mut told = false;
                self.wait_until(until, || {
                    let counted = guard.sample().injector;
                    if !told && counted.state() == LandingState::Landed {
                        told = true;
                        let (id, counted) = (spec.id.clone(), counted.numbers());
                        self.events.emit(&RunEvent::FaultCounted { id, counted });
                    }
                    evidence.sample();
                });
                if self.is_over() {
                    // Whoever was killed stays so: a node may take long to start, and there is no
                    // time left.
                    record.unhealed = Some(CUT_SHORT.to_string());
                    if !killed.is_empty() || may_end.iter().any(|&node| self.is_gone(node)) {
                        evidence.left = Left::Something;
                    }
                } else {
                    let again = Again { killed: killed.clone(), may_end, ..self.again(evidence) };
                    again.when_healed(&mut guard);
                }
                let before = evidence.started() + killed.len() as u64;
                if self.heal(record, guard) == Left::Something {
                    evidence.left = Left::Something;
                }
                let anew = evidence.started().saturating_sub(before);
                if anew > 0 {
                    let said = format!("{anew} nodes had ended by themselves: started again");
                    record.proof.push(said);
                }
            }
            Err(trouble) => {
                record.trouble = Some(trouble);
                unmark(&self.away, &killed);
                self.revive_all([killed, may_end].concat(), record, evidence);
                return;
            }
        }
        unmark(&self.away, &killed);
    }

    /// After a deed that failed half-way: it was taken back, but whoever had ended by then has.
    fn revive_all(
        &self,
        may_end: Vec<usize>,
        record: &mut WindowRecord,
        evidence: &mut Evidence<'_>,
    ) {
        if self.is_over() {
            return;
        }
        if let Err(error) = (Again { may_end, ..self.again(evidence) }).start() {
            record.unhealed = Some(error.to_string());
            evidence.left = Left::Something;
        }
    }

    /// How nodes are started again, of which it is not said yet which.
    fn again(&self, evidence: &Evidence<'_>) -> Again {
        Again::nobody(Arc::clone(self.cluster) as _, &self.away, &evidence.started)
    }

    fn is_gone(&self, node: usize) -> bool {
        self.cluster.process(node).is_none()
    }

    /// Whether the workload is over.
    pub(super) fn is_over(&self) -> bool {
        self.crew.stop.load(Ordering::Relaxed)
    }

    /// Waits, and looks meanwhile.
    pub(super) fn wait_until(&self, until: Instant, mut look: impl FnMut()) {
        while Instant::now() < until && !self.is_over() {
            look();
            let left = until.saturating_duration_since(Instant::now());
            std::thread::sleep(left.min(LOOK_STEP));
        }
    }

    /// Who leads now; waits a while for somebody to, if the system has such a role.
    pub(super) fn leaders(&self) -> Vec<usize> {
        let until = Instant::now() + ROLE_TIME_MAX;
        let has_role = self.cluster.has_role("leader");
        loop {
            let leaders = self.cluster.role("leader").unwrap_or_default();
            if !leaders.is_empty() || !has_role || Instant::now() > until || self.is_over() {
                return leaders;
            }
            std::thread::sleep(LOOK_STEP);
        }
    }

    /// Whom one side of a target means now; waits a while for a role that nobody has yet.
    pub(super) fn chosen(
        &self,
        side: &Side,
        rng: &mut ChaCha20Rng,
    ) -> Result<Chosen, PrepareError> {
        let until = Instant::now() + ROLE_TIME_MAX;
        let role = |role: &str| self.cluster.role(role).map_err(|error| error.to_string());
        let lookup = Lookup { names: self.cluster.names(), role: &role };
        loop {
            match lookup.one(side, rng) {
                Err(TargetError::NoRole { .. }) if Instant::now() < until && !self.is_over() => {
                    std::thread::sleep(LOOK_STEP);
                }
                chosen => return Ok(chosen?),
            }
        }
    }

    fn tell_closed(&self, record: &WindowRecord) {
        let sides = |landing: &Landing| {
            let Landing { injector, victim, .. } = landing;
            format!("injector {}, victim {}", injector.numbers(), victim.numbers())
        };
        let numbers: Vec<String> = record.landings.iter().map(sides).collect();
        self.events.emit(&RunEvent::FaultClosed {
            id: record.id.clone(),
            target: record.target.clone(),
            landing: assay_verdict::landing_of(&record.landings).to_string(),
            evidence: record.trouble().map_or(numbers.join("; "), str::to_string),
        });
    }

    fn inject(&self, spec: &WindowSpec, prepared: Prepared) -> Result<Guard, String> {
        let from_ms = self.clock.now_ms();
        let window = Window { from_ms, to_ms: from_ms.saturating_add(spec.hold_ms) };
        let Prepared { id, words, action, .. } = prepared;
        let fault = Fault { id, target: words, window, action };
        self.injector.inject(fault, Victim::unasked()).map_err(|error| error.to_string())
    }

    /// Heals, and tries again if it cannot be done at first: a machine may be out of something for
    /// a moment, and a fault that stays is the end of the trial.
    fn heal(&self, record: &mut WindowRecord, mut guard: Guard) -> Left {
        let until = Instant::now() + HEAL_TIME_MAX;
        let mut healed = guard.heal();
        while let Err(error) = &healed
            && error.may_pass
            && Instant::now() < until
        {
            record.undone.extend(error.undone.iter().chain(&error.troubles).cloned());
            std::thread::sleep(LOOK_STEP);
            healed = guard.heal();
        }
        match healed {
            Ok(healed) => {
                record.parts.extend(healed.parts);
                record.undone.extend(healed.undone);
                record.proof.extend(healed.proof);
                record.landings.push(healed.landing);
                Left::Nothing
            }
            Err(error) => {
                record.landings.push(guard.sample());
                record.undone.extend(error.undone.iter().cloned());
                record.unhealed = Some(error.to_string());
                Left::Something
            }
        }
    }

    /// Both sides of every pair of terms; the injector's own counter stands in where the plan asks
    /// for what the fault counts anyway.
    fn conclude(
        &self,
        mut record: WindowRecord,
        spec: &WindowSpec,
        watches: Vec<(SideOf, Watch<'_>)>,
    ) -> WindowRecord {
        // One of most faults; of a round, one for what went and one for what came back.
        let own = std::mem::take(&mut record.landings);
        let own: Vec<Signal> = own.into_iter().map(|landing| landing.injector).collect();
        let (mut injectors, mut victims) = (Vec::new(), Vec::new());
        for (side, watch) in watches {
            match side {
                SideOf::Injector => injectors.push(watch.end()),
                SideOf::Victim => victims.push(watch.end()),
            }
        }
        let mut is_asked = false;
        for term in own_terms(spec) {
            let (moves_by_min, _) = super::watch::wanted(&term);
            let counted = own.iter().find(|own| counts(&own.what, &term));
            is_asked |= counted.is_some();
            let what = super::watch::name(&term.signal);
            let signal = counted.cloned().unwrap_or(Signal { what, ..Signal::default() });
            let moves_by_min = moves_by_min.max(signal.moves_by_min);
            injectors.insert(0, Signal { moves_by_min, ..signal });
        }
        injectors.extend(unasked(own, is_asked));
        if victims.is_empty() {
            victims.push(Watch::unasked().end());
        }
        let pairs = injectors.len().max(victims.len());
        let fault = format!("{} of {}", record.id, record.target);
        for pair in 0..pairs {
            let injector = injectors[pair.min(injectors.len() - 1)].clone();
            let victim = victims[pair.min(victims.len() - 1)].clone();
            record.landings.push(Landing { fault: fault.clone(), injector, victim });
        }
        record
    }

    fn watches(
        &self,
        spec: &WindowSpec,
        start_ns: i64,
        began: Instant,
        started: &Arc<AtomicU64>,
    ) -> Vec<(SideOf, Watch<'_>)> {
        let mut watches = Vec::new();
        let is_round = named(&spec.fault).is_ok_and(|id| Order::of(id).is_some());
        let sides = [(SideOf::Injector, &spec.injector), (SideOf::Victim, &spec.victim)];
        for (side, text) in sides {
            for term in terms(text).unwrap_or_default() {
                if side == SideOf::Injector && is_own(&term) {
                    continue;
                }
                let is_restart = term.signal == Named::Known(RESTARTED);
                let read = match is_restart {
                    true => reader_of(Arc::clone(started)),
                    false => self.reader(&term, began),
                };
                let hold = Duration::from_millis(spec.hold_ms);
                let mut watch = match term.signal {
                    Named::Known(LATENCY) => latency::watch(self.recorder, &term, start_ns, hold),
                    _ => Watch::begin(&term, read),
                };
                // Starting again is the end of such a fault: it comes when its time is over. So do
                // the last turns of a round.
                let is_last = is_restart || (is_round && term.within.is_none());
                let time = term.within.map_or(hold, |time| time.0);
                watch.open((!is_last).then_some(time));
                watches.push((side, watch));
            }
        }
        watches
    }

    /// How a signal is read.
    fn reader(&self, term: &Term, began: Instant) -> Box<dyn FnMut() -> Option<u64> + Send + '_> {
        let name = match &term.signal {
            Named::Known(name) => *name,
            Named::Log(text) => {
                let text = text.clone();
                return Box::new(move || Some(self.cluster.log_lines(None, &text)));
            }
            Named::Metric(name) => {
                let name = name.clone();
                return Box::new(move || self.cluster.signal(&name, None));
            }
        };
        let mesh = self.cluster.mesh();
        let links = |of: fn(&LinkCounts) -> u64| {
            Box::new(move || Some(mesh.snapshot().iter().map(of).sum()))
        };
        match name {
            "timeouts" => Box::new(|| Some(self.recorder.counts().unknown)),
            "errors" => Box::new(|| Some(self.recorder.counts().fail)),
            // Not senders of datagrams, and not ourselves when we look whether a link is healed.
            "reconnects" => links(|c| c.connections.made),
            "dropped-bytes" => links(|c| flows(c).map(|flow| flow.bytes_dropped).sum()),
            "heartbeat-gap" => Box::new(move || {
                let gap = self.cluster.heartbeat_gap(None, began);
                Some(u64::try_from(gap.as_millis()).unwrap_or(u64::MAX))
            }),
            other => {
                let other = other.to_string();
                Box::new(move || self.cluster.signal(&other, None))
            }
        }
    }
}

/// The fault's own counters that its plan does not ask for. They have to move all the same: what
/// all links have dropped together, say, another fault may have dropped. A round is whole or has
/// not landed, whatever the plan asks for.
fn unasked(own: Vec<Signal>, is_asked: bool) -> Vec<Signal> {
    match (own.len(), is_asked) {
        (0, _) => vec![Signal::default()],
        (1, true) => Vec::new(),
        _ => own,
    }
}

fn reader_of(counter: Arc<AtomicU64>) -> Box<dyn FnMut() -> Option<u64> + Send> {
    Box::new(move || Some(counter.load(Ordering::Relaxed)))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SideOf {
    Injector,
    Victim,
}

fn flows(counts: &LinkCounts) -> impl Iterator<Item = &assay_nemesis::FlowCounts> {
    assay_nemesis::Direction::BOTH.map(|way| counts.of(way)).into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_has_to_count_itself_whatever_its_plan_asks_for() {
        let own = |n: usize| vec![Signal { what: "chunks dropped".into(), ..Signal::default() }; n];
        let rows = [(0, false, 1), (0, true, 1), (1, true, 0), (1, false, 1), (2, true, 2)];
        for (counted, is_asked, more) in rows {
            let signals = unasked(own(counted), is_asked);
            assert_eq!(signals.len(), more, "{counted} counted, asked for: {is_asked}");
        }
        assert_eq!(unasked(Vec::new(), true)[0].state(), LandingState::Unknown);
    }
}

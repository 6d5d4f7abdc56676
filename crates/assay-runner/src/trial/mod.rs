//! One trial: start the system, let clients work, make things go wrong, let it come to rest, look
//! at what clients saw.
//!
//! A trial is over when its record is on disk, whole; before that it has not happened. What it
//! needs is decided by its [`TrialSpec`] and nothing else.

mod judge;
mod logs;
pub mod metrics;
mod record;
mod supervise;

pub use judge::{panel, self_test};
pub use record::{
    AnomalyRecord, HealthRecord, JudgedRecord, LogRecord, OperationCounts, QuiescenceRecord,
    SharpnessRecord, TrialRecord,
};

use crate::clock::TrialClock;
use crate::drive::{Crew, Pace};
use crate::event::{Events, Phase, Purpose, RunEvent};
use crate::faults::decoy::Decoy;
use crate::faults::needs;
use crate::faults::window::{Stage, WindowRecord};
use crate::open_loop::{NewSession, OpenClient};
use crate::recorder::{Honesty, Recorder};
use crate::sabotage::Sabotage;
use crate::spec::{Opening, TrialSpec, WindowSpec};
use assay_kernel::net::HubKind;
use assay_nemesis::Injector;
use assay_plan::machine::Network;
use assay_sut::{Cluster, Gear, Launch, Shown, SystemSpec, Wiring};
use assay_workload::{Config, Distribution, Dumps, Reply, Workload};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

/// How long a system may take to come to rest.
const REST_TIME_MAX: Duration = Duration::from_secs(20);
/// How often to look whether it has.
const REST_STEP: Duration = Duration::from_millis(50);
/// How long one of the last reads may take.
const FINAL_TIME_MAX: Duration = Duration::from_secs(10);
/// How long all of them together may wait in vain: a system that is silent for longer shows nothing
/// any more.
const FINAL_SILENCE_MAX: Duration = Duration::from_secs(60);
/// Added to a declared convergence window, because the last read takes a moment, too.
const SETTLE_MARGIN: Duration = Duration::from_millis(50);
/// How often a call of the setup is tried.
const SETUP_TRIES: usize = 50;
/// The name of the history in the directory of a trial.
pub const HISTORY_NAME: &str = "history.jsonl";
/// The name it has once it is packed.
pub const HISTORY_PACKED: &str = "history.jsonl.zst";
/// The name of the record.
pub const RECORD_NAME: &str = "trial.json";

/// What a trial needs beside its spec.
pub struct Surroundings<'r> {
    /// The system, described.
    pub system: &'r SystemSpec,
    /// The program that is also the embedded system.
    pub executable: &'r Path,
    /// Where events go.
    pub events: &'r Events<'r>,
    /// Set when everything is to stop.
    pub interrupted: &'r AtomicBool,
    /// What is done wrong on purpose.
    pub sabotage: Option<Sabotage>,
    /// How many anomalies of each kind are planted to see how sharp the checkers are.
    pub plants: u32,
}

/// Why there is no record of a trial.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// Somebody wants it to stop.
    #[error("interrupted")]
    Interrupted,
    /// Something is missing.
    #[error("missing: {}", .0.join(", "))]
    Missing(Vec<String>),
    /// Everything is there, and the system did not come up all the same.
    #[error("the system did not start: {0}")]
    NotStarted(String),
    /// The record of an earlier one is not what was once written.
    #[error("{}: {}", .0.display(), .1)]
    Broken(PathBuf, String),
    /// It cannot be done.
    #[error("{0}")]
    Trouble(String),
}

impl TrialError {
    /// Whether it says nothing about other trials: they can be done, or have been.
    pub fn is_of_one_trial(&self) -> bool {
        match self {
            TrialError::Missing(_) | TrialError::NotStarted(_) | TrialError::Trouble(_) => true,
            TrialError::Interrupted | TrialError::Broken(..) => false,
        }
    }
}

fn trouble(doing: &str, error: impl std::fmt::Display) -> TrialError {
    TrialError::Trouble(format!("{doing}: {error}"))
}

/// Runs a trial in a directory of its own.
pub fn run(
    spec: &TrialSpec,
    purpose: Purpose,
    directory: &Path,
    around: &Surroundings<'_>,
) -> Result<TrialRecord, TrialError> {
    let started = crate::time::utc_now();
    std::fs::create_dir_all(directory).map_err(|e| trouble("cannot make the directory", e))?;
    let workload = workload(spec)?;
    let mut panel = panel(&spec.check).map_err(|why| TrialError::Missing(vec![why]))?;
    if around.sabotage == Some(Sabotage::CheckerAlwaysPasses) {
        panel = panel.blinded();
    }
    let cluster = start_system(spec, directory, around)?;
    let dumps = if panel.reads_dumps() { Dumps::Wanted } else { Dumps::NotWanted };
    let begun = Trial { spec, directory, around, workload, cluster, dumps };
    let mut record = begun.perform(purpose, started)?;
    // With the disks of its nodes: they lie where data is removed below.
    drop(begun);
    let history = directory.join(HISTORY_NAME);
    judge::judge(&panel, &history, &mut record, around)?;
    record.ended = crate::time::utc_now();
    judge::pack(&history).map_err(|e| trouble("cannot pack the history", e))?;
    if !record.is_violation() {
        // What a passing system wrote is of no use to anybody and can be large.
        let _kept = std::fs::remove_dir_all(directory.join("data"));
    }
    crate::files::write_json(&directory.join(RECORD_NAME), &record)
        .map_err(|e| trouble("cannot write the record", e))?;
    Ok(record)
}

/// The workload of a spec.
pub fn workload(spec: &TrialSpec) -> Result<Workload, TrialError> {
    let choice = &spec.workload;
    let config = Config {
        generator: choice.generator.clone(),
        clients: choice.clients,
        keys: choice.keys,
        distribution: if choice.zipf { Distribution::Zipf } else { Distribution::Uniform },
        mix: choice.mix.clone(),
        options: choice.options.clone(),
        seed: spec.seed,
    };
    Workload::new(&config).map_err(|error| TrialError::Missing(vec![format!("workload: {error}")]))
}

/// What the faults of a trial need nodes to have.
fn gear(spec: &TrialSpec) -> Gear {
    let needed = spec.windows.iter().map(needs::gear_of);
    needed.fold(Gear::default(), Gear::and)
}

fn start_system(
    spec: &TrialSpec,
    directory: &Path,
    around: &Surroundings<'_>,
) -> Result<Arc<Cluster>, TrialError> {
    let begun = Instant::now();
    around.events.begin(Phase::Starting, None);
    let wiring = match (around.sabotage, spec.system.network) {
        (Some(Sabotage::ProxyBypassed), _) => Wiring::Direct,
        (_, Network::Proxies) => Wiring::Proxied,
        (_, Network::Bridge) => Wiring::Namespaces(HubKind::Bridge),
        (_, Network::Switch) => Wiring::Namespaces(HubKind::Switch),
    };
    let launch = Launch {
        spec: around.system,
        nodes: spec.system.nodes,
        options: &spec.system.options,
        directory,
        seed: spec.seed,
        generator: &spec.workload.generator,
        executable: around.executable,
        wiring,
        gear: Gear { bystander: around.sabotage == Some(Sabotage::InjectorMisses), ..gear(spec) },
    };
    let cluster = Cluster::start(&launch).map_err(|error| match error {
        assay_sut::SutError::Missing { capabilities } => TrialError::Missing(capabilities),
        lacking @ assay_sut::SutError::NotFetched { .. } => {
            TrialError::Missing(vec![lacking.to_string()])
        }
        other => TrialError::NotStarted(other.to_string()),
    })?;
    let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    around.events.emit(&RunEvent::SystemReady { nodes: spec.system.nodes, took_ms });
    Ok(Arc::new(cluster))
}

struct Trial<'r> {
    spec: &'r TrialSpec,
    directory: &'r Path,
    around: &'r Surroundings<'r>,
    workload: Workload,
    cluster: Arc<Cluster>,
    dumps: Dumps,
}

impl Trial<'_> {
    fn perform(&self, purpose: Purpose, started: String) -> Result<TrialRecord, TrialError> {
        let clock = Arc::new(TrialClock::start());
        let honesty = match self.around.sabotage {
            Some(Sabotage::RecorderDropsTimeouts) => Honesty::ForgetsTimeouts,
            _ => Honesty::Complete,
        };
        let path = self.directory.join(HISTORY_NAME);
        let recorder = Recorder::create(&path, Arc::clone(&clock), honesty)
            .map_err(|error| trouble("cannot write the history", error))?;
        let names = self.cluster.names().to_vec();
        let mut crew = Crew::new(&recorder, &clock, &names, self.spec.workload.clients);
        crew.timeout = Duration::from_millis(self.spec.workload.timeout_ms);
        (crew.retries, crew.resend) = (self.workload.retries(), self.workload.resend());
        self.set_up(&crew)?;
        let elections = self.cluster.signal("elections", None);
        let (windows, worked) = self.work(&crew, &recorder, &clock)?;
        let quiescence = self.come_to_rest(&crew);
        let finals_cut = self.last_reads(&crew)?;
        let sent = crew.sent.load(Ordering::Relaxed);
        recorder.finish(sent).map_err(|error| trouble("cannot finish the history", error))?;
        let counts = recorder.counts();
        let after = self.cluster.signal("elections", None);
        let (bypasses, unwatched) = (self.cluster.bypasses(), self.cluster.unwatched());
        let (lost, frames_lost) = (self.lost(), self.cluster.frames_lost());
        let down = self.down();
        let links = self.cluster.mesh().snapshot();
        let turned_away = links.iter().map(|link| link.connections.turned_away).sum();
        self.around.events.begin(Phase::Stopping, None);
        self.cluster.stop();
        let logs: Vec<PathBuf> =
            (0..names.len()).map(|node| self.cluster.log_path(node).to_path_buf()).collect();
        Ok(TrialRecord {
            spec: self.spec.clone(),
            purpose,
            started,
            ended: String::new(),
            start_ns: worked.start_ns,
            workload_ms: worked.workload_ms,
            operations: OperationCounts {
                sent,
                sent_in_time: worked.sent_in_time,
                recorded: 0,
                ok: counts.ok,
                fail: counts.fail,
                unknown: counts.unknown,
                in_fault: counts.in_fault,
                late: crew.late.load(Ordering::Relaxed),
                late_ms_max: crew.late_ns_max.load(Ordering::Relaxed) / 1_000_000,
            },
            health: worked.health(&windows),
            windows,
            quiescence,
            bypasses,
            turned_away,
            frames_lost,
            lost,
            down,
            unwatched,
            // At a rate of their own, clients are silent between two arrivals.
            silent_ms: self.spec.workload.rate.is_none().then_some(worked.silent_ms),
            finals_cut,
            clock_jumps: clock.jumps() + recorder.backwards(),
            log: logs::scan(logs.iter().map(PathBuf::as_path), self.around.system.ordinary_lines()),
            elections: after.zip(elections).map(|(after, before)| after.saturating_sub(before)),
            judged: JudgedRecord::unreadable("nobody has looked yet".to_string()),
            sharpness: None,
        })
    }

    /// Clients and nodes that were not heard, which is told.
    fn lost(&self) -> Vec<String> {
        let lost = self.cluster.lost();
        for what in &lost {
            self.around.events.emit(&RunEvent::Noticed { what: what.clone() });
        }
        lost
    }

    /// Nodes that do not run when everything is over, which is told.
    fn down(&self) -> Vec<String> {
        let down = self.cluster.down();
        for node in &down {
            let what = format!("{node} does not run at the end of the trial");
            self.around.events.emit(&RunEvent::Noticed { what });
        }
        down
    }

    /// What must be there before clients begin; not a part of the history.
    fn set_up(&self, crew: &Crew<'_>) -> Result<(), TrialError> {
        let calls = self.workload.setup();
        if calls.is_empty() {
            return Ok(());
        }
        self.around.events.begin(Phase::SettingUp, None);
        let mut client =
            self.cluster.client(0).map_err(|e| TrialError::Missing(vec![e.message]))?;
        for call in calls {
            let mut last = String::new();
            let done = (0..SETUP_TRIES).any(|_| match client.call(&call, crew.timeout) {
                Reply::Ok { .. } => true,
                Reply::Fail { error, .. } | Reply::Unknown { error, .. } => {
                    last = error;
                    std::thread::sleep(REST_STEP);
                    self.around.interrupted.load(Ordering::Relaxed)
                }
            });
            if !done {
                return Err(TrialError::Trouble(format!("setup: {} failed: {last}", call.op)));
            }
        }
        Ok(())
    }

    /// Clients, faults and the supervisor, all at once.
    fn work(
        &self,
        crew: &Crew<'_>,
        recorder: &Recorder,
        clock: &TrialClock,
    ) -> Result<(Vec<WindowRecord>, supervise::Worked), TrialError> {
        let journal = self.directory.join(assay_nemesis::JOURNAL_NAME);
        let injector = Injector::new(&journal, Some(Arc::clone(self.cluster.mesh())))
            .map_err(|error| trouble("cannot journal faults", error))?;
        let clients = (0..self.spec.workload.clients)
            .map(|number| self.cluster.client(number))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| TrialError::Missing(vec![error.message]))?;
        let (decoy, windows) = (self.decoy()?, self.windows());
        let (counted_before, start_ns) = (self.counted_before(), clock.now_ns());
        let stage = Stage {
            cluster: &self.cluster,
            injector: &injector,
            recorder,
            clock,
            crew,
            start_ns,
            counted_before,
            seed: self.spec.seed,
            opens_until_ms: clock.now_ms().saturating_add(self.spec.duration_ms),
            events: self.around.events,
            decoy: decoy.as_ref(),
            away: Default::default(),
        };
        let supervisor = supervise::Supervisor {
            stage: &stage,
            duration_ms: self.spec.duration_ms,
            around: self.around,
            windows: &windows,
        };
        let new_session: &NewSession<'_> = &|number| self.cluster.client(number);
        let open = self.open_clients(crew, new_session);
        // Before the first client works: nobody would tell the others to stop.
        let paces: Vec<Pace> =
            (0..clients.len()).map(|number| self.pace(number)).collect::<Result<_, _>>()?;
        let (done, worked) = std::thread::scope(|scope| {
            let (mut workers, stage) = (Vec::new(), &stage);
            for (number, (mut client, pace)) in clients.into_iter().zip(paces).enumerate() {
                let mut script = self.workload.script(number);
                workers.push(match (open.get(number), pace) {
                    (Some(open), Pace::Open(due)) => {
                        scope.spawn(move || open.work(scope, due, start_ns))
                    }
                    (_, pace) => scope.spawn(move || {
                        crew.work(number, client.as_mut(), script.as_mut(), pace, start_ns)
                    }),
                });
            }
            let perform = |entry: Vec<(usize, &WindowSpec)>| -> Vec<(usize, WindowRecord)> {
                entry.into_iter().map(|(n, window)| (n, stage.perform(n, window))).collect()
            };
            let entries = by_entry(&windows).into_iter();
            let entries: Vec<_> =
                entries.map(|entry| scope.spawn(move || perform(entry))).collect();
            let worked = supervisor.watch(|| entries.iter().all(|entry| entry.is_finished()));
            Ok::<_, TrialError>((joined(entries, workers)?, worked))
        })?;
        if let Some(error) = open.iter().find_map(OpenClient::trouble) {
            return Err(trouble("cannot write the history", error));
        }
        if self.around.interrupted.load(Ordering::Relaxed) {
            return Err(TrialError::Interrupted);
        }
        Ok((done, worked))
    }

    /// What nodes count already of the events that faults wait for.
    fn counted_before(&self) -> BTreeMap<String, u64> {
        let read = |window: &WindowSpec| match &window.opens {
            Opening::On { event, .. } => Some((event.clone(), self.cluster.signal(event, None)?)),
            Opening::AtMs(_) => None,
        };
        self.spec.windows.iter().filter_map(read).collect()
    }

    /// Clients whose arrivals wait for nobody, where the plan has a rate, the workload allows it,
    /// and another client costs little.
    fn open_clients<'c>(
        &self,
        crew: &'c Crew<'c>,
        new_session: &'c NewSession<'c>,
    ) -> Vec<OpenClient<'c>> {
        let choice = &self.spec.workload;
        let light = self.cluster.has_light_clients() && !self.workload.is_sequential();
        if choice.rate.is_none() || !light {
            return Vec::new();
        }
        let client = |number| {
            let script = self.workload.script(number);
            OpenClient::new(crew, number, choice.clients, script, new_session)
        };
        (0..choice.clients).map(client).collect()
    }

    fn pace(&self, number: usize) -> Result<Pace, TrialError> {
        let Some(rate) = self.spec.workload.rate else { return Ok(Pace::Closed) };
        let clients = self.spec.workload.clients;
        let due = assay_workload::arrivals(rate, clients, number, self.spec.seed)
            .map_err(|error| TrialError::Missing(vec![format!("workload: {error}")]))?;
        Ok(Pace::Open(Box::new(due.map(|ns| i64::try_from(ns).unwrap_or(i64::MAX)))))
    }

    /// Whom faults hit instead of nodes where the harness is broken on purpose.
    fn decoy(&self) -> Result<Option<Decoy>, TrialError> {
        if self.around.sabotage != Some(Sabotage::InjectorMisses) {
            return Ok(None);
        }
        let decoy = Decoy::start(self.directory, gear(self.spec), &self.cluster);
        decoy.map(Some).map_err(|why| TrialError::Missing(vec![why]))
    }

    /// The windows, or windows that never open where the harness is broken on purpose.
    fn windows(&self) -> Vec<WindowSpec> {
        let mut windows = self.spec.windows.clone();
        if self.around.sabotage == Some(Sabotage::WindowNeverOpens) {
            windows.iter_mut().for_each(|window| window.opens = Opening::AtMs(u64::MAX / 2));
        }
        windows
    }

    /// Waits until nothing moves any more; says of each part what was seen.
    fn come_to_rest(&self, crew: &Crew<'_>) -> QuiescenceRecord {
        let until = Instant::now() + REST_TIME_MAX;
        self.around.events.begin(Phase::Resting, Some(REST_TIME_MAX));
        loop {
            let seen = self.cluster.quiescence();
            let open = crew.in_flight.load(Ordering::Relaxed);
            let shown = |part: &Shown| matches!(part, Shown::Yes(_));
            let rested = open == 0 && shown(&seen.pending) && shown(&seen.converged);
            // What the system does not say cannot be waited for.
            let told =
                [&seen.pending, &seen.converged].iter().any(|part| matches!(part, Shown::No(_)));
            let over = Instant::now() >= until || self.around.interrupted.load(Ordering::Relaxed);
            if rested || !told || over {
                let record = QuiescenceRecord {
                    in_flight: format!("{open} operations in flight"),
                    pending: words(&seen.pending),
                    converged: words(&seen.converged),
                    shown: rested,
                };
                self.around.events.emit(&RunEvent::Quiescent {
                    in_flight: record.in_flight.clone(),
                    pending: record.pending.clone(),
                    converged: record.converged.clone(),
                });
                return record;
            }
            std::thread::sleep(REST_STEP);
        }
    }

    /// The convergence window that the plan declares for its checkers: so long nothing happens
    /// before the replicas are dumped, and what is of unknown outcome has settled.
    fn settle_time(&self) -> Duration {
        let declared = self.spec.check.options.get("settle").and_then(|value| value.as_str());
        let time = declared.and_then(|text| assay_plan::time::Time::parse(text).ok());
        time.map_or(Duration::ZERO, |time| time.0 + SETTLE_MARGIN)
    }

    /// Reads what is there at the end; whether that was cut short, because nobody answered.
    fn last_reads(&self, crew: &Crew<'_>) -> Result<bool, TrialError> {
        self.around.events.begin(Phase::LastReads, None);
        let mut client =
            self.cluster.client(0).map_err(|e| TrialError::Missing(vec![e.message]))?;
        let mut script = self.workload.finals(self.cluster.names().len(), self.dumps);
        // By a process of its own; these reads take no part in the rate.
        let process = crew.new_process();
        let mut settled = false;
        let mut silent = Duration::ZERO;
        while let Some(call) = script.next() {
            if self.around.interrupted.load(Ordering::Relaxed) {
                return Err(TrialError::Interrupted);
            }
            if call.op == "dump" && !settled {
                std::thread::sleep(self.settle_time());
                settled = true;
            }
            let asked = Instant::now();
            let reply = crew
                .alone(process, client.as_mut(), &call, FINAL_TIME_MAX)
                .map_err(|error| trouble("cannot write the history", error))?;
            if matches!(reply, Reply::Unknown { .. }) {
                silent += asked.elapsed();
            }
            if silent >= FINAL_SILENCE_MAX {
                // Half of a final state is none: nothing more is read, least of all the dumps.
                return Ok(true);
            }
            script.observe(&call, &reply);
        }
        Ok(false)
    }
}

type Entries<'s> = Vec<ScopedJoinHandle<'s, Vec<(usize, WindowRecord)>>>;

/// What became of the windows, in their order, once everybody is done.
fn joined(
    entries: Entries<'_>,
    workers: Vec<ScopedJoinHandle<'_, std::io::Result<()>>>,
) -> Result<Vec<WindowRecord>, TrialError> {
    let mut done: Vec<(usize, WindowRecord)> = Vec::new();
    for entry in entries {
        done.extend(entry.join().map_err(|_| bug("a fault's thread"))?);
    }
    for worker in workers {
        let result = worker.join().map_err(|_| bug("a client's thread"))?;
        result.map_err(|error| trouble("cannot write the history", error))?;
    }
    done.sort_by_key(|(number, _)| *number);
    Ok(done.into_iter().map(|(_, record)| record).collect())
}

fn bug(what: &str) -> TrialError {
    TrialError::Trouble(format!("{what} stopped with a bug of its own; please report it"))
}

fn words(shown: &Shown) -> String {
    match shown {
        Shown::Yes(evidence) => format!("yes: {evidence}"),
        Shown::No(evidence) => format!("no: {evidence}"),
        Shown::Unknown(why) => format!("unknown: {why}"),
    }
}

/// Windows of one entry follow each other; those of different entries may overlap.
fn by_entry(windows: &[WindowSpec]) -> Vec<Vec<(usize, &WindowSpec)>> {
    let mut entries = BTreeMap::<usize, Vec<(usize, &WindowSpec)>>::new();
    for (number, window) in windows.iter().enumerate() {
        entries.entry(window.entry).or_default().push((number, window));
    }
    entries.into_values().collect()
}

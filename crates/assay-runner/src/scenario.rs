//! One arm of a scenario from its first trial to its facts.

use crate::arm::{self, ArmError, Depth};
use crate::course::Course;
use crate::directory::{Asked, RunDirectory};
use crate::event::{Events, Purpose, RunEvent};
use crate::facts::{self, ArmFacts, Setting};
use crate::faults::action;
use crate::faults::counters::{uncounted, unfelt};
use crate::faults::needs;
use crate::faults::target::Target;
use crate::files::{read_json, write_json};
use crate::frozen::{self, Frozen};
use crate::investigate::{Investigation, investigate};
use crate::spec::{Opening, TrialSpec};
use crate::trial::{self, RECORD_NAME, Surroundings, TrialError, TrialRecord};
use assay_plan::machine::{Machine, Network};
use assay_plan::words::Category;
use assay_report::run::TimelineEntry;
use assay_sut::{Retries, SystemSpec};
use assay_verdict::{Operator, Rigour, Violation};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The name of what was found out about a violation, in the directory of its arm.
pub const INVESTIGATION_NAME: &str = "investigation.json";

/// What became of an arm.
pub enum ArmEnd {
    /// Nobody tried, for this reason.
    NotAttempted(String),
    /// Something is missing.
    Missing(Vec<String>, Operator),
    /// It ran.
    Ran(Box<ArmRun>),
}

/// An arm that ran.
pub struct ArmRun {
    /// What the verdict is computed from.
    pub facts: ArmFacts,
    /// All trials, in order, with the names of their directories.
    pub trials: Vec<(String, TrialRecord)>,
    /// What was found out about a violation.
    pub investigation: Option<Investigation>,
    /// Trials that could not be done, and why; none was tried after them.
    pub not_done: Vec<String>,
}

/// What an arm is run with.
pub struct ArmJob<'j> {
    /// Its id: `S1`, `S5/api`.
    pub id: &'j str,
    /// Its machine block.
    pub machine: &'j Machine,
    /// Whether a model checker is needed.
    pub rigour: Rigour,
    /// Whether a claim speaks of clusters of any size.
    pub any_size: bool,
    /// What the claims of the scenario are about.
    pub categories: &'j [Category],
}

/// What all arms of a run share.
pub struct Workshop<'w> {
    /// Where everything is written.
    pub directory: &'w RunDirectory,
    /// What was asked for.
    pub asked: &'w Asked,
    /// Where events go.
    pub events: &'w Events<'w>,
    /// Set when everything is to stop.
    pub interrupted: &'w AtomicBool,
    /// The program that is also the embedded system.
    pub executable: &'w Path,
    /// Where descriptions of systems are looked for.
    pub beside: PathBuf,
    /// What happened when.
    pub timeline: &'w Mutex<Vec<TimelineEntry>>,
    /// How far the run is.
    pub course: &'w Course,
}

/// The trials of an arm if nothing is found: its name, and how long clients work in each.
pub fn planned(asked: &Asked, arm: &str, machine: &Machine) -> Vec<(String, u64)> {
    let mut tiers = vec![Depth::Smoke, asked.depth];
    tiers.dedup();
    // What cannot be run is told when its turn comes.
    let specs = tiers.iter().flat_map(|tier| specs(asked, arm, machine, *tier).unwrap_or_default());
    specs.map(|(_, spec)| (arm.to_string(), spec.duration_ms)).collect()
}

/// The trials of a tier, with their names.
fn specs(
    asked: &Asked,
    arm: &str,
    machine: &Machine,
    depth: Depth,
) -> Result<Vec<(String, TrialSpec)>, ArmError> {
    let mut machine = machine.clone();
    machine.seed = asked.seed.or(machine.seed);
    let tier = arm::tier(&machine, depth)?;
    let purpose = if depth == Depth::Smoke { Purpose::Smoke } else { Purpose::Hardening };
    let seeds = arm::seeds(&machine, &tier);
    let spec = |seed: &u64| {
        let spec = arm::trial(arm, &machine, &tier, *seed)?;
        Ok((format!("{}-seed-{seed}", purpose.name()), spec))
    };
    seeds.iter().map(spec).collect()
}

impl Workshop<'_> {
    /// Runs an arm. Only an interruption, and evidence that was tampered with, are errors:
    /// everything else is an end of some kind.
    pub fn run(&self, job: &ArmJob<'_>) -> Result<ArmEnd, TrialError> {
        let frozen = match self.prepare(job) {
            Ok(frozen) => frozen,
            Err(missing) => return Ok(ArmEnd::Missing(missing, Operator::Told)),
        };
        if let Some(what) = frozen.note.clone() {
            self.events.emit(&RunEvent::Noticed { what });
        }
        match self.run_tiers(job, &frozen) {
            Err(error @ (TrialError::Interrupted | TrialError::Broken(..))) => Err(error),
            Err(TrialError::Missing(missing)) => Ok(ArmEnd::Missing(missing, Operator::Told)),
            Err(error @ TrialError::NotStarted(_)) => {
                Ok(ArmEnd::Missing(vec![error.to_string()], Operator::Told))
            }
            Err(TrialError::Trouble(why)) => Ok(ArmEnd::NotAttempted(why)),
            Ok(run) => Ok(ArmEnd::Ran(Box::new(run))),
        }
    }

    /// Everything that can be missing is found out here, before anything is started.
    fn prepare(&self, job: &ArmJob<'_>) -> Result<Frozen, Vec<String>> {
        let one = |why: String| vec![why];
        let specs = self.specs(job, self.asked.depth).map_err(|error| one(error.to_string()))?;
        let Some((_, first)) = specs.first() else { return Err(one("no trial at all".into())) };
        let frozen =
            frozen::system(self.directory.root(), &first.system.name, &self.beside).map_err(one)?;
        let system = &frozen.system;
        let mut missing = lacks(first, system);
        missing.extend(specs.iter().flat_map(|(_, spec)| lacks_of_windows(spec, system)));
        missing.extend(undone(job.machine, system));
        missing.sort();
        missing.dedup();
        if missing.is_empty() { Ok(frozen) } else { Err(missing) }
    }

    /// The trials of a tier, with their names.
    fn specs(&self, job: &ArmJob<'_>, depth: Depth) -> Result<Vec<(String, TrialSpec)>, ArmError> {
        specs(self.asked, job.id, job.machine, depth)
    }

    fn run_tiers(&self, job: &ArmJob<'_>, frozen: &Frozen) -> Result<ArmRun, TrialError> {
        let system = &frozen.system;
        let mut trials: Vec<(String, TrialRecord)> = Vec::new();
        let mut depth = Depth::Smoke;
        let mut violating = None;
        let mut not_done = Vec::new();
        'tiers: for next in [Depth::Smoke, self.asked.depth] {
            if trials.iter().any(|(_, trial)| trial.is_violation())
                || (next <= depth && !trials.is_empty())
            {
                break;
            }
            depth = next;
            let purpose = if next == Depth::Smoke { Purpose::Smoke } else { Purpose::Hardening };
            let specs =
                self.specs(job, next).map_err(|e| TrialError::Missing(vec![e.to_string()]))?;
            for (name, mut spec) in specs {
                spec.system.digest = Some(frozen.digest.clone());
                let record = match self.trial(job.id, &name, &spec, purpose, system) {
                    // What was found out before is not given up for one that cannot be done.
                    Err(error) if error.is_of_one_trial() && !trials.is_empty() => {
                        not_done.push(self.not_done(&name, &error));
                        break 'tiers;
                    }
                    tried => tried?,
                };
                let is_violation = record.is_violation();
                trials.push((name, record));
                if is_violation {
                    violating = trials.last().map(|(_, record)| record.clone());
                    break;
                }
            }
        }
        self.course.leave(job.id);
        let investigation = match &violating {
            Some(first) => Some(self.investigated(job, system, first)?),
            None => None,
        };
        let facts = self.facts(job, system, (depth, &not_done), &trials, investigation.as_ref());
        Ok(ArmRun { facts, trials, investigation, not_done })
    }

    /// Says that a trial could not be done.
    fn not_done(&self, name: &str, error: &TrialError) -> String {
        let what = format!("{name} could not be done: {error}");
        self.events.emit(&RunEvent::Noticed { what: what.clone() });
        what
    }

    fn facts(
        &self,
        job: &ArmJob<'_>,
        system: &SystemSpec,
        (depth, not_done): (Depth, &[String]),
        trials: &[(String, TrialRecord)],
        investigation: Option<&Investigation>,
    ) -> ArmFacts {
        let first = trials.first().map(|(_, trial)| &trial.spec.check);
        let oracles = match first.map(trial::panel) {
            Some(Ok(panel)) => panel.oracle_kinds(),
            _ => Vec::new(),
        };
        let setting = Setting {
            machine: job.machine,
            rigour: job.rigour,
            depth,
            any_size: job.any_size,
            oracles,
            no_hidden_retries: no_hidden_retries(system),
            categories: job.categories,
            not_done,
        };
        let wanted = if depth == Depth::Smoke { Purpose::Smoke } else { Purpose::Hardening };
        let counts = |trial: &&TrialRecord| trial.purpose == wanted || trial.is_violation();
        let all = || trials.iter().map(|(_, trial)| trial);
        let counting: Vec<&TrialRecord> = match all().any(|trial| counts(&trial)) {
            true => all().filter(counts).collect(),
            // Not one of the tier could be done: then those before it are all there is.
            false => all().collect(),
        };
        let violation = match investigation {
            None => Violation::None,
            Some(found) if found.reproduced() => Violation::Reproduced,
            Some(_) => Violation::NotReproduced,
        };
        facts::of(&counting, violation, &setting)
    }

    fn investigated(
        &self,
        job: &ArmJob<'_>,
        system: &SystemSpec,
        first: &TrialRecord,
    ) -> Result<Investigation, TrialError> {
        let path = self.directory.trial(job.id, INVESTIGATION_NAME);
        let earlier: Option<Investigation> = read_json(&path).unwrap_or(None);
        if let Some(found) = earlier.filter(|found| found.first.spec == first.spec) {
            return Ok(found);
        }
        let mut run = |name: &str, spec: &TrialSpec, purpose: Purpose| {
            self.trial(job.id, name, spec, purpose, system)
        };
        let found = investigate(first, arm::allowance(job.machine), self.events, &mut run)?;
        // Who takes this run up again finds it out anew; what was found is not given up for that.
        if let Err(error) = write_json(&path, &found) {
            let what = format!("cannot write {}: {error}", path.display());
            self.events.emit(&RunEvent::Noticed { what });
        }
        Ok(found)
    }

    /// One trial; one that was finished by an earlier, interrupted run is not run again.
    fn trial(
        &self,
        arm: &str,
        name: &str,
        spec: &TrialSpec,
        purpose: Purpose,
        system: &SystemSpec,
    ) -> Result<TrialRecord, TrialError> {
        let directory = self.directory.trial(arm, name);
        let (scenario, seed) = (spec.scenario.clone(), spec.seed);
        let is_planned = matches!(purpose, Purpose::Smoke | Purpose::Hardening);
        if is_planned {
            self.course.advance(arm);
        }
        let ended = |record: &TrialRecord, reused| RunEvent::TrialEnded {
            scenario: scenario.clone(),
            purpose,
            seed,
            result: record.result(),
            reused,
        };
        let path = directory.join(RECORD_NAME);
        let finished: Option<TrialRecord> = read_json(&path)
            .map_err(|error| TrialError::Broken(directory.clone(), error.to_string()))?;
        if let Some(record) = finished.filter(|record| record.spec == *spec) {
            // Whoever finished it may have been killed before its figures were put aside.
            self.keep_figures(arm, name)?;
            self.events.emit(&ended(&record, true));
            self.note(arm, name, &record);
            return Ok(record);
        }
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(TrialError::Interrupted);
        }
        set_aside(&directory)
            .map_err(|e| TrialError::Trouble(format!("{}: {e}", directory.display())))?;
        let place = self.course.place();
        self.events.emit(&RunEvent::TrialStarted {
            scenario: scenario.clone(),
            purpose,
            seed,
            expected_ms: spec.duration_ms,
            number: is_planned.then_some(place.number),
            of: place.of,
            later_ms: place.later_ms,
        });
        let around = Surroundings {
            system,
            executable: self.executable,
            events: self.events,
            interrupted: self.interrupted,
            sabotage: self.asked.sabotage,
            plants: self.asked.plants,
        };
        let record = trial::run(spec, purpose, &directory, &around)?;
        self.keep_figures(arm, name)?;
        self.events.emit(&ended(&record, false));
        self.note(arm, name, &record);
        Ok(record)
    }

    fn keep_figures(&self, arm: &str, name: &str) -> Result<(), TrialError> {
        let kept = self.directory.keep_figures(arm, name);
        kept.map_err(|e| TrialError::Trouble(format!("cannot keep the figures: {e}")))
    }

    /// Writes a trial into the timeline of the run.
    fn note(&self, arm: &str, name: &str, record: &TrialRecord) {
        let scenario = Some(arm.split('/').next().unwrap_or(arm).to_string());
        let entry = |at: &str, event: String, notes: String| TimelineEntry {
            at: crate::record::utc(at),
            scenario: scenario.clone(),
            event,
            notes,
        };
        let start = record.start_ns;
        let mut entries = vec![entry(&record.started, format!("{name} started"), String::new())];
        for window in &record.windows {
            let Some(open) = window.start_ns else { continue };
            let ms = u64::try_from((open - start) / 1_000_000).unwrap_or(0);
            let at = crate::time::later(&record.started, ms);
            let state = assay_verdict::landing_of(&window.landings);
            let event = format!("{}: {} of {}", window.id, window.fault, window.target);
            entries.push(entry(&at, event, state.to_string()));
        }
        entries.push(entry(&record.ended, format!("{name} ended"), record.result()));
        self.timeline.lock().expect("nobody panics here").extend(entries);
    }
}

/// What a trial of this system lacks, found out before anything is started.
pub fn lacks(spec: &TrialSpec, system: &SystemSpec) -> Vec<String> {
    let mut missing = system.option_problems(&spec.system.options);
    if !system.allows_nodes(spec.system.nodes) {
        missing.push(format!("{} does not run with {} nodes", system.name, spec.system.nodes));
    }
    match trial::workload(spec) {
        Ok(_) => {}
        Err(TrialError::Missing(lacks)) => missing.extend(lacks),
        Err(error) => missing.push(error.to_string()),
    }
    missing.extend(needs::lacks_network(spec.system.network));
    if let Err(why) = trial::panel(&spec.check) {
        missing.push(why);
    }
    missing.extend(lacks_of_windows(spec, system));
    missing
}

/// The same of its faults alone, which differ from seed to seed.
fn lacks_of_windows(spec: &TrialSpec, system: &SystemSpec) -> Vec<String> {
    let mut missing = Vec::new();
    for window in &spec.windows {
        missing.extend(action::too_short(window, spec.system.nodes));
        let datagrams = system.has_datagrams();
        if let Err(error) = action::check(window, spec.system.network, datagrams) {
            missing.push(error.to_string());
        }
        missing.extend(unreadable_signals(window, system, spec.system.network));
        missing.extend(uncounted_event(window, system));
        missing.extend(uncounted(window, spec.system.network));
        missing.extend(unfelt(window));
    }
    missing.extend(unknown_targets(spec, system));
    missing
}

/// What a killed run has left of a trial counts for nothing, and is kept beside it.
fn set_aside(directory: &Path) -> std::io::Result<()> {
    if !directory.exists() {
        return Ok(());
    }
    let name = directory.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let aside = (1..1_000)
        .map(|n| directory.with_file_name(format!("{name}.unfinished-{n}")))
        .find(|path| !path.exists());
    aside.map_or(Ok(()), |aside| std::fs::rename(directory, aside))
}

fn no_hidden_retries(system: &SystemSpec) -> Option<String> {
    let (retries, reason) = system.retries();
    (retries == Retries::None)
        .then(|| reason.unwrap_or("the client sends every operation once").to_string())
}

/// Nodes and roles that faults ask for and the system does not have.
fn unknown_targets(spec: &TrialSpec, system: &SystemSpec) -> Vec<String> {
    let names: Vec<String> = (1..=spec.system.nodes).map(|n| format!("n{n}")).collect();
    let roles = system.roles();
    let unknown = |window: &crate::spec::WindowSpec| {
        let target = Target::parse(&window.target).ok()?;
        // Who leads is asked in each turn of a round that goes by it, whatever its target.
        let asks = match window.fault.as_str() {
            "roll-wrong" | "rolling-wrong-order" => Target::parse("leader").ok(),
            _ => None,
        };
        if needs::hits_clients(window) && !system.has_client_processes() {
            let why = "Assay itself speaks to these nodes, so that clients are no processes";
            return Some(format!("{} of {}: {why}", window.fault, window.target));
        }
        let why = [Some(target), asks].into_iter().flatten();
        let why = why.into_iter().find_map(|target| target.unknown(&names, &roles))?;
        Some(format!("{} of {}: {why}", window.fault, window.target))
    };
    spec.windows.iter().filter_map(unknown).collect()
}

/// What a machine block asks for and a run does not do. A plan that is silently done otherwise than
/// it is written proves something else than it says.
fn undone(machine: &Machine, system: &SystemSpec) -> Vec<String> {
    let mut undone = Vec::new();
    let history = machine.history.clone().unwrap_or_default();
    for how in history.recording.iter().filter(|how| *how != "in-process") {
        undone.push(format!("history.recording: `assay run` records in-process, not {how}"));
    }
    for column in history.columns.iter().filter(|column| *column != "revision") {
        undone.push(format!("history.columns: `assay run` records no column `{column}`"));
    }
    for column in &history.without {
        undone.push(format!("history.without: `assay run` records every column, {column} too"));
    }
    let smallest = machine.reduction.as_ref().and_then(|reduction| reduction.nodes);
    if let Some(nodes) = smallest.filter(|nodes| !allows(system, *nodes)) {
        undone.push(format!("reduction.nodes: {} does not run with {nodes} nodes", system.name));
    }
    undone
}

fn allows(system: &SystemSpec, nodes: u64) -> bool {
    usize::try_from(nodes).is_ok_and(|nodes| system.allows_nodes(nodes))
}

/// An event that a fault waits for and this system does not count: it would never begin.
fn uncounted_event(window: &crate::spec::WindowSpec, system: &SystemSpec) -> Option<String> {
    /// What clients see is counted by Assay.
    const OWN: [&str; 3] = ["acks", "ops", "timeouts"];
    let Opening::On { event, .. } = &window.opens else { return None };
    if OWN.contains(&event.as_str()) || system.has_signal(event) {
        return None;
    }
    let (name, fault) = (&system.name, &window.fault);
    Some(format!(
        "{name} does not offer the signal `{event}` that {fault} begins on; describe it as \
         [signals.{event}] in the description of {name}, or begin the fault at a time, with `at`"
    ))
}

/// Signals of the victim that this system does not offer.
fn unreadable_signals(
    window: &crate::spec::WindowSpec,
    system: &SystemSpec,
    network: Network,
) -> Vec<String> {
    use assay_plan::landing::Signal;
    const OWN: [&str; 5] = ["timeouts", "errors", "restarts", "heartbeat-gap", "latency-p99"];
    let terms = crate::faults::watch::terms(&window.victim).unwrap_or_default();
    let unreadable = |signal: &Signal| match signal {
        Signal::Known(name) if SystemSpec::is_signal_of_namespaces(name) => {
            network == Network::Proxies && !system.has_signal(name)
        }
        // Connections are counted by whoever carries them.
        Signal::Known("reconnects") => network != Network::Proxies,
        Signal::Known(name) => !OWN.contains(name) && !system.has_signal(name),
        Signal::Metric(name) => !system.has_signal(name),
        Signal::Log(_) => false,
    };
    let missing = terms.into_iter().filter(|term| unreadable(&term.signal));
    missing
        .map(|term| {
            let name = crate::faults::watch::name(&term.signal);
            format!(
                "{} does not offer the signal `{name}` that would prove {}",
                system.name, window.fault
            )
        })
        .collect()
}

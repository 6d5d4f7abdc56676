//! A run of a plan, from the load gate to the report.
//!
//! The order is fixed: the plan is read and refused if it has errors, what was asked for is written
//! down, the toolbox and the machine are looked at, and only then does the first scenario start.
//! Everything that is decided on the way follows from records on disk, so a run that was killed is
//! taken up where it stopped: finished trials are read back, unfinished ones are set aside.

use crate::course::Course;
use crate::directory::{Asked, RunDirectory};
use crate::environment;
use crate::event::{Events, Phase, RunEvent};
use crate::files::{read_json, write_json};
use crate::record::{self, Material, ScenarioEnd, missing_for};
use crate::scenario::{ArmEnd, ArmJob, Workshop, planned};
use crate::trial::TrialError;
use assay_plan::machine::Machine;
use assay_plan::words::Category;
use assay_plan::{Diagnostic, Plan};
use assay_report::run::{Requirement, RunRecord, TimelineEntry, Toolbox};
use assay_verdict::{Operator, Rigour};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// What a run needs from whoever starts it.
pub struct Host<'h> {
    /// The program that is also the embedded system.
    pub executable: &'h Path,
    /// Set when everything is to stop.
    pub interrupted: &'h AtomicBool,
    /// Hears of everything that happens.
    pub watcher: &'h (dyn Fn(&RunEvent) + Sync),
}

/// A run that came to its end.
pub struct Finished {
    /// Its record.
    pub record: RunRecord,
    /// Where it is.
    pub directory: PathBuf,
}

/// Something that is wrong with a plan, and the line it stands on.
#[derive(Debug)]
pub struct Located {
    /// The line, from 1.
    pub line: usize,
    /// What.
    pub diagnostic: Diagnostic,
}

/// Reads a plan that can be run.
fn loaded(text: &str) -> Result<Plan, RunError> {
    assay_plan::load(text).map_err(|found| {
        let plan = assay_plan::parse(text);
        let located =
            |diagnostic: Diagnostic| Located { line: plan.line(diagnostic.span.start), diagnostic };
        RunError::Plan(found.into_iter().map(located).collect())
    })
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The plan has errors: nothing is run that nobody could judge.
    #[error("the plan has errors; `assay plan lint` shows them")]
    Plan(Vec<Located>),
    /// No such scenario.
    #[error("the plan has no scenario `{0}`; it has {1}")]
    NoScenario(String, String),
    /// A file cannot be written or read.
    #[error("{0}: {1}")]
    File(PathBuf, io::Error),
    /// A file of the run is not what was once written.
    #[error("{0}: {1}")]
    Broken(PathBuf, String),
    /// The run is going on: somebody else does it.
    #[error("{0}: the run is still going on; wait for it, or stop it")]
    Busy(PathBuf),
    /// Somebody stopped it.
    #[error("interrupted; assay run --resume {} goes on", .0.display())]
    Interrupted(PathBuf),
    /// The record contradicts itself: a bug.
    #[error("the record cannot be reported, which is a bug in Assay: {0}")]
    Refused(String),
}

/// What was found out before the first scenario; a resumed run keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Surveyed {
    toolbox: Toolbox,
    environment: Vec<Requirement>,
}

/// Begins a run in a directory of its own.
pub fn begin(
    root: &Path,
    asked: &Asked,
    plan_text: &str,
    host: &Host<'_>,
) -> Result<Finished, RunError> {
    let plan = loaded(plan_text)?;
    known_scenarios(&plan, &asked.only)?;
    let directory = RunDirectory::create(root, asked, plan_text).map_err(at(root))?;
    Run { plan: &plan, asked, directory: &directory, host, resumed: false }.go()
}

/// Takes up a run that was interrupted.
pub fn resume(root: &Path, host: &Host<'_>) -> Result<Finished, RunError> {
    let (directory, asked, text) = RunDirectory::open(root).map_err(at(root))?;
    let plan = loaded(&text)?;
    Run { plan: &plan, asked: &asked, directory: &directory, host, resumed: true }.go()
}

fn at(path: &Path) -> impl Fn(io::Error) -> RunError + '_ {
    move |error| match error.kind() {
        io::ErrorKind::ResourceBusy => RunError::Busy(path.to_path_buf()),
        io::ErrorKind::InvalidData => RunError::Broken(path.to_path_buf(), error.to_string()),
        _ => RunError::File(path.to_path_buf(), error),
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

fn known_scenarios(plan: &Plan, only: &[String]) -> Result<(), RunError> {
    let known: Vec<String> = plan.scenarios.iter().map(|s| s.id.to_string()).collect();
    match only.iter().find(|id| !known.contains(id)) {
        None => Ok(()),
        Some(unknown) => Err(RunError::NoScenario(unknown.clone(), known.join(", "))),
    }
}

struct Run<'r> {
    plan: &'r Plan,
    asked: &'r Asked,
    directory: &'r RunDirectory,
    host: &'r Host<'r>,
    resumed: bool,
}

impl Run<'_> {
    fn go(&self) -> Result<Finished, RunError> {
        let begun = Instant::now();
        let path = self.directory.events();
        let events = Events::open(&path, self.host.watcher).map_err(at(&path))?;
        let course = self.course();
        events.emit(&RunEvent::RunStarted {
            plan: self.asked.plan.clone(),
            directory: self.directory.root().display().to_string(),
            trials_planned: self.planned(),
            trials: course.place().of,
            workload_ms: course.place().later_ms,
            resumed: self.resumed,
        });
        self.heal(&events);
        events.begin(Phase::Surveying, None);
        let surveyed = self.survey(&events)?;
        let timeline = Mutex::new(Vec::new());
        let scenarios = self.scenarios(&events, &surveyed, (&timeline, &course))?;
        let mut timeline = timeline.into_inner().expect("nobody panicked");
        timeline.sort_by(|a: &TimelineEntry, b| a.at.cmp(&b.at));
        if let Some(what) = record::never_before(&surveyed.toolbox, &mut timeline) {
            events.emit(&RunEvent::Noticed { what });
        }
        let material = Material {
            plan: self.plan,
            asked: self.asked,
            directory: absolute(self.directory.root()).display().to_string(),
            toolbox: surveyed.toolbox,
            environment: surveyed.environment,
            timeline,
            scenarios,
        };
        events.begin(Phase::Reporting, None);
        let record = record::of(&material);
        self.report(&material, &record)?;
        let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        events.emit(&RunEvent::RunEnded { verdict: record.verdict, took_ms });
        Ok(Finished { record, directory: self.directory.root().to_path_buf() })
    }

    fn wanted(&self, id: &str) -> bool {
        self.asked.only.is_empty() || self.asked.only.iter().any(|only| only == id)
    }

    fn planned(&self) -> Vec<String> {
        let all = self.plan.scenarios.iter().map(|scenario| scenario.id.to_string());
        all.filter(|id| self.wanted(id)).collect()
    }

    /// The trials of everything that is wanted.
    fn course(&self) -> Course {
        let scenarios = self.plan.scenarios.iter();
        let wanted = scenarios.filter(|scenario| self.wanted(&scenario.id.to_string()));
        let arms = wanted.flat_map(trials);
        Course::of(arms.flat_map(|(arm, machine)| planned(self.asked, &arm, &machine)).collect())
    }

    /// What a killed run has left behind in this directory is undone first.
    fn heal(&self, events: &Events<'_>) {
        for line in crate::heal::heal_run(self.directory) {
            events.emit(&RunEvent::Healed { what: line });
        }
    }

    fn survey(&self, events: &Events<'_>) -> Result<Surveyed, RunError> {
        let path = self.directory.root().join("survey.json");
        let surveyed = match read_json(&path).map_err(at(&path))? {
            Some(surveyed) => surveyed,
            None => {
                let tools = environment::toolbox(environment::root_of(&self.asked.project));
                let discovered_at = Some(record::utc(&crate::time::utc_now()));
                let rows = self.plan.environment.iter();
                let probed = rows.map(|row| {
                    let (text, floor) = (&row.requirement.text, &row.floor.text);
                    environment::requirement(text, floor, &self.asked.have)
                });
                let scenarios = self.plan.scenarios.iter();
                let wanted = scenarios.filter(|scenario| self.wanted(&scenario.id.to_string()));
                let machines = wanted.flat_map(trials);
                let means = environment::Means::of(machines.map(|(_, machine)| machine));
                let directory = self.directory.root();
                let environment =
                    probed.chain(environment::of_every_run(&means, directory)).collect();
                let surveyed = Surveyed { toolbox: Toolbox { discovered_at, tools }, environment };
                write_json(&path, &surveyed).map_err(at(&path))?;
                surveyed
            }
        };
        events.emit(&RunEvent::ToolboxDiscovered { tools: surveyed.toolbox.tools.len() });
        let missing = surveyed
            .environment
            .iter()
            .filter(|row| row.presence == assay_report::run::Presence::Missing);
        let missing = missing.map(|row| row.requirement.clone()).collect();
        events.emit(&RunEvent::EnvironmentProbed { missing });
        Ok(surveyed)
    }

    fn scenarios(
        &self,
        events: &Events<'_>,
        surveyed: &Surveyed,
        (timeline, course): (&Mutex<Vec<TimelineEntry>>, &Course),
    ) -> Result<Vec<ScenarioEnd>, RunError> {
        let workshop = Workshop {
            directory: self.directory,
            asked: self.asked,
            events,
            interrupted: self.host.interrupted,
            executable: self.host.executable,
            beside: self.asked.project.clone(),
            timeline,
            course,
        };
        let mut ends = Vec::new();
        for scenario in &self.plan.scenarios {
            let id = scenario.id.to_string();
            let missing = missing_for(self.plan, &id, &surveyed.environment);
            let name = scenario.name.text.clone();
            if self.wanted(&id) {
                events.emit(&RunEvent::ScenarioStarted { scenario: id.clone(), name });
            }
            let mut arms = Vec::new();
            for (arm, machine) in trials(scenario) {
                let end = self.arm(&workshop, scenario, &arm, &machine, &missing)?;
                course.leave(&arm);
                arms.push((arm, machine, end));
            }
            count_surfaces(scenario.arms.len(), &mut arms);
            let end = ScenarioEnd { id: id.clone(), arms };
            if self.wanted(&id) {
                self.tell_end(events, &end);
            }
            ends.push(end);
        }
        Ok(ends)
    }

    fn arm(
        &self,
        workshop: &Workshop<'_>,
        scenario: &assay_plan::plan::Scenario,
        arm: &str,
        machine: &Machine,
        missing: &[String],
    ) -> Result<ArmEnd, RunError> {
        let id = scenario.id.to_string();
        if !self.wanted(&id) {
            return Ok(ArmEnd::NotAttempted(format!(
                "only {} was asked for",
                self.asked.only.join(", ")
            )));
        }
        if !missing.is_empty() {
            return Ok(ArmEnd::Missing(missing.to_vec(), Operator::Told));
        }
        if machine.system.is_none() {
            return Ok(ArmEnd::NotAttempted(
                "it has no machine block that says what to run".into(),
            ));
        }
        let categories = self.categories(scenario);
        // A claim about surfaces is as serious as one about data, split into arms or not.
        let serious = |category: &Category| category.is_gated() || category.has_surfaces();
        let job = ArmJob {
            id: arm,
            machine,
            rigour: match categories.iter().any(serious) || !scenario.arms.is_empty() {
                true => Rigour::Serious,
                false => Rigour::NotSerious,
            },
            any_size: scenario.falsifies.iter().any(|claim| self.is_about_any_size(&claim.id)),
            categories: &categories,
        };
        workshop.run(&job).map_err(|error| match error {
            TrialError::Interrupted => RunError::Interrupted(self.directory.root().to_path_buf()),
            TrialError::Broken(path, why) => {
                let what = "move its directory away, and the trial is run again";
                RunError::Broken(path, format!("{why}; {what}"))
            }
            other => RunError::Refused(other.to_string()),
        })
    }

    fn claim(&self, id: &assay_plan::ids::Id) -> Option<&assay_plan::plan::Claim> {
        self.plan.claims.iter().find(|claim| claim.id == *id)
    }

    /// What the claims of a scenario are about.
    fn categories(&self, scenario: &assay_plan::plan::Scenario) -> Vec<Category> {
        let claims = scenario.falsifies.iter().filter_map(|claim| self.claim(&claim.id));
        claims.filter_map(|claim| claim.category.value).collect()
    }

    fn is_about_any_size(&self, id: &assay_plan::ids::Id) -> bool {
        let words = ["any number of nodes", "any quorum", "any cluster size", "any size"];
        let text = self.claim(id).map_or(String::new(), |claim| claim.claim.text.to_lowercase());
        words.iter().any(|phrase| text.contains(phrase))
    }

    fn tell_end(&self, events: &Events<'_>, end: &ScenarioEnd) {
        let scenario = record::scenario(self.plan, end);
        let verdict = scenario.verdict;
        let judged = scenario.arms.iter().map(|arm| assay_verdict::judge(&arm.facts).sentence);
        let sentence = judged.collect::<Vec<_>>().join(" ");
        events.emit(&RunEvent::ScenarioEnded { scenario: end.id.clone(), verdict, sentence });
    }

    fn report(&self, material: &Material<'_>, record: &RunRecord) -> Result<(), RunError> {
        let root = self.directory.root();
        let documents = assay_report::run::render(record)
            .map_err(|refusals| RunError::Refused(refusals.to_string()))?;
        for document in documents {
            self.directory.write(&document.path, document.text.as_bytes()).map_err(at(root))?;
        }
        let view = crate::page::view(material, record, self.directory);
        let page = assay_report::run::page(&view)
            .map_err(|refusals| RunError::Refused(refusals.to_string()))?;
        self.directory.write("report.html", page.as_bytes()).map_err(at(root))?;
        for (name, spec) in reproducers(material) {
            let text = serde_json::to_vec_pretty(&spec).expect("a spec is JSON");
            self.directory.write(&name, &text).map_err(at(root))?;
        }
        // Last: a run with results has everything else.
        write_json(&root.join("results.json"), record).map_err(at(root))
    }
}

/// Tells every arm that ran how many of the declared ones did.
fn count_surfaces(declared: usize, arms: &mut [(String, Machine, ArmEnd)]) {
    if declared == 0 {
        return;
    }
    let ran = arms.iter().filter(|(_, _, end)| matches!(end, ArmEnd::Ran(_))).count();
    for (_, _, end) in arms {
        if let ArmEnd::Ran(run) = end {
            run.facts.set_surfaces(declared as u64, ran as u64);
        }
    }
}

/// The arms of a scenario with their blocks; a scenario without any is an arm without one.
fn trials(scenario: &assay_plan::plan::Scenario) -> Vec<(String, Machine)> {
    let all = scenario.trials();
    if all.is_empty() {
        return vec![(scenario.id.to_string(), Machine::default())];
    }
    all.into_iter().map(|(id, machine)| (id.to_string(), machine)).collect()
}

/// The smallest trials that show each finding, by file name; numbered as the findings are.
fn reproducers(material: &Material<'_>) -> Vec<(String, crate::spec::TrialSpec)> {
    let arms = material.scenarios.iter().flat_map(|scenario| &scenario.arms);
    let found = arms.filter_map(|(_, _, end)| match end {
        ArmEnd::Ran(run) => run.investigation.as_ref(),
        _ => None,
    });
    let named = found.enumerate();
    named
        .map(|(n, found)| (format!("findings/F{}.repro.json", n + 1), found.smallest.clone()))
        .collect()
}

//! `assay heal`, after a run that was killed.

use super::{json, run, scratch};
use assay_nemesis::{
    Action, Fault, FaultId, Injector, Journal, Process, ProcessState, Victim, Window,
};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// A process that is stopped, and gone when the test ends.
struct Frozen(Child);

impl Frozen {
    fn start() -> Frozen {
        let child = Command::new("sleep").arg("600").spawn().expect("sleep can be started");
        let frozen = Frozen(child);
        frozen.process().pause().expect("it can be stopped");
        frozen
    }

    fn process(&self) -> Process {
        Process::of(self.0.id()).expect("it has not been reaped")
    }

    fn state(&self) -> ProcessState {
        self.process().state().expect("readable")
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        let _gone_already = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// The journal of a run that was killed after it had stopped this process.
fn killed_run(directory: &Path, frozen: &Frozen) -> PathBuf {
    let run = directory.join("2026-11-16").join("run-1");
    std::fs::create_dir_all(&run).expect("a directory");
    let path = run.join("nemesis.jsonl");
    drop(Journal::open(&path).expect("a journal"));
    let Process { pid, start_ticks } = frozen.process();
    let mut text = std::fs::read_to_string(&path).expect("a journal");
    text += &format!(
        "{{\"event\":\"inject\",\"fault\":1,\"id\":\"pause\",\"target\":\"n1\",\"at_unix_ms\":1,\
         \"undo\":[{{\"do\":\"resume\",\"pid\":{pid},\"start_ticks\":{start_ticks}}}]}}\n\
         {{\"event\":\"inject\",\"fault\":2,\"id\":\"pa"
    );
    std::fs::write(&path, text).expect("a journal");
    path
}

#[test]
fn what_a_killed_run_has_stopped_runs_again() {
    let directory = scratch();
    let frozen = Frozen::start();
    killed_run(directory.path(), &frozen);
    let place = directory.path().display().to_string();
    let first = run(&["heal", &place]);
    assert_eq!(first.code, 0, "{}{}", first.out, first.err);
    assert_eq!(frozen.state(), ProcessState::Alive);
    let resumed = format!("  process {}: resumed\n", frozen.0.id());
    assert!(first.out.contains(&resumed), "{}", first.out);
    let last = "HEALED  1 faults and 0 processes of killed runs, 1 journals looked at\n";
    assert!(first.out.ends_with(last), "{}", first.out);
    let second = run(&["heal", &place]);
    assert_eq!(second.code, 0);
    assert!(second.out.starts_with("NOTHING TO HEAL"), "{}", second.out);
}

#[test]
fn programs_are_told_in_json_what_was_undone() {
    let directory = scratch();
    let frozen = Frozen::start();
    let journal = killed_run(directory.path(), &frozen);
    let place = directory.path().display().to_string();
    let report = json(&run(&["heal", &place, "--format", "json"]));
    assert_eq!(report["journal"], journal.display().to_string());
    assert_eq!(report["whole"], true);
    assert_eq!(report["faults"][0]["id"], "pause");
    let pid = frozen.0.id();
    assert_eq!(report["faults"][0]["undone"][0], format!("process {pid}: resumed"));
}

#[test]
fn a_run_that_is_going_on_is_left_alone() {
    let directory = scratch();
    let frozen = Frozen::start();
    let injector = Injector::new(&directory.path().join("nemesis.jsonl"), None).expect("a journal");
    let id = FaultId::named("pause").expect("an id of the catalogue");
    let action = Action::Pause(vec![frozen.process()]);
    let fault = Fault { id, target: "n1".to_string(), window: Window::default(), action };
    let guard = injector.inject(fault, Victim::unasked()).expect("on");
    let busy = run(&["heal", &directory.path().display().to_string()]);
    assert_eq!(busy.code, 75, "{}{}", busy.out, busy.err);
    assert!(busy.err.contains("still going on"), "{}", busy.err);
    assert_eq!(frozen.state(), ProcessState::Stopped);
    drop(guard);
}

#[test]
fn journals_that_cannot_be_read_are_named_by_line() {
    let directory = scratch();
    let frozen = Frozen::start();
    let journal = killed_run(directory.path(), &frozen);
    let text = std::fs::read_to_string(&journal).expect("a journal");
    std::fs::write(&journal, format!("nonsense\n{text}")).expect("a journal");
    let healed = run(&["heal", &directory.path().display().to_string()]);
    assert_eq!(healed.code, 65, "{}{}", healed.out, healed.err);
    assert!(healed.err.contains("nemesis.jsonl:1: "), "{}", healed.err);
    assert_eq!(frozen.state(), ProcessState::Alive, "the others are healed nevertheless");
    assert_eq!(run(&["heal", "/no/such/directory"]).code, 69);
}

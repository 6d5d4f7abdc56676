//! Small plans, runs that never outlive their test, and what is left of them.

use assay_nemesis::{Process, ProcessState};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long anything may take before a test calls it broken. Far above what is seen, because the
/// machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// The longest a run may take to end when it is asked to: a call that is under way, the grace of
/// the nodes, and much more.
const END_TIME_MAX: Duration = Duration::from_secs(30);
/// In the environment of every process of a run: its directory. Whoever looks for what is left of
/// it need not ask Assay.
pub const MARK: &str = "ASSAY_TEST_RUN";
/// How often to look.
const LOOK_STEP: Duration = Duration::from_millis(20);

/// The plan of the demonstration.
const DEMO: &str = include_str!("../../../../examples/plans/demo.md");
/// What makes a plan of a single scenario of it, as short as it can be: a leader without an
/// election takes up to 1.6 s to be missed.
const SHORTER: [(&str, &str); 8] = [
    ("**Closes:** H1, H3", "**Closes:** H1, H2, H3"),
    ("| S1, S2 |", "| S1 |"),
    ("S1 (a), S2 (b), S1 (c)", "S1 (a), S1 (b), S1 (c)"),
    ("rate = 200", "rate = 100"),
    ("at = \"1s..1500ms\"\nfor = \"2s\"\nevery = \"5s\"", ISOLATED),
    ("at = \"4s\"\nfor = \"1500ms\"\nevery = \"6s\"", DEAF),
    // A number that moves whether or not clients are at work.
    ("\"timeouts >= 1 within 5s\"", "'metric(\"peer-timeouts\") >= 1 within 5s'"),
    ("duration = \"4s\"", "duration = \"3s\""),
];
const ISOLATED: &str = "at = \"800ms\"\nfor = \"2s\"\nevery = \"3200ms\"";
const DEAF: &str = "at = \"3s\"\nfor = \"800ms\"\nevery = \"9s\"";

/// A plan with one scenario, S1, in which leaders are cut off.
pub fn cut_off_plan() -> String {
    let from = DEMO.find("### Scenario S2").expect("the demonstration has two scenarios");
    let to = DEMO.find("## 7b.").expect("and what comes after them");
    let one = format!("{}{}", &DEMO[..from], &DEMO[to..]);
    let shorter = SHORTER.iter().fold(one, |text, (from, to)| replaced(&text, from, to));
    replaced(&shorter, "duration = \"9s\"", "duration = \"6s\"")
}

/// The same with followers that are stopped and resumed, which takes less time.
pub fn pause_plan() -> String {
    let plan = cut_off_plan();
    let from = plan.find("[[nemesis]]").expect("faults");
    let to = plan.find("[model]").expect("and what comes after them");
    let pauses = "[[nemesis]]\nfault = \"pause\"\ntarget = \"follower\"\nat = \"800ms\"\n\
                  for = \"1500ms\"\nevery = \"1700ms\"\nlanding = { injector = \"stopped >= 1\", \
                  victim = \"heartbeat-gap >= 500ms within 3s\" }\n\n";
    let plan = format!("{}{pauses}{}", &plan[..from], &plan[to..]);
    let plan = replaced(&plan, "duration = \"3s\"", "duration = \"2500ms\"");
    let plan = replaced(&plan, "duration = \"6s\"", "duration = \"4s\"");
    replaced(&plan, "faults = 3", "faults = 2")
}

/// A text with something replaced that must be in it.
#[track_caller]
pub fn replaced(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "there is no `{from}` to be replaced in\n{text}");
    text.replace(from, to)
}

/// The root of the repository.
pub fn repository() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository is there")
}

/// A directory of a test's own.
pub fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory can be made")
}

/// Writes a file, and gives its path.
pub fn write(directory: &Path, name: &str, content: &str) -> PathBuf {
    let path = directory.join(name);
    std::fs::create_dir_all(path.parent().expect("it is in a directory")).expect("made");
    std::fs::write(&path, content).expect("a temporary file can be written");
    path
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ended {
    /// What a program was told.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

pub fn assay(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(args).env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    command.env_remove("GITHUB_STEP_SUMMARY");
    command
}

/// Runs to the end.
pub fn run(args: &[&str]) -> Ended {
    let output = assay(args).output().expect("assay runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    Ended { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("a path of a test is UTF-8")
}

/// Waits until `what` gives something, and says what was waited for if it never does.
#[track_caller]
pub fn wait_for<T>(wish: &str, time_max: Duration, mut what: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = what() {
            return found;
        }
        assert!(start.elapsed() < time_max, "waited {time_max:?} in vain for: {wish}");
        std::thread::park_timeout(LOOK_STEP);
    }
}

/// An `assay run` that goes on while the test looks.
pub struct Running {
    child: Child,
    pub directory: PathBuf,
}

impl Running {
    /// Starts a run of this plan in a directory of its own.
    pub fn start(scratch: &Path, plan: &str) -> Running {
        Running::of(scratch, &write(scratch, "plan.md", plan), &[])
    }

    /// The same of a plan that lies there already.
    pub fn of(scratch: &Path, plan: &Path, options: &[&str]) -> Running {
        let directory = scratch.join("run");
        // Whoever runs these tests may have been told to outlive a terminal.
        let mut command = Command::new("env");
        command.args(["--default-signal=HUP", env!("CARGO_BIN_EXE_assay")]);
        command.args(["run", text(plan), "--directory", text(&directory)]);
        Running::by(command.args(options), directory)
    }

    /// The same of a smoke run that is told to outlive its terminal, as `nohup` does.
    pub fn without_hangups(scratch: &Path, plan: &str) -> Running {
        let (plan, directory) = (write(scratch, "plan.md", plan), scratch.join("run"));
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_assay")]);
        command.args(["run", text(&plan), "--tier", "smoke", "--directory", text(&directory)]);
        Running::by(&mut command, directory)
    }

    fn by(command: &mut Command, directory: PathBuf) -> Running {
        let child = command
            .env(MARK, &directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("assay runs");
        Running { child, directory }
    }

    /// Waits until a fault is on: entered in the journal, and counted by its injector. A line of
    /// the journal alone is written before the deed. False: the run ended first.
    pub fn until_a_fault(&mut self, fault: &str) -> bool {
        let journal = self.directory.join("artifacts/S1/smoke-seed-1/nemesis.jsonl");
        let (injected, id) = (format!("\"id\":\"{fault}\""), format!("{fault}-1"));
        wait_for("a fault", PATIENCE, || {
            let announced = std::fs::read_to_string(&journal).unwrap_or_default();
            let is_in = announced.lines().any(|l| l.contains("inject") && l.contains(&injected));
            let is_on = is_in && events(&self.directory).iter().any(|event| counted(event, &id));
            let ended = self.child.try_wait().expect("a child").is_some();
            (is_on || ended).then_some(is_on)
        })
    }

    /// Waits until a fault is on in the second trial: entered in the journal, counted by its
    /// injector, and of one that stops a process, felt.
    pub fn until_a_later_fault(&mut self, fault: &str) {
        let opened = format!("{fault}-1");
        let journal = self.directory.join("artifacts/S1/hardening-seed-1/nemesis.jsonl");
        wait_for("a fault in the second trial", PATIENCE, || {
            let ended = self.child.try_wait().expect("a child");
            assert!(ended.is_none(), "the run ended: {ended:?}");
            let events = events(&self.directory);
            let finished = events.iter().position(|event| event["event"] == "trial-ended")?;
            events[finished..].iter().find(|event| counted(event, &opened))?;
            let announced = std::fs::read_to_string(&journal).ok()?;
            announced.contains("\"event\":\"inject\"").then_some(())?;
            let stops = fault == "pause";
            (!stops || in_state(&self.directory, ProcessState::Stopped) == 1).then_some(())
        });
    }

    /// Sends a signal to it alone.
    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).expect("it has not been waited for");
    }

    /// Waits until nothing that was sent to it is pending: two signals of a kind that come at once
    /// are one.
    pub fn until_heard(&self) {
        let path = format!("/proc/{}/status", self.child.id());
        wait_for("a signal that is heard", PATIENCE, || {
            let status = std::fs::read_to_string(&path).ok()?;
            let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:"))?;
            (u64::from_str_radix(pending.trim(), 16) == Ok(0)).then_some(())
        });
    }

    /// How it ended; `None`: by a signal.
    pub fn end(&mut self) -> Option<i32> {
        wait_for("the end of the run", END_TIME_MAX, || self.child.try_wait().expect("a child"))
            .code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _dead_already = self.child.kill().and_then(|()| self.child.wait());
        // Whatever the test found: its nodes end with it.
        let _healed = run(&["heal", text(&self.directory)]);
    }
}

/// Whether an event says that the injector's counter of this fault has moved.
fn counted(event: &Value, id: &str) -> bool {
    event["event"] == "fault-counted" && event["id"] == id
}

/// The events of a run so far. A last line may be half written.
pub fn events(directory: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(directory.join("events.jsonl")).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// All processes that were ever started for a run, by pid and start.
pub fn processes(directory: &Path) -> Vec<Process> {
    let mut found = Vec::new();
    for arm in entries(&directory.join("artifacts")) {
        for trial in entries(&arm) {
            let list = std::fs::read_to_string(trial.join(assay_sut::PROCESSES_NAME));
            let list = list.unwrap_or_default();
            for line in list.lines().filter(|line| line.contains("\"started\"")) {
                let entry: Value = serde_json::from_str(line).expect("a whole line");
                let number = |name: &str| entry[name].as_u64().expect("a number");
                let pid = u32::try_from(number("pid")).expect("a process id");
                found.push(Process { pid, start_ticks: number("start_ticks") });
            }
        }
    }
    found
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let Ok(all) = std::fs::read_dir(directory) else { return Vec::new() };
    all.map(|entry| entry.expect("readable").path()).collect()
}

/// How many processes of a run are in this state now.
pub fn in_state(directory: &Path, state: ProcessState) -> usize {
    let is = |process: &&Process| process.state().expect("readable") == state;
    processes(directory).iter().filter(is).count()
}

/// Every process that the run has started is gone; a stopped one is not.
#[track_caller]
pub fn nothing_is_left_of(directory: &Path) {
    let all = processes(directory);
    assert!(!all.is_empty(), "the run has started nothing");
    assert_eq!(in_state(directory, ProcessState::Gone), all.len(), "{all:?}");
}

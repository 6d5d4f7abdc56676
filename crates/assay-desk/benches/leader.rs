//! What the Leader itself costs: `make bench`.
//!
//! An iteration without the time of agents and tests: working trees, git, checks, and events made
//! durable. Agents and commands are answered at once, by this program; everything else is real. And
//! how long it takes to go on with a campaign of ten thousand events.

use assay_desk::artifact::{Artifact, Signal, Status};
use assay_desk::contract::{self, Contract};
use assay_desk::event::{Dispatch, Event, Outcome, Returned, Revision, Role, Scope};
use assay_desk::shell::{
    Campaign, Desk, Engines, EnginesError, Executed, Execution, Leader, Order, Ran, Recorded,
    Screen, Seen,
};
use assay_desk::state::State;
use assay_ledger::{Ledger, NewEvent, UnixMillis};
use std::cell::Cell;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const EVENTS: usize = 10_000;
const ROUNDS: u32 = 20;
/// What an iteration may cost, and what opening a campaign again, in milliseconds.
const ITERATION_AIM_MS: f64 = 50.0;
const OPEN_AIM_MS: f64 = 100.0;

/// Answers for agents and commands, and notes how long that took.
#[derive(Default)]
struct Answers {
    spent: Cell<Duration>,
    /// How many stories have been begun: there are no tests of later ones yet.
    stories: Cell<usize>,
}

impl Engines for Answers {
    fn check(&self, _: &Contract) -> Result<(), EnginesError> {
        Ok(())
    }

    fn protection(&self) -> String {
        "none".to_string()
    }

    fn confined(&self) -> bool {
        true
    }

    fn run(&self, order: &Order<'_>, _: &mut dyn FnMut(Seen<'_>)) -> Ran {
        let begun = Instant::now();
        let get = |name: &str| {
            let found = order.variables.iter().find(|(other, _)| *other == name);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let (nonce, story, role) = (get("nonce"), get("story"), get("role"));
        if role == "worker" {
            let number: usize =
                story.trim_start_matches("US-").parse().expect("stories have numbers");
            self.stories.set(self.stories.get().max(number));
            // Names of tests stand in a test file.
            let (file, test) = (story.to_lowercase(), format!("t/{}", story.to_lowercase()));
            std::fs::write(order.work.join(file), format!("{nonce}\n")).expect("a file");
            let names = format!("a{number} b{number} c{number}\n");
            std::fs::write(order.work.join(test), names).expect("a file");
            git(order.work, &["add", "-A"]);
            git(order.work, &["commit", "-qm", "work"]);
            let head = git(order.work, &["rev-parse", "HEAD"]);
            let text = format!(
                "{{\"nonce\":\"{nonce}\",\"story\":\"{story}\",\"status\":\"verify\",\"commit\":\
                 \"{}\"}}",
                head.trim()
            );
            std::fs::write(order.drop_box.join("signal.json"), text).expect("a file");
        } else {
            let text = serde_json::json!({
                "nonce": nonce, "story": story,
                "criteria": [{"criterion": format!("{story}/AC-1"), "met": true,
                              "evidence": [{"command": ["t"], "exit_code": 0}]}],
            });
            std::fs::write(order.drop_box.join("verdict.json"), text.to_string()).expect("a file");
        }
        self.spent.set(self.spent.get() + begun.elapsed());
        let (outcome, protection) = (Outcome::Exited(0), "none".to_string());
        Ran {
            outcome,
            ms: 0,
            tokens: 0,
            protection,
            confined: false,
            is_over: true,
            output: Vec::new(),
        }
    }

    fn execute(&self, execution: &Execution<'_>) -> Executed {
        let exit = Some(if execution.argv.len() > 1 { 2 } else { 0 });
        let mut stdout = String::new();
        for story in 1..=self.stories.get() {
            let red = !execution.work.join(format!("us-{story:03}")).exists();
            let word = if red { "not ok" } else { "ok" };
            for test in ["a", "b", "c"] {
                stdout.push_str(&format!("{word} - {test}{story}\n"));
            }
        }
        Executed { exit, ms: 0, stdout: stdout.into_bytes(), stderr: Vec::new(), confined: false }
    }
}

struct Silent;

impl Screen for Silent {
    fn recorded(&mut self, _: &Recorded, _: &State) {}
    fn activity(&mut self, _: &str) {}
    fn waits(&mut self, _: &str) {}
}

const CONTRACT: &str = r#"# Contract: small

## Objective
Some numbers.

## Campaign
```toml
tests = ["t/**"]
final_verifier = false
[suite]
run = ["t", "all"]
exit = 2
results = "tap"
[agents]
worker = ["w"]
verifier = "v"
[limits]
iterations = 100000
```
"#;

const STORY: &str = r#"
### US-NUM: A number
- AC-1
  - Given a reader
  - When the reader asks
  - Then it is 1

```toml
risk = "LOW"
paths = ["us-NUM", "t/us-NUM"]
tests = [
  { criterion = "AC-1", name = "aIDX", category = "happy" },
  { criterion = "AC-1", name = "bIDX", category = "negative" },
  { criterion = "AC-1", name = "cIDX", category = "boundary" },
]
[layers.L1]
commands = [{ run = ["t"], results = "tap" }]
[layers.L3]
commands = [{ run = ["t"] }, { run = ["t", "x"], exit = 2 }]
```
"#;

/// A contract of so many stories.
fn contract_of(stories: usize) -> String {
    let story = |n: usize| STORY.replace("NUM", &format!("{n:03}")).replace("IDX", &n.to_string());
    (1..=stories).fold(CONTRACT.to_string(), |text, n| text + &story(n))
}

fn git(directory: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=b", "-c", "user.email=b@localhost"]).args(args);
    let output = command.current_dir(directory).output().expect("git runs");
    assert!(output.status.success(), "git {args:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn desk(home: &Path, source: &str) -> Desk {
    std::fs::write(home.join("n0"), "0\n").expect("a file");
    std::fs::create_dir(home.join("t")).expect("a directory");
    std::fs::write(home.join("t/begin"), "\n").expect("a file");
    git(home, &["init", "-q"]);
    git(home, &["add", "-A"]);
    git(home, &["commit", "-qm", "Begin"]);
    let desk = Desk::find(home, "small").expect("a desk");
    desk.make().expect("a desk");
    std::fs::write(desk.contract(), source).expect("a contract");
    desk
}

fn begin(leader: &mut Leader<'_>, source: &str, base: Revision) {
    let contract = contract::read(source).expect("a contract");
    leader.begin(contract, source, Vec::new(), base).expect("it begins");
}

/// A campaign from contract to the end: what the Leader needed for it, and how many events it is.
fn campaign(stories: usize) -> (Duration, usize) {
    let home = tempfile::tempdir().expect("a directory");
    let source = contract_of(stories);
    let desk = desk(home.path(), &source);
    let engines = Answers::default();
    let mut screen = Silent;
    let campaign = Campaign::open(&desk).expect("a campaign");
    let mut leader = Leader::new(&desk, campaign, &engines, &mut screen);
    let base = desk.git.revision("HEAD").expect("a commit");
    let begun = Instant::now();
    begin(&mut leader, &source, base);
    let pause = leader.lead().expect("it ends");
    let own = begun.elapsed().saturating_sub(engines.spent.get());
    assert!(format!("{pause:?}").contains("Complete"), "{pause:?}");
    (own, leader.events().len())
}

/// What the machine itself asks for a durable write and for a process of git.
fn physical() -> (f64, f64) {
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("file");
    let begun = Instant::now();
    for _ in 0..ROUNDS {
        std::fs::write(&path, "x").expect("a file");
        std::fs::File::open(&path).and_then(|file| file.sync_all()).expect("it is durable");
    }
    let write = begun.elapsed().as_secs_f64() * 1e3 / f64::from(ROUNDS);
    git(home.path(), &["init", "-q"]);
    let begun = Instant::now();
    for _ in 0..ROUNDS {
        git(home.path(), &["rev-parse", "--git-dir"]);
    }
    (write, begun.elapsed().as_secs_f64() * 1e3 / f64::from(ROUNDS))
}

fn iteration() {
    let (few, many) = (1, 6);
    let ((short, _), (long, events)) = (campaign(few), campaign(many));
    let each = long.saturating_sub(short).as_secs_f64() * 1e3 / (many - few) as f64;
    let (write, process) = physical();
    println!(
        "leader: {each:.1} ms an iteration without agents and tests ({many} stories, {events} \
         events, {:.1} ms in all; here a durable write takes {write:.2} ms and a process of git \
         {process:.2} ms); aim {ITERATION_AIM_MS} ms {}",
        long.as_secs_f64() * 1e3,
        met(each, ITERATION_AIM_MS)
    );
}

fn met(took: f64, aim: f64) -> &'static str {
    if took <= aim { "met" } else { "MISSED" }
}

/// Workers that go on and on: the events of a long campaign, as they are written down.
fn events(base: &Revision) -> Vec<Event> {
    let mut all = Vec::new();
    let mut at = base.clone();
    for run in 1..=(EVENTS / 2) as u32 {
        let nonce = format!("{run:032x}");
        let claim = Revision { commit: format!("{run:040x}"), tree: format!("{run:040x}") };
        let (role, scope) = (Role::Worker, Scope::Story("US-001".to_string()));
        let (engine, prompt) = ("w".to_string(), "0".repeat(64));
        let iteration = run;
        all.push(Event::Dispatched(Dispatch {
            run,
            iteration,
            role,
            scope,
            engine,
            nonce: nonce.clone(),
            at,
            prompt,
        }));
        let signal = Signal {
            nonce,
            story: "US-001".to_string(),
            status: Status::Continue,
            commit: Some(claim.commit.clone()),
            resolves: Vec::new(),
            tests: Vec::new(),
            reason: None,
            notes: None,
        };
        all.push(Event::Returned(Box::new(Returned {
            run,
            outcome: Outcome::Exited(0),
            artifact: Artifact::Signal(signal),
            claim: Some(claim.clone()),
            tampered: Vec::new(),
            elsewhere: Vec::new(),
            void: None,
            output: "0".repeat(64),
            ms: 1,
            tokens: 0,
            sandbox: "none".to_string(),
        })));
        at = claim;
    }
    all
}

fn resume() {
    let home = tempfile::tempdir().expect("a directory");
    let source = contract_of(1);
    let desk = desk(home.path(), &source);
    let base = desk.git.revision("HEAD").expect("a commit");
    {
        let engines = Answers::default();
        let mut screen = Silent;
        let campaign = Campaign::open(&desk).expect("a campaign");
        let mut leader = Leader::new(&desk, campaign, &engines, &mut screen);
        begin(&mut leader, &source, base.clone());
    }
    let mut ledger = Ledger::open(&desk.ledger()).expect("a ledger").ledger;
    for some in events(&base).chunks(500) {
        let new = some.iter().map(|event| NewEvent::new(event.kind(), event).expect("an event"));
        ledger.append_all(UnixMillis(0), new.collect()).expect("it is written");
    }
    drop(ledger);
    let mut times = Vec::new();
    let mut events = 0;
    for _ in 0..5 {
        let begun = Instant::now();
        events = Campaign::open(&desk).expect("a campaign").events.len();
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    println!(
        "leader: a campaign of {events} events is opened again in {:.1} ms; aim {OPEN_AIM_MS} ms \
         {}",
        times[2],
        met(times[2], OPEN_AIM_MS)
    );
}

fn main() {
    iteration();
    resume();
}

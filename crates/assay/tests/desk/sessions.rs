//! Runs that are sessions of `assay serve`: an honest campaign completes, a liar does not, and
//! neither a Leader nor a server that is killed has a run done twice.

use super::adapters::ACP_AGENT;
use super::server::Server;
use super::{AGENT, Bench, Ended, USUAL, Wish};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const WORK: &str = "work; commit; sign";
const JUDGE: &str = "verdict \"$good\"";
/// The variable that has the key of the server.
const KEY: &str = "SHOP_KEY";
const PATIENT: Wish = Wish { limits: "iterations = 3\nidle_seconds = 60", ..USUAL };
/// Between two looks at something that is to happen.
const A_MOMENT: Duration = Duration::from_millis(20);
/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A repository whose campaign is worked on by sessions of a server.
struct Served {
    bench: Bench,
    server: Server,
}

/// A question of a session.
struct Asked {
    session: String,
    calls: Vec<Value>,
}

/// What the script of a server does for a role: shell lines in the sandbox of the session, after a
/// file of this name is in the directory of holds.
fn turn(role: &str, lines: &str, hold: Option<&str>) -> String {
    let hold = hold.map(|name| format!("[[turn.steps]]\nhold = \"{name}\"\n")).unwrap_or_default();
    let commit = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a GIT_COMMITTER_NAME=a \
                  GIT_COMMITTER_EMAIL=a@a";
    format!(
        "[[turn]]\nwhen = \"You are the {role}\"\n{hold}[[turn.steps]]\ncall = \"bash\"\n\
         [turn.steps.input]\ncommand = '''\n{AGENT}{commit}\n{lines}\n'''\n[[turn.steps]]\nsay = \
         \"I am done: {{answer}}\"\n"
    )
}

impl Served {
    /// With what sessions do as a Worker and as a Verifier, and whether somebody is asked before.
    fn new(wish: Wish, worker: &str, verifier: &str, policy: &str) -> Served {
        let bench = Bench::new(wish, "", "");
        let script = bench.home().join("script.toml");
        std::fs::write(&script, format!("{worker}{verifier}")).expect("ours");
        let tools = json!([{"type": "agent_toolset_20260401",
            "configs": [{"name": "bash", "permission_policy": {"type": policy}}]}]);
        let agent = json!({"name": "a", "model": "scripted", "tools": tools});
        Served::of(bench, &["--script".into(), script.into()], &agent, &json!({"name": "e"}))
    }

    /// With an agent that is a program, and does what the desk's agent of these tests does.
    fn with_program() -> Served {
        let bench = Bench::new(PATIENT, WORK, JUDGE);
        bench.write(".assay/desk/small/acp.py", ACP_AGENT);
        let [program, agent] =
            ["acp.py", "agent.sh"].map(|name| bench.path(&format!(".assay/desk/small/{name}")));
        let engines = bench.home().join("engines.toml");
        let text = format!("[acp.helper]\ncommand = [\"python3\", \"{program}\", \"{agent}\"]\n");
        std::fs::write(&engines, text).expect("ours");
        let open = json!({"type": "cloud", "networking": {"type": "unrestricted"}});
        let more = ["--engines".into(), engines.into(), "--open-network".into()];
        let agent = json!({"name": "a", "model": "helper"});
        Served::of(bench, &more, &agent, &json!({"name": "e", "config": open}))
    }

    fn of(bench: Bench, more: &[OsString], agent: &Value, environment: &Value) -> Served {
        let lend = ["--lend".into(), bench.root.clone().into()];
        let served = Served { bench, server: Server::start(&[more, &lend].concat()) };
        let agent = served.ask("POST", "/v1/agents", agent);
        let environment = served.ask("POST", "/v1/environments", environment);
        let engine = format!(
            "[agents]\nworker = [\"served\"]\nverifier = \"served\"\n[agents.engines.served]\n\
             engine = \"session\"\nurl = \"http://{}\"\nagent = {}\nenvironment = {}\nkey = \
             \"{KEY}\"\n[limits]",
            served.server.address, agent["id"], environment["id"]
        );
        served.bench.edit("[limits]", &engine);
        served
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.server.ask(method, path, body, &[]);
        assert_eq!(answer.status, 200, "{method} {path}: {}", answer.body);
        answer.json()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.bench.desk(args);
        command.env(KEY, &self.server.key);
        command
    }

    fn run(&self) -> Ended {
        Ended::of(self.command(&["run", "small"]).output().expect("assay runs"))
    }

    /// The sessions of a role, also those that are over.
    fn sessions(&self, role: &str) -> Vec<Value> {
        let all = self.ask("GET", "/v1/sessions?include_archived=true&limit=100", &Value::Null);
        let of = |session: &&Value| session["metadata"]["role"] == role;
        all["data"].as_array().expect("a list").iter().filter(of).cloned().collect()
    }

    fn events(&self, session: &Value) -> Vec<Value> {
        let path =
            format!("/v1/sessions/{}/events?limit=100", session["id"].as_str().expect("an id"));
        let all = self.ask("GET", &path, &Value::Null);
        all["data"].as_array().expect("a list").clone()
    }

    /// Waits until something is so.
    fn until<T>(&self, what: &str, found: impl Fn() -> Option<T>) -> T {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = found() {
                return found;
            }
            assert!(Instant::now() < until, "waited {PATIENCE:?} for: {what}");
            std::thread::park_timeout(A_MOMENT);
        }
    }

    /// A session that waits for leave, with the calls it asks about.
    fn asked(&self) -> Option<Asked> {
        let all = self.ask("GET", "/v1/sessions?statuses[]=idle&limit=100", &Value::Null);
        all["data"].as_array().expect("a list").iter().find_map(|session| {
            let events = self.events(session);
            let rests = |event: &&Value| event["type"] == "session.status_idle";
            let last = events.iter().rfind(rests)?;
            let calls = last["stop_reason"]["event_ids"].as_array()?.clone();
            let session = session["id"].as_str().expect("an id").to_string();
            Some(Asked { session, calls })
        })
    }

    fn allow(&self, asked: &Asked) {
        let path = format!("/v1/sessions/{}/events", asked.session);
        for call in &asked.calls {
            let yes =
                json!({"type": "user.tool_confirmation", "tool_use_id": call, "result": "allow"});
            // It may have been archived meanwhile.
            self.server.ask("POST", &path, &json!({"events": [yes]}), &[]);
        }
    }

    /// Lets turns go on that wait for a file of this name.
    fn release(&self, name: &str) {
        std::fs::write(self.hold(name), "").expect("ours");
    }

    fn hold(&self, name: &str) -> PathBuf {
        self.server.directory().join("data/holds").join(name)
    }

    /// Until the Worker's session has begun its turn.
    fn until_it_runs(&self) -> Value {
        let running = |session: Value| (session["status"] == "running").then_some(session);
        self.until("a session that runs", || self.sessions("worker").into_iter().find_map(running))
    }

    /// The record of the campaign.
    fn log(&self) -> String {
        self.bench.ask(&["log", "small", "--format", "json"]).out
    }
}

#[test]
fn a_campaign_whose_runs_are_sessions_completes() {
    let [worker, verifier] = [turn("Worker", WORK, None), turn("Verifier", JUDGE, None)];
    let served = Served::new(PATIENT, &worker, &verifier, "always_allow");
    let ended = served.run();
    assert_eq!(ended.code, Some(0), "{}\n{}\n{}", ended.out, ended.err, served.log());
    for (role, count) in [("worker", 1), ("verifier", 2)] {
        let sessions = served.sessions(role);
        assert_eq!(sessions.len(), count, "{role}: {sessions:#?}");
        for session in sessions {
            assert_eq!(session["status"], "terminated", "it is archived: {session:#}");
            assert_eq!(session["metadata"]["campaign"], "small", "{session:#}");
            let path = session["workspace"]["path"].as_str().expect("a path");
            assert!(path.ends_with("trees/work"), "{path}");
        }
    }
    assert!(ended.out.contains("returned  Exited(0)"), "{}", ended.out);
    assert!(served.log().contains("the sandbox of assay serve at http://"), "{}", served.log());
    let verified = served.bench.ask(&["verify", "small"]);
    assert_eq!(verified.code, Some(0), "{}{}", verified.out, verified.err);
}

#[test]
fn programs_of_a_server_complete_a_campaign_too() {
    let served = Served::with_program();
    let ended = served.run();
    assert_eq!(ended.code, Some(0), "{}\n{}\n{}", ended.out, ended.err, served.log());
    assert_eq!(served.sessions("worker").len(), 1);
}

#[test]
fn sessions_that_lie_never_complete_a_campaign() {
    let honest = turn("Verifier", JUDGE, None);
    for (lie, said) in [
        // A claim without work, tests that show nothing, a word in place of an artifact.
        ("sign", "stale|nothing|changed"),
        ("work; echo 'echo 9' > n1; commit; sign", "FAILED|fix"),
        ("work; commit; echo COMPLETE", "no artifact"),
        ("work; sed -i 's/0.5/0.7/' t/0.sh; commit; sign", "fix"),
    ] {
        let served = Served::new(USUAL, &turn("Worker", lie, None), &honest, "always_allow");
        let ended = served.run();
        assert_eq!(ended.code, Some(1), "{lie}: {}\n{}", ended.out, ended.err);
        assert!(ended.out.contains("BLOCKED"), "{lie}: {}", ended.out);
        assert!(said.split('|').any(|word| ended.out.contains(word)), "{lie}: {}", ended.out);
    }
    // A Verifier that mends what it looks at.
    let mends = turn("Verifier", "echo '# x' >> n1; verdict \"$good\"", None);
    let served = Served::new(USUAL, &turn("Worker", WORK, None), &mends, "always_allow");
    let ended = served.run();
    assert_eq!(ended.code, Some(1), "{}\n{}", ended.out, ended.err);
    assert!(ended.out.contains("void: it changed the tree"), "{}", ended.out);
}

#[test]
fn a_session_cannot_touch_the_desk_beside_its_tree() {
    let pokes = "for f in ../../contract.md ../../ledger/head ../../../../../.git/config \
                 ../../../../../n0; do [ ! -e $f ] || echo seen $f; echo x >> $f || true; done \
                 2>/dev/null\n";
    let worker = turn("Worker", &format!("{pokes}{WORK}"), None);
    let served = Served::new(PATIENT, &worker, &turn("Verifier", JUDGE, None), "always_allow");
    let ended = served.run();
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
    let worker = &served.sessions("worker")[0];
    let said = json!(served.events(worker)).to_string();
    assert!(said.contains("I am done") && !said.contains("seen .."), "{said}");
}

#[test]
fn a_leader_that_is_killed_takes_the_session_up_and_begins_no_second_one() {
    let [worker, verifier] = [turn("Worker", WORK, Some("go")), turn("Verifier", JUDGE, None)];
    let served = Served::new(PATIENT, &worker, &verifier, "always_allow");
    for _ in 0..2 {
        // The second of these has taken it up and is killed as well.
        let mut leader = served.command(&["run", "small", "--format", "json"]);
        let mut leader = leader.stdout(Stdio::null()).spawn().expect("assay runs");
        served.until_it_runs();
        served.until("a stream of the session", || {
            let text = served.server.open("GET", "/metrics", &[]).body;
            text.lines().any(|line| line == "assay_streams 1").then_some(())
        });
        leader.kill().expect("SIGKILL");
        leader.wait().expect("it ends");
        let lock = std::fs::File::open(served.bench.root.join(".git/assay-desk.lock"));
        lock.and_then(|lock| lock.lock()).expect("nobody leads any more");
        served.until("the end of the stream", || {
            let text = served.server.open("GET", "/metrics", &[]).body;
            text.lines().any(|line| line == "assay_streams 0").then_some(())
        });
    }
    served.release("go");
    let ended = served.run();
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
    assert_eq!(served.sessions("worker").len(), 1, "{}", served.log());
    assert!(!served.log().contains("\"lost\""), "{}", served.log());
    let events = served.events(&served.sessions("worker")[0]);
    let calls = events.iter().filter(|event| event["type"] == "agent.tool_use").count();
    assert_eq!(calls, 1, "{events:#?}");
}

#[test]
fn what_changed_while_nobody_led_is_seen_by_whoever_takes_the_session_up() {
    let [worker, verifier] = [turn("Worker", WORK, Some("go")), turn("Verifier", JUDGE, None)];
    let served = Served::new(PATIENT, &worker, &verifier, "always_allow");
    let mut leader =
        served.command(&["run", "small"]).stdout(Stdio::null()).spawn().expect("assay runs");
    served.until_it_runs();
    leader.kill().expect("SIGKILL");
    leader.wait().expect("it ends");
    served.bench.git(&["config", "user.nickname", "somebody"]);
    served.release("go");
    let ended = served.run();
    assert!(
        ended.err.contains("somebody else changed what is protected"),
        "{}\n{}",
        ended.out,
        ended.err
    );
    assert!(ended.err.contains("config was changed"), "{}", ended.err);
}

#[test]
fn a_server_that_is_killed_in_the_middle_is_no_result_and_the_campaign_goes_on() {
    let [worker, verifier] = [turn("Worker", WORK, Some("go")), turn("Verifier", JUDGE, None)];
    let mut served = Served::new(PATIENT, &worker, &verifier, "always_allow");
    let mut leader = served.command(&["run", "small"]);
    let leader = leader.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("assay runs");
    served.until_it_runs();
    served.server.kill();
    served.release("go");
    served.server.start_again();
    let ended = Ended::of(leader.wait_with_output().expect("it ends"));
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
    assert!(ended.out.contains("Failed(") && ended.out.contains("restart"), "{}", ended.out);
    let workers = served.sessions("worker");
    assert_eq!(workers.len(), 2, "one that was ended, and one that worked: {workers:#?}");
    let is_failure = |event: &Value| event["type"] == "session.error";
    let failed = workers.iter().filter(|session| served.events(session).iter().any(is_failure));
    assert_eq!(failed.count(), 1, "{workers:#?}");
}

#[test]
fn a_session_that_asks_says_so_and_goes_on_when_it_is_allowed() {
    let [worker, verifier] = [turn("Worker", WORK, None), turn("Verifier", JUDGE, None)];
    // It waits for longer than it may be silent.
    let wish = Wish { limits: "iterations = 3\nidle_seconds = 15", ..USUAL };
    let served = Served::new(wish, &worker, &verifier, "always_ask");
    let mut leader = served.command(&["run", "small"]);
    let leader = leader.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("assay runs");
    let ended = std::thread::scope(|scope| {
        let leader = scope.spawn(|| Ended::of(leader.wait_with_output().expect("it ends")));
        let first = served.until("a session that asks", || served.asked());
        // Longer than an agent may be silent: this one waits for us.
        let asked = Instant::now();
        served.until("a while", || (asked.elapsed() > Duration::from_secs(18)).then_some(()));
        assert!(!leader.is_finished(), "it was given up while it waited");
        served.allow(&first);
        served.until("the end of the campaign", || {
            served.asked().iter().for_each(|asked| served.allow(asked));
            leader.is_finished().then_some(())
        });
        leader.join().expect("no panic")
    });
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
    assert!(ended.out.contains("waits for somebody to allow or to answer bash"), "{}", ended.out);
    assert!(ended.out.contains("/console/"), "{}", ended.out);
    assert_eq!(served.sessions("worker").len(), 1, "the first was waited for: {}", ended.out);
}

#[test]
fn a_session_that_exceeds_a_limit_is_interrupted_and_archived() {
    let [worker, verifier] = [turn("Worker", WORK, Some("never")), turn("Verifier", JUDGE, None)];
    let wish = Wish { limits: "infrastructure = 1\nidle_seconds = 1", ..USUAL };
    let served = Served::new(wish, &worker, &verifier, "always_allow");
    let ended = served.run();
    assert_eq!(ended.code, Some(1), "{}\n{}", ended.out, ended.err);
    assert!(ended.out.contains("IdleTimeout"), "{}", ended.out);
    let sessions = served.sessions("worker");
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0]["status"], "terminated", "{sessions:#?}");
    let interrupted = |event: &Value| event["type"] == "user.interrupt";
    assert_eq!(served.events(&sessions[0]).iter().filter(|one| interrupted(one)).count(), 1);
}

#[test]
fn what_keeps_sessions_from_being_begun_is_told() {
    let [worker, verifier] = [turn("Worker", WORK, None), turn("Verifier", JUDGE, None)];
    let wish = Wish { limits: "infrastructure = 1", ..USUAL };
    let served = Served::new(wish, &worker, &verifier, "always_allow");
    let no_key = Ended::of(served.bench.desk(&["run", "small"]).output().expect("assay runs"));
    assert_eq!(no_key.code, Some(65), "{}", no_key.err);
    assert!(no_key.err.contains("the variable SHOP_KEY has to have a key"), "{}", no_key.err);
    // Another server, which lends nothing.
    let other = Server::start(&[]);
    served.bench.edit(&served.server.address.to_string(), &other.address.to_string());
    let mut command = served.bench.desk(&["run", "small"]);
    let refused = Ended::of(command.env(KEY, &other.key).output().expect("assay runs"));
    assert_eq!(refused.code, Some(1), "{}\n{}", refused.out, refused.err);
    assert!(refused.out.contains("the server refuses the session: 400"), "{}", refused.out);
}

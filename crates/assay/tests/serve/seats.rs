//! Places for tools: so many for all, and never all of them for one workspace.

use super::server::{Server, call, events_path, make_key};
use super::tools::{SCRIPT, agent, processes, results, session, wait_for};
use serde_json::{Value, json};

const ALL_MAX: usize = 32;
const OWN_MAX: usize = 24;
/// As long as a tool may take at all: longer than all waits of a test together.
const SLEEP_MS_MAX: u64 = 600_000;

/// A server whose turn `crowd` has a tool that is asleep for a time that nobody else sleeps for.
/// A session runs one such tool at a time, so a crowd is of many sessions.
fn crowded(seconds: &str) -> Server {
    let input = format!("command = \"sleep {seconds}\", timeout_ms = {SLEEP_MS_MAX}");
    let sleep = format!("{{ call = \"bash\", input = {{ {input} }} }}");
    let turn = format!("[[turn]]\nwhen = \"crowd\"\nsteps = [{sleep}]\n\n[[turn]]");
    Server::scripted(&SCRIPT.replacen("[[turn]]", &turn, 1))
}

/// Takes all places that a workspace can have. The first session has one: which of the others have
/// one, and which wait, is not ours to say.
fn fill(server: &Server, crowd: &[String], seconds: &str) {
    server.say(&crowd[0], "crowd");
    wait_for("the place of the first", || processes(seconds) == 1);
    crowd[1..].iter().for_each(|session| drop(server.say(session, "crowd")));
    wait_for("as many as one workspace may have", || processes(seconds) == OWN_MAX);
}

/// Another workspace of the same server.
struct Other<'a> {
    server: &'a Server,
    key: String,
}

impl Other<'_> {
    fn ok(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = call(self.server.address, &self.key, method, path, body, &[]);
        let answer = answer.expect("an answer");
        assert_eq!(answer.status, 200, "{method} {path}: {}", answer.body);
        answer.json()
    }

    fn session(&self) -> String {
        let agent = self.ok("POST", "/v1/agents", &agent(json!([])));
        let environment = self.ok("POST", "/v1/environments", &json!({"name": "e"}));
        let wish = json!({"agent": agent["id"], "environment_id": environment["id"]});
        let session = self.ok("POST", "/v1/sessions", &wish);
        session["id"].as_str().expect("an id").to_string()
    }

    fn say(&self, session: &str, text: &str) {
        self.ok("POST", &events_path(session), &super::server::message(text));
    }

    /// What tools have given so far.
    fn gave(&self, session: &str) -> Vec<(String, bool)> {
        let path = format!("{}?types[]=agent.tool_result", events_path(session));
        let page = self.ok("GET", &path, &Value::Null);
        results(page["data"].as_array().expect("a list"))
    }
}

#[test]
fn one_workspace_cannot_have_all_places_and_who_waits_can_be_interrupted() {
    let seconds = format!("96{}.25", std::process::id());
    let server = crowded(&seconds);
    let crowd: Vec<String> = (0..ALL_MAX).map(|_| session(&server)).collect();
    fill(&server, &crowd, &seconds);
    let (late, patient) = (session(&server), session(&server));
    let interrupt = json!({"events": [{"type": "user.interrupt"}]});
    server.say(&late, "once");
    let sent = server.say(&patient, "once");
    // Others have room, however many of this one wait.
    let other = Other { server: &server, key: make_key(&server.data, "other") };
    let elsewhere = other.session();
    for turn in 1..=3 {
        other.say(&elsewhere, "once");
        wait_for("the tool of another workspace", || other.gave(&elsewhere).len() == turn);
    }
    let gave = |session: &str| results(&server.listed(session)).len();
    assert_eq!((gave(&late), gave(&patient)), (0, 0), "more than {OWN_MAX} ran");
    assert_eq!(processes(&seconds), OWN_MAX);
    server.ok("POST", &events_path(&late), &interrupt);
    let events = server.turn(&late, "hello");
    assert!(events.iter().any(|event| event["type"] == "agent.message"), "{events:?}");
    assert_eq!((processes(&seconds), gave(&patient)), (OWN_MAX, 0));
    crowd.iter().for_each(|session| drop(server.ok("POST", &events_path(session), &interrupt)));
    assert_eq!(results(&server.after(&patient, &sent))[0].0, "ran\n", "there is room again");
}

#[test]
fn all_workspaces_together_run_so_many_tools_and_who_has_the_fewest_is_next() {
    let seconds = format!("95{}.25", std::process::id());
    let server = crowded(&seconds);
    let crowd: Vec<String> = (0..ALL_MAX).map(|_| session(&server)).collect();
    fill(&server, &crowd, &seconds);
    let second = Other { server: &server, key: make_key(&server.data, "second") };
    (OWN_MAX..ALL_MAX).for_each(|_| second.say(&second.session(), "crowd"));
    wait_for("as many as all may have", || processes(&seconds) == ALL_MAX);
    let third = Other { server: &server, key: make_key(&server.data, "third") };
    let newest = third.session();
    third.say(&newest, "once");
    // Time passes, measured in what others do meanwhile.
    let busy = session(&server);
    (0..3).for_each(|_| drop(server.turn(&busy, "hello")));
    assert_eq!((third.gave(&newest).len(), processes(&seconds)), (0, ALL_MAX));
    // One place becomes free, for which eight of the first workspace have waited longer.
    let interrupt = json!({"events": [{"type": "user.interrupt"}]});
    server.ok("POST", &events_path(&crowd[0]), &interrupt);
    wait_for("the one that has none", || third.gave(&newest).len() == 1);
    assert_eq!(third.gave(&newest)[0].0, "ran\n");
}

//! A server under test: the real binary in a directory of its own.

use super::client::{ANSWER_MAX, Answer, Events, Frame, request};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Error};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Instant;

pub fn assay() -> Command {
    Command::new(env!("CARGO_BIN_EXE_assay"))
}

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/serve").join(name)
}

pub struct Server {
    pub data: PathBuf,
    pub address: SocketAddr,
    pub key: String,
    child: Child,
    _directory: tempfile::TempDir,
}

impl Server {
    /// With a key of the workspace `default`.
    pub fn start() -> Server {
        let directory = tempfile::tempdir().expect("a directory");
        let data = directory.path().join("data");
        let key = make_key(&data, "default");
        let (child, address) = spawn(&data, "127.0.0.1:0");
        Server { data, address, key, child, _directory: directory }
    }

    /// `kill -9`, and the same address again.
    pub fn kill_and_restart(&mut self) {
        self.kill();
        let address = self.address.to_string();
        (self.child, self.address) = spawn(&self.data, &address);
    }

    pub fn kill(&mut self) {
        // Gone already is as good.
        let _gone = self.child.kill();
        self.child.wait().expect("our child");
    }

    /// The headers that everything needs.
    pub fn headers(&self) -> Vec<(&str, &str)> {
        headers(&self.key)
    }

    pub fn try_call(
        &self,
        method: &str,
        path: &str,
        body: &Value,
        more: &[(&str, &str)],
    ) -> Result<Answer, Error> {
        call(self.address, &self.key, method, path, body, more)
    }

    pub fn call(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.try_call(method, path, body, &[]).expect("an answer")
    }

    pub fn ok(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.call(method, path, body);
        assert_eq!(answer.status, 200, "{method} {path}: {}", answer.body);
        answer.json()
    }

    /// A session of a new agent, in a new environment.
    pub fn session(&self) -> String {
        let tools = json!([
            {"type": "agent_toolset_20260401"},
            {"type": "custom", "name": "get_weather", "description": "d",
             "input_schema": {"type": "object"}},
        ]);
        let agent = json!({"name": "a", "model": "scripted", "tools": tools});
        let agent = self.ok("POST", "/v1/agents", &agent);
        let environment = self.ok("POST", "/v1/environments", &json!({"name": "e"}));
        let wish = json!({"agent": agent["id"], "environment_id": environment["id"]});
        let session = self.ok("POST", "/v1/sessions", &wish);
        session["id"].as_str().expect("an id").to_string()
    }

    pub fn say(&self, session: &str, text: &str) -> String {
        let sent = self.ok("POST", &events_path(session), &message(text));
        sent["data"][0]["id"].as_str().expect("an id").to_string()
    }

    pub fn listed(&self, session: &str) -> Vec<Value> {
        let mut events = Vec::new();
        let mut path = format!("{}?limit=100", events_path(session));
        loop {
            let page = self.ok("GET", &path, &Value::Null);
            events.extend(page["data"].as_array().expect("a list").iter().cloned());
            let Some(next) = page["next_page"].as_str() else { return events };
            path = format!("{}?limit=100&page={next}", events_path(session));
        }
    }

    pub fn stream(&self, session: &str, more: &[(&str, &str)]) -> Events {
        let mut headers = self.headers();
        headers.extend(more);
        let path = format!("{}/stream", events_path(session));
        Events::open(self.address, &path, &headers).expect("a stream")
    }

    /// Everything until the session rests, after the event `after`.
    pub fn rest(&self, session: &str, after: &str) -> Vec<Frame> {
        self.stream(session, &[])
            .until(|f| f.event == "session.status_idle" && f.id.as_str() > after)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

pub fn headers(key: &str) -> Vec<(&str, &str)> {
    vec![
        ("x-api-key", key),
        ("anthropic-version", "2023-06-01"),
        ("anthropic-beta", "managed-agents-2026-04-01"),
        ("content-type", "application/json"),
    ]
}

pub fn call(
    address: SocketAddr,
    key: &str,
    method: &str,
    path: &str,
    body: &Value,
    more: &[(&str, &str)],
) -> Result<Answer, Error> {
    let mut headers = headers(key);
    headers.extend(more);
    let body = if body.is_null() { String::new() } else { body.to_string() };
    request(address, method, path, &headers, &body)
}

pub fn events_path(session: &str) -> String {
    format!("/v1/sessions/{session}/events")
}

pub fn message(text: &str) -> Value {
    json!({"events": [{"type": "user.message", "content": [{"type": "text", "text": text}]}]})
}

pub fn make_key(data: &Path, workspace: &str) -> String {
    let made = run(&["keys", "create", "--workspace", workspace], data);
    assert!(made.status.success(), "{made:?}");
    String::from_utf8(made.stdout).expect("text").trim().to_string()
}

pub fn run(arguments: &[&str], data: &Path) -> Output {
    assay().args(arguments).arg("--data").arg(data).output().expect("the binary")
}

fn spawn(data: &Path, listen: &str) -> (Child, SocketAddr) {
    let until = Instant::now() + ANSWER_MAX;
    loop {
        let mut child = assay()
            .args(["serve", "--listen", listen, "--script"])
            .arg(here("script.toml"))
            .arg("--data")
            .arg(data)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary");
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        stdout.read_line(&mut line).expect("text");
        if let Some(address) = line.trim().strip_prefix("ready http://") {
            return (child, address.parse().expect("an address"));
        }
        // Another test may have taken the port for a moment.
        let ended = child.wait_with_output().expect("our child");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(Instant::now() < until && said.contains("cannot listen"), "{line:?} {said}");
    }
}

/// The interpreter with the official client of a version; `scripts/install-deps.sh` makes it.
pub fn python(version: &str) -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_assay"));
    let target = binary.ancestors().nth(2).expect("TARGET/PROFILE/assay");
    let python = target.join(format!("python/anthropic-{version}/bin/python"));
    assert!(
        python.exists(),
        "{} is missing: scripts/install-deps.sh makes it (make deps)",
        python.display()
    );
    python
}

pub fn conformance_suite() -> PathBuf {
    here("conformance.py")
}

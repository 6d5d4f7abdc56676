//! A server under test: the real binary in a directory of its own.

use super::client::{ANSWER_MAX, Answer, Events, Frame, request};
use super::database::free_address;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Error};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Instant;

pub fn assay() -> Command {
    Command::new(env!("CARGO_BIN_EXE_assay"))
}

/// A file beside these tests.
pub fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/serve").join(name)
}

pub struct Server {
    pub data: PathBuf,
    pub address: SocketAddr,
    pub key: String,
    child: Child,
    setup: Setup,
    _directory: Option<tempfile::TempDir>,
}

/// What a server is started with.
#[derive(Clone, Default)]
pub struct Setup {
    /// A script of its own.
    pub script: Option<String>,
    /// A file of engines; then there is no script unless one is given.
    pub engines: Option<String>,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
}

impl Setup {
    /// Records in a database.
    pub fn stored_in(url: &str) -> Setup {
        Setup { env: vec![("ASSAY_STORE".into(), url.into())], ..Setup::default() }
    }
}

impl Server {
    /// With a key of the workspace `default`.
    pub fn start() -> Server {
        Server::with(Setup::default())
    }

    /// With more arguments, also after a restart.
    pub fn start_with(arguments: &[&str]) -> Server {
        let args = arguments.iter().map(ToString::to_string).collect();
        Server::with(Setup { args, ..Setup::default() })
    }

    /// The same with a script of its own.
    pub fn scripted(script: &str) -> Server {
        Server::with(Setup { script: Some(script.to_string()), ..Setup::default() })
    }

    /// The same with more.
    pub fn with(setup: Setup) -> Server {
        let directory = tempfile::tempdir().expect("a directory");
        let mut server = Server::begin(directory.path(), setup);
        server._directory = Some(directory);
        server
    }

    /// The same in a directory that is there, with its log beside its data.
    pub fn begin(directory: &Path, setup: Setup) -> Server {
        let data = directory.join("data");
        let key = make_key_with(&data, "default", &setup.env);
        let (child, address) = spawn(&data, &free_address().to_string(), &setup);
        Server { data, address, key, child, setup, _directory: None }
    }

    /// Everything it has said so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(log_path(&self.data)).expect("text")
    }

    /// `kill -9`, and the same address again.
    pub fn kill_and_restart(&mut self) {
        self.kill();
        self.restart();
    }

    pub fn restart(&mut self) {
        let address = self.address.to_string();
        (self.child, self.address) = spawn(&self.data, &address, &self.setup);
    }

    /// The code it ended with by itself.
    pub fn wait(&mut self) -> Option<i32> {
        self.child.wait().expect("our child").code()
    }

    /// The same with another setup.
    pub fn restart_with(&mut self, setup: Setup) {
        self.setup = setup;
        self.kill_and_restart();
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

    /// A request with a body of parts: the name of the field, of the file, and what is in it.
    pub fn upload(&self, path: &str, parts: &[(&str, &str, &str)]) -> Answer {
        const BOUNDARY: &str = "xXx-boundary-xXx";
        let part = |(name, file, text): &(&str, &str, &str)| {
            let file =
                if file.is_empty() { String::new() } else { format!("; filename=\"{file}\"") };
            let head = format!("content-disposition: form-data; name=\"{name}\"{file}");
            format!("--{BOUNDARY}\r\n{head}\r\n\r\n{text}\r\n")
        };
        let body: String = parts.iter().map(part).collect();
        let kind = format!("multipart/form-data; boundary={BOUNDARY}");
        let mut headers = self.headers();
        headers.retain(|(name, _)| *name != "content-type");
        headers.push(("content-type", &kind));
        let body = format!("{body}--{BOUNDARY}--\r\n");
        request(self.address, "POST", path, &headers, &body).expect("an answer")
    }

    /// An uploaded file.
    pub fn file(&self, text: &str) -> String {
        let answer = self.upload("/v1/files", &[("file", "a.txt", text)]);
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()["id"].as_str().expect("an id").to_string()
    }

    /// A new agent, with more fields, and a new environment.
    pub fn place(&self, more: &Value) -> Value {
        let mut agent = json!({"name": "a", "model": "scripted", "tools": tools()});
        for (field, value) in more.as_object().into_iter().flatten() {
            agent[field] = value.clone();
        }
        self.place_of(&agent, &json!({"name": "e"}))
    }

    /// This agent and this environment, for a session.
    pub fn place_of(&self, agent: &Value, environment: &Value) -> Value {
        let agent = self.ok("POST", "/v1/agents", agent);
        let environment = self.ok("POST", "/v1/environments", environment);
        json!({"agent": agent["id"], "environment_id": environment["id"]})
    }

    /// A session of this agent, in a new environment of this kind.
    pub fn session_of(&self, agent: &Value, environment: &Value) -> String {
        let session = self.ok("POST", "/v1/sessions", &self.place_of(agent, environment));
        session["id"].as_str().expect("an id").to_string()
    }

    /// Says something, and gives what came of it until the session rests.
    pub fn turn(&self, session: &str, text: &str) -> Vec<Value> {
        let sent = self.say(session, text);
        self.after(session, &sent)
    }

    /// Events behind this one, until the session rests.
    pub fn after(&self, session: &str, event: &str) -> Vec<Value> {
        let frames =
            self.rest(session, event).into_iter().filter(|frame| frame.id.as_str() > event);
        frames.map(|frame| frame.data).collect()
    }

    /// A session of a new agent, in a new environment.
    pub fn session(&self) -> String {
        let session = self.ok("POST", "/v1/sessions", &self.place(&Value::Null));
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

fn tools() -> Value {
    json!([
        {"type": "agent_toolset_20260401"},
        {"type": "custom", "name": "get_weather", "description": "d",
         "input_schema": {"type": "object"}},
    ])
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
    make_key_with(data, workspace, &[])
}

fn make_key_with(data: &Path, workspace: &str, env: &[(String, String)]) -> String {
    let mut command = assay();
    command.args(["keys", "create", "--workspace", workspace, "--data"]).arg(data);
    let made = command.envs(env.iter().cloned()).output().expect("the binary");
    assert!(made.status.success(), "{made:?}");
    String::from_utf8(made.stdout).expect("text").trim().to_string()
}

pub fn run(arguments: &[&str], data: &Path) -> Output {
    assay().args(arguments).arg("--data").arg(data).output().expect("the binary")
}

/// The arguments of a server, beside those that say where.
fn arguments(data: &Path, setup: &Setup) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = setup.args.iter().map(OsString::from).collect();
    let mut file = |flag: &str, text: &str| {
        let path = data.with_file_name(format!("{}.toml", flag.trim_start_matches('-')));
        std::fs::write(&path, text).expect("ours");
        arguments.extend([OsString::from(flag), path.into_os_string()]);
    };
    if let Some(text) = &setup.script {
        file("--script", text);
    }
    if let Some(text) = &setup.engines {
        file("--engines", text);
    }
    if setup.script.is_none() && setup.engines.is_none() {
        arguments.extend([OsString::from("--script"), here("script.toml").into_os_string()]);
    }
    arguments
}

/// Starts a server that is expected to end by itself.
pub fn refused(setup: &Setup) -> Output {
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().join("data");
    let mut command = assay();
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(&data);
    command.args(arguments(&data, setup)).envs(setup.env.iter().cloned());
    command.output().expect("the binary")
}

fn log_path(data: &Path) -> PathBuf {
    data.with_extension("log")
}

fn spawn(data: &Path, listen: &str, setup: &Setup) -> (Child, SocketAddr) {
    let log = std::fs::File::options().create(true).append(true).open(log_path(data));
    let log = log.expect("ours");
    let until = Instant::now() + ANSWER_MAX;
    loop {
        let mut child = assay()
            .args(["serve", "--listen", listen, "--data"])
            .arg(data)
            .args(arguments(data, setup))
            .envs(setup.env.iter().cloned())
            .stdout(Stdio::piped())
            .stderr(log.try_clone().expect("one more"))
            .spawn()
            .expect("the binary");
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        stdout.read_line(&mut line).expect("text");
        if let Some(address) = line.trim().strip_prefix("ready http://") {
            return (child, address.parse().expect("an address"));
        }
        // Another test may have taken the port for a moment.
        child.wait().expect("our child");
        let said = std::fs::read_to_string(log_path(data)).expect("text");
        assert!(Instant::now() < until && said.contains("cannot listen"), "{line:?} {said}");
    }
}

/// A program that `scripts/install-deps.sh` puts below the target directory.
pub fn installed(path: &str) -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_assay"));
    binary.ancestors().nth(2).expect("TARGET/PROFILE/assay").join(path)
}

/// The same, if it must be there.
pub fn needed(path: &str) -> PathBuf {
    let path = installed(path);
    let there = path.exists();
    assert!(there, "{} is missing: scripts/install-deps.sh makes it (make deps)", path.display());
    path
}

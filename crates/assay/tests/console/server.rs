//! A server with a console: the real binary in a directory of its own.

use super::client::{ANSWER_MAX, Answer, request};
use serde_json::Value;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

pub fn assay() -> Command {
    Command::new(env!("CARGO_BIN_EXE_assay"))
}

pub fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/console").join(name)
}

pub struct Server {
    pub address: SocketAddr,
    pub key: String,
    pub agent: String,
    pub environment: String,
    data: PathBuf,
    more: Vec<OsString>,
    child: Child,
    directory: tempfile::TempDir,
}

impl Server {
    /// With the key, agent and environment of a demonstration, and these arguments besides.
    pub fn start(more: &[OsString]) -> Server {
        let directory = tempfile::tempdir().expect("a directory");
        let data = directory.path().join("data");
        let demo = ["--demo".into(), "--data".into(), data.clone().into_os_string()];
        let (child, words) = spawn("127.0.0.1:0", &[&demo[..], more].concat());
        let word = |name: &str| words.iter().find_map(|w| w.strip_prefix(name)).expect("printed");
        Server {
            address: word("ready http://").parse().expect("an address"),
            key: word("key ").to_string(),
            agent: word("agent ").to_string(),
            environment: word("environment ").to_string(),
            data,
            more: more.to_vec(),
            child,
            directory,
        }
    }

    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        // Gone already is as good.
        let _gone = self.child.kill();
        self.child.wait().expect("our child");
    }

    /// On the same data and the same address, after [`Server::kill`].
    pub fn start_again(&mut self) {
        let data = ["--data".into(), self.data.clone().into_os_string()];
        let address = self.address.to_string();
        (self.child, _) = spawn(&address, &[&data[..], &self.more].concat());
    }

    /// A request as a client of the API makes it, and with these headers besides.
    pub fn ask(&self, method: &str, path: &str, body: &Value, more: &[(&str, &str)]) -> Answer {
        let mut headers = vec![
            ("x-api-key", self.key.as_str()),
            ("anthropic-version", "2023-06-01"),
            ("anthropic-beta", "managed-agents-2026-04-01"),
            ("content-type", "application/json"),
        ];
        headers.extend(more);
        let body = if body.is_null() { String::new() } else { body.to_string() };
        request(self.address, method, path, &headers, &body).expect("an answer")
    }

    /// A request without a key.
    pub fn open(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        request(self.address, method, path, headers, "").expect("an answer")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Starts a server and gives what it prints until it is ready.
fn spawn(listen: &str, more: &[OsString]) -> (Child, Vec<String>) {
    let until = Instant::now() + ANSWER_MAX;
    loop {
        let mut child = assay()
            .args(["serve", "--listen", listen])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary");
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        let mut words = Vec::new();
        for line in stdout.lines() {
            words.push(line.expect("text"));
            if words.last().is_some_and(|line| line.starts_with("ready ")) {
                return (child, words);
            }
        }
        // Another test may have taken the port for a moment.
        let ended = child.wait_with_output().expect("our child");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(Instant::now() < until && said.contains("cannot listen"), "{words:?} {said}");
    }
}

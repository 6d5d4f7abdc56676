//! A real browser for tests: Chromium, driven by WebDriver over plain TCP.
//!
//! [`Browser::start`] starts a driver on a free port and one window with a profile of its own and
//! no way to the network. Waiting happens inside the page ([`Browser::wait_for`]), with a bound.
//! A machine without Chromium fails the test, and the message says what to install.

// Each user of this file needs a part of it.
#![allow(dead_code)]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const WAIT_MS_MAX: u64 = 60_000;
/// Waiting inside a page ends before the answer of the driver is given up.
const ANSWER: Duration = Duration::from_secs(120);
const ANSWER_BYTES_MAX: u64 = 256 << 20;
/// How often a driver draws a port.
const DRAWS_MAX: usize = 5;
const NEEDED: &str = "install the Debian packages chromium and chromium-driver (make deps)";

/// A window of a browser that closes with this value.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: PathBuf,
}

impl Browser {
    /// Starts a driver and a window of this size. `profile` is made anew.
    pub fn start(profile: &Path, width: u32, height: u32) -> Browser {
        let _none_yet = std::fs::remove_dir_all(profile);
        std::fs::create_dir_all(profile).expect("a profile can be made");
        let (driver, port) = started();
        let profile = profile.to_path_buf();
        let mut browser = Browser { driver, port, session: String::new(), profile };
        let args = [
            "--headless".to_string(),
            "--no-sandbox".into(),
            "--disable-gpu".into(),
            "--disable-quic".into(),
            "--no-first-run".into(),
            "--disable-background-networking".into(),
            "--disable-component-update".into(),
            "--disable-sync".into(),
            "--disable-dev-shm-usage".into(),
            "--hide-scrollbars".into(),
            "--host-resolver-rules=MAP * ~NOTFOUND".into(),
            format!("--window-size={width},{height}"),
            format!("--user-data-dir={}", browser.profile.display()),
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": args},
            "goog:loggingPrefs": {"browser": "ALL"},
            "timeouts": {"script": WAIT_MS_MAX + 5_000, "pageLoad": WAIT_MS_MAX},
        }}});
        let made = browser.ask("POST", "/session", &wanted);
        let session = made["sessionId"].as_str();
        browser.session = session.unwrap_or_else(|| panic!("no window: {made}; {NEEDED}")).into();
        browser
    }

    /// Opens a file from disk.
    pub fn open(&self, file: &Path) {
        self.command("url", &json!({"url": format!("file://{}", file.display())}));
    }

    /// Runs a script in the page, which returns a value; `arguments` holds `args`.
    pub fn run(&self, script: &str, args: Value) -> Value {
        self.command("execute/sync", &json!({"script": script, "args": args}))
    }

    /// Waits, within a bound, until an expression is true in the page.
    pub fn wait_for(&self, expression: &str) {
        let script = format!(
            "const done = arguments[arguments.length - 1], end = Date.now() + {WAIT_MS_MAX}; \
             const look = () => {{ if ({expression}) done(true); \
             else if (Date.now() > end) done(false); else setTimeout(look, 20); }}; look();"
        );
        let came = self.command("execute/async", &json!({"script": script, "args": []}));
        assert_eq!(came, Value::Bool(true), "never true: {expression}");
    }

    /// Resizes the window.
    pub fn resize(&self, width: u32, height: u32) {
        self.command("window/rect", &json!({"width": width, "height": height}));
    }

    /// Turns the wheel over the middle of an element.
    pub fn wheel(&self, selector: &str, delta_y: i32) {
        let origin = self.element(selector);
        let turn = json!({"type": "scroll", "x": 0, "y": 0, "deltaX": 0, "deltaY": delta_y,
            "duration": 0, "origin": origin});
        let actions = json!({"actions": [{"type": "wheel", "id": "wheel", "actions": [turn]}]});
        self.command("actions", &actions);
    }

    /// Clicks on the middle of an element.
    pub fn click(&self, selector: &str) {
        let element = self.element(selector);
        let id = element.as_object().and_then(|all| all.values().next()).and_then(Value::as_str);
        let id = id.unwrap_or_else(|| panic!("{selector}: {element}"));
        self.command(&format!("element/{id}/click"), &json!({}));
    }

    /// Types into whatever has the focus.
    pub fn keys(&self, text: &str) {
        let press = |c: char| {
            let key = c.to_string();
            [json!({"type": "keyDown", "value": key}), json!({"type": "keyUp", "value": key})]
        };
        let all: Vec<Value> = text.chars().flat_map(press).collect();
        let actions = json!({"actions": [{"type": "key", "id": "keys", "actions": all}]});
        self.command("actions", &actions);
    }

    /// What the window shows, as PNG, written to a file.
    pub fn screenshot(&self, file: &Path) {
        let path = format!("/session/{}/screenshot", self.session);
        let shot = self.ask("GET", &path, &Value::Null);
        let bytes = from_base64(shot.as_str().expect("a screenshot"));
        std::fs::write(file, bytes).expect("the screenshot can be written");
        println!("screenshot: {}", file.display());
    }

    /// Errors the page has logged: a broken script, a request that its policy forbade.
    pub fn errors(&self) -> Vec<String> {
        let log = self.command("se/log", &json!({"type": "browser"}));
        let severe = |entry: &&Value| entry["level"] == "SEVERE";
        let all = log.as_array().expect("a log is a list");
        all.iter().filter(severe).map(|entry| entry["message"].to_string()).collect()
    }

    /// Closes the window; the driver answers once it is gone.
    fn close(&self) -> std::io::Result<usize> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(ANSWER))?;
        let (session, port) = (&self.session, self.port);
        write!(
            stream,
            "DELETE /session/{session} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\
             Connection: close\r\n\r\n"
        )?;
        stream.take(ANSWER_BYTES_MAX).read(&mut [0; 1024])
    }

    fn element(&self, selector: &str) -> Value {
        self.command("element", &json!({"using": "css selector", "value": selector}))
    }

    fn command(&self, name: &str, body: &Value) -> Value {
        self.ask("POST", &format!("/session/{}/{name}", self.session), body)
    }

    /// One request to the driver; its answer's value.
    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the driver listens");
        stream.set_read_timeout(Some(ANSWER)).expect("a bound can be set");
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.port,
            body.len()
        )
        .expect("the driver reads");
        let mut answer = Vec::new();
        let mut reader = BufReader::new(stream.take(ANSWER_BYTES_MAX));
        let length = content_length(&mut reader);
        answer.resize(length, 0);
        reader.read_exact(&mut answer).expect("the driver answers");
        let answer: Value = serde_json::from_slice(&answer).expect("the driver answers in JSON");
        let error = answer["value"]["error"].as_str();
        assert!(error.is_none(), "{method} {path}: {}", answer["value"]);
        answer["value"].clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // A killed driver would leave its browser behind, so the window is closed first; if that
        // fails, a panic must not hide behind another one.
        let _closed = self.close();
        let _ended = self.driver.kill();
        let _reaped = self.driver.wait();
        let _gone = std::fs::remove_dir_all(&self.profile);
    }
}

/// A driver that listens. It draws a port of IPv4 and wants the same one of IPv6, which somebody
/// else may have: then it says so and ends, and another one draws again.
fn started() -> (Child, u16) {
    let mut said = Vec::new();
    for _ in 0..DRAWS_MAX {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("chromedriver: {error}; {NEEDED}"));
        let out = driver.stdout.take().expect("its output is piped");
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            let rest = line.split_once("started successfully on port ").map(|(_, rest)| rest);
            if let Some(port) = rest.and_then(|rest| rest.trim_end_matches('.').parse().ok()) {
                return (driver, port);
            }
            said.push(line);
        }
        said.push(format!("it ended: {:?}", driver.wait()));
    }
    panic!("chromedriver did not say its port, but {said:#?}; {NEEDED}")
}

fn content_length(reader: &mut impl BufRead) -> usize {
    let mut length = None;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("the driver answers with headers");
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
        if line.trim().is_empty() {
            return length.expect("the driver says how long its answer is");
        }
    }
}

fn from_base64(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => u32::from(c - b'A'),
        b'a'..=b'z' => u32::from(c - b'a') + 26,
        b'0'..=b'9' => u32::from(c - b'0') + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u32> = text.bytes().filter(|c| *c != b'=').map(digit).collect();
    let mut out = Vec::with_capacity(digits.len() * 3 / 4);
    for four in digits.chunks(4) {
        let bits = four.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - four.len()));
        out.extend(bits.to_be_bytes().into_iter().skip(1).take(four.len() - 1));
    }
    out
}

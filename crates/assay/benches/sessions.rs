//! What `assay serve` takes, beside what the disk takes: `make bench`, or
//! `cargo bench -p assay --bench sessions`. Less than a minute on two cores.
//!
//! The bare store writes the very rows that the server has written, in the same run, on the same
//! disk and in the largest groups there could be, so that the server is compared with what is
//! physically possible there and not with a number from elsewhere. Where rows stand matters as much
//! as how many they are: a log for each session and an answer for each key are pages here and
//! there. What the disk gives for as many rows in one order, one after the other, is shown beside.

use assay_ledger::keyed::{KeyRange, Order, Pair, SqliteStore, Store, Writes};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Clients at once, and requests in a group commit of the bare store.
const CLIENTS: usize = 64;
const SINGLE_COMMITS: usize = 300;
const GROUP_COMMITS: usize = 150;
/// What a request with an event writes: the event, the state, what was answered (the names of
/// events, which stand in the log), and until when it counts.
const REQUEST_VALUES: [usize; 4] = [150, 450, 175, 13];
/// Of what the disk's group commits of rows in one order give: what the server should, in requests
/// with an event each, and in events however many a request has.
const SHARE_AIM: f64 = 0.5;
/// Events in one request: the least, and what a client has that collects some.
const EVENTS_AT_ONCE: [usize; 2] = [1, 10];
const ANSWER_TIME: Duration = Duration::from_secs(4);
const APPEND_TIME: Duration = Duration::from_secs(8);
const IDLE_STREAMS: usize = 1000;
const ACTIVE_STREAMS: usize = 200;
const ACTIVE_TIME: Duration = Duration::from_secs(8);
const RESTART_EVENTS: usize = 100_000;
const RESTARTS: usize = 5;
const ANSWER_MAX: Duration = Duration::from_secs(60);

fn main() {
    let limit = getrlimit(Resource::Nofile);
    let all = Rlimit { current: limit.maximum, maximum: limit.maximum };
    setrlimit(Resource::Nofile, all).expect("one may have what one may have");
    let directory = tempfile::tempdir().expect("a directory");
    println!("\nsessions, {CLIENTS} clients at once");
    let bare = bare_store(directory.path());
    let data = directory.path().join("data");
    let mut server = Server::start(&data);
    let sessions: Vec<String> = (0..ACTIVE_STREAMS).map(|_| server.session()).collect();
    let answers = bare_answers(&server);
    for events in EVENTS_AT_ONCE {
        let written = appends(&server, &sessions, events, answers);
        server.kill();
        let same = same_rows(&data, directory.path(), events, written.requests);
        let rate = written.requests as f64 / APPEND_TIME.as_secs_f64();
        println!("    {:10.2} of the disk's group commits of the same rows", rate / same);
        let aim = format!("(aim: {SHARE_AIM:.2})");
        if events == 1 {
            let share = rate / bare;
            let what = "of the disk's group commits of rows in one order";
            println!("    {share:10.2} {what} {aim} {}", met(share));
        }
        let share = rate * events as f64 / bare;
        let what = format!("events, {events} in a request, for each of those");
        println!("    {share:10.2} {what} {aim} {}", met(share));
        server.restart(&data);
    }
    idle_streams(&server, &sessions);
    server.begin_anew(&data);
    active_streams(&server, &sessions);
    server.kill();
    restarts(&data, server);
}

fn met(share: f64) -> &'static str {
    if share >= SHARE_AIM { "met" } else { "MISSED" }
}

/// Durable commits of the store alone: one request each, then as many as there are clients.
/// Gives requests in a second, for the latter.
fn bare_store(directory: &Path) -> f64 {
    let mut store = SqliteStore::open(directory).expect("a new store");
    let mut number = 0;
    let mut commit = |requests: usize| {
        let mut writes = Writes::new();
        for _ in 0..requests {
            number += 1;
            for (part, bytes) in REQUEST_VALUES.iter().enumerate() {
                writes.insert(format!("{part}/{number:012}"), Some(vec![b'x'; *bytes]));
            }
        }
        store.commit(&writes).expect("room");
    };
    let single = measure(SINGLE_COMMITS, || commit(1));
    let grouped = measure(GROUP_COMMITS, || commit(CLIENTS));
    let rate = CLIENTS as f64 * GROUP_COMMITS as f64 / grouped.total;
    println!("  the disk: {SINGLE_COMMITS} durable commits of one request");
    println!("    {:10.0} requests/s   p99 {:8.2} ms", single.per_second, single.p99_ms);
    println!("  the disk: {GROUP_COMMITS} durable commits of {CLIENTS} requests");
    println!("    {rate:10.0} requests/s   p99 {:8.2} ms", grouped.p99_ms);
    rate
}

/// What all clients do at once, again and again: how long each took, in milliseconds.
fn at_once(
    server: &Server,
    for_so_long: Duration,
    call: impl Fn(&mut Line, usize, usize) -> (u16, String) + Sync,
) -> Vec<f64> {
    let until = Instant::now() + for_so_long;
    std::thread::scope(|scope| {
        let call = &call;
        let client = |number: usize| {
            move || {
                let (mut line, mut times) = (server.connect(), Vec::new());
                while Instant::now() < until {
                    let began = Instant::now();
                    let (status, answer) = call(&mut line, number, times.len());
                    assert_eq!(status, 200, "{answer}");
                    times.push(began.elapsed().as_secs_f64() * 1e3);
                }
                times
            }
        };
        let clients: Vec<_> = (0..CLIENTS).map(|number| scope.spawn(client(number))).collect();
        clients.into_iter().flat_map(|client| client.join().expect("no panic")).collect()
    })
}

/// Requests that touch no store: what HTTP takes here, of the server and of its clients together.
fn bare_answers(server: &Server) -> f64 {
    let times = at_once(server, ANSWER_TIME, |line, _, _| line.call("GET", "/health", "", ""));
    let rate = times.len() as f64 / ANSWER_TIME.as_secs_f64();
    println!("  the server: requests that touch no store\n    {rate:10.0} requests/s");
    rate
}

/// What clients were told is durable.
struct Appended {
    requests: usize,
}

/// Every request appends some events, which are durable when it is answered.
fn appends(server: &Server, sessions: &[String], events: usize, answers: f64) -> Appended {
    let event = json!({"type": "user.interrupt"});
    let body = json!({"events": vec![event; events]}).to_string();
    let times = at_once(server, APPEND_TIME, |line, number, count| {
        let key = format!("idempotency-key: {events}-{number}-{count}\r\n");
        line.call("POST", &format!("/v1/sessions/{}/events", sessions[number]), &key, &body)
    });
    let rate = times.len() as f64 / APPEND_TIME.as_secs_f64();
    let (p50, p99) = (percentile(&times, 50), percentile(&times, 99));
    println!("  the server: requests that append {events} events, each with an idempotency key");
    println!("    {rate:10.0} requests/s   p50 {p50:8.2} ms   p99 {p99:8.2} ms");
    println!("    {:10.0} events/s", rate * events as f64);
    println!("    {:10.2} of the requests that touch no store", rate / answers);
    Appended { requests: times.len() }
}

/// The rows of each request that appended so many events, as they are in the store of a server:
/// events, state, answer, and until when it counts; in the order in which they were written.
fn rows_of_requests(data: &Path, events: usize) -> Vec<Vec<Pair>> {
    let mut store = SqliteStore::open(data).expect("the server's");
    let mut all = |folder: &str| {
        let mut range = KeyRange::below(folder, Order::Ascending);
        let mut found = Vec::new();
        loop {
            let some = store.scan(&range, 10_000).expect("read");
            let Some((last, _)) = some.last() else { return found };
            range = range.after(last);
            found.extend(some);
        }
    };
    let states: HashMap<String, Vec<u8>> = all("states").into_iter().collect();
    let logs: HashMap<String, Vec<u8>> = all("events").into_iter().collect();
    let events_by_id: HashMap<&str, &String> =
        logs.keys().map(|key| (key.rsplit('/').next().unwrap_or(key), key)).collect();
    let until: HashMap<String, Vec<u8>> = all("requests").into_iter().collect();
    let mut requests = Vec::new();
    for (key, value) in all("answers") {
        let kept: Value = serde_json::from_slice(&value).expect("JSON");
        let ids = kept["events"]["ids"].as_array().into_iter().flatten();
        let ids: Vec<&str> = ids.filter_map(Value::as_str).collect();
        let Some(at) = ids.first().and_then(|id| events_by_id.get(id)) else { continue };
        if ids.len() != events {
            continue;
        }
        let (folder, _) = at.rsplit_once('/').expect("a folder");
        let state = folder.replacen("events/", "states/", 1);
        let mut rows: Vec<Pair> = ids
            .iter()
            .map(|id| events_by_id[id])
            .map(|at| (at.clone(), logs[at].clone()))
            .collect();
        rows.push((state.clone(), states[&state].clone()));
        let name = key.splitn(3, '/').nth(2).expect("behind the time");
        let at = format!("requests/{name}");
        rows.push((at.clone(), until[&at].clone()));
        rows.push((key, value));
        requests.push((ids[0].to_string(), rows));
    }
    requests.sort_by(|a, b| a.0.cmp(&b.0));
    requests.into_iter().map(|(_, rows)| rows).collect()
}

/// The bare store with the very rows that a server has written: requests in a second.
fn same_rows(data: &Path, directory: &Path, events: usize, answered: usize) -> f64 {
    let requests = rows_of_requests(data, events);
    assert!(requests.len() >= answered, "{} of {answered} are durable", requests.len());
    let directory = directory.join(format!("same-{events}"));
    std::fs::create_dir(&directory).expect("a directory");
    let mut store = SqliteStore::open(&directory).expect("a new store");
    let groups: Vec<Writes> = requests
        .chunks(CLIENTS)
        .map(|group| group.iter().flatten().cloned().map(|(k, v)| (k, Some(v))).collect())
        .collect();
    let mut groups = groups.iter();
    let rounds = groups.len();
    let written = measure(rounds, || store.commit(groups.next().expect("a group")).expect("room"));
    let rate = requests.len() as f64 / written.total;
    println!("  the disk: the same rows, in {rounds} durable commits of {CLIENTS} requests");
    println!("    {rate:10.0} requests/s   p99 {:8.2} ms", written.p99_ms);
    rate
}

/// Streams that have read everything, and wait.
fn idle_streams(server: &Server, sessions: &[String]) {
    let mut line = server.connect();
    let lasts: Vec<Option<String>> =
        sessions.iter().map(|session| last_event(&mut line, session)).collect();
    let before = server.memory_kib();
    let open = |number: usize| {
        let number = number % sessions.len();
        server.stream(&sessions[number], lasts[number].as_deref())
    };
    let streams: Vec<_> = (0..IDLE_STREAMS).map(open).collect();
    let each = server.memory_kib().saturating_sub(before) as f64 / IDLE_STREAMS as f64;
    println!("  {} idle streams: {each:.1} KiB of the server's memory each", streams.len());
}

/// A message, and everything until the session rests, on each stream at once.
fn active_streams(server: &Server, sessions: &[String]) {
    let before = server.memory_kib();
    let until = Instant::now() + ACTIVE_TIME;
    let (memory, events, times) = std::thread::scope(|scope| {
        let client = |session: &'_ String| {
            let session = session.clone();
            move || turns(server, &session, until)
        };
        let clients: Vec<_> = sessions.iter().map(|s| scope.spawn(client(s))).collect();
        std::thread::sleep(ACTIVE_TIME / 2);
        let memory = server.memory_kib();
        let (mut events, mut times) = (0, Vec::new());
        for client in clients {
            let (seen, took) = client.join().expect("no panic");
            events += seen;
            times.extend(took);
        }
        (memory, events, times)
    });
    let seconds = ACTIVE_TIME.as_secs_f64();
    let each = memory.saturating_sub(before) as f64 / ACTIVE_STREAMS as f64;
    println!("  {ACTIVE_STREAMS} active streams: {each:.1} KiB of the server's memory each");
    println!(
        "    {:10.0} turns/s, {:.0} events/s   p50 {:8.2} ms   p99 {:8.2} ms a turn",
        times.len() as f64 / seconds,
        events as f64 / seconds,
        percentile(&times, 50),
        percentile(&times, 99)
    );
}

fn turns(server: &Server, session: &str, until: Instant) -> (usize, Vec<f64>) {
    let mut line = server.connect();
    let last = last_event(&mut line, session);
    let mut stream = server.stream(session, last.as_deref());
    let text = json!([{"type": "text", "text": "hello"}]);
    let body = json!({"events": [{"type": "user.message", "content": text}]}).to_string();
    let (mut events, mut times) = (0, Vec::new());
    while Instant::now() < until {
        let began = Instant::now();
        let (status, answer) =
            line.call("POST", &format!("/v1/sessions/{session}/events"), "", &body);
        assert_eq!(status, 200, "{answer}");
        let mut text = String::new();
        loop {
            text.clear();
            assert_ne!(stream.read_line(&mut text).expect("a stream"), 0, "it has ended");
            events += usize::from(text.starts_with("event: "));
            if text.starts_with("event: session.status_idle") {
                break;
            }
        }
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    (events, times)
}

fn last_event(line: &mut Line, session: &str) -> Option<String> {
    let path = format!("/v1/sessions/{session}/events?limit=1&order=desc");
    let (_, answer) = line.call("GET", &path, "", "");
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    answer["data"][0]["id"].as_str().map(str::to_string)
}

/// From the start of the process until it serves, with so many events in the store.
fn restarts(data: &Path, mut server: Server) {
    let mut store = SqliteStore::open(data).expect("the server's");
    let folder = KeyRange::below("events", Order::Ascending);
    let (first, value) = store.scan(&folder, 1).expect("read").remove(0);
    let (session, _) = first.rsplit_once('/').expect("a folder");
    for portion in 0..RESTART_EVENTS / 1000 {
        let key = |n: usize| format!("{session}/sevt_0000-{portion:04}-{n:04}");
        let events = (0..1000).map(|n| (key(n), Some(value.clone())));
        store.commit(&events.collect()).expect("room");
    }
    drop(store);
    let mut times = Vec::new();
    for _ in 0..RESTARTS {
        let began = Instant::now();
        server.restart(data);
        times.push(began.elapsed().as_secs_f64() * 1e3);
        server.kill();
    }
    let (p50, p99) = (percentile(&times, 50), percentile(&times, 99));
    println!("  restart after kill -9 with more than {RESTART_EVENTS} events");
    println!("    median {p50:8.1} ms   worst {p99:8.1} ms until it serves");
}

struct Measured {
    total: f64,
    per_second: f64,
    p99_ms: f64,
}

fn measure(rounds: usize, mut work: impl FnMut()) -> Measured {
    let began = Instant::now();
    let times: Vec<f64> = (0..rounds)
        .map(|_| {
            let began = Instant::now();
            work();
            began.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    let total = began.elapsed().as_secs_f64();
    Measured { total, per_second: rounds as f64 / total, p99_ms: percentile(&times, 99) }
}

fn percentile(times: &[f64], percent: usize) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times.get((times.len() * percent / 100).min(times.len().saturating_sub(1))).map_or(0.0, |t| *t)
}

/// The real binary.
struct Server {
    child: Child,
    address: String,
    key: String,
    agent: String,
    environment: String,
}

impl Server {
    fn start(data: &Path) -> Server {
        let (child, words) = spawn(data, "127.0.0.1:0", &["--demo"]);
        let [key, agent, environment, address] = words.try_into().expect("four lines");
        Server { child, address, key, agent, environment }
    }

    fn restart(&mut self, data: &Path) {
        self.child = spawn(data, &self.address.clone(), &[]).0;
    }

    /// Memory that an earlier measurement has left to the process is none that a later one takes.
    fn begin_anew(&mut self, data: &Path) {
        self.kill();
        self.restart(data);
    }

    fn kill(&mut self) {
        // Gone already is as good.
        let _gone = self.child.kill();
        self.child.wait().expect("our child");
    }

    fn memory_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    }

    fn connect(&self) -> Line {
        let stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_nodelay(true).expect("a socket");
        stream.set_read_timeout(Some(ANSWER_MAX)).expect("a socket");
        Line { stream: BufReader::new(stream), key: self.key.clone() }
    }

    fn session(&self) -> String {
        let wish = json!({"agent": self.agent, "environment_id": self.environment});
        let (status, made) = self.connect().call("POST", "/v1/sessions", "", &wish.to_string());
        assert_eq!(status, 200, "{made}");
        let made: Value = serde_json::from_str(&made).expect("JSON");
        made["id"].as_str().expect("an id").to_string()
    }

    /// An open stream, behind its head.
    fn stream(&self, session: &str, last: Option<&str>) -> BufReader<TcpStream> {
        let mut line = self.connect();
        let last = last.map_or(String::new(), |last| format!("last-event-id: {last}\r\n"));
        line.send("GET", &format!("/v1/sessions/{session}/events/stream"), &last, "");
        assert_eq!(line.head().0, 200);
        line.stream
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Starts a server; gives the last word of each line up to the one that it serves.
fn spawn(data: &Path, listen: &str, more: &[&str]) -> (Child, Vec<String>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_assay"))
        // The limit of a workspace is less than what the server takes.
        .args(["serve", "--max-requests-per-second", "1000000", "--listen", listen, "--data"])
        .arg(data)
        .args(more)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary");
    let mut words = Vec::new();
    for line in BufReader::new(child.stdout.take().expect("piped")).lines() {
        let line = line.expect("text");
        let word = line.rsplit(' ').next().unwrap_or_default();
        words.push(word.trim_start_matches("http://").to_string());
        if line.starts_with("ready ") {
            return (child, words);
        }
    }
    let ended = child.wait().expect("our child");
    panic!("it does not serve: {ended}, {words:?}")
}

/// A connection that is kept.
struct Line {
    stream: BufReader<TcpStream>,
    key: String,
}

impl Line {
    fn send(&mut self, method: &str, path: &str, more: &str, body: &str) {
        let (key, length) = (&self.key, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: b\r\nx-api-key: {key}\r\n\
             anthropic-version: 2023-06-01\r\nanthropic-beta: managed-agents-2026-04-01\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n{more}\r\n{body}"
        );
        self.stream.get_mut().write_all(request.as_bytes()).expect("it listens");
    }

    /// The status, and the length of what follows.
    fn head(&mut self) -> (u16, usize) {
        let (mut line, mut status, mut length) = (String::new(), 0, 0);
        loop {
            line.clear();
            self.stream.read_line(&mut line).expect("an answer");
            let text = line.trim_end().to_ascii_lowercase();
            if let Some(rest) = text.strip_prefix("http/1.1 ") {
                status = rest[..3].parse().expect("a status");
            } else if let Some(rest) = text.strip_prefix("content-length: ") {
                length = rest.parse().expect("a length");
            } else if text.is_empty() {
                return (status, length);
            }
        }
    }

    fn call(&mut self, method: &str, path: &str, more: &str, body: &str) -> (u16, String) {
        self.send(method, path, more, body);
        let (status, length) = self.head();
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer).expect("an answer");
        (status, String::from_utf8(answer).expect("text"))
    }
}

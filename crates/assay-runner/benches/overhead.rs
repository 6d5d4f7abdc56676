//! What measuring costs: a bare client, the same with its operations recorded, and the same through
//! a proxy, in one run.
//!
//! Two things are measured. Against an echo in memory, how many operations a second the recorder
//! can take. Against an echo over loopback, what recording and the proxy add to one operation at
//! the median. Ratios can be compared between machines; times cannot.

use assay_nemesis::Mesh;
use assay_runner::clock::TrialClock;
use assay_runner::drive::{Crew, Pace};
use assay_runner::recorder::{Honesty, Recorder};
use assay_sut::Client;
use assay_workload::{Call, Reply, Script};
use serde_json::json;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const SECONDS: u64 = 3;
const CLIENTS: usize = 2;
const ROUND_TRIPS: usize = 20_000;
/// The aims: operations a second with the recorder, and what the proxy may add, in microseconds.
const RECORDED_MIN: f64 = 50_000.0;
const PROXY_US_MAX: f64 = 100.0;

/// Answers at once.
struct InMemory;

impl Client for InMemory {
    fn call(&mut self, call: &Call, _: Duration) -> Reply {
        Reply::Ok { output: call.input.clone(), node: None, revision: None }
    }
}

/// Sends a line and waits until it comes back.
struct OverLoopback(TcpStream);

impl OverLoopback {
    fn connect(address: SocketAddr) -> OverLoopback {
        let stream = TcpStream::connect(address).expect("the echo listens");
        stream.set_nodelay(true).expect("an option of every socket");
        OverLoopback(stream)
    }
}

impl Client for OverLoopback {
    fn call(&mut self, call: &Call, _: Duration) -> Reply {
        let line = format!("{:<63}\n", call.input.to_string());
        let mut back = [0; 64];
        let sent = self.0.write_all(line.as_bytes()).and_then(|()| self.0.read_exact(&mut back));
        match sent {
            Ok(()) => Reply::Ok { output: call.input.clone(), node: None, revision: None },
            Err(error) => Reply::Unknown { error: error.to_string(), node: None },
        }
    }
}

struct Writes(u64);

impl Script for Writes {
    fn next(&mut self) -> Option<Call> {
        self.0 += 1;
        Some(Call::new("write", Some(json!("x")), json!(self.0)))
    }

    fn observe(&mut self, _: &Call, _: &Reply) {}
}

fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let (mut stream, mut bytes) = (stream, [0; 4096]);
                let _slow = stream.set_nodelay(true);
                while let Ok(count @ 1..) = stream.read(&mut bytes) {
                    if stream.write_all(&bytes[..count]).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

/// Operations a second without anything around the client.
fn bare_rate() -> f64 {
    let until = Instant::now() + Duration::from_secs(SECONDS);
    let counts: Vec<u64> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..CLIENTS)
            .map(|_| {
                scope.spawn(move || {
                    let (mut script, mut count) = (Writes(0), 0);
                    while Instant::now() < until {
                        let call = script.next().expect("endless");
                        let reply = InMemory.call(&call, Duration::ZERO);
                        script.observe(&call, &reply);
                        count += 1;
                    }
                    count
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("no panic")).collect()
    });
    counts.iter().sum::<u64>() as f64 / SECONDS as f64
}

/// Operations a second with every invocation in the file before it is sent.
fn recorded_rate(directory: &std::path::Path) -> f64 {
    let clock = Arc::new(TrialClock::start());
    let path = directory.join("rate.jsonl");
    let recorder = Recorder::create(&path, Arc::clone(&clock), Honesty::Complete).expect("a file");
    let nodes = ["n1".to_string()];
    let crew = Crew::new(&recorder, &clock, &nodes, CLIENTS);
    crew.until_ms.store(clock.now_ms() + SECONDS * 1_000, Ordering::Relaxed);
    std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            let crew = &crew;
            scope.spawn(move || {
                let mut script = Writes(0);
                crew.work(number, &mut InMemory, &mut script, Pace::Closed, 0).expect("recorded");
            });
        }
    });
    let sent = crew.sent.load(Ordering::Relaxed);
    recorder.finish(sent).expect("finished");
    sent as f64 / SECONDS as f64
}

/// The median of single operations, in microseconds.
fn median_us(client: &mut dyn Client, crew: Option<&Crew<'_>>) -> f64 {
    let mut script = Writes(0);
    let mut took: Vec<Duration> = Vec::with_capacity(ROUND_TRIPS);
    for _ in 0..ROUND_TRIPS {
        let call = script.next().expect("endless");
        let begun = Instant::now();
        let reply = match crew {
            None => client.call(&call, Duration::from_secs(5)),
            Some(crew) => crew.send(0, 0, client, &call, None).expect("recorded"),
        };
        took.push(begun.elapsed());
        assert!(matches!(reply, Reply::Ok { .. }), "{reply:?}");
    }
    took.sort_unstable();
    took[took.len() / 2].as_secs_f64() * 1e6
}

fn main() {
    let directory = tempfile::tempdir().expect("a directory");
    let (bare, recorded) = (bare_rate(), recorded_rate(directory.path()));
    println!("echo in memory, {CLIENTS} clients, {SECONDS} s each");
    println!("  bare client      {bare:>12.0} operations/s");
    println!(
        "  recorded         {recorded:>12.0} operations/s   {:.1} us an operation   \
         aim: at least {RECORDED_MIN}/s: {}",
        CLIENTS as f64 * 1e6 / recorded,
        met(recorded >= RECORDED_MIN)
    );
    let address = echo();
    let mesh = Mesh::new(1).expect("proxies");
    let link = mesh.add("clients", "n1", address).expect("a link");
    let clock = Arc::new(TrialClock::start());
    let path = directory.path().join("latency.jsonl");
    let recorder = Recorder::create(&path, Arc::clone(&clock), Honesty::Complete).expect("a file");
    let nodes = ["n1".to_string()];
    let crew = Crew::new(&recorder, &clock, &nodes, 1);
    let direct = median_us(&mut OverLoopback::connect(address), None);
    let written = median_us(&mut OverLoopback::connect(address), Some(&crew));
    let mut proxied = OverLoopback::connect(mesh.listen(link));
    let through = median_us(&mut proxied, Some(&crew));
    println!("echo over loopback, one client, median of {ROUND_TRIPS} round trips");
    println!("  bare client      {direct:>8.1} us");
    println!("  recorded         {written:>8.1} us   recorder adds {:.1} us", written - direct);
    println!(
        "  and proxied      {through:>8.1} us   proxy adds {:.1} us   \
         aim: under {PROXY_US_MAX} us: {}",
        through - written,
        met(through - written < PROXY_US_MAX)
    );
}

fn met(is_met: bool) -> &'static str {
    if is_met { "met" } else { "missed" }
}

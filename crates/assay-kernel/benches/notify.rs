//! What it costs a server to have its system calls watched: `cargo bench -p assay-kernel`.
//!
//! One client that waits for each answer, so the figures are mostly latencies. etcd is measured
//! where `ASSAY_TEST_ETCD` names it.

use assay_kernel::notify::{Tapped, Watch};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const MEASURED: Duration = Duration::from_secs(4);
const WARM_UP: u32 = 200;
const START_TIME_MAX: Duration = Duration::from_secs(30);

fn main() {
    // Also run by `cargo test`, which only wants to know that it builds.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let none = Watch::default();
    let watches = [
        ("not watched", None),
        ("syncs", Some(Watch { syncs: true, ..none })),
        ("syncs, writes", Some(Watch { syncs: true, writes: true, ..none })),
        ("clock", Some(Watch { clock: true, ..none })),
        ("all", Some(Watch { syncs: true, writes: true, clock: true })),
    ];
    println!("{:<16} {:>14} {:>14} {:>14}", "watched", "redis SET/s", "redis GET/s", "etcd put/s");
    for (name, watch) in watches {
        let [set, get] = redis(watch);
        let put = etcd(watch).map_or("-".to_string(), |put| format!("{put:.0}"));
        println!("{name:<16} {set:>14.0} {get:>14.0} {put:>14}");
    }
}

struct Server(Child);

impl Server {
    fn start(command: &mut Command, watch: Option<Watch>) -> Server {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Server(match watch {
            None => command.spawn().expect("it starts"),
            Some(watch) => Tapped::spawn(command, watch).expect("it starts under watch").0,
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _gone_already = self.0.kill();
        let _reaped = self.0.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("it is bound").port()
}

fn connect(port: u16) -> TcpStream {
    let until = Instant::now() + START_TIME_MAX;
    loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => {
                stream.set_nodelay(true).expect("a socket");
                return stream;
            }
            Err(error) => assert!(Instant::now() < until, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// How often it can be done in a second.
fn rate(mut once: impl FnMut()) -> f64 {
    (0..WARM_UP).for_each(|_| once());
    let (since, mut count) = (Instant::now(), 0_u32);
    while since.elapsed() < MEASURED {
        once();
        count += 1;
    }
    f64::from(count) / since.elapsed().as_secs_f64()
}

/// Each SET is synced.
fn redis(watch: Option<Watch>) -> [f64; 2] {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let port = free_port();
    let mut command = Command::new("redis-server");
    command.args(["--port", &port.to_string(), "--save", "", "--appendonly", "yes"]);
    command.args(["--appendfsync", "always", "--bind", "127.0.0.1", "--dir"]);
    let _server = Server::start(command.arg(directory.path()), watch);
    let mut stream = connect(port);
    let mut lines = BufReader::new(stream.try_clone().expect("a socket"));
    ["SET a 1\r\n", "GET a\r\n"].map(|request| {
        rate(|| {
            stream.write_all(request.as_bytes()).expect("it listens");
            let mut line = String::new();
            lines.read_line(&mut line).expect("an answer");
            if line.starts_with('$') {
                lines.read_line(&mut line).expect("an answer");
            }
        })
    })
}

fn etcd(watch: Option<Watch>) -> Option<f64> {
    let program = std::env::var_os("ASSAY_TEST_ETCD")?;
    let directory = tempfile::tempdir().expect("a temporary directory");
    let [client, peer] = [free_port(), free_port()];
    let _server = Server::start(
        &mut etcd_command(Path::new(&program), directory.path(), [client, peer]),
        watch,
    );
    let mut stream = connect(client);
    let body = r#"{"key":"YQ==","value":"MQ=="}"#;
    let request = format!(
        "POST /v3/kv/put HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut answers = BufReader::new(stream.try_clone().expect("a socket"));
    Some(rate(|| {
        stream.write_all(request.as_bytes()).expect("it listens");
        read_answer(&mut answers);
    }))
}

fn etcd_command(program: &Path, directory: &Path, [client, peer]: [u16; 2]) -> Command {
    let [client, peer] = [client, peer].map(|port| format!("http://127.0.0.1:{port}"));
    let mut command = Command::new(program);
    command.arg("--data-dir").arg(directory);
    command.args(["--listen-client-urls", &client, "--advertise-client-urls", &client]);
    command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
    command.args(["--initial-cluster", &format!("default={peer}")]);
    command
}

fn read_answer(answers: &mut BufReader<TcpStream>) {
    let mut length = 0;
    loop {
        let mut line = String::new();
        answers.read_line(&mut line).expect("an answer");
        let line = line.trim().to_ascii_lowercase();
        if let Some(bytes) = line.strip_prefix("content-length:") {
            length = bytes.trim().parse().expect("a number");
        }
        if line.is_empty() {
            break;
        }
    }
    answers.read_exact(&mut vec![0; length]).expect("a body");
}

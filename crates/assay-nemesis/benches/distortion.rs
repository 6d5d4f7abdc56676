//! What being tested does to a system: one Redis, bare, behind a proxy, in a namespace of its own,
//! behind the switch, on a disk of its own, and with its system calls watched. No fault is on.
//!
//! One client that waits for each answer, so the figures are mostly latencies: `GET` is the network
//! alone, `SET` is synced to disk as well. Ratios can be compared between machines; rates cannot.

use assay_kernel::inside::{Place, Program, enter, enter_with, is_inside};
use assay_kernel::net::{CLIENTS, HubKind, Network, NetworkSpec};
use assay_kernel::notify::{Tapped, Watch};
use assay_kernel::volume::{self, VolumeKind};
use assay_nemesis::Mesh;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const MEASURED: Duration = Duration::from_secs(3);
const WARM_UP: u32 = 200;
const START_TIME_MAX: Duration = Duration::from_secs(30);
/// What was measured outside of all namespaces, for whoever goes on inside.
const BARE: &str = "ASSAY_BENCH_BARE";

fn main() {
    // Also run by `cargo test`, which only wants to know that it builds.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    if is_inside() {
        enter().expect("loopback works inside");
    }
    let outside = std::env::var(BARE).ok().and_then(|text| Rates::of(&text));
    let bare = outside.unwrap_or_else(|| {
        let bare = on_loopback(None, false);
        println!(
            "{:<28} {:>10} {:>8} {:>10} {:>8}",
            "one Redis", "GET/s", "of bare", "SET/s", "of bare"
        );
        show("bare", bare, bare);
        go_inside(bare);
        bare
    });
    rows(bare);
}

/// Goes on in namespaces, where they are to be had; what is bare has been measured before.
fn go_inside(bare: Rates) {
    let measured = (BARE.into(), format!("{} {}", bare.get, bare.set).into());
    let again = Program::again().map(|program| Program { env: vec![measured], ..program });
    match again.and_then(|program| enter_with(&program)) {
        Ok(Place::Outside { code }) => std::process::exit(code),
        Ok(Place::Inside) => {}
        Err(error) => println!("no namespaces here ({error}): their rows are missing"),
    }
}

fn rows(bare: Rates) {
    let none = Watch::default();
    show("bare, inside namespaces", on_loopback(None, false), bare);
    show("behind a proxy", on_loopback(None, true), bare);
    for (name, kind) in
        [("on an ext4 of its own", VolumeKind::Block), ("on FUSE", VolumeKind::Forgetful)]
    {
        let on_it = |volume: &volume::Volume| Ok(redis_in(volume.mount_point(), None, false));
        match volume::with_one(&std::env::temp_dir(), kind, on_it) {
            Ok(rates) => show(name, rates, bare),
            Err(why) => println!("{name:<28} not measured: {why}"),
        }
    }
    for (name, hub) in
        [("in a namespace, bridged", HubKind::Bridge), ("behind the switch", HubKind::Switch)]
    {
        match in_namespace(hub) {
            Ok(rates) => show(name, rates, bare),
            Err(why) => println!("{name:<28} not measured: {why}"),
        }
    }
    let watches = [
        ("watched: syncs", Watch { syncs: true, ..none }),
        ("watched: syncs and writes", Watch { syncs: true, writes: true, ..none }),
        ("watched: clock", Watch { clock: true, ..none }),
        ("watched: all", Watch { syncs: true, writes: true, clock: true }),
    ];
    for (name, watch) in watches {
        show(name, on_loopback(Some(watch), false), bare);
    }
    show("bare, once more", on_loopback(None, false), bare);
}

/// How often a second it can be read and written.
#[derive(Clone, Copy)]
struct Rates {
    get: f64,
    set: f64,
}

impl Rates {
    fn of(text: &str) -> Option<Rates> {
        let (get, set) = text.split_once(' ')?;
        Some(Rates { get: get.parse().ok()?, set: set.parse().ok()? })
    }
}

fn show(name: &str, rates: Rates, bare: Rates) {
    let Rates { get, set } = rates;
    let (of_get, of_set) = (get / bare.get, set / bare.set);
    println!("{name:<28} {get:>10.0} {of_get:>8.2} {set:>10.0} {of_set:>8.2}");
}

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _gone_already = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// A server that syncs every write.
fn redis(bind: &str, port: u16, directory: &std::path::Path) -> Command {
    let mut command = Command::new("redis-server");
    command.args(["--port", &port.to_string(), "--save", "", "--appendonly", "yes"]);
    command.args(["--appendfsync", "always", "--protected-mode", "no", "--bind", bind, "--dir"]);
    command.arg(directory).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn on_loopback(watch: Option<Watch>, proxied: bool) -> Rates {
    let directory = tempfile::tempdir().expect("a temporary directory");
    redis_in(directory.path(), watch, proxied)
}

fn redis_in(directory: &std::path::Path, watch: Option<Watch>, proxied: bool) -> Rates {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    drop(listener);
    let mut command = redis("127.0.0.1", address.port(), directory);
    let _server = Server(match watch {
        None => command.spawn().expect("redis-server starts"),
        Some(watch) => Tapped::spawn(&mut command, watch).expect("it starts under watch").0,
    });
    let mesh = Mesh::new(7).expect("proxies");
    let address = match proxied {
        false => address,
        true => mesh.listen(mesh.add("client", "redis", address).expect("a link")),
    };
    measured(address)
}

fn in_namespace(hub: HubKind) -> Result<Rates, String> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let spec = NetworkSpec { nodes: vec!["n1".to_string()], hub, seed: 7 };
    let network = Network::build(spec).map_err(|error| error.to_string())?;
    let address = SocketAddr::from((network.address("n1").expect("a node"), 6379));
    let mut command = redis("0.0.0.0", 6379, directory.path());
    network.enter_on_exec("n1", &mut command).map_err(|error| error.to_string())?;
    let _server = Server(command.spawn().expect("redis-server starts"));
    std::thread::scope(|scope| {
        let client = scope.spawn(|| {
            network.enter_thread(CLIENTS).map_err(|error| error.to_string())?;
            Ok(measured(address))
        });
        client.join().expect("no panic")
    })
}

fn connect(address: SocketAddr) -> TcpStream {
    let until = Instant::now() + START_TIME_MAX;
    loop {
        if let Ok(stream) = TcpStream::connect(address) {
            stream.set_nodelay(true).expect("a socket");
            return stream;
        }
        assert!(Instant::now() < until, "redis-server does not listen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Asks for something that the server answers as soon as it serves: a proxy listens before it.
fn connected(address: SocketAddr) -> (TcpStream, BufReader<TcpStream>) {
    let until = Instant::now() + START_TIME_MAX;
    loop {
        let mut stream = connect(address);
        let mut lines = BufReader::new(stream.try_clone().expect("a socket"));
        let mut line = String::new();
        let asked = stream.write_all(b"PING\r\n").and_then(|()| lines.read_line(&mut line));
        if asked.is_ok() && line.starts_with("+PONG") {
            return (stream, lines);
        }
        assert!(Instant::now() < until, "redis-server does not answer");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn measured(address: SocketAddr) -> Rates {
    let (mut stream, mut lines) = connected(address);
    let [set, get] = ["SET a 1\r\n", "GET a\r\n"].map(|request| {
        rate(|| {
            stream.write_all(request.as_bytes()).expect("it listens");
            let mut line = String::new();
            lines.read_line(&mut line).expect("an answer");
            if line.starts_with('$') {
                lines.read_line(&mut line).expect("an answer");
            }
        })
    });
    Rates { get, set }
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

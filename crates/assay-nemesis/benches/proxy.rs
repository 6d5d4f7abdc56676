//! `make bench`: what a link costs.
//!
//! Small messages go to an echo server and back, directly and through links without rules, in turns
//! within one run: the machine is the same for both, so the differences and ratios mean something
//! and the figures alone do not.

use assay_nemesis::{LinkCounts, Mesh};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Bytes of a message: a small request.
const MESSAGE_BYTES: usize = 64;
/// Round trips of one client, for the latency.
const ROUND_TRIPS: usize = 5_000;
/// Links and clients, for the throughput.
const LINKS: usize = 20;
/// Messages each client has under way, for the throughput.
const UNDER_WAY: usize = 16;
/// How long the throughput is measured each time.
const MEASURED: Duration = Duration::from_millis(1_500);
/// Turns of both.
const TURNS: usize = 5;
/// The aims: what a link may add, in microseconds, and round trips a second through the links.
const ADDED_US_MAX: f64 = 100.0;
const ROUND_TRIPS_MIN: f64 = 50_000.0;

fn main() {
    let echo = echo_server();
    let mesh = Mesh::new(1).expect("a mesh");
    let add = |n| mesh.add(&format!("c{n}"), "echo", echo).expect("a link");
    let links: Vec<_> = (0..LINKS).map(add).collect();
    let direct = vec![echo; LINKS];
    let proxied: Vec<SocketAddr> = links.iter().map(|link| mesh.listen(*link)).collect();

    let (mut alone, mut linked, mut added) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let (direct_us, linked_us) = (latency_us(echo), latency_us(proxied[0]));
        alone.push(direct_us);
        linked.push(linked_us);
        added.push(linked_us - direct_us);
    }
    println!("one client, {MESSAGE_BYTES} bytes there and back, median of {TURNS} medians:");
    println!("  direct       {:8.1} µs", median(alone));
    println!("  through link {:8.1} µs", median(linked));
    let added = median(added);
    let is_met = met(added < ADDED_US_MAX);
    println!("  added        {added:8.1} µs   aim: under {ADDED_US_MAX} µs: {is_met}");

    for under_way in [1, UNDER_WAY] {
        let (mut alone, mut linked, mut ratio) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..TURNS {
            let (direct, proxied) =
                (throughput(&direct, under_way), throughput(&proxied, under_way));
            alone.push(direct);
            linked.push(proxied);
            ratio.push(proxied / direct);
        }
        println!("{LINKS} links, {under_way} messages under way on each:");
        println!("  direct       {:8.0} round trips/s", median(alone));
        let linked = median(linked);
        let is_met = met(linked >= ROUND_TRIPS_MIN);
        println!(
            "  through link {linked:8.0} round trips/s   \
             aim: at least {ROUND_TRIPS_MIN}/s: {is_met}"
        );
        println!("  ratio        {:8.2}", median(ratio));
    }
    let snapshot = mesh.snapshot();
    let passed = |counts: &LinkCounts| counts.request.bytes_passed;
    println!("  bytes through the links: {}", snapshot.iter().map(passed).sum::<u64>());
}

fn echo_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            std::thread::spawn(move || echo(socket));
        }
    });
    address
}

fn echo(mut socket: TcpStream) {
    socket.set_nodelay(true).expect("a socket");
    let mut buffer = [0; 16 << 10];
    while let Ok(count @ 1..) = socket.read(&mut buffer) {
        if socket.write_all(&buffer[..count]).is_err() {
            return;
        }
    }
}

fn client(address: SocketAddr) -> TcpStream {
    let socket = TcpStream::connect(address).expect("somebody listens");
    socket.set_nodelay(true).expect("a socket");
    socket
}

/// The median of single round trips.
fn latency_us(address: SocketAddr) -> f64 {
    let mut socket = client(address);
    let mut message = [7; MESSAGE_BYTES];
    let one = |_| {
        let begun = Instant::now();
        socket.write_all(&message).expect("it is taken");
        socket.read_exact(&mut message).expect("it comes back");
        begun.elapsed().as_secs_f64() * 1e6
    };
    median((0..ROUND_TRIPS).map(one).collect())
}

/// Round trips per second of one client for each address, together.
fn throughput(addresses: &[SocketAddr], under_way: usize) -> f64 {
    let begun = Instant::now();
    let count: usize = std::thread::scope(|scope| {
        let start = |address: &SocketAddr| {
            let address = *address;
            scope.spawn(move || round_trips(address, under_way, begun + MEASURED))
        };
        let clients: Vec<_> = addresses.iter().map(start).collect();
        clients.into_iter().map(|client| client.join().expect("a client ends")).sum()
    });
    count as f64 / begun.elapsed().as_secs_f64()
}

fn round_trips(address: SocketAddr, under_way: usize, until: Instant) -> usize {
    let mut socket = client(address);
    let message = [7; MESSAGE_BYTES];
    for _ in 0..under_way {
        socket.write_all(&message).expect("it is taken");
    }
    let (mut count, mut bytes, mut buffer) = (0, 0, [0; 4096]);
    while Instant::now() < until {
        bytes += socket.read(&mut buffer).expect("it comes back");
        while bytes >= MESSAGE_BYTES {
            bytes -= MESSAGE_BYTES;
            count += 1;
            socket.write_all(&message).expect("it is taken");
        }
    }
    count
}

fn met(is_met: bool) -> &'static str {
    if is_met { "met" } else { "missed" }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

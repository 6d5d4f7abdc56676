//! How fast hubs are. Started by hand (`--role-speed`): it prints, and asserts nothing.

use crate::support::{as_one, network, udp};
use assay_kernel::net::{HubKind, Network};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

const TIME: Duration = Duration::from_secs(3);

pub fn measure() {
    for hub in [HubKind::Bridge, HubKind::Switch] {
        let network = network(hub);
        let before = network.count("n1", "n2").expect("counters").forwarded;
        let megabits = stream(&network);
        let frames = network.count("n1", "n2").expect("counters").forwarded - before;
        let overruns: u64 =
            network.counts().expect("counters").iter().map(|link| link.packets.overrun).sum();
        println!(
            "{hub:?}: TCP {megabits:.0} Mbit/s, {:.0} packets/s one way, {overruns} overruns",
            frames as f64 / TIME.as_secs_f64()
        );
        let (there, times) = round_trips(&network);
        println!("{hub:?}: UDP round trip {there:?} in the mean of {times}");
    }
}

fn stream(network: &Network) -> f64 {
    let address = network.address("n2").expect("a node");
    let listener = as_one(network, "n2", || TcpListener::bind((address, 0)).expect("a port"));
    let target = listener.local_addr().expect("it is bound");
    let mut sender = as_one(network, "n1", || TcpStream::connect(target).expect("it listens"));
    let (mut receiver, _) = listener.accept().expect("it has connected");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let until = Instant::now() + TIME;
            while Instant::now() < until && sender.write_all(&[7; 64 << 10]).is_ok() {}
        });
        let (mut bytes, mut buffer) = (0, vec![0; 256 << 10]);
        let start = Instant::now();
        while let Ok(length @ 1..) = receiver.read(&mut buffer) {
            bytes += length;
        }
        bytes as f64 * 8e-6 / start.elapsed().as_secs_f64()
    })
}

fn round_trips(network: &Network) -> (Duration, u32) {
    let (one, other) = (udp(network, "n1"), udp(network, "n2"));
    let (here, there) = (one.local_addr().expect("bound"), other.local_addr().expect("bound"));
    let (start, mut times) = (Instant::now(), 0);
    while start.elapsed() < TIME {
        one.send_to(b"ping", there).expect("it is sent");
        other.recv(&mut [0; 16]).expect("it arrives");
        other.send_to(b"pong", here).expect("it is sent");
        one.recv(&mut [0; 16]).expect("it arrives");
        times += 1;
    }
    (start.elapsed() / times, times)
}

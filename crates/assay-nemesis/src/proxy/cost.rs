//! What a link adds to a round trip on this machine, now: so that a report can say how far what it
//! measured may be off.

use super::Mesh;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Round trips of each kind; a few milliseconds in all.
const ROUND_TRIPS: usize = 300;
/// How long a single one may take before it is given up.
const ROUND_TRIP_TIME_MAX: Duration = Duration::from_secs(2);
/// How often to look for connections.
const ACCEPT_STEP: Duration = Duration::from_millis(1);
/// The size of a small request.
const MESSAGE_BYTES: usize = 64;

/// The median of round trips to an echo over loopback.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProxyCost {
    /// Straight there.
    pub bare: Duration,
    /// Through a link without rules.
    pub proxied: Duration,
}

/// Measures it, taking turns, so that both see the same machine.
pub fn cost_of_a_proxy() -> io::Result<ProxyCost> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let mesh = Mesh::new(0)?;
    let link = mesh.add("client", "echo", address)?;
    listener.set_nonblocking(true)?;
    let over = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&over);
    let echo = std::thread::spawn(move || serve(&listener, &told));
    let measured = take_turns(address, mesh.listen(link));
    over.store(true, Ordering::Relaxed);
    drop(mesh);
    let _ended = echo.join();
    measured
}

/// Answers whoever connects until it is over: it must not wait for somebody who never comes.
fn serve(listener: &TcpListener, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, _)) => drop(std::thread::spawn(|| answer(stream))),
            Err(_) => std::thread::sleep(ACCEPT_STEP),
        }
    }
}

fn take_turns(bare: SocketAddr, proxied: SocketAddr) -> io::Result<ProxyCost> {
    let mut streams = [connect(bare)?, connect(proxied)?];
    let mut times = [Vec::with_capacity(ROUND_TRIPS), Vec::with_capacity(ROUND_TRIPS)];
    for _ in 0..ROUND_TRIPS {
        for (stream, times) in streams.iter_mut().zip(&mut times) {
            let (mut message, since) = ([7; MESSAGE_BYTES], Instant::now());
            stream.write_all(&message)?;
            stream.read_exact(&mut message)?;
            times.push(since.elapsed());
        }
    }
    let [bare, proxied] = times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    });
    Ok(ProxyCost { bare, proxied })
}

fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(ROUND_TRIP_TIME_MAX))?;
    Ok(stream)
}

fn answer(mut stream: TcpStream) {
    let _not_delayed = stream.set_nodelay(true).and_then(|()| stream.set_nonblocking(false));
    let mut message = [0; MESSAGE_BYTES];
    while stream.read_exact(&mut message).is_ok() && stream.write_all(&message).is_ok() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_are_measured() {
        let cost = cost_of_a_proxy().expect("loopback works");
        assert!(cost.bare > Duration::ZERO && cost.proxied > Duration::ZERO, "{cost:?}");
    }
}

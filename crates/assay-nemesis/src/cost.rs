//! What each means of testing adds on this machine, now: so that a report can say how far what it
//! measured may be off.
//!
//! Each is measured beside the same without it, taking turns, so that both see the same machine.

use crate::proxy::Mesh;
use assay_kernel::net::{CLIENTS, HubKind, Network, NetworkSpec};
use assay_kernel::notify::{Tapped, Watch};
use assay_kernel::volume::{self, VolumeKind};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
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
/// The node of a network that is only measured, and the port its echo listens on.
const NODE: &str = "n1";
const PORT: u16 = 12_000;
/// System calls of one process, and processes of each kind.
const CALLS: u32 = 200;
const PROCESSES: usize = 5;
/// Writes with a sync to each of two disks, and the size of one.
const SYNCED_WRITES: usize = 20;
const BLOCK_BYTES: usize = 4096;

/// The same thing done without and with a means of testing: medians.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cost {
    /// Without it.
    pub bare: Duration,
    /// With it.
    pub with: Duration,
}

impl Cost {
    /// What it adds.
    pub fn added(&self) -> Duration {
        self.with.saturating_sub(self.bare)
    }
}

/// A round trip to an echo over loopback, straight and through a link without rules.
pub fn cost_of_a_proxy() -> io::Result<Cost> {
    let echo = Echo::listen(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?)?;
    let mesh = Mesh::new(0)?;
    let link = mesh.add("client", "echo", echo.address)?;
    take_turns([connect(echo.address)?, connect(mesh.listen(link))?])
}

/// A round trip to an echo over loopback, and to one in a namespace of its own behind a hub without
/// rules. To be asked inside ([`assay_kernel::inside`]).
pub fn cost_of_a_network(hub: HubKind) -> io::Result<Cost> {
    let spec = NetworkSpec { nodes: vec![NODE.to_string()], hub, seed: 0 };
    let network = Network::build(spec).map_err(io::Error::other)?;
    let there = SocketAddr::from((network.address(NODE).map_err(io::Error::other)?, PORT));
    // A socket stays in the namespace of the thread that made it.
    let listener = within(&network, NODE, || TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT)))?;
    let _far = Echo::listen(listener)?;
    let near = Echo::listen(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?)?;
    take_turns([connect(near.address)?, within(&network, CLIENTS, || connect(there))?])
}

fn within<T: Send>(
    network: &Network,
    name: &str,
    make: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    std::thread::scope(|scope| {
        let made = scope.spawn(|| {
            network.enter_thread(name).map_err(io::Error::other)?;
            make()
        });
        made.join().unwrap_or_else(|_| Err(io::Error::other("the thread panicked")))
    })
}

/// A system call (fdatasync of a file that is clean) of a process that is let be, and of one whose
/// calls are looked at before the kernel gets them. The file is made in this directory.
pub fn cost_of_a_watched_call(directory: &Path) -> io::Result<Cost> {
    let path = directory.join("watched-call");
    std::fs::write(&path, "x")?;
    let measured = timed_calls(&path);
    std::fs::remove_file(&path)?;
    measured
}

fn timed_calls(path: &Path) -> io::Result<Cost> {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..PROCESSES {
        for (times, watched) in times.iter_mut().zip([false, true]) {
            // What a process takes to start and end is no part of a call.
            let (one, many) = (synced(path, 1, watched)?, synced(path, 1 + CALLS, watched)?);
            times.push(many.saturating_sub(one) / CALLS);
        }
    }
    Ok(medians(times))
}

/// How long a process takes that syncs a file so many times.
fn synced(path: &Path, calls: u32, watched: bool) -> io::Result<Duration> {
    let mut command = Command::new("sync");
    command.arg("--data").args((0..calls).map(|_| path));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    let (mut child, tap) = match watched {
        false => (command.spawn()?, None),
        true => {
            let watch = Watch { syncs: true, ..Watch::default() };
            let (child, tap) = Tapped::spawn(&mut command, watch).map_err(io::Error::other)?;
            (child, Some(tap))
        }
    };
    let status = child.wait()?;
    let took = begun.elapsed();
    if !status.success() {
        return Err(io::Error::other(format!("`sync --data` ended with {status}")));
    }
    // A watch that sees nothing measures nothing.
    let seen = tap.map_or(u64::from(calls), |tap| tap.counts().syncs);
    if seen < u64::from(calls) {
        return Err(io::Error::other(format!("of {calls} calls {seen} were seen")));
    }
    Ok(took)
}

/// A write of `BLOCK_BYTES` with its sync, to a file below this directory and to one on a disk of
/// a node's own, made there for it. Both lie in a directory made for them: what has a name that
/// others can guess may be a link by now, and a run beside ours would write the same file.
pub fn cost_of_a_disk(kind: VolumeKind, directory: &Path) -> io::Result<Cost> {
    let measured = volume::with_one(directory, kind, |volume| {
        let bare = volume.mount_point().with_file_name("bare");
        Ok(timed_writes([&bare, &volume.mount_point().join("written")]))
    });
    measured.map_err(io::Error::other)?
}

fn timed_writes(paths: [&Path; 2]) -> io::Result<Cost> {
    let [bare, with] = paths.map(std::fs::File::create);
    let mut times = [Vec::with_capacity(SYNCED_WRITES), Vec::with_capacity(SYNCED_WRITES)];
    let mut files = [bare?, with?];
    for _ in 0..SYNCED_WRITES {
        for (file, times) in files.iter_mut().zip(&mut times) {
            let since = Instant::now();
            file.write_all(&[7; BLOCK_BYTES])?;
            file.sync_data()?;
            times.push(since.elapsed());
        }
    }
    Ok(medians(times))
}

/// An echo that answers until this is dropped.
struct Echo {
    address: SocketAddr,
    over: Arc<AtomicBool>,
    serving: Option<std::thread::JoinHandle<()>>,
}

impl Echo {
    fn listen(listener: TcpListener) -> io::Result<Echo> {
        let address = listener.local_addr()?;
        listener.set_nonblocking(true)?;
        let over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&over);
        let serving = Some(std::thread::spawn(move || serve(&listener, &told)));
        Ok(Echo { address, over, serving })
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let _ended = self.serving.take().map(std::thread::JoinHandle::join);
    }
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

fn take_turns(mut streams: [TcpStream; 2]) -> io::Result<Cost> {
    let mut times = [Vec::with_capacity(ROUND_TRIPS), Vec::with_capacity(ROUND_TRIPS)];
    for _ in 0..ROUND_TRIPS {
        for (stream, times) in streams.iter_mut().zip(&mut times) {
            let (mut message, since) = ([7; MESSAGE_BYTES], Instant::now());
            stream.write_all(&message)?;
            stream.read_exact(&mut message)?;
            times.push(since.elapsed());
        }
    }
    Ok(medians(times))
}

fn medians(times: [Vec<Duration>; 2]) -> Cost {
    let [bare, with] = times.map(|mut times| {
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    });
    Cost { bare, with }
}

fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, ROUND_TRIP_TIME_MAX)?;
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
        assert!(cost.bare > Duration::ZERO && cost.with > Duration::ZERO, "{cost:?}");
    }

    #[test]
    fn disks_that_are_measured_are_gone_afterwards() {
        let directory = tempfile::tempdir().expect("a directory");
        for kind in [VolumeKind::Block, VolumeKind::Forgetful] {
            match cost_of_a_disk(kind, directory.path()) {
                Ok(cost) => assert!(cost.bare > Duration::ZERO && cost.with > Duration::ZERO),
                Err(why) => eprintln!("SKIPPED: {} cannot be had here: {why}", kind.words()),
            }
            assert_eq!(std::fs::read_dir(directory.path()).expect("a directory").count(), 0);
        }
    }

    #[test]
    fn a_link_that_was_planted_where_disks_are_measured_is_not_written_through() {
        let [directory, elsewhere] = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
        let kept = elsewhere.path().join("kept");
        std::fs::write(&kept, "as it was").expect("a file");
        let planted = directory.path().join("written-bare");
        std::os::unix::fs::symlink(&kept, &planted).expect("a link");
        if let Err(why) = cost_of_a_disk(VolumeKind::Forgetful, directory.path()) {
            eprintln!("SKIPPED: a disk cannot be had here: {why}");
        }
        let left = std::fs::read_to_string(&kept).expect("readable");
        assert!(left == "as it was", "{} bytes were written through it", left.len());
        assert!(planted.is_symlink(), "and it is none of ours to remove");
    }

    #[test]
    fn calls_that_are_measured_were_watched() {
        let directory = tempfile::tempdir().expect("a directory");
        match assay_kernel::notify::probe() {
            Ok(()) => {
                cost_of_a_watched_call(directory.path()).expect("all calls are seen");
                assert_eq!(std::fs::read_dir(directory.path()).expect("a directory").count(), 0);
            }
            Err(why) => eprintln!("SKIPPED: system calls cannot be answered here: {why}"),
        }
    }
}

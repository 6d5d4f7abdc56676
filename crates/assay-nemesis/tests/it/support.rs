//! A server that answers, clients that ask, and waiting with a bound.

use assay_nemesis::{
    Action, Direction, Fault, FaultId, Injector, JOURNAL_NAME, LinkId, LinkRule, Mesh, Process,
    Rules, Window,
};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Long enough for a machine that does ten other things; nobody waits it out on a good day.
pub const PATIENCE: Duration = Duration::from_secs(20);
/// How long a client waits for an answer that must not come.
pub const SILENCE: Duration = Duration::from_millis(150);

/// Waits until `done`; looks again and again, never for longer than [`PATIENCE`].
#[track_caller]
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < until, "waited {PATIENCE:?} for: {what}");
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

/// Sends back what it gets, and counts what got there.
pub struct Echo {
    pub address: SocketAddr,
    pub received: Arc<AtomicU64>,
    pub connections: Arc<AtomicU64>,
}

impl Echo {
    pub fn start() -> Echo {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let (received, connections) = (Arc::default(), Arc::default());
        let echo = Echo { address, received, connections };
        let (received, connections) = (Arc::clone(&echo.received), Arc::clone(&echo.connections));
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                connections.fetch_add(1, Ordering::SeqCst);
                let received = Arc::clone(&received);
                std::thread::spawn(move || answer(socket, &received));
            }
        });
        echo
    }

    pub fn received(&self) -> u64 {
        self.received.load(Ordering::SeqCst)
    }

    pub fn connections(&self) -> u64 {
        self.connections.load(Ordering::SeqCst)
    }
}

fn answer(mut socket: TcpStream, received: &AtomicU64) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = socket.read(&mut buffer) {
        received.fetch_add(count as u64, Ordering::SeqCst);
        if socket.write_all(&buffer[..count]).is_err() {
            return;
        }
    }
}

/// A mesh with one link from `a` to an echo server `b`.
pub fn one_link() -> (Mesh, LinkId, Echo) {
    let (mesh, echo) = (Mesh::new(1).expect("a mesh"), Echo::start());
    let link = mesh.add("a", "b", echo.address).expect("a link");
    (mesh, link, echo)
}

pub fn on(link: LinkId, direction: Direction, rules: Rules) -> LinkRule {
    LinkRule { link, direction, rules }
}

/// A connection through a link.
pub fn connect(mesh: &Mesh, link: LinkId) -> TcpStream {
    let socket = TcpStream::connect(mesh.listen(link)).expect("the proxy listens");
    socket.set_nodelay(true).expect("a socket");
    socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
    socket
}

/// Asks and gets the answer.
#[track_caller]
pub fn ask(socket: &mut TcpStream, question: &[u8]) {
    let answer = try_ask(socket, question, PATIENCE).expect("an answer");
    assert_eq!(answer, question);
}

/// Asks and waits for the answer so long.
pub fn try_ask(
    socket: &mut TcpStream,
    question: &[u8],
    wait: Duration,
) -> std::io::Result<Vec<u8>> {
    socket.set_read_timeout(Some(wait))?;
    socket.write_all(question)?;
    let mut answer = vec![0; question.len()];
    socket.read_exact(&mut answer)?;
    Ok(answer)
}

/// Nothing arrives for a while, and the connection stays.
#[track_caller]
pub fn silent(socket: &mut TcpStream) {
    socket.set_read_timeout(Some(SILENCE)).expect("a socket");
    let error = socket.read(&mut [0; 64]).expect_err("nothing is to arrive");
    let quiet = [std::io::ErrorKind::WouldBlock, std::io::ErrorKind::TimedOut];
    assert!(quiet.contains(&error.kind()), "silence, not {error}");
}

/// The connection is reset, not closed in order.
#[track_caller]
pub fn reset(socket: &mut TcpStream) {
    socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
    let mut rest = Vec::new();
    let error = socket.read_to_end(&mut rest).expect_err("a reset, not an end");
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

/// A child that does nothing for a long time, and is gone when this is dropped.
pub struct Sleeper(pub Child);

impl Sleeper {
    /// It has begun: what is done to it does not hit the loader of its program.
    pub fn start() -> Sleeper {
        let mut command = Command::new("sh");
        command.args(["-c", "echo on; read -r _"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a shell can be started");
        let mut line = [0; 3];
        let said = child.stdout.as_mut().expect("a pipe").read_exact(&mut line);
        said.expect("it says that it is on");
        Sleeper(child)
    }

    pub fn process(&self) -> Process {
        Process::of(self.0.id()).expect("it has just been started")
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        // SIGKILL also ends a process that is stopped.
        let _gone_already = self.0.kill();
        let _reaped = self.0.wait();
    }
}

pub fn fault(id: &str, action: Action) -> Fault {
    let id = FaultId::named(id).expect("an id of the catalogue");
    Fault { id, target: "n1".to_string(), window: Window::default(), action }
}

/// A directory with an injector that journals there.
pub fn injector(mesh: Option<Arc<Mesh>>) -> (tempfile::TempDir, PathBuf, Injector) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let journal = directory.path().join(JOURNAL_NAME);
    let injector = Injector::new(&journal, mesh).expect("a new journal");
    (directory, journal, injector)
}

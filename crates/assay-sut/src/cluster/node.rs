//! One node: its process, from the start to the end.

use super::wires::MAELSTROM_PORT;
use crate::command::Scope;
use crate::error::SutError;
use crate::gear::Fittings;
use crate::heartbeat::Heartbeat;
use crate::logs::{lines_with, tail};
use crate::maelstrom::{Body, INIT_TIME_MAX, Relay, RelayConfig, Services};
use crate::processes::Processes;
use crate::roster::Place;
use crate::spec::{Description, ReadySpec, StopSignal};
use assay_drivers::http::Connection;
use assay_kernel::net::Network;
use assay_nemesis::{DialPorts, Process, ProcessState, SIGNAL_TIME_MAX};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::fs::{File, OpenOptions};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How often to look whether a node is ready or has ended.
const LOOK_STEP: Duration = Duration::from_millis(10);
/// How long a node is watched that cannot be asked whether it is well: one that was refused a write
/// ends at its next, and servers write several times a second.
const WATCHED_TIME: Duration = Duration::from_secs(1);
/// How long one question to a node that is starting may take.
const ASK_TIME_MAX: Duration = Duration::from_secs(1);

/// A node.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) data: PathBuf,
    pub(crate) log: PathBuf,
    pub(crate) scope: Scope,
    pub(crate) heartbeat: Heartbeat,
    /// What it was equipped with, so that faults can reach it.
    pub(crate) fittings: Fittings,
    /// Where its process is entered, for those who ask whose a connection is.
    place: Place,
    /// The network it is in, if it is in one.
    network: Option<Arc<Network>>,
    running: Mutex<Running>,
}

#[derive(Debug, Default)]
struct Running {
    child: Option<(Child, Process)>,
    /// Times it was started again and became ready.
    restarts: u64,
    ends: Option<MaelstromEnds>,
    relay: Option<Relay>,
    /// The first of its words that relays which have ended could not carry.
    nonsense: Option<String>,
}

/// What a node that speaks Maelstrom is connected by: its input and output, the socket on which
/// others reach it, and where it reaches them.
#[derive(Debug)]
struct MaelstromEnds {
    stdin: ChildStdin,
    stdout: ChildStdout,
    listener: TcpListener,
    peers: std::collections::BTreeMap<String, SocketAddr>,
}

/// What a node has to do to be ready after a start.
pub(crate) struct Mark {
    lines_before: u64,
}

impl Node {
    pub(crate) fn new(
        name: &str,
        data: PathBuf,
        log: PathBuf,
        scope: Scope,
        place: Place,
        fittings: Fittings,
        network: Option<Arc<Network>>,
    ) -> Node {
        let (name, heartbeat, running) = (name.to_string(), Heartbeat::default(), Mutex::default());
        Node { name, data, log, scope, heartbeat, fittings, place, network, running }
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().expect("nothing panics while it holds a node")
    }

    /// Its process, if it runs.
    pub(crate) fn process(&self) -> Option<Process> {
        let process = self.running().child.as_ref().map(|(_, process)| *process)?;
        process.state().is_ok_and(|state| state != ProcessState::Gone).then_some(process)
    }

    pub(crate) fn restarts(&self) -> u64 {
        self.running().restarts
    }

    pub(crate) fn count_restart(&self) {
        self.running().restarts += 1;
    }

    /// Starts it. What an earlier process has left in its group ends first.
    pub(crate) fn spawn(
        &self,
        described: &Description,
        processes: &Mutex<Processes>,
    ) -> Result<(Process, Mark), SutError> {
        let mut running = self.running();
        if let Some((_, process)) = &running.child
            && process.state().is_ok_and(|state| state != ProcessState::Gone)
        {
            return Err(SutError::StillRunning { node: self.name.clone() });
        }
        self.finish(&mut running, processes);
        let lines_before = match &described.node.ready.log {
            Some(text) => lines_with(&self.log, text),
            None => 0,
        };
        let listener = self.listener(described)?;
        let mut command = self.command(described)?;
        let spawned = self.fittings.spawn(&mut command);
        let mut child = spawned.map_err(|error| self.no_start(&command, error))?;
        let failed = |child: &mut Child, source| {
            let _ended_already = child.kill().and_then(|()| child.wait());
            SutError::Io { doing: format!("keep account of {}", self.name), source }
        };
        let process = match Process::of(child.id()) {
            Ok(process) => process,
            Err(error) => return Err(failed(&mut child, std::io::Error::other(error))),
        };
        self.place.enter(child.id());
        let entered = lock(processes).started(&self.name, process);
        if let Err(source) = entered {
            return Err(failed(&mut child, source));
        }
        if let Some(listener) = listener {
            let ends = self.ends(&mut child, listener);
            running.ends = Some(ends.map_err(|source| failed(&mut child, source))?);
        }
        running.child = Some((child, process));
        Ok((process, Mark { lines_before }))
    }

    fn command(&self, described: &Description) -> Result<Command, SutError> {
        let arguments = self.scope.arguments(&described.node.command);
        let log = || -> std::io::Result<File> {
            OpenOptions::new().create(true).append(true).open(&self.log)
        };
        let opened = log().and_then(|log| Ok((log.try_clone()?, log)));
        let (stdout, stderr) =
            opened.map_err(SutError::io(format!("write to {}", self.log.display())))?;
        let program = arguments.first().cloned().unwrap_or_default();
        let mut command = Command::new(program);
        command.args(&arguments[1..]).current_dir(&self.data).process_group(0).stderr(stderr);
        match described.client.maelstrom {
            true => command.stdin(Stdio::piped()).stdout(Stdio::piped()),
            false => command.stdin(Stdio::null()).stdout(stdout),
        };
        command.envs(self.scope.environment());
        for (name, template) in &described.node.environment {
            command.env(name, self.scope.text(template));
        }
        if let Some(network) = &self.network {
            network.enter_on_exec(&self.name, &mut command)?;
        }
        Ok(command)
    }

    /// Where others reach a node that speaks Maelstrom: a new socket for each start, because its
    /// port is closed while it is down, as that of any process is.
    fn listener(&self, described: &Description) -> Result<Option<TcpListener>, SutError> {
        if !described.client.maelstrom {
            return Ok(None);
        }
        let address = self.address(MAELSTROM_PORT);
        let taken = |source| SutError::PortTaken { node: self.name.clone(), address, source };
        TcpListener::bind(address).map(Some).map_err(taken)
    }

    fn ends(&self, child: &mut Child, listener: TcpListener) -> std::io::Result<MaelstromEnds> {
        let missing = || std::io::Error::other("standard input and output are not piped");
        let peers = self.scope.links.values().flat_map(|links| self.scope.names.iter().zip(links));
        Ok(MaelstromEnds {
            stdin: child.stdin.take().ok_or_else(missing)?,
            stdout: child.stdout.take().ok_or_else(missing)?,
            listener,
            peers: peers.map(|(name, address)| (name.clone(), *address)).collect(),
        })
    }

    /// Lets the relay take over: from now on the node can be reached.
    pub(crate) fn attach(
        &self,
        node_names: Vec<String>,
        services: Services,
        setup: Vec<Body>,
    ) -> Result<(), SutError> {
        let Some(ends) = self.running().ends.take() else { return Ok(()) };
        let config = RelayConfig {
            name: self.name.clone(),
            node_names,
            peers: ends.peers,
            services,
            setup,
            init_time_max: INIT_TIME_MAX,
        };
        // Without the lock: a node may take its time to say that it is initialised.
        match Relay::attach(config, ends.stdin, ends.stdout, ends.listener) {
            Ok(relay) => self.running().relay = Some(relay),
            Err(error) => return Err(self.did_not_start(error.to_string())),
        }
        Ok(())
    }

    /// The first thing it said that its relay could not carry, because it is no message.
    pub(crate) fn nonsense(&self) -> Option<String> {
        let running = self.running();
        let now = || running.relay.as_ref().and_then(Relay::trouble);
        running.nonsense.clone().or_else(now)
    }

    fn no_start(&self, command: &Command, error: std::io::Error) -> SutError {
        match error.kind() {
            std::io::ErrorKind::NotFound => {
                let program = command.get_program().to_string_lossy().into_owned();
                SutError::Missing { capabilities: vec![program] }
            }
            _ => SutError::Io { doing: format!("start {}", self.name), source: error },
        }
    }

    /// Waits until it is ready.
    pub(crate) fn wait_ready(
        &self,
        ready: &ReadySpec,
        mark: &Mark,
        dials: &DialPorts,
        processes: &Mutex<Processes>,
    ) -> Result<(), SutError> {
        let until = Instant::now() + ready.within();
        loop {
            if self.is_gone() {
                return Err(self.did_not_start(self.end(processes)));
            }
            if self.is_ready(ready, mark, dials) {
                return Ok(());
            }
            if Instant::now() > until {
                let why = format!("it was not ready within {:?}", ready.within());
                return Err(self.did_not_start(why));
            }
            std::thread::sleep(LOOK_STEP);
        }
    }

    fn is_ready(&self, ready: &ReadySpec, mark: &Mark, dials: &DialPorts) -> bool {
        if let Some(get) = &ready.get {
            let mut connection = Connection::of_probe(self.address(&get.port), dials.clone());
            let deadline = Instant::now() + ASK_TIME_MAX;
            let answer = connection.request("GET", &get.path, b"", deadline);
            return answer.is_ok_and(|answer| answer.status == 200);
        }
        if let Some(port) = &ready.connect {
            return TcpStream::connect_timeout(&self.address(port), ASK_TIME_MAX).is_ok();
        }
        match &ready.log {
            Some(text) => lines_with(&self.log, text) > mark.lines_before,
            None => true,
        }
    }

    /// Looks whether it lives on: waits until it is ready or gone, but not longer than this. One
    /// that has just been refused a write may be about to end, and would still be there. A line of
    /// its log was written long ago and says nothing of now: of those who have only that it is
    /// looked for a while whether they go.
    pub(crate) fn lives(&self, ready: &ReadySpec, dials: &DialPorts, time_max: Duration) -> bool {
        let is_asked = ready.get.is_some() || ready.connect.is_some();
        let time_max = if is_asked { time_max } else { time_max.min(WATCHED_TIME) };
        let (until, mark) = (Instant::now() + time_max, Mark { lines_before: 0 });
        while !self.is_gone() {
            let is_ready = is_asked && self.is_ready(ready, &mark, dials);
            if is_ready || Instant::now() > until {
                return !self.is_gone();
            }
            std::thread::sleep(LOOK_STEP);
        }
        false
    }

    /// Where it really listens.
    pub(crate) fn address(&self, port: &str) -> SocketAddr {
        let addresses = self.scope.listen.get(port);
        let address = addresses.zip(self.scope.node).and_then(|(all, node)| all.get(node));
        *address.expect("descriptions name only ports they have")
    }

    pub(crate) fn did_not_start(&self, why: String) -> SutError {
        let (node, log) = (self.name.clone(), self.log.clone());
        SutError::DidNotStart { node, why, tail: tail(&log), log }
    }

    /// Asks it to end.
    pub(crate) fn ask_to_end(&self, signal: StopSignal) {
        let running = self.running();
        let Some((_, process)) = &running.child else { return };
        let signal = match signal {
            StopSignal::Term => Signal::TERM,
            StopSignal::Int => Signal::INT,
            StopSignal::Quit => Signal::QUIT,
            StopSignal::Kill => Signal::KILL,
        };
        // Nobody has waited for the child yet, so its number is still its own. One that is stopped
        // hears nothing before it is resumed.
        if let Some(pid) = i32::try_from(process.pid).ok().and_then(Pid::from_raw) {
            let _ended_already = kill_process(pid, signal);
            let _ended_already = kill_process(pid, Signal::CONT);
        }
    }

    /// Whether it has ended by itself.
    pub(crate) fn is_gone(&self) -> bool {
        let running = self.running();
        running.child.as_ref().is_none_or(|(_, process)| {
            process.state().is_ok_and(|state| state == ProcessState::Gone)
        })
    }

    /// Waits until it has ended, but not longer than this.
    pub(crate) fn wait_gone(&self, time_max: Duration) {
        let until = Instant::now() + time_max;
        while !self.is_gone() && Instant::now() < until {
            std::thread::sleep(LOOK_STEP);
        }
    }

    /// Kills what is left of it, and says how it ended.
    pub(crate) fn end(&self, processes: &Mutex<Processes>) -> String {
        self.finish(&mut self.running(), processes)
    }

    /// Until the child is waited for its number, and that of its group, belongs to nobody else: so
    /// the group is killed first.
    fn finish(&self, running: &mut Running, processes: &Mutex<Processes>) -> String {
        let trouble = running.relay.as_ref().and_then(Relay::trouble);
        running.nonsense = running.nonsense.take().or(trouble);
        (running.ends, running.relay) = (None, None);
        let Some((mut child, process)) = running.child.take() else {
            return "it was stopped".to_string();
        };
        kill_group(process.pid);
        match child.kill().and_then(|()| child.wait()) {
            Ok(status) => {
                // If this cannot be written, the next one finds that it has ended.
                let _found_later = lock(processes).ended(&self.name, process);
                format!("it ended with {status}")
            }
            Err(error) => format!("it cannot be waited for: {error}"),
        }
    }
}

/// Kills a process group and waits until all of it has ended: a killed server goes on holding its
/// ports and its directory until the kernel has taken its memory back, and whoever is started
/// before that is turned away.
fn kill_group(leader: u32) {
    let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) else { return };
    let until = Instant::now() + SIGNAL_TIME_MAX;
    loop {
        // Again each time: one that is just being started may have missed it.
        let _nobody_left = kill_process_group(group, Signal::KILL);
        // Those that cannot be listed cannot be waited for; one that is frozen may not end at all.
        let is_empty = Process::of_group(leader).is_ok_and(|left| left.is_empty());
        if is_empty || Instant::now() > until {
            return;
        }
        std::thread::sleep(LOOK_STEP);
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nothing panics while it holds this")
}

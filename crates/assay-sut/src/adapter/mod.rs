//! Clients in any language: a process that speaks JSON lines on its standard input and output.
//!
//! An adapter is a few dozen lines around the library its users really use (docs/formats/
//! client-protocol.md, and examples/clients/ for two of them). Assay starts one process for each
//! client, asks it for one operation after the other, and believes what it says about outcomes:
//! *ok* took effect, *fail* never will, *info* nobody knows. What it does not say is unknown.
//!
//! ```
//! use assay_sut::{AdapterClient, AdapterConfig, Client};
//! use assay_workload::{Call, Reply};
//! use std::time::Duration;
//!
//! # let directory = tempfile::tempdir()?;
//! let echo = r#"
//! read init; echo '{"type":"ready"}'
//! while read invoke; do echo '{"id":1,"type":"ok","output":5}'; done"#;
//! let mut config = AdapterConfig::new(vec!["sh".into(), "-c".into(), echo.into()]);
//! config.log = directory.path().join("client-0.log");
//! config.names = vec!["n1".into()];
//! config.addresses = vec!["127.0.0.1:7001".parse()?];
//! let mut client = AdapterClient::start(config)?;
//! let call = Call::new("read", Some("x".into()), serde_json::Value::Null);
//! let reply = client.call(&call, Duration::from_secs(10));
//! assert_eq!(reply, Reply::Ok { output: 5.into(), node: None, revision: None });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A call never blocks longer than it may, an adapter that ends is started again a bounded number
//! of times, and one that says what makes no sense is given up: an adapter that is wrong about one
//! thing cannot be believed about another.

mod among;
mod config;
mod process;
mod protocol;
mod serve;
mod watch;

pub(crate) use among::ClientProcesses;
pub use config::{AdapterConfig, READY_TIME_MAX, RESTARTS_MAX, UNANSWERED_MAX};
pub use serve::serve;
pub use watch::{AdapterCounts, AdapterWatch};

use crate::json_lines::LINE_BYTES_MAX;
use crate::{Client, ClientError};
use assay_workload::{Call, Reply};
use process::{AdapterProcess, Heard, LOOK_STEP};
use protocol::{Answer, Say};
use std::collections::BTreeSet;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};
use watch::Event;

/// How far a process has come.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Stage {
    /// It was told who it is, at this time, and has not said that it is ready.
    Starting(Instant),
    Ready,
}

/// A client whose operations are done by an adapter process.
#[derive(Debug)]
pub struct AdapterClient {
    config: AdapterConfig,
    process: Option<(AdapterProcess, Stage)>,
    id_last: u64,
    /// Calls that were given up before they were answered: their answers may still come.
    unanswered: BTreeSet<u64>,
    watch: AdapterWatch,
    /// Where its processes are listed.
    among: ClientProcesses,
    /// When the process was last seen stopped.
    frozen_at: Option<Instant>,
}

/// Why a call cannot be made: then nothing was sent, and the operation has failed.
struct NotNow(String);

/// What an answer is to the one who waits.
enum Meaning {
    Reply(Reply),
    /// The answer to a call that is no longer waited for.
    Late,
}

impl AdapterClient {
    /// Starts the adapter and waits until it is ready.
    pub fn start(config: AdapterConfig) -> Result<AdapterClient, ClientError> {
        AdapterClient::start_among(config, ClientProcesses::default())
    }

    /// The same as one of several.
    pub(crate) fn start_among(
        config: AdapterConfig,
        among: ClientProcesses,
    ) -> Result<AdapterClient, ClientError> {
        config.check().map_err(|message| ClientError { message })?;
        let (watch, unanswered, process) = (AdapterWatch::default(), BTreeSet::new(), None);
        among.watch(&watch);
        let (id_last, frozen_at) = (0, None);
        let mut client =
            AdapterClient { config, process, id_last, unanswered, watch, among, frozen_at };
        client.spawn().map_err(|message| ClientError { message })?;
        let until = Instant::now() + client.config.ready_time_max;
        client.await_ready(until).map_err(|NotNow(message)| ClientError { message })?;
        Ok(client)
    }

    /// How it is doing; can be asked while somebody else uses the client, and after it is gone.
    pub fn watch(&self) -> AdapterWatch {
        self.watch.clone()
    }

    fn spawn(&mut self) -> Result<(), String> {
        let command = self.config.command()?;
        let process = AdapterProcess::spawn(command, &self.among)
            .map_err(|error| format!("cannot start `{}`: {error}", self.config.program()))?;
        // Were it not taken, the adapter would be gone, which is heard as well.
        process.say(self.config.init().line());
        self.process = Some((process, Stage::Starting(Instant::now())));
        Ok(())
    }

    /// Sees to it that there is an adapter that can take a call, until the deadline.
    fn make_ready(&mut self, deadline: Instant) -> Result<(), NotNow> {
        if let Some(why) = self.watch.given_up() {
            return Err(NotNow(why));
        }
        self.hear_what_came()?;
        self.await_thaw(deadline)?;
        if self.has_much_to_answer() {
            // It may be stuck for good, and what is asked of it only piles up.
            self.process = None;
            self.unanswered.clear();
        }
        if self.process.is_none() {
            if self.watch.counts().restarts >= self.config.restarts_max {
                let why = format!("the adapter ended {} times", self.config.restarts_max + 1);
                return Err(self.give_up(&why));
            }
            self.watch.count(Event::Restart);
            if let Err(why) = self.spawn() {
                return Err(self.give_up(&why));
            }
        }
        self.await_ready(deadline)
    }

    fn has_much_to_answer(&self) -> bool {
        self.unanswered.len() >= self.config.unanswered_max
    }

    /// Waits for a process that is stopped, or was a moment ago: it is not stuck, and will do and
    /// answer all it was asked. Ending it would turn a pause into a kill.
    fn await_thaw(&mut self, deadline: Instant) -> Result<(), NotNow> {
        while self.has_much_to_answer() {
            self.look_for_frost();
            let recent = |at: Instant| at.elapsed() < self.config.ready_time_max;
            if !self.frozen_at.is_some_and(recent) {
                break;
            }
            if Instant::now() >= deadline {
                let why = "not sent: the adapter was stopped, and has much to answer yet";
                return Err(NotNow(why.to_string()));
            }
            std::thread::sleep(LOOK_STEP);
            self.hear_what_came()?;
        }
        Ok(())
    }

    fn look_for_frost(&mut self) {
        if self.process.as_ref().is_some_and(|(process, _)| process.is_frozen()) {
            self.frozen_at = Some(Instant::now());
        }
    }

    /// Looks at what was said since the last call.
    fn hear_what_came(&mut self) -> Result<(), NotNow> {
        while let Some((process, Stage::Ready)) = &self.process {
            match process.heard.try_recv() {
                Ok(Heard::Answer(answer)) => match self.understand(answer, None) {
                    Ok(_late) => {}
                    Err(why) => return Err(self.give_up(&why)),
                },
                Ok(Heard::Malformed { line, why }) => return Err(self.give_up_line(line, &why)),
                Ok(Heard::Closed) | Err(TryRecvError::Disconnected) => drop(self.end()),
                Err(TryRecvError::Empty) => break,
            }
        }
        Ok(())
    }

    fn await_ready(&mut self, deadline: Instant) -> Result<(), NotNow> {
        let Some((process, stage)) = &mut self.process else {
            return Err(NotNow("there is no adapter".to_string()));
        };
        let Stage::Starting(since) = *stage else { return Ok(()) };
        let give_up_at = since + self.config.ready_time_max;
        let wait = deadline.min(give_up_at).saturating_duration_since(Instant::now());
        match process.heard.recv_timeout(wait) {
            Ok(Heard::Answer(Answer::Ready {})) => {
                *stage = Stage::Ready;
                Ok(())
            }
            Ok(Heard::Answer(answer)) => {
                Err(self.give_up(&format!("the adapter must say ready first, and said {answer:?}")))
            }
            Ok(Heard::Malformed { line, why }) => Err(self.give_up_line(line, &why)),
            Ok(Heard::Closed) | Err(RecvTimeoutError::Disconnected) => {
                let how = self.end();
                Err(NotNow(format!("the adapter ended{how} before it was ready; {}", self.log())))
            }
            Err(RecvTimeoutError::Timeout) if Instant::now() >= give_up_at => {
                let waited = self.config.ready_time_max;
                Err(self.give_up(&format!("the adapter was not ready within {waited:?}")))
            }
            Err(RecvTimeoutError::Timeout) => {
                Err(NotNow("not sent: the adapter is being started again".to_string()))
            }
        }
    }

    /// Waits for the answer to the call that was just handed over.
    fn await_answer(&mut self, id: u64, node: &str, deadline: Instant) -> Reply {
        let unknown = |error: String| Reply::Unknown { error, node: Some(node.to_string()) };
        while let Some((process, _)) = &self.process {
            let wait = deadline.saturating_duration_since(Instant::now());
            match process.heard.recv_timeout(wait) {
                Ok(Heard::Answer(answer)) => match self.understand(answer, Some((id, node))) {
                    Ok(Meaning::Reply(reply)) => return reply,
                    Ok(Meaning::Late) => {}
                    Err(why) => return unknown(self.give_up(&why).0),
                },
                Ok(Heard::Malformed { line, why }) => {
                    return unknown(self.give_up_line(line, &why).0);
                }
                Ok(Heard::Closed) | Err(RecvTimeoutError::Disconnected) => {
                    let how = self.end();
                    let log = self.log();
                    return unknown(format!("the adapter ended{how} without an answer; {log}"));
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.unanswered.insert(id);
                    self.watch.count(Event::TimedOut);
                    self.look_for_frost();
                    return unknown("no answer in time".to_string());
                }
            }
        }
        unknown("the adapter is gone".to_string())
    }

    /// What an answer means while a call waits, or none does. The error says why it makes no sense.
    fn understand(
        &mut self,
        answer: Answer,
        waiting: Option<(u64, &str)>,
    ) -> Result<Meaning, String> {
        let id = match &answer {
            Answer::Ready {} => return Err("the adapter said ready twice".to_string()),
            Answer::Ok { id, .. } | Answer::Fail { id, .. } | Answer::Info { id, .. } => *id,
        };
        let asked = waiting.filter(|(asked, _)| *asked == id);
        let Some((_, asked_node)) = asked else {
            if self.unanswered.remove(&id) {
                self.watch.count(Event::Late);
                return Ok(Meaning::Late);
            }
            return Err(format!("the adapter answered call {id}, which nobody waits for"));
        };
        Ok(Meaning::Reply(match answer {
            Answer::Ready {} => unreachable!("it has no id, and was refused above"),
            Answer::Ok { output, node, revision, .. } => Reply::Ok { output, node, revision },
            Answer::Fail { error, node, .. } => Reply::Fail { error, node },
            Answer::Info { error, node, .. } => {
                let node = node.or_else(|| Some(asked_node.to_string()));
                Reply::Unknown { error, node }
            }
        }))
    }

    fn give_up_line(&mut self, line: u64, why: &str) -> NotNow {
        self.give_up(&format!("line {line} of the adapter's output is no answer: {why}"))
    }

    /// Ends the adapter for good.
    fn give_up(&mut self, why: &str) -> NotNow {
        self.process = None;
        let why = format!("client {} is given up: {why}; {}", self.config.client, self.log());
        self.watch.give_up(&why);
        NotNow(why)
    }

    /// Ends this process; the next call starts another. Says how it ended, if by itself.
    fn end(&mut self) -> String {
        self.unanswered.clear();
        let ended = self.process.take().and_then(|(process, _)| process.end());
        ended.map(|how| format!(" ({how})")).unwrap_or_default()
    }

    fn log(&self) -> String {
        format!("see {}", self.config.log.display())
    }
}

impl Client for AdapterClient {
    fn call(&mut self, call: &Call, time_max: Duration) -> Reply {
        let deadline = Instant::now() + time_max;
        let fail = |error: String| Reply::Fail { error, node: None };
        let own = self.config.own;
        let Some(node) = self.config.names.get(call.node.unwrap_or(own)).cloned() else {
            return fail(format!("not sent: there is no node with number {:?}", call.node));
        };
        if let Err(NotNow(why)) = self.make_ready(deadline) {
            return fail(why);
        }
        let id = self.id_last + 1;
        let timeout_ms = deadline.saturating_duration_since(Instant::now()).as_millis();
        let line = Say::Invoke {
            id,
            op: call.op.clone(),
            key: call.key.clone(),
            input: call.input.clone(),
            request_id: call.id.clone(),
            node: call.node.map(|_| node.clone()),
            timeout_ms: u64::try_from(timeout_ms).unwrap_or(u64::MAX).max(1),
        }
        .line();
        if line.len() > LINE_BYTES_MAX {
            return fail(format!("not sent: the call has more than {LINE_BYTES_MAX} bytes"));
        }
        self.id_last = id;
        if !self.process.as_ref().is_some_and(|(process, _)| process.say(line)) {
            let how = self.end();
            return fail(format!("not sent: the adapter ended{how}; {}", self.log()));
        }
        self.watch.count(Event::Call);
        self.await_answer(id, &node, deadline)
    }

    fn is_given_up(&self) -> bool {
        self.watch.given_up().is_some()
    }
}

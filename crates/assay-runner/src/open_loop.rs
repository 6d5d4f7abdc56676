//! Arrivals that wait for nobody.
//!
//! In an open loop an operation is sent when it is due, whether or not earlier ones are answered. A
//! client that waits for a node which does not answer would send nothing meanwhile, and the system
//! would be tried least where it is worst. So each client has spare sessions: an arrival that finds
//! all of them busy gets a new one, up to a bound, and only then has to wait and counts as late.

use crate::drive::Crew;
use assay_sut::{Client, ClientError};
use assay_workload::Script;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread::Scope;
use std::time::Duration;

/// Sessions of all clients together. A rate times a timeout is what a complete outage takes.
pub const SESSIONS_MAX: usize = 600;
/// How long a client that has to wait for a session waits between two looks at the time.
const LOOK_STEP: Duration = Duration::from_millis(20);

/// Makes another session of a client.
pub type NewSession<'t> = dyn Fn(usize) -> Result<Box<dyn Client>, ClientError> + Sync + 't;

/// One client with its sessions.
pub struct OpenClient<'t> {
    crew: &'t Crew<'t>,
    number: usize,
    script: Mutex<Box<dyn Script>>,
    new_session: &'t NewSession<'t>,
    sessions_max: usize,
    sessions: Mutex<Sessions>,
    freed: Condvar,
}

#[derive(Default)]
struct Sessions {
    /// They are told when the operation was due that they are to send.
    idle: Vec<Sender<i64>>,
    count: usize,
    /// The first thing that went wrong in a session.
    trouble: Option<io::Error>,
}

impl<'t> OpenClient<'t> {
    /// A client without sessions yet.
    pub fn new(
        crew: &'t Crew<'t>,
        number: usize,
        clients: usize,
        script: Box<dyn Script>,
        new_session: &'t NewSession<'t>,
    ) -> OpenClient<'t> {
        OpenClient {
            crew,
            number,
            script: Mutex::new(script),
            new_session,
            sessions_max: (SESSIONS_MAX / clients.max(1)).max(1),
            sessions: Mutex::default(),
            freed: Condvar::new(),
        }
    }

    /// Sends what is due until the time is up. All sessions have ended when the scope has.
    pub fn work<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        due: impl Iterator<Item = i64>,
        start_ns: i64,
    ) -> io::Result<()> {
        for at in due {
            if !self.crew.wait_until(start_ns + at) {
                break;
            }
            let Some(session) = self.session(scope)? else { break };
            self.crew.note_late(self.crew.clock.now_ns() - (start_ns + at));
            // A session that is gone has left its trouble behind, which is looked at below.
            let _gone = session.send(start_ns + at);
        }
        let mut sessions = self.lock();
        sessions.idle.clear();
        sessions.trouble.take().map_or(Ok(()), Err)
    }

    /// What went wrong in a session after the client was done.
    pub fn trouble(&self) -> Option<io::Error> {
        self.lock().trouble.take()
    }

    fn lock(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().expect("nothing panics while it holds the sessions")
    }

    /// A session that is free; a new one if there may be one more; none if the time is up.
    fn session<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
    ) -> io::Result<Option<Sender<i64>>> {
        loop {
            let mut sessions = self.lock();
            if let Some(error) = sessions.trouble.take() {
                return Err(error);
            }
            if let Some(session) = sessions.idle.pop() {
                return Ok(Some(session));
            }
            if sessions.count < self.sessions_max {
                let is_first = sessions.count == 0;
                sessions.count += 1;
                drop(sessions);
                return self.spawn(scope, is_first).map(Some);
            }
            let waited = self.freed.wait_timeout(sessions, LOOK_STEP);
            drop(waited.expect("nothing panics while it holds the sessions"));
            if self.crew.is_over() {
                return Ok(None);
            }
        }
    }

    fn spawn<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        is_first: bool,
    ) -> io::Result<Sender<i64>> {
        let client = (self.new_session)(self.number).map_err(io::Error::other)?;
        // The first session is the process with the client's own number.
        let process = if is_first { self.number as u64 } else { self.crew.new_process() };
        let (sender, receiver) = channel();
        let own = sender.clone();
        scope.spawn(move || self.serve(client, process, &own, &receiver));
        Ok(sender)
    }

    /// Does one operation for each signal, until the time is up.
    fn serve(
        &self,
        mut client: Box<dyn Client>,
        process: u64,
        own: &Sender<i64>,
        due: &Receiver<i64>,
    ) {
        loop {
            let due_ns = match due.recv_timeout(LOOK_STEP) {
                Err(RecvTimeoutError::Timeout) if !self.crew.is_over() => continue,
                Err(_) => return,
                Ok(due_ns) => due_ns,
            };
            match self.one(client.as_mut(), process, due_ns) {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    self.lock().trouble.get_or_insert(error);
                    return;
                }
            }
            self.lock().idle.push(own.clone());
            self.freed.notify_one();
        }
    }

    fn one(&self, client: &mut dyn Client, process: u64, due_ns: i64) -> io::Result<bool> {
        let script = || self.script.lock().expect("scripts do not panic");
        let Some(call) = script().next() else { return Ok(false) };
        let reply = self.crew.send(self.number, process, client, &call, Some(due_ns))?;
        script().observe(&call, &reply);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::TrialClock;
    use crate::recorder::{Honesty, Recorder};
    use assay_workload::{Call, Reply};
    use serde_json::json;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Instant;

    /// How long a test waits for what never comes if the loop is not open.
    const PATIENCE: Duration = Duration::from_secs(30);

    /// Does not answer until so many calls are waiting.
    struct Stalled<'t> {
        waiting: &'t AtomicU64,
        wanted: u64,
    }

    impl Client for Stalled<'_> {
        fn call(&mut self, _: &Call, _: Duration) -> Reply {
            self.waiting.fetch_add(1, Ordering::SeqCst);
            let until = Instant::now() + PATIENCE;
            while self.waiting.load(Ordering::SeqCst) < self.wanted {
                if Instant::now() > until {
                    return Reply::Unknown { error: "nobody else came".into(), node: None };
                }
                std::thread::yield_now();
            }
            Reply::Ok { output: json!(null), node: None, revision: None }
        }
    }

    struct Reads;

    impl Script for Reads {
        fn next(&mut self) -> Option<Call> {
            Some(Call::new("read", Some(json!("x")), json!(null)))
        }

        fn observe(&mut self, _: &Call, _: &Reply) {}
    }

    static WAITING: AtomicU64 = AtomicU64::new(0);

    #[test]
    fn what_is_due_is_sent_although_nothing_is_answered() {
        const DUE: u64 = 50;
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("history.jsonl");
        let clock = Arc::new(TrialClock::start());
        let recorder =
            Recorder::create(&path, Arc::clone(&clock), Honesty::Complete).expect("file");
        let nodes = ["n1".to_string()];
        let crew = Crew::new(&recorder, &clock, &nodes, 1);
        let new_session: &NewSession<'_> =
            &|_| Ok(Box::new(Stalled { waiting: &WAITING, wanted: DUE }) as Box<dyn Client>);
        let client = OpenClient::new(&crew, 0, 1, Box::new(Reads), new_session);
        // If an arrival waited for an answer, no fiftieth call would come, and none be answered.
        std::thread::scope(|scope| {
            client.work(scope, 0..DUE as i64, 0).expect("recorded");
            let until = Instant::now() + PATIENCE;
            let ended = || recorder.counts().ended();
            while ended() < DUE && Instant::now() < until {
                std::thread::yield_now();
            }
            crew.until_ms.store(0, Ordering::Relaxed);
        });
        let counts = recorder.counts();
        assert_eq!((counts.ok, counts.unknown), (DUE, 0), "an arrival waited for an answer");
        assert!(client.trouble().is_none());
    }
}

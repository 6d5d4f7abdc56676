//! A client that lives among the clients of a network of namespaces.
//!
//! Whoever opens a socket opens it in the namespace of its thread, and so do threads and processes
//! it starts. A thread that has moved cannot be expected to be used for anything else, so a client
//! there gets one of its own, and calls are handed over.

use assay_drivers::{Client, ClientError};
use assay_kernel::net::{CLIENTS, Network};
use assay_workload::{Call, Reply};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// A client in a thread of its own, which is in the namespace of clients.
pub(crate) struct Housed {
    /// Taken when it ends, so that the thread sees the end.
    calls: Option<SyncSender<(Call, Duration)>>,
    /// Each with whether the client can do anything after it.
    replies: Receiver<(Reply, bool)>,
    is_given_up: bool,
    thread: Option<JoinHandle<()>>,
}

impl Housed {
    /// Opens a client there.
    pub(crate) fn open(
        network: &Arc<Network>,
        open: impl FnOnce() -> Result<Box<dyn Client>, ClientError> + Send + 'static,
    ) -> Result<Housed, ClientError> {
        let (calls, called) = sync_channel::<(Call, Duration)>(1);
        let (reply, replies) = sync_channel(1);
        let (tell, told) = sync_channel(1);
        let network = Arc::clone(network);
        let work = move || {
            let entered = network.enter_thread(CLIENTS);
            let entered = entered.map_err(|error| ClientError { message: error.to_string() });
            let mut client = match entered.and_then(|()| open()) {
                Ok(client) => client,
                Err(error) => return drop(tell.send(Err(error))),
            };
            if tell.send(Ok(())).is_err() {
                return;
            }
            while let Ok((call, time_max)) = called.recv() {
                let answer = client.call(&call, time_max);
                if reply.send((answer, client.is_given_up())).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("client".to_string()).spawn(work);
        let thread = thread.map_err(|error| ClientError { message: error.to_string() })?;
        let gone = || ClientError { message: "the client ended while it was opened".to_string() };
        told.recv().map_err(|_| gone())??;
        let (calls, thread) = (Some(calls), Some(thread));
        Ok(Housed { calls, replies, is_given_up: false, thread })
    }
}

impl Client for Housed {
    fn call(&mut self, call: &Call, time_max: Duration) -> Reply {
        let sent =
            self.calls.as_ref().is_some_and(|calls| calls.send((call.clone(), time_max)).is_ok());
        let reply = if sent { self.replies.recv().ok() } else { None };
        // The client has its own bound on time; if its thread is gone nobody knows what it did.
        let error = || "the client ended in the middle of a call".to_string();
        let gone = || (Reply::Unknown { error: error(), node: None }, true);
        let (reply, is_given_up) = reply.unwrap_or_else(gone);
        self.is_given_up = is_given_up;
        reply
    }

    fn is_given_up(&self) -> bool {
        self.is_given_up
    }
}

impl Drop for Housed {
    fn drop(&mut self) {
        self.calls = None;
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

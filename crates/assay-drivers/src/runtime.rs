//! The one runtime of all clients whose libraries need one.

use std::future::Future;
use std::sync::OnceLock;
use std::time::Instant;
use tokio::runtime::{Builder, Runtime};

/// Threads that wait for the network. What they carry is small.
const THREADS: usize = 2;

/// The runtime, made by the first who needs it.
pub(crate) fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(THREADS).thread_name("assay-drivers").enable_all();
        builder.build().expect("a process that runs clients can have two more threads")
    })
}

/// Waits for something until the deadline; `None` if that came first.
pub(crate) fn within<F: Future>(deadline: Instant, work: F) -> Option<F::Output> {
    runtime().block_on(async { tokio::time::timeout_at(deadline.into(), work).await.ok() })
}

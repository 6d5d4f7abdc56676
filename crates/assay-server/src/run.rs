//! The server as a whole: opened, recovered, served, stopped.

use crate::api::{App, answer, demo_agent, demo_environment, recover_all, sweep};
use crate::engine::{Runner, Script};
use crate::error::ApiError;
use crate::hub::Hub;
use crate::names::Names;
use crate::store::{Kernel, KeyError, Reader, create_key};
use assay_ledger::keyed::{SqliteStore, StoreError};
use assay_ledger::{Lock, LockError};
use axum::Router;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

const LOCK_NAME: &str = "serve.lock";
const OBJECTS: &str = "objects";
const HOLDS: &str = "holds";
/// The workspace of a demonstration.
const DEMO: &str = "demo";
/// How long work may go on after the end was asked for. What is durable does not depend on it.
const STOP_MAX: Duration = Duration::from_millis(500);

/// How to serve.
#[derive(Debug)]
pub struct ServeOptions {
    /// Where to listen.
    pub listen: String,
    /// The directory of everything that is kept.
    pub data: PathBuf,
    /// What agents do.
    pub script: Script,
    /// Whether to begin with a key, an agent and an environment.
    pub demo: bool,
}

/// What a demonstration begins with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Demo {
    /// A key.
    pub key: String,
    /// An agent.
    pub agent_id: String,
    /// An environment.
    pub environment_id: String,
}

/// That it serves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ready {
    /// Where.
    pub address: SocketAddr,
    /// Sessions that an earlier process left in the middle of something.
    pub recovered: usize,
    /// What a demonstration begins with.
    pub demo: Option<Demo>,
}

/// Why it does not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The directory cannot be made.
    #[error("{}: cannot make the directory: {source}", path.display())]
    Directory {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// Another server has the directory.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The store says no.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No key could be made.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// It cannot listen there.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Where.
        address: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The machine gives no threads, signals or the like.
    #[error("cannot start: {0}")]
    Start(#[source] std::io::Error),
    /// What an earlier process left cannot be taken up.
    #[error("cannot take up what an earlier process left: {0}")]
    Recover(String),
}

/// Serves until SIGTERM or SIGINT; `ready` is called once it does.
///
/// # Errors
/// If it cannot begin.
pub fn run(options: ServeOptions, ready: impl FnOnce(&Ready)) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(ServeError::Start)?;
    let ended = runtime.block_on(serve(options, ready));
    runtime.shutdown_timeout(STOP_MAX);
    ended
}

async fn serve(options: ServeOptions, ready: impl FnOnce(&Ready)) -> Result<(), ServeError> {
    let data = options.data.clone();
    for path in [data.clone(), data.join(OBJECTS), data.join(HOLDS)] {
        std::fs::create_dir_all(&path)
            .map_err(|source| ServeError::Directory { path: path.clone(), source })?;
    }
    let _lock = Lock::take(&data.join(LOCK_NAME))?;
    // Stores have runtimes of their own, which must not be made within this one.
    let stores = tokio::task::spawn_blocking(move || open_stores(&data)).await;
    let (writes, reads) = stores.map_err(|error| ServeError::Recover(error.to_string()))??;
    let (names, hub) = (Arc::new(Names::default()), Arc::new(Hub::default()));
    let (effects, wanted) = tokio::sync::mpsc::unbounded_channel();
    let kernel = Kernel::start(Box::new(writes), names.clone(), hub.clone(), effects);
    let kernel = kernel.map_err(ServeError::Start)?;
    let reader = Reader::start(Box::new(reads)).map_err(ServeError::Start)?;
    let lost = |error: ApiError| ServeError::Recover(error.message);
    let recovered = recover_all(&kernel, &reader).await.map_err(lost)?;
    let objects = options.data.join(OBJECTS);
    sweep(&reader, objects.clone()).await.map_err(lost)?;
    let runner = Runner {
        kernel: kernel.clone(),
        reader: reader.clone(),
        script: Arc::new(options.script),
        owner: names.next("proc_"),
        holds: options.data.join(HOLDS),
    };
    tokio::spawn(runner.run(wanted));
    let demo = match options.demo {
        true => Some(make_demo(&kernel, &options.data).await?),
        false => None,
    };
    let mut terminated = signal(SignalKind::terminate()).map_err(ServeError::Start)?;
    let mut interrupted = signal(SignalKind::interrupt()).map_err(ServeError::Start)?;
    let listen = |source| ServeError::Listen { address: options.listen.clone(), source };
    let listener = TcpListener::bind(&options.listen).await.map_err(listen)?;
    let address = listener.local_addr().map_err(ServeError::Start)?;
    let app = Arc::new(App { kernel, reader, hub, names, objects });
    let router = Router::new().fallback(answer).with_state(app);
    ready(&Ready { address, recovered, demo });
    tokio::select! {
        served = axum::serve(listener, router) => served.map_err(ServeError::Start),
        _ = terminated.recv() => Ok(()),
        _ = interrupted.recv() => Ok(()),
    }
}

fn open_stores(data: &Path) -> Result<(SqliteStore, SqliteStore), StoreError> {
    Ok((SqliteStore::open(data)?, SqliteStore::open(data)?))
}

async fn make_demo(kernel: &Kernel, data: &Path) -> Result<Demo, ServeError> {
    let data = data.to_path_buf();
    let key = tokio::task::spawn_blocking(move || create_key(&data, DEMO, DEMO)).await;
    let (key, _) = key.map_err(|error| ServeError::Recover(error.to_string()))??;
    let made = kernel.run(|unit| {
        let (agent, environment) = (demo_agent(unit, DEMO)?, demo_environment(unit, DEMO)?);
        let id = |wire: serde_json::Value| wire["id"].as_str().unwrap_or_default().to_string();
        Ok((id(agent), id(environment)))
    });
    let made = made.await.map_err(|error| ServeError::Recover(error.message));
    let (agent_id, environment_id) = made?;
    Ok(Demo { key, agent_id, environment_id })
}

//! The server as a whole: opened, recovered, served, stopped.

use crate::api::{
    App, answer, clear_all, demo_agent, demo_environment, recover_all, sweep, sweep_skills,
    sweep_workspaces, upgrade_all,
};
use crate::arranging::Arranger;
use crate::console::{self, Shelf};
use crate::counters::{Counters, count_sessions};
use crate::durable::make_dirs_synced;
use crate::engine::{EngineError, EngineOptions, Engines, Runner, Sandboxes};
use crate::error::ApiError;
use crate::hub::Hub;
use crate::limits::{Admission, Limits};
use crate::listen::serve_connections;
use crate::names::Names;
use crate::oauth::Renewer;
use crate::sealing::{MasterKeyError, MasterKeySource, Sealed, Sealer, find_master_key};
use crate::store::{
    BindingError, Kernel, KeyError, OpenStore, Reader, StorePlace, add_key, bind, folder, new_key,
};
use assay_ledger::keyed::StoreError;
use assay_ledger::{Lock, LockError};
use axum::Router;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

const LOCK_NAME: &str = "serve.lock";
const OBJECTS: &str = "objects";
const HOLDS: &str = "holds";
const SKILLS: &str = "skills";
const WORKSPACES: &str = "workspaces";
/// The workspace of a demonstration.
const DEMO: &str = "demo";
/// How long work may go on after the end was asked for. What is durable does not depend on it.
const STOP_MAX: Duration = Duration::from_millis(500);
/// How long connections stay when the server cannot go on: answers that were made are sent.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// How to serve.
#[derive(Debug)]
pub struct ServeOptions {
    /// Where to listen.
    pub listen: String,
    /// The directory of everything that is kept, but for what a database keeps.
    pub data: PathBuf,
    /// Where records are kept.
    pub store: StorePlace,
    /// What answers.
    pub engines: EngineOptions,
    /// What seals secrets.
    pub master_key: MasterKeySource,
    /// How much there may be at once.
    pub limits: Limits,
    /// Whether to begin with a key, an agent and an environment.
    pub demo: bool,
    /// Campaigns and runs that the console shows.
    pub shelf: Arc<dyn Shelf>,
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
    /// There is no master key, or not the right one.
    #[error(transparent)]
    MasterKey(#[from] MasterKeyError),
    /// The store belongs to another directory.
    #[error(transparent)]
    Binding(#[from] BindingError),
    /// What answers is not there.
    #[error(transparent)]
    Engine(#[from] EngineError),
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
    /// A part of it panicked that it cannot do without. What is durable is taken up by the next
    /// start.
    #[error("what {0} has stopped, which is a mistake in the server: start it again")]
    Stopped(&'static str),
}

/// Serves until SIGTERM or SIGINT; `ready` is called once it does.
///
/// # Errors
/// If it cannot begin, or cannot go on.
pub fn run(options: ServeOptions, ready: impl FnOnce(&Ready)) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(ServeError::Start)?;
    let ended = runtime.block_on(serve(options, ready));
    runtime.shutdown_timeout(STOP_MAX);
    ended
}

/// What is no agent's business: all that is kept here, and the master key wherever it is.
fn secret_places(data: &Path, key: &MasterKeySource) -> Result<Vec<PathBuf>, ServeError> {
    let whole = |path: &Path| {
        let told = |source| ServeError::Directory { path: path.to_path_buf(), source };
        std::path::absolute(path).map_err(told)
    };
    let mut places = vec![whole(data)?];
    if let MasterKeySource::File(path) = key {
        places.push(whole(path)?);
    }
    Ok(places)
}

async fn serve(options: ServeOptions, ready: impl FnOnce(&Ready)) -> Result<(), ServeError> {
    let data = options.data.clone();
    make_directories(&data)?;
    let _lock = Lock::take(&data.join(LOCK_NAME))?;
    let (wanted, workspaces) = (options.engines, data.join(WORKSPACES));
    let hidden = secret_places(&data, &options.master_key)?;
    let engines = Arc::new(blocking(move || Ok(Engines::new(wanted, workspaces, hidden)?)).await?);
    let place = options.store.clone();
    let (writes, reads) = blocking(move || open_stores(&place, &data)).await?;
    let (names, hub) = (Arc::new(Names::default()), Arc::new(Hub::default()));
    let (effects, wanted) = tokio::sync::mpsc::unbounded_channel();
    let counters = Arc::new(Counters::default());
    let kernel = Kernel::start(writes, names.clone(), hub.clone(), counters.clone(), effects);
    let (kernel, failure) = kernel.map_err(ServeError::Start)?;
    let reader = Reader::start(reads).map_err(ServeError::Start)?;
    let lost = |error: ApiError| ServeError::Recover(error.message);
    let sealer = open_sealer(&kernel, &reader, &options.master_key, &options.data).await?;
    let sealer = Arc::new(sealer);
    upgrade_all(&kernel).await.map_err(lost)?;
    count_sessions(&reader, &counters).await.map_err(lost)?;
    let recovered = recover_all(&kernel, &reader).await.map_err(lost)?;
    tokio::spawn(clear_all(kernel.clone(), reader.clone()));
    let arranger = Arc::new(Arranger::new(reader.clone(), options.data.join(WORKSPACES)));
    sweep_all(&reader, &arranger, &options.data).await.map_err(lost)?;
    let objects = options.data.join(OBJECTS);
    let renewer = start_renewer(&kernel, &reader, &sealer, &engines);
    let runner = Runner {
        kernel: kernel.clone(),
        reader: reader.clone(),
        names: names.clone(),
        engines: engines.clone(),
        owner: names.next("proc_"),
        holds: options.data.join(HOLDS),
        objects: objects.clone(),
        arranger: arranger.clone(),
        renewer: renewer.clone(),
    };
    let runner = tokio::spawn(runner.run(wanted));
    let demo = match options.demo {
        true => Some(make_demo(&kernel, options.store).await?),
        false => None,
    };
    let mut terminated = signal(SignalKind::terminate()).map_err(ServeError::Start)?;
    let mut interrupted = signal(SignalKind::interrupt()).map_err(ServeError::Start)?;
    let (listener, address) = listen(&options.listen).await?;
    let app = Arc::new(App {
        kernel,
        reader,
        hub,
        names,
        objects,
        skills: options.data.join(SKILLS),
        arranger,
        sealer,
        renewer,
        admission: Arc::new(Admission::new(options.limits)),
        counters,
        engines,
    });
    let read = app.reader.clone();
    let router = Router::new().fallback(answer).with_state(app.clone());
    let router = router.merge(console::router(app, options.shelf));
    ready(&Ready { address, recovered, demo });
    tokio::select! {
        error = last_words(first_end(failure, runner, read)) => Err(error),
        () = serve_connections(listener, router, options.limits.stalled) => Ok(()),
        _ = terminated.recv() => Ok(()),
        _ = interrupted.recv() => Ok(()),
    }
}

fn make_directories(data: &Path) -> Result<(), ServeError> {
    for name in ["", OBJECTS, HOLDS, SKILLS, WORKSPACES] {
        let path = data.join(name);
        let made = make_dirs_synced(&path);
        made.map_err(|source| ServeError::Directory { path, source })?;
    }
    Ok(())
}

/// What renews credentials, by a clock too.
fn start_renewer(
    kernel: &Kernel,
    reader: &Reader,
    sealer: &Arc<Sealer>,
    engines: &Engines,
) -> Arc<Renewer> {
    let Sandboxes { client, guard, .. } = &*engines.sandboxes;
    let (kernel, reader, sealer) = (kernel.clone(), reader.clone(), sealer.clone());
    let renewer = Arc::new(Renewer::new(kernel, reader, sealer, client.clone(), guard.clone()));
    tokio::spawn(renewer.clone().tick());
    renewer
}

async fn listen(address: &str) -> Result<(TcpListener, SocketAddr), ServeError> {
    let failed = |source| ServeError::Listen { address: address.to_string(), source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(ServeError::Start)?;
    Ok((listener, address))
}

/// Whoever was just refused because of it hears so before the connections go.
async fn last_words(end: impl Future<Output = ServeError>) -> ServeError {
    let error = end.await;
    tokio::time::sleep(LAST_WORDS).await;
    error
}

/// Why it cannot go on, once a part has ended that it cannot do without.
async fn first_end(
    failure: oneshot::Receiver<StoreError>,
    runner: JoinHandle<()>,
    reader: Reader,
) -> ServeError {
    tokio::select! {
        // Without a writer there is soon no runner; why is known to the first.
        biased;
        error = writer_end(failure) => error,
        _ = runner => ServeError::Stopped("runs turns"),
        () = reader.stopped() => ServeError::Stopped("reads"),
    }
}

/// Why nothing is written any more, once that is so.
async fn writer_end(failure: oneshot::Receiver<StoreError>) -> ServeError {
    match failure.await {
        Ok(error) => ServeError::Store(error),
        // Handles to it are still there, so it has not ended in good order.
        Err(_) => ServeError::Stopped("writes"),
    }
}

/// Brings what is beside the store in line with it.
async fn sweep_all(reader: &Reader, arranger: &Arc<Arranger>, data: &Path) -> Result<(), ApiError> {
    sweep(reader, data.join(OBJECTS)).await?;
    sweep_skills(reader, data.join(SKILLS)).await?;
    sweep_workspaces(arranger).await
}

/// What seals secrets: the master key, if it is the one that sealed those that are there.
async fn open_sealer(
    kernel: &Kernel,
    reader: &Reader,
    source: &MasterKeySource,
    data: &Path,
) -> Result<Sealer, ServeError> {
    let trouble = |error: ApiError| MasterKeyError::Store(error.message);
    let at = format!("{}/check", folder::MASTER);
    let known: Option<Sealed> = reader.get(at.clone()).await.map_err(trouble)?;
    let (key, place) = find_master_key(source, data, known.is_none())?;
    let sealer = Sealer::new(&key);
    match known {
        Some(known) => {
            let opened = sealer.open(&at, &known);
            opened.map_err(|_| MasterKeyError::Wrong { place })?;
        }
        None => {
            let sealed = sealer.seal(&at, b"assay");
            let sealed = sealed.map_err(|error| MasterKeyError::Store(error.to_string()))?;
            kernel.run(move |unit| unit.put(at, &sealed)).await.map_err(trouble)?;
        }
    }
    Ok(sealer)
}

/// Stores have runtimes of their own, which must not be made or used within this one.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ServeError> + Send + 'static,
) -> Result<T, ServeError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| ServeError::Recover(error.to_string()))?
}

/// One to write and one to read, both on what belongs to the directory.
fn open_stores(place: &StorePlace, data: &Path) -> Result<(OpenStore, OpenStore), ServeError> {
    let (mut writes, reads) = place.open_server()?;
    bind(place, writes.as_mut(), data)?;
    Ok((writes, reads))
}

async fn make_demo(kernel: &Kernel, store: StorePlace) -> Result<Demo, ServeError> {
    let make = move || {
        let key = new_key()?;
        add_key(store.open_guest()?.as_mut(), &key, DEMO, DEMO)?;
        Ok(key)
    };
    let key = blocking(make).await?;
    let made = kernel.run(|unit| {
        let (agent, environment) = (demo_agent(unit, DEMO)?, demo_environment(unit, DEMO)?);
        let id = |wire: serde_json::Value| wire["id"].as_str().unwrap_or_default().to_string();
        Ok((id(agent), id(environment)))
    });
    let made = made.await.map_err(|error| ServeError::Recover(error.message));
    let (agent_id, environment_id) = made?;
    Ok(Demo { key, agent_id, environment_id })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_ledger::keyed::{KeyRange, Pair, Store, Writes};

    /// A store that panics instead of writing.
    struct Broken;

    impl Store for Broken {
        fn get(&mut self, _: &str) -> Result<Option<Vec<u8>>, StoreError> {
            Ok(None)
        }

        fn scan(&mut self, _: &KeyRange, _: usize) -> Result<Vec<Pair>, StoreError> {
            Ok(Vec::new())
        }

        fn commit(&mut self, _: &Writes) -> Result<(), StoreError> {
            panic!("on purpose")
        }
    }

    #[test]
    fn a_writer_that_panics_ends_the_server() {
        let (effects, _nobody) = tokio::sync::mpsc::unbounded_channel();
        let parts = (Arc::default(), Arc::default(), Arc::default());
        let started = Kernel::start(Box::new(Broken), parts.0, parts.1, parts.2, effects);
        let (kernel, failure) = started.expect("a thread");
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let job = kernel.run(|unit| unit.put("x/1".to_string(), &1));
        assert_eq!(runtime.block_on(job).map_err(|error| error.status), Err(500));
        let end = runtime.block_on(writer_end(failure));
        assert!(matches!(end, ServeError::Stopped("writes")), "{end}");
        let late = runtime.block_on(kernel.run(|_| Ok(())));
        assert_eq!(late.map_err(|error| error.status), Err(500));
    }
}

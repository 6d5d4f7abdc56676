//! `assay serve` and `assay keys`: agent sessions over HTTP.

mod campaigns;
mod runs;
mod shelf;

use super::Trouble;
use crate::args::{
    DataArgs, KeysCommand, LimitArgs, OutputArgs, OutputFormat, ServeArgs, StoreArgs,
};
use crate::exit::Exit;
use assay_ledger::LockError;
use assay_ledger::keyed::StoreError;
use assay_server::engine::{EngineConfig, EngineOptions, Script};
use assay_server::store::{
    ApiKey, BindingError, KeyError, OpenStore, StorePlace, add_key, list_keys, new_key, revoke_key,
};
use assay_server::{Limits, MasterKeySource, Ready, ServeError, ServeOptions};
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The variable that may have the master key.
const MASTER_KEY: &str = "ASSAY_MASTER_KEY";
/// The largest script, and the largest file of engines.
const SCRIPT_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// What is read of standard input: more than any key has.
const KEY_INPUT_BYTES_MAX: u64 = 4096;

/// Serves until it is told to stop.
pub fn run(args: ServeArgs) -> Exit {
    serve(args).map_or_else(Trouble::report, |()| Exit::Upheld)
}

fn serve(args: ServeArgs) -> Result<(), Trouble> {
    let config = match &args.engines {
        Some(path) => read_file(path, EngineConfig::parse)?,
        None => EngineConfig::default(),
    };
    // Who has other engines has no script unless one is asked for.
    let script = match &args.script {
        Some(path) => Some(read_file(path, Script::parse)?),
        None => (args.engines.is_none() || args.demo).then(Script::built_in),
    };
    let engines = EngineOptions {
        script,
        config,
        sandbox: args.sandbox,
        opens_network: args.open_network,
        origins: args.local_origin,
        lends: args.lend,
    };
    // Kept until the end: a demonstration without a directory leaves nothing behind.
    let (data, _forgotten) = data_directory(args.data)?;
    let store = store_place(&args.store, Some(&data))?;
    let shelf = Arc::new(shelf::Shown::new(shown_directories(args.show)?));
    let master_key = match (args.master_key_file, std::env::var(MASTER_KEY)) {
        (Some(path), _) => MasterKeySource::File(path),
        (None, Ok(text)) => MasterKeySource::Text(text),
        (None, Err(_)) => MasterKeySource::DataDirectory,
    };
    let options = ServeOptions {
        listen: args.listen,
        data,
        store,
        engines,
        master_key,
        limits: limits(&args.limits),
        demo: args.demo,
        shelf,
    };
    assay_server::run(options, announce).map_err(trouble)
}

fn limits(args: &LimitArgs) -> Limits {
    let count = |limit: u32| usize::try_from(limit).unwrap_or(usize::MAX);
    Limits {
        requests_per_second: args.max_requests_per_second,
        active_sessions: count(args.max_active_sessions),
        turns: count(args.max_turns),
        streams: count(args.max_streams),
        uploads: count(args.max_uploads),
        downloads: count(args.max_downloads),
        requests: count(args.max_requests),
        all_streams: count(args.max_all_streams),
        ..Limits::default()
    }
}

fn data_directory(data: Option<PathBuf>) -> Result<(PathBuf, Option<tempfile::TempDir>), Trouble> {
    if let Some(data) = data {
        return Ok((data, None));
    }
    let made = tempfile::tempdir();
    let made = made.map_err(|e| Trouble::unavailable(&std::env::temp_dir(), "write", &e))?;
    Ok((made.path().to_path_buf(), Some(made)))
}

/// A directory that cannot be read is a slip that shows at the start, not an empty page.
fn shown_directories(named: Vec<PathBuf>) -> Result<Vec<PathBuf>, Trouble> {
    for path in &named {
        std::fs::read_dir(path).map_err(|e| Trouble::unavailable(path, "show", &e))?;
    }
    Ok(named)
}

fn read_file<T, E: std::fmt::Display>(
    path: &Path,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, Trouble> {
    let unavailable = |error: std::io::Error| Trouble::unavailable(path, "read", &error);
    if std::fs::metadata(path).map_err(unavailable)?.len() > SCRIPT_BYTES_MAX {
        let message = format!("{}: larger than {SCRIPT_BYTES_MAX} bytes", path.display());
        return Err(Trouble::bad_history(message));
    }
    let text = std::fs::read_to_string(path).map_err(unavailable)?;
    let bad = |error| Trouble::bad_history(format!("{}: {error}", path.display()));
    parse(&text).map_err(bad)
}

fn announce(ready: &Ready) {
    if ready.recovered > 0 {
        anstream::eprintln!("{} sessions were taken up after a restart", ready.recovered);
    }
    if let Some(demo) = &ready.demo {
        anstream::println!("key {}", demo.key);
        anstream::println!("agent {}", demo.agent_id);
        anstream::println!("environment {}", demo.environment_id);
    }
    anstream::eprintln!("console http://{}/console/", ready.address);
    anstream::println!("ready http://{}", ready.address);
}

fn trouble(error: ServeError) -> Trouble {
    let exit = match &error {
        ServeError::Lock(LockError::Held { .. }) => Exit::TryLater,
        ServeError::Store(error) => store_exit(error),
        ServeError::Binding(BindingError::Other { .. }) => Exit::BadHistory,
        _ => Exit::MissingCapability,
    };
    Trouble { message: error.to_string(), exit }
}

/// The database that was named, or the directory.
fn store_place(args: &StoreArgs, data: Option<&Path>) -> Result<StorePlace, Trouble> {
    match (&args.store, data) {
        (Some(url), _) => StorePlace::parse(url).map_err(store_trouble),
        (None, Some(data)) => Ok(StorePlace::Directory(data.to_path_buf())),
        (None, None) => {
            let message = "name a directory (--data) or a database (--store)".to_string();
            Err(Trouble { message, exit: Exit::Usage })
        }
    }
}

/// Makes, lists and revokes keys.
pub fn keys(command: KeysCommand) -> Exit {
    let done = match command {
        KeysCommand::Create { data, workspace, name, given, output } => {
            create(&data, &workspace, &name, given).map(|(key, record)| match given {
                // Who gave it has it.
                true => listed(&[record], &output),
                false => created(&key, &record, &output),
            })
        }
        KeysCommand::List { data, output } => open(&data)
            .and_then(|mut store| list_keys(store.as_mut()).map_err(key_trouble))
            .map(|keys| listed(&keys, &output)),
        KeysCommand::Revoke { id, data, output } => open(&data)
            .and_then(|mut store| revoke_key(store.as_mut(), &id).map_err(key_trouble))
            .map(|key| listed(&[key], &output)),
    };
    done.map_or_else(Trouble::report, |()| Exit::Upheld)
}

fn create(
    data: &DataArgs,
    workspace: &str,
    name: &str,
    given: bool,
) -> Result<(String, ApiKey), Trouble> {
    let key = match given {
        true => read_key()?,
        false => new_key().map_err(key_trouble)?,
    };
    let record = add_key(open(data)?.as_mut(), &key, workspace, name).map_err(key_trouble)?;
    Ok((key, record))
}

fn read_key() -> Result<String, Trouble> {
    let mut text = String::new();
    let read = std::io::stdin().take(KEY_INPUT_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|e| Trouble::unavailable(Path::new("standard input"), "read", &e))?;
    Ok(text.trim().to_string())
}

fn open(args: &DataArgs) -> Result<OpenStore, Trouble> {
    let place = store_place(&args.store, args.data.as_deref())?;
    if let StorePlace::Directory(path) = &place {
        std::fs::create_dir_all(path).map_err(|e| Trouble::unavailable(path, "make", &e))?;
    }
    place.open_guest().map_err(store_trouble)
}

fn store_trouble(error: StoreError) -> Trouble {
    Trouble { message: error.to_string(), exit: store_exit(&error) }
}

/// A place that is none is a mistake of whoever named it; one that is not there may be later.
fn store_exit(error: &StoreError) -> Exit {
    match error {
        StoreError::Address(_) => Exit::Usage,
        StoreError::Foreign { .. } | StoreError::Newer { .. } => Exit::BadHistory,
        StoreError::Held { .. } => Exit::TryLater,
        _ => Exit::MissingCapability,
    }
}

fn key_trouble(error: KeyError) -> Trouble {
    let exit = match &error {
        KeyError::Name(_) | KeyError::Unknown(_) | KeyError::Given | KeyError::Taken(_) => {
            Exit::Usage
        }
        KeyError::Store(error) => store_exit(error),
        _ => Exit::MissingCapability,
    };
    Trouble { message: error.to_string(), exit }
}

fn created(key: &str, record: &ApiKey, output: &OutputArgs) {
    match output.format {
        OutputFormat::Human => {
            anstream::println!("{key}");
            anstream::eprintln!(
                "key {} of workspace {}; it is not shown again",
                record.id,
                record.workspace
            );
        }
        OutputFormat::Json => {
            let mut shown = shown(record);
            shown["key"] = key.into();
            anstream::println!("{shown}");
        }
    }
}

fn listed(keys: &[ApiKey], output: &OutputArgs) {
    for key in keys {
        let state = if key.revoked_ms.is_some() { "revoked" } else { "active" };
        match output.format {
            OutputFormat::Human => {
                anstream::println!("{} {state} {} {}", key.id, key.workspace, key.name);
            }
            OutputFormat::Json => anstream::println!("{}", shown(key)),
        }
    }
}

fn shown(key: &ApiKey) -> Value {
    json!({
        "id": key.id, "workspace": key.workspace, "name": key.name,
        "created_ms": key.created_ms, "revoked_ms": key.revoked_ms,
    })
}

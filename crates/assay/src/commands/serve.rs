//! `assay serve` and `assay keys`: agent sessions over HTTP.

use super::Trouble;
use crate::args::{KeysCommand, OutputArgs, OutputFormat, ServeArgs};
use crate::exit::Exit;
use assay_ledger::LockError;
use assay_server::engine::Script;
use assay_server::store::{ApiKey, KeyError, create_key, list_keys, revoke_key};
use assay_server::{Ready, ServeError, ServeOptions};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The largest script.
const SCRIPT_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Serves until it is told to stop.
pub fn run(args: ServeArgs) -> Exit {
    serve(args).map_or_else(Trouble::report, |()| Exit::Upheld)
}

fn serve(args: ServeArgs) -> Result<(), Trouble> {
    let script = match &args.script {
        Some(path) => read_script(path)?,
        None => Script::built_in(),
    };
    // Kept until the end: a demonstration without a directory leaves nothing behind.
    let (data, _forgotten) = data_directory(args.data)?;
    let options = ServeOptions { listen: args.listen, data, script, demo: args.demo };
    assay_server::run(options, announce).map_err(trouble)
}

fn data_directory(data: Option<PathBuf>) -> Result<(PathBuf, Option<tempfile::TempDir>), Trouble> {
    if let Some(data) = data {
        return Ok((data, None));
    }
    let made = tempfile::tempdir();
    let made = made.map_err(|e| Trouble::unavailable(&std::env::temp_dir(), "write", &e))?;
    Ok((made.path().to_path_buf(), Some(made)))
}

fn read_script(path: &Path) -> Result<Script, Trouble> {
    let unavailable = |error: std::io::Error| Trouble::unavailable(path, "read", &error);
    if std::fs::metadata(path).map_err(unavailable)?.len() > SCRIPT_BYTES_MAX {
        let message = format!("{}: larger than {SCRIPT_BYTES_MAX} bytes", path.display());
        return Err(Trouble::bad_history(message));
    }
    let text = std::fs::read_to_string(path).map_err(unavailable)?;
    let bad = |error| Trouble::bad_history(format!("{}: {error}", path.display()));
    Script::parse(&text).map_err(bad)
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
    anstream::println!("ready http://{}", ready.address);
}

fn trouble(error: ServeError) -> Trouble {
    let exit = match &error {
        ServeError::Lock(LockError::Held { .. }) => Exit::TryLater,
        _ => Exit::MissingCapability,
    };
    Trouble { message: error.to_string(), exit }
}

/// Makes, lists and revokes keys.
pub fn keys(command: KeysCommand) -> Exit {
    let done = match command {
        KeysCommand::Create { data, workspace, name, output } => make_directory(&data.data)
            .and_then(|()| create_key(&data.data, &workspace, &name).map_err(key_trouble))
            .map(|(key, record)| created(&key, &record, &output)),
        KeysCommand::List { data, output } => {
            list_keys(&data.data).map_err(key_trouble).map(|keys| listed(&keys, &output))
        }
        KeysCommand::Revoke { id, data, output } => {
            revoke_key(&data.data, &id).map_err(key_trouble).map(|key| listed(&[key], &output))
        }
    };
    done.map_or_else(Trouble::report, |()| Exit::Upheld)
}

fn make_directory(path: &Path) -> Result<(), Trouble> {
    std::fs::create_dir_all(path).map_err(|e| Trouble::unavailable(path, "make", &e))
}

fn key_trouble(error: KeyError) -> Trouble {
    let exit = match &error {
        KeyError::Name(_) | KeyError::Unknown(_) => Exit::Usage,
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

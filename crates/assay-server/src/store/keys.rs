//! Keys of the API. Only their hashes are kept: who reads the store cannot use the API.

use super::records::{folder, read_record};
use crate::names::now_ms;
use assay_ledger::keyed::{KeyRange, Order, SqliteStore, Store, StoreError, Writes};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::Path;

/// What keys begin with.
const KEY_PREFIX: &str = "asy_";
/// Bytes of chance in a key.
const KEY_BYTES: usize = 32;
/// Names of keys and workspaces.
const NAME_BYTES_MAX: usize = 64;
/// Characters of the hash that are the id of a key.
const ID_CHARS: usize = 16;
/// Keys in one store.
const KEYS_MAX: usize = 10_000;

/// What is kept of a key.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ApiKey {
    /// The beginning of its hash.
    pub id: String,
    /// SHA-256 of the key, in hexadecimal.
    pub sha256: String,
    /// Whose data it opens.
    pub workspace: String,
    /// What people call it.
    pub name: String,
    /// When it was made.
    pub created_ms: u64,
    /// When it was revoked.
    pub revoked_ms: Option<u64>,
}

/// Why a key is not made, listed or revoked.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The store says no.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Not a name.
    #[error("`{0}` is no name: 1 to {NAME_BYTES_MAX} letters, digits, `.`, `_` and `-` are")]
    Name(String),
    /// No such key.
    #[error("there is no key {0}; `assay keys list` shows all")]
    Unknown(String),
    /// The machine gives no randomness.
    #[error("the machine gives no randomness: {0}")]
    Chance(getrandom::Error),
    /// A record is damaged.
    #[error("the record of a key cannot be read or written; restore the store from a backup")]
    Record,
    /// Too many.
    #[error("there are {KEYS_MAX} keys already")]
    TooMany,
}

/// Makes a key and gives it: it is not shown again.
///
/// # Errors
/// If a name is none, or the store cannot be written.
pub fn create_key(
    directory: &Path,
    workspace: &str,
    name: &str,
) -> Result<(String, ApiKey), KeyError> {
    check_name(workspace)?;
    check_name(name)?;
    let mut bytes = [0; KEY_BYTES];
    getrandom::fill(&mut bytes).map_err(KeyError::Chance)?;
    let key = format!("{KEY_PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes));
    let sha256 = hash(&key);
    let record = ApiKey {
        id: sha256[..ID_CHARS].to_string(),
        sha256,
        workspace: workspace.to_string(),
        name: name.to_string(),
        created_ms: now_ms(),
        revoked_ms: None,
    };
    let mut store = SqliteStore::open(directory)?;
    if stored_keys(&mut store)?.len() >= KEYS_MAX {
        return Err(KeyError::TooMany);
    }
    write(&mut store, &record)?;
    Ok((key, record))
}

/// All keys, also revoked ones, oldest first.
///
/// # Errors
/// If the store cannot be read.
pub fn list_keys(directory: &Path) -> Result<Vec<ApiKey>, KeyError> {
    let mut keys = stored_keys(&mut SqliteStore::open(directory)?)?;
    keys.sort_by(|a, b| (a.created_ms, &a.id).cmp(&(b.created_ms, &b.id)));
    Ok(keys)
}

/// From now on the key opens nothing. What it was stays known.
///
/// # Errors
/// If there is no such key, or the store cannot be written.
pub fn revoke_key(directory: &Path, id: &str) -> Result<ApiKey, KeyError> {
    let mut store = SqliteStore::open(directory)?;
    let known = stored_keys(&mut store)?.into_iter().find(|key| key.id == id);
    let mut record = known.ok_or_else(|| KeyError::Unknown(id.chars().take(64).collect()))?;
    record.revoked_ms = record.revoked_ms.or(Some(now_ms()));
    write(&mut store, &record)?;
    Ok(record)
}

/// The workspace a key opens, if it does.
///
/// # Errors
/// If the store cannot be read.
pub fn workspace_of(
    store: &mut dyn Store,
    key: &str,
) -> Result<Option<String>, crate::error::ApiError> {
    let sha256 = hash(key);
    let at = format!("{}/{}", folder::KEYS, &sha256[..ID_CHARS]);
    let Some(record) = read_record::<ApiKey>(store.get(&at)?)? else { return Ok(None) };
    let opens = is_same(&record.sha256, &sha256) && record.revoked_ms.is_none();
    Ok(opens.then_some(record.workspace))
}

fn stored_keys(store: &mut SqliteStore) -> Result<Vec<ApiKey>, KeyError> {
    let range = KeyRange::below(folder::KEYS, Order::Ascending);
    let pairs = store.scan(&range, KEYS_MAX)?;
    let read = |(_, value): (String, Vec<u8>)| serde_json::from_slice(&value);
    pairs.into_iter().map(read).collect::<Result<_, _>>().map_err(|_| KeyError::Record)
}

fn write(store: &mut SqliteStore, record: &ApiKey) -> Result<(), KeyError> {
    let value = serde_json::to_vec(record).map_err(|_| KeyError::Record)?;
    let at = format!("{}/{}", folder::KEYS, record.id);
    Ok(store.commit(&Writes::from([(at, Some(value))]))?)
}

fn check_name(name: &str) -> Result<(), KeyError> {
    let is_good = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    match (1..=NAME_BYTES_MAX).contains(&name.len()) && name.chars().all(is_good) {
        true => Ok(()),
        false => Err(KeyError::Name(name.chars().take(NAME_BYTES_MAX).collect())),
    }
}

fn hash(key: &str) -> String {
    Sha256::digest(key.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Takes as long whatever differs.
fn is_same(a: &str, b: &str) -> bool {
    let differs = a.bytes().zip(b.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    a.len() == b.len() && differs == 0
}

//! Keys of the API. Only their hashes are kept: who reads the store cannot use the API.

use super::reader::Reader;
use super::records::folder;
use crate::names::now_ms;
use assay_ledger::keyed::{KeyRange, Order, Store, StoreError, Writes};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What keys begin with.
const KEY_PREFIX: &str = "asy_";
/// Bytes of chance in a key.
const KEY_BYTES: usize = 32;
/// What follows the prefix in a key that somebody else made: as much chance as in ours, if they
/// were careful.
const GIVEN_CHARS_MIN: usize = 43;
const GIVEN_CHARS_MAX: usize = 128;
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
    /// Not a key.
    #[error(
        "what was given is no key: `{KEY_PREFIX}` and {GIVEN_CHARS_MIN} to {GIVEN_CHARS_MAX} \
         letters, digits, `_` and `-` are one"
    )]
    Given,
    /// A key that was revoked stays revoked, and opens one workspace only.
    #[error("key {0} was revoked or opens another workspace; make another one")]
    Taken(String),
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

/// Makes a key.
///
/// # Errors
/// If the machine gives no randomness.
pub fn new_key() -> Result<String, KeyError> {
    let mut bytes = [0; KEY_BYTES];
    getrandom::fill(&mut bytes).map_err(KeyError::Chance)?;
    Ok(format!("{KEY_PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)))
}

/// Lets a key open a workspace. One that does already goes on doing so.
///
/// # Errors
/// If a name or the key is none, or was revoked, or the store cannot be written.
pub fn add_key(
    store: &mut dyn Store,
    key: &str,
    workspace: &str,
    name: &str,
) -> Result<ApiKey, KeyError> {
    check_name(workspace)?;
    check_name(name)?;
    let chars = key.strip_prefix(KEY_PREFIX).unwrap_or_default();
    let is_good = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    if !(GIVEN_CHARS_MIN..=GIVEN_CHARS_MAX).contains(&chars.len()) || !chars.chars().all(is_good) {
        return Err(KeyError::Given);
    }
    let sha256 = hash(key);
    let record = ApiKey {
        id: sha256[..ID_CHARS].to_string(),
        sha256,
        workspace: workspace.to_string(),
        name: name.to_string(),
        created_ms: now_ms(),
        revoked_ms: None,
    };
    let stored = stored_keys(store)?;
    if let Some(known) = stored.iter().find(|known| known.sha256 == record.sha256) {
        return match known.revoked_ms.is_some() || known.workspace != record.workspace {
            true => Err(KeyError::Taken(record.id)),
            false => Ok(known.clone()),
        };
    }
    if stored.len() >= KEYS_MAX {
        return Err(KeyError::TooMany);
    }
    write(store, &record)?;
    Ok(record)
}

/// All keys, also revoked ones, oldest first.
///
/// # Errors
/// If the store cannot be read.
pub fn list_keys(store: &mut dyn Store) -> Result<Vec<ApiKey>, KeyError> {
    let mut keys = stored_keys(store)?;
    keys.sort_by(|a, b| (a.created_ms, &a.id).cmp(&(b.created_ms, &b.id)));
    Ok(keys)
}

/// From now on the key opens nothing. What it was stays known.
///
/// # Errors
/// If there is no such key, or the store cannot be written.
pub fn revoke_key(store: &mut dyn Store, id: &str) -> Result<ApiKey, KeyError> {
    let known = stored_keys(store)?.into_iter().find(|key| key.id == id);
    let mut record = known.ok_or_else(|| KeyError::Unknown(id.chars().take(64).collect()))?;
    record.revoked_ms = record.revoked_ms.or(Some(now_ms()));
    write(store, &record)?;
    Ok(record)
}

/// What is known of a key, if it opens anything.
///
/// # Errors
/// If the store cannot be read.
pub async fn find_key(
    reader: &Reader,
    key: &str,
) -> Result<Option<ApiKey>, crate::error::ApiError> {
    let sha256 = hash(key);
    let record = reader.get::<ApiKey>(key_at(&sha256[..ID_CHARS])).await?;
    let opens = |record: &ApiKey| is_same(&record.sha256, &sha256) && record.revoked_ms.is_none();
    Ok(record.filter(opens))
}

/// Whether the key of this id opens something still.
///
/// # Errors
/// If the store cannot be read.
pub async fn is_key_good(reader: &Reader, id: &str) -> Result<bool, crate::error::ApiError> {
    let record = reader.get::<ApiKey>(key_at(id)).await?;
    Ok(record.is_some_and(|record| record.revoked_ms.is_none()))
}

fn key_at(id: &str) -> String {
    format!("{}/{id}", folder::KEYS)
}

fn stored_keys(store: &mut dyn Store) -> Result<Vec<ApiKey>, KeyError> {
    let range = KeyRange::below(folder::KEYS, Order::Ascending);
    let pairs = store.scan(&range, KEYS_MAX)?;
    let read = |(_, value): (String, Vec<u8>)| serde_json::from_slice(&value);
    pairs.into_iter().map(read).collect::<Result<_, _>>().map_err(|_| KeyError::Record)
}

fn write(store: &mut dyn Store, record: &ApiKey) -> Result<(), KeyError> {
    let value = serde_json::to_vec(record).map_err(|_| KeyError::Record)?;
    let at = key_at(&record.id);
    Ok(store.commit(&Writes::from([(at, Some(value))]))?)
}

fn check_name(name: &str) -> Result<(), KeyError> {
    let is_good = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    // Workspaces are names of directories, too.
    let is_way = [".", ".."].contains(&name);
    match (1..=NAME_BYTES_MAX).contains(&name.len()) && name.chars().all(is_good) && !is_way {
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

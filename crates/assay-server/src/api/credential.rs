//! What is kept of a credential.
//!
//! The part that clients see and the sealed secrets are one record. How long an access token is
//! good, and from when on it is [renewed](crate::oauth), stands there, too.

use crate::error::ApiError;
use crate::sealing::Sealed;
use crate::store::{Unit, folder};
use assay_ledger::keyed::{KeyRange, Order, Store};
use assay_session::rfc3339;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::time::Duration;

/// Credentials of a vault, archived ones too.
pub const ALL_MAX: usize = 1000;
/// How long before its end an access token is renewed, at most: half of its life if that is less.
const RENEW_BEFORE: Duration = Duration::from_secs(60);

/// What is kept of a credential.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Credential {
    /// What clients see.
    pub wire: Map<String, Value>,
    /// What they do not; gone when it is archived.
    pub sealed: Option<Sealed>,
    /// What it is renewed with, if it is; gone then, too.
    #[serde(default)]
    pub sealed_refresh: Option<Sealed>,
    /// From when on it is renewed.
    #[serde(default)]
    pub renew_at_ms: Option<u64>,
}

impl Credential {
    /// Whether it is of no use any more.
    pub fn is_archived(&self) -> bool {
        self.wire.get("archived_at").is_some_and(|at| !at.is_null())
    }

    /// How it authenticates, as clients see it.
    pub fn auth(&self) -> &Value {
        self.wire.get("auth").unwrap_or(&Value::Null)
    }

    /// How it is renewed, as clients see it.
    pub fn refresh(&self) -> &Value {
        &self.auth()["refresh"]
    }

    /// For which server it is.
    pub fn url(&self) -> &str {
        self.auth()["mcp_server_url"].as_str().unwrap_or_default()
    }

    /// Whether its access token is about to end, or has, and can be renewed.
    pub fn is_due(&self, now_ms: u64) -> bool {
        self.sealed_refresh.is_some() && self.renew_at_ms.is_some_and(|at| at <= now_ms)
    }

    /// Whether its access token has ended.
    pub fn has_expired(&self, now_ms: u64) -> bool {
        let end = self.auth()["expires_at"].as_str();
        let end = end.and_then(|text| text.parse::<jiff::Timestamp>().ok());
        end.is_some_and(|end| i128::from(end.as_millisecond()) <= i128::from(now_ms))
    }

    /// Its access token is new, and good for so long, if that is known.
    pub fn lives(&mut self, now_ms: u64, life: Option<Duration>) {
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let after = |time: Duration| now_ms.saturating_add(ms(time));
        let early = life.map(|life| life - RENEW_BEFORE.min(life / 2));
        self.renew_at_ms = early.map(after);
        let end = life.map_or(Value::Null, |life| rfc3339(after(life)).into());
        if let Some(auth) = self.wire.get_mut("auth") {
            auth["expires_at"] = end;
        }
    }

    /// It is said when its access token ends.
    pub fn ends(&mut self, expires_at: Value) {
        let end = expires_at.as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok());
        let ms = end.and_then(|end| u64::try_from(end.as_millisecond()).ok());
        let early = u64::try_from(RENEW_BEFORE.as_millis()).unwrap_or_default();
        self.renew_at_ms = ms.map(|ms| ms.saturating_sub(early));
        if let Some(auth) = self.wire.get_mut("auth") {
            auth["expires_at"] = expires_at;
        }
    }
}

/// Forgets the secrets.
pub fn purge(credential: &mut Credential, now: &str) {
    if !credential.is_archived() {
        credential.sealed = None;
        credential.sealed_refresh = None;
        credential.renew_at_ms = None;
        credential.wire.insert("archived_at".into(), now.into());
        credential.wire.insert("updated_at".into(), now.into());
    }
}

/// Where the credentials of a vault are.
pub fn folder_of(workspace: &str, vault: &str) -> String {
    format!("{}/{workspace}/{vault}", folder::CREDENTIALS)
}

/// All credentials of a vault, with their keys.
///
/// # Errors
/// If the store cannot be read.
pub fn credentials_of(
    unit: &mut Unit,
    workspace: &str,
    vault: &str,
) -> Result<Vec<(String, Credential)>, ApiError> {
    let range = KeyRange::below(&folder_of(workspace, vault), Order::Ascending);
    let pairs = unit.transaction.scan(&range, ALL_MAX)?;
    let read = |(key, value): (String, Vec<u8>)| Ok((key, serde_json::from_slice(&value)?));
    pairs.into_iter().map(read).collect()
}

/// Where the first active credential for exactly this address is, in the order of the vaults.
///
/// # Errors
/// If the store cannot be read.
pub fn find_credential(
    store: &mut dyn Store,
    workspace: &str,
    vaults: &[String],
    url: &str,
) -> Result<Option<String>, ApiError> {
    for vault in vaults {
        let range = KeyRange::below(&folder_of(workspace, vault), Order::Ascending);
        for (at, value) in store.scan(&range, ALL_MAX)? {
            let credential: Credential = serde_json::from_slice(&value)?;
            if !credential.is_archived() && credential.url() == url {
                return Ok(Some(at));
            }
        }
    }
    Ok(None)
}

//! Who a session is for the MCP servers of its agent: the keys in its vaults.
//!
//! Which key belongs to a server is found once in a turn; what it is, is read for every request. So
//! a key that was changed counts at once, and one that was archived no more. It is in nothing but
//! the header of the request: what a server repeats of it is taken out.

use crate::api::Credential;
use crate::api::find_credential;
use crate::error::ApiError;
use crate::log::log;
use crate::sealing::Sealer;
use crate::store::Reader;
use hyper::header::HeaderValue;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// What stands where a key was.
const HIDDEN: &str = "[key]";

/// The vaults of a session.
#[derive(Clone, Debug)]
pub struct Keyring {
    /// Reads them.
    pub reader: Reader,
    /// Opens what is in them.
    pub sealer: Arc<Sealer>,
    /// Whose they are.
    pub workspace: String,
    /// Which, in the order of the session.
    pub vaults: Vec<String>,
}

impl Keyring {
    /// The key for the server at exactly this address, if there is one.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn key_of(&self, url: &str) -> Result<Option<KeyOf>, ApiError> {
        if self.vaults.is_empty() {
            return Ok(None);
        }
        let (workspace, vaults) = (self.workspace.clone(), self.vaults.clone());
        let url = url.to_string();
        let find = move |store: &mut dyn assay_ledger::keyed::Store| {
            find_credential(store, &workspace, &vaults, &url)
        };
        let at = self.reader.ask(find).await?;
        let (reader, sealer) = (self.reader.clone(), self.sealer.clone());
        Ok(at.map(|at| KeyOf { reader, sealer, at, used: Arc::default() }))
    }
}

/// The key for one server.
#[derive(Clone)]
pub struct KeyOf {
    reader: Reader,
    sealer: Arc<Sealer>,
    /// Where it is kept.
    at: String,
    /// What it was, each time it was used in this turn.
    used: Arc<Mutex<BTreeSet<String>>>,
}

impl std::fmt::Debug for KeyOf {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("KeyOf").field("at", &self.at).finish_non_exhaustive()
    }
}

/// That a key is there and cannot be used. It says nothing about what it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the credential for it could not be read")]
pub struct KeyError;

impl KeyOf {
    /// The header that says who asks, as the credential is now; nothing if it is gone.
    ///
    /// # Errors
    /// If it is there and cannot be read.
    pub async fn header(&self) -> Result<Option<HeaderValue>, KeyError> {
        let trouble = |what: String| {
            log(format_args!("{}: {what}", self.at));
            KeyError
        };
        let found: Option<Credential> =
            self.reader.get(self.at.clone()).await.map_err(|error| trouble(error.message))?;
        let Some(sealed) = found.and_then(|found| found.sealed) else { return Ok(None) };
        let opened = self.sealer.open(&self.at, &sealed);
        let opened = opened.map_err(|error| trouble(error.to_string()))?;
        let token = String::from_utf8(opened).map_err(|_| KeyError)?;
        let mut header = HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| KeyError)?;
        header.set_sensitive(true);
        self.used().insert(token);
        Ok(Some(header))
    }

    fn used(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        // It is whole, whoever panicked with the lock.
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same text without the key.
    pub fn hide(&self, text: &str) -> String {
        self.used().iter().fold(text.to_string(), |text, key| text.replace(key, HIDDEN))
    }

    /// The same for every text in a value.
    pub fn hide_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.hide(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.hide_in(value)),
            Value::Object(fields) => {
                let hidden = std::mem::take(fields).into_iter().map(|(name, mut value)| {
                    self.hide_in(&mut value);
                    (self.hide(&name), value)
                });
                *fields = hidden.collect();
            }
            _ => {}
        }
    }
}

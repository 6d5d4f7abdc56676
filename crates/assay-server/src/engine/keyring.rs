//! Who a session is for the MCP servers of its agent: the keys in its vaults.
//!
//! Which key belongs to a server is found once in a turn; what it is, is read for every request. So
//! a key that was changed counts at once, and one that was archived no more. One that is about to
//! end is renewed before it is used, and once in a turn if the server does not take it. It is in
//! nothing but the header of the request: what a server repeats of it is taken out.

use crate::api::find_credential;
use crate::error::ApiError;
use crate::hiding::hide;
use crate::log::log;
use crate::names::now_ms;
use crate::oauth::{RenewError, Renewer};
use crate::sealing::Sealed;
use hyper::header::HeaderValue;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The vaults of a session.
#[derive(Clone, Debug)]
pub struct Keyring {
    /// Reads, opens and renews what is in them.
    pub renewer: Arc<Renewer>,
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
        let at = self.renewer.reader.ask(find).await?;
        let renewer = self.renewer.clone();
        Ok(at.map(|at| KeyOf { renewer, at, turn: Arc::default() }))
    }
}

/// The key for one server.
#[derive(Clone)]
pub struct KeyOf {
    renewer: Arc<Renewer>,
    /// Where it is kept.
    at: String,
    turn: Arc<Mutex<InTurn>>,
}

/// What became of a key in this turn.
#[derive(Default)]
struct InTurn {
    /// What it was, each time it was used.
    used: BTreeSet<String>,
    /// Why it could not be renewed: that is not tried twice.
    failure: Option<KeyError>,
    /// Whether it was renewed because the server did not take it.
    was_refused: bool,
}

impl std::fmt::Debug for KeyOf {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("KeyOf").field("at", &self.at).finish_non_exhaustive()
    }
}

/// That a key is there and cannot be used. It says nothing about what it is.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum KeyError {
    /// It is not readable.
    #[error("the credential for it could not be read")]
    Unreadable,
    /// It has ended, or is not taken, and there is no other one.
    #[error("the access token could not be renewed: {0}")]
    NotRenewed(String),
}

/// A key as it is now.
pub struct Key {
    /// What says so in a request.
    pub header: HeaderValue,
    /// What it is known by.
    pub sealed: Sealed,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Key(..)")
    }
}

impl KeyOf {
    /// Who asks, as the credential is now; nothing if it is gone.
    ///
    /// # Errors
    /// If it is there and cannot be used.
    pub async fn now(&self) -> Result<Option<Key>, KeyError> {
        let found = self.renewer.find(&self.at).await.map_err(|error| self.trouble(error.message));
        let Some(found) = found? else { return Ok(None) };
        let Some(sealed) = found.sealed.clone() else { return Ok(None) };
        if found.is_due(now_ms()) {
            match self.renew(sealed.clone()).await {
                // It is still good for a moment.
                Err(_) if !found.has_expired(now_ms()) => {}
                renewed => return renewed,
            }
        }
        self.key(sealed).map(Some)
    }

    /// Another one than the one that the server did not take; nothing if there is none, or there
    /// was one already in this turn.
    ///
    /// # Errors
    /// If there should be one and is none.
    pub async fn other(&self, refused: Sealed) -> Result<Option<Key>, KeyError> {
        if std::mem::replace(&mut self.turn().was_refused, true) {
            return Ok(None);
        }
        let other = self.renew(refused.clone()).await?;
        Ok(other.filter(|other| other.sealed != refused))
    }

    async fn renew(&self, seen: Sealed) -> Result<Option<Key>, KeyError> {
        if let Some(failure) = self.turn().failure.clone() {
            return Err(failure);
        }
        match self.renewer.renew(&self.at, seen.clone()).await {
            Ok(renewed) => renewed.map(|sealed| self.key(sealed)).transpose(),
            Err(RenewError::NoRefreshToken) => self.key(seen).map(Some),
            Err(error) => {
                let failure = KeyError::NotRenewed(error.to_string());
                self.turn().failure = Some(failure.clone());
                Err(failure)
            }
        }
    }

    fn key(&self, sealed: Sealed) -> Result<Key, KeyError> {
        let opened = self.renewer.open(&self.at, &sealed);
        let token = opened.map_err(|error| self.trouble(error.to_string()))?;
        let header = HeaderValue::from_str(&format!("Bearer {token}"));
        let mut header = header.map_err(|_| KeyError::Unreadable)?;
        header.set_sensitive(true);
        self.turn().used.insert(token);
        Ok(Key { header, sealed })
    }

    fn trouble(&self, what: String) -> KeyError {
        log(format_args!("{}: {what}", self.at));
        KeyError::Unreadable
    }

    fn turn(&self) -> MutexGuard<'_, InTurn> {
        // It is whole, whoever panicked with the lock.
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same text without the key.
    pub fn hide(&self, text: &str) -> String {
        self.turn().used.iter().fold(text.to_string(), |text, key| hide(&text, key))
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

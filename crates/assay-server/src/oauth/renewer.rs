//! Gives credentials new access tokens, each by one request at a time.

use super::grant::{Grant, GrantError, Granted, RefreshSecrets, exchange};
use crate::api::Credential;
use crate::error::ApiError;
use crate::log::log;
use crate::names::now_ms;
use crate::net::{Client, Guard};
use crate::sealing::{SealError, Sealed, Sealer};
use crate::store::{Kernel, Reader};
use assay_session::rfc3339;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often what was given is tried to be kept when the disk says no, and the wait between.
const TRIES: u32 = 40;
const TRY_AGAIN: Duration = Duration::from_millis(250);

/// The name under which the secrets of a refresh are sealed: what is moved from there to the place
/// of an access token cannot be opened.
pub fn refresh_record(at: &str) -> String {
    format!("{at}#refresh")
}

/// Why a credential has no new access token. It has no secret in it.
#[derive(Debug, thiserror::Error)]
pub enum RenewError {
    /// It has nothing that one could be given for.
    #[error("it has no refresh token")]
    NoRefreshToken,
    /// Nobody gives one.
    #[error(transparent)]
    Grant(#[from] GrantError),
    /// Its secrets cannot be used.
    #[error(transparent)]
    Secret(#[from] SealError),
    /// The store says no.
    #[error("the credential could not be read or written")]
    Store,
}

impl From<ApiError> for RenewError {
    fn from(_: ApiError) -> RenewError {
        RenewError::Store
    }
}

/// Renews credentials.
pub struct Renewer {
    kernel: Kernel,
    /// Reads them.
    pub reader: Reader,
    /// Opens what is in them.
    pub sealer: Arc<Sealer>,
    /// Asks others.
    pub client: Client,
    /// Decides whom.
    guard: Guard,
    /// One for each credential that is being renewed.
    turns: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

impl std::fmt::Debug for Renewer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Renewer(..)")
    }
}

impl Renewer {
    /// With what it needs.
    pub fn new(
        kernel: Kernel,
        reader: Reader,
        sealer: Arc<Sealer>,
        client: Client,
        guard: Guard,
    ) -> Renewer {
        Renewer { kernel, reader, sealer, client, guard, turns: Mutex::default() }
    }

    /// The credential that stands there.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn find(&self, at: &str) -> Result<Option<Credential>, ApiError> {
        self.reader.get(at.to_string()).await
    }

    /// What an access token is.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(&self, at: &str, sealed: &Sealed) -> Result<String, SealError> {
        String::from_utf8(self.sealer.open(at, sealed)?).map_err(|_| SealError)
    }

    /// A newer access token than the one that was seen; nothing if the credential is gone. Whoever
    /// asks meanwhile gets the same one. It goes on to its end, whoever waits for it or not: what
    /// was given for a refresh token must be kept.
    ///
    /// # Errors
    /// If there is none.
    pub async fn renew(
        self: &Arc<Renewer>,
        at: &str,
        seen: Sealed,
    ) -> Result<Option<Sealed>, RenewError> {
        let (renewer, at) = (self.clone(), at.to_string());
        let renewing = tokio::spawn(async move {
            let turn = renewer.turn(&at);
            let renewed = {
                let _mine = turn.lock().await;
                renewer.renew_alone(&at, &seen).await
            };
            drop(turn);
            renewer.forget_turn(&at);
            renewed
        });
        renewing.await.map_err(|_| RenewError::Store)?
    }

    /// Decides whom the workspace of a credential may ask.
    pub fn guard_of(&self, at: &str) -> Guard {
        // Below its folder it stands in its workspace.
        self.guard.of(at.split('/').nth(1).unwrap_or_default())
    }

    fn turn(&self, at: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.entry(at.to_string()).or_default().clone()
    }

    fn forget_turn(&self, at: &str) {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        if turns.get(at).is_some_and(|turn| Arc::strong_count(turn) == 1) {
            turns.remove(at);
        }
    }

    async fn renew_alone(&self, at: &str, seen: &Sealed) -> Result<Option<Sealed>, RenewError> {
        let Some(before) = self.find(at).await? else { return Ok(None) };
        let Some(sealed) = before.sealed.clone() else { return Ok(None) };
        if sealed != *seen {
            return Ok(Some(sealed));
        }
        let Some(kept) = &before.sealed_refresh else { return Err(RenewError::NoRefreshToken) };
        let opened = self.sealer.open(&refresh_record(at), kept)?;
        let secrets: RefreshSecrets = serde_json::from_slice(&opened).map_err(|_| SealError)?;
        let grant = Grant::of(before.refresh(), secrets).ok_or(RenewError::NoRefreshToken)?;
        let granted = exchange(&self.client, &self.guard_of(at), &grant).await?;
        self.keep(at, before, grant.secrets, granted).await
    }

    /// Keeps what was given, where nobody has changed it meanwhile.
    async fn keep(
        &self,
        at: &str,
        before: Credential,
        mut secrets: RefreshSecrets,
        granted: Granted,
    ) -> Result<Option<Sealed>, RenewError> {
        let sealed = self.sealer.seal(at, granted.access_token.as_bytes())?;
        let rotated = match granted.refresh_token {
            Some(next) if next != secrets.refresh_token => {
                secrets.refresh_token = next;
                let text = serde_json::to_vec(&secrets).map_err(|_| SealError)?;
                Some(self.sealer.seal(&refresh_record(at), &text)?)
            }
            _ => None,
        };
        let change = Change { before, sealed, rotated, life: granted.life };
        for _ in 0..TRIES {
            let (at, change) = (at.to_string(), change.clone());
            let kept = self.kernel.run(move |unit| {
                let Some(mut found) = unit.get::<Credential>(&at)? else { return Ok(None) };
                change.apply(&mut found);
                unit.put(at, &found)?;
                Ok(found.sealed)
            });
            match kept.await {
                Err(error) if error.status >= 500 => tokio::time::sleep(TRY_AGAIN).await,
                kept => return Ok(kept?),
            }
        }
        log(format_args!("{at}: a renewed token could not be kept"));
        Err(RenewError::Store)
    }
}

/// What becomes of a credential.
#[derive(Clone)]
struct Change {
    before: Credential,
    sealed: Sealed,
    rotated: Option<Sealed>,
    life: Option<Duration>,
}

impl Change {
    /// What was archived stays so, and what a client has changed meanwhile stays as it is.
    fn apply(self, found: &mut Credential) {
        if found.is_archived() {
            return;
        }
        if found.sealed_refresh == self.before.sealed_refresh {
            found.sealed_refresh = self.rotated.or(found.sealed_refresh.take());
        }
        if found.sealed == self.before.sealed {
            let now = now_ms();
            found.sealed = Some(self.sealed);
            found.lives(now, self.life);
            found.wire.insert("updated_at".into(), rfc3339(now).into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, json};

    fn credential(sealer: &Sealer, token: &str, refresh: &str) -> Credential {
        let auth = json!({"type": "mcp_oauth", "expires_at": null});
        let mut wire = Map::new();
        wire.insert("auth".into(), auth);
        Credential {
            wire,
            sealed: Some(sealer.seal("c", token.as_bytes()).expect("sealed")),
            sealed_refresh: Some(sealer.seal("c#refresh", refresh.as_bytes()).expect("sealed")),
            renew_at_ms: None,
        }
    }

    #[test]
    fn what_a_client_changed_meanwhile_stays_and_what_was_given_is_not_lost() {
        let sealer = Sealer::new(&[7; 32]);
        let before = credential(&sealer, "old", "r1");
        let other = credential(&sealer, "theirs", "r9");
        let change = Change {
            before: before.clone(),
            sealed: sealer.seal("c", b"new").expect("sealed"),
            rotated: Some(sealer.seal("c#refresh", b"r2").expect("sealed")),
            life: Some(Duration::from_secs(3600)),
        };
        let after = |mut found: Credential| {
            change.clone().apply(&mut found);
            let open = |record: &str, sealed: &Option<Sealed>| {
                let opened = sealed.as_ref().map(|one| sealer.open(record, one).expect("ours"));
                opened.map(|bytes| String::from_utf8(bytes).expect("text"))
            };
            let lives = found.wire["auth"]["expires_at"].is_string();
            (open("c", &found.sealed), open("c#refresh", &found.sealed_refresh), lives)
        };
        let expected = |token: &str, refresh: &str, lives: bool| {
            (Some(token.to_string()), Some(refresh.to_string()), lives)
        };
        assert_eq!(after(before.clone()), expected("new", "r2", true));
        let token = Credential { sealed: other.sealed.clone(), ..before.clone() };
        assert_eq!(after(token), expected("theirs", "r2", false));
        let refresh = Credential { sealed_refresh: other.sealed_refresh, ..before.clone() };
        assert_eq!(after(refresh), expected("new", "r9", true));
        let mut archived = before;
        crate::api::purge(&mut archived, "2026-11-17T00:00:00Z");
        assert_eq!(after(archived), (None, None, false));
    }
}

//! Whether a credential opens its server, found out by trying.
//!
//! The server is asked to begin a session of MCP with the access token as it is; one that has ended
//! or is not taken is renewed, once, and then it is asked again. What is told is the step that
//! failed, without whatever was secret in it.

use super::credential::Credential;
use super::credentials::{key_of, missing};
use super::reply::Reply;
use super::serve::{App, Call};
use crate::error::ApiError;
use crate::hiding::hide;
use crate::names::now_ms;
use crate::net::{GuardError, NetError, Reach, authority, path_of};
use crate::oauth::{Answered, GrantError, RenewError};
use crate::sealing::Sealed;
use assay_session::rfc3339;
use axum::http::HeaderValue;
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Request, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;
use url::Url;

/// How long a server may take.
const TIME_MAX: Duration = Duration::from_secs(15);
/// What it is asked, and by which version of its protocol.
const METHOD: &str = "initialize";
const PROTOCOL: &str = "2025-06-18";

/// What came of asking a server.
#[derive(Clone, PartialEq, Debug)]
enum Probed {
    /// It takes the token.
    Fine,
    /// It does not.
    Refused(Answered),
    /// It says something else.
    Failed(Answered),
    /// It says nothing.
    Silent,
}

/// What came of renewing.
#[derive(Clone, PartialEq, Debug)]
enum Renewed {
    NotTried,
    Succeeded,
    NoRefreshToken,
    Failed(Option<Answered>),
    ConnectError,
}

/// `POST /v1/vaults/{id}/credentials/{child}/mcp_oauth_validate`
pub async fn validate(app: &App, call: Call) -> Result<Reply, ApiError> {
    let at = key_of(&call);
    call.query.finish()?;
    let found = app.renewer.find(&at).await?.ok_or_else(|| missing(&call.child))?;
    if found.auth()["type"] != "mcp_oauth" {
        return Err(ApiError::invalid("Only credentials of the type mcp_oauth can be validated"));
    }
    let Some(mut sealed) = found.sealed.clone() else {
        return Err(ApiError::invalid("Cannot validate archived credential"));
    };
    let (mut renewed, mut probed) = (Renewed::NotTried, None);
    if !found.has_expired(now_ms()) {
        probed = Some(probe(app, &at, &found, &sealed).await?);
    }
    if !matches!(probed, Some(Probed::Fine | Probed::Failed(_) | Probed::Silent)) {
        renewed = renew(app, &at, &mut sealed).await?;
        if renewed == Renewed::Succeeded {
            probed = Some(probe(app, &at, &found, &sealed).await?);
        }
    }
    let status = match (&probed, &renewed) {
        (Some(Probed::Fine), _) => "valid",
        (Some(Probed::Failed(_) | Probed::Silent), _) | (_, Renewed::ConnectError) => "unknown",
        _ => "invalid",
    };
    let wire = json!({
        "type": "vault_credential_validation", "credential_id": call.child, "vault_id": call.id,
        "validated_at": rfc3339(now_ms()), "has_refresh_token": found.sealed_refresh.is_some(),
        "status": status, "mcp_probe": shown_probe(probed.as_ref()),
        "refresh": shown_refresh(&renewed),
    });
    Ok(Reply::json(&wire))
}

fn shown_probe(probed: Option<&Probed>) -> Value {
    let shown = |answered: Option<&Answered>| {
        let answered = answered.map(Answered::wire);
        json!({"method": METHOD, "http_response": answered})
    };
    match probed {
        None | Some(Probed::Fine) => Value::Null,
        Some(Probed::Silent) => shown(None),
        Some(Probed::Refused(answered) | Probed::Failed(answered)) => shown(Some(answered)),
    }
}

fn shown_refresh(renewed: &Renewed) -> Value {
    let (status, answered) = match renewed {
        Renewed::NotTried => return Value::Null,
        // What was answered then is a secret.
        Renewed::Succeeded => ("succeeded", None),
        Renewed::NoRefreshToken => ("no_refresh_token", None),
        Renewed::Failed(answered) => ("failed", answered.as_ref()),
        Renewed::ConnectError => ("connect_error", None),
    };
    json!({"status": status, "http_response": answered.map(Answered::wire)})
}

async fn renew(app: &App, at: &str, sealed: &mut Sealed) -> Result<Renewed, ApiError> {
    Ok(match app.renewer.renew(at, sealed.clone()).await {
        Ok(Some(other)) => {
            *sealed = other;
            Renewed::Succeeded
        }
        Ok(None) => return Err(ApiError::invalid("Cannot validate archived credential")),
        Err(RenewError::NoRefreshToken) => Renewed::NoRefreshToken,
        Err(RenewError::Grant(GrantError::Refused(answered))) => Renewed::Failed(Some(answered)),
        Err(RenewError::Grant(GrantError::NoToken(_))) => Renewed::Failed(None),
        Err(RenewError::Grant(GrantError::Guard(_) | GrantError::Net(_))) => Renewed::ConnectError,
        Err(RenewError::Secret(_) | RenewError::Store) => return Err(ApiError::internal()),
    })
}

/// Asks the server, which has to be public whatever environments allow.
async fn probe(
    app: &App,
    at: &str,
    found: &Credential,
    sealed: &Sealed,
) -> Result<Probed, ApiError> {
    let token = app.renewer.open(at, sealed).map_err(|_| ApiError::internal())?;
    Ok(ask(app, at, found.url(), &token).await.unwrap_or(Probed::Silent))
}

/// Why nobody was asked.
#[derive(Debug, thiserror::Error)]
enum ProbeError {
    #[error(transparent)]
    Guard(#[from] GuardError),
    #[error(transparent)]
    Net(#[from] NetError),
    #[error("no request")]
    Request,
}

async fn ask(app: &App, at: &str, url: &str, token: &str) -> Result<Probed, ProbeError> {
    let url = Url::parse(url).map_err(|_| ProbeError::Request)?;
    let target = app.renewer.guard_of(at).target(&url, &Reach::Public).await?;
    let header = HeaderValue::from_str(&format!("Bearer {token}"));
    let mut header = header.map_err(|_| ProbeError::Request)?;
    header.set_sensitive(true);
    let about = json!({"name": "assay", "version": env!("CARGO_PKG_VERSION")});
    let params = json!({"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": about});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": METHOD, "params": params}).to_string();
    let request = Request::post(path_of(&url))
        .header(HOST, authority(&url))
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, text/event-stream")
        .header(AUTHORIZATION, header)
        .body(Full::new(Bytes::from(body)))
        .map_err(|_| ProbeError::Request)?;
    let answer = app.renewer.client.send(&target, request, TIME_MAX).await?;
    let status = answer.status();
    if status.is_success() {
        return Ok(Probed::Fine);
    }
    let answered = Answered::read(answer, |text| hide(text, token)).await;
    Ok(match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Probed::Refused(answered),
        _ => Probed::Failed(answered),
    })
}

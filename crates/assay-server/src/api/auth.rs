//! How a credential authenticates, as requests say it: what may be seen, and what may not.

use super::fields::Fields;
use super::vaults::NAME_MAX;
use crate::error::ApiError;
use crate::oauth::{ClientAuth, RefreshSecrets};
use assay_session::rfc3339;
use serde_json::{Value, json};

const URL_MAX: usize = 2048;
const SECRET_MAX: usize = 16 * 1024;
const CLIENT_ID_MAX: usize = 1024;
const SCOPE_MAX: usize = 4096;

/// What a request says about how to authenticate.
pub struct Auth {
    /// Of which kind it is.
    pub kind: String,
    /// For which server.
    pub url: Option<String>,
    /// With what.
    pub secret: Option<String>,
    /// Until when; `None` if nothing is said about it.
    pub expires_at: Option<Value>,
    /// How it is renewed; `Some(None)` if not any more.
    pub refresh: Option<Option<RefreshWish>>,
}

impl std::fmt::Debug for Auth {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Auth").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl Auth {
    /// The name of the field with the secret.
    pub fn secret_field(kind: &str) -> &'static str {
        if kind == "mcp_oauth" { "access_token" } else { "token" }
    }
}

/// What a request says about how a token is renewed. What it does not say is `None`.
#[derive(Default)]
pub struct RefreshWish {
    token_endpoint: Option<String>,
    client_id: Option<String>,
    /// Null takes it away.
    scope: Option<Value>,
    resource: Option<Value>,
    auth: Option<String>,
    refresh_token: Option<String>,
    client_secret: Option<String>,
}

impl std::fmt::Debug for RefreshWish {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("RefreshWish(..)")
    }
}

/// Checks what a request says.
///
/// # Errors
/// Names what is wrong; it never repeats a secret.
pub fn parse_auth(value: Value) -> Result<Auth, ApiError> {
    let mut fields = Fields::of(value, "auth")?;
    let kind = fields.required_text("type", NAME_MAX)?;
    if !["static_bearer", "mcp_oauth"].contains(&kind.as_str()) {
        return Err(fields.bad("type", "must be static_bearer or mcp_oauth"));
    }
    let secret = secret(&mut fields, Auth::secret_field(&kind), 0x21)?;
    let url = fields.text("mcp_server_url", URL_MAX)?;
    if let Some(url) = &url {
        check_url(url).map_err(|what| fields.bad("mcp_server_url", what))?;
    }
    let (expires_at, refresh) = match kind.as_str() {
        "mcp_oauth" => (expires_at(&mut fields)?, parse_refresh(&mut fields)?),
        // They would have no effect, whatever they say.
        _ if fields.take("expires_at").is_some() => {
            return Err(ApiError::unsupported("auth.expires_at"));
        }
        _ => {
            fields.unsupported("refresh")?;
            (None, None)
        }
    };
    fields.finish()?;
    Ok(Auth { kind, url, secret, expires_at, refresh })
}

/// A secret of visible characters, the first of which is given.
fn secret(fields: &mut Fields, name: &str, first: u8) -> Result<Option<String>, ApiError> {
    let secret = fields.text(name, SECRET_MAX)?;
    let is_plain = |text: &String| text.bytes().all(|byte| (first..=0x7e).contains(&byte));
    match secret {
        Some(text) if text.is_empty() || !is_plain(&text) => {
            Err(fields.bad(name, "must have visible ASCII characters only"))
        }
        secret => Ok(secret),
    }
}

fn expires_at(fields: &mut Fields) -> Result<Option<Value>, ApiError> {
    match fields.take("expires_at") {
        None => Ok(None),
        Some(Value::Null) => Ok(Some(Value::Null)),
        Some(time) => {
            let time = time.as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok());
            let ms = time.and_then(|time| u64::try_from(time.as_millisecond()).ok());
            let what = "must be a time like 2026-11-17T04:05:06Z";
            Ok(Some(rfc3339(ms.ok_or_else(|| fields.bad("expires_at", what))?).into()))
        }
    }
}

fn parse_refresh(fields: &mut Fields) -> Result<Option<Option<RefreshWish>>, ApiError> {
    let value = match fields.take("refresh") {
        None => return Ok(None),
        Some(Value::Null) => return Ok(Some(None)),
        Some(value) => value,
    };
    let mut fields = Fields::of(value, "auth.refresh")?;
    let token_endpoint = fields.text("token_endpoint", URL_MAX)?;
    if let Some(url) = &token_endpoint {
        check_url(url).map_err(|what| fields.bad("token_endpoint", what))?;
    }
    let client_id = fields.text("client_id", CLIENT_ID_MAX)?;
    if client_id.as_ref().is_some_and(String::is_empty) {
        return Err(fields.bad("client_id", "Field required"));
    }
    let scope = optional_text(&mut fields, "scope", SCOPE_MAX)?;
    let resource = optional_text(&mut fields, "resource", URL_MAX)?;
    let refresh_token = secret(&mut fields, "refresh_token", 0x20)?;
    let (mut auth, mut client_secret) = (None, None);
    if let Some(value) = fields.value("token_endpoint_auth") {
        let mut fields = Fields::of(value, "auth.refresh.token_endpoint_auth")?;
        let kind = fields.required_text("type", NAME_MAX)?;
        client_secret = secret(&mut fields, "client_secret", 0x20)?;
        match ClientAuth::named(&kind) {
            None => {
                let what = "must be none, client_secret_basic or client_secret_post";
                return Err(fields.bad("type", what));
            }
            Some(ClientAuth::None) if client_secret.is_some() => {
                return Err(fields.bad("client_secret", "must not be there with the type none"));
            }
            Some(_) => {}
        }
        fields.finish()?;
        auth = Some(kind);
    }
    fields.finish()?;
    let wish = RefreshWish {
        token_endpoint,
        client_id,
        scope,
        resource,
        auth,
        refresh_token,
        client_secret,
    };
    Ok(Some(Some(wish)))
}

/// Text, or null; `None` if nothing is said.
fn optional_text(fields: &mut Fields, name: &str, max: usize) -> Result<Option<Value>, ApiError> {
    match fields.take(name) {
        None => Ok(None),
        Some(Value::Null) => Ok(Some(Value::Null)),
        Some(Value::String(text)) if text.chars().count() <= max => Ok(Some(text.into())),
        Some(_) => Err(fields.bad(name, &format!("must be text of at most {max} characters"))),
    }
}

/// The address is compared byte by byte later, and shown: it must not have a secret in it.
fn check_url(url: &str) -> Result<(), &'static str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    match host {
        Some(host) if host.contains('@') => Err("must not have a user or password in it"),
        Some(host) if !host.is_empty() && url.bytes().all(|b| (0x21..=0x7e).contains(&b)) => Ok(()),
        _ => Err("must be an address with http or https"),
    }
}

fn required(field: &str) -> ApiError {
    ApiError::invalid(format!("auth.refresh.{field}: Field required"))
}

/// What a new credential shows of how it is renewed, and what it does not.
///
/// # Errors
/// Names what is missing.
pub fn new_refresh(wish: RefreshWish) -> Result<(Value, RefreshSecrets), ApiError> {
    let auth = wish.auth.ok_or_else(|| required("token_endpoint_auth"))?;
    if auth != "none" && wish.client_secret.is_none() {
        return Err(required("token_endpoint_auth.client_secret"));
    }
    let shown = json!({
        "token_endpoint": wish.token_endpoint.ok_or_else(|| required("token_endpoint"))?,
        "client_id": wish.client_id.ok_or_else(|| required("client_id"))?,
        "scope": wish.scope.unwrap_or_default(), "resource": wish.resource.unwrap_or_default(),
        "token_endpoint_auth": {"type": auth},
    });
    let refresh_token = wish.refresh_token.ok_or_else(|| required("refresh_token"))?;
    Ok((shown, RefreshSecrets { refresh_token, client_secret: wish.client_secret }))
}

/// Changes how a credential is renewed. Where, by whom and with what stays what it was.
///
/// # Errors
/// Names what cannot be changed.
pub fn change_refresh(
    shown: &mut Value,
    secrets: &mut RefreshSecrets,
    wish: RefreshWish,
) -> Result<(), ApiError> {
    let fixed = [
        ("token_endpoint", wish.token_endpoint.map(Value::from)),
        ("client_id", wish.client_id.map(Value::from)),
        ("resource", wish.resource),
    ];
    for (field, given) in fixed {
        if given.is_some_and(|given| given != shown[field]) {
            return Err(ApiError::invalid(format!("auth.refresh.{field}: cannot be changed")));
        }
    }
    if let Some(auth) = wish.auth {
        let known = &shown["token_endpoint_auth"]["type"];
        if auth == "none" && known != "none" {
            let what = "auth.refresh.token_endpoint_auth.type: cannot become none";
            return Err(ApiError::invalid(what));
        }
        secrets.client_secret = wish.client_secret.or(secrets.client_secret.take());
        if auth != "none" && secrets.client_secret.is_none() {
            return Err(required("token_endpoint_auth.client_secret"));
        }
        shown["token_endpoint_auth"] = json!({"type": auth});
    }
    if let Some(scope) = wish.scope {
        shown["scope"] = scope;
    }
    if let Some(token) = wish.refresh_token {
        secrets.refresh_token = token;
    }
    Ok(())
}

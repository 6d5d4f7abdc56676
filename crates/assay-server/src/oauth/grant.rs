//! One request for a new access token: the grant `refresh_token` of OAuth 2.0.

use crate::hiding::hide;
use crate::net::{Client, Guard, GuardError, NetError, Reach, authority, path_of};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Request, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;
use url::Url;
use url::form_urlencoded::{Serializer, byte_serialize};

/// How long it may take, and how much may be answered.
const TIME_MAX: Duration = Duration::from_secs(10);
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// How much of an answer is shown, and how much of the name of an error.
const SHOWN_CHARS_MAX: usize = 2000;
const CODE_CHARS_MAX: usize = 64;
/// The longest token, and the longest life of one: what is longer has no end.
const TOKEN_BYTES_MAX: usize = 16 * 1024;
const LIFE_MAX: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// How the client shows who it is: one of these, never two together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClientAuth {
    /// By its name alone.
    None,
    /// In a header.
    Basic,
    /// In the body.
    Post,
}

impl ClientAuth {
    /// All of them, with their names.
    pub const ALL: [(&str, ClientAuth); 3] = [
        ("none", ClientAuth::None),
        ("client_secret_basic", ClientAuth::Basic),
        ("client_secret_post", ClientAuth::Post),
    ];

    /// The one of this name.
    pub fn named(name: &str) -> Option<ClientAuth> {
        ClientAuth::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, auth)| auth)
    }
}

/// What of it nobody may see.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RefreshSecrets {
    /// What a new access token is given for.
    pub refresh_token: String,
    /// What the client shows.
    pub client_secret: Option<String>,
}

impl std::fmt::Debug for RefreshSecrets {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("RefreshSecrets(..)")
    }
}

/// Who asks for what, and where.
#[derive(Clone, Debug)]
pub struct Grant {
    /// Where.
    pub token_endpoint: String,
    /// Who.
    pub client_id: String,
    /// What for, if that is said.
    pub scope: Option<String>,
    /// With what, if that is said.
    pub resource: Option<String>,
    /// How the client shows who it is.
    pub auth: ClientAuth,
    /// The secrets.
    pub secrets: RefreshSecrets,
}

impl Grant {
    /// As a credential has it.
    pub fn of(refresh: &Value, secrets: RefreshSecrets) -> Option<Grant> {
        let text = |field: &str| refresh[field].as_str().map(str::to_string);
        Some(Grant {
            token_endpoint: text("token_endpoint")?,
            client_id: text("client_id")?,
            scope: text("scope"),
            resource: text("resource"),
            auth: ClientAuth::named(refresh["token_endpoint_auth"]["type"].as_str()?)?,
            secrets,
        })
    }

    fn form(&self) -> String {
        let mut form = Serializer::new(String::new());
        form.append_pair("grant_type", "refresh_token");
        form.append_pair("refresh_token", &self.secrets.refresh_token);
        let given = [("scope", &self.scope), ("resource", &self.resource)];
        for (name, value) in given {
            if let Some(value) = value {
                form.append_pair(name, value);
            }
        }
        if self.auth != ClientAuth::Basic {
            form.append_pair("client_id", &self.client_id);
        }
        if let (ClientAuth::Post, Some(secret)) = (self.auth, &self.secrets.client_secret) {
            form.append_pair("client_secret", secret);
        }
        form.finish()
    }

    fn header(&self) -> Option<HeaderValue> {
        let secret = self.secrets.client_secret.as_ref().filter(|_| self.auth == ClientAuth::Basic);
        let part = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
        let pair = format!("{}:{}", part(&self.client_id), part(secret?));
        let mut header = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(pair))).ok()?;
        header.set_sensitive(true);
        Some(header)
    }

    /// The same text without whatever is secret.
    fn hide(&self, text: &str) -> String {
        let secrets = [Some(&self.secrets.refresh_token), self.secrets.client_secret.as_ref()];
        let plain = secrets.into_iter().flatten();
        let plain = plain.fold(text.to_string(), |text, secret| hide(&text, secret));
        match self.header().as_ref().and_then(|header| header.to_str().ok()) {
            Some(header) => hide(&plain, header.trim_start_matches("Basic ")),
            None => plain,
        }
    }
}

/// A new access token.
pub struct Granted {
    /// The token.
    pub access_token: String,
    /// The next refresh token, if there is another one.
    pub refresh_token: Option<String>,
    /// How long it is good, if that is known.
    pub life: Option<Duration>,
}

impl std::fmt::Debug for Granted {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Granted").field("life", &self.life).finish_non_exhaustive()
    }
}

/// An answer, as far as it may be shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answered {
    /// Its status.
    pub status: u16,
    /// What it says to be.
    pub content_type: String,
    /// What is in it, without secrets, and perhaps cut.
    pub body: String,
    /// Whether it is.
    pub is_cut: bool,
}

impl Answered {
    /// An answer with this body, from which `hide` takes what is secret.
    pub async fn read(answer: Response<Incoming>, hide: impl Fn(&str) -> String) -> Answered {
        let status = answer.status().as_u16();
        let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let content_type = hide(kind.unwrap_or_default());
        let (text, was_long) = match read(answer).await {
            Some(bytes) => (hide(&String::from_utf8_lossy(&bytes)), false),
            None => (String::new(), true),
        };
        let body: String = text.chars().take(SHOWN_CHARS_MAX).collect();
        let is_cut = was_long || body.len() < text.len();
        Answered { status, content_type, body, is_cut }
    }

    /// As clients see it.
    pub fn wire(&self) -> Value {
        json!({"status_code": self.status, "content_type": self.content_type, "body": self.body,
            "body_truncated": self.is_cut})
    }

    /// What it calls the error, if that is a name.
    fn code(&self) -> Option<String> {
        let json: Value = serde_json::from_str(&self.body).ok()?;
        let code = json["error"].as_str()?.to_string();
        let plain = |c: char| c.is_ascii_lowercase() || c == '_';
        (code.len() <= CODE_CHARS_MAX && code.chars().all(plain)).then_some(code)
    }
}

/// Why there is no new token. It has no secret in it.
#[derive(Debug, thiserror::Error)]
pub enum GrantError {
    /// It may not be asked.
    #[error("the token endpoint may not be asked: {0}")]
    Guard(#[from] GuardError),
    /// It does not answer.
    #[error("the token endpoint could not be asked: {0}")]
    Net(#[from] NetError),
    /// It says no.
    #[error("the token endpoint answered {}{}", .0.status, shown_code(.0))]
    Refused(Answered),
    /// It says yes, and gives no token that could be used.
    #[error("the token endpoint answered {0} without a bearer token that can be used")]
    NoToken(u16),
}

fn shown_code(answered: &Answered) -> String {
    answered.code().map_or_else(String::new, |code| format!(" ({code})"))
}

async fn read(answer: Response<Incoming>) -> Option<Bytes> {
    let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect();
    let body = tokio::time::timeout(TIME_MAX, body).await.ok()?;
    body.ok().map(|body| body.to_bytes())
}

/// Asks for a new access token.
///
/// # Errors
/// If there is none.
pub async fn exchange(
    client: &Client,
    guard: &Guard,
    grant: &Grant,
) -> Result<Granted, GrantError> {
    let wrong = || GuardError::Url(grant.token_endpoint.clone());
    let url = Url::parse(&grant.token_endpoint).map_err(|_| wrong())?;
    let target = guard.target(&url, &Reach::Public).await?;
    let mut request = Request::post(path_of(&url))
        .header(HOST, authority(&url))
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(ACCEPT, "application/json");
    if let Some(header) = grant.header() {
        request = request.header(AUTHORIZATION, header);
    }
    let request = request.body(Full::new(Bytes::from(grant.form()))).map_err(|_| wrong())?;
    let answer = client.send(&target, request, TIME_MAX).await?;
    if !answer.status().is_success() {
        return Err(GrantError::Refused(Answered::read(answer, |text| grant.hide(text)).await));
    }
    let status = answer.status().as_u16();
    let granted = read(answer).await.and_then(|bytes| understand(&bytes));
    granted.ok_or(GrantError::NoToken(status))
}

/// What an endpoint gives.
fn understand(bytes: &[u8]) -> Option<Granted> {
    let json: Value = serde_json::from_slice(bytes).ok()?;
    let is_bearer = |kind: &str| kind.eq_ignore_ascii_case("bearer");
    if json["token_type"].as_str().is_some_and(|kind| !is_bearer(kind)) {
        return None;
    }
    let is_visible = |text: &&str| text.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
    let fits = |text: &&str| (1..=TOKEN_BYTES_MAX).contains(&text.len());
    let text = |field: &str| json[field].as_str().filter(fits);
    let life = match &json["expires_in"] {
        Value::Number(seconds) => seconds.as_f64(),
        Value::String(seconds) => seconds.parse().ok(),
        _ => None,
    };
    let life = life.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    Some(Granted {
        access_token: text("access_token").filter(is_visible)?.to_string(),
        refresh_token: text("refresh_token").map(str::to_string),
        life: life.filter(|life| *life <= LIFE_MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(auth: ClientAuth) -> Grant {
        let secrets =
            RefreshSecrets { refresh_token: "r t&1".into(), client_secret: Some("s:2".into()) };
        let refresh = json!({"token_endpoint": "https://a.example/t", "client_id": "c/1",
            "scope": "a b", "resource": null, "token_endpoint_auth": {"type": "none"}});
        Grant { auth, ..Grant::of(&refresh, secrets).expect("whole") }
    }

    #[test]
    fn a_client_shows_who_it_is_in_one_way() {
        let form = "grant_type=refresh_token&refresh_token=r+t%261&scope=a+b";
        let cases = [
            (ClientAuth::None, format!("{form}&client_id=c%2F1"), None),
            (ClientAuth::Post, format!("{form}&client_id=c%2F1&client_secret=s%3A2"), None),
            (ClientAuth::Basic, form.to_string(), Some("c%2F1:s%3A2")),
        ];
        for (auth, form, pair) in cases {
            let grant = grant(auth);
            assert_eq!(grant.form(), form, "{auth:?}");
            let header = pair.map(|pair| format!("Basic {}", STANDARD.encode(pair)));
            let shown = grant.header().map(|header| header.to_str().expect("text").to_string());
            assert_eq!(shown, header, "{auth:?}");
        }
        let basic = grant(ClientAuth::Basic);
        let encoded = STANDARD.encode("c%2F1:s%3A2");
        let hidden = basic.hide(&format!("r t&1 s:2 {encoded} c/1"));
        assert_eq!(hidden, "[key] [key] [key] c/1");
        let spelled = basic.hide("refresh_token=r+t%261&client_secret=s%3A2");
        assert_eq!(spelled, "refresh_token=[key]&client_secret=[key]");
        assert!(!format!("{basic:?}").contains("s:2"));
    }

    #[test]
    fn only_a_bearer_token_that_fits_into_a_header_is_one() {
        let hour = Some(Duration::from_secs(3600));
        let cases = [
            (json!({"access_token": "a", "expires_in": 3600}), Some(("a", None, hour))),
            (json!({"access_token": "a", "expires_in": "3600"}), Some(("a", None, hour))),
            (
                json!({"access_token": "a", "token_type": "BEARER", "refresh_token": "r"}),
                Some(("a", Some("r"), None)),
            ),
            (json!({"access_token": "a", "expires_in": -1}), Some(("a", None, None))),
            (json!({"access_token": "a", "expires_in": 1e300}), Some(("a", None, None))),
            (json!({"access_token": "a", "token_type": "mac"}), None),
            (json!({"access_token": "a b"}), None),
            (json!({"access_token": ""}), None),
            (json!({"access_token": "a".repeat(TOKEN_BYTES_MAX + 1)}), None),
            (json!({}), None),
            (json!("a"), None),
        ];
        for (body, expected) in cases {
            let granted = understand(body.to_string().as_bytes());
            let granted = granted.map(|one| (one.access_token, one.refresh_token, one.life));
            let expected = expected.map(|(token, refresh, life): (&str, Option<&str>, _)| {
                (token.to_string(), refresh.map(str::to_string), life)
            });
            assert_eq!(granted, expected, "{body}");
        }
        assert!(understand(b"<html>").is_none());
    }
}

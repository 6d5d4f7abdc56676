//! `web_fetch`: a page of the web, fetched by the server for a session.
//!
//! It runs in the server, within limits of time and size: what the environment allows is asked for
//! through the [guard](crate::net::Guard), and every redirect is looked at like the first address.

use super::room::{Gave, Room};
use super::toolbox::cut;
use crate::net::{Client, Guard, Reach, authority, path_of};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, LOCATION, USER_AGENT};
use hyper::{Request, Response};
use serde_json::{Map, Value, json};
use std::time::Duration;
use url::Url;

/// The name of the tool.
pub(super) const WEB_FETCH: &str = "web_fetch";
/// How long all of it may take.
const TIME_MAX: Duration = Duration::from_secs(30);
/// Redirects that are followed.
const REDIRECTS_MAX: usize = 5;
/// How much of a page is read.
const PAGE_BYTES_MAX: usize = 5 * 1024 * 1024;
/// How much of it a model is shown.
pub(super) const SHOWN_BYTES_MAX: usize = 100_000;
/// The longest address.
const URL_BYTES_MAX: usize = 2048;

/// The tool in words for a model.
pub(super) fn fetch_definition() -> Value {
    json!({
        "name": WEB_FETCH,
        "description": "Fetches a page of the web as text, by GET. Only hosts that the \
            environment allows can be reached.",
        "input_schema": {
            "type": "object",
            "properties": {"url": {"type": "string", "description": "begins with https://"}},
            "required": ["url"],
            "additionalProperties": false,
        },
    })
}

/// Fetches a page. What goes wrong is for the model.
pub(super) async fn fetch(room: &Room, input: &Map<String, Value>) -> Gave {
    let url = match (input.get("url").and_then(Value::as_str), input.len()) {
        (Some(url), 1) if url.len() <= URL_BYTES_MAX => url,
        _ => return Gave::text("web_fetch: needs `url`, a text, and nothing else", true),
    };
    let (client, guard) = room.web();
    let page = tokio::time::timeout(TIME_MAX, follow(client, &guard, &room.reach, url)).await;
    match page.unwrap_or_else(|_| Err(format!("it took longer than {} s", TIME_MAX.as_secs()))) {
        Ok((text, is_error)) => Gave::text(text, is_error),
        Err(why) => Gave::text(format!("web_fetch: {why}"), true),
    }
}

async fn follow(
    client: &Client,
    guard: &Guard,
    reach: &Reach,
    url: &str,
) -> Result<(String, bool), String> {
    let mut url = Url::parse(url).map_err(|_| format!("`{url}` is no address"))?;
    for _ in 0..=REDIRECTS_MAX {
        let target = guard.target(&url, reach).await.map_err(|error| error.to_string())?;
        let request = Request::get(path_of(&url))
            .header(HOST, authority(&url))
            .header(USER_AGENT, "assay")
            .header(ACCEPT, "text/*, application/json, application/xml;q=0.9, */*;q=0.1")
            .body(Full::new(Bytes::new()))
            .map_err(|error| error.to_string())?;
        let answer = client.send(&target, request, TIME_MAX).await;
        let answer = answer.map_err(|error| error.to_string())?;
        if !answer.status().is_redirection() {
            return show(answer).await;
        }
        let place = answer.headers().get(LOCATION).and_then(|place| place.to_str().ok());
        let place = place.ok_or("a redirect that leads nowhere")?;
        url = url.join(place).map_err(|_| format!("a redirect to `{place}`, no address"))?;
    }
    Err(format!("more than {REDIRECTS_MAX} redirects"))
}

async fn show(answer: Response<Incoming>) -> Result<(String, bool), String> {
    let status = answer.status();
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or("text/plain").to_string();
    let is_text = ["text/", "application/json", "application/xml", "application/xhtml"];
    if !is_text.iter().any(|start| kind.starts_with(start)) {
        return Err(format!("the page is `{kind}`, not text"));
    }
    let (mut body, mut bytes, mut is_cut) = (answer.into_body(), Vec::new(), false);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| format!("the page broke off: {error}"))?;
        let Ok(data) = frame.into_data() else { continue };
        let left = PAGE_BYTES_MAX - bytes.len();
        bytes.extend_from_slice(&data[..data.len().min(left)]);
        if data.len() > left {
            is_cut = true;
            break;
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    let shown = cut(&text, SHOWN_BYTES_MAX);
    is_cut |= shown.len() < text.len();
    let note = if is_cut { "\n[the rest is left out]" } else { "" };
    Ok((format!("{status} {kind}\n\n{shown}{note}"), !status.is_success()))
}

//! One request to the endpoint, asked again while that makes sense.

use super::reply::{Fault, Gatherer, Reply};
use super::sse::SseReader;
use crate::engine::Prices;
use crate::engine::host::{Host, Stop};
use crate::engine::options::{EngineError, ModelConfig};
use crate::net::{Client, NetError, authority};
use assay_session::{ErrorKind, RetryStatus, Said, SessionError, Usage};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderValue, RETRY_AFTER};
use hyper::{Request, Response};
use serde_json::Value;
use std::time::{Duration, Instant, SystemTime};
use url::Url;

/// How often a request is made, at most.
const TRIES_MAX: u32 = 5;
/// The first wait; each further one is twice as long, up to the longest.
const WAIT_FIRST: Duration = Duration::from_millis(500);
const WAIT_MAX: Duration = Duration::from_secs(30);
/// The longest wait that an endpoint can ask for. One that wants more is not asked again.
const WAIT_ASKED_MAX: Duration = Duration::from_secs(300);
/// How long until the head of an answer is there, and between two pieces of it.
const SILENCE_MAX: Duration = Duration::from_secs(120);
/// How long all of an answer may take.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(30 * 60);
/// How much of an error is read, and how much of it is said.
const ERROR_BYTES_MAX: usize = 64 * 1024;
const ERROR_CHARS_MAX: usize = 500;
const TOO_LARGE: &str = "the answer of the model is too large";
const RETRY_AFTER_MS: &str = "retry-after-ms";
const VERSION: &str = "2023-06-01";

/// Where a model is asked.
pub struct Endpoint {
    url: Url,
    /// What it calls the model.
    pub model: String,
    /// What it costs there.
    pub prices: Option<Prices>,
    key: Option<HeaderValue>,
    client: Client,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The key is nobody's business.
        out.debug_struct("Endpoint").field("url", &self.url.as_str()).finish_non_exhaustive()
    }
}

/// What came of asking.
pub enum Asked {
    /// An answer. The request is still open: its end is said together with it.
    Reply(Reply),
    /// None, and this ends the turn.
    Failed(Vec<Said>),
    /// It does not take what it was asked: the end of the request, and why.
    Refused(Said, SessionError),
}

/// Why there is no answer.
struct Trouble {
    kind: ErrorKind,
    message: String,
    /// Whether to ask again, and when if the endpoint says so.
    again: Again,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Again {
    Never,
    /// Not this, but something else.
    Otherwise,
    Later,
    After(Duration),
}

impl Endpoint {
    /// The endpoint of a model.
    ///
    /// # Errors
    /// If there is no key, or no way to check who answers.
    pub fn new(id: &str, config: ModelConfig, client: Client) -> Result<Endpoint, EngineError> {
        let key = match config.api_key_env {
            None => None,
            Some(variable) => Some(read_key(id, variable)?),
        };
        if config.base_url.scheme() == "https" && !client.has_tls() {
            return Err(EngineError::NoRoots(id.to_string()));
        }
        let mut url = config.base_url;
        let path = format!("{}/v1/messages", url.path().trim_end_matches('/'));
        url.set_path(&path);
        let model = config.model.unwrap_or_else(|| id.to_string());
        Ok(Endpoint { url, model, prices: config.prices, key, client })
    }

    /// Asks, and asks again.
    pub async fn ask(&self, host: &mut Host, body: &str) -> Result<Asked, Stop> {
        let mut wait = WAIT_FIRST;
        host.say(vec![Said::RequestStart]).await?;
        for tried in 1.. {
            let trouble = match self.ask_once(body).await {
                Ok(reply) => return Ok(Asked::Reply(reply)),
                Err(trouble) => trouble,
            };
            let usage = Usage::default();
            let cost_nanos = self.prices.and_then(|prices| prices.nanos(&usage));
            let end = Said::RequestEnd { is_error: true, usage, cost_nanos };
            let Trouble { kind, message, again } = trouble;
            let message = self.without_key(message);
            let error = |retry_status| SessionError::new(kind, message, retry_status);
            let pause = match again {
                Again::Otherwise => {
                    return Ok(Asked::Refused(end, error(RetryStatus::Terminal)));
                }
                Again::Never => {
                    let error = error(RetryStatus::Terminal);
                    return Ok(Asked::Failed(vec![end, Said::Failed(error)]));
                }
                Again::After(asked) if asked > WAIT_ASKED_MAX => None,
                _ if tried >= TRIES_MAX => None,
                Again::After(asked) => Some(asked),
                Again::Later => Some(wait),
            };
            let Some(pause) = pause else {
                let error = error(RetryStatus::Exhausted);
                return Ok(Asked::Failed(vec![end, Said::Failed(error)]));
            };
            host.say(vec![end, Said::Rescheduled(error(RetryStatus::Retrying))]).await?;
            tokio::time::sleep(pause).await;
            wait = (wait * 2).min(WAIT_MAX);
            host.say(vec![Said::Resumed, Said::RequestStart]).await?;
        }
        Err(Stop::Broken)
    }

    /// An endpoint may repeat what it was sent.
    fn without_key(&self, message: String) -> String {
        match self.key.as_ref().and_then(|key| key.to_str().ok()) {
            Some(key) => message.replace(key, "[key]"),
            None => message,
        }
    }

    async fn ask_once(&self, body: &str) -> Result<Reply, Trouble> {
        let target = self.client.trusted(&self.url).await.map_err(|error| broken(&error))?;
        let mut request = Request::post(self.url.path())
            .header(HOST, authority(&self.url))
            .header(CONTENT_TYPE, "application/json")
            .header("anthropic-version", VERSION);
        if let Some(key) = &self.key {
            request = request.header("x-api-key", key);
        }
        let request = request.body(Full::new(Bytes::from(body.to_string())));
        let request = request.map_err(|error| refused(error.to_string()))?;
        let answer = self.client.send(&target, request, SILENCE_MAX).await;
        let answer = answer.map_err(|error| broken(&error))?;
        match answer.status().as_u16() {
            200 => read(answer.into_body()).await,
            _ => Err(read_error(answer).await),
        }
    }
}

fn read_key(id: &str, variable: String) -> Result<HeaderValue, EngineError> {
    let model = id.to_string();
    let text = std::env::var(&variable).unwrap_or_default();
    if text.trim().is_empty() {
        return Err(EngineError::NoKey { model, variable });
    }
    let mut value =
        HeaderValue::from_str(text.trim()).map_err(|_| EngineError::BadKey { model, variable })?;
    value.set_sensitive(true);
    Ok(value)
}

fn broken(error: &NetError) -> Trouble {
    let message = format!("the model could not be asked: {error}");
    Trouble { kind: ErrorKind::ModelRequestFailedError, message, again: Again::Later }
}

fn refused(message: String) -> Trouble {
    Trouble { kind: ErrorKind::ModelRequestFailedError, message, again: Again::Never }
}

async fn read(mut body: Incoming) -> Result<Reply, Trouble> {
    let mut reader = SseReader::default();
    let mut gatherer = Gatherer::default();
    let broke_off = |why: String| {
        let message = format!("the answer of the model broke off: {why}");
        Trouble { kind: ErrorKind::ModelRequestFailedError, message, again: Again::Later }
    };
    let until = Instant::now() + ANSWER_TIME_MAX;
    loop {
        let left = until.saturating_duration_since(Instant::now()).min(SILENCE_MAX);
        let frame = tokio::time::timeout(left, body.frame()).await;
        let frame = match frame {
            Err(_) => return Err(broke_off("it took too long".to_string())),
            Ok(None) => return Err(broke_off("it ended in the middle".to_string())),
            Ok(Some(Err(error))) => return Err(broke_off(error.to_string())),
            Ok(Some(Ok(frame))) => frame,
        };
        let Ok(piece) = frame.into_data() else { continue };
        let events = reader.push(&piece).map_err(|error| refused(error.to_string()))?;
        for event in events {
            match gatherer.push(&event) {
                Ok(Some(reply)) => return Ok(reply),
                Ok(None) => {}
                Err(Fault::Said(kind, message)) => return Err(said(&kind, &message)),
                Err(Fault::Unintelligible(why)) => return Err(broke_off(why)),
                // It would be so again.
                Err(Fault::TooLarge) => return Err(refused(TOO_LARGE.to_string())),
            }
        }
    }
}

/// An error in words of the endpoint.
fn said(kind: &str, message: &str) -> Trouble {
    let (known, again) = match kind {
        "rate_limit_error" => (ErrorKind::ModelRateLimitedError, Again::Later),
        "overloaded_error" => (ErrorKind::ModelOverloadedError, Again::Later),
        "billing_error" => (ErrorKind::BillingError, Again::Never),
        "api_error" | "timeout_error" => (ErrorKind::ModelRequestFailedError, Again::Later),
        _ => (ErrorKind::ModelRequestFailedError, Again::Never),
    };
    Trouble { kind: known, message: format!("the model says {kind}: {message}"), again }
}

async fn read_error(answer: Response<Incoming>) -> Trouble {
    let status = answer.status().as_u16();
    let asked = retry_after(answer.headers(), SystemTime::now());
    let body = Limited::new(answer.into_body(), ERROR_BYTES_MAX).collect();
    let body = tokio::time::timeout(SILENCE_MAX, body).await;
    let bytes = body.ok().and_then(Result::ok).map(|body| body.to_bytes()).unwrap_or_default();
    let json: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let message = json["error"]["message"].as_str().unwrap_or("without a message");
    let message: String = message.chars().take(ERROR_CHARS_MAX).collect();
    let later = asked.map_or(Again::Later, Again::After);
    let (kind, again) = match status {
        402 => (ErrorKind::BillingError, Again::Never),
        429 => (ErrorKind::ModelRateLimitedError, later),
        503 | 529 => (ErrorKind::ModelOverloadedError, later),
        408 | 500.. => (ErrorKind::ModelRequestFailedError, later),
        400 | 413 => (ErrorKind::ModelRequestFailedError, Again::Otherwise),
        _ => (ErrorKind::ModelRequestFailedError, Again::Never),
    };
    Trouble { kind, message: format!("the model answered {status}: {message}"), again }
}

/// How long the endpoint wants to be left alone: in milliseconds, which are more exact than what
/// stands beside them, in seconds, or until a date. What is longer than anybody waits stays so.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| Some(headers.get(name)?.to_str().ok()?.trim().to_string());
    let number = |text: &str, unit: f64| {
        let seconds = text.parse::<f64>().ok().filter(|number| *number >= 0.0)? * unit;
        Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
    };
    let millis = text(RETRY_AFTER_MS).and_then(|text| number(&text, 0.001));
    millis.or_else(|| {
        let text = text(RETRY_AFTER.as_str())?;
        number(&text, 1.0).or_else(|| {
            let date = httpdate::parse_http_date(&text).ok()?;
            // A date that has passed is no wait.
            Some(date.duration_since(now).unwrap_or_default())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderName;

    #[test]
    fn an_endpoint_says_in_three_ways_when_to_come_back() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let after = |headers: &[(&'static str, &str)]| {
            let pair = |(name, value): &(&'static str, &str)| {
                (HeaderName::from_static(name), HeaderValue::from_str(value).expect("a value"))
            };
            retry_after(&headers.iter().map(pair).collect(), now)
        };
        let (seconds, millis) = ("retry-after", "retry-after-ms");
        let wait = |millis| Some(Duration::from_millis(millis));
        for (headers, expected) in [
            (&[][..], None),
            (&[(seconds, "7")], wait(7000)),
            (&[(seconds, " 0.5 ")], wait(500)),
            (&[(millis, "250")], wait(250)),
            (&[(seconds, "7"), (millis, "250")], wait(250)),
            (&[(seconds, "7"), (millis, "soon")], wait(7000)),
            // One and the same moment, in each form a date may have.
            (&[(seconds, "Sun, 06 Nov 1994 08:49:47 GMT")], wait(10_000)),
            (&[(seconds, "Sunday, 06-Nov-94 08:49:47 GMT")], wait(10_000)),
            (&[(seconds, "Sun Nov  6 08:49:47 1994")], wait(10_000)),
            (&[(seconds, "Sun, 06 Nov 1994 08:49:30 GMT")], wait(0)),
            (&[(seconds, "-1")], None),
            (&[(seconds, "NaN")], None),
            (&[(seconds, "tomorrow")], None),
            (&[(seconds, "")], None),
            (&[(seconds, "1e300")], Some(Duration::MAX)),
            (&[(millis, "inf")], Some(Duration::MAX)),
        ] {
            assert_eq!(after(headers), expected, "{headers:?}");
        }
        let far = after(&[(seconds, "Fri, 31 Dec 9999 23:59:59 GMT")]).expect("a date");
        assert!(far > WAIT_ASKED_MAX, "then it is not asked again: {far:?}");
    }
}

//! What is done with a stream of JetStream.
//!
//! Messages are read one by one from the leader of the stream, many at a time. A consumer would be
//! quicker, but may sit on a replica that is behind, and has to be made by the whole cluster.

use super::session::{Session, json};
use crate::trouble::Trouble;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures_util::{StreamExt, TryStreamExt};
use serde_json::{Value, json};

/// Messages that are asked for at once.
const UNDER_WAY_MAX: usize = 64;

const STREAM_NOT_FOUND: i64 = 10_059;
const MESSAGE_NOT_FOUND: i64 = 10_037;

/// Makes a stream; one that is there already with the same settings is fine.
pub(super) async fn make(session: &Session, stream: &str, replicas: u64) -> Result<(), Trouble> {
    let about = json!({
        "name": stream,
        "subjects": [stream],
        "storage": "file",
        "retention": "limits",
        "discard": "old",
        "num_replicas": replicas,
    });
    let made = session.ask(&format!("STREAM.CREATE.{stream}"), about).await;
    // The call itself was not sent yet.
    refused(&made.map_err(Trouble::of_reading)?).map_or(Ok(()), |(_, why)| Err(Trouble::Fail(why)))
}

/// Publishes and waits for the acknowledgement; the place in the stream, from 1.
pub(super) async fn publish(
    session: &Session,
    stream: &str,
    element: &Value,
    id: Option<&str>,
) -> Result<u64, Trouble> {
    let answer = session.request(stream, element.to_string(), id).await?;
    let answer = json(&answer.payload)?;
    if let Some((_, why)) = refused(&answer) {
        // A server that cannot may have begun; one that does not want to has not.
        let could_not = answer["error"]["code"].as_i64().is_none_or(|code| code >= 500);
        return Err(if could_not { Trouble::Unknown(why) } else { Trouble::Fail(why) });
    }
    let place = answer["seq"].as_u64();
    place.ok_or_else(|| Trouble::Unknown(format!("not understood: {answer}")))
}

/// The message at a place, from 1.
pub(super) async fn at(
    session: &Session,
    stream: &str,
    place: u64,
) -> Result<Option<Value>, Trouble> {
    let about = json!({ "seq": place });
    let answer = session.ask(&format!("STREAM.MSG.GET.{stream}"), about).await?;
    match refused(&answer) {
        Some((STREAM_NOT_FOUND | MESSAGE_NOT_FOUND, _)) => return Ok(None),
        Some((_, why)) => return Err(Trouble::Fail(why)),
        None => {}
    }
    let data = answer["message"]["data"].as_str().unwrap_or_default();
    let payload = BASE64_STANDARD.decode(data).unwrap_or_default();
    json(&payload).map(Some)
}

/// All messages, in their order.
pub(super) async fn whole(session: &Session, stream: &str) -> Result<Vec<Value>, Trouble> {
    let info = session.ask(&format!("STREAM.INFO.{stream}"), Value::Null).await?;
    match refused(&info) {
        Some((STREAM_NOT_FOUND, _)) => return Ok(Vec::new()),
        Some((_, why)) => return Err(Trouble::Fail(why)),
        None => {}
    }
    let state = &info["state"];
    let (Some(first), Some(last)) = (state["first_seq"].as_u64(), state["last_seq"].as_u64())
    else {
        return Err(Trouble::Fail(format!("not understood: {info}")));
    };
    let messages = futures_util::stream::iter(first.max(1)..=last);
    let messages = messages.map(|place| at(session, stream, place)).buffered(UNDER_WAY_MAX);
    let messages: Vec<Option<Value>> = messages.try_collect().await?;
    Ok(messages.into_iter().flatten().collect())
}

/// The names of all streams that begin with `prefix`.
pub(super) async fn names(session: &Session, prefix: &str) -> Result<Vec<String>, Trouble> {
    let mut names = Vec::new();
    let mut seen = 0;
    loop {
        let answer = session.ask("STREAM.NAMES", json!({ "offset": seen })).await?;
        if let Some((_, why)) = refused(&answer) {
            return Err(Trouble::Fail(why));
        }
        let page = answer["streams"].as_array().map_or(&[][..], Vec::as_slice);
        let fitting = page.iter().filter_map(Value::as_str).filter(|name| name.starts_with(prefix));
        names.extend(fitting.map(str::to_string));
        seen += page.len() as u64;
        if page.is_empty() || answer["total"].as_u64().is_none_or(|total| seen >= total) {
            return Ok(names);
        }
    }
}

/// Number and words of an error in an answer.
fn refused(answer: &Value) -> Option<(i64, String)> {
    let error = answer.get("error")?;
    let number = error["err_code"].as_i64().or(error["code"].as_i64()).unwrap_or(0);
    Some((number, format!("{number} {}", error["description"].as_str().unwrap_or_default())))
}

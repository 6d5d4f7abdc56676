//! One connection to a NATS server, for requests and their answers.
//!
//! The library connects again by itself and keeps what could not be sent. Neither may happen behind
//! the caller's back: once a connection is gone it is given up.

use crate::trouble::Trouble;
use async_nats::client::RequestErrorKind;
use async_nats::connection::State;
use async_nats::{Client, ConnectOptions, Event, Message, Request};
use serde_json::Value;
use std::net::SocketAddr;
use tokio::sync::watch;

/// A connection, and whether it is gone.
pub(super) struct Session {
    client: Client,
    gone: watch::Receiver<bool>,
}

impl Session {
    pub(super) async fn connect(address: SocketAddr) -> Result<Session, String> {
        let (tell, gone) = watch::channel(false);
        let options = ConnectOptions::new()
            .name("assay")
            // The client belongs to this node; others it hears of are none of its business.
            .ignore_discovered_servers()
            .max_reconnects(1)
            // Every call has a deadline of its own.
            .request_timeout(None)
            .event_callback(move |event| {
                if matches!(event, Event::Disconnected | Event::Closed) {
                    tell.send_replace(true);
                }
                async {}
            });
        let client = options.connect(format!("nats://{address}")).await;
        Ok(Session { client: client.map_err(|error| error.to_string())?, gone })
    }

    /// Whether the next call may use it.
    pub(super) fn is_usable(&self) -> bool {
        !*self.gone.borrow() && self.client.connection_state() == State::Connected
    }

    /// Sends a message and waits for the answer; with an id, a stream takes it only once.
    pub(super) async fn request(
        &self,
        subject: &str,
        payload: String,
        id: Option<&str>,
    ) -> Result<Message, Trouble> {
        let mut request = Request::new().payload(payload.into());
        if let Some(id) = id {
            let mut headers = async_nats::HeaderMap::new();
            headers.insert("Nats-Msg-Id", id);
            request = request.headers(headers);
        }
        let mut gone = self.gone.clone();
        tokio::select! {
            answer = self.client.send_request(subject.to_string(), request) => {
                answer.map_err(|error| match error.kind() {
                    // The server says so itself: nobody got it.
                    RequestErrorKind::NoResponders
                    | RequestErrorKind::InvalidSubject
                    | RequestErrorKind::MaxPayloadExceeded => Trouble::Fail(error.to_string()),
                    _ => Trouble::Unknown(error.to_string()),
                })
            }
            _ = gone.wait_for(|gone| *gone) => {
                Err(Trouble::Unknown("the connection was lost before an answer came".to_string()))
            }
        }
    }

    /// A request to JetStream itself; the answer, which may be an error of its own.
    pub(super) async fn ask(&self, what: &str, about: Value) -> Result<Value, Trouble> {
        let payload = if about.is_null() { String::new() } else { about.to_string() };
        let answer = self.request(&format!("$JS.API.{what}"), payload, None).await?;
        json(&answer.payload)
    }
}

/// A payload of JSON.
pub(super) fn json(payload: &[u8]) -> Result<Value, Trouble> {
    serde_json::from_slice(payload).map_err(|_| {
        let text = String::from_utf8_lossy(payload);
        Trouble::Unknown(format!("not understood: {text}"))
    })
}

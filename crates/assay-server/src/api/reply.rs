//! Answers.

use super::counted::counted;
use crate::limits::Place;
use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::Value;
use tokio::io::AsyncReadExt;

/// How much of a file is held at a time for one who reads it.
const PIECE_BYTES: usize = 64 * 1024;

/// An answer before it becomes one of HTTP.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// What kind of body it is.
    pub content_type: &'static str,
    /// More headers.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Body,
}

impl Reply {
    /// 200 with JSON.
    pub fn json(value: &Value) -> Reply {
        Reply::text(value.to_string())
    }

    /// 200 with JSON that is written already.
    pub fn text(json: String) -> Reply {
        Reply {
            status: 200,
            content_type: "application/json",
            headers: Vec::new(),
            body: Body::from(json),
        }
    }

    /// 200 with a file of this length, which is read while it is sent.
    pub fn file(file: std::fs::File, length: u64, content_type: &'static str) -> Reply {
        let file = tokio::fs::File::from_std(file);
        let pieces = futures_util::stream::try_unfold(file, |mut file| async move {
            let mut piece = Vec::with_capacity(PIECE_BYTES);
            (&mut file).take(PIECE_BYTES as u64).read_to_end(&mut piece).await?;
            let has_more = !piece.is_empty();
            Ok::<_, std::io::Error>(has_more.then(|| (Bytes::from(piece), file)))
        });
        Reply {
            status: 200,
            content_type,
            headers: vec![("content-length", length.to_string())],
            body: Body::from_stream(pieces),
        }
    }

    /// The same, which keeps a place until all of it is sent.
    pub fn holding(mut self, place: Place) -> Reply {
        self.body = counted(self.body, place);
        self
    }

    /// With the id that every answer has.
    pub fn into_response(self, request_id: &str) -> Response {
        let mut response = Response::new(self.body);
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or_default();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        let extra = self.headers.into_iter().chain([("request-id", request_id.to_string())]);
        for (name, value) in extra {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
        response
    }
}

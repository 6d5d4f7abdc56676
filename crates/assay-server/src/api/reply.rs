//! Answers.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::Value;

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

    /// 200 with bytes.
    pub fn bytes(bytes: Vec<u8>) -> Reply {
        Reply {
            content_type: "application/octet-stream",
            body: Body::from(bytes),
            ..Reply::text(String::new())
        }
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

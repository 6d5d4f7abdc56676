//! What went wrong with a request, as clients read it.

use crate::api::reply::Reply;
use crate::log::log;
use assay_ledger::keyed::{KEY_BYTES_MAX, StoreError, VALUE_BYTES_MAX};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Kinds of errors on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorType {
    /// 400, 405, 408 and 409.
    InvalidRequestError,
    /// 401
    AuthenticationError,
    /// 404
    NotFoundError,
    /// 413
    RequestTooLarge,
    /// 429
    RateLimitError,
    /// 500
    ApiError,
    /// 529
    OverloadedError,
}

/// An answer that says no.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ApiError {
    /// The status of HTTP.
    pub status: u16,
    /// The kind.
    pub kind: ErrorType,
    /// For people.
    pub message: String,
    /// When to try again, in seconds.
    pub retry_after_s: Option<u32>,
    /// It may have been done all the same: what belongs to it must stay where it is.
    #[serde(skip)]
    pub is_unknown: bool,
}

impl ApiError {
    fn new(status: u16, kind: ErrorType, message: impl Into<String>) -> ApiError {
        let message = message.into();
        ApiError { status, kind, message, retry_after_s: None, is_unknown: false }
    }

    /// The request is wrong.
    pub fn invalid(message: impl Into<String>) -> ApiError {
        ApiError::new(400, ErrorType::InvalidRequestError, message)
    }

    /// It does not fit to what is there. Trying again does not help.
    pub fn conflict(message: impl Into<String>) -> ApiError {
        ApiError::new(409, ErrorType::InvalidRequestError, message)
    }

    /// A field that has no effect here is refused.
    pub fn unsupported(field: &str) -> ApiError {
        let field: String = field.chars().take(64).collect();
        ApiError::invalid(format!("Field `{field}` is not yet supported by this server."))
    }

    /// No such thing, or none of this workspace's.
    pub fn not_found(message: impl Into<String>) -> ApiError {
        ApiError::new(404, ErrorType::NotFoundError, message)
    }

    /// No key, a wrong one or a revoked one: which of them is not said.
    pub fn unauthenticated() -> ApiError {
        ApiError::new(401, ErrorType::AuthenticationError, "Authentication failed")
    }

    /// A known path, another method.
    pub fn wrong_method() -> ApiError {
        ApiError::new(405, ErrorType::InvalidRequestError, "Method not allowed")
    }

    /// The body did not come in time.
    pub fn too_slow() -> ApiError {
        ApiError::new(408, ErrorType::InvalidRequestError, "The request body took too long")
    }

    /// The body is too large.
    pub fn too_large() -> ApiError {
        ApiError::new(413, ErrorType::RequestTooLarge, "Request body is too large")
    }

    /// What would be written is too large.
    fn too_large_to_keep(bytes: usize, bytes_max: usize) -> ApiError {
        let what = format!(
            "Nothing was done: it would make a record of {bytes} bytes, and a record can have at \
             most {bytes_max}"
        );
        ApiError::new(413, ErrorType::RequestTooLarge, what)
    }

    /// Too much of something for one workspace.
    pub fn too_many(message: impl Into<String>) -> ApiError {
        let error = ApiError::new(429, ErrorType::RateLimitError, message);
        ApiError { retry_after_s: Some(5), ..error }
    }

    /// Too much for this process.
    pub fn overloaded(message: impl Into<String>) -> ApiError {
        let error = ApiError::new(529, ErrorType::OverloadedError, message);
        ApiError { retry_after_s: Some(5), ..error }
    }

    /// Our fault; what exactly stands in the log.
    pub fn internal() -> ApiError {
        ApiError::new(500, ErrorType::ApiError, "Internal server error")
    }

    /// Whether it was written is known only after the next start.
    pub fn unknown() -> ApiError {
        ApiError { is_unknown: true, ..ApiError::internal() }
    }

    /// The envelope all errors come in.
    pub fn reply(&self, request_id: &str) -> Reply {
        let error = json!({"type": self.kind, "message": self.message});
        let body = json!({"type": "error", "error": error, "request_id": request_id});
        let mut reply = Reply::json(&body);
        reply.status = self.status;
        if let Some(seconds) = self.retry_after_s {
            reply.headers.push(("retry-after", seconds.to_string()));
        }
        // Official clients try every 409 again, which helps none of ours.
        if self.status == 409 {
            reply.headers.push(("x-should-retry", "false".to_string()));
        }
        reply
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> ApiError {
        log(&error);
        match error {
            StoreError::Size { bytes, .. } => ApiError::too_large_to_keep(bytes, VALUE_BYTES_MAX),
            StoreError::KeySize { bytes, .. } => ApiError::too_large_to_keep(bytes, KEY_BYTES_MAX),
            _ => ApiError::internal(),
        }
    }
}

impl From<serde_json::Error> for ApiError {
    fn from(error: serde_json::Error) -> ApiError {
        log(format_args!("a record cannot be read or written: {error}"));
        ApiError::internal()
    }
}

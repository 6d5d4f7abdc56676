//! Bodies of several parts: as large and as slow as they may be, and no more.

use crate::error::ApiError;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart};
use axum::http::{HeaderMap, Request};
use futures_util::StreamExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long an upload may take.
const UPLOAD_TIME_MAX: Duration = Duration::from_secs(120);
/// Parts of one body.
const PARTS_MAX: usize = 1000;

/// One part.
#[derive(Debug)]
pub struct Part {
    /// The name of its field.
    pub name: String,
    /// The name of its file.
    pub filename: Option<String>,
    /// What it says to be.
    pub mime: Option<String>,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Reads all parts of a body.
///
/// # Errors
/// If it is none of several parts, too large or too slow.
pub async fn read_parts(
    headers: HeaderMap,
    body: Body,
    bytes_max: usize,
) -> Result<Vec<Part>, ApiError> {
    let is_too_large = Arc::new(AtomicBool::new(false));
    let mut request = Request::new(limited(body, bytes_max, is_too_large.clone()));
    *request.headers_mut() = headers;
    // Its own limit is another.
    DefaultBodyLimit::disable().apply(&mut request);
    let read = tokio::time::timeout(UPLOAD_TIME_MAX, read_all(request)).await;
    let parts = read.map_err(|_| ApiError::too_slow())?;
    if is_too_large.load(Ordering::Relaxed) {
        return Err(ApiError::too_large());
    }
    parts
}

/// Nothing more than what is allowed is ever taken in.
fn limited(body: Body, bytes_max: usize, is_too_large: Arc<AtomicBool>) -> Body {
    let mut left = bytes_max;
    let limited = body.into_data_stream().map(move |chunk| {
        let chunk = chunk.map_err(std::io::Error::other)?;
        match left.checked_sub(chunk.len()) {
            Some(rest) => left = rest,
            None => {
                is_too_large.store(true, Ordering::Relaxed);
                return Err(std::io::Error::other("too large"));
            }
        }
        Ok(chunk)
    });
    Body::from_stream(limited)
}

async fn read_all(request: Request<Body>) -> Result<Vec<Part>, ApiError> {
    let broken = |_| ApiError::invalid("the multipart body is broken");
    let mut fields = Multipart::from_request(request, &())
        .await
        .map_err(|_| ApiError::invalid("the body must be multipart/form-data"))?;
    let mut parts = Vec::new();
    while let Some(field) = fields.next_field().await.map_err(broken)? {
        if parts.len() >= PARTS_MAX {
            return Err(ApiError::invalid("the multipart body has too many parts"));
        }
        let name = field.name().unwrap_or_default().to_string();
        let filename = field.file_name().map(str::to_string);
        let mime = field.content_type().map(str::to_string);
        let bytes = field.bytes().await.map_err(broken)?.to_vec();
        parts.push(Part { name, filename, mime, bytes });
    }
    Ok(parts)
}

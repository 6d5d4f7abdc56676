//! Answers of the console: its files, what is on the shelf, and reports in their sandbox.

use super::assets::{self, INDEX};
use super::shelf::{Shelf, ShelfError};
use super::tickets::Tickets;
use crate::api::reply::Reply;
use crate::api::{App, authenticate};
use crate::error::ApiError;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Method, Request, header};
use axum::response::Response;
use axum::routing::any;
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Semaphore;

/// What pages of the console may do: load what is part of the binary, ask this server, and show
/// reports in frames. No script that is not a file of ours, and no markup made of text.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// What a report may do: run the scripts that are in it, in an origin of its own and without
/// network. Reports have a stricter policy inside; both hold.
const REPORT_POLICY: &str = "sandbox allow-scripts; default-src 'none'; \
    script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'self'";

/// Shelves are looked through one after the other: it is work for a disk.
const LOOKS_MAX: usize = 1;

struct Console {
    app: Arc<App>,
    shelf: Arc<dyn Shelf>,
    tickets: Tickets,
    looks: Semaphore,
}

/// The routes of the console.
pub fn router(app: Arc<App>, shelf: Arc<dyn Shelf>) -> Router {
    let looks = Semaphore::new(LOOKS_MAX);
    let console = Arc::new(Console { app, shelf, tickets: Tickets::default(), looks });
    Router::new()
        .route("/console", any(answer))
        .route("/console/", any(answer))
        .route("/console/{*path}", any(answer))
        .with_state(console)
}

async fn answer(State(console): State<Arc<Console>>, request: Request<Body>) -> Response {
    let request_id = console.app.names.next(assay_session::prefix::REQUEST);
    let (parts, _) = request.into_parts();
    let handled = console.handle(&parts.method, parts.uri.path(), &parts.headers).await;
    let mut reply = handled.unwrap_or_else(|error| error.reply(&request_id));
    let given = |name: &str, reply: &Reply| reply.headers.iter().any(|(n, _)| *n == name);
    for (name, value) in [
        ("content-security-policy", PAGE_POLICY),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        if !given(name, &reply) {
            reply.headers.push((name, value.to_string()));
        }
    }
    reply.into_response(&request_id)
}

impl Console {
    async fn handle(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<Reply, ApiError> {
        // The router gives no other paths.
        let path = path.strip_prefix("/console").unwrap_or_default();
        let reads = [Method::GET, Method::HEAD].contains(method);
        let parts: Vec<&str> = path.split('/').collect();
        match (parts.as_slice(), reads, method == Method::POST) {
            // Relative, so that it is right behind a proxy, too.
            ([""], true, _) => Ok(moved("console/")),
            (["", ""], true, _) => self.file(INDEX, headers),
            (["", name], true, _) => self.file(name, headers),
            (["", "report", ticket], true, _) => self.report(ticket).await,
            (["", "api", "shows"], true, _) => {
                authenticate(&self.app, headers).await?;
                self.shows().await
            }
            (["", "api", "shows", id, "ticket"], _, true) => {
                authenticate(&self.app, headers).await?;
                self.ticket(id).await
            }
            ([""] | ["", ""] | ["", "report", _], false, _)
            | (["", "api", "shows"] | ["", "api", "shows", _, "ticket"], _, _) => {
                Err(ApiError::wrong_method())
            }
            (["", name], false, _) if assets::find(name).is_some() => Err(ApiError::wrong_method()),
            _ => Err(ApiError::not_found("Route not found")),
        }
    }

    fn file(&self, name: &str, headers: &HeaderMap) -> Result<Reply, ApiError> {
        let asset = assets::find(name).ok_or_else(|| ApiError::not_found("Route not found"))?;
        let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
        let is_known = known.is_some_and(|tags| tags.split(',').any(|t| t.trim() == asset.etag));
        Ok(Reply {
            status: if is_known { 304 } else { 200 },
            content_type: asset.content_type,
            // Kept, and asked about each time: a new server brings new files.
            headers: vec![
                ("cache-control", "no-cache".to_string()),
                ("etag", asset.etag.clone()),
                ("x-frame-options", "DENY".to_string()),
                ("cross-origin-opener-policy", "same-origin".to_string()),
            ],
            body: if is_known { Body::empty() } else { Body::from(asset.text) },
        })
    }

    /// Asks the shelf something, away from whoever answers requests.
    async fn look<T: Send + 'static>(
        &self,
        question: impl FnOnce(&dyn Shelf) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let _turn = self.looks.acquire().await.map_err(|_| ApiError::internal())?;
        let shelf = self.shelf.clone();
        let looked = tokio::task::spawn_blocking(move || question(shelf.as_ref())).await;
        looked.map_err(|_| ApiError::internal())
    }

    async fn shows(&self) -> Result<Reply, ApiError> {
        let listing = self.look(|shelf| shelf.exhibits()).await?;
        Ok(Reply::text(serde_json::to_string(&listing)?))
    }

    async fn ticket(&self, id: &str) -> Result<Reply, ApiError> {
        let listing = self.look(|shelf| shelf.exhibits()).await?;
        let found = listing.exhibits.into_iter().find(|exhibit| exhibit.id == id);
        let found = found.ok_or_else(|| ApiError::not_found(ShelfError::Missing.to_string()))?;
        let Some(ticket) = self.tickets.issue(id, Instant::now()) else {
            return Err(ApiError::overloaded("too many reports are being opened"));
        };
        Ok(Reply::json(&json!({
            "path": format!("report/{ticket}"),
            "name": found.name,
            "state": found.state,
            "tone": found.tone,
        })))
    }

    async fn report(&self, ticket: &str) -> Result<Reply, ApiError> {
        let Some(id) = self.tickets.open(ticket, Instant::now()) else {
            let what = "This address has expired: open the report from the console again";
            return Err(ApiError::not_found(what));
        };
        let report = self.look(move |shelf| shelf.report(&id)).await?;
        let page = report.map_err(|error| ApiError::not_found(error.to_string()))?;
        Ok(Reply {
            status: 200,
            content_type: "text/html; charset=utf-8",
            headers: vec![("content-security-policy", REPORT_POLICY.to_string())],
            body: Body::from(page),
        })
    }
}

fn moved(to: &str) -> Reply {
    Reply {
        status: 308,
        content_type: "text/plain; charset=utf-8",
        headers: vec![("location", to.to_string())],
        body: Body::empty(),
    }
}

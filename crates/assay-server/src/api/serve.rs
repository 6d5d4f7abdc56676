//! A request from its first byte to its answer.
//!
//! The order of checks is part of the contract: does the route exist, is the key good, does the
//! beta header open the route, is the version known; only then is a body read.

use super::query::Query;
use super::reply::Reply;
use super::routes::{Endpoint, Found, Gate, Route, find};
use super::{agents, endings, environments, events, files, models, sessions, stream};
use crate::error::ApiError;
use crate::hub::Hub;
use crate::names::Names;
use crate::store::{Kernel, Reader, workspace_of};
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Request};
use axum::response::Response;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The largest body, but for files.
const BODY_BYTES_MAX: usize = 1024 * 1024;
/// How long a body may take.
const BODY_TIME_MAX: Duration = Duration::from_secs(30);
/// What opens the routes of managed agents.
const MANAGED_BETA: &str = "managed-agents-2026-04-01";
/// The dates that `anthropic-version` may have.
const VERSIONS: [(&str, ApiVersion); 2] =
    [("2023-06-01", ApiVersion::V2023), ("2026-10-21", ApiVersion::V2026)];

/// Which contract a client speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ApiVersion {
    /// `2023-06-01`
    V2023,
    /// `2026-10-21`
    V2026,
}

/// Everything that answers need.
#[derive(Debug)]
pub struct App {
    /// Writes.
    pub kernel: Kernel,
    /// Reads.
    pub reader: Reader,
    /// Who listens.
    pub hub: Arc<Hub>,
    /// New ids.
    pub names: Arc<Names>,
    /// Where the bytes of files are.
    pub objects: PathBuf,
}

/// A request that passed all checks.
#[derive(Debug)]
pub struct Call {
    /// Whose data.
    pub workspace: String,
    /// The id in the path.
    pub id: String,
    /// The path.
    pub path: String,
    /// What stands behind the question mark.
    pub query: Query,
    /// The headers.
    pub headers: HeaderMap,
    /// Which contract.
    pub version: ApiVersion,
}

impl Call {
    /// A header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// The key of a record of this workspace.
    pub fn at(&self, folder: &str) -> String {
        format!("{folder}/{}/{}", self.workspace, self.id)
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Answers a request.
pub async fn answer(State(app): State<Arc<App>>, request: Request<Body>) -> Response {
    let request_id = app.names.next(assay_session::prefix::REQUEST);
    let reply = match handle(&app, request).await {
        Ok(reply) => reply,
        Err(error) => {
            if error.status >= 500 {
                eprintln!("assay serve: {request_id}: {} {}", error.status, error.message);
            }
            error.reply(&request_id)
        }
    };
    reply.into_response(&request_id)
}

async fn handle(app: &Arc<App>, request: Request<Body>) -> Result<Reply, ApiError> {
    let (parts, body) = request.into_parts();
    let (route, id) = match find(&parts.method, parts.uri.path()) {
        Found::Route(route, id) => (route, id),
        Found::OtherMethod => return Err(ApiError::wrong_method()),
        Found::Nothing => return Err(ApiError::not_found("Route not found")),
    };
    let (workspace, version) = admit(app, &route, &parts.headers).await?;
    let call = Call {
        workspace,
        id,
        path: parts.uri.path().to_string(),
        query: Query::parse(parts.uri.query())?,
        headers: parts.headers,
        version,
    };
    dispatch(app, route.endpoint, call, body).await
}

/// Key, beta header, version, in this order.
async fn admit(
    app: &App,
    route: &Route,
    headers: &HeaderMap,
) -> Result<(String, ApiVersion), ApiError> {
    if route.gate == Gate::Open {
        return Ok((String::new(), ApiVersion::V2026));
    }
    let bearer = header(headers, "authorization").and_then(|text| text.strip_prefix("Bearer "));
    let key = header(headers, "x-api-key").or(bearer).map(str::trim);
    let key = key.filter(|key| !key.is_empty()).ok_or_else(ApiError::unauthenticated)?.to_string();
    let workspace = app.reader.ask(move |store| workspace_of(store, &key)).await?;
    let workspace = workspace.ok_or_else(ApiError::unauthenticated)?;
    let betas = headers.get_all("anthropic-beta").iter().filter_map(|value| value.to_str().ok());
    let opens = |beta: &str| beta.trim() == MANAGED_BETA;
    if route.gate == Gate::Managed && !betas.flat_map(|list| list.split(',')).any(opens) {
        return Err(ApiError::not_found("not found"));
    }
    let Some(date) = header(headers, "anthropic-version") else {
        return Err(ApiError::invalid("anthropic-version: header is required"));
    };
    match VERSIONS.iter().find(|(known, _)| *known == date) {
        Some((_, version)) => Ok((workspace, *version)),
        None => {
            let known = "2023-06-01 and 2026-10-21 are supported";
            Err(ApiError::invalid(format!("anthropic-version: {known}")))
        }
    }
}

/// Reads a body, as far as it is allowed to be large and slow.
pub async fn read_body(body: Body, max: usize) -> Result<Bytes, ApiError> {
    let read = tokio::time::timeout(BODY_TIME_MAX, axum::body::to_bytes(body, max)).await;
    // What breaks off gets no answer anyway: nobody is there.
    read.map_err(|_| ApiError::too_slow())?.map_err(|_| ApiError::too_large())
}

async fn dispatch(
    app: &Arc<App>,
    endpoint: Endpoint,
    call: Call,
    body: Body,
) -> Result<Reply, ApiError> {
    if endpoint == Endpoint::FileUpload {
        return files::upload(app, call, body).await;
    }
    let body = read_body(body, BODY_BYTES_MAX).await?;
    match endpoint {
        Endpoint::Health => Ok(Reply::text(r#"{"status":"ok"}"#.to_string())),
        Endpoint::ModelList => models::list(call),
        Endpoint::ModelGet => models::get(call),
        Endpoint::AgentCreate => agents::create(app, call, body).await,
        Endpoint::AgentList => agents::list(app, call).await,
        Endpoint::AgentGet => agents::get(app, call).await,
        Endpoint::AgentUpdate => agents::update(app, call, body).await,
        Endpoint::AgentArchive => agents::archive(app, call).await,
        Endpoint::AgentVersions => agents::versions(app, call).await,
        Endpoint::EnvironmentCreate => environments::create(app, call, body).await,
        Endpoint::EnvironmentList => environments::list(app, call).await,
        Endpoint::EnvironmentGet => environments::get(app, call).await,
        Endpoint::EnvironmentUpdate => environments::update(app, call, body).await,
        Endpoint::EnvironmentArchive => environments::archive(app, call).await,
        Endpoint::EnvironmentDelete => environments::delete(app, call).await,
        Endpoint::SessionCreate => sessions::create(app, call, body).await,
        Endpoint::SessionList => sessions::list(app, call).await,
        Endpoint::SessionGet => sessions::get(app, call).await,
        Endpoint::SessionUpdate => sessions::update(app, call, body).await,
        Endpoint::SessionArchive => endings::archive(app, call).await,
        Endpoint::SessionDelete => endings::delete(app, call).await,
        Endpoint::EventSend => events::send(app, call, body).await,
        Endpoint::EventList => events::list(app, call).await,
        Endpoint::EventStream => stream::open(app, call).await,
        Endpoint::FileList => files::list(app, call).await,
        Endpoint::FileGet => files::get(app, call).await,
        Endpoint::FileContent => files::content(app, call).await,
        Endpoint::FileDelete => files::delete(app, call).await,
        Endpoint::FileUpload => Err(ApiError::internal()),
    }
}

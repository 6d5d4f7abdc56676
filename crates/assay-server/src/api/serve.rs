//! A request from its first byte to its answer.
//!
//! The order of checks is part of the contract: does the route exist, is the key good, does the
//! beta header open the route, is the version known; only then is a body read.

use super::query::Query;
use super::reply::Reply;
use super::routes::{Endpoint, Found, Gate, PathIds, Route, find};
use super::{
    agents, credentials, endings, environments, events, files, models, resources, sessions,
    skill_versions, skills, stream, validate, vaults,
};
use crate::arranging::Arranger;
use crate::counters::Counters;
use crate::engine::Engines;
use crate::error::ApiError;
use crate::hub::Hub;
use crate::limits::{Admission, Kind};
use crate::listen::Peer;
use crate::log::log;
use crate::names::Names;
use crate::oauth::Renewer;
use crate::sealing::Sealer;
use crate::store::{ApiKey, Kernel, Reader, find_key};
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Request};
use axum::response::Response;
use futures_util::StreamExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The largest body, but for files.
const BODY_BYTES_MAX: usize = 1024 * 1024;
/// How long a body may take.
const BODY_TIME_MAX: Duration = Duration::from_secs(30);
/// What opens the routes of managed agents.
pub const MANAGED_BETA: &str = "managed-agents-2026-04-01";
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
    /// Where the files of skills are.
    pub skills: PathBuf,
    /// Has the directories of sessions.
    pub(crate) arranger: Arc<Arranger>,
    /// Seals secrets.
    pub sealer: Arc<Sealer>,
    /// Renews them.
    pub(crate) renewer: Arc<Renewer>,
    /// Who may come in.
    pub admission: Arc<Admission>,
    /// What is counted.
    pub counters: Arc<Counters>,
    /// What answers.
    pub engines: Arc<Engines>,
}

/// A request that passed all checks.
#[derive(Debug)]
pub struct Call {
    /// Whose data.
    pub workspace: String,
    /// The id of the key that opened it.
    pub key_id: String,
    /// The id in the path.
    pub id: String,
    /// The id of something within it.
    pub child: String,
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
    let found = find(request.method(), request.uri().path());
    let (method, route) = match &found {
        Found::Route(route, _) => (route.method, route.path),
        _ => ("any", "none"),
    };
    let reply = match handle(&app, found, request).await {
        Ok(reply) => reply,
        Err(error) => {
            if error.status >= 500 {
                log(format_args!("{request_id}: {} {}", error.status, error.message));
            }
            error.reply(&request_id)
        }
    };
    app.counters.answered(method, route, reply.status);
    reply.into_response(&request_id)
}

async fn handle(app: &Arc<App>, found: Found, request: Request<Body>) -> Result<Reply, ApiError> {
    let (parts, body) = request.into_parts();
    let (route, PathIds { id, child }) = match found {
        Found::Route(route, ids) => (route, ids),
        Found::OtherMethod => return Err(ApiError::wrong_method()),
        Found::Nothing => return Err(ApiError::not_found("Route not found")),
    };
    if route.gate == Gate::Local && !is_local(&parts) {
        return Err(ApiError::not_found("Route not found"));
    }
    // It is taken before the first question to the store.
    let needs_place = matches!(route.gate, Gate::Key | Gate::Managed);
    let mut place = needs_place.then(|| app.admission.enter(Kind::Request, "")).transpose()?;
    let (key, version) = admit(app, &route, &parts.headers).await?;
    let (workspace, key_id) = key.map(|key| (key.workspace, key.id)).unwrap_or_default();
    if let Some(place) = &mut place {
        app.admission.ask(&workspace, Instant::now())?;
        place.belongs_to(&workspace)?;
    }
    let call = Call {
        workspace,
        key_id,
        id,
        child,
        path: parts.uri.path().to_string(),
        query: Query::parse(parts.uri.query())?,
        headers: parts.headers,
        version,
    };
    let (app, endpoint) = (app.clone(), route.endpoint);
    let work = async move {
        let reply = dispatch(&app, endpoint, call, body).await?;
        Ok(match place {
            // A stream has a place of its own, for as long as it is open.
            Some(place) if endpoint != Endpoint::EventStream => reply.holding(place),
            _ => reply,
        })
    };
    match route.method {
        "GET" => work.await,
        _ => to_its_end(work).await,
    }
}

/// Does what changes something, also if the client goes away meanwhile: whoever has begun to copy
/// something takes it away again if nothing comes of it.
async fn to_its_end(
    work: impl Future<Output = Result<Reply, ApiError>> + Send + 'static,
) -> Result<Reply, ApiError> {
    // What it panicked with is in the log.
    tokio::spawn(work).await.unwrap_or_else(|_| Err(ApiError::internal()))
}

/// The key of a request, if it opens something.
pub async fn authenticate(app: &App, headers: &HeaderMap) -> Result<ApiKey, ApiError> {
    let bearer = header(headers, "authorization").and_then(|text| text.split_once(' '));
    let bearer = bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    let bearer = bearer.map(|(_, key)| key);
    let key = header(headers, "x-api-key").or(bearer).map(str::trim);
    let key = key.filter(|key| !key.is_empty()).ok_or_else(ApiError::unauthenticated)?.to_string();
    let found = find_key(&app.reader, &key).await?;
    found.ok_or_else(ApiError::unauthenticated)
}

/// Whether a request comes from this machine, and not for somebody else.
fn is_local(parts: &Parts) -> bool {
    let peer = parts.extensions.get::<Peer>();
    let is_forwarded =
        ["forwarded", "x-forwarded-for"].iter().any(|h| parts.headers.contains_key(*h));
    peer.is_some_and(|Peer(address)| address.ip().to_canonical().is_loopback()) && !is_forwarded
}

/// Key, beta header, version, workspace, in this order.
async fn admit(
    app: &App,
    route: &Route,
    headers: &HeaderMap,
) -> Result<(Option<ApiKey>, ApiVersion), ApiError> {
    if matches!(route.gate, Gate::Open | Gate::Local) {
        return Ok((None, ApiVersion::V2026));
    }
    let key = authenticate(app, headers).await?;
    let betas = headers.get_all("anthropic-beta").iter().filter_map(|value| value.to_str().ok());
    let opens = |beta: &str| beta.trim() == MANAGED_BETA;
    if route.gate == Gate::Managed && !betas.flat_map(|list| list.split(',')).any(opens) {
        return Err(ApiError::not_found("not found"));
    }
    let Some(date) = header(headers, "anthropic-version") else {
        return Err(ApiError::invalid("anthropic-version: header is required"));
    };
    let Some((_, version)) = VERSIONS.iter().find(|(known, _)| *known == date) else {
        let known = "2023-06-01 and 2026-10-21 are supported";
        return Err(ApiError::invalid(format!("anthropic-version: {known}")));
    };
    match headers.get("anthropic-workspace-id") {
        // A key opens one workspace; whoever means another one would work in the wrong place.
        Some(meant) if meant.as_bytes() != key.workspace.as_bytes() => {
            Err(ApiError::invalid("anthropic-workspace-id: the key does not belong to it"))
        }
        _ => Ok((Some(key), *version)),
    }
}

/// Reads a body, as far as it is allowed to be large and slow.
async fn read_body(body: Body) -> Result<Bytes, ApiError> {
    let read = async {
        let (mut chunks, mut all) = (body.into_data_stream(), Vec::new());
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|_| ApiError::invalid("the request body broke off"))?;
            if all.len() + chunk.len() > BODY_BYTES_MAX {
                return Err(ApiError::too_large());
            }
            all.extend_from_slice(&chunk);
        }
        Ok(Bytes::from(all))
    };
    tokio::time::timeout(BODY_TIME_MAX, read).await.map_err(|_| ApiError::too_slow())?
}

/// What brings many bytes reads them by itself.
async fn dispatch(
    app: &Arc<App>,
    endpoint: Endpoint,
    call: Call,
    body: Body,
) -> Result<Reply, ApiError> {
    let brings_files = matches!(
        endpoint,
        Endpoint::FileUpload | Endpoint::SkillCreate | Endpoint::SkillVersionCreate
    );
    if !brings_files {
        return routed(app, endpoint, call, read_body(body).await?).await;
    }
    let _place = app.admission.enter(Kind::Upload, &call.workspace)?;
    match endpoint {
        Endpoint::SkillCreate => skills::create(app, call, body).await,
        Endpoint::SkillVersionCreate => skill_versions::create(app, call, body).await,
        _ => files::upload(app, call, body).await,
    }
}

async fn routed(
    app: &Arc<App>,
    endpoint: Endpoint,
    call: Call,
    body: Bytes,
) -> Result<Reply, ApiError> {
    match endpoint {
        Endpoint::Health => Ok(Reply::text(r#"{"status":"ok"}"#.to_string())),
        Endpoint::Metrics => Ok(metrics(app)),
        Endpoint::OpenApi => Ok(Reply::text(super::openapi::document().to_string())),
        Endpoint::ModelList => models::list(app, call),
        Endpoint::ModelGet => models::get(app, call),
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
        Endpoint::ResourceAdd => resources::add(app, call, body).await,
        Endpoint::ResourceList => resources::list(app, call).await,
        Endpoint::ResourceGet => resources::get(app, call).await,
        Endpoint::ResourceUpdate => resources::update(app, call, body).await,
        Endpoint::ResourceDelete => resources::delete(app, call).await,
        Endpoint::FileList => files::list(app, call).await,
        Endpoint::FileGet => files::get(app, call).await,
        Endpoint::FileContent => files::content(app, call).await,
        Endpoint::FileDelete => files::delete(app, call).await,
        _ => routed_secrets_and_skills(app, endpoint, call, body).await,
    }
}

async fn routed_secrets_and_skills(
    app: &Arc<App>,
    endpoint: Endpoint,
    call: Call,
    body: Bytes,
) -> Result<Reply, ApiError> {
    match endpoint {
        Endpoint::VaultCreate => vaults::create(app, call, body).await,
        Endpoint::VaultList => vaults::list(app, call).await,
        Endpoint::VaultGet => vaults::get(app, call).await,
        Endpoint::VaultUpdate => vaults::update(app, call, body).await,
        Endpoint::VaultDelete => vaults::delete(app, call).await,
        Endpoint::VaultArchive => vaults::archive(app, call).await,
        Endpoint::CredentialCreate => credentials::create(app, call, body).await,
        Endpoint::CredentialList => credentials::list(app, call).await,
        Endpoint::CredentialGet => credentials::get(app, call).await,
        Endpoint::CredentialUpdate => credentials::update(app, call, body).await,
        Endpoint::CredentialDelete => credentials::delete(app, call).await,
        Endpoint::CredentialArchive => credentials::archive(app, call).await,
        Endpoint::CredentialValidate => validate::validate(app, call).await,
        Endpoint::SkillList => skills::list(app, call).await,
        Endpoint::SkillGet => skills::get(app, call).await,
        Endpoint::SkillDelete => skills::delete(app, call).await,
        Endpoint::SkillVersionList => skill_versions::list(app, call).await,
        Endpoint::SkillVersionGet => skill_versions::get(app, call).await,
        Endpoint::SkillVersionDelete => skill_versions::delete(app, call).await,
        Endpoint::SkillVersionContent => skill_versions::content(app, call).await,
        // A test asks every route for something.
        _ => Err(ApiError::internal()),
    }
}

/// `GET /metrics`
fn metrics(app: &App) -> Reply {
    let text = app.counters.text(app.admission.taken(Kind::Stream));
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Reply { content_type, ..Reply::text(text) }
}

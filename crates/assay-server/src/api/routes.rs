//! The table of routes. What is not in it is a 404, never a 501: official clients try those again.

use axum::http::Method;

/// What a route needs besides a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gate {
    /// Nothing, not even a key.
    Open,
    /// To come from this machine, and through no proxy. Others find nothing there.
    Local,
    /// A key and a version.
    Key,
    /// A key, the beta header of managed agents, and a version.
    Managed,
}

/// What a route does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Endpoint {
    /// `GET /health`
    Health,
    /// `GET /metrics`
    Metrics,
    /// `GET /openapi.json`
    OpenApi,
    /// `GET /v1/models`
    ModelList,
    /// `GET /v1/models/{id}`
    ModelGet,
    /// `POST /v1/agents`
    AgentCreate,
    /// `GET /v1/agents`
    AgentList,
    /// `GET /v1/agents/{id}`
    AgentGet,
    /// `POST /v1/agents/{id}`
    AgentUpdate,
    /// `POST /v1/agents/{id}/archive`
    AgentArchive,
    /// `GET /v1/agents/{id}/versions`
    AgentVersions,
    /// `POST /v1/environments`
    EnvironmentCreate,
    /// `GET /v1/environments`
    EnvironmentList,
    /// `GET /v1/environments/{id}`
    EnvironmentGet,
    /// `POST /v1/environments/{id}`
    EnvironmentUpdate,
    /// `POST /v1/environments/{id}/archive`
    EnvironmentArchive,
    /// `DELETE /v1/environments/{id}`
    EnvironmentDelete,
    /// `POST /v1/sessions`
    SessionCreate,
    /// `GET /v1/sessions`
    SessionList,
    /// `GET /v1/sessions/{id}`
    SessionGet,
    /// `POST /v1/sessions/{id}`
    SessionUpdate,
    /// `POST /v1/sessions/{id}/archive`
    SessionArchive,
    /// `DELETE /v1/sessions/{id}`
    SessionDelete,
    /// `POST /v1/sessions/{id}/events`
    EventSend,
    /// `GET /v1/sessions/{id}/events`
    EventList,
    /// `GET /v1/sessions/{id}/events/stream`
    EventStream,
    /// `POST /v1/sessions/{id}/resources`
    ResourceAdd,
    /// `GET /v1/sessions/{id}/resources`
    ResourceList,
    /// `GET /v1/sessions/{id}/resources/{child}`
    ResourceGet,
    /// `POST /v1/sessions/{id}/resources/{child}`
    ResourceUpdate,
    /// `DELETE /v1/sessions/{id}/resources/{child}`
    ResourceDelete,
    /// `POST /v1/files`
    FileUpload,
    /// `GET /v1/files`
    FileList,
    /// `GET /v1/files/{id}`
    FileGet,
    /// `GET /v1/files/{id}/content`
    FileContent,
    /// `DELETE /v1/files/{id}`
    FileDelete,
    /// `POST /v1/vaults`
    VaultCreate,
    /// `GET /v1/vaults`
    VaultList,
    /// `GET /v1/vaults/{id}`
    VaultGet,
    /// `POST /v1/vaults/{id}`
    VaultUpdate,
    /// `DELETE /v1/vaults/{id}`
    VaultDelete,
    /// `POST /v1/vaults/{id}/archive`
    VaultArchive,
    /// `POST /v1/vaults/{id}/credentials`
    CredentialCreate,
    /// `GET /v1/vaults/{id}/credentials`
    CredentialList,
    /// `GET /v1/vaults/{id}/credentials/{child}`
    CredentialGet,
    /// `POST /v1/vaults/{id}/credentials/{child}`
    CredentialUpdate,
    /// `DELETE /v1/vaults/{id}/credentials/{child}`
    CredentialDelete,
    /// `POST /v1/vaults/{id}/credentials/{child}/archive`
    CredentialArchive,
    /// `POST /v1/vaults/{id}/credentials/{child}/mcp_oauth_validate`
    CredentialValidate,
    /// `POST /v1/skills`
    SkillCreate,
    /// `GET /v1/skills`
    SkillList,
    /// `GET /v1/skills/{id}`
    SkillGet,
    /// `DELETE /v1/skills/{id}`
    SkillDelete,
    /// `POST /v1/skills/{id}/versions`
    SkillVersionCreate,
    /// `GET /v1/skills/{id}/versions`
    SkillVersionList,
    /// `GET /v1/skills/{id}/versions/{child}`
    SkillVersionGet,
    /// `DELETE /v1/skills/{id}/versions/{child}`
    SkillVersionDelete,
    /// `GET /v1/skills/{id}/versions/{child}/content`
    SkillVersionContent,
}

/// One route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Route {
    /// `GET`, `POST` or `DELETE`.
    pub method: &'static str,
    /// The path; `{id}` stands for an id, `{child}` for that of something within.
    pub path: &'static str,
    /// What it needs.
    pub gate: Gate,
    /// What it does.
    pub endpoint: Endpoint,
}

const fn route(method: &'static str, path: &'static str, gate: Gate, endpoint: Endpoint) -> Route {
    Route { method, path, gate, endpoint }
}

/// All routes.
pub const ROUTES: [Route; 58] = [
    route("GET", "/health", Gate::Open, Endpoint::Health),
    route("GET", "/metrics", Gate::Local, Endpoint::Metrics),
    route("GET", "/openapi.json", Gate::Open, Endpoint::OpenApi),
    route("GET", "/v1/models", Gate::Key, Endpoint::ModelList),
    route("GET", "/v1/models/{id}", Gate::Key, Endpoint::ModelGet),
    route("POST", "/v1/agents", Gate::Managed, Endpoint::AgentCreate),
    route("GET", "/v1/agents", Gate::Managed, Endpoint::AgentList),
    route("GET", "/v1/agents/{id}", Gate::Managed, Endpoint::AgentGet),
    route("POST", "/v1/agents/{id}", Gate::Managed, Endpoint::AgentUpdate),
    route("POST", "/v1/agents/{id}/archive", Gate::Managed, Endpoint::AgentArchive),
    route("GET", "/v1/agents/{id}/versions", Gate::Managed, Endpoint::AgentVersions),
    route("POST", "/v1/environments", Gate::Managed, Endpoint::EnvironmentCreate),
    route("GET", "/v1/environments", Gate::Managed, Endpoint::EnvironmentList),
    route("GET", "/v1/environments/{id}", Gate::Managed, Endpoint::EnvironmentGet),
    route("POST", "/v1/environments/{id}", Gate::Managed, Endpoint::EnvironmentUpdate),
    route("DELETE", "/v1/environments/{id}", Gate::Managed, Endpoint::EnvironmentDelete),
    route("POST", "/v1/environments/{id}/archive", Gate::Managed, Endpoint::EnvironmentArchive),
    route("POST", "/v1/sessions", Gate::Managed, Endpoint::SessionCreate),
    route("GET", "/v1/sessions", Gate::Managed, Endpoint::SessionList),
    route("GET", "/v1/sessions/{id}", Gate::Managed, Endpoint::SessionGet),
    route("POST", "/v1/sessions/{id}", Gate::Managed, Endpoint::SessionUpdate),
    route("DELETE", "/v1/sessions/{id}", Gate::Managed, Endpoint::SessionDelete),
    route("POST", "/v1/sessions/{id}/archive", Gate::Managed, Endpoint::SessionArchive),
    route("POST", "/v1/sessions/{id}/events", Gate::Managed, Endpoint::EventSend),
    route("GET", "/v1/sessions/{id}/events", Gate::Managed, Endpoint::EventList),
    route("GET", "/v1/sessions/{id}/events/stream", Gate::Managed, Endpoint::EventStream),
    route("POST", "/v1/sessions/{id}/resources", Gate::Managed, Endpoint::ResourceAdd),
    route("GET", "/v1/sessions/{id}/resources", Gate::Managed, Endpoint::ResourceList),
    route("GET", "/v1/sessions/{id}/resources/{child}", Gate::Managed, Endpoint::ResourceGet),
    route("POST", "/v1/sessions/{id}/resources/{child}", Gate::Managed, Endpoint::ResourceUpdate),
    route("DELETE", "/v1/sessions/{id}/resources/{child}", Gate::Managed, Endpoint::ResourceDelete),
    route("POST", "/v1/files", Gate::Key, Endpoint::FileUpload),
    route("GET", "/v1/files", Gate::Key, Endpoint::FileList),
    route("GET", "/v1/files/{id}", Gate::Key, Endpoint::FileGet),
    route("GET", "/v1/files/{id}/content", Gate::Key, Endpoint::FileContent),
    route("DELETE", "/v1/files/{id}", Gate::Key, Endpoint::FileDelete),
    route("POST", "/v1/vaults", Gate::Managed, Endpoint::VaultCreate),
    route("GET", "/v1/vaults", Gate::Managed, Endpoint::VaultList),
    route("GET", "/v1/vaults/{id}", Gate::Managed, Endpoint::VaultGet),
    route("POST", "/v1/vaults/{id}", Gate::Managed, Endpoint::VaultUpdate),
    route("DELETE", "/v1/vaults/{id}", Gate::Managed, Endpoint::VaultDelete),
    route("POST", "/v1/vaults/{id}/archive", Gate::Managed, Endpoint::VaultArchive),
    route("POST", "/v1/vaults/{id}/credentials", Gate::Managed, Endpoint::CredentialCreate),
    route("GET", "/v1/vaults/{id}/credentials", Gate::Managed, Endpoint::CredentialList),
    route("GET", "/v1/vaults/{id}/credentials/{child}", Gate::Managed, Endpoint::CredentialGet),
    route("POST", "/v1/vaults/{id}/credentials/{child}", Gate::Managed, Endpoint::CredentialUpdate),
    route(
        "DELETE",
        "/v1/vaults/{id}/credentials/{child}",
        Gate::Managed,
        Endpoint::CredentialDelete,
    ),
    route(
        "POST",
        "/v1/vaults/{id}/credentials/{child}/archive",
        Gate::Managed,
        Endpoint::CredentialArchive,
    ),
    route(
        "POST",
        "/v1/vaults/{id}/credentials/{child}/mcp_oauth_validate",
        Gate::Managed,
        Endpoint::CredentialValidate,
    ),
    route("POST", "/v1/skills", Gate::Key, Endpoint::SkillCreate),
    route("GET", "/v1/skills", Gate::Key, Endpoint::SkillList),
    route("GET", "/v1/skills/{id}", Gate::Key, Endpoint::SkillGet),
    route("DELETE", "/v1/skills/{id}", Gate::Key, Endpoint::SkillDelete),
    route("POST", "/v1/skills/{id}/versions", Gate::Key, Endpoint::SkillVersionCreate),
    route("GET", "/v1/skills/{id}/versions", Gate::Key, Endpoint::SkillVersionList),
    route("GET", "/v1/skills/{id}/versions/{child}", Gate::Key, Endpoint::SkillVersionGet),
    route("DELETE", "/v1/skills/{id}/versions/{child}", Gate::Key, Endpoint::SkillVersionDelete),
    route(
        "GET",
        "/v1/skills/{id}/versions/{child}/content",
        Gate::Key,
        Endpoint::SkillVersionContent,
    ),
];

/// The ids in a path; those that its route does not have are empty.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct PathIds {
    /// The first.
    pub id: String,
    /// The second.
    pub child: String,
}

/// What a path leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// A route, and the ids in its path.
    Route(Route, PathIds),
    /// The path is known, the method is not.
    OtherMethod,
    /// Nothing.
    Nothing,
}

/// Looks a request up.
pub fn find(method: &Method, path: &str) -> Found {
    let mut found = Found::Nothing;
    for route in ROUTES {
        let Some(ids) = matches(route.path, path) else { continue };
        if route.method == method.as_str() {
            return Found::Route(route, ids);
        }
        found = Found::OtherMethod;
    }
    found
}

/// The ids, if the path is one of the pattern.
fn matches(pattern: &str, path: &str) -> Option<PathIds> {
    let (mut wanted, mut given, mut ids) =
        (pattern.split('/'), path.split('/'), PathIds::default());
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return Some(ids),
            (Some("{id}"), Some(part)) if !part.is_empty() => ids.id = part.to_string(),
            (Some("{child}"), Some(part)) if !part.is_empty() => ids.child = part.to_string(),
            (Some(a), Some(b)) if a == b => {}
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_where_the_table_says() {
        let get = Method::GET;
        let cases = [
            ("/v1/sessions/sesn_1/events/stream", Endpoint::EventStream, "sesn_1", ""),
            ("/v1/vaults/vlt_1/credentials/vcrd_2", Endpoint::CredentialGet, "vlt_1", "vcrd_2"),
        ];
        for (path, endpoint, id, child) in cases {
            let Found::Route(route, ids) = find(&get, path) else { panic!("{path}") };
            let wanted = PathIds { id: id.to_string(), child: child.to_string() };
            assert_eq!((route.endpoint, ids), (endpoint, wanted));
        }
        assert_eq!(find(&Method::DELETE, "/v1/agents/agent_1"), Found::OtherMethod);
        for nothing in ["/", "/v1", "/v1/agents/", "/v1/agents//versions", "/v1/sessions/a/b"] {
            assert_eq!(find(&get, nothing), Found::Nothing, "{nothing}");
        }
    }

    #[test]
    fn every_route_is_there_once() {
        for (index, route) in ROUTES.iter().enumerate() {
            let again = |other: &Route| {
                (other.method, other.path) == (route.method, route.path)
                    || other.endpoint == route.endpoint
            };
            assert!(!ROUTES[index + 1..].iter().any(again), "{route:?}");
        }
    }
}

//! The table of routes. What is not in it is a 404, never a 501: official clients try those again.

use axum::http::Method;

/// What a route needs besides a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gate {
    /// Nothing, not even a key.
    Open,
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
}

/// One route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Route {
    /// `GET`, `POST` or `DELETE`.
    pub method: &'static str,
    /// The path; a part in braces stands for an id.
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
pub const ROUTES: [Route; 29] = [
    route("GET", "/health", Gate::Open, Endpoint::Health),
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
    route("POST", "/v1/files", Gate::Key, Endpoint::FileUpload),
    route("GET", "/v1/files", Gate::Key, Endpoint::FileList),
    route("GET", "/v1/files/{id}", Gate::Key, Endpoint::FileGet),
    route("GET", "/v1/files/{id}/content", Gate::Key, Endpoint::FileContent),
    route("DELETE", "/v1/files/{id}", Gate::Key, Endpoint::FileDelete),
];

/// What a path leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// A route, and the id in its path.
    Route(Route, String),
    /// The path is known, the method is not.
    OtherMethod,
    /// Nothing.
    Nothing,
}

/// Looks a request up.
pub fn find(method: &Method, path: &str) -> Found {
    let mut found = Found::Nothing;
    for route in ROUTES {
        let Some(id) = matches(route.path, path) else { continue };
        if route.method == method.as_str() {
            return Found::Route(route, id.to_string());
        }
        found = Found::OtherMethod;
    }
    found
}

/// The id, if the path is one of the pattern.
fn matches<'a>(pattern: &str, path: &'a str) -> Option<&'a str> {
    let (mut wanted, mut given, mut id) = (pattern.split('/'), path.split('/'), "");
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return Some(id),
            (Some("{id}"), Some(part)) if !part.is_empty() => id = part,
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
        let Found::Route(route, id) = find(&get, "/v1/sessions/sesn_1/events/stream") else {
            panic!("a route")
        };
        assert_eq!((route.endpoint, id.as_str()), (Endpoint::EventStream, "sesn_1"));
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

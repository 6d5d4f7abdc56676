//! What holds for every route of the document: the order of checks, and that no other site may ask.

use super::client::{Answer, request};
use super::server::Server;
use serde_json::Value;

const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");
const BETA: (&str, &str) = ("anthropic-beta", "managed-agents-2026-04-01");

/// A method, a path, and whether it has the beta header.
type Route = (String, String, bool);

/// All that need a key, with ids of things that are not there.
fn routes(server: &Server) -> Vec<Route> {
    let document = request(server.address, "GET", "/openapi.json", &[], "").expect("an answer");
    let document = document.json();
    let mut routes = Vec::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        let path = path.replace("{id}", "none").replace("{child}", "none");
        for (method, operation) in item.as_object().expect("methods") {
            let has = |name: &str| operation["parameters"].to_string().contains(name);
            if has("anthropic-version") {
                routes.push((method.to_uppercase(), path.clone(), has("anthropic-beta")));
            }
        }
    }
    assert!(routes.len() > 50, "{}", routes.len());
    routes
}

#[test]
fn every_route_looks_at_its_key_then_at_the_beta_then_at_the_version_then_at_the_body() {
    let server = Server::start();
    let key = ("x-api-key", server.key.as_str());
    let large = "x".repeat(1024 * 1024 + 1);
    for (method, path, is_managed) in routes(&server) {
        let ask = |headers: &[(&str, &str)], body: &str| -> Answer {
            request(server.address, &method, &path, headers, body).expect("an answer")
        };
        let check = |headers: &[(&str, &str)], status: u16, words: &str| {
            let answer = ask(headers, "");
            let said = answer.message();
            assert_eq!(answer.status, status, "{method} {path} {headers:?}: {said}");
            assert!(said.contains(words), "{method} {path} {headers:?}: {said}");
        };
        check(&[], 401, "Authentication failed");
        check(&[VERSION, BETA], 401, "Authentication failed");
        check(&[("x-api-key", "asy_wrong"), VERSION, BETA], 401, "Authentication failed");
        match is_managed {
            true => {
                check(&[key], 404, "not found");
                check(&[key, VERSION], 404, "not found");
                check(&[key, VERSION, ("anthropic-beta", "skills-2025-10-02")], 404, "not found");
            }
            false => check(&[key], 400, "anthropic-version"),
        }
        check(&[key, BETA], 400, "anthropic-version");
        check(&[key, BETA, ("anthropic-version", "2023-01-01")], 400, "anthropic-version");
        // Nobody has to send a body to hear that it would not be looked at.
        let other = request(server.address, "PUT", &path, &[], "").expect("an answer");
        assert_eq!(other.status, 405, "{path}: {}", other.body);
        if method == "POST" {
            let json = ("content-type", "application/json");
            let answer = ask(&[key, BETA, VERSION, json], &large);
            let wanted = match path.as_str() {
                // They take more, in parts.
                "/v1/files" | "/v1/skills" => 400,
                "/v1/skills/none/versions" => 404,
                _ => 413,
            };
            assert_eq!(answer.status, wanted, "{method} {path}: {}", answer.body);
        }
    }
}

#[test]
fn no_other_site_may_ask_by_a_browser() {
    let server = Server::start();
    let origin = ("origin", "https://evil.example");
    let wants = ("access-control-request-method", "POST");
    let is_open = |answer: &Answer| {
        answer.headers.iter().any(|(name, _)| name.starts_with("access-control-"))
    };
    for (method, path, _) in routes(&server) {
        let asked = request(server.address, "OPTIONS", &path, &[origin, wants], "");
        let asked = asked.expect("an answer");
        assert_eq!((asked.status, is_open(&asked)), (405, false), "{path}");
        let mut headers = server.headers();
        headers.push(origin);
        if !path.ends_with("/stream") {
            let answer = request(server.address, &method, &path, &headers, "").expect("an answer");
            assert!(!is_open(&answer), "{method} {path}: {:?}", answer.headers);
        }
    }
    let health = request(server.address, "GET", "/health", &[origin], "").expect("an answer");
    assert!(!is_open(&health));
}

#[test]
fn a_body_is_what_it_is_and_not_what_its_type_says_but_for_files() {
    let server = Server::start();
    let body = r#"{"name": "a", "model": "scripted"}"#;
    for kind in ["text/plain", "application/x-www-form-urlencoded", "nonsense"] {
        let mut headers = server.headers();
        headers.retain(|(name, _)| *name != "content-type");
        headers.push(("content-type", kind));
        let ask = |path: &str, body: &str| -> (u16, Value) {
            let answer = request(server.address, "POST", path, &headers, body).expect("an answer");
            (answer.status, answer.json())
        };
        assert_eq!(ask("/v1/agents", body).0, 200, "{kind}");
        assert_eq!(ask("/v1/agents", "name=a").0, 400, "{kind}");
        let (status, said) = ask("/v1/files", body);
        assert_eq!((status, said["type"].as_str()), (400, Some("error")), "{kind}: {said}");
    }
}

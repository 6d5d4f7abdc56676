//! The console as a browser gets it: paths, headers, and what is not there.

use super::server::Server;
use serde_json::Value;

#[test]
fn pages_come_without_a_key_and_with_a_strict_policy() {
    let server = Server::start(&[]);
    for (path, kind) in [
        ("/console/", "text/html; charset=utf-8"),
        ("/console/index.html", "text/html; charset=utf-8"),
        ("/console/app.js", "text/javascript; charset=utf-8"),
        ("/console/base.css", "text/css; charset=utf-8"),
        ("/console/favicon.svg", "image/svg+xml"),
    ] {
        let answer = server.open("GET", path, &[]);
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), Some(kind), "{path}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cache-control"), Some("no-cache"));
        let policy = answer.header("content-security-policy").expect("a policy");
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        ] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        let etag = answer.header("etag").expect("a tag").to_string();
        let again = server.open("GET", path, &[("if-none-match", &etag)]);
        assert_eq!((again.status, again.body.as_str()), (304, ""), "{path}");
        let other = server.open("GET", path, &[("if-none-match", "\"0\"")]);
        assert_eq!((other.status, other.body.len()), (200, answer.body.len()), "{path}");
    }
}

#[test]
fn the_page_has_no_script_or_style_of_its_own() {
    let page = Server::start(&[]).open("GET", "/console/", &[]).body;
    for (at, _) in page.match_indices("<script") {
        assert!(page[at..].starts_with("<script type=\"module\" src=\"app.js\"></script>"));
    }
    for forbidden in ["<style", " style=", "onclick", "javascript:", "http://", "https://"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn paths_of_the_console_are_those_of_the_table_and_no_others() {
    let server = Server::start(&[]);
    let moved = server.open("GET", "/console", &[]);
    assert_eq!((moved.status, moved.header("location")), (308, Some("console/")));
    for nothing in [
        "/consolex",
        "/console/nothing.js",
        "/console/app.js/",
        "/console//app.js",
        "/console/./app.js",
        "/console/../health",
        "/console/..%2f..%2fCargo.toml",
        "/console/%2e%2e/%2e%2e/etc/passwd",
        "/console/....//app.js",
        "/console/app.js%00",
        "/console/api",
        "/console/api/shows/x",
        "/console/report",
        "/console/report/",
        "/console/report/x/y",
    ] {
        let answer = server.open("GET", nothing, &[]);
        assert_eq!(answer.status, 404, "{nothing}");
        answer.message();
    }
    for (method, path) in [
        ("POST", "/console"),
        ("POST", "/console/"),
        ("PUT", "/console/app.js"),
        ("DELETE", "/console/report/x"),
        ("DELETE", "/console/api/shows"),
        ("GET", "/console/api/shows/x/ticket"),
    ] {
        let answer = server.open(method, path, &[]);
        assert_eq!(
            (answer.status, answer.message().as_str()),
            (405, "Method not allowed"),
            "{path}"
        );
    }
}

#[test]
fn what_is_on_the_shelf_needs_a_key() {
    let server = Server::start(&[]);
    let wrong = [("x-api-key", "asy_wrong")];
    for headers in [&[][..], &wrong[..]] {
        assert_eq!(server.open("GET", "/console/api/shows", headers).status, 401);
        assert_eq!(server.open("POST", "/console/api/shows/x/ticket", headers).status, 401);
    }
    let listed = server.ask("GET", "/console/api/shows", &Value::Null, &[]);
    assert_eq!(listed.status, 200, "{}", listed.body);
    assert_eq!(listed.header("cache-control"), Some("no-store"));
    assert_eq!(listed.json()["data"], serde_json::json!([]));
    assert_eq!(listed.json()["is_shown"], false);
    let none = server.ask("POST", "/console/api/shows/x/ticket", &Value::Null, &[]);
    assert_eq!(none.status, 404, "{}", none.body);
    assert_eq!(server.open("GET", "/console/report/AAAA", &[]).status, 404);
}

//! Lists of files: each contract has its own way through them, and what would mean nothing is
//! refused.

use super::client::request;
use super::server::Server;
use serde_json::{Value, json};

fn ask(server: &Server, version: &str, query: &str) -> (u16, Value) {
    let mut headers = server.headers();
    headers.retain(|(name, _)| *name != "anthropic-version");
    headers.push(("anthropic-version", version));
    let path = format!("/v1/files{query}");
    let answer = request(server.address, "GET", &path, &headers, "").expect("an answer");
    (answer.status, answer.json())
}

fn ids(page: &Value) -> Vec<&str> {
    let files = page["data"].as_array().expect("a list").iter();
    files.map(|file| file["id"].as_str().expect("an id")).collect()
}

#[test]
fn files_are_listed_by_their_ids_and_by_the_ways_of_each_contract() {
    const OLD: &str = "2023-06-01";
    const NEW: &str = "2026-10-21";
    let server = Server::start();
    let files: Vec<String> = ["a", "b", "c"].iter().map(|text| server.file(text)).collect();
    let wanted = format!("?ids[]={}&ids[]={}&ids[]=file_none", files[2], files[0]);
    for version in [OLD, NEW] {
        let (status, page) = ask(&server, version, &wanted);
        assert_eq!((status, ids(&page)), (200, vec![&*files[2], &*files[0]]), "{page}");
        let (_, page) = ask(&server, version, &format!("{wanted}&limit=1"));
        assert_eq!(ids(&page), [&*files[2]], "{page}");
    }
    let (_, page) = ask(&server, OLD, &format!("?after_id={}", files[1]));
    assert_eq!((ids(&page), &page["has_more"]), (vec![&*files[0]], &json!(false)));
    let (_, page) = ask(&server, NEW, "?limit=2");
    let next = page["next_page"].as_str().expect("a third");
    let (_, page) = ask(&server, NEW, &format!("?limit=2&page={next}"));
    assert_eq!((ids(&page), &page["next_page"]), (vec![&*files[0]], &Value::Null));
    let many = (0..101).map(|index| format!("ids[]=file_{index}&")).collect::<String>();
    let cases = [
        (OLD, format!("?page={next}"), "`page`"),
        (NEW, format!("?after_id={}", files[0]), "`after_id`"),
        (NEW, format!("?before_id={}", files[0]), "`before_id`"),
        (OLD, format!("?after_id={}&before_id={}", files[0], files[1]), "together"),
        (OLD, format!("?{many}"), "`ids[]`"),
    ];
    for (version, query, expected) in cases {
        let (status, error) = ask(&server, version, &query);
        let message = error["error"]["message"].as_str().expect("a message");
        assert_eq!((status, message.contains(expected)), (400, true), "{query}: {error}");
    }
}

#[test]
fn a_list_by_many_ids_has_pages_that_lead_on() {
    let server = Server::start();
    let files: Vec<String> = (0..40).map(|number| server.file(&number.to_string())).collect();
    server.file("of nobody's interest");
    let wanted: String = files.iter().map(|id| format!("&ids[]={id}")).collect();
    let (mut found, mut query) = (Vec::new(), format!("?limit=15{wanted}"));
    loop {
        let (status, page) = ask(&server, "2026-10-21", &query);
        assert_eq!(status, 200, "{page}");
        found.extend(ids(&page).into_iter().map(str::to_string));
        let Some(next) = page["next_page"].as_str() else { break };
        query = format!("?limit=15{wanted}&page={next}");
        let (status, error) = ask(&server, "2026-10-21", &format!("?limit=15&page={next}"));
        let message = error["error"]["message"].as_str().unwrap_or_default();
        assert_eq!((status, message), (400, "page token filters do not match request"));
    }
    found.reverse();
    assert_eq!(found, files);
}

#[test]
fn what_is_null_in_an_update_is_taken_away() {
    let server = Server::start();
    let made = json!({"name": "e", "description": "d", "metadata": {"a": "b"}});
    let made = server.ok("POST", "/v1/environments", &made);
    let path = format!("/v1/environments/{}", made["id"].as_str().expect("an id"));
    assert_eq!(made["description"], "d");
    let changed = server.ok("POST", &path, &json!({"description": null, "metadata": null}));
    assert_eq!((&changed["description"], &changed["metadata"]), (&json!(""), &json!({})));
}

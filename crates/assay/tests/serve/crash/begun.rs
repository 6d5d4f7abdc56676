//! Sessions that are begun while the server dies: one for each key, with its file, and nothing else
//! is left.

use super::clients::{Client, World};
use crate::server::Server;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const CONTENT: &str = "what was mounted";
const PLACE: &str = "data/a.txt";

/// What is asked for, but for its title, which is the key.
pub fn wish(server: &Server, place: &Value) -> Value {
    let mut wish = place.clone();
    let file = server.file(CONTENT);
    wish["resources"] = json!([{"type": "file", "file_id": file, "mount_path": PLACE}]);
    wish
}

/// All sessions there are, by their titles; those without one are not begun here.
fn listed(server: &Server) -> (BTreeMap<String, Vec<String>>, BTreeSet<String>) {
    let (mut titled, mut all) = (BTreeMap::<String, Vec<String>>::new(), BTreeSet::new());
    let mut page = String::new();
    loop {
        let path = format!("/v1/sessions?limit=100&include_archived=true{page}");
        let found = server.ok("GET", &path, &Value::Null);
        for session in found["data"].as_array().expect("a list") {
            let id = session["id"].as_str().expect("an id").to_string();
            if let Some(title) = session["title"].as_str() {
                titled.entry(title.to_string()).or_default().push(id.clone());
            }
            all.insert(id);
        }
        match found["next_page"].as_str() {
            Some(next) => page = format!("&page={next}"),
            None => return (titled, all),
        }
    }
}

/// One session for each key, also for who asks again; its file is there, and no directory is of
/// nobody.
pub fn judge(server: &Server, world: &World, clients: &[Client]) {
    let begun: BTreeMap<String, Vec<String>> = clients
        .iter()
        .flat_map(|client| &client.begun)
        .map(|(key, id)| (key.clone(), vec![id.clone()]))
        .collect();
    println!("{} sessions were begun meanwhile", begun.len());
    let (titled, all) = listed(server);
    assert_eq!(titled, begun, "one session for each key");
    let place = server.data.join("workspaces/default");
    for (key, ids) in &begun {
        let again = world.post("/v1/sessions", key, &world.wish_of(key), |_, _| {});
        assert_eq!(again.json()["id"], ids[0].as_str(), "{key}");
        let file = place.join(&ids[0]).join("uploads").join(PLACE);
        let found = std::fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(found, CONTENT, "{key}: {}", file.display());
    }
    assert_eq!(listed(server).1, all, "no key has a second effect");
    let names = std::fs::read_dir(&place).expect("a directory").flatten();
    let names: BTreeSet<String> =
        names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let orphans: Vec<&String> = names.difference(&all).collect();
    assert!(orphans.is_empty(), "directories of nobody: {orphans:?}");
}

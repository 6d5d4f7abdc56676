//! `assay serve --store postgres://…` through the real binary: what it refuses and how it ends.

use super::database::{Database, PASSWORD};
use super::server::{Server, Setup, assay, run};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Output;

/// A server that is expected not to serve.
fn refused(data: &Path, store: Option<&str>) -> Output {
    let mut command = assay();
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data);
    command.args(store.map(|url| ["--store", url]).into_iter().flatten());
    command.output().expect("the binary")
}

fn check(output: &Output, code: i32, why: &str) {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(code) && said.contains(why), "{why}: {output:?}");
    assert!(!said.contains(PASSWORD), "{said}");
}

#[test]
fn a_database_has_one_server_and_one_directory() {
    let database = Database::start();
    let url = database.url();
    let mut server = Server::with(Setup::stored_in(&url));
    let session = server.session();
    let sent = server.say(&session, "hello");
    server.rest(&session, &sent);
    let other = tempfile::tempdir().expect("a directory");
    check(&refused(other.path(), Some(&url)), 75, "another server has this store");
    let data = server.data.clone();
    // Without the name of the database the directory must not be taken for an empty one.
    server.kill();
    check(&refused(&data, None), 65, "its records are in a database");
    // A directory with a store of its own is not given to a database.
    let own = tempfile::tempdir().expect("a directory");
    assert!(run(&["keys", "create"], own.path()).status.success());
    let empty = database.sql("CREATE DATABASE another");
    assert!(empty.status.success(), "{empty:?}");
    let another = format!("{}another", url.strip_suffix("postgres").expect("its database"));
    check(&refused(own.path(), Some(&another)), 65, "it has a store of its own");
    // Nor one of another database.
    check(&refused(&data, Some(&another)), 65, "it belongs to another store");
    server.restart();
    let listed = server.listed(&session);
    assert!(listed.iter().any(|event| event["id"] == json!(sent)), "all is there");
}

#[test]
fn what_is_no_database_is_refused_with_a_sentence_and_a_code() {
    let data = tempfile::tempdir().expect("a directory");
    for (url, code, why) in [
        ("mysql://u:s3cret@h/d", 64, "begins with neither"),
        ("postgres://u:s3cret@127.0.0.1:1/d", 69, "cannot connect"),
        ("postgres://u:s3cret@127.0.0.1:1/d?sslmode=require", 64, "TLS"),
    ] {
        check(&refused(data.path(), Some(url)), code, why);
        let keys = assay().args(["keys", "list", "--store", url]).output().expect("the binary");
        check(&keys, code, why);
    }
    let database = Database::start();
    database.sql("CREATE SCHEMA assay CREATE TABLE mine (x int)");
    check(&refused(data.path(), Some(&database.url())), 65, "not a store of Assay");
    let wrong = database.url().replace(PASSWORD, "wrong");
    check(&refused(data.path(), Some(&wrong)), 69, "password authentication failed");
    // The password may come from the usual variable instead.
    database.sql("DROP SCHEMA assay CASCADE");
    let url = database.url().replace(&format!(":{PASSWORD}"), "");
    let listed = assay()
        .args(["keys", "list", "--store", &url])
        .env("PGPASSWORD", PASSWORD)
        .output()
        .expect("the binary");
    assert_eq!(listed.status.code(), Some(0), "{listed:?}");
}

#[test]
fn a_server_that_was_replaced_ends_by_itself_and_says_so() {
    let database = Database::start();
    let mut server = Server::with(Setup::stored_in(&database.url()));
    let session = server.session();
    database.sql("UPDATE assay.writer SET owner = 'another'");
    let path = super::server::events_path(&session);
    // On a slow day the server is gone before its refusal is heard: no acknowledgement either.
    let late = super::server::message("too late");
    let status = server.try_call("POST", &path, &late, &[]).map(|answer| answer.status);
    assert!(matches!(status, Ok(500) | Err(_)), "{status:?}");
    let (code, said) = (server.wait(), server.log());
    assert_eq!(code, Some(69), "{said}");
    assert!(said.contains("another server has taken this store over"), "{said}");
    assert!(!said.contains(PASSWORD), "{said}");
    server.restart();
    let texts = server.listed(&session);
    assert!(!texts.iter().any(|event| event["type"] == "user.message"), "{texts:?}");
    server.ok("GET", &format!("/v1/sessions/{session}"), &Value::Null);
}

#[test]
fn files_of_a_session_stay_until_it_is_known_whether_it_was_written() {
    let database = Database::start();
    let mut server = Server::with(Setup::stored_in(&database.url()));
    let mut wish = server.place(&Value::Null);
    wish["resources"] = json!([{"type": "file", "file_id": server.file("x"), "mount_path": "a"}]);
    database.sql("UPDATE assay.writer SET owner = 'another'");
    let status = server.try_call("POST", "/v1/sessions", &wish, &[]).map(|answer| answer.status);
    assert!(matches!(status, Ok(500) | Err(_)), "{status:?}");
    assert_eq!(server.wait(), Some(69), "{}", server.log());
    let place = server.data.join("workspaces/default");
    let copies = || std::fs::read_dir(&place).map_or(0, Iterator::count);
    assert_eq!(copies(), 1, "nobody here knows that the session is not there");
    server.restart();
    assert_eq!(copies(), 0, "whoever opens the store again does");
}

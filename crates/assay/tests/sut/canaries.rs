//! A harness that is wired wrongly must notice.

use crate::support::{kv, launch, leader, three, wait_for};
use assay_sut::Wiring;
use serde_json::json;
use std::net::TcpStream;

#[test]
fn nodes_that_reach_each_other_without_proxies_are_caught() {
    let (_directory, cluster) = three(Wiring::Direct);
    leader(&cluster);
    let sentences = wait_for("a bypass", || {
        let found = cluster.bypasses();
        (!found.is_empty()).then_some(found)
    });
    for sentence in &sentences {
        assert!(sentence.starts_with('n') && sentence.ends_with("without the proxy"), "{sentence}");
        assert!(sentence.contains("kv node"), "{sentence}");
    }
}

#[test]
fn a_connection_of_our_own_that_nobody_entered_is_caught() {
    let directory = tempfile::tempdir().expect("a directory");
    let cluster =
        launch(&kv(), 1, json!({}), directory.path(), Wiring::Proxied).expect("it starts");
    assert_eq!(cluster.bypasses(), Vec::<String>::new());
    let upstream = cluster.mesh().links()[0].upstream;
    let _held = TcpStream::connect(upstream).expect("the node listens");
    let sentences = wait_for("a bypass", || {
        let found = cluster.bypasses();
        (!found.is_empty()).then_some(found)
    });
    assert!(sentences[0].starts_with("n1 was reached by 127.0.0.1:"), "{sentences:?}");
    let own = format!("(pid {}, `", std::process::id());
    assert!(sentences[0].contains(&own), "{sentences:?}");
}

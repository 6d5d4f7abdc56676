//! Names of nodes, and their outage.

use crate::support::as_one;
use assay_kernel::net::Network;
use std::net::ToSocketAddrs;

/// What the resolver of the system says about a name, asked by somebody.
fn resolved(network: &Network, asker: &str, name: &str) -> Result<String, String> {
    as_one(network, asker, || match (name, 80).to_socket_addrs() {
        Ok(addresses) => Ok(addresses.map(|one| one.ip().to_string()).collect()),
        Err(error) => Err(error.to_string()),
    })
}

pub fn outage(network: &Network) {
    assert_eq!(resolved(network, "n1", "n2"), Ok("10.77.0.2".to_string()));
    let unknown = resolved(network, "n1", "nobody.example").expect_err("there is none");
    assert!(!unknown.contains("Temporary"), "{unknown}");
    let before = network.dns_count("n1").expect("a node");
    assert!(before.answered > 0 && before.unanswered == 0, "{before:?}");

    network.cut_dns("n1").expect("a node");
    let failed = resolved(network, "n1", "n2").expect_err("nobody answers");
    assert!(failed.contains("Temporary failure in name resolution"), "{failed}");
    assert!(!network.dns_answers("n1").expect("it can be asked"));
    assert_eq!(resolved(network, "n2", "n1"), Ok("10.77.0.1".to_string()), "others are answered");
    let during = network.dns_count("n1").expect("a node");
    assert_eq!(during.answered, before.answered);
    assert!(during.unanswered > 1, "{during:?}");
    assert_eq!(network.dns_count("n2").expect("a node").unanswered, 0);

    assert!(network.restore_dns("n1").expect("a node"));
    assert!(!network.restore_dns("n1").expect("a node"), "there is none any more");
    assert_eq!(resolved(network, "n1", "n2"), Ok("10.77.0.2".to_string()));
    assert!(network.dns_answers("n1").expect("it can be asked"));
}

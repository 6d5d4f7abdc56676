//! What the kernel in here can do for networks, found by trying in namespaces that go at once.

use super::bridge::Bridge;
use super::links::Links;
use super::space::Space;
use crate::inside::Fact;
use std::io;

/// Without these there is no network.
pub const CABLES: &str = "cables between namespaces";
/// And without these none whose hub is a bridge.
pub const BRIDGES: &str = "bridge with packet filters";

/// Tries what networks are made of. To be asked inside.
pub fn probe() -> Vec<Fact> {
    let cable = Space::create().and_then(|near| {
        let far = Space::create()?;
        near.run(|| Links::open()?.cable("probe", 1000, [2, 0, 0, 0, 0, 1], &far))
    });
    let bridge = Space::create().and_then(|hub| {
        hub.run(|| Links::open()?.bridge("probe", 1000))?;
        Bridge::start(&hub, 2).map(|_| ())
    });
    vec![
        fact(CABLES, cable, "load the kernel's module `veth`"),
        fact(
            BRIDGES,
            bridge,
            "load the kernel's modules `bridge` and `nf_tables`, or use the switch as the hub",
        ),
    ]
}

fn fact(what: &'static str, tried: io::Result<()>, remedy: &str) -> Fact {
    Fact { what, trouble: tried.err().map(|error| format!("{error}; {remedy}")) }
}

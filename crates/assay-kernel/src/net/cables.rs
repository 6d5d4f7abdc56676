//! Cables from the hub to everybody.

use super::links::{Links, NODE_INDEX, NODE_LINK, without_ipv6};
use super::names::Names;
use super::network::HubKind;
use super::port::without_offloads;
use super::space::Space;
use std::io;

/// The number of the bridge in the namespace of the hub.
const BRIDGE_INDEX: u32 = 999;

/// Lays a cable from the hub to everybody.
pub(super) fn lay_cables(
    names: &Names,
    spaces: &[Space],
    hub: &Space,
    kind: HubKind,
) -> io::Result<()> {
    hub.run(|| {
        without_ipv6()?;
        let mut links = Links::open()?;
        if kind == HubKind::Bridge {
            links.bridge("hub", BRIDGE_INDEX)?;
            links.up(BRIDGE_INDEX)?;
        }
        for (port, space) in spaces.iter().enumerate() {
            space.run(without_ipv6)?;
            let (index, mac) = (Names::index(port), Names::mac(port));
            links.cable(&format!("to{port}"), index, mac, space)?;
            if kind == HubKind::Bridge {
                links.plug(index, BRIDGE_INDEX, mac)?;
            }
            links.up(index)?;
        }
        Ok(())
    })?;
    for (port, space) in spaces.iter().enumerate() {
        space.run(|| {
            let mut links = Links::open()?;
            if kind == HubKind::Switch {
                without_offloads(NODE_LINK)?;
            }
            links.loopback_up()?;
            links.address(NODE_INDEX, names.address(port))?;
            links.up(NODE_INDEX)?;
            let others = (0..spaces.len()).filter(|other| *other != port);
            let mut know =
                |other| links.neighbour(NODE_INDEX, names.address(other), Names::mac(other));
            others.into_iter().try_for_each(&mut know)
        })?;
    }
    Ok(())
}

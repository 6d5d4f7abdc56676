//! Which connections to a node are ours.
//!
//! A proxy proves something only if nobody goes around it. Whoever looks at the connections of a
//! node has to tell those that came through a link from those that did not, and the kernel shows
//! only addresses. So every connection made on purpose is entered here by its local port, and
//! whatever is not entered came by another way.
//!
//! ```
//! use assay_nemesis::DialPorts;
//!
//! let ports = DialPorts::default();
//! let entry = ports.enter(40_001);
//! assert!(ports.has(40_001));
//! drop(entry);
//! assert!(!ports.has(40_001));
//! ```

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Local ports of open connections. A clone is the same book.
#[derive(Clone, Debug, Default)]
pub struct DialPorts {
    /// Connections to different addresses may share a local port: each counts.
    open: Arc<Mutex<BTreeMap<u16, u32>>>,
}

/// An entry in [`DialPorts`]; it is crossed out when this is dropped.
#[derive(Debug)]
pub struct DialPort {
    ports: DialPorts,
    port: u16,
}

impl DialPorts {
    /// Enters a connection by its local port.
    #[must_use = "the entry lasts as long as what is returned"]
    pub fn enter(&self, port: u16) -> DialPort {
        *self.lock().entry(port).or_insert(0) += 1;
        DialPort { ports: self.clone(), port }
    }

    /// Whether a connection with this local port is entered.
    pub fn has(&self, port: u16) -> bool {
        self.lock().contains_key(&port)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<u16, u32>> {
        self.open.lock().expect("nothing panics while it holds the ports")
    }
}

impl Drop for DialPort {
    fn drop(&mut self) {
        let mut open = self.ports.lock();
        match open.get_mut(&self.port) {
            Some(count) if *count > 1 => *count -= 1,
            _ => {
                open.remove(&self.port);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_two_connections_share_stays_until_both_are_gone() {
        let ports = DialPorts::default();
        let (one, other) = (ports.enter(7), ports.clone().enter(7));
        drop(one);
        assert!(ports.has(7));
        drop(other);
        assert!(!ports.has(7));
    }
}

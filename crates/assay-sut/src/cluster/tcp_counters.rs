//! What the kernel of a node says about its TCP connections.
//!
//! A node in a network namespace of its own has counters of its own, and they see what happens
//! below the streams of applications: TCP repairs lost, doubled and overtaken packets, and counts
//! how often it had to. Without namespaces the counters are those of the whole machine, and prove
//! nothing about a node.

use std::fs;

/// The signals, where each is found, and which counters it is the sum of.
pub(crate) const SIGNALS: [(&str, Table, &[&str]); 3] = [
    ("retransmits", Table::Tcp, &["RetransSegs"]),
    ("out-of-order", Table::TcpExt, &["TCPOFOQueue"]),
    ("duplicates", Table::TcpExt, &["TCPDSACKOldSent", "TCPDSACKOfoSent"]),
];

/// A table of counters of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Table {
    /// What every TCP has to count.
    Tcp,
    /// What Linux counts besides.
    TcpExt,
}

impl Table {
    fn file(self) -> &'static str {
        match self {
            Table::Tcp => "snmp",
            Table::TcpExt => "netstat",
        }
    }

    fn prefix(self) -> &'static str {
        match self {
            Table::Tcp => "Tcp:",
            Table::TcpExt => "TcpExt:",
        }
    }
}

/// Whether there is such a signal.
pub(crate) fn has(name: &str) -> bool {
    SIGNALS.iter().any(|(known, ..)| *known == name)
}

/// A signal as the network of a process has it.
pub(crate) fn read(name: &str, pid: u32) -> Option<u64> {
    let (_, table, counters) = SIGNALS.iter().find(|(known, ..)| *known == name)?;
    let text = fs::read_to_string(format!("/proc/{pid}/net/{}", table.file())).ok()?;
    counters.iter().map(|counter| counted(&text, table.prefix(), counter)).sum()
}

/// A counter of such a table: a line of names, then a line of numbers, both with the prefix.
fn counted(text: &str, prefix: &str, counter: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(prefix));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let at = names.split_whitespace().position(|name| name == counter)?;
    numbers.split_whitespace().nth(at)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_stands_below_its_name() {
        let text = "Ip: A B\nIp: 1 2\nTcp: MaxConn RetransSegs InErrs\nTcp: -1 7 0\n";
        assert_eq!(counted(text, "Tcp:", "RetransSegs"), Some(7));
        assert_eq!(counted(text, "Tcp:", "MaxConn"), None, "no count");
        assert_eq!(counted(text, "Tcp:", "Unheard"), None);
        assert_eq!(counted(text, "TcpExt:", "RetransSegs"), None);
    }

    #[test]
    fn every_signal_can_be_read_of_this_process() {
        for (name, ..) in SIGNALS {
            assert!(read(name, std::process::id()).is_some(), "{name}");
        }
        assert_eq!(read("unheard", std::process::id()), None);
    }
}

//! What is in a history, in numbers.

use super::grouped;
use assay_history::{History, Outcome};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Counts of one history.
pub struct Stats {
    ops: usize,
    by_type: BTreeMap<String, [u64; 3]>,
    processes: usize,
    keys: usize,
    overlap_max: usize,
    first: i64,
    last: i64,
    fault_windows: usize,
    heap_bytes: usize,
}

impl Stats {
    /// Counts.
    pub fn of(history: &History) -> Stats {
        let mut by_type: BTreeMap<String, [u64; 3]> = BTreeMap::new();
        let mut keys = vec![false; history.key_count()];
        let mut events: Vec<(i64, i32)> = Vec::with_capacity(history.len() * 2);
        let (mut first, mut last) = (i64::MAX, i64::MIN);
        for op in history.ops() {
            let outcome = op.outcome();
            let counts = match by_type.get_mut(history.type_name(op.op_type)) {
                Some(counts) => counts,
                None => by_type.entry(history.type_name(op.op_type).to_string()).or_default(),
            };
            counts[outcome as usize] += 1;
            keys[op.key.0 as usize] = true;
            let (start, end) = history.span(&op);
            first = first.min(start);
            last = last.max(start);
            if outcome != Outcome::Unknown {
                last = last.max(end);
                // Invocations first where times are equal: operations that touch overlap.
                events.push((start, 0));
                events.push((end, 1));
            }
        }
        events.sort_unstable();
        let (mut open, mut overlap_max) = (0usize, 0);
        for (_, kind) in events {
            open = if kind == 0 { open + 1 } else { open - 1 };
            overlap_max = overlap_max.max(open);
        }
        Stats {
            ops: history.len(),
            by_type,
            processes: history.process_count(),
            keys: keys.into_iter().filter(|&used| used).count(),
            overlap_max,
            first: if history.is_empty() { 0 } else { first },
            last: if history.is_empty() { 0 } else { last },
            fault_windows: history.meta.fault_windows.len(),
            heap_bytes: history.heap_bytes(),
        }
    }

    /// For people.
    pub fn text(&self, path: &Path) -> String {
        let mut text = format!(
            "{}: {} operations by {} processes on {} keys\n",
            path.display(),
            grouped(self.ops as u64),
            grouped(self.processes as u64),
            grouped(self.keys as u64)
        );
        text += &format!("  {:<14} {:>12} {:>12} {:>12}\n", "type", "ok", "fail", "unknown");
        for (name, [ok, fail, unknown]) in &self.by_type {
            text += &format!(
                "  {name:<14} {:>12} {:>12} {:>12}\n",
                grouped(*ok),
                grouped(*fail),
                grouped(*unknown)
            );
        }
        text +=
            &format!("  at most {} open at once (unknown ones not counted)\n", self.overlap_max);
        text += &format!("  from t={} to t={}\n", self.first, self.last);
        if self.fault_windows > 0 {
            text += &format!("  {} fault windows\n", self.fault_windows);
        }
        text += &format!("  {} bytes in memory\n", grouped(self.heap_bytes as u64));
        text
    }

    /// For programs.
    pub fn json(&self, path: &Path) -> Value {
        let types: serde_json::Map<String, Value> = self
            .by_type
            .iter()
            .map(|(name, [ok, fail, unknown])| {
                (name.clone(), json!({"ok": ok, "fail": fail, "unknown": unknown}))
            })
            .collect();
        json!({
            "file": path.display().to_string(),
            "ops": self.ops,
            "processes": self.processes,
            "keys": self.keys,
            "types": types,
            "overlap_max": self.overlap_max,
            "first": self.first,
            "last": self.last,
            "fault_windows": self.fault_windows,
            "heap_bytes": self.heap_bytes,
        })
    }
}

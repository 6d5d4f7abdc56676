//! The decision procedure as it is published, read once more: plain numbers in, a name out.
//!
//! Shares no code with the crate and is built the other way round: first the tree, step by step,
//! then the budget, then the audits as downgrades of what the tree said.

/// Facts as plain values.
#[derive(Clone, Copy, Default, Debug)]
pub struct Flat {
    pub attempted: bool,
    pub capability_missing: bool,
    pub operator_told: bool,
    pub violation: bool,
    pub reproduced: bool,
    pub fault_planned: bool,
    pub counters_moved: bool,
    pub ops_during_fault: u32,
    pub serious: bool,
    pub checker_ran: bool,
    pub checker_answered: bool,
    pub history_complete: bool,
    pub history_spoiled: bool,
    pub consumed: Option<u32>,
    pub sent: Option<u32>,
    pub whole_scope: bool,
    pub planted: u32,
    pub caught: u32,
    /// 0 none, 1 smoke, 2 hardening, 3 release.
    pub tier: u8,
    pub seeds: u32,
    /// Bit n - 1: red flag n is open.
    pub open_flags: u16,
    /// Bit n - 1: weak oracle n is open.
    pub open_weak: u16,
}

fn has(bits: u16, items: &[u32]) -> bool {
    items.iter().any(|item| bits >> (item - 1) & 1 == 1)
}

/// Steps 1 to 8; non-serious scenarios skip what needs a model.
fn tree(f: &Flat) -> &'static str {
    if !f.attempted {
        return "NOT-RUN";
    }
    if f.capability_missing {
        // Only someone who was told can have decided to go without.
        return if f.operator_told { "INCONCLUSIVE-env" } else { "NOT-RUN" };
    }
    if f.violation {
        return if f.reproduced { "FAIL-reproducible" } else { "FAIL-nondeterministic" };
    }
    let landing_proven = f.counters_moved && !has(f.open_flags, &[3, 4]);
    if f.fault_planned && !landing_proven {
        return "INCONCLUSIVE-fault-not-proven";
    }
    if !f.checker_ran {
        return "PARTIAL-surface";
    }
    // An oracle that skipped cycles has not run where it should have.
    if has(f.open_flags, &[2]) {
        return "PARTIAL-surface";
    }
    // What the harness did to it itself counts whatever kind of scenario it is.
    if (f.serious && !f.history_complete) || f.history_spoiled {
        return "INCONCLUSIVE-oracle-too-weak";
    }
    // No answer is no pass, whatever kind of scenario; nor is an answer about nothing, nor one
    // whose counts contradict each other.
    let consumed = f.consumed.unwrap_or(0);
    if !f.checker_answered || consumed == 0 || f.sent.is_some_and(|sent| sent < consumed) {
        return "INCONCLUSIVE-oracle-too-weak";
    }
    if f.planted > 0 && f.caught == 0 {
        return "INCONCLUSIVE-oracle-too-weak";
    }
    if f.serious && (!f.whole_scope || f.sent != f.consumed) {
        return "PARTIAL-model";
    }
    if f.fault_planned && f.ops_during_fault > 0 { "PASS-hardening" } else { "PASS-smoke" }
}

/// The verdict.
pub fn verdict(f: &Flat) -> &'static str {
    let said = tree(f);
    if !said.starts_with("PASS") && said != "PARTIAL-model" {
        return said;
    }
    // Audits and budgets that take away a pass, or the better of the two partials.
    if has(f.open_flags, &[1, 5, 7, 8, 9, 10]) {
        return "INCONCLUSIVE-oracle-too-weak";
    }
    if f.tier == 0 {
        return "PARTIAL-surface";
    }
    if f.serious && has(f.open_weak, &[1, 2, 3, 5, 12, 13]) {
        return "PARTIAL-surface";
    }
    if said != "PASS-hardening" {
        return said;
    }
    // Only hardening is left. First the budget, then what makes it a partial.
    if f.tier == 1 || has(f.open_flags, &[6]) {
        return "PASS-smoke";
    }
    let weak = f.serious && has(f.open_weak, &[4, 6, 7, 8, 9, 10, 11, 14]);
    let untried = f.serious && f.planted == 0;
    if f.seeds < 3 || weak || untried || f.caught < f.planted {
        return "PARTIAL-model";
    }
    "PASS-hardening"
}

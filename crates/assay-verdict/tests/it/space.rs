//! The product of all enumerated facts: its dimensions, and which value is worse than which.

use crate::published::Flat;
use crate::samples::{all_good, landed};
use assay_verdict::{
    Audits, Calibration, Check, Checker, Effect, Facts, Fault, HistoryFields, Landing, Operations,
    Operator, RedFlag, Rigour, RunFacts, Scope, Signal, Tier, Undecided, Violation, WeakOracle,
};

/// A dimension: its name, how many values, and pairs (better, worse) between them.
pub struct Dimension {
    pub name: &'static str,
    pub values: usize,
    pub worse: &'static [(u8, u8)],
}

const fn dimension(name: &'static str, values: usize, worse: &'static [(u8, u8)]) -> Dimension {
    Dimension { name, values, worse }
}

const OPEN: &[(u8, u8)] = &[(0, 1)];

/// Values are numbered as the functions below spell them out. Whether a scenario is serious, and
/// whether it plans a fault, is said by the plan and not measured: no value is worse there, except
/// that a proven fault is better than none.
pub const DIMENSIONS: [Dimension; 16] = [
    // Ran, not attempted, capability missing (operator told, not told). Only a run without a
    // violation is better than no run: what was seen cannot be unseen.
    dimension("start", 4, &[(0, 1), (0, 2), (0, 3), (1, 2), (2, 1), (2, 3), (3, 2)]),
    // None, not run again, not reproduced, reproduced.
    dimension("violation", 4, &[(0, 1), (1, 2), (2, 1), (2, 3)]),
    dimension("rigour", 2, &[]),
    // Completed, not run, out of budget, crashed.
    dimension("checker", 4, &[(0, 1), (0, 2), (1, 2), (2, 1), (2, 3), (3, 2)]),
    // All caught, not done, some caught, none caught.
    dimension("calibration", 4, &[(0, 1), (1, 2), (2, 3)]),
    // Complete, unknown, lacking, spoiled.
    dimension("history", 4, &[(0, 1), (1, 2), (2, 3)]),
    // Whole, part of the scope, part of the operations, sent unknown, none, uncounted, too many.
    dimension(
        "coverage",
        7,
        &[(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4), (4, 5), (5, 4), (0, 6)],
    ),
    // Release, hardening, smoke, none.
    dimension("tier", 4, &[(0, 1), (1, 2), (2, 3)]),
    // 3, 2 and 1 seeds.
    dimension("seeds", 3, &[(0, 1), (1, 2)]),
    // None; then landed, unknown, missed, each with operations under it, uncounted, zero.
    dimension("fault", 10, FAULTS_WORSE),
    dimension("red flag 2", 2, OPEN),
    dimension("red flags 3, 4", 2, OPEN),
    dimension("red flag 6", 2, OPEN),
    dimension("red flags 1, 5, 7-10", 2, OPEN),
    dimension("weak oracles, surface", 2, OPEN),
    dimension("weak oracles, model", 2, OPEN),
];

const FAULTS_WORSE: &[(u8, u8)] = &[
    (1, 2),
    (2, 3),
    (4, 5),
    (5, 6),
    (7, 8),
    (8, 9), // fewer operations under the fault
    (1, 4),
    (4, 7),
    (2, 5),
    (5, 8),
    (3, 6),
    (6, 9), // a weaker landing
    (1, 0),
    (2, 0),
    (3, 0), // a proven fault taken away
];

pub type Point = [u8; DIMENSIONS.len()];

/// How many points there are.
pub fn size() -> usize {
    DIMENSIONS.iter().map(|dimension| dimension.values).product()
}

/// The step in the index that one more in this dimension makes.
pub fn stride(at: usize) -> isize {
    DIMENSIONS[..at].iter().map(|dimension| dimension.values as isize).product()
}

/// Whether this value of a dimension is worse than what the point has.
///
/// A violation is a recorded fact: a run that did not happen cannot have it, so only a run without
/// one is better than no run. And only a fault that is proven is better than none at all.
pub fn comparable(dimension: usize, point: &Point, worse: u8) -> bool {
    match (DIMENSIONS[dimension].name, worse) {
        ("start", _) => point[1] == 0,
        ("fault", 0) => point[11] == 0,
        _ => true,
    }
}

/// The point with this index.
pub fn point(mut index: usize) -> Point {
    let mut point = [0; DIMENSIONS.len()];
    for (digit, dimension) in point.iter_mut().zip(&DIMENSIONS) {
        *digit = (index % dimension.values) as u8;
        index /= dimension.values;
    }
    point
}

/// Turns a point into the one with the next index, which is quicker than to begin anew.
pub fn advance(point: &mut Point) {
    for (digit, dimension) in point.iter_mut().zip(&DIMENSIONS) {
        *digit += 1;
        if usize::from(*digit) < dimension.values {
            return;
        }
        *digit = 0;
    }
}

fn landing(state: u8) -> Landing {
    let victim = match state {
        0 => return landed(),
        1 => Signal { during: None, ..landed().victim },
        _ => Signal { during: Some(0), ..landed().victim },
    };
    Landing { victim, ..landed() }
}

fn fault(value: u8) -> Fault {
    let Some(planned) = value.checked_sub(1) else { return Fault::NotPlanned };
    let ops_during_fault = [Some(400), None, Some(0)][usize::from(planned % 3)];
    Fault::Planned { landings: vec![landing(planned / 3)], ops_during_fault }
}

/// Which items are open in a group: all of them in turn would multiply the product, so one is
/// picked by the rest of the point; `audits.rs` goes through every subset.
fn audits(point: &Point) -> Audits {
    let mut audits = all_good().audits;
    let states = [
        Check::Raised("seen".into()),
        Check::Unknown("not seen".into()),
        Check::NotApplicable(String::new()),
    ];
    let pick: usize = point[10..].iter().map(|digit| usize::from(*digit)).sum();
    let mut groups = [
        (10, Effect::Surface),
        (11, Effect::FaultNotProven),
        (12, Effect::SmokeCap),
        (13, Effect::Held),
    ]
    .into_iter();
    for (at, effect) in groups.by_ref().filter(|(at, _)| point[*at] == 1) {
        let items: Vec<RedFlag> =
            RedFlag::ALL.iter().copied().filter(|item| item.effect() == effect).collect();
        let item = items[(pick + at) % items.len()];
        audits.red_flags[item.number() - 1] = states[pick % 3].clone();
    }
    for (at, effect) in [(14, Effect::Surface), (15, Effect::Model)] {
        let items: Vec<WeakOracle> =
            WeakOracle::ALL.iter().copied().filter(|item| item.effect() == effect).collect();
        if point[at] == 1 {
            let item = items[(pick + at) % items.len()];
            audits.weak_oracles[item.number() - 1] = states[pick % 3].clone();
        }
    }
    audits
}

/// What is expensive to make and stays while the cheap dimensions turn.
pub fn expensive(facts: &mut RunFacts, point: &Point) {
    facts.fault = fault(point[9]);
    facts.audits = audits(point);
}

/// The rest; no memory is allocated here.
pub fn cheap(facts: &mut RunFacts, point: &Point) {
    facts.violation = Violation::ALL[usize::from(point[1])];
    facts.rigour = Rigour::ALL[usize::from(point[2])];
    facts.checker = [
        Checker::Completed,
        Checker::NotRun,
        Checker::Undecided(Undecided::BudgetExhausted),
        Checker::Undecided(Undecided::Crashed),
    ][usize::from(point[3])];
    facts.calibration = match point[4] {
        1 => Calibration::NotDone,
        value => Calibration::Done { planted: 20, caught: [20, 0, 19, 0][usize::from(value)] },
    };
    facts.history = match point[5] {
        0 => HistoryFields::Complete,
        1 => HistoryFields::Unknown,
        2 => HistoryFields::Lacks(Vec::new()),
        _ => HistoryFields::Spoiled(Vec::new()),
    };
    let (sent, consumed) = counts(point[6]);
    facts.operations = Operations {
        sent: sent.map(u64::from),
        recorded: sent.map(u64::from),
        consumed: consumed.map(u64::from),
    };
    facts.scope = if point[6] == 1 { Scope::Part(Vec::new()) } else { Scope::Whole };
    facts.tier = [Tier::Release, Tier::Hardening, Tier::Smoke, Tier::None][usize::from(point[7])];
    facts.seeds_agreeing = 3 - u32::from(point[8]);
}

fn counts(coverage: u8) -> (Option<u32>, Option<u32>) {
    match coverage {
        0 | 1 => (Some(9), Some(9)),
        2 => (Some(9), Some(8)),
        3 => (None, Some(9)),
        4 => (Some(9), Some(0)),
        5 => (Some(9), None),
        _ => (Some(9), Some(10)),
    }
}

/// Facts of a scenario that did not run.
pub fn not_run(start: u8) -> Facts {
    match start {
        1 => Facts::NotAttempted { reason: String::new() },
        _ => Facts::CapabilityMissing {
            capabilities: Vec::new(),
            operator: if start == 2 { Operator::Told } else { Operator::NotTold },
        },
    }
}

/// The same point as plain values, for the second reading.
pub fn flat(point: &Point) -> Flat {
    let planned = point[9].checked_sub(1);
    let (sent, consumed) = counts(point[6]);
    let open = |at: usize, items: &[u32]| -> u16 {
        if point[at] == 1 { items.iter().map(|item| 1 << (item - 1)).sum() } else { 0 }
    };
    Flat {
        attempted: point[0] != 1,
        capability_missing: point[0] >= 2,
        operator_told: point[0] == 2,
        violation: point[1] > 0,
        reproduced: point[1] == 3,
        fault_planned: planned.is_some(),
        counters_moved: planned.is_some_and(|value| value / 3 == 0),
        ops_during_fault: planned.map_or(0, |value| [400, 0, 0][usize::from(value % 3)]),
        serious: point[2] == 0,
        checker_ran: point[3] != 1,
        checker_answered: point[3] == 0,
        history_complete: point[5] == 0,
        history_spoiled: point[5] == 3,
        consumed,
        sent,
        whole_scope: point[6] != 1,
        planted: if point[4] == 1 { 0 } else { 20 },
        caught: [20, 0, 19, 0][usize::from(point[4])],
        tier: 3 - point[7],
        seeds: 3 - u32::from(point[8]),
        open_flags: open(10, &[2]) | open(11, &[3]) | open(12, &[6]) | open(13, &[5]),
        open_weak: open(14, &[1]) | open(15, &[4]),
    }
}

//! The audits: every subset of open items, and every item from measured numbers.

use crate::published::{self, Flat};
use crate::samples::{all_good, landed, planned};
use assay_verdict::audit::{
    Applicable, Clock, Controls, Groups, Health, LogScan, OracleKind, Partitions, Retries, Silence,
    Surfaces, Topologies,
};
use assay_verdict::{
    Audits, Check, Facts, Fault, Landing, Measured, RedFlag, RunFacts, Signal, Verdict, WeakOracle,
    verdict,
};

/// All 2^24 subsets of open items under facts that are otherwise perfect. From one subset to the
/// next only one item changes (a Gray code), so that this is quick.
#[test]
fn every_subset_of_open_items_agrees_with_the_published_mapping() {
    let mut facts = Facts::Ran(Box::new(all_good()));
    let (mut hardened, mut open): (u32, u32) = (0, 0);
    let perfect = Flat {
        attempted: true,
        fault_planned: true,
        counters_moved: true,
        ops_during_fault: 400,
        serious: true,
        checker_ran: true,
        checker_answered: true,
        history_complete: true,
        consumed: Some(9),
        sent: Some(9),
        whole_scope: true,
        planted: 20,
        caught: 20,
        tier: 2,
        seeds: 3,
        ..Flat::default()
    };
    for step in 1..=1_u32 << 24 {
        let flat =
            Flat { open_flags: open as u16 & 0x3ff, open_weak: (open >> 10) as u16, ..perfect };
        let found = verdict(&facts);
        assert_eq!(found.name(), published::verdict(&flat), "{open:024b}");
        hardened += u32::from(found == Verdict::PassHardening);
        let flip = step.trailing_zeros().min(23);
        open ^= 1 << flip;
        let Facts::Ran(run) = &mut facts else { unreachable!("it ran") };
        set(&mut run.audits, flip as usize, open >> flip & 1 == 1);
    }
    assert_eq!(hardened, 1, "only with no item open");
}

fn set(audits: &mut Audits, item: usize, open: bool) {
    let check = if open { Check::Raised(String::new()) } else { Check::Clean(String::new()) };
    match item {
        0..10 => audits.red_flags[item] = check,
        _ => audits.weak_oracles[item - 10] = check,
    }
}

/// Numbers with nothing to complain about.
fn good() -> Measured {
    Measured {
        rate_planned: Some(1_000),
        rate_achieved: Some(900),
        silence: Some(Silence { ms: 2_000, ms_max: 2_000 }),
        cycles_planned: Some(5),
        cycles_judged: Some(5),
        cycles_lost: Vec::new(),
        clock: Some(Clock::Monotonic),
        timing_assertions: Some(Applicable::Measured(2)),
        duration_ms: Some(1_800_000),
        duration_ms_claimed: Some(1_800_000),
        duration_ms_hardening: Some(1_800_000),
        log: Some(LogScan { lines_read: 10_000, ..LogScan::default() }),
        health: Some(Health {
            what: "operations per second".into(),
            baseline: 1_000,
            after: 950,
            percent_min: 95,
        }),
        unhealed: Vec::new(),
        harness: Some(Applicable::Measured(["1f2e".into(), "1f2e".into()])),
        replicas: Some(Applicable::Measured(3)),
        oracles: Some(vec![OracleKind::ClientHistory, OracleKind::Logs]),
        failovers: Some(Applicable::Measured(2)),
        partitions: Some(Applicable::Measured(Partitions { symmetric: 0, asymmetric: 1 })),
        retries: Some(Applicable::Measured(Retries { client_sends: 70, server_receives: 70 })),
        topologies: Some(Applicable::Measured(Topologies { run: 2 })),
        surfaces: Some(Applicable::Measured(Surfaces { declared: 3, exercised: 3 })),
        controls: Some(Applicable::Measured(Controls { positive: 1, negative: 1 })),
        groups: Some(Applicable::Measured(Groups { broken_down: 2 })),
    }
}

type Change = fn(&mut RunFacts, &mut Measured);

#[track_caller]
fn check(item: usize, change: Change, expected: &str) {
    let (mut facts, mut measured) = (all_good(), good());
    change(&mut facts, &mut measured);
    let audits = Audits::of(&facts, &measured);
    let found = match item {
        0..10 => &audits.red_flags[item],
        _ => &audits.weak_oracles[item - 10],
    };
    assert_eq!(found.word(), expected, "item {item}: {}", found.text());
    assert!(!found.text().is_empty(), "item {item} has no evidence");
}

/// Item, change to good numbers, answer. Items count red flags from 0, weak oracles from 10.
const CASES: &[(usize, Change, &str)] = &[
    (0, |_, m| m.rate_achieved = Some(899), "raised"),
    (0, |_, m| m.rate_planned = Some(0), "raised"),
    (0, |_, m| m.rate_achieved = None, "unknown"),
    (0, |_, m| m.silence.as_mut().expect("set").ms = 2_001, "raised"),
    (0, |_, m| m.silence = None, "clean"),
    (1, |_, m| m.cycles_judged = Some(4), "raised"),
    (1, |_, m| m.cycles_lost = vec!["seed 4: the system did not start".into()], "raised"),
    (1, |_, m| (m.cycles_planned, m.cycles_judged) = (Some(0), Some(0)), "raised"),
    (1, |f, _| f.operations.recorded = Some(4_999), "raised"),
    (1, |f, _| f.operations.recorded = None, "unknown"),
    (2, |f, _| f.fault = still(1), "raised"),
    (2, |f, _| f.fault = planned(vec![]), "unknown"),
    (2, |f, _| f.fault = Fault::NotPlanned, "not applicable"),
    (3, |f, _| f.fault = still(0), "raised"),
    (3, |f, _| f.fault = still(1), "clean"),
    (3, |f, _| f.fault = Fault::NotPlanned, "not applicable"),
    (4, |_, m| m.clock = Some(Clock::Wall), "raised"),
    (4, |_, m| m.clock = None, "unknown"),
    (
        4,
        |_, m| m.timing_assertions = Some(Applicable::NotApplicable("none".into())),
        "not applicable",
    ),
    (5, |_, m| m.duration_ms = Some(1_799_999), "raised"),
    (5, |_, m| m.duration_ms_claimed = None, "unknown"),
    (6, |_, m| m.log = Some(LogScan { lines_read: 10, matches: 1, first: None }), "raised"),
    (6, |_, m| m.log = Some(LogScan::default()), "unknown"),
    (6, |_, m| m.log = None, "unknown"),
    (7, |_, m| m.health.as_mut().expect("set").after = 949, "raised"),
    (7, |_, m| m.health = None, "unknown"),
    (7, |_, m| m.unhealed = vec!["kill9-1: n2 did not come back".into()], "raised"),
    (7, |f, m| (f.fault, m.unhealed) = (Fault::NotPlanned, vec![]), "not applicable"),
    (7, |f, _| f.fault = Fault::NotPlanned, "not applicable"),
    (8, |_, m| m.harness = Some(Applicable::Measured(["a".into(), "b".into()])), "raised"),
    (8, |_, m| m.harness = Some(Applicable::Measured([String::new(), String::new()])), "raised"),
    (8, |_, m| m.harness = None, "unknown"),
    (9, |_, m| m.replicas = Some(Applicable::Measured(2)), "raised"),
    (9, |_, m| m.replicas = None, "unknown"),
    (10, |_, m| m.oracles = Some(vec![OracleKind::FinalState]), "raised"),
    (10, |_, m| m.oracles = Some(vec![]), "unknown"),
    (11, |_, m| m.oracles = Some(vec![OracleKind::Logs, OracleKind::HealthChecks]), "raised"),
    (12, |_, m| m.oracles = Some(vec![OracleKind::Logs, OracleKind::HealthChecks]), "raised"),
    (12, |_, m| m.oracles = None, "unknown"),
    (13, |_, m| m.failovers = Some(Applicable::Measured(1)), "raised"),
    (13, |_, m| m.failovers = Some(Applicable::NotApplicable("one node".into())), "not applicable"),
    (14, |_, m| m.oracles = Some(vec![OracleKind::ErrorMetrics]), "raised"),
    (15, |_, m| m.duration_ms = Some(60_000), "raised"),
    (15, |_, m| m.duration_ms_hardening = None, "unknown"),
    (
        16,
        |_, m| {
            m.partitions = Some(Applicable::Measured(Partitions { symmetric: 5, asymmetric: 0 }))
        },
        "raised",
    ),
    (16, |_, m| m.partitions = None, "unknown"),
    (
        17,
        |_, m| {
            m.retries =
                Some(Applicable::Measured(Retries { client_sends: 70, server_receives: 71 }))
        },
        "raised",
    ),
    (17, |_, m| m.retries = None, "unknown"),
    (18, |_, m| m.clock = Some(Clock::Wall), "raised"),
    (18, |_, m| m.clock = Some(Clock::ServerReceive), "clean"),
    (19, |_, m| m.topologies = Some(Applicable::Measured(Topologies { run: 1 })), "raised"),
    (20, |f, _| f.seeds_agreeing = 2, "raised"),
    (
        21,
        |_, m| m.surfaces = Some(Applicable::Measured(Surfaces { declared: 1, exercised: 1 })),
        "raised",
    ),
    (
        21,
        |_, m| m.surfaces = Some(Applicable::Measured(Surfaces { declared: 4, exercised: 3 })),
        "raised",
    ),
    (
        22,
        |_, m| m.controls = Some(Applicable::Measured(Controls { positive: 9, negative: 0 })),
        "raised",
    ),
    (23, |_, m| m.groups = Some(Applicable::Measured(Groups { broken_down: 1 })), "raised"),
    (23, |_, m| m.groups = None, "unknown"),
];

/// A fault of which one side stood still: 0 the injector, 1 the victim.
fn still(side: usize) -> Fault {
    let quiet = Signal::counted("nothing", 7, 7, 7);
    let landing = match side {
        0 => Landing { injector: quiet, ..landed() },
        _ => Landing { victim: quiet, ..landed() },
    };
    planned(vec![landed(), landing])
}

#[test]
fn each_item_is_computed_from_numbers() {
    for item in 0..24 {
        check(item, |_, _| (), "clean");
        assert!(CASES.iter().any(|(at, _, _)| *at == item), "item {item} has no row");
    }
    for &(item, change, expected) in CASES {
        check(item, change, expected);
    }
}

#[test]
fn what_nobody_measured_is_unknown_and_no_pass() {
    let mut facts = all_good();
    facts.audits = Audits::of(&facts, &good());
    assert_eq!(verdict(&Facts::Ran(Box::new(facts.clone()))), Verdict::PassHardening);
    facts.audits = Audits::of(&facts, &Measured::default());
    let unknown = |check: &&Check| check.word() == "unknown";
    // The landing and the seeds are facts of the run itself.
    assert_eq!(facts.audits.red_flags.iter().filter(unknown).count(), 8);
    assert_eq!(facts.audits.weak_oracles.iter().filter(unknown).count(), 13);
    assert_eq!(verdict(&Facts::Ran(Box::new(facts))), Verdict::PartialSurface);
    assert_eq!((RedFlag::ALL.len(), WeakOracle::ALL.len()), (10, 14));
}

//! Checks in production. Counters are of the whole process, so each test has its own invariants.

use assay_invariant::{Counted, Kind, Policy, Registry, check, invariants, prometheus};

/// What is checked.
#[derive(Debug)]
pub struct Tank {
    litres: i32,
}

macro_rules! tank {
    ($module:ident) => {
        mod $module {
            use super::{Tank, invariants};
            invariants! {
                /// What a tank promises.
                pub registry Promises for Tank;

                /// Low.
                state LOW {
                    id: "TK-1",
                    tla: "TK1_NotNegative",
                    says: "There is no less than nothing.",
                    see: "tank.md",
                    holds: |tank| tank.litres >= 0,
                    shows: |tank| { litres: tank.litres, missing: -tank.litres },
                }

                /// Moves.
                action MOVES {
                    id: "TK-\"2\"",
                    says: "It gets emptier.",
                    see: "tank.md",
                    holds: |before, after| after.litres < before.litres,
                    policy: Log,
                }

                /// Ends.
                eventually EMPTY {
                    id: "TK-3",
                    says: "It gets empty.",
                    see: "tank.md",
                    holds: |tank| tank.litres == 0,
                }
            }
        }
    };
}

tank!(counted);
#[test]
fn passes_and_violations_are_counted_without_anybody_installing_anything() {
    use counted::{EMPTY, LOW, MOVES};
    for litres in [3, 0, -1, 2] {
        _ = check!(LOW, Tank { litres });
    }
    assert_eq!((LOW.passes(), LOW.violations(), LOW.skipped()), (3, 1, 0));
    let (full, half) = (Tank { litres: 2 }, Tank { litres: 1 });
    assert_eq!(check!(MOVES, full => half), Ok(()));
    assert_eq!(check!(MOVES, &half => &full), Ok(()), "its policy is to log");
    assert_eq!((MOVES.passes(), MOVES.violations()), (1, 1));
    _ = check!(EMPTY, full);
    assert_eq!((EMPTY.passes(), EMPTY.violations()), (0, 0), "not yet is nothing");
    _ = check!(EMPTY, Tank { litres: 0 });
    assert_eq!(EMPTY.passes(), 1);
}

tank!(explained);
#[test]
fn a_violation_says_what_is_not_true_and_shows_the_values() {
    let violation = check!(explained::LOW, Tank { litres: -4 }).unwrap_err();
    let text = "TK-1 violated: There is no less than nothing. litres = -4, missing = 4";
    assert_eq!((violation.to_string().as_str(), violation.see), (text, "tank.md"));
    explained::MOVES.set_policy(Policy::Return);
    let tank = |litres| Tank { litres };
    let violation = check!(explained::MOVES, tank(1) => tank(2)).unwrap_err();
    let (before, after) = (&violation.values[0], &violation.values[1]);
    assert_eq!((before.0, after.0), ("before", "after"), "without `shows`, the states");
    assert_eq!(after.1, "Tank { litres: 2 }");
}

tank!(sampled);
#[test]
fn sampling_takes_the_first_and_every_nth_and_counts_the_rest() {
    for _ in 0..25 {
        _ = check!(sampled::LOW, Tank { litres: 1 }, every 10);
    }
    assert_eq!((sampled::LOW.passes(), sampled::LOW.skipped()), (3, 22));
    // Another place counts for itself; every 0 is every time.
    _ = check!(sampled::LOW, Tank { litres: -1 }, every 0);
    assert_eq!(sampled::LOW.violations(), 1);
}

tank!(panics);
#[test]
fn the_policy_decides_what_a_violation_does() {
    use panics::{LOW, Promises};
    let bad = Tank { litres: -1 };
    assert_eq!(LOW.policy(), Policy::Return);
    assert!(check!(LOW, bad).is_err());
    Promises::set_policy(Policy::Log);
    assert_eq!(check!(LOW, bad), Ok(()));
    Promises::set_policy(Policy::Panic);
    let panicked = std::panic::catch_unwind(|| check!(LOW, Tank { litres: -1 }));
    let message = panicked.expect_err("it panics");
    let message = message.downcast_ref::<String>().expect("a text");
    assert!(message.starts_with("TK-1 violated"), "{message}");
    assert_eq!(LOW.violations(), 3, "all of them count");
}

tank!(exported);
tank!(exported_too);
#[test]
fn prometheus_gets_a_line_for_each_even_if_nothing_was_checked() {
    for _ in 0..2 {
        _ = check!(exported::LOW, Tank { litres: 1 });
    }
    _ = check!(exported::LOW, Tank { litres: -1 });
    let expected = "\
# HELP assay_invariant_passes_total Checks of an invariant that passed.
# TYPE assay_invariant_passes_total counter
assay_invariant_passes_total{invariant=\"TK-1\"} 2
assay_invariant_passes_total{invariant=\"TK-\\\"2\\\"\"} 0
assay_invariant_passes_total{invariant=\"TK-3\"} 0
# HELP assay_invariant_violations_total Checks of an invariant that did not pass.
# TYPE assay_invariant_violations_total counter
assay_invariant_violations_total{invariant=\"TK-1\"} 1
";
    let text = exported::Promises::prometheus();
    assert!(text.starts_with(expected), "{text}");
    let both: Vec<&dyn Counted> = vec![&exported::LOW, &exported_too::MOVES];
    assert_eq!(prometheus(both).lines().count(), 3 * 4);
}

tank!(listed);
#[test]
fn a_registry_is_complete_and_knows_kinds_and_names() {
    use listed::Promises;
    let all: Vec<_> = Promises::ALL.iter().map(|one| (one.id, one.kind(), one.tla)).collect();
    assert_eq!(
        all,
        [
            ("TK-1", Kind::State, "TK1_NotNegative"),
            ("TK-\"2\"", Kind::Action, ""),
            ("TK-3", Kind::Eventually, "")
        ]
    );
    assert!(Promises::find("TK-3").is_some_and(|one| std::ptr::eq(one, &listed::EMPTY)));
    assert!(Promises::find("TK-4").is_none());
}

tank!(threads);
#[test]
fn no_check_of_many_threads_is_lost() {
    std::thread::scope(|scope| {
        for litres in -2..2 {
            scope.spawn(move || {
                for _ in 0..1000 {
                    _ = check!(threads::LOW, Tank { litres });
                }
            });
        }
    });
    assert_eq!((threads::LOW.passes(), threads::LOW.violations()), (2000, 2000));
}

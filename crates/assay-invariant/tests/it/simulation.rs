//! Walks, replays and shrinking, with brute force as the oracle.

use super::{LampPromises, Lamps, Row, Switch};
use assay_invariant::{Broken, Machine, Registry, Simulation, shrink};
use proptest::prelude::*;
use std::cell::Cell;

fn failure(count: u8, seeds: std::ops::Range<u64>) -> assay_invariant::Failure<Switch> {
    let walks = Simulation::new(Row { count, flaw: true }, "cargo test lamps").seeds(seeds);
    match walks.run::<LampPromises>() {
        Err(Broken::Violated(failure)) => *failure,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_machine_without_a_flaw_passes_and_its_walks_end() {
    let walks = Simulation::new(Row { count: 5, flaw: false }, "").steps(500).seeds(0..50);
    let summary = walks.run::<LampPromises>().unwrap();
    assert_eq!((summary.walks, summary.ended), (50, 50));
    assert!(summary.steps > 50 * 2);
}

#[test]
fn a_failure_has_its_seed_a_short_walk_and_a_line_that_repeats_it() {
    let found = failure(3, 0..100);
    assert_eq!(found.violation.id, "LP-1");
    assert_eq!(found.shrunk, [Switch::Two, Switch::Two], "the shortest there is");
    assert_eq!(found.replay, format!("ASSAY_SEED={} cargo test lamps", found.seed));
    assert_eq!(found, failure(3, found.seed..found.seed + 1), "a replay is identical");
    let text = found.to_string();
    let wanted = "LP-1 violated: No more lamps are on than there are. on = 4, count = 3";
    assert!(text.starts_with(&format!("seed {}: {wanted}", found.seed)), "{text}");
    assert!(text.ends_with(&found.replay), "{text}");
}

#[test]
fn a_walk_that_is_over_without_what_should_have_come_fails() {
    struct Stuck;
    impl Machine for Stuck {
        type State = Lamps;
        type Action = Switch;
        fn start(&self) -> Lamps {
            Lamps { on: 0, blown: 0, count: 3 }
        }
        fn actions(&self, lamps: &Lamps) -> Vec<Switch> {
            if lamps.on < 2 { vec![Switch::On, Switch::Look] } else { vec![] }
        }
        fn next(&self, lamps: &Lamps, switch: &Switch) -> Option<Lamps> {
            Row { count: 3, flaw: false }.next(lamps, switch)
        }
    }
    let Err(Broken::Violated(failure)) = Simulation::new(Stuck, "").run::<LampPromises>() else {
        panic!("LP-3 does not hold");
    };
    assert_eq!((failure.violation.id, failure.shrunk.len()), ("LP-3", 2));
    // A walk that was cut short says nothing about what comes later.
    let cut = Simulation::new(Stuck, "").steps(1).run::<LampPromises>().unwrap();
    assert_eq!(cut.ended, 0);
}

#[test]
fn a_machine_that_does_two_things_with_one_seed_is_found_out() {
    struct Moody(Cell<u8>);
    impl Machine for Moody {
        type State = Lamps;
        type Action = Switch;
        fn start(&self) -> Lamps {
            Lamps { on: 0, blown: 0, count: 9 }
        }
        fn actions(&self, lamps: &Lamps) -> Vec<Switch> {
            if lamps.on < 9 { vec![Switch::On] } else { vec![] }
        }
        fn next(&self, lamps: &Lamps, _: &Switch) -> Option<Lamps> {
            self.0.set(self.0.get().wrapping_add(1));
            Some(Lamps { on: lamps.on + 1, blown: u8::from(self.0.get() > 12), ..lamps.clone() })
        }
    }
    let moody = Simulation::new(Moody(Cell::new(0)), "");
    let Err(broken @ Broken::Unsteady(_)) = moody.run::<LampPromises>() else {
        panic!("the second walk differs");
    };
    assert!(broken.to_string().starts_with("seed 0 did two different things"), "{broken}");
}

/// The slow twin: what a list of actions comes to, those that are not possible left out.
fn fails(row: &Row, actions: &[Switch]) -> bool {
    let mut lamps = row.start();
    for action in actions {
        if row.actions(&lamps).contains(action) {
            lamps = row.next(&lamps, action).expect("it is possible");
        }
        if lamps.on > lamps.count {
            return true;
        }
    }
    false
}

fn subsequences(actions: &[Switch]) -> impl Iterator<Item = Vec<Switch>> {
    (0..1u32 << actions.len()).map(move |mask| {
        let kept = actions.iter().enumerate().filter(|(at, _)| mask & (1 << at) != 0);
        kept.map(|(_, action)| *action).collect()
    })
}

fn switches() -> impl Strategy<Value = Vec<Switch>> {
    let one = prop::sample::select(vec![Switch::On, Switch::Two, Switch::Blow, Switch::Look]);
    prop::collection::vec(one, 0..10)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn shrinking_keeps_the_failure_and_leaves_nothing_that_could_go(
        actions in switches(), count in 1u8..6,
    ) {
        let row = Row { count, flaw: true };
        let short = shrink::<Row, LampPromises>(&row, &actions, "LP-1");
        if !fails(&row, &actions) {
            prop_assert_eq!(short, actions);
            return Ok(());
        }
        prop_assert!(fails(&row, &short));
        prop_assert!(subsequences(&actions).any(|other| other == short));
        for leave in 0..short.len() {
            let mut fewer = short.clone();
            fewer.remove(leave);
            prop_assert!(!fails(&row, &fewer), "{:?} is enough of {:?}", fewer, short);
        }
    }

    #[test]
    fn a_walk_is_a_function_of_its_seed_and_only_does_what_is_possible(seed in any::<u64>()) {
        let row = Row { count: 7, flaw: true };
        let walks = Simulation::new(row.clone(), "").steps(40);
        let trace = walks.walk::<LampPromises>(seed);
        prop_assert_eq!(&trace, &walks.walk::<LampPromises>(seed));
        let mut lamps = row.start();
        for action in &trace.actions {
            prop_assert!(row.actions(&lamps).contains(action));
            prop_assert!(lamps.on <= lamps.count, "it went on after a violation");
            lamps = row.next(&lamps, action).expect("it is possible");
        }
        let broken = LampPromises::ALL.iter().any(|one| one.judge(None, &lamps).is_some());
        prop_assert_eq!(trace.violation.is_some(), broken);
    }
}

//! The same declarations as properties of Stateright.

use super::{LampPromises, Lamps, Row, Switch};
use assay_invariant::Machine;
use assay_invariant::stateright::{States, Steps, explore, properties};
use stateright::{Checker, Expectation, Model};
use std::collections::{BTreeSet, HashSet};

/// The slow twin: all states, by hand.
fn reachable(row: &Row) -> usize {
    let mut seen = HashSet::new();
    let mut open = vec![row.start()];
    while let Some(lamps) = open.pop() {
        if seen.insert(lamps.clone()) {
            let actions = row.actions(&lamps);
            open.extend(actions.iter().filter_map(|action| row.next(&lamps, action)));
        }
    }
    seen.len()
}

#[test]
fn a_model_has_the_states_of_its_machine_and_the_properties_of_its_registry() {
    for count in 1..8 {
        let row = Row { count, flaw: false };
        let expected = reachable(&row);
        let model: States<Row, LampPromises> = States::new(row);
        let named: Vec<_> =
            model.properties().into_iter().map(|p| (p.name, p.expectation)).collect();
        assert!(matches!(
            named[..],
            [("LP-1", Expectation::Always), ("LP-3", Expectation::Eventually)]
        ));
        let checker = model.checker().spawn_bfs().join();
        assert_eq!(checker.unique_state_count(), expected);
        checker.assert_properties();
    }
}

#[test]
fn a_flaw_is_discovered_under_its_id() {
    let model: States<Row, LampPromises> = States::new(Row { count: 3, flaw: true });
    model.checker().spawn_bfs().join().assert_any_discovery("LP-1");
    let explored = explore::<Row, LampPromises>(Row { count: 3, flaw: true });
    assert_eq!(explored.states, reachable(&Row { count: 3, flaw: true }));
    let (id, way) = &explored.broken[0];
    assert_eq!((*id, way.len()), ("LP-1", 2), "{way:?}");
}

#[test]
fn invariants_of_actions_are_checked_on_steps() {
    /// A fuse that mends itself.
    #[derive(Clone)]
    struct Mends;
    impl Machine for Mends {
        type State = Lamps;
        type Action = Switch;
        fn start(&self) -> Lamps {
            Lamps { on: 0, blown: 0, count: 2 }
        }
        fn actions(&self, lamps: &Lamps) -> Vec<Switch> {
            Row { count: 2, flaw: false }.actions(lamps)
        }
        fn next(&self, lamps: &Lamps, switch: &Switch) -> Option<Lamps> {
            let mut next = Row { count: 2, flaw: false }.next(lamps, switch)?;
            if *switch == Switch::On {
                next.blown = 0;
            }
            Some(next)
        }
    }
    let steps: Steps<Mends, LampPromises> = Steps::new(Mends);
    let checker = steps.checker().spawn_bfs().join();
    let found: BTreeSet<&str> = checker.discoveries().into_keys().collect();
    assert_eq!(found, BTreeSet::from(["LP-2"]));
    let honest: Steps<Row, LampPromises> = Steps::new(Row { count: 2, flaw: false });
    honest.checker().spawn_bfs().join().assert_properties();
}

#[test]
fn a_model_of_ones_own_gets_the_same_properties() {
    struct Own;
    impl Model for Own {
        type State = Lamps;
        type Action = Switch;
        fn init_states(&self) -> Vec<Lamps> {
            vec![Row { count: 2, flaw: true }.start()]
        }
        fn actions(&self, lamps: &Lamps, actions: &mut Vec<Switch>) {
            actions.extend(Row { count: 2, flaw: true }.actions(lamps));
        }
        fn next_state(&self, lamps: &Lamps, switch: Switch) -> Option<Lamps> {
            Row { count: 2, flaw: true }.next(lamps, &switch)
        }
        fn properties(&self) -> Vec<stateright::Property<Self>> {
            properties::<Self, LampPromises>()
        }
    }
    Own.checker().spawn_bfs().join().assert_any_discovery("LP-1");
}

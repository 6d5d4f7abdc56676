//! specs/Desk.tla in Rust: the same actions over the same variables, with the predicates of the
//! crate. The machine is explored in full, and real campaigns must be behaviours of it.

mod actions;

use super::machine::{answer, begin};
use actions::{DeskModel, Step};
use assay_desk::apply;
use assay_desk::event::{Event, Terminal};
use assay_desk::invariants::{DeskPromises, Tree, View};
use assay_desk::state::{Phase, State};
use assay_invariant::stateright::{States, Steps};
use assay_invariant::{Conformance, Registry, Simulation};
use proptest::prelude::*;
use stateright::{Checker, Model};

/// The distinct states that TLC finds with specs/Desk_small.cfg; specs/README.md says so, too.
const SMALL: usize = 3_557;
/// And with specs/Desk.cfg.
const FULL: usize = 73_802;

#[test]
fn the_model_has_as_many_states_as_the_specification_and_keeps_every_promise() {
    for (model, states) in [(DeskModel::small(), SMALL), (DeskModel::full(), FULL)] {
        let checked: States<DeskModel, DeskPromises> = States::new(model);
        let checked = checked.checker().spawn_bfs().join();
        assert_eq!(checked.unique_state_count(), states);
        checked.assert_properties();
    }
    let steps: Steps<DeskModel, DeskPromises> = Steps::new(DeskModel::small());
    steps.checker().spawn_bfs().join().assert_properties();
    let readme = include_str!("../../../../specs/README.md");
    assert!(readme.contains("3,557") && readme.contains("73,802"), "the table says otherwise");
}

#[test]
fn every_promise_can_be_broken() {
    // Each by an edit of an action, those that specs/README.md names.
    for id in DeskPromises::ALL.iter().map(|promise| promise.id) {
        let model = DeskModel::breaking(id);
        let states: States<DeskModel, DeskPromises> = States::new(model.clone());
        let steps: Steps<DeskModel, DeskPromises> = Steps::new(model);
        let found = states.checker().spawn_bfs().join().discovery(id).is_some()
            || steps.checker().spawn_bfs().join().discovery(id).is_some();
        assert!(found, "nothing breaks {id}");
    }
}

#[test]
fn walks_through_the_model_keep_every_promise_and_end() {
    let walks = Simulation::new(DeskModel::full(), "cargo test -p assay-desk walks");
    let walks = walks.seeds(0..200).steps(400).seed_from_environment();
    let summary = walks.run::<DeskPromises>().unwrap_or_else(|broken| panic!("{broken}"));
    assert_eq!(summary.ended, summary.walks, "every campaign ends");
}

/// What a campaign of the real machine looks like after each event, without what changes nothing.
fn views(mut state: State, choices: &[u8], abort: Option<usize>) -> Vec<View> {
    let mut views = vec![View::of(&state)];
    for at in 0.. {
        let event = match &state.phase {
            Phase::Ended(_) => break,
            Phase::Out(..) => answer(&state, state.next(), choices[at % choices.len()]),
            _ if abort.is_some_and(|when| at >= when) => {
                Event::Ended(Terminal::Aborted { reason: "enough".to_string() })
            }
            _ => answer(&state, state.next(), choices[at % choices.len()]),
        };
        state = apply(state, &event).unwrap_or_else(|refusal| panic!("{refusal}"));
        let view = View::of(&state);
        if views.last() != Some(&view) {
            views.push(view);
        }
    }
    views
}

fn conforms(views: &[View]) -> Result<(), String> {
    let mut trees: Vec<Tree> = views.iter().map(|view| view.at).collect();
    trees.sort();
    trees.dedup();
    let model = DeskModel::of(&views[0], trees);
    let same = |seen: &View, _: &View, _: &Step, after: &View| seen == after;
    let followed = Conformance::new(&model, &same).follow::<DeskPromises>(views[1..].to_vec());
    followed.map(|_| ()).map_err(|divergence| divergence.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn every_real_campaign_is_a_behaviour_of_the_model(
        choices in proptest::collection::vec(any::<u8>(), 1..200),
        stories in 1usize..4,
        kind in 0usize..3,
        abort in proptest::option::of(0usize..120),
    ) {
        let (risk, consensus) =
            [("LOW", "critical"), ("MEDIUM", "all"), ("CRITICAL", "final")][kind];
        let (state, _) = begin(stories, risk, consensus);
        let views = views(state, &choices, abort);
        prop_assert_eq!(conforms(&views), Ok(()));
    }
}

#[test]
fn a_campaign_that_leaves_out_a_step_is_none_of_the_model() {
    let (state, _) = begin(2, "LOW", "critical");
    let views = views(state, &[super::machine::WELL], None);
    assert_eq!(conforms(&views), Ok(()));
    for left_out in 1..views.len() - 1 {
        let mut fewer = views.clone();
        fewer.remove(left_out);
        assert!(conforms(&fewer).is_err(), "without {:?}", views[left_out]);
    }
}

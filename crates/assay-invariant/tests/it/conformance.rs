//! Recorded events against the model, with the enumeration of all behaviours as the oracle.

use super::{LampPromises, Lamps, Row, Switch};
use assay_invariant::{Conformance, Divergence, Machine};
use proptest::prelude::*;

/// What was recorded: how many lamps were on after something happened, and not what happened.
fn means(seen: &u8, _: &Lamps, action: &Switch, after: &Lamps) -> bool {
    *action != Switch::Blow && after.on == *seen
}

fn hidden(action: &Switch) -> bool {
    *action == Switch::Blow
}

#[test]
fn events_must_be_enabled_actions_of_the_model() {
    let row = Row { count: 4, flaw: false };
    let seen = Conformance::new(&row, &means);
    let done = seen.follow::<LampPromises>([1, 3, 3, 4]).unwrap();
    assert_eq!((done.events, done.states.len()), (4, 1));
    let divergence = seen.follow::<LampPromises>([1, 4]).unwrap_err();
    let Divergence::Impossible { at, event, enabled } = &divergence else {
        panic!("{divergence}");
    };
    assert_eq!((*at, event.as_str(), enabled.len()), (1, "4", 4));
    let text = "event 1 is nothing the model can do: 4; possible were: Blow, Look, On, Two";
    assert_eq!(divergence.to_string(), text);
    assert!(seen.follow::<LampPromises>([4]).is_err());
    assert!(seen.follow::<LampPromises>([]).is_ok());
}

#[test]
fn what_leaves_no_event_is_found_by_search_and_no_more_often_than_allowed() {
    let row = Row { count: 9, flaw: false };
    let plain = Conformance::new(&row, &means);
    assert!(plain.follow::<LampPromises>([2, 4, 1]).is_err(), "without a blown fuse, never");
    let once = Conformance::new(&row, &means).hidden(&hidden, 1);
    assert!(once.follow::<LampPromises>([2, 4, 1, 2, 1]).is_ok());
    assert!(once.follow::<LampPromises>([2, 4, 1, 2, 1, 3, 1]).is_err(), "a third fuse");
}

#[test]
fn a_recording_that_breaks_an_invariant_diverges_by_its_name() {
    let row = Row { count: 3, flaw: true };
    let seen = Conformance::new(&row, &means);
    let Err(Divergence::Violated { at, violation }) = seen.follow::<LampPromises>([2, 4]) else {
        panic!("LP-1 is broken");
    };
    assert_eq!((at, violation.id), (1, "LP-1"));
}

#[test]
fn too_many_possibilities_are_an_error_and_no_hang() {
    let row = Row { count: 200, flaw: false };
    let anything = |_: &(), _: &Lamps, _: &Switch, _: &Lamps| true;
    let vague = Conformance::new(&row, &anything).states_max(20);
    let Err(Divergence::TooMany { limit, .. }) = vague.follow::<LampPromises>([(); 40]) else {
        panic!("there are more than 20");
    };
    assert_eq!(limit, 20);
}

/// The slow twin: every behaviour of the model, one by one.
fn possible(row: &Row, lamps: &Lamps, events: &[u8], blown: usize) -> bool {
    let Some((seen, rest)) = events.split_first() else { return true };
    row.actions(lamps).iter().any(|action| {
        let next = row.next(lamps, action).expect("it is possible");
        match hidden(action) {
            true => blown > 0 && possible(row, &next, events, blown - 1),
            false => next.on == *seen && possible(row, &next, rest, 1),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn following_all_states_at_once_agrees_with_trying_all_behaviours(
        events in prop::collection::vec(1u8..5, 0..7), count in 2u8..6,
    ) {
        let row = Row { count, flaw: false };
        let seen = Conformance::new(&row, &means).hidden(&hidden, 1);
        let followed = seen.follow::<LampPromises>(events.clone()).is_ok();
        prop_assert_eq!(followed, possible(&row, &row.start(), &events, 1));
    }
}

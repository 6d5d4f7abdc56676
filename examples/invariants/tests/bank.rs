//! The example does what its page says.

use assay_example_invariants::{
    Action, BK1, BankModel, BankPromises, Delivery, in_production, in_simulation, in_the_model,
};
use assay_invariant::{Broken, Conformance, Divergence, Simulation};

/// What TLC finds with specs/Bank.cfg.
const STATES: usize = 61;

fn model(delivery: Delivery) -> BankModel {
    BankModel { transfers: 2, delivery }
}

#[test]
fn an_honest_bank_keeps_its_promises_in_every_state() {
    let explored = in_the_model(model(Delivery::Once));
    assert_eq!((explored.states, explored.broken), (STATES, Vec::new()));
    let summary = in_simulation(model(Delivery::Once)).unwrap();
    assert_eq!((summary.walks, summary.ended), (100, 100));
}

#[test]
fn the_model_checker_finds_a_short_way_to_two_credits() {
    let explored = in_the_model(model(Delivery::Twice));
    let (_, way) = explored.broken.iter().find(|(id, _)| *id == BK1.id).expect("BK-1 is found");
    assert!(matches!(way.last(), Some(Action::Retry(_))), "{way:?}");
    assert!((3..=4).contains(&way.len()), "{way:?}");
}

#[test]
fn simulation_prints_the_seed_and_its_replay_is_identical() {
    let run = |seeds| {
        let model = BankModel { transfers: 8, delivery: Delivery::Twice };
        let walks = Simulation::new(model, "cargo test").steps(50).seeds(seeds);
        match walks.run::<BankPromises>() {
            Err(Broken::Violated(failure)) => *failure,
            other => panic!("the defect is found: {other:?}"),
        }
    };
    let first = run(0..100);
    println!("{first}");
    assert_eq!(first.violation.id, "BK-1");
    assert!(first.shrunk.len() < first.actions.len(), "something could be left out");
    assert_eq!(first.replay, format!("ASSAY_SEED={} cargo test", first.seed));
    let again = run(first.seed..first.seed + 1);
    assert_eq!(first, again);
}

#[test]
fn production_counts_it_without_a_recorder_and_goes_on() {
    let text = in_production().expect("the policy is to log");
    println!("{text}");
    let line = text.lines().find(|line| line.contains("violations_total{invariant=\"BK-1\"}"));
    let count: u64 = line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0);
    assert!(count >= 2, "{text}");
}

#[test]
fn a_recording_with_a_second_credit_is_none_of_the_honest_bank() {
    // What was recorded: the name of the event and the balances after it.
    let recorded = |retried: [i64; 2]| {
        [("sent", [0, 1]), ("arrived", [0, 2]), ("sent again", retried), ("confirmed", retried)]
    };
    let honest = model(Delivery::Once);
    let conformance =
        Conformance::new(&honest, &|(name, accounts): &(&str, [i64; 2]), _, action, after| {
            let means = match action {
                Action::Send(_) => "sent",
                Action::Arrive(_) => "arrived",
                Action::Retry(_) => "sent again",
                Action::Confirm(_) => "confirmed",
            };
            means == *name && after.accounts == *accounts
        });
    assert!(conformance.follow::<BankPromises>(recorded([0, 2])).is_ok());
    let divergence = conformance.follow::<BankPromises>(recorded([0, 3])).unwrap_err();
    println!("{divergence}");
    assert!(matches!(divergence, Divergence::Impossible { at: 2, .. }));
}

//! Budgets, tiers and landings.

use crate::samples::landed;
use assay_verdict::{
    Budget, BudgetError, Budgets, Dimension, Landing, LandingState, Release, Signal, Tier,
    landing_of,
};

fn budget([config_size, duration_ms, faults, seeds]: [u64; 4]) -> Budget {
    Budget { config_size, duration_ms, faults, seeds }
}

fn budgets() -> Budgets {
    Budgets {
        smoke: budget([2, 60_000, 1, 1]),
        hardening: budget([8, 1_800_000, 5, 3]),
        release: Release::Budget(budget([8, 86_400_000, 5, 30])),
    }
}

#[test]
fn a_tier_is_met_when_every_dimension_is() {
    let cases = [
        ([8, 86_400_000, 5, 30], Tier::Release),
        ([8, 86_399_999, 5, 30], Tier::Hardening),
        ([8, 1_800_000, 5, 3], Tier::Hardening),
        ([7, 1_800_000, 5, 3], Tier::Smoke),
        ([8, 1_799_999, 5, 3], Tier::Smoke),
        ([8, 1_800_000, 4, 3], Tier::Smoke),
        ([8, 1_800_000, 5, 2], Tier::Smoke),
        ([2, 60_000, 1, 1], Tier::Smoke),
        ([2, 60_000, 0, 1], Tier::None),
        ([u64::MAX, u64::MAX, u64::MAX, 0], Tier::None),
    ];
    for (run, tier) in cases {
        assert_eq!(budgets().tier_met(&budget(run)), tier, "{run:?}");
    }
    let no_release = Budgets { release: Release::not_provided("why", "when"), ..budgets() };
    assert_eq!(no_release.tier_met(&budget([u64::MAX; 4])), Tier::Hardening);
}

#[test]
fn hardening_asks_for_more_than_smoke_everywhere() {
    assert_eq!(budgets().check(), Ok(()));
    let mut flat = budgets();
    flat.hardening.seeds = 1;
    flat.hardening.faults = 0;
    let weak = vec![Dimension::Faults, Dimension::Seeds];
    assert_eq!(flat.check(), Err(BudgetError::HardeningNotStronger(weak)));
    assert!(flat.check().is_err_and(|error| error.to_string().contains("faults, seeds")));
    assert!(!flat.hardening.strictly_stronger(&flat.smoke));
}

#[test]
fn a_fault_lands_when_both_sides_move() {
    let signal = |before, during, moves_by_min| Signal {
        what: "x".into(),
        before,
        during,
        after: None,
        moves_by_min,
    };
    let cases = [
        (signal(Some(0), Some(1), 0), LandingState::Landed),
        (signal(Some(3), Some(1), 1), LandingState::Landed),
        (signal(Some(0), Some(0), 0), LandingState::Missed),
        (signal(Some(0), Some(9), 10), LandingState::Missed),
        (signal(Some(0), Some(10), 10), LandingState::Landed),
        (signal(None, Some(9), 1), LandingState::Unknown),
        (signal(Some(0), None, 1), LandingState::Unknown),
        (signal(Some(u64::MAX), Some(0), u64::MAX), LandingState::Landed),
    ];
    for (side, expected) in cases {
        for landing in [
            Landing { injector: side.clone(), ..landed() },
            Landing { victim: side.clone(), ..landed() },
        ] {
            assert_eq!(landing.state(), expected, "{}", landing.evidence());
            assert_eq!(landing_of(&[landed(), landing]), expected);
        }
    }
    assert_eq!(landing_of(&[]), LandingState::Unknown);
    let text = landed().evidence();
    assert!(text.contains("0 → 14712 → 14712") && text.contains("0 → 142 → 0"), "{text}");
}

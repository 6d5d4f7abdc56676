//! Schedules are a function of their entries, the length of the run and the seed.

use assay_nemesis::schedule::{Entry, ScheduleError, Trigger, WINDOWS_MAX, When, expand};
use proptest::prelude::*;

fn entry(when: When, hold_ms: u64, fault: &'static str) -> Entry<&'static str> {
    Entry { when, hold_ms, fault }
}

fn shown(entries: &[Entry<&'static str>], run_ms: u64) -> Result<String, ScheduleError> {
    let planned = expand(entries, run_ms, 1)?;
    let one = |window: &assay_nemesis::schedule::Planned<&str>| match &window.trigger {
        Trigger::At(ms) => format!("{ms}+{} {}", window.hold_ms, window.fault),
        Trigger::On { event, count } => {
            format!("{count}*{event}+{} {}", window.hold_ms, window.fault)
        }
    };
    Ok(planned.iter().map(one).collect::<Vec<_>>().join(", "))
}

#[test]
fn entries_become_windows_in_the_order_of_time_then_of_events() {
    let acks = When::On { event: "ack".to_string(), count: 1_000 };
    let every = When::Every { from_ms: 100, period_ms: 300 };
    let entries = [
        entry(acks, 50, "kill9"),
        entry(When::At(vec![700, 200]), 100, "cut"),
        entry(every, 100, "pause"),
    ];
    let expected = "100+100 pause, 200+100 cut, 400+100 pause, 700+100 cut, 700+100 pause, \
                    1000*ack+50 kill9";
    assert_eq!(shown(&entries, 900).as_deref(), Ok(expected));
}

#[test]
fn windows_that_do_not_fit_are_refused() {
    let outside = |from_ms, hold_ms, run_ms| ScheduleError::Outside { from_ms, hold_ms, run_ms };
    let every = |from_ms, period_ms| When::Every { from_ms, period_ms };
    let random = |count, from_ms| When::Random { count, from_ms };
    let on = |count| When::On { event: "e".to_string(), count };
    let cases = [
        (When::At(vec![0, 91]), 10, 100, outside(91, 10, 100)),
        (When::At(vec![u64::MAX]), 10, 100, outside(u64::MAX, 10, 100)),
        (every(95, 20), 10, 100, outside(95, 10, 100)),
        (every(0, 10), 10, 100, ScheduleError::Period { hold_ms: 10 }),
        (every(0, 1), 0, WINDOWS_MAX as u64, ScheduleError::TooMany),
        (random(11, 0), 10, 100, outside(0, 10, 100)),
        (random(WINDOWS_MAX + 1, 0), 0, 100, ScheduleError::TooMany),
        (on(0), 10, 100, ScheduleError::Count),
    ];
    for (when, hold_ms, run_ms, expected) in cases {
        let found = expand(&[entry(when.clone(), hold_ms, "f")], run_ms, 1);
        assert_eq!(found, Err(expected), "{when:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Random windows are where they may be, do not overlap, and come back with the seed.
    #[test]
    fn random_windows_are_reproducible_and_apart(
        seed: u64,
        count in 1_usize..20,
        from_ms in 0_u64..500,
        hold_ms in 1_u64..100,
        more in 0_u64..5_000,
    ) {
        let run_ms = from_ms + count as u64 * hold_ms + more;
        let one = entry(When::Random { count, from_ms }, hold_ms, "f");
        let planned = expand(std::slice::from_ref(&one), run_ms, seed).expect("there is room");
        prop_assert_eq!(planned.len(), count);
        let starts: Vec<u64> = planned.iter().map(|window| match window.trigger {
            Trigger::At(ms) => ms,
            Trigger::On { .. } => u64::MAX,
        }).collect();
        prop_assert!(starts.iter().all(|at| *at >= from_ms && at + hold_ms <= run_ms));
        prop_assert!(starts.windows(2).all(|pair| pair[0] + hold_ms <= pair[1]));
        let again = expand(std::slice::from_ref(&one), run_ms, seed).expect("there is room");
        prop_assert_eq!(&again, &planned);
        // Another line does not move this one's windows.
        let other = entry(When::Random { count: 3, from_ms: 0 }, 0, "other");
        let both = expand(&[one, other], run_ms, seed).expect("there is room");
        let own: Vec<_> = both.into_iter().filter(|window| window.fault == "f").collect();
        prop_assert_eq!(own, planned);
    }
}

#[test]
fn another_seed_gives_other_times() {
    let random = [entry(When::Random { count: 5, from_ms: 0 }, 10, "f")];
    let planned = |seed| expand(&random, 100_000, seed).expect("there is room");
    assert_ne!(planned(1), planned(2));
}

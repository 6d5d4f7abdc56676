//! From arms to a scenario, from scenarios to a run, from a run to an exit code.

use assay_verdict::{
    BugTag, Exit, Expectation, Family, Outcome, RunVerdict, Severity, Verdict, aggregate,
};

/// Every list of up to `length` verdicts.
fn lists(length: usize) -> Vec<Vec<Verdict>> {
    let mut all = vec![Vec::new()];
    let mut last = all.clone();
    for _ in 0..length {
        last = last
            .iter()
            .flat_map(|list| Verdict::ALL.iter().map(move |next| [&list[..], &[*next]].concat()))
            .collect();
        all.extend(last.iter().cloned());
    }
    all
}

/// The published rule for arms, by names.
fn arms_as_published(arms: &[Verdict]) -> String {
    let names: Vec<&str> = arms.iter().map(|arm| arm.name()).collect();
    if names.contains(&"FAIL-reproducible") {
        return "FAIL-reproducible".into();
    }
    if names.contains(&"FAIL-nondeterministic") {
        return "FAIL-nondeterministic".into();
    }
    if names.iter().all(|name| *name == "NOT-RUN") {
        return "NOT-RUN".into();
    }
    if names.iter().any(|name| *name == "NOT-RUN" || name.starts_with("PARTIAL")) {
        return "PARTIAL-surface".into();
    }
    match names.iter().find(|name| name.starts_with("INCONCLUSIVE")) {
        Some(first) => first.to_string(),
        None if names.contains(&"PASS-smoke") => "PASS-smoke".into(),
        None => "PASS-hardening".into(),
    }
}

#[test]
fn arms_aggregate_as_published_for_every_list_of_up_to_four() {
    use Verdict::*;
    let b13 = aggregate(&[PassHardening, PassSmoke, NotRun, PartialSurface]);
    assert_eq!(b13.verdict, PartialSurface);
    assert!(b13.sentence.contains("1 NOT-RUN arm, 1 PARTIAL arm"), "{}", b13.sentence);
    for arms in lists(4) {
        assert_eq!(aggregate(&arms).verdict.name(), arms_as_published(&arms), "{arms:?}");
    }
}

#[test]
fn no_arm_that_gets_worse_makes_the_whole_better() {
    for arms in lists(3) {
        let before = aggregate(&arms).verdict;
        for at in 0..arms.len() {
            for worse in Verdict::ALL.iter().filter(|v| v.level() < arms[at].level()) {
                let mut changed = arms.clone();
                changed[at] = *worse;
                let after = aggregate(&changed).verdict;
                assert!(after.level() <= before.level(), "{arms:?} -> {changed:?}");
            }
        }
    }
}

#[test]
fn the_published_runs_c1_to_c5() {
    use Verdict::*;
    let mut c1 = vec![InconclusiveFaultNotProven; 9];
    c1.push(FailReproducible);
    let cases: [(&[Verdict], RunVerdict, Exit); 9] = [
        (&c1, RunVerdict::Fail, Exit::Refuted),
        (&[PassHardening, PartialModel], RunVerdict::DoneWithConcerns, Exit::Undecided),
        (&[PassHardening, PassSmoke], RunVerdict::Done, Exit::Upheld),
        (&[InconclusiveEnv, InconclusiveOracleTooWeak], RunVerdict::Inconclusive, Exit::Undecided),
        (&[NotRun, NotRun], RunVerdict::Blocked, Exit::NothingChecked),
        (&[PassHardening, FailNondeterministic], RunVerdict::Fail, Exit::Refuted),
        (&[PassSmoke, NotRun], RunVerdict::DoneWithConcerns, Exit::Undecided),
        (&[NotRun, PartialSurface], RunVerdict::Inconclusive, Exit::Undecided),
        (&[], RunVerdict::Blocked, Exit::NothingChecked),
    ];
    for (scenarios, expected, exit) in cases {
        assert_eq!(RunVerdict::of(scenarios), expected, "{scenarios:?}");
        assert_eq!(expected.exit(), exit);
    }
}

#[test]
fn a_run_is_folded_by_its_strongest_evidence_for_every_list_of_up_to_four() {
    for list in lists(4) {
        let has = |family| list.iter().any(|v: &Verdict| v.family() == family);
        let others = has(Family::Inconclusive) || has(Family::Partial) || has(Family::NotRun);
        let expected = match (has(Family::Fail), has(Family::Pass), others) {
            (true, _, _) => "FAIL",
            (_, true, false) => "DONE",
            (_, true, true) => "DONE_WITH_CONCERNS",
            _ if has(Family::Inconclusive) || has(Family::Partial) => "INCONCLUSIVE",
            _ => "BLOCKED",
        };
        assert_eq!(RunVerdict::of(&list).name(), expected, "{list:?}");
        let mut turned = list.clone();
        turned.reverse();
        assert_eq!(RunVerdict::of(&turned), RunVerdict::of(&list), "the order does not matter");
    }
}

#[test]
fn a_canary_that_fails_says_nothing_and_one_that_does_not_is_a_concern() {
    use Expectation::{Refuted, Upheld};
    use Verdict::*;
    let cases: [(&[(Verdict, Expectation)], RunVerdict); 8] = [
        (&[(PassHardening, Upheld), (FailReproducible, Refuted)], RunVerdict::Done),
        (&[(PassHardening, Upheld), (FailNondeterministic, Refuted)], RunVerdict::Done),
        (&[(PassHardening, Upheld), (PassHardening, Refuted)], RunVerdict::DoneWithConcerns),
        (&[(PassHardening, Upheld), (NotRun, Refuted)], RunVerdict::DoneWithConcerns),
        (&[(FailReproducible, Upheld), (FailReproducible, Refuted)], RunVerdict::Fail),
        (&[(NotRun, Upheld), (NotRun, Refuted)], RunVerdict::Blocked),
        (&[(FailReproducible, Refuted)], RunVerdict::Inconclusive),
        (&[(InconclusiveEnv, Upheld), (FailReproducible, Refuted)], RunVerdict::Inconclusive),
    ];
    for (scenarios, expected) in cases {
        assert_eq!(RunVerdict::expecting(scenarios), expected, "{scenarios:?}");
    }
    for list in lists(4) {
        let plain: Vec<_> = list.iter().map(|verdict| (*verdict, Upheld)).collect();
        assert_eq!(RunVerdict::expecting(&plain), RunVerdict::of(&list), "{list:?}");
    }
}

#[test]
fn answers_of_checkers_form_a_lattice() {
    use Outcome::*;
    for &a in Outcome::ALL {
        assert_eq!(a.merge(a), a);
        for &b in Outcome::ALL {
            assert_eq!(a.merge(b), b.merge(a));
            assert!(a.merge(b) != Upheld || (a, b) == (Upheld, Upheld), "{a} {b}");
            for &c in Outcome::ALL {
                assert_eq!(a.merge(b).merge(c), a.merge(b.merge(c)));
            }
        }
    }
    assert_eq!(Outcome::merge_all([Upheld, Undecided, Refuted]), Refuted);
    assert_eq!(Outcome::merge_all([]), NothingChecked);
}

#[test]
fn exit_codes_are_stable() {
    let codes = Exit::ALL.map(Exit::code);
    assert_eq!(codes, [0, 1, 2, 3, 64, 65, 69, 70, 75, 129, 130, 143]);
    for &a in &Exit::ALL {
        for &b in &Exit::ALL {
            assert!([a, b].contains(&a.worse(b)));
            assert!(a.worse(b) != Exit::Upheld || (a, b) == (Exit::Upheld, Exit::Upheld));
        }
    }
}

#[test]
fn safety_is_p0_unless_someone_argues() {
    assert_eq!(Severity::suggested(&[BugTag::Liveness, BugTag::Safety]), Some(Severity::P0));
    assert_eq!(Severity::suggested(&[BugTag::Liveness]), None);
}

//! Violations that follow a rule, and what is found out about them.

use super::*;
use crate::arm::Depth;
use crate::samples::{clean, machine, refuted, spec};
use assay_verdict::Blame;

const ALL: Allowance = Allowance { reruns: 100, time_ms: u64::MAX, nodes_min: None };

/// Investigates a violation that shows where `rule` says so; also the names of all trials.
fn look_into(
    first: &TrialSpec,
    allowance: Allowance,
    rule: impl Fn(&TrialSpec) -> bool,
) -> (Investigation, Vec<String>) {
    let directory = tempfile::tempdir().expect("a directory");
    let watcher = |_: &RunEvent| {};
    let events = Events::open(&directory.path().join("events.jsonl"), &watcher).expect("a file");
    let mut names = Vec::new();
    let found = {
        let mut run = |name: &str, spec: &TrialSpec, _: Purpose| -> Result<_, TrialError> {
            names.push(name.to_string());
            Ok(if rule(spec) { refuted(spec, 500) } else { clean(spec) })
        };
        investigate(&refuted(first, 500), allowance, &events, &mut run).expect("no trouble")
    };
    (found, names)
}

fn first() -> TrialSpec {
    let mut spec = spec(&machine("linearizability:register"), Depth::Hardening, 1);
    assert_eq!((spec.windows.len(), spec.workload.clients, spec.workload.keys), (3, 8, 4));
    spec.system.nodes = 5;
    spec
}

#[test]
fn a_generator_that_the_client_does_not_know_is_left_out_and_other_draws_are_tried() {
    let directory = tempfile::tempdir().expect("a directory");
    let watcher = |_: &RunEvent| {};
    let events = Events::open(&directory.path().join("events.jsonl"), &watcher).expect("a file");
    let mut run = |name: &str, spec: &TrialSpec, _: Purpose| match name {
        "blame-other-generator" => Err(TrialError::Missing(vec!["it has register".to_string()])),
        _ if spec.windows.is_empty() => Ok(clean(spec)),
        _ => Ok(refuted(spec, 500)),
    };
    let found = investigate(&refuted(&first(), 500), ALL, &events, &mut run).expect("no trouble");
    assert_eq!((found.tells.other_generator.as_deref(), found.reproduced()), (None, true));
    assert_eq!(found.tells.other_draws_show_it, Some(true));
    let untried = |line: &String| line.ends_with("not tried: it has register");
    assert!(found.tells.lines.iter().any(untried), "{:?}", found.tells.lines);
    assert_eq!(found.tells.blame(), Blame::Sut, "{:?}", found.tells);
}

/// What is found out where these reruns cannot be done: a node is not ready in time, say.
fn without(lost: &'static [&str]) -> Investigation {
    let directory = tempfile::tempdir().expect("a directory");
    let watcher = |_: &RunEvent| {};
    let events = Events::open(&directory.path().join("events.jsonl"), &watcher).expect("a file");
    let mut missing = true;
    let mut run = |name: &str, spec: &TrialSpec, _: Purpose| {
        if !lost.contains(&name) {
            return Ok(refuted(spec, 500));
        }
        // One kind of trouble is as good as the other.
        missing = !missing;
        let why = "n2 is not ready".to_string();
        Err(if missing { TrialError::Missing(vec![why]) } else { TrialError::Trouble(why) })
    };
    investigate(&refuted(&first(), 500), ALL, &events, &mut run).expect("the finding is kept")
}

#[test]
fn a_rerun_that_could_not_be_done_shows_nothing_and_the_finding_stays() {
    // What is lost; reruns; whether each fault is known to be needed.
    let rows: [(&[&str], [u64; 2], bool); 6] = [
        (&[], [1, 1], true),
        (&["reproduce-1"], [2, 1], true),
        (&["reproduce-1", "reproduce-2", "reproduce-3"], [3, 0], false),
        (&["reduce-1"], [1, 1], true),
        // Without any fault: now nobody knows whether one is needed.
        (&["reduce-2"], [1, 1], false),
        (&["reproduce-2", "reduce-90"], [1, 1], true),
    ];
    for (lost, reruns, minimal) in rows {
        let found = without(lost);
        assert_eq!((found.reruns, found.minimal), (reruns, minimal), "{lost:?}");
        assert_eq!(found.reproduced(), reruns[1] > 0, "{lost:?}");
        let told = |name: &&&str| {
            found.not_done.contains(&format!("{name} could not be done: n2 is not ready"))
        };
        assert_eq!(lost.iter().filter(told).count(), found.not_done.len(), "{lost:?}");
        let why = found.not_reduced.unwrap_or_default();
        assert_eq!(why.ends_with("of which 3 could not be done"), reruns[1] == 0, "{why}");
    }
}

#[test]
fn a_trial_for_blame_that_could_not_be_done_speaks_for_nobody() {
    let found = without(&["blame-other-generator", "blame-other-draws", "reduce-2"]);
    let tells = &found.tells;
    assert_eq!((tells.other_generator_shows_it, tells.other_draws_show_it), (None, None));
    assert_eq!((tells.shows_without_fault, tells.blame()), (Some(true), Blame::Unknown));
    let untried = tells.lines.iter().filter(|line| line.ends_with("not tried: n2 is not ready"));
    assert_eq!(untried.count(), 2, "{:?}", tells.lines);
}

#[test]
fn what_is_not_needed_is_left_out_and_the_system_is_blamed() {
    let needs = |spec: &TrialSpec| {
        let has_fault = spec.windows.iter().any(|window| window.id == "part-asym-1");
        has_fault && spec.workload.clients >= 4 && spec.workload.mix.contains_key("write")
    };
    let allowance = Allowance { nodes_min: Some(3), ..ALL };
    let (found, names) = look_into(&first(), allowance, needs);
    let smallest = &found.smallest;
    assert_eq!(found.reruns, [1, 1]);
    assert!(found.reproduced() && found.minimal && found.not_reduced.is_none());
    assert_eq!(smallest.duration_ms, 1_500, "a second after the witness");
    let ids: Vec<&str> = smallest.windows.iter().map(|window| window.id.as_str()).collect();
    assert_eq!((ids, smallest.workload.clients), (vec!["part-asym-1"], 4));
    assert_eq!((smallest.workload.keys, smallest.system.nodes), (1, 3));
    assert_eq!(smallest.workload.mix.keys().collect::<Vec<_>>(), ["write"], "one type is enough");
    assert_eq!(found.events, [1_003, 4], "a fault and the three operations of the witness");
    assert_eq!(found.tells.blame(), Blame::Sut, "{:?}", found.tells);
    assert_eq!(found.tells.shows_without_fault, Some(false));
    assert_eq!(found.tells.other_generator.as_deref(), Some("map"), "another, not another seed");
    assert!(!names.contains(&"blame-other-draws".to_string()), "{names:?}");
    let known_good = "the checker passes a known-good and refutes a known-bad history";
    assert_eq!(found.tells.lines[0], known_good, "its own test was run");
}

#[test]
fn the_whole_mix_is_never_taken_for_none() {
    let needs = |spec: &TrialSpec| {
        let mix = &spec.workload.mix;
        mix.is_empty() || (mix.contains_key("read") && mix.contains_key("write"))
    };
    let (found, _) = look_into(&first(), ALL, needs);
    assert_eq!(found.smallest.workload.mix.keys().collect::<Vec<_>>(), ["read", "write"]);
    assert_eq!(found.smallest.system.nodes, 5, "nobody allowed a smaller cluster");
}

#[test]
fn keys_that_the_checkers_are_told_of_are_not_left_out() {
    // With half of its accounts, a bank of 400 holds 200: no defect is needed to see that.
    let rows = [
        (None, 1),
        (Some(("total", "400")), 4),
        (Some(("invariant", "sum(accounts.*.balance) == 400")), 4),
        (Some(("groups-expected", "k1,k2")), 4),
        (Some(("negative-allowed", "true")), 1),
    ];
    for (option, keys) in rows {
        let mut first = first();
        first.check.options.extend(option.map(|(name, value)| (name.into(), value.into())));
        let (found, _) = look_into(&first, ALL, |_| true);
        assert_eq!((found.smallest.workload.keys, found.reproduced()), (keys, true), "{option:?}");
    }
}

#[test]
fn what_does_not_come_back_is_not_reduced_and_nobody_is_blamed() {
    let (found, names) = look_into(&first(), ALL, |_| false);
    assert_eq!((found.reruns, found.reductions), ([3, 0], 0));
    assert!(found.not_reduced.as_deref().is_some_and(|why| why.contains("3 reruns")));
    assert_eq!(found.events, [1_003, 1_003]);
    assert_eq!(found.tells.blame(), Blame::Unknown);
    let expected = ["blame-other-generator", "blame-other-draws", "blame-without-faults"];
    assert_eq!(names[3..], expected);
}

#[test]
fn a_second_generator_or_a_second_draw_clears_the_first() {
    // By generator: which trials fail beside the first.
    let rows = [
        ("register", "map", Some(true), None, Blame::Sut),
        ("register", "register", Some(false), Some(true), Blame::Sut),
        ("register", "nothing", Some(false), Some(false), Blame::Unknown),
    ];
    for (generator, shows, other, draws, blame) in rows {
        let mut first = first();
        first.workload.generator = generator.to_string();
        let again = first.seed;
        let (found, _) =
            look_into(&first, ALL, |spec| spec.seed == again || spec.workload.generator == shows);
        assert_eq!(found.tells.other_generator_shows_it, other, "{shows}");
        assert_eq!(found.tells.other_draws_show_it, draws, "{shows}");
        assert_eq!(found.tells.blame(), blame, "{shows}");
    }
    // No generator stands in for a queue: nothing else is called one.
    let mut queue = first();
    queue.workload.generator = "queue".to_string();
    queue.workload.mix.clear();
    queue.check.names = vec!["linearizability:queue".to_string()];
    let (found, _) = look_into(&queue, ALL, |_| true);
    assert_eq!((found.tells.other_generator, found.tells.other_draws_show_it), (None, Some(true)));
}

#[test]
fn when_the_allowance_is_used_up_what_is_left_still_fails_and_is_not_called_minimal() {
    for reruns in 0..3 {
        let needs = |spec: &TrialSpec| !spec.windows.is_empty();
        let (found, _) = look_into(&first(), Allowance { reruns, ..ALL }, needs);
        assert_eq!(found.reductions, reruns);
        assert!(needs(&found.smallest), "{:?}", found.smallest);
        assert!(!found.minimal, "{reruns}");
    }
}

#[test]
fn trouble_in_the_middle_ends_the_investigation() {
    let directory = tempfile::tempdir().expect("a directory");
    let watcher = |_: &RunEvent| {};
    let events = Events::open(&directory.path().join("events.jsonl"), &watcher).expect("a file");
    let mut left = 4;
    let mut run = |_: &str, spec: &TrialSpec, _: Purpose| {
        left -= 1;
        if left == 0 { Err(TrialError::Interrupted) } else { Ok(refuted(spec, 500)) }
    };
    let ended = investigate(&refuted(&first(), 500), ALL, &events, &mut run);
    assert!(matches!(ended, Err(TrialError::Interrupted)));
}

/// A violation that comes back as something else has not come back.
#[test]
fn what_another_checker_finds_is_another_violation() {
    let directory = tempfile::tempdir().expect("a directory");
    let watcher = |_: &RunEvent| {};
    let events = Events::open(&directory.path().join("events.jsonl"), &watcher).expect("a file");
    // Who finds something in reruns, and of which kind; whether that is the same.
    let rows = [
        ("linearizability:register", "not-linearizable", true),
        ("linearizability:register", "another-kind", true),
        ("no-lost-ack", "not-linearizable", false),
    ];
    for (checker, kind, same) in rows {
        let mut run = |_: &str, spec: &TrialSpec, _: Purpose| -> Result<_, TrialError> {
            let mut record = refuted(spec, 500);
            record.judged.anomalies[0].checker = checker.to_string();
            record.judged.anomalies[0].kind = kind.to_string();
            Ok(record)
        };
        let found =
            investigate(&refuted(&first(), 500), ALL, &events, &mut run).expect("no trouble");
        assert_eq!(found.reproduced(), same, "{checker}, {kind}");
        assert_eq!(found.tells.blame() == Blame::Sut, same, "{checker}, {kind}");
        assert_eq!(found.others.is_empty(), same, "{:?}", found.others);
        assert_eq!(found.smallest == first(), !same, "it is made smaller only if it comes back");
    }
}

#[test]
fn a_checker_of_time_is_not_asked_at_another_pace() {
    let (slow, other) = (spec(&machine("slo"), Depth::Hardening, 1), first());
    let drawn = other_draws(&slow);
    assert_ne!(drawn.seed, slow.seed);
    assert_eq!(drawn.workload, slow.workload, "the plan promises nothing of another pace");
    assert_ne!(other_draws(&other).workload, other.workload);
}

#[test]
fn a_certificate_that_is_too_large_accuses_nobody() {
    let directory = tempfile::tempdir().expect("a directory");
    let watcher = |_: &RunEvent| {};
    let events = Events::open(&directory.path().join("events.jsonl"), &watcher).expect("a file");
    for (verified, blame) in
        [(Some(true), Blame::Sut), (None, Blame::Unknown), (Some(false), Blame::Checker)]
    {
        let mut seen = refuted(&first(), 500);
        seen.judged.anomalies[0].verified = verified;
        let mut run = |_: &str, spec: &TrialSpec, _: Purpose| Ok(refuted(spec, 500));
        let found = investigate(&seen, ALL, &events, &mut run).expect("no trouble");
        assert_eq!(found.tells.blame(), blame, "{verified:?}: {:?}", found.tells);
    }
}

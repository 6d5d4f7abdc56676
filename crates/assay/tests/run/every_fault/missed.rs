//! An injector that is broken on purpose proves nothing, fault by fault: rules on links that nobody
//! uses or on the wrong ones, signals to a bystander, limits on an empty group.
//!
//! Whoever is missed goes on as before, so that many faults can share one cluster, one after the
//! other and each for a moment. Those that end their victim end the decoy: at most one of them is
//! in a group, as the last. That each of them would land is shown beside, in
//! [`landing`](super::landing).

use super::landing::closed;
use super::{
    Beside, Case, SLOW, WRONG_ROUND_MS, all_cases, is_not_to_be_had, laid_out_with, one_fault,
    plan_with, problems_of,
};
use crate::support::{events, replaced, run, text};
use serde_json::Value;

/// Faults that share a cluster: all on the network of the first, with what it has beside it. Those
/// that damage the same file are far enough apart for it to be whole again.
const GROUPS: [&[(&str, &str)]; 19] = [
    &[
        ("part-full", "proxies"),
        ("part-asym", "proxies"),
        ("part-minority", "proxies"),
        ("part-majority", "proxies"),
        ("leader-iso", "proxies"),
        ("meta-out", "proxies"),
        ("part-bridge", "proxies"),
        ("splitbrain", "proxies"),
        ("delay", "proxies"),
        ("slow-follower", "proxies"),
        ("rate", "proxies"),
        ("slice", "proxies"),
        ("half-open", "proxies"),
        ("reset", "proxies"),
        ("refuse", "proxies"),
    ],
    &[("part-ring", "proxies")],
    &[
        ("torn-tail", "proxies"),
        ("pause", "proxies"),
        ("fd-exhaustion", "proxies"),
        ("fsync-fail", "proxies"),
        ("bitflip", "proxies"),
        ("slow-fsync", "proxies"),
        ("disk-readonly", "proxies"),
        ("disk-enospc", "proxies"),
        ("corrupt", "proxies"),
        ("skew", "proxies"),
        ("slowclock", "proxies"),
        ("kill9", "proxies"),
    ],
    &[
        ("cg-freeze", "proxies"),
        ("cpu-quota", "proxies"),
        ("memory-limit", "proxies"),
        ("slow-disk", "proxies"),
        ("fsync-loss", "proxies"),
    ],
    &[(TRUNCATED, "proxies"), ("term", "proxies")],
    &[(KEPT, "proxies"), ("ctr-restart", "proxies")],
    &[(OF_THE_NODE, "proxies")],
    &[("loss", "proxies"), ("dup", "proxies"), ("reorder", "proxies")],
    &[(PRELOADED, "proxies")],
    &[("roll", "proxies")],
    &[("roll-wrong", "proxies")],
    &[("fs-readonly", "proxies")],
    &[("disk-full", "proxies")],
    &[("dns-out", "bridge"), ("leader-iso", "bridge")],
    &[
        ("part-full", "switch"),
        ("loss", "switch"),
        ("dup", "switch"),
        ("reorder", "switch"),
        ("delay", "switch"),
        ("rate", "switch"),
        ("slow-follower", "switch"),
    ],
    &[
        ("part-full", "bridge"),
        ("part-asym", "bridge"),
        ("part-minority", "bridge"),
        ("part-majority", "bridge"),
        ("meta-out", "bridge"),
        ("part-bridge", "bridge"),
        ("splitbrain", "bridge"),
    ],
    &[
        ("part-asym", "switch"),
        ("part-minority", "switch"),
        ("part-majority", "switch"),
        ("leader-iso", "switch"),
        ("meta-out", "switch"),
        ("part-bridge", "switch"),
        ("splitbrain", "switch"),
    ],
    &[("part-ring", "bridge")],
    &[("part-ring", "switch")],
];
/// How long each fault is on, and from one to the next, in milliseconds.
const LENGTH_MS: u32 = 250;
const STEP_MS: u32 = 350;
/// Longer than any trial of smoke here, and short enough for hardening to have two of each.
const AGAIN_LATER: &str = "every = \"7s\"";

/// [`SLOW`], as long as the fault is on.
const SLOW_AT_ONCE: &str = "metric(\"slow-peer-calls\") >= 1";

/// Another way to do the same fault: by a library that nodes load.
const PRELOADED: &str = "skew, preloaded";

/// The end of a file is cut off instead of bits turned over.
const TRUNCATED: &str = "corrupt, truncated";
/// Of a node that is a shell with a server.
const KEPT: &str = "pause, of a shell and its server";
/// It ends the node itself, not a process beside it.
const OF_THE_NODE: &str = "memory-limit, of the first process";

fn named(case: &Case) -> &'static str {
    match (case.fault, case.beside) {
        ("skew", _) if case.with.contains("preload") => PRELOADED,
        ("corrupt", _) if case.with.contains("truncate") => TRUNCATED,
        ("pause", Beside::Keeper) => KEPT,
        ("memory-limit", Beside::Glutton) => OF_THE_NODE,
        _ => case.fault,
    }
}

/// How long a fault is on, in milliseconds: a round has to have room for its turns.
fn length_ms(case: &Case) -> u32 {
    if case.fault.starts_with("roll") { WRONG_ROUND_MS } else { LENGTH_MS }
}

fn case(fault: &str, network: &str) -> &'static Case {
    let found =
        all_cases().into_iter().find(|case| named(case) == fault && case.network == network);
    found.unwrap_or_else(|| panic!("nobody tries {fault} on {network}"))
}

/// Runs the faults of a group with a broken injector; what is wrong with it, if anything is.
fn problem(group: &[(&str, &str)]) -> Option<String> {
    let cases: Vec<&Case> = group.iter().map(|(fault, network)| case(fault, network)).collect();
    let (mut faults, mut at) = (String::new(), 500);
    for case in &cases {
        let Case { fault, target, with, injector, victim, .. } = case;
        let length = length_ms(case);
        // What a busy machine does by itself some time later is not asked for: rules on the wrong
        // links of a switch do count when nodes there hold an election.
        let victim = if *victim == SLOW { SLOW_AT_ONCE } else { victim };
        let one = one_fault((at, length), (fault, target, with), (injector, victim));
        // It happens once in a trial of smoke: the next of its kind would begin after the end.
        let once = format!("every = \"{}ms\"", length + 1_300);
        faults += &if length == LENGTH_MS { replaced(&one, &once, AGAIN_LATER) } else { one };
        at += length + STEP_MS - LENGTH_MS;
    }
    let (scratch, plan) = laid_out_with(&plan_with(&faults, at + 500, cases[0]), cases[0]);
    let directory = scratch.path().join("run");
    let mut words = vec!["run", text(&plan), "--directory", text(&directory)];
    words.extend(["--tier", "smoke", "--format", "json", "--sabotage", "injector-misses"]);
    let ended = run(&words);
    let result = ended.out.parse::<Value>().unwrap_or_default();
    let verdict = &result["scenarios"][0]["verdict"];
    if is_not_to_be_had(cases[0], verdict) {
        return None;
    }
    let events = events(&directory);
    let mut problems = Vec::new();
    if *verdict != "INCONCLUSIVE-fault-not-proven" {
        problems.push(format!("{group:?}: {verdict}"));
    }
    for case in cases {
        let closed = closed(&events, case);
        let name = format!("{} on {}", case.fault, case.network);
        eprintln!("{name}, missed: {} {}", closed["landing"], closed["evidence"]);
        // It was injected, and numbers of both sides were read: an injector that refuses is no
        // injector that misses.
        let evidence = closed["evidence"].as_str().unwrap_or_default();
        let injected = evidence.starts_with("injector ");
        if closed["landing"] == "landed" || !injected {
            problems.push(format!("{name}: {closed:#}"));
        }
    }
    (!problems.is_empty()).then(|| format!("{}\n{ended:#?}", problems.join("\n")))
}

#[test]
fn an_injector_that_misses_proves_nothing_whatever_the_fault() {
    for case in all_cases() {
        let mut groups = GROUPS.iter().flat_map(|group| group.iter());
        let is_tried = groups.any(|one| *one == (named(case), case.network));
        assert!(is_tried, "nobody misses with {} on {}", named(case), case.network);
    }
    let problems = problems_of(&GROUPS, |group| problem(group));
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn help_names_every_way_to_break_the_harness() {
    let help = run(&["run", "--help"]).out;
    for (_, name, _) in assay_runner::sabotage::Sabotage::ALL {
        assert!(help.contains(name), "{name}: {help}");
    }
}

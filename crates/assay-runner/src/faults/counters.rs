//! What injectors count, and how plans call it.
//!
//! A plan says `dropped >= 1`; the proxy counts "chunks dropped", the packet filter "packets
//! dropped". Whether a fault counts what its plan asks for can be known before anything runs, so it
//! is asked then: a term that nobody counts proves nothing, however long the run.

use super::action::named;
use super::watch::terms;
use crate::spec::WindowSpec;
use assay_nemesis::Carried;
use assay_plan::landing::{Signal as Named, Term};
use assay_plan::machine::Network;

/// What the injector counts when it starts nodes again. That they are ready is for victims to show.
pub const RESTARTED: &str = "restarted";
/// Bytes that proxies have dropped, on all links together.
const DROPPED_BYTES: &str = "dropped-bytes";

/// What the injector of a fault counts, and how a plan calls it.
const OWN: [(&str, &[&str]); 18] = [
    ("dropped", &["chunks dropped", "packets dropped", "questions for names unanswered"]),
    (
        "delayed",
        &["chunks delayed", "chunks limited", "chunks held", "packets delayed", "packets limited"],
    ),
    ("refused", &["connections refused"]),
    ("resets", &["connections reset"]),
    ("killed", &["processes gone"]),
    ("stopped", &["processes stopped"]),
    ("changed-bytes", &["bits and bytes different", "bytes of junk"]),
    ("duplicated", &["chunks duplicated", "packets duplicated"]),
    ("reordered", &["chunks reordered", "packets reordered"]),
    ("sliced", &["chunks sliced"]),
    ("failed-calls", &["calls failed"]),
    ("held-calls", &["calls delayed"]),
    ("moved-clock-reads", &["looks at a moved clock"]),
    ("clock-offset", &["milliseconds a clock is off"]),
    ("power-cuts", &["volumes cut", "volumes cut, by FUSE"]),
    ("frozen", &["groups frozen that use no processor time"]),
    (
        "throttled",
        &[
            "periods held back",
            "times memory was refused or a process killed for it",
            "times a disk had used up its limit",
        ],
    ),
    (
        "limited",
        &["processes without a descriptor left", "volumes read-only", "volumes read-only, by FUSE"],
    ),
];

/// Whether only the injector of the very fault can count it.
pub fn is_own(term: &Term) -> bool {
    matches!(term.signal, Named::Known(name) if OWN.iter().any(|(known, _)| *known == name))
}

/// Whether what was counted is what the term asks for.
pub fn counts(what: &str, term: &Term) -> bool {
    let Named::Known(name) = term.signal else { return false };
    OWN.iter().any(|(known, counters)| *known == name && counters.contains(&what))
}

/// The terms of a window that only the injector of its fault can count.
pub fn own_terms(spec: &WindowSpec) -> Vec<Term> {
    terms(&spec.injector).unwrap_or_default().into_iter().filter(is_own).collect()
}

/// Terms of the injector that this fault does not count on such a network.
pub fn uncounted(window: &WindowSpec, network: Network) -> Vec<String> {
    let Ok(id) = named(&window.fault) else { return Vec::new() };
    let Carried::Here { counter, .. } = id.row().carried else { return Vec::new() };
    let counted = match super::needs::is_preloaded(window) {
        true => vec!["clock-offset"],
        false => counted_as(counter),
    };
    let is_counted = |name: &str| match name {
        // Clients are started again by whoever uses them next, and not by the injector.
        RESTARTED if super::needs::hits_clients(window) => false,
        RESTARTED => !counter.starts_with("chunks") && !counter.starts_with("connections"),
        DROPPED_BYTES => network == Network::Proxies && counted.contains(&"dropped"),
        // A counter that no plan has a name for is nobody's mistake.
        name => counted.is_empty() || counted.contains(&name),
    };
    // Plans are linted; the window of a reproducer may have been edited since.
    let asked = match terms(&window.injector) {
        Ok(asked) => asked,
        Err(why) => return vec![format!("the injector of {}: {why}", window.fault)],
    };
    let missing = asked.into_iter().filter_map(|term| match term.signal {
        Named::Known(name) if !is_counted(name) => Some(name),
        _ => None,
    });
    missing
        .map(|name| {
            let can = counted.join(", ");
            format!("the injector of {} does not count `{name}`; it counts {can}", window.fault)
        })
        .collect()
}

/// What its victims would be asked for is what healing does to them anyway: a node whose disk was
/// read-only is ended for the disk to be mounted again, and started, whether it noticed or not.
pub fn unfelt(window: &WindowSpec) -> Option<String> {
    let heals_by_restart = named(&window.fault).is_ok_and(|id| id.name() == "fs-readonly");
    let asked = terms(&window.victim).unwrap_or_default();
    let only_restarts = !asked.is_empty()
        && asked.iter().all(|term| matches!(term.signal, Named::Known("restarts")));
    (heals_by_restart && only_restarts).then(|| {
        format!(
            "the victim of {}: healing it starts the node anew, so `restarts` moves whether the \
             node noticed or not; ask for a line of its log, or what clients notice",
            window.fault
        )
    })
}

/// How plans call what a fault counts, as the catalogue of faults names it.
fn counted_as(counter: &str) -> Vec<&'static str> {
    let is = |own: &&&str| counter.starts_with(**own);
    let known = OWN.iter().filter(|(_, counters)| counters.iter().any(|own| is(&own)));
    known.map(|(name, _)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::Depth;
    use crate::samples::{machine, spec};
    use assay_plan::landing::{SIGNALS, Side};

    #[test]
    fn what_no_injector_counts_is_refused_before_the_run() {
        let mut window =
            spec(&machine("linearizability:register"), Depth::Smoke, 1).windows[0].clone();
        let rows = [
            ("leader-iso", "dropped >= 1", Network::Proxies, true),
            ("leader-iso", "dropped >=", Network::Proxies, false),
            ("leader-iso", "", Network::Proxies, true),
            ("leader-iso", "dropped >= 1", Network::Switch, true),
            ("leader-iso", "dropped-bytes >= 1", Network::Proxies, true),
            ("leader-iso", "dropped-bytes >= 1", Network::Bridge, false),
            ("leader-iso", "killed >= 1", Network::Proxies, false),
            ("leader-iso", "restarted >= 1", Network::Proxies, false),
            ("kill9", "killed >= 1 and restarted >= 1", Network::Proxies, true),
            ("kill9", "stopped >= 1", Network::Proxies, false),
            ("half-open", "delayed >= 1", Network::Proxies, true),
            ("skew", "moved-clock-reads >= 1", Network::Proxies, true),
            ("slow-disk", "throttled >= 1", Network::Proxies, true),
            ("fsync-loss", "power-cuts >= 1", Network::Proxies, true),
        ];
        for (fault, injector, network, fine) in rows {
            (window.fault, window.injector) = (fault.to_string(), injector.to_string());
            let missing = uncounted(&window, network);
            assert_eq!(missing.is_empty(), fine, "{fault}: {injector}: {missing:?}");
        }
    }

    #[test]
    fn what_healing_does_anyway_is_no_victims_signal() {
        let mut window =
            spec(&machine("linearizability:register"), Depth::Smoke, 1).windows[0].clone();
        let rows = [
            ("fs-readonly", "restarts >= 1 within 5s", true),
            ("fs-readonly", "timeouts >= 1", false),
            ("fs-readonly", "restarts >= 1 and errors >= 1", false),
            ("fs-readonly", "", false),
            ("kill9", "restarts >= 1", false),
            ("fsync-loss", "restarts >= 1", false),
        ];
        for (fault, victim, refused) in rows {
            (window.fault, window.victim) = (fault.to_string(), victim.to_string());
            assert_eq!(unfelt(&window).is_some(), refused, "{fault}: {victim}");
        }
    }

    #[test]
    fn every_signal_of_an_injector_is_counted_by_somebody() {
        for signal in SIGNALS.iter().filter(|signal| signal.side == Side::Injector) {
            let known = OWN.iter().any(|(name, _)| *name == signal.name);
            let other = [RESTARTED, DROPPED_BYTES].contains(&signal.name);
            assert!(known || other, "nobody counts `{}`", signal.name);
        }
    }
}

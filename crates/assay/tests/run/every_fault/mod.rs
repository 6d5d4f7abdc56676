//! Every fault of the catalogue that this machine can inject, each from a plan of its own: that it
//! lands ([`landing`]), that it proves nothing when it misses ([`missed`]), and that nothing is
//! left of it when Assay is killed ([`killed`]).

mod killed;
mod landing;
mod missed;
mod unprivileged;

use crate::support::{cut_off_plan, replaced, repository, scratch, text, write};
use rustix::process::geteuid;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What happens once in a trial of smoke.
struct Case {
    fault: &'static str,
    network: &'static str,
    target: &'static str,
    with: &'static str,
    injector: &'static str,
    victim: &'static str,
    beside: Beside,
}

/// What the fault needs around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nothing,
    /// The node is down meanwhile: files are damaged while nobody writes to them.
    Downtime,
    /// Five nodes instead of three.
    FiveNodes,
    /// A process of every node that looks names up.
    Lookups,
    /// Connections are reset meanwhile: what hits new ones has some to hit.
    Resets,
    /// A process of every node that connects to it again and again.
    Callers,
    /// A process of every node that takes memory once it is forbidden to.
    Greed,
    /// The first process of every node is a shell that keeps the server.
    Keeper,
    /// The first process of every node takes memory once it is forbidden to.
    Glutton,
    /// A process of every node that sends others many segments at once.
    Bulk,
    /// A process of every node that sends others numbered datagrams, on a port described for them.
    Gossip,
}

const fn case(
    (fault, network, target): (&'static str, &'static str, &'static str),
    with: &'static str,
    (injector, victim): (&'static str, &'static str),
    beside: Beside,
) -> Case {
    Case { fault, network, target, with, injector, victim, beside }
}

const RESTARTS: &str = "restarts >= 1 within 6s";
/// Nearly as long as faults last: machines under load are silent for a while, too.
const SILENT: &str = "heartbeat-gap >= 2200ms within 5s";
/// What a busy machine cannot say: the injector counts bytes and stops of a decoy, too.
const FULL: &str = "log(\"No space left on device\") >= 1 within 5s";
/// Said by a node when it has stopped, for which it waits three seconds for whom it still serves.
/// Why is not always that the disk can only be read: a write under way then is an input error.
const READ_ONLY: &str = "log(\"it cannot go on safely\") >= 1 within 8s";
const RESUMED: &str = "log(\"goes on after a stop\") >= 1 within 8s";
const AGAIN: &str = "reconnects >= 1 within 5s";
/// What nodes count, not a latency: on a busy machine that may be long before the fault, too.
const SLOW: &str = "metric(\"slow-peer-calls\") >= 1 within 5s";
const SLOW_WRITES: &str = "metric(\"slow-log-writes\") >= 1 within 5s";
const DEAF: &str = "metric(\"peer-timeouts\") >= 1 within 5s";
const DROPPED: &str = "dropped >= 1";
const DELAYED: &str = "delayed >= 1";

use Beside::{
    Bulk, Callers, Downtime, FiveNodes, Glutton, Gossip, Greed, Keeper, Lookups, Nothing, Resets,
};

static CASES: [Case; 55] = [
    case(("kill9", "proxies", "follower"), "", ("killed >= 1", RESTARTS), Nothing),
    case(("term", "proxies", "follower"), "", ("killed >= 1", RESTARTS), Nothing),
    case(
        ("ctr-restart", "proxies", "follower"),
        "",
        ("killed >= 1 and restarted >= 1", RESTARTS),
        Nothing,
    ),
    case(
        ("roll", "proxies", "all"),
        "down = \"100ms\"",
        ("killed >= 3 and restarted >= 3", "restarts >= 3 within 12s"),
        Nothing,
    ),
    case(
        ("roll-wrong", "proxies", "all"),
        "down = \"3s\"",
        ("killed >= 3 and restarted >= 3", "metric(\"term\") >= 1 within 20s"),
        Nothing,
    ),
    case(("pause", "proxies", "follower"), "", ("stopped >= 1", SILENT), Nothing),
    case(("pause", "proxies", "follower"), "", ("stopped >= 2", RESUMED), Keeper),
    case(("cg-freeze", "proxies", "follower"), "", ("frozen >= 1", SILENT), Nothing),
    case(("cpu-quota", "proxies", "all"), "percent = 2", ("throttled >= 1", SLOW), Nothing),
    case(
        ("memory-limit", "proxies", "all"),
        "bytes = \"64MiB\"",
        ("throttled >= 1", "log(\"lost its memory\") >= 1 within 5s"),
        Greed,
    ),
    case(
        ("memory-limit", "proxies", "n3"),
        "bytes = \"64MiB\"",
        ("throttled >= 1 and restarted >= 1", RESTARTS),
        Glutton,
    ),
    case(
        ("fd-exhaustion", "proxies", "all"),
        "",
        ("limited >= 1", "log(\"Too many open files\") >= 1 within 5s"),
        Callers,
    ),
    case(("part-full", "proxies", "leader"), "", (DROPPED, DEAF), Nothing),
    case(("part-asym", "proxies", "others -> leader"), "", (DROPPED, DEAF), Nothing),
    case(("part-minority", "proxies", "minority"), "", (DROPPED, DEAF), Nothing),
    case(("part-majority", "proxies", "majority"), "", (DROPPED, DEAF), Nothing),
    case(("leader-iso", "proxies", "leader"), "", (DROPPED, DEAF), Nothing),
    case(("meta-out", "proxies", "leader"), "", (DROPPED, DEAF), Nothing),
    case(("part-bridge", "proxies", "n2"), "", (DROPPED, DEAF), Nothing),
    case(("part-ring", "proxies", "all"), "", (DROPPED, DEAF), FiveNodes),
    case(("splitbrain", "proxies", "leader"), "", (DROPPED, DEAF), Nothing),
    case(("delay", "proxies", "leader"), "delay = \"60ms\"", (DELAYED, SLOW), Nothing),
    case(("slow-follower", "proxies", "all"), "delay = \"60ms\"", (DELAYED, SLOW), Nothing),
    case(("rate", "proxies", "leader"), "rate = 2000", (DELAYED, SLOW), Nothing),
    case(("slice", "proxies", "leader"), "bytes = 1", ("sliced >= 1", SLOW), Nothing),
    case(("half-open", "proxies", "leader"), "", (DELAYED, DEAF), Nothing),
    case(("reset", "proxies", "leader"), "", ("resets >= 1", AGAIN), Nothing),
    case(
        ("refuse", "proxies", "leader"),
        "",
        ("refused >= 1", "metric(\"peer-unreachable\") >= 1 within 5s"),
        Resets,
    ),
    case(
        ("loss", "proxies", "leader"),
        "percent = 30",
        (DROPPED, "log(\"numbers are missing\") >= 1 within 5s"),
        Gossip,
    ),
    case(
        ("dup", "proxies", "leader"),
        "percent = 30",
        ("duplicated >= 1", "log(\"a number came twice\") >= 1 within 5s"),
        Gossip,
    ),
    case(
        ("reorder", "proxies", "leader"),
        "percent = 30",
        ("reordered >= 1", "log(\"a number came late\") >= 1 within 5s"),
        Gossip,
    ),
    case(("leader-iso", "bridge", "leader"), "", (DROPPED, DEAF), Nothing),
    case(
        ("dns-out", "bridge", "all"),
        "",
        (DROPPED, "log(\"no such name now\") >= 1 within 10s"),
        Lookups,
    ),
    case(("part-full", "switch", "leader"), "", (DROPPED, DEAF), Nothing),
    case(("loss", "switch", "leader"), "percent = 30", (DROPPED, "retransmits >= 1"), Nothing),
    case(
        ("dup", "switch", "leader"),
        "percent = 30",
        ("duplicated >= 1", "duplicates >= 1"),
        Nothing,
    ),
    case(
        ("reorder", "switch", "leader"),
        "percent = 30",
        ("reordered >= 1", "out-of-order >= 1"),
        Bulk,
    ),
    case(
        ("delay", "switch", "leader"),
        "delay = \"60ms\", jitter = \"10ms\"",
        (DELAYED, SLOW),
        Nothing,
    ),
    case(("rate", "switch", "leader"), "rate = 20000", (DELAYED, SLOW), Nothing),
    case(("slow-follower", "switch", "leader"), "delay = \"60ms\"", (DELAYED, SLOW), Nothing),
    case(("disk-full", "proxies", "n3"), "", ("changed-bytes >= 1", FULL), Nothing),
    case(
        ("fsync-loss", "proxies", "all"),
        "",
        ("power-cuts >= 3", "restarts >= 3 within 12s"),
        Nothing,
    ),
    // Of all disks, that of the leader alone would hold the others back.
    case(
        ("slow-disk", "proxies", "leader"),
        "rate = 4096",
        ("throttled >= 1", SLOW_WRITES),
        Nothing,
    ),
    // Not that it starts again: it is healed by that, whether it noticed or not.
    case(("fs-readonly", "proxies", "n3"), "", ("limited >= 1", READ_ONLY), Nothing),
    case(
        ("torn-tail", "proxies", "n3"),
        "file = \"log\", bytes = 40",
        ("changed-bytes >= 1", "log(\"of a torn record off\") >= 1 within 5s"),
        Downtime,
    ),
    case(
        ("bitflip", "proxies", "n3"),
        "file = \"log\", bits = 60",
        ("changed-bytes >= 1", "log(\"corrupt at byte\") >= 1 within 5s"),
        Downtime,
    ),
    case(
        ("corrupt", "proxies", "n3"),
        "file = \"log\", bits = 60",
        ("changed-bytes >= 1", "log(\"corrupt at byte\") >= 1 within 5s"),
        Downtime,
    ),
    case(
        ("corrupt", "proxies", "n3"),
        "file = \"log\", truncate = 40",
        ("changed-bytes >= 1", "log(\"of a torn record off\") >= 1 within 5s"),
        Downtime,
    ),
    case(("fsync-fail", "proxies", "n3"), "", ("failed-calls >= 1", SILENT), Nothing),
    case(
        ("slow-fsync", "proxies", "all"),
        "delay = \"150ms\"",
        ("held-calls >= 1", SLOW_WRITES),
        Nothing,
    ),
    case(("disk-readonly", "proxies", "n3"), "", ("failed-calls >= 1", SILENT), Nothing),
    case(("disk-enospc", "proxies", "n3"), "", ("failed-calls >= 1", SILENT), Nothing),
    case(
        ("skew", "proxies", "all"),
        "offset = \"60s\"",
        ("moved-clock-reads >= 1", "metric(\"clock\") >= 50000"),
        Nothing,
    ),
    case(
        ("skew", "proxies", "leader"),
        "offset = \"60s\", preload = true",
        ("clock-offset >= 50s", "metric(\"clock\") >= 50000"),
        Nothing,
    ),
    case(
        ("slowclock", "proxies", "all"),
        "ppm = 10000000",
        ("moved-clock-reads >= 1", "metric(\"clock\") >= 10000"),
        Nothing,
    ),
];

/// Partitions of every shape, packet by packet: in both networks of namespaces. When Assay is
/// killed nothing is left of any of them but what is left of the two in [`CASES`].
static SHAPES: [Case; 16] = [
    shape("part-full", "bridge", "leader"),
    shape("part-asym", "bridge", "others -> leader"),
    shape("part-minority", "bridge", "minority"),
    shape("part-majority", "bridge", "majority"),
    shape("meta-out", "bridge", "leader"),
    shape("part-bridge", "bridge", "n2"),
    ring("bridge"),
    shape("splitbrain", "bridge", "leader"),
    shape("part-asym", "switch", "others -> leader"),
    shape("part-minority", "switch", "minority"),
    shape("part-majority", "switch", "majority"),
    shape("leader-iso", "switch", "leader"),
    shape("meta-out", "switch", "leader"),
    shape("part-bridge", "switch", "n2"),
    ring("switch"),
    shape("splitbrain", "switch", "leader"),
];

const fn shape(fault: &'static str, network: &'static str, target: &'static str) -> Case {
    case((fault, network, target), "", (DROPPED, DEAF), Nothing)
}

const fn ring(network: &'static str) -> Case {
    case(("part-ring", network, "all"), "", (DROPPED, DEAF), FiveNodes)
}

/// All of them.
fn all_cases() -> Vec<&'static Case> {
    CASES.iter().chain(&SHAPES).collect()
}

/// The program a node is started by, if somebody is to be beside it.
fn beside_the_node(beside: Beside) -> Option<[&'static str; 2]> {
    match beside {
        Lookups => Some(["sh", "lookups.sh"]),
        Greed => Some(["sh", "greed.sh"]),
        Keeper => Some(["sh", "keeper.sh"]),
        Glutton => Some(["sh", "glutton.sh"]),
        Callers => Some(["python3", "callers.py"]),
        Bulk => Some(["python3", "bulk.py"]),
        Gossip => Some(["python3", "gossip.py"]),
        Nothing | Downtime | FiveNodes | Resets => None,
    }
}

/// Three turns, each longer than an election: a leader that is back before that goes on leading.
const WRONG_ROUND_MS: u32 = 3 * 3_400;

/// A fault of a plan that happens once in a trial of smoke.
fn one_fault(
    (at, length): (u32, u32),
    (fault, target, with): (&str, &str, &str),
    (injector, victim): (&str, &str),
) -> String {
    format!(
        "[[nemesis]]\nat = \"{at}ms\"\nfor = \"{length}ms\"\nevery = \"{}ms\"\n\
         fault = \"{fault}\"\ntarget = \"{target}\"\nwith = {{ {with} }}\n\
         landing = {{ injector = '{injector}', victim = '{victim}' }}\n\n",
        length + 1_300,
    )
}

/// A plan in which one fault happens, and little else.
fn plan(case: &Case) -> String {
    let Case { fault, target, with, injector, victim, .. } = case;
    let length = match case.beside {
        Downtime => 1500,
        _ if *fault == "roll-wrong" => WRONG_ROUND_MS,
        // Taking memory takes time, and so does a write that is held back.
        Greed | Glutton => 3500,
        _ if *fault == "slow-disk" => 3500,
        // A disk is filled first, and a node notices when it writes next.
        _ if [SILENT, FULL].contains(&case.victim) => 4_000,
        _ if case.victim == READ_ONLY => 7_500,
        _ => 1200,
    };
    let mut faults = one_fault((500, length), (fault, target, with), (injector, victim));
    let silent = "heartbeat-gap >= 500ms within 3s";
    match case.beside {
        Downtime => {
            faults += &one_fault((300, 700), ("kill9", target, ""), ("killed >= 1", silent));
        }
        Resets => faults += &one_fault((700, 100), ("reset", target, ""), ("resets >= 1", AGAIN)),
        _ => {}
    }
    plan_with(&faults, 1_000 + length, case)
}

/// A plan with these faults, on the network of a case and with what it needs beside it.
fn plan_with(faults: &str, smoke_ms: u32, case: &Case) -> String {
    let plan = cut_off_plan();
    let from = plan.find("[[nemesis]]").expect("faults");
    let to = plan.find("[model]").expect("and what comes after them");
    let plan = format!("{}{faults}{}", &plan[..from], &plan[to..]);
    let plan = replaced(&plan, "faults = 3", "faults = 2");
    // Time for two of each.
    let hardening = format!("duration = \"{}ms\"", 14_000.max(2 * smoke_ms + 1_000));
    let plan = replaced(&plan, "duration = \"6s\"", &hardening);
    let plan = replaced(&plan, "duration = \"3s\"", &format!("duration = \"{smoke_ms}ms\""));
    let plan = match case.beside {
        FiveNodes => replaced(&plan, "nodes = 3", "nodes = 5"),
        _ => plan,
    };
    let system = if beside_the_node(case.beside).is_some() { "accompanied" } else { "kv" };
    let named = format!("name = \"{system}\"\nnetwork = \"{}\"", case.network);
    replaced(&plan, "name = \"kv\"", &named)
}

/// The description of kv, with somebody beside every node.
fn accompanied(directory: &Path, [program, script]: [&str; 2]) {
    let described = include_str!("../../../../../systems/kv.toml");
    let script = repository().join("crates/assay/tests/run/every_fault/beside").join(script);
    let words = format!("command = [\n    \"{program}\", \"{}\", \"{{assay}}\"", text(&script));
    let described = replaced(described, "command = [\n    \"{assay}\"", &words);
    let described = match script.ends_with("gossip.py") {
        true => gossiping(&described, text(&script)),
        false => described,
    };
    write(directory, "systems/accompanied.toml", &described);
}

/// The same with a port for datagrams, which the script is told of before the node's own words.
fn gossiping(described: &str, script: &str) -> String {
    let port = "[ports]\ngossip = [\"peers\", \"datagrams\"]\n";
    let described = replaced(described, "[ports]\n", port);
    let told = "\"{listen.gossip}\", { each = \"peers\", words = [\"{link.gossip}\"] }, \"--\"";
    replaced(&described, &format!("\"{script}\","), &format!("\"{script}\", {told},"))
}

/// A scratch directory with the plan of a case.
fn laid_out(case: &Case) -> (tempfile::TempDir, PathBuf) {
    laid_out_with(&plan(case), case)
}

/// The same with another plan.
fn laid_out_with(plan: &str, case: &Case) -> (tempfile::TempDir, PathBuf) {
    let scratch = scratch();
    if let Some(command) = beside_the_node(case.beside) {
        accompanied(scratch.path(), command);
    }
    let path = write(scratch.path(), "plan.md", plan);
    (scratch, path)
}

/// The problems of all cases, several cases at a time: they wait more than they work.
fn problems_of<T: Sync>(cases: &[T], of: impl Fn(&T) -> Option<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut problems = Vec::new();
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            problems.extend(of(case));
        }
        problems
    };
    std::thread::scope(|scope| {
        let workers = [(); 3].map(|()| scope.spawn(worker));
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
    })
}

/// Faults that need rights, a kernel or a library which not every machine gives to everybody. All
/// others need nothing but this program, whoever runs it.
const MAY_BE_MISSING: [&str; 13] = [
    "cg-freeze",
    "cpu-quota",
    "memory-limit",
    "fsync-loss",
    "slow-disk",
    "fs-readonly",
    "fsync-fail",
    "slow-fsync",
    "disk-readonly",
    "disk-enospc",
    "disk-full",
    "skew",
    "slowclock",
];

/// Whether a run was refused only because this machine does not give what it needs. Somebody with
/// rights runs it; to others it is said.
fn is_not_to_be_had(case: &Case, verdict: &Value) -> bool {
    let may_be = case.network != "proxies" || MAY_BE_MISSING.contains(&case.fault);
    let lacks = may_be && !geteuid().is_root() && *verdict == "INCONCLUSIVE-env";
    if lacks {
        eprintln!("SKIPPED: {} on {} needs more rights", case.fault, case.network);
    }
    lacks
}

//! Eight ways to look for trouble, each with what it misses.

use serde::Serialize;

/// An entry of the catalogue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Technique {
    /// How plans name it.
    pub name: &'static str,
    /// When to reach for it.
    pub when: &'static str,
    /// What it finds well.
    pub detects: &'static str,
    /// What it does not find.
    pub misses: &'static str,
    /// Programs that do it.
    pub tools: &'static str,
    /// Where it is described.
    pub papers: &'static str,
    /// What it costs.
    pub cost: &'static str,
    /// What a plan that uses it must decide.
    pub checklist: &'static [&'static str],
}

impl Technique {
    /// The entry with this name.
    pub fn named(name: &str) -> Option<&'static Technique> {
        TECHNIQUES.iter().find(|technique| technique.name.eq_ignore_ascii_case(name))
    }

    /// Its page.
    pub fn page(&self) -> String {
        let items: Vec<String> = self.checklist.iter().map(|item| format!("- {item}")).collect();
        format!(
            "When: {}\n\nDetects: {}\n\nMisses: {}\n\nTools: {}\n\nPapers: {}\n\nCost: {}\n\n\
             Checklist:\n{}",
            self.when,
            self.detects,
            self.misses,
            self.tools,
            self.papers,
            self.cost,
            items.join("\n")
        )
    }
}

/// Which technique for which suspicion.
pub const SELECTOR: [(&str, &[&str]); 11] = [
    ("consistency under concurrency and faults", &["jepsen-and-elle"]),
    ("crashes in the middle, replay, lost syncs", &["crash-recovery-and-upgrade"]),
    ("interleavings that passed so far", &["deterministic-simulation", "fuzzing"]),
    ("one-way partitions, lost packets, clock skew", &["chaos-and-fault-injection"]),
    ("odd bytes, odd orders of calls", &["fuzzing"]),
    ("an algorithm of one's own", &["formal-methods-tla"]),
    ("laws that hold for all inputs", &["property-and-metamorphic"]),
    ("tails, blocked queues, collapse under load", &["performance-and-benchmarking"]),
    ("two versions at once, migrations", &["crash-recovery-and-upgrade"]),
    ("a node that limps", &["chaos-and-fault-injection", "performance-and-benchmarking"]),
    ("settings that differ or are misspelled", &["property-and-metamorphic"]),
];

/// The catalogue.
pub const TECHNIQUES: [Technique; 8] = [
    Technique {
        name: "jepsen-and-elle",
        when: "A consistency or isolation model is claimed, clients work at the same time, and \
               the network fails.",
        detects: "lost updates, stale and dirty reads, writes lost in partitions, lost \
                  acknowledgements, split brain, isolation anomalies (G0 to G2), races of \
                  elections and reconfigurations",
        misses: "slowness, leaks, client logic, operations the generator does not make, damage \
                 that takes longer than a history",
        tools: "assay check, Jepsen, Elle, Porcupine, Maelstrom",
        papers: "Kingsbury and Alvaro, Elle (VLDB 2020); the published Jepsen analyses",
        cost: "half an hour to hours per scenario; checking takes seconds",
        checklist: &[
            "name the consistency model that is claimed",
            "choose generators that can produce the anomalies in question",
            "faults that happen: also one-way partitions",
            "say which anomalies count as failures",
            "keep the history, so that it can be checked again",
            "enough operations: usually 10,000 and more per scenario",
        ],
    },
    Technique {
        name: "deterministic-simulation",
        when: "The code is full of concurrency, and clock, network and disk can be replaced by \
               simulated ones.",
        detects: "races, orders nobody thought of, retry storms, deadlock, livelock; every failure \
                  comes back from its seed",
        misses: "kernels, network cards, disks, real latency, the scheduler of the machine",
        tools: "turmoil and shuttle for Rust, FoundationDB's and TigerBeetle's simulators, \
                Antithesis",
        papers: "talks and articles on testing FoundationDB; Eaton's introduction (2024)",
        cost: "much work at first, then seconds per run; grows with the number of seeds",
        checklist: &[
            "is there a simulated runtime? If not, the work to build it is part of the plan",
            "oracles run inside the simulation",
            "a budget of seeds, such as 10,000 a run",
            "failing seeds are kept",
            "slow and fast nodes, too",
        ],
    },
    Technique {
        name: "chaos-and-fault-injection",
        when: "There is a real cluster, or one that is close to it.",
        detects: "partial and one-way partitions, limping nodes, loss and delay, full disks, \
                  failing syncs, kills and restarts, skewed clocks, long pauses",
        misses: "exact repetition, causes without good observability, whole-history analysis",
        tools: "assay run, Toxiproxy, Chaos Mesh, LitmusChaos, netem, packet filters, signals",
        papers: "Alfatafta et al. (OSDI 2020), Lou et al. (NSDI 2020), Do et al. on limping \
                 hardware",
        cost: "minutes to hours; as long as the cluster is free",
        checklist: &[
            "list the faults that happen in production",
            "for each, the property that must survive it",
            "an oracle that runs after the fault is gone",
            "evidence that the fault landed: a fault that silently did nothing is the commonest \
             false pass",
            "time to recover is part of the criterion",
        ],
    },
    Technique {
        name: "fuzzing",
        when: "Bytes or calls come from outside: parsers, state machines, servers; or schedules of \
               lock-free code.",
        detects: "crashes, broken invariants, overflow, endless loops, wrong orders of messages; \
                  memory errors with sanitizers",
        misses: "wrong answers without an oracle, long set-ups, slowness",
        tools: "cargo-fuzz and libFuzzer, AFL++, go test -fuzz, honggfuzz",
        papers: "FlyMC (EuroSys 2019)",
        cost: "hours to weeks of processor time",
        checklist: &[
            "list where input comes in",
            "the smallest target that means something",
            "sanitizers on",
            "a corpus of real samples",
            "stop by coverage or executions, not by the clock",
        ],
    },
    Technique {
        name: "formal-methods-tla",
        when: "A small protocol is expensive to get wrong: consensus, replication, leases, commit, \
               recovery.",
        detects: "violations and livelocks in the design, edges of reconfiguration and mixed \
                  versions, assumptions nobody wrote down",
        misses: "mistakes of the implementation, slowness, everything outside the model",
        tools: "TLA+ with TLC or TLAPS, Alloy, P, Coq",
        papers: "Newcombe et al. (CACM 2015), Bornholt et al. (SOSP 2021)",
        cost: "days to weeks to write, minutes to hours to check",
        checklist: &[
            "invariants and liveness goals",
            "model only the part that is in doubt",
            "state the fairness assumptions",
            "keep it under version control and check it again when the protocol changes",
            "a map from model to code",
        ],
    },
    Technique {
        name: "property-and-metamorphic",
        when: "A law can be stated although the exact answer is hard to give: codecs, queries, \
               schemas, settings.",
        detects: "round trips that lose something, broken commutativity and idempotency, versions \
                  that differ, odd numbers, odd text, empty and huge inputs",
        misses: "whatever no law speaks of; interactions of many parts",
        tools: "proptest, Hypothesis, QuickCheck, fast-check, ScalaCheck",
        papers: "Chen et al., survey of metamorphic testing (2017)",
        cost: "seconds to minutes; the effort is in finding the laws",
        checklist: &[
            "list the laws",
            "keep them beside the code",
            "generators that hit the edges",
            "shrinking is a must",
            "settings are inputs, too",
        ],
    },
    Technique {
        name: "performance-and-benchmarking",
        when: "Tail latency, throughput or fairness is claimed.",
        detects: "regressions under load, long tails, blocked queues, unfairness, exhaustion of \
                  files, connections and memory",
        misses: "wrong answers, sizes nobody tried, rare paths",
        tools: "assay run with an open-loop workload, wrk2, k6, vegeta, HdrHistogram, YCSB",
        papers: "Tene on coordinated omission; Gregg's methodology",
        cost: "minutes to days; a realistic environment is the hard part",
        checklist: &[
            "whole distributions: p50, p99, p99.9, maximum; not the mean alone",
            "a generator that does not wait for the system",
            "arrivals at a constant rate",
            "realistic mixes and hot keys",
            "processor, memory, network and disk are recorded beside it",
        ],
    },
    Technique {
        name: "crash-recovery-and-upgrade",
        when: "Durability, replay, idempotency or migration is claimed.",
        detects: "lost writes, double effects, versions that do not understand each other, broken \
                  migrations, missing syncs, half-written checkpoints, forgotten files",
        misses: "steady state, speed of recovery, histories across machines",
        tools: "assay run with kill9 and restarts, ALICE, CrashMonkey, upgrade harnesses, log \
                replay",
        papers: "Zheng et al. (OSDI 2014), Gao et al. (FSE 2018), Zhang et al. (SOSP 2021)",
        cost: "minutes to hours per scenario; planning takes longer",
        checklist: &[
            "list every boundary of input and output, and crash at each",
            "replay leads to the state of a run that did not crash",
            "retry storms for what is idempotent",
            "two versions at every step of an upgrade",
            "write down what a sync is assumed to do",
        ],
    },
];

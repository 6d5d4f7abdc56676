//! Rows about the machine block.

use super::{EdgeFails, EdgePasses, Fails, Passes, Row, row};

pub(super) const ROWS: &[Row] = &[
    row(79, Fails, "", &[("name = \"kv\"\n", "nmae = \"kv\"\n")]),
    row(79, Fails, "", &[("seed = 1\n", "seed = = 1\n")]),
    row(79, Passes, "", &[]),
    row(79, EdgeFails, "", &[("timeout = \"1s\"", "timeout = \"1\"")]),
    row(79, EdgePasses, "", &[("timeout = \"1s\"", "timeout = \"1 s\"")]),
    row(80, Fails, "", &[("### Scenario S2:", "```toml\nseed = 2\n```\n\n### Scenario S2:")]),
    row(80, Passes, "", &[]),
    row(80, EdgePasses, "", &[("### Scenario S2:", "```\nseed = 2\n```\n\n### Scenario S2:")]),
    row(81, Fails, "", &[("[system]\nname = \"kv\"\nnodes = 3\n", "")]),
    row(81, Passes, "", &[]),
    row(
        81,
        EdgeFails,
        "",
        &[(
            "landing = { injector = \"dropped >= 1\", victim = \"elections >= 1 \
        within 10s\" }\n",
            "",
        )],
    ),
    row(81, EdgePasses, "", &[("nodes = 3\n", "")]),
    row(
        82,
        Fails,
        "",
        &[(
            "- **Oracle:** linearizability",
            "- **Checker:** \
        linearizability:register\n- **Oracle:** linearizability",
        )],
    ),
    row(
        82,
        Fails,
        "",
        &[(
            "- **Oracle:** linearizability",
            "- **Workload:** 4 clients\n- \
        **Oracle:** linearizability",
        )],
    ),
    row(82, Passes, "", &[]),
    row(
        82,
        EdgePasses,
        "",
        &[(
            "- **Oracle:** linearizability",
            "- **Workload:** few keys, so that \
        clients meet\n- **Oracle:** linearizability",
        )],
    ),
    row(
        82,
        EdgeFails,
        "",
        &[(
            "- **Oracle:** linearizability",
            "- **Ambiguous outcomes:** as \
        usual\n- **Oracle:** linearizability",
        )],
    ),
    row(
        83,
        Fails,
        "",
        &[(
            "- **Oracle:** linearizability",
            "- **Workload:** 5 clients\n- \
        **Oracle:** linearizability",
        )],
    ),
    row(
        83,
        Fails,
        "",
        &[(
            "- **Oracle:** linearizability",
            "- **Model under test:** queue\n- \
        **Oracle:** linearizability",
        )],
    ),
    row(
        83,
        Fails,
        "",
        &[(
            "- **Oracle:** linearizability",
            "- **Faults:** `kill9` of the leader\n- \
        **Oracle:** linearizability",
        )],
    ),
    row(
        83,
        Fails,
        "",
        &[(
            "- **Oracle:** linearizability",
            "- **Smoke budget:** 4 clients x 30 s x \
        1 fault x 1 seed\n- **Oracle:** linearizability",
        )],
    ),
    row(
        83,
        Fails,
        "",
        &[(
            "- **Oracle:** linearizability",
            "- **Ambiguous outcomes:** timeouts \
        count as failures\n- **Oracle:** linearizability",
        )],
    ),
    row(83, Passes, "", &[]),
    row(
        83,
        EdgePasses,
        "",
        &[(
            "- **Oracle:** linearizability",
            "- **Smoke budget:** 4 clients x \
        20 s x 1 fault x 1 seed\n- **Oracle:** linearizability",
        )],
    ),
    row(
        83,
        EdgeFails,
        "",
        &[(
            "- **Oracle:** linearizability",
            "- **Faults:** cut off for 6 s\n- \
        **Oracle:** linearizability",
        )],
    ),
    row(84, Fails, "", &[("target = \"leader\"", "target = \"leeder\"")]),
    row(84, Fails, "", &[("at = \"5s\"", "at = \"5s\"\non = \"acks >= 10\"")]),
    row(84, Fails, "", &[("timeouts = \"unknown\"", "timeouts = \"fail\"")]),
    row(84, Fails, "", &[("recording = \"in-process\"", "recording = \"by-hand\"")]),
    row(84, Passes, "", &[("target = \"leader\"", "target = \"n1 -> n2\"")]),
    row(84, EdgeFails, "", &[("nodes = 3", "nodes = 0")]),
    row(84, EdgePasses, "", &[("nodes = 3", "nodes = 1")]),
    row(84, EdgeFails, "", &[("every = \"20s\"", "every = \"5s\"")]),
    row(84, EdgePasses, "", &[("at = \"5s\"", "on = \"acks >= 1\""), ("every = \"20s\"\n", "")]),
    row(84, EdgeFails, "", &[("at = \"5s\"", "on = \"acks >= 1\"")]),
    row(84, EdgePasses, "", &[("nodes = 3\n", "nodes = 32\n")]),
    row(84, EdgeFails, "", &[("nodes = 3\n", "nodes = 33\n")]),
    row(84, Passes, "", &[("target = \"leader\"", "target = \"n1, n2\"")]),
    row(84, Fails, "", &[("target = \"leader\"", "target = \"n1, leeder\"")]),
    row(84, EdgePasses, "", &[("keys = 4\n", "keys = 1000000\n")]),
    row(84, EdgeFails, "", &[("keys = 4\n", "keys = 1000001\n")]),
    row(85, Fails, "", &[("every = \"20s\"\n", "")]),
    row(85, Passes, "", &[]),
    row(85, EdgePasses, "", &[("faults = 5\n", "faults = 6\n")]),
    row(85, EdgeFails, "", &[("faults = 5\n", "faults = 7\n")]),
    row(85, EdgeFails, "", &[("at = \"5s\"", "at = \"5s..16s\"")]),
    row(86, Fails, "", &[("mix = { read = 60, write = 40 }", "mix = { read = 60, enqueue = 40 }")]),
    row(86, Passes, "", &[("mix = { read = 60, write = 40 }", "mix = { read = 60, cas = 40 }")]),
    row(86, EdgePasses, "", &[("mix = { read = 60, write = 40 }\n", "")]),
];

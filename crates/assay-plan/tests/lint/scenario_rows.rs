//! Rows about techniques, scenarios and 7.M.

use super::{EdgeFails, EdgePasses, Fails, Passes, Row, row};

pub(super) const ROWS: &[Row] = &[
    row(36, Fails, "", &[("- **Reference:** jepsen-and-elle", "- **Reference:** chaos-monkey")]),
    row(36, Passes, "", &[]),
    row(36, EdgeFails, "", &[("- **Reference:** jepsen-and-elle\n", "")]),
    row(
        36,
        EdgePasses,
        "",
        &[(
            "- **Reference:** jepsen-and-elle",
            "- **Reference file:** \
        `references/jepsen-and-elle.md`",
        )],
    ),
    row(37, Fails, "", &[("- **Cost:** 10 min\n", "")]),
    row(37, Passes, "", &[]),
    row(37, EdgeFails, "", &[("- **Hypotheses:** H2", "- **Hypotheses:** all of them")]),
    row(
        37,
        EdgePasses,
        "",
        &[(
            "- **Catches what others miss:** tails",
            "- **What it catches that others miss:** tails",
        )],
    ),
    row(
        38,
        Fails,
        "A20",
        &[(
            "### performance-and-benchmarking\n\n- **Hypotheses:** H2\n- **Catches what others \
            miss:** tails\n\
          - **Reference:** performance-and-benchmarking\n- **Cost:** 5 min\n",
            "",
        )],
    ),
    row(38, Passes, "", &[]),
    row(38, EdgePasses, "", &[("## 6b. Env", "### a\n### b\n\n## 6b. Env")]),
    row(38, EdgeFails, "", &[("## 6b. Env", "### a\n### b\n### c\n\n## 6b. Env")]),
    row(
        39,
        Fails,
        "",
        &[("- **Technique:** performance-and-benchmarking", "- **Technique:** fuzzing")],
    ),
    row(39, Passes, "", &[]),
    row(
        39,
        EdgePasses,
        "",
        &[(
            "- **Technique:** performance-and-benchmarking",
            "- **Technique:** performance-and-benchmarking (open loop)",
        )],
    ),
    row(
        39,
        EdgeFails,
        "",
        &[(
            "- **Technique:** performance-and-benchmarking",
            "- **Technique:** performance-and-benchmark",
        )],
    ),
    row(40, Fails, "", &[("| Linux | any | S1, S2, S3 |", "| Linux | any | — |")]),
    row(40, Passes, "", &[]),
    row(40, EdgeFails, "", &[("| Linux | any | S1, S2, S3 |", "| Linux | any | all |")]),
    row(40, EdgePasses, "", &[("| Linux | any | S1, S2, S3 |", "| Linux | any | S1-S3 |")]),
    row(41, Fails, "", &[("linearizable_per_key_under_leader_loss", "3_node_cluster_with_chaos")]),
    row(41, Fails, "", &[("linearizable_per_key_under_leader_loss", "Leader loss")]),
    row(41, Passes, "", &[]),
    row(41, EdgeFails, "", &[("linearizable_per_key_under_leader_loss", "linearizable")]),
    row(41, EdgePasses, "", &[("linearizable_per_key_under_leader_loss", "no_loss")]),
    row(42, Fails, "", &[("- **Closes:** H1\n", "")]),
    row(42, Passes, "", &[]),
    row(
        42,
        EdgeFails,
        "",
        &[(
            "- **Falsifies if it FAILs:** C1\n",
            "- **Falsifies if it FAILs:** \
        none\n",
        )],
    ),
    row(42, EdgePasses, "", &[("- **Falsifies if it FAILs:** C1\n", "- Falsifies — C1\n")]),
    row(43, Fails, "", &[("- **Observability required:** client history, proxy counters\n", "")]),
    row(43, Passes, "", &[]),
    row(43, EdgeFails, "", &[("- **Target test file:** tests/auto/s2_latency.rs\n", "")]),
    row(
        43,
        EdgePasses,
        "",
        &[("- **Oracle:** linearizability of the whole history, 0 anomalies\n", "")],
    ),
    row(44, Fails, "A8", &[("p99 <= 200 ms in every window of 10 s", "logs look fine")]),
    row(44, Fails, "", &[("linearizability of the whole history, 0 anomalies", "no leaks")]),
    row(44, Passes, "", &[]),
    row(44, EdgeFails, "", &[("p99 <= 200 ms in every window of 10 s", "p99 is low")]),
    row(44, EdgePasses, "", &[("p99 <= 200 ms in every window of 10 s", "p99 < 200 ms")]),
    row(
        45,
        Fails,
        "E3",
        &[
            ("linearizability of the whole history, 0 anomalies", "logs look fine"),
            ("[checker]\nname = \"linearizability:register\"\n", ""),
            ("p99 <= 200 ms in every window of 10 s", "logs look fine"),
            ("0 rows of other tenants\n", "logs look fine\n"),
            ("0 rows of other tenants in any export", "logs look fine"),
        ],
    ),
    row(45, Passes, "", &[]),
    row(
        45,
        EdgePasses,
        "",
        &[
            ("linearizability of the whole history, 0 anomalies", "logs look fine"),
            ("[checker]\nname = \"linearizability:register\"\n", ""),
            ("0 rows of other tenants\n", "logs look fine\n"),
            ("0 rows of other tenants in any export", "logs look fine"),
        ],
    ),
    row(46, Fails, "", &[("- **Smoke budget:** 2 clients x 20 s x 0 faults x 1 seed\n", "")]),
    row(46, Passes, "", &[]),
    row(
        46,
        EdgeFails,
        "",
        &[(
            "[budget.smoke]\nduration = \"20s\"\nfaults = 1\nseeds = 1\n",
            "[budget.smoke]\nduration = \"20s\"\nfaults = 1\n",
        )],
    ),
    row(
        46,
        EdgePasses,
        "",
        &[(
            "- **Smoke budget:** 2 clients x 20 s x 0 faults x 1 seed\n- **Hardening budget:** 8 \
            clients x 5 min x 3 faults x 3 seeds\n\
          - **Release budget:** 16 clients x 24 h x 30 faults x 30 seeds\n",
            "- **Exit criteria:** pass when p99 <= 200 ms over 5 min\n",
        )],
    ),
    row(47, Fails, "A13", &[("faults = 5\nseeds = 3\n", "faults = 5\nseeds = 1\n")]),
    row(47, Passes, "", &[]),
    row(47, EdgeFails, "", &[("seeds = 3\nclients = 8\n", "seeds = 3\nclients = 4\n")]),
    row(47, EdgePasses, "", &[("seeds = 3\nclients = 8\n", "seeds = 3\nclients = 5\n")]),
    row(
        47,
        EdgeFails,
        "",
        &[("8 clients x 5 min x 3 faults x 3 seeds", "2 clients x 5 min x 3 faults x 3 seeds")],
    ),
    row(48, Fails, "A12", &[("not provided — no rig. Revisit when: there is one.\"", "TBD\"")]),
    row(48, Fails, "", &[("16 clients x 24 h x 30 faults x 30 seeds", "see §6b")]),
    row(48, Passes, "A12", &[]),
    row(
        48,
        EdgeFails,
        "",
        &[("not provided — no rig. Revisit when: there is one.\"", "not provided — no rig.\"")],
    ),
    row(
        48,
        EdgePasses,
        "",
        &[(
            "[budget]\nrelease = \"not provided — no rig. Revisit when: there \
        is one.\"",
            "[budget.release]\nduration = \"24h\"\nfaults = 100\nseeds = 30",
        )],
    ),
    row(
        49,
        Fails,
        "A18",
        &[("// AUTO-GENERATED from docs/plan.md, S2,", "// From docs/plan.md, S2,")],
    ),
    row(49, Passes, "", &[]),
    row(49, EdgeFails, "", &[("// TODO 3 oracle\n", "")]),
    row(49, EdgePasses, "", &[("// TODO 3 oracle\n", "// TODO 3 oracle\n// more\n")]),
    row(50, Fails, "", &[("tests/auto/s2_latency.rs", "/etc/passwd")]),
    row(50, Fails, "", &[("**Skeleton language:** rust", "**Skeleton language:** cobol")]),
    row(50, Passes, "", &[("**Skeleton language:** rust", "**Skeleton language:** Go")]),
    row(50, EdgeFails, "", &[("tests/auto/s2_latency.rs", "tests/../../s2.rs")]),
    row(50, EdgePasses, "", &[("tests/auto/s2_latency.rs", "tests/auto/s2..latency.rs")]),
    row(51, Fails, "", &[]),
    row(
        51,
        Passes,
        "",
        &[
            (
                "#### 7.M Model / history / checker\n",
                "```toml\n[system]\nname=\"kv\"\n```\n\n#### \
            7.M\n",
            ),
            ("#### 7.M.S Surface", "```toml\n[system]\nname=\"kv\"\n```\n\n#### 7.M.S Surface"),
        ],
    ),
    row(
        51,
        EdgePasses,
        "",
        &[
            ("#### 7.M Model / history / checker\n", "```toml\nbroken\n```\n\n#### 7.M\n"),
            (
                "- **Oracle:** 0 rows of other tenants\n",
                "- **Oracle:** 0 rows of other \
            tenants\n\n```toml\nseed = 1\n```\n",
            ),
        ],
    ),
    row(52, Fails, "A5", &[("[reduction]\nreruns = 20\n", "")]),
    row(52, Fails, "", &[("- **Reduction plan:** fixed seed, two tenants, then classify\n", "")]),
    row(
        52,
        Passes,
        "",
        &[
            ("[reduction]\nreruns = 20\n", ""),
            (
                "- **Oracle:** linearizability",
                "- **Reduction plan:** fixed seed, then classify\n- \
            **Oracle:** linearizability",
            ),
        ],
    ),
    row(
        52,
        EdgeFails,
        "",
        &[(
            "landing = { injector = \"dropped >= 1\", victim = \"elections >= 1 \
        within 10s\" }\n",
            "",
        )],
    ),
    row(52, EdgePasses, "", &[("[ambiguity]\ntimeouts = \"unknown\"", "[ambiguity]")]),
    row(
        53,
        Fails,
        "A6",
        &[(
            "- **Oracle:** linearizability",
            "- 7.M: not applicable — no gated \
        claim\n- **Oracle:** linearizability",
        )],
    ),
    row(53, Passes, "A7", &[]),
    row(
        53,
        EdgeFails,
        "",
        &[(
            "**Falsifies if it FAILs:** C2",
            "**Falsifies if it FAILs:** C2, \
        C1",
        )],
    ),
    row(
        53,
        EdgePasses,
        "",
        &[(
            "| C2 | p99 stays below 200 ms | performance-SLO |",
            "| C2 | p99 stays below 200 ms | operational |",
        )],
    ),
    row(54, Fails, "", &[("Not applicable — no gated claim category falsified.", "See above.")]),
    row(54, Passes, "", &[]),
    row(
        54,
        EdgePasses,
        "",
        &[("Not applicable — no gated claim category falsified.", "N/A: latency only.")],
    ),
    row(55, Fails, "", &[("[model]\nname = \"register\"", "[model]\nname = \"regster\"")]),
    row(55, Fails, "", &[("- **Model under test:** map", "- **Model under test:** tree")]),
    row(55, Passes, "", &[]),
    row(55, EdgePasses, "", &[("[model]\nname = \"register\"", "[model]\nname = \"other(tree)\"")]),
    row(55, EdgeFails, "", &[("[model]\nname = \"register\"", "[model]\nname = \"other()\"")]),
    row(
        56,
        Fails,
        "",
        &[(
            "name = \"linearizability:register\"",
            "name = \
        \"linearizability:regster\"",
        )],
    ),
    row(
        56,
        Fails,
        "",
        &[("- **Checker:** property assertion on every answer", "- **Checker:** a good one")],
    ),
    row(
        56,
        Passes,
        "",
        &[(
            "name = \"linearizability:register\"",
            "name = \
        [\"linearizability:register\", \"replicas\"]",
        )],
    ),
    row(
        56,
        EdgePasses,
        "",
        &[(
            "- **Checker:** property assertion on every answer",
            "- **Checker:** none, because the SLO is enough",
        )],
    ),
    row(57, Fails, "", &[("name = \"linearizability:register\"", "name = \"fairness\"")]),
    row(57, Passes, "", &[]),
    row(
        57,
        EdgePasses,
        "",
        &[(
            "name = \"linearizability:register\"",
            "name = \
        \"no-lost-ack\"\njustification = \"only loss is claimed\"",
        )],
    ),
    row(57, EdgeFails, "", &[("name = \"linearizability:register\"", "name = \"no-lost-ack\"")]),
    row(58, Fails, "", &[("[model]\nname = \"register\"", "[model]\nname = \"other(tree)\"")]),
    row(58, Passes, "", &[]),
    row(
        58,
        EdgeFails,
        "",
        &[(
            "[checker]\nname = \"linearizability:register\"",
            "[checker]\njustification = \"because\"",
        )],
    ),
    row(
        58,
        EdgePasses,
        "",
        &[(
            "[checker]\nname = \"linearizability:register\"",
            "[checker]\njustification = \"sums are compared at the end\"",
        )],
    ),
    row(
        59,
        Fails,
        "A9",
        &[(
            "victim = \"elections >= 1 within 10s\"",
            "victim = \"injector \
        returned 0\"",
        )],
    ),
    row(
        59,
        Fails,
        "A9",
        &[("restart; a new process id and a log line", "restart; injector returned 0")],
    ),
    row(59, Passes, "", &[]),
    row(59, EdgeFails, "", &[("restart; a new process id and a log line", "restart; it is there")]),
    row(
        59,
        EdgePasses,
        "",
        &[("restart; a new process id and a log line", "restart; returned 0 and a log line")],
    ),
    row(60, Fails, "", &[("injector = \"dropped >= 1\"", "injector = \"droped >= 1\"")]),
    row(60, Fails, "", &[("injector = \"dropped >= 1\"", "injector = \"elections >= 1\"")]),
    row(
        60,
        Passes,
        "",
        &[(
            "injector = \"dropped >= 1\"",
            "injector = \"dropped >= 1 and resets > \
        0\"",
        )],
    ),
    row(60, EdgeFails, "", &[("injector = \"dropped >= 1\"", "injector = \"dropped >= 0\"")]),
    row(60, EdgePasses, "", &[("injector = \"dropped >= 1\"", "injector = \"dropped > 0\"")]),
    row(61, Fails, "", &[("fault = \"leader-iso\"", "fault = \"leader-isl\"")]),
    row(61, Fails, "", &[("restart; a new process id and a log line", "trouble; a log line")]),
    row(61, Passes, "", &[]),
    row(61, EdgePasses, "", &[("fault = \"leader-iso\"", "fault = \"leader-isolation\"")]),
    row(
        62,
        Fails,
        "",
        &[(
            "recording = \"in-process\"",
            "recording = \"in-process\"\nwithout = \
        [\"node_seen\"]",
        )],
    ),
    row(
        62,
        Passes,
        "",
        &[(
            "recording = \"in-process\"",
            "recording = \"in-process\"\ncolumns = \
        [\"shard\"]",
        )],
    ),
    row(
        62,
        EdgePasses,
        "",
        &[(
            "recording = \"in-process\"",
            "recording = \"in-process\"\nwithout \
        = [\"error\"]",
        )],
    ),
    row(
        62,
        EdgeFails,
        "",
        &[(
            "recording = \"in-process\"",
            "recording = \"in-process\"\nwithout = \
        [\"timeout_marker\"]",
        )],
    ),
    row(
        63,
        Fails,
        "",
        &[(
            "name = \"linearizability:register\"",
            "name = \"exactly-once\"\noptions \
        = { business-key = \"op_id\" }",
        )],
    ),
    row(
        63,
        Passes,
        "",
        &[(
            "name = \"linearizability:register\"",
            "name = \
        \"exactly-once\"\noptions = { business-key = \"order\" }",
        )],
    ),
    row(
        63,
        EdgeFails,
        "",
        &[(
            "- **Checker:** property assertion on every answer",
            "- **Checker:** exactly-once, grouped by op_id",
        )],
    ),
    row(
        63,
        EdgePasses,
        "",
        &[(
            "- **Checker:** property assertion on every answer",
            "- **Checker:** exactly-once by order id, not by op_id",
        )],
    ),
];

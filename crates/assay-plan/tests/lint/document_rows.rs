//! Rows about header, sections, tables, ids, claims, hypotheses and the matrix.

use super::{EdgeFails, EdgePasses, Edit, Fails, Passes, Row, row};

fn with_summary(base: &str, lines: usize) -> String {
    let text: String = (0..lines).map(|i| format!("line {i}\n")).collect();
    base.replacen("Clients talk to any of three nodes; one leads.\n", &text, 1)
}

/// A project-wide plan with this matrix, and the roll-up if asked.
fn project_wide(base: &str, matrix: &str) -> String {
    let section_3 = "## 3. Existing test inventory\n\n| Test / harness | Subsystem | Invariant \
                     pinned | Failure modes it catches |\n|---|---|---|---|\n| a | b | c | d |\n\n";
    let section_5 = format!("## 5. Coverage matrix\n\n{matrix}\n\n");
    base.replacen("change-scoped", "project-wide", 1)
        .replacen("Reads go through the log now.", "Reads. Out of scope: the demo.", 1)
        .replacen("## 4. Failure", &format!("{section_3}## 4. Failure"), 1)
        .replacen("## 6. Technique", &format!("{section_5}## 6. Technique"), 1)
}

const HEAD: &str = "| Claim | Hypothesis | Existing tests | Verdict | Gap kind | Recommended \
                    scenario |\n|---|---|---|---|---|---|\n";

fn matrix(base: &str, rows: &str) -> String {
    project_wide(base, &format!("{HEAD}{rows}"))
}

const GOOD_ROWS: &str = "| C1 | H1 | t | not covered | no test | S1 |\n\
                         | C3 | H3 | t | partial | shallow test | S3 |\n\
                         | C2 | H2 | t | covered | — | — |";

fn claims(base: &str, count: usize, rollup: bool) -> String {
    let more: String = (4..=count)
        .map(|i| format!("| C{i} | claim {i} | liveness | README.md | no |\n"))
        .collect();
    let rollup = if rollup {
        "| Claim | Rolled verdict | Hypotheses not covered |\n|---|---|---|\n| C1 | partial | 1 \
            |\n\n"
    } else {
        ""
    };
    let base = base.replacen("\n## 1c.", &format!("{more}\n## 1c."), 1);
    let base = base.replacen(" |\n\n| C4", " |\n| C4", 1);
    project_wide(&base, &format!("{rollup}{HEAD}{GOOD_ROWS}"))
}

pub(super) const ROWS: &[Row] = &[
    Row(1, Fails, "", Edit::Make(|base| base.to_string() + &"x".repeat(4 * 1024 * 1024))),
    row(1, Passes, "", &[]),
    Row(1, EdgeFails, "", Edit::Make(|base| format!("{base}\n{} deep", ">".repeat(33)))),
    Row(1, EdgePasses, "", Edit::Make(|base| format!("{base}\n{} deep", ">".repeat(32)))),
    row(2, Fails, "", &[("# Test Plan: register-under-partition", "# Register")]),
    row(2, Passes, "", &[]),
    row(2, EdgeFails, "", &[("# Test Plan: register-under-partition", "# Test Plan:")]),
    row(2, EdgePasses, "", &[("# Test Plan: register", "# Test plan — register")]),
    row(3, Fails, "A19", &[("register-under-partition", "plan-1")]),
    row(3, Passes, "", &[]),
    row(3, EdgeFails, "", &[("register-under-partition", "Register")]),
    row(3, EdgePasses, "", &[("register-under-partition", "plan-for-append2")]),
    row(4, Fails, "", &[("- **SUT:** kv 0.1\n", "")]),
    row(4, Passes, "", &[]),
    row(4, EdgeFails, "", &[("- **SUT:** kv 0.1\n", "- **SUT:** —\n")]),
    row(4, EdgePasses, "", &[("- **SUT:** kv 0.1\n", "* SUT — kv 0.1\n")]),
    row(5, Fails, "", &[("**Status:** draft", "**Status:** done")]),
    row(5, Fails, "", &[("2026-11-16", "16 November")]),
    row(5, Passes, "", &[("**Status:** draft", "**Status:** Executed")]),
    row(5, EdgeFails, "", &[("2026-11-16", "2026-02-30")]),
    row(5, EdgePasses, "", &[("2026-11-16", "2028-02-29")]),
    row(6, Fails, "A1", &[("## 2. SUT model\n", "")]),
    row(6, Fails, "A10", &[("## 1c. Missing claims discovered\n", "")]),
    row(6, Fails, "A11", &[("change-scoped", "project-wide")]),
    row(6, Passes, "A11", &[]),
    row(6, EdgeFails, "", &[("## 2. SUT model", "### 2. SUT model")]),
    row(6, EdgePasses, "", &[("## 2. SUT model", "## SUT model")]),
    row(
        7,
        Fails,
        "",
        &[(
            "## 9. Open",
            "## 8. What this plan does NOT cover\n\n- x\n\n## 9. \
        Open",
        )],
    ),
    row(7, Passes, "", &[]),
    row(7, EdgePasses, "", &[("## 9. Open", "### 8. Again\n\n- x\n\n## 9. Open")]),
    row(8, Fails, "", &[("## 8. What", "## 9. Open\n\n- y\n\n## 8. What")]),
    row(8, Passes, "", &[]),
    row(8, EdgePasses, "", &[("## 9. Open questions / followups\n\n- Power", "\n- Power")]),
    row(9, Fails, "", &[("## 9. Open", "## 10. Appendix\n\nx\n\n## 9. Open")]),
    row(9, Passes, "", &[]),
    row(9, EdgePasses, "", &[("## 9. Open", "### Appendix\n\nx\n\n## 9. Open")]),
    row(10, Fails, "", &[("Reads go through the log now.", "{what is added}")]),
    row(10, Fails, "", &[("name = \"kv\"", "name = \"{system}\"")]),
    row(10, Passes, "", &[("Reads go through", "Reads of `{key}` go through")]),
    row(10, EdgePasses, "", &[("Reads go through", "Reads {} go } through { <!-- {x} -->")]),
    Row(11, Fails, "A15", Edit::Make(|base| with_summary(base, 31))),
    row(11, Passes, "", &[]),
    Row(11, EdgePasses, "", Edit::Make(|base| with_summary(base, 30))),
    Row(
        11,
        EdgePasses,
        "",
        Edit::Make(|base| {
            with_summary(base, 30).replacen("## 1. Scope", "<!-- a\nb\nc -->\n\n## 1. Scope", 1)
        }),
    ),
    row(
        12,
        Fails,
        "",
        &[(
            "| M1 | peers answer within a second | code: PEER_TIMEOUT | document it \
        |\n",
            "",
        )],
    ),
    row(12, Fails, "", &[("- Backups.\n", "")]),
    row(12, Passes, "", &[]),
    row(
        12,
        EdgePasses,
        "A10",
        &[(
            "| ID | Behavior the code relies on | Source / evidence | Suggested action \
            |\n|---|---|---|---|\n\
          | M1 | peers answer within a second | code: PEER_TIMEOUT | document it |",
            "None: docs and code agree.",
        )],
    ),
    row(12, EdgeFails, "", &[("- Backups.\n", "<!-- nothing -->\n")]),
    Row(
        13,
        Fails,
        "",
        Edit::Make(|base| {
            matrix(base, GOOD_ROWS).replacen(
                "Out of scope: the \
        demo.",
                "",
                1,
            )
        }),
    ),
    Row(13, Passes, "", Edit::Make(|base| matrix(base, GOOD_ROWS))),
    row(13, EdgePasses, "", &[]),
    row(
        14,
        Fails,
        "",
        &[("| ID | Claim | Category | Source | Inferred? |", "Claims:\n\n| a | b | c | d | e |")],
    ),
    Row(14, Fails, "", Edit::Make(|base| project_wide(base, "All is covered."))),
    row(14, Passes, "", &[]),
    row(
        14,
        EdgeFails,
        "",
        &[
            ("| C1 | reads are linearizable per key | safety | README.md | no |\n", ""),
            ("| C2 | p99 stays below 200 ms | performance-SLO | README.md | no |\n", ""),
            (
                "| C3 | tenants do not see each other | boundary | code: Tenant | partial — docs \
                    are \
            silent |\n",
                "",
            ),
        ],
    ),
    row(14, EdgePasses, "", &[("| C3 | tenants do not see", "| C4 | tenants do not see")]),
    row(
        15,
        Fails,
        "",
        &[(
            "| ID | Claim | Category | Source | Inferred? |",
            "| ID | Claim | Category | Source | Derived |",
        )],
    ),
    row(15, Passes, "", &[]),
    row(
        15,
        EdgeFails,
        "",
        &[("| Claim | Aspect | Confidence | Reason |", "| Claim | Confidence | Aspect | Reason |")],
    ),
    row(15, EdgePasses, "", &[("| ID | Claim | Category |", "| id | **claim** | category |")]),
    row(16, Fails, "", &[("| safety | README.md | no |", "| safety | | no |")]),
    row(16, Passes, "", &[]),
    row(16, EdgeFails, "", &[("| safety | README.md | no |", "| safety | README.md |")]),
    Row(
        16,
        EdgePasses,
        "",
        Edit::Make(|base| matrix(base, &GOOD_ROWS.replace("| C2 | H2 | t |", "| C2 | H2 | |"))),
    ),
    row(17, Fails, "", &[("| C1 | reads", "| Claim 1 | reads")]),
    row(17, Fails, "", &[("### Scenario S1:", "### Scenario one:")]),
    row(17, Passes, "", &[]),
    row(17, EdgeFails, "", &[("H1. **A deposed", "H99999999999. **A deposed")]),
    row(17, EdgePasses, "", &[("| C1 | reads", "| **C1** | reads")]),
    row(18, Fails, "", &[("| C2 | p99", "| C1 | p99")]),
    row(18, Fails, "", &[("### Scenario S2:", "### Scenario S1:")]),
    row(18, Passes, "", &[]),
    row(18, EdgeFails, "", &[("#### Arm S3/export:", "#### Arm S3/api:")]),
    row(18, EdgePasses, "", &[("| M1 |", "| M2 |")]),
    row(19, Fails, "", &[("| C3 | tenants", "| C5 | tenants")]),
    row(19, Passes, "", &[]),
    row(19, EdgeFails, "", &[("| M1 |", "| M2 |")]),
    row(
        19,
        EdgePasses,
        "",
        &[("H1. **A", "H4. **A"), ("H2. **E", "H1. **E"), ("H4. **A", "H2. **A")],
    ),
    row(20, Fails, "A4", &[("**Falsifies if it FAILs:** C1", "**Falsifies if it FAILs:** C9")]),
    row(20, Fails, "", &[("| Linux | any | S1, S2, S3 |", "| Linux | any | S1, S3/sdk |")]),
    row(20, Passes, "", &[("| Linux | any | S1, S2, S3 |", "| Linux | any | S1, S3/api |")]),
    row(20, EdgeFails, "", &[("- **Closes:** H2", "- **Closes:** H2-H4")]),
    row(20, EdgePasses, "", &[("- **Closes:** H2", "- **Closes:** H1-H3")]),
    row(21, Fails, "", &[("| safety |", "| tenancy |")]),
    row(21, Passes, "", &[]),
    row(21, EdgePasses, "", &[("| safety |", "| Safety |")]),
    row(21, EdgeFails, "", &[("| safety |", "| safety, liveness |")]),
    row(22, Fails, "", &[("| README.md | no |", "| README.md | perhaps |")]),
    row(22, Passes, "", &[("| README.md | no |", "| README.md | YES |")]),
    row(22, EdgeFails, "", &[("partial — docs are silent", "partial —")]),
    row(22, EdgePasses, "", &[("partial — docs are silent", "partial: x")]),
    row(
        23,
        Fails,
        "",
        &[("| code: Tenant | partial — docs are silent |", "| code: Tenant | no |")],
    ),
    row(23, Passes, "", &[]),
    row(23, EdgeFails, "", &[("| README.md | no |", "| (inferred from N) | no |")]),
    row(23, EdgePasses, "", &[("| README.md | no |", "| docs/codes.md | no |")]),
    row(24, Fails, "", &[("**Falsifies if it FAILs:** C2", "**Falsifies if it FAILs:** C1")]),
    row(24, Passes, "", &[]),
    row(
        24,
        EdgePasses,
        "",
        &[
            ("**Falsifies if it FAILs:** C2", "**Falsifies if it FAILs:** C1"),
            (
                "#### Arm S3/api: denied_over_the_api\n",
                "#### Arm S3/api: denied_over_the_api\n\n- \
            **Falsifies if it FAILs:** C2\n",
            ),
        ],
    ),
    row(25, Fails, "A2", &[("Could falsify: C1\n", "")]),
    row(25, Passes, "", &[]),
    row(25, EdgeFails, "", &[("Could falsify: C1\n", "Could falsify: M1\n")]),
    row(25, EdgePasses, "", &[("Could falsify: C1\n", "- **Could falsify** — C1\n")]),
    row(26, Fails, "A3", &[("- **Closes:** H2", "- **Closes:** H1")]),
    row(26, Passes, "", &[]),
    row(
        26,
        EdgePasses,
        "",
        &[
            ("- **Closes:** H1\n", "- **Closes:** H1 to H3\n"),
            ("- **Closes:** H2", "- **Closes:** H1"),
        ],
    ),
    row(27, Fails, "", &[("Suspected because: code: read path\n", "")]),
    row(27, Passes, "", &[]),
    row(27, EdgeFails, "", &[("Subsystem: replication", "Subsystem: —")]),
    row(
        27,
        EdgePasses,
        "",
        &[(
            "H1. **A deposed leader answers** — it does not know yet.\nCould",
            "#### H1. A deposed leader answers\n\n- Could",
        )],
    ),
    row(28, Fails, "", &[("### Configuration\n\nN/A — no settings.\n", "")]),
    row(28, Passes, "", &[]),
    row(28, EdgeFails, "", &[("N/A — no settings.", "N/A")]),
    row(
        28,
        EdgePasses,
        "",
        &[("### Configuration\n\nN/A — no settings.\n", "- Configuration: N/A — no settings.\n")],
    ),
    row(29, Fails, "", &[("| # | Pitfall | Answer | Hypothesis or reason |", "| a | b | c | d |")]),
    row(29, Passes, "", &[]),
    row(29, EdgeFails, "", &[("| 16 | Blocking | n | no outbox |\n", "")]),
    row(29, EdgePasses, "", &[("| 16 | Blocking", "| 16 | Anything")]),
    row(30, Fails, "", &[("| Lost update | y | H1 |", "| Lost update | ? | H1 |")]),
    row(30, Fails, "", &[("| Divergence | n | one log |", "| Divergence | n | — |")]),
    row(30, Passes, "", &[("| Lost update | y | H1 |", "| Lost update | yes | H1 |")]),
    row(30, EdgeFails, "", &[("| Lost update | y | H1 |", "| Lost update | y | it may be |")]),
    row(
        30,
        EdgePasses,
        "",
        &[(
            "| Stale read | maybe | H1 |",
            "| Stale read | maybe | dropped: one \
        reader |",
        )],
    ),
    Row(31, Fails, "", Edit::Make(|base| matrix(base, &GOOD_ROWS.replace("partial", "half")))),
    Row(31, Passes, "", Edit::Make(|base| matrix(base, GOOD_ROWS))),
    Row(
        31,
        EdgeFails,
        "",
        Edit::Make(|base| matrix(base, &GOOD_ROWS.replace("shallow test", "shallow"))),
    ),
    Row(
        31,
        EdgePasses,
        "",
        Edit::Make(|base| matrix(base, &GOOD_ROWS.replace("shallow test", "no scale variant"))),
    ),
    Row(
        32,
        Fails,
        "",
        Edit::Make(|base| {
            matrix(base, &GOOD_ROWS.replace("| covered | — | — |", "| covered | no test | S2 |"))
        }),
    ),
    Row(32, Passes, "", Edit::Make(|base| matrix(base, GOOD_ROWS))),
    Row(
        32,
        EdgeFails,
        "",
        Edit::Make(|base| matrix(base, &GOOD_ROWS.replace("| no test | S1 |", "| no test | — |"))),
    ),
    Row(
        32,
        EdgePasses,
        "",
        Edit::Make(|base| {
            matrix(
                base,
                &GOOD_ROWS.replace(
                    "| covered | — | — \
        |",
                    "| covered | - | |",
                ),
            )
        }),
    ),
    Row(
        33,
        Fails,
        "",
        Edit::Make(|base| {
            matrix(base, &{
                let mut rows: Vec<&str> = GOOD_ROWS.lines().collect();
                rows.reverse();
                rows.join("\n")
            })
        }),
    ),
    Row(33, Passes, "", Edit::Make(|base| matrix(base, GOOD_ROWS))),
    Row(
        33,
        EdgePasses,
        "",
        Edit::Make(|base| matrix(base, &GOOD_ROWS.replace("partial", "not covered"))),
    ),
    Row(34, Fails, "A23", Edit::Make(|base| claims(base, 60, false))),
    Row(34, Passes, "", Edit::Make(|base| claims(base, 60, true))),
    Row(34, EdgeFails, "", Edit::Make(|base| claims(base, 50, false))),
    Row(34, EdgePasses, "", Edit::Make(|base| claims(base, 49, false))),
    Row(
        35,
        Fails,
        "",
        Edit::Make(|base| {
            matrix(
                base,
                &GOOD_ROWS.replace(
                    "| C2 | H2 | t | covered \
        | — | — |",
                    "",
                ),
            )
        }),
    ),
    Row(35, Passes, "", Edit::Make(|base| matrix(base, GOOD_ROWS))),
    row(35, EdgePasses, "", &[]),
];

//! Rows about surfaces, arms, adequacy and confidence.

use super::{EdgeFails, EdgePasses, Fails, Passes, Row, row};

/// The decomposition of S3 as it stands in the base.
const SURFACES: &str = "#### 7.M.S Surface decomposition

- **Surfaces:** API, export, admin
- **Operations:** read, list, export
- **Adversarial inputs:** acme/ and acme-corp/
- **Positive controls:** the owner reads
- **Negative controls:** others are denied and leave no trace
- **Delayed / async paths:** export job
- **Observability paths:** metrics
- **Scenario arms:** S3/api, S3/export
";

/// The arms of S3 become unlabelled prose: the scenario has none.
const NO_ARMS: [(&str, &str); 2] =
    [("#### Arm S3/api:", "#### About"), ("#### Arm S3/export:", "#### About")];

pub(super) const ROWS: &[Row] = &[
    row(64, Fails, "", &[(SURFACES, "")]),
    row(64, Passes, "", &[]),
    row(
        64,
        EdgeFails,
        "",
        &[(
            SURFACES,
            "#### 7.M.S Surface decomposition\n\nNot applicable — one \
        door.\n",
        )],
    ),
    row(64, EdgePasses, "", &[("| boundary |", "| liveness |"), (SURFACES, "")]),
    row(
        65,
        Fails,
        "A16",
        &[("- **Negative controls:** others are denied and leave no trace\n", "")],
    ),
    row(65, Passes, "", &[]),
    row(65, EdgeFails, "", &[("others are denied and leave no trace", "—")]),
    row(
        65,
        EdgePasses,
        "",
        &[(
            "**Delayed / async paths:** export job",
            "**Delayed/async paths:** none, all is synchronous",
        )],
    ),
    row(
        66,
        Fails,
        "A17",
        &[("API, export, admin", "API, SDK, export, admin"), NO_ARMS[0], NO_ARMS[1]],
    ),
    row(66, Passes, "", &[("API, export, admin", "API, SDK, export, admin")]),
    row(66, EdgePasses, "", &[NO_ARMS[0], NO_ARMS[1]]),
    row(
        66,
        EdgeFails,
        "",
        &[
            NO_ARMS[0],
            NO_ARMS[1],
            (
                "- **Observability required:** audit log",
                "- **Oracle:** both:\n  - 0 rows in answers\n  \
            - 0 rows in exports\n- **Observability required:** audit log",
            ),
        ],
    ),
    row(
        67,
        Fails,
        "A22",
        &[("linearizable_per_key_under_leader_loss", "linearizable_per_shard_under_loss")],
    ),
    row(67, Passes, "", &[("tenants_denied_on_every_door", "multi_tenant_denied_on_every_door")]),
    row(
        67,
        EdgeFails,
        "",
        &[
            ("tenants_denied_on_every_door", "regions_denied_on_every_door"),
            ("API, export, admin", "API"),
        ],
    ),
    row(
        67,
        EdgePasses,
        "",
        &[("linearizable_per_key_under_leader_loss", "cancelled_regionally_under_loss")],
    ),
    row(68, Fails, "", &[("API, export, admin", "API")]),
    row(68, Passes, "", &[]),
    row(68, EdgeFails, "", &[("API, export, admin", "API, export")]),
    row(
        68,
        EdgePasses,
        "",
        &[(
            "API, export, admin",
            "API, export (two, because there is nothing \
        else)",
        )],
    ),
    row(
        69,
        Fails,
        "",
        &[
            ("| boundary |", "| fairness |"),
            ("0 rows of other tenants\n", "p99 <= 5 ms\n"),
            ("0 rows of other tenants in any", "p99 <= 5 ms in any"),
        ],
    ),
    row(69, Passes, "", &[]),
    row(
        69,
        EdgePasses,
        "",
        &[
            ("| boundary |", "| fairness |"),
            ("0 rows of other tenants\n", "worst_group_p99 / p99 <= 3\n"),
        ],
    ),
    row(
        69,
        EdgeFails,
        "",
        &[
            ("| boundary |", "| fairness |"),
            ("0 rows of other tenants\n", "linearizability per tenant\n"),
            ("0 rows of other tenants in any", "p99 <= 5 ms in any"),
        ],
    ),
    row(
        70,
        Fails,
        "",
        &[("tenants_denied_on_every_door", "denied_across_all_surfaces"), NO_ARMS[0], NO_ARMS[1]],
    ),
    row(70, Passes, "", &[]),
    row(70, EdgePasses, "", &[("tenants_denied_on_every_door", "denied_across_all_surfaces")]),
    row(71, Fails, "", &[("S3/api, S3/export\n", "S3/api, S3/export, S3/sdk\n")]),
    row(71, Fails, "", &[("- **Oracle:** 0 rows of other tenants\n", "")]),
    row(71, Passes, "", &[]),
    row(71, EdgeFails, "", &[("S3/api, S3/export\n", "S3/api\n")]),
    row(
        71,
        EdgePasses,
        "",
        &[(
            "- **Oracle:** 0 rows of other tenants\n",
            "\n```toml\n[checker]\nname = \"property\"\n```\n\n- x\n",
        )],
    ),
    row(72, Fails, "A21", &[("| C2 | (a) stalls | S2 (a) | whole distribution |\n", "")]),
    row(72, Passes, "", &[]),
    row(
        72,
        EdgePasses,
        "",
        &[
            ("| C2 | (a) stalls | S2 (a) | whole distribution |\n", ""),
            ("| C3 | (a) prefix", "| C2, C3 | (a) prefix"),
        ],
    ),
    row(73, Fails, "", &[("| C1 (b) clock skew |", "| clock skew |")]),
    row(73, Passes, "", &[]),
    row(73, EdgeFails, "", &[("| C1 (b) clock skew |", "| C2 (b) clock skew |")]),
    row(
        73,
        EdgePasses,
        "",
        &[("| C1 (b) clock skew |", "| clock skew |"), ("| S1 (a) |", "| S1 (a), S2 (b) |")],
    ),
    row(74, Fails, "A14", &[("C1 and C2 held", "Data cannot lose. C1 and C2 held")]),
    row(74, Passes, "", &[]),
    row(74, EdgePasses, "", &[("Do not conclude anything", "One cannot conclude anything")]),
    row(74, EdgeFails, "", &[("Do not conclude anything", "It is guaranteed: anything")]),
    row(
        75,
        Fails,
        "",
        &[(
            "Scenarios share\none client library. The checker has gone red on a \
        seeded stale read. Do not conclude anything about\npower loss.",
            "",
        )],
    ),
    row(75, Passes, "", &[]),
    row(75, EdgePasses, "", &[("power loss.", "power loss. Six. Seven. Eight.")]),
    row(75, EdgeFails, "", &[("power loss.", "power loss. Six. Seven. Eight. Nine.")]),
    row(76, Fails, "", &[("| C3 | API | high | S3/api |\n", "")]),
    row(76, Fails, "", &[("| C3 | API | high |", "| C3 | API | certain |")]),
    row(76, Passes, "", &[]),
    row(
        76,
        EdgePasses,
        "",
        &[
            ("| C3 | API | high | S3/api |\n", ""),
            ("power loss.", "power loss. Every aspect is high."),
        ],
    ),
    row(77, Fails, "", &[("The admin surface is NOT-RUN.", "There is a client.")]),
    row(77, Passes, "", &[]),
    row(77, EdgePasses, "", &[("The admin surface is NOT-RUN.", "Every surface is run.")]),
    row(78, Fails, "", &[("two tenants with near names", "two tenants (aspirational)")]),
    row(78, Passes, "", &[]),
    row(78, EdgePasses, "", &[("- Power loss —", "- Future work: power loss —")]),
];

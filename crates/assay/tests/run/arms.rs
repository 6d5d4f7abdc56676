//! Scenarios that are split into arms, each with a workload and budgets of its own.

use crate::support::{cut_off_plan, run, scratch, text, write};
use serde_json::Value;

const SURFACES: &str = "#### 7.M.S Surface decomposition

- **Surfaces:** API, bulk
- **Operations:** read, write, cas
- **Adversarial inputs:** none beyond values that are never the same
- **Positive controls:** every client reads and writes
- **Negative controls:** none, nothing is forbidden
- **Delayed / async paths:** none
- **Observability paths:** the history
- **Scenario arms:** S1/api, S1/bulk

";

fn arm(name: &str, clients: u32, rate: u32) -> String {
    format!(
        r#"#### Arm S1/{name}: over_{name}

- **Oracle:** linearizability of every key, 0 anomalies

```toml
[workload]
generator = "register"
clients = {clients}
rate = {rate}
keys = 3
mix = {{ read = 50, write = 35, cas = 15 }}
timeout = "1s"

[budget.smoke]
duration = "3s"
faults = 1
seeds = 1

[budget.hardening]
duration = "6s"
faults = 3
seeds = 3
clients = {}
```

"#,
        clients + 3
    )
}

#[test]
fn arms_with_a_workload_of_their_own_get_a_report() {
    let directory = scratch();
    let plan = cut_off_plan();
    let end = plan.find("## 7b.").expect("what comes after the scenarios");
    let arms = format!("{SURFACES}{}{}", arm("api", 6, 100), arm("bulk", 4, 60));
    let plan = format!("{}{arms}{}", &plan[..end], &plan[end..]);
    let plan = write(directory.path(), "plan.md", &plan);
    let root = directory.path().join("run");
    let words = ["run", text(&plan), "--directory", text(&root), "--tier", "smoke"];
    let ended = run(&words);
    assert!(matches!(ended.code, Some(0 | 2)), "a report is made: {ended:#?}");
    let results = root.join("results.json");
    let record = std::fs::read_to_string(&results).expect("a record");
    let record: Value = serde_json::from_str(&record).expect("JSON");
    let arms = record["scenarios"][0]["arms"].as_array().expect("arms");
    let tiers: Vec<&Value> = arms.iter().map(|arm| &arm["facts"]["tier"]).collect();
    assert_eq!(tiers, ["smoke", "smoke"], "{arms:#?}");
    assert!(arms[1]["budgets"].is_object(), "{:#}", arms[1]);
    // And again, from the record alone.
    let again = run(&["report", text(&results)]);
    assert_eq!(again.code, ended.code, "{again:#?}");
}

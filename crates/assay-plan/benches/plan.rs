//! How long a large plan takes to read and lint: `make bench`.
//!
//! 100 claims, 300 hypotheses and 200 scenarios is more than anybody wrote yet. The same plan
//! twice, four and eight times as large shows that the cost grows with the size and not faster.

use std::fmt::Write;
use std::hint::black_box;
use std::time::{Duration, Instant};

const CLAIMS: usize = 100;
const HYPOTHESES: usize = 300;
const SCENARIOS: usize = 200;
const RUNS: usize = 7;

fn main() {
    println!(
        "\nplan: {CLAIMS} claims, {HYPOTHESES} hypotheses, {SCENARIOS} scenarios at 1x; \
        medians of {RUNS}"
    );
    println!(
        "{:<6} {:>10} {:>10} {:>10} {:>10} {:>9}  findings",
        "size", "bytes", "read", "lint", "together", "growth"
    );
    let mut before: Option<Duration> = None;
    for factor in [1, 2, 4, 8] {
        let text = made_up(factor);
        let (mut reads, mut lints, mut found) = (vec![], vec![], 0);
        for _ in 0..RUNS {
            let start = Instant::now();
            let plan = assay_plan::parse(black_box(&text));
            reads.push(start.elapsed());
            let start = Instant::now();
            found = black_box(assay_plan::lint(&plan)).len();
            lints.push(start.elapsed());
        }
        let (read, lint) = (median(reads), median(lints));
        let together = read + lint;
        let growth = before.map_or(String::new(), |before| {
            format!("{:.2}x", together.as_secs_f64() / before.as_secs_f64())
        });
        println!(
            "{factor}x {:>14} {:>8.1}ms {:>8.1}ms {:>8.1}ms {growth:>9}  {found}",
            text.len(),
            read.as_secs_f64() * 1e3,
            lint.as_secs_f64() * 1e3,
            together.as_secs_f64() * 1e3,
        );
        before = Some(together);
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// A plan that breaks next to no rule.
fn made_up(factor: usize) -> String {
    let base = include_str!("../tests/lint/base.md");
    let (claims, hypotheses, scenarios) =
        (CLAIMS * factor, HYPOTHESES * factor, SCENARIOS * factor);
    let section = |from: &str, to: &str| {
        let start = base.find(from).expect("the base has it");
        let end = base[start..].find(to).map_or(base.len(), |end| start + end);
        &base[start..end]
    };
    let mut text = section("# Test Plan", "| C1 |").to_string();
    for i in 1..=claims {
        writeln!(
            text,
            "| C{i} | reads of part {i} are linearizable | safety | README.md | no \
            |"
        )
        .expect("strings grow");
    }
    text += "\n";
    text += section("## 1c.", "### Correctness");
    text += "### Correctness\n\n";
    for i in 1..=hypotheses {
        let claim = 1 + i % claims;
        writeln!(
            text,
            "H{i}. **Part {i} fails** — it may.\nCould falsify: C{claim}\nSuspected because: \
             intuition\nSubsystem: part {i}\n"
        )
        .expect("strings grow");
    }
    text += "### Performance/fairness\n\nN/A — none.\n\n";
    text += section("### Durability", "### Scenario S1");
    let block = section("```toml", "### Scenario S2");
    for i in 1..=scenarios {
        let (first, second) = (1 + i % hypotheses, 1 + (i + scenarios) % hypotheses);
        let claim = 1 + i % claims;
        writeln!(
            text,
            "### Scenario S{i}: linearizable_under_loss_of_part_{i}\n\n- **Falsifies if it \
                FAILs:** \
             C{claim}\n- **Closes:** H{first}, H{second}\n- **Technique:** jepsen-and-elle\n- \
             **Oracle:** linearizability of the whole history, 0 anomalies\n- **Observability \
             required:** client history\n\n{block}"
        )
        .expect("strings grow");
    }
    text += section("## 7b.", "| C1 | (a)");
    for i in 1..=claims {
        writeln!(text, "| C{i} | (a) loss | S{} (a) | seen |", 1 + i % scenarios).expect(
            "strings \
            grow",
        );
    }
    text += "\n";
    text + section("## 7c.", "\u{0}")
}

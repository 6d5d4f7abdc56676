//! New plans: a commented document in which only the author's thinking is missing.
//!
//! ```
//! use assay_plan::template::{Request, new_plan};
//! use assay_plan::words::Mode;
//! use assay_plan::{Severity, lint, parse};
//!
//! let text = new_plan(&Request {
//!     slug: "append-survives-leader-loss",
//!     sut: "orders log",
//!     mode: Mode::ChangeScoped,
//!     model: "log",
//!     date: "2026-11-16",
//! });
//! let found = lint(&parse(&text));
//! let errors = found.iter().filter(|d| d.severity() == Severity::Error);
//! assert!(errors.into_iter().all(|d| d.code.to_string() == "P010"), "only placeholders are left");
//! ```

mod presets;

use crate::catalogue::{PITFALLS, TECHNIQUES};
use crate::models::{MODELS, pick};
use crate::words::{HypothesisKind, Mode};
use presets::Preset;

const PLAN: &str = include_str!("../templates/plan.txt");

/// What a new plan is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request<'r> {
    /// Its name.
    pub slug: &'r str,
    /// The system.
    pub sut: &'r str,
    /// What it covers.
    pub mode: Mode,
    /// The model of its first scenario; `register` if it is not known.
    pub model: &'r str,
    /// Today, YYYY-MM-DD.
    pub date: &'r str,
}

/// The text of a new plan.
pub fn new_plan(request: &Request<'_>) -> String {
    let model = MODELS.iter().find(|model| model.name == request.model).unwrap_or(&MODELS[0]);
    let preset = Preset::of(model.name);
    let checkers = preset.checkers.unwrap_or(&pick(model.name, preset.category)[..1]);
    let quoted: Vec<String> = checkers.iter().map(|name| format!("\"{name}\"")).collect();
    let checker = match &quoted[..] {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    let critical: Vec<String> =
        model.critical.iter().map(|(column, why)| format!("{column} ({why})")).collect();
    let oracle = format!(
        "{} over the whole history, 0 anomalies; the final read after quiescence included",
        checkers.join(" and ")
    );
    let project_wide = request.mode == Mode::ProjectWide;
    let technique = "jepsen-and-elle";
    let pairs: [(&str, String); 26] = [
        ("slug", one_line(request.slug)),
        ("date", one_line(request.date)),
        ("mode", request.mode.word().to_string()),
        ("sut", one_line(request.sut)),
        ("change", change(project_wide).to_string()),
        ("scope", scope(project_wide).to_string()),
        ("claim", preset.claim.to_string()),
        ("category", preset.category.word().to_string()),
        ("inventory", if project_wide { INVENTORY.to_string() } else { String::new() }),
        ("pitfalls", pitfalls()),
        ("kinds", kinds()),
        ("matrix", if project_wide { MATRIX.to_string() } else { String::new() }),
        ("techniques", techniques(project_wide)),
        ("technique", technique.to_string()),
        ("scenario", preset.scenario.to_string()),
        ("oracle", oracle),
        ("model", model.name.to_string()),
        ("about", model.about.to_string()),
        ("ops", model.ops.join(", ")),
        ("critical", critical.join(", ")),
        ("system", system_name(request.sut)),
        ("generator", preset.generator.to_string()),
        ("keys", preset.keys.to_string()),
        ("mix", preset.mix.to_string()),
        ("nemesis", preset.nemesis.to_string()),
        ("checker", checker),
    ];
    let options = preset.options.map_or(String::new(), |options| format!("{options}\n\n"));
    let mut text = PLAN.replace("@options@\n", if options.is_empty() { "\n" } else { &options });
    for (name, value) in pairs {
        text = text.replace(&format!("@{name}@"), &value);
    }
    text
}

/// Names are given on a command line: they must not break out of their line.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().into()
}

/// The system's name as a file name would have it.
fn system_name(sut: &str) -> String {
    let lower = sut.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("-");
    if name.is_empty() { "system".to_string() } else { name }
}

fn change(project_wide: bool) -> &'static str {
    match project_wide {
        true => "N/A (project-wide)",
        false => "{commit or pull request}",
    }
}

fn scope(project_wide: bool) -> &'static str {
    match project_wide {
        true => {
            "In scope: {crates, services and surfaces}\n\nOut of scope: {adapters, demo \
                 applications, deprecated paths}"
        }
        false => {
            "{what is added, changed or removed, and in which subsystems}\n\n- `path/to/file`: \
                  {what changed in it}"
        }
    }
}

fn pitfalls() -> String {
    let row = |pitfall: &crate::catalogue::Pitfall| {
        format!("| {} | {} | {{y/n/maybe}} | {{H… or reason}} |\n", pitfall.number, pitfall.title)
    };
    PITFALLS.iter().map(row).collect()
}

fn kinds() -> String {
    let others = HypothesisKind::ALL.iter().filter(|kind| **kind != HypothesisKind::Correctness);
    let section = |kind: &HypothesisKind| {
        let word = kind.word();
        format!(
            "### {}{}\n\nN/A — {{reason, or hypotheses instead}}\n\n",
            word[..1].to_uppercase(),
            &word[1..]
        )
    };
    others.map(section).collect()
}

fn techniques(project_wide: bool) -> String {
    let names: &[&str] = match project_wide {
        true => &[
            "jepsen-and-elle",
            "crash-recovery-and-upgrade",
            "chaos-and-fault-injection",
            "property-and-metamorphic",
            "performance-and-benchmarking",
        ],
        false => &["jepsen-and-elle", "crash-recovery-and-upgrade"],
    };
    let chosen = TECHNIQUES.iter().filter(|technique| names.contains(&technique.name));
    let section = |technique: &crate::catalogue::Technique| {
        format!(
            "### {0}\n\n- **Hypotheses:** H1 {{check}}\n- **Catches what others miss:** {{what}}\n\
             - **Reference:** {0}\n- **Cost:** {1}\n\n",
            technique.name, technique.cost
        )
    };
    chosen.map(section).collect()
}

const INVENTORY: &str = "\
## 3. Existing test inventory

| Test / harness | Subsystem | Invariant pinned | Failure modes it catches |
|---|---|---|---|
| {test} | {subsystem} | {invariant} | {failure modes} |

";

const MATRIX: &str = "\
## 5. Coverage matrix

<!-- One row per claim and hypothesis, worst first; `assay plan matrix` sorts. -->

| Claim | Hypothesis | Existing tests | Verdict | Gap kind | Recommended scenario |
|---|---|---|---|---|---|
| C1 | H1 | {tests} | not covered | no test | S1 |

";

//! Pages of `assay explain` about verdicts of test runs.

use super::explain::Page;
use assay_verdict::{Exit, RULES, RunVerdict, Verdict};

/// The page about all verdicts, which is also the documentation.
const VERDICTS_PAGE: &str = include_str!("../../../../docs/verdicts.md");

/// A page for each verdict of a scenario and of a run, and one about all of them.
pub fn pages() -> Vec<Page> {
    let mut pages = vec![Page {
        code: "verdicts".into(),
        title: "how verdicts about test runs are computed".into(),
        text: VERDICTS_PAGE.into(),
    }];
    for &verdict in Verdict::ALL {
        let code = verdict.to_string();
        pages.push(Page { code, title: verdict.meaning().into(), text: scenario_page(verdict) });
    }
    for &verdict in RunVerdict::ALL {
        let exit = verdict.exit();
        let text = format!(
            "The verdict of a run when {}.\n\nExit code {}: {}.\n\nScenarios are folded by their \
             strongest evidence, not by majority; see `assay explain verdicts`.",
            verdict.meaning(),
            exit.code(),
            exit.meaning()
        );
        pages.push(Page { code: verdict.to_string(), title: verdict.meaning().into(), text });
    }
    pages
}

fn scenario_page(verdict: Verdict) -> String {
    let rules = RULES.iter().filter(|rule| rule.verdict == verdict);
    let mut reasons: Vec<String> = rules.map(|rule| format!("- {}\n", rule.when)).collect();
    match verdict {
        Verdict::NotRun => {
            reasons.push("- nobody tried\n".into());
            reasons.push("- a capability is missing, and the operator was not told\n".into());
        }
        Verdict::InconclusiveEnv => {
            reasons.push("- a capability is missing, and the operator was told\n".into());
        }
        Verdict::PassHardening => reasons.push("- no other rule decided\n".into()),
        _ => {}
    }
    format!(
        "{}\n\nLevel: {}.\n\nGiven when, and nothing earlier in the table of rules decided:\n{}\n\
         The whole table: `assay explain verdicts`.",
        verdict.advice(),
        verdict.level(),
        reasons.concat()
    )
}

/// All exit codes with their meaning.
pub fn exit_codes() -> String {
    let line = |exit: Exit| format!("{:<4} {}\n", exit.code(), exit.meaning());
    Exit::ALL.map(line).concat()
}

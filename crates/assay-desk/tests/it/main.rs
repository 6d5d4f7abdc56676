//! The desk's pure parts, from the outside.

mod contract;
mod evidence;
mod machine;
mod model;
mod mutants;
mod results;

/// A contract with as many stories as wanted, all alike but for their names.
fn contract_text(stories: usize, risk: &str, consensus: &str) -> String {
    let mut text = format!(
        "# Contract: small\n\n## Objective\nNumbers.\n\n## Campaign\n```toml\ntests = [\"t/**\"]\n\
         consensus = \"{consensus}\"\n[suite]\nrun = [\"sh\", \"t/all\"]\nresults = \"tap\"\n\
         [agents]\nworker = [\"a\", \"b\"]\nverifier = \"c\"\nsecond = \"d\"\n[limits]\n\
         iterations = 6\nfailures = 4\n```\n\n## Stories\n"
    );
    for story in 1..=stories {
        text.push_str(&format!(
            "\n### US-{story:03}: Number {story}\n- AC-1\n  - Given a reader\n  - When the reader \
             asks\n  - Then it is {story}\n\n```toml\nrisk = \"{risk}\"\npaths = [\"n{story}\"]\n\
             [layers.L1]\ncommands = [{{ run = [\"sh\", \"t/{story}\"], results = \"tap\" }}]\n\
             [layers.L2]\nnot_applicable = \"alone\"\n[layers.L3]\ncommands = [{{ run = [\"sh\", \
             \"n{story}\"] }}, {{ run = [\"sh\", \"n{story}\", \"x\"], exit = 2 }}]\n[layers.L4]\n\
             not_applicable = \"not deployed\"\n```\n"
        ));
    }
    text
}

fn contract(stories: usize, risk: &str, consensus: &str) -> assay_desk::contract::Contract {
    let text = contract_text(stories, risk, consensus);
    assay_desk::contract::read(&text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

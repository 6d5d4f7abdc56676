//! docs/plan-lint.md is made from the table of rules, and names in plans are names that exist.

use assay_plan::rules::RULES;
use assay_plan::{Severity, lint, parse};
use std::fmt::Write;
use std::path::Path;

const HEAD: &str = "\
# Rules for plans

What `assay plan lint` asks of a plan, and why. `assay explain P012` shows one of these. Errors \
make a
plan unusable: exit 65. Warnings count with `--deny warnings`. What the parts of a plan are is in
[the format](formats/plan.md). This page is made from the table of rules: a test fails when they
differ (`ASSAY_BLESS=1` writes it anew).

| code | | rule |
|---|---|---|
";

fn page() -> String {
    let mut page = HEAD.to_string();
    let word = |severity| match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    for rule in RULES.iter() {
        let code = rule.code.to_string();
        let anchor = code.to_lowercase();
        writeln!(page, "| [{code}](#{anchor}) | {} | {} |", word(rule.severity), rule.title)
            .expect("strings grow");
    }
    for rule in RULES.iter() {
        write!(
            page,
            "\n## {}\n**{}**: {}. {}\n\n*Why:* {}\n\n*Fix:* {}\n\n````text\n{}\n````\n",
            rule.code,
            word(rule.severity),
            rule.title,
            rule.what,
            rule.why,
            rule.fix,
            rule.example
        )
        .expect("strings grow");
    }
    page
}

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_page_says_what_the_rules_say() {
    let path = root().join("docs/plan-lint.md");
    let wanted = page();
    if std::env::var_os("ASSAY_BLESS").is_some() {
        std::fs::write(&path, &wanted).expect("the documentation is writable");
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == wanted, "docs/plan-lint.md is not what the rules say: ASSAY_BLESS=1");
}

#[test]
fn checkers_and_models_of_plans_exist() {
    for name in assay_plan::models::checker_names() {
        let exists = match name.strip_prefix("linearizability:") {
            Some(model) => assay_check::ModelKind::named(model).is_some(),
            None => {
                assay_oracle::named(&name).is_some_and(|oracle| oracle.info().name == name)
                    || ["list-append", "rw-register"].contains(&name.as_str())
            }
        };
        assert!(exists, "there is no checker {name}");
    }
    for oracle in assay_oracle::ORACLES {
        let name = oracle.info().name;
        assert!(assay_plan::models::is_checker(name), "plans do not know the checker {name}");
    }
    for info in &assay_check::MODELS {
        let name = format!("linearizability:{}", info.names[0]);
        assert!(assay_plan::models::is_checker(&name), "plans do not know {name}");
    }
}

#[test]
fn example_plans_are_clean() {
    let mut seen = 0;
    for entry in std::fs::read_dir(root().join("examples/plans")).expect("there are examples") {
        let path = entry.expect("readable").path();
        let plan = parse(&std::fs::read_to_string(&path).expect("readable"));
        let found: Vec<String> = lint(&plan)
            .iter()
            .map(|d| {
                format!("{}:{}: {} {}", path.display(), plan.line(d.span.start), d.code, d.message)
            })
            .collect();
        assert_eq!(found, [""; 0], "{found:#?}");
        for scenario in &plan.scenarios {
            let trials = scenario.trials();
            assert!(!trials.is_empty(), "{} of {} can be run", scenario.id, path.display());
            let choices = trials.iter().filter_map(|(_, machine)| machine.checker.as_ref());
            for option in choices.flat_map(|choice| choice.options.keys()) {
                let known = assay_oracle::SETTINGS.iter().any(|setting| setting.name == option);
                assert!(known, "no checker has an option {option}");
            }
            for nemesis in trials.iter().flat_map(|(_, machine)| &machine.nemesis) {
                let fault =
                    assay_plan::faults::Fault::named(&nemesis.fault).expect("lint is clean");
                let free = assay_plan::faults::Rights::None;
                assert_eq!(fault.rights, free, "{} needs privileges", fault.id);
            }
        }
        seen += 1;
    }
    assert!(seen >= 5, "only {seen} example plans were found");
}

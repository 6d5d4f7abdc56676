//! `assay explain`: a page for every code, verdict, model and exit code.

use crate::args::{ExplainArgs, OutputFormat};
use crate::exit::Exit;
use assay_check::{MODELS, ModelKind};
use assay_history::Rule;
use assay_oracle::{ORACLES, SETTINGS};
use assay_txn::{Kind, Model, Models};
use serde_json::json;

/// What is known under a code.
pub(super) struct Page {
    pub(super) code: String,
    pub(super) title: String,
    pub(super) text: String,
}

/// The models page, which is also the documentation.
const MODELS_PAGE: &str = include_str!("../../../../docs/models.md");

/// The page about all checkers, which is also the documentation.
const CHECKERS_PAGE: &str = include_str!("../../../../docs/checkers.md");

const STYLES: &str = "\
A transaction is a list of micro-operations: [\"append\", key, value] and [\"r\", key, list] \
(list-append), [\"w\", key, value] and [\"r\", key, value] (rw-register), [\"add\", key, element] \
and [\"r\", key, elements] (set-add), or [\"inc\", key, number] and [\"r\", key, sum] \
(counter-inc). What is sent has null for what a read will return. Every value is written to a key \
once, but for counters: then a read tells who wrote what it saw.

Of a list, a read shows all versions in their order. Of a register it shows one, so the order of \
versions rests on what is declared: --linearizable-keys, --sequential-keys, --wfr-keys; without, \
only that null comes first.

Of a set it shows which elements were there, in no order: that is enough to know who was seen and \
who was not, and no transaction is said to have overwritten another. Of a counter it shows a sum; \
a transaction that increments and then reads shows where it stands, others are ordered only where \
a sum is too large without them or too small with them. See docs/guides/isolation.md.";

const VERDICTS: [(&str, &str, &str); 5] = [
    (
        "upheld",
        "exit 0: an order was found for every object",
        "Every operation that must have happened can be put into one order that respects real \
         time and the model. That is as strong as the history: few clients, little overlap or no \
         faults make an easy pass. `--calibrate 20` shows which anomalies this check would have \
         caught.",
    ),
    (
        "refuted",
        "exit 1: no order exists",
        "At least one object has no order. The witness is the smallest part of the history that \
         still has none: forget the outcome of any one of its operations, and an order exists. \
         The certificate was re-checked by a verifier that shares no code with the checker.",
    ),
    (
        "undecided",
        "exit 2: the budget ran out",
        "The search was cut short by --budget, --memory or --states. It is not a pass. The report \
         says up to which time the operations can be explained. Larger budgets may decide it; so \
         does a workload with unique written values, which needs no search at all.",
    ),
    (
        "nothing-checked",
        "exit 3: there was nothing to check",
        "The history holds no operation that can have had an effect. A check of nothing proves \
         nothing, so this is not a pass.",
    ),
    (
        "bad-history",
        "exit 65: the history cannot carry a verdict",
        "The file is malformed, or a rule (V1 to V11) is broken in a way that makes every checker \
         unsound. The message names file and line. `assay history validate FILE` lists all \
         findings.",
    ),
];

/// Prints a page, or what pages there are.
pub fn run(args: &ExplainArgs) -> Exit {
    let pages = pages();
    let Some(code) = &args.code else {
        list(&pages, args.output.format);
        return Exit::Upheld;
    };
    let name = args.name.as_ref().map_or(String::new(), |name| format!(" {name}"));
    let wanted = format!("{code}{name}").to_lowercase();
    let pages = match args.name {
        Some(_) => of(super::plan_pages::entries()),
        None => pages,
    };
    match pages.iter().find(|page| page.code.to_lowercase() == wanted).or(alias(&pages, &wanted)) {
        Some(page) => {
            match args.output.format {
                OutputFormat::Human => {
                    anstream::println!("{}: {}\n\n{}", page.code, page.title, page.text)
                }
                OutputFormat::Json => anstream::println!(
                    "{}",
                    json!({"code": page.code, "title": page.title, "text": page.text})
                ),
            }
            Exit::Upheld
        }
        None => {
            anstream::eprintln!(
                "error: there is no page for \"{code}{name}\"; `assay explain` lists what there is"
            );
            Exit::Usage
        }
    }
}

fn list(pages: &[Page], format: OutputFormat) {
    match format {
        OutputFormat::Human => {
            for page in pages {
                anstream::println!("{:<24} {}", page.code, page.title);
            }
        }
        OutputFormat::Json => {
            let rows: Vec<_> =
                pages.iter().map(|page| json!({"code": page.code, "title": page.title})).collect();
            anstream::println!("{}", json!(rows));
        }
    }
}

fn pages() -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    for rule in Rule::ALL {
        pages.push(Page {
            code: format!("{rule:?}"),
            title: rule.title().to_string(),
            text: rule.page().to_string(),
        });
    }
    for (code, title, text) in VERDICTS {
        pages.push(Page { code: code.into(), title: title.into(), text: text.into() });
    }
    pages.push(Page {
        code: "exit-codes".into(),
        title: "what the exit codes mean".into(),
        text: super::verdict_pages::exit_codes(),
    });
    pages.push(Page {
        code: "models".into(),
        title: "what each model's operations mean".into(),
        text: MODELS_PAGE.into(),
    });
    for info in &MODELS {
        pages.push(Page {
            code: info.names[0].to_string(),
            title: info.about.to_string(),
            text: model_section(info.kind),
        });
    }
    pages.extend(isolation_pages());
    pages.extend(checker_pages());
    pages.extend(super::verdict_pages::pages());
    pages.extend(of(super::plan_pages::pages()));
    pages.extend(guard_pages());
    pages.extend(adr_pages());
    pages.extend(assay_guard::scan::HOLES.iter().map(|(code, what)| {
        Page {
            code: code.to_string(),
            title: format!("invariants: {what}"),
            text:
                "`assay invariants scan` reports it with the place to begin at; what belongs there \
               is in docs/guides/invariants.md."
                    .to_string(),
        }
    }));
    pages
}

fn of(pages: Vec<(String, String, String)>) -> Vec<Page> {
    pages.into_iter().map(|(code, title, text)| Page { code, title, text }).collect()
}

/// The rules of the guard.
fn guard_pages() -> Vec<Page> {
    let rules = assay_guard::rules::RULES.iter();
    rules
        .map(|rule| Page {
            code: rule.id.to_string(),
            title: format!("guard: {}", rule.title),
            text: format!(
                "{}.\n\n`assay guard` reports it with both places. Its level is set in \
                 assay.toml:\n\n[guard.rules]\n{} = \"warn\"",
                capitalised(rule.why),
                rule.id
            ),
        })
        .collect()
}

/// The rules about decision records.
fn adr_pages() -> Vec<Page> {
    let rules = assay_adr::rules::RULES.iter();
    rules
        .map(|rule| Page {
            code: rule.id.to_string(),
            title: format!("adr: {}", rule.title),
            text: format!(
                "{}.\n\nWhat to do: {}.\n\n`assay adr lint` reports it with file and line. Its \
                 level is set in assay.toml:\n\n[adr.rules]\n{} = \"warn\"",
                capitalised(rule.why),
                rule.fix,
                rule.id
            ),
        })
        .collect()
}

/// Transactions: what they do, what can be wrong, and which models forbid it.
fn isolation_pages() -> Vec<Page> {
    let names = |models: &mut dyn Iterator<Item = Model>| {
        models.map(Model::name).collect::<Vec<_>>().join(", ")
    };
    let mut models = String::new();
    for model in Model::all() {
        let kinds: Vec<&str> = model.forbids().iter().map(|kind| kind.name()).collect();
        models += &format!("{}: forbids {}\n", model.names().join(", "), kinds.join(", "));
    }
    let page = |code: &str, title: &str, text: String| Page {
        code: code.to_string(),
        title: title.to_string(),
        text,
    };
    let mut pages = vec![
        page("isolation", "isolation models, and what each forbids", models),
        page("list-append", "transactions that append to lists and read them", STYLES.to_string()),
        page("rw-register", "transactions that write registers and read them", STYLES.to_string()),
        page("set-add", "transactions that add to sets and read them", STYLES.to_string()),
        page("counter-inc", "transactions that increment counters", STYLES.to_string()),
    ];
    for kind in Kind::ALL {
        let ruled_out = Models::ruled_out_by(&[kind]);
        let text = format!(
            "{}.\n\nIt rules out {} and every model that implies one of them: {}.",
            capitalised(kind.meaning()),
            names(&mut ruled_out.weakest().into_iter()),
            names(&mut ruled_out.iter())
        );
        pages.push(page(kind.name(), kind.meaning(), text));
    }
    pages
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// Checkers for other promises, and what they can be told.
fn checker_pages() -> Vec<Page> {
    let mut pages = vec![
        Page {
            code: "checkers".into(),
            title: "every checker: what it can refute, needs and cannot see".into(),
            text: CHECKERS_PAGE.into(),
        },
        Page {
            code: "settings".into(),
            title: "what --set can tell a checker".into(),
            text: SETTINGS
                .iter()
                .map(|s| format!("{:<24} {} (such as {})\n", s.name, s.about, s.example))
                .collect(),
        },
    ];
    for oracle in ORACLES {
        let info = oracle.info();
        let text = format!(
            "Refutes the claim that {}.\n\nNeeds: {}\nDecides by: {}\nCost: {}\nCannot see: {}\n\
             Goes wrong when: {}",
            info.claim, info.needs, info.algorithm, info.cost, info.cannot_see, info.failure_mode
        );
        // A model of the same name has its page already; the checker's goes by another.
        let taken = ModelKind::named(info.name).is_some();
        let code = if taken { format!("checker-{}", info.name) } else { info.name.to_string() };
        pages.push(Page { code, title: info.claim.to_string(), text });
    }
    pages
}

/// Exit codes and model aliases lead to the same pages.
fn alias<'p>(pages: &'p [Page], wanted: &str) -> Option<&'p Page> {
    let code = match wanted {
        "0" => "upheld",
        "1" => "refuted",
        "2" => "undecided",
        "3" => "nothing-checked",
        "65" => "bad-history",
        "64" | "69" | "70" | "75" | "129" | "130" | "143" => "exit-codes",
        name => match (ModelKind::named(name), assay_oracle::named(name)) {
            (Some(model), _) => model.name(),
            (None, Some(oracle)) => oracle.info().name,
            (None, None) => return None,
        },
    };
    pages.iter().find(|page| page.code == code)
}

/// The part of the models page that is about one model.
fn model_section(kind: ModelKind) -> String {
    let heading = format!("## {}", kind.name());
    let starts = |section: &&str| {
        section.strip_prefix(kind.name()).is_some_and(|rest| rest.starts_with([' ', '\n']))
    };
    let section = MODELS_PAGE.split("\n## ").find(starts);
    section.map_or(heading, |section| format!("## {section}"))
}

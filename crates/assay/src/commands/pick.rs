//! `assay check FILE` without a model: what fits this history?

use super::effect::{Looks, refuse_without};
use super::{Trouble, check, open, oracles};
use crate::args::{CheckArgs, Subject};
use crate::exit::Exit;
use assay_check::ModelKind;
use assay_history::Style;
use assay_oracle::picker::{Pick, Proposal, check_choice, pick};
use std::path::Path;

/// Looks at the first file, says what fits, and runs that on all of them.
pub fn run(args: &CheckArgs) -> Exit {
    match proposal(args) {
        Ok(proposal) => {
            anstream::eprintln!(
                "picked: {} ({} of a {}): {}",
                proposal.checkers.join(" + "),
                proposal.category.name(),
                proposal.model,
                proposal.reason
            );
            run_proposal(args, proposal.checkers)
        }
        Err(trouble) => trouble.report(),
    }
}

fn proposal(args: &CheckArgs) -> Result<Proposal, Trouble> {
    let path = &args.files[0];
    if path == Path::new("-") {
        let message = "standard input cannot be looked at first: name --model or --checker".into();
        return Err(Trouble { message, exit: Exit::Usage });
    }
    let history = open(path, args.input)?;
    let refusal = |lines: Vec<String>| Trouble {
        message: format!("{}: {}", path.display(), lines.join("\n       ")),
        exit: Exit::Usage,
    };
    match pick(&history, args.oracles.claim) {
        Pick::One(proposal) => Ok(proposal),
        Pick::Nothing(why) => {
            let mut lines = why;
            lines.push("help: assay explain checkers lists all of them".to_string());
            Err(refusal(lines))
        }
        Pick::Several(proposals) => {
            let mut lines = vec!["several checkers fit; which promise is meant?".to_string()];
            lines.extend(
                proposals.iter().map(|p| format!("{}  if {}", flags(p.checkers), p.decided_by)),
            );
            lines
                .push("help: name one of them, or the category of the claim (--claim)".to_string());
            Err(refusal(lines))
        }
    }
}

/// How a proposal is asked for.
fn flags(checkers: &[&str]) -> String {
    let flag = |name: &&str| match subject(name) {
        Some(_) => format!("--model {}", name.trim_start_matches("linearizability:")),
        None => format!("--checker {name}"),
    };
    checkers.iter().map(flag).collect::<Vec<_>>().join(" ")
}

fn run_proposal(args: &CheckArgs, checkers: &[&'static str]) -> Exit {
    let (subjects, others): (Vec<&str>, Vec<&str>) =
        checkers.iter().partition(|name| subject(name).is_some());
    let mut looks: Vec<Looks> = subjects.iter().filter_map(|n| subject(n)).map(Looks::At).collect();
    looks.extend(others.iter().map(|_| Looks::ForAPromise));
    if let Err(trouble) = refuse_without(args, &looks) {
        return trouble.report();
    }
    let mut exit = None;
    let mut note = |one: Exit| exit = Some(exit.map_or(one, |so_far: Exit| so_far.worse(one)));
    for name in subjects {
        note(check::run_subject(args, subject(name).expect("only subjects are here")));
    }
    let others: Vec<&'static str> =
        others.iter().filter_map(|name| assay_oracle::named(name)).map(|o| o.info().name).collect();
    if !others.is_empty() {
        note(oracles::run(args, &others));
    }
    exit.unwrap_or(Exit::Bug)
}

/// The model behind a checker's name, if it is not an oracle.
fn subject(name: &str) -> Option<Subject> {
    let style = Style::ALL.into_iter().find(|style| style.name() == name);
    let object = || name.strip_prefix("linearizability:").and_then(ModelKind::named);
    style.map(Subject::Transactions).or_else(|| object().map(Subject::Object))
}

/// Refuses checkers that cannot judge the category of the claim, if one is given.
pub fn refuse_unfit(args: &CheckArgs, checkers: &[&str]) -> Result<(), Trouble> {
    let Some(category) = args.oracles.claim else { return Ok(()) };
    for path in args.files.iter().filter(|path| path.as_path() != Path::new("-")) {
        let history = open(path, args.input)?;
        for checker in checkers {
            check_choice(&history, category, checker).map_err(|error| Trouble {
                message: format!("{}: {error}", path.display()),
                exit: Exit::Usage,
            })?;
        }
    }
    Ok(())
}

//! Which checker fits? From what a history looks like, and the category of the claim.
//!
//! ```
//! use assay_oracle::picker::{Category, Pick, pick};
//! use assay_oracle::sketch;
//!
//! let history = sketch("0 append l a ok 0\n1 read l - ok [\"a\"]\n0 final l - ok [\"a\"]");
//! let Pick::One(proposal) = pick(&history, Some(Category::Durability)) else { panic!() };
//! assert_eq!(proposal.model, "log");
//! assert_eq!(proposal.checkers[0], "no-lost-ack");
//! ```
//!
//! Where two fit, it does not guess: it lists both with what would decide. Where none fits, it says
//! what the history lacks. The table is `ROWS`, in the file next to this one.

mod rows;
mod shape;

pub use rows::{Category, ROWS, Row};
pub use shape::{Outputs, Shape, Transactions};

use assay_history::History;
use serde::Serialize;

/// A model, the checkers for it, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Proposal {
    /// The model of the object.
    pub model: &'static str,
    /// The category of claim it is about.
    pub category: Category,
    /// What to run: oracles by name, `linearizability:MODEL`, or a transaction checker.
    pub checkers: &'static [&'static str],
    /// Why it fits.
    pub reason: &'static str,
    /// What would speak for it where others fit as well.
    pub decided_by: &'static str,
}

/// What the picker came to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub enum Pick {
    /// One proposal fits.
    One(Proposal),
    /// Several fit, and only the user knows which is meant.
    Several(Vec<Proposal>),
    /// None fits; what the history would need for one that is near.
    Nothing(Vec<String>),
}

/// Proposes checkers for a history and the category of a claim, if it is known.
pub fn pick(history: &History, category: Option<Category>) -> Pick {
    pick_shape(&Shape::of(history), category)
}

/// The same, for what a history looks like.
pub fn pick_shape(shape: &Shape, category: Option<Category>) -> Pick {
    let asked = |row: &&Row| match category {
        Some(category) => row.proposal.category == category,
        None => row.unasked,
    };
    let fitting: Vec<Proposal> =
        ROWS.iter().filter(asked).filter(|row| (row.fits)(shape)).map(|row| row.proposal).collect();
    match fitting[..] {
        [one] => Pick::One(one),
        [] => Pick::Nothing(missing(shape, category)),
        _ => Pick::Several(fitting),
    }
}

/// What is missing, in words.
fn missing(shape: &Shape, category: Option<Category>) -> Vec<String> {
    let mut lines = Vec::new();
    let types: Vec<&str> = shape.verbs.iter().map(String::as_str).collect();
    lines.push(match types.is_empty() {
        true => "the history has no operations".to_string(),
        false => format!("no checker of the table fits operations of type {}", types.join(", ")),
    });
    if let Some(category) = category {
        let near = ROWS.iter().filter(|row| row.proposal.category == category);
        let near =
            near.map(|row| format!("{} needs {}", row.proposal.checkers.join(" + "), row.needs));
        lines.extend(near);
        if ROWS.iter().all(|row| row.proposal.category != category) {
            lines.push(format!(
                "for {} there is no checker: assert it in the run (`property`) or set a limit \
                 (`slo`)",
                category.name()
            ));
        }
    }
    lines
}

/// Why a checker is not the right one.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ChoiceError {
    /// Another checker is for this.
    #[error("`{checker}` cannot judge a claim of {category} on this history; use {right}")]
    Wrong {
        /// What was chosen.
        checker: String,
        /// The category of the claim.
        category: &'static str,
        /// What to choose instead.
        right: String,
    },
    /// No checker is for this.
    #[error(
        "`{checker}` cannot judge a claim of {category} on this history, and neither can any \
             other: {why}"
    )]
    Nothing {
        /// What was chosen.
        checker: String,
        /// The category of the claim.
        category: &'static str,
        /// What is missing.
        why: String,
    },
}

/// Whether a checker fits the category of a claim and the history.
///
/// # Errors
/// With the right checker, if there is one.
pub fn check_choice(
    history: &History,
    category: Category,
    checker: &str,
) -> Result<Proposal, ChoiceError> {
    let shape = Shape::of(history);
    let proposals = match pick_shape(&shape, Some(category)) {
        Pick::One(one) => vec![one],
        Pick::Several(several) => several,
        Pick::Nothing(why) => {
            return Err(ChoiceError::Nothing {
                checker: checker.to_string(),
                category: category.name(),
                why: why.join("; "),
            });
        }
    };
    let name = crate::named(checker).map_or(checker, |oracle| oracle.info().name);
    if let Some(fit) = proposals.iter().find(|proposal| proposal.checkers.contains(&name)) {
        return Ok(*fit);
    }
    let right: Vec<String> =
        proposals.iter().map(|p| format!("`{}`", p.checkers.join("` + `"))).collect();
    Err(ChoiceError::Wrong {
        checker: checker.to_string(),
        category: category.name(),
        right: right.join(" or "),
    })
}

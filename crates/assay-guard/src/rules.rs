//! The rules, one row each: what `assay explain` says and what a report lists.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The name of a rule: a letter for the kind of file and a number that is never used twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(transparent)]
pub struct RuleId(pub &'static str);

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

/// How seriously a rule is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As found: weaker ends with 1, suspect and changed with 2.
    Error,
    /// Shown, and ends with 2 at most.
    Warn,
    /// Not shown.
    Off,
}

/// A rule.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Rule {
    /// Its name.
    pub id: RuleId,
    /// What it looks for, in a few words.
    pub title: &'static str,
    /// Why that matters.
    pub why: &'static str,
}

const fn rule(id: &'static str, title: &'static str, why: &'static str) -> Rule {
    Rule { id: RuleId(id), title, why }
}

/// The rule of a name.
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id.0.eq_ignore_ascii_case(id))
}

/// The name of a rule of the table; a name that is not there is a bug of the caller.
pub(crate) fn id(name: &'static str) -> RuleId {
    debug_assert!(find(name).is_some(), "no rule {name}");
    RuleId(name)
}

/// All rules.
pub const RULES: &[Rule] = &[
    rule(
        "T01",
        "a property of a TLA+ module is gone",
        "a property that is not there cannot be violated",
    ),
    rule(
        "T02",
        "a property was renamed",
        "a new name can lose the id it is traced by, or turn its meaning around",
    ),
    rule(
        "T03",
        "a property became trivially true",
        "a checker passes it with the same number of states",
    ),
    rule("T04", "a quantifier was flipped", "one witness is easier to find than all of them"),
    rule("T05", "a temporal operator was weakened", "eventually is easier to keep than always"),
    rule("T06", "a conjunct was lost or an alternative was added", "fewer things have to hold"),
    rule("T07", "a relation or its bound was relaxed", "more states satisfy it"),
    rule("T08", "the domain of a quantifier shrank", "elements that are not looked at cannot fail"),
    rule("T09", "a helper that a property rests on changed", "the same words mean something else"),
    rule("T10", "an aggregate lost a property", "what is checked by one name is less than before"),
    rule("T11", "the model explores less", "behaviour that never happens violates nothing"),
    rule("T12", "fairness was added", "liveness rests on a stronger assumption"),
    rule(
        "T13",
        "a history variable is updated in another way",
        "a ghost that copies what it is compared with proves nothing",
    ),
    rule(
        "T14",
        "an operator ignores a parameter",
        "what does not depend on its input cannot notice it",
    ),
    rule("T15", "a type invariant was loosened", "the first property to catch a broken action"),
    rule(
        "T16",
        "an id now names another property",
        "traces, metrics and decisions point at the wrong thing",
    ),
    rule(
        "C01",
        "a property is no longer checked by a configuration",
        "what no configuration lists is never evaluated",
    ),
    rule("C02", "a configuration is no longer run", "a check that nobody runs is a document"),
    rule(
        "C03",
        "a constant of a configuration shrank",
        "a smaller model has fewer ways to go wrong",
    ),
    rule(
        "C04",
        "a constraint, view or symmetry was added",
        "states are cut off or taken to be the same",
    ),
    rule(
        "C05",
        "the checked specification was replaced, or deadlocks are no longer looked for",
        "another question is answered",
    ),
    rule("C06", "a property is defined and listed nowhere", "it looks checked and is not"),
    rule(
        "S02",
        "a property notices fewer mutants of the model than before",
        "a checker passes a weaker property with the same number of states",
    ),
    rule(
        "S03",
        "a property cannot fail, or a part of the model is never reached",
        "a condition that never holds, a step that is never taken and a property that no mistake \
         violates are green whatever happens",
    ),
    rule(
        "S04",
        "a configuration has fewer states than before",
        "states that are not reached cannot violate anything",
    ),
    rule(
        "R01",
        "an id of an invariant was removed or changed",
        "metrics and documents point to nothing",
    ),
    rule(
        "R02",
        "a model property was weakened",
        "always became sometimes, or the property is gone",
    ),
    rule(
        "R03",
        "a check moved where it is not always evaluated, or is gone",
        "a check that does not run finds nothing",
    ),
    rule("R04", "a predicate gained a lenient default", "what is unknown now passes"),
    rule(
        "R05",
        "an assertion is gone or asks for less",
        "the test passes for more behaviours than before",
    ),
    rule("R06", "a test is gone, skipped, or swallows failures", "it can no longer go red"),
    rule(
        "R07",
        "less is explored: cases, bounds, depths, ranges",
        "what is not tried is not found",
    ),
    rule("R08", "fewer seeds, faults or repetitions", "what is not tried is not found"),
    rule("R09", "order or multiplicity is no longer compared", "a set does not see duplicates"),
    rule("R10", "the installation of a recorder is gone", "checks run and nobody hears them"),
    rule("Q01", "a requirement stepped down: must, should, may", "what is optional is not owed"),
    rule("Q02", "a hedge was added", "typically is not always"),
    rule("Q03", "an absolute word is gone", "never and every can be tested; their absence cannot"),
    rule("Q04", "a coarser unit", "a promise per page is not a promise per file"),
    rule("Q05", "a weaker kind of equality", "equivalent is not identical"),
    rule("Q06", "a number moved the permissive way", "more time, more loss, or less kept"),
    rule("Q07", "moved out of scope", "what is for later is not for now"),
    rule("Q08", "a requirement is gone", "what nobody asks for nobody builds"),
    rule("Q09", "a requirement was reworded", "whether it means the same, a person has to say"),
    rule(
        "Q10",
        "an item of a checklist is gone or was demoted",
        "what is not on the list is not done",
    ),
    rule(
        "Q11",
        "an invariant of a decision changed without an entry in its log",
        "the log still tells the old story",
    ),
    rule(
        "K01",
        "a step of continuous integration is gone",
        "a check that does not run finds nothing",
    ),
    rule("K02", "a step no longer fails the build", "red that nobody sees is green"),
    rule("K03", "a threshold was lowered", "coverage and lints hold what their numbers ask for"),
    rule("K04", "a lint or rule was switched off", "what is allowed is no longer found"),
    rule("K05", "a check runs less often or on less", "a trigger, branch or matrix entry is gone"),
    rule("G01", "a file could not be read as what it is", "what is not understood is not compared"),
];

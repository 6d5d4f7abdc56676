//! Mutants of a module: the same module with one small mistake in what it does.
//!
//! A property that no mistake violates says nothing. So each action gets mistakes, one at a time:
//! a condition dropped or turned around, an update that does not happen, a bound off by one. Every
//! mutant is well formed: each variable still gets a value, so a checker can explore it. What it
//! does not do: explore; and touch what properties are made of, for then a mutant would change the
//! question with the answer.

mod change;
pub(super) mod scope;
mod sites;
mod values;

use super::cfg::Cfg;
use crate::finding::hash;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

/// What kind of mistake.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mistake {
    /// A condition is no longer asked for.
    Drop,
    /// An update does not happen: `x' = x`.
    Freeze,
    /// A condition is turned around.
    Negate,
    /// One element of a set is forgotten or stays: an operand of `\cup`, `\`, `\cap` is lost.
    Lose,
    /// One of several updates of a function or record does not happen.
    Skip,
    /// Plus for minus.
    Arithmetic,
    /// `<` for `<=`, and the like.
    Compare,
    /// A number, or the end of a range, is one more or one less.
    OffByOne,
    /// Another value of the module for a string, or the other truth value.
    Value,
    /// Some for all.
    Quantify,
    /// A kind of step is never taken.
    Never,
    /// A fairness is not assumed.
    Unfair,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Mistake::Drop => "drop",
            Mistake::Freeze => "freeze",
            Mistake::Negate => "negate",
            Mistake::Lose => "lose",
            Mistake::Skip => "skip",
            Mistake::Arithmetic => "arithmetic",
            Mistake::Compare => "compare",
            Mistake::OffByOne => "off-by-one",
            Mistake::Value => "value",
            Mistake::Quantify => "quantify",
            Mistake::Never => "never",
            Mistake::Unfair => "unfair",
        })
    }
}

/// A module with one mistake.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Mutant {
    /// Its name: action, mistake, and a hash of what changes. Moving lines does not change it.
    pub id: String,
    /// The operator the mistake is in.
    pub action: String,
    /// The kind of mistake.
    pub mistake: Mistake,
    /// The line it starts on, from one.
    pub line: usize,
    /// What stood there, in one line.
    pub was: String,
    /// What stands there instead.
    pub becomes: String,
    #[serde(skip)]
    range: Range<usize>,
    #[serde(skip)]
    text: String,
}

impl Mutant {
    /// The module with the mistake.
    pub fn applied(&self, source: &str) -> String {
        let mut whole = source.to_string();
        if source.get(self.range.clone()).is_some() {
            whole.replace_range(self.range.clone(), &self.text);
        }
        whole
    }
}

/// All mutants of a module under a configuration, in the order they stand in it.
pub fn mutants(source: &str, cfg: &Cfg) -> Vec<Mutant> {
    let Some(tree) = crate::syntax::parse(&tree_sitter_tlaplus::LANGUAGE.into(), source) else {
        return Vec::new();
    };
    let scope = scope::Scope::of(&tree, source, cfg);
    let mut found = Vec::new();
    for operator in scope.changeable() {
        let changes = sites::changes(&scope, &operator);
        found.extend(changes.into_iter().map(|change| (operator.name.clone(), change)));
    }
    let mut seen = BTreeSet::new();
    found.retain(|(_, change)| {
        let was = source.get(change.range.clone()).unwrap_or_default();
        was != change.text && seen.insert((change.range.start, change.text.clone()))
    });
    let mut alike: BTreeMap<(String, Mistake, String, String), usize> = BTreeMap::new();
    found
        .into_iter()
        .map(|(action, change)| {
            let line = source[..change.range.start].matches('\n').count() + 1;
            let was = one_line(&source[change.range.clone()]);
            let becomes = one_line(&change.text);
            let key = (action.clone(), change.mistake, was.clone(), becomes.clone());
            let at = alike.entry(key).or_default();
            let text = format!("{was}\n{becomes}\n{at}");
            *at += 1;
            let id = format!("{action}.{}.{}", change.mistake, &hash(&text)[..6]);
            let change::Change { range, text, mistake } = change;
            Mutant { id, action, mistake, line, was, becomes, range, text }
        })
        .collect()
}

/// At most `limit` of them, spread over actions and kinds of mistakes: first one of each kind of
/// each action, then the second ones. The same module gives the same choice.
pub fn chosen(all: Vec<Mutant>, limit: usize) -> Vec<Mutant> {
    if all.len() <= limit {
        return all;
    }
    let mut of_kind: BTreeMap<(String, Mistake), usize> = BTreeMap::new();
    let mut of_action: BTreeMap<String, usize> = BTreeMap::new();
    let mut ranked: Vec<(usize, Mutant)> = all
        .into_iter()
        .map(|mutant| {
            let nth = of_kind.entry((mutant.action.clone(), mutant.mistake)).or_default();
            *nth += 1;
            (*nth, mutant)
        })
        .collect();
    ranked.sort_by_key(|(nth, mutant)| (*nth, mutant.mistake, mutant.range.start));
    let mut ranked: Vec<(usize, Mutant)> = ranked
        .into_iter()
        .map(|(_, mutant)| {
            let nth = of_action.entry(mutant.action.clone()).or_default();
            *nth += 1;
            (*nth, mutant)
        })
        .collect();
    ranked.sort_by_key(|(nth, mutant)| (*nth, mutant.range.start));
    ranked.truncate(limit);
    let mut kept: Vec<Mutant> = ranked.into_iter().map(|(_, mutant)| mutant).collect();
    kept.sort_by_key(|mutant| (mutant.range.start, mutant.range.end, mutant.id.clone()));
    kept
}

/// A text without breaks of lines.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

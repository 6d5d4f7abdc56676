//! T01 to T10, T14 to T16: what a module promises.

use super::modules::Checked;
use super::parse::{Operator, as_formula};
use crate::finding::{Finding, Side, Verdict, finding};
use crate::formula::{self, Formula, Move, Order, Term};
use crate::rules::{RuleId, id};
use std::collections::BTreeSet;

/// `MC4` of `MC4_ColumnsKept`.
pub fn prefix(name: &str) -> Option<&str> {
    let (start, rest) = name.split_once('_')?;
    let letters = start.chars().take_while(char::is_ascii_uppercase).count();
    let digits = &start[letters..];
    let numbered = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    ((1..=6).contains(&letters) && numbered && !rest.is_empty()).then_some(start)
}

/// Whether a name is that of a property by custom.
fn by_custom(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    prefix(name).is_some()
        || ["invariant", "typeok", "safety", "liveness", "inv"].iter().any(|w| lower.ends_with(w))
        || ["inv_", "invariant", "safety", "liveness"].iter().any(|w| lower.starts_with(w))
        || name.starts_with("Inv")
}

fn is_type_invariant(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.starts_with("type")
        && ["ok", "inv", "invariant", "correct", "typed"].iter().any(|w| lower.contains(w))
}

fn formula(operator: &Operator) -> Formula {
    as_formula(&formula::canonical(&operator.body))
}

/// The names that make up a conjunction of nothing but names.
pub fn aggregate<'o>(operator: &'o Operator, of: &Checked<'_>) -> Option<BTreeSet<&'o str>> {
    let Term::Logic(inner) = &operator.body else { return None };
    let mut names = BTreeSet::new();
    let mut open = vec![&**inner];
    while let Some(next) = open.pop() {
        match next {
            Formula::And(parts) => open.extend(parts),
            Formula::Always(part) => open.push(part),
            Formula::Atom(Term::Name(name)) if of.module.operator(name).is_some() => {
                names.insert(name.as_str());
            }
            _ => return None,
        }
    }
    (names.len() > 1).then_some(names)
}

/// The properties of a module: listed in a configuration, claimed by a theorem, known by their
/// names, or part of an aggregate that is one of these.
pub fn properties<'c>(checked: &'c Checked<'_>) -> BTreeSet<&'c str> {
    let listed = checked.listed();
    let mut found: BTreeSet<&str> = BTreeSet::new();
    for operator in &checked.module.operators {
        let name = operator.name.as_str();
        let known = listed.contains(name)
            || checked.module.claimed.contains(name)
            || (by_custom(name) && operator.parameters.is_empty());
        if known {
            found.insert(name);
        }
    }
    let mut open: Vec<&str> = found.iter().copied().collect();
    while let Some(name) = open.pop() {
        let parts = checked.module.operator(name).and_then(|op| aggregate(op, checked));
        open.extend(parts.into_iter().flatten().filter(|part| found.insert(part)));
    }
    found
}

fn side<'t>(checked: &'t Checked<'_>, operator: &'t Operator) -> Side<'t> {
    Side { file: checked.file, line: operator.line, text: &operator.text }
}

/// A module that is gone takes its properties with it.
pub fn gone(old: &Checked<'_>) -> Vec<Finding> {
    let lost = properties(old).into_iter().filter_map(|name| old.module.operator(name));
    lost.map(|operator| {
        let reason = format!("the module is gone, and property {} with it", operator.name);
        let places = (Some(side(old, operator)), None);
        finding(id("T01"), old.object(&operator.name), Verdict::Weaker, places, reason)
    })
    .collect()
}

/// What the properties of two revisions of a module say.
pub fn compare(old: &Checked<'_>, new: &Checked<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut touched: BTreeSet<&str> = BTreeSet::new();
    let names: Vec<&str> = properties(old).into_iter().collect();
    let mut same_text: Vec<(&Operator, &Operator)> = Vec::new();
    let mut renamed: Vec<(&Operator, &Operator)> = Vec::new();
    let comparer = Comparer::new(old, new);
    for name in names {
        let Some(before) = old.module.operator(name) else { continue };
        match new.module.operator(name) {
            None => findings.extend(comparer.missing(before, &mut renamed)),
            Some(after) if formula(before) == formula(after) => same_text.push((before, after)),
            Some(after) => {
                if let Some(found) = comparer.changed(before, after) {
                    touched.insert(&before.name);
                    findings.push(found);
                }
            }
        }
    }
    for (before, after) in same_text {
        let rests_on = old.module.closure(&before.name);
        if rests_on.iter().any(|name| touched.contains(name)) {
            continue;
        }
        findings.extend(comparer.helper(before, after));
    }
    findings.extend(comparer.vacuous());
    findings
}

struct Comparer<'c> {
    old: &'c Checked<'c>,
    new: &'c Checked<'c>,
    old_definitions: formula::Definitions,
    new_definitions: formula::Definitions,
}

impl<'c> Comparer<'c> {
    fn new(old: &'c Checked<'c>, new: &'c Checked<'c>) -> Comparer<'c> {
        let (old_definitions, new_definitions) =
            (old.module.definitions(), new.module.definitions());
        Comparer { old, new, old_definitions, new_definitions }
    }

    fn whole(&self, operator: &Operator, is_old: bool) -> Formula {
        let definitions = if is_old { &self.old_definitions } else { &self.new_definitions };
        as_formula(&formula::expanded(&operator.body, definitions))
    }

    fn finding(
        &self,
        rule: &'static str,
        verdict: Verdict,
        (before, after): (Option<&Operator>, Option<&Operator>),
        reason: String,
    ) -> Finding {
        let named = before.or(after).map_or("", |operator| &operator.name);
        let sides = (before.map(|op| side(self.old, op)), after.map(|op| side(self.new, op)));
        finding(id(rule), self.old.object(named), verdict, sides, reason)
    }

    /// T01, T02, T16: the name is gone.
    fn missing<'o>(
        &self,
        before: &'o Operator,
        renamed: &mut Vec<(&'o Operator, &'c Operator)>,
    ) -> Option<Finding>
    where
        'c: 'o,
    {
        let meaning = formula::normal(&self.whole(before, true));
        let added = || {
            let fresh = |op: &&Operator| self.old.module.operator(&op.name).is_none();
            self.new.module.operators.iter().filter(fresh)
        };
        let same = added().find(|op| formula::normal(&self.whole(op, false)) == meaning);
        if let Some(after) = same {
            renamed.push((before, after));
            return Some(self.renamed(before, after));
        }
        let reused =
            prefix(&before.name).and_then(|own| added().find(|op| prefix(&op.name) == Some(own)));
        if let Some(after) = reused {
            let reason = format!(
                "{} now names {}, which says something else than {} did",
                prefix(&before.name).unwrap_or_default(),
                after.name,
                before.name
            );
            let both = (Some(before), Some(after));
            return Some(self.finding("T16", Verdict::Weaker, both, reason));
        }
        let reason = format!("property {} is gone, and no other says the same", before.name);
        Some(self.finding("T01", Verdict::Weaker, (Some(before), None), reason))
    }

    fn renamed(&self, before: &Operator, after: &Operator) -> Finding {
        let both = (Some(before), Some(after));
        let (old, new) = (before.name.as_str(), after.name.as_str());
        if prefix(old).is_some() && prefix(old) != prefix(new) {
            let reason = format!("{old} became {new}: the id it is traced by is lost");
            return self.finding("T02", Verdict::Weaker, both, reason);
        }
        if negative(old) != negative(new) {
            let reason = format!("{old} became {new}: the name now says the opposite");
            return self.finding("T02", Verdict::Weaker, both, reason);
        }
        let listed = self.old.listed().contains(old) && !self.new.listed().contains(new);
        let verdict = if listed { Verdict::Weaker } else { Verdict::Suspect };
        let tail = if listed { ", and no configuration lists the new name" } else { "" };
        let reason = format!("{old} became {new} with the same meaning{tail}");
        self.finding("T02", verdict, both, reason)
    }

    /// T03 to T08, T10, T15: the text says something else.
    fn changed(&self, before: &Operator, after: &Operator) -> Option<Finding> {
        let (old, new) = (self.whole(before, true), self.whole(after, false));
        let order = formula::compare(&old, &new);
        if order == Order::Same {
            return None;
        }
        let both = (Some(before), Some(after));
        let name = &before.name;
        if formula::normal(&new) == Formula::True {
            let reason = format!("{name} holds whatever the model does");
            return Some(self.finding("T03", Verdict::Weaker, both, reason));
        }
        let parts = (aggregate(before, self.old), aggregate(after, self.new));
        if let (Some(was), now) = &parts {
            let is: BTreeSet<&str> = now.clone().unwrap_or_default();
            let gained: Vec<&str> = is.difference(was).copied().collect();
            if !gained.is_empty() && order == Order::Stronger {
                let reason = format!("{name} includes {}, too", gained.join(", "));
                return Some(self.finding("T10", Verdict::Stronger, both, reason));
            }
            let lost: Vec<&str> = was.difference(&is).copied().collect();
            if !lost.is_empty() && order == Order::Weaker {
                let reason = format!("{name} no longer includes {}", lost.join(", "));
                return Some(self.finding("T10", Verdict::Weaker, both, reason));
            }
        }
        let own = formula::moves(&formula(before), &formula(after));
        let all = formula::moves(&old, &new);
        let step = own.first().or(all.first()).copied().unwrap_or(Move::Other);
        let rule = rule_of(step, is_type_invariant(name));
        let (verdict, what) = match order {
            Order::Weaker => (Verdict::Weaker, "asks for less"),
            Order::Stronger => (Verdict::Stronger, "asks for more"),
            _ => (Verdict::Changed, "says something else, and no order could be shown"),
        };
        let reason = format!("{name} {what}: {}", said(step));
        let found = self.finding("T06", verdict, both, reason);
        Some(Finding { rule, ..found })
    }

    /// T09: the text is the same, what it rests on is not.
    fn helper(&self, before: &Operator, after: &Operator) -> Option<Finding> {
        let order = formula::compare(&self.whole(before, true), &self.whole(after, false));
        let verdict = match order {
            Order::Same => return None,
            Order::Weaker => Verdict::Weaker,
            Order::Changed => Verdict::Changed,
            Order::Stronger => Verdict::Stronger,
        };
        let old = self.old.module.closure(&before.name);
        let differs = |name: &&str| {
            let (a, b) = (self.old.module.operator(name), self.new.module.operator(name));
            match (a, b) {
                (Some(a), Some(b)) => formula::canonical(&a.body) != formula::canonical(&b.body),
                _ => true,
            }
        };
        let helpers: Vec<&str> = old.into_iter().filter(differs).collect();
        let name = &before.name;
        let reason =
            format!("{name} reads the same, but rests on {}, which changed", helpers.join(", "));
        let first = helpers.first().copied().unwrap_or_default();
        let (a, b) = (self.old.module.operator(first), self.new.module.operator(first));
        let places = (a.or(Some(before)), b.or(Some(after)));
        let found = self.finding("T09", verdict, places, reason);
        Some(Finding { object: self.old.object(name), ..found })
    }

    /// T14: an operator that no longer looks at a parameter.
    fn vacuous(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for after in &self.new.module.operators {
            let before = self.old.module.operator(&after.name);
            for (at, parameter) in after.parameters.iter().enumerate() {
                let looked_at =
                    |op: &Operator| op.parameters.get(at).is_some_and(|own| op.body.mentions(own));
                if !after.body.mentions(parameter) && before.is_none_or(looked_at) {
                    let reason = format!(
                        "{} does not depend on parameter {}: what it is used for cannot see it",
                        after.name,
                        at + 1
                    );
                    let both = (before, Some(after));
                    findings.push(self.finding("T14", Verdict::Suspect, both, reason));
                }
            }
        }
        findings
    }
}

fn negative(name: &str) -> bool {
    let own = prefix(name).map_or(name, |p| &name[p.len() + 1..]);
    let words: Vec<String> = words(own);
    words.iter().any(|word| matches!(word.as_str(), "not" | "no" | "never" | "non"))
}

/// `NoOrphanWhenConnected` as words.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for c in name.chars() {
        let starts = c.is_uppercase() || words.is_empty();
        if c == '_' {
            words.push(String::new());
        } else if starts {
            words.push(c.to_lowercase().collect());
        } else if let Some(last) = words.last_mut() {
            last.extend(c.to_lowercase());
        }
    }
    words
}

fn rule_of(step: Move, type_invariant: bool) -> RuleId {
    id(match step {
        Move::Constant => "T03",
        Move::Quantifier => "T04",
        Move::Temporal => "T05",
        _ if type_invariant => "T15",
        Move::Domain => "T08",
        Move::Relation => "T07",
        Move::Junct | Move::Other => "T06",
    })
}

fn said(step: Move) -> &'static str {
    match step {
        Move::Constant => "a part of it always holds now",
        Move::Quantifier => "a quantifier was flipped",
        Move::Temporal => "a temporal operator is another",
        Move::Domain => "the domain of a quantifier is another",
        Move::Relation => "a relation or its bound is another",
        Move::Junct => "conditions came or went",
        Move::Other => "a part of it is another",
    }
}

//! T11 to T13: what the model does, for fewer behaviours make every property easier.

use super::modules::Checked;
use super::parse::{Operator, as_formula};
use crate::finding::{Finding, Side, Verdict, finding};
use crate::formula::{self, Formula, Term};
use crate::rules::id;
use std::collections::BTreeSet;

/// What of the behaviour of a module was narrowed.
pub fn compare(old: &Checked<'_>, new: &Checked<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for before in &old.module.operators {
        let Some(after) = new.module.operator(&before.name) else { continue };
        if formula::canonical(&before.body) == formula::canonical(&after.body) {
            continue;
        }
        let pair = Pair { old, new, before, after };
        match Kind::of(old, before) {
            Kind::Init => pair.init(&mut findings),
            Kind::Action => pair.action(&mut findings),
            Kind::Spec => pair.fairness(&mut findings),
            Kind::Other => {}
        }
    }
    for (line, text, assumed) in &new.module.assumptions {
        let meaning = formula::normal(assumed);
        let known = |(_, _, own): &&(usize, String, Formula)| formula::normal(own) == meaning;
        let implied = |(_, _, own): &(usize, String, Formula)| {
            formula::implies(&formula::normal(own), &meaning)
        };
        if old.module.assumptions.iter().find(known).is_some()
            || old.module.assumptions.iter().any(implied)
        {
            continue;
        }
        let place = Side { file: new.file, line: *line, text };
        let reason = "a new assumption: models that do not satisfy it are no longer checked";
        let object = new.object("ASSUME");
        findings.push(finding(id("T11"), object, Verdict::Suspect, (None, Some(place)), reason));
    }
    findings
}

enum Kind {
    Init,
    Action,
    Spec,
    Other,
}

impl Kind {
    fn of(checked: &Checked<'_>, operator: &Operator) -> Kind {
        let named = |section| {
            checked
                .cfgs
                .iter()
                .any(|(_, cfg)| cfg.section(section).any(|e| e.name == operator.name))
        };
        if operator.name == "Init" || named("INIT") {
            return Kind::Init;
        }
        let text = &operator.text;
        let temporal = text.contains("[][") || text.contains("WF_") || text.contains("SF_");
        if named("SPECIFICATION") || (temporal && text.contains("]_")) || operator.name == "Spec" {
            // A property about steps is not what drives the model.
            let property = super::properties::properties(checked).contains(operator.name.as_str());
            return if property { Kind::Other } else { Kind::Spec };
        }
        // Fairness in an operator of its own is a part of the specification.
        if (text.contains("WF_") || text.contains("SF_")) && !text.contains('\'') {
            let property = super::properties::properties(checked).contains(operator.name.as_str());
            return if property { Kind::Other } else { Kind::Spec };
        }
        let closure = checked.module.closure(&operator.name);
        let steps = |op: &Operator| op.text.contains('\'') || op.text.contains("UNCHANGED");
        let inner = closure.iter().filter_map(|name| checked.module.operator(name));
        if steps(operator) || inner.into_iter().any(steps) { Kind::Action } else { Kind::Other }
    }
}

struct Pair<'c> {
    old: &'c Checked<'c>,
    new: &'c Checked<'c>,
    before: &'c Operator,
    after: &'c Operator,
}

impl Pair<'_> {
    fn push(&self, rule: &'static str, reason: String, findings: &mut Vec<Finding>) {
        let old = Side { file: self.old.file, line: self.before.line, text: &self.before.text };
        let new = Side { file: self.new.file, line: self.after.line, text: &self.after.text };
        let object = self.old.object(&self.before.name);
        let both = (Some(old), Some(new));
        findings.push(finding(id(rule), object, Verdict::Suspect, both, reason));
    }

    fn meanings(&self) -> (Formula, Formula) {
        let (old, new) = (self.old.module.definitions(), self.new.module.definitions());
        let whole = |operator: &Operator, definitions| {
            formula::normal(&as_formula(&formula::expanded(&operator.body, definitions)))
        };
        (whole(self.before, &old), whole(self.after, &new))
    }

    /// The same, but for the definitions of actions, which are looked at on their own.
    fn own(&self) -> (Formula, Formula) {
        let own = |op: &Operator| formula::normal(&as_formula(&formula::canonical(&op.body)));
        (own(self.before), own(self.after))
    }

    fn init(&self, findings: &mut Vec<Finding>) {
        let (old, new) = self.meanings();
        if !formula::implies(&old, &new) {
            let name = &self.before.name;
            let reason = match formula::implies(&new, &old) {
                true => format!("{name} allows fewer initial states"),
                false => format!("{name} allows other initial states, maybe fewer"),
            };
            self.push("T11", reason, findings);
        }
    }

    fn action(&self, findings: &mut Vec<Finding>) {
        let name = &self.before.name;
        let (own_old, own_new) = self.own();
        let (old, new) = self.meanings();
        if formula::implies(&old, &new) && formula::implies(&new, &old) {
            return;
        }
        let lost = missing(&disjuncts(&own_old), &disjuncts(&own_new));
        let still: BTreeSet<Formula> = disjuncts(&new);
        let really = disjuncts(&old).iter().any(|part| !still.iter().any(|p| same(p, part)));
        if disjuncts(&own_old).len() > 1 && !lost.is_empty() && really {
            let (own, other) = (disjuncts(&own_old), disjuncts(&own_new));
            if other.len() < own.len() {
                let reason = format!("{name} lost an alternative: a kind of step is never taken");
                self.push("T11", reason, findings);
                return;
            }
        }
        let (before, after) = (guards(&old), guards(&new));
        let old_whole = formula::normal(&Formula::And(before.iter().cloned().collect()));
        let gained: Vec<&Formula> =
            after.iter().filter(|guard| !formula::implies(&old_whole, guard)).collect();
        if !gained.is_empty() && !same_guards(&before, &after) {
            let reason = format!("{name} is taken in fewer states: it has a new condition");
            self.push("T11", reason, findings);
        }
        self.ghosts(&old, &new, findings);
    }

    /// T13: a variable that only records is updated in another way.
    fn ghosts(&self, old: &Formula, new: &Formula, findings: &mut Vec<Finding>) {
        let (before, after) = (updates(old), updates(new));
        for (variable, value) in &before {
            if !is_ghost(variable) && !self.is_recorded(variable) {
                continue;
            }
            // Other steps may do other things to it.
            if !after.iter().any(|(name, now)| name == variable && now == value) {
                let reason = format!(
                    "{} records {variable} in another way: check that what is compared with it \
                     can still differ",
                    self.before.name
                );
                self.push("T13", reason, findings);
                return;
            }
        }
        if !doubled(old) && doubled(new) {
            let reason = format!(
                "{} fills two fields of a record from the same expression: comparing them \
                 proves nothing",
                self.before.name
            );
            self.push("T13", reason, findings);
        }
    }

    /// Whether no step depends on a variable that a property speaks of: it only records.
    fn is_recorded(&self, variable: &str) -> bool {
        let module = &self.old.module;
        let reads = |op: &Operator| {
            let own = as_formula(&formula::canonical(&op.body));
            matches!(Kind::of(self.old, op), Kind::Action) && is_read(&own, variable)
        };
        let speaks = |name: &&str| {
            let closure = module.closure(name);
            let inner = closure.iter().filter_map(|name| module.operator(name));
            let own = module.operator(name);
            inner.chain(own).any(|op| op.body.mentions(variable))
        };
        let properties = super::properties::properties(self.old);
        // What every variable has to be is no use of it.
        let mut telling = properties.into_iter().filter(|name| !name.contains("Type"));
        !module.operators.iter().any(reads) && telling.any(|name| speaks(&name))
    }

    /// T12: fairness that was not there.
    fn fairness(&self, findings: &mut Vec<Finding>) {
        let (old, new) = self.meanings();
        let (before, after) = (fair(&old), fair(&new));
        let gained: Vec<&Term> = after.iter().filter(|term| !before.contains(*term)).collect();
        // Strong for weak fairness is more, weak for strong is less.
        let more = gained.iter().any(|term| match term {
            Term::Apply(kind, args) if kind == "WF" => {
                !before.contains(&Term::apply("SF", args.clone()))
            }
            _ => true,
        });
        if more {
            let name = &self.before.name;
            let reason =
                format!("{name} assumes more fairness: liveness can hold because of it alone");
            self.push("T12", reason, findings);
        }
        let (initial, next) = (unfair(&old), unfair(&new));
        if initial != next
            && formula::implies(&next, &initial)
            && !formula::implies(&initial, &next)
        {
            let name = &self.before.name;
            self.push("T11", format!("{name} allows fewer behaviours"), findings);
        }
    }
}

fn same(a: &Formula, b: &Formula) -> bool {
    a == b || (formula::implies(a, b) && formula::implies(b, a))
}

/// The alternatives of an action, under its quantifiers.
fn disjuncts(formula: &Formula) -> BTreeSet<Formula> {
    match formula {
        Formula::Or(parts) => parts.iter().flat_map(disjuncts).collect(),
        Formula::Quant { all: false, body, domain, variable } => disjuncts(body)
            .into_iter()
            .map(|part| Formula::Quant {
                all: false,
                variable: variable.clone(),
                domain: domain.clone(),
                body: Box::new(part),
            })
            .collect(),
        other => BTreeSet::from([other.clone()]),
    }
}

fn missing(old: &BTreeSet<Formula>, new: &BTreeSet<Formula>) -> Vec<Formula> {
    old.iter().filter(|part| !new.iter().any(|other| same(part, other))).cloned().collect()
}

/// The conditions of an action that speak of the state before the step.
fn guards(formula: &Formula) -> BTreeSet<Formula> {
    let mut found = BTreeSet::new();
    let mut open = vec![formula];
    while let Some(next) = open.pop() {
        match next {
            Formula::And(parts) => open.extend(parts),
            Formula::Quant { all: false, body, domain, .. } => {
                if let Some(domain) = domain {
                    found.insert(Formula::Atom(Term::apply("from", vec![domain.clone()])));
                }
                open.push(body);
            }
            other if !steps(other) => {
                found.insert(other.clone());
            }
            _ => {}
        }
    }
    found
}

fn same_guards(old: &BTreeSet<Formula>, new: &BTreeSet<Formula>) -> bool {
    let whole =
        |set: &BTreeSet<Formula>| formula::normal(&Formula::And(set.iter().cloned().collect()));
    let (old, new) = (whole(old), whole(new));
    formula::implies(&old, &new)
}

/// Whether a formula speaks of the state after the step.
fn steps(formula: &Formula) -> bool {
    let shown = format!("{formula:?}");
    shown.contains("Apply(\"'\"") || shown.contains("UNCHANGED") || shown.contains("WF")
}

/// `x' = value`, anywhere.
fn updates(formula: &Formula) -> Vec<(String, Term)> {
    let mut found = Vec::new();
    let mut open = vec![formula];
    while let Some(next) = open.pop() {
        match next {
            Formula::And(parts) | Formula::Or(parts) => open.extend(parts),
            Formula::Quant { body, .. } => open.push(body),
            Formula::Rel(_, a, b) => {
                for (left, right) in [(a, b), (b, a)] {
                    if let Term::Apply(prime, args) = left
                        && prime == "'"
                        && let [Term::Name(name)] = &args[..]
                    {
                        found.push((name.clone(), right.clone()));
                    }
                }
            }
            _ => {}
        }
    }
    found.sort();
    found
}

/// Whether a step depends on a variable other than to give it its next value.
fn is_read(step: &Formula, variable: &str) -> bool {
    match step {
        Formula::And(parts) | Formula::Or(parts) => parts.iter().any(|p| is_read(p, variable)),
        Formula::Quant { domain, body, .. } => {
            domain.as_ref().is_some_and(|d| d.mentions(variable)) || is_read(body, variable)
        }
        Formula::Atom(Term::Apply(kind, _)) if kind == "UNCHANGED" => false,
        Formula::Rel(_, a, b) => {
            let next = |term: &Term| {
                matches!(term, Term::Apply(prime, args)
                    if prime == "'" && args[..] == [Term::name(variable)])
            };
            !next(a) && !next(b) && (a.mentions(variable) || b.mentions(variable))
        }
        other => other.mentions(variable),
    }
}

fn is_ghost(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["ghost", "history", "hist", "log", "shadow", "aux", "trace", "audit", "acked"]
        .iter()
        .any(|word| lower.contains(word))
}

/// Whether a record has two fields from one expression that is more than a constant.
fn doubled(formula: &Formula) -> bool {
    fn in_term(term: &Term) -> bool {
        match term {
            Term::Apply(kind, fields) => {
                let values: Vec<&Term> = fields
                    .iter()
                    .filter_map(|field| match field {
                        Term::Apply(_, value) => value.first(),
                        _ => None,
                    })
                    .filter(|value| !matches!(value, Term::Number(_)))
                    .filter(|value| !matches!(value, Term::Name(n) if n.starts_with('"')))
                    .collect();
                let twice = |v: &&Term| values.iter().filter(|other| *other == v).count() > 1;
                (kind == "record_literal" && values.iter().any(twice)) || fields.iter().any(in_term)
            }
            _ => false,
        }
    }
    updates(formula).iter().any(|(_, value)| in_term(value))
}

fn fair(formula: &Formula) -> BTreeSet<Term> {
    let mut found = BTreeSet::new();
    let mut open = vec![formula];
    while let Some(next) = open.pop() {
        match next {
            Formula::And(parts) => open.extend(parts),
            Formula::Quant { body, .. } => open.push(body),
            Formula::Atom(term @ Term::Apply(kind, _)) if kind == "WF" || kind == "SF" => {
                found.insert(term.clone());
            }
            _ => {}
        }
    }
    found
}

/// A specification without its fairness.
fn unfair(formula: &Formula) -> Formula {
    let parts: Vec<Formula> = match formula {
        Formula::And(parts) => parts.iter().filter(|part| fair(part).is_empty()).cloned().collect(),
        other if fair(other).is_empty() => vec![other.clone()],
        _ => Vec::new(),
    };
    formula::normal(&Formula::And(parts))
}

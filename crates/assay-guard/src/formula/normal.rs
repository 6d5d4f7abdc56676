//! A normal form: negations at the leaves, lists flat, sorted and without what says nothing.

use super::{Formula, Number, Rel, Term};

/// The normal form; filters of a domain become part of what is said about its elements.
pub fn normal(formula: &Formula) -> Formula {
    Normal { domains: true }.of(formula, false)
}

/// The normal form, with domains as they are written: to say where two formulas differ.
pub fn normal_keeping_domains(formula: &Formula) -> Formula {
    Normal { domains: false }.of(formula, false)
}

/// The opposite of a formula in normal form.
pub fn negated(formula: &Formula) -> Formula {
    Normal { domains: true }.of(formula, true)
}

struct Normal {
    domains: bool,
}

impl Normal {
    fn of(&self, formula: &Formula, negate: bool) -> Formula {
        match formula {
            Formula::True => constant(!negate),
            Formula::False => constant(negate),
            Formula::Atom(term) => self.atom(term, negate),
            Formula::Rel(rel, a, b) => self.relation(*rel, a, b, negate),
            Formula::Not(inner) => self.of(inner, !negate),
            Formula::And(parts) => self.list(parts.iter().map(|p| (p, negate)), !negate),
            Formula::Or(parts) => self.list(parts.iter().map(|p| (p, negate)), negate),
            Formula::Implies(a, b) => {
                self.list([(&**a, !negate), (&**b, negate)].into_iter(), negate)
            }
            Formula::Iff(a, b) => self.iff(a, b, negate),
            Formula::Quant { all, variable, domain, body } => {
                let body = self.of(body, negate);
                self.quant(*all != negate, variable, domain.as_ref().map(|d| self.term(d)), body)
            }
            Formula::Always(f) => temporal(!negate, self.of(f, negate)),
            Formula::Eventually(f) => temporal(negate, self.of(f, negate)),
            Formula::LeadsTo(p, q) => {
                let later = Formula::Eventually(q.clone());
                let step = Formula::Implies(p.clone(), Box::new(later));
                self.of(&Formula::Always(Box::new(step)), negate)
            }
        }
    }

    fn atom(&self, term: &Term, negate: bool) -> Formula {
        match self.term(term) {
            Term::Name(name) if is_true(&name) => constant(!negate),
            Term::Name(name) if is_false(&name) => constant(negate),
            Term::Logic(inner) => self.of(&inner, negate),
            term if negate => Formula::Not(Box::new(Formula::Atom(term))),
            term => Formula::Atom(term),
        }
    }

    fn relation(&self, rel: Rel, a: &Term, b: &Term, negate: bool) -> Formula {
        let (mut a, mut b) = (self.term(a), self.term(b));
        // `x \in SUBSET S` is `x \subseteq S`.
        if let (Rel::In | Rel::NotIn, Term::Apply(operator, sets)) = (rel, &b)
            && operator == "SUBSET"
            && let [whole] = &sets[..]
        {
            let negate = negate != (rel == Rel::NotIn);
            return self.relation(Rel::SubsetEq, &a, &whole.clone(), negate);
        }
        let rel = counted(rel, &mut a, &mut b);
        if rel == Rel::Eq || rel == Rel::Same {
            for (constant, other) in [(&a, &b), (&b, &a)] {
                if let Term::Name(name) = constant
                    && (is_true(name) || is_false(name))
                {
                    return self.of(&Formula::Atom(other.clone()), negate != is_false(name));
                }
            }
        }
        if matches!(rel, Rel::Eq | Rel::Ne | Rel::Same | Rel::Near(_) | Rel::Unordered) && b < a {
            std::mem::swap(&mut a, &mut b);
        }
        if let Some(known) = super::relation::decided(rel, &a, &b) {
            return constant(known != negate);
        }
        if !negate {
            return Formula::Rel(rel, a, b);
        }
        match rel {
            Rel::Eq => Formula::Rel(Rel::Ne, a, b),
            Rel::Ne => Formula::Rel(Rel::Eq, a, b),
            Rel::Lt => self.relation(Rel::Le, &b, &a, false),
            Rel::Le => self.relation(Rel::Lt, &b, &a, false),
            Rel::In => Formula::Rel(Rel::NotIn, a, b),
            Rel::NotIn => Formula::Rel(Rel::In, a, b),
            _ => Formula::Not(Box::new(Formula::Rel(rel, a, b))),
        }
    }

    fn list<'f>(&self, parts: impl Iterator<Item = (&'f Formula, bool)>, and: bool) -> Formula {
        junction(parts.map(|(part, negate)| self.of(part, negate)).collect(), and)
    }

    fn iff(&self, a: &Formula, b: &Formula, negate: bool) -> Formula {
        let (a, b) = (self.of(a, false), self.of(b, negate));
        match (&a, &b) {
            (Formula::True, _) => b,
            (_, Formula::True) => a,
            (Formula::False, _) => negated(&b),
            (_, Formula::False) => negated(&a),
            _ if a == b => Formula::True,
            _ => {
                let (a, b) = if a < b { (a, b) } else { (b, a) };
                Formula::Iff(Box::new(a), Box::new(b))
            }
        }
    }

    fn quant(&self, all: bool, variable: &str, domain: Option<Term>, mut body: Formula) -> Formula {
        let mut domain = domain;
        loop {
            if !self.domains {
                break;
            }
            let element = || Term::name(variable);
            let (inner, condition) = match domain {
                Some(Term::Apply(operator, mut args)) => match (operator.as_str(), args.len()) {
                    ("filter", 3) => {
                        let condition = args.swap_remove(2);
                        (args.swap_remove(1), Formula::Atom(condition))
                    }
                    ("\\", 2) => {
                        let without = args.swap_remove(1);
                        (args.swap_remove(0), Formula::Rel(Rel::NotIn, element(), without))
                    }
                    ("\\cap", 2) => {
                        let within = args.swap_remove(1);
                        (args.swap_remove(0), Formula::Rel(Rel::In, element(), within))
                    }
                    _ => {
                        domain = Some(Term::Apply(operator, args));
                        break;
                    }
                },
                other => {
                    domain = other;
                    break;
                }
            };
            let condition = self.of(&condition, all);
            body = junction(vec![condition, body], !all);
            domain = Some(inner);
        }
        let empty = |d: &Term| matches!(d, Term::Apply(op, args) if op == "set" && args.is_empty());
        if domain.as_ref().is_some_and(empty) {
            return constant(all);
        }
        match body {
            Formula::True if all => Formula::True,
            Formula::False if !all => Formula::False,
            body => {
                Formula::Quant { all, variable: variable.to_string(), domain, body: Box::new(body) }
            }
        }
    }

    fn term(&self, term: &Term) -> Term {
        match term {
            Term::Apply(operator, arguments) => {
                let mut arguments: Vec<Term> = arguments.iter().map(|a| self.term(a)).collect();
                match operator.as_str() {
                    "set" => {
                        arguments.sort();
                        arguments.dedup();
                    }
                    "+" | "*" | "\\cup" | "\\cap" => arguments.sort(),
                    _ => {}
                }
                folded(operator, &arguments).unwrap_or(Term::Apply(operator.clone(), arguments))
            }
            Term::Logic(formula) => match self.of(formula, false) {
                Formula::True => Term::name("TRUE"),
                Formula::False => Term::name("FALSE"),
                Formula::Atom(term) => term,
                other => Term::Logic(Box::new(other)),
            },
            other => other.clone(),
        }
    }
}

/// What counts is not below zero, so more than none is not none: one form for both.
fn counted(rel: Rel, a: &mut Term, b: &mut Term) -> Rel {
    let counts = |term: &Term| {
        let names = ["len", "calls", "call Len", "call Cardinality"];
        matches!(term, Term::Apply(name, _) if names.contains(&name.as_str()))
    };
    let is = |term: &Term, value: f64| term.as_number() == Some(value);
    let whole = |term: &Term| term.as_number().filter(|n| n.fract() == 0.0);
    // Between two whole numbers there is none: `< 2` is `<= 1`.
    let rel = match (rel, whole(a), whole(b)) {
        (Rel::Lt, Some(low), _) if counts(b) => {
            *a = Term::number(low + 1.0);
            Rel::Le
        }
        (Rel::Lt, _, Some(high)) if counts(a) => {
            *b = Term::number(high - 1.0);
            Rel::Le
        }
        (other, ..) => other,
    };
    match rel {
        Rel::Lt if is(a, 0.0) && counts(b) => Rel::Ne,
        Rel::Le if is(a, 1.0) && counts(b) => {
            *a = Term::number(0.0);
            Rel::Ne
        }
        Rel::Lt if counts(a) && is(b, 1.0) => {
            *b = Term::number(0.0);
            Rel::Eq
        }
        Rel::Le if counts(a) && is(b, 0.0) => Rel::Eq,
        other => other,
    }
}

fn folded(operator: &str, arguments: &[Term]) -> Option<Term> {
    let [Term::Number(Number(a)), Term::Number(Number(b))] = arguments else { return None };
    let value = match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" if *b != 0.0 => a / b,
        _ => return None,
    };
    value.is_finite().then(|| Term::number(value))
}

fn constant(value: bool) -> Formula {
    if value { Formula::True } else { Formula::False }
}

fn is_true(name: &str) -> bool {
    matches!(name, "TRUE" | "True" | "true")
}

fn is_false(name: &str) -> bool {
    matches!(name, "FALSE" | "False" | "false")
}

fn temporal(always: bool, inner: Formula) -> Formula {
    match (always, inner) {
        (_, constant @ (Formula::True | Formula::False)) => constant,
        (true, inner @ Formula::Always(_)) | (false, inner @ Formula::Eventually(_)) => inner,
        (true, inner) => Formula::Always(Box::new(inner)),
        (false, inner) => Formula::Eventually(Box::new(inner)),
    }
}

/// A list of formulas in normal form as one.
pub fn junction(parts: Vec<Formula>, and: bool) -> Formula {
    let mut flat = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Formula::And(inner) if and => flat.extend(inner),
            Formula::Or(inner) if !and => flat.extend(inner),
            Formula::True if and => {}
            Formula::False if !and => {}
            Formula::True => return Formula::True,
            Formula::False => return Formula::False,
            other => flat.push(other),
        }
    }
    flat.sort();
    flat.dedup();
    // `x` beside `~x` decides the whole; the lists of a person are short.
    let contradicts =
        flat.len() <= 64 && flat.iter().any(|f| flat.binary_search(&negated(f)).is_ok());
    if contradicts {
        return constant(!and);
    }
    match flat.len() {
        0 => constant(and),
        1 => flat.swap_remove(0),
        _ if and => Formula::And(flat),
        _ => Formula::Or(flat),
    }
}

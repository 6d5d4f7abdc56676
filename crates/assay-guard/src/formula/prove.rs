//! Whether one formula implies another, as far as their shapes tell.

use super::normal::{junction, negated};
use super::{Formula, Rel, parts, relation};

/// Steps one question may cost: far more than any formula a person wrote needs.
const STEPS_MAX: u32 = 50_000;

/// Whether `a` implies `b`, both in normal form. `false` means that it could not be shown.
pub fn implies(a: &Formula, b: &Formula) -> bool {
    Prover { steps: STEPS_MAX }.implies(a, b, 0)
}

/// How deep formulas may be nested; deeper ones prove nothing.
const DEPTH_MAX: u32 = 200;

struct Prover {
    steps: u32,
}

impl Prover {
    fn implies(&mut self, a: &Formula, b: &Formula, depth: u32) -> bool {
        if a == b || *a == Formula::False || *b == Formula::True {
            return true;
        }
        if self.steps == 0 || depth > DEPTH_MAX {
            return false;
        }
        self.steps -= 1;
        let deeper = depth + 1;
        match (a, b) {
            (_, Formula::And(parts)) => parts.iter().all(|part| self.implies(a, part, deeper)),
            (Formula::Or(parts), _) => parts.iter().all(|part| self.implies(part, b, deeper)),
            (Formula::And(parts), Formula::Or(others)) => {
                others.iter().any(|other| self.implies(a, other, deeper))
                    || parts.iter().any(|part| self.implies(part, b, deeper))
                    || self.resolved(parts, b, deeper)
                    || self.each_option(a, others, deeper)
            }
            (Formula::And(parts), _) => {
                parts.iter().any(|part| self.implies(part, b, deeper))
                    || self.resolved(parts, b, deeper)
            }
            (_, Formula::Or(others)) => {
                others.iter().any(|other| self.implies(a, other, deeper))
                    || self.each_option(a, others, deeper)
            }
            _ => self.single(a, b, deeper),
        }
    }

    /// From `x` and `~x \/ y` follows `y`.
    fn resolved(&mut self, parts: &[Formula], goal: &Formula, depth: u32) -> bool {
        for part in parts {
            let Formula::Or(options) = part else { continue };
            let left: Vec<Formula> = options
                .iter()
                .filter(|option| {
                    let opposite = negated(option);
                    !parts
                        .iter()
                        .any(|other| other != part && self.implies(other, &opposite, depth))
                })
                .cloned()
                .collect();
            if left.len() < options.len() && self.implies(&junction(left, false), goal, depth) {
                return true;
            }
        }
        false
    }

    /// `x \/ (y /\ z)` is `(x \/ y) /\ (x \/ z)`: each of the two may follow on its own.
    fn each_option(&mut self, a: &Formula, options: &[Formula], depth: u32) -> bool {
        let both = options.iter().position(|option| matches!(option, Formula::And(_)));
        let Some(at) = both else { return false };
        let Formula::And(parts) = &options[at] else { return false };
        parts.iter().all(|part| {
            let mut list = options.to_vec();
            list[at] = part.clone();
            self.implies(a, &junction(list, false), depth)
        })
    }

    fn single(&mut self, a: &Formula, b: &Formula, depth: u32) -> bool {
        match (a, b) {
            // What equals something is something.
            (Formula::Rel(Rel::Eq | Rel::Same, x, y), Formula::Atom(term)) => {
                parts::makes_true((x, y), term)
            }
            (Formula::Rel(p, x, y), Formula::Rel(q, v, w)) => {
                relation::implies((*p, x, y), (*q, v, w))
            }
            (
                Formula::Quant { all, domain, body, .. },
                Formula::Quant { all: new_all, domain: new_domain, body: new_body, .. },
            ) => {
                let smaller = |part: &Option<super::Term>, whole: &Option<super::Term>| {
                    part == whole
                        || match (part, whole) {
                            (Some(part), Some(whole)) => relation::within(part, whole),
                            (Some(_), None) => true,
                            _ => false,
                        }
                };
                let domains = match (all, new_all) {
                    (true, true) => smaller(new_domain, domain),
                    (false, false) => smaller(domain, new_domain),
                    // Domains are taken to have elements: an invariant about nothing is not
                    // what anybody meant.
                    (true, false) => smaller(domain, new_domain) || smaller(new_domain, domain),
                    (false, true) => false,
                };
                domains && self.quantified(*all && !*new_all, body, new_body, depth)
            }
            (Formula::Eventually(p), Formula::Always(q)) => match (&**p, &**q) {
                (Formula::Always(p), Formula::Eventually(q)) => self.implies(p, q, depth),
                _ => false,
            },
            (Formula::Always(p), Formula::Always(q))
            | (Formula::Eventually(p), Formula::Eventually(q)) => self.implies(p, q, depth),
            (Formula::Always(p), Formula::Eventually(q)) => {
                self.implies(p, q, depth) || self.implies(a, q, depth) || self.implies(p, b, depth)
            }
            (Formula::Always(p), _) => self.implies(p, b, depth),
            (_, Formula::Eventually(q)) => self.implies(a, q, depth),
            (Formula::Iff(x, y), _) => {
                let one = junction(vec![negated(x), (**y).clone()], false);
                let two = junction(vec![negated(y), (**x).clone()], false);
                self.implies(&one, b, depth) || self.implies(&two, b, depth)
            }
            _ => false,
        }
    }

    /// The bodies of two quantifiers. From "for all" to "for some", what held under a condition is
    /// held against the condition: `\A x : p => q` is not lost in `\E x : p /\ q`.
    fn quantified(&mut self, flipped: bool, old: &Formula, new: &Formula, depth: u32) -> bool {
        if self.implies(old, new, depth) {
            return true;
        }
        match (flipped, old, new) {
            (true, Formula::Or(_), Formula::And(parts)) => {
                parts.iter().any(|part| self.implies(part, old, depth))
            }
            _ => false,
        }
    }
}

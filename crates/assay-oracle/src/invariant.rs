//! An invariant over the final state, in the language of [`crate::expr`].
//!
//! Every `final`/`dump` is judged. Final means at rest, which has three parts: nothing under way
//! (checked in the history), nothing pending in the background, replicas converged (both must be
//! shown elsewhere and declared; otherwise the report says that they were not).

use crate::built_in::{BuiltIn, Check};
use crate::contract::{Fact, OracleError, OracleInfo};
use crate::draft::Plant;
use crate::expr::{Expr, Function, Operator, parse};
use crate::options::Options;
use crate::table::{FINAL, Row, Table, count};
use crate::{fact, plants};
use assay_history::{ValueId, View};
use rustc_hash::FxHashSet;
use std::cmp::Ordering;

/// What an expression comes to.
#[derive(Clone, PartialEq, Debug)]
enum Value {
    Int(i128),
    Real(f64),
    Text(String),
    Truth(bool),
}

struct Eval<'t, 'h> {
    table: &'t Table<'h>,
    state: ValueId,
    /// What each function and path came to, for the certificate.
    terms: Vec<(String, String, Value)>,
}

impl Eval<'_, '_> {
    /// All values a path leads to.
    fn select(&self, path: &str) -> Vec<ValueId> {
        let mut at = vec![self.state];
        for part in path.split('.') {
            let step = |value: &ValueId| -> Vec<ValueId> {
                match self.table.values.view(*value) {
                    View::List(items) if part == "*" => items.to_vec(),
                    View::Map(flat) if part == "*" => {
                        let mut pairs: Vec<(String, ValueId)> =
                            flat.chunks_exact(2).map(|p| (self.table.name(p[0]), p[1])).collect();
                        pairs.sort();
                        pairs.into_iter().map(|(_, value)| value).collect()
                    }
                    View::List(items) => {
                        let place = part.parse::<usize>().ok();
                        place.and_then(|i| items.get(i)).copied().into_iter().collect()
                    }
                    View::Map(flat) => {
                        let named = |p: &&[ValueId]| self.table.name(p[0]) == part;
                        flat.chunks_exact(2).find(named).map(|p| p[1]).into_iter().collect()
                    }
                    _ => Vec::new(),
                }
            };
            at = at.iter().flat_map(step).collect();
        }
        at
    }

    fn leaf(&self, id: ValueId, path: &str) -> Result<Value, String> {
        match self.table.values.view(id) {
            View::Int(int) => Ok(Value::Int(i128::from(int))),
            View::Number(text) => text.parse().map(Value::Real).map_err(|_| text.to_string()),
            View::Str(text) => Ok(Value::Text(text.to_string())),
            View::Bool(truth) => Ok(Value::Truth(truth)),
            _ => Err(format!("`{path}` leads to {}, not to a single value", self.table.text(id))),
        }
    }

    fn value(&mut self, expr: &Expr) -> Result<Value, String> {
        match expr {
            Expr::Number(text) => match text.parse::<i128>() {
                Ok(int) => Ok(Value::Int(int)),
                Err(_) => text.parse().map(Value::Real).map_err(|_| format!("number {text}")),
            },
            Expr::Text(text) => Ok(Value::Text(text.clone())),
            Expr::Truth(truth) => Ok(Value::Truth(*truth)),
            Expr::Path(path) => {
                let found = self.select(path);
                let [one] = found[..] else {
                    return Err(format!("`{path}` leads to {} values, not one", found.len()));
                };
                let value = self.leaf(one, path)?;
                self.terms.push(("path".to_string(), path.clone(), value.clone()));
                Ok(value)
            }
            Expr::Call(function, paths) => {
                let value = self.call(*function, paths)?;
                self.terms.push((function.name().to_string(), paths.join(","), value.clone()));
                Ok(value)
            }
            Expr::Not(inner) => Ok(Value::Truth(!self.truth(inner)?)),
            Expr::Minus(inner) => {
                let inner = self.value(inner)?;
                arithmetic(Value::Int(0), Operator::Subtract, inner)
            }
            // Both sides are always evaluated: the certificate shows every term.
            Expr::Two(left, operator @ (Operator::And | Operator::Or), right) => {
                let (left, right) = (self.truth(left)?, self.truth(right)?);
                let both = *operator == Operator::And;
                Ok(Value::Truth(if both { left && right } else { left || right }))
            }
            Expr::Two(left, operator, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                match operator {
                    Operator::Add | Operator::Subtract | Operator::Multiply => {
                        arithmetic(left, *operator, right)
                    }
                    _ => compare(&left, *operator, &right).map(Value::Truth),
                }
            }
        }
    }

    fn truth(&mut self, expr: &Expr) -> Result<bool, String> {
        match self.value(expr)? {
            Value::Truth(truth) => Ok(truth),
            other => Err(format!("{other:?} is not true or false")),
        }
    }

    fn call(&self, function: Function, paths: &[String]) -> Result<Value, String> {
        let found = self.select(&paths[0]);
        let leaves = || found.iter().map(|&id| self.leaf(id, &paths[0]));
        let best = |wanted: Ordering| -> Result<Value, String> {
            let mut best: Option<Value> = None;
            for leaf in leaves() {
                let leaf = leaf?;
                let better = match &best {
                    Some(best) => order(&leaf, best)? == wanted,
                    None => true,
                };
                best = if better { Some(leaf) } else { best };
            }
            best.ok_or_else(|| format!("`{}` leads to nothing", paths[0]))
        };
        match function {
            Function::Count => Ok(Value::Int(found.len() as i128)),
            Function::Sum => {
                leaves().try_fold(Value::Int(0), |sum, leaf| arithmetic(sum, Operator::Add, leaf?))
            }
            Function::Min => best(Ordering::Less),
            Function::Max => best(Ordering::Greater),
            Function::Unique => {
                let different: FxHashSet<ValueId> = found.iter().copied().collect();
                Ok(Value::Truth(different.len() == found.len()))
            }
            Function::Refs => {
                let there: FxHashSet<ValueId> = self.select(&paths[1]).into_iter().collect();
                Ok(Value::Truth(found.iter().all(|id| there.contains(id))))
            }
        }
    }
}

fn arithmetic(left: Value, operator: Operator, right: Value) -> Result<Value, String> {
    let exact = |a: i128, b: i128| match operator {
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        _ => a.checked_mul(b),
    };
    let float = |a: f64, b: f64| match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        _ => a * b,
    };
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => {
            exact(a, b).map(Value::Int).ok_or_else(|| "the number is too large".to_string())
        }
        (Value::Int(a), Value::Real(b)) => Ok(Value::Real(float(a as f64, b))),
        (Value::Real(a), Value::Int(b)) => Ok(Value::Real(float(a, b as f64))),
        (Value::Real(a), Value::Real(b)) => Ok(Value::Real(float(a, b))),
        (a, b) => Err(format!("{a:?} and {b:?} are not both numbers")),
    }
}

fn order(left: &Value, right: &Value) -> Result<Ordering, String> {
    let floats = |a: f64, b: f64| a.partial_cmp(&b).ok_or_else(|| "not a number".to_string());
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => Ok(a.cmp(b)),
        (Value::Int(a), Value::Real(b)) => floats(*a as f64, *b),
        (Value::Real(a), Value::Int(b)) => floats(*a, *b as f64),
        (Value::Real(a), Value::Real(b)) => floats(*a, *b),
        (Value::Text(a), Value::Text(b)) => Ok(a.cmp(b)),
        (Value::Truth(a), Value::Truth(b)) => Ok(a.cmp(b)),
        (a, b) => Err(format!("{a:?} and {b:?} cannot be compared")),
    }
}

fn compare(left: &Value, operator: Operator, right: &Value) -> Result<bool, String> {
    let order = order(left, right)?;
    Ok(match operator {
        Operator::Equal => order.is_eq(),
        Operator::NotEqual => order.is_ne(),
        Operator::Less => order.is_lt(),
        Operator::LessEqual => order.is_le(),
        Operator::Greater => order.is_gt(),
        _ => order.is_ge(),
    })
}

fn show(value: &Value) -> String {
    match value {
        Value::Int(int) => int.to_string(),
        Value::Real(real) => real.to_string(),
        Value::Text(text) => format!("{text:?}"),
        Value::Truth(truth) => truth.to_string(),
    }
}

fn run(check: &mut Check<'_, '_>) -> Result<(), OracleError> {
    let Some(text) = &check.options.invariant else {
        return Err(OracleError::OptionMissing {
            oracle: "invariant",
            option: "invariant",
            why: "what must hold, such as `sum(accounts.*.balance) == 1000`",
        });
    };
    let expr = parse(text)?;
    if !expr.mentions_state() {
        let what = "the expression says nothing about the state".to_string();
        return Err(OracleError::BadExpression { column: 1, what });
    }
    let dumps = check.table.dumps();
    for dump in &dumps {
        judge(check, dump, &expr, text)?;
    }
    if !dumps.is_empty() {
        check.tally.evidence(format!("`{text}` judged on {} final states", count(dumps.len())));
        let open = [
            (check.options.background_idle, "that nothing was pending in the background"),
            (check.options.replicas_converged, "that replicas had converged"),
        ];
        for (_, what) in open.iter().filter(|(shown, _)| !shown) {
            check.tally.not_covered(format!("{what} at the dump was not shown"));
        }
    }
    Ok(())
}

fn judge(
    check: &mut Check<'_, '_>,
    dump: &Row<'_>,
    expr: &Expr,
    text: &str,
) -> Result<(), OracleError> {
    let table = check.table;
    let (open, unknown) = table.in_flight(dump.start, dump.end, FINAL);
    if let Some(&op) = open.first() {
        let what = table.say(op);
        check.tally.undecided(format!("not at rest: {what} was under way at the dump"));
        return Ok(());
    }
    if !unknown.is_empty() {
        let unknown = count(unknown.len());
        check.tally.not_covered(format!("{unknown} operations of unknown outcome may act later"));
    }
    let mut eval = Eval { table, state: dump.output, terms: Vec::new() };
    let place = || table.place(dump.index);
    let holds =
        eval.truth(expr).map_err(|what| OracleError::BadOperation { place: place(), what })?;
    check.tally.checked(1);
    if holds {
        return Ok(());
    }
    let terms = eval.terms;
    let facts = || {
        let term = |(function, path, value): &(String, String, Value)| -> Fact {
            fact!("term", dump.index, function.as_str(), path.as_str(), show(value))
        };
        let falsehood = fact!("false", dump.index, text);
        [falsehood].into_iter().chain(terms.iter().map(term)).collect()
    };
    check.tally.anomaly("invariant-broken", &[dump.index], facts, || {
        let terms: Vec<String> = terms
            .iter()
            .map(|(f, path, value)| format!("{f}({path}) is {}", show(value)))
            .collect();
        format!("`{text}` does not hold in {}: {}", table.say(dump.index), terms.join(", "))
    });
    Ok(())
}

pub(crate) static INVARIANT: BuiltIn = BuiltIn {
    info: &OracleInfo {
        name: "invariant",
        aliases: &["final-state-invariant"],
        patterns: &[12],
        claim: "at rest, the invariant holds",
        needs: "`final`/`dump` (output: the state); the option `invariant`; the options \
                `background-idle` and `replicas-converged` where they were shown",
        algorithm: "the expression is evaluated on every final state",
        cost: "O(size of the states · functions in the expression)",
        cannot_see: "states between the dumps; whether the invariant says what was meant",
        failure_mode: "rest undefined: operations under way at the dump leave it undecided, and \
                       the two other parts of rest are reported when nobody showed them",
        kinds: &["invariant-broken"],
    },
    run,
    example_options: || Options {
        invariant: Some("sum(accounts.*) == 10".to_string()),
        ..Options::default()
    },
    good: "0 final - - ok {\"accounts\":{\"a\":4,\"b\":6}}",
    bad: "0 final - - ok {\"accounts\":{\"a\":4,\"b\":5}}",
    plants: &[Plant { kind: "changed-leaf", apply: plants::change_inner_number }],
};

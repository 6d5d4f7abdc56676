//! Expressions of programs as terms and formulas.

use super::ast::{Expr, ExprKind, Stmt, StmtKind};
use super::open;
use crate::formula::{Formula, Number, Rel, Term};

/// Methods that change nothing a test compares.
const TRANSPARENT: [&str; 19] = [
    "clone",
    "to_owned",
    "to_string",
    "as_ref",
    "as_str",
    "into",
    "to_vec",
    "as_slice",
    "iter",
    "into_iter",
    "borrow",
    "unwrap",
    "expect",
    "as_deref",
    "stream",
    "copied",
    "collect",
    "toList",
    "cloned",
];

/// Wrappers under which order and multiplicity are lost.
const UNORDERED: [&str; 12] = [
    "set",
    "frozenset",
    "sorted",
    "Counter",
    "new Set",
    "Set.of",
    "Set.copyOf",
    "new HashSet",
    "HashSet.from_iter",
    "BTreeSet.from_iter",
    "HashSet.from",
    "BTreeSet.from",
];

/// An expression as a term.
pub fn term(expression: &Expr) -> Term {
    if let Some(known) = open::place(expression).or_else(|| open::duration(expression)) {
        return known;
    }
    match &expression.kind {
        ExprKind::Name(name) => Term::name(name),
        ExprKind::Number(value) => Term::number(*value),
        ExprKind::Text(text) => Term::name(format!("{text:?}")),
        ExprKind::Bool(value) => Term::name(if *value { "TRUE" } else { "FALSE" }),
        ExprKind::Null => Term::name("null"),
        ExprKind::Call(callee, args) => call(expression, callee, args),
        ExprKind::Member(of, name) if matches!(name.as_str(), "length" | "size" | "count") => {
            Term::apply("len", vec![term(of)])
        }
        // What a test case keeps in itself, another gets as a fixture.
        ExprKind::Member(of, name) if is_self(of) => Term::name(name),
        ExprKind::Member(of, name) => Term::apply(format!(".{name}"), vec![term(of)]),
        ExprKind::Index(of, at) => Term::apply("at", vec![term(of), term(at)]),
        ExprKind::Binary(operator, a, b) => match operator.as_str() {
            "+" | "-" | "*" | "/" | "%" | "**" | "<<" | ">>" | "&" | "|" | "^" | "//" | "??" => {
                Term::apply(operator, vec![term(a), term(b)])
            }
            _ => Term::Logic(Box::new(formula(expression))),
        },
        ExprKind::Unary(operator, inner) => match operator.as_str() {
            "!" | "not" => Term::Logic(Box::new(formula(expression))),
            "&" | "&mut" | "+" | "await" => term(inner),
            "-" => match inner.number() {
                Some(value) => Term::number(-value),
                None => Term::apply("-", vec![term(inner)]),
            },
            _ => Term::apply(operator.trim(), vec![term(inner)]),
        },
        ExprKind::List(items) => Term::apply("list", items.iter().map(term).collect()),
        ExprKind::Fields(fields) => {
            let mut all: Vec<Term> = fields
                .iter()
                .map(|(name, value)| Term::apply(format!(".{name}"), vec![term(value)]))
                .collect();
            all.sort();
            Term::apply("record_literal", all)
        }
        ExprKind::Lambda(parameters, body) => {
            let inner = result(body).unwrap_or(Term::name("?"));
            bound("function", parameters, Term::name("-"), inner)
        }
        ExprKind::Each(variable, of, condition, body) => {
            let source = match condition {
                Some(condition) => {
                    let inner = Term::Logic(Box::new(formula(condition)));
                    bound("filter", std::slice::from_ref(variable), term(of), inner)
                }
                None => term(of),
            };
            bound("collect", std::slice::from_ref(variable), source, term(body))
        }
        ExprKind::Choice(c, a, b) => {
            Term::apply("if", vec![Term::Logic(Box::new(formula(c))), term(a), term(b)])
        }
        ExprKind::Other(kind, parts) if kind == "?" => parts.first().map_or(Term::name("?"), term),
        ExprKind::Other(kind, parts) if kind == "..=" && parts.len() == 2 => {
            Term::apply("..", parts.iter().map(term).collect())
        }
        ExprKind::Other(kind, parts) if kind == ".." && parts.len() == 2 => {
            below(term(&parts[0]), term(&parts[1]))
        }
        ExprKind::Other(kind, parts) => Term::apply(kind.trim(), parts.iter().map(term).collect()),
    }
}

/// All from `low` to below `high`.
fn below(low: Term, high: Term) -> Term {
    let last = match high.as_number() {
        Some(value) => Term::number(value - 1.0),
        None => Term::apply("-", vec![high, Term::number(1.0)]),
    };
    Term::apply("..", vec![low, last])
}

fn is_self(of: &Expr) -> bool {
    matches!(&of.kind, ExprKind::Name(name) if matches!(name.as_str(), "self" | "this"))
}

fn bound(kind: &str, variables: &[String], domain: Term, body: Term) -> Term {
    variables.iter().rev().fold(body, |inner, variable| {
        Term::apply(kind, vec![Term::name(variable), domain.clone(), inner])
    })
}

/// What a body of one statement yields.
fn result(body: &[Stmt]) -> Option<Term> {
    match body {
        [Stmt { kind: StmtKind::Return(Some(value)) | StmtKind::Expr(value), .. }] => {
            Some(term(value))
        }
        _ => None,
    }
}

fn call(whole: &Expr, callee: &Expr, args: &[super::ast::Arg]) -> Term {
    let name = callee.last_name();
    if let ExprKind::Member(of, method) = &callee.kind {
        if args.len() <= 1 && TRANSPARENT.contains(&method.as_str()) {
            let plain = args.is_empty() || method == "expect";
            if plain {
                return term(of);
            }
        }
        if args.is_empty() && matches!(method.as_str(), "len" | "size" | "length" | "count") {
            return Term::apply("len", vec![term(of)]);
        }
    }
    match (callee.path().as_str(), args) {
        ("range", [high]) => return below(Term::number(0.0), term(&high.value)),
        ("range", [low, high]) => return below(term(&low.value), term(&high.value)),
        ("List.of" | "Arrays.asList", [_, _, ..]) => {
            return Term::apply("list", args.iter().map(|arg| term(&arg.value)).collect());
        }
        ("Set.of", [_, _, ..]) => {
            let items = Term::apply("list", args.iter().map(|arg| term(&arg.value)).collect());
            return Term::apply("call set", vec![items]);
        }
        ("Set.copyOf", [only]) => return Term::apply("call set", vec![term(&only.value)]),
        _ => {}
    }
    if let ([only], "len") = (args, name) {
        return Term::apply("len", vec![term(&only.value)]);
    }
    if let Some(formula) = predicate(whole, callee, args) {
        return Term::Logic(Box::new(formula));
    }
    let mut all = Vec::new();
    let operator = match &callee.kind {
        ExprKind::Member(of, method) => {
            all.push(term(of));
            format!("call .{method}")
        }
        ExprKind::Name(name) => format!("call {name}"),
        _ => {
            all.push(term(callee));
            "call".to_string()
        }
    };
    all.extend(args.iter().map(|arg| match &arg.name {
        Some(name) => Term::apply(format!("{name}="), vec![term(&arg.value)]),
        None => term(&arg.value),
    }));
    Term::apply(operator, all)
}

/// Calls that say something about their arguments.
fn predicate(whole: &Expr, callee: &Expr, args: &[super::ast::Arg]) -> Option<Formula> {
    let name = callee.last_name();
    let value = |at: usize| args.get(at).map(|arg| term(&arg.value));
    let of = match &callee.kind {
        ExprKind::Member(of, _) => Some(&**of),
        _ => None,
    };
    let path = callee.path();
    match (name, of, args.len()) {
        ("equals" | "isEqual" | "eq", Some(of), 1) => Some(relation(Rel::Eq, term(of), value(0)?)),
        ("equal", None, 2) => Some(relation(Rel::Eq, value(0)?, value(1)?)),
        ("DeepEqual" | "Equal", _, 2) if path.contains('.') => {
            Some(relation(Rel::Eq, value(0)?, value(1)?))
        }
        ("Is", _, 2) if path == "errors.Is" => Some(relation(Rel::Eq, value(0)?, value(1)?)),
        ("contains" | "includes" | "has" | "contains_key" | "containsKey", Some(of), 1) => {
            Some(relation(Rel::In, value(0)?, term(of)))
        }
        ("Contains", _, 2) => Some(relation(Rel::In, value(1)?, value(0)?)),
        ("is_empty" | "isEmpty", Some(of), 0) => {
            Some(relation(Rel::Eq, Term::apply("len", vec![term(of)]), Term::number(0.0)))
        }
        ("is_some" | "isPresent", Some(of), 0) => {
            Some(relation(Rel::Ne, term(of), Term::name("null")))
        }
        ("is_none", Some(of), 0) => Some(relation(Rel::Eq, term(of), Term::name("null"))),
        ("isinstance" | "matches!", None, 2) => Some(relation(Rel::Fits, value(0)?, value(1)?)),
        ("isclose", _, _) if args.len() >= 2 => {
            let given = args.iter().find_map(|a| a.name.as_ref().and(a.value.number()));
            let tolerance = Number(given.unwrap_or(1e-9));
            Some(Formula::Rel(Rel::Near(tolerance), value(0)?, value(1)?))
        }
        ("all" | "every" | "allMatch" | "any" | "some" | "anyMatch", _, 1) => {
            quantified(name, of, &args[0].value)
        }
        ("noneMatch", of, 1) => {
            quantified("any", of, &args[0].value).map(|f| Formula::Not(Box::new(f)))
        }
        _ => {
            let _ = whole;
            None
        }
    }
}

fn quantified(name: &str, of: Option<&Expr>, argument: &Expr) -> Option<Formula> {
    let all = matches!(name, "all" | "every" | "allMatch");
    let quant = |variable: &str, domain: Term, body: Formula| Formula::Quant {
        all,
        variable: variable.to_string(),
        domain: Some(domain),
        body: Box::new(body),
    };
    match (&argument.kind, of) {
        (ExprKind::Each(variable, source, condition, body), None) => {
            let domain = match condition {
                Some(condition) => {
                    let inner = Term::Logic(Box::new(formula(condition)));
                    bound("filter", std::slice::from_ref(variable), term(source), inner)
                }
                None => term(source),
            };
            Some(quant(variable, domain, formula(body)))
        }
        (ExprKind::Lambda(parameters, body), Some(of)) => {
            let variable = parameters.first()?;
            let inner = match &body[..] {
                [Stmt { kind: StmtKind::Return(Some(value)) | StmtKind::Expr(value), .. }] => {
                    formula(value)
                }
                _ => return None,
            };
            Some(quant(variable.trim_start_matches(['&', '*', ' ']), term(of), inner))
        }
        _ => None,
    }
}

/// A relation, with what its terms tell about it.
pub fn relation(rel: Rel, a: Term, b: Term) -> Formula {
    // `xs == sorted(xs)` asks for an order.
    let ordered = loose(&a).as_ref() == Some(&b) || loose(&b).as_ref() == Some(&a);
    if ordered {
        return Formula::Rel(rel, a, b);
    }
    if let (Rel::Eq | Rel::Same, Some(x), y) = (rel, loose(&a), &b) {
        return Formula::Rel(Rel::Unordered, x, loose(y).unwrap_or_else(|| y.clone()));
    }
    if let (Rel::Eq | Rel::Same, x, Some(y)) = (rel, &a, loose(&b)) {
        return Formula::Rel(Rel::Unordered, x.clone(), y);
    }
    if let (Rel::In | Rel::NotIn, Some(items)) = (rel, loose(&b)) {
        return Formula::Rel(rel, a, items);
    }
    for (side, other) in [(&a, &b), (&b, &a)] {
        // `x == pytest.approx(y, abs=1e-3)`.
        if let (Rel::Eq, Term::Apply(name, args)) = (rel, side)
            && name.ends_with("approx")
        {
            let mut plain = args.iter().filter(|arg| !named(arg));
            let given = args.iter().filter(|arg| named(arg)).find_map(|arg| match arg {
                Term::Apply(_, inner) => inner.first().and_then(Term::as_number),
                _ => None,
            });
            let of_module = name.starts_with("call .");
            let exact = if of_module { plain.nth(1) } else { plain.next() };
            if let Some(exact) = exact {
                let tolerance = Number(given.unwrap_or(1e-6));
                return Formula::Rel(Rel::Near(tolerance), other.clone(), exact.clone());
            }
        }
    }
    if let (Rel::Eq, Some(near)) = (rel, rounded(&a, &b).or_else(|| rounded(&b, &a))) {
        return near;
    }
    if let (Rel::Eq, Some(calls)) = (rel, recorded(&a, &b).or_else(|| recorded(&b, &a))) {
        let whole = Formula::Rel(rel, a, b);
        return Formula::And(std::iter::once(whole).chain(calls).collect());
    }
    if let (Rel::Eq | Rel::Ne, Some((x, y))) = (rel, compared(&a, &b).or_else(|| compared(&b, &a)))
    {
        return Formula::Rel(rel, x, y);
    }
    if rel == Rel::Eq
        && let Some(found) = defaulted(&a, &b).or_else(|| defaulted(&b, &a))
    {
        return found;
    }
    if let (Rel::Lt | Rel::Le, Some((x, y)), Some(limit)) = (rel, difference(&a), b.as_number()) {
        return Formula::Rel(Rel::Near(Number(limit)), x, y);
    }
    Formula::Rel(rel, a, b)
}

/// `round(x, 2) == 3.14` holds of all that is near it.
fn rounded(side: &Term, other: &Term) -> Option<Formula> {
    let (Term::Apply(name, args), Some(_)) = (side, other.as_number()) else { return None };
    let half = match name.strip_prefix("call ")?.trim_start_matches('.') {
        "round" => 0.5,
        "floor" | "ceil" | "trunc" => 1.0,
        _ => return None,
    };
    // `Math.round(x)` names its library first.
    let library = matches!(args.first(), Some(Term::Name(name))
        if matches!(name.as_str(), "Math" | "math" | "np" | "numpy"));
    let value = args.get(usize::from(library))?;
    let digits = args.get(usize::from(library) + 1).map_or(Some(0.0), Term::as_number)?;
    let width = Number(half * 10f64.powf(-digits));
    Some(Formula::Rel(Rel::Near(width), value.clone(), other.clone()))
}

/// `mock.mock_calls == [call(1)]`: how often something was called, and with what at last.
fn recorded(side: &Term, other: &Term) -> Option<Vec<Formula>> {
    let (Term::Apply(name, of), Term::Apply(list, calls)) = (side, other) else { return None };
    let object = match (name.as_str(), &of[..]) {
        (".mock_calls" | ".call_args_list", [object]) => object,
        (".calls", [Term::Apply(mock, inner)]) if mock == ".mock" => inner.first()?,
        _ => return None,
    };
    if list != "list" {
        return None;
    }
    let with = match calls.last()? {
        Term::Apply(call, args) if call == "call .call" => args.get(1..)?.to_vec(),
        Term::Apply(call, args) if call == "call call" || call == "list" => args.clone(),
        _ => return None,
    };
    #[allow(clippy::cast_precision_loss)]
    let often = Term::number(calls.len() as f64);
    let about = |what: &str| Term::apply(what, vec![object.clone()]);
    Some(vec![
        Formula::Rel(Rel::Eq, about("calls"), often),
        Formula::Rel(Rel::Eq, about("called"), Term::apply("list", with)),
    ])
}

/// `cmp.Diff(x, y) == ""` of Go says that both are equal.
fn compared(side: &Term, other: &Term) -> Option<(Term, Term)> {
    let (Term::Apply(name, args), Term::Name(text)) = (side, other) else { return None };
    match &args[..] {
        [Term::Name(cmp), x, y] if name == "call .Diff" && cmp == "cmp" && text == "\"\"" => {
            Some((x.clone(), y.clone()))
        }
        _ => None,
    }
}

/// `x.unwrap_or(3) == 3` holds of nothing, too.
fn defaulted(side: &Term, other: &Term) -> Option<Formula> {
    let Term::Apply(name, args) = side else { return None };
    let (value, default) = match (name.as_str(), &args[..]) {
        ("call .unwrap_or" | "call .orElse" | "??", [value, default]) => (value.clone(), default),
        ("call .get" | "call .getOrDefault", [of, key, default]) => {
            (Term::apply("call .get", vec![of.clone(), key.clone()]), default)
        }
        _ => return None,
    };
    let nothing = Formula::Rel(Rel::Eq, value.clone(), Term::name("null"));
    let equal = Formula::Rel(Rel::Eq, value, other.clone());
    (default == other).then(|| Formula::Or(vec![nothing, equal]))
}

fn named(term: &Term) -> bool {
    matches!(term, Term::Apply(name, _) if name.ends_with('='))
}

/// `abs(x - y)`.
fn difference(side: &Term) -> Option<(Term, Term)> {
    let Term::Apply(name, args) = side else { return None };
    if !matches!(name.rsplit(['.', ' ', ':']).next(), Some("abs" | "Abs" | "fabs")) {
        return None;
    }
    match args.last()? {
        Term::Apply(minus, sides) if minus == "-" && sides.len() == 2 => {
            Some((sides[0].clone(), sides[1].clone()))
        }
        _ => None,
    }
}

/// What a wrapper that forgets order is about.
fn loose(side: &Term) -> Option<Term> {
    let Term::Apply(name, args) = side else { return None };
    let plain = name.strip_prefix("call ")?.replace("::", ".");
    // `std.collections.BTreeSet.from` by its last two names.
    let from = plain.rmatch_indices('.').nth(1).map_or(0, |(at, _)| at + 1);
    let plain = plain[from..].to_string();
    let unordered = UNORDERED.contains(&plain.as_str())
        || (plain.starts_with("new Set") || plain.starts_with("new HashSet"))
        || matches!(plain.as_str(), ".sorted" | ".sort" | ".toSet" | ".toSorted");
    if unordered { args.first().cloned() } else { None }
}

/// An expression as a formula.
pub fn formula(expression: &Expr) -> Formula {
    match &expression.kind {
        ExprKind::Bool(value) => {
            if *value {
                Formula::True
            } else {
                Formula::False
            }
        }
        ExprKind::Unary(operator, inner) if matches!(operator.as_str(), "!" | "not") => {
            Formula::Not(Box::new(formula(inner)))
        }
        ExprKind::Binary(operator, a, b) => binary(operator, a, b),
        ExprKind::Choice(c, a, b) => Formula::either(formula(c), formula(a), formula(b)),
        ExprKind::Number(value) => {
            if *value == 0.0 {
                Formula::False
            } else {
                Formula::True
            }
        }
        ExprKind::Text(text) => {
            if text.is_empty() {
                Formula::False
            } else {
                Formula::True
            }
        }
        ExprKind::Null => Formula::False,
        _ => match term(expression) {
            Term::Logic(inner) => *inner,
            other => Formula::Atom(other),
        },
    }
}

fn binary(operator: &str, a: &Expr, b: &Expr) -> Formula {
    let rel = |rel: Rel| relation(rel, term(a), term(b));
    match operator {
        "&&" | "and" => Formula::And(vec![formula(a), formula(b)]),
        "||" | "or" => Formula::Or(vec![formula(a), formula(b)]),
        "==" | "===" => rel(Rel::Eq),
        "is" => match b.kind {
            ExprKind::Null => rel(Rel::Eq),
            _ => rel(Rel::Same),
        },
        "!=" | "!==" | "is not" => rel(Rel::Ne),
        "<" => rel(Rel::Lt),
        "<=" => rel(Rel::Le),
        ">" => relation(Rel::Lt, term(b), term(a)),
        ">=" => relation(Rel::Le, term(b), term(a)),
        "in" => rel(Rel::In),
        "not in" => Formula::Not(Box::new(rel(Rel::In))),
        "instanceof" => rel(Rel::Fits),
        other => Formula::Atom(Term::apply(other, vec![term(a), term(b)])),
    }
}

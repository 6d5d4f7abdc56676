//! What one relation says about another, and which sets are part of which.

use super::parts;
use super::patterns::{admits, covers, says};
use super::{Number, Rel, Term};

/// Whether a relation holds or not whatever its names mean.
pub fn decided(rel: Rel, a: &Term, b: &Term) -> Option<bool> {
    let empty = |t: &Term| matches!(t, Term::Apply(op, args) if op == "set" && args.is_empty());
    match rel {
        Rel::In if empty(b) => return Some(false),
        Rel::NotIn if empty(b) => return Some(true),
        Rel::SubsetEq if empty(a) || within(a, b) => return Some(true),
        _ => {}
    }
    if a == b {
        return match rel {
            Rel::Same | Rel::Eq | Rel::Le | Rel::SubsetEq | Rel::Near(_) | Rel::Unordered => {
                Some(true)
            }
            Rel::Ne | Rel::Lt | Rel::Subset => Some(false),
            Rel::In | Rel::NotIn | Rel::Fits => None,
        };
    }
    let (a, b) = (a.as_number()?, b.as_number()?);
    match rel {
        Rel::Same | Rel::Eq => Some(a == b),
        Rel::Ne => Some(a != b),
        Rel::Lt => Some(a < b),
        Rel::Le => Some(a <= b),
        Rel::Near(Number(tolerance)) => Some((a - b).abs() <= tolerance),
        _ => None,
    }
}

/// Whether `old` of its terms implies `new` of its terms.
pub fn implies(old: (Rel, &Term, &Term), new: (Rel, &Term, &Term)) -> bool {
    let ((p, a, b), (q, c, d)) = (old, new);
    let straight = a == c && b == d;
    let crossed = a == d && b == c;
    match (p, q) {
        (Rel::Same, Rel::Eq) | (Rel::Same | Rel::Eq, Rel::Near(_) | Rel::Unordered)
            if straight || crossed =>
        {
            true
        }
        (Rel::Same | Rel::Eq | Rel::Unordered, Rel::Unordered)
            if a == c && permuted(b, d) || b == d && permuted(a, c) =>
        {
            true
        }
        (Rel::Same | Rel::Eq, Rel::Le | Rel::SubsetEq) if straight || crossed => true,
        (Rel::Same | Rel::Eq, _)
            if (q != Rel::Same || p == Rel::Same) && parts::follows((a, b), (q, c, d)) =>
        {
            true
        }
        // What was called with something was called.
        (Rel::Same | Rel::Eq, Rel::Ne) if called((a, b), (c, d)) => true,
        // What has a value at a key has the key.
        (_, Rel::In) if parts::is_at(a, d, c) || parts::is_at(b, d, c) => true,
        (Rel::Lt | Rel::Subset, Rel::Ne) if straight || crossed => true,
        (Rel::Subset, Rel::SubsetEq) => straight,
        (Rel::SubsetEq, Rel::SubsetEq) => (a == c && within(b, d)) || (b == d && within(c, a)),
        (Rel::Near(x), Rel::Near(y)) if (straight || crossed) && x <= y => true,
        (Rel::Same | Rel::Eq | Rel::Near(_), Rel::Near(Number(wide))) => {
            let narrow = if let Rel::Near(Number(own)) = p { own } else { 0.0 };
            nearby((a, b), (c, d)).is_some_and(|gap| gap + narrow <= wide)
        }
        (Rel::Same | Rel::Eq, Rel::Fits) if straight || crossed => true,
        // A value, and the same value with places left open.
        (Rel::Same | Rel::Eq, Rel::Same | Rel::Eq) if p == q || q == Rel::Eq => {
            let open = |kept: &Term, was: &Term| {
                (c == kept && covers(d, was)) || (d == kept && covers(c, was))
            };
            open(a, b) || open(b, a) || lifted((a, b), (c, d)) || lifted((a, b), (d, c))
        }
        (Rel::Eq | Rel::Fits, Rel::Fits) => a == c && (admits(d, b) || says(b, d)),
        (Rel::Same | Rel::Eq, Rel::In) => (a == c && element(b, d)) || (b == c && element(a, d)),
        (Rel::In, Rel::In) => a == c && within(b, d),
        (Rel::In, Rel::Lt | Rel::Le) => ranged((a, b), (q, c, d)),
        (Rel::NotIn, Rel::NotIn) => a == c && within(d, b),
        (Rel::Same | Rel::Eq, Rel::Lt | Rel::Le) if beyond((a, b), (q, c, d)) => true,
        (Rel::Same | Rel::Eq, Rel::Lt | Rel::Le | Rel::Ne) => pinned((a, b), (q, c, d)),
        (Rel::Lt | Rel::Le, Rel::Lt | Rel::Le) => bounded((p, a, b), (q, c, d)),
        (Rel::Lt | Rel::Le, Rel::Ne) => excluded((p, a, b), (c, d)) || excluded((p, a, b), (d, c)),
        _ => false,
    }
}

/// From what something was called with follows that it was called, if that is all that is asked.
fn called((a, b): (&Term, &Term), (c, d): (&Term, &Term)) -> bool {
    let of = |side: &Term, name: &str| match side {
        Term::Apply(own, args) if own == name => args.first().cloned(),
        _ => None,
    };
    let none = |side: &Term| side.as_number() == Some(0.0);
    let was = of(a, "called").or_else(|| of(b, "called"));
    was.is_some() && ((none(c) && of(d, "calls") == was) || (none(d) && of(c, "calls") == was))
}

/// Whether two lists that are written out have the same elements.
fn permuted(a: &Term, b: &Term) -> bool {
    match (a, b) {
        (Term::Apply(p, x), Term::Apply(q, y)) if p == q && p == "list" => {
            let (mut x, mut y) = (x.clone(), y.clone());
            x.sort();
            y.sort();
            x == y
        }
        _ => false,
    }
}

/// How far apart the numbers are that two relations compare the same term with.
fn nearby((a, b): (&Term, &Term), (c, d): (&Term, &Term)) -> Option<f64> {
    let number = |of: &Term, (x, y): (&Term, &Term)| match (x == of, y == of) {
        (true, _) => y.as_number(),
        (_, true) => x.as_number(),
        _ => None,
    };
    [a, b].into_iter().find_map(|of| Some((number(of, (a, b))? - number(of, (c, d))?).abs()))
}

/// `x = y` implies `x.f = y.f`: the same is done to both sides.
fn lifted((a, b): (&Term, &Term), (c, d): (&Term, &Term)) -> bool {
    if (c == a && d == b) || (c == b && d == a) {
        return true;
    }
    match (c, d) {
        (Term::Apply(f, xs), Term::Apply(g, ys)) if f == g && xs.len() == ys.len() => {
            let same = |(x, y): (&Term, &Term)| x == y || lifted((a, b), (x, y));
            xs.iter().zip(ys).all(same)
        }
        _ => false,
    }
}

/// `x \in 1..n` implies `1 <= x`, `0 < x` and `x <= n`.
fn ranged((item, set): (&Term, &Term), new: (Rel, &Term, &Term)) -> bool {
    match set {
        Term::Apply(op, ends) if op == ".." && ends.len() == 2 => {
            bounded((Rel::Le, &ends[0], item), new) || bounded((Rel::Le, item, &ends[1]), new)
        }
        _ => false,
    }
}

/// `x = 5` implies `x < 10`, `3 < x`, `x # 6`.
fn pinned((a, b): (&Term, &Term), (q, c, d): (Rel, &Term, &Term)) -> bool {
    let value = |term: &Term| match (term == a, term == b) {
        (true, _) => b.as_number(),
        (_, true) => a.as_number(),
        _ => None,
    };
    let fixed = |term: &Term| value(term).or(term.as_number());
    match (fixed(c), fixed(d)) {
        (Some(x), Some(y)) if value(c).is_some() || value(d).is_some() => match q {
            Rel::Lt => x < y,
            Rel::Le => x <= y,
            _ => x != y,
        },
        _ => false,
    }
}

/// `x = t + 1` implies `t < x`.
fn beyond((a, b): (&Term, &Term), (q, c, d): (Rel, &Term, &Term)) -> bool {
    let ordered =
        |low: &Term, high: &Term| at_most(low, high).is_some_and(|gap| gap || q == Rel::Le);
    [(a, b), (b, a)]
        .into_iter()
        .any(|(x, is)| (d == x && c != x && ordered(c, is)) || (c == x && d != x && ordered(is, d)))
}

/// `x < 5` implies `x # 7`.
fn excluded((p, a, b): (Rel, &Term, &Term), (c, d): (&Term, &Term)) -> bool {
    let Some(other) = d.as_number() else { return false };
    let beyond = |limit: f64, upper: bool| match (upper, p == Rel::Lt) {
        (true, true) => other >= limit,
        (true, false) => other > limit,
        (false, true) => other <= limit,
        (false, false) => other < limit,
    };
    (a == c && b.as_number().is_some_and(|limit| beyond(limit, true)))
        || (b == c && a.as_number().is_some_and(|limit| beyond(limit, false)))
}

/// `x < 5` implies `x <= 5` and `x < 10`; `3 < x` implies `2 < x`.
fn bounded((p, a, b): (Rel, &Term, &Term), (q, c, d): (Rel, &Term, &Term)) -> bool {
    let strict_enough = p == Rel::Lt || q == Rel::Le;
    let upper = a == c && at_most(b, d).is_some_and(|gap| gap || strict_enough);
    let lower = b == d && at_most(c, a).is_some_and(|gap| gap || strict_enough);
    upper || lower
}

/// Whether `low` is at most `high`: nothing if unknown, and whether there is a gap between.
fn at_most(low: &Term, high: &Term) -> Option<bool> {
    if low == high {
        return Some(false);
    }
    if let (Some(low), Some(high)) = (low.as_number(), high.as_number()) {
        return (low <= high).then_some(low < high);
    }
    // `n` and `n + 1`, `n - 1` and `n`, `n` and `2 * n`: bounds count things, so they are not
    // below zero.
    let grown = |term: &Term, of: &Term, operator: &str, least: f64| match term {
        Term::Apply(own, args) if own == operator && args.len() == 2 => {
            (args[0] == *of && args[1].as_number().is_some_and(|n| n > least))
                || (operator != "-"
                    && args[1] == *of
                    && args[0].as_number().is_some_and(|n| n > least))
        }
        _ => false,
    };
    let sums = |term: &Term| match term {
        Term::Apply(own, args) if (own == "+" || own == "-") && args.len() == 2 => {
            let sign = if own == "+" { 1.0 } else { -1.0 };
            match (&args[0], &args[1]) {
                (base, Term::Number(n)) => Some((base.clone(), sign * n.0)),
                (Term::Number(n), base) if own == "+" => Some((base.clone(), n.0)),
                _ => None,
            }
        }
        _ => None,
    };
    if let (Some((base, x)), Some((other, y))) = (sums(low), sums(high))
        && base == other
    {
        return (x <= y).then_some(x < y);
    }
    let shared = |term: &Term| match term {
        Term::Apply(own, args) if own == "/" && args.len() == 2 => {
            Some((args[0].clone(), args[1].as_number().filter(|n| *n > 1.0)?))
        }
        _ => None,
    };
    match (shared(low), shared(high)) {
        (Some((of, _)), None) if of == *high => return Some(true),
        (Some((of, x)), Some((other, y))) if of == other => return (x >= y).then_some(x > y),
        _ => {}
    }
    let gap =
        grown(high, low, "+", 0.0) || grown(low, high, "-", 0.0) || grown(high, low, "*", 1.0);
    gap.then_some(true)
}

fn element(item: &Term, set: &Term) -> bool {
    match set {
        Term::Apply(op, args) if matches!(op.as_str(), "set" | "list") => args.contains(item),
        Term::Apply(op, args) if op == ".." && args.len() == 2 => {
            match (item.as_number(), args[0].as_number(), args[1].as_number()) {
                (Some(x), Some(low), Some(high)) => low <= x && x <= high,
                _ => false,
            }
        }
        Term::Name(name) if name == "Nat" => item.as_number().is_some_and(|n| n >= 0.0),
        Term::Name(name) if name == "Int" => item.as_number().is_some(),
        Term::Name(name) if name == "STRING" => {
            matches!(item, Term::Name(text) if text.starts_with('"'))
        }
        _ => false,
    }
}

/// Whether every element of `part` is in `whole`, as far as their shapes tell.
pub fn within(part: &Term, whole: &Term) -> bool {
    if part == whole {
        return true;
    }
    match (part, whole) {
        (Term::Name(a), Term::Name(b)) => {
            matches!((a.as_str(), b.as_str()), ("Nat", "Int" | "Real") | ("Int", "Real"))
        }
        (Term::Apply(op, args), _) if op == "filter" && args.len() == 3 => within(&args[1], whole),
        (Term::Apply(op, args), _) if op == "\\" && args.len() == 2 => within(&args[0], whole),
        (part, _) if parts::picked(part).is_some_and(|of| within(of, whole)) => true,
        (Term::Apply(op, args), _) if op == "\\cap" && args.iter().any(|a| within(a, whole)) => {
            true
        }
        (Term::Apply(op, args), _) if op == "\\cup" && args.iter().all(|a| within(a, whole)) => {
            true
        }
        (_, Term::Apply(op, args)) if op == "\\cup" && args.iter().any(|a| within(part, a)) => true,
        (Term::Apply(op, args), _)
            if matches!(op.as_str(), "set" | "list") && args.iter().all(|a| element(a, whole)) =>
        {
            true
        }
        (Term::Apply(op, fields), Term::Apply(other, all))
            if op == "record_literal" && op == other && fields.iter().all(|f| all.contains(f)) =>
        {
            true
        }
        (Term::Apply(op, args), Term::Name(name)) if op == ".." && args.len() == 2 => {
            name == "Int" || (name == "Nat" && args[0].as_number().is_some_and(|n| n >= 0.0))
        }
        (Term::Apply(p, a), Term::Apply(q, b)) if p == q && a.len() == b.len() => {
            covariant(p, a, b)
        }
        _ => false,
    }
}

fn covariant(operator: &str, a: &[Term], b: &[Term]) -> bool {
    match operator {
        ".." => {
            let (low, high) = (at_most(&b[0], &a[0]), at_most(&a[1], &b[1]));
            low.is_some() && high.is_some()
        }
        "functions" => a[0] == b[0] && within(&a[1], &b[1]),
        "SUBSET" | "\\X" | "call Seq" => a.iter().zip(b).all(|(a, b)| within(a, b)),
        "records" => a.iter().zip(b).all(|(a, b)| match (a, b) {
            (Term::Apply(f, x), Term::Apply(g, y)) => {
                f == g && x.len() == y.len() && x.iter().zip(y).all(|(x, y)| within(x, y))
            }
            _ => a == b,
        }),
        "\\" => within(&a[0], &b[0]) && within(&b[1], &a[1]),
        "\\cap" | "\\cup" => a.iter().zip(b).all(|(a, b)| within(a, b)),
        _ => false,
    }
}

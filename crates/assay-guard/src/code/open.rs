//! Places in expected values that are left open, and times in one unit.

use super::ast::{Expr, ExprKind};
use super::logic::term;
use crate::formula::{ANYTHING, CONTAINING, OF_TYPE, Term};

/// Matchers in the place of values: `expect.any(Number)`, `mock.ANY`, `gomock.Any()`, `eq(3)`.
pub fn place(expression: &Expr) -> Option<Term> {
    let path = expression.path();
    let args = expression.args();
    let called = matches!(expression.kind, ExprKind::Call(..));
    let first = || args.first().map(|arg| term(&arg.value));
    match path.as_str() {
        "expect.anything" | "gomock.Any" | "ArgumentMatchers.any" if called => {
            Some(Term::name(ANYTHING))
        }
        "mock.ANY" | "mock.Anything" | "unittest.mock.ANY" | "ANY" if !called => {
            Some(Term::name(ANYTHING))
        }
        "expect.any" | "mock.AnythingOfType" | "mock.AnyOfType" => {
            Some(Term::apply(OF_TYPE, vec![first()?]))
        }
        "expect.arrayContaining"
        | "expect.objectContaining"
        | "expect.stringContaining"
        | "expect.stringMatching" => Some(Term::apply(CONTAINING, vec![first()?])),
        "any" if called && args.is_empty() => Some(Term::name(ANYTHING)),
        "eq" if called && args.len() == 1 => first(),
        // `anyString()`, `anyInt()` of Mockito.
        name if called && args.is_empty() && of_type(name) => {
            Some(Term::apply(OF_TYPE, vec![Term::name(name)]))
        }
        _ => None,
    }
}

fn of_type(name: &str) -> bool {
    name.strip_prefix("any").is_some_and(|kind| kind.starts_with(char::is_uppercase))
}

/// `timedelta(minutes=5)` of Python.
fn delta(expression: &Expr) -> Option<Term> {
    let mut seconds = 0.0;
    for arg in expression.args() {
        let unit = match arg.name.as_deref()? {
            "weeks" => 604_800.0,
            "days" => 86_400.0,
            "hours" => 3600.0,
            "minutes" => 60.0,
            "seconds" => 1.0,
            "milliseconds" => 1e-3,
            "microseconds" => 1e-6,
            _ => return None,
        };
        seconds += arg.value.number()? * unit;
    }
    Some(Term::number(seconds))
}

/// A time in seconds: `time.Second`, `Duration::from_millis(5)`, `Duration.ofSeconds(2)`.
pub fn duration(expression: &Expr) -> Option<Term> {
    let path = expression.path();
    if let ExprKind::Member(..) = expression.kind {
        return match path.as_str() {
            "time.Nanosecond" => Some(Term::number(1e-9)),
            "time.Microsecond" => Some(Term::number(1e-6)),
            "time.Millisecond" => Some(Term::number(1e-3)),
            "time.Second" => Some(Term::number(1.0)),
            "time.Minute" => Some(Term::number(60.0)),
            "time.Hour" => Some(Term::number(3600.0)),
            _ => None,
        };
    }
    if expression.last_name() == "timedelta" {
        return delta(expression);
    }
    let [only] = expression.args() else { return None };
    let unit = match path.trim_start_matches("std.time.").trim_start_matches("tokio.time.") {
        "Duration.from_nanos" | "Duration.ofNanos" => 1e-9,
        "Duration.from_micros" => 1e-6,
        "Duration.from_millis" | "Duration.ofMillis" => 1e-3,
        "Duration.from_secs" | "Duration.ofSeconds" | "Duration.from_secs_f64" | "ofSeconds" => 1.0,
        "Duration.from_mins" | "Duration.ofMinutes" | "ofMinutes" => 60.0,
        "ofMillis" => 1e-3,
        _ => return None,
    };
    Some(Term::number(only.value.number()? * unit))
}

//! How much is tried: cases, ranges, seeds, repetitions, retries; and what stands beside checks.

use super::ast::{Arg, Expr, ExprKind, Stmt, StmtKind};
use super::logic::{formula, term};
use super::model::{Check, Function, Knob, Listed, Stricter};
use crate::formula::Formula;

/// Words in the name of a number, the rule that watches it, and which way is stricter.
const NAMES: &[(&str, &str, Stricter)] = &[
    ("retr", "R06", Stricter::Less),
    ("rerun", "R06", Stricter::Less),
    ("flaky", "R06", Stricter::Less),
    ("max_attempts", "R06", Stricter::Less),
    ("tolerance", "R05", Stricter::Less),
    ("epsilon", "R05", Stricter::Less),
    ("cases", "R07", Stricter::More),
    ("max_examples", "R07", Stricter::More),
    ("num_runs", "R07", Stricter::More),
    ("numruns", "R07", Stricter::More),
    ("maxcount", "R07", Stricter::More),
    ("tries", "R07", Stricter::More),
    ("iterations", "R08", Stricter::More),
    ("repeat", "R08", Stricter::More),
    ("repetitions", "R08", Stricter::More),
    ("target_max_depth", "R07", Stricter::More),
    ("max_depth", "R07", Stricter::More),
    ("target_state_count", "R07", Stricter::More),
    ("seeds", "R08", Stricter::More),
    ("seed_count", "R08", Stricter::More),
    ("probability", "R08", Stricter::More),
    ("fault_rate", "R08", Stricter::More),
    ("failure_rate", "R08", Stricter::More),
    ("error_rate", "R08", Stricter::More),
    ("drop_rate", "R08", Stricter::More),
    ("loss_rate", "R08", Stricter::More),
    ("min_value", "R07", Stricter::Less),
    ("max_value", "R07", Stricter::More),
    ("max_size", "R07", Stricter::More),
    (TIME_LIMIT, "R05", Stricter::Less),
];

/// How long a test may take.
const TIME_LIMIT: &str = "time limit";

fn named(name: &str) -> Option<(&'static str, Stricter)> {
    let mut lower = String::new();
    for c in name.chars() {
        if c.is_uppercase()
            && !lower.is_empty()
            && !lower.ends_with('_')
            && name.chars().any(char::is_lowercase)
        {
            lower.push('_');
        }
        lower.extend(c.to_lowercase());
    }
    let joined = lower.replace('_', "");
    let fits = |word: &str| lower.contains(word) || joined == word.replace('_', "");
    NAMES.iter().find(|(word, _, _)| fits(word)).map(|(_, rule, way)| (*rule, *way))
}

fn push(name: &str, value: f64, line: usize, function: &mut Function) {
    if let Some((rule, stricter)) = named(name) {
        let name = name.to_string();
        function.knobs.push(Knob { rule, name, value, stricter, line });
    }
}

/// Numbers in annotations: `@settings(max_examples=50)`, `@RepeatedTest(5)`, `@flaky(reruns=3)`.
pub fn annotation(annotation: &Expr, function: &mut Function) {
    // `#[case::name(1, 2)]` is a case, whatever it is called.
    let cased = annotation.path().starts_with("case.");
    let name = if cased { "case" } else { annotation.last_name() };
    generated(annotation, name, function);
    let own = match name {
        "RepeatedTest" => "repetitions",
        "RetryingTest" | "flaky" | "retry" | "Retry" => "retries",
        "Timeout" | "timeout" => TIME_LIMIT,
        other => other,
    };
    for arg in annotation.args() {
        match (&arg.name, arg.value.number()) {
            (Some(given), Some(value)) => {
                let retried = matches!(own, "retries") && given != "delay";
                let limited = own == TIME_LIMIT || (name == "Test" && given == "timeout");
                let plain = given == "value" && own != name;
                let given = match (retried, limited) {
                    (false, false) if plain => own,
                    (true, _) => "retries",
                    (_, true) => TIME_LIMIT,
                    _ => given,
                };
                let value = if limited { value * unit(annotation) } else { value };
                push(given, value, arg.value.line, function);
            }
            (None, Some(value)) => push(own, value, arg.value.line, function),
            _ => {
                expression(&arg.value, function);
                // `Config { cases: 10 }` has its fields one level down.
                let inner = arg.value.args().iter().map(|arg| &arg.value);
                let fields = inner.filter(|value| matches!(value.kind, ExprKind::Fields(_)));
                fields.for_each(|fields| expression(fields, function));
            }
        }
        let generated = matches!(
            name,
            "parametrize"
                | "ValueSource"
                | "CsvSource"
                | "case"
                | "values"
                | "EnumSource"
                | "example"
        );
        if generated {
            cases(name, &arg.value, function);
        }
        if name == "fixture" && arg.name.as_deref() == Some("params") {
            cases("params", &arg.value, function);
        }
        if name == "strategy" || name == "given" {
            ranges(&arg.value, function);
        }
    }
    // `#[test_case(1, 2)]` is one case each.
    if matches!(name, "test_case" | "case" | "example") {
        let shown = super::names::shown(annotation);
        let from = shown.find('(').filter(|_| name == "case").unwrap_or(0);
        listed("R07", name, shown[from..].to_string(), annotation.line, function);
    }
    if matches!(name, "flaky" | "Retry" | "RetryingTest") && annotation.args().is_empty() {
        let line = annotation.line;
        push("retries", 1.0, line, function);
    }
}

/// What an annotation says values are drawn from: `@given(…)`, `x in 0..9` of proptest.
fn generated(annotation: &Expr, name: &str, function: &mut Function) {
    // Cases that are read from somewhere are drawn from there.
    if let ("parametrize", [_, cases, ..]) = (name, annotation.args())
        && !matches!(cases.value.kind, ExprKind::List(_))
    {
        super::generators::given(std::slice::from_ref(&cases.value), function);
    }
    if matches!(name, "strategy" | "given") {
        let args: Vec<Expr> = annotation.args().iter().map(|arg| arg.value.clone()).collect();
        super::generators::given(&args, function);
    }
}

/// The seconds of the unit that a limit is given in: `unit = TimeUnit.MINUTES`.
fn unit(annotation: &Expr) -> f64 {
    let given = annotation.args().iter().find(|arg| arg.name.as_deref() == Some("unit"));
    seconds(given.map(|arg| &arg.value))
}

fn seconds(unit: Option<&Expr>) -> f64 {
    match unit.map(Expr::last_name) {
        Some("NANOSECONDS") => 1e-9,
        Some("MICROSECONDS") => 1e-6,
        Some("MILLISECONDS") => 1e-3,
        Some("MINUTES") => 60.0,
        Some("HOURS") => 3600.0,
        Some("DAYS") => 86_400.0,
        _ => 1.0,
    }
}

/// What a number is if nobody says it, by its name: the defaults of the libraries.
pub fn default_of(knob: &Knob, file: &str) -> Option<f64> {
    let script = matches!(
        crate::tree::extension(file).as_str(),
        "ts" | "tsx" | "js" | "jsx" | "mjs" | "cjs" | "mts" | "cts"
    );
    match knob.name.as_str() {
        "max_examples" | "numRuns" => Some(100.0),
        "cases" => Some(256.0),
        "repetitions" => Some(1.0),
        TIME_LIMIT if script => None,
        TIME_LIMIT => Some(f64::INFINITY),
        _ => None,
    }
}

/// One more entry of a list that is written one by one.
fn listed(rule: &'static str, name: &str, item: String, line: usize, function: &mut Function) {
    match function.lists.iter_mut().find(|list| list.name == name) {
        Some(list) => list.items.push(item),
        None => {
            function.lists.push(Listed { rule, name: name.to_string(), items: vec![item], line });
        }
    }
}

/// `it('…', () => …, 5000)`: how long a test of a script may take.
pub fn time_limit(value: &Expr, function: &mut Function) {
    if let Some(number) = value.number() {
        push(TIME_LIMIT, number, value.line, function);
    }
}

/// The cases of a test that is run for each of them.
pub fn cases(name: &str, value: &Expr, function: &mut Function) {
    let value = match (&value.kind, value.args()) {
        (ExprKind::Call(callee, _), [only]) if callee.last_name() == "set" => &only.value,
        _ => value,
    };
    let items: Vec<String> = match &value.kind {
        ExprKind::List(items) => items.iter().filter_map(case).collect(),
        ExprKind::Fields(fields) => {
            fields.iter().map(|(key, value)| format!("{key}: {}", term(value))).collect()
        }
        _ => return,
    };
    if items.is_empty() {
        return;
    }
    let name = name.to_string();
    function.lists.push(Listed { rule: "R07", name, items, line: value.line });
}

/// One case as text. `pytest.param(1, 2, id="x")` is `(1, 2)`, and none if it is marked as skipped.
fn case(item: &Expr) -> Option<String> {
    if !matches!(item.path().as_str(), "pytest.param" | "param") {
        return Some(term(item).to_string());
    }
    let (plain, said): (Vec<_>, Vec<_>) = item.args().iter().partition(|arg| arg.name.is_none());
    let marks = said.iter().filter(|arg| arg.name.as_deref() == Some("marks"));
    let off = |mark: &Expr| matches!(mark.last_name(), "skip" | "xfail");
    let mut marks = marks.flat_map(|arg| match &arg.value.kind {
        ExprKind::List(list) => list.iter().collect(),
        _ => vec![&arg.value],
    });
    if marks.any(off) {
        return None;
    }
    let values: Vec<Expr> = plain.iter().map(|arg| arg.value.clone()).collect();
    Some(match &values[..] {
        [only] => term(only).to_string(),
        _ => term(&Expr::new(item.line, ExprKind::List(values))).to_string(),
    })
}

/// Numbers and lists in statements.
pub fn statement(statement: &Stmt, function: &mut Function) {
    match &statement.kind {
        StmtKind::Let(name, value) => {
            if let Some(number) = value.number() {
                push(name, number, statement.line, function);
            }
            tried(name, value, function);
        }
        StmtKind::Loop(_, Some(count), _, _) => function.knobs.push(Knob {
            rule: "R08",
            name: "loop".to_string(),
            value: *count,
            stricter: Stricter::More,
            line: statement.line,
        }),
        StmtKind::Loop(_, None, Some(over), _) => {
            cases("loop", over, function);
        }
        _ => {}
    }
}

/// The list of files that pytest is told not to look at.
pub const LEFT_OUT: &str = "collect_ignore";

/// Lists of seeds, faults and cases, by their names.
fn tried(name: &str, value: &Expr, function: &mut Function) {
    let lower = name.to_ascii_lowercase();
    let rule = match lower {
        _ if lower.contains("seed") || lower.contains("fault") => "R08",
        _ if lower.starts_with(LEFT_OUT) => "R06",
        _ if lower.contains("cases") || lower == "tests" || lower == "tt" => "R07",
        _ => return,
    };
    let list = match &value.kind {
        ExprKind::Call(_, args) if args.len() == 1 => &args[0].value,
        _ => value,
    };
    let items: Vec<String> = match &list.kind {
        ExprKind::List(items) => items.iter().map(|item| term(item).to_string()).collect(),
        ExprKind::Fields(fields) => {
            fields.iter().map(|(key, value)| format!("{key}: {}", term(value))).collect()
        }
        _ => return,
    };
    function.lists.push(Listed { rule, name: name.to_string(), items, line: value.line });
}

/// Numbers in calls and literals.
pub fn expression(value: &Expr, function: &mut Function) {
    match &value.kind {
        ExprKind::Call(callee, args) => {
            let name = callee.last_name();
            for arg in args {
                if let (Some(given), Some(number)) = (&arg.name, arg.value.number()) {
                    push(given, number, arg.value.line, function);
                }
            }
            if let [only] = &args[..]
                && let Some(number) = only.value.number()
            {
                let name = match name {
                    "retryTimes" => "retries",
                    "with_cases" | "tests" | "max_tests" => "cases",
                    other => other,
                };
                push(name, number, value.line, function);
            }
            provided(callee, args, function);
            if name == "property" {
                let args: Vec<Expr> = args.iter().map(|arg| arg.value.clone()).collect();
                super::generators::given(&args, function);
            }
            if let ("atMost", [first, rest @ ..]) = (name, &args[..]) {
                let spelled = super::open::duration(&first.value).and_then(|t| t.as_number());
                let number = first.value.number();
                let counted = number.map(|n| n * seconds(rest.first().map(|arg| &arg.value)));
                if let Some(limit) = spelled.or(counted) {
                    push(TIME_LIMIT, limit, value.line, function);
                }
            }
            if callee.path() == "f.Add" {
                let items = args.iter().map(|arg| term(&arg.value).to_string());
                let item = items.collect::<Vec<_>>().join(", ");
                listed("R08", "seeds of the fuzzer", item, value.line, function);
            }
            if name.contains("fault") || name.contains("Fault") {
                let mut numbers = args.iter().filter_map(|arg| arg.value.number());
                if let Some(number) = numbers.next_back() {
                    let kind = args.first().map(|a| term(&a.value).to_string());
                    let name = format!("probability of {}", kind.unwrap_or_default());
                    push(&name, number, value.line, function);
                }
            }
            range(value, function);
        }
        ExprKind::Fields(fields) => {
            for (name, inner) in fields {
                if let Some(number) = inner.number() {
                    push(name, number, inner.line, function);
                }
                tried(name, inner, function);
                expression(inner, function);
            }
        }
        _ => {}
    }
}

/// The ranges in a generator, those of what it is made of included.
fn ranges(value: &Expr, function: &mut Function) {
    range(value, function);
    value.parts().into_iter().for_each(|part| ranges(part, function));
}

/// `Stream.of(Arguments.of(1, 2), …)`: what a method of Java provides for a test.
fn provided(callee: &Expr, args: &[Arg], function: &mut Function) {
    let lists = matches!(callee.path().as_str(), "Stream.of" | "List.of" | "Arrays.asList");
    let of_cases = |arg: &Arg| {
        let path = arg.value.path();
        matches!(path.as_str(), "Arguments.of" | "arguments" | "Arguments.arguments")
    };
    if !lists || !args.iter().any(of_cases) {
        return;
    }
    let items = args.iter().map(|arg| term(&arg.value).to_string()).collect();
    let (name, line) = ("arguments".to_string(), callee.line);
    function.lists.push(Listed { rule: "R07", name, items, line });
}

/// Ranges that values are drawn from: `0..100`, `integers(0, 100)`, `fc.integer({min, max})`.
fn range(value: &Expr, function: &mut Function) {
    let ends = match &value.kind {
        ExprKind::Other(limits, ends) if limits.starts_with("..") && ends.len() == 2 => {
            // The end of `0..8` is not in it.
            let last = ends[1].number().map(|end| if limits == ".." { end - 1.0 } else { end });
            Some((ends[0].number(), last, "range"))
        }
        ExprKind::Call(callee, args) => {
            let name = callee.last_name();
            let drawn = matches!(
                name,
                "integers"
                    | "integer"
                    | "IntRange"
                    | "floats"
                    | "nat"
                    | "float"
                    | "Int64Range"
                    | "double"
                    | "Integers"
                    | "between"
            );
            if !drawn {
                return;
            }
            let number = |at: usize| args.get(at).and_then(|arg| arg.value.number());
            let field = |wanted: &str| match args.first().map(|arg| &arg.value.kind) {
                Some(ExprKind::Fields(fields)) => {
                    fields.iter().find(|(name, _)| name == wanted).and_then(|(_, v)| v.number())
                }
                _ => None,
            };
            let plain = args.iter().all(|arg| arg.name.is_none());
            match (plain, field("min").or(field("max"))) {
                (_, Some(_)) => Some((field("min"), field("max"), "range")),
                (true, None) if args.len() >= 2 => Some((number(0), number(1), "range")),
                _ => None,
            }
        }
        _ => None,
    };
    let Some((low, high, name)) = ends else { return };
    let line = value.line;
    let mut end = |suffix: &str, value: Option<f64>, stricter: Stricter| {
        if let Some(value) = value {
            let name = format!("{name} {suffix}");
            function.knobs.push(Knob { rule: "R07", name, value, stricter, line });
        }
    };
    end("start", low, Stricter::Less);
    end("end", high, Stricter::More);
}

/// `check_invariant!(InvariantId::MC1, …)`: the id it is about.
pub fn invariant_id(value: &Expr) -> Option<String> {
    let ExprKind::Call(callee, args) = &value.kind else { return None };
    let name = callee.last_name().to_ascii_lowercase();
    let of_invariant = name.contains("invariant") || name.contains("check");
    if !of_invariant || args.len() < 2 {
        return None;
    }
    match &args.first()?.value.kind {
        ExprKind::Text(text) => Some(text.clone()),
        ExprKind::Name(_) | ExprKind::Member(..) => Some(args[0].value.path()),
        _ => None,
    }
}

/// `Property::always("MC-1: …", |model, state| …)`.
pub fn property(value: &Expr, source: &str) -> Option<Check> {
    let ExprKind::Call(callee, args) = &value.kind else { return None };
    let modality = callee.last_name();
    let path = callee.path();
    let known = matches!(modality, "always" | "eventually" | "sometimes")
        && (path.contains("Property") || args.len() == 2);
    let known = known
        || matches!(
            modality,
            "assert_always"
                | "assert_sometimes"
                | "assert_always!"
                | "assert_sometimes!"
                | "always!"
                | "sometimes!"
                | "assertAlways"
                | "assertSometimes"
        );
    if !known {
        return None;
    }
    let id = args.iter().find_map(|arg| match &arg.value.kind {
        ExprKind::Text(text) => Some(text.clone()),
        _ => None,
    })?;
    let body = args.iter().find(|arg| !matches!(arg.value.kind, ExprKind::Text(_)));
    let asks = body.map_or(Formula::True, |arg| match &arg.value.kind {
        ExprKind::Lambda(parameters, body) => match &body[..] {
            [Stmt { kind: StmtKind::Return(Some(value)) | StmtKind::Expr(value), .. }] => {
                closed(parameters, &formula(value))
            }
            _ => Formula::Atom(term(&arg.value)),
        },
        _ => formula(&arg.value),
    });
    let lower = modality.to_ascii_lowercase();
    let modality = ["always", "eventually", "sometimes"].iter().find(|m| lower.contains(**m))?;
    Some(Check {
        line: value.line,
        text: source.lines().nth(value.line - 1).unwrap_or_default().trim().to_string(),
        asks,
        id: Some(id),
        modality: Some((*modality).to_string()),
        config: Vec::new(),
    })
}

/// A formula under its parameters, so that their names do not matter.
fn closed(parameters: &[String], body: &Formula) -> Formula {
    parameters.iter().rev().fold(body.clone(), |inner, name| Formula::Quant {
        all: true,
        variable: name.trim_start_matches(['&', '_', ' ']).to_string(),
        domain: None,
        body: Box::new(inner),
    })
}

/// Calls that install who hears of checks.
pub fn recorder(value: &Expr, found: &mut Vec<(String, usize)>) {
    let name = value.last_name();
    let lower = name.to_ascii_lowercase();
    let installs =
        ["set_", "install", "register", "init_", "set"].iter().any(|w| lower.starts_with(w));
    let heard = ["recorder", "observer"].iter().any(|w| lower.contains(w));
    if installs && heard {
        found.push((name.to_string(), value.line));
    }
}

/// Defaults that let the unknown pass.
pub fn lenient(value: &Expr, function: &mut Function) {
    let ExprKind::Call(callee, args) = &value.kind else { return };
    let name = callee.last_name();
    let first = args.first().map(|arg| &arg.value.kind);
    let passes = match (name, first) {
        ("unwrap_or" | "map_or" | "getOrDefault" | "orElse", _) => {
            args.iter().any(|arg| matches!(arg.value.kind, ExprKind::Bool(true)))
        }
        ("get", _) => args.get(1).is_some_and(|a| matches!(a.value.kind, ExprKind::Bool(true))),
        ("is_none_or", _) => true,
        ("filter_map" | "flatten", _) => function.kind == super::model::Kind::Predicate,
        _ => false,
    };
    if passes {
        function.lenient.push((value.line, format!("{name}(…)")));
    }
}

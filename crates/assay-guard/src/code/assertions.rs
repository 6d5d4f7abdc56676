//! What an assertion asks for, by the name it has in the frameworks people use.

use super::ast::{Arg, Expr, ExprKind, Stmt, StmtKind};
use super::logic::{formula, relation, term};
use crate::formula::{Formula, Number, Rel, Term};

/// What raises and what it is: the left side of "raises an error of this type".
pub const RAISES: &str = "raised";

/// Exception types that say nothing about what went wrong.
pub const BROAD: [&str; 12] = [
    "Exception",
    "BaseException",
    "Throwable",
    "RuntimeException",
    "Error",
    "RuntimeError",
    "StandardError",
    "object",
    "any",
    "java::lang::Exception",
    "java::lang::Throwable",
    "_",
];

/// The name without what frameworks differ in.
fn plain(name: &str) -> String {
    name.trim_end_matches('!')
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// A statement that asserts, as formulas; nothing if it asserts nothing.
pub fn asserted(expression: &Expr, extra: &[String]) -> Option<Vec<Formula>> {
    match &expression.kind {
        ExprKind::Call(callee, args) => {
            if let Some(found) = mocked(callee, args) {
                return Some(found);
            }
            if let Some(found) = ended(expression) {
                return Some(found);
            }
            if let Some((subject, links)) = chain(expression) {
                return Some(thrown(subject, &links).unwrap_or_else(|| chained(subject, &links)));
            }
            if let Some(found) = answered(callee, args) {
                return Some(found);
            }
            direct(callee, args, extra).map(|one| vec![one])
        }
        // `expect(x).to.be.true`.
        ExprKind::Member(..) => {
            let (subject, links) = chain(expression)?;
            let found = chained(subject, &links);
            (!found.is_empty()).then_some(found)
        }
        ExprKind::Unary(operator, inner) if operator == "await" => asserted(inner, extra),
        ExprKind::Other(kind, parts) if kind == "?" || kind.starts_with("await") => {
            parts.first().and_then(|inner| asserted(inner, extra))
        }
        _ => None,
    }
}

/// `command.assert().failure().code(2)` of assert_cmd: how a program ended.
fn ended(expression: &Expr) -> Option<Vec<Formula>> {
    let mut found = Vec::new();
    let mut at = expression;
    while let ExprKind::Call(callee, args) = &at.kind
        && let ExprKind::Member(of, name) = &callee.kind
    {
        if name == "assert" && args.is_empty() && matches!(of.kind, ExprKind::Call(..)) {
            let ran = term(of);
            let one = |(name, value): (&str, Option<Term>)| {
                let of = Term::apply(format!(".{name}"), vec![ran.clone()]);
                match value {
                    Some(value) if name == "code" => relation(Rel::Eq, of, value),
                    Some(value) => Formula::Rel(Rel::Fits, of, value),
                    None => Formula::Atom(of),
                }
            };
            return (!found.is_empty()).then(|| found.into_iter().map(one).collect());
        }
        found.push((name.as_str(), args.first().map(|arg| term(&arg.value))));
        at = of;
    }
    None
}

/// `assertThatExceptionOfType(X).isThrownBy(body)` as `assertThatThrownBy(body).isInstanceOf(X)`.
fn thrown(kind: &Expr, links: &[Link<'_>]) -> Option<Vec<Formula>> {
    let at = links.iter().position(|(name, _)| *name == "isThrownBy")?;
    let body = &links[at].1?.first()?.value;
    let rest: Vec<Link<'_>> = links[at + 1..]
        .iter()
        .map(|(name, args)| match *name {
            "withMessage" => ("hasMessage", *args),
            "withNoCause" => ("hasNoCause", *args),
            "withMessageContaining" => ("hasMessageContaining", *args),
            other => (other, *args),
        })
        .collect();
    let mut found = vec![Formula::Rel(Rel::Fits, term(body), term(kind))];
    found.extend(chained(body, &rest));
    Some(found)
}

/// `request(app).get("/a").expect(401)` of supertest: what is expected of the answer.
fn answered(callee: &Expr, args: &[Arg]) -> Option<Vec<Formula>> {
    let ExprKind::Member(of, name) = &callee.kind else { return None };
    let root = of.path();
    let asks = ["request", "supertest", "agent", "api"].iter().any(|word| root.starts_with(word));
    // `request.send().expect("an answer")` of Rust only says what to call a failure.
    let named = matches!(args, [Arg { value: Expr { kind: ExprKind::Text(_), .. }, .. }]);
    if name != "expect" || !asks || !root.contains('.') || named {
        return None;
    }
    // `.expect(200).expect("content-type", /json/)` asks for both.
    let (mut base, mut found) = (&**of, Vec::new());
    if let ExprKind::Call(inner, more) = &of.kind
        && let Some(before) = answered(inner, more)
    {
        found.extend(before);
        while let ExprKind::Call(inner, _) = &base.kind
            && let ExprKind::Member(next, name) = &inner.kind
            && name == "expect"
        {
            base = next;
        }
    }
    let answer = Term::apply(".answer", vec![term(base)]);
    let expected = match args {
        [only] => relation(Rel::Eq, answer, term(&only.value)),
        all => {
            let values = all.iter().map(|arg| term(&arg.value)).collect();
            Formula::Rel(Rel::Fits, answer, Term::apply("list", values))
        }
    };
    found.push(expected);
    Some(found)
}

/// One link of a chain: its name, and its arguments if it is called.
type Link<'e> = (&'e str, Option<&'e [Arg]>);

/// `expect(x).not.toBe(y)`: the subject and what follows.
fn chain(expression: &Expr) -> Option<(&Expr, Vec<Link<'_>>)> {
    let mut links: Vec<Link<'_>> = Vec::new();
    let mut at = expression;
    loop {
        match &at.kind {
            ExprKind::Call(callee, args) => match &callee.kind {
                ExprKind::Member(of, name) => {
                    let root = is_path(of);
                    if root && starts_chain(name) && !links.is_empty() {
                        links.reverse();
                        return Some((&args.first()?.value, links));
                    }
                    links.push((name, Some(args)));
                    at = of;
                }
                ExprKind::Name(name) if starts_chain(name) => {
                    let subject = &args.first()?.value;
                    if links.is_empty() {
                        // `assertThat(x, is(3))` names its matcher.
                        let matcher = args.iter().skip(1).find(|a| is_matcher(&a.value))?;
                        let name = matcher.value.last_name();
                        return Some((subject, vec![(name, Some(matcher.value.args()))]));
                    }
                    links.reverse();
                    return Some((subject, links));
                }
                _ => return None,
            },
            ExprKind::Member(of, name) => {
                links.push((name, None));
                at = of;
            }
            _ => return None,
        }
    }
}

/// A name, or names with dots.
fn is_path(of: &Expr) -> bool {
    match &of.kind {
        ExprKind::Name(_) => true,
        ExprKind::Member(of, _) => is_path(of),
        _ => false,
    }
}

fn starts_chain(name: &str) -> bool {
    matches!(
        name,
        "expect"
            | "assertThat"
            | "Expect"
            | "assert_that"
            | "assertThatThrownBy"
            | "expectTypeOf"
            | "assertThatCode"
            | "Ω"
            | "assertThatExceptionOfType"
    )
}

fn is_matcher(value: &Expr) -> bool {
    matches!(value.kind, ExprKind::Call(..))
}

fn chained(subject: &Expr, links: &[Link<'_>]) -> Vec<Formula> {
    let mut found = Vec::new();
    let mut negate = false;
    let mut subject = term(subject);
    for (name, args) in links {
        let args = args.unwrap_or_default();
        match *name {
            "not" | "NotTo" | "ToNot" | "ShouldNot" | "doesNot" if args.is_empty() => negate = true,
            "To" | "Should" | "NotTo" | "ToNot" | "ShouldNot" | "Eventually" => {
                // Gomega: `Expect(x).To(Equal(y))`.
                let negated = name.contains("Not");
                for matcher in args.iter().filter(|arg| is_matcher(&arg.value)) {
                    let inner = matcher.value.args();
                    let one = about(&subject, matcher.value.last_name(), inner);
                    found.extend(one.map(|f| if negated { not(f) } else { f }));
                }
            }
            // What a promise comes to is what is waited for elsewhere.
            "resolves" => {}
            "rejects" => subject = Term::apply(*name, vec![subject]),
            "to" | "be" | "been" | "have" | "deep" | "is" | "and" | "that" | "with" | "at"
            | "of"
                if args.is_empty() => {}
            "as" | "describedAs" | "withFailMessage" | "toBeUndefinedOr" => {}
            _ => {
                let one = about(&subject, name, args);
                found.extend(one.map(|f| if negate { not(f) } else { f }));
                negate = false;
            }
        }
    }
    found
}

fn not(formula: Formula) -> Formula {
    Formula::Not(Box::new(formula))
}

fn null() -> Term {
    Term::name("null")
}

fn length(of: &Term) -> Term {
    Term::apply("len", vec![of.clone()])
}

fn calls(of: &Term) -> Term {
    Term::apply("calls", vec![of.clone()])
}

/// What was called how often: `verify(mock, times(2)).f(x)`, `mock.assert_called_once_with(x)`.
fn mocked(callee: &Expr, args: &[Arg]) -> Option<Vec<Formula>> {
    let ExprKind::Member(of, name) = &callee.kind else { return None };
    let passed = || Term::apply("list", args.iter().map(|arg| term(&arg.value)).collect());
    let once = |of: &Term| relation(Rel::Eq, calls(of), Term::number(1.0));
    let some = |of: &Term| relation(Rel::Lt, Term::number(0.0), calls(of));
    let with = |of: &Term| relation(Rel::Eq, Term::apply("called", vec![of.clone()]), passed());
    if of.last_name() == "verify" {
        let object = of.args().first().map(|arg| term(&arg.value))?;
        let called = Term::apply(format!(".{name}"), vec![object]);
        let mode = of.args().get(1).map(|arg| &arg.value);
        let number = mode.and_then(|mode| mode.args().first()).map(|arg| term(&arg.value));
        let often = match (mode.map(Expr::last_name), number) {
            (Some("times"), Some(number)) => relation(Rel::Eq, calls(&called), number),
            (Some("never"), _) => relation(Rel::Eq, calls(&called), Term::number(0.0)),
            (Some("atLeastOnce"), _) => some(&called),
            (Some("atLeast"), Some(number)) => relation(Rel::Le, number, calls(&called)),
            (Some("atMost"), Some(number)) => relation(Rel::Le, calls(&called), number),
            _ => once(&called),
        };
        return Some(vec![often, with(&called)]);
    }
    // `client.EXPECT().Send("a").Times(2)` of gomock.
    if of.path().contains(".EXPECT") {
        let called = term(of);
        let number = args.first().map(|arg| term(&arg.value));
        return Some(vec![match (name.as_str(), number) {
            ("Times", Some(number)) => relation(Rel::Eq, calls(&called), number),
            ("MinTimes", Some(number)) => relation(Rel::Le, number, calls(&called)),
            ("MaxTimes", Some(number)) => relation(Rel::Le, calls(&called), number),
            ("AnyTimes", _) => Formula::True,
            _ => return None,
        }]);
    }
    let of = term(of);
    Some(match name.as_str() {
        "assert_called_once_with" | "assert_awaited_once_with" => vec![once(&of), with(&of)],
        "assert_called_with" | "assert_any_call" | "assert_awaited_with" => vec![with(&of)],
        "assert_called_once" | "assert_awaited_once" => vec![once(&of)],
        "assert_called" | "assert_awaited" => vec![some(&of)],
        "assert_not_called" => vec![relation(Rel::Eq, calls(&of), Term::number(0.0))],
        _ => return None,
    })
}

/// What a matcher says about a subject.
fn about(subject: &Term, name: &str, args: &[Arg]) -> Option<Formula> {
    let short = plain(name);
    // `is(not(nullValue()))`: matchers of matchers.
    let inner = args.first().map(|arg| &arg.value).filter(|inner| is_matcher(inner));
    if let (Some(inner), "is" | "not", true) = (inner, short.as_str(), args.len() == 1) {
        let found = about(subject, inner.last_name(), inner.args());
        return found.map(|f| if short == "not" { not(f) } else { f });
    }
    let known = equal_to(subject, &short, args)
        .or_else(|| made_of(subject, &short, args))
        .or_else(|| bounded_by(subject, &short, args))
        .or_else(|| shown_by(subject, &short, args));
    Some(known.unwrap_or_else(|| {
        let mut all = vec![subject.clone()];
        all.extend(args.iter().map(|arg| term(&arg.value)));
        Formula::Atom(Term::apply(format!("matcher {name}"), all))
    }))
}

/// Matchers of equality and truth.
fn equal_to(subject: &Term, name: &str, args: &[Arg]) -> Option<Formula> {
    let first = args.first().map(|arg| term(&arg.value));
    let of = subject.clone();
    let value = || first.clone().unwrap_or_else(null);
    let literal = args.first().is_some_and(|a| {
        matches!(a.value.kind, ExprKind::Number(_) | ExprKind::Text(_) | ExprKind::Bool(_))
    });
    // `isEqualTo(1.5, within(1e-6))` of AssertJ.
    let width = args.get(1).filter(|arg| {
        matches!(arg.value.last_name(), "within" | "offset" | "withPrecision" | "byLessThan")
    });
    let width = width.and_then(|arg| arg.value.args().first()?.value.number());
    if let ("isequalto", Some(width)) = (name, width) {
        return Some(Formula::Rel(Rel::Near(Number(width)), of, value()));
    }
    Some(match name {
        "tobe" | "tostrictequal" | "issameas" | "sameinstance" if literal => {
            relation(Rel::Eq, of, value())
        }
        "tobe" | "tostrictequal" | "issameas" | "sameinstance" | "beidenticalto" => {
            Formula::Rel(Rel::Same, of, value())
        }
        "toequal"
        | "isequalto"
        | "equal"
        | "equals"
        | "eql"
        | "eq"
        | "equalto"
        | "is"
        | "deepequal"
        | "containsexactly"
        | "toeql"
        | "isequaltoignoringcase"
        | "isequalbycomparingto" => relation(Rel::Eq, of, value()),
        // What a page shows.
        "tohavetext" | "tohavevalue" | "tohaveurl" | "tohavetitle" => {
            relation(Rel::Eq, Term::apply(".shown", vec![of]), value())
        }
        "isnotequalto" | "notequal" => relation(Rel::Ne, of, value()),
        "tobetruthy" | "istrue" | "true" | "ok" | "betrue" | "tobetrue" => Formula::Atom(of),
        "tobefalsy" | "isfalse" | "false" | "befalse" | "tobefalse" => not(Formula::Atom(of)),
        "tobenull" | "isnull" | "null" | "tobeundefined" | "undefined" | "benil" | "succeed"
        | "nullvalue" => relation(Rel::Eq, of, null()),
        "tobedefined" | "isnotnull" | "exist" | "haveoccurred" | "notnullvalue" | "ispresent" => {
            relation(Rel::Ne, of, null())
        }
        _ => return None,
    })
}

/// Matchers of what something contains.
fn made_of(subject: &Term, name: &str, args: &[Arg]) -> Option<Formula> {
    let first = args.first().map(|arg| term(&arg.value));
    let of = subject.clone();
    let value = || first.clone().unwrap_or_else(null);
    if let Some(found) = of_elements(subject, name, args) {
        return Some(found);
    }
    Some(match name {
        "tocontain" | "contains" | "contain" | "include" | "toinclude" | "tocontainequal"
        | "containselement" | "hasitem" | "containsstring" | "haskey" | "containskey"
        | "tohaveproperty" => relation(Rel::In, value(), of),
        "tocontaintext" => relation(Rel::In, value(), Term::apply(".shown", vec![of])),
        "tocontainanyof" | "containsanyof" => relation(Rel::In, value(), of),
        "doesnotcontain" => not(relation(Rel::In, value(), of)),
        "tomatchobject" => Formula::Rel(Rel::SubsetEq, value(), of),
        "containsexactlyinanyorder"
        | "containsexactlyelementsof"
        | "hassameelementsas"
        | "consistof"
        | "members"
        | "havesameelements"
        | "containsinanyorder" => {
            let all = match args.len() {
                1 => value(),
                _ => Term::apply("list", args.iter().map(|a| term(&a.value)).collect()),
            };
            Formula::Rel(Rel::Unordered, of, all)
        }
        "tohavelength" | "hassize" | "lengthof" | "havelen" => {
            relation(Rel::Eq, length(&of), value())
        }
        "isempty" | "beempty" | "empty" => relation(Rel::Eq, length(&of), Term::number(0.0)),
        "isnotempty" => relation(Rel::Lt, Term::number(0.0), length(&of)),
        _ => return None,
    })
}

/// `allMatch(x -> …)`, `anySatisfy(x -> …)` of AssertJ.
fn of_elements(subject: &Term, name: &str, args: &[Arg]) -> Option<Formula> {
    let all = match name {
        "allmatch" | "allsatisfy" => true,
        "anymatch" | "anysatisfy" => false,
        _ => return None,
    };
    let ExprKind::Lambda(parameters, body) = &args.first()?.value.kind else { return None };
    let [Stmt { kind: StmtKind::Return(Some(value)) | StmtKind::Expr(value), .. }] = &body[..]
    else {
        return None;
    };
    let inner = match asserted(value, &[]) {
        Some(parts) => Formula::And(parts),
        None => formula(value),
    };
    Some(Formula::Quant {
        all,
        variable: parameters.first()?.clone(),
        domain: Some(subject.clone()),
        body: Box::new(inner),
    })
}

/// Matchers of order and nearness.
fn bounded_by(subject: &Term, name: &str, args: &[Arg]) -> Option<Formula> {
    let first = args.first().map(|arg| term(&arg.value));
    let of = subject.clone();
    let value = || first.clone().unwrap_or_else(null);
    Some(match name {
        "tobegreaterthan" | "isgreaterthan" | "above" | "greaterthan" | "gt" | "isafter" => {
            relation(Rel::Lt, value(), of)
        }
        "tobegreaterthanorequal"
        | "isgreaterthanorequalto"
        | "least"
        | "greaterthanorequalto"
        | "gte" => relation(Rel::Le, value(), of),
        "tobelessthan" | "islessthan" | "below" | "lessthan" | "lt" | "isbefore" => {
            relation(Rel::Lt, of, value())
        }
        "tobelessthanorequal" | "islessthanorequalto" | "most" | "lessthanorequalto" | "lte" => {
            relation(Rel::Le, of, value())
        }
        "isbetween" => {
            let high = args.get(1).map_or_else(null, |arg| term(&arg.value));
            Formula::And(vec![relation(Rel::Le, value(), of.clone()), relation(Rel::Le, of, high)])
        }
        "tobecloseto" => {
            let digits = args.get(1).and_then(|arg| arg.value.number()).unwrap_or(2.0);
            Formula::Rel(Rel::Near(Number(0.5 * 10f64.powf(-digits))), of, value())
        }
        "iscloseto" | "closeto" | "benumerically" | "approximately" => {
            let given = args.get(1).map(|arg| &arg.value);
            let inner = given.and_then(|v| v.number().or(v.args().first()?.value.number()));
            Formula::Rel(Rel::Near(Number(inner.unwrap_or(1e-6))), of, value())
        }
        _ => return None,
    })
}

/// Matchers of types, errors and calls.
fn shown_by(subject: &Term, name: &str, args: &[Arg]) -> Option<Formula> {
    let first = args.first().map(|arg| term(&arg.value));
    let of = subject.clone();
    let value = || first.clone().unwrap_or_else(null);
    Some(match name {
        "hasmessagestartingwith" => match value() {
            Term::Name(text) => {
                let start = Term::name(text.replacen('"', "\"^", 1));
                Formula::Rel(Rel::Fits, of, start)
            }
            other => Formula::Rel(Rel::Fits, of, other),
        },
        "isexactlyinstanceof" => relation(Rel::Eq, of, value()),
        // Whatever was raised is one of those.
        "isinstanceof" | "tobeinstanceof" if broad(&value()) => relation(Rel::Ne, of, null()),
        "tobeinstanceof"
        | "isinstanceof"
        | "instanceof"
        | "tomatch"
        | "matches"
        | "matchregexp"
        | "match"
        | "a"
        | "an"
        | "startswith"
        | "hasmessagecontaining"
        | "withmessagecontaining"
        | "hasmessage"
        | "beassignabletypeof" => Formula::Rel(Rel::Fits, of, value()),
        "tothrow"
        | "tothrowerror"
        | "throw"
        | "tothrowerrormatchingsnapshot"
        | "panic"
        | "isthrownby" => raised(first),
        "tohavebeencalledtimes" | "callcount" => relation(Rel::Eq, calls(&of), value()),
        "tohavebeencalledonce" | "calledonce" => relation(Rel::Eq, calls(&of), Term::number(1.0)),
        "tohavebeencalled" | "tobecalled" | "called" => {
            relation(Rel::Lt, Term::number(0.0), calls(&of))
        }
        "tohavebeencalledexactlyoncewith" | "tohavebeencalledoncewith" | "calledoncewith" => {
            let all = Term::apply("list", args.iter().map(|a| term(&a.value)).collect());
            Formula::And(vec![
                relation(Rel::Eq, Term::apply("called", vec![of.clone()]), all),
                relation(Rel::Eq, calls(&of), Term::number(1.0)),
            ])
        }
        "tohavebeencalledwith" | "tohavebeenlastcalledwith" | "calledwith" => {
            let all = Term::apply("list", args.iter().map(|a| term(&a.value)).collect());
            relation(Rel::Eq, Term::apply("called", vec![of]), all)
        }
        _ => return None,
    })
}

fn broad(kind: &Term) -> bool {
    matches!(kind, Term::Name(name) if BROAD.contains(&name.as_str()))
}

/// That something of a type is raised; any type if none is said.
pub fn raised(kind: Option<Term>) -> Formula {
    let base = Formula::Atom(Term::name(RAISES));
    let fits = |kind: Term| match &kind {
        Term::Name(name) if BROAD.contains(&name.as_str()) => Formula::True,
        _ => Formula::Rel(Rel::Fits, Term::name(RAISES), kind),
    };
    match kind {
        None => base,
        Some(Term::Apply(list, kinds)) if list == "list" => {
            Formula::And(vec![base, Formula::Or(kinds.into_iter().map(fits).collect())])
        }
        Some(kind) => Formula::And(vec![base, fits(kind)]),
    }
}

/// The arguments that count: without the handle of Go's tests, and without messages.
fn subjects<'a>(callee: &Expr, args: &'a [Arg]) -> Vec<&'a Arg> {
    let handle = |arg: &&Arg| matches!(&arg.value.kind, ExprKind::Name(n) if n == "t" || n == "tb");
    let of_package = matches!(callee.path().split('.').next(), Some("assert" | "require"));
    let skip = usize::from(of_package && args.first().as_ref().is_some_and(handle));
    args.iter().skip(skip).collect()
}

/// `assertEqual(a, b)`, `assert_eq!(a, b)`, `require.Equal(t, a, b)`, `assert.equal(a, b)`.
fn direct(callee: &Expr, args: &[Arg], extra: &[String]) -> Option<Formula> {
    let name = callee.last_name();
    let path = callee.path();
    let root = path.split('.').next().unwrap_or_default();
    let within = matches!(root, "assert" | "require" | "Assert" | "Assertions" | "chai" | "should")
        || (path.starts_with("t.") && matches!(name, "deepEqual" | "is" | "true" | "false"));
    let plain = plain(name);
    let named = ["assert", "propassert", "verifyno", "verifyzero"]
        .iter()
        .any(|start| plain.starts_with(start))
        || within
        || is_suite(root, name);
    let checks = name.ends_with('!')
        && ["check", "ensure", "verify", "invariant"].iter().any(|word| plain.contains(word));
    let listed = extra.iter().any(|own| own == name.trim_end_matches('!'));
    let debug = plain.starts_with("debugassert");
    if !(named || checks || listed || debug) {
        return None;
    }
    // A group asserts what is in it; a handle asserts nothing yet.
    if matches!(plain.as_str(), "assertall" | "assertsoftly") || within && name == "New" {
        return None;
    }
    if path.starts_with("fc.") || plain == "assertthat" && args.len() < 2 {
        return None;
    }
    let short = plain.trim_start_matches("debug").trim_start_matches("prop");
    let short = short.strip_prefix("assert").filter(|s| !s.is_empty()).unwrap_or(short);
    let args = subjects(callee, args);
    let value = |at: usize| args.get(at).map(|arg| term(&arg.value));
    let condition = |at: usize| args.get(at).map(|arg| formula(&arg.value));
    let one = by_name(short, &args, &value);
    let found = one.or_else(|| match short {
        "assert" | "true" | "istrue" | "ok" | "truef" | "that" => condition(0),
        "false" | "isfalse" | "falsef" => condition(0).map(not),
        _ if checks || listed => {
            // The condition follows the id.
            let at = usize::from(args.len() > 1);
            condition(at)
        }
        _ => None,
    });
    let found = found.unwrap_or_else(|| {
        let all = args.iter().map(|arg| term(&arg.value)).collect();
        Formula::Atom(Term::apply(format!("assertion {name}"), all))
    });
    Some(match debug {
        true => Formula::Or(vec![Formula::Atom(Term::name("release build")), found]),
        false => found,
    })
}

/// `s.Equal(a, b)`, `s.Require().NoError(err)` of a suite of testify.
fn is_suite(root: &str, name: &str) -> bool {
    matches!(root, "s" | "suite")
        && name.starts_with(char::is_uppercase)
        && ["Equal", "NotEqual", "True", "False", "Nil", "NotNil", "Len", "Contains", "Empty"]
            .iter()
            .chain(&["NotEmpty", "Error", "NoError", "ErrorIs", "ErrorContains", "Greater", "Less"])
            .chain(&["ElementsMatch", "InDelta", "NotContains", "Panics", "Subset", "JSONEq"])
            .any(|known| name.trim_end_matches('f') == *known)
}

fn by_name(name: &str, args: &[&Arg], value: &dyn Fn(usize) -> Option<Term>) -> Option<Formula> {
    let rel = |rel: Rel| Some(relation(rel, value(0)?, value(1)?));
    let swapped = |rel: Rel| Some(relation(rel, value(1)?, value(0)?));
    let delta = |name: &str| {
        let said = args.iter().find(|arg| arg.name.as_deref() == Some(name));
        said.and_then(|arg| arg.value.number())
    };
    let near =
        |tolerance: f64| Some(Formula::Rel(Rel::Near(Number(tolerance)), value(0)?, value(1)?));
    match name.trim_end_matches('f') {
        // `assertEquals(1.0, x, 0.01)` of Java has a tolerance.
        "equals" | "equal" | "eq" | "listequal" | "dictequal" | "setequal" | "tupleequal"
        | "sequenceequal" | "multilineequal" | "arrayequals" | "deepequal" | "jsoneq"
        | "iterableequals" | "linesmatch" | "equalvalues" | "exactly" | "arrayequal"
        | "strequal" | "deepstrictequal" | "strictequal" | "erroris" | "yamleq" => {
            match args.get(2).filter(|a| a.name.is_none()).and_then(|a| a.value.number()) {
                Some(tolerance) => near(tolerance),
                None => rel(Rel::Eq),
            }
        }
        "notequals" | "notequal" | "ne" | "notdeepequal" | "notstrictequal" => rel(Rel::Ne),
        "same" | "is" => rel(Rel::Same),
        "isnot" | "notsame" => rel(Rel::Ne),
        "isnone" | "null" | "nil" | "isnull" | "noerror" | "isundefined" => {
            Some(relation(Rel::Eq, value(0)?, null()))
        }
        "isnotnone" | "notnull" | "notnil" | "isnotnull" | "error" | "isdefined" => {
            Some(relation(Rel::Ne, value(0)?, null()))
        }
        "in" => rel(Rel::In),
        "notin" => rel(Rel::In).map(not),
        "contains" | "include" => swapped(Rel::In),
        "errorcontains" => Some(Formula::Rel(Rel::Fits, value(0)?, value(1)?)),
        // How long it may take until something holds, or a body has ended.
        "eventually" => Some(within(value(0)?, value(1)?)),
        "timeout" | "timeoutpreemptively" => Some(within(value(1)?, value(0)?)),
        "notcontains" => swapped(Rel::In).map(not),
        "len" | "lengthof" | "hassize" => Some(relation(Rel::Eq, length(&value(0)?), value(1)?)),
        "empty" => Some(relation(Rel::Eq, length(&value(0)?), Term::number(0.0))),
        "notempty" => Some(relation(Rel::Lt, Term::number(0.0), length(&value(0)?))),
        "almostequal" | "almostequals" => {
            let places = delta("places").or(args.get(2).and_then(|a| a.value.number()));
            let places = places.unwrap_or(7.0);
            near(delta("delta").unwrap_or_else(|| 0.5 * 10f64.powf(-places)))
        }
        "indelta" | "inepsilon" | "approximately" | "closeto" | "withinduration" => {
            near(args.get(2).and_then(|a| a.value.number()).unwrap_or(1.0))
        }
        "relativeeq" | "absdiffeq" | "approxeq" | "ulpseq" | "float" | "allclose" => {
            let given = ["epsilon", "max_relative", "atol", "rtol", "ulps"];
            near(given.iter().find_map(|n| delta(n)).unwrap_or(1e-9))
        }
        "greater" | "gt" | "isabove" => swapped(Rel::Lt),
        "greaterequal" | "greaterorequal" | "ge" | "isatleast" => swapped(Rel::Le),
        "less" | "lt" | "isbelow" => rel(Rel::Lt),
        "lessequal" | "lessorequal" | "le" | "isatmost" => rel(Rel::Le),
        "countequal" | "elementsmatch" | "itemsequal" | "samemembers" | "sameelements" => {
            Some(Formula::Rel(Rel::Unordered, value(0)?, value(1)?))
        }
        "subset" => Some(Formula::Rel(Rel::SubsetEq, value(1)?, value(0)?)),
        "isinstance" | "instanceo" | "isa" | "istype" | "regex" | "regexp" | "match"
        | "matches" | "matchesregex" | "snapshot" => {
            Some(Formula::Rel(Rel::Fits, value(0)?, value(1)?))
        }
        "throws" | "raises" | "throwsexactly" | "rejects" | "panics" | "raisesregex" => {
            throws(name, args)
        }
        _ => None,
    }
}

fn within(what: Term, limit: Term) -> Formula {
    relation(Rel::Le, Term::apply("time of", vec![what]), limit)
}

fn throws(name: &str, args: &[&Arg]) -> Option<Formula> {
    let is_body = |arg: &&&Arg| matches!(arg.value.kind, ExprKind::Lambda(..));
    let kind = args.iter().find(|arg| !is_body(arg)).map(|arg| term(&arg.value));
    let kind = kind.filter(|_| name != "panics");
    let message = args.iter().find(|arg| arg.name.as_deref() == Some("match"));
    let message = message.or(args.get(1).filter(|_| name == "raisesregex"));
    let message =
        message.map(|arg| Formula::Rel(Rel::Fits, Term::name("message"), term(&arg.value)));
    // A subclass is not enough.
    let exactly = kind.clone().filter(|_| name == "throwsexactly");
    let mut all = vec![raised(kind)];
    all.extend(exactly.map(|kind| Formula::Rel(Rel::Eq, Term::name(RAISES), kind)));
    all.extend(message);
    Some(Formula::And(all))
}

/// `pytest.raises(ValueError, match="x")` around a body, `self.assertRaises(ValueError)`.
pub fn raising(item: &Expr) -> Option<Formula> {
    let name = plain(item.last_name());
    if !matches!(name.as_str(), "raises" | "assertraises" | "assertraisesregex" | "warns") {
        return None;
    }
    let args: Vec<&Arg> = item.args().iter().collect();
    let is_kind = |arg: &&&Arg| match arg.name.as_deref() {
        None => true,
        Some(name) => matches!(name, "expected_exception" | "exception" | "expected_warning"),
    };
    let kind = args.iter().find(is_kind).map(|arg| term(&arg.value));
    let message = args.iter().find(|arg| arg.name.as_deref() == Some("match"));
    let message = message
        .or(args.get(1).filter(|_| name == "assertraisesregex"))
        .map(|arg| Formula::Rel(Rel::Fits, Term::name("message"), term(&arg.value)));
    let mut all = vec![raised(kind)];
    all.extend(message);
    Some(Formula::And(all))
}

/// `expect(promise).rejects…`: nobody hears of it unless somebody waits for it.
pub fn is_promised(expression: &Expr) -> bool {
    if matches!(expression.path().as_str(), "assert.rejects" | "assert.doesNotReject") {
        return true;
    }
    let promises = |name: &&str| matches!(*name, "resolves" | "rejects" | "eventually");
    let waits = |(_, links): (&Expr, Vec<Link<'_>>)| links.iter().any(|(name, _)| promises(name));
    chain(expression).is_some_and(waits)
}

/// Whether a call ends the test as failed: what stands before it must not happen.
pub fn fails(call: &Expr) -> bool {
    let path = call.path();
    let name = call.last_name();
    let of_test = ["t.", "tb.", "b.", "s.T()."].iter().any(|root| path.starts_with(root));
    (of_test && matches!(name, "Error" | "Errorf" | "Fatal" | "Fatalf" | "Fail" | "FailNow"))
        || matches!(name, "fail" | "panic!" | "unreachable!" | "bail!")
        || (path.starts_with("assert.") || path.starts_with("require.")) && name == "Fail"
        || matches!(name, "FailNow" | "AssertionError" | "new AssertionError")
        || matches!(name, "Failf" | "FailNowf")
}

//! Methods that a test replaces: what they return is then what the test itself said.

use super::ast::{Expr, ExprKind};
use super::logic::term;
use super::model::Stub;
use crate::formula::{Formula, Term};

/// What an expression replaces: `x.m = fake`, `spyOn(x, "m").mockReturnValue(1)`,
/// `when(x.m()).thenReturn(1)`, `patch.object(X, "m")`.
pub fn stub(value: &Expr) -> Option<Stub> {
    let (object, method) = match &value.kind {
        ExprKind::Other(kind, parts) if kind == "assign" => assigned(parts)?,
        ExprKind::Call(callee, _) => {
            let answer = match &callee.kind {
                ExprKind::Member(of, name) => answered(of, name),
                _ => None,
            };
            // Who only spies lets the call through.
            answer.or_else(|| named(value).filter(|_| callee.last_name() != "spyOn"))?
        }
        _ => return None,
    };
    Some(Stub { object, method, line: value.line })
}

/// `x.m = lambda: 1`, `x.m = Mock(…)`, `x.m = jest.fn(…)`.
fn assigned(parts: &[Expr]) -> Option<(Term, String)> {
    let [Expr { kind: ExprKind::Member(of, method), .. }, value] = parts else { return None };
    let fake = match &value.kind {
        ExprKind::Lambda(..) => true,
        ExprKind::Call(callee, _) => {
            let name = callee.last_name();
            name.ends_with("Mock") || matches!(name, "fn" | "stub" | "fake")
        }
        _ => false,
    };
    fake.then(|| (term(of), method.clone()))
}

/// `.mockReturnValue(…)`, `.thenReturn(…)` after what is replaced; `doReturn(1).when(x).m()`.
fn answered(of: &Expr, name: &str) -> Option<(Term, String)> {
    let ExprKind::Call(inner, args) = &of.kind else { return None };
    if name.starts_with("mock") {
        return named(of);
    }
    let first = &args.first()?.value;
    match (inner.last_name(), &first.kind) {
        ("when", ExprKind::Call(callee, _)) if name.starts_with("then") => match &callee.kind {
            ExprKind::Member(object, method) => Some((term(object), method.clone())),
            _ => None,
        },
        ("when", ExprKind::Name(_)) if inner.path().starts_with("do") => {
            Some((term(first), name.to_string()))
        }
        _ => None,
    }
}

/// Calls that are given an object and the name of its method.
fn named(call: &Expr) -> Option<(Term, String)> {
    let replaces = matches!(
        call.path().as_str(),
        "vi.spyOn"
            | "jest.spyOn"
            | "sinon.stub"
            | "monkeypatch.setattr"
            | "mocker.patch.object"
            | "mock.patch.object"
            | "patch.object"
            | "unittest.mock.patch.object"
            | "t.mock.method"
            | "mock.method"
    );
    let [object, method, ..] = call.args() else { return None };
    match &method.value.kind {
        ExprKind::Text(method) if replaces => Some((term(&object.value), method.clone())),
        _ => None,
    }
}

impl Stub {
    /// Whether a formula speaks of what the replaced method of an object returns.
    pub fn is_asked_by(&self, asks: &Formula, object: &Term) -> bool {
        let mut found = false;
        terms(asks, &mut |term| found |= self.is_call(term, object));
        found
    }

    fn is_call(&self, term: &Term, object: &Term) -> bool {
        let Term::Apply(operator, args) = term else { return false };
        let of_method = operator.strip_prefix("call .") == Some(self.method.as_str());
        // What is replaced in a class is replaced in all objects of it.
        let of_class = matches!(&self.object, Term::Name(name)
            if name.starts_with(char::is_uppercase));
        of_method && (of_class || args.first() == Some(object))
    }
}

/// Every term in a formula.
fn terms(formula: &Formula, visit: &mut dyn FnMut(&Term)) {
    match formula {
        Formula::True | Formula::False => {}
        Formula::Atom(one) => within(one, visit),
        Formula::Rel(_, a, b) => [a, b].into_iter().for_each(|one| within(one, visit)),
        Formula::Not(f) | Formula::Always(f) | Formula::Eventually(f) => terms(f, visit),
        Formula::And(all) | Formula::Or(all) => all.iter().for_each(|f| terms(f, visit)),
        Formula::Implies(a, b) | Formula::Iff(a, b) | Formula::LeadsTo(a, b) => {
            [a, b].into_iter().for_each(|f| terms(f, visit));
        }
        Formula::Quant { domain, body, .. } => {
            domain.iter().for_each(|one| within(one, visit));
            terms(body, visit);
        }
    }
}

fn within(term: &Term, visit: &mut dyn FnMut(&Term)) {
    visit(term);
    match term {
        Term::Apply(_, args) => args.iter().for_each(|arg| within(arg, visit)),
        Term::Logic(formula) => terms(formula, visit),
        _ => {}
    }
}

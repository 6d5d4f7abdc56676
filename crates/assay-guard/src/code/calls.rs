//! Tests that are calls: `it('does', () => …)`, `describe('a', …)`, `t.test('b', …)`.

use super::ast::{Expr, ExprKind, Stmt};
use super::logic::term;
use super::model::Skip;

/// The name of a test in a call: `it('does', …)`, `test.skip('does', …)`, `describe('a', …)`.
pub struct Named<'e> {
    /// A group of tests.
    pub group: bool,
    /// Its name.
    pub name: String,
    /// Marked so that nothing else of its file is run.
    pub only: bool,
    /// Why it is not run.
    pub skip: Option<Skip>,
    /// What it is run for, one by one.
    pub cases: Option<&'e Expr>,
    /// Its parameters and what it does.
    pub body: Option<(&'e [String], &'e [Stmt])>,
}

/// `it('…', () => …)` and its relatives.
pub fn named<'e>(path: &str, value: &'e Expr) -> Option<Named<'e>> {
    let script = matches!(
        crate::tree::extension(path).as_str(),
        "ts" | "tsx" | "js" | "jsx" | "mjs" | "cjs" | "mts" | "cts"
    );
    if !script {
        return None;
    }
    let value = match &value.kind {
        ExprKind::Unary(operator, inner) if operator == "await" => inner,
        _ => value,
    };
    let ExprKind::Call(callee, args) = &value.kind else { return None };
    let cases = match &callee.kind {
        ExprKind::Call(_, cases) => cases.first().map(|arg| &arg.value),
        _ => None,
    };
    let path = callee.path();
    let mut parts = path.split('.');
    let root = parts.next()?;
    let rest: Vec<&str> = parts.collect();
    let told = |word: &str| args.iter().any(|arg| is_set(&arg.value, word));
    let off = root.starts_with('x')
        || ["skip", "todo"].iter().any(|word| rest.contains(word) || told(word));
    let may_fail = rest.contains(&"failing") || rest.contains(&"fails");
    let conditional = rest.contains(&"skipIf") || rest.contains(&"runIf");
    let group = match root.trim_start_matches(['x', 'f']) {
        "describe" | "suite" | "context" => true,
        "it" | "test" | "specify" | "bench" => false,
        // A test within a test of Node's runner.
        "t" if rest.first() == Some(&"test") => false,
        _ => return None,
    };
    let name = match &args.first()?.value.kind {
        ExprKind::Text(text) => text.clone(),
        _ => crate::formula::canonical(&term(&args.first()?.value)).to_string(),
    };
    let body = args.iter().find_map(|arg| match &arg.value.kind {
        ExprKind::Lambda(parameters, body) => Some((parameters.as_slice(), body.as_slice())),
        _ => None,
    });
    if body.is_none() && !off {
        return None;
    }
    let skip = (off || may_fail || conditional).then(|| Skip {
        line: value.line,
        text: path.clone(),
        conditional: conditional && !off,
    });
    let only =
        rest.contains(&"only") || told("only") || matches!(root, "fit" | "fdescribe" | "fcontext");
    Some(Named { group, name, only, skip, cases, body })
}

/// `{ skip: true }`, `{ todo: "why" }` among the arguments of a test.
fn is_set(options: &Expr, word: &str) -> bool {
    let ExprKind::Fields(fields) = &options.kind else { return false };
    fields.iter().any(|(name, value)| {
        name == word && !matches!(value.kind, ExprKind::Bool(false) | ExprKind::Null)
    })
}

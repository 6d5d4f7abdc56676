//! What names of functions and annotations tell.

use super::ast::{Expr, ExprKind, Item};
use super::model::Skip;
use crate::tree::file_name;

/// Whether a function is a test.
pub fn is_test(path: &str, item: &Item) -> bool {
    let name = item.name.last().map_or("", String::as_str);
    let annotated = item.annotations.iter().any(|annotation| {
        matches!(
            annotation.last_name(),
            "test"
                | "rstest"
                | "test_case"
                | "proptest"
                | "quickcheck"
                | "Test"
                | "RepeatedTest"
                | "ParameterizedTest"
                | "Property"
                | "TestFactory"
                | "TestTemplate"
                | "should_panic"
                | "wasm_bindgen_test"
                | "given"
                | "Theory"
                | "Fact"
        )
    });
    let file = file_name(path);
    match crate::tree::extension(path).as_str() {
        "py" => {
            let starts = name.starts_with("test")
                && (name.len() == 4
                    || name[4..].starts_with('_')
                    || name.chars().nth(4).is_some_and(char::is_uppercase));
            (annotated || starts) && is_collected(item)
        }
        "go" => {
            let starts = ["Test", "Fuzz", "Example"].iter().any(|start| name.starts_with(start));
            file.ends_with("_test.go") && starts && name != "TestMain"
        }
        "java" => annotated || (name.starts_with("test") && file.ends_with("Test.java")),
        _ => annotated,
    }
}

/// Whether methods of the class a function of Python stands in are run as tests.
fn is_collected(item: &Item) -> bool {
    let is = |name: &str| item.annotations.iter().any(|annotation| annotation.last_name() == name);
    match &item.name[..] {
        [.., class, _] => {
            class.starts_with("Test")
                || is(super::grammar::TEST_CASE)
                || class.contains("Test") && is(super::grammar::DERIVED)
        }
        _ => true,
    }
}

/// Whether a script loads Node's assertions in their loose form.
pub fn loads_loose_assert(source: &str) -> bool {
    source.lines().any(|line| {
        let loads = line.contains("import ") || line.contains("require(");
        let quoted =
            |name: &str| ['"', '\''].iter().any(|q| line.contains(&format!("{q}{name}{q}")));
        loads && (quoted("assert") || quoted("node:assert")) && !line.contains("strict")
    })
}

/// What keeps a test from being run.
pub fn skip(annotation: &Expr, path: &str) -> Option<Skip> {
    let name = annotation.last_name();
    let whole = annotation.path();
    let text = shown(annotation);
    let skip = |conditional| Some(Skip { line: annotation.line, text: text.clone(), conditional });
    match name {
        super::grammar::PRIVATE if path.ends_with(".java") => skip(false),
        "ignore" | "skip" | "Disabled" | "Ignore" | "xfail" | "expectedFailure" | "SkipTest"
        | "todo" => skip(false),
        // Only some of the values that there are.
        "EnumSource" => {
            let given =
                |name: &str| annotation.args().iter().any(|arg| arg.name.as_deref() == Some(name));
            if given("names") { skip(true) } else { None }
        }
        "skipif" | "skipIf" | "skipUnless" | "skip_if" => {
            // `skipif(True)` is a plain skip.
            let always = annotation.args().first().is_some_and(|arg| {
                matches!(arg.value.kind, ExprKind::Bool(value) if value == (name != "skipUnless"))
            });
            skip(!always)
        }
        _ if name.starts_with("DisabledIf")
            || name.starts_with("EnabledIf")
            || name.starts_with("DisabledOn")
            || name.starts_with("EnabledOn") =>
        {
            skip(true)
        }
        "cfg" => {
            let condition = text.replace(' ', "");
            let usual = ["cfg(test)", "cfg(name(test))"].iter().any(|u| condition.contains(u));
            if usual || !path.ends_with(".rs") { None } else { skip(true) }
        }
        "cfg_attr" if text.contains("ignore") => skip(true),
        _ if whole.ends_with("mark.skip") || whole.ends_with("mark.xfail") => skip(false),
        _ => None,
    }
}

/// A call that skips the test it stands in.
pub fn skips(call: &Expr) -> bool {
    let path = call.path();
    matches!(
        path.as_str(),
        "pytest.skip"
            | "pytest.xfail"
            | "self.skipTest"
            | "t.Skip"
            | "t.Skipf"
            | "t.SkipNow"
            | "tb.Skip"
            | "this.skip"
            | "test.skip"
            | "t.skip"
            | "t.todo"
            | "ctx.skip"
    ) || matches!(call.last_name(), "assumeTrue" | "assumeFalse" | "assumeThat" | "importorskip")
}

/// An annotation as text.
pub fn shown(expression: &Expr) -> String {
    match &expression.kind {
        ExprKind::Call(callee, args) if !args.is_empty() => {
            let args: Vec<String> = args
                .iter()
                .map(|arg| match &arg.name {
                    Some(name) => format!("{name} = {}", super::logic::term(&arg.value)),
                    None => super::logic::term(&arg.value).to_string(),
                })
                .collect();
            format!("{}({})", callee.path(), args.join(", "))
        }
        _ => expression.path(),
    }
}

/// Whether a function says whether something holds, by its name or where it stands.
pub fn is_predicate(path: &str, item: &Item) -> bool {
    if !item.boolean {
        return false;
    }
    let name = item.name.last().map_or("", String::as_str).to_ascii_lowercase();
    let words = [
        "invariant",
        "holds",
        "valid",
        "consistent",
        "conserved",
        "check",
        "verify",
        "safe",
        "satisfies",
        "legal",
        "correct",
        "well_formed",
        "no_",
        "all_",
        "must_",
        "allowed",
        "authorized",
        "authorised",
        "permitted",
    ];
    path.contains("invariant")
        || words.iter().any(|word| name.contains(word))
        || name.starts_with("inv_")
}

//! Functions of Python, Go, JavaScript, TypeScript and Java, from the trees of their grammars.

use super::{Edit, Found, Name, Way};
use crate::code::Language;
use crate::syntax::{children, field, line, named, text};
use tree_sitter::Node;

/// What a test of JavaScript is begun with.
const TITLED: [&str; 4] = ["it", "test", "specify", "Deno"];

/// The functions of a file; nothing if the parser gave up.
pub(super) fn functions(language: Language, source: &str, way: &Way) -> Option<Vec<Found>> {
    let tree = language.tree(source)?;
    let (mut found, mut open) = (Vec::new(), vec![tree.root_node()]);
    while let Some(node) = open.pop() {
        found.extend(function(language, node, source, way));
        open.extend(children(node).into_iter().rev());
    }
    Some(found)
}

fn function(language: Language, node: Node<'_>, source: &str, way: &Way) -> Option<Found> {
    let kinds: &[&str] = match language {
        Language::Python => &["function_definition", "lambda"],
        Language::Go => &["function_declaration", "method_declaration"],
        Language::Script | Language::Typed => &[
            "function_declaration",
            "generator_function_declaration",
            "function_expression",
            "generator_function",
            "arrow_function",
            "method_definition",
        ],
        Language::Java => &["method_declaration"],
    };
    if !kinds.contains(&node.kind()) {
        return None;
    }
    let body = node.child_by_field_name("body")?;
    let name = name(node, source);
    let (as_test, as_function) = match language {
        Language::Python if node.kind() == "lambda" => (Vec::new(), lambda(body, way)),
        Language::Python => python(body, source, way),
        Language::Go => go(node, body, source, way),
        Language::Java => {
            let fails = format!(" if (true) {}", way.java());
            (first(body, &fails), first(body, &fails))
        }
        Language::Script | Language::Typed => (script(body, way), script(body, way)),
    };
    let lines = (line(node), node.end_position().row + 1);
    Some(Found { name, lines, as_test, as_function, at_build: false })
}

/// The name of a function, or the title that it is given with as a test.
fn name(node: Node<'_>, source: &str) -> Name {
    if let Some(name) = node.child_by_field_name("name") {
        return Name::Word(text(name, source).to_string());
    }
    let around = node.parent();
    if let Some(title) = around.and_then(|around| title(around, source)) {
        return Name::Title(title);
    }
    let variable = around.and_then(|around| around.child_by_field_name("name"));
    Name::Word(variable.map_or("", |variable| text(variable, source)).to_string())
}

/// `test("adds", ...)`: the text that stands first among these arguments.
fn title(arguments: Node<'_>, source: &str) -> Option<String> {
    let call = arguments.parent().filter(|_| arguments.kind() == "arguments")?;
    let called = text(call.child_by_field_name("function")?, source);
    let called = called.split(['.', '(']).next().unwrap_or(called);
    TITLED.contains(&called).then_some(())?;
    let first = named(arguments).into_iter().next()?;
    let quoted = matches!(first.kind(), "string" | "template_string");
    let (mut inner, whole) = (text(first, source).chars(), text(first, source));
    let quote = inner.next()?;
    // A text that has no end has no quote there.
    let inner = inner.as_str().strip_suffix(quote).filter(|_| whole.len() > 1);
    quoted.then(|| inner.unwrap_or(&whole[quote.len_utf8()..]).to_string())
}

/// Before the first statement, on a line of its own if that has one.
fn python(body: Node<'_>, source: &str, way: &Way) -> (Vec<Edit>, Vec<Edit>) {
    let at = body.start_byte();
    let begin = source[..at].rfind('\n').map_or(0, |end| end + 1);
    let before = &source[begin..at];
    let behind = match before.trim().is_empty() {
        true => format!("\n{before}"),
        false => "; ".to_string(),
    };
    let edit = |text: String| vec![(at..at, text + &behind)];
    // No `except Exception` takes it for an answer of the program.
    let void = format!("raise type('Void', (BaseException,), {{}})({})", way.quoted());
    (edit(way.python()), edit(void))
}

/// An expression cannot raise, but what it calls can.
fn lambda(body: Node<'_>, way: &Way) -> Vec<Edit> {
    let void = format!("type('Void', (BaseException,), {{}})({})", way.quoted());
    let fails = format!("((_ for _ in ()).throw({void}) and ");
    let (start, end) = (body.start_byte(), body.end_byte());
    vec![(start..start, fails + "("), (end..end, "))".to_string())]
}

/// By what the test is given to report with, which gets a name if it has none.
fn go(node: Node<'_>, body: Node<'_>, source: &str, way: &Way) -> (Vec<Edit>, Vec<Edit>) {
    let panics = first(body, &format!(" panic({});", way.double()));
    let parameters = node.child_by_field_name("parameters");
    let one = parameters.and_then(|parameters| named(parameters).into_iter().next());
    let kind = one.and_then(|one| one.child_by_field_name("type")).map(|kind| text(kind, source));
    let (Some(parameters), Some(one), Some(kind)) = (parameters, one, kind) else {
        return (panics.clone(), panics);
    };
    if !kind.starts_with("*testing.") {
        return (panics.clone(), panics);
    }
    let given = field(one, "name").first().map_or("_", |name| text(*name, source));
    let fails = |name: &str| first(body, &format!(" {};", way.go(name)));
    let as_test = match given {
        "_" => {
            let place = parameters.start_byte()..parameters.end_byte();
            [vec![(place, format!("(spoiled {kind})"))], fails("spoiled")].concat()
        }
        name => fails(name),
    };
    (as_test, panics)
}

/// A condition that no compiler works out, so that nothing behind it is unreachable.
fn script(body: Node<'_>, way: &Way) -> Vec<Edit> {
    let fails = format!(" if (1 > 0) {}", way.script());
    if body.kind() == "statement_block" {
        return first(body, &fails);
    }
    let (start, end) = (body.start_byte(), body.end_byte());
    vec![(start..start, format!("{{{fails} return (")), (end..end, "); }".to_string())]
}

/// Behind the bracket of a block.
fn first(body: Node<'_>, statement: &str) -> Vec<Edit> {
    let at = body.start_byte() + 1;
    vec![(at..at, statement.to_string())]
}

//! Python, Go, TypeScript, JavaScript and Java, from the trees of their grammars.
//!
//! The grammars have much in common, so one reader serves them all: a kind of node means the same
//! in each language that has it.

mod expressions;
mod statements;

use super::ast::{Expr, Item, Program, Stmt, StmtKind};
use crate::syntax::{self, children, line, named};
use tree_sitter::Node;

/// How deep programs may be nested; what lies deeper is not looked into.
const DEPTH_MAX: usize = 100;

/// What a method of a class derived from `unittest.TestCase` is annotated with here.
pub(super) const TEST_CASE: &str = "TestCase";

/// And of a class derived from another one, which may be a test case.
pub(super) const DERIVED: &str = "derived class";

/// And what is private.
pub(super) const PRIVATE: &str = "private";

/// The languages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// Python.
    Python,
    /// Go.
    Go,
    /// TypeScript and JavaScript, with or without JSX.
    Script,
    /// TypeScript without JSX, where `<T>x` is a cast.
    Typed,
    /// Java.
    Java,
}

impl Language {
    /// The language of a file, by its name.
    pub fn of(path: &str) -> Option<Language> {
        Some(match crate::tree::extension(path).as_str() {
            "py" | "pyi" => Language::Python,
            "go" => Language::Go,
            "ts" | "mts" | "cts" => Language::Typed,
            "tsx" | "js" | "jsx" | "mjs" | "cjs" => Language::Script,
            "java" => Language::Java,
            _ => return None,
        })
    }

    fn grammar(self) -> tree_sitter::Language {
        match self {
            Language::Python => tree_sitter_python::LANGUAGE.into(),
            Language::Go => tree_sitter_go::LANGUAGE.into(),
            Language::Script => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Language::Typed => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Language::Java => tree_sitter_java::LANGUAGE.into(),
        }
    }

    /// The syntax of a text; nothing if the parser gave up.
    pub(crate) fn tree(self, source: &str) -> Option<tree_sitter::Tree> {
        syntax::parse(&self.grammar(), source)
    }
}

/// Reads a program; nothing if the parser gave up.
pub fn parse(language: Language, source: &str) -> Option<Program> {
    let tree = language.tree(source)?;
    let mut reader = Reader { source, depth: 0, program: Program::default() };
    reader.program.error = syntax::first_error(&tree);
    let owner = Owner { names: Vec::new(), annotations: Vec::new() };
    reader.scope(tree.root_node(), &owner);
    Some(reader.program)
}

/// What a function stands in.
#[derive(Clone)]
struct Owner {
    names: Vec<String>,
    annotations: Vec<Expr>,
}

struct Reader<'s> {
    source: &'s str,
    depth: usize,
    program: Program,
}

impl<'s> Reader<'s> {
    fn text(&self, node: Node<'_>) -> &'s str {
        syntax::text(node, self.source)
    }

    /// A file or the body of a class: functions are collected, statements kept.
    fn scope(&mut self, node: Node<'_>, owner: &Owner) {
        if self.depth > DEPTH_MAX {
            return;
        }
        self.depth += 1;
        for child in named(node) {
            self.member(child, owner, Vec::new(), child);
        }
        self.depth -= 1;
    }

    fn member(&mut self, node: Node<'_>, owner: &Owner, mut own: Vec<Expr>, whole: Node<'_>) {
        match node.kind() {
            "decorated_definition" => {
                for decorator in named(node).into_iter().filter(|n| n.kind() == "decorator") {
                    own.extend(named(decorator).first().map(|inner| self.expr(*inner)));
                }
                if let Some(inner) = node.child_by_field_name("definition") {
                    self.member(inner, owner, own, whole);
                }
            }
            "export_statement" => {
                for inner in named(node) {
                    self.member(inner, owner, own.clone(), whole);
                }
            }
            "function_definition"
            | "function_declaration"
            | "method_declaration"
            | "method_definition"
            | "constructor_declaration" => {
                own.extend(self.modifiers(node));
                let item = self.item(node, owner, own, whole);
                self.program.items.push(item);
            }
            "class_definition"
            | "class_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "record_declaration"
            | "abstract_class_declaration" => {
                own.extend(self.modifiers(node));
                let name = node.child_by_field_name("name").map_or("", |n| self.text(n));
                let mut inner = owner.clone();
                inner.names.push(name.to_string());
                inner.annotations.extend(own);
                // What a class of tests is derived from says what its methods are.
                let bases = node.child_by_field_name("superclasses").map_or(Vec::new(), named);
                let kind = |base: &Node<'_>| match self.text(*base).contains("TestCase") {
                    true => TEST_CASE,
                    false => DERIVED,
                };
                let bases: Vec<Expr> =
                    bases.iter().map(|base| Expr::name(line(*base), kind(base))).collect();
                inner.annotations.extend(bases);
                self.enumerate(node, name);
                if let Some(body) = node.child_by_field_name("body") {
                    self.scope(body, &inner);
                }
            }
            "field_declaration"
            | "public_field_definition"
            | "const_declaration"
            | "var_declaration"
            | "lexical_declaration"
            | "variable_declaration"
            | "block"
            | "expression_statement"
            | "if_statement"
            | "for_statement"
            | "with_statement"
            | "try_statement"
            | "assert_statement" => {
                let statements = self.statements(node);
                self.program.top.extend(statements);
            }
            _ => {}
        }
    }

    /// The names of an enum that lists invariants.
    fn enumerate(&mut self, node: Node<'_>, name: &str) {
        if !super::is_registry(name) {
            return;
        }
        let Some(body) = node.child_by_field_name("body") else { return };
        let mut open = vec![body];
        while let Some(next) = open.pop() {
            match next.kind() {
                "enum_constant" | "enum_assignment" | "assignment" => {
                    let left = ["name", "left"].iter().find_map(|f| next.child_by_field_name(f));
                    let left = left.or_else(|| named(next).first().copied());
                    let own = left.map(|n| (self.text(n).to_string(), line(n)));
                    self.program.ids.extend(own);
                }
                "property_identifier" => {
                    self.program.ids.push((self.text(next).to_string(), line(next)));
                }
                _ => open.extend(named(next)),
            }
        }
    }

    /// `@Test`, `@Disabled("…")`.
    fn modifiers(&mut self, node: Node<'_>) -> Vec<Expr> {
        let mut found = Vec::new();
        for child in children(node) {
            let annotations = match child.kind() {
                "modifiers" => named(child),
                "decorator" => named(child),
                _ => continue,
            };
            // Nobody but its own class calls a test that is private.
            if children(child).iter().any(|word| self.text(*word) == "private") {
                found.push(Expr::name(line(child), PRIVATE));
            }
            for annotation in annotations {
                if annotation.kind() != "identifier" || child.kind() == "decorator" {
                    found.push(self.expr(annotation));
                }
            }
        }
        found
    }

    fn item(&mut self, node: Node<'_>, owner: &Owner, own: Vec<Expr>, whole: Node<'_>) -> Item {
        let name = node.child_by_field_name("name").map_or("", |n| self.text(n));
        let mut names = owner.names.clone();
        if let Some(receiver) = node.child_by_field_name("receiver") {
            let typed = self.text(receiver).trim_matches(['(', ')']);
            let owner = typed.rsplit([' ', '*']).next().unwrap_or_default();
            names.push(owner.to_string());
        }
        names.push(name.to_string());
        let returns = ["return_type", "type", "result"];
        let boolean = returns.iter().any(|f| {
            let said = node.child_by_field_name(f).map_or("", |n| self.text(n));
            matches!(said.trim_start_matches(':').trim(), "bool" | "boolean" | "Boolean")
        });
        let parameters =
            node.child_by_field_name("parameters").map_or(Vec::new(), |p| self.parameters(p));
        let mut annotations = owner.annotations.clone();
        annotations.extend(own);
        let body = node.child_by_field_name("body").map_or(Vec::new(), |b| self.statements(b));
        Item {
            name: names,
            annotations,
            parameters,
            boolean,
            body,
            line: line(whole),
            span: (whole.start_byte(), whole.end_byte()),
        }
    }

    fn parameters(&mut self, node: Node<'_>) -> Vec<String> {
        let mut found = Vec::new();
        for parameter in named(node) {
            let name = match parameter.kind() {
                "identifier" => Some(parameter),
                _ => ["name", "pattern"].iter().find_map(|f| parameter.child_by_field_name(f)),
            };
            let name = name.map_or_else(|| self.text(parameter), |n| self.text(n));
            found.push(name.to_string());
        }
        if node.kind() == "identifier" {
            found.push(self.text(node).to_string());
        }
        found.retain(|name| name != "self" && name != "this");
        found
    }

    fn stmt(&self, node: Node<'_>, kind: StmtKind) -> Stmt {
        let span = (node.start_byte(), node.end_byte());
        Stmt { line: line(node), span, config: Vec::new(), kind }
    }
}

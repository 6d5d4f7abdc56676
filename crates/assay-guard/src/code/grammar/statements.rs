//! Statements.

use super::{DEPTH_MAX, Owner, Reader};
use crate::code::ast::{Arg, BESIDE, Expr, ExprKind, Stmt, StmtKind};
use crate::syntax::{children, line, named};
use tree_sitter::Node;

/// Nodes that only group statements.
const GROUPS: &[&str] = &[
    "block",
    "statement_block",
    "statement_list",
    "else_clause",
    "finally_clause",
    "switch_body",
    "switch_block",
    "expression_switch_statement",
    "switch_block_statement_group",
    "program",
    "constructor_body",
    "defer_statement",
    "expression_case",
    "default_case",
    "switch_case",
    "labeled_statement",
    "match_statement",
    "case_clause",
];

/// Nodes that declare or assign.
const VARIABLES: &[&str] = &[
    "lexical_declaration",
    "variable_declaration",
    "local_variable_declaration",
    "field_declaration",
    "public_field_definition",
    "var_declaration",
    "const_declaration",
    "short_var_declaration",
    "var_spec",
    "const_spec",
    "variable_declarator",
    "assignment_statement",
    "var_spec_list",
];

impl Reader<'_> {
    /// The statements of a body; an expression counts as what is returned.
    pub(super) fn statements(&mut self, node: Node<'_>) -> Vec<Stmt> {
        if self.depth > DEPTH_MAX {
            return Vec::new();
        }
        self.depth += 1;
        let found = self.statement(node);
        self.depth -= 1;
        found
    }

    fn each_of(&mut self, nodes: Vec<Node<'_>>) -> Vec<Stmt> {
        nodes.into_iter().flat_map(|node| self.statements(node)).collect()
    }

    fn part(&mut self, node: Node<'_>, name: &str) -> Vec<Stmt> {
        node.child_by_field_name(name).map_or(Vec::new(), |inner| self.statements(inner))
    }

    fn statement(&mut self, node: Node<'_>) -> Vec<Stmt> {
        let parts = named(node);
        let kind = match node.kind() {
            kind if GROUPS.contains(&kind) => {
                return self.each_of(parts);
            }
            "expression_statement" => return self.expression_statement(node, &parts),
            kind if VARIABLES.contains(&kind) => {
                return self.variables(node);
            }
            "if_statement" | "elif_clause" => return vec![self.condition(node)],
            "for_statement"
            | "for_in_statement"
            | "enhanced_for_statement"
            | "while_statement"
            | "do_statement" => self.repeated(node),
            "try_statement" | "try_with_resources_statement" => self.tried(node, &parts),
            "with_statement" => {
                let clause = parts.iter().find(|n| n.kind() == "with_clause");
                let items = clause.map_or(Vec::new(), |clause| named(*clause));
                let items = items.into_iter().map(|item| self.expr(item)).collect();
                StmtKind::With(items, self.part(node, "body"))
            }
            "return_statement" => StmtKind::Return(parts.first().map(|inner| self.expr(*inner))),
            "throw_statement" | "raise_statement" => match parts.first() {
                Some(inner) => StmtKind::Throw(self.expr(*inner)),
                None => StmtKind::Throw(Expr::name(line(node), "again")),
            },
            "assert_statement" => match parts.first() {
                Some(inner) => StmtKind::Assert(self.expr(*inner)),
                None => return Vec::new(),
            },
            "function_definition"
            | "function_declaration"
            | "decorated_definition"
            | "method_declaration"
            | "method_definition"
            | "class_declaration"
            | "class_definition" => {
                return self.nested(node);
            }
            "continue_statement" | "break_statement" => StmtKind::Continue,
            "go_statement" => {
                let inner = parts.iter().map(|part| self.expr(*part)).collect();
                StmtKind::Expr(Expr::new(line(node), ExprKind::Other(BESIDE.into(), inner)))
            }
            "pass_statement" | "empty_statement" | "comment" | "import_statement" => {
                return Vec::new();
            }
            // The body of a lambda that is an expression.
            _ => StmtKind::Return(Some(self.expr(node))),
        };
        vec![self.stmt(node, kind)]
    }

    fn expression_statement(&mut self, node: Node<'_>, parts: &[Node<'_>]) -> Vec<Stmt> {
        let Some(inner) = parts.first() else { return Vec::new() };
        match inner.kind() {
            "assignment" | "assignment_expression" => self.variables(*inner),
            // Whether a promise is waited for decides whether anybody hears of it.
            "await_expression" => {
                let awaited = Box::new(self.expr(*inner));
                let value = Expr::new(line(node), ExprKind::Unary("await".into(), awaited));
                vec![self.stmt(node, StmtKind::Expr(value))]
            }
            _ => {
                let kind = StmtKind::Expr(self.expr(*inner));
                vec![self.stmt(node, kind)]
            }
        }
    }

    fn nested(&mut self, node: Node<'_>) -> Vec<Stmt> {
        let before = self.program.items.len();
        let owner = Owner { names: Vec::new(), annotations: Vec::new() };
        self.member(node, &owner, Vec::new(), node);
        let inner = self.program.items.split_off(before);
        inner.into_iter().map(|item| self.stmt(node, StmtKind::Function(Box::new(item)))).collect()
    }

    /// Declarations and assignments of every kind.
    fn variables(&mut self, node: Node<'_>) -> Vec<Stmt> {
        let names = ["name", "left"].iter().find_map(|f| node.child_by_field_name(f));
        let values = ["value", "right"].iter().find_map(|f| node.child_by_field_name(f));
        let (Some(name), Some(value)) = (names, values) else {
            let inner: Vec<Node<'_>> = named(node)
                .into_iter()
                .filter(|n| {
                    matches!(
                        n.kind(),
                        "variable_declarator" | "var_spec" | "const_spec" | "var_spec_list"
                    )
                })
                .collect();
            return inner.into_iter().flat_map(|n| self.variables(n)).collect();
        };
        let left = self.text(name).to_string();
        let value = self.expr(value);
        // `a, b = f(), g()` are two.
        let names: Vec<&str> = left.split(',').map(str::trim).collect();
        let plain = |name: &&str| !name.is_empty() && name.chars().all(is_of_name);
        if let ExprKind::List(values) = &value.kind
            && names.len() > 1
            && names.len() == values.len()
            && names.iter().all(plain)
        {
            let both = names.iter().zip(values);
            let kinds = both.map(|(name, value)| match *name {
                "_" => StmtKind::Discard(value.clone()),
                name => StmtKind::Let(name.to_string(), value.clone()),
            });
            return kinds.map(|kind| self.stmt(node, kind)).collect();
        }
        // `const { a, b } = f()` are two.
        if let Some(fields) = left.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            let fields: Vec<&str> = fields.split(',').map(str::trim).collect();
            if fields.iter().all(plain) {
                let member = |name: &&str| {
                    let of = Box::new(value.clone());
                    let value = Expr::new(line(node), ExprKind::Member(of, (*name).to_string()));
                    StmtKind::Let((*name).to_string(), value)
                };
                return fields.iter().map(member).map(|kind| self.stmt(node, kind)).collect();
            }
        }
        let discarded = left.split(',').all(|part| part.trim() == "_");
        let simple = left.chars().all(is_of_name);
        let kind = match (discarded, simple) {
            (true, _) => StmtKind::Discard(value),
            (_, true) => StmtKind::Let(left, value),
            _ => {
                let target = self.expr(name);
                let parts = vec![target, value];
                StmtKind::Expr(Expr::new(line(node), ExprKind::Other("assign".into(), parts)))
            }
        };
        vec![self.stmt(node, kind)]
    }

    fn condition(&mut self, node: Node<'_>) -> Stmt {
        let condition = match node.child_by_field_name("condition") {
            Some(inner) => self.expr(inner),
            None => Expr::name(line(node), "?"),
        };
        let then = self.part(node, "consequence");
        let mut cursor = node.walk();
        let alternatives: Vec<Node<'_>> =
            node.children_by_field_name("alternative", &mut cursor).collect();
        // `elif` comes as a list: each is in the branch of those before it.
        let mut otherwise = Vec::new();
        for alternative in alternatives.into_iter().rev() {
            let mut branch = self.statements(alternative);
            match branch.first_mut().map(|first| &mut first.kind) {
                Some(StmtKind::If(_, _, last)) if alternative.kind() == "elif_clause" => {
                    last.append(&mut otherwise);
                }
                _ => branch.append(&mut otherwise),
            }
            otherwise = branch;
        }
        let kind = StmtKind::If(condition, then, otherwise);
        // Go declares in the head: `if err := f(); err != nil`.
        let mut whole = self.stmt(node, kind);
        if let Some(first) = node.child_by_field_name("initializer") {
            let mut inner = self.statements(first);
            inner.push(whole.clone());
            whole.kind = StmtKind::Block(inner);
        }
        whole
    }

    fn repeated(&mut self, node: Node<'_>) -> StmtKind {
        let head = children(node)
            .into_iter()
            .find(|n| matches!(n.kind(), "for_clause" | "range_clause"))
            .unwrap_or(node);
        let over = ["right", "value"].iter().find_map(|f| head.child_by_field_name(f));
        let over = over.map(|inner| self.expr(inner));
        let condition = head.child_by_field_name("condition").map(|inner| self.expr(inner));
        let mut over = over;
        let mut count = over.as_ref().and_then(ranged);
        if let Some(Expr { kind: ExprKind::Binary(operator, _, limit), .. }) = &condition
            && matches!(operator.as_str(), "<" | "<=")
            && node.kind() != "while_statement"
        {
            count = limit.number();
        }
        let names = ["left", "name"].iter().find_map(|f| head.child_by_field_name(f));
        let mut names = names.map_or(Vec::new(), |inner| bound_in(self.text(inner)));
        let counts = node.kind() == "for_statement" && over.is_none();
        if let (Some((name, range)), true) = (condition.as_ref().and_then(counted), counts) {
            (names, over) = (vec![name], Some(range));
        } else if let Some(limit) = over.as_ref().and_then(times) {
            over = Some(limit);
        }
        StmtKind::Loop(names, count, over, self.part(node, "body"))
    }

    fn tried(&mut self, node: Node<'_>, parts: &[Node<'_>]) -> StmtKind {
        let body = self.part(node, "body");
        let mut handlers = Vec::new();
        let catches = ["except_clause", "catch_clause", "except_group_clause"];
        for handler in parts.iter().filter(|n| catches.contains(&n.kind())) {
            let types = self.caught(*handler);
            let inner = match handler.child_by_field_name("body") {
                Some(body) => self.statements(body),
                None => {
                    let block = named(*handler).into_iter().filter(|n| n.kind() == "block");
                    self.each_of(block.collect())
                }
            };
            handlers.push((types, inner));
        }
        let finally = parts.iter().filter(|n| n.kind() == "finally_clause").copied().collect();
        let finally = self.each_of(finally);
        let mut body = body;
        body.extend(finally);
        StmtKind::Try(body, handlers)
    }

    fn caught(&mut self, handler: Node<'_>) -> Vec<String> {
        let mut types = Vec::new();
        for part in named(handler) {
            match part.kind() {
                "catch_formal_parameter" => {
                    let inner = named(part).into_iter().filter(|n| n.kind() == "catch_type");
                    types.extend(inner.flat_map(named).map(|n| self.text(n).to_string()));
                }
                "block" | "statement_block" | "as_pattern_target" => {}
                "as_pattern" => types.extend(named(part).first().map(|n| self.text(*n).into())),
                "identifier" if handler.kind() == "catch_clause" => {}
                _ => types.push(self.text(part).to_string()),
            }
        }
        types
    }
}

/// The names that a pattern binds: `(key, value)`, `_, row`.
fn bound_in(pattern: &str) -> Vec<String> {
    let names = pattern.split(|c| !is_of_name(c)).filter(|name| !matches!(*name, "" | "_"));
    names.map(str::to_string).collect()
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// `i < n` in the head of a loop: it goes through `range(n)`.
fn counted(condition: &Expr) -> Option<(String, Expr)> {
    let ExprKind::Binary(operator, left, limit) = &condition.kind else { return None };
    let ExprKind::Name(name) = &left.kind else { return None };
    (operator == "<").then(|| (name.clone(), range_of(limit)))
}

/// `for i := range int64(500)` of Go: a number is gone through up to itself.
fn times(over: &Expr) -> Option<Expr> {
    let inner = match (&over.kind, over.args()) {
        (ExprKind::Number(_), _) => over,
        (ExprKind::Call(callee, _), [only])
            if matches!(callee.last_name(), "int" | "int64" | "int32" | "uint" | "uint64") =>
        {
            &only.value
        }
        _ => return None,
    };
    Some(range_of(inner))
}

fn range_of(limit: &Expr) -> Expr {
    let callee = Box::new(Expr::name(limit.line, "range"));
    let args = vec![Arg { name: None, value: limit.clone() }];
    Expr::new(limit.line, ExprKind::Call(callee, args))
}

/// `range(10)` is ten times.
fn ranged(over: &Expr) -> Option<f64> {
    match (over.last_name(), over.args()) {
        ("range" | "times", [only]) => only.value.number(),
        ("range", [low, high, ..]) => Some(high.value.number()? - low.value.number()?),
        _ => over.number(),
    }
}

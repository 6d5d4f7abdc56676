//! Expressions.

use super::{DEPTH_MAX, Reader};
use crate::code::ast::{Arg, Expr, ExprKind};
use crate::syntax::{children, line, named};
use tree_sitter::Node;

/// Nodes that only wrap an expression.
const WRAPPERS: &[&str] = &[
    "parenthesized_expression",
    "await",
    "await_expression",
    "expression_list",
    "non_null_expression",
    "literal_element",
    "as_expression",
    "cast_expression",
    "satisfies_expression",
    "as_pattern",
    "with_item",
    "expression_statement",
    "expression_case",
];

/// Nodes that list values, or names with values.
const LISTS: &[&str] = &[
    "list",
    "tuple",
    "array",
    "array_initializer",
    "literal_value",
    "element_value_array_initializer",
    "argument_list",
    "arguments",
    "dictionary",
    "object",
];

impl Reader<'_> {
    pub(super) fn expr(&mut self, node: Node<'_>) -> Expr {
        if self.depth > DEPTH_MAX {
            return Expr::name(line(node), self.text(node));
        }
        self.depth += 1;
        let kind = self.expression(node);
        self.depth -= 1;
        Expr::new(line(node), kind)
    }

    fn boxed(&mut self, node: Node<'_>) -> Box<Expr> {
        Box::new(self.expr(node))
    }

    fn all(&mut self, nodes: &[Node<'_>]) -> Vec<Expr> {
        nodes.iter().map(|node| self.expr(*node)).collect()
    }

    /// What has no parts that matter.
    fn literal(&mut self, node: Node<'_>) -> Option<ExprKind> {
        Some(match node.kind() {
            "true" => ExprKind::Bool(true),
            "false" => ExprKind::Bool(false),
            "none" | "nil" | "null" | "null_literal" | "undefined" => ExprKind::Null,
            "integer"
            | "float"
            | "int_literal"
            | "float_literal"
            | "number"
            | "decimal_integer_literal"
            | "decimal_floating_point_literal"
            | "hex_integer_literal" => match number(self.text(node)) {
                Some(value) => ExprKind::Number(value),
                None => ExprKind::Name(self.text(node).to_string()),
            },
            "string"
            | "interpreted_string_literal"
            | "raw_string_literal"
            | "string_literal"
            | "concatenated_string" => ExprKind::Text(unquoted(self.text(node))),
            "identifier"
            | "field_identifier"
            | "property_identifier"
            | "type_identifier"
            | "this"
            | "super"
            | "scoped_identifier"
            | "scoped_type_identifier" => match self.text(node) {
                "None" | "undefined" => ExprKind::Null,
                name => ExprKind::Name(name.replace('.', "::")),
            },
            "class_literal" => ExprKind::Name(self.text(node).trim_end_matches(".class").into()),
            _ => return None,
        })
    }

    fn expression(&mut self, node: Node<'_>) -> ExprKind {
        if let Some(literal) = self.literal(node) {
            return literal;
        }
        let parts = named(node);
        match node.kind() {
            kind if WRAPPERS.contains(&kind) && !parts.is_empty() => match kind {
                "cast_expression" => self.expr(parts[parts.len() - 1]).kind,
                "expression_list" if parts.len() > 1 => ExprKind::List(self.all(&parts)),
                _ => self.expr(parts[0]).kind,
            },
            "call"
            | "call_expression"
            | "method_invocation"
            | "new_expression"
            | "object_creation_expression"
            | "annotation"
            | "marker_annotation" => self.call(node),
            "attribute" | "member_expression" | "selector_expression" | "field_access" => {
                self.member_of(node)
            }
            "subscript" | "subscript_expression" | "index_expression" | "array_access"
                if parts.len() >= 2 =>
            {
                ExprKind::Index(self.boxed(parts[0]), self.boxed(parts[1]))
            }
            "binary_expression"
            | "binary_operator"
            | "boolean_operator"
            | "instanceof_expression" => self.binary(node),
            "comparison_operator" => self.comparison(node),
            "unary_expression" | "unary_operator" | "not_operator" | "reference_expression" => {
                let operator = children(node).first().map_or("", |n| self.text(*n)).to_string();
                match parts.last() {
                    Some(inner) => ExprKind::Unary(operator, self.boxed(*inner)),
                    None => ExprKind::Name(self.text(node).to_string()),
                }
            }
            "set" => set_of(Expr::new(line(node), self.list(&parts))),
            kind if LISTS.contains(&kind) => self.list(&parts),
            "composite_literal" => match node.child_by_field_name("body") {
                Some(body) => self.expr(body).kind,
                None => ExprKind::Name(self.text(node).to_string()),
            },
            "array_creation_expression" => match node.child_by_field_name("value") {
                Some(value) => self.expr(value).kind,
                None => ExprKind::Other("array".into(), self.all(&parts)),
            },
            "generator_expression" | "list_comprehension" => self.each(node),
            "set_comprehension" => set_of(Expr::new(line(node), self.each(node))),
            "lambda"
            | "arrow_function"
            | "function_expression"
            | "func_literal"
            | "lambda_expression"
            | "generator_function" => self.lambda(node),
            "conditional_expression" | "ternary_expression" => self.choice(node, &parts),
            _ if parts.is_empty() => ExprKind::Name(self.text(node).to_string()),
            other => {
                let operators: Vec<&str> = children(node)
                    .into_iter()
                    .filter(|n| !n.is_named())
                    .map(|n| self.text(n))
                    .collect();
                ExprKind::Other(format!("{other} {}", operators.join(" ")), self.all(&parts))
            }
        }
    }

    /// A list; with keys, named values.
    fn list(&mut self, parts: &[Node<'_>]) -> ExprKind {
        let pairs = ["pair", "keyed_element", "shorthand_property_identifier"];
        let keyed = !parts.is_empty() && parts.iter().all(|n| pairs.contains(&n.kind()));
        if !keyed {
            return ExprKind::List(self.all(parts));
        }
        let fields = parts
            .iter()
            .map(|pair| {
                let inner = named(*pair);
                let key = inner.first().map_or_else(|| self.text(*pair), |n| self.text(*n));
                let value = match inner.last().filter(|_| inner.len() > 1) {
                    Some(value) => self.expr(*value),
                    None => Expr::name(line(*pair), key),
                };
                (unquoted(key), value)
            })
            .collect();
        ExprKind::Fields(fields)
    }

    fn call(&mut self, node: Node<'_>) -> ExprKind {
        let callee = match node.kind() {
            "method_invocation" => {
                let name = node.child_by_field_name("name").map_or("", |n| self.text(n));
                match node.child_by_field_name("object") {
                    Some(object) => ExprKind::Member(self.boxed(object), name.to_string()),
                    None => ExprKind::Name(name.to_string()),
                }
            }
            "new_expression" | "object_creation_expression" => {
                let of = ["constructor", "type"].iter().find_map(|f| node.child_by_field_name(f));
                ExprKind::Name(format!("new {}", of.map_or("", |n| self.text(n))))
            }
            _ => {
                let of = ["function", "name"].iter().find_map(|f| node.child_by_field_name(f));
                match of {
                    Some(of) => self.expr(of).kind,
                    None => ExprKind::Name(String::new()),
                }
            }
        };
        let arguments = node.child_by_field_name("arguments");
        // `it.each` with a table: a row a line, below its head.
        if let Some(table) = arguments.filter(|list| list.kind() == "template_string") {
            let rows = self.text(table).lines().skip(1).filter(|row| row.contains('|')).skip(1);
            let rows = rows.map(|row| Expr::new(line(table), ExprKind::Text(row.trim().into())));
            let value = Expr::new(line(table), ExprKind::List(rows.collect()));
            let args = vec![Arg { name: None, value }];
            return ExprKind::Call(Box::new(Expr::new(line(node), callee)), args);
        }
        let arguments = match arguments {
            // `all(x for x in xs)` has no parentheses of its own.
            Some(list) if list.kind() == "generator_expression" => vec![list],
            Some(list) => named(list),
            None => Vec::new(),
        };
        let args = arguments
            .into_iter()
            .map(|argument| match argument.kind() {
                "keyword_argument" | "element_value_pair" => {
                    let key = ["name", "key"].iter().find_map(|f| argument.child_by_field_name(f));
                    let name = key.map(|n| self.text(n).to_string());
                    let value = argument.child_by_field_name("value").unwrap_or(argument);
                    Arg { name, value: self.expr(value) }
                }
                _ => Arg { name: None, value: self.expr(argument) },
            })
            .collect();
        ExprKind::Call(Box::new(Expr::new(line(node), callee)), args)
    }

    fn member_of(&mut self, node: Node<'_>) -> ExprKind {
        let of = ["object", "operand"].iter().find_map(|f| node.child_by_field_name(f));
        let names = ["attribute", "property", "field"];
        let name = names.iter().find_map(|f| node.child_by_field_name(f));
        match (of, name) {
            (Some(of), Some(name)) => {
                let name = self.text(name).to_string();
                ExprKind::Member(self.boxed(of), name)
            }
            _ => ExprKind::Name(self.text(node).to_string()),
        }
    }

    fn binary(&mut self, node: Node<'_>) -> ExprKind {
        let sides = (node.child_by_field_name("left"), node.child_by_field_name("right"));
        let (Some(left), Some(right)) = sides else {
            return ExprKind::Name(self.text(node).to_string());
        };
        let operator = node.child_by_field_name("operator");
        let operator = operator.map_or("instanceof", |n| self.text(n)).to_string();
        ExprKind::Binary(operator, self.boxed(left), self.boxed(right))
    }

    /// `a <= b < c`.
    fn comparison(&mut self, node: Node<'_>) -> ExprKind {
        let operands = named(node);
        let operators: Vec<String> = field_tokens(node, self.source);
        let mut whole: Option<ExprKind> = None;
        for (at, pair) in operands.windows(2).enumerate() {
            let operator = operators.get(at).cloned().unwrap_or_default();
            let one = ExprKind::Binary(operator, self.boxed(pair[0]), self.boxed(pair[1]));
            whole = Some(match whole {
                None => one,
                Some(before) => {
                    let boxed = |kind| Box::new(Expr::new(line(node), kind));
                    ExprKind::Binary("and".to_string(), boxed(before), boxed(one))
                }
            });
        }
        whole.unwrap_or_else(|| ExprKind::Name(self.text(node).to_string()))
    }

    fn each(&mut self, node: Node<'_>) -> ExprKind {
        let clause = named(node).into_iter().find(|n| n.kind() == "for_in_clause");
        let body = node.child_by_field_name("body");
        let (Some(clause), Some(body)) = (clause, body) else {
            return ExprKind::Name(self.text(node).to_string());
        };
        let variable = clause.child_by_field_name("left").map_or("", |n| self.text(n)).to_string();
        let of = clause.child_by_field_name("right").unwrap_or(clause);
        let condition = named(node).into_iter().find(|n| n.kind() == "if_clause");
        let condition = condition.and_then(|n| named(n).first().copied());
        let condition = condition.map(|n| self.boxed(n));
        ExprKind::Each(variable, self.boxed(of), condition, self.boxed(body))
    }

    fn lambda(&mut self, node: Node<'_>) -> ExprKind {
        let parameters = ["parameters", "parameter"];
        let parameters = parameters.iter().find_map(|f| node.child_by_field_name(f));
        let parameters = parameters.map_or(Vec::new(), |p| self.parameters(p));
        let body = node.child_by_field_name("body").map_or(Vec::new(), |b| self.statements(b));
        ExprKind::Lambda(parameters, body)
    }

    fn choice(&mut self, node: Node<'_>, parts: &[Node<'_>]) -> ExprKind {
        let [a, b, c] = parts[..] else {
            return ExprKind::Name(self.text(node).to_string());
        };
        // Python says the condition in the middle.
        let (condition, then) = match node.child_by_field_name("condition") {
            Some(condition) if condition == a => (a, b),
            None => (b, a),
            Some(_) => (a, b),
        };
        ExprKind::Choice(self.boxed(condition), self.boxed(then), self.boxed(c))
    }
}

/// What is written as a set has no order.
fn set_of(items: Expr) -> ExprKind {
    let callee = Box::new(Expr::name(items.line, "set"));
    ExprKind::Call(callee, vec![Arg { name: None, value: items }])
}

fn field_tokens(node: Node<'_>, source: &str) -> Vec<String> {
    let mut cursor = node.walk();
    let operators: Vec<Node<'_>> = node.children_by_field_name("operators", &mut cursor).collect();
    operators.into_iter().map(|n| crate::syntax::text(n, source).to_string()).collect()
}

/// A number as it is written in these languages.
pub fn number(text: &str) -> Option<f64> {
    let plain: String = text.chars().filter(|c| *c != '_').collect();
    let lower = plain.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        let digits = hex.trim_end_matches(|c: char| !c.is_ascii_hexdigit());
        #[allow(clippy::cast_precision_loss)]
        return u64::from_str_radix(digits, 16).ok().map(|n| n as f64);
    }
    let digits = lower.trim_end_matches(['l', 'f', 'd', 'n', 'j', 'u', 'i']);
    digits.parse().ok().filter(|n: &f64| n.is_finite())
}

/// The content of a string.
pub fn unquoted(text: &str) -> String {
    let start = text.find(['"', '\'', '`']).unwrap_or(0);
    let prefix_only = text[..start].chars().all(|c| c.is_ascii_alphabetic());
    let text = if prefix_only { &text[start..] } else { text };
    let trimmed = text.trim_matches(|c| matches!(c, '"' | '\'' | '`'));
    trimmed.to_string()
}

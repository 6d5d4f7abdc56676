//! Expressions of TLA+ as terms and formulas.

use crate::formula::{Formula, Rel, Term};
use crate::syntax::{field, named, text};
use tree_sitter::Node;

/// How deep expressions may be nested; deeper ones are kept as text.
const DEPTH_MAX: usize = 120;

/// How often a definition of LET may be copied to where it is used.
const COPIES_MAX: usize = 2_000;

/// What a name in scope stands for.
#[derive(Clone)]
enum Binding {
    /// Another name, or part of a tuple.
    Plain(Term),
    /// A local operator with parameters.
    Local(Vec<String>, Term),
}

/// Reads expressions; knows which names are bound.
pub struct Reader<'s> {
    source: &'s str,
    scope: Vec<(String, Binding)>,
    fresh: usize,
    depth: usize,
    copies: usize,
}

impl<'s> Reader<'s> {
    /// A reader of expressions of a module.
    pub fn new(source: &'s str) -> Reader<'s> {
        Reader { source, scope: Vec::new(), fresh: 0, depth: 0, copies: 0 }
    }

    fn text(&self, node: Node<'_>) -> &'s str {
        text(node, self.source)
    }

    /// A parameter of the operator that is read: its name from now on.
    pub fn parameter(&mut self, node: Node<'_>) -> String {
        let name = node.child_by_field_name("name").unwrap_or(node);
        let own = format!("#{}", self.scope.len());
        let bound = Binding::Plain(Term::name(&own));
        self.scope.push((self.text(name).to_string(), bound));
        own
    }

    /// `F[n \in S] == body`.
    pub fn function(&mut self, unit: Node<'_>, body: Node<'_>) -> Term {
        let bounds: Vec<Node<'_>> =
            named(unit).into_iter().filter(|n| n.kind() == "quantifier_bound").collect();
        self.bound("function", &bounds, body)
    }

    fn fresh(&mut self) -> String {
        self.fresh += 1;
        format!("?{}", self.fresh)
    }

    /// An expression that holds or not.
    pub fn formula(&mut self, node: Node<'_>) -> Formula {
        match self.term(node) {
            Term::Logic(formula) => *formula,
            other => Formula::Atom(other),
        }
    }

    /// Any expression.
    pub fn term(&mut self, node: Node<'_>) -> Term {
        if self.depth > DEPTH_MAX {
            return Term::name(self.text(node).split_whitespace().collect::<Vec<_>>().join(" "));
        }
        self.depth += 1;
        let term = self.expression(node);
        self.depth -= 1;
        term
    }

    fn terms(&mut self, nodes: &[Node<'_>]) -> Vec<Term> {
        nodes.iter().map(|node| self.term(*node)).collect()
    }

    fn expression(&mut self, node: Node<'_>) -> Term {
        let parts = named(node);
        match node.kind() {
            "parentheses" | "conj_item" | "disj_item" if !parts.is_empty() => {
                self.term(parts[parts.len() - 1])
            }
            "boolean" => Term::name(self.text(node)),
            "nat_number" | "real_number" => {
                self.text(node).parse().map_or_else(|_| Term::name(self.text(node)), Term::number)
            }
            "conj_list" => {
                let all = parts.iter().map(|part| self.formula(*part)).collect();
                logic(Formula::And(all))
            }
            "disj_list" => {
                let all = parts.iter().map(|part| self.formula(*part)).collect();
                logic(Formula::Or(all))
            }
            "identifier_ref" | "nat_number_set" | "int_number_set" | "real_number_set"
            | "boolean_set" | "string_set" => self.name(self.text(node), &[]),
            "bound_op" => {
                let arguments = self.terms(&field(node, "parameter"));
                let name = node.child_by_field_name("name").map_or("", |n| self.text(n));
                self.name(name, &arguments)
            }
            "bound_infix_op" => self.infix(node),
            "bound_prefix_op" => self.prefix(node),
            "bounded_quantification" => self.bounded(node),
            "unbounded_quantification" => self.unbounded(node),
            "if_then_else" => self.conditional(node),
            "let_in" => self.let_in(node),
            "set_filter" => self.bound_under(node, "filter", "generator", "filter"),
            "set_map" => self.bound_under(node, "collect", "generator", "map"),
            "function_literal" => {
                let (bounds, rest): (Vec<Node<'_>>, Vec<Node<'_>>) =
                    parts.into_iter().partition(|n| n.kind() == "quantifier_bound");
                match rest.last() {
                    Some(body) => self.bound("function", &bounds, *body),
                    None => Term::name(self.text(node)),
                }
            }
            "choose" => self.choose(node),
            "fairness" => {
                let kind = self.text(node).get(..2).unwrap_or_default();
                let arguments = self.terms(&parts);
                logic(Formula::Atom(Term::apply(kind, arguments)))
            }
            "step_expr_or_stutter" | "step_expr_no_stutter" => self.step(node, &parts),
            _ => self.structure(node, parts),
        }
    }

    /// What has no meaning here beyond its shape.
    fn structure(&mut self, node: Node<'_>, parts: Vec<Node<'_>>) -> Term {
        let kind = match node.kind() {
            "finite_set_literal" => "set",
            "tuple_literal" => "list",
            "set_of_functions" => "functions",
            "set_of_records" => "records",
            "bound_postfix_op" => {
                let inner = node.child_by_field_name("lhs").map(|n| self.term(n));
                return Term::apply("'", inner.into_iter().collect());
            }
            "string" | "identifier" | "prev_func_val" => return Term::name(self.text(node)),
            other => other,
        };
        let parts: Vec<Node<'_>> = parts
            .into_iter()
            .filter(|n| {
                !matches!(
                    n.kind(),
                    "maps_to"
                        | "all_map_to"
                        | "langle_bracket"
                        | "rangle_bracket"
                        | "case_arrow"
                        | "case_box"
                        | "gets"
                        | "set_in"
                )
            })
            .collect();
        if parts.is_empty() && !matches!(kind, "set" | "list") {
            return Term::name(self.text(node));
        }
        match kind {
            "records" | "record_literal" => {
                let mut fields: Vec<Term> = parts
                    .chunks(2)
                    .map(|pair| {
                        let value = pair.get(1).map(|value| self.term(*value));
                        let name = format!(".{}", self.text(pair[0]));
                        Term::apply(name, value.into_iter().collect())
                    })
                    .collect();
                fields.sort();
                Term::apply(kind, fields)
            }
            "record_value" => {
                let of = self.term(parts[0]);
                let name = parts.get(1).map_or("", |n| self.text(*n)).to_string();
                Term::apply(format!(".{name}"), vec![of])
            }
            _ => {
                let terms = self.terms(&parts);
                Term::apply(kind, terms)
            }
        }
    }

    fn name(&mut self, name: &str, arguments: &[Term]) -> Term {
        let found =
            self.scope.iter().rev().find(|(known, _)| known == name).map(|(_, b)| b.clone());
        match found {
            Some(Binding::Plain(term)) if arguments.is_empty() => {
                self.copies += 1;
                match self.copies > COPIES_MAX {
                    true => Term::name(name),
                    false => term,
                }
            }
            Some(Binding::Local(parameters, body)) if parameters.len() == arguments.len() => {
                let named: Vec<(String, Term)> =
                    parameters.into_iter().zip(arguments.iter().cloned()).collect();
                substituted(&body, &named)
            }
            _ if arguments.is_empty() => Term::name(name),
            _ => Term::apply(format!("call {name}"), arguments.to_vec()),
        }
    }

    fn infix(&mut self, node: Node<'_>) -> Term {
        let sides = (node.child_by_field_name("lhs"), node.child_by_field_name("rhs"));
        let (Some(left), Some(right)) = sides else { return Term::name(self.text(node)) };
        let symbol = node.child_by_field_name("symbol").map_or("", |s| s.kind());
        let both = |formula: fn(Box<Formula>, Box<Formula>) -> Formula, reader: &mut Self| {
            let (a, b) = (reader.formula(left), reader.formula(right));
            logic(formula(Box::new(a), Box::new(b)))
        };
        match symbol {
            "land" => return both(|a, b| Formula::And(vec![*a, *b]), self),
            "lor" => return both(|a, b| Formula::Or(vec![*a, *b]), self),
            "implies" => return both(Formula::Implies, self),
            "iff" | "equiv" => return both(Formula::Iff, self),
            "leads_to" => return both(Formula::LeadsTo, self),
            _ => {}
        }
        let (a, b) = (self.term(left), self.term(right));
        let relation = |rel: Rel, a: Term, b: Term| logic(Formula::Rel(rel, a, b));
        match symbol {
            "eq" => match (&a, &b) {
                // Two statements that are equal are equivalent.
                (Term::Logic(_), _) | (_, Term::Logic(_)) => {
                    let as_formula = |term: Term| match term {
                        Term::Logic(formula) => formula,
                        other => Box::new(Formula::Atom(other)),
                    };
                    logic(Formula::Iff(as_formula(a), as_formula(b)))
                }
                _ => relation(Rel::Eq, a, b),
            },
            "neq" => relation(Rel::Ne, a, b),
            "lt" => relation(Rel::Lt, a, b),
            "leq" => relation(Rel::Le, a, b),
            "gt" => relation(Rel::Lt, b, a),
            "geq" => relation(Rel::Le, b, a),
            "in" => relation(Rel::In, a, b),
            "notin" => relation(Rel::NotIn, a, b),
            "subset" => relation(Rel::Subset, a, b),
            "subseteq" => relation(Rel::SubsetEq, a, b),
            "supset" => relation(Rel::Subset, b, a),
            "supseteq" => relation(Rel::SubsetEq, b, a),
            "cup" => joined("\\cup", a, b),
            "cap" => joined("\\cap", a, b),
            "setminus" => Term::apply("\\", vec![a, b]),
            "dots_2" => Term::apply("..", vec![a, b]),
            "plus" => Term::apply("+", vec![a, b]),
            "minus" => Term::apply("-", vec![a, b]),
            "mul" => Term::apply("*", vec![a, b]),
            "times" => Term::apply("\\X", vec![a, b]),
            other => Term::apply(other, vec![a, b]),
        }
    }

    fn prefix(&mut self, node: Node<'_>) -> Term {
        let Some(inner) = node.child_by_field_name("rhs") else {
            return Term::name(self.text(node));
        };
        let symbol = node.child_by_field_name("symbol").map_or("", |s| s.kind());
        match symbol {
            "lnot" => logic(Formula::Not(Box::new(self.formula(inner)))),
            "always" => logic(Formula::Always(Box::new(self.formula(inner)))),
            "eventually" => logic(Formula::Eventually(Box::new(self.formula(inner)))),
            "powerset" => Term::apply("SUBSET", vec![self.term(inner)]),
            "unchanged" => {
                let what = self.term(inner);
                unchanged(what)
            }
            other => match self.term(inner) {
                Term::Number(number) if other == "negative" => Term::number(-number.0),
                inner => Term::apply(other, vec![inner]),
            },
        }
    }

    /// `[A]_v` and `<<A>>_v`.
    fn step(&mut self, node: Node<'_>, parts: &[Node<'_>]) -> Term {
        let parts: Vec<Node<'_>> = parts
            .iter()
            .filter(|n| !matches!(n.kind(), "langle_bracket" | "rangle_bracket_sub"))
            .copied()
            .collect();
        let [action, variables] = parts[..] else { return Term::name(self.text(node)) };
        let action = self.formula(action);
        let still = Formula::Atom(unchanged(self.term(variables)));
        logic(match node.kind() {
            "step_expr_or_stutter" => Formula::Or(vec![action, still]),
            _ => Formula::And(vec![action, Formula::Not(Box::new(still))]),
        })
    }

    fn conditional(&mut self, node: Node<'_>) -> Term {
        let part = |name: &str| node.child_by_field_name(name);
        let (Some(condition), Some(then), Some(otherwise)) =
            (part("if"), part("then"), part("else"))
        else {
            return Term::name(self.text(node));
        };
        let condition = self.formula(condition);
        match (self.term(then), self.term(otherwise)) {
            (Term::Logic(then), Term::Logic(otherwise)) => {
                logic(Formula::either(condition, *then, *otherwise))
            }
            // `IF c THEN TRUE ELSE x > 0`: one side says that both are statements.
            (Term::Logic(then), otherwise) => {
                logic(Formula::either(condition, *then, Formula::Atom(otherwise)))
            }
            (then, Term::Logic(otherwise)) => {
                logic(Formula::either(condition, Formula::Atom(then), *otherwise))
            }
            (then, otherwise) => Term::apply("if", vec![logic(condition), then, otherwise]),
        }
    }

    fn let_in(&mut self, node: Node<'_>) -> Term {
        let before = self.scope.len();
        for definition in field(node, "definitions") {
            let (Some(name), Some(body)) = (
                definition.child_by_field_name("name"),
                definition.child_by_field_name("definition"),
            ) else {
                continue;
            };
            let name = self.text(name).to_string();
            let scope = self.scope.len();
            let mut parameters = Vec::new();
            for parameter in field(definition, "parameter") {
                let own = self.fresh();
                let name = parameter.child_by_field_name("name").unwrap_or(parameter);
                let bound = Binding::Plain(Term::name(&own));
                self.scope.push((self.text(name).to_string(), bound));
                parameters.push(own);
            }
            let body = match definition.kind() {
                "function_definition" => self.function(definition, body),
                _ => self.term(body),
            };
            self.scope.truncate(scope);
            let bound = match parameters.is_empty() {
                true => Binding::Plain(body),
                false => Binding::Local(parameters, body),
            };
            self.scope.push((name, bound));
        }
        let whole = node.child_by_field_name("expression").map(|body| self.term(body));
        self.scope.truncate(before);
        whole.unwrap_or_else(|| Term::name(self.text(node)))
    }

    fn choose(&mut self, node: Node<'_>) -> Term {
        let set = node.child_by_field_name("set").map(|set| self.term(set));
        let before = self.scope.len();
        let variable = self.fresh();
        for intro in field(node, "intro") {
            self.introduce(intro, &variable);
        }
        let body = node.child_by_field_name("expression").map(|body| self.formula(body));
        self.scope.truncate(before);
        let (set, body) = (set.unwrap_or(Term::name("-")), body.unwrap_or(Formula::True));
        Term::apply("choose", vec![Term::name(variable), set, logic(body)])
    }

    /// Brings the names of a pattern into scope, as the variable or parts of it.
    fn introduce(&mut self, intro: Node<'_>, variable: &str) {
        if intro.kind() != "tuple_of_identifiers" {
            let bound = Binding::Plain(Term::name(variable));
            self.scope.push((self.text(intro).to_string(), bound));
            return;
        }
        let names: Vec<Node<'_>> =
            named(intro).into_iter().filter(|n| n.kind() == "identifier").collect();
        for (at, name) in names.into_iter().enumerate() {
            #[allow(clippy::cast_precision_loss)]
            let index = Term::number((at + 1) as f64);
            let part = Term::apply("function_evaluation", vec![Term::name(variable), index]);
            self.scope.push((self.text(name).to_string(), Binding::Plain(part)));
        }
    }

    /// The variables of bounds, each with its domain.
    fn introduced(&mut self, bounds: &[Node<'_>]) -> Vec<(String, Term)> {
        let mut pairs = Vec::new();
        // Domains do not see the variables beside them.
        let domains: Vec<Term> = bounds
            .iter()
            .map(|b| b.child_by_field_name("set").map_or(Term::name("-"), |set| self.term(set)))
            .collect();
        for (bound, domain) in bounds.iter().zip(domains) {
            for intro in field(*bound, "intro") {
                let variable = self.fresh();
                self.introduce(intro, &variable);
                pairs.push((variable, domain.clone()));
            }
        }
        pairs
    }

    fn bound_under(&mut self, node: Node<'_>, kind: &str, bounds: &str, body: &str) -> Term {
        let bounds = field(node, bounds);
        match node.child_by_field_name(body) {
            Some(body) => self.bound(kind, &bounds, body),
            None => Term::name(self.text(node)),
        }
    }

    fn bound(&mut self, kind: &str, bounds: &[Node<'_>], body: Node<'_>) -> Term {
        let before = self.scope.len();
        let pairs = self.introduced(bounds);
        let mut whole = self.term(body);
        self.scope.truncate(before);
        for (variable, domain) in pairs.into_iter().rev() {
            whole = Term::apply(kind, vec![Term::name(variable), domain, whole]);
        }
        whole
    }

    fn bounded(&mut self, node: Node<'_>) -> Term {
        let all = node.child_by_field_name("quantifier").is_some_and(|q| q.kind() == "forall");
        let before = self.scope.len();
        let pairs = self.introduced(&field(node, "bound"));
        let body = node.child_by_field_name("expression").map(|body| self.formula(body));
        self.scope.truncate(before);
        let mut whole = body.unwrap_or(Formula::True);
        for (variable, domain) in pairs.into_iter().rev() {
            let body = Box::new(whole);
            whole = Formula::Quant { all, variable, domain: Some(domain), body };
        }
        logic(whole)
    }

    fn unbounded(&mut self, node: Node<'_>) -> Term {
        let all = node.child_by_field_name("quantifier").is_some_and(|q| q.kind() == "forall");
        let before = self.scope.len();
        let mut variables = Vec::new();
        for intro in field(node, "intro") {
            let variable = self.fresh();
            self.introduce(intro, &variable);
            variables.push(variable);
        }
        let body = node.child_by_field_name("expression").map(|body| self.formula(body));
        self.scope.truncate(before);
        let mut whole = body.unwrap_or(Formula::True);
        for variable in variables.into_iter().rev() {
            whole = Formula::Quant { all, variable, domain: None, body: Box::new(whole) };
        }
        logic(whole)
    }
}

fn logic(formula: Formula) -> Term {
    Term::Logic(Box::new(formula))
}

fn unchanged(what: Term) -> Term {
    Term::apply("UNCHANGED", vec![what])
}

fn joined(operator: &str, a: Term, b: Term) -> Term {
    let parts = |term: Term| match term {
        Term::Apply(own, args) if own == operator => args,
        other => vec![other],
    };
    let mut all = parts(a);
    all.extend(parts(b));
    Term::apply(operator, all)
}

fn substituted(body: &Term, named: &[(String, Term)]) -> Term {
    let definitions = named
        .iter()
        .map(|(name, term)| {
            let body = term.clone();
            (name.clone(), crate::formula::Definition { parameters: Vec::new(), body })
        })
        .collect();
    crate::formula::expanded(body, &definitions)
}

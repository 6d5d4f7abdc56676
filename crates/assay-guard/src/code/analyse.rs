//! From a syntax tree to what is checked.

use super::assertions::{asserted, fails, is_promised, raising};
use super::ast::{Expr, ExprKind, Item, Program, Stmt, StmtKind};
use super::binders::{Binder, for_each, gone_through};
use super::flow::{assumed, early, in_any_order, leaves, sorted, variables, yields};
use super::logic::{formula, term};
use super::model::{Check, Checks, Function, Kind, Skip};
use super::{calls, generators, heard, inlining, knobs, names, stubs};
use crate::config::Config;
use crate::formula::{Formula, Rel, Term};
use std::collections::{BTreeMap, BTreeSet};

/// What a program checks.
pub fn analyse(path: &str, source: &str, program: &Program, config: &Config) -> Checks {
    let mut checks = Checks { error: program.error, ids: program.ids.clone(), ..Checks::default() };
    let walker = Walker { path, source, config, constants: lists(program) };
    for (at, item) in program.items.iter().enumerate() {
        // A second function of the same name is all that is left of the two.
        let replaced = || program.items[at + 1..].iter().any(|later| later.name == item.name);
        if path.ends_with(".py") && names::is_test(path, item) && replaced() {
            continue;
        }
        walker.item(item, None, &mut checks);
    }
    let whole = Item { name: vec!["(top)".into()], body: program.top.clone(), ..Item::default() };
    let mut found = walker.collect(&whole, Kind::Other, &mut checks);
    checks.knobs = std::mem::take(&mut found.knobs);
    checks.lists = std::mem::take(&mut found.lists);
    if !found.checks.is_empty() {
        checks.functions.push(found);
    }
    for_all(path, source, program, &mut checks);
    checks.constants = inlining::constants(program);
    checks.functions.retain(|function| {
        function.kind != Kind::Other
            || walker.of_tests()
            || !function.checks.is_empty()
            || !function.knobs.is_empty()
            || !function.lists.is_empty()
            || !function.generators.is_empty()
    });
    checks
}

/// The lists that have a name outside of functions.
fn lists(program: &Program) -> BTreeMap<&str, &Expr> {
    let named = program.top.iter().filter_map(|statement| match &statement.kind {
        StmtKind::Let(name, value) => Some((name.as_str(), value)),
        _ => None,
    });
    named.filter(|(_, value)| matches!(value.kind, ExprKind::List(_))).collect()
}

/// What is said once about all tests of a file.
fn for_all(path: &str, source: &str, program: &Program, checks: &mut Checks) {
    let mut all: Vec<Skip> = Vec::new();
    for statement in &program.top {
        if let StmtKind::Let(name, value) = &statement.kind
            && name == "pytestmark"
        {
            let marks = match &value.kind {
                ExprKind::List(marks) => marks.iter().collect(),
                _ => vec![value],
            };
            all.extend(marks.into_iter().filter_map(|mark| names::skip(mark, path)));
        }
    }
    // A condition of the build in the head of a file of Go.
    let tag = source.lines().enumerate().take(40).find(|(_, line)| line.starts_with("//go:build"));
    if let (true, Some((at, line))) = (path.ends_with("_test.go"), tag) {
        all.push(Skip { line: at + 1, text: line.to_string(), conditional: true });
    }
    let chosen = checks.functions.iter().find(|function| function.only).map(|f| f.line);
    for function in checks.functions.iter_mut().filter(|f| f.kind == Kind::Test) {
        function.skips.extend(all.iter().cloned());
        if let (Some(line), false) = (chosen, function.only) {
            let text = "only another test of this file is run".to_string();
            function.skips.push(Skip { line, text, conditional: false });
        }
    }
}

struct Walker<'w> {
    path: &'w str,
    source: &'w str,
    config: &'w Config,
    /// Lists that have a name in the file.
    constants: BTreeMap<&'w str, &'w Expr>,
}

impl<'w> Walker<'w> {
    fn item(&self, item: &Item, outer: Option<&str>, checks: &mut Checks) {
        let test = names::is_test(self.path, item);
        let kind = match (test, names::is_predicate(self.path, item)) {
            (true, _) => Kind::Test,
            (_, true) => Kind::Predicate,
            _ => Kind::Other,
        };
        let mut function = self.collect(item, kind, checks);
        if let Some(outer) = outer {
            function.name = format!("{outer} > {}", function.name);
        }
        checks.functions.push(function);
    }

    /// Whether the file is there to test: then a helper that fails is an assertion.
    fn of_tests(&self) -> bool {
        let path = self.path.to_ascii_lowercase();
        ["test", "spec"].iter().any(|word| path.contains(word))
    }

    /// `assert.equal` of Node takes `1` and `"1"` for the same unless its strict form is loaded.
    fn loosened(&self, asks: Formula, value: &Expr) -> Formula {
        let by_name = matches!(value.path().as_str(), "assert.equal" | "assert.deepEqual");
        match asks {
            Formula::Rel(Rel::Eq, a, b) if by_name && names::loads_loose_assert(self.source) => {
                let alike = Term::apply("loosely equal", vec![a.clone(), b.clone()]);
                Formula::Or(vec![Formula::Rel(Rel::Eq, a, b), Formula::Atom(alike)])
            }
            other => other,
        }
    }

    fn slice(&self, (start, end): (usize, usize)) -> String {
        self.source.get(start..end).unwrap_or_default().to_string()
    }

    fn collect(&self, item: &Item, kind: Kind, checks: &mut Checks) -> Function {
        let mut function = Function {
            name: item.name.join("::"),
            kind,
            line: item.line,
            text: self.slice(item.span),
            shape: String::new(),
            checks: Vec::new(),
            skips: Vec::new(),
            swallowed: Vec::new(),
            lenient: Vec::new(),
            returns_early: early(&item.body),
            knobs: Vec::new(),
            lists: Vec::new(),
            generators: Vec::new(),
            only: false,
            should_panic: None,
            variables: variables(&item.body),
            parameters: item.parameters.clone(),
            stubs: Vec::new(),
            yields: yields(item, kind),
            calls: Vec::new(),
            does: Vec::new(),
        };
        for annotation in &item.annotations {
            function.skips.extend(names::skip(annotation, self.path));
            if annotation.last_name() == "should_panic" {
                function.should_panic = Some(annotation.line);
            }
            self.expected(annotation, &mut function);
            function.stubs.extend(stubs::stub(annotation));
            knobs::annotation(&self.spelled_out(annotation), &mut function);
        }
        let mut context = Context {
            guards: Vec::new(),
            binders: Vec::new(),
            config: Vec::new(),
            outer: Vec::new(),
            each: Vec::new(),
            swallows: false,
            only: false,
            sorted: Vec::new(),
            idle: heard::idle(&item.body),
            waits: heard::waits(&item.body),
            callbacks: item.parameters.clone(),
        };
        self.block(&item.body, &mut context, &mut function, checks);
        if let ([Stmt { kind: StmtKind::Return(Some(value)), .. }], Kind::Other) =
            (&item.body[..], kind)
        {
            generators::made(value, &mut function);
        }
        if kind == Kind::Predicate {
            self.predicate(item, &mut function);
        }
        function.shape = shape(&item.body);
        function
    }

    /// The list a name stands for.
    fn list<'e>(&self, value: &'e Expr) -> &'e Expr
    where
        'w: 'e,
    {
        match &value.kind {
            ExprKind::Name(name) => self.constants.get(name.as_str()).copied().unwrap_or(value),
            _ => value,
        }
    }

    /// An annotation with lists in the place of their names.
    fn spelled_out(&self, annotation: &Expr) -> Expr {
        let mut whole = annotation.clone();
        if let ExprKind::Call(_, args) = &mut whole.kind {
            args.iter_mut().for_each(|arg| arg.value = self.list(&arg.value).clone());
        }
        whole
    }

    /// What an annotation says a test raises.
    fn expected(&self, annotation: &Expr, function: &mut Function) {
        for arg in annotation.args() {
            let raises = match (annotation.last_name(), arg.name.as_deref()) {
                ("Test" | "test", Some("expected")) => {
                    super::assertions::raised(Some(term(&arg.value)))
                }
                ("should_panic", _) => {
                    Formula::Rel(Rel::Fits, Term::name("message"), term(&arg.value))
                }
                _ => continue,
            };
            function.checks.push(Check {
                line: annotation.line,
                text: names::shown(annotation),
                asks: raises,
                id: None,
                modality: None,
                config: Vec::new(),
            });
        }
    }

    /// What a predicate says holds: its value, in each branch.
    fn predicate(&self, item: &Item, function: &mut Function) {
        let mut guards = Vec::new();
        let mut found = Vec::new();
        returned(&item.body, &mut guards, &mut found, 0);
        let lenient = found.iter().filter(|(value, guards, _)| {
            matches!(value.kind, ExprKind::Bool(true)) && !guards.is_empty()
        });
        for (value, _, line) in lenient {
            let text = self.source.lines().nth(line - 1).unwrap_or_default().trim().to_string();
            function.lenient.push((value.line, text));
        }
        if let [(value, guards, line)] = &found[..]
            && guards.is_empty()
        {
            function.checks.push(Check {
                line: *line,
                text: self.source.lines().nth(line - 1).unwrap_or_default().trim().to_string(),
                asks: formula(value),
                id: None,
                modality: None,
                config: Vec::new(),
            });
        }
    }

    fn block(
        &self,
        body: &[Stmt],
        context: &mut Context,
        function: &mut Function,
        checks: &mut Checks,
    ) {
        let (guarded, sorted_before) = (context.guards.len(), context.sorted.len());
        for statement in body {
            let configured = context.config.len();
            context.config.extend(statement.config.iter().cloned());
            self.statement(statement, context, function, checks);
            context.config.truncate(configured);
            // What follows `if slow { return }` is asked for only if it is not slow.
            if let (Kind::Test, Some(condition)) = (function.kind, leaves(statement)) {
                context.guards.push(Formula::Not(Box::new(formula(condition))));
            }
            if let (Kind::Test, Some(condition)) = (function.kind, assumed(statement)) {
                context.guards.push(formula(condition));
            }
            context.sorted.extend(sorted(statement).map(str::to_string));
        }
        context.guards.truncate(guarded);
        context.sorted.truncate(sorted_before);
    }

    fn statement(
        &self,
        statement: &Stmt,
        context: &mut Context,
        function: &mut Function,
        checks: &mut Checks,
    ) {
        knobs::statement(statement, function);
        match &statement.kind {
            StmtKind::Expr(value) | StmtKind::Return(Some(value)) => {
                self.value(value, statement, context, function, checks);
            }
            StmtKind::Let(name, value) => {
                self.kept(name, value, statement, context, function, checks);
            }
            StmtKind::Discard(value) => {
                if matches!(value.kind, ExprKind::Call(..)) {
                    function.swallowed.push((statement.line, self.slice(statement.span)));
                }
                self.inner(value, statement, context, function, checks);
            }
            StmtKind::Assert(value) => {
                let asked = formula(value);
                // A virtual machine of Java leaves its own assertions out unless told otherwise.
                let asked = match self.path.ends_with(".java") {
                    true => Formula::Or(vec![Formula::Atom(Term::name("release build")), asked]),
                    false => asked,
                };
                self.push(asked, statement, context, function);
            }
            StmtKind::If(condition, then, otherwise) => {
                self.inner(condition, statement, context, function, checks);
                context.guards.push(formula(condition));
                self.block(then, context, function, checks);
                context.guards.pop();
                context.guards.push(Formula::Not(Box::new(formula(condition))));
                self.block(otherwise, context, function, checks);
                context.guards.pop();
            }
            StmtKind::Loop(names, _, over, body) => {
                let known = context.binders.len();
                if let Some(over) = over {
                    self.inner(over, statement, context, function, checks);
                    context.binders.push(self.binder(names, Some(over), function));
                }
                self.block(body, context, function, checks);
                context.binders.truncate(known);
            }
            StmtKind::Try(body, handlers) => self.tried(body, handlers, context, function, checks),
            StmtKind::With(items, body) => {
                self.within(items, body, statement, context, function, checks);
            }
            StmtKind::Throw(value) if value.last_name() == "SkipTest" => {
                let conditional = !context.guards.is_empty();
                let text = self.slice(statement.span);
                function.skips.push(Skip { line: statement.line, text, conditional });
            }
            StmtKind::Throw(value) => {
                if function.kind == Kind::Test || fails(value) {
                    self.push(Formula::False, statement, context, function);
                }
            }
            StmtKind::Block(body) => self.block(body, context, function, checks),
            StmtKind::Function(item) => {
                let outer = function.name.clone();
                self.item(item, Some(&outer), checks);
            }
            StmtKind::Return(None) | StmtKind::Continue => {}
        }
    }

    /// A value that is kept in a variable.
    fn kept(
        &self,
        name: &str,
        value: &Expr,
        statement: &Stmt,
        context: &mut Context,
        function: &mut Function,
        checks: &mut Checks,
    ) {
        // `var e = assertThrows(…)` asserts and keeps what it found.
        if is_assertion(value)
            && let Some(found) = asserted(value, &self.config.assertions)
        {
            found.into_iter().for_each(|f| self.push(f, statement, context, function));
        }
        let unheard = context.idle.contains(name);
        self.unheard(unheard, value, statement, context, function, checks);
    }

    /// A body with something around it.
    fn within(
        &self,
        items: &[Expr],
        body: &[Stmt],
        statement: &Stmt,
        context: &mut Context,
        function: &mut Function,
        checks: &mut Checks,
    ) {
        items.iter().for_each(|item| self.entered(item, statement, context, function));
        // Where an error is expected, nobody comes to the last of several statements.
        let raises = items.iter().any(|item| raising(item).is_some()) && body.len() > 1;
        let (first, last) = body.split_at(body.len() - usize::from(raises));
        self.block(first, context, function, checks);
        let swallows = context.swallows;
        context.swallows |= raises;
        self.block(last, context, function, checks);
        context.swallows = swallows;
    }

    /// What is entered around a body: `with pytest.raises(…)`, `with patch.object(…)`.
    fn entered(&self, item: &Expr, statement: &Stmt, context: &Context, function: &mut Function) {
        function.stubs.extend(stubs::stub(item));
        if let Some(raises) = raising(item) {
            self.push(raises, statement, context, function);
        }
        if item.last_name() == "suppress" {
            function.swallowed.push((statement.line, self.slice(statement.span)));
        }
    }

    fn tried(
        &self,
        body: &[Stmt],
        handlers: &[(Vec<String>, Vec<Stmt>)],
        context: &mut Context,
        function: &mut Function,
        checks: &mut Checks,
    ) {
        let swallows = context.swallows;
        for (types, handler) in handlers {
            let quiet = !handler.iter().any(tells);
            if quiet {
                let line = handler.first().or(body.first()).map_or(function.line, |s| s.line);
                let text = format!("catches {} and goes on", types.join(", "));
                function.swallowed.push((line, text));
                // What is asserted in such a body cannot fail the test.
                let broad = types.is_empty()
                    || types.iter().any(|kind| {
                        super::assertions::BROAD.contains(&kind.as_str())
                            || kind.contains("Assertion")
                    });
                context.swallows |= broad;
            }
        }
        self.block(body, context, function, checks);
        context.swallows = swallows;
        for (_, handler) in handlers {
            context.guards.push(Formula::Atom(Term::name("an exception")));
            self.block(handler, context, function, checks);
            context.guards.pop();
        }
    }

    fn push(&self, asks: Formula, statement: &Stmt, context: &Context, function: &mut Function) {
        let asks = match context.swallows {
            true => Formula::True,
            false => asks,
        };
        let asks = match context.guards.is_empty() {
            true => asks,
            false => {
                let all = Formula::And(context.guards.clone());
                Formula::Implies(Box::new(all), Box::new(asks))
            }
        };
        let asks = in_any_order(asks, &context.sorted, &function.variables);
        // Each part of a conjunction is an assertion of its own.
        let parts = match crate::formula::normal_keeping_domains(&asks) {
            Formula::And(parts) => parts,
            other => vec![other],
        };
        for part in parts {
            function.checks.push(Check {
                line: statement.line,
                text: self.slice(statement.span),
                asks: for_each(&context.binders, part),
                id: None,
                modality: None,
                config: context.config.clone(),
            });
        }
    }

    /// What a loop or a closure says about all elements of something.
    fn binder(&self, names: &[String], over: Option<&Expr>, function: &Function) -> Binder {
        Binder::new(names, over.map(|over| self.list(over)), function)
    }

    /// A statement that is an expression.
    fn value(
        &self,
        value: &Expr,
        statement: &Stmt,
        context: &mut Context,
        function: &mut Function,
        checks: &mut Checks,
    ) {
        if let Some(named) = calls::named(self.path, value) {
            return self.test_call(named, statement, context, function, checks);
        }
        let own = suite(value, function);
        let value = own.as_ref().unwrap_or(value);
        if let Some(found) = asserted(value, &self.config.assertions) {
            let before = function.checks.len();
            let unheard = matches!(statement.kind, StmtKind::Expr(_)) && is_promised(value);
            for one in found {
                let one = if unheard { Formula::True } else { self.loosened(one, value) };
                self.push(one, statement, context, function);
            }
            let id = knobs::invariant_id(value);
            for check in &mut function.checks[before..] {
                check.id.clone_from(&id);
            }
        } else if fails(value) && (function.kind == Kind::Test || self.of_tests()) {
            self.push(Formula::False, statement, context, function);
        } else if names::skips(value) {
            let conditional = !context.guards.is_empty();
            let text = self.slice(statement.span);
            function.skips.push(Skip { line: statement.line, text, conditional });
        }
        function.stubs.extend(stubs::stub(value));
        let unheard = matches!(statement.kind, StmtKind::Expr(_))
            && heard::left_alone(value, &context.callbacks, context.waits);
        if heard::drops_errors(value) {
            function.swallowed.push((statement.line, self.slice(statement.span)));
        }
        let told = heard::is_told(value, &context.callbacks);
        context.guards.extend(told.then(|| Formula::Atom(Term::name("an event"))));
        self.unheard(unheard, value, statement, context, function, checks);
        context.guards.truncate(context.guards.len() - usize::from(told));
    }

    /// What is inside an expression that may be run when nobody listens any more.
    fn unheard(
        &self,
        unheard: bool,
        value: &Expr,
        statement: &Stmt,
        context: &mut Context,
        function: &mut Function,
        checks: &mut Checks,
    ) {
        let swallows = context.swallows;
        context.swallows |= unheard && function.kind == Kind::Test;
        self.inner(value, statement, context, function, checks);
        context.swallows = swallows;
    }

    /// What is inside an expression: closures with checks, calls of helpers, properties.
    fn inner(
        &self,
        value: &Expr,
        statement: &Stmt,
        context: &mut Context,
        function: &mut Function,
        checks: &mut Checks,
    ) {
        let mut open = vec![value];
        while let Some(next) = open.pop() {
            knobs::expression(next, function);
            match &next.kind {
                ExprKind::Call(callee, args) => {
                    knobs::recorder(next, &mut checks.recorders);
                    if let Some(check) = knobs::property(next, self.source) {
                        function.checks.push(check);
                    }
                    let name = callee.last_name();
                    if matches!(name, "ok" | "unwrap_or_default")
                        && args.is_empty()
                        && function.kind == Kind::Test
                        && matches!(statement.kind, StmtKind::Expr(_))
                        && std::ptr::eq(next, value)
                    {
                        function.swallowed.push((statement.line, self.slice(statement.span)));
                    }
                    knobs::lenient(next, function);
                    let plain = args.iter().map(|arg| term(&arg.value)).collect();
                    function.calls.push((name.to_string(), plain));
                    if !asks(statement, &self.config.assertions) && !is_about_running(next) {
                        function.does.push((statement.line, term(next)));
                    }
                }
                ExprKind::Lambda(parameters, body) => {
                    // The body of `all(|x| …)` is part of a formula, not a list of statements.
                    let statements = body.iter().any(|s| !matches!(s.kind, StmtKind::Return(_)))
                        || body.iter().any(|s| match &s.kind {
                            StmtKind::Return(Some(value)) => {
                                asserted(value, &self.config.assertions).is_some()
                            }
                            _ => false,
                        });
                    if statements {
                        let known = context.callbacks.len();
                        context.callbacks.extend(parameters.iter().cloned());
                        let binder = self.binder(parameters, gone_through(value, next), function);
                        context.binders.push(binder);
                        self.block(body, context, function, checks);
                        context.binders.pop();
                        context.callbacks.truncate(known);
                    } else {
                        for s in body {
                            if let StmtKind::Return(Some(value)) = &s.kind {
                                open.push(value);
                            }
                        }
                    }
                }
                _ => {}
            }
            open.extend(next.parts());
        }
    }

    fn test_call(
        &self,
        named: calls::Named<'_>,
        statement: &Stmt,
        context: &mut Context,
        function: &mut Function,
        checks: &mut Checks,
    ) {
        let depth = context.outer.len();
        let skipped = context.outer.iter().find_map(|(_, skip)| skip.clone());
        let names: Vec<&str> = context.outer.iter().map(|(name, _)| name.as_str()).collect();
        let name = [&names[..], &[&named.name]].concat().join(" > ");
        if named.group {
            let each = context.each.len();
            context.each.extend(named.cases.map(|cases| self.list(cases).clone()));
            context.outer.push((named.name, named.skip));
            let only = context.only;
            context.only |= named.only;
            self.block(named.body.unwrap_or_default().1, context, function, checks);
            context.only = only;
            context.outer.truncate(depth);
            context.each.truncate(each);
            return;
        }
        let name = match function.kind {
            Kind::Test => format!("{} > {name}", function.name),
            _ => name,
        };
        let (parameters, body) = named.body.unwrap_or_default();
        let item = Item {
            name: vec![name],
            parameters: parameters.to_vec(),
            body: body.to_vec(),
            line: statement.line,
            span: statement.span,
            ..Item::default()
        };
        let mut inner = self.collect(&item, Kind::Test, checks);
        inner.skips.extend(named.skip.or(skipped));
        inner.only = named.only || context.only;
        // What a group is run for, each of its tests is run for.
        let own = named.cases.map(|cases| self.list(cases));
        for cases in context.each.iter().chain(own) {
            knobs::cases("each", cases, &mut inner);
        }
        if let StmtKind::Expr(Expr { kind: ExprKind::Call(_, args), .. }) = &statement.kind {
            for arg in args {
                knobs::expression(&arg.value, &mut inner);
                knobs::time_limit(&arg.value, &mut inner);
            }
        }
        checks.functions.push(inner);
    }
}

struct Context {
    guards: Vec<Formula>,
    /// What is gone through, from outside in.
    binders: Vec<Binder>,
    config: Vec<String>,
    outer: Vec<(String, Option<Skip>)>,
    /// What the groups around are run for.
    each: Vec<Expr>,
    swallows: bool,
    only: bool,
    /// Variables that were sorted in place.
    sorted: Vec<String>,
    /// Closures in variables that nobody calls.
    idle: BTreeSet<String>,
    /// Whether the body waits for what goes on beside it.
    waits: bool,
    /// What was given to be called when something has ended.
    callbacks: Vec<String>,
}

/// `is := assert.New(t); is.Len(x, 2)` of testify as `assert.Len(x, 2)`.
fn suite(value: &Expr, function: &Function) -> Option<Expr> {
    let ExprKind::Call(callee, args) = &value.kind else { return None };
    let ExprKind::Member(of, method) = &callee.kind else { return None };
    let ExprKind::Name(name) = &of.kind else { return None };
    let made = matches!(&function.variables.get(name)?.body, Term::Apply(new, from)
        if new == "call .New"
            && matches!(from.first(), Some(Term::Name(of)) if of == "assert" || of == "require"));
    let root = Box::new(Expr::name(of.line, "assert"));
    let callee = Expr::new(callee.line, ExprKind::Member(root, method.clone()));
    made.then(|| Expr::new(value.line, ExprKind::Call(Box::new(callee), args.clone())))
}

/// Whether all that a statement does is to ask.
fn asks(statement: &Stmt, extra: &[String]) -> bool {
    match &statement.kind {
        StmtKind::Expr(value) | StmtKind::Return(Some(value)) => {
            asserted(value, extra).is_some() || fails(value)
        }
        StmtKind::If(_, then, _) => then.iter().any(tells),
        StmtKind::Assert(_) => true,
        _ => false,
    }
}

/// Whether a call is about how tests are run, not about what is tested.
fn is_about_running(call: &Expr) -> bool {
    matches!(call.path().as_str(), "t.Helper" | "t.Parallel" | "t.Log" | "t.Logf" | "t.Run")
        || matches!(call.last_name(), "println!" | "eprintln!" | "print" | "log" | "format!")
}

/// Whether a call is an assertion by its name, wherever it stands.
fn is_assertion(value: &Expr) -> bool {
    let path = value.path();
    let root = path.split('.').next().unwrap_or_default();
    value.last_name().starts_with("assert")
        || path.contains('.') && matches!(root, "assert" | "require" | "Assertions")
}

/// Whether a handler tells somebody: raises, fails, asserts, or returns the error.
fn tells(statement: &Stmt) -> bool {
    match &statement.kind {
        StmtKind::Throw(_) | StmtKind::Assert(_) => true,
        StmtKind::Expr(value) | StmtKind::Return(Some(value)) | StmtKind::Let(_, value) => {
            let mut open = vec![value];
            while let Some(next) = open.pop() {
                if fails(next) || asserted(next, &[]).is_some() {
                    return true;
                }
                open.extend(next.parts());
            }
            matches!(statement.kind, StmtKind::Let(..))
        }
        StmtKind::If(_, a, b) => a.iter().chain(b).any(tells),
        StmtKind::Block(body) | StmtKind::Loop(.., body) => body.iter().any(tells),
        _ => false,
    }
}

/// The values a body returns, each under its conditions.
fn returned<'b>(
    body: &'b [Stmt],
    guards: &mut Vec<Formula>,
    found: &mut Vec<(&'b Expr, Vec<Formula>, usize)>,
    depth: usize,
) {
    if depth > 50 {
        return;
    }
    for statement in body {
        match &statement.kind {
            StmtKind::Return(Some(value)) => found.push((value, guards.clone(), statement.line)),
            StmtKind::If(condition, then, otherwise) => {
                guards.push(formula(condition));
                returned(then, guards, found, depth + 1);
                returned(otherwise, guards, found, depth + 1);
                guards.pop();
            }
            StmtKind::Block(inner) | StmtKind::Loop(.., inner) => {
                guards.push(Formula::True);
                returned(inner, guards, found, depth + 1);
                guards.pop();
            }
            _ => {}
        }
    }
}

/// What a body does, without lines and layout.
fn shape(body: &[Stmt]) -> String {
    let mut text = format!("{body:?}");
    // Lines and places are the only numbers with these names.
    for name in ["line: ", "span: ("] {
        let mut rest = text.as_str();
        let mut plain = String::with_capacity(rest.len());
        while let Some(at) = rest.find(name) {
            let (before, after) = rest.split_at(at + name.len());
            plain.push_str(before);
            rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == ',' || c == ' ');
        }
        plain.push_str(rest);
        text = plain;
    }
    crate::finding::hash(&text)
}

//! Reads expressions: one function per way things are put together.

use super::{CHARS_MAX, DEPTH_MAX, Expr, Function, Operator};
use crate::contract::OracleError;

/// How strongly operators bind: or, and, comparison, plus and minus, times.
const LEVELS: [&[(&str, Operator)]; 5] = [
    &[("or", Operator::Or)],
    &[("and", Operator::And)],
    &[
        ("==", Operator::Equal),
        ("!=", Operator::NotEqual),
        ("<=", Operator::LessEqual),
        (">=", Operator::GreaterEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("*", Operator::Multiply)],
];
const COMPARISON: usize = 2;

/// Reads an expression.
///
/// # Errors
/// With the column of the first thing that does not fit.
pub fn parse(text: &str) -> Result<Expr, OracleError> {
    if text.chars().count() > CHARS_MAX {
        let what = format!("longer than {CHARS_MAX} characters");
        return Err(OracleError::BadExpression { column: CHARS_MAX + 1, what });
    }
    let mut parser = Parser { text, at: 0, depth: 0 };
    let expr = parser.level(0)?;
    parser.skip_space();
    match parser.rest().is_empty() {
        true => Ok(expr),
        false => Err(parser.error("expected an operator or the end")),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn error(&self, what: impl Into<String>) -> OracleError {
        let column = self.text[..self.at].chars().count() + 1;
        OracleError::BadExpression { column, what: what.into() }
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Takes a symbol, or a whole word, if it comes next.
    fn take(&mut self, token: &str) -> bool {
        self.skip_space();
        let Some(after) = self.rest().strip_prefix(token) else { return false };
        let word = token.starts_with(|c: char| c.is_alphabetic());
        if word && after.starts_with(is_path_char) {
            return false;
        }
        self.at += token.len();
        true
    }

    fn enter(&mut self) -> Result<(), OracleError> {
        self.depth += 1;
        match self.depth > DEPTH_MAX {
            true => Err(self.error(format!("nested deeper than {DEPTH_MAX} levels"))),
            false => Ok(()),
        }
    }

    fn level(&mut self, level: usize) -> Result<Expr, OracleError> {
        let Some(operators) = LEVELS.get(level) else { return self.prefix() };
        // `not` binds weaker than a comparison and stronger than `and`.
        if level == COMPARISON && self.take("not") {
            self.enter()?;
            let inner = self.level(COMPARISON)?;
            self.depth -= 1;
            return Ok(Expr::Not(Box::new(inner)));
        }
        let mut left = self.level(level + 1)?;
        while let Some(&(_, operator)) = operators.iter().find(|(token, _)| self.take(token)) {
            let right = self.level(level + 1)?;
            left = Expr::Two(Box::new(left), operator, Box::new(right));
            if level == COMPARISON {
                break;
            }
        }
        Ok(left)
    }

    fn prefix(&mut self) -> Result<Expr, OracleError> {
        if self.take("(") {
            self.enter()?;
            let inner = self.level(0)?;
            self.depth -= 1;
            return match self.take(")") {
                true => Ok(inner),
                false => Err(self.error("expected `)`")),
            };
        }
        if self.take("-") {
            self.enter()?;
            let inner = self.prefix()?;
            self.depth -= 1;
            return Ok(Expr::Minus(Box::new(inner)));
        }
        if self.take("\"") {
            let Some(end) = self.rest().find('"') else {
                return Err(self.error("the string does not end"));
            };
            let text = self.rest()[..end].to_string();
            self.at += end + 1;
            return Ok(Expr::Text(text));
        }
        self.word()
    }

    fn word(&mut self) -> Result<Expr, OracleError> {
        self.skip_space();
        let rest = self.rest();
        let end = rest.find(|c: char| !is_path_char(c)).unwrap_or(rest.len());
        let word = &rest[..end];
        if word.starts_with(|c: char| c.is_ascii_digit()) && word.parse::<f64>().is_ok() {
            self.at += end;
            return Ok(Expr::Number(word.to_string()));
        }
        match word {
            "true" | "false" => {
                self.at += end;
                return Ok(Expr::Truth(word == "true"));
            }
            "" | "and" | "or" | "not" => {
                return Err(self.error("expected a number, a string, a path or a function"));
            }
            _ => {}
        }
        let function = Function::ALL.into_iter().find(|function| function.name() == word);
        if let Some(function) = function.filter(|_| rest[end..].trim_start().starts_with('(')) {
            self.at += end;
            return self.call(function);
        }
        self.path().map(Expr::Path)
    }

    fn call(&mut self, function: Function) -> Result<Expr, OracleError> {
        self.take("(");
        let mut paths = vec![self.path()?];
        if function == Function::Refs {
            if !self.take(",") {
                return Err(self.error("expected `,` and a second path"));
            }
            paths.push(self.path()?);
        }
        match self.take(")") {
            true => Ok(Expr::Call(function, paths)),
            false => Err(self.error("expected `)`")),
        }
    }

    /// A path; `*` is a part of its own, so that `a * b` stays a product.
    fn path(&mut self) -> Result<String, OracleError> {
        self.skip_space();
        let rest = self.rest();
        let mut end = 0;
        loop {
            let part = &rest[end..];
            let name = part.find(|c: char| !is_name_char(c)).unwrap_or(part.len());
            let length = if part.starts_with('*') { 1 } else { name };
            if length == 0 {
                return Err(self.error("expected a path such as `accounts.*.balance`"));
            }
            end += length;
            if !rest[end..].starts_with('.') {
                break;
            }
            end += 1;
        }
        self.at += end;
        Ok(rest[..end].to_string())
    }
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$' || c == '@' || c == '/'
}

fn is_path_char(c: char) -> bool {
    is_name_char(c) || c == '.'
}

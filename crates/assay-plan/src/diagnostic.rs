//! What is wrong, where, why, and what to do.

use crate::place::Span;
use crate::rules::Rule;
use serde::Serialize;
use std::fmt;

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth a look; `--deny warnings` makes it count.
    Warning,
    /// The plan cannot be used as it is.
    Error,
}

/// The number of a rule: `P012`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Code(pub u16);

impl Code {
    /// Its rule.
    pub fn rule(self) -> &'static Rule {
        Rule::of(self)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "P{:03}", self.0)
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One finding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Diagnostic {
    /// Which rule is broken.
    pub code: Code,
    /// Where.
    pub span: Span,
    /// What is wrong, in this case.
    pub message: String,
    /// What to do about it, in this case.
    pub help: Option<String>,
    /// Another place that matters, and why.
    pub also: Option<(Span, String)>,
}

impl Diagnostic {
    /// A finding without help of its own.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { code, span, message: message.into(), help: None, also: None }
    }

    /// With what to do.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// With "did you mean", if there is something to mean.
    pub fn mean(mut self, near: Option<impl fmt::Display>) -> Diagnostic {
        self.help = near.map(|near| format!("did you mean `{near}`?")).or(self.help);
        self
    }

    /// With another place.
    pub fn also(mut self, span: Span, why: impl Into<String>) -> Diagnostic {
        self.also = Some((span, why.into()));
        self
    }

    /// How bad it is.
    pub fn severity(&self) -> Severity {
        self.code.rule().severity
    }
}

//! Landing predicates: what must be seen before a fault counts.
//!
//! `dropped >= 1` on the side that injects, `timeouts >= 1 within 5s` on the side that suffers. The
//! grammar is deliberately small: terms joined by `and`, each a signal compared with a number. That
//! makes two questions decidable which matter: could it be true although nothing happened, and is
//! it weaker than it was?
//!
//! ```
//! use assay_plan::landing::Predicate;
//!
//! let predicate = Predicate::parse("timeouts >= 1 within 5s and elections >= 1").unwrap();
//! assert_eq!(predicate.terms.len(), 2);
//! assert!(Predicate::parse("timeouts >= 0").is_err(), "true although nothing happened");
//! ```

use crate::time::{Time, show, unit_seconds};
use crate::words::nearest;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A signal that can be counted or measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct SignalInfo {
    /// Its name.
    pub name: &'static str,
    /// Which side sees it.
    pub side: Side,
    /// What it counts, between the start and the end of the fault.
    pub about: &'static str,
    /// Whether it is a time and not a count.
    pub is_time: bool,
}

/// The two sides of a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// What does the harm: proxy, process control, file system.
    Injector,
    /// What suffers it: clients, nodes, their logs.
    Victim,
}

const fn signal(name: &'static str, side: Side, is_time: bool, about: &'static str) -> SignalInfo {
    SignalInfo { name, side, about, is_time }
}

/// Every signal. `log("text")` and `metric("name")` are open-ended, and for victims.
#[rustfmt::skip]
pub const SIGNALS: [SignalInfo; 31] = [
    signal("dropped", Side::Injector, false, "messages the proxy or filter dropped"),
    signal("dropped-bytes", Side::Injector, false, "bytes it dropped"),
    signal("delayed", Side::Injector, false, "messages it held back"),
    signal("refused", Side::Injector, false, "connections it refused"),
    signal("resets", Side::Injector, false, "connections it reset"),
    signal("duplicated", Side::Injector, false, "messages it sent twice"),
    signal("reordered", Side::Injector, false, "messages that overtook others"),
    signal("sliced", Side::Injector, false, "messages it cut into pieces"),
    signal("killed", Side::Injector, false, "processes that ended by our signal"),
    signal("stopped", Side::Injector, false, "processes seen frozen in the process table"),
    signal("restarted", Side::Injector, false, "processes that were started again"),
    signal("changed-bytes", Side::Injector, false, "bytes changed or filled on disk"),
    signal("failed-calls", Side::Injector, false, "system calls answered with an error"),
    signal("held-calls", Side::Injector, false, "system calls held back"),
    signal("clock-offset", Side::Injector, true, "how far a clock is off that a library moves"),
    signal("moved-clock-reads", Side::Injector, false, "looks at the clock answered otherwise"),
    signal("power-cuts", Side::Injector, false, "disks that lost what was not synced"),
    signal("throttled", Side::Injector, false, "times the kernel held a node back"),
    signal("frozen", Side::Injector, false, "nodes whose threads stand still"),
    signal("limited", Side::Injector, false, "limits that were read back"),
    signal("timeouts", Side::Victim, false, "client operations that timed out"),
    signal("errors", Side::Victim, false, "client operations that failed"),
    signal("reconnects", Side::Victim, false, "connections clients or peers opened; proxies only"),
    signal("elections", Side::Victim, false, "changes of leader that nodes report"),
    signal("restarts", Side::Victim, false, "nodes with a new process id that are ready again"),
    signal("heartbeat-gap", Side::Victim, true, "longest silence of a node"),
    signal("latency-p99", Side::Victim, true, "99th percentile of client latency in the window"),
    signal("retransmits", Side::Victim, false, "segments nodes sent again; in namespaces only"),
    signal("out-of-order", Side::Victim, false, "segments that reached nodes early; in namespaces"),
    signal("duplicates", Side::Victim, false, "segments nodes got twice; in namespaces only"),
    signal("lag", Side::Victim, true, "how far a replica is behind"),
];

/// A signal of a term.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Signal {
    /// One of [`SIGNALS`].
    Known(&'static str),
    /// Lines of the victim's log that contain this text.
    Log(String),
    /// A metric the system exports.
    Metric(String),
}

/// `>=` or `>`: a fault that landed makes signals rise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// At least.
    AtLeast,
    /// More than.
    MoreThan,
}

/// What a signal is compared with.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Bound {
    /// A count, or a metric's rise.
    Number(f64),
    /// A time.
    Time(Time),
}

/// A signal, how much of it, and how soon after the fault began.
#[derive(Clone, PartialEq, Debug)]
pub struct Term {
    /// What is looked at.
    pub signal: Signal,
    /// How it is compared.
    pub comparison: Comparison,
    /// With what.
    pub bound: Bound,
    /// Within this time after the start; during the whole window, if not given.
    pub within: Option<Time>,
}

/// Terms that must all hold.
#[derive(Clone, PartialEq, Debug)]
pub struct Predicate {
    /// The terms.
    pub terms: Vec<Term>,
}

/// Why a predicate cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PredicateError {
    /// Not of the grammar.
    #[error("expected {expected}, found `{found}`")]
    Syntax {
        /// What could have stood there.
        expected: &'static str,
        /// What stood there.
        found: String,
    },
    /// Nobody can measure that.
    #[error("there is no signal `{name}`{}", .near.map_or(String::new(),
        |n| format!("; did you mean `{n}`?")))]
    Unknown {
        /// What was written.
        name: String,
        /// What may have been meant.
        near: Option<&'static str>,
    },
    /// True although nothing happened.
    #[error("`{0}` holds even when nothing happened, so it proves nothing")]
    Vacuous(String),
    /// A count compared with a time, or a time with a count.
    #[error("`{name}` is compared with {wanted}")]
    Unit {
        /// The signal.
        name: String,
        /// What it needs.
        wanted: &'static str,
    },
    /// Beyond a limit.
    #[error("longer than {TERMS_MAX} terms")]
    TooLong,
}

/// More terms than this are no longer a small predicate.
pub const TERMS_MAX: usize = 16;

impl Predicate {
    /// Reads a predicate.
    ///
    /// # Errors
    /// If it is not of the grammar, names an unknown signal, or would hold without any fault.
    pub fn parse(text: &str) -> Result<Predicate, PredicateError> {
        let mut words = Words { rest: text };
        let mut terms = Vec::new();
        loop {
            terms.push(term(&mut words)?);
            match words.next() {
                None => return Ok(Predicate { terms }),
                Some(word) if word.eq_ignore_ascii_case("and") && terms.len() < TERMS_MAX => {}
                Some(word) if word.eq_ignore_ascii_case("and") => {
                    return Err(PredicateError::TooLong);
                }
                Some(word) => return Err(syntax("`and` or the end", &word)),
            }
        }
    }

    /// Whether every term of `self` follows from a term of `other`: `other` asks for no less.
    pub fn is_implied_by(&self, other: &Predicate) -> bool {
        self.terms.iter().all(|mine| other.terms.iter().any(|term| term.implies(mine)))
    }
}

impl Term {
    fn implies(&self, weaker: &Term) -> bool {
        let bound = |term: &Term| match term.bound {
            Bound::Number(number) => number,
            Bound::Time(time) => time.0.as_secs_f64(),
        };
        let (mine, theirs) = (bound(self), bound(weaker));
        let stricter =
            self.comparison == Comparison::MoreThan || weaker.comparison == Comparison::AtLeast;
        let soon = match (self.within, weaker.within) {
            (_, None) => true,
            (Some(mine), Some(theirs)) => mine <= theirs,
            (None, Some(_)) => false,
        };
        self.signal == weaker.signal && soon && (mine > theirs || (mine == theirs && stricter))
    }
}

fn syntax(expected: &'static str, found: &str) -> PredicateError {
    PredicateError::Syntax { expected, found: show(found) }
}

fn term(words: &mut Words<'_>) -> Result<Term, PredicateError> {
    let name = words.next().ok_or_else(|| syntax("a signal", "the end"))?;
    let signal = read_signal(&name, words)?;
    let comparison = match words.next().as_deref() {
        Some(">=") => Comparison::AtLeast,
        Some(">") => Comparison::MoreThan,
        Some(other @ ("<" | "<=" | "=" | "==")) => {
            return Err(PredicateError::Vacuous(format!("{name} {other} …")));
        }
        other => return Err(syntax("`>=` or `>`", other.unwrap_or("the end"))),
    };
    let number = words.next().ok_or_else(|| syntax("a number", "the end"))?;
    let bound = read_bound(&number, words)?;
    let is_zero = matches!(bound, Bound::Number(n) if n <= 0.0)
        || matches!(bound, Bound::Time(t) if t == Time::default());
    if is_zero && comparison == Comparison::AtLeast {
        return Err(PredicateError::Vacuous(format!("{name} >= {number}")));
    }
    check_unit(&signal, &bound)?;
    let mut within = None;
    if words.peek().is_some_and(|word| word.eq_ignore_ascii_case("within")) {
        words.next();
        let time = words.next().ok_or_else(|| syntax("a time", "the end"))?;
        match read_bound(&time, words)? {
            Bound::Time(time) => within = Some(time),
            Bound::Number(_) => return Err(syntax("a time such as 5s", &time)),
        }
    }
    Ok(Term { signal, comparison, bound, within })
}

fn read_signal(name: &str, words: &mut Words<'_>) -> Result<Signal, PredicateError> {
    let open: fn(String) -> Signal = match name {
        "log" => Signal::Log,
        "metric" => Signal::Metric,
        _ => {
            let known = SIGNALS.iter().find(|signal| signal.name == name);
            return known.map(|signal| Signal::Known(signal.name)).ok_or_else(|| {
                let near = nearest(name, SIGNALS.iter().map(|signal| signal.name));
                PredicateError::Unknown { name: show(name), near }
            });
        }
    };
    let quoted = words.quoted().ok_or_else(|| syntax("(\"text\")", words.rest))?;
    if quoted.trim().is_empty() {
        return Err(PredicateError::Vacuous(format!("{name}(\"\")")));
    }
    Ok(open(quoted))
}

fn read_bound(word: &str, words: &mut Words<'_>) -> Result<Bound, PredicateError> {
    let with_unit = |text: &str| Time::parse(text).ok().map(Bound::Time);
    if let Ok(number) = word.parse::<f64>() {
        if !number.is_finite() {
            return Err(syntax("a number", word));
        }
        let unit = words.peek().filter(|unit| unit_seconds(unit).is_some());
        return match unit {
            Some(unit) => {
                words.next();
                with_unit(&format!("{word}{unit}")).ok_or_else(|| syntax("a time", word))
            }
            None => Ok(Bound::Number(number)),
        };
    }
    with_unit(word).ok_or_else(|| syntax("a number or a time", word))
}

fn check_unit(signal: &Signal, bound: &Bound) -> Result<(), PredicateError> {
    let is_time = match signal {
        Signal::Known(name) => SIGNALS.iter().any(|s| s.name == *name && s.is_time),
        Signal::Log(_) => false,
        Signal::Metric(_) => return Ok(()),
    };
    match (is_time, bound) {
        (true, Bound::Number(_)) => {
            Err(PredicateError::Unit { name: signal.to_string(), wanted: "a time, such as 2s" })
        }
        (false, Bound::Time(_)) => {
            Err(PredicateError::Unit { name: signal.to_string(), wanted: "a count" })
        }
        _ => Ok(()),
    }
}

/// The words of a predicate: names, numbers, comparisons.
struct Words<'t> {
    rest: &'t str,
}

impl Words<'_> {
    fn split(&self) -> Option<(usize, usize)> {
        let trimmed = self.rest.trim_start();
        let start = self.rest.len() - trimmed.len();
        let first = trimmed.chars().next()?;
        let is_mark = |c: char| "<>=!".contains(c);
        let part_of = |c: char| match is_mark(first) {
            true => is_mark(c),
            false => !c.is_whitespace() && !is_mark(c) && !"()\"".contains(c),
        };
        let length = trimmed.find(|c| !part_of(c)).unwrap_or(trimmed.len());
        Some((start, start + length.max(first.len_utf8())))
    }

    fn peek(&self) -> Option<String> {
        self.split().map(|(start, end)| self.rest[start..end].to_string())
    }

    fn next(&mut self) -> Option<String> {
        let (start, end) = self.split()?;
        let word = self.rest[start..end].to_string();
        self.rest = &self.rest[end..];
        Some(word)
    }

    /// `("text")`, with no quotation mark inside.
    fn quoted(&mut self) -> Option<String> {
        let inner = self.rest.trim_start().strip_prefix('(')?.trim_start();
        let quote = inner.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (text, rest) = inner[1..].split_once(quote)?;
        self.rest = rest.trim_start().strip_prefix(')')?;
        Some(text.to_string())
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Signal::Known(name) => f.write_str(name),
            Signal::Log(text) => write!(f, "log('{text}')"),
            Signal::Metric(name) => write!(f, "metric('{name}')"),
        }
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, term) in self.terms.iter().enumerate() {
            let and = if i > 0 { " and " } else { "" };
            let mark = if term.comparison == Comparison::AtLeast { ">=" } else { ">" };
            write!(f, "{and}{} {mark} ", term.signal)?;
            match term.bound {
                Bound::Number(number) => write!(f, "{number}")?,
                Bound::Time(time) => write!(f, "{time}")?,
            }
            if let Some(within) = term.within {
                write!(f, " within {within}")?;
            }
        }
        Ok(())
    }
}

impl Serialize for Predicate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Predicate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Predicate, D::Error> {
        let text = String::deserialize(deserializer)?;
        Predicate::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::{Predicate, PredicateError};

    #[test]
    fn predicates_are_terms_joined_by_and() {
        for text in [
            "dropped >= 1",
            "timeouts >= 1 within 5s and elections > 0",
            "heartbeat-gap >= 2s",
            "log('leader lost') >= 1 within 2s",
            "metric('raft_term') >= 1",
        ] {
            let read = Predicate::parse(text).map(|predicate| predicate.to_string());
            assert_eq!(read.as_deref(), Ok(text));
        }
        let spaced = Predicate::parse("dropped>=1 AND log ( \"a b\" ) > 0 within 500 ms");
        assert_eq!(
            spaced.map(|p| p.to_string()).as_deref(),
            Ok("dropped >= 1 and log('a b') > 0 within 500ms")
        );
    }

    #[test]
    fn what_holds_without_a_fault_is_refused() {
        for text in ["dropped >= 0", "errors < 5", "timeouts == 0", "log('') >= 1", "lag >= 0s"] {
            let error = Predicate::parse(text).expect_err(text);
            assert!(matches!(error, PredicateError::Vacuous(_)), "{text}: {error}");
        }
        assert!(Predicate::parse("dropped > 0").is_ok());
    }

    #[test]
    fn mistakes_say_what_was_expected() {
        for (text, wanted) in [
            ("", "a signal"),
            ("droped >= 1", "did you mean `dropped`"),
            ("dropped", "`>=` or `>`"),
            ("dropped >= lots", "a number"),
            ("dropped >= 1 or errors >= 1", "`and` or the end"),
            ("timeouts >= 1 within 5", "a time"),
            ("timeouts >= 1s", "a count"),
            ("lag >= 1", "a time"),
            ("log >= 1", "(\"text\")"),
            ("returned 0", "no signal"),
            ("dropped >= NaN", "a number"),
        ] {
            let error = Predicate::parse(text).expect_err(text).to_string();
            assert!(error.contains(wanted), "{text}: {error}");
        }
        let long = vec!["dropped >= 1"; 17].join(" and ");
        assert_eq!(Predicate::parse(&long), Err(PredicateError::TooLong));
    }

    #[test]
    fn weaker_and_stronger_are_decided() {
        let implied = |weaker: &str, stronger: &str| {
            let parse = |text| Predicate::parse(text).expect(text);
            parse(weaker).is_implied_by(&parse(stronger))
        };
        assert!(implied("dropped >= 1", "dropped >= 10"));
        assert!(implied("dropped >= 1", "dropped > 1 and errors >= 1"));
        assert!(implied("errors >= 1", "errors >= 1 within 5s"));
        assert!(!implied("errors >= 1 within 5s", "errors >= 1"));
        assert!(!implied("dropped >= 10", "dropped >= 1"));
        assert!(!implied("dropped > 1", "dropped >= 1"));
    }
}

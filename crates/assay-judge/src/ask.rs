//! What a plan asks for, and what can be wrong with it.

use crate::seat::{Kind, Search, Seat, Settings};
use assay_check::{MODELS, ModelKind};
use assay_history::{Style, Values};
use assay_oracle::{ORACLES, OracleError, SETTINGS};
use assay_txn::Model;
use serde_json::Value;
use std::collections::BTreeMap;

/// The prefix of checkers of single objects.
const LINEARIZABILITY: &str = "linearizability";

/// The checkers a plan names, with what it says about them.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// Their names: `linearizability:register`, `list-append`, `no-lost-ack`. Just
    /// `linearizability` is that of the model.
    pub names: &'a [String],
    /// What is set for them: `business-key`, `slo.p99`, `consistency-model`, ...
    pub options: &'a BTreeMap<String, Value>,
    /// The model of the scenario.
    pub model: Option<&'a str>,
    /// What is set for the model: `initial`. Other settings are between the plan and its workload.
    pub model_options: &'a BTreeMap<String, Value>,
}

static NONE: BTreeMap<String, Value> = BTreeMap::new();

impl<'a> Ask<'a> {
    /// These checkers as they are.
    pub fn of(names: &'a [String]) -> Ask<'a> {
        Ask { names, options: &NONE, model: None, model_options: &NONE }
    }
}

/// Why a panel cannot be put together.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PanelError {
    /// Nobody was asked for.
    #[error("no checker is named: a panel needs at least one")]
    Empty,
    /// There is no such checker.
    #[error("there is no checker `{name}`{}; `assay explain checkers` lists them", meant(.near))]
    UnknownChecker {
        /// The name.
        name: String,
        /// What may have been meant.
        near: Option<String>,
    },
    /// None of the named checkers has such an option.
    #[error("none of these checkers has an option `{name}`{}", meant(.near))]
    UnknownOption {
        /// The name.
        name: String,
        /// What may have been meant.
        near: Option<String>,
    },
    /// An option cannot have this value.
    #[error("the option `{name}` cannot be {value}: {why}")]
    BadOption {
        /// The name.
        name: String,
        /// The value, as JSON.
        value: String,
        /// What it has to be.
        why: String,
    },
    /// A checker cannot work with these options: one is missing, or makes no sense.
    #[error("{checker}: {why}")]
    Unusable {
        /// The checker.
        checker: String,
        /// What it needs.
        why: String,
    },
    /// A checker did not refute what it must refute, or the other way round.
    #[error("{checker} fails its own test: {why}. This is a bug in Assay: please report it")]
    SelfTest {
        /// The checker.
        checker: String,
        /// What it answered.
        why: String,
    },
}

fn meant(near: &Option<String>) -> String {
    near.as_ref().map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default()
}

/// Every checker by name, once.
pub(crate) fn seats(ask: &Ask<'_>) -> Result<Vec<Seat>, PanelError> {
    let mut seats: Vec<Seat> = Vec::new();
    for name in ask.names {
        let seat = seat(name.trim(), ask.model)?;
        if seats.iter().all(|known| known.name != seat.name) {
            seats.push(seat);
        }
    }
    if seats.is_empty() { Err(PanelError::Empty) } else { Ok(seats) }
}

fn seat(name: &str, model: Option<&str>) -> Result<Seat, PanelError> {
    let object = match name.strip_prefix(LINEARIZABILITY) {
        Some("") => model.and_then(ModelKind::named),
        Some(rest) => rest.strip_prefix(':').and_then(ModelKind::named),
        None => None,
    };
    if let Some(kind) = object {
        let name = format!("{LINEARIZABILITY}:{}", kind.name());
        return Ok(Seat { name, kind: Kind::Objects(kind) });
    }
    if let Some(style) = Style::ALL.into_iter().find(|style| style.name() == name) {
        return Ok(Seat { name: name.to_string(), kind: Kind::Transactions(style) });
    }
    if let Some(oracle) = assay_oracle::named(name) {
        return Ok(Seat { name: oracle.info().name.to_string(), kind: Kind::Oracle(oracle) });
    }
    let near = nearest(name, checker_names().iter().map(String::as_str));
    Err(PanelError::UnknownChecker { name: name.to_string(), near })
}

fn checker_names() -> Vec<String> {
    let objects = MODELS.iter().map(|info| format!("{LINEARIZABILITY}:{}", info.kind.name()));
    let styles = Style::ALL.iter().map(|style| style.name().to_string());
    let oracles = ORACLES.iter().map(|oracle| oracle.info().name.to_string());
    objects.chain(styles).chain(oracles).collect()
}

/// Names of options that transactions have.
const OF_TRANSACTIONS: [&str; 7] = [
    "consistency-model",
    "linearizable-keys",
    "sequential-keys",
    "wfr-keys",
    "no-realtime",
    "recording-complete",
    "search",
];
/// The value of a register before the first write.
const INITIAL: &str = "initial";

/// The options as the seats need them. An option nobody here has is an error, not a shrug.
pub(crate) fn settings(ask: &Ask<'_>, seats: &[Seat]) -> Result<Settings, PanelError> {
    let mut settings = Settings::default();
    let has = |of: fn(&Kind) -> bool| seats.iter().any(|seat| of(&seat.kind));
    let objects = has(|kind| matches!(kind, Kind::Objects(_)));
    let transactions = has(|kind| matches!(kind, Kind::Transactions(_)));
    let oracles = has(|kind| matches!(kind, Kind::Oracle(_)));
    for (name, value) in flat(ask.options) {
        if name == INITIAL && objects {
            settings.initial = initial(&value)?;
        } else if transactions && OF_TRANSACTIONS.contains(&name.as_str()) {
            set_transactions(&mut settings, &name, &value)?;
        } else if oracles && SETTINGS.iter().any(|setting| setting.name == name) {
            let text = plain(&name, &value)?;
            let bad =
                |why| PanelError::BadOption { name: name.clone(), value: value.to_string(), why };
            settings.oracle.set(&name, &text).map_err(bad)?;
        } else {
            let own = OF_TRANSACTIONS.iter().copied().filter(|_| transactions);
            let theirs = SETTINGS.iter().map(|setting| setting.name).filter(|_| oracles);
            let known = own.chain(theirs).chain([INITIAL].into_iter().filter(|_| objects));
            let near = nearest(&name, known);
            return Err(PanelError::UnknownOption { name, near });
        }
    }
    if let Some(value) = ask.model_options.get(INITIAL) {
        settings.initial = initial(value)?;
    }
    Ok(settings)
}

/// `slo = { p99 = "5ms" }` and `"slo.p99" = "5ms"` are the same option.
fn flat(options: &BTreeMap<String, Value>) -> Vec<(String, Value)> {
    let mut flat = Vec::new();
    for (name, value) in options {
        match value {
            Value::Object(inner) if name != INITIAL => {
                flat.extend(inner.iter().map(|(field, v)| (format!("{name}.{field}"), v.clone())));
            }
            _ => flat.push((name.clone(), value.clone())),
        }
    }
    flat
}

/// A value as a command line would give it.
fn plain(name: &str, value: &Value) -> Result<String, PanelError> {
    let bad = |why: &str| PanelError::BadOption {
        name: name.to_string(),
        value: value.to_string(),
        why: why.to_string(),
    };
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(bool) => Ok(bool.to_string()),
        Value::Array(items) => {
            let text = |item: &Value| match item {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            };
            let words: Option<Vec<String>> = items.iter().map(text).collect();
            Ok(words.ok_or_else(|| bad("a list holds words or numbers"))?.join(","))
        }
        Value::Null | Value::Object(_) => Err(bad("expected a word, a number, or a list of them")),
    }
}

fn initial(value: &Value) -> Result<String, PanelError> {
    let text = value.to_string();
    let bad =
        |why: String| PanelError::BadOption { name: INITIAL.into(), value: text.clone(), why };
    Values::default().parse_json(&text).map_err(|why| bad(why.to_string()))?;
    Ok(text)
}

fn set_transactions(settings: &mut Settings, name: &str, value: &Value) -> Result<(), PanelError> {
    let bad = |why: &str| PanelError::BadOption {
        name: name.to_string(),
        value: value.to_string(),
        why: why.to_string(),
    };
    let flag = || value.as_bool().ok_or_else(|| bad("expected true or false"));
    let check = &mut settings.check;
    match name {
        "linearizable-keys" => check.assume.linearizable_keys = flag()?,
        "sequential-keys" => check.assume.sequential_keys = flag()?,
        "wfr-keys" => check.assume.writes_follow_reads = flag()?,
        "no-realtime" => check.no_realtime = flag()?,
        "recording-complete" => check.recording_complete = flag()?,
        "search" => {
            settings.search = match value.as_str() {
                Some("auto") => Search::Auto,
                Some("always") => Search::Always,
                Some("never") => Search::Never,
                _ => return Err(bad("expected \"auto\", \"always\" or \"never\"")),
            };
        }
        _ => {
            let text = value.as_str().ok_or_else(|| bad("expected the name of a model"))?;
            settings.claim = Model::named(text).ok_or_else(|| {
                let near = nearest(text, Model::all().map(Model::name));
                bad(&format!("there is no such consistency model{}", meant(&near)))
            })?;
        }
    }
    Ok(())
}

/// What an oracle cannot do with these options. Its own good history is the probe: whatever is
/// wrong with that is not the history's fault.
pub(crate) fn usable(seat: &Seat, settings: &Settings) -> Result<(), PanelError> {
    let Kind::Oracle(oracle) = seat.kind else { return Ok(()) };
    let probe = oracle.known_good().history;
    match oracle.check(&probe, &settings.oracle) {
        // The probe follows the conventions of its own options, not of these.
        Ok(_) | Err(OracleError::BadOperation { .. } | OracleError::KeyIsOpId { .. }) => Ok(()),
        Err(error) => {
            Err(PanelError::Unusable { checker: seat.name.clone(), why: error.to_string() })
        }
    }
}

/// The nearest of some names, if it is near enough to be a slip of the pen.
fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
    let limit = (name.chars().count() / 3).max(2);
    let near = names.map(|known| (distance(name, known), known)).min()?;
    (near.0 <= limit).then(|| near.1.to_string())
}

/// How many characters have to be changed, added or left out.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

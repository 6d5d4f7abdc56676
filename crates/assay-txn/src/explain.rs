//! An anomaly in words: who did what, and why that cannot be.

mod words;

use crate::anomaly::{Anomaly, Because, Evidence, Kind, VersionReason, VersionStep, WeakStep};
use crate::cycles::Level;
use crate::graph::Label;
use crate::search::View;
use assay_history::{Does, Mop, Style, TxnIndex, TxnKey, Txns, ValueId};

/// A transaction of a story.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    /// What it is called: `T1`, `T2`, ...
    pub name: String,
    /// The transaction.
    pub txn: TxnIndex,
    /// What it did: `append x 3, r y [1 2]`.
    pub text: String,
}

/// One step of a cycle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    /// Places in [`Story::txns`].
    pub from: usize,
    /// As above.
    pub to: usize,
    /// The dependency.
    pub label: Label,
    /// The key and values in a few words.
    pub short: String,
    /// The whole sentence.
    pub sentence: String,
}

/// An anomaly, told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Story {
    /// The transactions, in order of appearance.
    pub txns: Vec<Named>,
    /// The steps, if it is a cycle.
    pub steps: Vec<Told>,
    /// Sentences: what happened, and why it cannot be.
    pub sentences: Vec<String>,
}

/// Longer lists are cut in the middle.
const LIST_ITEMS_SHOWN_MAX: usize = 12;
/// Longer transactions are cut at the end.
const MOPS_SHOWN_MAX: usize = 12;

/// Tells an anomaly.
pub fn explain(txns: &Txns, anomaly: &Anomaly) -> Story {
    let teller = Teller { txns, order: anomaly.txns() };
    let steps = teller.steps(&anomaly.evidence);
    let sentences = match &anomaly.evidence {
        Evidence::Cycle { .. } => teller.cycle(&steps),
        evidence => vec![teller.sentence(anomaly.kind, evidence)],
    };
    let named = |(i, &t): (usize, &u32)| Named {
        name: format!("T{}", i + 1),
        txn: TxnIndex(t),
        text: teller.txn_text(t),
    };
    Story { txns: teller.order.iter().enumerate().map(named).collect(), steps, sentences }
}

struct Teller<'t> {
    txns: &'t Txns,
    order: Vec<u32>,
}

impl Teller<'_> {
    fn place(&self, t: u32) -> usize {
        self.order.iter().position(|&o| o == t).expect("everybody in a story has a name")
    }

    fn name(&self, t: u32) -> String {
        format!("T{}", self.place(t) + 1)
    }

    fn key(&self, key: TxnKey) -> String {
        plain(&self.txns.values.show(self.txns.key(key)).to_string())
    }

    fn value(&self, value: ValueId) -> String {
        if value.is_null() { "nothing".into() } else { self.txns.values.show(value).to_string() }
    }

    fn list(&self, list: &[ValueId]) -> String {
        let show = |items: &[ValueId]| {
            let items: Vec<String> =
                items.iter().map(|&v| self.txns.values.show(v).to_string()).collect();
            items.join(" ")
        };
        if list.len() <= LIST_ITEMS_SHOWN_MAX {
            return format!("[{}]", show(list));
        }
        let half = LIST_ITEMS_SHOWN_MAX / 2;
        format!("[{} … {}]", show(&list[..half]), show(&list[list.len() - half..]))
    }

    fn mop_text(&self, mop: Mop) -> String {
        let key = self.key(mop.key());
        match mop.does() {
            Does::Append(value) => {
                let word = match self.txns.style {
                    Style::SetAdd => "add",
                    Style::CounterInc => "inc",
                    Style::ListAppend | Style::RwRegister => "append",
                };
                format!("{word} {key} {}", self.value(value))
            }
            Does::Write(value) => format!("w {key} {}", self.value(value)),
            Does::ReadList(list) => {
                format!("r {key} {}", self.list(self.txns.list(mop.key(), list)))
            }
            Does::ReadValue(value) => format!("r {key} {}", self.txns.values.show(value)),
            Does::ReadUnknown => format!("r {key} ?"),
        }
    }

    fn txn_text(&self, t: u32) -> String {
        let mops = self.txns.mops(TxnIndex(t));
        let shown: Vec<String> =
            mops.iter().take(MOPS_SHOWN_MAX).map(|&mop| self.mop_text(mop)).collect();
        let rest = mops.len().saturating_sub(MOPS_SHOWN_MAX);
        let more = if rest > 0 { format!(", and {rest} more") } else { String::new() };
        format!("{}{more}", shown.join(", "))
    }

    fn steps(&self, evidence: &Evidence) -> Vec<Told> {
        let Evidence::Cycle { cycle, because } = evidence else { return Vec::new() };
        let steps = &cycle.steps;
        let told = |(i, &(a, label)): (usize, &(u32, Label))| {
            let b = steps[(i + 1) % steps.len()].0;
            let (short, sentence) = self.step(a, b, label, &because[i]);
            Told { from: self.place(a), to: self.place(b), label, short, sentence }
        };
        steps.iter().enumerate().map(told).collect()
    }

    /// A step in a few words, and as a sentence.
    fn step(&self, a: u32, b: u32, label: Label, because: &Because) -> (String, String) {
        let (a_name, b_name) = (self.name(a), self.name(b));
        let Because::Key { key, first, second, order } = because else {
            let process = self.txns.process(self.txns.txn(TxnIndex(a)).process);
            let process = self.txns.values.show(process);
            return if label == Label::Process {
                let short = format!("process {process}");
                (short, format!("process {process} issued {a_name}, and after it {b_name}."))
            } else {
                let (_, ended) = self.txns.lines(TxnIndex(a));
                let (began, _) = self.txns.lines(TxnIndex(b));
                let ended = ended.map_or(String::new(), |line| format!(" (line {line})"));
                let when =
                    format!("{a_name} had ended{ended} before {b_name} began (line {began})");
                ("real time".to_string(), format!("{when}."))
            };
        };
        match self.txns.style {
            Style::SetAdd => return self.set_step((a, b), label, *key, *second),
            Style::CounterInc => {
                return self.counter_step((a, b), label, *key, [*first, *second], order);
            }
            Style::ListAppend | Style::RwRegister => {}
        }
        let k = self.key(*key);
        let (v1, v2) = (self.value(*first), self.value(*second));
        let lists = self.txns.style == Style::ListAppend;
        let so = format!("so {a_name} came before {b_name}");
        match label {
            Label::Wr => {
                let wrote = if lists { "appended to" } else { "wrote to" };
                (
                    format!("{k}: {v1}"),
                    format!("{b_name} read {v1}, which {a_name} {wrote} {k}, {so}."),
                )
            }
            Label::Ww if lists => (
                format!("{k}: {v1} then {v2}"),
                format!(
                    "{a_name} appended {v1} to {k}, and {b_name} appended {v2} behind it, {so}."
                ),
            ),
            Label::Rw if lists => {
                let saw = if first.is_null() {
                    format!("read {k} as an empty list")
                } else {
                    format!("read {k} up to {v1}")
                };
                (
                    format!("{k}: without {v2}"),
                    format!("{a_name} {saw}, without {v2}, which {b_name} appended, {so}."),
                )
            }
            _ => {
                let did = if label == Label::Ww { "wrote" } else { "read" };
                let why = self.why_later(order, *second);
                (
                    format!("{k}: {v1} then {v2}"),
                    format!(
                        "{a_name} {did} {v1} in {k}, and {b_name} wrote the later version {v2} \
                         ({why}), {so}."
                    ),
                )
            }
        }
    }

    fn why_later(&self, order: &[VersionStep], last: ValueId) -> String {
        let next = |i: usize| order.get(i + 1).map_or(last, |step| step.version);
        let steps = order.iter().enumerate();
        let told = steps.map(|(i, step)| self.version_step(step, next(i)));
        told.collect::<Vec<String>>().join("; ")
    }

    fn version_step(&self, step: &VersionStep, next: ValueId) -> String {
        let (v1, v2) = (self.value(step.version), self.value(next));
        let line = |t: u32| match t {
            u32::MAX => "nobody".to_string(),
            t => format!("the transaction of line {}", self.txns.lines(TxnIndex(t)).0),
        };
        let [a, b] = step.txns;
        match step.reason {
            VersionReason::Initial => format!("{v2} came after the initial nothing"),
            VersionReason::WritesFollowReads => {
                format!("{} read {v1} and then wrote {v2}", line(a))
            }
            VersionReason::Process => {
                format!("the same process met {v1} ({}), then {v2} ({})", line(a), line(b))
            }
            VersionReason::Realtime => {
                format!("{} was done with {v1} before {} began with {v2}", line(a), line(b))
            }
            VersionReason::Transaction => format!("{} wrote {v1}, then {v2}", line(a)),
            VersionReason::List => format!("{} read {v1} before {v2}", line(a)),
        }
    }

    fn weak_step(&self, a: u32, b: u32, why: WeakStep) -> String {
        let (a_name, b_name) = (self.name(a), self.name(b));
        match why {
            WeakStep::Session => format!("{a_name} came before {b_name} in the same process"),
            WeakStep::Read { key, value } => {
                let (key, value) = (self.key(key), self.value(value));
                format!("{b_name} read {value} of {a_name} in {key}")
            }
            WeakStep::Before { reader, key, value } if self.txns.style == Style::SetAdd => {
                let (reader, key) = (self.name(reader), self.key(key));
                let value = self.txns.values.show(value);
                format!("{reader} could see {a_name}, and read {key} without its {value}")
            }
            WeakStep::Before { reader, key, value } => {
                let (reader, key) = (self.name(reader), self.key(key));
                let value = self.value(value);
                let of = if a == b { String::new() } else { format!(" of {b_name}") };
                format!(
                    "{reader} could see {a_name}, which wrote {key}, and read {value}{of} there"
                )
            }
            WeakStep::Version { key, first, second } => {
                let (first, second) = (self.value(first), self.value(second));
                let key = self.key(key);
                format!("{a_name} appended {first} to {key} before {b_name} appended {second}")
            }
        }
    }

    fn cycle(&self, steps: &[Told]) -> Vec<String> {
        let mut sentences: Vec<String> = steps.iter().map(|step| step.sentence.clone()).collect();
        let chain: Vec<String> =
            steps.iter().map(|step| format!("T{}", step.from + 1)).chain(["T1".into()]).collect();
        sentences.push(format!("So {}: nobody can have come before itself.", chain.join(" < ")));
        sentences
    }

    fn read(
        &self,
        kind: Kind,
        reader: u32,
        key: TxnKey,
        value: ValueId,
        writer: Option<u32>,
    ) -> String {
        if let Some(sentence) = self.odd_read(kind, reader, key, value, writer) {
            return sentence;
        }
        let (reader, key, value) = (self.name(reader), self.key(key), self.value(value));
        let saw = format!("{reader} read {value} in {key}");
        match (kind, writer.map(|writer| self.name(writer))) {
            (Kind::DuplicateElements, _) => format!("{saw} twice, but it was appended once."),
            (Kind::G1a, Some(writer)) => format!("{saw}, which {writer} wrote before it aborted."),
            (_, Some(writer)) => {
                format!("{saw}, which {writer} wrote and then replaced before it committed.")
            }
            (_, None) => format!("{saw}, which nobody wrote."),
        }
    }

    fn cyclic_versions(&self, key: TxnKey, versions: &[VersionStep]) -> String {
        let next = |i: usize| versions[(i + 1) % versions.len()].version;
        let steps = versions.iter().enumerate();
        let told: Vec<String> = steps.map(|(i, step)| self.version_step(step, next(i))).collect();
        let declared = |step: &VersionStep| match step.reason {
            VersionReason::Realtime => Some("linearizable keys"),
            VersionReason::Process => Some("sequential keys"),
            VersionReason::WritesFollowReads => Some("writes follow reads"),
            _ => None,
        };
        let mut broken: Vec<&str> = versions.iter().filter_map(declared).collect();
        broken.dedup();
        let so = match broken.is_empty() {
            true => String::new(),
            false => format!(" What was declared ({}) does not hold.", broken.join(", ")),
        };
        let key = self.key(key);
        format!("the versions of {key} have no order: {}.{so}", told.join("; "))
    }

    fn no_order(&self, kind: Kind, txns: &[u32]) -> String {
        let Kind::NoOrder(view, level) = kind else { return String::new() };
        let order = match view {
            View::Serial => "no order of these transactions explains",
            View::Snapshot => {
                "no order of snapshots and commits, with no two writers of a key at the same time, \
                 explains"
            }
            View::Prefix => "no order of snapshots and commits explains",
        };
        let keeping = match level {
            Level::Plain => "",
            Level::Process => ", if the transactions of each process stay in their order",
            Level::Realtime => ", if who ended before another began comes before it",
        };
        let names: Vec<String> = txns.iter().map(|&t| self.name(t)).collect();
        let tried = "every order of all these was tried";
        format!("{order} what {} read{keeping}; {tried}.", names.join(", "))
    }

    fn sentence(&self, kind: Kind, evidence: &Evidence) -> String {
        match evidence {
            Evidence::Read { reader, key, value, writer } => {
                self.read(kind, *reader, *key, *value, *writer)
            }
            Evidence::Internal { txn, mop } => {
                let mops = self.txns.mops(TxnIndex(*txn));
                format!(
                    "{} contradicts itself: after what it did before, it cannot have seen \"{}\".",
                    self.name(*txn),
                    self.mop_text(mops[*mop as usize])
                )
            }
            Evidence::Incompatible { key, readers, at } => format!(
                "{} and {} read {} and disagree from element {} on: one list is not the beginning \
                 of the other.",
                self.name(readers[0]),
                self.name(readers[1]),
                self.key(*key),
                at + 1
            ),
            Evidence::DirtyUpdate { key, reader, aborted, value, committed } => format!(
                "{} saw {} in {}, which {} appended before it aborted, and behind it what {} \
                 committed.",
                self.name(*reader),
                self.value(*value),
                self.key(*key),
                self.name(*aborted),
                self.name(*committed)
            ),
            Evidence::LostUpdate { key, txns, .. } if self.txns.style == Style::CounterInc => {
                self.lost_increments(*key, txns)
            }
            Evidence::LostUpdate { key, version, txns } => {
                let names: Vec<String> = txns.iter().map(|&t| self.name(t)).collect();
                format!(
                    "{} all read {} as the latest version of {} and then wrote it: all but one of \
                     these updates are lost.",
                    names.join(", "),
                    self.value(*version),
                    self.key(*key)
                )
            }
            Evidence::CyclicVersions { key, versions } => self.cyclic_versions(*key, versions),
            Evidence::Weak { steps } => {
                let next = |i: usize| steps[(i + 1) % steps.len()].0;
                let told: Vec<String> = steps
                    .iter()
                    .enumerate()
                    .map(|(i, &(a, why))| self.weak_step(a, next(i), why))
                    .collect();
                format!("{}: that leaves no order of commits.", told.join("; "))
            }
            Evidence::Cycle { .. } => String::new(),
            Evidence::NoOrder { txns, .. } => self.no_order(kind, txns),
        }
    }
}

/// A string without its quotes, where that cannot be misread.
fn plain(text: &str) -> String {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let simple = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.');
    match inner {
        Some(inner) if !inner.is_empty() && inner.chars().all(simple) => {
            inner.trim_start_matches(':').to_string()
        }
        _ => text.to_string(),
    }
}

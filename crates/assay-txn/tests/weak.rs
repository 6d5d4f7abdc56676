//! Weak models against their axioms: all orders of commits are tried.

mod support;

use assay_history::{Does, Outcome, TxnIndex, TxnKey, Txns, ValueId};
use assay_txn::{Assume, CheckOptions, Kind, Model, check, verify};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use support::simdb::{Isolation, Settings, Workload};
use support::text::Notation;
use support::{read, records, text_of};

/// A read of what another transaction wrote; `None` before the first write.
struct From {
    key: TxnKey,
    writer: Option<u32>,
}

struct View {
    reads: Vec<Vec<From>>,
    keys: Vec<Vec<TxnKey>>,
    /// By transaction: what the same process issued before it.
    session: Vec<Vec<u32>>,
    possible: Vec<u32>,
}

fn view(txns: &Txns) -> View {
    let all = || 0..txns.len() as u32;
    let outcome = |t: u32| txns.txn(TxnIndex(t)).outcome;
    let wrote = |t: u32, key: TxnKey, value: ValueId| {
        let mut mops = txns.mops(TxnIndex(t)).iter();
        outcome(t) != Outcome::Fail && mops.any(|m| m.key() == key && m.written() == Some(value))
    };
    let reads = |t: u32| -> Vec<From> {
        let mops = txns.mops(TxnIndex(t));
        let external = |i: usize| {
            let key = mops[i].key();
            let Does::ReadValue(value) = mops[i].does() else { return None };
            let own = mops[..i].iter().any(|m| m.key() == key && m.written().is_some());
            let writer = all().find(|&w| wrote(w, key, value));
            let known = value.is_null() || writer.is_some_and(|w| w != t);
            (!own && known && outcome(t) == Outcome::Ok).then_some(From { key, writer })
        };
        (0..mops.len()).filter_map(external).collect()
    };
    let keys = |t: u32| {
        let mops = txns.mops(TxnIndex(t)).iter().filter(|m| m.written().is_some());
        mops.map(|m| m.key()).collect()
    };
    let session = |t: u32| {
        let this = txns.txn(TxnIndex(t));
        let before = |&o: &u32| {
            let other = txns.txn(TxnIndex(o));
            other.process == this.process && other.start < this.start
        };
        all()
            .filter(|&o| outcome(o) == Outcome::Ok && outcome(t) == Outcome::Ok && before(&o))
            .collect()
    };
    View {
        reads: all().map(reads).collect(),
        keys: all().map(keys).collect(),
        session: all().map(session).collect(),
        possible: all().filter(|&t| outcome(t) != Outcome::Fail).collect(),
    }
}

impl View {
    fn writers(&self, t: u32) -> Vec<u32> {
        self.reads[t as usize].iter().filter_map(|from| from.writer).collect()
    }

    /// Everything a transaction depends on.
    fn past(&self, t: u32) -> Vec<u32> {
        let (mut past, mut next) = (Vec::new(), vec![t]);
        while let Some(t) = next.pop() {
            for o in self.writers(t).into_iter().chain(self.session[t as usize].iter().copied()) {
                if !past.contains(&o) {
                    past.push(o);
                    next.push(o);
                }
            }
        }
        past
    }

    /// Whether an order of commits fits the model.
    fn fits(&self, model: Model, order: &[u32]) -> bool {
        let place = |t: u32| order.iter().position(|&o| o == t).expect("everybody has a place");
        order.iter().all(|&t| {
            let reads = &self.reads[t as usize];
            let sessions_fit = model != Model::Causal
                || self.session[t as usize].iter().all(|&o| place(o) < place(t));
            sessions_fit
                && self.writers(t).iter().all(|&w| place(w) < place(t))
                && reads.iter().enumerate().all(|(i, from)| {
                    let visible = match model {
                        Model::MonotonicAtomicView => {
                            reads[..i].iter().filter_map(|earlier| earlier.writer).collect()
                        }
                        Model::ReadAtomic => self.writers(t),
                        _ => self.past(t),
                    };
                    visible.iter().all(|&w| {
                        let older =
                            from.writer.is_some_and(|seen| w == seen || place(w) < place(seen));
                        older || !self.keys[w as usize].contains(&from.key)
                    })
                })
        })
    }

    fn some_order_fits(&self, model: Model, placed: &mut Vec<u32>) -> bool {
        if placed.len() == self.possible.len() {
            return self.fits(model, placed);
        }
        self.possible.iter().any(|&t| {
            if placed.contains(&t) {
                return false;
            }
            placed.push(t);
            let fits = self.some_order_fits(model, placed);
            placed.pop();
            fits
        })
    }
}

fn history(isolation: Isolation, seed: u64) -> (Txns, Vec<u8>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x3EA1);
    let settings = Settings {
        isolation,
        workload: Workload::RwRegister,
        clients: rng.random_range(2..=4),
        txns: rng.random_range(2..=5),
        mops_max: rng.random_range(1..=4),
        keys: rng.random_range(1..=3),
        writes_per_key: 50,
        abort_percent: 5,
        unknown_percent: 5,
        seed,
    };
    let text = text_of(&records(settings), Notation::Edn, Workload::RwRegister);
    (read(&text, Workload::RwRegister), text)
}

#[test]
fn weak_models_are_what_their_axioms_say() {
    const CASES: u64 = 6_000;
    for isolation in [Isolation::ReadUncommitted, Isolation::ReadCommitted, Isolation::Snapshot] {
        let objection = (0..CASES).into_par_iter().find_map_first(|seed| {
            let (txns, text) = history(isolation, seed);
            let report = check(&txns, &CheckOptions::default()).expect("small histories fit");
            let view = view(&txns);
            let text = String::from_utf8_lossy(&text);
            for anomaly in &report.anomalies {
                if let Err(why) = verify(&txns, Assume::default(), anomaly) {
                    return Some(format!("seed {seed}: the verifier: {why}: {anomaly:?}\n{text}"));
                }
            }
            let cyclic = report.counts.iter().any(|(kind, _)| kind.name() == "G1c");
            let mut broken = cyclic;
            for (model, kind) in [
                (Model::MonotonicAtomicView, Kind::NonmonotonicView),
                (Model::ReadAtomic, Kind::FracturedRead),
                (Model::Causal, Kind::CausalRead),
            ] {
                broken |= report.has(kind);
                let fits = view.some_order_fits(model, &mut Vec::new());
                if fits == broken {
                    let why = format!("{}: some order fits: {fits}", model.name());
                    return Some(format!("{isolation:?}, seed {seed}: {why}: {report:?}\n{text}"));
                }
            }
            None
        });
        if let Some(objection) = objection {
            panic!("{objection}");
        }
    }
}

//! The search for an order agrees with trying all orders, both ways.

mod support;

use assay_history::{Does, Outcome, TxnIndex, TxnKey, Txns, ValueId};
use assay_txn::{
    Anomaly, CheckOptions, Evidence, Level, Limits, Model, SearchResult, View, check, prove,
    verify, verify_order, view_of,
};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use support::simdb::{Isolation, Workload};
use support::{read, serial, small_registers};

const SEARCHED: [Model; 7] = [
    Model::Serializable,
    Model::StrongSessionSerializable,
    Model::StrictSerializable,
    Model::SnapshotIsolation,
    Model::StrongSessionSnapshotIsolation,
    Model::StrongSnapshotIsolation,
    Model::Prefix,
];

static NEVER_STOP: AtomicBool = AtomicBool::new(false);
const NO_LIMITS: Limits<'static> =
    Limits { steps_max: u64::MAX, bytes_max: usize::MAX, stop: &NEVER_STOP };

/// Tries all orders of snapshots and commits.
fn snapshots_exist(txns: &Txns, view: View, level: Level) -> bool {
    let possible: Vec<u32> = (0..txns.len() as u32)
        .filter(|&t| txns.txn(TxnIndex(t)).outcome != Outcome::Fail)
        .collect();
    place(txns, view, level, &possible, &mut vec![0; possible.len()], &BTreeMap::new())
}

type State = BTreeMap<TxnKey, ValueId>;

fn place(
    txns: &Txns,
    view: View,
    level: Level,
    possible: &[u32],
    phases: &mut Vec<u8>,
    state: &State,
) -> bool {
    let required = |t: u32| txns.txn(TxnIndex(t)).outcome == Outcome::Ok;
    if possible.iter().zip(&*phases).all(|(&t, &phase)| phase == 2 || phase == 0 && !required(t)) {
        return true;
    }
    for i in 0..possible.len() {
        let t = possible[i];
        let mut after = state.clone();
        let writes = writes(txns, t);
        match phases[i] {
            0 => {
                let blocked = (0..possible.len()).any(|j| {
                    let clash = view == View::Snapshot
                        && phases[j] == 1
                        && self::writes(txns, possible[j]).keys().any(|k| writes.contains_key(k));
                    let waits = phases[j] != 2 && serial::before(txns, level, possible[j], t);
                    j != i && (clash || waits)
                });
                if blocked || !agrees(txns, t, state) {
                    continue;
                }
            }
            1 => after.extend(writes),
            _ => continue,
        }
        phases[i] += 1;
        let found = place(txns, view, level, possible, phases, &after);
        phases[i] -= 1;
        if found {
            return true;
        }
    }
    false
}

fn writes(txns: &Txns, t: u32) -> State {
    let mops = txns.mops(TxnIndex(t)).iter();
    mops.filter_map(|mop| mop.written().map(|value| (mop.key(), value))).collect()
}

fn agrees(txns: &Txns, t: u32, state: &State) -> bool {
    let mut state = state.clone();
    txns.mops(TxnIndex(t)).iter().all(|mop| match mop.does() {
        Does::Write(value) => {
            state.insert(mop.key(), value);
            true
        }
        Does::ReadValue(seen) => state.get(&mop.key()).copied().unwrap_or(ValueId::NULL) == seen,
        _ => true,
    })
}

fn exists(txns: &Txns, view: View, level: Level) -> bool {
    match view {
        View::Serial => serial::explained(txns, level),
        _ => snapshots_exist(txns, view, level),
    }
}

/// What the search got wrong about a history, if anything.
fn objection(txns: &Txns, model: Model, answers: &[AtomicUsize; 2]) -> Option<String> {
    let options = CheckOptions { recording_complete: true, ..CheckOptions::default() };
    let mut report = check(txns, &options).expect("small histories fit");
    if report.ruled_out.has(model) {
        return None;
    }
    if let Err(why) = prove(txns, false, &mut report, model, NO_LIMITS) {
        return Some(format!("the order that was found does not hold: {why}"));
    }
    let (view, level) = view_of(model).expect("it can be searched");
    let exists = exists(txns, view, level);
    let searched = report.searched.as_ref().expect("it was searched");
    let none = matches!(searched.result, SearchResult::None(..));
    answers[usize::from(none)].fetch_add(1, Ordering::Relaxed);
    match &searched.result {
        SearchResult::Order(..) if !exists => Some("found an order, there is none".into()),
        SearchResult::None(..) if exists => Some("found no order, there is one".into()),
        SearchResult::GaveUp => Some("gave up without limits".into()),
        SearchResult::Order(..) => None,
        SearchResult::None(_, core) => {
            let anomaly = report.anomalies.last().expect("what has no order is an anomaly");
            if let Err(why) = verify(txns, options.assume, anomaly) {
                return Some(format!("the verifier says: {why}: {core:?}"));
            }
            // Nobody can be left out.
            let smaller = core.iter().find_map(|left_out| {
                let txns_left = core.iter().copied().filter(|t| t != left_out).collect();
                let evidence = Evidence::NoOrder { txns: txns_left, writers: Vec::new() };
                let fewer = Anomaly { kind: anomaly.kind, evidence };
                verify(txns, options.assume, &fewer).ok().map(|()| left_out)
            });
            smaller.map(|left_out| format!("{left_out} can be left out of {core:?}"))
        }
    }
}

#[test]
fn a_search_agrees_with_trying_all_orders() {
    let cases = std::env::var("ASSAY_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1_500);
    let answers = Answers::default();
    for isolation in Isolation::ALL {
        let objection = (0..cases).into_par_iter().find_map_first(|seed: u64| {
            let (txns, text) = small_registers(isolation, seed);
            SEARCHED.into_iter().zip(&answers).find_map(|(model, answers)| {
                let why = objection(&txns, model, answers)?;
                let text = String::from_utf8_lossy(&text);
                Some(format!("{isolation:?}, seed {seed}, {}: {why}\n{text}", model.name()))
            })
        });
        if let Some(objection) = objection {
            panic!("{objection}");
        }
    }
    for (model, [order, none]) in SEARCHED.iter().zip(&answers) {
        let (order, none) = (order.load(Ordering::Relaxed), none.load(Ordering::Relaxed));
        println!("{}: {order} with an order, {none} without", model.name());
        // Without an order and without a cycle there are few that are not even prefixes.
        let rare = *model == Model::Prefix;
        assert!(order > 0 && (none > 0 || rare || cases < 1_000), "{}", model.name());
    }
}

/// Which answers came up by searching, for each model.
type Answers = [[AtomicUsize; 2]; SEARCHED.len()];

#[test]
fn limits_end_a_search_undecided_and_never_upheld() {
    let limits = Limits { steps_max: 3, ..NO_LIMITS };
    let mut gave_up = 0;
    for seed in 0..200 {
        let (txns, _) = small_registers(Isolation::StrictSerializable, seed);
        let mut report = check(&txns, &CheckOptions::default()).expect("it fits");
        prove(&txns, false, &mut report, Model::StrictSerializable, limits).expect("orders hold");
        if report.searched.is_some_and(|searched| searched.result == SearchResult::GaveUp) {
            assert_eq!(report.undecided, [Model::StrictSerializable]);
            gave_up += 1;
        }
    }
    assert!(gave_up > 50, "{gave_up}");
}

#[test]
fn a_wrong_order_is_not_believed() {
    let (mut wrong, mut right) = (0, 0);
    for seed in 0..300 {
        let (txns, _) = small_registers(Isolation::StrictSerializable, seed);
        let mut report = check(&txns, &CheckOptions::default()).expect("it fits");
        prove(&txns, false, &mut report, Model::StrictSerializable, NO_LIMITS).expect("it holds");
        let Some(SearchResult::Order(level, order)) = report.searched.map(|found| found.result)
        else {
            continue;
        };
        let mut reversed = order.clone();
        reversed.reverse();
        right += usize::from(verify_order(&txns, View::Serial, level, &order).is_ok());
        wrong += usize::from(verify_order(&txns, View::Serial, level, &reversed).is_ok());
        let short = &order[..order.len().saturating_sub(1)];
        assert!(order.is_empty() || verify_order(&txns, View::Serial, level, short).is_err());
    }
    assert!(right > 200 && wrong < right / 2, "{right} right, {wrong} wrong");
}

/// A long fork: one reader saw the new x beside the old y, another the old x beside the new y. No
/// order of versions is declared, so no cycle shows it, and causality allows it.
#[test]
fn a_history_without_a_prefix_order_is_refuted() {
    let text = "\
{:process 0, :type :invoke, :value [[:w x 9] [:w y 9]]}
{:process 1, :type :invoke, :value [[:w x 1]]}
{:process 2, :type :invoke, :value [[:w y 1]]}
{:process 3, :type :invoke, :value [[:r x nil] [:r y nil]]}
{:process 4, :type :invoke, :value [[:r x nil] [:r y nil]]}
{:process 0, :type :ok, :value [[:w x 9] [:w y 9]]}
{:process 1, :type :ok, :value [[:w x 1]]}
{:process 2, :type :ok, :value [[:w y 1]]}
{:process 3, :type :ok, :value [[:r x 1] [:r y 9]]}
{:process 4, :type :ok, :value [[:r x 9] [:r y 1]]}
";
    let txns = read(text.as_bytes(), Workload::RwRegister);
    let mut report = check(&txns, &CheckOptions::default()).expect("it fits");
    assert!(report.anomalies.is_empty(), "cycles show nothing: {:?}", report.anomalies);
    prove(&txns, false, &mut report, Model::Prefix, NO_LIMITS).expect("orders hold");
    assert_eq!(exists(&txns, View::Prefix, Level::Plain), !report.ruled_out.has(Model::Prefix));
    assert!(report.ruled_out.has(Model::Prefix), "{:?}", report.searched);
    verify(&txns, assay_txn::Assume::default(), &report.anomalies[0]).expect("it holds");
}

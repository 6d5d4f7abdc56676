//! For every oracle: a history that passes, one that fails, the boundary between them, and one that
//! says nothing.

mod clients;
mod states;
mod streams;

use crate::support::{check, kinds};
use assay_oracle::{Answer, ORACLES, Options};

/// What a row is an example of.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Of {
    Pass,
    /// Refuted, with this kind of anomaly.
    Fail(&'static str),
    /// Just on this side of the line.
    Edge(Answer),
    /// Nothing to judge, and so no pass.
    Vacuous,
}
use Of::{Edge, Fail, Pass, Vacuous};

pub struct Row(pub &'static str, pub Of, pub fn(&mut Options), pub &'static str);

const UPHELD: Of = Edge(Answer::Upheld);
const OPEN: Of = Edge(Answer::Undecided);

fn no(_: &mut Options) {}

fn by_id(options: &mut Options) {
    options.business_key = Some("id".into());
}

fn by_delivery(options: &mut Options) {
    by_id(options);
    options.delivery_key = Some("handed".into());
}

/// Every row.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    let all = [
        clients::SESSIONS,
        clients::EFFECTS,
        streams::STREAMS,
        streams::MONEY_AND_LOCKS,
        states::STATES,
        states::MEASURED,
    ];
    all.into_iter().flatten()
}

#[test]
fn every_row_gets_its_answer() {
    for &Row(name, of, set, text) in rows() {
        let report = check(name, set, text);
        let expected = match of {
            Pass => Answer::Upheld,
            Fail(_) => Answer::Refuted,
            Edge(answer) => answer,
            Vacuous => Answer::NothingChecked,
        };
        assert_eq!(report.answer, expected, "{name}, {of:?}:\n{text}\n{report:#?}");
        if let Fail(kind) = of {
            assert!(kinds(&report).contains(&kind), "{name} misses {kind}:\n{text}\n{report:#?}");
        }
    }
}

#[test]
fn every_oracle_has_a_row_of_each_sort_and_every_kind_of_anomaly_is_shown() {
    let rows: Vec<&Row> = rows().collect();
    for oracle in ORACLES {
        let info = oracle.info();
        let mine: Vec<Of> = rows.iter().filter(|row| row.0 == info.name).map(|row| row.1).collect();
        for (sort, there) in [
            ("passing", mine.contains(&Pass)),
            ("failing", mine.iter().any(|of| matches!(of, Fail(_)))),
            ("boundary", mine.iter().any(|of| matches!(of, Edge(_)))),
            ("vacuous", mine.contains(&Vacuous)),
        ] {
            assert!(there, "{} has no {sort} row", info.name);
        }
    }
}

//! Running an oracle so that every certificate it gives is verified on the way.

use assay_history::History;
use assay_oracle::{Answer, CheckReport, Options, OracleError, named, sketch, verify};

/// Checks a history, and everything that must hold of any report.
pub fn check_history(name: &str, history: &History, options: &Options) -> CheckReport {
    try_history(name, history, options).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The same, where the oracle may refuse the history.
pub fn try_history(
    name: &str,
    history: &History,
    options: &Options,
) -> Result<CheckReport, OracleError> {
    let oracle = named(name).unwrap_or_else(|| panic!("there is no oracle {name}"));
    let report = oracle.check(history, options)?;
    for anomaly in &report.anomalies {
        let kind = &*anomaly.kind;
        assert!(oracle.info().kinds.contains(&kind), "{name} does not announce {kind}");
        assert!(!anomaly.explanation.is_empty());
        // A group that was expected and never came has no operations to show.
        assert!(!anomaly.ops.is_empty() || kind == "group-starved");
        verify(history, options.reference.as_deref(), &anomaly.certificate)
            .unwrap_or_else(|error| panic!("{name}: {error}\n{anomaly:#?}"));
    }
    assert_eq!(report.answer == Answer::Refuted, report.anomaly_count() > 0, "{report:#?}");
    if report.answer == Answer::Upheld {
        assert!(report.ops_checked > 0 && report.undecided_because.is_empty(), "{report:#?}");
    }
    Ok(report)
}

/// Checks a sketch.
pub fn check(name: &str, set: fn(&mut Options), text: &str) -> CheckReport {
    let mut options = Options::default();
    set(&mut options);
    check_history(name, &sketch(text), &options)
}

/// The kinds of anomaly a report shows.
pub fn kinds(report: &CheckReport) -> Vec<&str> {
    let mut kinds: Vec<&str> = report.anomalies.iter().map(|anomaly| &*anomaly.kind).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

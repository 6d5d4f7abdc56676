//! What can be wrong with a panel is wrong before it judges anything.

use crate::support::{panel, try_panel};
use assay_judge::{Ask, Panel, PanelError};
use assay_verdict::audit::OracleKind;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[test]
fn mistakes_in_a_plan_are_told_before_anything_runs() {
    #[rustfmt::skip]
    let cases: &[(&[&str], Value, &str)] = &[
        (&[], json!({}), "at least one"),
        (&["no-lost-akc"], json!({}), "did you mean `no-lost-ack`"),
        (&["linearizability:registr"], json!({}), "did you mean `linearizability:register`"),
        (&["linearizability:"], json!({}), "there is no checker"),
        (&["list-append"], json!({"consistency-models": "serializable"}),
            "did you mean `consistency-model`"),
        (&["list-append"], json!({"consistency-model": "serialisable"}),
            "did you mean `serializable`"),
        (&["list-append"], json!({"consistency-model": 3}), "name of a model"),
        (&["list-append"], json!({"no-realtime": "yes"}), "true or false"),
        (&["rw-register"], json!({"search": "sometimes"}), "auto"),
        (&["order"], json!({"reorder-window": "many"}), "reorder-window=2"),
        (&["order"], json!({"reorder-window": null}), "a word, a number"),
        (&["order"], json!({"consistency-model": "serializable"}), "none of these checkers"),
        (&["linearizability:register"], json!({"reorder-window": 2}), "none of these checkers"),
        (&["slo"], json!({"slo.p99": "5"}), "a time with its unit"),
        (&["invariant"], json!({"invariant": "sum("}), "column"),
        (&["invariant"], json!({}), "needs the option"),
        (&["differential"], json!({}), "reference"),
    ];
    for (names, options, expected) in cases {
        let error = try_panel(names, options.clone()).expect_err("it is a mistake").to_string();
        assert!(error.contains(expected), "{names:?} {options}: {error}");
    }
}

#[test]
fn every_checker_by_name_can_be_put_into_a_panel_and_tests_itself() {
    let options = json!({
        "slo": {"p99": "5ms"}, "lease-ttl": "1s", "business-key": "",
        "invariant": "sum(accounts.*.balance) == 100",
        "fairness.error-rate": 0.5, "total": 10, "groups-expected": ["a", 2],
    });
    let linearizable =
        assay_check::MODELS.iter().map(|m| format!("linearizability:{}", m.kind.name()));
    let styles = assay_history::Style::ALL.iter().map(|style| style.name().to_string());
    let oracles = assay_oracle::ORACLES.iter().map(|o| o.info().name.to_string());
    let names: Vec<String> = linearizable.chain(styles).chain(oracles).collect();
    for name in names.iter().filter(|name| *name != "differential") {
        let names = [name.as_str(), "slo", "invariant", "lease", "fairness", "bank"];
        let panel = panel(&names, options.clone());
        assert_eq!(panel.names()[0], name);
    }
}

#[test]
fn a_checker_that_is_named_twice_or_by_another_name_sits_once() {
    let panel =
        panel(&["linearizability", "linearizability:cas-register", "no-lost-ack"], json!({}));
    assert_eq!(panel.names(), ["linearizability:register", "no-lost-ack"]);
    assert_eq!(panel.oracle_kinds(), [OracleKind::ClientHistory]);
}

#[test]
fn what_checkers_look_at_is_known() {
    let kinds = |names: &[&str], options| panel(names, options).oracle_kinds();
    assert_eq!(kinds(&["replicas"], json!({})), [OracleKind::FinalState]);
    let both = kinds(&["slo", "order"], json!({"slo.p99": "1s"}));
    assert_eq!(both, [OracleKind::ServiceLevels, OracleKind::ClientHistory]);
}

#[test]
fn the_value_registers_begin_with_comes_with_the_model() {
    let (names, none) = (["linearizability".to_string()], BTreeMap::new());
    let model_options = BTreeMap::from([("initial".to_string(), json!({"a": [1]}))]);
    let ask = Ask {
        names: &names,
        options: &none,
        model: Some("register"),
        model_options: &model_options,
    };
    let panel = Panel::new(&ask).expect("any value will do");
    let history = assay_oracle::sketch("0 read x - ok {a:[1]}");
    let judged = panel.judge(&history, &assay_judge::Limits::default());
    assert_eq!(judged.outcome, assay_verdict::Outcome::Upheld, "{judged:?}");
    let plain = Panel::new(&Ask { model_options: &none, ..ask }).expect("as above");
    let judged = plain.judge(&history, &assay_judge::Limits::default());
    assert_eq!(judged.outcome, assay_verdict::Outcome::Refuted);
    let unnamed = Panel::new(&Ask { model: None, ..ask });
    assert!(matches!(unnamed, Err(PanelError::UnknownChecker { .. })));
}

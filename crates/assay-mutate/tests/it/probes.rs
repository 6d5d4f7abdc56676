//! Questions as formulas.

use super::support::{BANK, CFG};
use assay_guard::tla::parse_cfg;
use assay_guard::tla::probes::{Probes, Shape, probes, shape, variables};

fn asked(properties: &str) -> Probes {
    let source = BANK.replace("TypeOK ==", &format!("{properties}\nTypeOK =="));
    let cfg =
        CFG.replace("TypeOK Conserved Known", "P").replace("PROPERTIES ClosedStays Closes", "");
    probes(&source, &parse_cfg(&cfg))
}

/// The formulas, in one line each.
fn formulas(properties: &str) -> Vec<String> {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    asked(properties).antecedents.iter().map(|probe| squeezed(&probe.formula)).collect()
}

#[test]
fn every_condition_is_asked_for_with_what_stands_around_it() {
    for (property, wanted) in [
        ("P == phase = \"open\" => bal[1] > 0", vec!["( phase = \"open\" )"]),
        ("P == ~(phase = \"open\") \\/ bal[1] > 0", vec!["( (phase = \"open\") )"]),
        (
            "P == \\A a \\in Accounts : bal[a] > 1 => a \\in moved",
            vec!["(\\E a \\in Accounts : ( bal[a] > 1 ))"],
        ),
        ("P == \\A a \\in moved : a > 0", vec!["(\\E a \\in moved : TRUE)"]),
        (
            "Q(x) == bal[x] > 1 => x \\in moved\nP == \\A a \\in Accounts : Q(a)",
            vec!["(\\E a \\in Accounts : (LET x == ( a ) IN ( bal[x] > 1 )))"],
        ),
        (
            "P == phase = \"open\" => (bal[1] > 1 => moved = {})",
            vec!["( phase = \"open\" )", "(( phase = \"open\" ) /\\ ( bal[1] > 1 ))"],
        ),
        (
            "P == IF phase = \"open\" THEN TRUE ELSE bal[1] > 1 => moved = {}",
            vec!["(~( phase = \"open\" ) /\\ ( bal[1] > 1 ))"],
        ),
        ("P == (phase = \"open\") ~> (phase = \"closed\")", vec!["( (phase = \"open\") )"]),
        // Whether some element is there is what the property says: nothing is assumed.
        ("P == \\E a \\in Accounts : bal[a] > 1 => a \\in moved", vec![]),
        ("P == bal[1] > 0", vec![]),
    ] {
        assert_eq!(formulas(property), wanted, "{property}");
    }
}

#[test]
fn a_name_that_is_bound_again_is_not_asked_about_and_told() {
    let found = asked(
        "Q == \\A a \\in Accounts : bal[a] > 1 => a \\in moved\nP == \\A a \\in Accounts : Q",
    );
    assert!(found.antecedents.is_empty(), "{found:?}");
    assert!(found.notes[0].contains("binds a name again"), "{found:?}");
}

#[test]
fn kinds_of_steps_are_the_alternatives_of_next() {
    let cfg = parse_cfg(CFG);
    let found = probes(BANK, &cfg);
    let names: Vec<&str> = found.steps.iter().map(|probe| probe.name.as_str()).collect();
    assert_eq!(names, ["Move", "Close", "Rest"]);
    assert!(found.steps[0].formula.contains("\\E"), "{}", found.steps[0].formula);
    assert_eq!(variables(BANK, &cfg), "vars");
    assert!(matches!(shape(BANK, &cfg, "ClosedStays"), Shape::Step { .. }));
    assert_eq!(shape(BANK, &cfg, "Closes"), Shape::Temporal);
    assert_eq!(shape(BANK, &cfg, "Known"), Shape::State);
}

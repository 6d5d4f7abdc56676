//! Mutants as texts: well formed, stable, spread.

use super::support::{BANK, CFG};
use assay_guard::tla::mutants::{Mutant, chosen, mutants};
use assay_guard::tla::{parse, parse_cfg};
use std::collections::BTreeSet;

fn all(source: &str) -> Vec<Mutant> {
    mutants(source, &parse_cfg(CFG))
}

#[test]
fn every_kind_of_mistake_is_made_where_it_can_be() {
    let found: BTreeSet<(String, String)> = all(BANK)
        .into_iter()
        .map(|m| (format!("{}.{}", m.action, m.mistake), format!("{} -> {}", m.was, m.becomes)))
        .collect();
    for (kind, change) in [
        ("Move.drop", "bal[a] > 0 -> TRUE"),
        ("Move.negate", "a # b -> ~(a # b)"),
        ("Move.compare", "> -> >="),
        ("Move.off-by-one", "0 -> 1"),
        ("Move.freeze", "moved \\cup {a} -> moved"),
        ("Move.arithmetic", "- -> +"),
        ("Close.freeze", "\"closed\" -> phase"),
        ("Close.value", "\"closed\" -> \"open\""),
        ("Next.never", "Close -> FALSE"),
        ("Spec.unfair", "WF_vars(Close) -> TRUE"),
        ("Init.off-by-one", "1 -> 2"),
        ("Init.value", "\"open\" -> \"closed\""),
    ] {
        let there = found.contains(&(kind.to_string(), change.to_string()));
        assert!(there, "{kind}: {change} is not among {found:#?}");
    }
    let skipped = found.iter().filter(|(kind, _)| kind == "Move.skip");
    assert_eq!(skipped.count(), 2, "either update of two can be forgotten");
}

#[test]
fn properties_and_what_they_rest_on_are_left_alone_and_variables_keep_their_values() {
    for mutant in all(BANK) {
        for name in ["TypeOK", "Conserved", "Known", "ClosedStays", "Closes", "Total"] {
            assert_ne!(mutant.action, name, "{mutant:?}");
        }
        assert!(!mutant.was.starts_with("UNCHANGED"), "{mutant:?}");
        let changed = mutant.applied(BANK);
        assert_ne!(changed, BANK, "{mutant:?}");
        let module = parse(&changed).expect("a module");
        assert_eq!(module.error, None, "{mutant:?}:\n{changed}");
        if mutant.action == "Init" {
            assert!(!matches!(mutant.becomes.as_str(), "TRUE"), "{mutant:?}");
        }
    }
}

#[test]
fn names_of_mutants_stay_when_lines_move_and_differ_from_each_other() {
    let moved = BANK.replace("Init ==", "\\* A remark.\n\n\nInit  ==").replace("    /\\", "   /\\");
    let names = |source: &str| all(source).into_iter().map(|m| m.id).collect::<Vec<String>>();
    assert_eq!(names(BANK), names(&moved));
    let distinct: BTreeSet<String> = names(BANK).into_iter().collect();
    assert_eq!(distinct.len(), names(BANK).len());
}

#[test]
fn a_limit_keeps_every_action_and_the_same_choice() {
    let few = chosen(all(BANK), 6);
    assert_eq!(few.len(), 6);
    let actions: BTreeSet<&str> = few.iter().map(|m| m.action.as_str()).collect();
    assert_eq!(actions, BTreeSet::from(["Init", "Move", "Close", "Rest", "Next", "Spec"]));
    assert_eq!(few, chosen(all(BANK), 6));
    assert_eq!(chosen(all(BANK), 10_000), all(BANK));
}

#[test]
fn conditions_over_several_lines_keep_their_columns() {
    let source = BANK.replace(
        "    /\\ bal[a] > 0\n",
        "    /\\ \\/ /\\ bal[a] > 0\n          /\\ a = 1\n       \\/ bal[b] = 0\n",
    );
    for mutant in all(&source) {
        let changed = mutant.applied(&source);
        assert_eq!(parse(&changed).expect("a module").error, None, "{mutant:?}\n{changed}");
    }
}

#[test]
fn what_is_no_module_has_no_mutants() {
    for text in ["", "====", "---- MODULE A ----\n====\n", "Spec == ((((", "\u{feff}\u{1F980}"] {
        assert!(all(text).is_empty(), "{text:?}");
    }
}

//! Who cannot reach whom, and which links carry it.

use assay_nemesis::shapes::{
    Cut, Cuts, ShapeError, asymmetric, bridge, full, isolate, majority, minority, ring, rules_for,
};
use assay_nemesis::{Direction, Flow, LinkInfo, Mesh, Rules};
use proptest::prelude::*;

fn shown(cuts: &Cuts) -> String {
    let one = |cut: &Cut| format!("{}{}", cut.from, cut.to);
    cuts.iter().map(one).collect::<Vec<_>>().join(" ")
}

const FIVE: [&str; 5] = ["a", "b", "c", "d", "e"];

#[test]
fn shapes_cut_what_their_names_say() {
    let cases = [
        (full(&["a"], &["b"]), "ab ba"),
        (full(&["a", "b"], &["c"]), "ac bc ca cb"),
        (asymmetric(&["a"], &["b", "c"]), "ab ac"),
        (isolate("b", &["a", "b", "c"]), "ab ba bc cb"),
        (minority(&["a", "b", "c"]), "ab ac ba ca"),
        (minority(&["a", "b", "c", "d"]), "ab ac ad ba ca da"),
        (majority(&["a", "b", "c"], &["x"]), "ab ac ba bx ca cx xb xc"),
        (bridge("c", &FIVE), "ad ae bd be da db ea eb"),
        (bridge("a", &["a", "b", "c"]), "bc cb"),
        (ring(&["a", "b", "c", "d"]), "ac bd ca db"),
        (ring(&FIVE), "ac ad bd be ca ce da db eb ec"),
    ];
    for (number, (cuts, expected)) in cases.into_iter().enumerate() {
        assert_eq!(cuts.as_ref().map(shown).as_deref(), Ok(expected), "case {number}");
    }
}

#[test]
fn shapes_that_make_no_sense_are_refused() {
    let unknown = |name: &str| ShapeError::Unknown(name.to_string());
    let twice = |name: &str| ShapeError::Twice(name.to_string());
    let few = |shape, nodes_min, nodes| ShapeError::TooFew { shape, nodes_min, nodes };
    let cases = [
        (full(&[], &["a"]), ShapeError::EmptySide),
        (full(&["a"], &["b", "a"]), twice("a")),
        (asymmetric(&["a"], &[]), ShapeError::EmptySide),
        (isolate("x", &["a", "b"]), unknown("x")),
        (isolate("a", &["a"]), ShapeError::EmptySide),
        (minority(&["a", "b"]), few("minority partition", 3, 2)),
        (majority(&["a", "b"], &[]), few("majority partition", 3, 2)),
        (majority(&["a", "b", "c"], &["a"]), twice("a")),
        (bridge("x", &["a", "b", "c"]), unknown("x")),
        (ring(&["a", "b", "c"]), few("ring", 4, 3)),
        (ring(&["a", "b", "c", "a"]), twice("a")),
    ];
    for (number, (cuts, expected)) in cases.into_iter().enumerate() {
        assert_eq!(cuts, Err(expected), "case {number}");
    }
}

/// Links between all of these, both ways.
fn complete(nodes: &[&str]) -> Vec<LinkInfo> {
    let mesh = Mesh::new(0).expect("a mesh");
    let nowhere = "127.0.0.1:9".parse().expect("an address");
    for from in nodes {
        for to in nodes.iter().filter(|to| *to != from) {
            mesh.add(from, to, nowhere).expect("a link");
        }
    }
    mesh.links()
}

#[test]
fn a_one_way_cut_is_requests_there_and_responses_back() {
    let links = complete(&["a", "b", "c"]);
    let cuts = asymmetric(&["a"], &["b"]).expect("a shape");
    let rules = rules_for(&cuts, &links, Rules::flow(Flow::Drop));
    let name = |id| links.iter().find(|link| link.id == id).expect("one of them");
    let found: Vec<(&str, &str, Direction)> = rules
        .iter()
        .map(|rule| (name(rule.link).from.as_str(), name(rule.link).to.as_str(), rule.direction))
        .collect();
    assert_eq!(found, [("a", "b", Direction::Request), ("b", "a", Direction::Response)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// In a ring of any size every node reaches a majority, itself included, and is cut from some.
    #[test]
    fn every_node_of_a_ring_sees_a_majority_and_not_all(count in 4_usize..40) {
        let names: Vec<String> = (0..count).map(|n| format!("n{n:02}")).collect();
        let nodes: Vec<&str> = names.iter().map(String::as_str).collect();
        let cuts = ring(&nodes).expect("a shape");
        for node in &nodes {
            let unseen = cuts.iter().filter(|cut| cut.from == *node).count();
            prop_assert!(count - unseen > count / 2, "{node} sees {}", count - unseen);
            prop_assert!(unseen > 0 || count == 4, "{node} sees all of {count}");
        }
        for cut in &cuts {
            prop_assert!(cuts.contains(&Cut::new(&cut.to, &cut.from)), "both ways");
        }
    }

    /// A minority is one, and the rest can still decide.
    #[test]
    fn a_minority_is_the_largest_that_is_one(count in 3_usize..40) {
        let names: Vec<String> = (0..count).map(|n| format!("n{n:02}")).collect();
        let nodes: Vec<&str> = names.iter().map(String::as_str).collect();
        let cuts = minority(&nodes).expect("a shape");
        let cut_from_first = cuts.iter().filter(|cut| cut.from == nodes[0]).count();
        prop_assert!(cut_from_first > count / 2);
        prop_assert!(cut_from_first <= count / 2 + 1);
    }
}

//! Which checker the picker proposes: one row per line of the table, ambiguous ones, and none.

use assay_oracle::picker::{Category, Pick, ROWS, check_choice, pick};
use assay_oracle::{named, sketch};

const RW: &str = "0 write x 1 ok\n0 read x - ok 1";
const VERSIONED: &str = "0 write x 1 ok 1\n0 read x - ok {\"value\":1,\"version\":1}";
const QUEUE: &str = "0 enqueue q 1 ok\n0 dequeue q - ok 1";

/// What is expected: the checkers of each proposal, or nothing.
fn expect(text: &str, category: Option<Category>, expected: &[&[&str]]) {
    let found: Vec<Vec<&str>> = match pick(&sketch(text), category) {
        Pick::One(one) => vec![one.checkers.to_vec()],
        Pick::Several(several) => several.iter().map(|p| p.checkers.to_vec()).collect(),
        Pick::Nothing(why) => {
            assert!(!why.is_empty() && !why[0].is_empty());
            Vec::new()
        }
    };
    let expected: Vec<Vec<&str>> = expected.iter().map(|list| list.to_vec()).collect();
    assert_eq!(found, expected, "{category:?}\n{text}");
}

#[test]
fn every_line_of_the_table_is_proposed_for_its_history() {
    use Category::*;
    let lease = "0 acquire l - ok 7\n0 renew l 7 ok\n0 release l 7 ok";
    let lock = "0 acquire l - ok\n0 release l - ok";
    let log = "0 append l a ok 0\n0 read l - ok [\"a\"]";
    let durable_log = "0 append l a ok 0\n0 replay l - ok [\"a\"]";
    let append = "0 txn - [[\"append\",1,2],[\"r\",1,null]] ok [[\"append\",1,2],[\"r\",1,[2]]]";
    let rw = "0 txn - [[\"w\",1,2],[\"r\",1,null]] ok [[\"w\",1,2],[\"r\",1,2]]";
    let add = "0 txn - [[\"r\",1,null],[\"add\",1,2]] ok [[\"r\",1,[]],[\"add\",1,2]]";
    let inc = "0 txn - [[\"r\",1,null],[\"inc\",1,2]] ok [[\"r\",1,0],[\"inc\",1,2]]";
    let cases: &[(&str, Category, &[&str])] = &[
        (RW, Safety, &["linearizability:register"]),
        ("0 put x a ok\n0 append x b ok\n0 get x - ok \"ab\"", Safety, &["linearizability:kv"]),
        ("0 inc c 1 ok\n0 read c - ok 1", Safety, &["linearizability:counter"]),
        ("0 inc c 1 ok\n0 final - - ok {\"c\":1}", Safety, &["invariant"]),
        ("0 add s 1 ok\n0 read s - ok [1]", Safety, &["linearizability:set"]),
        (QUEUE, Safety, &["linearizability:queue"]),
        ("0 push s 1 ok\n0 pop s - ok 1", Safety, &["linearizability:stack"]),
        (log, Safety, &["linearizability:log", "log"]),
        (lock, Safety, &["lock", "invariant", "linearizability:mutex"]),
        (lease, Safety, &["lease", "invariant", "linearizability:lease"]),
        ("0 transfer - [1,2,3] ok\n0 read - - ok {\"1\":2}", Safety, &["bank"]),
        ("0 assert a - ok true", Safety, &["property"]),
        (append, Isolation, &["list-append"]),
        (rw, Isolation, &["rw-register"]),
        (add, Isolation, &["set-add"]),
        (inc, Isolation, &["counter-inc"]),
        (durable_log, Durability, &["no-lost-ack", "log", "replay-equivalence"]),
        ("0 add s 1 ok\n0 final s - ok [1]", Durability, &["set", "no-lost-ack"]),
        ("0 enqueue q 1 ok\n0 dequeue q - ok 1\n0 drain q - ok []", Durability, &["queue"]),
        ("0 put x 1 ok\n0 final - - ok {\"x\":1}", Durability, &["no-lost-ack"]),
        ("0 dump - - ok 1\n0 replay - - ok 1", Durability, &["replay-equivalence"]),
        ("0 credit a {\"id\":1,\"amount\":1} ok", Idempotency, &["exactly-once", "ledger"]),
        ("0 pay a {\"id\":1} ok\n0 final - - ok [1]", Idempotency, &["exactly-once"]),
        ("0 send q 1 ok\n1 recv q - ok 1", Ordering, &["order"]),
        (RW, Ordering, &["causal"]),
        (log, Ordering, &["log"]),
        ("0 join - a ok\n0 view - - ok [\"a\"]", Membership, &["membership", "replicas"]),
        (RW, Fairness, &["fairness"]),
        (RW, Availability, &["slo"]),
        ("0 sample baseline - ok 1", PerformanceSlo, &["baseline"]),
        (RW, PerformanceSlo, &["slo"]),
    ];
    for (text, category, checkers) in cases {
        expect(text, Some(*category), &[checkers]);
    }
    // The remaining three lines stand only beside others: see the ambiguous ones.
    assert_eq!(cases.len() + 3, ROWS.len());
}

#[test]
fn where_two_fit_both_are_listed_with_what_would_decide() {
    let session =
        &["read-your-writes", "monotonic-reads", "monotonic-writes", "writes-follow-reads"];
    let register: &[&str] = &["linearizability:register"];
    expect(VERSIONED, Some(Category::Safety), &[register, session]);
    expect(VERSIONED, None, &[register, session]);
    expect(QUEUE, Some(Category::Ordering), &[&["queue"], &["fifo-producer"]]);
    let counter = "0 inc c 1 ok\n0 read c - ok 1\n0 final - - ok {\"c\":1}";
    let both: &[&[&str]] = &[&["linearizability:counter"], &["invariant"]];
    expect(counter, Some(Category::Safety), both);
    let Pick::Several(several) = pick(&sketch(VERSIONED), None) else { panic!("ambiguous") };
    assert!(several.iter().all(|proposal| !proposal.decided_by.is_empty()));
    assert_ne!(several[0].decided_by, several[1].decided_by);
}

#[test]
fn without_a_category_the_operations_decide() {
    expect(RW, None, &[&["linearizability:register"]]);
    expect(
        "0 credit a {\"id\":1,\"amount\":1} ok\n0 balance a - ok 1",
        None,
        &[&["exactly-once", "ledger"]],
    );
    expect("0 join - a ok\n0 view - - ok [\"a\"]", None, &[&["membership", "replicas"]]);
    expect("0 txn - [[\"r\",1,null]] ok [[\"r\",1,[]]]", None, &[&["list-append"]]);
    // One transaction only reads; the other shows what the lists are.
    let reads_first = "0 txn - [[\"r\",1,null]] ok [[\"r\",1,[2]]]\n1 txn - [[\"add\",1,2]] ok";
    expect(reads_first, None, &[&["set-add"]]);
    let adds_first = "1 txn - [[\"inc\",1,2]] ok\n0 txn - [[\"r\",1,null]] ok [[\"r\",1,2]]";
    expect(adds_first, None, &[&["counter-inc"]]);
}

#[test]
fn where_nothing_fits_the_picker_says_what_is_missing() {
    for (text, category) in [
        ("", None),
        ("", Some(Category::Fairness)),
        ("0 frobnicate x 1 ok", None),
        ("0 frobnicate x 1 ok", Some(Category::Safety)),
        (RW, Some(Category::Isolation)),
        (RW, Some(Category::Durability)),
        (RW, Some(Category::Liveness)),
        (RW, Some(Category::Operational)),
        (RW, Some(Category::Boundary)),
        (RW, Some(Category::Membership)),
        ("0 txn - [[\"append\",1,2],[\"w\",1,2]] ok", Some(Category::Isolation)),
        ("0 add s 1 ok", None),
    ] {
        expect(text, category, &[]);
    }
    let Pick::Nothing(why) = pick(&sketch(RW), Some(Category::Isolation)) else { panic!() };
    assert!(why.iter().any(|line| line.contains("txn")), "{why:?}");
}

#[test]
fn a_checker_that_does_not_fit_is_an_error_that_names_the_right_one() {
    let history = sketch(RW);
    assert!(check_choice(&history, Category::Safety, "linearizability:register").is_ok());
    let error = check_choice(&history, Category::Safety, "fairness").unwrap_err().to_string();
    assert!(error.contains("use `linearizability:register`"), "{error}");
    let error = check_choice(&history, Category::Isolation, "order").unwrap_err().to_string();
    assert!(error.contains("neither can any other"), "{error}");
    let queue = sketch(QUEUE);
    assert!(check_choice(&queue, Category::Ordering, "total-queue").is_ok(), "aliases count");
    let error = check_choice(&queue, Category::Ordering, "lock").unwrap_err().to_string();
    assert!(error.contains("`queue` or `fifo-producer`"), "{error}");
}

#[test]
fn every_proposed_oracle_exists_and_every_oracle_is_proposed() {
    let elsewhere = |name: &str| {
        let styles = ["list-append", "rw-register", "set-add", "counter-inc"];
        name.starts_with("linearizability:") || styles.contains(&name)
    };
    let proposed: Vec<&str> = ROWS.iter().flat_map(|row| row.proposal.checkers).copied().collect();
    for name in proposed.iter().filter(|name| !elsewhere(name)) {
        assert!(named(name).is_some(), "{name}");
    }
    let asked_for = ["at-least-once", "at-most-once", "differential"];
    for oracle in assay_oracle::ORACLES {
        let name = oracle.info().name;
        assert!(proposed.contains(&name) || asked_for.contains(&name), "{name}");
    }
}

#[test]
fn categories_have_names_and_names_have_categories() {
    for (category, name) in Category::ALL {
        assert_eq!(Category::named(name), Some(category));
        assert_eq!(Category::named(&name.to_uppercase()), Some(category));
        assert_eq!(category.name(), name);
    }
    assert_eq!(Category::named("beauty"), None);
}

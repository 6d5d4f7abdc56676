//! What the verifier accepts and what it turns down, by hand.

mod support;

use assay_check::{Certificate, ModelKind, Relaxation, Start, verify};
use assay_history::{History, OpIndex, ValueId};
use support::text::parse;

/// The certificate that says: these operations of key 7 cannot all have happened.
fn certificate(history: &History, model: ModelKind, core: &[u32]) -> Certificate {
    let last = history.ops().next().expect("there is an operation");
    let key = history.key(last.key);
    let core = core.iter().map(|&i| OpIndex(i)).collect();
    Certificate { model, initial: ValueId::NULL, key, part: Relaxation::none(), core }
}

/// What is wrong (or not), the core, and the history.
type Row = (&'static str, &'static [u32], &'static str);

fn judge(model: ModelKind, line: &str, core: &[u32]) -> Result<(), String> {
    let (history, _) = parse(model, line).history();
    verify(&history, &certificate(&history, model, core)).map(|_| ())
}

fn assert_refuted(model: ModelKind, rows: &[Row]) {
    for (claim, core, line) in rows {
        assert_eq!(judge(model, line, core), Ok(()), "{claim}: {line}");
    }
}

fn assert_explained(model: ModelKind, rows: &[Row]) {
    for (claim, core, line) in rows {
        let answer = judge(model, line, core).expect_err(claim);
        assert!(answer.starts_with("an explanation exists"), "{claim}: {answer}");
    }
}

#[test]
fn register() {
    let stale = "0 0..10 write 1 | 0 20..30 write 2 | 1 40..50 read -> 1";
    let swapped_twice = "0 0..9 write 1 | 1 10..40 cas [1,2] -> true | 2 10..40 cas [1,3] -> true";
    let rows: &[Row] = &[
        ("a stale read", &[0, 1, 2], stale),
        ("a value nobody wrote", &[0], "0 0..10 read -> 4 | 1 0..? write 5 | 1 20..30 write 4"),
        ("one value swapped twice", &[0, 1, 2], swapped_twice),
        ("a compare that cannot fail", &[0, 1], "0 0..9 write 1 | 1 10..19 cas [1,2] -> false"),
        ("a write that failed", &[1], "0 0..9! write 1 | 1 10..19 read -> 1"),
    ];
    assert_refuted(ModelKind::Register, rows);
    let rows: &[Row] = &[
        ("the second write is forgotten", &[0, 2], stale),
        ("the first write is forgotten: it may come late", &[1, 2], stale),
        ("comes late", &[1, 2], "0 0..? write 1 | 1 5..6 write 2 | 1 7..8 read -> 1"),
        ("it swapped", &[0, 2], "0 0..9 write 1 | 1 1..? cas [1,2] | 0 10..19 read -> 2"),
        ("unequal, for all one knows", &[1], "0 0..? write 5 | 1 9..9 cas [null,2] -> false"),
        ("equal times overlap", &[0, 1], "0 0..10 write 1 | 1 10..20 read -> null"),
    ];
    assert_explained(ModelKind::Register, rows);
}

#[test]
fn kv() {
    let rows: &[Row] = &[
        ("lost", &[0, 1], r#"0 0..9 append "a" | 1 10..19 get"#),
        ("out of order", &[0, 1, 2], r#"0 0..1 append "a" | 0 2..3 put "b" | 0 4..5 get -> "ba""#),
    ];
    assert_refuted(ModelKind::Kv, rows);
    let rows: &[Row] = &[
        ("null is the empty string", &[0], r#"0 0..9 get -> """#),
        ("three pieces", &[2], r#"0 0..? append "a" | 1 0..? append "b" | 2 5..9 get -> "ba""#),
    ];
    assert_explained(ModelKind::Kv, rows);
}

#[test]
fn counter() {
    let rows: &[Row] = &[
        ("too low", &[0, 1, 2], "0 0..9 add 2 | 1 0..9 inc | 0 10..19 read -> 2"),
        ("too high", &[2], "0 0..9 add 2 | 1 0..? dec 1 | 0 10..19 read -> 3"),
        ("one value twice", &[0, 1], "0 0..9 add 1 -> 1 | 1 0..9 add 1 -> 1"),
    ];
    assert_refuted(ModelKind::Counter, rows);
    let rows: &[Row] = &[
        ("down again", &[0, 1, 3], "0 0..9 inc -> 1 | 1 0..9 inc | 2 0..? dec | 0 10..19 get -> 1"),
        ("down in between", &[0, 1], "0 0..9 add 1 -> 1 | 1 0..9 add 1 -> 1 | 2 5..? dec"),
    ];
    assert_explained(ModelKind::Counter, rows);
}

#[test]
fn set() {
    let lost = "0 0..9 add 1 | 1 0..9 add 2 | 2 0..9 add 3 | 0 10..19 read -> [3,1]";
    let rows: &[Row] = &[
        ("lost", &[1, 3], lost),
        ("never added", &[1], "0 0..? add 1 | 1 5..9 contains 2 -> true"),
        ("new twice", &[0, 1], "0 0..9 add 1 -> true | 1 0..9 add 1 -> true"),
        (
            "two orders",
            &[2, 3],
            "0 0..? add 1 | 0 0..? add 2 | 1 0..9 read -> [1] | 2 0..9 read -> [2]",
        ),
    ];
    assert_refuted(ModelKind::Set, rows);
    let rows: &[Row] = &[
        ("nobody knows whether it was added", &[0, 2, 3], lost),
        ("removed", &[0, 1], "0 0..9 add 1 -> true | 1 0..9 add 1 -> true | 2 0..? remove 1"),
    ];
    assert_explained(ModelKind::Set, rows);
}

#[test]
fn queue() {
    let overtaken = "0 0..9 enqueue 1 | 0 10..19 enqueue 2 | 1 20..29 dequeue -> 2";
    let rows: &[Row] = &[
        ("overtaken", &[0, 1, 2], overtaken),
        ("taken twice", &[1, 2], "0 0..9 enqueue 1 | 1 0..9 dequeue -> 1 | 2 0..9 dequeue -> 1"),
        ("not empty", &[0, 1], "0 0..9 enqueue 1 | 1 10..19 dequeue"),
    ];
    assert_refuted(ModelKind::Queue, rows);
    let rows: &[Row] = &[
        ("the first may come late", &[1, 2], overtaken),
        ("someone took it", &[0, 2], "0 0..9 enqueue 1 | 1 5..? dequeue | 1 20..29 dequeue"),
    ];
    assert_explained(ModelKind::Queue, rows);
}

#[test]
fn stack() {
    let buried = "0 0..9 push 1 | 0 10..19 push 2 | 1 20..29 pop -> 1";
    let rows: &[Row] =
        &[("buried", &[0, 1, 2], buried), ("empty", &[0, 1], "0 0..9 push 1 | 1 10..19 pop")];
    assert_refuted(ModelKind::Stack, rows);
    let rows: &[Row] = &[
        ("the second may never happen", &[0, 2], buried),
        ("popped", &[0, 1, 3], "0 0..1 push 1 | 0 2..3 push 2 | 2 2..? pop | 1 4..5 pop -> 1"),
    ];
    assert_explained(ModelKind::Stack, rows);
}

#[test]
fn log() {
    let rows: &[Row] = &[
        ("one place twice", &[0, 1], "0 0..9 append 1 -> 0 | 1 0..9 append 2 -> 0"),
        ("lost", &[0, 2], "0 0..9 append 1 | 1 0..9 append 2 | 0 10..19 read -> [2]"),
        (
            "two orders",
            &[2, 3],
            "0 0..? append 1 | 1 0..? append 2 | 0 0..9 read 0 -> 2 | 1 0..9 read 0 -> 1",
        ),
    ];
    assert_refuted(ModelKind::Log, rows);
    let rows: &[Row] = &[
        ("something fills the gap", &[1], "0 0..? append 9 | 1 0..9 append 2 -> 1"),
        ("not that long yet", &[0, 1], "0 0..9 append 1 | 0 10..19 read 1"),
    ];
    assert_explained(ModelKind::Log, rows);
}

#[test]
fn mutex() {
    let two_holders = "0 0..9 acquire | 1 10..19 acquire | 0 20..29 release";
    let rows: &[Row] = &[
        ("two holders", &[0, 1, 2], two_holders),
        ("not the holder", &[0, 1], "0 0..9 acquire | 1 10..19 release"),
    ];
    assert_refuted(ModelKind::Mutex, rows);
    let rows: &[Row] = &[
        ("released, perhaps", &[0, 2], "0 0..9 acquire | 0 10..? release | 1 20..29 acquire"),
        ("the first never had it", &[1], two_holders),
    ];
    assert_explained(ModelKind::Mutex, rows);
}

#[test]
fn lease() {
    let rows: &[Row] = &[
        ("one token twice", &[0, 1], "0 0..9 acquire -> 1 | 1 0..9 acquire -> 1"),
        ("an old token works", &[1, 2], "0 0..9 acquire -> 2 | 0 10..19 use 2 | 1 20..29 use 1"),
        ("released", &[0, 1, 2], "0 0..1 acquire -> 1 | 0 2..3 release 1 | 0 4..5 renew 1"),
        ("nobody has it", &[0], "0 0..9 use 1 | 1 20..29 acquire -> 1"),
    ];
    assert_refuted(ModelKind::Lease, rows);
    let rows: &[Row] = &[
        ("renewed", &[0, 2], "0 0..9 acquire -> 1 | 1 0..9 acquire -> 2 | 0 10..19 renew 1"),
        ("expired", &[0, 1], "0 0..9 acquire -> 1 | 1 10..19 acquire -> 2"),
    ];
    assert_explained(ModelKind::Lease, rows);
}

/// A change to a good certificate that makes it worthless.
type Change = fn(&mut Certificate);

#[test]
fn malformed_certificates_are_turned_down() {
    let line = "0 0..10 write 1 | 0 20..30 write 2 | 1 40..50 read -> 1 | 2 40..? write 1";
    let rows: &[(&str, Change)] = &[
        ("on another key", |c| c.key = ValueId::NULL),
        ("did not end well", |c| c.core.push(OpIndex(3))),
        ("ends after the cut", |c| c.part.cut = 49),
        ("twice", |c| c.core.push(OpIndex(0))),
        ("does not exist", |c| c.core.push(OpIndex(4))),
        ("begins before the window", |c| {
            c.part = Relaxation { start: Start::Any, from: 20, cut: 50 };
        }),
        ("has no meaning", |c| c.model = ModelKind::Counter),
        ("has no meaning", |c| c.model = ModelKind::Set),
    ];
    for (reason, change) in rows {
        let (history, _) = parse(ModelKind::Register, line).history();
        let mut changed = certificate(&history, ModelKind::Register, &[0, 1, 2]);
        change(&mut changed);
        let answer = verify(&history, &changed).expect_err(reason);
        assert!(answer.contains(reason), "{reason}: {answer}");
    }
}

#[test]
fn a_register_can_start_in_any_state_and_nothing_else_can() {
    let window = Relaxation { start: Start::Any, from: 20, cut: 100 };
    let judge = |model, line: &str, core: &[u32]| {
        let (history, _) = parse(model, line).history();
        let certificate = certificate(&history, model, core);
        verify(&history, &Certificate { part: window, ..certificate })
    };
    let before = "0 0..9 write 1 | 1 20..29 read -> 4 | 1 30..39";
    // What was read is what was there: no second value without a write.
    assert!(judge(ModelKind::Register, &format!("{before} read -> 4"), &[1, 2]).is_err());
    assert!(judge(ModelKind::Register, &format!("{before} read -> 5"), &[1, 2]).is_ok());
    assert!(judge(ModelKind::Register, &format!("{before} cas [4,5] -> false"), &[1, 2]).is_ok());
    // The first write ended before the window and cannot come back; one that had not ended can.
    assert!(judge(ModelKind::Register, &format!("{before} read -> 1"), &[1, 2]).is_ok());
    let open = "0 0..25 write 1 | 1 20..29 read -> 4 | 1 30..39 read -> 1";
    assert!(judge(ModelKind::Register, open, &[1, 2]).is_err());
    // A compare that failed excludes one value.
    let unequal = "0 20..29 cas [4,5] -> false | 0 30..39 read -> 4";
    assert!(judge(ModelKind::Register, unequal, &[0, 1]).is_ok());
    let answer = judge(ModelKind::Counter, "0 20..29 read -> 4", &[0]).expect_err("no window");
    assert!(answer.contains("cannot start in any state"), "{answer}");
}

#[test]
fn a_space_too_large_is_given_up() {
    let pushes: Vec<String> = (0..14).map(|i| format!("{i} 0..10 push {i}")).collect();
    let line = format!("{} | 99 20..30 pop -> 99", pushes.join(" | "));
    let core: Vec<u32> = (0..15).collect();
    let answer = judge(ModelKind::Stack, &line, &core).expect_err("too many orders");
    assert_eq!(answer, "too large to re-check");
}

//! The checker's target: bytes become a small history of some model.
//!
//! Whatever the history, the checker must end, must not panic, and what it refutes must hold: the
//! separate verifier re-checks every certificate.

use assay_check::{Budget, CheckOptions, MODELS, ModelKind, check, verify};
use assay_history::{Builder, Completion, History, Invocation, ValueId};

const OPS_MAX: usize = 24;
const BYTES_PER_OP: usize = 6;

/// Checks the history that `bytes` describe, under a tiny budget, and verifies what is refuted.
pub fn check_and_verify(bytes: &[u8]) {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let model = MODELS[usize::from(first) % MODELS.len()].kind;
    let history = history(model, rest);
    let budget = Budget::new(64 << 20, 20_000);
    let options = CheckOptions { budget: Some(&budget), ..CheckOptions::new(model) };
    let Ok(report) = check(&history, &options) else { return };
    for refutation in &report.refutations {
        assert!(!refutation.explanation.is_empty(), "a refutation explains itself");
        if let Err(why) = verify(&history, &refutation.certificate) {
            assert!(why.starts_with("too large"), "{model:?}: {why}");
        }
    }
}

/// Six bytes an operation: who, what, input, output, when it began, how it ended.
fn history(model: ModelKind, bytes: &[u8]) -> History {
    let mut b = Builder::new();
    let verbs = model.info().verbs;
    let mut clock = 0;
    for op in bytes.chunks_exact(BYTES_PER_OP).take(OPS_MAX) {
        let process = b.values().int(i64::from(op[0] % 4));
        let key = b.values().int(i64::from(op[0] / 4 % 2));
        let (verb, _) = verbs[usize::from(op[1]) % verbs.len()];
        clock += i64::from(op[4] % 4);
        let input = input(&mut b, model, verb, op[2]);
        let index = b.invoke(Invocation::new(process, verb, clock).key(key).input(input));
        let output = output(&mut b, verb, op[3]);
        let end = clock + i64::from(op[5] / 4 % 16);
        let error = b.values().str("refused");
        match op[5] % 4 {
            0 => b.complete(index, Completion::unknown()),
            1 if op[5] > 200 => b.complete(index, Completion::at(end).error(error)),
            _ => b.complete(index, Completion::at(end).output(output)),
        }
    }
    b.finish()
}

fn input(b: &mut Builder, model: ModelKind, verb: &str, byte: u8) -> ValueId {
    let small = i64::from(byte % 5);
    match (model, verb) {
        (_, "cas") => {
            let pair = [b.values().int(small), b.values().int(i64::from(byte / 5 % 5))];
            b.values().list(&pair)
        }
        (ModelKind::Kv, _) => b.values().str(["", "a", "b", "ab", "c"][usize::from(byte % 5)]),
        (ModelKind::Log, "read") if byte % 2 == 0 => ValueId::NULL,
        _ => b.values().int(small),
    }
}

fn output(b: &mut Builder, verb: &str, byte: u8) -> ValueId {
    let small = b.values().int(i64::from(byte % 5));
    match byte / 5 % 6 {
        0 => ValueId::NULL,
        1 => ValueId::TRUE,
        2 => ValueId::FALSE,
        3 => {
            let other = b.values().int(i64::from(byte / 30 % 5));
            b.values().list(&[small, other])
        }
        4 if verb == "get" => b.values().str(["", "a", "b", "ab", "c"][usize::from(byte % 5)]),
        _ => small,
    }
}

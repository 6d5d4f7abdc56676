//! Before it judges anybody, a checker shows that it can pass and that it can fail.

use crate::check::{CheckOptions, check};
use crate::kind::ModelKind;
use crate::search::Answer;
use crate::verify::verify;
use assay_history::{ReadOptions, read};

/// What was done, with what, and what came back.
type Step = (&'static str, &'static str, &'static str);

/// Operations one after the other, then one that must be and one that cannot be.
struct Example {
    first: &'static [Step],
    right: Step,
    wrong: Step,
}

fn example(model: ModelKind) -> Example {
    match model {
        ModelKind::Register => Example {
            first: &[("write", "1", "1"), ("cas", "[1 2]", "[1 2]")],
            right: ("read", "nil", "2"),
            wrong: ("read", "nil", "1"),
        },
        ModelKind::Kv => Example {
            first: &[("put", "\"a\"", "\"a\""), ("append", "\"b\"", "\"b\"")],
            right: ("get", "nil", "\"ab\""),
            wrong: ("get", "nil", "\"ba\""),
        },
        ModelKind::Counter => Example {
            first: &[("add", "2", "nil"), ("add", "3", "nil")],
            right: ("read", "nil", "5"),
            wrong: ("read", "nil", "2"),
        },
        ModelKind::Set => Example {
            first: &[("add", "1", "nil"), ("add", "2", "nil")],
            right: ("read", "nil", "[1 2]"),
            wrong: ("read", "nil", "[1]"),
        },
        ModelKind::Queue => Example {
            first: &[("enqueue", "1", "1"), ("enqueue", "2", "2")],
            right: ("dequeue", "nil", "1"),
            wrong: ("dequeue", "nil", "2"),
        },
        ModelKind::Stack => Example {
            first: &[("push", "1", "1"), ("push", "2", "2")],
            right: ("pop", "nil", "2"),
            wrong: ("pop", "nil", "1"),
        },
        ModelKind::Log => Example {
            first: &[("append", "1", "nil"), ("append", "2", "nil")],
            right: ("read", "nil", "[1 2]"),
            wrong: ("read", "nil", "[2 1]"),
        },
        ModelKind::Mutex => Example {
            first: &[("acquire", "nil", "nil")],
            right: ("release", "nil", "nil"),
            wrong: ("acquire", "nil", "nil"),
        },
        ModelKind::Lease => Example {
            first: &[("acquire", "nil", "1")],
            right: ("acquire", "nil", "2"),
            wrong: ("acquire", "nil", "1"),
        },
    }
}

fn history(model: ModelKind, known_good: bool) -> String {
    let example = example(model);
    let last = if known_good { example.right } else { example.wrong };
    let all = example.first.iter().copied().chain([last]);
    all.map(|(verb, input, output)| {
        format!(
            "{{:process 0, :type :invoke, :f :{verb}, :value {input}}}\n\
             {{:process 0, :type :ok, :f :{verb}, :value {output}}}\n"
        )
    })
    .collect()
}

/// Proves that a model's checker passes a history it must pass, refutes one it must refute, and
/// that the refutation holds when it is looked at again.
///
/// # Errors
/// What was found instead.
pub fn self_test(model: ModelKind) -> Result<(), String> {
    for (known_good, expected) in [(true, Answer::Linearizable), (false, Answer::Refuted)] {
        let text = history(model, known_good);
        let wrong = |why: String| format!("{}: a history known beforehand {why}", model.name());
        let history = read(text.as_bytes(), &ReadOptions::default())
            .map_err(|error| wrong(format!("cannot be read: {}", error.message())))?;
        let report = check(&history, &CheckOptions::new(model))
            .map_err(|error| wrong(format!("does not fit: {error}")))?;
        if report.answer != expected {
            return Err(wrong(format!("is {:?}, not {expected:?}", report.answer)));
        }
        for refutation in &report.refutations {
            verify(&history, &refutation.certificate).map_err(wrong)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::MODELS;

    #[test]
    fn every_model_passes_and_fails_as_it_should() {
        for info in &MODELS {
            assert_eq!(self_test(info.kind), Ok(()));
        }
    }
}

//! Cutting a history into objects that can be checked apart.
//!
//! Linearizability is local: a history is linearizable iff its part on each object is. Objects are
//! keys; a set without whole-set reads is one object per element besides.

use crate::check::{CheckError, PARALLEL_CALLS_MIN};
use crate::kind::ModelKind;
use crate::model::Call;
use crate::models::Decode;
use assay_history::{Glance, History, KeyId, Outcome, ValueId};
use rayon::prelude::*;
use std::ops::Range;

/// The calls on one object.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) key: KeyId,
    /// The element, where a set was cut by element.
    pub(crate) element: Option<ValueId>,
    /// How many operations may have had an effect.
    pub(crate) ops: usize,
    /// How many certainly had one.
    pub(crate) known: usize,
    /// Its calls among all calls; empty if they are read from the history as needed.
    pub(crate) range: Range<usize>,
}

/// All calls grouped by object, and the objects.
pub(crate) type Parts<Op> = (Vec<Call<Op>>, Vec<Part>);

/// Keys that follow each other, and the places of their calls.
struct Shard<'a, Op> {
    parts: &'a mut [Part],
    calls: &'a mut [Call<Op>],
}

/// Cuts keys and places into shards of about as many calls, one for each thread.
fn shards<'a, Op>(mut parts: &'a mut [Part], mut calls: &'a mut [Call<Op>]) -> Vec<Shard<'a, Op>> {
    let threads = if calls.len() < PARALLEL_CALLS_MIN { 1 } else { rayon::current_num_threads() };
    let (mut shards, mut done) = (Vec::new(), 0);
    for left in (1..=threads).rev() {
        let until = done + calls.len().div_ceil(left);
        let keys = match left {
            1 => parts.len(),
            _ => parts.partition_point(|part| part.range.start < until),
        };
        let (of_keys, later) = parts.split_at_mut(keys);
        let ops = of_keys.iter().map(|part| part.ops).sum();
        let (of_calls, later_calls) = calls.split_at_mut(ops);
        if !of_keys.is_empty() {
            shards.push(Shard { parts: of_keys, calls: of_calls });
        }
        (parts, calls, done) = (later, later_calls, done + ops);
    }
    shards
}

/// Reads a model's calls out of a history.
pub(crate) struct Reader<'a, M> {
    pub(crate) history: &'a History,
    pub(crate) model: &'a M,
    /// By operation type, its canonical name.
    verbs: Vec<&'static str>,
}

impl<'a, M: Decode> Reader<'a, M> {
    pub(crate) fn new(
        history: &'a History,
        kind: ModelKind,
        model: &'a M,
    ) -> Result<Self, CheckError> {
        let mut verbs = Vec::new();
        for op_type in history.types() {
            let name = history.type_name(op_type);
            let Some(verb) = kind.verb(name) else {
                let op = history.ops().find(|op| op.op_type == op_type);
                let line = op.map_or(0, |op| history.line(op.invoke_at));
                let known: Vec<&str> = kind.info().verbs.iter().map(|&(name, _)| name).collect();
                let message = format!(
                    "the {} model has no operation \"{name}\" (it has {})",
                    kind.name(),
                    known.join(", ")
                );
                return Err(CheckError { line, message });
            };
            verbs.push(verb);
        }
        Ok(Reader { history, model, verbs })
    }

    /// For a model that looks at operation types itself, if it wants to.
    pub(crate) fn of_one_model(history: &'a History, model: &'a M) -> Self {
        Reader { history, model, verbs: vec![""; history.types().count()] }
    }

    /// The call an operation stands for; `None` if it says nothing.
    // Called in every pass over a history: inlined, a pass reads only the columns it needs.
    #[inline(always)]
    fn call(&self, op: &Glance) -> Result<Option<Call<M::Op>>, String> {
        if op.outcome == Outcome::Fail {
            return Ok(None);
        }
        let verb = self.verbs[op.op_type.0 as usize];
        let Some(action) = self.model.decode(self.history, verb, op)? else { return Ok(None) };
        let (start, end, required) = (op.start, op.end, op.outcome == Outcome::Ok);
        Ok(Some(Call { index: op.index.0, required, start, end, op: action }))
    }

    fn error(&self, op: &Glance, message: String) -> CheckError {
        let line = self.history.line(self.history.op(op.index).invoke_at);
        CheckError { line, message }
    }

    /// All calls, read as needed: for a history with one object, which need not be copied.
    pub(crate) fn stream(&self) -> impl Iterator<Item = Call<M::Op>> + Clone + '_ {
        self.history.glances().filter_map(|op| self.call(&op).ok().flatten())
    }

    /// The one object of a history, if it has just one, once its operations were seen to fit.
    pub(crate) fn only_part(&self) -> Result<Option<Part>, CheckError> {
        let (mut ops, mut known) = (0, 0);
        let mut key: Option<KeyId> = None;
        let suspicious = self.verbs.iter().any(|verb| M::can_be_malformed(verb));
        for op in self.history.glances() {
            if op.outcome == Outcome::Fail {
                continue;
            }
            if *key.get_or_insert(op.key) != op.key {
                return Ok(None);
            }
            if suspicious {
                self.call(&op).map_err(|message| self.error(&op, message))?;
            }
            ops += 1;
            known += usize::from(op.outcome == Outcome::Ok);
        }
        Ok(key.map(|key| Part { key, element: None, ops, known, range: 0..0 }))
    }

    /// All calls grouped by object, and the objects: a counting sort by key in two passes, the
    /// second on all cores, each for keys of its own. Operations that say nothing leave gaps
    /// between the parts.
    pub(crate) fn parts(&self) -> Result<Parts<M::Op>, CheckError> {
        let empty = |key| Part { key: KeyId(key), element: None, ops: 0, known: 0, range: 0..0 };
        let mut parts: Vec<Part> = (0..self.history.key_count() as u32).map(empty).collect();
        for op in self.history.glances() {
            let part = &mut parts[op.key.0 as usize];
            part.ops += usize::from(op.outcome != Outcome::Fail);
            part.known += usize::from(op.outcome == Outcome::Ok);
        }
        let mut start = 0;
        for part in &mut parts {
            part.range = start..start;
            start += part.ops;
        }
        let first = self.history.glances().find_map(|op| match self.call(&op) {
            Ok(call) => call.map(Ok),
            Err(message) => Some(Err(self.error(&op, message))),
        });
        let mut calls = match first.transpose()? {
            // Memory is handed out page by page as it is first written to: on all cores, too.
            Some(call) if start >= PARALLEL_CALLS_MIN => {
                rayon::iter::repeat_n(call, start).collect()
            }
            Some(call) => vec![call; start],
            None => Vec::new(),
        };
        if calls.is_empty() {
            parts.iter_mut().for_each(|part| part.range = 0..0);
        } else {
            let shards = shards(&mut parts, &mut calls);
            let placed: Vec<_> = if shards.len() > 1 {
                shards.into_par_iter().map(|shard| self.place(shard)).collect()
            } else {
                shards.into_iter().map(|shard| self.place(shard)).collect()
            };
            // Whoever looked for what, the error is the first of the history.
            let errors = placed.into_iter().filter_map(Result::err);
            if let Some((op, message)) = errors.min_by_key(|(op, _)| op.index) {
                return Err(self.error(&op, message));
            }
        }
        parts.retain(|part| part.ops > 0);
        let cut = parts.into_iter().flat_map(|part| self.by_element(part, &mut calls)).collect();
        Ok((calls, cut))
    }

    /// Puts the calls on the keys of a shard into their places.
    fn place(&self, shard: Shard<'_, M::Op>) -> Result<(), (Glance, String)> {
        let Shard { parts, calls } = shard;
        let (first_key, start) = (parts[0].key.0, parts[0].range.start);
        for op in self.history.glances() {
            let of_shard = op.key.0.checked_sub(first_key);
            let Some(part) = of_shard.and_then(|key| parts.get_mut(key as usize)) else { continue };
            if let Some(call) = self.call(&op).map_err(|message| (op, message))? {
                calls[part.range.end - start] = call;
                part.range.end += 1;
            }
        }
        Ok(())
    }

    /// Cuts a part by element if the model says that its calls allow that.
    fn by_element(&self, part: Part, calls: &mut [Call<M::Op>]) -> Vec<Part> {
        let of_part = &mut calls[part.range.clone()];
        if of_part.is_empty() || !of_part.iter().all(|call| M::element(&call.op).is_some()) {
            return vec![part];
        }
        of_part.sort_by_key(|call| M::element(&call.op));
        let mut start = part.range.start;
        of_part
            .chunk_by(|a, b| M::element(&a.op) == M::element(&b.op))
            .map(|chunk| {
                let range = start..start + chunk.len();
                start = range.end;
                let element = M::element(&chunk[0].op);
                let known = chunk.iter().filter(|call| call.required).count();
                Part { key: part.key, element, ops: chunk.len(), known, range }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Register;
    use assay_history::{Builder, Completion, Invocation, OpIndex};
    use std::collections::BTreeMap;

    const KEYS: i64 = 23;

    /// Operations on keys of very different sizes; some fail, some are never answered, and number
    /// `bad`, if there is one, and every fifth after it have an input that no model takes.
    fn history(ops: i64, bad: Option<i64>) -> History {
        let mut b = Builder::new();
        for i in 0..ops {
            let (client, key) = (b.values().int(i % 5), b.values().int(i * i % KEYS));
            let pair = [b.values().int(i), b.values().int(i + 1)];
            let (name, input) = match i % 3 {
                _ if bad.is_some_and(|bad| i >= bad && (i - bad) % 5 == 0) => ("cas", pair[0]),
                0 => ("read", ValueId::NULL),
                1 => ("write", pair[0]),
                _ => ("cas", b.values().list(&pair)),
            };
            let index = b.invoke(Invocation::new(client, name, 2 * i).key(key).input(input));
            let error = b.values().str("refused");
            b.complete(
                index,
                match i % 7 {
                    0 => Completion::unknown(),
                    1 => Completion::at(2 * i + 1).error(error),
                    _ => Completion::at(2 * i + 1),
                },
            );
        }
        b.finish()
    }

    #[test]
    fn calls_are_grouped_by_key_in_their_order_however_many_cores_do_it() {
        let model = Register { initial: ValueId::NULL };
        let large = PARALLEL_CALLS_MIN as i64 * 2;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(5).build().expect("threads");
        for ops in [0, 1, 2, 100, large] {
            let history = history(ops, None);
            let reader = Reader::new(&history, ModelKind::Register, &model).expect("known verbs");
            let (calls, parts) = pool.install(|| reader.parts()).expect("sound operations");
            let mut expected: BTreeMap<KeyId, Vec<Call<_>>> = BTreeMap::new();
            for op in history.glances().filter(|op| op.outcome != Outcome::Fail) {
                let of_key = expected.entry(op.key).or_default();
                of_key.extend(reader.call(&op).expect("sound"));
            }
            let found = parts.iter().map(|part| (part.key, calls[part.range.clone()].to_vec()));
            assert_eq!(found.collect::<BTreeMap<_, _>>(), expected, "{ops} operations");
        }
    }

    #[test]
    fn the_first_operation_that_does_not_fit_is_named_whoever_finds_it() {
        let model = Register { initial: ValueId::NULL };
        for ops in [100, PARALLEL_CALLS_MIN as i64 * 2] {
            for bad in [2, 51, ops - 5] {
                let history = history(ops, Some(bad));
                let reader = Reader::new(&history, ModelKind::Register, &model).expect("verbs");
                let error = reader.parts().expect_err("an input of the wrong shape");
                let line = history.line(history.op(OpIndex(bad as u32)).invoke_at);
                assert_eq!(error.line, line, "{}", error.message);
            }
        }
    }
}

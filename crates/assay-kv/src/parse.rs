//! Requests as types: the JSON of `POST /op` in, a [`Command`] or a sentence about it out.
//!
//! | op | input | answer |
//! |---|---|---|
//! | `register.read` | – | the value, or null |
//! | `register.write` | value | null |
//! | `register.cas` | `[from, to]` | true if swapped, false if compared unequal |
//! | `txn` (no key) | list of micro-operations | the same list with what was read |
//! | `map.get`, `map.remove` | field | the value or null; whether it was there |
//! | `map.put` | `[field, value]` | null |
//! | `map.read` | – | all fields |
//! | `counter.add` | integer | null |
//! | `counter.read` | – | the value |
//! | `set.add`, `set.remove`, `set.contains` | element | true or false |
//! | `set.read` | – | list of elements |
//! | `queue.enqueue` | element | null |
//! | `queue.dequeue` | – | the element, or null |
//! | `log.append` | element | its offset |
//! | `log.read` | null or offset | the whole log; the element there or null |
//! | `lock.acquire`, `lock.release` | holder | null, or a fail |
//! | `lease.acquire` | `{"holder": name, "ttl_ms": integer}` | the fencing token |
//! | `lease.renew`, `lease.release`, `lease.use` | token | null, or a fail |
//! | `bank.open` | `{"account": name, "balance": integer}` | null |
//! | `bank.transfer` | `{"from": name, "to": name, "amount": integer}` | null, or a fail |
//! | `bank.read` | – | balances by account |
//! | `ledger.credit`, `ledger.debit` | `{"id": name, "amount": integer}` | null, or a fail |
//! | `ledger.balance` | – | the balance |
//! | `members` (no key) | – | `{"voters": [ids]}` |
//!
//! A micro-operation is `["r", key, null]`, `["w", key, value]` or `["append", key, value]`.
//! Whatever does not fit is a [`BadRequest`] that says what was expected. Nothing is guessed.

use crate::state::{Command, Key, Micro, Op};
use serde::Deserialize;
use serde_json::Value;

/// Bytes of a key.
pub const KEY_BYTES_MAX: usize = 256;
/// Bytes of a request's id.
pub const ID_BYTES_MAX: usize = 128;
/// Micro-operations of one transaction.
pub const MICROS_MAX: usize = 128;
/// The longest lease: a day.
pub const TTL_MS_MAX: u64 = 86_400_000;

/// A request that means nothing, and what it should have been.
#[derive(Debug, thiserror::Error, PartialEq)]
#[error("{0}")]
pub struct BadRequest(String);

type Parsed<T> = Result<T, BadRequest>;

fn bad<T>(what: impl Into<String>) -> Parsed<T> {
    Err(BadRequest(what.into()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    op: String,
    #[serde(default)]
    key: Value,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    id: Option<String>,
}

/// Parses the body of `POST /op`.
pub fn request(body: &[u8]) -> Parsed<Command> {
    let request: Request = match serde_json::from_slice(body) {
        Ok(request) => request,
        Err(error) => {
            let form = r#"{"op": "register.write", "key": "x", "input": 5, "id": "c1-7"}"#;
            return bad(format!("not a request: {error}; a request is like {form}"));
        }
    };
    if request.id.as_ref().is_some_and(|id| id.is_empty() || id.len() > ID_BYTES_MAX) {
        return bad(format!("an id has 1 to {ID_BYTES_MAX} bytes"));
    }
    let op = match (request.op.as_str(), &request.key) {
        ("txn", Value::Null) => Op::Txn(micros(&request.input)?),
        ("members", Value::Null) => nothing(&request.input, Op::Members)?,
        ("txn" | "members", _) => return bad("txn and members have no key of their own"),
        (name, key) => keyed(name, name_of(key, "key")?, request.input)?,
    };
    Ok(Command { id: request.id, op })
}

fn keyed(name: &str, key: Key, input: Value) -> Parsed<Op> {
    Ok(match name {
        "register.read" => nothing(&input, Op::Read(key))?,
        "register.write" => Op::Write(key, input),
        "register.cas" => {
            let [from, to] = pair(input, "[from, to]")?;
            Op::Cas(key, from, to)
        }
        "map.get" => Op::MapGet(key, name_of(&input, "input (the field)")?),
        "map.put" => {
            let [field, value] = pair(input, "[field, value]")?;
            Op::MapPut(key, name_of(&field, "field")?, value)
        }
        "map.remove" => Op::MapRemove(key, name_of(&input, "input (the field)")?),
        "map.read" => nothing(&input, Op::MapRead(key))?,
        "counter.add" => Op::CounterAdd(key, integer(&input, "input (the amount)")?),
        "counter.read" => nothing(&input, Op::CounterRead(key))?,
        "set.add" => Op::SetAdd(key, input),
        "set.remove" => Op::SetRemove(key, input),
        "set.contains" => Op::SetContains(key, input),
        "set.read" => nothing(&input, Op::SetRead(key))?,
        "queue.enqueue" => Op::Enqueue(key, input),
        "queue.dequeue" => nothing(&input, Op::Dequeue(key))?,
        "log.append" => Op::LogAppend(key, input),
        "log.read" if input.is_null() => Op::LogRead(key, None),
        "log.read" => Op::LogRead(key, Some(natural(&input, "input (the offset)")?)),
        "lock.acquire" => Op::LockAcquire(key, name_of(&input, "input (the holder)")?),
        "lock.release" => Op::LockRelease(key, name_of(&input, "input (the holder)")?),
        "lease.renew" => Op::LeaseRenew(key, natural(&input, "input (the token)")?),
        "lease.release" => Op::LeaseRelease(key, natural(&input, "input (the token)")?),
        "lease.use" => Op::LeaseUse(key, natural(&input, "input (the token)")?),
        "lease.acquire" => lease(key, &input)?,
        "bank.open" => {
            let account = name_of(&input["account"], "input.account")?;
            Op::BankOpen(key, account, amount(&input["balance"], "input.balance", 0)?)
        }
        "bank.transfer" => {
            let (from, to) = (&input["from"], &input["to"]);
            let (from, to) = (name_of(from, "input.from")?, name_of(to, "input.to")?);
            Op::BankTransfer(key, from, to, amount(&input["amount"], "input.amount", 1)?)
        }
        "bank.read" => nothing(&input, Op::BankRead(key))?,
        "ledger.credit" | "ledger.debit" => {
            let id = name_of(&input["id"], "input.id")?;
            let amount = amount(&input["amount"], "input.amount", 1)?;
            Op::LedgerBook(key, id, if name == "ledger.debit" { -amount } else { amount })
        }
        "ledger.balance" => nothing(&input, Op::LedgerBalance(key))?,
        _ => return bad(format!("there is no op {name:?}; the page docs/systems/kv.md has all")),
    })
}

fn lease(key: Key, input: &Value) -> Parsed<Op> {
    let holder = name_of(&input["holder"], "input.holder")?;
    let ttl_ms = natural(&input["ttl_ms"], "input.ttl_ms")?;
    if ttl_ms == 0 || ttl_ms > TTL_MS_MAX {
        return bad(format!("input.ttl_ms is 1 to {TTL_MS_MAX}"));
    }
    Ok(Op::LeaseAcquire(key, holder, ttl_ms))
}

fn micros(input: &Value) -> Parsed<Vec<Micro>> {
    let Some(list) = input.as_array() else {
        return bad("the input of txn is a list of micro-operations");
    };
    if list.is_empty() || list.len() > MICROS_MAX {
        return bad(format!("a txn has 1 to {MICROS_MAX} micro-operations"));
    }
    list.iter().map(micro).collect()
}

fn micro(micro: &Value) -> Parsed<Micro> {
    const FORM: &str =
        r#"a micro-operation is ["r", key, null], ["w", key, value] or ["append", key, value]"#;
    let Some([verb, key, value]) = micro.as_array().map(Vec::as_slice) else { return bad(FORM) };
    name_of(key, "key")?;
    Ok(match verb.as_str() {
        Some("r") if value.is_null() => Micro::Read(key.clone()),
        Some("w") => Micro::Write(key.clone(), value.clone()),
        Some("append") => Micro::Append(key.clone(), value.clone()),
        _ => return bad(FORM),
    })
}

fn nothing(input: &Value, op: Op) -> Parsed<Op> {
    if input.is_null() { Ok(op) } else { bad("this op takes no input") }
}

/// A string or a whole number, as the name of something.
fn name_of(value: &Value, what: &str) -> Parsed<String> {
    let name = match value {
        Value::String(name) => name.clone(),
        Value::Number(number) if number.is_i64() || number.is_u64() => number.to_string(),
        _ => return bad(format!("{what} must be a string or a whole number")),
    };
    if name.is_empty() || name.len() > KEY_BYTES_MAX {
        return bad(format!("{what} must have 1 to {KEY_BYTES_MAX} bytes"));
    }
    Ok(name)
}

fn pair(input: Value, form: &str) -> Parsed<[Value; 2]> {
    let Value::Array(list) = input else { return bad(format!("the input must be {form}")) };
    <[Value; 2]>::try_from(list).or_else(|_| bad(format!("the input must be {form}")))
}

fn integer(value: &Value, what: &str) -> Parsed<i64> {
    value.as_i64().map_or_else(|| bad(format!("{what} must be a 64-bit integer")), Ok)
}

fn natural(value: &Value, what: &str) -> Parsed<u64> {
    value.as_u64().map_or_else(|| bad(format!("{what} must be a whole number from 0")), Ok)
}

fn amount(value: &Value, what: &str, least: i64) -> Parsed<i64> {
    let amount = integer(value, what)?;
    if amount >= least { Ok(amount) } else { bad(format!("{what} must be at least {least}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_does_not_fit_is_said_and_nothing_is_guessed() {
        let cases = [
            ("", "not a request"),
            ("[]", "not a request"),
            (r#"{"op": "register.read", "key": "x", "more": 1}"#, "unknown field"),
            (r#"{"op": "register.read"}"#, "key must be"),
            (r#"{"op": "register.read", "key": 1.5}"#, "key must be"),
            (r#"{"op": "register.read", "key": ""}"#, "1 to 256 bytes"),
            (r#"{"op": "register.read", "key": "x", "input": 1}"#, "takes no input"),
            (r#"{"op": "register.cas", "key": "x", "input": [1]}"#, "[from, to]"),
            (r#"{"op": "register.swap", "key": "x"}"#, "there is no op"),
            (r#"{"op": "register.write", "key": "x", "id": ""}"#, "an id has"),
            (r#"{"op": "counter.add", "key": "x", "input": 1e30}"#, "64-bit integer"),
            (r#"{"op": "lease.acquire", "key": "x", "input": 3}"#, "input.holder"),
            (r#"{"op": "lease.use", "key": "x", "input": -3}"#, "whole number from 0"),
            (r#"{"op": "txn", "key": "x", "input": [["r", 1, null]]}"#, "no key of their own"),
            (r#"{"op": "txn", "input": []}"#, "1 to 128"),
            (r#"{"op": "txn", "input": [["r", 1, 2]]}"#, "a micro-operation is"),
            (r#"{"op": "txn", "input": [["w", null, 2]]}"#, "key must be"),
            (
                r#"{"op": "bank.transfer", "key": 1, "input": {"from": 1, "to": 2, "amount": 0}}"#,
                "at least 1",
            ),
            (
                r#"{"op": "ledger.credit", "key": 1, "input": {"id": "a", "amount": -1}}"#,
                "at least",
            ),
            (r#"{"op": "ledger.debit", "key": 1, "input": {"amount": 1}}"#, "input.id must be"),
        ];
        for (text, expected) in cases {
            let error = request(text.as_bytes()).expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn numbers_and_strings_name_the_same_object() {
        let parsed = |text: &str| request(text.as_bytes()).expect(text).op;
        let number = parsed(r#"{"op": "register.read", "key": 7}"#);
        assert_eq!(number, parsed(r#"{"op": "register.read", "key": "7"}"#));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_parser_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _either = request(&bytes);
        }
    }
}

//! What each object promises, and what each defect of the state breaks.

use super::*;
use crate::parse;
use proptest::prelude::*;

fn command(text: &str) -> Command {
    parse::request(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn act(state: &mut State, at_ms: u64, rules: Rules, text: &str) -> Outcome {
    let command = command(text);
    if command.op.is_read() {
        return state.read(&command.op, &[1, 2, 3]);
    }
    let batch = Batch { at_ms, rules, commands: vec![command] };
    state.apply(&batch).remove(0)
}

/// Runs `op key input -> answer` lines; `!` instead of an answer is a fail.
#[track_caller]
fn check(script: &[(&str, &str)]) {
    let mut state = State::default();
    for (text, expected) in script {
        let outcome = act(&mut state, 0, Rules::default(), text);
        match (&outcome, *expected) {
            (Outcome::Fail(_), "!") => {}
            (Outcome::Ok(value), expected) => assert_eq!(value.to_string(), expected, "{text}"),
            (Outcome::Fail(reason), _) => panic!("{text}: {reason}"),
        }
    }
}

#[test]
fn registers_maps_and_counters() {
    check(&[
        (r#"{"op": "register.read", "key": 1}"#, "null"),
        (r#"{"op": "register.cas", "key": 1, "input": [null, 5]}"#, "true"),
        (r#"{"op": "register.cas", "key": 1, "input": [4, 6]}"#, "false"),
        (r#"{"op": "register.write", "key": 2, "input": 9}"#, "null"),
        (r#"{"op": "register.read", "key": 1}"#, "5"),
        (r#"{"op": "map.put", "key": 1, "input": ["a", 1]}"#, "null"),
        (r#"{"op": "map.get", "key": 1, "input": "a"}"#, "1"),
        (r#"{"op": "map.read", "key": 1}"#, r#"{"a":1}"#),
        (r#"{"op": "map.remove", "key": 1, "input": "a"}"#, "true"),
        (r#"{"op": "map.remove", "key": 1, "input": "a"}"#, "false"),
        (r#"{"op": "counter.add", "key": 1, "input": 9223372036854775807}"#, "null"),
        (r#"{"op": "counter.add", "key": 1, "input": 1}"#, "!"),
        (r#"{"op": "counter.add", "key": 1, "input": -7}"#, "null"),
        (r#"{"op": "counter.read", "key": 1}"#, "9223372036854775800"),
        (r#"{"op": "members"}"#, r#"{"voters":[1,2,3]}"#),
    ]);
}

#[test]
fn sets_queues_logs_and_locks() {
    check(&[
        (r#"{"op": "set.add", "key": 1, "input": 3}"#, "true"),
        (r#"{"op": "set.add", "key": 1, "input": 3}"#, "false"),
        (r#"{"op": "set.read", "key": 1}"#, "[3]"),
        (r#"{"op": "set.contains", "key": 1, "input": 4}"#, "false"),
        (r#"{"op": "set.remove", "key": 1, "input": 3}"#, "true"),
        (r#"{"op": "queue.enqueue", "key": 1, "input": "a"}"#, "null"),
        (r#"{"op": "queue.enqueue", "key": 1, "input": "b"}"#, "null"),
        (r#"{"op": "queue.dequeue", "key": 1}"#, r#""a""#),
        (r#"{"op": "queue.dequeue", "key": 2}"#, "null"),
        (r#"{"op": "log.append", "key": 1, "input": "a"}"#, "0"),
        (r#"{"op": "log.append", "key": 1, "input": "b"}"#, "1"),
        (r#"{"op": "log.read", "key": 1}"#, r#"["a","b"]"#),
        (r#"{"op": "log.read", "key": 1, "input": 1}"#, r#""b""#),
        (r#"{"op": "log.read", "key": 1, "input": 2}"#, "null"),
        (r#"{"op": "lock.acquire", "key": 1, "input": "a"}"#, "null"),
        (r#"{"op": "lock.acquire", "key": 1, "input": "b"}"#, "!"),
        (r#"{"op": "lock.release", "key": 1, "input": "b"}"#, "!"),
        (r#"{"op": "lock.release", "key": 1, "input": "a"}"#, "null"),
        (r#"{"op": "lock.acquire", "key": 1, "input": "b"}"#, "null"),
    ]);
}

#[test]
fn transactions_are_all_or_none_and_see_themselves() {
    check(&[
        (
            r#"{"op": "txn", "input": [["append", 1, 5], ["r", 1, null], ["w", 2, 7]]}"#,
            r#"[["append",1,5],["r",1,[5]],["w",2,7]]"#,
        ),
        (r#"{"op": "txn", "input": [["append", 1, 6], ["append", 2, 8]]}"#, "!"),
        (
            r#"{"op": "txn", "input": [["r", 1, null], ["r", 2, null]]}"#,
            r#"[["r",1,[5]],["r",2,7]]"#,
        ),
        (
            r#"{"op": "txn", "input": [["w", 2, null], ["append", 2, 8]]}"#,
            r#"[["w",2,null],["append",2,8]]"#,
        ),
        (r#"{"op": "register.read", "key": 2}"#, "[8]"),
    ]);
}

#[test]
fn transfers_keep_the_sum_and_refuse_what_is_not_there() {
    check(&[
        (r#"{"op": "bank.open", "key": 1, "input": {"account": "a", "balance": 10}}"#, "null"),
        (r#"{"op": "bank.open", "key": 1, "input": {"account": "b", "balance": 0}}"#, "null"),
        (r#"{"op": "bank.open", "key": 1, "input": {"account": "b", "balance": 9}}"#, "!"),
        (
            r#"{"op": "bank.transfer", "key": 1, "input": {"from": "a", "to": "b", "amount": 4}}"#,
            "null",
        ),
        (
            r#"{"op": "bank.transfer", "key": 1, "input": {"from": "a", "to": "b", "amount": 7}}"#,
            "!",
        ),
        (
            r#"{"op": "bank.transfer", "key": 1, "input": {"from": "a", "to": "c", "amount": 1}}"#,
            "!",
        ),
        (
            r#"{"op": "bank.transfer", "key": 1, "input": {"from": "a", "to": "a", "amount": 6}}"#,
            "null",
        ),
        (r#"{"op": "bank.read", "key": 1}"#, r#"{"a":6,"b":4}"#),
    ]);
}

#[test]
fn accounts_are_never_overdrawn_and_a_retry_is_booked_once() {
    let credit =
        r#"{"op": "ledger.credit", "key": 1, "input": {"id": "a", "amount": 5}, "id": "a"}"#;
    let balance = r#"{"op": "ledger.balance", "key": 1}"#;
    check(&[
        (balance, "0"),
        (r#"{"op": "ledger.debit", "key": 1, "input": {"id": "z", "amount": 1}}"#, "!"),
        (credit, "null"),
        (credit, "null"),
        (balance, "5"),
        (r#"{"op": "ledger.debit", "key": 1, "input": {"id": "b", "amount": 6}}"#, "!"),
        (r#"{"op": "ledger.debit", "key": 1, "input": {"id": "c", "amount": 5}}"#, "null"),
        (balance, "0"),
    ]);
    let twice = Rules { retries: Retries::ApplyAgain, ..Rules::default() };
    for (rules, entries) in [(Rules::default(), 1), (twice, 2)] {
        let mut state = State::default();
        for _ in 0..2 {
            act(&mut state, 0, rules, credit);
        }
        let account = state.dump()["accounts"]["1"].clone();
        let entry = json!({"id": "a", "amount": 5});
        assert_eq!(account["entries"], json!(vec![entry; entries]), "{account}");
        assert_eq!(account["balance"], 5 * entries);
    }
}

#[test]
fn a_queue_remembers_what_it_has_handed_out() {
    let mut state = State::default();
    for text in [
        r#"{"op": "queue.enqueue", "key": 1, "input": "a"}"#,
        r#"{"op": "queue.enqueue", "key": 1, "input": "b"}"#,
        r#"{"op": "queue.dequeue", "key": 1}"#,
    ] {
        act(&mut state, 0, Rules::default(), text);
    }
    assert_eq!(state.dump()["queues"]["1"], json!({"taken": ["a"], "waiting": ["b"]}));
}

const ACQUIRE: &str =
    r#"{"op": "lease.acquire", "key": 1, "input": {"holder": "a", "ttl_ms": 100}}"#;

#[test]
fn a_lease_ends_by_the_time_in_the_batches_and_old_tokens_are_fenced_off() {
    let honest = Rules::default();
    let fenceless = Rules { fencing: Fencing::Ignored, ..honest };
    for (rules, old_token_works) in [(honest, false), (fenceless, true)] {
        let mut state = State::default();
        assert_eq!(act(&mut state, 1_000, rules, ACQUIRE), Outcome::Ok(json!(1)));
        assert!(matches!(act(&mut state, 1_099, rules, ACQUIRE), Outcome::Fail(_)));
        assert_eq!(act(&mut state, 1_100, rules, ACQUIRE), Outcome::Ok(json!(2)));
        let token = |n: u64| format!(r#"{{"op": "lease.use", "key": 1, "input": {n}}}"#);
        assert!(matches!(act(&mut state, 1_100, rules, &token(3)), Outcome::Fail(_)));
        assert!(matches!(act(&mut state, 1_100, rules, &token(1)), Outcome::Ok(_)));
        assert!(matches!(act(&mut state, 1_100, rules, &token(2)), Outcome::Ok(_)));
        let old = act(&mut state, 1_100, rules, &token(1));
        assert_eq!(matches!(old, Outcome::Ok(_)), old_token_works, "{old:?}");
        // The next leader's clock is behind: what has run out stays so.
        act(&mut state, 1_300, rules, &token(2));
        assert_eq!(act(&mut state, 1_150, rules, ACQUIRE), Outcome::Ok(json!(3)));
    }
}

#[test]
fn a_lease_is_renewed_and_released_only_by_its_token() {
    let (mut state, rules) = (State::default(), Rules::default());
    let on = |verb: &str, n: u64| format!(r#"{{"op": "lease.{verb}", "key": 1, "input": {n}}}"#);
    act(&mut state, 0, rules, ACQUIRE);
    assert!(matches!(act(&mut state, 90, rules, &on("renew", 2)), Outcome::Fail(_)));
    assert!(matches!(act(&mut state, 90, rules, &on("renew", 1)), Outcome::Ok(_)));
    assert!(matches!(act(&mut state, 189, rules, ACQUIRE), Outcome::Fail(_)));
    assert!(matches!(act(&mut state, 189, rules, &on("release", 1)), Outcome::Ok(_)));
    assert!(matches!(act(&mut state, 189, rules, &on("release", 1)), Outcome::Fail(_)));
    assert_eq!(act(&mut state, 189, rules, ACQUIRE), Outcome::Ok(json!(2)));
    assert!(matches!(act(&mut state, 289, rules, &on("renew", 2)), Outcome::Fail(_)));
}

#[test]
fn a_retry_is_answered_from_memory_unless_a_defect_says_otherwise() {
    let cas = r#"{"op": "register.cas", "key": 1, "input": [null, 1], "id": "a"}"#;
    let write = r#"{"op": "register.write", "key": 1, "input": 2}"#;
    let append = r#"{"op": "log.append", "key": 1, "input": 7, "id": "b"}"#;
    let after = [
        (Retries::Remember, json!(2), json!([7])),
        (Retries::ApplyAgain, json!(2), json!([7, 7])),
        (Retries::Overwrite, json!(1), json!([7])),
    ];
    for (retries, register, log) in after {
        let (mut state, rules) = (State::default(), Rules { retries, ..Rules::default() });
        for text in [cas, write, cas, append, append] {
            act(&mut state, 0, rules, text);
        }
        let read = |text: &str| act(&mut state.clone(), 0, rules, text);
        assert_eq!(read(r#"{"op": "register.read", "key": 1}"#), Outcome::Ok(register));
        assert_eq!(read(r#"{"op": "log.read", "key": 1}"#), Outcome::Ok(log));
    }
}

#[test]
fn an_id_belongs_to_one_request_and_old_ids_are_forgotten() {
    let mut state = State::default();
    let add = |id: &str, n: i64| {
        let op = Op::CounterAdd("x".to_string(), n);
        Batch::of(vec![Command { id: Some(id.to_string()), op }])
    };
    assert_eq!(state.apply(&add("first", 1)), [Outcome::Ok(json!(null))]);
    assert!(matches!(state.apply(&add("first", 2))[0], Outcome::Fail(_)));
    for i in 0..retry::REQUESTS_MAX {
        state.apply(&add(&i.to_string(), 0));
    }
    assert_eq!(state.requests.len(), retry::REQUESTS_MAX);
    state.apply(&add("first", 1));
    assert_eq!(state.read(&Op::CounterRead("x".to_string()), &[]), Outcome::Ok(json!(2)));
}

fn any_request() -> impl Strategy<Value = String> {
    let op = prop_oneof![
        (0..9u32).prop_map(|v| format!(r#""register.write", "key": 1, "input": {v}"#)),
        (0..9u32, 0..9u32)
            .prop_map(|(a, b)| format!(r#""register.cas", "key": 1, "input": [{a},{b}]"#)),
        (0..9u32).prop_map(|v| format!(r#""txn", "input": [["append", 2, {v}], ["r", 2, null]]"#)),
        (0..9u32).prop_map(|v| format!(r#""set.add", "key": 1, "input": {v}"#)),
        (0..9u32).prop_map(|v| format!(r#""queue.enqueue", "key": 1, "input": {v}"#)),
        Just(r#""queue.dequeue", "key": 1"#.to_string()),
        (1..9i32, 0..4u32).prop_map(|(amount, id)| {
            let verb = if amount < 6 { "credit" } else { "debit" };
            let input = format!(r#"{{"id": {id}, "amount": {amount}}}"#);
            format!(r#""ledger.{verb}", "key": 1, "input": {input}"#)
        }),
        Just(ACQUIRE[7..ACQUIRE.len() - 1].to_string()),
        (0..4u32).prop_map(|v| format!(r#""lease.use", "key": 1, "input": {v}"#)),
    ];
    (op, 0..20u32).prop_map(|(op, id)| format!(r#"{{"op": {op}, "id": "{id}"}}"#))
}

proptest! {
    #[test]
    fn a_state_that_went_through_a_snapshot_is_the_same_state(
        requests in proptest::collection::vec((any_request(), 0..50u64), 0..60),
        cut in 0..60usize,
    ) {
        let batches = requests.iter().map(|(text, at_ms)| Batch {
            at_ms: *at_ms,
            rules: Rules::default(),
            commands: vec![command(text)],
        });
        let (mut straight, mut restored) = (State::default(), State::default());
        for (i, batch) in batches.enumerate() {
            if i == cut {
                let bytes = serde_json::to_vec(&restored).unwrap();
                restored = serde_json::from_slice(&bytes).unwrap();
            }
            prop_assert_eq!(straight.apply(&batch), restored.apply(&batch));
        }
        let bytes = |state: &State| serde_json::to_vec(state).unwrap();
        prop_assert_eq!(bytes(&straight), bytes(&restored));
    }
}

//! What happens in which order, in the cases people meet.

use super::support::{Bench, call, confirm, message, result};
use assay_session::{
    Answer, Call, CallKind, Cost, Effect, ErrorKind, EventId, Input, Refusal, RetryStatus, Said,
    SessionError, Status, ToolAnswer, Usage, WAITS_OPEN_MAX,
};
use serde_json::Value;

fn usage() -> Usage {
    Usage { input_tokens: 3, output_tokens: 2, ..Usage::default() }
}

#[test]
fn a_plain_turn_has_its_events_in_order() {
    let mut bench = Bench::default();
    bench.send(&[message("hi")]).expect("idle");
    let turn = bench.start();
    let end = Said::RequestEnd { is_error: false, usage: usage(), cost_nanos: Some(7) };
    bench.say(&turn, &[Said::RequestStart, end]).expect("current");
    bench.say(&turn, &[Said::Message("hello".into()), Said::Finished]).expect("current");
    let expected = [
        "user.message",
        "session.status_running",
        "span.model_request_start",
        "span.model_request_end",
        "agent.message",
        "session.status_idle",
    ];
    assert_eq!(bench.names(0), expected);
    assert_eq!((bench.session.status, bench.session.usage), (Status::Idle, usage()));
    assert_eq!(bench.session.cost, Cost::Nanos(7));
    assert!(bench.session.turns.is_empty() && bench.session.active_ms > 0);
    assert_eq!(bench.say(&turn, &[Said::Thinking]), Err(Refusal::Stale), "the turn is over");
    // What goes into the same commit as nothing is fenced, too.
    assert_eq!(bench.say(&turn, &[]), Err(Refusal::Stale));
}

#[test]
fn a_record_from_before_there_were_prices_never_has_a_cost() {
    let mut bench = Bench::default();
    bench.session.usage = usage();
    let mut old = serde_json::to_value(&bench.session).expect("data");
    old.as_object_mut().expect("fields").remove("cost").expect("it is kept");
    bench.session = serde_json::from_value(old).expect("an earlier record");
    bench.send(&[message("hi")]).expect("idle");
    let turn = bench.start();
    let end = Said::RequestEnd { is_error: false, usage: usage(), cost_nanos: Some(7) };
    bench.say(&turn, &[Said::RequestStart, end.clone()]).expect("current");
    bench.say(&turn, &[Said::RequestStart, end]).expect("current");
    assert_eq!(bench.session.cost, Cost::Unknown);
}

#[test]
fn parallel_calls_are_waited_for_together_and_answered_once() {
    let mut bench = Bench::default();
    bench.send(&[message("hi")]).expect("idle");
    let turn = bench.start();
    let calls = Said::Calls(vec![call(CallKind::Custom), call(CallKind::Ask)]);
    bench.say(&turn, &[calls]).expect("current");
    let (custom, ask) = (bench.last_id("agent.custom_tool_use"), bench.last_id("agent.tool_use"));
    assert_eq!(bench.say(&turn, &[Said::Finished]).map(drop), Err(open_calls()));
    let at = bench.log.len();
    let first = bench.send(&[result(&custom, "4")]).expect("it waits");
    assert!(matches!(&first.effects[..], [Effect::Answer { call, .. }] if *call == custom));
    let expected = ["user.custom_tool_result", "session.status_running", "session.status_idle"];
    assert_eq!(bench.names(at), expected);
    // The same again is a row without an effect, another answer is none.
    let again = bench.send(&[result(&custom, "4")]).expect("a repeat");
    assert_eq!((again.effects.len(), again.events.len()), (0, 1));
    let other = bench.send(&[result(&custom, "5")]).map(drop);
    assert_eq!(other, Err(Refusal::AnsweredDifferently(custom.clone())));
    // Ids of one kind are not answers of the other.
    let crossed = bench.send(&[confirm(&custom, ToolAnswer::Allow)]).map(drop);
    assert_eq!(crossed, Err(Refusal::NoPendingConfirmation(custom)));
    let at = bench.log.len();
    bench.send(&[confirm(&ask, ToolAnswer::Deny)]).expect("it waits");
    let expected = ["user.tool_confirmation", "session.status_running", "agent.tool_result"];
    assert_eq!(bench.names(at), expected);
    let again = bench.send(&[confirm(&ask, ToolAnswer::Deny)]).expect("a repeat");
    assert_eq!((again.effects.len(), again.events.len(), again.echoes.len()), (0, 0, 1));
    bench.say(&turn, &[Said::Finished]).expect("all are answered");
}

#[test]
fn a_question_can_stand_within_its_request_and_no_wait_does() {
    let mut bench = Bench::default();
    bench.send(&[message("hi")]).expect("idle");
    let turn = bench.start();
    let end = Said::RequestEnd { is_error: false, usage: usage(), cost_nanos: Some(7) };
    let ask = || Said::Calls(vec![call(CallKind::Ask)]);
    let open = bench.say(&turn, &[Said::RequestStart, ask()]).map(drop);
    assert_eq!(open, Err(Refusal::Engine("a wait within a request")));
    let custom = Said::Calls(vec![call(CallKind::Custom)]);
    bench.say(&turn, &[Said::RequestStart, ask(), end, custom]).expect("current");
    let expected = [
        "span.model_request_start",
        "agent.tool_use",
        "span.model_request_end",
        "agent.custom_tool_use",
        "session.status_idle",
    ];
    assert_eq!(bench.names(2), expected, "one wait for all of them");
    assert_eq!(bench.session.waits.len(), 2);
}

fn open_calls() -> Refusal {
    Refusal::Engine("a good end of a turn, or a new try, with open calls")
}

#[test]
fn an_engine_that_fails_with_open_calls_ends_them_and_its_turn() {
    let mut bench = Bench::default();
    bench.send(&[message("hi")]).expect("idle");
    let turn = bench.start();
    let calls = Said::Calls(vec![call(CallKind::Custom), call(CallKind::Ask)]);
    bench.say(&turn, &[calls]).expect("current");
    let custom = bench.last_id("agent.custom_tool_use");
    let at = bench.log.len();
    let error = SessionError::new(ErrorKind::UnknownError, "no".into(), RetryStatus::Terminal);
    bench.say(&turn, &[Said::Failed(error)]).expect("at any moment");
    let expected = ["agent.tool_result", "session.error", "session.status_idle"];
    assert_eq!(bench.names(at), expected);
    let late = bench.send(&[result(&custom, "4")]).map(drop);
    assert_eq!(late, Err(Refusal::NoPendingCall(custom)));
    bench.send(&[message("again")]).expect("idle");
    bench.start();
}

#[test]
fn what_comes_after_an_interrupt_runs_after_it_and_is_not_swallowed() {
    let mut bench = Bench::default();
    bench.send(&[message("one")]).expect("idle");
    let turn = bench.start();
    bench.say(&turn, &[Said::RequestStart]).expect("current");
    bench.send(&[message("two, before the interrupt")]).expect("it waits");
    let stopped = bench.send(&[assay_session::Inbound::Interrupt]).expect("always");
    assert_eq!(stopped.effects, [Effect::Abort(turn.clone())]);
    assert_eq!(bench.session.status, Status::Idle);
    bench.send(&[message("three, after it")]).expect("idle");
    // The engine of the first still works: nothing may start, and what it says is not heard.
    let early = bench.take(Input::Dispatch { owner: "p1".into() }).expect("always taken");
    assert_eq!(early.effects, []);
    assert_eq!(bench.say(&turn, &[Said::Finished]).map(drop), Err(Refusal::Stale));
    let freed = bench.take(Input::Aborted(turn)).expect("it was asked to stop");
    assert_eq!(freed.effects, [Effect::Dispatch]);
    let turn = bench.start();
    bench.say(&turn, &[Said::Finished]).expect("current");
    let starts = bench.names(0).iter().filter(|name| **name == "session.status_running").count();
    assert_eq!((starts, bench.session.status), (2, Status::Idle));
}

#[test]
fn an_interrupt_in_a_batch_counts_from_its_place() {
    let mut bench = Bench::default();
    bench.send(&[message("hi")]).expect("idle");
    let turn = bench.start();
    bench.say(&turn, &[Said::Calls(vec![call(CallKind::Custom)])]).expect("current");
    let id = bench.last_id("agent.custom_tool_use");
    let before = bench.clone();
    let late = bench.send(&[assay_session::Inbound::Interrupt, result(&id, "x")]).map(drop);
    assert_eq!(late, Err(Refusal::NoPendingCall(id.clone())));
    assert_eq!((bench.session, bench.log.len()), (before.session.clone(), before.log.len()));
    let mut bench = before;
    bench.send(&[result(&id, "x"), assay_session::Inbound::Interrupt]).expect("in order");
    assert_eq!(bench.session.status, Status::Idle);
}

#[test]
fn only_what_rests_is_archived_or_deleted() {
    let mut bench = Bench::default();
    bench.send(&[message("hi")]).expect("idle");
    assert_eq!(bench.take(Input::Archive).map(drop), Err(Refusal::Busy(Status::Running)));
    let turn = bench.start();
    bench.say(&turn, &[Said::Calls(vec![call(CallKind::Ask)])]).expect("current");
    let id = bench.last_id("agent.tool_use");
    bench.send(&[message("waits behind the call")]).expect("it waits");
    let archived = bench.take(Input::Archive).expect("it rests");
    assert_eq!(archived.effects, [Effect::Abort(turn.clone())]);
    bench.take(Input::Archive).expect("again is nothing");
    // The engine that waited stops as after an interrupt, and is heard once.
    let stopped = bench.take(Input::Aborted(turn.clone())).expect("it brings what it leaves");
    assert_eq!((stopped.events.len(), stopped.effects.len()), (0, 0));
    assert_eq!(bench.take(Input::Aborted(turn)).map(drop), Err(Refusal::Stale));
    let names = bench.names(0);
    let ended = names.iter().filter(|name| **name == "session.status_terminated").count();
    assert_eq!((ended, names.last()), (1, Some(&"session.status_terminated")));
    let late = bench.send(&[confirm(&id, ToolAnswer::Allow)]).map(drop);
    assert_eq!(late, Err(Refusal::Archived));
    let gone = bench.take(Input::Delete).expect("archived ones too");
    assert_eq!(gone.events.len(), 1);
}

#[test]
fn an_update_says_what_changed_and_an_archived_session_takes_none() {
    let mut bench = Bench::default();
    let update = |title: Option<Value>| Input::Update { title, metadata: None };
    assert_eq!(bench.take(update(None)).expect("nothing").events.len(), 0);
    bench.send(&[message("hi")]).expect("idle");
    let said = bench.take(update(Some(Value::Null))).expect("also while it runs");
    let event = serde_json::to_value(&said.events[0]).expect("data");
    assert_eq!(event["type"], "session.updated");
    let fields = event.as_object().expect("flat");
    assert_eq!((fields.get("title"), fields.contains_key("metadata")), (Some(&().into()), false));
    assert_eq!(said.session.status, Status::Running, "it is no status");
    let turn = bench.start();
    bench.say(&turn, &[Said::Finished]).expect("current");
    bench.take(Input::Archive).expect("it rests");
    assert_eq!(bench.take(update(Some("t".into()))).map(drop), Err(Refusal::Archived));
}

#[test]
fn after_a_restart_accepted_turns_run_once_and_running_ones_never_again() {
    let mut bench = Bench::default();
    bench.send(&[message("one"), message("two")]).expect("idle");
    let turn = bench.start();
    let tool = Said::ToolUse { server: None, name: "bash".into(), input: serde_json::Map::new() };
    bench.say(&turn, &[Said::RequestStart, tool]).expect("current");
    let at = bench.log.len();
    let recovered = bench.take(Input::Recover).expect("always");
    assert_eq!(recovered.effects, [Effect::Dispatch], "the second was only accepted");
    let expected = ["span.model_request_end", "agent.tool_result", "session.error"];
    assert_eq!(bench.names(at), expected);
    assert_eq!(bench.say(&turn, &[Said::Finished]).map(drop), Err(Refusal::Stale));
    let turn = bench.start();
    bench.say(&turn, &[Said::Finished]).expect("current");
    assert_eq!(bench.session.status, Status::Idle);
}

#[test]
fn a_wait_survives_a_restart_and_its_answer_says_what_was_lost() {
    for kind in [CallKind::Custom, CallKind::Ask] {
        let mut bench = Bench::default();
        bench.send(&[message("hi")]).expect("idle");
        let turn = bench.start();
        bench.say(&turn, &[Said::Calls(vec![call(kind), call(kind)])]).expect("current");
        let at = bench.log.len();
        bench.take(Input::Recover).expect("always");
        assert_eq!((bench.names(at).len(), bench.session.waits.len()), (0, 2));
        let (answer, sibling) = match kind {
            CallKind::Custom => {
                let ids: Vec<_> = bench.session.waits.iter().map(|w| w.id.clone()).collect();
                (result(&ids[0], "4"), result(&ids[1], "5"))
            }
            CallKind::Ask => {
                let ids: Vec<_> = bench.session.waits.iter().map(|w| w.id.clone()).collect();
                (confirm(&ids[0], ToolAnswer::Allow), confirm(&ids[1], ToolAnswer::Allow))
            }
        };
        let step = bench.send(std::slice::from_ref(&answer)).expect("it waits");
        assert_eq!(step.effects, [], "nobody is there to take it");
        assert!(bench.names(at).contains(&"session.error"));
        assert_eq!(bench.names(at).last(), Some(&"session.status_idle"));
        assert!(bench.session.turns.is_empty());
        bench.send(&[sibling]).expect_err("it went with its turn");
        bench.send(&[answer]).expect("a repeat is none the worse for it");
    }
}

#[test]
fn answers_to_all_calls_of_a_lost_turn_are_kept_in_one_request() {
    let lost = || {
        let mut bench = Bench::default();
        bench.send(&[message("hi")]).expect("idle");
        let turn = bench.start();
        let calls = vec![call(CallKind::Custom), call(CallKind::Ask), call(CallKind::Custom)];
        bench.say(&turn, &[Said::Calls(calls)]).expect("current");
        bench.take(Input::Recover).expect("always");
        let ids: Vec<EventId> = bench.session.waits.iter().map(|wait| wait.id.clone()).collect();
        (bench, ids)
    };
    let end = ["session.error", "session.status_idle"];

    let (mut bench, ids) = lost();
    let at = bench.log.len();
    let all = [result(&ids[2], "4"), confirm(&ids[1], ToolAnswer::Allow), result(&ids[0], "5")];
    let step = bench.send(&all).expect("all of them wait");
    assert_eq!((step.effects.len(), step.echoes.len()), (0, 3));
    let kept = [
        "user.custom_tool_result",
        "user.tool_confirmation",
        "agent.tool_result",
        "user.custom_tool_result",
    ];
    assert_eq!(bench.names(at), [&kept[..], &end].concat(), "one end, after all answers");
    bench.send(&all).expect("a repeat is none the worse for it");

    // What was not answered with the others went with the turn.
    let (mut bench, ids) = lost();
    bench.send(&[result(&ids[0], "4"), result(&ids[0], "4")]).expect("a repeat in a request");
    let late = bench.send(&[result(&ids[2], "4")]).map(drop);
    assert_eq!(late, Err(Refusal::NoPendingCall(ids[2].clone())));

    // An interrupt counts from its place, and a message has the next turn.
    let (mut bench, ids) = lost();
    let at = bench.log.len();
    let interrupt = assay_session::Inbound::Interrupt;
    let late = bench.send(&[result(&ids[0], "4"), interrupt.clone(), result(&ids[2], "4")]);
    assert_eq!(late.map(drop), Err(Refusal::NoPendingCall(ids[2].clone())));
    bench.send(&[result(&ids[0], "4"), interrupt]).expect("in order");
    let expected = ["user.custom_tool_result", "agent.tool_result"];
    assert_eq!(bench.names(at), [&expected[..], &end, &["user.interrupt"]].concat());

    let (mut bench, ids) = lost();
    bench.send(&[result(&ids[0], "4"), message("next"), result(&ids[2], "4")]).expect("a batch");
    assert_eq!(bench.names(0).iter().filter(|name| **name == "session.error").count(), 1);
    let turn = bench.start();
    bench.say(&turn, &[Said::Finished]).expect("current");
    assert_eq!((bench.session.status, bench.session.turns.len()), (Status::Idle, 0));
}

#[test]
fn a_session_with_many_large_answers_stays_small() {
    const ANSWER_BYTES: usize = 60 * 1024;
    let mut bench = Bench::default();
    let answer = |id: &EventId| result(id, &format!("{id}{}", "x".repeat(ANSWER_BYTES)));
    let mut asked = Vec::new();
    for _ in 0..3 {
        bench.send(&[message("hi")]).expect("idle");
        let turn = bench.start();
        let calls = vec![call(CallKind::Custom); WAITS_OPEN_MAX];
        bench.say(&turn, &[Said::Calls(calls)]).expect("current");
        let ids: Vec<EventId> = bench.session.waits.iter().map(|wait| wait.id.clone()).collect();
        for id in &ids {
            bench.send(&[answer(id)]).expect("it waits");
        }
        bench.say(&turn, &[Said::Finished]).expect("all are answered");
        asked.extend(ids);
    }
    assert_eq!(asked.len(), 300);
    let bytes = serde_json::to_vec(&bench.session).expect("data").len();
    assert!(bytes < 4 * ANSWER_BYTES, "a state of {bytes} bytes is written with each step");
    for id in &asked {
        assert_eq!(bench.send(&[answer(id)]).expect("the same again").effects, []);
        let other = bench.send(&[result(id, "other")]).map(drop);
        assert_eq!(other, Err(Refusal::AnsweredDifferently(id.clone())));
    }
}

#[test]
fn equal_answers_have_equal_fingerprints_and_others_do_not() {
    let block = |text: &str| -> Value { serde_json::from_str(text).expect("JSON") };
    let result = |content: &[&str], is_error| Answer::Result {
        content: content.iter().map(|text| block(text)).collect(),
        is_error,
    };
    let decision = |result, message: Option<&str>| Answer::Decision {
        result,
        deny_message: message.map(str::to_string),
    };
    let answers = [
        result(&[], false),
        result(&[], true),
        result(&[r#"{"a":"1","b":[2]}"#], false),
        result(&[r#"{"a":"1","b":"[2]"}"#], false),
        result(&[r#"{"a":"1","b":2}"#], false),
        result(&[r#"{"a":"1"}"#, r#"{"b":2}"#], false),
        result(&[r#"{"a":"1b"}"#], false),
        result(&[r#"{"a":1}"#], false),
        result(&[r#"{"a":null}"#], false),
        decision(ToolAnswer::Allow, None),
        decision(ToolAnswer::Deny, None),
        decision(ToolAnswer::Deny, Some("")),
        decision(ToolAnswer::Deny, Some("null")),
    ];
    for (index, one) in answers.iter().enumerate() {
        for (other_index, other) in answers.iter().enumerate() {
            let is_same = one.fingerprint() == other.fingerprint();
            assert_eq!(is_same, index == other_index, "{one:?} {other:?}");
        }
    }
    let turned = result(&[r#"{"b":[2],"a":"1"}"#], false);
    assert_eq!(turned.fingerprint(), answers[2].fingerprint(), "the order of fields is nothing");
}

#[test]
fn a_tool_that_ran_beside_a_wait_ends_with_the_restart_and_the_wait_does_not() {
    let mut bench = Bench::default();
    bench.send(&[message("hi")]).expect("idle");
    let turn = bench.start();
    let of_server = Call { server: Some("s".into()), ..call(CallKind::Ask) };
    let calls = vec![call(CallKind::Custom), call(CallKind::Ask), of_server];
    bench.say(&turn, &[Said::Calls(calls)]).expect("current");
    let custom = bench.last_id("agent.custom_tool_use");
    for id in [bench.last_id("agent.tool_use"), bench.last_id("agent.mcp_tool_use")] {
        bench.send(&[confirm(&id, ToolAnswer::Allow)]).expect("it waits");
    }
    let at = bench.log.len();
    bench.take(Input::Recover).expect("always");
    assert_eq!(bench.names(at), ["agent.tool_result", "agent.mcp_tool_result"]);
    assert!(serde_json::to_string(&bench.log[at..]).expect("data").contains("was restarted"));
    assert_eq!(bench.session.waits.len(), 1);
    bench.take(Input::Recover).expect("again is nothing");
    let at = bench.log.len();
    bench.send(&[result(&custom, "4")]).expect("it still waits");
    let expected = ["user.custom_tool_result", "session.error", "session.status_idle"];
    assert_eq!(bench.names(at), expected);
}

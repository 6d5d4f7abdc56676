//! Names and fields as they stand on the wire.

use super::support::{Bench, call, message};
use assay_session::{
    BlockKinds, Body, CallKind, EVENT_TYPES, ErrorKind, Event, Inbound, RetryStatus, Said,
    SessionError, check_blocks,
};
use serde_json::{Value, json};

/// The contract, written down a second time.
const WIRE: &str = "user.message user.interrupt user.custom_tool_result user.tool_confirmation \
    agent.message agent.thinking agent.custom_tool_use agent.tool_use agent.tool_result \
    agent.mcp_tool_use agent.mcp_tool_result \
    session.status_running session.status_rescheduled session.status_idle \
    session.status_terminated session.error session.updated session.deleted \
    span.model_request_start span.model_request_end";

#[test]
fn the_registry_is_the_contract() {
    assert_eq!(EVENT_TYPES.join(" "), WIRE);
    for name in EVENT_TYPES {
        let (family, rest) = name.split_once('.').expect("a family");
        assert!(["user", "agent", "session", "span"].contains(&family));
        assert!(rest.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{name}");
    }
}

#[test]
fn events_are_flat_objects_that_can_be_read_back() {
    let mut bench = Bench::default();
    bench.send(&[message("hi")]).expect("idle");
    let turn = bench.start();
    let kind = ErrorKind::ModelOverloadedError;
    let error = SessionError::new(kind, "busy".into(), RetryStatus::Retrying);
    let mcp =
        Said::ToolUse { server: Some("s".into()), name: "t".into(), input: serde_json::Map::new() };
    let calls = Said::Calls(vec![call(CallKind::Ask)]);
    let said = [Said::Rescheduled(error), Said::Resumed, mcp, calls];
    bench.say(&turn, &said).expect("current");
    for event in &bench.log {
        let text = serde_json::to_value(event).expect("data");
        assert_eq!(text["type"], event.body.type_name());
        assert_eq!(text["id"], event.id.0.as_str());
        assert!(EVENT_TYPES.contains(&event.body.type_name()));
        let read: Event = serde_json::from_value(text).expect("its own text");
        assert_eq!(read, *event);
    }
    let idle = serde_json::to_value(bench.log.last()).expect("data");
    let call = bench.last_id("agent.tool_use");
    let expected = json!({"type": "requires_action", "event_ids": [call.0]});
    assert_eq!(idle["stop_reason"], expected);
    let Some(Body::SessionError { error }) =
        bench.log.iter().map(|e| e.body.clone()).find(|b| b.type_name() == "session.error")
    else {
        panic!("no error")
    };
    let expected = json!({"type": "model_overloaded_error", "message": "busy",
        "retry_status": {"type": "retrying"}});
    assert_eq!(serde_json::to_value(error).expect("data"), expected);
}

#[test]
fn blocks_are_what_they_say_and_nothing_else() {
    let image = |source: Value| json!({"type": "image", "source": source});
    let document = |source: Value| json!({"type": "document", "source": source});
    let plain = json!({"type": "text", "media_type": "text/plain", "data": "x"});
    let png = json!({"type": "base64", "media_type": "image/png", "data": "aGk="});
    let with = |mut block: Value, pointer: &str, value: Value| {
        let (above, field) = pointer.rsplit_once('/').expect("a path");
        block.pointer_mut(above).expect("an object")[field] = value;
        block
    };
    let found = json!({"type": "search_result", "source": "s", "title": "t",
        "citations": {"enabled": true}, "content": [{"type": "text", "text": "x"}]});
    let good = [
        image(png.clone()),
        image(json!({"type": "url", "url": "https://a.example/b"})),
        image(json!({"type": "file", "file_id": "file_1"})),
        document(plain.clone()),
        document(json!({"type": "base64", "media_type": "application/pdf", "data": "aGkh"})),
        with(with(document(plain.clone()), "/title", json!("t")), "/context", json!("c")),
        found.clone(),
    ];
    for block in &good {
        let checked = check_blocks(&json!([block]), BlockKinds::ToolResult, "c");
        assert_eq!(checked.expect("good"), std::slice::from_ref(block));
        // What is null is as if it were not there.
        let odd = with(block.clone(), "/nothing", Value::Null);
        let checked = check_blocks(&json!([odd]), BlockKinds::ToolResult, "c");
        assert_eq!(checked.expect("good"), std::slice::from_ref(block));
    }
    let long = format!("https://a.example/{}", "x".repeat(2048));
    let bad = [
        (with(json!({"type": "text", "text": "x"}), "/cache_control", json!({})), "c[0].cache_"),
        (with(image(png.clone()), "/title", json!("t")), "c[0].title: is not yet supported"),
        (with(image(png.clone()), "/source/more", json!(1)), "c[0].source.more: is not yet"),
        (with(image(png.clone()), "/source/media_type", json!("image/svg")), "must be one of"),
        (with(image(png.clone()), "/source/data", json!("")), "c[0].source.data: must be base64"),
        (with(image(png.clone()), "/source/data", json!("a b=")), "must be base64"),
        (with(image(png.clone()), "/source/data", json!("aGk")), "must be base64"),
        (with(image(png.clone()), "/source/data", json!("a===")), "must be base64"),
        (image(plain.clone()), "c[0].source.type: must be one of base64, url, file"),
        (image(json!({"type": "url", "url": "ftp://a.example"})), "c[0].source.url: must be http"),
        (image(json!({"type": "url", "url": "https:///x"})), "c[0].source.url: must be http"),
        (image(json!({"type": "url", "url": long})), "c[0].source.url: must be http"),
        (image(json!({"type": "file", "file_id": ""})), "c[0].source.file_id"),
        (image(json!("x")), "c[0].source: must be an object"),
        (json!({"type": "document"}), "c[0].source: must be an object"),
        (with(document(plain.clone()), "/source/media_type", json!("text/html")), "text/plain"),
        (with(document(plain.clone()), "/source/media_type", Value::Null), "text/plain"),
        (with(document(plain.clone()), "/source/data", json!(" ")), "must be text that is not"),
        (with(document(png), "/source/media_type", json!("pdf")), "such as application/pdf"),
        (with(document(plain.clone()), "/title", json!(1)), "c[0].title: must be text"),
        (with(document(plain), "/citations", json!({"enabled": true})), "c[0].citations"),
        (with(found.clone(), "/citations/enabled", json!("yes")), "c[0].citations.enabled"),
        (with(found.clone(), "/citations/more", json!(1)), "c[0].citations.more"),
        (with(found, "/content/0/more", json!(1)), "c[0].content[0].more"),
        (json!("text"), "c[0]: must be an object"),
    ];
    for (block, expected) in bad {
        let error = check_blocks(&json!([block]), BlockKinds::ToolResult, "c").expect_err(expected);
        assert!(error.to_string().contains(expected), "{expected}: {error}");
    }
}

#[test]
fn events_from_clients_are_understood_or_refused_by_field() {
    let text = json!([{"type": "text", "text": "x"}]);
    let cases: &[(Value, &str)] = &[
        (json!({"type": "user.message", "content": text}), ""),
        (json!({"type": "user.interrupt"}), ""),
        (json!({"type": "user.interrupt", "session_thread_id": null}), ""),
        (json!({"type": "user.custom_tool_result", "custom_tool_use_id": "sevt_1"}), ""),
        (
            json!({"type": "user.tool_confirmation", "tool_use_id": "s", "result": "deny",
            "deny_message": "no"}),
            "",
        ),
        (json!(3), "e: must be an object"),
        (json!({}), "e.type: must be text"),
        (json!({"type": "user.define_outcome"}), "e.type: `user.define_outcome` is not supported"),
        (json!({"type": "agent.message"}), "e.type: `agent.message` is not supported"),
        (json!({"type": "user.message", "content": []}), "e.content: must have at least one"),
        (json!({"type": "user.message", "content": [{"type": "text", "text": ""}]}), "[0].text"),
        (json!({"type": "user.message", "content": [{"type": "text", "text": " \n"}]}), "[0].text"),
        (json!({"type": "user.message", "content": [{"type": "search_result"}]}), "[0].type"),
        (json!({"type": "user.message", "content": text, "session_id": "s"}), "e.session_id"),
        (json!({"type": "user.interrupt", "session_thread_id": "t"}), "e.session_thread_id"),
        (json!({"type": "user.custom_tool_result", "tool_use_id": "s"}), "e.tool_use_id"),
        (json!({"type": "user.custom_tool_result"}), "e.custom_tool_use_id"),
        (
            json!({"type": "user.tool_confirmation", "tool_use_id": "s", "result": "allow",
            "deny_message": "no"}),
            "e.deny_message: is only allowed with result deny",
        ),
        (json!({"type": "user.tool_confirmation", "tool_use_id": "s"}), "e.result"),
        (
            json!({"type": "user.message",
            "content": [{"type": "text", "text": "x".repeat(70_000)}]}),
            "is larger than",
        ),
    ];
    for (event, expected) in cases {
        match Inbound::parse(event, "e") {
            Ok(_) => assert_eq!(*expected, "", "{event}"),
            Err(error) => {
                assert!(!expected.is_empty() && error.to_string().contains(expected), "{error}");
            }
        }
    }
}

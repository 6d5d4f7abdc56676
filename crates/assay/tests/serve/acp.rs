//! Agents that are programs and speak the Agent Client Protocol.

use super::server::{Server, Setup, events_path};
use serde_json::{Value, json};
use std::io::Write;

/// Repeats what it is told, says where it is, and leaves a file; it waits when it is told to.
const AGENT: &str = r#"
import json, os, sys, time

def answer(message, result):
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)

def update(what):
    params = {"sessionId": "one", "update": what}
    print(json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}), flush=True)

def words(kind, text):
    update({"sessionUpdate": kind, "content": {"type": "text", "text": text}})

for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        takes = {"image": "images" in sys.argv, "embeddedContext": "documents" in sys.argv}
        answer(message, {"protocolVersion": 1, "agentCapabilities": {"promptCapabilities": takes},
                         "authMethods": []})
    elif method == "session/new":
        answer(message, {"sessionId": "one"})
    elif method == "session/prompt":
        text = message["params"]["prompt"][0].get("text", "")
        if text.endswith("show"):
            words("agent_message_chunk", json.dumps(message["params"]["prompt"][1:]))
            answer(message, {"stopReason": "end_turn"})
            continue
        if text.endswith("grow"):
            def tried(what):
                try:
                    what()
                    return "done"
                except (OSError, MemoryError) as error:
                    return type(error).__name__ + str(getattr(error, "errno", ""))
            import resource, subprocess
            child = [sys.executable, "-c", "x = bytearray(3 << 30)"]
            found = [tried(lambda: open("big", "wb").truncate(300 << 20)),
                     tried(lambda: bytearray(3 << 30)),
                     tried(lambda: [open("/dev/null") for _ in range(2000)]),
                     "child " + str(subprocess.run(child, stderr=subprocess.DEVNULL).returncode),
                     "core " + str(resource.getrlimit(resource.RLIMIT_CORE)[1])]
            words("agent_message_chunk", " ".join(found))
            answer(message, {"stopReason": "end_turn"})
            continue
        if "look at " in text:
            for path in text.split("look at ")[-1].split():
                try:
                    with open(path, "rb") as file:
                        words("agent_message_chunk", f"read {path}\n" if file.read(1) else "")
                except OSError as error:
                    words("agent_message_chunk", f"errno {error.errno} {path}\n")
            answer(message, {"stopReason": "end_turn"})
            continue
        if text.endswith("two calls"):
            for name in ["first", "second", "first"]:
                update({"sessionUpdate": "tool_call", "toolCallId": name, "title": name})
            for name, status in [("second", "failed"), ("second", "completed"),
                                 ("nobody", "failed"), ("first", "completed")]:
                update({"sessionUpdate": "tool_call_update", "toolCallId": name, "status": status})
            cost = {"amount": 0.25, "currency": "USD"}
            update({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": cost})
            cost["amount"] = 1.234
            update({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": cost})
            answer(message, {"stopReason": "end_turn"})
            continue
        if text.split("\n")[-1].startswith("change a file"):
            call = {"toolCallId": "e", "title": "Edit", "kind": "edit"}
            update({"sessionUpdate": "tool_call", **call})
            change = {"type": "diff", "path": "plan.txt", "oldText": "a\n", "newText": "b\n"}
            more = {"rawInput": {"path": "plan.txt"}, "content": [change]}
            options = [{"optionId": kind, "name": kind, "kind": kind}
                       for kind in ["reject_always", "reject_once", "allow_always", "allow_once"]]
            params = {"sessionId": "one", "toolCall": {**call, **more}, "options": options}
            ask = {"jsonrpc": "2.0", "id": 7, "method": "session/request_permission"}
            print(json.dumps({**ask, "params": params}), flush=True)
            open("asking", "w").write(str(os.getpid()))
            if text.endswith("and leave"):
                answer(message, {"stopReason": "end_turn"})
                continue
            outcome = json.loads(sys.stdin.readline())["result"]["outcome"]
            chosen = outcome.get("optionId", outcome["outcome"])
            words("agent_message_chunk", f"chosen: {chosen}")
            end = {"sessionUpdate": "tool_call_update", "toolCallId": "e", "status": "failed"}
            if chosen == "allow_once":
                open("plan.txt", "w").write("b\n")
                said = {"type": "content", "content": {"type": "text", "text": "changed"}}
                end.update({"status": "completed", "content": [said, change]})
            update(end)
            cost = {"amount": 0.5, "currency": "USD"}
            update({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": cost})
            answer(message, {"stopReason": "end_turn"})
            continue
        if text.endswith("crash"):
            sys.exit(7)
        words("agent_thought_chunk", "hm")
        words("agent_thought_chunk", "hm")
        words("agent_message_chunk", "You said: ")
        words("agent_message_chunk", text)
        if text.endswith("wait"):
            open("waiting", "w").write(str(os.getpid()))
            time.sleep(3600)
        update({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "write a file"})
        if text.endswith("hold"):
            time.sleep(3600)
        open(os.path.join(os.environ["ASSAY_DROP_BOX"], "made.txt"), "w").write("by an agent")
        update({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"})
        if "much" in text:
            words("agent_message_chunk", "much" * 100000 + "end")
        if "at once" in text:
            call = {"sessionUpdate": "tool_call", "toolCallId": "d", "title": "look"}
            update({**call, "status": "completed"})
        words("agent_message_chunk", "Done.")
        answer(message, {"stopReason": "end_turn"})
    elif "id" in message:
        answer(message, {})
"#;

pub fn server(directory: &std::path::Path) -> Option<Server> {
    server_with(directory, &[])
}

fn server_with(directory: &std::path::Path, more: &[&str]) -> Option<Server> {
    if let assay_agent::Protection::None { why } = assay_agent::probe() {
        let test = std::thread::current().name().unwrap_or_default().to_string();
        // Not by the macro: what that says of a test that passes is swallowed.
        let said = writeln!(std::io::stderr(), "SKIPPED {test}: no Landlock here: {why}");
        said.expect("somebody reads it");
        return None;
    }
    let program = directory.join("agent.py");
    std::fs::write(&program, AGENT).expect("ours");
    let engine = |name: &str, more: &str| {
        let program = program.display();
        format!("[acp.{name}]\ncommand = [\"python3\", \"{program}\"{more}]\n")
    };
    let engines = engine("helper", "") + &engine("seer", ", \"images\", \"documents\"");
    let more = more.iter().map(ToString::to_string);
    let args = [vec!["--open-network".to_string()], more.collect()].concat();
    Some(Server::with(Setup { engines: Some(engines), args, ..Setup::default() }))
}

pub fn environment() -> Value {
    json!({"name": "e", "config": {"type": "cloud", "networking": {"type": "unrestricted"}}})
}

pub fn agent() -> Value {
    json!({"name": "a", "model": "helper", "system": "Be brief."})
}

pub fn texts(events: &[Value]) -> Vec<String> {
    let messages = events.iter().filter(|event| event["type"] == "agent.message");
    messages.map(|e| e["content"][0]["text"].as_str().expect("text").to_string()).collect()
}

#[test]
fn a_turn_is_a_run_of_the_program_and_knows_what_was_said_before() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(server) = server(directory.path()) else { return };
    let session = server.session_of(&agent(), &environment());
    let events = server.turn(&session, "hi there");
    let expected = "status_running model_request_start thinking message tool_use tool_result \
        message model_request_end status_idle";
    assert_eq!(super::model::kinds(&events), expected, "{events:?}");
    assert_eq!(texts(&events), ["You said: Be brief.\n\nhi there", "Done."]);
    assert_eq!(events[4]["name"], "write a file");
    let files = server.ok("GET", &format!("/v1/files?scope_id={session}"), &Value::Null);
    assert_eq!(files["data"][0]["filename"], "made.txt");
    let told = texts(&server.turn(&session, "and now?"))[0].clone();
    for part in ["User: hi there", "You: You said:", "What is said now:\n\nand now?"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let events = server.turn(&session, "crash");
    let error = &events[events.len() - 2]["error"];
    assert!(error["message"].as_str().expect("a message").contains("exited with 7"), "{error}");
    assert_eq!(texts(&server.turn(&session, "again")).len(), 2, "the session is still of use");
}

#[test]
fn what_the_program_says_is_whole_and_remembered_when_it_is_said() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(server) = server(directory.path()) else { return };
    let mut session = server.place_of(&agent(), &environment());
    session["resources"] = json!([{"type": "file", "file_id": server.file("x"),
        "mount_path": "a.txt"}]);
    let session = server.ok("POST", "/v1/sessions", &session);
    let session = session["id"].as_str().expect("an id").to_string();
    let events = server.turn(&session, "much");
    let said = texts(&events);
    let place = server.data.join(format!("workspaces/default/{session}/uploads"));
    let told = format!("The files of /mnt/session/uploads are in {}.", place.display());
    assert!(said[0].contains(&told), "{}", said[0]);
    assert_eq!(std::fs::read_to_string(place.join("a.txt")).expect("there"), "x");
    let all = said[1..].concat();
    assert!(all == format!("{}endDone.", "much".repeat(100_000)), "{} bytes", all.len());
    let events = server.turn(&session, "at once");
    let expected =
        "tool_use tool_result tool_use tool_result message model_request_end status_idle";
    assert!(super::model::kinds(&events).ends_with(expected), "{events:?}");
    // What was said before it was interrupted is known afterwards.
    let sent = server.say(&session, "plum, then hold");
    let mut frames = server.stream(&session, &[]);
    frames.until(|f| f.event == "agent.tool_use" && f.id.as_str() > sent.as_str());
    server.ok("POST", &events_path(&session), &json!({"events": [{"type": "user.interrupt"}]}));
    let told = texts(&server.turn(&session, "and now?"))[0].clone();
    assert!(told.contains("You: You said:") && told.contains("plum, then hold"), "{told}");
    let after = told.split("plum, then hold").nth(1).expect("twice");
    assert!(after.contains("You: You said:"), "{after}");
}

#[test]
fn the_program_cannot_read_what_is_not_of_its_session() {
    for (sandbox, may_read) in [("local", false), ("none", true)] {
        let directory = tempfile::tempdir().expect("a directory");
        let key = directory.path().join("elsewhere.key");
        std::fs::write(&key, format!("{}\n", "A".repeat(43))).expect("ours");
        let key = key.to_str().expect("text");
        let more = ["--sandbox", sandbox, "--master-key-file", key];
        let Some(server) = server_with(directory.path(), &more) else { return };
        let mut wish = server.place_of(&agent(), &environment());
        wish["resources"] = json!([{"type": "file", "file_id": server.file("x"),
            "mount_path": "a.txt"}]);
        let session = |wish: &Value| {
            let session = server.ok("POST", "/v1/sessions", wish);
            session["id"].as_str().expect("an id").to_string()
        };
        let (victim, own) = (session(&wish), session(&wish));
        server.turn(&victim, "hi");
        server.turn(&own, "hi");
        let data = &server.data;
        // The server was told of its key; most have it here.
        std::fs::write(data.join("master.key"), "precious").expect("ours");
        let of = |session: &str, file: &str| {
            data.join(format!("workspaces/default/{session}/{file}")).display().to_string()
        };
        let secret = [
            data.join("master.key").display().to_string(),
            data.join("store.sqlite").display().to_string(),
            key.to_string(),
            of(&victim, "outputs/made.txt"),
            of(&victim, "uploads/a.txt"),
            of(&victim, "agent/keeper.json"),
            of(&own, "agent/keeper.json"),
        ];
        let open = [of(&own, "outputs/made.txt"), of(&own, "uploads/a.txt"), "/etc/passwd".into()];
        let all = [&secret[..], &open].concat();
        for path in &all {
            assert!(
                std::fs::metadata(path).is_ok_and(|file| file.len() > 0),
                "{path} is not there"
            );
        }
        let said = texts(&server.turn(&own, &format!("look at {}", all.join(" ")))).concat();
        let expected = |path: &String| match may_read || open.contains(path) {
            true => format!("read {path}"),
            false => format!("errno 13 {path}"),
        };
        let expected: Vec<String> = all.iter().map(expected).collect();
        assert_eq!(said.lines().collect::<Vec<_>>(), expected, "--sandbox {sandbox}");
    }
}

#[test]
fn a_result_belongs_to_the_call_that_the_program_names_and_a_cost_is_kept() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(server) = server(directory.path()) else { return };
    let session = server.session_of(&agent(), &environment());
    let cost = || {
        let seen = server.ok("GET", &format!("/v1/sessions/{session}"), &Value::Null);
        seen["usage"]["list_cost"].clone()
    };
    assert_eq!(cost(), Value::Null);
    let events = server.turn(&session, "two calls");
    let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).collect::<Vec<_>>();
    let uses = of("agent.tool_use");
    let names: Vec<&Value> = uses.iter().map(|event| &event["name"]).collect();
    assert_eq!(names, ["first", "second"], "a call that is told again is the same one");
    let ends = of("agent.tool_result");
    let ends: Vec<(&Value, &Value)> =
        ends.iter().map(|event| (&event["tool_use_id"], &event["is_error"])).collect();
    let expected = [(&uses[1]["id"], &json!(true)), (&uses[0]["id"], &json!(false))];
    assert_eq!(ends, expected, "{events:?}");
    // What it has cost so far is said again and again: the last word counts, for its turn.
    assert_eq!(cost(), json!({"amount": "123", "currency": "USD"}));
    server.turn(&session, "two calls");
    assert_eq!(cost(), json!({"amount": "247", "currency": "USD"}));
    server.turn(&session, "hi");
    assert_eq!(cost(), Value::Null, "what one turn cost is not known");
}

#[test]
fn an_interrupt_ends_the_program_before_the_next_turn() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(server) = server(directory.path()) else { return };
    let session = server.session_of(&agent(), &environment());
    server.say(&session, "wait");
    let waiting = server.data.join(format!("workspaces/default/{session}/workspace/waiting"));
    let pid = || std::fs::read_to_string(&waiting).unwrap_or_default();
    super::tools::wait_for("the program", || !pid().is_empty());
    let interrupt = json!({"events": [{"type": "user.interrupt"}]});
    server.ok("POST", &events_path(&session), &interrupt);
    server.turn(&session, "hello");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid())).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "it is still there: {stat}");
}

#[test]
fn an_environment_that_was_limited_meanwhile_ends_the_next_turn_before_it_begins() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(server) = server(directory.path()) else { return };
    let agent = server.ok("POST", "/v1/agents", &agent());
    let environment = server.ok("POST", "/v1/environments", &environment());
    let wish = json!({"agent": agent["id"], "environment_id": environment["id"]});
    let session = server.ok("POST", "/v1/sessions", &wish);
    let session = session["id"].as_str().expect("an id");
    assert_eq!(texts(&server.turn(session, "hi")).len(), 2);
    let path = format!("/v1/environments/{}", environment["id"].as_str().expect("an id"));
    let limited = json!({"config": {"type": "cloud", "networking": {"type": "limited"}}});
    server.ok("POST", &path, &limited);
    let events = server.turn(session, "hi");
    assert_eq!(super::model::kinds(&events), "status_running error status_idle", "{events:?}");
    let error = events[1]["error"]["message"].as_str().expect("a message");
    assert!(error.contains("not allowed here any more: environment_id"), "{error}");
}

#[test]
fn what_such_an_agent_could_not_keep_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(server) = server(directory.path()) else { return };
    let mut with_tools = agent();
    with_tools["tools"] = json!([{"type": "agent_toolset_20260401"}]);
    let answer = server.call("POST", "/v1/agents", &with_tools);
    assert_eq!((answer.status, answer.message().contains("brings its own")), (400, true));
    let agent = server.ok("POST", "/v1/agents", &agent());
    let closed = server.ok("POST", "/v1/environments", &json!({"name": "e"}));
    let wish = json!({"agent": agent["id"], "environment_id": closed["id"]});
    let answer = server.call("POST", "/v1/sessions", &wish);
    assert_eq!((answer.status, answer.message().contains("unrestricted")), (400, true));
    let vault = server.ok("POST", "/v1/vaults", &json!({"display_name": "v"}));
    let open = server.ok("POST", "/v1/environments", &environment());
    let wish = json!({"agent": agent["id"], "environment_id": open["id"],
        "vault_ids": [vault["id"]]});
    let answer = server.call("POST", "/v1/sessions", &wish);
    assert_eq!((answer.status, answer.message().contains("vault_ids")), (400, true));
}

#[test]
fn a_program_has_no_more_than_the_tools_of_a_sandbox_as_far_as_one_process_goes() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(server) = server(directory.path()) else { return };
    let session = server.session_of(&agent(), &environment());
    let told = texts(&server.turn(&session, "grow"))[0].clone();
    assert_eq!(told, "OSError27 MemoryError OSError24 child 1 core 0");
}

#[test]
fn a_program_is_given_attachments_if_it_takes_such_and_nobody_is_left_in_the_dark() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(server) = server(directory.path()) else { return };
    let file = |text: &str| json!({"type": "file", "file_id": server.file(text)});
    let image = json!({"type": "image", "source": file("GIF89a...")});
    let paper = json!({"type": "document", "source": file("%PDF-1.4 x")});
    let notes = json!({"type": "document", "title": "Notes", "source": file("green")});
    let link = json!({"type": "image", "source": {"type": "url", "url": "https://a.example/b"}});
    let send = |session: &str, blocks: &[&Value]| {
        let mut content = vec![json!({"type": "text", "text": "show"})];
        content.extend(blocks.iter().map(|block| (*block).clone()));
        let body = json!({"events": [{"type": "user.message", "content": content}]});
        let sent = server.ok("POST", &events_path(session), &body);
        server.after(session, sent["data"][0]["id"].as_str().expect("an id"))
    };
    let seer = json!({"name": "a", "model": "seer"});
    let session = server.session_of(&seer, &environment());
    let shown = texts(&send(&session, &[&image, &paper, &notes, &link]))[0].clone();
    let shown: Value = serde_json::from_str(&shown).expect("what it was given");
    let expected = json!([
        {"type": "image", "data": "R0lGODlhLi4u", "mimeType": "image/gif"},
        {"type": "resource", "resource": {"blob": "JVBERi0xLjQgeA==",
            "mimeType": "application/pdf", "uri": "assay:attachment-2"}},
        {"type": "resource", "resource": {"text": "green", "mimeType": "text/plain",
            "uri": "assay:Notes"}},
        {"type": "resource_link", "name": "https://a.example/b", "uri": "https://a.example/b"},
    ]);
    assert_eq!(shown, expected);
    let told = texts(&server.turn(&session, "and now?"))[0].clone();
    assert!(told.contains("[Here was an attachment of the kind image.]"), "{told}");
    // One that takes none reads what is text, and says what it cannot take.
    let session = server.session_of(&agent(), &environment());
    let told = json!({"type": "document", "title": "Notes", "context": "of the last meeting",
        "source": file("green")});
    let words = json!({"type": "text", "text": "what is it?"});
    let content = json!({"type": "user.message", "content": [link, told, words]});
    let sent = server.ok("POST", &events_path(&session), &json!({"events": [content]}));
    let events = server.after(&session, sent["data"][0]["id"].as_str().expect("an id"));
    let about = "About attachment 2, `Notes`: of the last meeting";
    assert!(texts(&events)[0].contains(about), "{events:?}");
    let shown = texts(&send(&session, &[&notes, &link]))[0].clone();
    assert!(shown.contains("Notes:\\n\\ngreen") && shown.contains("resource_link"), "{shown}");
    for (block, words) in [(&image, "has an image"), (&paper, "has a document that is no text")] {
        let events = send(&session, &[block]);
        let error = &events[events.len() - 2]["error"]["message"];
        assert!(error.as_str().is_some_and(|error| error.contains(words)), "{events:?}");
    }
}

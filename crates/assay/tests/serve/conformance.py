"""Every method and every type of event that the server has, through an official client that checks
each answer strictly and tries nothing again.

Run as: python conformance.py BASE_URL KEY HOLDS_DIRECTORY
"""

import json
import os
import sys
import traceback

import anthropic
from anthropic import Anthropic

BASE, KEY, HOLDS = sys.argv[1:4]
OTHER_KEY = os.environ["OTHER_KEY"]
NEW = int(anthropic.__version__.split(".")[0]) >= 2

client = Anthropic(base_url=BASE, api_key=KEY, _strict_response_validation=True, max_retries=0)
other = Anthropic(base_url=BASE, api_key=OTHER_KEY, _strict_response_validation=True, max_retries=0)
beta = client.beta
seen_types = set()

TOOLS = [
    {
        "type": "agent_toolset_20260401",
        "configs": [
            {"name": "bash", "permission_policy": {"type": "always_ask"}},
            {"name": "write", "enabled": False},
        ],
    },
    {
        "type": "custom",
        "name": "get_weather",
        "description": "The weather in a city",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
    {
        "type": "custom",
        "name": "get_time",
        "description": "The time",
        "input_schema": {"type": "object"},
    },
]


def text(message):
    return [{"type": "text", "text": message}]


def refused(status, part, work):
    """The error a client sees."""
    try:
        work()
    except anthropic.APIStatusError as error:
        body = error.response.json()
        assert error.status_code == status, (error.status_code, body)
        assert part in body["error"]["message"], (part, body)
        assert error.request_id and body["request_id"] == error.request_id, body
        return error
    raise AssertionError(f"not refused: expected {status} {part!r}")


class World:
    agent = None
    environment = None


def session(**more):
    return beta.sessions.create(agent=World.agent.id, environment_id=World.environment.id, **more)


def send(sid, *events, **more):
    sent = beta.sessions.events.send(sid, events=list(events), **more)
    assert len(sent.data) == len(events)
    for event in sent.data:
        seen_types.add(event.type)
    return sent.data


def say(sid, message):
    return send(sid, {"type": "user.message", "content": text(message)})[0]


def until(sid, is_end):
    """Everything a stream says up to the end, checked against the list."""
    events = []
    with beta.sessions.events.stream(sid) as stream:
        for event in stream:
            events.append(event)
            seen_types.add(event.type)
            if is_end(event):
                break
    listed = [event.id for event in beta.sessions.events.list(sid, limit=100)]
    streamed = [event.id for event in events]
    assert listed[: len(streamed)] == streamed, (listed, streamed)
    assert streamed == sorted(set(streamed)), "ids only grow"
    return events


def ended(event):
    return event.type == "session.status_idle" and event.stop_reason.type != "requires_action"


def waits(event):
    return event.type == "session.status_idle" and event.stop_reason.type == "requires_action"


def turn(sid, message, is_end=ended):
    sent = say(sid, message)
    events = until(sid, lambda event: is_end(event) and event.id > sent.id)
    return [event for event in events if event.id >= sent.id]


def names(events):
    return [event.type for event in events]


def test_models():
    models = list(client.models.list())
    assert [model.id for model in models] == ["scripted"], models
    assert client.models.retrieve("scripted").id == "scripted"
    assert [model.id for model in beta.models.list()] == ["scripted"]
    assert beta.models.retrieve("scripted").id == "scripted"
    # Only the newer SDK has a name for it.
    staged = lambda *stages: [model.id for model in client.models.list(
        extra_query={"lifecycle": list(stages)})]
    assert staged("active", "retired") == ["scripted"] and staged("deprecated") == []
    refused(400, "lifecycle", lambda: staged("young"))
    refused(404, "claude", lambda: client.models.retrieve("claude-none"))


def test_agents():
    agent = beta.agents.create(
        name="tester", model="scripted", tools=TOOLS, system="Be brief.", metadata={"a": "1"}
    )
    World.agent = agent
    assert agent.version == 1 and agent.model.id == "scripted" and agent.archived_at is None
    assert agent.tools[0].default_config.permission_policy.type == "always_allow"
    assert agent.tools[0].configs[0].permission_policy.type == "always_ask"
    same = beta.agents.update(agent.id, version=1, name="tester")
    assert same.version == 1, "nothing changed"
    second = beta.agents.update(agent.id, version=1, description="d", metadata={"a": None, "b": "2"})
    assert (second.version, second.description, second.metadata) == (2, "d", {"b": "2"})
    stale = refused(409, "Concurrent modification", lambda: beta.agents.update(agent.id, version=1, name="x"))
    assert stale.response.headers["x-should-retry"] == "false"
    third = beta.agents.update(agent.id, version=2, description=None)
    assert (third.version, third.description) == (3, None)
    assert beta.agents.retrieve(agent.id).version == 3
    assert beta.agents.retrieve(agent.id, version=2).description == "d"
    refused(404, "Agent version not found", lambda: beta.agents.retrieve(agent.id, version=9))
    refused(404, "not found", lambda: beta.agents.retrieve("agent_none"))
    versions = [version.version for version in beta.agents.versions.list(agent.id, limit=2)]
    assert versions == [3, 2, 1], versions
    refused(400, "must be one of", lambda: beta.agents.create(name="x", model="scripted", tools=[
        {"type": "agent_toolset_20260401", "configs": [{"name": "find"}]}]))
    refused(400, "always_allow or always_ask", lambda: beta.agents.create(name="x", model="scripted", tools=[
        {"type": "agent_toolset_20260401", "configs": [
            {"name": "find", "permission_policy": {"type": "never_allow"}}]}]))
    refused(400, "no such model", lambda: beta.agents.create(name="x", model="claude-opus-4-8"))
    refused(400, "no mcp_toolset in tools uses `m`", lambda: beta.agents.create(
        name="x", model="scripted", mcp_servers=[{"type": "url", "name": "m", "url": "https://m.example"}]))
    refused(400, "no version latest of a skill s", lambda: beta.agents.create(
        name="x", model="scripted", skills=[{"type": "custom", "skill_id": "s"}]))
    gone = beta.agents.create(name="gone", model={"id": "scripted", "speed": "standard"})
    archived = beta.agents.archive(gone.id)
    assert archived.archived_at and beta.agents.archive(gone.id).archived_at == archived.archived_at
    refused(400, "Cannot modify archived agent", lambda: beta.agents.update(gone.id, version=1, name="y"))
    listed = [one.id for one in beta.agents.list(limit=1)]
    assert agent.id in listed and gone.id not in listed
    assert gone.id in [one.id for one in beta.agents.list(include_archived=True)]
    refused(404, "not found", lambda: other.beta.agents.retrieve(agent.id))
    refused(400, "is archived", lambda: beta.sessions.create(agent=gone.id, environment_id="env_x"))


def test_environments():
    environment = beta.environments.create(name="here", description="d", metadata={"k": "v"})
    World.environment = environment
    assert environment.config.type == "cloud" and environment.config.networking.type == "limited"
    again = beta.environments.create(
        name="closed", config={"type": "cloud", "networking": {"type": "limited", "allowed_hosts": []}}
    )
    refused(400, "--open-network", lambda: beta.environments.create(
        name="x", config={"type": "cloud", "networking": {"type": "unrestricted"}}))
    some = {"type": "limited", "allowed_hosts": ["docs.example.com", "*.example.org"]}
    opened = beta.environments.create(name="some", config={"type": "cloud", "networking": some})
    assert opened.config.networking.allowed_hosts == some["allowed_hosts"]
    refused(400, "cannot install packages", lambda: beta.environments.create(
        name="x", config={"type": "cloud", "packages": {"pip": ["x"]}}))
    refused(400, "config.packages.type", lambda: beta.environments.create(
        name="x", config={"type": "cloud", "packages": {"type": "other"}}))
    assert beta.environments.create(
        name="x", config={"type": "cloud", "packages": {"type": "packages"}}).config.packages.pip == []
    assert beta.environments.retrieve(environment.id).name == "here"
    assert beta.environments.update(environment.id, name="there").name == "there"
    archived = beta.environments.archive(again.id)
    assert archived.archived_at
    assert again.id not in [one.id for one in beta.environments.list(limit=1)]
    refused(400, "is archived", lambda: beta.sessions.create(agent=World.agent.id, environment_id=again.id))
    deleted = beta.environments.delete(again.id)
    assert (deleted.id, deleted.type) == (again.id, "environment_deleted")
    refused(404, "not found", lambda: beta.environments.delete(again.id))


def test_sessions():
    created = session(title="one", metadata={"k": "v"})
    assert created.status == "idle" and created.agent.version == 3 and created.agent.name == "tester"
    assert created.usage.input_tokens == 0 and created.stats.duration_seconds is not None
    pinned = beta.sessions.create(
        agent={"type": "agent", "id": World.agent.id, "version": 2}, environment_id=World.environment.id
    )
    assert pinned.agent.version == 2 and pinned.agent.description == "d"
    assert beta.sessions.retrieve(created.id).title == "one"
    updated = beta.sessions.update(created.id, title="two", metadata={"k": None, "n": "1"})
    assert (updated.title, updated.metadata) == ("two", {"n": "1"})
    said = list(beta.sessions.events.list(created.id, types=["session.updated"]))
    seen_types.update(names(said))
    assert [(one.title, one.metadata) for one in said] == [("two", {"n": "1"})], said
    assert created.id in [one.id for one in beta.sessions.list(created_at_gte=created.created_at)]
    assert list(beta.sessions.list(created_at_gte="2100-01-01T00:00:00Z")) == []
    assert list(beta.agents.list(created_at_gte="2100-01-01T00:00:00Z")) == []
    assert list(beta.sessions.events.list(created.id, created_at_gte="2100-01-01T00:00:00Z")) == []
    refused(404, "agent.version: 9 not found", lambda: beta.sessions.create(
        agent={"type": "agent", "id": World.agent.id, "version": 9}, environment_id=World.environment.id))
    refused(400, "not found", lambda: beta.sessions.create(agent="agent_none", environment_id=World.environment.id))
    refused(400, "not found", lambda: beta.sessions.create(agent=World.agent.id, environment_id="env_none"))
    refused(400, "vault_ids[0]: vlt_1 not found", lambda: session(vault_ids=["vlt_1"]))
    refused(400, "resources[0].file_id: file_1 not found", lambda: session(
        resources=[{"type": "file", "file_id": "file_1"}]))
    refused(404, "not found", lambda: other.beta.sessions.retrieve(created.id))
    refused(409, "is used by sessions", lambda: beta.environments.delete(World.environment.id))
    # Both directions, in both orders.
    made = [created.id, pinned.id] + [session().id for _ in range(3)]
    for order in ("asc", "desc"):
        ids = made if order == "asc" else made[::-1]
        pages = []
        page = beta.sessions.list(limit=2, order=order, agent_id=World.agent.id)
        while True:
            pages.append([one.id for one in page.data])
            if not page.has_next_page():
                break
            before, page = page, page.get_next_page()
        assert sum(pages, []) == ids, (pages, ids)
        if NEW:
            assert page.prev_page
            back = beta.sessions.list(limit=2, order=order, agent_id=World.agent.id, page=page.prev_page)
            assert [one.id for one in back.data] == pages[-2], (back, pages)
        refused(400, "order does not match", lambda: beta.sessions.list(
            limit=2, order="desc" if order == "asc" else "asc", agent_id=World.agent.id, page=before.next_page))
    refused(400, "invalid page cursor", lambda: beta.sessions.list(page="nonsense"))
    assert len(beta.sessions.list(statuses=["running"]).data) == 0
    assert len(list(beta.sessions.list(agent_version=2, agent_id=World.agent.id))) == 1
    archived = beta.sessions.archive(pinned.id)
    assert archived.status == "terminated" and archived.archived_at
    assert beta.sessions.archive(pinned.id).archived_at == archived.archived_at
    events = names(beta.sessions.events.list(pinned.id))
    assert events == ["session.status_terminated"], events
    refused(404, "not found", lambda: say(pinned.id, "hi"))
    refused(400, "archived", lambda: beta.sessions.update(pinned.id, title="x"))
    assert pinned.id not in [one.id for one in beta.sessions.list()]
    assert pinned.id in [one.id for one in beta.sessions.list(include_archived=True)]
    deleted = beta.sessions.delete(pinned.id)
    assert (deleted.id, deleted.type) == (pinned.id, "session_deleted")
    refused(404, "not found", lambda: beta.sessions.retrieve(pinned.id))
    refused(404, "not found", lambda: beta.sessions.events.list(pinned.id))


def test_plain_turn():
    sid = session().id
    events = turn(sid, "hello")
    assert names(events) == [
        "user.message", "session.status_running", "span.model_request_start",
        "span.model_request_end", "agent.message", "session.status_idle",
    ], names(events)
    assert events[4].content[0].text == "Turn 1. You said: hello"
    assert events[3].model_request_start_id == events[2].id and events[3].model_usage.output_tokens > 0
    assert turn(sid, "again")[4].content[0].text == "Turn 2. You said: again", "turns are remembered"
    after = beta.sessions.retrieve(sid)
    assert after.status == "idle" and after.usage.output_tokens > 0 and after.usage.input_tokens > 0
    two = send(sid, *[{"type": "user.message", "content": text(m)} for m in ("one", "two")])
    events = until(sid, lambda event: ended(event) and event.id > two[1].id)
    said = [event.content[0].text for event in events if event.type == "agent.message"]
    assert said[-2:] == ["Turn 3. You said: one", "Turn 4. You said: two"], said


def test_initial_events():
    if not NEW:
        return
    begun = session(initial_events=[{"type": "user.message", "content": text("first")}])
    assert begun.status == "running"
    events = until(begun.id, ended)
    assert "agent.message" in names(events)


def test_lists_of_events():
    sid = session().id
    for number in range(5):
        turn(sid, f"message {number}")
    everything = [event.id for event in beta.sessions.events.list(sid, limit=7)]
    assert len(everything) == 30 and everything == sorted(everything)
    assert [e.id for e in beta.sessions.events.list(sid, limit=100, order="desc")] == everything[::-1]
    some = list(beta.sessions.events.list(sid, types=["agent.message", "user.message"], limit=3))
    assert names(some) == ["user.message", "agent.message"] * 5
    refused(400, "valid event cursor", lambda: beta.sessions.events.list(sid, page="nonsense"))
    refused(400, "limit", lambda: beta.sessions.events.list(sid, limit=0))


def test_custom_tool():
    sid = session().id
    events = turn(sid, "weather", waits)
    use = [event for event in events if event.type == "agent.custom_tool_use"][0]
    assert (use.name, use.input) == ("get_weather", {"city": "Oslo"})
    assert events[-1].stop_reason.event_ids == [use.id]
    assert beta.sessions.retrieve(sid).status == "idle"
    refused(404, "No pending custom tool call", lambda: send(
        sid, {"type": "user.custom_tool_result", "custom_tool_use_id": "sevt_none"}))
    refused(404, "No pending tool confirmation", lambda: send(
        sid, {"type": "user.tool_confirmation", "tool_use_id": use.id, "result": "allow"}))
    result = {"type": "user.custom_tool_result", "custom_tool_use_id": use.id, "content": text("snow")}
    first = send(sid, result)[0]
    events = until(sid, ended)
    assert [e for e in events if e.type == "agent.message"][-1].content[0].text == "The weather: snow"
    again = send(sid, result)[0]
    assert again.id != first.id, "a repeated result is a row of its own"
    assert names(beta.sessions.events.list(sid)).count("agent.message") == 1, "and runs nothing"
    refused(400, "answered differently", lambda: send(sid, {**result, "content": text("rain")}))


def test_confirmations():
    sid = session().id
    events = turn(sid, "ask", waits)
    use = [event for event in events if event.type == "agent.tool_use"][0]
    assert (use.name, use.evaluated_permission) == ("bash", "ask")
    allow = {"type": "user.tool_confirmation", "tool_use_id": use.id, "result": "allow"}
    first = send(sid, allow)[0]
    assert send(sid, allow)[0].id == first.id, "the same decision is the same event"
    refused(400, "answered differently", lambda: send(sid, {**allow, "result": "deny"}))
    events = until(sid, ended)
    results = [event for event in events if event.type == "agent.tool_result"]
    assert [(r.tool_use_id, r.is_error) for r in results] == [(use.id, False)]
    events = turn(sid, "ask", waits)
    use = events[-1].stop_reason.event_ids[0]
    send(sid, {"type": "user.tool_confirmation", "tool_use_id": use, "result": "deny", "deny_message": "never"})
    events = until(sid, lambda event: ended(event) and event.id > use)
    denied = [event for event in events if event.type == "agent.tool_result"][-1]
    assert denied.is_error and denied.content[0].text == "never"
    assert [e for e in events if e.type == "agent.message"][-1].content[0].text == "It gave: never"


def test_parallel_calls():
    sid = session().id
    events = turn(sid, "parallel", waits)
    ids = events[-1].stop_reason.event_ids
    kinds = {e.id: e.type for e in events}
    assert [kinds[i] for i in ids] == ["agent.custom_tool_use", "agent.custom_tool_use", "agent.tool_use"]
    send(sid, {"type": "user.custom_tool_result", "custom_tool_use_id": ids[1], "content": text("12:00")})
    last = list(beta.sessions.events.list(sid, order="desc", limit=1))[0]
    assert last.stop_reason.event_ids == [ids[0], ids[2]], "those that are left"
    send(
        sid,
        {"type": "user.tool_confirmation", "tool_use_id": ids[2], "result": "allow"},
        {"type": "user.custom_tool_result", "custom_tool_use_id": ids[0], "is_error": True, "content": text("no")},
    )
    events = until(sid, ended)
    assert "agent.message" in names(events)


def test_allowed_and_disabled_tools():
    sid = session().id
    events = turn(sid, "read")
    uses = [event for event in events if event.type == "agent.tool_use"]
    results = [event for event in events if event.type == "agent.tool_result"]
    assert [use.evaluated_permission for use in uses] == ["allow", "allow"]
    assert [(r.tool_use_id, r.is_error) for r in results] == [(uses[0].id, False), (uses[1].id, True)]
    events = turn(sid, "disabled")
    assert "agent.tool_use" not in names(events)
    assert "no tool `write`" in [e for e in events if e.type == "session.error"][0].error.message


def test_thinking_and_errors():
    sid = session().id
    assert "agent.thinking" in names(turn(sid, "think"))
    events = turn(sid, "overload")
    error = [event for event in events if event.type == "session.error"][0].error
    assert (error.type, error.retry_status.type) == ("model_overloaded_error", "retrying")
    order = names(events)
    assert order.index("session.status_rescheduled") < order.index("agent.message")
    events = turn(sid, "exhaust")
    assert events[-1].stop_reason.type == "retries_exhausted"
    events = turn(sid, "broken")
    error = [event for event in events if event.type == "session.error"][-1].error
    assert (error.type, error.retry_status.type) == ("model_request_failed_error", "terminal")
    assert names(turn(sid, "hello"))[-1] == "session.status_idle", "and goes on"


def test_interrupt_and_what_runs():
    sid = session().id
    turn(sid, "forever", lambda event: event.type == "span.model_request_start")
    assert beta.sessions.retrieve(sid).status == "running"
    assert sid in [one.id for one in beta.sessions.list(statuses=["running"])]
    refused(400, 'cannot be archived while its status is "running"', lambda: beta.sessions.archive(sid))
    refused(400, "Cannot delete session while it is running", lambda: beta.sessions.delete(sid))
    refused(400, "cannot mix", lambda: send(
        sid, {"type": "user.interrupt"}, {"type": "user.message", "content": text("x")}))
    send(sid, {"type": "user.interrupt"})
    sent = say(sid, "after the interrupt")
    events = until(sid, lambda event: ended(event) and event.id > sent.id)
    order = names(events)
    assert order.count("span.model_request_start") == order.count("span.model_request_end")
    said = [e.content[0].text for e in events if e.type == "agent.message"]
    assert said == ["Turn 2. You said: after the interrupt"], said
    send(sid, {"type": "user.interrupt"})
    assert names(beta.sessions.events.list(sid))[-1] == "user.interrupt", "nothing to stop"
    # An interrupt takes open calls away.
    events = turn(sid, "weather", waits)
    call = events[-1].stop_reason.event_ids[0]
    send(sid, {"type": "user.interrupt"})
    refused(404, "No pending custom tool call", lambda: send(
        sid, {"type": "user.custom_tool_result", "custom_tool_use_id": call}))


def test_hold_and_release():
    gate = os.path.join(HOLDS, "gate")
    if os.path.exists(gate):
        os.remove(gate)
    sid = session().id
    turn(sid, "hold", lambda event: event.type == "span.model_request_start")
    queued = say(sid, "meanwhile")
    open(gate, "w").close()
    events = until(sid, lambda event: ended(event) and event.id > queued.id)
    said = [e.content[0].text for e in events if e.type == "agent.message"]
    assert said == ["Released.", "Turn 2. You said: meanwhile"], said
    assert names(events).count("session.status_idle") == 1, "one end for both"


def test_archive_keeps_streams_and_delete_ends_them():
    sid = session().id
    turn(sid, "weather", waits)
    with beta.sessions.events.stream(sid) as stream:
        archived = False
        for event in stream:
            seen_types.add(event.type)
            if waits(event) and not archived:
                beta.sessions.archive(sid)
                archived = True
            if event.type == "session.status_terminated":
                beta.sessions.delete(sid)
        assert event.type == "session.deleted", event
    refused(404, "not found", lambda: beta.sessions.events.stream(sid))


def test_idempotency():
    headers = {"Idempotency-Key": "same"}
    one = session(extra_headers=headers)
    assert session(extra_headers=headers).id == one.id
    refused(400, "already used for a different request", lambda: session(title="x", extra_headers=headers))
    sent = [
        beta.sessions.events.send(
            one.id, events=[{"type": "user.message", "content": text("once")}], extra_headers=headers
        ).data[0].id
        for _ in range(3)
    ]
    until(one.id, ended)
    assert len(set(sent)) == 1
    assert names(beta.sessions.events.list(one.id)).count("user.message") == 1
    beta.sessions.delete(one.id)
    refused(404, "not found", lambda: beta.sessions.events.send(
        one.id, events=[{"type": "user.message", "content": text("once")}], extra_headers=headers))
    assert session(extra_headers=headers).id != one.id, "an old key makes a new session"


def test_tools_that_run():
    sid = session().id
    events = turn(sid, "really", ended)
    results = [event for event in events if event.type == "agent.tool_result"]
    assert [(r.is_error, r.content[0].text) for r in results] == [(True, results[0].content[0].text), (False, "No files found")]


def test_mcp_tools():
    agent = beta.agents.create(
        name="m", model="scripted",
        mcp_servers=[{"type": "url", "name": "m", "url": "https://m.example.com/mcp"}],
        tools=[{"type": "mcp_toolset", "mcp_server_name": "m"}])
    assert agent.tools[0].default_config.permission_policy.type == "always_ask"
    refused(400, "agent.mcp_servers[0].url: `m` at https://m.example.com/mcp", lambda: beta.sessions.create(
        agent=agent.id, environment_id=World.environment.id))
    reaching = beta.environments.create(
        name="reaching", config={"type": "cloud", "networking": {"type": "limited", "allow_mcp_servers": True}})
    sid = beta.sessions.create(agent=agent.id, environment_id=reaching.id).id
    events = turn(sid, "remote", waits)
    use = [event for event in events if event.type == "agent.mcp_tool_use"][0]
    assert (use.mcp_server_name, use.name, use.evaluated_permission) == ("m", "search", "ask")
    send(sid, {"type": "user.tool_confirmation", "tool_use_id": use.id, "result": "allow"})
    events = until(sid, lambda event: ended(event) and event.id > use.id)
    results = [event for event in events if event.type == "agent.mcp_tool_result"]
    assert [(r.mcp_tool_use_id, r.is_error) for r in results] == [(use.id, False)]


def test_files():
    uploaded = beta.files.upload(file=("a.txt", b"hello", "text/plain"))
    assert (uploaded.filename, uploaded.mime_type, uploaded.size_bytes) == ("a.txt", "text/plain", 5)
    second = beta.files.upload(file=("b.txt", b"hello", "text/plain"))
    assert second.id != uploaded.id
    assert beta.files.retrieve_metadata(uploaded.id).filename == "a.txt"
    assert [one.id for one in beta.files.list(limit=1)] == [second.id, uploaded.id]
    assert list(beta.files.list(scope_id="sesn_1")) == []
    refused(400, "is not downloadable", lambda: beta.files.download(uploaded.id))
    refused(404, "not found", lambda: other.beta.files.retrieve_metadata(uploaded.id))
    assert beta.files.delete(uploaded.id).id == uploaded.id
    refused(404, "not found", lambda: beta.files.delete(uploaded.id))


def test_outputs():
    sid = session().id
    events = turn(sid, "leave", waits)
    use = events[-1].stop_reason.event_ids[0]
    send(sid, {"type": "user.tool_confirmation", "tool_use_id": use, "result": "allow"})
    until(sid, lambda event: ended(event) and event.id > use)
    made = list(beta.files.list(scope_id=sid))
    assert [(one.filename, one.downloadable) for one in made] == [("made.txt", True)], made
    assert beta.files.download(made[0].id).read() == b"made\n"
    beta.files.upload(file=("c.txt", b"hello", "text/plain"))
    # Only the newer contract asks for files by their ids.
    if NEW:
        assert [one.id for one in beta.files.list(ids=[made[0].id])] == [made[0].id]
        many = [beta.files.upload(file=(f"{n}.txt", b"x", "text/plain")).id for n in range(40)]
        assert [one.id for one in beta.files.list(ids=many, limit=7)] == many[::-1]


def test_workspaces_are_apart():
    sid = session().id
    refused(404, "not found", lambda: other.beta.sessions.events.list(sid))
    refused(404, "not found", lambda: other.beta.sessions.events.send(
        sid, events=[{"type": "user.message", "content": text("x")}]))
    refused(404, "not found", lambda: other.beta.sessions.archive(sid))
    assert list(other.beta.sessions.list()) == [] and list(other.beta.agents.list()) == []
    wrong = Anthropic(base_url=BASE, api_key="asy_wrong", max_retries=0)
    refused(401, "Authentication failed", lambda: wrong.beta.sessions.list())


def test_resources():
    file = beta.files.upload(file=("a.txt", b"hello", "text/plain"))
    made = session(resources=[{"type": "file", "file_id": file.id, "mount_path": "data/a.txt"}])
    first = made.resources[0]
    assert (first.type, first.file_id, first.mount_path) == ("file", file.id, "/mnt/session/uploads/data/a.txt")
    second = beta.sessions.resources.add(made.id, type="file", file_id=file.id)
    assert second.mount_path == f"/mnt/session/uploads/{file.id}"
    assert [one.id for one in beta.sessions.resources.list(made.id, limit=1)] == [first.id, second.id]
    assert beta.sessions.resources.retrieve(first.id, session_id=made.id).mount_path == first.mount_path
    refused(400, "authorization_token", lambda: beta.sessions.resources.update(
        first.id, session_id=made.id, authorization_token="t"))
    refused(400, "overlaps another resource", lambda: beta.sessions.resources.add(
        made.id, type="file", file_id=file.id, mount_path="data"))
    deleted = beta.sessions.resources.delete(first.id, session_id=made.id)
    assert (deleted.id, deleted.type) == (first.id, "session_resource_deleted")
    assert [one.id for one in beta.sessions.retrieve(made.id).resources] == [second.id]
    refused(404, "not found", lambda: other.beta.sessions.resources.list(made.id))


def test_vaults():
    vault = beta.vaults.create(display_name="v", metadata={"a": "1"})
    assert (vault.type, vault.display_name, vault.metadata) == ("vault", "v", {"a": "1"})
    changed = beta.vaults.update(vault.id, display_name="w", metadata={"a": None})
    assert (changed.display_name, changed.metadata) == ("w", {})
    assert beta.vaults.retrieve(vault.id).display_name == "w"
    assert vault.id in [one.id for one in beta.vaults.list(limit=1)]
    refused(404, "not found", lambda: other.beta.vaults.retrieve(vault.id))
    credentials = beta.vaults.credentials
    bearer = credentials.create(vault.id, display_name="b", auth={
        "type": "static_bearer", "token": "s3cret", "mcp_server_url": "https://a.example/mcp"})
    assert bearer.auth.type == "static_bearer" and "s3cret" not in bearer.to_json()
    oauth = credentials.create(vault.id, auth={
        "type": "mcp_oauth", "access_token": "s3cret", "mcp_server_url": "http://b.example",
        "expires_at": "2030-01-01T00:00:00Z", "refresh": {
            "token_endpoint": "http://c.example/token", "client_id": "c", "refresh_token": "s3cret",
            "scope": "a", "token_endpoint_auth": {"type": "client_secret_post", "client_secret": "s3cret"}}})
    assert oauth.auth.expires_at.year == 2030 and "s3cret" not in oauth.to_json()
    assert (oauth.auth.refresh.client_id, oauth.auth.refresh.scope) == ("c", "a")
    assert oauth.auth.refresh.token_endpoint_auth.type == "client_secret_post"
    turned = credentials.update(oauth.id, vault_id=vault.id, auth={"type": "mcp_oauth", "refresh": {
        "refresh_token": "s3cret2", "token_endpoint_auth": {"type": "client_secret_basic"}}})
    assert turned.auth.refresh.token_endpoint_auth.type == "client_secret_basic"
    # Nobody is asked over http.
    tried = credentials.mcp_oauth_validate(oauth.id, vault_id=vault.id)
    assert (tried.type, tried.status) == ("vault_credential_validation", "unknown")
    assert (tried.has_refresh_token, tried.mcp_probe.method, tried.refresh) == (True, "initialize", None)
    refused(400, "mcp_oauth", lambda: credentials.mcp_oauth_validate(bearer.id, vault_id=vault.id))
    refused(409, "active credential", lambda: credentials.create(vault.id, auth={
        "type": "static_bearer", "token": "x", "mcp_server_url": "https://a.example/mcp"}))
    refused(400, "auth.type", lambda: credentials.create(vault.id, auth={
        "type": "environment_variable", "secret_name": "A", "secret_value": "b",
        "networking": {"type": "unrestricted"}}))
    assert [one.id for one in credentials.list(vault.id, limit=1)] == [oauth.id, bearer.id]
    updated = credentials.update(bearer.id, vault_id=vault.id, display_name="c", auth={
        "type": "static_bearer", "token": "other"})
    assert updated.display_name == "c"
    assert credentials.retrieve(bearer.id, vault_id=vault.id).display_name == "c"
    assert credentials.archive(bearer.id, vault_id=vault.id).archived_at
    assert [one.id for one in credentials.list(vault.id)] == [oauth.id]
    deleted = credentials.delete(oauth.id, vault_id=vault.id)
    assert (deleted.id, deleted.type) == (oauth.id, "vault_credential_deleted")
    assert beta.vaults.archive(vault.id).archived_at
    assert vault.id not in [one.id for one in beta.vaults.list()]
    assert beta.vaults.delete(vault.id).type == "vault_deleted"
    refused(404, "not found", lambda: beta.vaults.retrieve(vault.id))


def skill_files(body):
    manual = f"---\nname: tables\ndescription: Reads tables.\n---\n{body}\n".encode()
    return [("tables/SKILL.md", manual, "text/markdown"), ("tables/x/y.txt", b"y", "text/plain")]


def test_skills():
    title = {"display_name" if NEW else "display_title": "Tables"}
    skill = beta.skills.create(files=skill_files("one"), **title)
    assert skill.type == "skill"
    assert (skill.display_name, skill.source.type) == ("Tables", "custom") if NEW else (
        skill.display_title, skill.source) == ("Tables", "custom")
    first = skill.latest_version_id if NEW else skill.latest_version
    assert beta.skills.retrieve(skill.id).id == skill.id
    assert skill.id in [one.id for one in beta.skills.list(limit=1)]
    assert list(beta.skills.list(source="anthropic")) == []
    refused(404, "not found", lambda: other.beta.skills.retrieve(skill.id))
    refused(400, "SKILL.md", lambda: beta.skills.create(files=[("x/y.txt", b"y", "text/plain")]))
    version = beta.skills.versions.create(skill.id, files=skill_files("two"))
    assert (version.type, version.name, version.description) == ("skill_version", "tables", "Reads tables.")
    second = version.id if NEW else version.version
    found = beta.skills.versions.retrieve("latest", skill_id=skill.id)
    assert found.id == version.id
    assert [one.id if NEW else one.version for one in beta.skills.versions.list(skill.id, limit=1)] == [second, first]
    assert beta.skills.versions.download(second, skill_id=skill.id).read().startswith(b"PK")
    agent = beta.agents.create(name="skilled", model="scripted", tools=TOOLS, skills=[
        {"type": "custom", "skill_id": skill.id, "version": first}])
    assert agent.skills[0].version == first
    assert beta.agents.update(agent.id, version=1, skills=[]).skills == []
    made = beta.sessions.create(
        agent={"type": "agent", "id": agent.id, "version": 1}, environment_id=World.environment.id)
    assert made.agent.skills[0].skill_id == skill.id
    refused(400, "has versions", lambda: beta.skills.delete(skill.id))
    for name in (first, second):
        assert beta.skills.versions.delete(name, skill_id=skill.id).type == "skill_version_deleted"
    assert beta.skills.delete(skill.id).id == skill.id
    refused(404, "not found", lambda: beta.skills.retrieve(skill.id))


def test_what_is_not_there_says_so():
    sid = session().id
    refused(404, "Route not found", lambda: beta.sessions.threads.list(sid))
    refused(404, "Route not found", lambda: beta.memory_stores.list())
    if NEW:
        refused(400, "`event_deltas`", lambda: beta.sessions.events.stream(sid, event_deltas=["agent.message"]))


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    failed = []
    for name, test in tests:
        try:
            test()
        except Exception:
            traceback.print_exc()
            failed.append(name)
    print(json.dumps({"version": anthropic.__version__, "passed": len(tests) - len(failed),
                      "failed": failed, "types": sorted(seen_types)}))
    sys.exit(1 if failed else 0)


main()

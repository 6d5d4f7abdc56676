#!/usr/bin/env python3
"""A client of `assay serve` for Assay: logs and queues that are sessions.

Speaks docs/formats/client-protocol.md, with nothing but the standard library. What is appended is
sent as a message, with the id of the call as its idempotency key; what is read are the messages of
the session, from its list or, if all are asked for, from its stream.
"""
import http.client
import json
import sys
import time

HEADERS = {"anthropic-version": "2023-06-01", "anthropic-beta": "managed-agents-2026-04-01"}


class Refused(Exception):
    """It did not happen, and never will."""


class Unknown(Exception):
    """It may have happened."""


class Server:
    def __init__(self, address, key, deadline):
        self.address, self.key, self.deadline = address, key, deadline

    def open(self, method, path, body=None, more=None):
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise Refused("not sent: the time is up")
        connection = http.client.HTTPConnection(self.address, timeout=left)
        try:
            connection.connect()
        except OSError as error:
            raise Refused(f"not sent: {error}") from error
        try:
            headers = {**HEADERS, "x-api-key": self.key, **(more or {})}
            content = None if body is None else json.dumps(body)
            connection.request(method, path, content, headers)
            return connection, connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise Unknown(f"no answer: {error!r}") from error

    def call(self, method, path, body=None, more=None):
        connection, response = self.open(method, path, body, more)
        try:
            status, text = response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            raise Unknown(f"half an answer: {error!r}") from error
        finally:
            connection.close()
        if status == 200:
            return json.loads(text)
        kind = Refused if 400 <= status < 500 else Unknown
        raise kind(f"{status}: {text.decode(errors='replace')}")

    def all(self, path):
        """Everything in a list, page by page."""
        found, page = [], ""
        while page is not None:
            more = "&" if "?" in path else "?"
            listed = self.call("GET", f"{path}{more}limit=100" + (f"&page={page}" if page else ""))
            found += listed["data"]
            page = listed["next_page"]
        return found


class Client:
    def __init__(self, init, key, has_idempotency):
        self.init, self.key, self.has_idempotency = init, key, has_idempotency
        self.sessions, self.agent, self.heard = {}, None, {}

    def session(self, server, key):
        """The session of a key. Who comes first makes it; the others get the same one."""
        if key not in self.sessions:
            if self.agent is None:
                server.call("POST", "/v1/agents", {"name": "a", "model": "scripted"})
                server.call("POST", "/v1/environments", {"name": "e"})
                # Ids grow with time: the first of each is the same for everybody who made one.
                first = lambda path: min(item["id"] for item in server.all(path))
                self.agent = first("/v1/agents"), first("/v1/environments")
            agent, environment = self.agent
            wish = {"agent": agent, "environment_id": environment, "title": key}
            made = server.call("POST", "/v1/sessions", wish, {"idempotency-key": f"session-{key}"})
            self.sessions[key] = made["id"]
        return self.sessions[key]

    def append(self, server, call):
        try:
            session = self.session(server, call["key"])
        except Unknown as error:
            raise Refused(f"not sent: {error}") from error
        more = {}
        if self.has_idempotency:
            more["idempotency-key"] = call["request_id"] or f"{self.init['client']}-{call['id']}"
        text = {"type": "text", "text": json.dumps(call["input"])}
        event = {"type": "user.message", "content": [text]}
        server.call("POST", f"/v1/sessions/{session}/events", {"events": [event]}, more)

    def listed(self, server, session):
        """Messages with their ids, as the list has them."""
        path = f"/v1/sessions/{session}/events?types[]=user.message"
        return [(event["id"], entry(event)) for event in server.all(path)]

    def streamed(self, server, session, last, until):
        """Messages behind `last`, as the stream has them, up to one that is known to be there."""
        more = {"last-event-id": last} if last else {}
        connection, response = server.open("GET", f"/v1/sessions/{session}/events/stream", None, more)
        found = []
        try:
            for line in response:
                if line.startswith(b"data: "):
                    event = json.loads(line[6:])
                    if event["type"] == "user.message":
                        found.append((event["id"], entry(event)))
                    if event["id"] >= until:
                        return found
            raise Unknown("the stream has ended")
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Unknown(f"the stream broke: {error!r}") from error
        finally:
            connection.close()

    def read(self, server, call):
        session = self.session(server, call["key"])
        messages = self.listed(server, session)
        if call["input"] is not None:
            at = call["input"]
            return messages[at][1] if at < len(messages) else None
        if messages:
            messages = self.streamed(server, session, None, messages[-1][0])
        return [value for _, value in messages]

    def take(self, server, call):
        """The next message that this client has not heard; every client hears all of them."""
        session = self.session(server, call["key"])
        last = self.heard.get(session)
        behind = [item for item in self.listed(server, session) if last is None or item[0] > last]
        if not behind:
            return None
        found = self.streamed(server, session, last, behind[0][0])
        self.heard[session] = found[0][0]
        return found[0][1]

    def dump(self, server, call):
        sessions = {item["title"]: item["id"] for item in server.all("/v1/sessions?order=asc")}
        values = lambda session: [value for _, value in self.listed(server, session)]
        if call["key"] is None:
            return {key: values(session) for key, session in sessions.items()}
        return values(sessions[call["key"]]) if call["key"] in sessions else []

    def perform(self, call):
        address = self.init["nodes"][call["node"] or self.init["node"]]
        server = Server(address, self.key, time.monotonic() + call["timeout_ms"] / 1000)
        does = {
            "append": self.append, "enqueue": self.append, "read": self.read,
            "dequeue": self.take, "dump": self.dump,
        }
        try:
            return {"type": "ok", "output": does[call["op"]](server, call)}
        except Refused as error:
            return {"type": "fail", "error": str(error)}
        except Unknown as error:
            changes = call["op"] in ("append", "enqueue")
            return {"type": "info" if changes else "fail", "error": str(error)}


def entry(event):
    return json.loads(event["content"][0]["text"])


def at_rest(address, key):
    """Whether every session has done what it was asked to."""
    sessions = Server(address, key, time.monotonic() + 5).all("/v1/sessions")
    sys.exit(any(session["status"] != "idle" for session in sessions))


def main():
    what, *words = sys.argv[1:]
    if what == "at-rest":
        at_rest(*words)
    key, idempotency = words
    client = Client(json.loads(sys.stdin.readline()), key, idempotency == "true")
    assert client.init["protocol"] == 1, "this adapter speaks version 1"
    print(json.dumps({"type": "ready"}), flush=True)
    for line in sys.stdin:
        call = json.loads(line)
        print(json.dumps({"id": call["id"], **client.perform(call)}), flush=True)


main()

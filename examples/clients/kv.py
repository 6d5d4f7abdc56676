#!/usr/bin/env python3
"""A client of kv for Assay, with nothing but the standard library.

Reads JSON lines on standard input and answers on standard output, as
docs/formats/client-protocol.md says. To try your own system, change `perform`.
"""
import http.client
import json
import sys


def perform(address, name, call):
    """Does one operation. Returns the outcome: its type and its fields."""
    request = {"op": name, "key": call["key"], "input": call["input"], "id": call["request_id"]}
    # A new connection for each operation: then it is certain what was sent over it.
    connection = http.client.HTTPConnection(address, timeout=call["timeout_ms"] / 1000)
    try:
        connection.connect()
    except OSError as error:
        return {"type": "fail", "error": f"not sent: {error}"}
    try:
        connection.request("POST", "/op", json.dumps(request))
        response = connection.getresponse()
        status, body = response.status, response.read()
    except (OSError, http.client.HTTPException) as error:
        return {"type": "info", "error": f"no answer: {error!r}"}  # it may have arrived
    finally:
        connection.close()
    return outcome(status, body)


def outcome(status, body):
    """What an answer of kv means."""
    try:
        answer = json.loads(body)
        if status == 200:
            done = {"output": answer["ok"], "node": f"n{answer['node']}"}
            return {"type": "ok", **done, "revision": answer.get("index")}
    except (ValueError, KeyError, TypeError):
        pass  # an answer that cannot be read settles nothing, unless its status does
    refused = status in (400, 409, 413)
    text = body.decode(errors="replace")
    return {"type": "fail" if refused else "info", "error": f"{status}: {text}"}


init = json.loads(sys.stdin.readline())
assert init["protocol"] == 1, "this adapter speaks version 1"
print(json.dumps({"type": "ready"}), flush=True)
for line in sys.stdin:
    call = json.loads(line)
    address = init["nodes"][call["node"] or init["node"]]
    answer = perform(address, init["options"].get("prefix", "register.") + call["op"], call)
    print(json.dumps({"id": call["id"], **answer}), flush=True)

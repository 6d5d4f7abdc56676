#!/usr/bin/env python3
"""A Maelstrom node for the workload lin-kv, with nothing but the standard library.

The first node owns all data; the others hand requests on to it and its answers back. There is one
copy and one thread, so it is linearizable as long as the first node lives. When that node ends, the
data ends with it, and requests stay unanswered.
"""
import json
import random
import sys

PENDING_MAX = 10_000  # requests handed on and not answered; the oldest is forgotten


class Node:
    def __init__(self):
        self.name, self.owner = None, None
        self.values = {}   # on the owner: key, as JSON, to value
        self.pending = {}  # elsewhere: our msg_id to (client, its msg_id)
        # A node that is started again must not take answers to its former self for its own.
        self.msg_id = random.getrandbits(48)

    def send(self, dest, body):
        print(json.dumps({"src": self.name, "dest": dest, "body": body}), flush=True)

    def handle(self, src, body):
        if body["type"] == "init":
            self.name, self.owner = body["node_id"], body["node_ids"][0]
            self.send(src, {"type": "init_ok", "in_reply_to": body["msg_id"]})
        elif "in_reply_to" in body:
            self.hand_back(body)
        elif self.name == self.owner:
            self.send(src, {**self.apply(body), "in_reply_to": body["msg_id"]})
        else:
            self.hand_on(src, body)

    def hand_on(self, src, body):
        self.msg_id += 1
        self.pending[self.msg_id] = (src, body["msg_id"])
        if len(self.pending) > PENDING_MAX:
            del self.pending[next(iter(self.pending))]
        self.send(self.owner, {**body, "msg_id": self.msg_id})

    def hand_back(self, body):
        client, msg_id = self.pending.pop(body["in_reply_to"], (None, None))
        if client is not None:
            self.send(client, {**body, "in_reply_to": msg_id})

    def apply(self, body):
        kind, key = body["type"], json.dumps(body.get("key"))
        if kind == "write":
            self.values[key] = body["value"]
            return {"type": "write_ok"}
        if kind not in ("read", "cas"):
            return {"type": "error", "code": 10, "text": f"{kind} is not supported"}
        if key not in self.values:
            return {"type": "error", "code": 20, "text": "the key does not exist"}
        if kind == "read":
            return {"type": "read_ok", "value": self.values[key]}
        if self.values[key] != body["from"]:
            return {"type": "error", "code": 22, "text": f"the value is {self.values[key]}"}
        self.values[key] = body["to"]
        return {"type": "cas_ok"}


node = Node()
for line in sys.stdin:
    message = json.loads(line)
    node.handle(message["src"], message["body"])

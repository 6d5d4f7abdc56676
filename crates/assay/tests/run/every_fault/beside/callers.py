#!/usr/bin/env python3
"""A node with a process beside it that connects to it again and again.

Descriptors that are open stay open when there are no more to be had: only who asks for one notices.
"""
import os
import socket
import sys
import time

HOST, PORT = sys.argv[sys.argv.index("--listen") + 1].rsplit(":", 1)
CALLS_MAX = 200


def call():
    calls = []
    while True:
        try:
            calls.append(socket.create_connection((HOST, int(PORT)), timeout=2))
        except OSError:
            pass
        calls = calls[-CALLS_MAX:]
        time.sleep(0.05)


if os.fork() == 0:
    call()
os.execvp(sys.argv[1], sys.argv[1:])

#!/usr/bin/env python3
"""A node with a thread beside it that sends many segments at once to every node, and takes theirs.

Segments can overtake each other only where several are under way: a store that waits for each
answer hardly ever has two.
"""
import socket
import subprocess
import sys
import threading
import time

PORT = 19999


def take(listener):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=drain, args=(connection,), daemon=True).start()


def drain(connection):
    while connection.recv(1 << 16):
        pass


def send(name):
    while True:
        try:
            with socket.create_connection((name, PORT), timeout=2) as connection:
                while True:
                    connection.sendall(bytes(300_000))
                    time.sleep(0.1)
        except OSError:
            time.sleep(0.1)


threading.Thread(target=take, args=(socket.create_server(("", PORT)),), daemon=True).start()
for node in ("n1", "n2", "n3"):
    threading.Thread(target=send, args=(node,), daemon=True).start()
sys.exit(subprocess.run(sys.argv[1:], check=False).returncode)

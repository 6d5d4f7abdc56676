#!/usr/bin/env python3
"""A node with a process beside it that sends numbered datagrams to every peer, and says what is odd
about theirs: where to listen, the peers, `--`, and then the command of the node.
"""
import os
import socket
import sys
import time

END = sys.argv.index("--")
LISTEN, *PEERS = ((host, int(port)) for host, port in (at.rsplit(":", 1) for at in sys.argv[1:END]))
STEP_S = 0.005
# So often the same is said at most: a log is no flood.
SAID_S = 0.1


def say(what, said):
    if time.monotonic() - said.get(what, 0) > SAID_S:
        said[what] = time.monotonic()
        print(what, flush=True)


def look(data, highest, said):
    who, number = data.split()
    number = int(number)
    before = highest.get(who)
    if before is not None and number == before:
        say("a number came twice", said)
    elif before is not None and number < before:
        say("a number came late", said)
    elif before is not None and number > before + 1:
        say("numbers are missing", said)
    highest[who] = max(number, before or 0)


def gossip():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mine:
        mine.bind(LISTEN)
        mine.setblocking(False)
        number, highest, said = 0, {}, {}
        while True:
            number += 1
            for peer in PEERS:
                mine.sendto(b"%d %d" % (os.getpid(), number), peer)
            time.sleep(STEP_S)
            while True:
                try:
                    look(mine.recv(100), highest, said)
                except BlockingIOError:
                    break
                except OSError:
                    continue


if os.fork() == 0:
    gossip()
os.execvp(sys.argv[END + 1], sys.argv[END + 1:])

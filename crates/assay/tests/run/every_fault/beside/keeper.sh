#!/bin/sh
# A node whose first process is a shell that keeps the server; the server ignores SIGHUP. The shell
# says when it was stopped and goes on, which nothing but a stop can make it say.
trap 'echo goes on after a stop >&2' CONT
(
    trap '' HUP
    exec "$@"
) &
# A signal ends the waiting, not the server.
while kill -0 $! 2>/dev/null; do wait $!; done

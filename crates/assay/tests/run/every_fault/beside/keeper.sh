#!/bin/sh
# A node whose first process is a shell that keeps the server; the server ignores SIGHUP.
(
    trap '' HUP
    exec "$@"
) &
wait

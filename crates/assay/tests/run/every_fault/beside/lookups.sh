#!/bin/sh
# A node with a process beside it that looks a name up again and again, and says when it cannot.
(while :; do getent hosts n1 >/dev/null || echo no such name now >&2; sleep 0.1; done) &
exec "$@"

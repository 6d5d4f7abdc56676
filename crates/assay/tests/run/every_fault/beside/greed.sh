#!/bin/sh
# A node with a process beside it that takes 300 MB as soon as its control group may not have them,
# in either version of control groups, and says when it was not given them.
limits() {
    cat "/sys/fs/cgroup/memory$(sed -n 's/.*:memory://p' /proc/self/cgroup)/memory.limit_in_bytes" \
        "/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)/memory.max" 2>/dev/null
}
(while :; do
    for limit in $(limits); do
        # Without a limit it is `max`, or a number of 19 digits.
        case $limit in
        *[!0-9]* | ???????????*) ;;
        *) head -c 400000000 /dev/zero | tail -c 300000000 >/dev/null || echo lost its memory >&2 ;;
        esac
    done
    sleep 0.1
done) &
exec "$@"

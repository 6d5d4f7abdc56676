#!/bin/sh
# A node whose first process keeps the server, and takes memory without end as soon as its control
# group has a limit, in either version of control groups: the kernel kills it.
limits() {
    cat "/sys/fs/cgroup/memory$(sed -n 's/.*:memory://p' /proc/self/cgroup)/memory.limit_in_bytes" \
        "/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)/memory.max" 2>/dev/null
}
"$@" &
while :; do
    for limit in $(limits); do
        # Without a limit it is `max`, or a number of 19 digits.
        case $limit in
        *[!0-9]* | ???????????*) ;;
        *) exec tail /dev/zero ;;
        esac
    done
    sleep 0.1
done

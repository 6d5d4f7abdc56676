//! Sessions, effects, and sets.

use super::{
    OPEN,
    Of::{Fail, Pass, Vacuous},
    Row, UPHELD, by_delivery, by_id, no,
};

pub const SESSIONS: &[Row] = &[
    Row("read-your-writes", Pass, no, "0 write x 1 ok\n1 write x 2 ok\n0 read x - ok 2"),
    Row(
        "read-your-writes",
        Fail("own-write-not-seen"),
        no,
        "0 write x 1 ok\n0 write x 2 ok\n0 read x - ok 1",
    ),
    Row(
        "read-your-writes",
        Fail("own-write-not-seen"),
        no,
        "1 write x 9 ok 1\n0 write x 1 ok 5\n0 read x - ok 9 rev=4",
    ),
    Row("read-your-writes", UPHELD, no, "0 write x 1 ok 5\n0 read x - ok 1 rev=5"),
    Row("read-your-writes", UPHELD, no, "0 write x 1 ok\n0 delete x - unknown\n0 read x - ok null"),
    // The first write is of unknown outcome and may land after the second.
    Row("read-your-writes", UPHELD, no, "0 write x 1 unknown\n0 write x 2 ok\n0 read x - ok 1"),
    Row(
        // Somebody else may have written the same value again.
        "read-your-writes",
        UPHELD,
        no,
        "0 write x 1 ok\n1 write x 1 unknown\n0 write x 2 ok\n0 read x - ok 1",
    ),
    Row("read-your-writes", Vacuous, no, "0 write x 1 ok\n1 read x - ok null"),
    Row("monotonic-reads", Pass, no, "0 read x - ok 1 rev=1\n0 read x - ok 2 rev=2"),
    Row(
        "monotonic-reads",
        Fail("non-monotonic-read"),
        no,
        "0 read x - ok 1 rev=2\n0 read x - ok 2 rev=1",
    ),
    Row(
        "monotonic-reads",
        Fail("non-monotonic-read"),
        no,
        "0 write x 1 ok\n1 read x - ok 1\n1 read x - ok null",
    ),
    Row("monotonic-reads", UPHELD, no, "0 read x - ok 1 rev=2\n0 read x - ok 1 rev=2"),
    // Written twice: going back to it proves nothing.
    Row(
        "monotonic-reads",
        UPHELD,
        no,
        "0 write x 1 ok\n2 write x 1 unknown\n0 write x 2 ok\n1 read x - ok 1\n\
             1 read x - ok 2\n1 read x - ok 1",
    ),
    Row("monotonic-reads", Vacuous, no, "0 read x - ok 1\n1 read x - ok 1\n1 read y - ok 1"),
    Row("monotonic-writes", Pass, no, "0 write x 1 ok 3\n0 write x 2 ok 4"),
    Row("monotonic-writes", Fail("writes-reordered"), no, "0 write x 1 ok 4\n0 write x 2 ok 3"),
    Row("monotonic-writes", UPHELD, no, "0 write x 1 ok 4\n0 write x 2 ok 4"),
    Row("monotonic-writes", Vacuous, no, "0 write x 1 ok\n0 write x 2 ok"),
    Row("writes-follow-reads", Pass, no, "0 read x - ok 1 rev=3\n0 write x 2 ok 4"),
    Row(
        "writes-follow-reads",
        Fail("write-before-read"),
        no,
        "0 read x - ok 1 rev=3\n0 write x 2 ok 3",
    ),
    Row("writes-follow-reads", UPHELD, no, "0 read x - ok 1 rev=3\n0 write x 2 ok 4"),
    Row("writes-follow-reads", Vacuous, no, "0 read x - ok 1\n0 write x 2 ok"),
    Row("causal", Pass, no, "0 write x 1 ok\n1 read x - ok 1\n1 write x 2 ok\n2 read x - ok 2"),
    Row(
        "causal",
        Fail("causal-overwrite"),
        no,
        "0 write x 1 ok\n1 read x - ok 1\n1 write x 2 ok\n2 read x - ok 2\n2 read x - ok 1",
    ),
    Row(
        "causal",
        Fail("causal-cycle"),
        no,
        "0 read x - ok 1\n0 write y 2 ok\n1 read y - ok 2\n1 write x 1 ok",
    ),
    Row("causal", Fail("phantom-read"), no, "0 write x 1 ok\n1 read x - ok 7"),
    // Concurrent writes may be seen in either order, even by one session after the other.
    Row(
        "causal",
        UPHELD,
        no,
        "0 write x 1 ok\n1 write x 2 ok\n2 read x - ok 1\n2 read x - ok 2\n3 read x - ok 2\n\
             3 read x - ok 1",
    ),
    Row(
        "causal",
        UPHELD,
        no,
        "0 write x 1 unknown\n1 read x - ok 1\n1 write y 2 ok\n2 read y - ok 2\n\
             0 read x - ok null",
    ),
    Row("causal", Vacuous, no, "0 write x 1 ok\n0 write x 2 ok"),
];

pub const EFFECTS: &[Row] = &[
    Row("no-lost-ack", Pass, no, "0 add - 1 ok\n0 add - 2 ok\n0 final - - ok [2,1]"),
    Row(
        "no-lost-ack",
        Fail("lost-ack"),
        no,
        "0 add a 1 ok\n0 add b 2 ok\n0 final - - ok {\"a\":[1],\"b\":[]}",
    ),
    Row(
        "no-lost-ack",
        Fail("lost-ack"),
        no,
        "0 write x 1 ok\n0 write x 2 ok\n0 final - - ok {\"x\":1}",
    ),
    Row("no-lost-ack", Fail("lost-ack"), no, "0 put x 1 ok\n0 final - - ok {}"),
    Row("no-lost-ack", UPHELD, no, "0 add - 1 ok\n0 add - 2 unknown\n0 final - - ok [1]"),
    Row("no-lost-ack", UPHELD, no, "0 add - 1 ok\n0 add - 2 unknown\n0 final - - ok [1,2]"),
    // A write that overlaps the last one may be what stays.
    Row(
        "no-lost-ack",
        UPHELD,
        no,
        "0 write x 1 ok @0..20\n1 write x 2 ok @10..15\n0 final - - ok {\"x\":1} @30..35",
    ),
    // Acknowledged while the dump was read: not judged by it.
    Row(
        "no-lost-ack",
        UPHELD,
        no,
        "0 add - 1 ok @0..5\n0 add - 2 ok @6..12\n1 final - - ok [1] @10..20",
    ),
    Row("no-lost-ack", Vacuous, no, "0 add - 1 ok"),
    Row("no-lost-ack", Vacuous, no, "0 add - 1 unknown\n0 add - 2 fail\n0 final - - ok []"),
    Row(
        "exactly-once",
        Pass,
        by_id,
        "0 pay a {\"id\":1} ok\n0 pay a {\"id\":1} ok\n0 final - - ok [{\"id\":1}]",
    ),
    Row(
        "exactly-once",
        Fail("duplicate-effect"),
        by_id,
        "0 pay a {\"id\":1} ok id=9\n0 final - - ok [{\"id\":1},{\"id\":1}]",
    ),
    Row(
        "exactly-once",
        Fail("missing-effect"),
        by_id,
        "0 pay a {\"id\":1} ok id=9\n0 final - - ok []",
    ),
    Row(
        "exactly-once",
        Fail("effect-of-rejected"),
        by_id,
        "0 pay a {\"id\":1} fail id=9\n0 final - - ok [1]",
    ),
    Row(
        "exactly-once",
        Fail("duplicate-effect"),
        by_id,
        "0 pay a {\"id\":1} ok id=9\n1 consume a - ok {\"id\":1}\n1 consume a - ok {\"id\":1}\n\
             0 final - - ok [1]",
    ),
    Row(
        "exactly-once",
        UPHELD,
        by_id,
        "0 pay a {\"id\":1} unknown\n0 pay a {\"id\":1} unknown\n0 final - - ok []",
    ),
    Row("exactly-once", OPEN, by_id, "0 pay a {\"id\":1} ok id=9\n1 consume a - ok {\"id\":1}"),
    Row("exactly-once", Vacuous, by_id, "0 pay a 5 ok\n0 final - - ok []"),
    Row("at-least-once", Pass, by_id, "0 pay a {\"id\":1} ok id=9\n0 final - - ok [1,1]"),
    Row(
        "at-least-once",
        Fail("missing-effect"),
        by_id,
        "0 pay a {\"id\":1} ok id=9\n0 pay a {\"id\":2} ok id=8\n0 final - - ok [1]",
    ),
    Row(
        "at-least-once",
        UPHELD,
        by_id,
        "0 pay a {\"id\":1} ok id=9\n0 pay a {\"id\":2} unknown\n0 final - - ok [1]",
    ),
    // Done twice, each time for a delivery of its own.
    Row(
        "at-least-once",
        UPHELD,
        by_delivery,
        "0 pay a {\"id\":1} ok id=9\n\
             0 final - - ok [{\"id\":1,\"handed\":1},{\"id\":1,\"handed\":2}]",
    ),
    Row(
        "at-least-once",
        Fail("repeated-delivery"),
        by_delivery,
        "0 pay a {\"id\":1} ok id=9\n\
             0 final - - ok [{\"id\":1,\"handed\":2},{\"id\":1,\"handed\":2}]",
    ),
    // What does not name its delivery may be of any.
    Row(
        "at-least-once",
        UPHELD,
        by_delivery,
        "0 pay a {\"id\":1} ok id=9\n0 final - - ok [{\"id\":1},{\"id\":1}]",
    ),
    Row("at-least-once", Vacuous, by_id, "0 final - - ok [1]"),
    Row("at-most-once", Pass, by_id, "0 pay a {\"id\":1} ok id=9\n0 final - - ok []"),
    Row(
        "at-most-once",
        Fail("duplicate-effect"),
        by_id,
        "0 pay a {\"id\":1} ok id=9\n0 final - - ok [1,1]",
    ),
    // Two consumers are two views: one effect in each is no duplicate.
    Row(
        "at-most-once",
        UPHELD,
        by_id,
        "0 pay a {\"id\":1} ok id=9\n1 consume a - ok 1\n2 consume a - ok 1",
    ),
    Row("at-most-once", Vacuous, by_id, "0 pay a {\"id\":1} ok id=9"),
    Row("set", Pass, no, "0 add - 1 ok\n1 read - - ok [1]\n1 read - - ok [1]"),
    Row("set", Fail("lost"), no, "0 add - 1 ok\n1 read - - ok [1]\n1 read - - ok []"),
    Row("set", Fail("stale"), no, "0 add - 1 ok\n1 read - - ok []\n1 read - - ok [1]"),
    Row("set", Fail("lost"), no, "0 add - 1 unknown\n1 read - - ok [1]\n1 read - - ok []"),
    Row("set", Fail("phantom"), no, "0 add - 1 fail\n1 read - - ok [1]"),
    Row("set", Fail("duplicated"), no, "0 add - 1 ok\n1 read - - ok [1,1]"),
    Row(
        "set",
        UPHELD,
        |o| o.stale_reads_allowed = true,
        "0 add - 1 ok\n1 read - - ok []\n1 read - - ok [1]",
    ),
    // The read begins before the add is acknowledged.
    Row("set", UPHELD, no, "0 add - 1 ok @0..10\n1 read - - ok [] @10..20"),
    Row("set", Vacuous, no, "0 add - 1 ok"),
];

//! Streams, queues and logs; money and locks.

use super::{
    OPEN,
    Of::{Fail, Pass, Vacuous},
    Row, UPHELD, no,
};
use assay_oracle::Options;

pub const STREAMS: &[Row] = &[
    Row("order", Pass, no, "0 send q 1 ok\n1 send q 2 ok\n2 recv q - ok [2,1]"),
    Row("order", Fail("reordered"), no, "0 send q 1 ok\n0 send q 2 ok\n2 recv q - ok [2,1]"),
    Row("order", Fail("skipped"), no, "0 send q 1 ok\n0 send q 2 ok\n2 recv q - ok 2"),
    Row("order", Fail("inserted"), no, "0 send q 1 fail\n2 recv q - ok 1"),
    Row("order", Fail("duplicate"), no, "0 send q 1 ok\n2 recv q - ok 1\n2 recv q - ok 1"),
    Row(
        "order",
        Fail("reordered"),
        no,
        "0 send q 1 ok 7\n1 send q 2 ok 8\n2 recv q - ok 2\n2 recv q - ok 1",
    ),
    Row(
        "order",
        UPHELD,
        |o| o.redelivery_allowed = true,
        "0 send q 1 ok\n2 recv q - ok 1\n2 recv q - ok 1",
    ),
    Row(
        "order",
        UPHELD,
        |o| o.reorder_window = 1,
        "0 send q 1 ok\n0 send q 2 ok\n2 recv q - ok [2,1]",
    ),
    Row(
        "order",
        Fail("reordered"),
        |o| o.reorder_window = 1,
        "0 send q 1 ok\n0 send q 2 ok\n0 send q 3 ok\n2 recv q - ok [2,3,1]",
    ),
    Row("order", UPHELD, no, "0 send q 1 unknown\n0 send q 2 ok\n2 recv q - ok 2\n2 recv q - ok 1"),
    Row("order", Vacuous, no, "0 send q 1 ok\n2 recv q - ok null"),
    Row(
        "fifo-producer",
        Pass,
        no,
        "0 enqueue q 1 ok\n1 enqueue q 2 ok\n2 dequeue q - ok 2\n2 dequeue q - ok 1",
    ),
    Row(
        "fifo-producer",
        Fail("reordered"),
        no,
        "0 enqueue q 1 ok\n0 enqueue q 2 ok\n2 dequeue q - ok 2\n3 dequeue q - ok 1",
    ),
    Row(
        "fifo-producer",
        UPHELD,
        no,
        "0 enqueue q 1 ok\n0 enqueue q 2 ok\n2 dequeue q - ok 2 @20..30\n\
             3 dequeue q - ok 1 @30..40",
    ),
    Row("fifo-producer", Vacuous, no, "0 enqueue q 1 ok\n2 dequeue q - ok null"),
    Row(
        "queue",
        Pass,
        no,
        "0 enqueue q 1 ok\n1 enqueue q 2 ok\n2 dequeue q - ok 1\n2 drain q - ok [2]",
    ),
    Row(
        "queue",
        Fail("reordered"),
        no,
        "0 enqueue q 1 ok\n1 enqueue q 2 ok\n2 dequeue q - ok 2\n2 dequeue q - ok 1",
    ),
    Row("queue", Fail("duplicate"), no, "0 enqueue q 1 ok\n2 dequeue q - ok 1\n3 dequeue q - ok 1"),
    Row("queue", Fail("phantom"), no, "0 enqueue q 1 ok\n2 dequeue q - ok 7"),
    Row("queue", Fail("lost"), no, "0 enqueue q 1 ok\n2 drain q - ok []"),
    // The dequeue that timed out may have it.
    Row("queue", OPEN, no, "0 enqueue q 1 ok\n1 dequeue q - unknown\n2 drain q - ok []"),
    Row(
        "queue",
        Fail("lost"),
        no,
        "0 enqueue q 1 ok\n0 enqueue q 2 ok\n1 dequeue q - unknown\n2 drain q - ok []",
    ),
    Row(
        "queue",
        UPHELD,
        no,
        "0 enqueue q 1 unknown\n0 enqueue q 2 ok\n2 dequeue q - ok 2\n2 dequeue q - ok 1\n\
             2 drain q - ok []",
    ),
    Row("queue", Vacuous, no, "0 enqueue q 1 ok\n2 dequeue q - ok null"),
    Row("log", Pass, no, "0 append l a ok 0\n1 read l - ok [\"a\"]\n1 read l 0 ok \"a\""),
    Row("log", Fail("divergence"), no, "0 append l a ok 0\n1 read l - ok [\"b\"]"),
    Row(
        "log",
        Fail("truncated"),
        no,
        "0 append l a unknown\n1 read l - ok [\"a\"]\n2 read l - ok []",
    ),
    Row(
        "log",
        Fail("offset-gap"),
        no,
        "1 poll l 0 ok [{\"offset\":0,\"value\":1},{\"offset\":2,\"value\":2}]",
    ),
    Row("log", Fail("duplicate"), no, "0 append l a unknown\n1 read l - ok [\"a\",\"a\"]"),
    Row("log", Fail("lost-ack"), no, "0 append l a ok\n1 read l - ok [\"b\"]"),
    Row(
        "log",
        UPHELD,
        no,
        "0 append l a ok 0 @0..10\n1 read l - ok [] @10..20\n1 read l - ok [\"a\"] @30..40",
    ),
    Row("log", UPHELD, no, "0 append l a ok\n0 append l a unknown\n1 read l - ok [\"a\",\"a\"]"),
    Row("log", Vacuous, no, "0 append l a ok\n0 append l b unknown"),
];

fn lease(options: &mut Options) {
    options.lease_ttl_ns = Some(100);
}

pub const MONEY_AND_LOCKS: &[Row] = &[
    Row("bank", Pass, no, "0 read - - ok [5,5]\n0 transfer - [0,1,2] ok\n0 read - - ok [3,7]"),
    Row("bank", Fail("wrong-total"), no, "0 read - - ok [5,5]\n0 read - - ok [5,6]"),
    Row("bank", Fail("wrong-total"), |o| o.total = Some(11), "0 read - - ok [5,5]"),
    Row("bank", Fail("negative-balance"), no, "0 read - - ok [-1,11]"),
    Row(
        "bank",
        Fail("wrong-balance"),
        no,
        "0 read - - ok [5,5]\n0 transfer - [0,1,2] ok\n0 read - - ok [5,5]",
    ),
    Row("bank", UPHELD, |o| o.negative_allowed = true, "0 read - - ok [-1,11]"),
    Row(
        "bank",
        UPHELD,
        no,
        "0 read - - ok [5,5]\n0 transfer - [0,1,2] unknown\n0 read - - ok [3,7]",
    ),
    Row(
        "bank",
        UPHELD,
        no,
        "0 read - - ok [5,5]\n0 transfer - [0,1,2] unknown\n0 read - - ok [5,5]",
    ),
    Row("bank", Vacuous, no, "0 transfer - [0,1,2] ok"),
    Row("ledger", Pass, no, "0 credit a {\"id\":1,\"amount\":5} ok\n0 balance a - ok 5"),
    Row(
        "ledger",
        Fail("balance-too-high"),
        no,
        "0 credit a {\"id\":1,\"amount\":5} ok\n0 credit a {\"id\":1,\"amount\":5} ok\n\
             0 balance a - ok 10",
    ),
    Row(
        "ledger",
        Fail("balance-too-low"),
        no,
        "0 credit a {\"id\":1,\"amount\":5} ok\n0 balance a - ok 0",
    ),
    Row(
        "ledger",
        Fail("double-spend"),
        |o| o.opening_balance = 5,
        "0 debit a {\"id\":1,\"amount\":5} ok\n1 debit a {\"id\":2,\"amount\":5} ok",
    ),
    Row(
        "ledger",
        UPHELD,
        |o| o.opening_balance = 10,
        "0 debit a {\"id\":1,\"amount\":5} ok\n1 debit a {\"id\":2,\"amount\":5} ok",
    ),
    Row(
        "ledger",
        UPHELD,
        no,
        "0 credit a {\"id\":1,\"amount\":5} unknown\n0 balance a - ok 5\n0 balance a - ok 0",
    ),
    Row(
        "ledger",
        UPHELD,
        no,
        "0 credit a {\"id\":1,\"amount\":5} ok @0..10\n1 balance a - ok 0 @10..20",
    ),
    Row("ledger", Vacuous, no, "0 credit a {\"id\":1,\"amount\":5} ok"),
    Row("lock", Pass, no, "0 acquire l - ok\n0 release l - ok\n1 acquire l - ok"),
    Row("lock", Fail("two-holders"), no, "0 acquire l - ok\n0 release l - fail\n1 acquire l - ok"),
    Row("lock", Fail("release-not-held"), no, "0 acquire l - ok\n1 release l - ok"),
    Row(
        "lock",
        Fail("token-not-rising"),
        no,
        "0 acquire l - ok 2\n0 release l - ok\n1 acquire l - ok 2",
    ),
    Row("lock", Fail("stale-token-accepted"), no, "0 use l 2 ok\n1 use l 1 ok"),
    Row("lock", UPHELD, no, "0 acquire l - ok\n0 release l - unknown\n1 acquire l - ok"),
    Row("lock", UPHELD, no, "0 acquire l - ok\n1 acquire l - unknown"),
    // Released at the very time the other acquire ends.
    Row(
        "lock",
        UPHELD,
        no,
        "0 acquire l - ok @0..5\n0 release l - ok @20..25\n1 acquire l - ok @10..20",
    ),
    Row(
        "lock",
        Fail("two-holders"),
        no,
        "0 acquire l - ok @0..5\n0 release l - ok @21..25\n1 acquire l - ok @10..20",
    ),
    Row("lock", Vacuous, no, "0 acquire l - unknown\n1 acquire l - fail"),
    Row("lease", Pass, lease, "0 acquire l - ok 1 @0..5\n1 acquire l - ok 2 @101..105"),
    Row(
        "lease",
        Fail("two-holders"),
        lease,
        "0 acquire l - ok 1 @0..5\n1 acquire l - ok 2 @90..95",
    ),
    // The lease may have begun when the acquire did: it is over 100 later, not 105.
    Row("lease", UPHELD, lease, "0 acquire l - ok 1 @0..5\n1 acquire l - ok 2 @90..100"),
    Row(
        "lease",
        Fail("two-holders"),
        lease,
        "0 acquire l - ok 1 @0..5\n1 acquire l - ok 2 @90..99",
    ),
    Row("lease", Vacuous, lease, "0 acquire l - unknown"),
];

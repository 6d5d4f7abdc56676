//! Final states, members, references, assertions, and what is measured.

use super::{
    OPEN,
    Of::{Fail, Pass, Vacuous},
    Row, UPHELD, no,
};
use assay_oracle::{FairnessLimits, Group, Options, Origin, SloLimits, sketch};
use std::sync::Arc;

fn ignore_at(options: &mut Options) {
    options.ignore_fields = vec!["at".into()];
}

pub const STATES: &[Row] = &[
    Row("replay-equivalence", Pass, no, "0 dump - - ok [1,{\"a\":2}]\n0 dump - - ok [1,{\"a\":2}]"),
    Row(
        "replay-equivalence",
        Fail("replay-differs"),
        no,
        "0 write s 5 ok\n0 snapshot s - ok {\"a\":[1]}\n0 replay s - ok {\"a\":[1,2]}",
    ),
    Row("replay-equivalence", OPEN, no, "0 dump s - ok [1]\n0 append s 2 ok\n0 dump s - ok [1,2]"),
    Row(
        "replay-equivalence",
        UPHELD,
        no,
        "0 dump s - ok [1]\n0 append t 2 ok\n0 append s 2 unknown\n0 replay s - ok [1]",
    ),
    Row(
        "replay-equivalence",
        UPHELD,
        ignore_at,
        "0 dump - - ok {\"a\":1,\"at\":1}\n0 replay - - ok {\"a\":1,\"at\":2}",
    ),
    Row(
        "replay-equivalence",
        Fail("replay-differs"),
        ignore_at,
        "0 dump - - ok {\"a\":1,\"at\":1}\n0 replay - - ok {\"b\":1,\"at\":1}",
    ),
    Row("replay-equivalence", Vacuous, no, "0 dump - - ok {\"a\":1}"),
    Row(
        "replay-equivalence",
        Vacuous,
        ignore_at,
        "0 dump - - ok {\"at\":1}\n0 replay - - ok {\"at\":2}",
    ),
    Row("replicas", Pass, no, "0 dump - - ok [1] node=a\n0 dump - - ok [1] node=b"),
    Row(
        "replicas",
        Fail("replicas-differ"),
        no,
        "0 dump - - ok [1] node=a\n0 dump - - ok [1] node=b\n0 dump - - ok [2] node=c",
    ),
    Row("replicas", OPEN, no, "0 dump - - ok [1] node=a\n0 dump - - ok [2] node=a"),
    Row(
        "replicas",
        UPHELD,
        no,
        "0 write x 1 unknown\n0 dump - - ok [1] node=a\n0 dump - - ok [1] node=b",
    ),
    Row(
        "replicas",
        OPEN,
        no,
        "0 write x 1 unknown\n0 dump - - ok [1] node=a\n0 dump - - ok [] node=b",
    ),
    Row(
        "replicas",
        Fail("replicas-differ"),
        |o| o.settle_ns = Some(10),
        "0 write x 1 unknown\n0 read x - ok 1\n0 dump - - ok [1] node=a @40..45\n\
             0 dump - - ok [] node=b @40..45",
    ),
    Row("replicas", Vacuous, no, "0 write x 1 ok"),
    Row("invariant", Pass, |o| o.invariant = Some("count(*) == 2".into()), "0 final - - ok [1,2]"),
    Row(
        "invariant",
        Fail("invariant-broken"),
        |o| o.invariant = Some("unique(*)".into()),
        "0 final - - ok [1,2,1]",
    ),
    Row(
        "invariant",
        UPHELD,
        |o| o.invariant = Some("max(a.*) <= 3".into()),
        "0 final - - ok {\"a\":[1,3]}",
    ),
    Row(
        "invariant",
        Fail("invariant-broken"),
        |o| o.invariant = Some("max(a.*) < 3".into()),
        "0 final - - ok {\"a\":[1,3]}",
    ),
    Row("invariant", Vacuous, |o| o.invariant = Some("count(*) == 2".into()), "0 write x 1 ok"),
    Row(
        "membership",
        Pass,
        no,
        "0 join - a ok\n0 join - b ok\n1 view - - ok [\"a\",\"b\"] node=a\n\
             2 view - - ok [\"b\",\"a\"] node=b",
    ),
    Row("membership", Fail("never-joined"), no, "0 join - a ok\n1 view - - ok [\"a\",\"z\"]"),
    Row("membership", Fail("member-missing"), no, "0 join - a ok\n1 view - - ok [] node=a"),
    Row(
        "membership",
        Fail("ghost-member"),
        no,
        "0 join - a ok\n0 leave - a ok\n1 view - - ok [\"a\"] node=b",
    ),
    Row("membership", Fail("member-twice"), no, "0 join - a ok\n1 view - - ok [\"a\",\"a\"]"),
    Row(
        "membership",
        Fail("views-disagree"),
        |o| o.members_at_start = vec!["z".into()],
        "1 view - - ok [\"z\"] node=a\n1 view - - ok [] node=b",
    ),
    Row(
        "membership",
        UPHELD,
        |o| o.members_at_start = vec!["z".into()],
        "0 join - a unknown\n1 view - - ok [\"z\",\"a\"] node=a\n1 view - - ok [\"z\"] node=b",
    ),
    Row("membership", OPEN, no, "0 join - a ok @0..50\n1 view - - ok [] node=a @40..45"),
    Row("membership", Vacuous, no, "0 join - a ok"),
    Row(
        "differential",
        Pass,
        |o| o.reference = Some(Arc::new(sketch("0 read x - ok 1"))),
        "3 read x - ok 1",
    ),
    Row(
        "differential",
        Fail("answers-differ"),
        |o| o.reference = Some(Arc::new(sketch("0 read x - ok [1,2]"))),
        "0 read x - ok [1,3]",
    ),
    Row(
        "differential",
        Fail("answers-differ"),
        |o| o.reference = Some(Arc::new(sketch("0 read x - fail"))),
        "0 read x - ok 1",
    ),
    Row(
        "differential",
        UPHELD,
        |o| o.reference = Some(Arc::new(sketch("0 read x - ok 1\n0 read x - unknown"))),
        "0 read x - ok 1\n0 read x - ok 5",
    ),
    Row(
        "differential",
        Vacuous,
        |o| o.reference = Some(Arc::new(sketch("0 read x - ok 1 id=7"))),
        "0 read x - ok 1",
    ),
    Row("property", Pass, no, "0 assert a - ok true\n0 assert b - ok {\"ok\":true}"),
    Row("property", Fail("assertion-failed"), no, "0 assert a - ok {\"ok\":false}"),
    Row(
        "property",
        UPHELD,
        |o| o.assertions_expected = vec!["a".into()],
        "0 assert a - ok true\n0 assert a - unknown",
    ),
    Row("property", Vacuous, no, "0 write x 1 ok"),
    Row("property", Vacuous, no, "0 assert a - unknown"),
];

fn errors(options: &mut Options) {
    options.slo = SloLimits {
        error_rate_max: Some(0.1),
        origin: Origin::FixedBefore,
        ..SloLimits::default()
    };
}
fn fair(options: &mut Options) {
    options.group = Group::Process;
    options.fairness = FairnessLimits {
        error_rate_max: Some(0.0),
        origin: Origin::FixedBefore,
        ..FairnessLimits::default()
    };
}
const TEN: &str = "0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok\n\
                   0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok";

pub const MEASURED: &[Row] = &[
    Row("slo", Pass, errors, TEN),
    Row(
        "slo",
        Fail("too-many-errors"),
        errors,
        "0 r - - fail\n0 r - - fail\n0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok\n\
             0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok",
    ),
    Row(
        "slo",
        OPEN,
        errors,
        "0 r - - fail\n0 r - - unknown\n0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok\n\
             0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok",
    ),
    Row(
        "slo",
        UPHELD,
        errors,
        "0 r - - fail\n0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok\n\
             0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok",
    ),
    Row("slo", Vacuous, errors, "0 final - - ok []"),
    Row("fairness", Pass, fair, "0 r - - ok\n1 r - - ok"),
    Row("fairness", Fail("group-failing"), fair, "0 r - - ok\n1 r - - fail"),
    Row("fairness", OPEN, fair, "0 r - - ok\n1 r - - unknown"),
    Row(
        "fairness",
        Fail("group-starved"),
        |o| {
            fair(o);
            o.fairness.throughput_min = Some(1.0);
            o.groups_expected = vec!["7".into()];
        },
        "0 r - - ok\n1 r - - ok",
    ),
    Row("fairness", Vacuous, fair, "0 final - - ok []"),
    Row(
        "baseline",
        Pass,
        no,
        "0 sample baseline - ok 10\n1 sample baseline - ok 10\n2 sample baseline - ok 10\n\
             3 sample candidate - ok 10\n4 sample candidate - ok 10\n5 sample candidate - ok 10",
    ),
    Row(
        "baseline",
        Fail("regression"),
        no,
        "0 sample baseline - ok 10\n1 sample baseline - ok 10\n2 sample baseline - ok 10\n\
             3 sample candidate - ok 11\n4 sample candidate - ok 11\n5 sample candidate - ok 11",
    ),
    Row(
        "baseline",
        UPHELD,
        |o| o.baseline.tolerance = 0.1,
        "0 sample baseline - ok 10\n1 sample baseline - ok 10\n2 sample baseline - ok 10\n\
             3 sample candidate - ok 11\n4 sample candidate - ok 11\n5 sample candidate - ok 11",
    ),
    Row(
        "baseline",
        OPEN,
        no,
        "0 sample baseline - ok 10\n1 sample baseline - ok 10\n2 sample baseline - ok 10\n\
             3 sample candidate - ok 8\n4 sample candidate - ok 10\n5 sample candidate - ok 14",
    ),
    Row("baseline", Vacuous, no, "0 read x - ok 1"),
];

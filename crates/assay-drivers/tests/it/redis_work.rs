//! What Redis is used for beyond keeping values: leases over a resource, and queues of jobs.

use crate::client::{PATIENCE, call, check, dump, kind, output, refusal};
use crate::redis::{cli, client, start};
use crate::server::Server;
use assay_drivers::Client;
use serde_json::{Value, json};

const NULL: Value = Value::Null;

#[test]
fn redis_refuses_a_former_holder_only_where_tokens_are_compared() {
    for (fencing, late) in [(true, json!("fail")), (false, NULL)] {
        let server = start(&[]);
        let mut one = client(&server, "lease", json!({ "fencing": fencing }));
        let mut two = client(&server, "lease", json!({ "fencing": fencing }));
        let by = |holder: &str| json!({ "holder": holder, "ttl_ms": 3_600_000 });
        check(
            one.as_mut(),
            &[
                ("acquire", "k0", by("c0"), json!(1)),
                ("use", "k0", json!(1), NULL),
                ("renew", "k0", json!(1), NULL),
            ],
        );
        check(
            two.as_mut(),
            &[
                ("acquire", "k0", by("c1"), json!("fail")),
                ("release", "k0", json!(1), NULL),
                ("acquire", "k0", by("c1"), json!(2)),
                ("use", "k0", json!(2), NULL),
                ("acquire", "k1", json!("c1"), json!("fail")),
                ("frob", "k0", json!(2), json!("fail")),
            ],
        );
        // The first one has not heard that its lease was given to another.
        check(
            one.as_mut(),
            &[("use", "k0", json!(1), late), ("renew", "k0", json!(1), json!("fail"))],
        );
        assert_eq!(output(one.as_mut(), &dump(0)), json!({ "k0": 2 }));
    }
}

#[test]
fn redis_leases_run_out_by_themselves() {
    let mut server = start(&[]);
    let mut one = client(&server, "lease", json!({ "fencing": true }));
    let mut two = client(&server, "lease", json!({ "fencing": true }));
    let brief = json!({ "holder": "c", "ttl_ms": 1 });
    check(one.as_mut(), &[("acquire", "k0", brief.clone(), json!(1))]);
    server.until("lets the lease run out", |_| {
        kind(&two.call(&call("acquire", "k0", brief.clone()), PATIENCE)) == json!(2)
    });
    check(one.as_mut(), &[("use", "k0", json!(1), NULL), ("renew", "k0", json!(1), json!("fail"))]);
    check(two.as_mut(), &[("use", "k0", json!(2), NULL)]);
    check(one.as_mut(), &[("use", "k0", json!(1), json!("fail"))]);
}

/// Puts a job in and cuts its consumer off while it is at work.
fn cut_off_at_work(server: &mut Server, options: &Value) -> Box<dyn Client> {
    let mut producer = client(server, "queue", options.clone());
    check(producer.as_mut(), &[("enqueue", "k0", json!({ "id": "a" }), NULL)]);
    let mut consumer = client(server, "queue", options.clone());
    std::thread::scope(|scope| {
        let at_work =
            scope.spawn(move || kind(&consumer.call(&call("dequeue", "k0", NULL), PATIENCE)));
        server.until("hands the job out", |server| {
            cli(server.address, &["LLEN", "queue:waiting:k0"]).trim() == "0"
        });
        cli(server.address, &["CLIENT", "KILL", "TYPE", "normal"]);
        assert_eq!(at_work.join().expect("no panic"), json!("unknown"));
    });
    producer
}

#[test]
fn redis_jobs_acknowledged_before_the_work_go_with_their_consumer_and_others_do_not() {
    let cases = [
        ("before-work", NULL, json!([])),
        ("after-work", json!({ "id": "a" }), json!([{ "handed": 2, "id": "a" }])),
    ];
    for (acknowledge, next, done) in cases {
        let mut server = start(&[]);
        let options = json!({ "acknowledge": acknowledge, "work": 1_000, "redelivery": 1 });
        let mut client = cut_off_at_work(&mut server, &options);
        check(client.as_mut(), &[("dequeue", "k0", NULL, next), ("dequeue", "k0", NULL, NULL)]);
        let of_key = assay_workload::Call { key: Some(json!("k0")), ..dump(0) };
        assert_eq!(output(client.as_mut(), &of_key), done, "{acknowledge}");
    }
}

#[test]
fn redis_jobs_that_cannot_be_are_errors() {
    let cases = [
        (json!({ "acknowledge": "never" }), "one of `at-once`, `before-work`, `after-work`"),
        (json!({ "work": 60_001 }), "`work` is 60001"),
        (json!({ "redelivery": 0 }), "`redelivery` is 0"),
    ];
    for (options, expected) in cases {
        let message = refusal("redis", "queue", options);
        assert!(message.contains(expected), "{message}");
    }
}

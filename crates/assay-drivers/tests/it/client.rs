//! Clients as the tests use them: a call and what must come of it.

use crate::server::Server;
use assay_drivers::{Client, Target};
use assay_workload::{Call, Config, Dumps, Reply, Workload};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Time for a call that must be answered.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// Time for a call that cannot be answered, with enough to send it on a busy machine.
pub const SHORT: Duration = Duration::from_secs(2);

/// What a client talks to.
pub fn target(addresses: &[SocketAddr], own: usize, generator: &str, options: Value) -> Target {
    static SESSIONS: AtomicUsize = AtomicUsize::new(0);
    let options: BTreeMap<String, Value> = serde_json::from_value(options).expect("a map");
    Target {
        addresses: addresses.to_vec(),
        names: (1..=addresses.len()).map(|number| format!("n{number}")).collect(),
        own,
        generator: generator.to_string(),
        options,
        session: SESSIONS.fetch_add(1, Ordering::Relaxed),
    }
}

/// Opens a client of the first node.
pub fn open(
    driver: &str,
    addresses: &[SocketAddr],
    generator: &str,
    options: Value,
) -> Box<dyn Client> {
    let target = target(addresses, 0, generator, options);
    assay_drivers::open(driver, target).unwrap_or_else(|error| panic!("{error}"))
}

/// A call on a key.
pub fn call(op: &str, key: &str, input: Value) -> Call {
    let key = (!key.is_empty()).then(|| json!(key));
    Call::new(op, key, input)
}

/// A dump of one node.
pub fn dump(node: usize) -> Call {
    Call { node: Some(node), ..call("dump", "", Value::Null) }
}

/// The output of a call that must succeed.
pub fn output(client: &mut dyn Client, call: &Call) -> Value {
    match client.call(call, PATIENCE) {
        Reply::Ok { output, node, .. } => {
            assert!(node.is_some(), "{call:?} was decided by nobody");
            output
        }
        other => panic!("{call:?}: {other:?}"),
    }
}

/// The kind of a reply, or the output if it is ok.
pub fn kind(reply: &Reply) -> Value {
    match reply {
        Reply::Ok { output, .. } => output.clone(),
        Reply::Fail { .. } => json!("fail"),
        Reply::Unknown { .. } => json!("unknown"),
    }
}

/// Makes calls one after the other and compares what comes of each; `"fail"` is a refusal.
pub fn check(client: &mut dyn Client, cases: &[(&str, &str, Value, Value)]) {
    for (op, key, input, expected) in cases {
        let reply = client.call(&call(op, key, input.clone()), PATIENCE);
        assert_eq!(kind(&reply), *expected, "{op} {key} {input}: {reply:?}");
    }
}

/// Lets a generator have its way for a while: setup, calls, last reads, dumps. Alone on an honest
/// server nothing is unknown, and every operation has words.
pub fn run_generator(driver: &str, addresses: &[SocketAddr], generator: &str, options: Value) {
    const CALLS: usize = 300;
    let config = Config::new(generator, 1, 3, 7);
    let workload = Workload::new(&config).expect("a workload");
    let mut client = open(driver, addresses, generator, options);
    for call in workload.setup() {
        output(client.as_mut(), &call);
    }
    let mut script = workload.script(0);
    let mut changed = 0;
    for _ in 0..CALLS {
        let call = script.next().expect("it is endless");
        let reply = client.call(&call, PATIENCE);
        match &reply {
            Reply::Ok { .. } => changed += 1,
            Reply::Fail { error, .. } => assert!(!error.contains("no words"), "{call:?}: {error}"),
            Reply::Unknown { .. } => panic!("{call:?}: {reply:?}"),
        }
        script.observe(&call, &reply);
    }
    assert!(changed > CALLS / 3, "{generator}: only {changed} of {CALLS} calls worked");
    let mut finals = workload.finals(addresses.len(), Dumps::Wanted);
    while let Some(call) = finals.next() {
        let reply = client.call(&call, PATIENCE);
        assert!(matches!(reply, Reply::Ok { .. }), "{generator} {call:?}: {reply:?}");
        finals.observe(&call, &reply);
    }
}

/// Makes a call to a server that is stopped, and lets it go on once the call has arrived: answers
/// to earlier calls come first then, and none of them may be taken for this one's.
pub fn output_after_resume(server: &mut Server, client: &mut dyn Client, call: &Call) -> Value {
    let before = server.unread_bytes();
    std::thread::scope(|scope| {
        let answer = scope.spawn(|| output(client, call));
        server.until_more_is_unread(before);
        server.resume();
        answer.join().expect("it is answered")
    })
}

/// The message of an option that must not be taken.
pub fn refusal(driver: &str, generator: &str, options: Value) -> String {
    let address = SocketAddr::from(([127, 0, 0, 1], 1));
    match assay_drivers::open(driver, target(&[address], 0, generator, options.clone())) {
        Ok(_) => panic!("{driver} took {options}"),
        Err(error) => error.message,
    }
}

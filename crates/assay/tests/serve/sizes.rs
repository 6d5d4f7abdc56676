//! What is larger than a record can be is refused, and nobody else hears of it.

use super::server::Server;
use serde_json::{Value, json};

/// A message of this size, said so often, is more than the 16 MiB of a record.
const TEXT_BYTES: usize = 60 * 1024;
const REPEATS: usize = 300;
/// Turns of a neighbour, at most.
const TURNS_MAX: usize = 500;

fn error(events: &[Value]) -> String {
    let errors = events.iter().filter(|event| event["type"] == "session.error");
    errors.map(|event| event["error"]["message"].to_string()).collect()
}

#[test]
fn a_turn_that_says_too_much_ends_with_an_error_and_takes_nobody_with_it() {
    let flood = "{text}".repeat(REPEATS);
    let script = format!(
        "[[turn]]\nwhen = \"flood\"\nsteps = [{{ say = \"{flood}\" }}]\n\n\
         [[turn]]\nsteps = [{{ say = \"ok\" }}]\n"
    );
    let server = Server::scripted(&script);
    let agent = json!({"name": "a", "model": "scripted"});
    let session = || server.session_of(&agent, &json!({"name": "e"}));
    let (loud, quiet) = (session(), session());
    let is_done = std::sync::atomic::AtomicBool::new(false);
    let order = std::sync::atomic::Ordering::SeqCst;
    let events = std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..TURNS_MAX {
                if is_done.load(order) {
                    return;
                }
                let events = server.turn(&quiet, "hello");
                assert_eq!(error(&events), "", "a neighbour of what was too large");
            }
        });
        let sent = server.say(&loud, &format!("flood{}", "x".repeat(TEXT_BYTES)));
        let events = server.after(&loud, &sent);
        is_done.store(true, order);
        events
    });
    assert!(error(&events).contains("more to say"), "{events:?}");
    assert_eq!(events.iter().filter(|event| event["type"] == "agent.message").count(), 0);
    let log = server.log();
    assert_eq!(log.matches("more than 16777216").count(), 1, "it is not tried again: {log}");
    assert_eq!(error(&server.turn(&loud, "hello")), "", "the session is still of use");
}

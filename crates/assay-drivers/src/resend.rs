//! Calls that are sent again, to systems that know no ids.
//!
//! A workload may send a call of unknown outcome again, and takes all sendings for one operation. A
//! system without idempotency keys does not: of the second sending it may say "was there already"
//! because of the first. That answer is right and says nothing about the operation, so it must
//! not get into a history as if it did.

use crate::client::Client;
use assay_workload::{Call, Reply};
use serde_json::Value;
use std::time::Duration;

/// A client that remembers whether it has sent a call before.
pub(crate) struct Resending {
    inner: Box<dyn Client>,
    /// The id of the last call, if its outcome is unknown.
    doubtful: Option<String>,
}

impl Resending {
    pub(crate) fn new(inner: Box<dyn Client>) -> Resending {
        Resending { inner, doubtful: None }
    }
}

impl Client for Resending {
    fn call(&mut self, call: &Call, time_max: Duration) -> Reply {
        let again = call.id.is_some() && call.id == self.doubtful;
        let reply = self.inner.call(call, time_max);
        let reply = if again { of_all_sendings(call, reply) } else { reply };
        self.doubtful = match &reply {
            Reply::Unknown { .. } => call.id.clone(),
            Reply::Fail { .. } if again => call.id.clone(),
            _ => None,
        };
        reply
    }
}

/// What the answer to the last sending says about all of them.
fn of_all_sendings(call: &Call, reply: Reply) -> Reply {
    match (call.op.as_str(), reply) {
        ("add", Reply::Ok { output: Value::Bool(false), node, revision }) => {
            Reply::Ok { output: Value::Null, node, revision }
        }
        ("cas", Reply::Ok { output: Value::Bool(false), node, .. }) => {
            let error = "compared unequal, perhaps because it has swapped before".to_string();
            Reply::Unknown { error, node }
        }
        (_, reply) => reply,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Gives the replies one after the other.
    struct Scripted(Vec<Reply>);

    impl Client for Scripted {
        fn call(&mut self, _call: &Call, _time_max: Duration) -> Reply {
            self.0.remove(0)
        }
    }

    #[test]
    fn a_second_sending_does_not_speak_for_the_first() {
        let ok = |output| Reply::Ok { output, node: None, revision: None };
        let unknown = Reply::Unknown { error: "timed out".to_string(), node: None };
        let fail = Reply::Fail { error: "not sent".to_string(), node: None };
        let cases = [
            ("cas", vec![ok(json!(false))], json!(false)),
            ("cas", vec![unknown.clone(), ok(json!(true))], json!(true)),
            ("cas", vec![unknown.clone(), ok(json!(false))], json!("unknown")),
            ("cas", vec![unknown.clone(), fail, ok(json!(false))], json!("unknown")),
            ("add", vec![ok(json!(false))], json!(false)),
            ("add", vec![unknown, ok(json!(false))], json!(null)),
        ];
        for (op, replies, expected) in cases {
            let sendings = replies.len();
            let mut client = Resending::new(Box::new(Scripted(replies)));
            let call = Call { id: Some("a".to_string()), ..Call::new(op, None, json!(1)) };
            let last = (0..sendings).map(|_| client.call(&call, Duration::ZERO)).last();
            let found = match last {
                Some(Reply::Ok { output, .. }) => output,
                Some(Reply::Unknown { .. }) => json!("unknown"),
                other => json!(format!("{other:?}")),
            };
            assert_eq!(found, expected, "{op}");
        }
    }
}

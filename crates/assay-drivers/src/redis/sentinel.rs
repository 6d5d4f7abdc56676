//! What the Sentinels say: who is the master, and who are the others.

use super::link::{Link, LinkError};
use crate::trouble::Trouble;
use redis::{Value, cmd};
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

/// The master's address, by the first Sentinel that answers, beginning with `first`.
pub(super) fn master(
    sentinels: &mut [Link],
    first: usize,
    master: &str,
    deadline: Instant,
) -> Result<SocketAddr, Trouble> {
    let command = cmd("SENTINEL").arg("get-master-addr-by-name").arg(master).to_owned();
    let count = sentinels.len();
    let mut last = LinkError::NotSent("there is no Sentinel".to_string());
    for step in 0..count {
        // A Sentinel that hangs must leave time for the others.
        let left = deadline.saturating_duration_since(Instant::now());
        let share = Instant::now() + left / (count - step + 1) as u32;
        match sentinels[(first + step) % count].ask(&command, share) {
            Ok(answer) => match address(&answer) {
                Some(address) => return Ok(address),
                None => last = LinkError::Refused(format!("knows no master `{master}`")),
            },
            Err(error) => last = error,
        }
    }
    // Whatever became of the question: the call itself was not sent.
    let (LinkError::NotSent(why) | LinkError::Refused(why) | LinkError::NoAnswer(why)) = last;
    Err(Trouble::Fail(format!("no Sentinel names the master: {why}")))
}

/// The node with data that runs on the host of a Sentinel: master or replica.
pub(super) fn neighbour(
    sentinel: &mut Link,
    master: &str,
    deadline: Instant,
) -> Result<SocketAddr, Trouble> {
    let fail = |error: LinkError| Trouble::from(error).of_reading();
    let about_master = cmd("SENTINEL").arg("get-master-addr-by-name").arg(master).to_owned();
    let about_replicas = cmd("SENTINEL").arg("replicas").arg(master).to_owned();
    let mut nodes = Vec::from_iter(address(&sentinel.ask(&about_master, deadline).map_err(fail)?));
    if let Value::Array(replicas) = sentinel.ask(&about_replicas, deadline).map_err(fail)? {
        nodes.extend(replicas.iter().filter_map(replica));
    }
    let host = sentinel.address.ip();
    let mut here = nodes.iter().filter(|node| node.ip() == host);
    match (here.next(), here.next()) {
        (Some(node), None) => Ok(*node),
        (None, _) => Err(Trouble::Fail(format!("the Sentinels know no node on {host}"))),
        (Some(_), Some(_)) => {
            Err(Trouble::Fail(format!("the Sentinels know several nodes on {host}")))
        }
    }
}

/// `[host, port]`.
fn address(answer: &Value) -> Option<SocketAddr> {
    let Value::Array(parts) = answer else { return None };
    let [host, port] = parts.as_slice() else { return None };
    Some(SocketAddr::new(text(host)?.parse::<IpAddr>().ok()?, text(port)?.parse().ok()?))
}

/// Host and port in a list of names and values.
fn replica(answer: &Value) -> Option<SocketAddr> {
    let Value::Array(fields) = answer else { return None };
    let field = |name: &str| {
        let pair = fields.chunks_exact(2).find(|pair| text(&pair[0]) == Some(name));
        pair.and_then(|pair| text(&pair[1]))
    };
    Some(SocketAddr::new(field("ip")?.parse::<IpAddr>().ok()?, field("port")?.parse().ok()?))
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok(),
        Value::SimpleString(text) => Some(text),
        _ => None,
    }
}

//! The other end of the protocol: a driver of Assay's in a process of its own, so that a client can
//! be killed and frozen as one of a user's can.

use super::protocol::{Answer, PROTOCOL, Say};
use crate::json_lines::{LineBuffer, READ_BYTES_MAX, shown};
use crate::spec::GENERATOR_OPTION;
use assay_drivers::{Client, Target};
use assay_workload::{Call, Reply};
use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

/// Does what is asked on `input` with a built-in driver, and answers on `output`, until the input
/// ends. `session` is a number that no other client of the cluster has or had.
///
/// # Errors
/// What was said makes no sense, there is no such driver, or nobody reads the answers.
pub fn serve(
    driver: &str,
    session: usize,
    input: impl Read,
    mut output: impl Write,
) -> Result<(), String> {
    let mut lines = Lines { input, buffer: LineBuffer::default() };
    let Some(first) = lines.next()? else { return Ok(()) };
    let target = target(first, session)?;
    let names = target.names.clone();
    let mut client = assay_drivers::open(driver, target).map_err(|error| error.message)?;
    answer(&mut output, &Answer::Ready {})?;
    while let Some(say) = lines.next()? {
        let done = call(client.as_mut(), say, &names)?;
        answer(&mut output, &done)?;
    }
    Ok(())
}

/// What is said, line by line.
struct Lines<R> {
    input: R,
    buffer: LineBuffer,
}

impl<R: Read> Lines<R> {
    fn next(&mut self) -> Result<Option<Say>, String> {
        let mut chunk = [0; READ_BYTES_MAX];
        loop {
            if let Some(line) = self.buffer.take() {
                let line = line.map_err(|error| error.to_string())?;
                let said = serde_json::from_slice(&line);
                return said.map(Some).map_err(|error| format!("{error}: `{}`", shown(&line)));
            }
            match self.input.read(&mut chunk) {
                Ok(0) => return Ok(None),
                Ok(count) => self.buffer.push(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(format!("cannot read what is asked: {error}")),
            }
        }
    }
}

fn target(first: Say, session: usize) -> Result<Target, String> {
    let Say::Init { protocol: PROTOCOL, node, nodes, options, .. } = first else {
        return Err(format!("the first line must be an init of protocol {PROTOCOL}: {first:?}"));
    };
    let address = |text: &String| text.parse().map_err(|error| format!("`{text}`: {error}"));
    // In the order of their numbers, n2 before n10, as drivers expect them.
    let mut nodes: Vec<(String, String)> = nodes.into_iter().collect();
    nodes.sort_by_key(|(name, _)| (name.len(), name.clone()));
    let addresses = nodes.iter().map(|(_, text)| address(text)).collect::<Result<_, String>>()?;
    let names: Vec<String> = nodes.into_iter().map(|(name, _)| name).collect();
    let own = place(&names, &node)?;
    let mut options: std::collections::BTreeMap<_, _> = options.into_iter().collect();
    let generator = options.remove(GENERATOR_OPTION);
    let generator = generator.as_ref().and_then(|name| name.as_str()).unwrap_or_default();
    Ok(Target { addresses, names, own, generator: generator.to_string(), options, session })
}

fn place(names: &[String], node: &str) -> Result<usize, String> {
    let found = names.iter().position(|name| name == node);
    found.ok_or_else(|| format!("there is no node `{node}`"))
}

fn call(client: &mut dyn Client, say: Say, names: &[String]) -> Result<Answer, String> {
    let Say::Invoke { id, op, key, input, request_id, node, timeout_ms } = say else {
        return Err("an init is said once".to_string());
    };
    let node = node.map(|node| place(names, &node)).transpose()?;
    let call = Call { op, key, input, id: request_id, node };
    Ok(match client.call(&call, Duration::from_millis(timeout_ms)) {
        Reply::Ok { output, node, revision } => Answer::Ok { id, output, node, revision },
        Reply::Fail { error, node } => Answer::Fail { id, error, node },
        Reply::Unknown { error, node } => Answer::Info { id, error, node },
    })
}

fn answer(output: &mut impl Write, answer: &Answer) -> Result<(), String> {
    let written = output.write_all(&answer.line()).and_then(|()| output.flush());
    written.map_err(|error| format!("cannot answer: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &str) -> (Result<(), String>, String) {
        let mut output = Vec::new();
        let ended = serve("kv", 7, lines.as_bytes(), &mut output);
        (ended, String::from_utf8(output).expect("JSON is UTF-8"))
    }

    const INIT: &str = r#"{"type":"init","protocol":1,"client":0,"node":"n1",
        "nodes":{"n1":"127.0.0.1:1"},"seed":1,"options":{"generator":"register"}}"#;

    #[test]
    fn what_is_asked_is_done_by_the_driver_and_answered_under_its_number() {
        let invoke = r#"{"type":"invoke","id":3,"op":"read","key":"x","input":null,
            "request_id":null,"node":null,"timeout_ms":2000}"#;
        let lines = format!("{}\n{}\n", INIT.replace('\n', ""), invoke.replace('\n', ""));
        let (ended, output) = told(&lines);
        assert_eq!(ended, Ok(()));
        let mut answers = output.lines();
        assert_eq!(answers.next(), Some(r#"{"type":"ready"}"#));
        // Nobody listens at that port, so nothing was sent.
        let failed = Answer::parse(answers.next().expect("an answer").as_bytes());
        assert!(matches!(failed, Ok(Answer::Fail { id: 3, .. })), "{failed:?}");
    }

    #[test]
    fn nodes_are_in_the_order_of_their_numbers() {
        let nodes = (1..=11).map(|n| (format!("n{n}"), format!("127.0.0.1:{n}"))).collect();
        let node = "n10".to_string();
        let options = Default::default();
        let init = Say::Init { protocol: PROTOCOL, client: 0, node, nodes, seed: 1, options };
        let target = target(init, 7).expect("it makes sense");
        let ports: Vec<u16> = target.addresses.iter().map(std::net::SocketAddr::port).collect();
        assert_eq!(ports, (1..=11).collect::<Vec<u16>>());
        assert_eq!((target.own, target.names[1].as_str()), (9, "n2"));
    }

    #[test]
    fn what_makes_no_sense_ends_it_with_the_reason() {
        let init = INIT.replace('\n', "");
        let rows = [
            (String::new(), Ok(())),
            ("{}\n".to_string(), Err("type")),
            (init.replace("\"protocol\":1", "\"protocol\":2") + "\n", Err("init of protocol 1")),
            (init.replace("\"node\":\"n1\"", "\"node\":\"n9\"") + "\n", Err("no node `n9`")),
            (init.replace("127.0.0.1:1", "nowhere") + "\n", Err("`nowhere`")),
            (init.replace("register", "nothing") + "\n", Err("generator `nothing`")),
            (format!("{init}\n{init}\n"), Err("said once")),
        ];
        for (lines, expected) in rows {
            let (ended, _) = told(&lines);
            match (&ended, expected) {
                (Ok(()), Ok(())) => {}
                (Err(why), Err(part)) if why.contains(part) => {}
                _ => panic!("{lines}: {ended:?}"),
            }
        }
    }
}

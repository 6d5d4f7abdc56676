//! What a running system is asked: who has a role, what it has counted, whether it is quiet.

use super::Inner;
use super::node::lock;
use super::tcp_counters;
use crate::command::{Scope, Word};
use crate::error::SutError;
use crate::logs::lines_with;
use crate::probe::{PROBE_TIME_MAX, get_json};
use crate::spec::{Get, HoldsSpec, Over, Pointer, RoleSpec, SignalSpec};
use crate::template::Placeholder;
use assay_nemesis::Process;
use serde_json::Value;
use std::time::{Duration, Instant};

/// How long a whole state may take to come.
const STATE_TIME_MAX: Duration = Duration::from_secs(20);
/// Characters of a value that evidence shows.
const EVIDENCE_CHARS_MAX: usize = 60;

/// Whether something was shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shown {
    /// It holds, and this is how it shows.
    Yes(String),
    /// It does not hold, and this is how it shows.
    No(String),
    /// It cannot be told, and this is why.
    Unknown(String),
}

/// Whether a system has come to rest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Quiescence {
    /// Nothing is pending: `Yes` means that all that was accepted is done.
    pub pending: Shown,
    /// The replicas are the same.
    pub converged: Shown,
}

/// A counter over the lives of a node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    /// What earlier processes had counted when they were last asked.
    before: u64,
    last: u64,
    process: Option<Process>,
}

impl Counted {
    /// Takes a new reading and gives the count since the first start. A process that is another, or
    /// a count that fell, began anew.
    fn read(&mut self, value: u64, process: Option<Process>) -> u64 {
        let is_another = self.process.is_some() && process != self.process;
        if is_another || value < self.last {
            self.before += self.last;
        }
        (self.last, self.process) = (value, process);
        self.total()
    }

    fn total(self) -> u64 {
        self.before + self.last
    }
}

impl Inner {
    /// Asks all nodes at once; silent ones cost their time once, not one after the other.
    fn ask_all(&self, get: &Get, time_max: Duration) -> Vec<Result<Value, String>> {
        let ask = |index: usize| {
            let (address, dials) = (self.nodes[index].address(&get.port), self.mesh.dial_ports());
            get_json(address, &get.path, dials, time_max)
        };
        std::thread::scope(|scope| {
            let ask = &ask;
            let asked: Vec<_> =
                (0..self.nodes.len()).map(|index| scope.spawn(move || ask(index))).collect();
            let answer = |asked: std::thread::ScopedJoinHandle<'_, Result<Value, String>>| {
                asked.join().unwrap_or_else(|_| Err("the question failed".to_string()))
            };
            asked.into_iter().map(answer).collect()
        })
    }

    pub(super) fn role(&self, role: &str) -> Result<Vec<usize>, SutError> {
        let described = self.described();
        let Some(spec) = described.roles.get(role) else {
            let roles = described.roles.keys().cloned().collect();
            let (system, role) = (self.spec.name.clone(), role.to_string());
            return Err(SutError::NoRole { system, role, roles });
        };
        let no_answer = |why: String| SutError::NoAnswer { what: format!("who is {role}"), why };
        match &spec.command {
            Some(command) => self.role_by_command(command).map_err(no_answer),
            None => self.role_by_answers(spec).map_err(no_answer),
        }
    }

    fn role_by_answers(&self, role: &RoleSpec) -> Result<Vec<usize>, String> {
        let (Some(get), Some(pointer)) = (&role.get, &role.pointer) else {
            return Err("it is not described".to_string());
        };
        let answers = self.ask_all(get, PROBE_TIME_MAX);
        if let Some(Err(why)) = answers.first()
            && answers.iter().all(Result::is_err)
        {
            return Err(format!("no node answers: {why}"));
        }
        let mut found: Vec<(usize, Option<u64>)> = Vec::new();
        for (index, answer) in answers.iter().enumerate() {
            let Ok(answer) = answer else { continue };
            if pointer.find(answer).first().copied() == role.equals.as_ref() {
                found.push((index, role.highest.as_ref().and_then(|at| at.count(answer))));
            }
        }
        let highest = found.iter().map(|(_, height)| *height).max().flatten();
        Ok(found.into_iter().filter(|(_, at)| *at == highest).map(|(index, _)| index).collect())
    }

    fn role_by_command(&self, command: &[Word]) -> Result<Vec<usize>, String> {
        let (status, output) = self.scope.run(command, PROBE_TIME_MAX)?;
        if !status.success() {
            return Err(format!("the command ended with {status}"));
        }
        let words = output.split(|c: char| c.is_whitespace() || c == ',');
        let index = |word: &str| {
            let found = self.names.iter().position(|name| name == word);
            found.ok_or_else(|| format!("the command lists `{word}`, which is no node"))
        };
        words.filter(|word| !word.is_empty()).map(index).collect()
    }

    pub(super) fn signal(&self, name: &str, node: Option<usize>) -> Option<u64> {
        if node.is_some_and(|node| node >= self.nodes.len()) {
            return None;
        }
        match (name, self.described().signals.get(name)) {
            ("restarts", _) => Some(self.selected(node).iter().map(super::Node::restarts).sum()),
            ("heartbeat-gap", _) if self.spec.has_signal(name) => {
                let gap = self.heartbeat_gap(node, self.started);
                u64::try_from(gap.as_millis()).ok()
            }
            (_, Some(signal)) => self.described_signal(name, signal, node),
            _ if self.network.is_some() => {
                let read = |node: &super::Node| tcp_counters::read(name, node.process()?.pid);
                self.selected(node).iter().map(read).sum()
            }
            _ => None,
        }
    }

    fn described_signal(
        &self,
        name: &str,
        signal: &SignalSpec,
        node: Option<usize>,
    ) -> Option<u64> {
        if let Some(text) = &signal.log {
            return Some(self.selected(node).iter().map(|n| lines_with(&n.log, text)).sum());
        }
        let readings: Vec<Option<u64>> = match (&signal.get, &signal.command) {
            (Some(get), _) => {
                let pointer = signal.pointer.as_ref()?;
                let answers = match node {
                    None => self.ask_all(get, PROBE_TIME_MAX),
                    Some(node) => {
                        let address = self.nodes[node].address(&get.port);
                        let dials = self.mesh.dial_ports();
                        vec![get_json(address, &get.path, dials, PROBE_TIME_MAX)]
                    }
                };
                answers.iter().map(|answer| pointer.count(answer.as_ref().ok()?)).collect()
            }
            (None, Some(command)) if is_per_node(command) => {
                let nodes = self.selected(node).iter();
                nodes.map(|node| number_of(&node.scope, command)).collect()
            }
            (None, Some(command)) => return number_of(&self.scope, command),
            (None, None) => return None,
        };
        self.together(name, signal.over, node, &readings)
    }

    /// One number of several. A node that is silent now is counted as it last was; if nobody can be
    /// read now, there is no number.
    fn together(
        &self,
        name: &str,
        over: Over,
        node: Option<usize>,
        readings: &[Option<u64>],
    ) -> Option<u64> {
        if readings.iter().all(Option::is_none) {
            return None;
        }
        if over == Over::Max {
            return readings.iter().flatten().max().copied();
        }
        let mut counted = lock(&self.counted);
        let first = node.unwrap_or(0);
        let mut sum = 0;
        for (offset, reading) in readings.iter().enumerate() {
            let index = first + offset;
            let counter = counted.entry((name.to_string(), index)).or_default();
            sum += match reading {
                Some(value) => counter.read(*value, self.nodes[index].process()),
                None => counter.total(),
            };
        }
        Some(sum)
    }

    pub(super) fn heartbeat_gap(&self, node: Option<usize>, since: Instant) -> Duration {
        if self.described().node.heartbeat_probe().is_none() {
            return Duration::ZERO;
        }
        let now = Instant::now();
        let gaps = self.selected(node).iter().map(|node| node.heartbeat.gap(since, now));
        gaps.max().unwrap_or_default()
    }

    pub(super) fn quiescence(&self) -> Quiescence {
        let described = &self.described().quiescence;
        let shown = |holds: &Option<HoldsSpec>, key: &str| match holds {
            Some(holds) => self.holds(holds),
            None => Shown::Unknown(format!(
                "the description of {} has no [quiescence.{key}]",
                self.spec.name
            )),
        };
        let converged = match (&described.converged, self.names.len()) {
            (None, 1) => Shown::Yes("there is one node, and no replica to differ from".to_string()),
            (converged, _) => shown(converged, "converged"),
        };
        Quiescence { pending: shown(&described.pending, "pending"), converged }
    }

    fn holds(&self, holds: &HoldsSpec) -> Shown {
        if let Some(command) = &holds.command {
            return match self.scope.run(command, STATE_TIME_MAX) {
                Err(why) => Shown::Unknown(why),
                Ok((status, output)) if status.success() => Shown::Yes(cut(output.trim())),
                Ok((status, output)) => Shown::No(format!("{status}: {}", cut(output.trim()))),
            };
        }
        let Some(get) = &holds.get else {
            return Shown::Unknown("it is not described".to_string());
        };
        let mut values = Vec::new();
        for (name, answer) in self.names.iter().zip(self.ask_all(get, STATE_TIME_MAX)) {
            match answer {
                Ok(answer) => values.push((name.as_str(), answer)),
                Err(why) => return Shown::Unknown(format!("{name} cannot be asked: {why}")),
            }
        }
        compare(holds, &values)
    }
}

/// Whether answers are as a description wants them.
fn compare(holds: &HoldsSpec, values: &[(&str, Value)]) -> Shown {
    let mut evidence = Vec::new();
    for (name, value) in values {
        for pair in holds.equal.windows(2) {
            let (one, other) = (pair[0].find(value), pair[1].find(value));
            if one != other || one.is_empty() {
                let (a, b) = (found(&one), found(&other));
                return Shown::No(format!("{name}: {} is {a}, {} is {b}", pair[0], pair[1]));
            }
        }
        for (pointer, wanted) in &holds.is {
            let there = pointer.find(value);
            if there.is_empty() || there.iter().any(|value| *value != wanted) {
                return Shown::No(format!("{name}: {pointer} is {}", found(&there)));
            }
            evidence.push(format!("{name}: {pointer} is {}", found(&there)));
        }
        if let Some(last) = holds.equal.last() {
            let names: Vec<String> = holds.equal.iter().map(ToString::to_string).collect();
            let names = names.join(" = ");
            evidence.push(format!("{name}: {names} = {}", found(&last.find(value))));
        }
    }
    for pointer in &holds.same {
        match same(pointer, values) {
            Ok(line) => evidence.push(line),
            Err(line) => return Shown::No(line),
        }
    }
    Shown::Yes(evidence.join("; "))
}

fn same(pointer: &Pointer, values: &[(&str, Value)]) -> Result<String, String> {
    let Some((first_name, first)) = values.first() else {
        return Err("there are no nodes".to_string());
    };
    let wanted = pointer.find(first);
    if wanted.is_empty() {
        return Err(format!("{first_name} has no {pointer}"));
    }
    for (name, value) in &values[1..] {
        let there = pointer.find(value);
        if there != wanted {
            let (a, b) = (found(&wanted), found(&there));
            return Err(format!("{pointer} is {a} on {first_name} and {b} on {name}"));
        }
    }
    Ok(format!("{pointer} is {} on {} nodes", found(&wanted), values.len()))
}

fn found(values: &[&Value]) -> String {
    let shown: Vec<String> = values.iter().map(|value| cut(&value.to_string())).collect();
    if shown.is_empty() { "missing".to_string() } else { shown.join(", ") }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(EVIDENCE_CHARS_MAX) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_string(),
    }
}

/// A command that speaks of a single node is run for each.
fn is_per_node(command: &[Word]) -> bool {
    let single = |placeholder: &Placeholder| {
        matches!(
            placeholder,
            Placeholder::Id | Placeholder::Name | Placeholder::Data | Placeholder::Address(..)
        )
    };
    let mut templates = command.iter().flat_map(Word::templates);
    templates.any(|template| template.placeholders().any(single))
}

fn number_of(scope: &Scope, command: &[Word]) -> Option<u64> {
    let (status, output) = scope.run(command, PROBE_TIME_MAX).ok()?;
    status.success().then(|| output.trim().parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_counter_goes_on_over_restarts() {
        let process = |pid| Some(Process { pid, start_ticks: 1 });
        let mut counted = Counted::default();
        let readings = [(3, 1, 3), (5, 1, 5), (0, 2, 5), (7, 3, 12), (2, 3, 14), (3, 3, 15)];
        for (value, pid, total) in readings {
            assert_eq!(counted.read(value, process(pid)), total, "{value} of {pid}");
        }
    }

    #[test]
    fn answers_are_compared_within_and_across_nodes() {
        let holds = |toml: &str| -> HoldsSpec { toml_edit::de::from_str(toml).expect(toml) };
        let both =
            [("n1", json!({"a": 1, "b": 1, "s": [1]})), ("n2", json!({"a": 2, "b": 2, "s": [1]}))];
        let cases = [
            ("equal = ['/a', '/b']", true),
            ("equal = ['/a', '/s']", false),
            ("equal = ['/x', '/y']", false),
            ("same = ['/s']", true),
            ("same = ['/a']", false),
            ("same = ['/x']", false),
            ("is = { '/s/0' = 1 }", true),
            ("is = { '/a' = 1 }", false),
            ("is = { '/x' = 1 }", false),
        ];
        for (toml, expected) in cases {
            let shown = compare(&holds(toml), &both);
            assert_eq!(matches!(shown, Shown::Yes(_)), expected, "{toml}: {shown:?}");
        }
    }
}

//! Commands of a description: a list of words, and groups of words that are repeated or left out.
//!
//! ```toml
//! command = [
//!     "server", "--listen", "{listen.http}",
//!     { each = "peers", words = ["--peer", "{peer.id}={link.http}"] },
//!     { each = "nodes", join = ",", words = ["{peer.name}"] },
//!     { each = "defects", words = ["--defect", "{item}"] },
//!     { when = "fsync", words = ["--fsync"] },
//! ]
//! ```
//!
//! No shell has a part in this: a word is an argument, whatever stands in it.

use crate::probe::run_command;
use crate::processes::Mark;
use crate::releases::Programs;
use crate::template::{Part, Placeholder, Template};
use serde::de::{MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

/// One element of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Word {
    /// An argument.
    Plain(Template),
    /// Arguments that are repeated or left out.
    Group(Group),
}

/// Arguments for each of several things, or only if an option is on.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Group {
    /// `peers`, `nodes`, or an option that is a list.
    pub(crate) each: Option<String>,
    /// An option that is true or false.
    pub(crate) when: Option<String>,
    /// Make one argument of all, with this between.
    pub(crate) join: Option<String>,
    /// The arguments.
    pub(crate) words: Vec<Template>,
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Word, D::Error> {
        deserializer.deserialize_any(WordVisitor)
    }
}

struct WordVisitor;

impl<'de> Visitor<'de> for WordVisitor {
    type Value = Word;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a text, or a group { each = …, words = […] }")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Word, E> {
        Template::try_from(text.to_string()).map(Word::Plain).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Word, A::Error> {
        Group::deserialize(MapAccessDeserializer::new(map)).map(Word::Group)
    }
}

impl Word {
    /// The templates in it.
    pub(crate) fn templates(&self) -> &[Template] {
        match self {
            Word::Plain(template) => std::slice::from_ref(template),
            Word::Group(group) => &group.words,
        }
    }
}

/// What is known when a command is put together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// The node it is for, by its index.
    pub(crate) node: Option<usize>,
    /// All names.
    pub(crate) names: Vec<String>,
    /// The node's directory, the executable, the description's directory.
    pub(crate) data: String,
    pub(crate) assay: String,
    pub(crate) here: String,
    pub(crate) seed: u64,
    /// By which whatever is started is found if Assay is killed.
    pub(crate) mark: Option<Mark>,
    /// Programs that were fetched for this release.
    pub(crate) programs: Option<Programs>,
    /// Options, defaults included.
    pub(crate) options: BTreeMap<String, Value>,
    /// By port: where each node listens.
    pub(crate) listen: BTreeMap<String, Vec<SocketAddr>>,
    /// By port: where this node reaches each node; itself where it listens.
    pub(crate) links: BTreeMap<String, Vec<SocketAddr>>,
    /// By port: where everybody reaches each node.
    pub(crate) publics: BTreeMap<String, Vec<SocketAddr>>,
    /// By port: where probes reach each node.
    pub(crate) probes: BTreeMap<String, Vec<SocketAddr>>,
}

/// The member of a group whose turn it is.
#[derive(Clone, Copy)]
enum Member<'a> {
    None,
    Node(usize),
    Item(&'a Value),
}

impl Scope {
    /// What a command has to have in its environment: its mark, and what it takes to find fetched
    /// programs, and they theirs.
    pub(crate) fn environment(&self) -> Vec<(&'static str, OsString)> {
        let marked = self.mark.iter().map(Mark::variable);
        let Some(programs) = &self.programs else { return marked.collect() };
        let before = |directory: &PathBuf, name: &'static str| {
            let old = std::env::var_os(name).unwrap_or_default();
            let paths = std::iter::once(directory.clone()).chain(std::env::split_paths(&old));
            // A directory with a colon in its name cannot be told; then it is not there.
            Some((name, std::env::join_paths(paths.filter(|path| path != "")).ok()?))
        };
        let lib = programs.lib.as_ref().and_then(|lib| before(lib, "LD_LIBRARY_PATH"));
        marked.chain(before(&programs.bin, "PATH")).chain(lib).collect()
    }

    /// The arguments of a command.
    pub(crate) fn arguments(&self, words: &[Word]) -> Vec<String> {
        let mut arguments = Vec::new();
        for word in words {
            match word {
                Word::Plain(template) => arguments.push(self.text(template)),
                Word::Group(group) => self.group(group, &mut arguments),
            }
        }
        arguments
    }

    /// Runs a command: how it ended, and what it printed.
    pub(crate) fn run(
        &self,
        words: &[Word],
        time_max: Duration,
    ) -> Result<(ExitStatus, String), String> {
        run_command(&self.arguments(words), &self.environment(), time_max)
    }

    /// One text.
    pub(crate) fn text(&self, template: &Template) -> String {
        template.fill(&|placeholder| self.value(placeholder, Member::None))
    }

    fn group(&self, group: &Group, arguments: &mut Vec<String>) {
        if let Some(option) = &group.when
            && self.options.get(option) != Some(&Value::Bool(true))
        {
            return;
        }
        let mut made = Vec::new();
        for member in self.members(group.each.as_deref()) {
            let fill = |template: &Template| {
                template.fill(&|placeholder: &Placeholder| self.value(placeholder, member))
            };
            made.extend(group.words.iter().map(fill));
        }
        match &group.join {
            Some(between) => arguments.push(made.join(between)),
            None => arguments.append(&mut made),
        }
    }

    fn members(&self, each: Option<&str>) -> Vec<Member<'_>> {
        let nodes = 0..self.names.len();
        match each {
            None => vec![Member::None],
            Some("nodes") => nodes.map(Member::Node).collect(),
            Some("peers") => {
                nodes.filter(|index| Some(*index) != self.node).map(Member::Node).collect()
            }
            Some(option) => match self.options.get(option) {
                Some(Value::Array(items)) => items.iter().map(Member::Item).collect(),
                _ => Vec::new(),
            },
        }
    }

    /// What stands for a placeholder. A description was checked before: what is missing here cannot
    /// be asked for.
    fn value(&self, placeholder: &Placeholder, member: Member<'_>) -> String {
        let node = self.node.unwrap_or(0);
        let name = |index: usize| self.names.get(index).cloned().unwrap_or_default();
        let at = |map: &BTreeMap<String, Vec<SocketAddr>>, port: &str, index: usize, part: Part| {
            let address = map.get(port).and_then(|all| all.get(index));
            address.map(|address| part.of(*address)).unwrap_or_default()
        };
        match (placeholder, member) {
            (Placeholder::Id, _) => (node + 1).to_string(),
            (Placeholder::Name, _) => name(node),
            (Placeholder::Names, _) => self.names.join(","),
            (Placeholder::Data, _) => self.data.clone(),
            (Placeholder::Seed, _) => self.seed.to_string(),
            (Placeholder::Assay, _) => self.assay.clone(),
            (Placeholder::Here, _) => self.here.clone(),
            (Placeholder::Option(option), _) => {
                self.options.get(option).map(shown).unwrap_or_default()
            }
            (Placeholder::Listen(port, part), _) => at(&self.listen, port, node, *part),
            (Placeholder::Public(port, part), Member::Node(other)) => {
                at(&self.publics, port, other, *part)
            }
            (Placeholder::Public(port, part), _) => at(&self.publics, port, node, *part),
            (Placeholder::Address(port, part), _) => at(&self.probes, port, node, *part),
            (Placeholder::Addresses(port), _) => {
                let all = self.probes.get(port).map(Vec::as_slice).unwrap_or_default();
                all.iter().map(ToString::to_string).collect::<Vec<String>>().join(",")
            }
            (Placeholder::PeerId, Member::Node(peer)) => (peer + 1).to_string(),
            (Placeholder::PeerName, Member::Node(peer)) => name(peer),
            (Placeholder::Link(port, part), Member::Node(peer)) => {
                at(&self.links, port, peer, *part)
            }
            (Placeholder::Item, Member::Item(item)) => shown(item),
            _ => String::new(),
        }
    }
}

/// A value as it is written on a command line.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Deserialize)]
    struct Wrapped {
        command: Vec<Word>,
    }

    #[test]
    fn groups_are_repeated_joined_and_left_out() {
        let address = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
        let scope = Scope {
            node: Some(1),
            names: vec!["n1".into(), "n2".into(), "n3".into()],
            options: BTreeMap::from([
                ("defects".to_string(), json!(["a b", "c"])),
                ("fsync".to_string(), json!(true)),
                ("slow".to_string(), json!(false)),
                ("every".to_string(), json!(7)),
            ]),
            listen: BTreeMap::from([("p".to_string(), vec![address(1), address(2), address(3)])]),
            links: BTreeMap::from([("p".to_string(), vec![address(21), address(2), address(23)])]),
            ..Scope::default()
        };
        let cases: [(&str, &[&str]); 6] = [
            (r#"["s", "{name}", "{listen.p}"]"#, &["s", "n2", "127.0.0.1:2"]),
            (
                r#"[{ each = "peers", words = ["-p", "{peer.id}={link.p.port}"] }]"#,
                &["-p", "1=21", "-p", "3=23"],
            ),
            (
                r#"[{ each = "nodes", join = ",", words = ["{peer.name}@{link.p}"] }]"#,
                &["n1@127.0.0.1:21,n2@127.0.0.1:2,n3@127.0.0.1:23"],
            ),
            (r#"[{ each = "defects", words = ["-d", "{item}"] }]"#, &["-d", "a b", "-d", "c"]),
            (r#"[{ when = "fsync", words = ["-f"] }, { when = "slow", words = ["-s"] }]"#, &["-f"]),
            (r#"["{option.every}", "{option.fsync}"]"#, &["7", "true"]),
        ];
        for (toml, expected) in cases {
            let text = format!("command = {toml}");
            let wrapped: Wrapped = toml_edit::de::from_str(&text).expect(toml);
            assert_eq!(scope.arguments(&wrapped.command), expected, "{toml}");
        }
    }
}

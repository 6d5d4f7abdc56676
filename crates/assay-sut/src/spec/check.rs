//! What a description must keep although every key of it can be read: names that exist,
//! placeholders where somebody can fill them in, and exactly one way to do a thing.

use super::Retries;
use super::description::{
    ClientSpec, Description, HoldsSpec, NODES_MAX, PortUse, ReadySpec, RoleSpec, SignalSpec,
};
use super::options::check_declarations;
use super::releases::check_releases;
use super::values::Get;
use crate::command::{Group, Word};
use crate::template::{Placeholder, Template};
use assay_drivers::DRIVERS;
use serde_json::Value;

/// The path of what is wrong, and what is wrong with it.
type Wrong = (String, String);
pub(super) type Checked = Result<(), Wrong>;

pub(super) fn wrong<T>(path: impl Into<String>, message: impl Into<String>) -> Result<T, Wrong> {
    Err((path.into(), message.into()))
}

/// Where a template stands, which decides who can fill it in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    /// The command or environment of a node.
    Node,
    /// A command that looks at nodes, one by one or all together.
    Probe,
    /// A command that looks at all nodes together.
    Whole,
    /// A client.
    Client,
}

/// Checks everything.
pub(super) fn check(described: &Description) -> Checked {
    let all = Checks { described };
    all.nodes()?;
    all.ports()?;
    check_declarations(&described.options)?;
    check_releases(described)?;
    all.command("node.command", &described.node.command, Where::Node)?;
    all.environment("node.environment", &described.node.environment, Where::Node)?;
    all.ready("node.ready", &described.node.ready)?;
    if let Some(heartbeat) = &described.node.heartbeat {
        all.get("node.heartbeat.get", &heartbeat.get)?;
    }
    if let Some(formed) = &described.formed {
        all.ready("formed", formed)?;
    }
    for (name, role) in &described.roles {
        all.role(&format!("roles.{name}"), role)?;
    }
    for (name, signal) in &described.signals {
        all.signal(&format!("signals.{name}"), signal)?;
    }
    let quiescence = &described.quiescence;
    for (name, holds) in [("pending", &quiescence.pending), ("converged", &quiescence.converged)] {
        if let Some(holds) = holds {
            all.holds(&format!("quiescence.{name}"), holds)?;
        }
    }
    all.client(&described.client)
}

struct Checks<'a> {
    described: &'a Description,
}

impl Checks<'_> {
    fn nodes(&self) -> Checked {
        let nodes = &self.described.nodes;
        if let Some(i) = nodes.allowed.iter().position(|count| !(1..=NODES_MAX).contains(count)) {
            return wrong(format!("nodes.allowed.{i}"), format!("1 to {NODES_MAX} nodes"));
        }
        match nodes.allows(nodes.default) {
            true => Ok(()),
            false => wrong(
                "nodes.default",
                format!("{} nodes are not among those allowed", nodes.default),
            ),
        }
    }

    fn command(&self, path: &str, words: &[Word], place: Where) -> Checked {
        if words.is_empty() {
            return wrong(path, "a command needs at least the program");
        }
        for (i, word) in words.iter().enumerate() {
            let path = format!("{path}.{i}");
            match word {
                Word::Plain(template) => self.template(&path, template, place, None)?,
                Word::Group(group) => {
                    self.group(&path, group, place)?;
                    for (i, template) in group.words.iter().enumerate() {
                        self.template(&format!("{path}.words.{i}"), template, place, Some(group))?;
                    }
                }
            }
        }
        Ok(())
    }

    fn group(&self, path: &str, group: &Group, place: Where) -> Checked {
        let default = |option: &String| self.described.options.get(option).map(|o| &o.default);
        match (&group.each, &group.when) {
            (Some(_), Some(_)) | (None, None) => wrong(path, "a group has either `each` or `when`"),
            (Some(each), None) => match (each.as_str(), default(each)) {
                ("peers", _) if place == Where::Node => Ok(()),
                ("peers", _) => {
                    wrong(format!("{path}.each"), "only nodes have peers; write each = \"nodes\"")
                }
                ("nodes", _) | (_, Some(Value::Array(_))) => Ok(()),
                _ => wrong(
                    format!("{path}.each"),
                    format!("`{each}` is not `peers`, `nodes` or an option that is a list"),
                ),
            },
            (None, Some(when)) => match default(when) {
                Some(Value::Bool(_)) => Ok(()),
                _ => wrong(
                    format!("{path}.when"),
                    format!("`{when}` is no option whose default is true or false"),
                ),
            },
        }
    }

    fn environment(
        &self,
        path: &str,
        environment: &std::collections::BTreeMap<String, Template>,
        place: Where,
    ) -> Checked {
        for (name, template) in environment {
            self.template(&format!("{path}.{name}"), template, place, None)?;
        }
        Ok(())
    }

    fn template(
        &self,
        path: &str,
        template: &Template,
        place: Where,
        group: Option<&Group>,
    ) -> Checked {
        let each = group.and_then(|group| group.each.as_deref());
        let over_nodes = matches!(each, Some("peers" | "nodes"));
        for placeholder in template.placeholders() {
            let complaint = match placeholder {
                Placeholder::Option(name) => self.unknown_option(name),
                Placeholder::Item if each.is_none() || over_nodes => {
                    Some("`{item}` stands only in a group over an option".to_string())
                }
                Placeholder::PeerId | Placeholder::PeerName | Placeholder::Link(..)
                    if !over_nodes =>
                {
                    Some("this stands only in a group with each = \"peers\" or \"nodes\"".into())
                }
                Placeholder::Link(port, _) if place == Where::Node && self.is_direct(port) => None,
                Placeholder::Public(port, _) if self.takes_datagrams(port) => Some(format!(
                    "who sent a datagram to `{port}` cannot be told from its process: say \
                     {{link.{port}}}"
                )),
                Placeholder::Link(port, _) | Placeholder::Public(port, _)
                    if place == Where::Node =>
                {
                    self.unknown_port(port, Some(PortUse::Peers))
                }
                Placeholder::Listen(port, _) if place == Where::Node => {
                    self.unknown_port(port, None)
                }
                Placeholder::Link(..) | Placeholder::Public(..) | Placeholder::Listen(..) => Some(
                    "only a node's own command may know this; a probe has {address.PORT} and \
                     {addresses.PORT}"
                        .to_string(),
                ),
                Placeholder::Address(port, _) if place == Where::Probe => {
                    self.unknown_port(port, None)
                }
                Placeholder::Addresses(port) if matches!(place, Where::Probe | Where::Whole) => {
                    self.unknown_port(port, None)
                }
                Placeholder::Address(..) | Placeholder::Addresses(_) => {
                    Some("probes have addresses; nodes {listen.PORT} and {link.PORT}".to_string())
                }
                Placeholder::Id | Placeholder::Name | Placeholder::Data
                    if !matches!(place, Where::Node | Where::Probe) =>
                {
                    Some("there is no single node here; there is {names}".to_string())
                }
                _ => None,
            };
            if let Some(complaint) = complaint {
                return wrong(path, complaint);
            }
        }
        Ok(())
    }

    fn unknown_option(&self, name: &str) -> Option<String> {
        let known = &self.described.options;
        (!known.contains_key(name)).then(|| {
            format!("nobody declared the option `{name}`: add [options.{name}] or mend the name")
        })
    }

    /// What goes around the proxies on one port cannot go through them on the same.
    fn ports(&self) -> Checked {
        for (name, uses) in &self.described.ports {
            if uses.contains(&PortUse::Direct) && uses.len() > 1 {
                return wrong(format!("ports.{name}"), "`direct` stands alone");
            }
            if uses[..] == [PortUse::Datagrams] {
                let message = "`datagrams` says how; say who as well: `peers` or `clients`";
                return wrong(format!("ports.{name}"), message);
            }
        }
        Ok(())
    }

    fn is_direct(&self, port: &str) -> bool {
        let uses = self.described.ports.get(port);
        uses.is_some_and(|uses| uses.contains(&PortUse::Direct))
    }

    fn takes_datagrams(&self, port: &str) -> bool {
        let uses = self.described.ports.get(port);
        uses.is_some_and(|uses| uses.contains(&PortUse::Datagrams))
    }

    /// Whether it is a port that one can connect to; what asks does.
    fn no_connections(&self, port: &str) -> Option<String> {
        let asked = || format!("port `{port}` takes datagrams: nothing can be asked there");
        self.unknown_port(port, None).or_else(|| self.takes_datagrams(port).then(asked))
    }

    fn unknown_port(&self, name: &str, used_by: Option<PortUse>) -> Option<String> {
        let Some(uses) = self.described.ports.get(name) else {
            return Some(format!("there is no port `{name}`: add it to [ports]"));
        };
        let missing = used_by.filter(|used_by| !uses.contains(used_by))?;
        Some(format!("port `{name}` is not for {missing:?}: add it in [ports]").to_lowercase())
    }

    fn get(&self, path: &str, get: &Get) -> Checked {
        self.no_connections(&get.port).map_or(Ok(()), |message| wrong(path, message))
    }

    fn ready(&self, path: &str, ready: &ReadySpec) -> Checked {
        if ready.ways() > 1 {
            return wrong(path, "one of `get`, `connect` and `log`");
        }
        if let Some(port) = &ready.connect
            && let Some(message) = self.no_connections(port)
        {
            return wrong(format!("{path}.connect"), message);
        }
        ready.get.as_ref().map_or(Ok(()), |get| self.get(&format!("{path}.get"), get))
    }

    fn role(&self, path: &str, role: &RoleSpec) -> Checked {
        match (&role.get, &role.command) {
            (Some(get), None) => {
                if role.pointer.is_none() || role.equals.is_none() {
                    return wrong(path, "a role by `get` needs `pointer` and `equals`");
                }
                self.get(&format!("{path}.get"), get)
            }
            (None, Some(command)) => {
                self.command(&format!("{path}.command"), command, Where::Whole)
            }
            _ => wrong(path, "either `get` (with `pointer` and `equals`) or `command`"),
        }
    }

    fn signal(&self, path: &str, signal: &SignalSpec) -> Checked {
        match (&signal.get, &signal.command, &signal.log) {
            (Some(get), None, None) => {
                if signal.pointer.is_none() {
                    return wrong(path, "a signal by `get` needs a `pointer`");
                }
                self.get(&format!("{path}.get"), get)
            }
            (None, Some(command), None) => {
                self.command(&format!("{path}.command"), command, Where::Probe)
            }
            (None, None, Some(text)) if !text.is_empty() => Ok(()),
            _ => wrong(path, "one of `get` (with `pointer`), `command` and `log`"),
        }
    }

    fn holds(&self, path: &str, holds: &HoldsSpec) -> Checked {
        match (&holds.get, &holds.command) {
            (Some(get), None) => {
                if holds.equal.is_empty() && holds.same.is_empty() && holds.is.is_empty() {
                    return wrong(path, "`get` needs `equal`, `same` or `is`: what is to hold?");
                }
                if holds.equal.len() == 1 {
                    return wrong(format!("{path}.equal"), "one value is always equal: name two");
                }
                self.get(&format!("{path}.get"), get)
            }
            (None, Some(command)) => {
                self.command(&format!("{path}.command"), command, Where::Whole)
            }
            _ => wrong(path, "either `get` (with `equal`, `same` or `is`) or `command`"),
        }
    }

    fn client(&self, client: &ClientSpec) -> Checked {
        let ways = usize::from(client.builtin.is_some())
            + usize::from(client.command.is_some())
            + usize::from(client.maelstrom);
        if ways != 1 {
            return wrong("client", "one of `builtin`, `command` and `maelstrom = true`");
        }
        if client.retries == Retries::Hidden && client.reason.is_none() {
            return wrong("client.retries", "say in `reason` why retries cannot be switched off");
        }
        if let Some(name) = &client.builtin
            && !DRIVERS.iter().any(|driver| driver.name == name)
        {
            return wrong("client.builtin", assay_drivers::absent(name));
        }
        if let Some(command) = &client.command {
            self.command("client.command", command, Where::Client)?;
        }
        self.environment("client.environment", &client.environment, Where::Client)?;
        self.client_port(client)
    }

    fn client_port(&self, client: &ClientSpec) -> Checked {
        if client.maelstrom {
            return match self.described.ports.is_empty() {
                true => Ok(()),
                false => wrong("ports", "nodes that speak Maelstrom have no ports: drop them"),
            };
        }
        let connects = |port: &str| match client.builtin.is_some() && self.takes_datagrams(port) {
            true => wrong("client.builtin", "it connects, and the port of clients takes datagrams"),
            false => Ok(()),
        };
        if let Some(port) = &client.port {
            let unknown = self.unknown_port(port, Some(PortUse::Clients));
            return unknown.map_or(connects(port), |message| wrong("client.port", message));
        }
        let ports = self.described.ports.iter();
        let mut for_clients = ports.filter(|(_, uses)| uses.contains(&PortUse::Clients));
        match (for_clients.next(), for_clients.next()) {
            (None, _) => {
                wrong("ports", "no port is for clients: one needs `\"clients\"` in its list")
            }
            (Some((port, _)), None) => connects(port),
            _ => wrong("client", "several ports are for clients: name one with `port`"),
        }
    }
}

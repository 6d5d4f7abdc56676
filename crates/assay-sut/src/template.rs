//! Texts with places to be filled in: `--peer={peer.name}@{link.raft}`.
//!
//! A placeholder stands in braces; a brace that is meant is written twice. What may stand there is
//! a fixed list ([`Placeholder`]), so a misspelt one is found when the description is read and not
//! when a node comes up with `{lisen.http}` in its arguments.

use serde::Deserialize;
use std::net::SocketAddr;

/// Every placeholder, for messages.
pub(crate) const PLACEHOLDERS: &str = "{id} {name} {names} {data} {seed} {assay} {here} \
    {option.NAME} {item} {listen.PORT} {public.PORT} {address.PORT} {addresses.PORT} {peer.id} \
    {peer.name} {link.PORT}";

/// What can be filled in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Placeholder {
    /// The node's number, from 1.
    Id,
    /// The node's name: n1.
    Name,
    /// All names, with commas between.
    Names,
    /// The node's data directory.
    Data,
    /// The seed of the run.
    Seed,
    /// The running executable.
    Assay,
    /// The directory of the description.
    Here,
    /// The value of an option.
    Option(String),
    /// In a group over a list: the element.
    Item,
    /// Where the node has to listen.
    Listen(String, Part),
    /// Where everybody reaches a node: in a group over nodes that one, otherwise this one.
    Public(String, Part),
    /// Where a probe reaches the node.
    Address(String, Part),
    /// Where a probe reaches the nodes, with commas between.
    Addresses(String),
    /// In a group over nodes: the other node's number.
    PeerId,
    /// In a group over nodes: the other node's name.
    PeerName,
    /// In a group over nodes: where this node reaches the other one.
    Link(String, Part),
}

/// Which part of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// `HOST:PORT`.
    Whole,
    /// `{listen.http.host}`.
    Host,
    /// `{listen.http.port}`.
    Port,
}

impl Part {
    /// The part of an address.
    pub(crate) fn of(self, address: SocketAddr) -> String {
        match self {
            Part::Whole => address.to_string(),
            Part::Host => address.ip().to_string(),
            Part::Port => address.port().to_string(),
        }
    }
}

impl Placeholder {
    fn parse(text: &str) -> Option<Placeholder> {
        let named = |prefix: &str| text.strip_prefix(prefix).filter(|name| !name.is_empty());
        let address = |prefix: &str| {
            let name = named(prefix)?;
            let (name, part) = match name.rsplit_once('.') {
                Some((name, "host")) => (name, Part::Host),
                Some((name, "port")) => (name, Part::Port),
                _ => (name, Part::Whole),
            };
            Some((name.to_string(), part))
        };
        Some(match text {
            "id" => Placeholder::Id,
            "name" => Placeholder::Name,
            "names" => Placeholder::Names,
            "data" => Placeholder::Data,
            "seed" => Placeholder::Seed,
            "assay" => Placeholder::Assay,
            "here" => Placeholder::Here,
            "item" => Placeholder::Item,
            "peer.id" => Placeholder::PeerId,
            "peer.name" => Placeholder::PeerName,
            _ => {
                if let Some((name, part)) = address("listen.") {
                    Placeholder::Listen(name, part)
                } else if let Some((name, part)) = address("public.") {
                    Placeholder::Public(name, part)
                } else if let Some((name, part)) = address("address.") {
                    Placeholder::Address(name, part)
                } else if let Some((name, part)) = address("link.") {
                    Placeholder::Link(name, part)
                } else if let Some(name) = named("addresses.") {
                    Placeholder::Addresses(name.to_string())
                } else {
                    Placeholder::Option(named("option.")?.to_string())
                }
            }
        })
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Piece {
    Text(String),
    Filled(Placeholder),
}

/// A text with placeholders.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Template {
    pieces: Vec<Piece>,
}

impl TryFrom<String> for Template {
    type Error = String;

    fn try_from(text: String) -> Result<Template, String> {
        let mut pieces = Vec::new();
        let (mut plain, mut rest) = (String::new(), text.as_str());
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                plain.push_str(brace);
                rest = after;
                continue;
            }
            let name = rest.split_once('}').filter(|_| brace == "{");
            let Some((name, after)) = name else {
                return Err(format!("a single `{brace}` in `{text}`: write `{brace}{brace}`"));
            };
            let placeholder = Placeholder::parse(name).ok_or_else(|| {
                format!("there is no placeholder `{{{name}}}`; there are {PLACEHOLDERS}")
            })?;
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(Piece::Filled(placeholder));
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Template { pieces })
    }
}

impl Template {
    /// The placeholders in it.
    pub(crate) fn placeholders(&self) -> impl Iterator<Item = &Placeholder> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Filled(placeholder) => Some(placeholder),
        })
    }

    /// The text, filled in.
    pub(crate) fn fill(&self, value: &dyn Fn(&Placeholder) -> String) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Filled(placeholder) => value(placeholder),
        };
        self.pieces.iter().map(piece).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> Result<String, String> {
        let template = Template::try_from(text.to_string())?;
        Ok(template.fill(&|placeholder| format!("<{placeholder:?}>")))
    }

    #[test]
    fn placeholders_are_filled_and_double_braces_are_braces() {
        let cases = [
            ("", ""),
            ("plain", "plain"),
            ("{id}", "<Id>"),
            ("a{id}b{name}c", "a<Id>b<Name>c"),
            ("{{\"id\": {id}}}", "{\"id\": <Id>}"),
            ("{listen.http}", "<Listen(\"http\", Whole)>"),
            ("{link.a.b.port}", "<Link(\"a.b\", Port)>"),
            ("{address.c.host}", "<Address(\"c\", Host)>"),
            ("{addresses.c}{option.x}", "<Addresses(\"c\")><Option(\"x\")>"),
            ("ä{peer.id}={peer.name}ö", "ä<PeerId>=<PeerName>ö"),
        ];
        for (text, expected) in cases {
            assert_eq!(filled(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_filled_is_refused() {
        for (text, expected) in [
            ("{lisen.http}", "no placeholder `{lisen.http}`; there are {id}"),
            ("{}", "no placeholder `{}`"),
            ("{option.}", "no placeholder"),
            ("{id", "a single `{`"),
            ("id}", "a single `}`: write `}}`"),
            ("{ id }", "no placeholder"),
        ] {
            let error = filled(text).expect_err(text);
            assert!(error.contains(expected) || error.contains("a single"), "{text}: {error}");
        }
    }
}

//! Which client does the operations: the one place where kinds of clients are told apart.

use crate::client::{Client, ClientError};
use crate::command::Scope;
use crate::spec::ClientSpec;
use std::net::SocketAddr;

/// Clients that come with Assay.
pub(crate) const BUILTIN_CLIENTS: [&str; 1] = ["kv"];

/// A kind of client, ready to be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ClientKind {
    /// The client of the embedded store.
    Kv,
    /// A process that does operations for us.
    Adapter {
        /// How it is started.
        argv: Vec<String>,
        /// What it finds in its environment, besides ours.
        environment: Vec<(String, String)>,
    },
    /// The nodes themselves speak Maelstrom.
    Maelstrom,
}

/// Whom a client talks to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Reach {
    /// Where clients reach each node.
    pub(crate) addresses: Vec<SocketAddr>,
    /// What the nodes are called.
    pub(crate) names: Vec<String>,
    /// The client's own node.
    pub(crate) own: usize,
    /// The client's own seed.
    pub(crate) seed: u64,
}

impl ClientKind {
    /// The kind a description asks for.
    pub(crate) fn of(client: &ClientSpec, scope: &Scope) -> ClientKind {
        if client.maelstrom {
            return ClientKind::Maelstrom;
        }
        match &client.command {
            Some(command) => ClientKind::Adapter {
                argv: scope.arguments(command),
                environment: client
                    .environment
                    .iter()
                    .map(|(name, template)| (name.clone(), scope.text(template)))
                    .collect(),
            },
            None => ClientKind::Kv,
        }
    }

    /// Makes a client.
    pub(crate) fn open(&self, reach: Reach) -> Result<Box<dyn Client>, ClientError> {
        let kind = match self {
            ClientKind::Kv => "the client `kv`".to_string(),
            ClientKind::Adapter { argv, .. } => format!("the adapter `{}`", argv.join(" ")),
            ClientKind::Maelstrom => "a Maelstrom client".to_string(),
        };
        let node = reach.names.get(reach.own).map_or("a node", String::as_str);
        let message = format!("{kind} for {node} is not part of this build; use another build");
        Err(ClientError { message })
    }
}

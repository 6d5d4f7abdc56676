//! `assay kv`: the embedded replicated store.

use super::Trouble;
use crate::args::{KvCommand, KvNodeArgs};
use crate::exit::Exit;
use assay_kv::storage::StorageTrouble;
use assay_kv::{NodeError, NodeOptions};
use std::collections::BTreeMap;

/// Members of a cluster; more would only slow it down.
const MEMBERS_MAX: usize = 9;

/// Runs the command.
pub fn run(command: KvCommand) -> Exit {
    let KvCommand::Node(args) = command;
    let ended = options(args).and_then(|options| assay_kv::run(options).map_err(trouble));
    ended.map_or_else(Trouble::report, |()| Exit::Upheld)
}

fn options(args: KvNodeArgs) -> Result<NodeOptions, Trouble> {
    let usage = |message: String| Trouble { message, exit: Exit::Usage };
    let mut peers = BTreeMap::new();
    for (id, address) in args.peers {
        if peers.insert(id, address).is_some() {
            return Err(usage(format!("--peer names node {id} twice")));
        }
    }
    if peers.len() > MEMBERS_MAX {
        return Err(usage(format!("a cluster has at most {MEMBERS_MAX} members")));
    }
    Ok(NodeOptions {
        id: args.id,
        listen: args.listen,
        advertise: args.advertise,
        data: args.data,
        peers,
        defects: args.defects.into_iter().collect(),
        snapshot_every: args.snapshot_every,
    })
}

fn trouble(error: NodeError) -> Trouble {
    let exit = match &error {
        NodeError::Storage(StorageTrouble::Held { .. }) => Exit::TryLater,
        NodeError::Storage(StorageTrouble::Corrupt { .. } | StorageTrouble::Foreign { .. }) => {
            Exit::BadHistory
        }
        _ => Exit::MissingCapability,
    };
    Trouble { message: error.to_string(), exit }
}

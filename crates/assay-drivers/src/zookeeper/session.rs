//! One session with a ZooKeeper, and what an error in it means.

use crate::trouble::Trouble;
use std::net::SocketAddr;
use std::time::Duration;
use zookeeper_client::{Acls, Client, CreateMode, CreateOptions, Error, SessionState};

/// How long the server keeps a session it does not hear from.
const SESSION_TIMEOUT: Duration = Duration::from_secs(10);

/// How every node is made.
pub(super) const FOR_EVER: CreateOptions<'static> =
    CreateMode::Persistent.with_acls(Acls::anyone_all());

/// A session with one server.
pub(super) async fn connect(address: SocketAddr) -> Result<Client, Error> {
    let connector = Client::connector().with_session_timeout(SESSION_TIMEOUT).with_fail_eagerly();
    connector.connect(&address.to_string()).await
}

/// Whether the next call may use it. The library connects again by itself, and then sends what
/// waits: a session that was disconnected is given up.
pub(super) fn is_usable(client: &Client) -> bool {
    client.state() == SessionState::SyncConnected
}

/// What an error of a request that changes something says about its effect.
pub(super) fn trouble(error: &Error) -> Trouble {
    let text = error.to_string();
    match error {
        Error::NoNode
        | Error::NodeExists
        | Error::BadVersion
        | Error::NotEmpty
        | Error::NoAuth
        | Error::AuthFailed
        | Error::InvalidAcl
        | Error::BadArguments(_)
        | Error::NotReadOnly
        | Error::QuotaExceeded
        | Error::Throttled
        | Error::MarshallingError
        | Error::Unimplemented
        | Error::NoHosts => Trouble::Fail(text),
        _ => Trouble::Unknown(text),
    }
}

//! Taking connections, and saying so when that fails: a node without a descriptor left is deaf, and
//! whoever reads its log should see why.

use crate::raft::NodeId;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

/// How long it waits before it tries again; the kernel keeps who called meanwhile.
const RETRY: Duration = Duration::from_millis(100);

/// A listener that logs what it could not take.
pub(crate) struct Listener {
    inner: TcpListener,
    id: NodeId,
}

impl Listener {
    pub fn new(inner: TcpListener, id: NodeId) -> Listener {
        Listener { inner, id }
    }
}

impl axum::serve::Listener for Listener {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        loop {
            match self.inner.accept().await {
                Ok(taken) => return taken,
                // The caller went away before it was taken: its own affair.
                Err(error) if is_of_the_caller(&error) => {}
                Err(error) => {
                    crate::node::note(self.id, &format!("cannot take a connection: {error}"));
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }
}

fn is_of_the_caller(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

//! One request on a connection of its own, to an address that is given.

use super::lookup::{Names, Unfound};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};
use url::Url;

/// How long a connection may take, TLS included.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(15);
/// The longest head of an answer.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// The host of an address, with its port if that is not the usual one.
pub fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_string(), |port| format!("{host}:{port}"))
}

/// What of an address stands in the first line of a request.
pub fn path_of(url: &Url) -> String {
    url.query().map_or_else(|| url.path().to_string(), |query| format!("{}?{query}", url.path()))
}

/// Whom to ask.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// The name, for TLS.
    pub host: String,
    /// Whether to use TLS.
    pub is_tls: bool,
    /// Where it is: tried in this order.
    pub addresses: Vec<SocketAddr>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// The name leads nowhere.
    #[error("the host `{0}` cannot be found")]
    Lookup(String),
    /// Nobody looked.
    #[error("the host `{0}` was not looked up: its name server is slow, and many wait for it")]
    Busy(String),
    /// Nobody is there.
    #[error("cannot connect to {host}: {source}")]
    Connect {
        /// Whom.
        host: String,
        /// Why not.
        source: std::io::Error,
    },
    /// It took too long.
    #[error("{0} did not answer in time")]
    Time(String),
    /// It broke off, or is no HTTP.
    #[error("the answer broke off: {0}")]
    Http(#[from] hyper::Error),
    /// There is nothing to check certificates by.
    #[error("this machine has no certificates of authorities; install ca-certificates")]
    NoRoots,
}

/// Asks others.
#[derive(Clone)]
pub struct Client {
    tls: Option<Arc<ClientConfig>>,
    /// For what the operator named; what others name has places of its own, in their guard.
    names: Names,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Client").field("has_roots", &self.tls.is_some()).finish()
    }
}

impl Client {
    /// A client that trusts whom this machine trusts. Without authorities it speaks no TLS.
    pub fn new() -> Client {
        let names = Names::trusted();
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Client { tls: None, names };
        }
        let provider = Arc::new(crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring knows all versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Client { tls: Some(Arc::new(config)), names }
    }

    /// Whether it can speak TLS.
    pub fn has_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Where an address of the configuration leads, wherever that is.
    ///
    /// # Errors
    /// If the name cannot be found.
    pub async fn trusted(&self, url: &Url) -> Result<Target, NetError> {
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(NetError::Lookup(url.to_string()));
        };
        let name = host.trim_start_matches('[').trim_end_matches(']').to_string();
        // Each name has a share: one whose server is slow keeps no other waiting.
        match self.names.find(&name, &name, port).await {
            Ok(addresses) => Ok(Target { host: name, is_tls: url.scheme() == "https", addresses }),
            Err(Unfound::Nowhere) => Err(NetError::Lookup(name)),
            Err(Unfound::Busy) => Err(NetError::Busy(name)),
        }
    }

    /// Sends a request and waits for the head of the answer.
    ///
    /// # Errors
    /// If there is none.
    pub async fn send(
        &self,
        target: &Target,
        request: Request<Full<Bytes>>,
        time: Duration,
    ) -> Result<Response<Incoming>, NetError> {
        let late = |_| NetError::Time(target.host.clone());
        let stream = tokio::time::timeout(CONNECT_TIME_MAX, connect(target)).await;
        let stream = stream.map_err(late)??;
        let answered = async {
            match target.is_tls {
                false => speak(stream, request).await,
                true => {
                    let config = self.tls.clone().ok_or(NetError::NoRoots)?;
                    let failed = |source| NetError::Connect { host: target.host.clone(), source };
                    let name = ServerName::try_from(target.host.clone());
                    let name = name.map_err(|error| failed(std::io::Error::other(error)))?;
                    let tls = TlsConnector::from(config).connect(name, stream).await;
                    speak(tls.map_err(failed)?, request).await
                }
            }
        };
        tokio::time::timeout(time, answered).await.map_err(late)?
    }
}

impl Default for Client {
    fn default() -> Client {
        Client::new()
    }
}

/// A connection to one of its addresses.
pub(super) async fn connect(target: &Target) -> Result<TcpStream, NetError> {
    let mut last = std::io::Error::from(std::io::ErrorKind::AddrNotAvailable);
    for address in &target.addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => {
                // Slower, at worst.
                let _slow = stream.set_nodelay(true);
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(NetError::Connect { host: target.host.clone(), source: last })
}

async fn speak(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, NetError> {
    let mut builder = http1::Builder::new();
    builder.max_buf_size(HEAD_BYTES_MAX);
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
    // Ends with the answer, or when nobody reads it any more.
    tokio::spawn(connection);
    Ok(sender.send_request(request).await?)
}

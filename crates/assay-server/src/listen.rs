//! Connections: how many, and how long one may take to say what it wants.

use crate::log::log;
use axum::Router;
use axum::extract::Request;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tower_service::Service;

/// Connections at once; more wait where they are.
const CONNECTIONS_MAX: usize = 10_000;
/// How long the head of a request may take, and how long a connection may be idle.
const HEAD_TIME_MAX: Duration = Duration::from_secs(30);
/// How long to wait when the system gives no connection: it may have no descriptors left.
const TRY_AGAIN: Duration = Duration::from_millis(100);

/// Who is at the other end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Peer(pub SocketAddr);

/// Serves connections, for ever.
pub async fn serve_connections(listener: TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let place = places.clone().acquire_owned().await;
        let (stream, address) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                log(format_args!("cannot take a connection: {error}"));
                tokio::time::sleep(TRY_AGAIN).await;
                continue;
            }
        };
        // Events are small, and wanted at once.
        let _as_it_is = stream.set_nodelay(true);
        let router = router.clone();
        tokio::spawn(async move {
            let service = service_fn(move |mut request: Request<_>| {
                request.extensions_mut().insert(Peer(address));
                router.clone().call(request)
            });
            let mut connection = http1::Builder::new();
            connection.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME_MAX);
            // A connection that breaks concerns nobody else.
            let _ended = connection.serve_connection(TokioIo::new(stream), service).await;
            drop(place);
        });
    }
}

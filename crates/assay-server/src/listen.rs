//! Connections: how many, and how long one may take to say what it wants.

use crate::log::log;
use crate::patience::Patient;
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

/// Serves connections, for ever. One whose client takes nothing for as long as `stalled` is over.
pub async fn serve_connections(listener: TcpListener, router: Router, stalled: Duration) {
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
        let (router, stream) = (router.clone(), Patient::new(stream, stalled));
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

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::{Body, Bytes};
    use std::convert::Infallible;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;
    use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

    /// Longer than anything takes that must happen.
    const WAIT_MAX: Duration = Duration::from_secs(60);
    /// Client and server share a thread: who reads may take seconds before it comes to read again.
    const STALLED: Duration = Duration::from_secs(10);

    /// Tells when nobody has an answer any more.
    struct Gone(UnboundedSender<()>);

    impl Drop for Gone {
        fn drop(&mut self) {
            // The test may be over.
            let _unheard = self.0.send(());
        }
    }

    fn endless(gone: Gone) -> Body {
        let pieces = futures_util::stream::unfold(gone, |gone| async move {
            Some((Ok::<_, Infallible>(Bytes::from(vec![b'x'; 64 * 1024])), gone))
        });
        Body::from_stream(pieces)
    }

    async fn client(address: SocketAddr) -> TcpStream {
        let mut client = TcpStream::connect(address).await.expect("a connection");
        client.write_all(b"GET / HTTP/1.1\r\nhost: t\r\n\r\n").await.expect("sent");
        client
    }

    async fn check() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("it has one");
        let (tell, mut gone) = unbounded_channel();
        let router = Router::new().fallback(move || {
            let body = endless(Gone(tell.clone()));
            async { body }
        });
        let serving = tokio::spawn(serve_connections(listener, router, STALLED));
        let (_silent, mut reading) = (client(address).await, client(address).await);
        let mut buffer = vec![0; 1024 * 1024];
        loop {
            tokio::select! {
                heard = gone.recv() => break assert_eq!(heard, Some(())),
                read = reading.read(&mut buffer) => assert!(read.is_ok_and(|count| count > 0)),
            }
        }
        for _ in 0..10 {
            reading.read_exact(&mut buffer).await.expect("who reads is served");
        }
        gone.try_recv().expect_err("only one is gone");
        serving.abort();
    }

    #[test]
    fn who_does_not_read_loses_the_connection_and_who_reads_does_not() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let checked = async { tokio::time::timeout(WAIT_MAX, check()).await };
        runtime.expect("a runtime").block_on(checked).expect("in time");
    }
}

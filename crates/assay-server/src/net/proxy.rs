//! The way out of a sandbox whose environment names hosts: a proxy of HTTP at its [gate](Gate).
//!
//! Programs say whom they want (`CONNECT NAME:443`, or a whole address in the first line), the
//! [`Guard`] decides as it does for `web_fetch`, and the connection goes to an address that was
//! looked at. What is said on it afterwards is not looked at: it is for that address, whatever name
//! stands within.

use super::client::{Target, authority, connect, path_of};
use super::guard::{Guard, GuardError, Reach};
use assay_sandbox::{Gate, Porter};
use std::any::Any;
use std::fmt::Write;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;
use url::Url;

/// Connections of one call at a time; more wait.
const CONNECTIONS_MAX: usize = 64;
/// How much may come before it is known who is wanted, and how long that may take.
const HEAD_BYTES_MAX: usize = 16 * 1024;
const HEAD_TIME_MAX: Duration = Duration::from_secs(10);
/// How long a connection may take to come about.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(15);
/// How long to wait when the system gives no connection: it may have no descriptors left.
const TRY_AGAIN: Duration = Duration::from_millis(100);
/// How long what stands at a gate may take to go.
const END_TIME_MAX: Duration = Duration::from_secs(10);

/// Lets programs reach what an environment allows.
#[derive(Debug)]
struct Proxy {
    guard: Guard,
    reach: Reach,
}

/// A gate that leads where an environment allows.
pub fn gate(guard: Guard, reach: Reach) -> Gate {
    Gate::new(Arc::new(Proxy { guard, reach }))
}

/// Ends what it stands for when it goes, and waits until nothing of it is left.
struct Ends {
    task: AbortHandle,
    /// Everything at the gate has the other end of it, and says nothing.
    gone: Receiver<()>,
}

impl Drop for Ends {
    fn drop(&mut self) {
        self.task.abort();
        // Nothing there blocks, so this takes a moment; without it, what a program sent last could
        // go out when its call is over.
        let _nobody = self.gone.recv_timeout(END_TIME_MAX);
    }
}

/// A gate that is open.
struct Standing {
    proxy: Arc<Proxy>,
    listener: std::net::TcpListener,
    /// Goes last: then all that stands here is gone.
    gone: Sender<()>,
}

impl Porter for Proxy {
    fn open(&self, listener: std::net::TcpListener) -> io::Result<Box<dyn Any>> {
        listener.set_nonblocking(true)?;
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let (guard, reach) = (self.guard.clone(), self.reach.clone());
        let (mark, gone) = channel();
        let proxy = Arc::new(Proxy { guard, reach });
        let task = runtime.spawn(keep(Standing { proxy, listener, gone: mark }));
        Ok(Box::new(Ends { task: task.abort_handle(), gone }))
    }
}

async fn keep(standing: Standing) {
    // What is declared first goes last.
    let Standing { gone, proxy, listener } = standing;
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    stand(proxy, gone.clone(), |context| {
        listener.poll_accept(context).map_ok(|(stream, _)| stream)
    })
    .await;
}

/// Takes whoever comes. All that it began ends with it.
async fn stand(
    proxy: Arc<Proxy>,
    gone: Sender<()>,
    mut accept: impl FnMut(&mut Context<'_>) -> Poll<io::Result<TcpStream>>,
) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut all = JoinSet::new();
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        match poll_fn(&mut accept).await {
            Ok(stream) => {
                let (proxy, gone) = (proxy.clone(), gone.clone());
                all.spawn(async move {
                    let _gone = gone;
                    let _place = place;
                    proxy.pass(stream).await;
                });
            }
            // It is that of one connection, or of too many open files: others come and go.
            Err(_) => tokio::time::sleep(TRY_AGAIN).await,
        }
        while all.try_join_next().is_some() {}
    }
}

/// Why somebody does not get through: a status, and why.
type Refused = (&'static str, String);

/// What somebody wants: whom, and what is said to them first.
struct Wanted {
    url: Url,
    is_tunnel: bool,
    first: Vec<u8>,
}

impl Proxy {
    async fn pass(&self, mut inside: TcpStream) {
        let mut outside = match self.admit(&mut inside).await {
            Ok(outside) => outside,
            Err((status, why)) => {
                let length = why.len() + 1;
                let answer = format!(
                    "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\n\
                     connection: close\r\n\r\n{why}\n"
                );
                // Who asked may have gone.
                let _gone = inside.write_all(answer.as_bytes()).await;
                let _gone = inside.shutdown().await;
                return;
            }
        };
        // It breaks off as either side does.
        let _over = copy_bidirectional(&mut inside, &mut outside).await;
    }

    /// A connection to whom somebody asks for, on which the first has been said.
    async fn admit(&self, inside: &mut TcpStream) -> Result<TcpStream, Refused> {
        let bad = |why: &str| ("400 Bad Request", why.to_string());
        let head = timeout(HEAD_TIME_MAX, read_head(inside)).await;
        let head = head.map_err(|_| ("408 Request Timeout", "too slow".to_string()))?;
        let (head, rest) = head.ok_or_else(|| bad("no request that a proxy understands"))?;
        let wanted = understand(&head, &rest).ok_or_else(|| {
            bad("say CONNECT NAME:443, or a whole address that begins with http://")
        })?;
        let target = self.guard.target(&wanted.url, &self.reach).await;
        let target = target.map_err(|error| {
            let status = match error {
                GuardError::Busy(_) => "503 Service Unavailable",
                _ => "403 Forbidden",
            };
            (status, error.to_string())
        })?;
        let mut outside = open(&target).await.map_err(|why| ("502 Bad Gateway", why))?;
        let broken = |error: io::Error| ("502 Bad Gateway", error.to_string());
        if wanted.is_tunnel {
            let told = b"HTTP/1.1 200 Connection established\r\n\r\n";
            inside.write_all(told).await.map_err(broken)?;
        }
        outside.write_all(&wanted.first).await.map_err(broken)?;
        Ok(outside)
    }
}

async fn open(target: &Target) -> Result<TcpStream, String> {
    match timeout(CONNECT_TIME_MAX, connect(target)).await {
        Ok(opened) => opened.map_err(|error| error.to_string()),
        Err(_) => Err(format!("{} did not answer in time", target.host)),
    }
}

/// The head of a request, and what came with it; nothing if there is none.
async fn read_head(inside: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    const END: &[u8] = b"\r\n\r\n";
    let mut bytes = Vec::new();
    loop {
        if let Some(at) = bytes.windows(END.len()).position(|window| window == END) {
            let rest = bytes.split_off(at + END.len());
            bytes.truncate(at);
            return String::from_utf8(bytes).ok().map(|head| (head, rest));
        }
        let left = HEAD_BYTES_MAX - bytes.len();
        let read = (&mut *inside).take(left as u64).read_buf(&mut bytes).await.ok()?;
        if read == 0 {
            return None;
        }
    }
}

fn understand(head: &str, rest: &[u8]) -> Option<Wanted> {
    let (line, fields) = head.split_once("\r\n").unwrap_or((head, ""));
    let mut words = line.split(' ');
    let (method, wanted, version) = (words.next()?, words.next()?, words.next()?);
    if !version.starts_with("HTTP/1.") || words.next().is_some() {
        return None;
    }
    if method == "CONNECT" {
        let (name, port) = wanted.rsplit_once(':')?;
        // What is no name with a port behind it could be anything once it stands in an address.
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]_".contains(&byte);
        if !name.bytes().all(is_plain) || !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let scheme = if port == "443" { "https" } else { "http" };
        let url = Url::parse(&format!("{scheme}://{name}:{port}/")).ok()?;
        return Some(Wanted { url, is_tunnel: true, first: rest.to_vec() });
    }
    let url = Url::parse(wanted).ok().filter(|url| url.scheme() == "http")?;
    // The connection is for this address: nothing else may be asked for on it afterwards.
    let mut first =
        format!("{method} {} {version}\r\nhost: {}\r\n", path_of(&url), authority(&url));
    for field in fields.split("\r\n").filter(|field| !field.is_empty()) {
        let name = field.split(':').next().unwrap_or_default().to_ascii_lowercase();
        if !["host", "connection", "keep-alive"].contains(&name.as_str())
            && !name.starts_with("proxy-")
        {
            // Writing to text cannot fail.
            let _written = write!(first, "{field}\r\n");
        }
    }
    first.push_str("connection: close\r\n\r\n");
    Some(Wanted { url, is_tunnel: false, first: [first.as_bytes(), rest].concat() })
}

#[cfg(test)]
mod tests {
    use super::super::lookup::Names;
    use super::super::lookup::tests::{PATIENCE, Silent, Spoken};
    use super::*;
    use std::io::{ErrorKind, Read, Write as _};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Longer than anything takes that must happen.
    const WAIT_MAX: Duration = Duration::from_secs(60);

    /// A gate that is open, and where it is.
    fn opened(guard: Guard, reach: Reach) -> (Box<dyn Any>, std::net::SocketAddr) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("it has one");
        (Proxy { guard, reach }.open(listener).expect("in a runtime"), address)
    }

    /// A connection through a gate, and what was said of it.
    fn through(
        gate: std::net::SocketAddr,
        name: &str,
    ) -> io::Result<(std::net::TcpStream, String)> {
        let mut stream = std::net::TcpStream::connect(gate)?;
        stream.set_read_timeout(Some(WAIT_MAX))?;
        write!(stream, "CONNECT {name} HTTP/1.1\r\n\r\n")?;
        let (mut said, mut byte) = (Vec::new(), [0]);
        while !said.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte)?;
            said.push(byte[0]);
        }
        let said = String::from_utf8(said).expect("text");
        Ok((stream, said.lines().next().unwrap_or_default().to_string()))
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn nothing_of_a_gate_is_left_when_it_is_dropped() {
        tokio::task::spawn_blocking(|| {
            let site = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
            let near = site.local_addr().expect("it has one");
            let origin = format!("near.example.test={near}").parse().expect("well-formed");
            let guard = Guard::new(vec![origin], Names::new());
            for _ in 0..20 {
                let (gate, address) = opened(guard.clone(), Reach::Public);
                let pairs: Vec<_> = (0..10)
                    .map(|_| {
                        let through = through(address, "near.example.test:80");
                        let (inside, said) = through.expect("an answer");
                        assert_eq!(said, "HTTP/1.1 200 Connection established");
                        (inside, site.accept().expect("it is there").0)
                    })
                    .collect();
                drop(gate);
                for (_inside, mut outside) in pairs {
                    outside.set_nonblocking(true).expect("a socket");
                    let read = outside.read(&mut [0; 1]).map_err(|error| error.kind());
                    assert!(matches!(read, Ok(0) | Err(ErrorKind::ConnectionReset)), "{read:?}");
                }
                std::net::TcpStream::connect(address).expect_err("nobody listens");
            }
        })
        .await
        .expect("no panic");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn programs_whose_names_are_not_answered_are_told_and_take_nothing_from_others() {
        tokio::task::spawn_blocking(|| {
            let silent = Arc::new(Silent::default());
            let _in_the_end = Spoken(silent.clone());
            let guard = Guard::new(Vec::new(), Names::by(silent.clone(), PATIENCE));
            let hosts = Reach::Hosts(vec!["*.silent.example".into()]);
            let (gate, address) = opened(guard.of("a"), hosts.clone());
            let (tell, told) = channel();
            for number in 0..CONNECTIONS_MAX {
                let (name, tell) = (format!("{number}.silent.example:443"), tell.clone());
                std::thread::spawn(move || {
                    // Those who wait for an address hear nothing any more when the gate goes.
                    let said = through(address, &name).map(|(_, said)| said);
                    tell.send(said.unwrap_or_default()).expect("they are waited for");
                });
            }
            for _ in 0..CONNECTIONS_MAX * 3 / 4 {
                let said = told.recv_timeout(WAIT_MAX).expect("an answer");
                assert_eq!(said, "HTTP/1.1 503 Service Unavailable");
            }
            assert!(silent.most() <= CONNECTIONS_MAX / 4, "{}", silent.most());
            drop(gate);
            let url = Url::parse("https://fine.example/").expect("an address");
            let found = Handle::current().block_on(guard.of("b").target(&url, &Reach::Public));
            // Looked up, and then it turned out where it is.
            assert_eq!(found, Err(GuardError::Private("fine.example".into())));
            silent.speak();
            drop(tell);
            while told.recv_timeout(WAIT_MAX).is_ok() {}
        })
        .await
        .expect("no panic");
    }

    #[tokio::test]
    async fn a_gate_waits_when_the_system_gives_no_connection() {
        /// More than a loop without a pause needs for it.
        const TURNS: usize = 1000;
        let proxy = Arc::new(Proxy { guard: Guard::default(), reach: Reach::Nothing });
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = asked.clone();
        let standing = stand(proxy, channel().0, move |context| {
            // Somebody else gets to run, or this would be for ever.
            if counted.fetch_add(1, Ordering::SeqCst).is_multiple_of(2) {
                return Poll::Ready(Err(ErrorKind::Other.into()));
            }
            context.waker().wake_by_ref();
            Poll::Pending
        });
        let standing = tokio::spawn(standing);
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
        }
        standing.abort();
        let asked = asked.load(Ordering::SeqCst);
        assert!((1..TURNS / 4).contains(&asked), "{asked} times");
    }

    #[test]
    fn what_somebody_wants_is_a_name_and_a_port_or_a_whole_address() {
        let tunnels = [
            ("CONNECT a.example:443 HTTP/1.1\r\nhost: x", "https://a.example/"),
            ("CONNECT a.example:80 HTTP/1.1", "http://a.example/"),
            ("CONNECT [::1]:443 HTTP/1.1", "https://[::1]/"),
        ];
        for (head, url) in tunnels {
            let wanted = understand(head, b"rest").expect(head);
            assert_eq!((wanted.url.as_str(), wanted.is_tunnel), (url, true), "{head}");
            assert_eq!(wanted.first, b"rest");
        }
        for head in [
            "",
            "CONNECT a.example HTTP/1.1",
            "CONNECT a.example:443",
            "CONNECT a.example:443 HTTP/1.1 more",
            "CONNECT a.example/@b.example:443 HTTP/1.1",
            "CONNECT u:p@a.example:443 HTTP/1.1",
            "CONNECT a.example:99999 HTTP/1.1",
            "GET /path HTTP/1.1",
            "GET https://a.example/ HTTP/1.1",
            "GET ftp://a.example/ HTTP/1.1",
            "GET http://a.example/ HTTP/2",
        ] {
            assert!(understand(head, b"").is_none(), "{head}");
        }
    }

    #[test]
    fn what_is_for_the_proxy_is_not_told_to_the_site() {
        let head = "POST http://a.example:81/x?y HTTP/1.1\r\nHost: b.example\r\nA: b\r\n\
            Proxy-Authorization: secret\r\nConnection: keep-alive\r\nContent-Length: 2";
        let wanted = understand(head, b"{}").expect("a request");
        let expected = "POST /x?y HTTP/1.1\r\nhost: a.example:81\r\nA: b\r\nContent-Length: 2\r\n\
            connection: close\r\n\r\n{}";
        assert_eq!(String::from_utf8(wanted.first).expect("text"), expected);
    }
}

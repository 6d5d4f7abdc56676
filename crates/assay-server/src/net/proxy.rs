//! The way out of a sandbox whose environment names hosts: a proxy of HTTP at its [gate](Gate).
//!
//! Programs say whom they want (`CONNECT NAME:443`, or a whole address in the first line), the
//! [`Guard`] decides as it does for `web_fetch`, and the connection goes to an address that was
//! looked at. What is said on it afterwards is not looked at: it is for that address, whatever name
//! stands within.

use super::client::{Target, authority, connect, path_of};
use super::guard::{Guard, Reach};
use assay_sandbox::{Gate, Porter};
use std::any::Any;
use std::fmt::Write;
use std::io;
use std::sync::Arc;
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

/// Ends what it stands for when it goes.
struct Ends(AbortHandle);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Porter for Proxy {
    fn open(&self, listener: std::net::TcpListener) -> io::Result<Box<dyn Any>> {
        listener.set_nonblocking(true)?;
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let (guard, reach) = (self.guard.clone(), self.reach.clone());
        let task = runtime.spawn(keep(listener, Arc::new(Proxy { guard, reach })));
        Ok(Box::new(Ends(task.abort_handle())))
    }
}

/// Takes whoever comes. All that it began ends with it.
async fn keep(listener: std::net::TcpListener, proxy: Arc<Proxy>) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut all = JoinSet::new();
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        // An error is that of one connection, or of too many open files: others come and go.
        if let Ok((stream, _)) = listener.accept().await {
            let proxy = proxy.clone();
            all.spawn(async move {
                let _place = place;
                proxy.pass(stream).await;
            });
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
        let target = target.map_err(|error| ("403 Forbidden", error.to_string()))?;
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
    use super::*;

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

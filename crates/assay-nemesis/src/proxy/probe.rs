//! Whether a link lets something pass: the proof that a fault on it is healed.

use super::rules::Transport;
use super::{LinkId, Mesh};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};
use tokio::net::{TcpSocket, TcpStream};

/// How long a probe waits to get through.
const PROBE_TIME_MAX: Duration = Duration::from_secs(12);
/// How often it looks.
const PROBE_STEP: Duration = Duration::from_millis(1);
/// After how long a datagram is sent again: kernels drop them when they are busy.
const RESEND: Duration = Duration::from_millis(50);
/// What a probe says.
const NONCE: &[u8] = b"assay-probe";

/// What became of an attempt to get through a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Probe {
    /// It reached the other side.
    Passed,
    /// The link tried, and the other side took no connection: nobody is listening there.
    NobodyThere,
    /// The link did not even try.
    Stuck,
}

impl Mesh {
    /// Opens a connection to see whether the link lets it pass. The other side sees a connection
    /// that is closed again without a byte. On a link of datagrams one goes there and back, and a
    /// socket of ours takes it in place of the other side, which might not know what to make of it.
    pub fn probe(&self, link: LinkId) -> io::Result<Probe> {
        match self.transport(link) {
            Transport::Stream => self.probe_stream(link),
            Transport::Datagrams => self.probe_datagrams(link),
        }
    }

    fn probe_stream(&self, link: LinkId) -> io::Result<Probe> {
        let until = Instant::now() + PROBE_TIME_MAX;
        loop {
            match self.probe_once(link, until)? {
                // Those that piled up are about to go; then there is room.
                None => std::thread::sleep(PROBE_STEP),
                Some(probe) => return Ok(probe),
            }
        }
    }

    /// One connection; nothing, if there was no room for it.
    fn probe_once(&self, link: LinkId, until: Instant) -> io::Result<Option<Probe>> {
        let before = self.counts(link).connections;
        let connection = self.runtime().block_on(self.announced(link));
        match connection.as_ref().map_err(io::Error::kind) {
            // A refusal can be so quick that it is seen while connecting; the counters tell.
            Ok(_) | Err(io::ErrorKind::ConnectionReset) => {}
            Err(_) => return connection.map(|_| Some(Probe::Stuck)),
        }
        while Instant::now() < until {
            let now = self.counts(link).connections;
            if now.dialed > before.dialed {
                return Ok(Some(Probe::Passed));
            }
            if now.dial_failed > before.dial_failed {
                return Ok(Some(Probe::NobodyThere));
            }
            if now.refused > before.refused {
                return Ok(Some(Probe::Stuck));
            }
            if now.turned_away > before.turned_away {
                return Ok(None);
            }
            std::thread::sleep(PROBE_STEP);
        }
        Ok(Some(Probe::Stuck))
    }

    /// A connection that the link knows to be ours before it is made.
    async fn announced(&self, link: LinkId) -> io::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let from = socket.local_addr()?;
        self.with(link, |_, live| live.probers().insert(from));
        let connecting = socket.connect(self.listen(link));
        let connection = match tokio::time::timeout(PROBE_TIME_MAX, connecting).await {
            Ok(connection) => connection,
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        };
        // One that was reset has arrived; one that did not get there never will.
        if connection.is_err() {
            self.with(link, |_, live| live.probers().remove(&from));
        }
        connection
    }

    fn probe_datagrams(&self, link: LinkId) -> io::Result<Probe> {
        let socket = || {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
            socket.set_read_timeout(Some(RESEND))?;
            Ok::<UdpSocket, io::Error>(socket)
        };
        let _one_at_a_time = self.probing.lock().expect("nothing panics while it probes");
        let (sender, taker) = (socket()?, socket()?);
        let way = (sender.local_addr()?, taker.local_addr()?);
        let name = |way| {
            self.with(link, |_, live| {
                *live.probe.lock().expect("nothing panics while it holds the probe") = way;
            });
        };
        name(Some(way));
        let passed = self.there_and_back(link, &sender, &taker);
        name(None);
        passed
    }

    fn there_and_back(
        &self,
        link: LinkId,
        sender: &UdpSocket,
        taker: &UdpSocket,
    ) -> io::Result<Probe> {
        let until = Instant::now() + PROBE_TIME_MAX;
        let refused = self.counts(link).connections.refused;
        let mut buffer = [0; 64];
        while Instant::now() < until && self.counts(link).connections.refused == refused {
            sender.send_to(NONCE, self.listen(link))?;
            let Ok((_, relay)) = taker.recv_from(&mut buffer) else { continue };
            taker.send_to(NONCE, relay)?;
            if sender.recv(&mut buffer).is_ok_and(|count| &buffer[..count] == NONCE) {
                return Ok(Probe::Passed);
            }
        }
        Ok(Probe::Stuck)
    }
}

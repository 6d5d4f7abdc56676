//! A line to a database that breaks exactly when it hurts.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// When the line breaks, once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cut {
    /// The database never hears of the commit.
    Before,
    /// The database has done it, and nobody is told.
    After,
    /// The client is cut off; the database hears of the commit when the client has come back.
    Late,
}

/// How long the one that was cut off may take to come back.
const BACK_MAX: Duration = Duration::from_secs(10);
/// How the client says it.
const COMMIT: &[u8] = b"COMMIT";

#[derive(Default)]
struct Orders {
    next: Mutex<Option<Cut>>,
    has_cut: AtomicBool,
    connections: Mutex<usize>,
    connected: Condvar,
}

impl Orders {
    fn count(&self) -> usize {
        *self.connections.lock().expect("no panic")
    }

    fn wait_for_another(&self, known: usize) {
        let connections = self.connections.lock().expect("no panic");
        let waited = self.connected.wait_timeout_while(connections, BACK_MAX, |n| *n <= known);
        drop(waited.expect("no panic"));
    }
}

/// Passes everything on, until it is told otherwise. Its threads end with their connections.
pub struct Proxy {
    pub address: SocketAddr,
    orders: Arc<Orders>,
}

impl Proxy {
    pub fn start(database: SocketAddr) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("it has one");
        let orders = Arc::new(Orders::default());
        let known = orders.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                *known.connections.lock().expect("no panic") += 1;
                known.connected.notify_all();
                let Ok(server) = TcpStream::connect(database) else { continue };
                let twins = (client.try_clone(), server.try_clone());
                let (Ok(client_too), Ok(server_too)) = twins else { continue };
                let orders = known.clone();
                std::thread::spawn(move || forward(client, server, &orders));
                std::thread::spawn(move || copy(server_too, client_too));
            }
        });
        Proxy { address, orders }
    }

    pub fn cut_next(&self, cut: Cut) {
        self.orders.has_cut.store(false, Ordering::SeqCst);
        *self.orders.next.lock().expect("no panic") = Some(cut);
    }

    /// How often somebody came.
    pub fn connections(&self) -> usize {
        self.orders.count()
    }

    pub fn has_cut(&self) -> bool {
        self.orders.has_cut.load(Ordering::SeqCst)
    }
}

fn copy(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = [0; 65536];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _gone = to.shutdown(Shutdown::Both);
}

/// From the client to the database; the only direction in which lines are cut.
fn forward(mut client: TcpStream, mut server: TcpStream, orders: &Orders) {
    let mut buffer = [0; 65536];
    while let Ok(count @ 1..) = client.read(&mut buffer) {
        let sent = &buffer[..count];
        let is_commit = sent.windows(COMMIT.len()).any(|window| window == COMMIT);
        let cut = match is_commit {
            true => orders.next.lock().expect("no panic").take(),
            false => None,
        };
        let Some(cut) = cut else {
            if server.write_all(sent).is_err() {
                break;
            }
            continue;
        };
        // From here on the client hears nothing more.
        let connections = orders.count();
        let _gone = client.shutdown(Shutdown::Both);
        orders.has_cut.store(true, Ordering::SeqCst);
        if cut == Cut::Late {
            orders.wait_for_another(connections);
        }
        if cut != Cut::Before {
            // The database ends the connection itself once it has read the end of it.
            let _sent = server.write_all(sent);
            let _end = server.shutdown(Shutdown::Write);
            let mut rest = Vec::new();
            let _read = server.read_to_end(&mut rest);
        }
        break;
    }
    let _gone = server.shutdown(Shutdown::Both);
}

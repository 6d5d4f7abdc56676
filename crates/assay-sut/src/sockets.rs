//! The TCP connections of this machine, as the kernel tells them in `/proc/net/tcp` and `tcp6`, and
//! whose they are.

use rustix::io::Errno;
use rustix::net::netlink::SOCK_DIAG;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, socket_with};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The kernel's number for a connection that is open on both sides.
const ESTABLISHED: u8 = 1;
/// Numbers of `linux/netlink.h`, `linux/sock_diag.h` and `linux/inet_diag.h`.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const HEADER_BYTES: usize = 16;
/// Where the inode is in an answer.
const INODE_AT: usize = HEADER_BYTES + 68;
/// An answer is 72 bytes after the header, and some attributes.
const ANSWER_BYTES_MAX: usize = 4_096;
/// Characters of a command line that are shown.
const COMMAND_CHARS_MAX: usize = 60;

/// One end of an open connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Socket {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) inode: u64,
}

/// The ends of open connections. One that is being opened or closed is not among them.
pub(crate) fn established() -> io::Result<Vec<Socket>> {
    let mut sockets = parse(&std::fs::read_to_string("/proc/net/tcp")?);
    // A kernel without IPv6 has no such file.
    match std::fs::read_to_string("/proc/net/tcp6") {
        Ok(text) => sockets.extend(parse(&text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    Ok(sockets)
}

/// The inode of one end of a connection, asked of the kernel directly (`sock_diag(7)`): the tables
/// below `/proc` list every connection of the machine, thousands after a busy minute. `None` if
/// there is no such connection.
///
/// # Errors
/// This kernel does not answer such questions.
pub(crate) fn inode_of(local: SocketAddr, remote: SocketAddr) -> io::Result<Option<u64>> {
    let flags = SocketFlags::CLOEXEC;
    let asked = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, Some(SOCK_DIAG))?;
    rustix::net::send(&asked, &question(local, remote), SendFlags::empty())?;
    let mut answer = [0; ANSWER_BYTES_MAX];
    let (_, length) = rustix::net::recv(&asked, answer.as_mut_slice(), RecvFlags::empty())?;
    let word = |at: usize| {
        let bytes = answer.get(at..at + 4).filter(|_| at + 4 <= length)?;
        Some(u32::from_ne_bytes(bytes.try_into().ok()?))
    };
    let is_socket = answer[4..6] == SOCK_DIAG_BY_FAMILY.to_ne_bytes();
    match (is_socket, word(INODE_AT), word(HEADER_BYTES)) {
        (true, Some(inode), _) => Ok(Some(inode.into())),
        (false, _, Some(errno)) if errno as i32 == -Errno::NOENT.raw_os_error() => Ok(None),
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// A question for exactly one socket: a header of 16 bytes, then family, protocol, states, and the
/// socket by ports, addresses, interface and cookie.
fn question(local: SocketAddr, remote: SocketAddr) -> Vec<u8> {
    const REQUEST: u16 = 1;
    const TCP: u8 = 6;
    let family = if local.is_ipv4() { AF_INET } else { AF_INET6 };
    let mut body = vec![family, TCP, 0, 0];
    body.extend(u32::MAX.to_ne_bytes());
    for address in [local, remote] {
        body.extend(address.port().to_be_bytes());
    }
    for address in [local, remote] {
        let mut bytes = [0; 16];
        match address.ip() {
            IpAddr::V4(ip) => bytes[..4].copy_from_slice(&ip.octets()),
            IpAddr::V6(ip) => bytes = ip.octets(),
        }
        body.extend(bytes);
    }
    // Any interface, and no cookie.
    body.extend([0; 4]);
    body.extend([u8::MAX; 8]);
    let mut question = ((HEADER_BYTES + body.len()) as u32).to_ne_bytes().to_vec();
    question.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    question.extend(REQUEST.to_ne_bytes());
    question.extend([0; 8]);
    question.extend(body);
    question
}

fn parse(text: &str) -> Vec<Socket> {
    text.lines().skip(1).filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Socket> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let state = u8::from_str_radix(fields.get(3)?, 16).ok()?;
    let inode = fields.get(9)?.parse().ok()?;
    let (local, remote) = (parse_address(fields[1])?, parse_address(fields[2])?);
    (state == ESTABLISHED).then_some(Socket { local, remote, inode })
}

/// `0100007F:1F90`: words of four bytes in the byte order of the machine, and a port. An IPv4
/// address in an IPv6 socket is one of IPv4.
fn parse_address(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| {
        let word = u32::from_str_radix(host.get(at * 8..at * 8 + 8)?, 16).ok()?;
        Some(word.to_ne_bytes())
    };
    let address = match host.len() {
        8 => IpAddr::from(word(0)?),
        32 => {
            let mut bytes = [0; 16];
            for at in 0..4 {
                bytes[at * 4..at * 4 + 4].copy_from_slice(&word(at)?);
            }
            Ipv6Addr::from(bytes).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(address, port))
}

/// The processes there are.
pub(crate) fn pids() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The processes that hold these sockets, by inode. Those of other users cannot be seen.
pub(crate) fn owners(inodes: &BTreeSet<u64>) -> BTreeMap<u64, BTreeSet<u32>> {
    let mut owners: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
    for pid in pids() {
        for inode in inodes_of(pid).filter(|inode| inodes.contains(inode)) {
            owners.entry(inode).or_default().insert(pid);
        }
    }
    owners
}

/// The sockets that nodes hold, each with whose it is. `groups` are their first processes.
pub(crate) fn held_by(groups: &[Option<u32>]) -> BTreeMap<u64, usize> {
    let mut families = Families::default();
    let mut held = BTreeMap::new();
    for pid in pids() {
        let family = families.of(pid);
        let of = groups.iter().position(|group| group.is_some_and(|own| family.contains(&own)));
        if let Some(node) = of {
            held.extend(inodes_of(pid).map(|inode| (inode, node)));
        }
    }
    held
}

/// Whether a process holds a socket.
pub(crate) fn holds(pid: u32, inode: u64) -> bool {
    inodes_of(pid).any(|held| held == inode)
}

fn inodes_of(pid: u32) -> impl Iterator<Item = u64> {
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten();
    descriptors.flatten().filter_map(|descriptor| {
        let target = std::fs::read_link(descriptor.path()).ok()?;
        target.to_str().and_then(socket_inode)
    })
}

fn socket_inode(target: &str) -> Option<u64> {
    target.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// A process, its group and session, and everybody it descends from.
pub(crate) fn family(pid: u32) -> BTreeSet<u32> {
    Families::default().of(pid)
}

/// Families of many processes; each process is looked at once.
#[derive(Default)]
pub(crate) struct Families {
    /// Parent, group and session.
    known: BTreeMap<u32, [u32; 3]>,
}

impl Families {
    pub(crate) fn of(&mut self, pid: u32) -> BTreeSet<u32> {
        let mut family = BTreeSet::new();
        let mut next = pid;
        while next > 1 && family.insert(next) {
            next = self.relations(next)[0];
        }
        let [_, group, session] = self.relations(pid);
        family.extend([group, session].into_iter().filter(|id| *id > 1));
        family
    }

    fn relations(&mut self, pid: u32) -> [u32; 3] {
        *self.known.entry(pid).or_insert_with(|| read_relations(pid).unwrap_or_default())
    }
}

/// Parent, group and session of a process.
fn read_relations(pid: u32) -> Option<[u32; 3]> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything, so fields count from its last parenthesis.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(1).map_while(|field| field.parse().ok());
    Some([fields.next()?, fields.next()?, fields.next()?])
}

/// What a process runs, cut short.
pub(crate) fn command_of(pid: u32) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).replace('\0', " ");
    let text = text.trim();
    match text.char_indices().nth(COMMAND_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn lines_of_the_kernel_are_read() {
        if cfg!(target_endian = "big") {
            return;
        }
        let head = "  sl  local_address rem_address   st\n";
        let line = |local: &str, remote: &str, state: &str| {
            format!(
                "   0: {local} {remote} {state} 00000000:00000000 00:00000000 00000000 0 0 4711 1"
            )
        };
        let v6 = "0000000000000000FFFF00000100007F:1F90";
        let cases = [
            (line("0100007F:1F90", "0100007F:0050", "01"), Some("127.0.0.1:8080 127.0.0.1:80")),
            (line(v6, v6, "01"), Some("127.0.0.1:8080 127.0.0.1:8080")),
            (line("0100007F:1F90", "00000000:0000", "0A"), None),
            (line("0100007F:1F90", "0100007F:0050", "06"), None),
            (line("0100007F", "0100007F:0050", "01"), None),
            ("1: x".to_string(), None),
        ];
        for (text, expected) in cases {
            let shown = parse(&format!("{head}{text}\n")).first().map(|socket| {
                assert_eq!(socket.inode, 4711);
                format!("{} {}", socket.local, socket.remote)
            });
            assert_eq!(shown.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_connection_of_this_process_is_seen_and_known_as_its_own() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let client = TcpStream::connect(listener.local_addr().expect("bound")).expect("connected");
        let local = client.local_addr().expect("connected");
        let sockets = established().expect("the kernel tells");
        let socket = sockets.iter().find(|socket| socket.local == local).expect("it is open");
        let (client_end, server_end) = (local, listener.local_addr().expect("bound"));
        let asked = inode_of(client_end, server_end).expect("the kernel answers");
        assert_eq!(asked, Some(socket.inode));
        let nobody = SocketAddr::from(([127, 0, 0, 1], 1));
        assert_eq!(inode_of(nobody, server_end).expect("the kernel answers"), None);
        let owners = owners(&BTreeSet::from([socket.inode]));
        assert!(owners[&socket.inode].contains(&std::process::id()));
        assert!(!command_of(std::process::id()).is_empty());
        assert!(family(std::process::id()).contains(&std::process::id()));
    }
}

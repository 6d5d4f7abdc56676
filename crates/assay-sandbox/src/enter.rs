//! The process inside: confines itself, does what is asked for, says how it went, and ends.
//!
//! In a PID namespace of its own it is process 1, and all others end with it.

use crate::confine::{Confined, confine};
use crate::files;
use crate::gate;
use crate::job::{Action, End, Inside, Job, Places, Probed, Wires, receive, send};
use crate::workspace::open_below;
use assay_kernel::jail::limit_on_exec;
use rustix::fs::{OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Resource, Signal, WaitOptions, set_parent_process_death_signal, wait};
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// In scratch: where a shell says in which directory it ended.
pub(crate) const DIRECTORY_NAME: &str = ".assay-directory";
/// The longest path it may say.
const PATH_BYTES_MAX: u64 = 4096;
/// Addresses that lead nowhere, for documentation: asking the way to them sends nothing.
const ELSEWHERE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);

/// Is the process inside: reads what to do from standard input, which has to be a socket. To be
/// called by a process that does nothing else, before it has threads.
///
/// # Errors
/// If standard input is no such socket.
pub fn enter() -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let line = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let job: Job = receive(&line)?;
    let inside = match confine(&job) {
        Ok(confined) => act(&job, &confined),
        Err((doing, error)) => Inside::Failed { doing: doing.to_string(), why: error.to_string() },
    };
    send(&line, &inside)
}

fn act(job: &Job, confined: &Confined) -> Inside {
    match &job.action {
        Action::Run { argv, stdin } => run(job, &confined.seen, argv, stdin.as_deref()),
        Action::File(call) => Inside::Files(files::perform(&confined.seen, call)),
        Action::Probe => Inside::Probed(Probed {
            landlock: confined.landlock,
            has_filter: confined.has_filter,
            sees_host: std::fs::read_dir(&job.host.root).is_ok(),
            has_network: UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))
                .and_then(|socket| socket.connect((ELSEWHERE, 9)))
                .is_ok(),
        }),
    }
}

fn run(job: &Job, seen: &Places, argv: &[String], stdin: Option<&str>) -> Inside {
    let told = |end| Inside::Ended { end, directory: None };
    let Some((program, args)) = argv.split_first() else {
        return told(End::NotStarted("no program is named".to_string()));
    };
    let mut command = Command::new(program);
    command.args(args).env_clear().envs(environment(job, seen)).process_group(0);
    command.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() });
    let begin = seen.workspace.join(&job.directory);
    command.current_dir(if begin.is_dir() { &begin } else { &seen.workspace });
    limit_on_exec(&mut command, limits(job));
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return told(End::NotStarted(format!("cannot start `{program}`: {error}"))),
    };
    let feeding = feed(&mut child, stdin);
    let end = reap(&child);
    // It ends with its reader, who is gone.
    drop(feeding);
    Inside::Ended { end, directory: told_directory(seen) }
}

/// Gives a program its input, from a thread: it may be slow to read.
fn feed(child: &mut Child, input: Option<&str>) -> Option<std::thread::JoinHandle<()>> {
    let mut pipe = child.stdin.take()?;
    let input = input?.to_string();
    // A program that does not read all of it has seen enough.
    Some(std::thread::spawn(move || _ = pipe.write_all(input.as_bytes())))
}

/// Collects whoever ends, until the program does.
fn reap(child: &Child) -> End {
    let own = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if Some(pid) == own => {
                return match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => End::Exited(code),
                    (_, Some(signal)) => End::Signalled(signal),
                    _ => continue,
                };
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return End::NotStarted(format!("it was lost: {error}")),
        }
    }
}

fn limits(job: &Job) -> Vec<(Resource, u64)> {
    let most = &job.limits;
    let mut limits = vec![
        (Resource::Core, 0),
        (Resource::Cpu, most.cpu.as_secs().max(1)),
        (Resource::Fsize, most.file_bytes),
        (Resource::Nofile, most.open_files),
    ];
    if job.tier.has_root() || job.user.is_some() {
        limits.push((Resource::Nproc, most.processes));
    }
    if !job.memory_is_counted {
        limits.push((Resource::As, most.memory_bytes));
    }
    limits
}

/// What a program is told; nothing of it comes from the host.
fn environment(job: &Job, seen: &Places) -> Vec<(String, String)> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    // What programs keep at home is none of the business of whoever lends a directory.
    let home = if seen.lent.is_some() { &seen.scratch } else { &seen.workspace };
    let own = [
        ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".to_string()),
        ("HOME", text(home)),
        ("TMPDIR", text(&seen.scratch)),
        ("USER", "agent".to_string()),
        ("LANG", "C.UTF-8".to_string()),
        ("ASSAY_WORKSPACE", text(&seen.workspace)),
        ("ASSAY_UPLOADS", text(&seen.uploads)),
        ("ASSAY_OUTPUTS", text(&seen.outputs)),
    ];
    let skills = seen.skills.as_deref().map(|skills| ("ASSAY_SKILLS", text(skills)));
    let gate = (job.network == Wires::Gate).then(gate::variables).into_iter().flatten();
    let own =
        own.into_iter().chain(skills).chain(gate).map(|(name, value)| (name.to_string(), value));
    let given = job.environment.iter().map(|(name, value)| (name.clone(), value.clone()));
    own.chain(given).collect()
}

/// The directory below the workspace in which a shell ended, if it said one. The file is written
/// by somebody who is not trusted: it may be anything.
fn told_directory(seen: &Places) -> Option<PathBuf> {
    let scratch = File::open(&seen.scratch).ok()?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let name = Path::new(DIRECTORY_NAME);
    let file = open_below(&scratch, name, flags, ResolveFlags::NO_SYMLINKS).ok()?;
    file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let mut text = String::new();
    file.take(PATH_BYTES_MAX).read_to_string(&mut text).ok()?;
    let path = Path::new(text.strip_suffix('\n')?);
    let below = path.strip_prefix(&seen.workspace).ok()?;
    let plain = |part| matches!(part, std::path::Component::Normal(_));
    below.components().all(plain).then(|| below.to_path_buf())
}

//! `processes.jsonl`: every process that was started, so that none outlives its run.
//!
//! A killed Assay cannot clean up after itself. So each node stands in this file from the moment it
//! has a number, and is crossed out when it has ended. Whoever comes later kills what is left, and
//! only that: a number counts together with the moment its process started, and with this start of
//! the machine. What a node has started has no line here, nor has a client: they carry a [`Mark`],
//! which is written down before the first of them begins, and `stragglers` finds them by it. The
//! writer holds a lock, which tells a run that is going on from one that was killed. Field by
//! field: docs/formats/system.md.

use crate::stragglers::Traces;
use assay_nemesis::{Process, ProcessError, ProcessState, lock_file};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The name of the file in a run directory.
pub const PROCESSES_NAME: &str = "processes.jsonl";
/// A node has two lines for each start; a file that is larger is something else.
const BYTES_MAX: u64 = 16 << 20;

/// The variable by which processes of a cluster are known.
pub(crate) const MARK_VARIABLE: &str = "ASSAY_TRIAL";

/// What every process of a cluster has in its environment, and hands on to those it starts. No
/// two clusters of one start of the machine have the same.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Mark(pub(crate) String);

impl Mark {
    pub(crate) fn variable(&self) -> (&'static str, OsString) {
        (MARK_VARIABLE, OsString::from(&self.0))
    }
}

/// A line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case", deny_unknown_fields)]
enum Entry {
    /// A cluster begins; what it starts carries this mark.
    Opened { mark: Mark, boot: Option<String> },
    /// A node has a process. It leads a process group of its own.
    Started { node: String, pid: u32, start_ticks: u64, boot: Option<String> },
    /// It has ended.
    Ended { node: String, pid: u32, start_ticks: u64 },
}

/// The file, while a cluster runs.
#[derive(Debug)]
pub(crate) struct Processes {
    file: File,
    boot: Option<String>,
    mark: Mark,
    /// Where the file lies, and all that its processes work with.
    directory: PathBuf,
}

impl Processes {
    /// Opens the file to write to it, and kills what an earlier writer has left.
    pub(crate) fn open(path: &Path) -> io::Result<Processes> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let (file, entries) = lock(options.open(path)?, path)?;
        let mut processes = Processes::of(file, path)?;
        processes.reap(&entries)?;
        let (mark, boot) = (processes.mark(), processes.boot.clone());
        processes.append(&Entry::Opened { mark, boot })?;
        Ok(processes)
    }

    fn of(file: File, path: &Path) -> io::Result<Processes> {
        let us = Process::of(std::process::id()).map_err(io::Error::other)?;
        // A file is one cluster's at a time, and one process opens the same file twice only after
        // it has reaped.
        let of = file.metadata()?;
        let mark = format!("{}-{}-{}-{}", us.pid, us.start_ticks, of.dev(), of.ino());
        let directory = path.canonicalize()?.parent().map(Path::to_path_buf).unwrap_or_default();
        Ok(Processes { file, boot: boot_id(), mark: Mark(mark), directory })
    }

    /// What everything that is started has to carry.
    pub(crate) fn mark(&self) -> Mark {
        self.mark.clone()
    }

    pub(crate) fn started(&mut self, node: &str, process: Process) -> io::Result<()> {
        let (node, boot) = (node.to_string(), self.boot.clone());
        let Process { pid, start_ticks } = process;
        self.append(&Entry::Started { node, pid, start_ticks, boot })
    }

    pub(crate) fn ended(&mut self, node: &str, process: Process) -> io::Result<()> {
        let Process { pid, start_ticks } = process;
        self.append(&Entry::Ended { node: node.to_string(), pid, start_ticks })
    }

    fn append(&mut self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        self.file.write_all(&line)?;
        self.file.sync_data()
    }

    fn reap(&mut self, entries: &[Entry]) -> io::Result<Vec<String>> {
        let mut lines = Vec::new();
        for (process, (node, boot)) in left(entries) {
            let same_boot = boot.is_some() && boot == self.boot;
            let pid = process.pid;
            let line = match same_boot {
                false => format!("{node}, process {pid}: the machine was started anew since"),
                true if reap_one(&process)? => format!("{node}, process {pid}: killed"),
                true => format!("{node}, process {pid}: had ended"),
            };
            self.ended(&node, process)?;
            lines.push(line);
        }
        let traces = self.traces(entries);
        lines.extend(traces.kill_all()?);
        Ok(lines)
    }

    /// How processes that have no line of their own are known.
    fn traces(&self, entries: &[Entry]) -> Traces {
        let mut traces = Traces::below(&self.directory);
        for entry in entries {
            match entry {
                Entry::Opened { mark, boot } if *boot == self.boot => traces.mark(mark.clone()),
                Entry::Started { node, pid, boot, .. } if *boot == self.boot => {
                    traces.group(*pid, node);
                }
                _ => {}
            }
        }
        traces
    }
}

/// Kills the processes a killed Assay has left, and says what it did. Processes of others that have
/// got the same number since are not touched.
///
/// # Errors
/// If the file cannot be read, the run is still going on, or a process cannot be killed.
pub fn reap_orphans(path: &Path) -> io::Result<Vec<String>> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let (file, entries) = lock(file, path)?;
    Processes::of(file, path)?.reap(&entries)
}

/// Locks the file, reads it, and cuts off a last line that was cut short.
fn lock(mut file: File, path: &Path) -> io::Result<(File, Vec<Entry>)> {
    lock_file(&file).map_err(|error| match error.kind() {
        io::ErrorKind::ResourceBusy => {
            let message = format!("{}: in use: the run is still going on", path.display());
            io::Error::new(io::ErrorKind::ResourceBusy, message)
        }
        _ => error,
    })?;
    let mut bytes = Vec::new();
    (&mut file).take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    let bad = |what: String| {
        let message = format!("{}: {what}", path.display());
        io::Error::new(io::ErrorKind::InvalidData, message)
    };
    if bytes.len() as u64 > BYTES_MAX {
        return Err(bad(format!("larger than {BYTES_MAX} bytes: not a list of processes")));
    }
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let mut entries = Vec::new();
    for (i, line) in bytes[..whole].split(|byte| *byte == b'\n').enumerate() {
        if !line.is_empty() {
            let entry = serde_json::from_slice(line);
            entries.push(entry.map_err(|error| bad(format!("line {}: {error}", i + 1)))?);
        }
    }
    file.set_len(whole as u64)?;
    file.seek(SeekFrom::Start(whole as u64))?;
    Ok((file, entries))
}

/// What was started and did not end, with its node and start of the machine.
fn left(entries: &[Entry]) -> BTreeMap<Process, (String, Option<String>)> {
    let mut left = BTreeMap::new();
    for entry in entries {
        match entry.clone() {
            Entry::Opened { .. } => {}
            Entry::Started { node, pid, start_ticks, boot } => {
                left.insert(Process { pid, start_ticks }, (node, boot));
            }
            Entry::Ended { pid, start_ticks, .. } => {
                left.remove(&Process { pid, start_ticks });
            }
        }
    }
    left
}

/// Kills a process and its group; whether it was still there.
fn reap_one(process: &Process) -> io::Result<bool> {
    if process.state().map_err(io::Error::other)? == ProcessState::Gone {
        return Ok(false);
    }
    kill_group(process).map_err(io::Error::other)?;
    Ok(true)
}

/// Kills a process that leads a group, and the group with it, and waits until all of them are gone.
/// While the leader lives its number, and with it that of the group, belongs to nobody else.
pub(crate) fn kill_group(process: &Process) -> Result<(), ProcessError> {
    let mut others = Vec::new();
    if process.state()? != ProcessState::Gone
        && let Some(group) = i32::try_from(process.pid).ok().and_then(Pid::from_raw)
    {
        // Not a group leader, or ended meanwhile: then the process itself is all there is.
        if kill_process_group(group, Signal::KILL).is_ok() {
            others = Process::of_group(process.pid)?;
        }
    }
    for one in [*process].iter().chain(&others) {
        match one.kill() {
            Ok(()) | Err(ProcessError::NoSuchProcess { .. }) => {}
            failed => return failed,
        }
    }
    Ok(())
}

fn boot_id() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    #[test]
    fn only_the_process_that_was_started_is_killed() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join(PROCESSES_NAME);
        let sleeper = || Command::new("sleep").arg("600").process_group(0).spawn().expect("sleep");
        let (mut ours, mut other) = (sleeper(), sleeper());
        let process = Process::of(ours.id()).expect("it runs");
        let stranger = Process::of(other.id()).expect("it runs");
        let mut open = Processes::open(&path).expect("a new file");
        open.started("n1", process).expect("written");
        // The same number with another start is somebody else.
        let reused = Process { start_ticks: stranger.start_ticks + 1, ..stranger };
        open.started("n2", reused).expect("written");
        let busy = reap_orphans(&path).expect_err("the writer lives");
        assert!(busy.to_string().contains("still going on"), "{busy}");
        drop(open);
        let mut torn = OpenOptions::new().append(true).open(&path).expect("it is there");
        torn.write_all(b"{\"event\":\"sta").expect("written");
        let mut lines = reap_orphans(&path).expect("nobody holds it");
        lines.sort();
        assert!(lines[0].starts_with("n1, process") && lines[0].ends_with(": killed"), "{lines:?}");
        assert!(lines[1].ends_with(": had ended"), "{lines:?}");
        assert_eq!(process.state().expect("readable"), ProcessState::Gone);
        assert_eq!(stranger.state().expect("readable"), ProcessState::Alive);
        assert_eq!(reap_orphans(&path).expect("twice is no mistake"), Vec::<String>::new());
        ours.wait().expect("it was killed");
        other.kill().and_then(|()| other.wait()).expect("it was alive");
    }

    #[test]
    fn a_group_is_gone_with_its_leader() {
        let many = "for i in 1 2 3 4 5 6 7 8; do sleep 600 & done; echo ready; wait";
        let mut leader = Command::new("sh");
        leader.args(["-c", many]).process_group(0).stdout(Stdio::piped());
        let mut leader = leader.spawn().expect("a shell");
        let mut ready = [0; 6];
        leader.stdout.as_mut().expect("piped").read_exact(&mut ready).expect("it says so");
        let process = Process::of(leader.id()).expect("it runs");
        assert_eq!(Process::of_group(leader.id()).expect("listed").len(), 9);
        kill_group(&process).expect("they may be killed");
        assert_eq!(Process::of_group(leader.id()).expect("listed"), []);
        leader.wait().expect("it was killed");
    }

    /// A shell with two children that ignore SIGHUP, once both of them run.
    fn keeper(directory: &Path, environment: &str, mark: Option<&Mark>) -> std::process::Child {
        let many = "trap '' HUP; sleep 600 & sleep 600 & echo ready; wait";
        let mut leader = Command::new("env");
        leader.args([environment, "sh", "-c", many]).process_group(0).stdout(Stdio::piped());
        leader.envs(mark.map(Mark::variable)).current_dir(directory);
        let mut leader = leader.spawn().expect("a shell");
        let mut ready = [0; 6];
        leader.stdout.as_mut().expect("piped").read_exact(&mut ready).expect("it says so");
        leader
    }

    #[test]
    fn a_group_is_gone_also_if_its_leader_went_first() {
        // By what it carries, wherever it went; and by its group and place, whatever it carries.
        for (environment, elsewhere) in [("A=1", true), ("-i", false)] {
            let directory = tempfile::tempdir().expect("a directory");
            let path = directory.path().join(PROCESSES_NAME);
            let mut open = Processes::open(&path).expect("a new file");
            let place = if elsewhere { Path::new("/") } else { directory.path() };
            let mut leader = keeper(place, environment, Some(&open.mark()));
            let process = Process::of(leader.id()).expect("it runs");
            open.started("n1", process).expect("written");
            drop(open);
            leader.kill().and_then(|()| leader.wait()).expect("our own child");
            assert_eq!(Process::of_group(process.pid).expect("listed").len(), 2);
            let lines = reap_orphans(&path).expect("nobody holds it");
            assert_eq!(Process::of_group(process.pid).expect("listed"), [], "{lines:?}");
            let killed = lines.iter().filter(|line| line.ends_with(": killed")).count();
            assert_eq!(killed, 2, "{lines:?}");
            assert_eq!(reap_orphans(&path).expect("twice is no mistake"), Vec::<String>::new());
        }
    }

    #[test]
    fn what_was_started_and_has_no_line_yet_is_killed_and_a_visitor_is_not() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join(PROCESSES_NAME);
        let open = Processes::open(&path).expect("a new file");
        let mut ours = keeper(Path::new("/"), "A=1", Some(&open.mark()));
        let mut visitor = keeper(directory.path(), "A=1", None);
        drop(open);
        assert_eq!(reap_orphans(&path).expect("nobody holds it").len(), 3);
        assert_eq!(Process::of_group(ours.id()).expect("listed"), []);
        assert_eq!(Process::of_group(visitor.id()).expect("listed").len(), 3);
        ours.wait().expect("it was killed");
        kill_group(&Process::of(visitor.id()).expect("it runs")).expect("it may be killed");
        visitor.wait().expect("it was killed");
    }

    #[test]
    fn a_file_of_something_else_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("p");
        std::fs::write(&path, "{}\n").expect("written");
        let error = reap_orphans(&path).expect_err("not a list");
        assert!(error.to_string().contains("line 1"), "{error}");
        assert!(reap_orphans(&directory.path().join("none")).is_err());
    }
}

//! Processes of a killed run that have no line in its account.
//!
//! The leader of a node has one. What it started may outlive it: the kernel hangs up on a stopped
//! group that has lost its parent, a shell ends by that, and a server that ignores it stays. A
//! client has none, nor has a node that Assay was just about to enter when it was killed. They are
//! known by the mark in their environment. Some servers write their title over it: those are known
//! by the group of a node together with a place below the directory of the run. Whoever only stands
//! there, as the shell of somebody who has come to look does, is not ours.

use crate::processes::{MARK_VARIABLE, Mark};
use assay_nemesis::{ListedProcess, Process, ProcessError};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// How often it is looked for what was started while others were being killed.
const ROUNDS_MAX: usize = 16;
/// Where a process works, what it says and what it complains of, as links below `/proc/PID`.
const PLACES: [&str; 3] = ["cwd", "fd/1", "fd/2"];

/// How processes of a run are known.
#[derive(Debug)]
pub(crate) struct Traces {
    directory: PathBuf,
    marks: BTreeSet<Mark>,
    /// Groups of nodes, by number.
    groups: BTreeMap<u32, String>,
}

impl Traces {
    /// Of a run whose nodes work below this directory.
    pub(crate) fn below(directory: &Path) -> Traces {
        let directory = directory.to_path_buf();
        Traces { directory, marks: BTreeSet::new(), groups: BTreeMap::new() }
    }

    /// What carries this mark is of the run.
    pub(crate) fn mark(&mut self, mark: Mark) {
        self.marks.insert(mark);
    }

    /// A node leads, or led, this group.
    pub(crate) fn group(&mut self, group: u32, node: &str) {
        self.groups.insert(group, node.to_string());
    }

    /// Kills all of them and what they have started, and says whom.
    pub(crate) fn kill_all(&self) -> io::Result<Vec<String>> {
        let mut lines = Vec::new();
        if self.marks.is_empty() && self.groups.is_empty() {
            return Ok(lines);
        }
        for _ in 0..ROUNDS_MAX {
            let found = self.find().map_err(io::Error::other)?;
            if found.is_empty() {
                return Ok(lines);
            }
            for ListedProcess { process, group, .. } in found {
                let of = self.groups.get(&group).map_or("started by the run", String::as_str);
                match process.kill() {
                    Ok(()) => lines.push(format!("{of}, process {}: killed", process.pid)),
                    Err(ProcessError::NoSuchProcess { .. }) => {}
                    Err(error) => return Err(io::Error::other(error)),
                }
            }
        }
        let message = format!(
            "{}: its processes start new ones faster than they are killed; end them yourself \
             ({MARK_VARIABLE} in their environment is {:?})",
            self.directory.display(),
            self.marks.iter().map(|mark| &mark.0).collect::<Vec<&String>>()
        );
        Err(io::Error::other(message))
    }

    fn find(&self) -> Result<Vec<ListedProcess>, ProcessError> {
        let mut others = Process::list()?;
        let us = ancestors(&others);
        others.retain(|listed| !us.contains(&listed.process.pid));
        let (mut ours, mut others): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|listed| self.is_ours(listed));
        // With their children, and the children of those.
        loop {
            let parents: BTreeSet<u32> = ours.iter().map(|listed| listed.process.pid).collect();
            let (children, rest): (Vec<_>, Vec<_>) =
                others.into_iter().partition(|listed| parents.contains(&listed.parent));
            if children.is_empty() {
                return Ok(ours);
            }
            ours.extend(children);
            others = rest;
        }
    }

    fn is_ours(&self, listed: &ListedProcess) -> bool {
        let proc = PathBuf::from(format!("/proc/{}", listed.process.pid));
        // What may not be looked at, or has ended meanwhile, says nothing.
        let environment = std::fs::read(proc.join("environ")).unwrap_or_default();
        let value = |entry: &[u8]| -> Option<Mark> {
            let value = entry.strip_prefix(MARK_VARIABLE.as_bytes())?.strip_prefix(b"=")?;
            Some(Mark(String::from_utf8_lossy(value).into_owned()))
        };
        let mut carried = environment.split(|byte| *byte == 0).filter_map(value);
        if carried.any(|mark| self.marks.contains(&mark)) {
            return true;
        }
        let is_below = |place: &str| {
            std::fs::read_link(proc.join(place)).is_ok_and(|at| at.starts_with(&self.directory))
        };
        self.groups.contains_key(&listed.group) && PLACES.into_iter().any(is_below)
    }
}

/// This process and those that started it: whoever heals is never a part of what is healed.
fn ancestors(all: &[ListedProcess]) -> BTreeSet<u32> {
    let parents: BTreeMap<u32, u32> =
        all.iter().map(|listed| (listed.process.pid, listed.parent)).collect();
    let mut line = BTreeSet::new();
    let mut next = Some(std::process::id());
    while let Some(pid) = next.filter(|pid| line.insert(*pid)) {
        next = parents.get(&pid).copied();
    }
    line
}

//! Groups that somebody who was killed left: found by the name of their run, and removed.

use super::REMOVE_TIME_MAX;
use super::error::{CgroupError, at};
use super::freezer::{order, settle};
use super::group::run_name;
use super::hierarchy::{Hierarchies, Version};
use super::place::lift;
use super::probe::PROBE_PREFIX;
use crate::hold::{Hold, hold_directory};
use crate::wait::wait_for;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How deep groups are looked for: whoever left them may have been elsewhere in the hierarchy.
const DEPTH_MAX: usize = 16;

/// The groups of a run that are still there, in all hierarchies, in the order in which they can be
/// removed.
pub fn leftovers(run: &Path) -> Result<Vec<PathBuf>, CgroupError> {
    let (name, mut found) = (run_name(run), Vec::new());
    for top in Hierarchies::here()?.tops() {
        search(&top, &|of| of == name, DEPTH_MAX, &mut found);
    }
    Ok(found)
}

fn search(
    group: &Path,
    is_wanted: &dyn Fn(&str) -> bool,
    depth_left: usize,
    found: &mut Vec<PathBuf>,
) {
    if depth_left == 0 {
        return;
    }
    for below in groups_below(group) {
        if below.file_name().and_then(|of| of.to_str()).is_some_and(is_wanted) {
            found.extend(groups_below(&below));
            found.push(below);
        } else {
            search(&below, is_wanted, depth_left - 1, found);
        }
    }
}

/// By name. What cannot be read is not ours, or is gone.
fn groups_below(group: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(group).into_iter().flatten().flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut below: Vec<PathBuf> = directories.map(|entry| entry.path()).collect();
    below.sort();
    below
}

/// Removes what [`leftovers`] finds and says line by line what became of it. Nobody is ended:
/// processes are thawed, freed of their limits, and moved to where the group was made.
pub fn clear(run: &Path) -> Vec<Result<String, String>> {
    match leftovers(run) {
        Ok(found) => found.iter().map(|group| clear_group(group, &run_name(run))).collect(),
        Err(error) => vec![Err(error.to_string())],
    }
}

/// Removes the groups of probes that were killed, and says line by line what became of them. Those
/// of a probe that is going on are left alone.
pub fn clear_probes() -> Vec<Result<String, String>> {
    let Ok(hierarchies) = Hierarchies::here() else { return Vec::new() };
    let _alone = one_at_a_time(&hierarchies);
    let mut found = Vec::new();
    for top in hierarchies.tops() {
        search(&top, &|of| of.starts_with(PROBE_PREFIX), DEPTH_MAX, &mut found);
    }
    let mut lines = Vec::new();
    for group in found {
        let held = hold_directory(&group);
        // Groups of others cannot be opened or removed.
        let Ok(Hold::Ours(_held)) = held else { continue };
        let is_in_use = groups_below(&group)
            .iter()
            .any(|below| matches!(hold_directory(below), Ok(Hold::Theirs)));
        if is_in_use {
            continue;
        }
        let cleared = clear_group(&group, PROBE_PREFIX);
        // A probe that had not held its group yet has removed it meanwhile: nothing is left.
        if cleared.is_ok() || group.exists() {
            lines.push(cleared);
        }
    }
    lines
}

/// Held by whoever makes a group for a probe until it is seen to be in use, and by whoever removes
/// those that are not: between the two it looks like one that was left. Not for ever: who was
/// stopped in between must not stop all others, and what comes of that is an error, not a mistake.
pub(super) fn one_at_a_time(hierarchies: &Hierarchies) -> Option<std::fs::File> {
    let top = hierarchies.tops().into_iter().next()?;
    wait_for(REMOVE_TIME_MAX, || match hold_directory(&top) {
        Ok(Hold::Ours(held)) => Some(Some(held)),
        Ok(Hold::Theirs) => None,
        Ok(Hold::Gone) | Err(_) => Some(None),
    })
    .flatten()
}

/// Thaws the group of a node and lifts its limits, and lets it stay; says in how many hierarchies
/// it was there. This is how another process undoes what [`Group`](super::Group) did.
pub fn free(run: &Path, node: &str) -> Result<usize, CgroupError> {
    let found = leftovers(run)?;
    let of_node = found.iter().filter(|group| group.file_name().is_some_and(|name| name == node));
    of_node.map(|group| let_go(group)).try_fold(0, |count, freed| freed.map(|()| count + 1))
}

fn let_go(group: &Path) -> Result<(), CgroupError> {
    for (version, file) in [(Version::V1, "freezer.state"), (Version::V2, "cgroup.freeze")] {
        if group.join(file).exists() {
            order(group, version, false)?;
            settle(group, version, false)?;
        }
    }
    lift(group)
}

fn clear_group(group: &Path, run: &str) -> Result<String, String> {
    let cleared = || {
        let_go(group)?;
        let moved = move_out(group, run)?;
        remove_directory(group, REMOVE_TIME_MAX)?;
        Ok::<usize, CgroupError>(moved)
    };
    let shown = group.display();
    match cleared() {
        Ok(0) => Ok(format!("{shown}: removed")),
        Ok(moved) => Ok(format!("{shown}: removed; {moved} processes run on without it")),
        Err(error) => Err(error.to_string()),
    }
}

/// Moves all processes to the group in which that of the run was made.
fn move_out(group: &Path, run: &str) -> Result<usize, CgroupError> {
    let is_run = |name: &str| name == run || (run == PROBE_PREFIX && name.starts_with(run));
    let of_run = group
        .ancestors()
        .find(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_run));
    let Some(outside) = of_run.and_then(Path::parent) else { return Ok(0) };
    let mut door = outside.join("cgroup.procs");
    let mut moved = 0;
    // Those that are started while others are moved are moved in the next round.
    let emptied = wait_for(REMOVE_TIME_MAX, || {
        let pids = match pids_in(group) {
            Ok(pids) if pids.is_empty() => return Some(Ok(())),
            Ok(pids) => pids,
            Err(error) => return Some(Err(error)),
        };
        for pid in pids {
            match std::fs::write(&door, pid.to_string()) {
                Ok(()) => moved += 1,
                // ESRCH: it has ended.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                // Version 2: who gives controllers to others has no processes. Where this process
                // is, there is room for more.
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    let own = Hierarchies::here().ok().and_then(|all| all.own_v2());
                    let next = own.map(|own| own.join("cgroup.procs"));
                    match next.filter(|next| *next != door) {
                        Some(next) => door = next,
                        None => return Some(Err(at(&door, "move a process to")(error))),
                    }
                }
                Err(error) => return Some(Err(at(&door, "move a process to")(error))),
            }
        }
        None
    });
    emptied.unwrap_or_else(|| Err(in_use(group)))?;
    Ok(moved)
}

/// The processes in a group.
pub(super) fn pids_in(group: &Path) -> Result<Vec<u32>, CgroupError> {
    let path = group.join("cgroup.procs");
    let text = std::fs::read_to_string(&path).map_err(at(&path, "read"))?;
    Ok(text.lines().filter_map(|line| line.trim().parse().ok()).collect())
}

fn in_use(group: &Path) -> CgroupError {
    let pids = pids_in(group).unwrap_or_default();
    CgroupError::InUse { path: group.to_path_buf(), pids }
}

/// Removes an empty group; one whose last process is just ending takes a moment.
pub(super) fn remove_directory(group: &Path, time_max: Duration) -> Result<(), CgroupError> {
    let removed = wait_for(time_max, || match std::fs::remove_dir(group) {
        Err(error) if error.kind() == io::ErrorKind::ResourceBusy => None,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(Ok(())),
        result => Some(result.map_err(at(group, "remove"))),
    });
    removed.unwrap_or_else(|| Err(in_use(group)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// A group of version 2 in which no process may be, as most are below which a run has groups.
    #[test]
    fn processes_leave_a_group_whose_parent_takes_none() {
        let all = Hierarchies::here().expect("readable");
        let Some(top) = all.own_v2() else { return };
        let read = |name: &str| std::fs::read_to_string(top.join(name)).unwrap_or_default();
        let (known, given) = (read("cgroup.controllers"), read("cgroup.subtree_control"));
        let outer = top.join(format!("assay-outer-{}", std::process::id()));
        let group = outer.join("assay-of-a-run/n1");
        // Groups of processes without a controller are never full.
        let Some(name) = known.split_whitespace().next().filter(|name| {
            let on = |path: &Path| std::fs::write(path, format!("+{name}")).is_ok();
            on(&top.join("cgroup.subtree_control"))
                && std::fs::create_dir_all(&group).is_ok()
                && on(&outer.join("cgroup.subtree_control"))
        }) else {
            eprintln!("SKIPPED: no controller of version 2 can be had here");
            return;
        };
        let mut child = Command::new("sleep").arg("600").spawn().expect("sleep can be started");
        let pid = child.id().to_string();
        std::fs::write(group.join("cgroup.procs"), &pid).expect("it can be moved");
        let refused = std::fs::write(outer.join("cgroup.procs"), &pid);
        assert!(refused.is_err(), "this is what the test is about");
        let cleared = clear_group(&group, "assay-of-a-run");
        child.kill().expect("it runs");
        child.wait().expect("it is gone");
        remove_directory(&group, REMOVE_TIME_MAX).expect("it is empty");
        for path in [group.parent().expect("that of the run"), outer.as_path()] {
            remove_directory(path, REMOVE_TIME_MAX).expect("it is empty");
        }
        if !given.split_whitespace().any(|one| one == name) {
            let _in_use = std::fs::write(top.join("cgroup.subtree_control"), format!("-{name}"));
        }
        assert!(cleared.as_ref().is_ok_and(|said| said.contains("1 processes")), "{cleared:?}");
    }
}

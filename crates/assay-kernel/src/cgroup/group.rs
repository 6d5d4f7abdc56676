//! A group of processes in all hierarchies that could be used.

use super::choice::{Ground, Taken, choose};
use super::error::{CgroupError, at};
use super::hierarchy::{Hierarchies, Hierarchy, Version};
use super::leftovers::{pids_in, remove_directory};
use super::place::{Place, lift};
use super::{Controller, REMOVE_TIME_MAX};
use crate::paths::whole;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long the name of a node may be: directories take no more than 255 bytes.
const NAME_BYTES_MAX: usize = 100;

/// A group of processes. When this is dropped the group is thawed and its limits are lifted, and it
/// is removed if it is empty.
#[derive(Debug)]
pub struct Group {
    run: PathBuf,
    node: String,
    places: BTreeMap<Controller, Place>,
    /// Why the others are not there.
    absent: BTreeMap<Controller, String>,
}

/// The name of all groups of a run: the path itself may be long and hold anything.
pub(super) fn run_name(run: &Path) -> String {
    let path = whole(run);
    // FNV-1a: the same in every version of this program, which a heal by another needs.
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let bytes = path.as_os_str().as_encoded_bytes();
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, step);
    format!("assay-{hash:016x}")
}

impl Group {
    /// Makes a group for a node of a run, in every hierarchy that takes it. An error only if none
    /// does; what cannot be limited here is said when it is asked for.
    pub fn make(run: &Path, node: &str) -> Result<Group, CgroupError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let fits = (1..=NAME_BYTES_MAX).contains(&node.len()) && !node.starts_with('.');
        if !(fits && node.bytes().all(plain)) {
            return Err(CgroupError::BadName { name: node.to_string() });
        }
        Group::make_in(&Hierarchies::here()?, &whole(run), &run_name(run), node)
    }

    /// A group of a probe, whose name says so: it belongs to no run.
    pub(super) fn of_probe(name: &str) -> Result<Group, CgroupError> {
        Group::make_in(&Hierarchies::here()?, Path::new(name), name, "probe")
    }

    fn make_in(
        hierarchies: &Hierarchies,
        run: &Path,
        name: &str,
        node: &str,
    ) -> Result<Group, CgroupError> {
        let (places, absent) = (BTreeMap::new(), BTreeMap::new());
        let mut group = Group { run: run.to_path_buf(), node: node.to_string(), places, absent };
        let (mut first, mut in_v2) = (None, None::<(&Hierarchy, Vec<Controller>)>);
        let mut refused = |group: &mut Group, controller, error: CgroupError| {
            group.absent.insert(controller, error.to_string());
            first.get_or_insert(error);
        };
        for controller in Controller::ALL {
            match hierarchies.with(controller) {
                Ok(v2) if v2.version == Version::V2 => {
                    in_v2.get_or_insert_with(|| (v2, Vec::new())).1.push(controller);
                }
                found => match found.and_then(|found| place_v1(found, name, node)) {
                    Ok(place) => _ = group.places.insert(controller, place),
                    Err(error) => refused(&mut group, controller, error),
                },
            }
        }
        if let Some((v2, wanted)) = in_v2 {
            let mut ground = Kernel { run: name, node, made: BTreeSet::new() };
            let (parent, taken) = choose(&mut ground, (&v2.own, &v2.top), &wanted);
            let place = Place { version: v2.version, directory: parent.join(name).join(node) };
            for (controller, taken) in taken {
                match taken {
                    Ok(()) => _ = group.places.insert(controller, place.clone()),
                    Err(error) => refused(&mut group, controller, error),
                }
            }
        }
        // A process is in one group of version 2: with two, limits would be on one that is empty.
        let v2 = group.places.values().filter(|place| place.version == Version::V2);
        assert!(v2.map(|place| &place.directory).collect::<BTreeSet<_>>().len() <= 1);
        match (group.places.is_empty(), first) {
            (true, Some(error)) => Err(error),
            _ => Ok(group),
        }
    }

    /// The directory of the run it was made for.
    pub fn run(&self) -> &Path {
        &self.run
    }

    /// The node it was made for.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// Puts a running process into the group; children it starts from now on are in it as well.
    /// Memory it already has stays where it was counted.
    pub fn add(&self, pid: u32) -> Result<(), CgroupError> {
        for directory in self.directories() {
            let path = directory.join("cgroup.procs");
            std::fs::write(&path, pid.to_string()).map_err(at(&path, "put a process into"))?;
        }
        Ok(())
    }

    /// The processes in it.
    pub fn pids(&self) -> Result<Vec<u32>, CgroupError> {
        let mut pids = BTreeSet::new();
        for directory in self.directories() {
            pids.extend(pids_in(&directory)?);
        }
        Ok(pids.into_iter().collect())
    }

    /// What it can be limited in, and by which version.
    pub fn controllers(&self) -> Vec<(Controller, Version)> {
        self.places.iter().map(|(controller, place)| (*controller, place.version)).collect()
    }

    /// Removes it. It has to be empty: nobody is ended here.
    pub fn remove(self) -> Result<(), CgroupError> {
        self.directories().iter().try_for_each(|directory| {
            remove_directory(directory, REMOVE_TIME_MAX)?;
            remove_parent(directory);
            Ok(())
        })
    }

    /// Its directories, each once.
    pub(super) fn directories(&self) -> BTreeSet<PathBuf> {
        self.places.values().map(|place| place.directory.clone()).collect()
    }

    pub(super) fn place(&self, controller: Controller) -> Result<&Place, CgroupError> {
        self.places.get(&controller).ok_or_else(|| {
            let why = self.absent.get(&controller).cloned().unwrap_or_default();
            CgroupError::Absent { controller, why }
        })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _unthawed = self.thaw();
        for directory in self.directories() {
            let _limited = lift(&directory);
            if remove_directory(&directory, Duration::ZERO).is_ok() {
                remove_parent(&directory);
            }
        }
    }
}

/// The group of the run goes with the last of its nodes.
fn remove_parent(directory: &Path) {
    if let Some(parent) = directory.parent() {
        let _others_left = std::fs::remove_dir(parent);
    }
}

fn place_v1(hierarchy: &Hierarchy, run: &str, node: &str) -> Result<Place, CgroupError> {
    let directory = hierarchy.own.join(run).join(node);
    std::fs::create_dir_all(&directory).map_err(at(&directory, "make"))?;
    Ok(Place { version: hierarchy.version, directory })
}

/// The groups of version 2 that this machine has.
struct Kernel<'k> {
    run: &'k str,
    node: &'k str,
    /// Groups of the node that were not there before.
    made: BTreeSet<PathBuf>,
}

impl Ground for Kernel<'_> {
    fn take(&mut self, parent: &Path, wanted: &[Controller]) -> Taken {
        let of_run = parent.join(self.run);
        let directory = of_run.join(self.node);
        if !directory.exists() {
            self.made.insert(directory.clone());
        }
        let one = |controller: &Controller| {
            let (_, name) = controller.names();
            let given = || {
                name.map_or(Ok(()), |name| switch_on(parent, name))?;
                std::fs::create_dir_all(&of_run).map_err(at(&of_run, "make"))?;
                name.map_or(Ok(()), |name| switch_on(&of_run, name))?;
                std::fs::create_dir_all(&directory).map_err(at(&directory, "make"))
            };
            (*controller, given())
        };
        let taken = wanted.iter().map(one).collect();
        if !directory.exists() {
            let _others_left = std::fs::remove_dir(&of_run);
        }
        taken
    }

    fn leave(&mut self, parent: &Path) {
        let directory = parent.join(self.run).join(self.node);
        if self.made.remove(&directory) {
            let _never_made = std::fs::remove_dir(&directory);
            remove_parent(&directory);
        }
    }
}

/// Lets the groups below one have a controller.
fn switch_on(group: &Path, controller: &str) -> Result<(), CgroupError> {
    let path = group.join("cgroup.subtree_control");
    let now = std::fs::read_to_string(&path).map_err(at(&path, "read"))?;
    if now.split_whitespace().any(|on| on == controller) {
        return Ok(());
    }
    std::fs::write(&path, format!("+{controller}")).map_err(at(&path, "switch a controller on in"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_a_run_have_the_same_name_in_every_version_of_this_program() {
        assert_eq!(run_name(Path::new("/no/such/run")), "assay-7e8609d90fcb1b3f");
        assert_ne!(run_name(Path::new("/no/such/run2")), run_name(Path::new("/no/such/run")));
    }

    /// Most machines that have version 1 have a version 2 without controllers beside it; its
    /// freezer is there all the same, so what is not said by version 1 is tried for real.
    #[test]
    fn the_freezer_of_version_2_freezes_a_real_process() {
        let only_v2 = Hierarchies::here().expect("readable").without_v1();
        let run = PathBuf::from(format!("/no/such/run/{}", std::process::id()));
        let group = match Group::make_in(&only_v2, &run, &run_name(&run), "n1") {
            Ok(group) => group,
            Err(error) => {
                eprintln!("SKIPPED: no version 2 of control groups that can be used: {error}");
                return;
            }
        };
        let mut command = std::process::Command::new("sleep");
        group.join_on_exec(command.arg("600")).expect("it can be joined");
        let mut child = command.spawn().expect("sleep can be started");
        assert_eq!(group.pids().expect("readable"), [child.id()]);
        group.freeze().expect("it freezes");
        assert!(group.is_frozen().expect("readable"));
        group.thaw().expect("it thaws");
        assert!(!group.is_frozen().expect("readable"));
        child.kill().expect("it runs");
        child.wait().expect("it is gone");
        let directories = group.directories();
        group.remove().expect("it is empty");
        assert!(directories.iter().all(|directory| !directory.exists()));
    }

    #[test]
    fn names_that_would_lead_elsewhere_are_refused() {
        for name in ["", ".", "..", "a/b", "a b", ".hidden", &"n".repeat(101)] {
            let refused = Group::make(Path::new("/no/such/run"), name);
            assert!(matches!(refused, Err(CgroupError::BadName { .. })), "{name:?}");
        }
    }
}

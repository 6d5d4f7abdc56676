//! Where control groups are made: hierarchies of both versions, and our own place in them.
//!
//! Version 1 has a hierarchy for each controller, version 2 one for all; a machine may have both at
//! once, each controller in one of them. Groups are made below the one this process is in, so that
//! whatever limits this process goes on limiting those it tests. Version 2 allows that only where a
//! group has no processes of its own, so there the way leads upwards until it is allowed.

use super::Controller;
use super::error::{CgroupError, at};
use crate::mountinfo::{Mount, mounts};
use std::path::{Path, PathBuf};

/// The two versions of control groups.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Version {
    /// A hierarchy for each controller.
    V1,
    /// One hierarchy for all.
    V2,
}

/// A hierarchy that has a controller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Hierarchy {
    pub(super) version: Version,
    /// Where it is mounted.
    pub(super) top: PathBuf,
    /// The group this process is in.
    pub(super) own: PathBuf,
}

/// All hierarchies of this machine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Hierarchies {
    v1: Vec<(String, Hierarchy)>,
    v2: Option<Hierarchy>,
}

impl Hierarchies {
    /// Those this process sees.
    pub(super) fn here() -> Result<Hierarchies, CgroupError> {
        let read = |path: &str| std::fs::read_to_string(path).map_err(at(Path::new(path), "read"));
        let groups = read("/proc/self/cgroup")?;
        Hierarchies::as_seen_by(&groups)
    }

    /// The same, with another process in the place of this one: its own words, from
    /// `/proc/self/cgroup`.
    pub(super) fn as_seen_by(groups: &str) -> Result<Hierarchies, CgroupError> {
        let mounts = mounts().map_err(at(Path::new("/proc/self/mountinfo"), "read"))?;
        Ok(Hierarchies::of(&mounts, groups))
    }

    fn of(mounts: &[Mount], groups: &str) -> Hierarchies {
        let mut all = Hierarchies::default();
        for mount in mounts {
            match mount.kind.as_str() {
                "cgroup" => {
                    for controller in mount.options.split(',') {
                        let found = hierarchy(mount, Version::V1, own_v1(groups, controller));
                        all.v1.extend(found.map(|found| (controller.to_string(), found)));
                    }
                }
                "cgroup2" if all.v2.is_none() => {
                    let own = groups.lines().find_map(|line| line.strip_prefix("0::"));
                    all.v2 = hierarchy(mount, Version::V2, own);
                }
                _ => {}
            }
        }
        all
    }

    /// The hierarchy that has a controller.
    pub(super) fn with(&self, controller: Controller) -> Result<&Hierarchy, CgroupError> {
        let (name_v1, name_v2) = controller.names();
        if let Some((_, found)) = self.v1.iter().find(|(name, _)| name == name_v1) {
            return Ok(found);
        }
        let absent = |why: String| CgroupError::Absent { controller, why };
        let Some(v2) = &self.v2 else {
            let why = "neither version of control groups has it mounted: mount /sys/fs/cgroup";
            return Err(absent(why.to_string()));
        };
        // The freezer of version 2 is part of every group.
        let Some(name) = name_v2 else { return Ok(v2) };
        let path = v2.top.join("cgroup.controllers");
        let available = std::fs::read_to_string(&path).map_err(at(&path, "read"))?;
        match available.split_whitespace().any(|available| available == name) {
            true => Ok(v2),
            false => Err(absent(format!(
                "{} does not list `{name}`: it is off in this kernel or kept from this container",
                path.display()
            ))),
        }
    }

    /// The group of version 2 that this process is in.
    pub(super) fn own_v2(&self) -> Option<PathBuf> {
        self.v2.as_ref().map(|v2| v2.own.clone())
    }

    #[cfg(test)]
    pub(super) fn without_v1(self) -> Hierarchies {
        Hierarchies { v1: Vec::new(), ..self }
    }

    /// Every hierarchy once.
    pub(super) fn tops(&self) -> Vec<PathBuf> {
        let all = self.v1.iter().map(|(_, hierarchy)| hierarchy).chain(&self.v2);
        let mut tops: Vec<PathBuf> = all.map(|hierarchy| hierarchy.top.clone()).collect();
        tops.sort();
        tops.dedup();
        tops
    }
}

/// A line of /proc/self/cgroup: `4:memory:/user/shell`.
fn own_v1<'a>(groups: &'a str, controller: &str) -> Option<&'a str> {
    groups.lines().find_map(|line| {
        let (_number, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        controllers.split(',').any(|one| one == controller).then_some(path)
    })
}

fn hierarchy(mount: &Mount, version: Version, own: Option<&str>) -> Option<Hierarchy> {
    // A container sees its part of the hierarchy mounted as if it were all, but is told where it
    // is from the true top, or from outside of what it sees (`/../..`).
    let own = Path::new(own?);
    let below = own.strip_prefix(&mount.root).unwrap_or(Path::new(""));
    let below = below.strip_prefix("/").unwrap_or(below);
    let outside = below.components().any(|part| part == std::path::Component::ParentDir);
    let own = if outside { mount.point.clone() } else { mount.point.join(below) };
    Some(Hierarchy { version, top: mount.point.clone(), own })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(kind: &str, root: &str, point: &str, options: &str) -> Mount {
        Mount {
            device: "0:30".to_string(),
            root: root.into(),
            point: point.into(),
            kind: kind.to_string(),
            source: "cgroup".into(),
            options: options.to_string(),
        }
    }

    #[test]
    fn each_controller_is_found_in_the_version_that_has_it() {
        let mounts = [
            mount("cgroup", "/", "/cg/cpu,cpuacct", "rw,cpu,cpuacct"),
            mount("cgroup", "/docker/1", "/cg/memory", "rw,memory"),
            mount("cgroup2", "/", "/cg/unified", "rw"),
        ];
        let groups = "4:memory:/docker/1/web\n2:cpu,cpuacct:/user\n0::/session\n";
        let all = Hierarchies::of(&mounts, groups);
        let cases = [
            (Controller::Cpu, Version::V1, "/cg/cpu,cpuacct/user"),
            (Controller::Memory, Version::V1, "/cg/memory/web"),
            (Controller::Freezer, Version::V2, "/cg/unified/session"),
        ];
        for (controller, version, own) in cases {
            let found = all.with(controller).expect("it is there");
            assert_eq!((found.version, found.own.as_path()), (version, Path::new(own)));
        }
        assert!(all.with(Controller::Disk).is_err(), "/cg/unified is not there");
    }

    #[test]
    fn without_any_hierarchy_the_error_says_what_to_do() {
        let error = Hierarchies::of(&[], "").with(Controller::Cpu).expect_err("there is none");
        assert!(error.to_string().contains("mount /sys/fs/cgroup"), "{error}");
    }

    #[test]
    fn a_group_outside_of_what_a_container_sees_is_taken_for_its_top() {
        let mounts = [mount("cgroup2", "/", "/cg", "rw")];
        let all = Hierarchies::of(&mounts, "0::/../../other\n");
        assert_eq!(all.with(Controller::Freezer).expect("there").own, Path::new("/cg"));
    }
}

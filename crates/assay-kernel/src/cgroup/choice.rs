//! Which group of version 2 those of a node are made below.
//!
//! A process is in exactly one group of version 2, so all controllers of a node have to be steered
//! in one and the same. A group with processes of its own gives controllers to no group below it,
//! and a group has only those controllers that the one above lets it have: so the way leads upwards
//! from the group of this process, to the first that takes all.

use super::Controller;
use super::error::CgroupError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What became of each controller that was wanted below a group.
pub(super) type Taken = BTreeMap<Controller, Result<(), CgroupError>>;

/// Groups of version 2 that can be asked for room.
pub(super) trait Ground {
    /// Makes a group for the node below this one, with as many controllers as can be had.
    fn take(&mut self, parent: &Path, wanted: &[Controller]) -> Taken;

    /// Removes what [`take`](Ground::take) has made there.
    fn leave(&mut self, parent: &Path);
}

/// Takes room below the nearest group that gives all controllers that are wanted; if none does,
/// below the nearest that gives most. Nothing is left below the others.
pub(super) fn choose(
    ground: &mut impl Ground,
    (own, top): (&Path, &Path),
    wanted: &[Controller],
) -> (PathBuf, Taken) {
    let mut best = (0, own.to_path_buf());
    let mut parent = own;
    loop {
        let taken = ground.take(parent, wanted);
        let count = taken.values().filter(|taken| taken.is_ok()).count();
        if count == wanted.len() {
            return (parent.to_path_buf(), taken);
        }
        ground.leave(parent);
        if count > best.0 {
            best = (count, parent.to_path_buf());
        }
        if parent == top {
            break;
        }
        parent = parent.parent().unwrap_or(top);
    }
    let taken = ground.take(&best.1, wanted);
    (best.1, taken)
}

#[cfg(test)]
mod tests {
    use super::Controller::{Cpu, Disk, Freezer, Memory};
    use super::*;

    /// A group that is made up.
    #[derive(Clone, Copy)]
    struct Made {
        path: &'static str,
        /// What the group above lets it have.
        has: &'static [Controller],
        /// What it gives to groups below already.
        gives: &'static [Controller],
        /// It has processes of its own.
        is_busy: bool,
        /// This user may write there.
        is_ours: bool,
    }

    const ALL: &[Controller] = &Controller::ALL;

    const fn made(
        path: &'static str,
        (has, gives): (&'static [Controller], &'static [Controller]),
        (is_busy, is_ours): (bool, bool),
    ) -> Made {
        Made { path, has, gives, is_busy, is_ours }
    }

    /// The kernel's rules over groups that are made up.
    struct MadeUp {
        groups: &'static [Made],
        /// The true root of the hierarchy may have processes and give controllers.
        root: Option<&'static str>,
        /// Where something is made at the moment.
        taken: Vec<PathBuf>,
    }

    impl Ground for MadeUp {
        fn take(&mut self, parent: &Path, wanted: &[Controller]) -> Taken {
            let group = self.groups.iter().find(|group| Path::new(group.path) == parent);
            let group = group.expect("the way leads over groups that are there");
            let is_root = self.root == Some(group.path);
            let gives = |controller: &Controller| {
                let can = group.has.contains(controller) && (is_root || !group.is_busy);
                group.is_ours && (*controller == Freezer || group.gives.contains(controller) || can)
            };
            let refused =
                |controller| CgroupError::Absent { controller, why: "made up".to_string() };
            let one = |controller: &Controller| {
                let given = gives(controller).then_some(()).ok_or_else(|| refused(*controller));
                (*controller, given)
            };
            self.taken.push(parent.to_path_buf());
            wanted.iter().map(one).collect()
        }

        fn leave(&mut self, parent: &Path) {
            self.taken.retain(|taken| taken != parent);
        }
    }

    struct Row {
        about: &'static str,
        groups: &'static [Made],
        root: Option<&'static str>,
        own: &'static str,
        wanted: &'static [Controller],
        chosen: &'static str,
        taken: &'static [Controller],
    }

    const HERE: (bool, bool) = (true, true);
    const EMPTY: (bool, bool) = (false, true);
    const THEIRS: (bool, bool) = (false, false);

    const ROWS: [Row; 6] = [
        Row {
            about: "the scope of a session of root under systemd",
            groups: &[
                made("/cg", (ALL, &[Cpu, Disk, Memory]), HERE),
                made("/cg/user.slice", (&[Cpu, Disk, Memory], &[Memory]), EMPTY),
                made("/cg/user.slice/user-0.slice", (&[Memory], &[Memory]), EMPTY),
                made("/cg/user.slice/user-0.slice/session-1.scope", (&[Memory], &[]), HERE),
            ],
            root: Some("/cg"),
            own: "/cg/user.slice/user-0.slice/session-1.scope",
            wanted: ALL,
            chosen: "/cg/user.slice",
            taken: ALL,
        },
        Row {
            about: "a part that systemd has handed to a user, without the disk",
            groups: &[
                made("/cg", (ALL, ALL), (true, false)),
                made("/cg/user.slice", (ALL, ALL), THEIRS),
                made("/cg/user.slice/user@7.service", (&[Cpu, Memory], &[Cpu, Memory]), EMPTY),
                made("/cg/user.slice/user@7.service/app.slice", (&[Cpu, Memory], &[]), EMPTY),
                made("/cg/user.slice/user@7.service/app.slice/term.scope", (&[], &[]), HERE),
            ],
            root: Some("/cg"),
            own: "/cg/user.slice/user@7.service/app.slice/term.scope",
            wanted: ALL,
            chosen: "/cg/user.slice/user@7.service/app.slice",
            taken: &[Cpu, Memory, Freezer],
        },
        Row {
            about: "the root of a container, with its processes in it",
            groups: &[made("/cg", (ALL, &[]), HERE)],
            root: None,
            own: "/cg",
            wanted: ALL,
            chosen: "/cg",
            taken: &[Freezer],
        },
        Row {
            about: "a container whose processes were moved below its root",
            groups: &[made("/cg", (ALL, &[Cpu]), EMPTY), made("/cg/init", (&[Cpu], &[]), HERE)],
            root: None,
            own: "/cg/init",
            wanted: ALL,
            chosen: "/cg",
            taken: ALL,
        },
        Row {
            about: "both versions, where the second has the freezer alone",
            groups: &[made("/cg", (&[], &[]), HERE), made("/cg/session", (&[], &[]), HERE)],
            root: Some("/cg"),
            own: "/cg/session",
            wanted: &[Freezer],
            chosen: "/cg/session",
            taken: &[Freezer],
        },
        Row {
            about: "nothing that this user may write to",
            groups: &[made("/cg", (ALL, ALL), THEIRS), made("/cg/a", (ALL, &[]), THEIRS)],
            root: Some("/cg"),
            own: "/cg/a",
            wanted: ALL,
            chosen: "/cg/a",
            taken: &[],
        },
    ];

    #[test]
    fn one_group_is_chosen_for_all_controllers_and_nothing_is_left_elsewhere() {
        for row in ROWS {
            let Row { about, groups, root, own, wanted, chosen, taken } = row;
            let mut ground = MadeUp { groups, root, taken: Vec::new() };
            let (parent, had) = choose(&mut ground, (Path::new(own), Path::new("/cg")), wanted);
            assert_eq!(parent, Path::new(chosen), "{about}");
            assert_eq!(ground.taken, [parent], "{about}: nothing is left elsewhere");
            let had = had.iter().filter(|(_, had)| had.is_ok()).map(|(controller, _)| *controller);
            assert_eq!(had.collect::<Vec<_>>(), taken, "{about}");
        }
    }
}

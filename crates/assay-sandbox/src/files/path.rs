//! Paths that tools name: in the workspace, the uploads or the outputs, and nowhere else.

use crate::job::Places;
use crate::workspace::open_below;
use rustix::fs::{OFlags, ResolveFlags};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Where skills are in the workspace, if there are any.
const SKILLS: &str = "skills";
/// The longest path.
const PATH_BYTES_MAX: usize = 4096;

/// One of the directories of a session, by the name that tools know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Area {
    Workspace,
    Uploads,
    Outputs,
}

impl Area {
    const ALL: [Area; 3] = [Area::Workspace, Area::Uploads, Area::Outputs];

    fn name(self) -> &'static str {
        match self {
            Area::Workspace => "/workspace",
            Area::Uploads => "/mnt/session/uploads",
            Area::Outputs => "/mnt/session/outputs",
        }
    }

    fn place(self, seen: &Places) -> &Path {
        match self {
            Area::Workspace => &seen.workspace,
            Area::Uploads => &seen.uploads,
            Area::Outputs => &seen.outputs,
        }
    }
}

/// A path that leads nowhere else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ToolPath {
    pub area: Area,
    /// Below it, without `.` and `..`; empty for the directory itself.
    pub below: PathBuf,
}

impl ToolPath {
    /// Understands what a tool was given.
    pub(super) fn parse(text: &str) -> Result<ToolPath, String> {
        if text.is_empty() || text.len() > PATH_BYTES_MAX || text.contains('\0') {
            return Err(format!("a path has 1 to {PATH_BYTES_MAX} bytes and no NUL"));
        }
        let path = Path::new(text);
        let (area, rest) = match path.is_absolute() {
            false => (Area::Workspace, path),
            true => Area::ALL
                .into_iter()
                .find_map(|area| Some((area, path.strip_prefix(area.name()).ok()?)))
                .ok_or_else(|| {
                    format!(
                        "{text}: only paths in /workspace, /mnt/session/uploads and \
                         /mnt/session/outputs can be used"
                    )
                })?,
        };
        let mut below = PathBuf::new();
        for part in rest.components() {
            match part {
                Component::Normal(name) => below.push(name),
                Component::CurDir => {}
                _ => return Err(format!("{text}: a path must not contain `..`")),
            }
        }
        Ok(ToolPath { area, below })
    }

    /// As tools know it.
    pub(super) fn shown(&self) -> String {
        match self.below.as_os_str().is_empty() {
            true => self.area.name().to_string(),
            false => format!("{}/{}", self.area.name(), self.below.to_string_lossy()),
        }
    }

    /// One below it; itself if there is nothing to add.
    pub(super) fn join(&self, below: &Path) -> ToolPath {
        if below.as_os_str().is_empty() {
            return self.clone();
        }
        ToolPath { area: self.area, below: self.below.join(below) }
    }

    /// Which directory it leads below, and where there. Skills stand apart from the workspace
    /// that they are seen in.
    pub(super) fn within<'a>(&'a self, seen: &'a Places) -> (&'a Path, &'a Path) {
        let skill = self.below.strip_prefix(SKILLS).ok();
        match (self.area, &seen.skills, skill) {
            (Area::Workspace, Some(skills), Some(below)) => (skills, below),
            _ => (self.area.place(seen), &self.below),
        }
    }

    /// That directory.
    pub(super) fn top(&self, seen: &Places) -> Result<File, String> {
        File::open(self.within(seen).0).map_err(|error| self.says(&error))
    }

    /// Opens a regular file to read. Links may lead around in their area.
    pub(super) fn open(&self, seen: &Places) -> Result<File, String> {
        // Without blocking, because a pipe would wait for a writer.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let top = self.top(seen)?;
        let file = open_below(&top, self.within(seen).1, flags, ResolveFlags::empty());
        let file = file.map_err(|error| self.says(&error))?;
        let facts = file.metadata().map_err(|error| self.says(&error))?;
        match (facts.is_file(), facts.is_dir()) {
            (true, _) => Ok(file),
            (_, true) => Err(format!("{}: is a directory; use glob to list it", self.shown())),
            _ => Err(format!("{}: is no regular file", self.shown())),
        }
    }

    /// What went wrong, for the model.
    pub(super) fn says(&self, error: &io::Error) -> String {
        let shown = self.shown();
        match error.raw_os_error() {
            Some(libc::EXDEV) => format!("{shown}: a link leads out of {}", self.area.name()),
            Some(libc::ELOOP) => format!("{shown}: is or contains a link that cannot be followed"),
            Some(libc::ENOENT) => format!("{shown}: there is no such file"),
            Some(libc::EROFS | libc::EACCES) if self.area == Area::Uploads => {
                format!("{shown}: uploads can only be read; copy it to /workspace")
            }
            Some(libc::EROFS | libc::EACCES)
                if self.area == Area::Workspace && self.below.starts_with(SKILLS) =>
            {
                format!("{shown}: skills can only be read; copy it to elsewhere in /workspace")
            }
            _ => format!("{shown}: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_in_their_area() {
        let good = [
            ("a/b", Area::Workspace, "a/b"),
            ("./a/./b/", Area::Workspace, "a/b"),
            ("/workspace", Area::Workspace, ""),
            ("/workspace//x", Area::Workspace, "x"),
            ("/mnt/session/outputs/x", Area::Outputs, "x"),
            ("/mnt/session/uploads/d/x", Area::Uploads, "d/x"),
            ("...", Area::Workspace, "..."),
        ];
        for (text, area, below) in good {
            let path = ToolPath::parse(text).expect(text);
            assert_eq!((path.area, path.below.as_path()), (area, Path::new(below)), "{text}");
        }
        let bad = [
            "",
            "..",
            "a/../b",
            "a/..",
            "/etc/passwd",
            "/",
            "/workspace/../etc/passwd",
            "/workspace2/x",
            "/mnt/session",
            "a\0b",
            &"x".repeat(PATH_BYTES_MAX + 1),
        ];
        for text in bad {
            assert!(ToolPath::parse(text).is_err(), "{text:?}");
        }
    }
}

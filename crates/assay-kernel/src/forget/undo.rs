//! What was done and not synced, with how to take it back.
//!
//! Everything is done at once to the directory below. Before that, what it takes to undo it is
//! noted here; a sync strikes notes out, a cut plays those that are left backwards. So a reader
//! sees what was written, and if nobody cuts anything nothing is ever lost, whoever is killed.
//!
//! What survives follows ext4: a sync of a file saves its contents and, because there is one
//! journal, every change of names so far; the journal is also written after [`COMMIT_AFTER`], and
//! contents after [`WRITE_BACK_AFTER`].

use super::inodes::{Below, Inode, is_directory};
use rustix::fs::{AtFlags, OFlags, RenameFlags};
use rustix::io::Errno;
use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Changes of names get to the disk by themselves after this (`commit` of ext4).
const COMMIT_AFTER: Duration = Duration::from_secs(5);
/// Contents do after this (`dirty_expire_centisecs`).
const WRITE_BACK_AFTER: Duration = Duration::from_secs(30);
/// And the oldest ones if more than this is waiting.
const WAITING_BYTES_MAX: usize = 256 << 20;
/// And if there are more notes than this.
const WAITING_NOTES_MAX: usize = 1 << 20;
/// A file that only grows needs a note now and then, not for every write.
const GROWTH_STEP: Duration = Duration::from_secs(1);

/// A name in a directory.
pub(super) type Place = (Arc<Inode>, OsString);

/// How to take one change back.
#[derive(Debug)]
enum Step {
    /// What stood there, and how long the file was.
    Contents { inode: Arc<Inode>, at: u64, was: Vec<u8>, length: u64 },
    /// A name that was not there.
    Made(Place),
    /// What lies in the grave of this number had this name.
    Removed(Place, u64),
    /// It was moved; what the new name stood for before lies in a grave.
    Moved { from: Place, to: Place, over: Option<u64> },
    /// Two names were swapped.
    Swapped(Place, Place),
}

#[derive(Debug)]
struct Note {
    at: Instant,
    step: Step,
}

/// All notes, and the graves of what was removed.
#[derive(Debug)]
pub(super) struct Log {
    notes: VecDeque<Note>,
    waiting_bytes: usize,
    /// When each file was last noted, and how long it was then: playing that note back takes
    /// everything away that came behind its end. The note holds the file, so what it is known by
    /// below stays its own.
    ends: HashMap<Below, (Instant, u64)>,
    graves: OwnedFd,
    next_grave: u64,
}

impl Log {
    /// With nothing in it; `graves` is a directory on the same file system.
    pub(super) fn new(graves: OwnedFd) -> Log {
        let (notes, ends) = (VecDeque::new(), HashMap::new());
        Log { notes, waiting_bytes: 0, ends, graves, next_grave: 0 }
    }

    /// Notes what is about to be overwritten, or cut off, from `at` on.
    pub(super) fn before_change(
        &mut self,
        inode: &Arc<Inode>,
        file: &File,
        at: u64,
        bytes: u64,
    ) -> io::Result<()> {
        let noted = self.ends.get(&inode.below);
        if noted.is_some_and(|(when, end)| at >= *end && when.elapsed() < GROWTH_STEP) {
            return Ok(());
        }
        let length = file.metadata()?.len();
        let touched = length.saturating_sub(at).min(bytes);
        let mut was = vec![0; usize::try_from(touched).map_err(io::Error::other)?];
        file.read_exact_at(&mut was, at)?;
        self.waiting_bytes += was.len();
        self.ends.insert(inode.below, (Instant::now(), length));
        self.note(Step::Contents { inode: inode.clone(), at, was, length });
        while self.waiting_bytes > WAITING_BYTES_MAX || self.notes.len() > WAITING_NOTES_MAX {
            let contents = |note: &Note| matches!(note.step, Step::Contents { .. });
            let Some(oldest) = self.notes.iter().position(contents) else { break };
            self.strike(oldest);
        }
        Ok(())
    }

    /// A name is there that was not.
    pub(super) fn made(&mut self, place: Place) {
        self.note(Step::Made(place));
    }

    /// Takes a name away; what it stood for stays in a grave as long as a cut may bring it back.
    pub(super) fn remove(&mut self, place: Place) -> Result<(), Errno> {
        let grave = self.bury(&place)?;
        self.note(Step::Removed(place, grave));
        Ok(())
    }

    /// Renames; `over` says whether the new name stands for something.
    pub(super) fn rename(&mut self, from: Place, to: Place, over: bool) -> Result<(), Errno> {
        let grave = if over { Some(self.bury(&to)?) } else { None };
        if let Err(error) = rustix::fs::renameat(&from.0, &from.1, &to.0, &to.1) {
            if let Some(grave) = grave {
                self.unbury(grave, &to)?;
            }
            return Err(error);
        }
        self.note(Step::Moved { from, to, over: grave });
        Ok(())
    }

    /// Swaps two names.
    pub(super) fn swap(&mut self, one: Place, other: Place) -> Result<(), Errno> {
        swap(&one, &other)?;
        self.note(Step::Swapped(one, other));
        Ok(())
    }

    /// The contents of a file, and all names, are safe.
    pub(super) fn sync_file(&mut self, file: Below) {
        self.settle(|note| match &note.step {
            Step::Contents { inode, .. } => inode.below == file,
            _ => true,
        });
    }

    /// All names are safe.
    pub(super) fn sync_names(&mut self) {
        self.settle(|note| !matches!(note.step, Step::Contents { .. }));
    }

    /// Takes back whatever is not safe, the youngest first.
    pub(super) fn play_back(&mut self, now: Instant) -> Result<(), Errno> {
        self.settle(|note| {
            let safe_after = match note.step {
                Step::Contents { .. } => WRITE_BACK_AFTER,
                _ => COMMIT_AFTER,
            };
            now.duration_since(note.at) >= safe_after
        });
        let mut trouble = None;
        while let Some(note) = self.notes.pop_back() {
            // As much as can be is taken back, and then it is said what could not.
            trouble = self.take_back(note.step).err().or(trouble);
        }
        self.waiting_bytes = 0;
        self.ends.clear();
        trouble.map_or(Ok(()), Err)
    }

    fn take_back(&self, step: Step) -> Result<(), Errno> {
        match step {
            Step::Contents { inode, at, was, length } => {
                let file = inode.open(OFlags::RDWR)?;
                let all = file.write_all_at(&was, at).and_then(|()| file.set_len(length));
                all.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
            }
            Step::Made((parent, name)) => {
                let flags = match is_directory(&parent, &name)? {
                    true => AtFlags::REMOVEDIR,
                    false => AtFlags::empty(),
                };
                rustix::fs::unlinkat(&parent, &name, flags)
            }
            Step::Removed(place, grave) => self.unbury(grave, &place),
            Step::Moved { from, to, over } => {
                rustix::fs::renameat(&to.0, &to.1, &from.0, &from.1)?;
                over.map_or(Ok(()), |grave| self.unbury(grave, &to))
            }
            Step::Swapped(one, other) => swap(&one, &other),
        }
    }

    fn note(&mut self, step: Step) {
        self.notes.push_back(Note { at: Instant::now(), step });
    }

    /// Strikes out what is safe.
    fn settle(&mut self, is_safe: impl Fn(&Note) -> bool) {
        let (safe, waiting): (VecDeque<Note>, VecDeque<Note>) =
            std::mem::take(&mut self.notes).into_iter().partition(is_safe);
        self.notes = waiting;
        safe.into_iter().for_each(|note| self.let_go(note));
    }

    fn strike(&mut self, index: usize) {
        if let Some(note) = self.notes.remove(index) {
            self.let_go(note);
        }
    }

    /// What a note has kept is not needed any more.
    fn let_go(&mut self, note: Note) {
        match note.step {
            Step::Contents { inode, was, .. } => {
                self.waiting_bytes -= was.len();
                self.ends.remove(&inode.below);
            }
            Step::Removed(_, grave) | Step::Moved { over: Some(grave), .. } => self.clear(grave),
            _ => {}
        }
    }

    fn bury(&mut self, place: &Place) -> Result<u64, Errno> {
        let grave = self.next_grave;
        rustix::fs::renameat(&place.0, &place.1, &self.graves, grave_name(grave))?;
        self.next_grave += 1;
        Ok(grave)
    }

    fn unbury(&self, grave: u64, place: &Place) -> Result<(), Errno> {
        rustix::fs::renameat(&self.graves, grave_name(grave), &place.0, &place.1)
    }

    fn clear(&self, grave: u64) {
        let name = grave_name(grave);
        // One of the two fits; what stays is below the directory of the run, and goes with it.
        let _gone = rustix::fs::unlinkat(&self.graves, &name, AtFlags::empty())
            .or_else(|_| rustix::fs::unlinkat(&self.graves, &name, AtFlags::REMOVEDIR));
    }
}

fn swap(one: &Place, other: &Place) -> Result<(), Errno> {
    rustix::fs::renameat_with(&one.0, &one.1, &other.0, &other.1, RenameFlags::EXCHANGE)
}

fn grave_name(grave: u64) -> String {
    format!("{grave}")
}

#[cfg(test)]
mod tests {
    use super::super::{held, inodes::Inodes};
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn a_sync_saves_what_was_written_under_a_number_the_kernel_has_forgotten() {
        let directory = tempfile::tempdir().expect("a directory");
        let [tree, graves] = ["tree", "graves"].map(|part| directory.path().join(part));
        for part in [&tree, &graves] {
            std::fs::create_dir(part).expect("made");
        }
        std::fs::write(tree.join("f"), "old").expect("made");
        let mut inodes = Inodes::new(held(&tree).expect("held")).expect("a root");
        let mut log = Log::new(held(&graves).expect("held"));
        let root = inodes.get(super::super::inodes::ROOT).expect("the root");
        let mut write = |inodes: &mut Inodes, bytes: &[u8], at: u64| {
            let inode = inodes.look_up(&root, OsStr::new("f")).expect("there");
            let file = inode.open(OFlags::RDWR).expect("open");
            log.before_change(&inode, &file, at, bytes.len() as u64).expect("noted");
            file.write_all_at(bytes, at).expect("written");
            inodes.forget(inode.number, 1);
            inode
        };
        let first = write(&mut inodes, b"new", 0);
        let second = write(&mut inodes, b" and more", 3);
        assert_ne!(first.number, second.number, "the kernel has forgotten it in between");
        log.sync_file(second.below);
        assert_eq!((log.waiting_bytes, log.ends.len()), (0, 0));
        log.play_back(Instant::now()).expect("nothing to take back");
        assert_eq!(std::fs::read(tree.join("f")).expect("there"), b"new and more");
    }
}

//! Files are damaged and restored, disks are filled or refused.

use super::support::{fault, injector};
use assay_nemesis::{
    Action, Corruption, Damage, FileError, Fill, InjectError, Injector, Victim, heal_journal,
};
use assay_verdict::LandingState;
use std::path::{Path, PathBuf};

fn file(directory: &Path) -> (PathBuf, Vec<u8>) {
    let path = directory.join("wal");
    let bytes: Vec<u8> = (0..5_000_u32).map(|n| (n * 7 % 256) as u8).collect();
    std::fs::write(&path, &bytes).expect("a file");
    (path, bytes)
}

fn corrupt(path: &Path, damage: Damage) -> Action {
    Action::Corrupt(Corruption { path: path.to_path_buf(), damage })
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.expect("an entry").file_name().to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

#[test]
fn damage_is_done_in_place_counted_and_undone() {
    let flip = Damage::FlipBits { count: 9, seed: 3 };
    let tear = Damage::TearTail { bytes: 1 };
    for (damage, different) in [(flip, 9), (Damage::Truncate { bytes: 700 }, 700), (tear, 4)] {
        let (directory, _, injector) = injector(None);
        let (path, original) = file(directory.path());
        let action = corrupt(&path, damage);
        let mut guard = injector.inject(fault("corrupt", action), Victim::unasked()).expect("on");
        assert_ne!(std::fs::read(&path).expect("a file"), original, "{damage:?}");
        assert_eq!(guard.sample().injector.during, Some(different), "{damage:?}");
        let healed = guard.heal().expect("undone");
        assert_eq!(healed.landing.injector.after, Some(0), "{damage:?}");
        let proof = format!("{}: 5000 bytes are as before", path.display());
        assert_eq!(healed.proof, [proof], "{damage:?}");
        assert_eq!(std::fs::read(&path).expect("a file"), original, "{damage:?}");
        assert_eq!(names(directory.path()), ["nemesis.jsonl", "wal"]);
    }
}

#[test]
fn the_tail_that_is_torn_ends_where_the_writing_did() {
    let (directory, _, injector) = injector(None);
    let path = directory.path().join("wal");
    let with_tail = |tail: &[u8]| [&[7; 100], tail, &[0; 4096]].concat();
    std::fs::write(&path, with_tail(&[1, 0, 255, 3])).expect("a file");
    let action = corrupt(&path, Damage::TearTail { bytes: 3 });
    let mut guard = injector.inject(fault("torn-tail", action), Victim::unasked()).expect("on");
    assert_eq!(std::fs::read(&path).expect("a file"), with_tail(&[1, 0, 0, 0]));
    assert_eq!(guard.sample().injector.during, Some(8 + 2), "bits that were set");
    guard.heal().expect("undone");
    assert_eq!(std::fs::read(&path).expect("a file"), with_tail(&[1, 0, 255, 3]));
    std::fs::write(&path, [0; 100]).expect("a file");
    let nothing = corrupt(&path, Damage::TearTail { bytes: 3 });
    let mut guard = injector.inject(fault("torn-tail", nothing), Victim::unasked()).expect("on");
    assert_eq!(guard.sample().injector.state(), LandingState::Missed, "there was no tail");
}

#[test]
fn the_same_seed_damages_the_same_bits() {
    let damaged = |seed| {
        let (directory, _, injector) = injector(None);
        let (path, _) = file(directory.path());
        let action = corrupt(&path, Damage::FlipBits { count: 5, seed });
        let _guard = injector.inject(fault("bitflip", action), Victim::unasked()).expect("on");
        std::fs::read(&path).expect("a file")
    };
    assert_eq!(damaged(1), damaged(1));
    assert_ne!(damaged(1), damaged(2));
}

#[test]
fn what_the_system_wrote_since_is_not_thrown_away_by_healing() {
    let (directory, journal, injector) = injector(None);
    let (path, _) = file(directory.path());
    let action = corrupt(&path, Damage::Truncate { bytes: 10 });
    let mut guard = injector.inject(fault("corrupt", action), Victim::unasked()).expect("on");
    std::fs::write(&path, b"rebuilt by the node").expect("a file");
    let healed = guard.heal().expect("nothing is left to do");
    assert!(healed.undone[0].contains("was rewritten since"), "{:?}", healed.undone);
    let proof = format!("{}: not undone: the node has rewritten it since", path.display());
    assert_eq!(healed.proof, [proof]);
    assert_eq!(std::fs::read(&path).expect("a file"), b"rebuilt by the node");
    assert_eq!(names(directory.path()), ["nemesis.jsonl", "wal", "wal.assay-original"]);
    drop((guard, injector));
    assert!(heal_journal(&journal).expect("readable").faults.is_empty());
}

#[test]
fn a_file_is_damaged_once_at_a_time_and_only_if_there_is_something_to_damage() {
    let (directory, _, injector) = injector(None);
    let (path, _) = file(directory.path());
    let inject = |path: &Path| {
        let action = corrupt(path, Damage::Truncate { bytes: 1 });
        injector.inject(fault("corrupt", action), Victim::unasked())
    };
    let guard = inject(&path).expect("on");
    assert!(matches!(inject(&path), Err(InjectError::File(FileError::Already { .. }))));
    drop(guard);
    std::fs::write(&path, b"").expect("a file");
    assert!(matches!(inject(&path), Err(InjectError::File(FileError::Size { bytes: 0, .. }))));
    let missing = directory.path().join("missing");
    assert!(matches!(inject(&missing), Err(InjectError::File(FileError::Io { .. }))));
    assert_eq!(names(directory.path()), ["nemesis.jsonl", "wal"], "nothing is left behind");
}

#[test]
fn a_disk_that_would_not_be_full_is_refused_without_a_trace() {
    let (directory, _, injector) = injector(None);
    let refused = fill(&injector, directory.path(), 4096);
    assert!(
        matches!(refused, Err(InjectError::File(FileError::Unbounded { quota_bytes: 4096, .. }))),
        "a temporary directory has more room than a page"
    );
    assert_eq!(names(directory.path()), ["nemesis.jsonl"]);
}

fn fill(injector: &Injector, directory: &Path, quota_bytes: u64) -> Result<(), InjectError> {
    let fill = Fill { directory: directory.to_path_buf(), quota_bytes };
    let mut guard = injector.inject(fault("disk-full", Action::Fill(fill)), Victim::unasked())?;
    assert_eq!(guard.sample().injector.state(), LandingState::Landed);
    Ok(())
}

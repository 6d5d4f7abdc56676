//! Directories that forget what was not synced.

use super::support::Kept;
use assay_kernel::volume::{Answer, Leftover, Volume, clear, leftovers, probe_forgetful};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Names are safe by themselves after five seconds: what takes as long proves nothing.
const SOON: Duration = Duration::from_secs(4);

fn volume() -> Option<(TempDir, Volume)> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    if let Err(why) = probe_forgetful(directory.path()) {
        eprintln!("SKIPPED: {why}");
        return None;
    }
    let (store, point) = (directory.path().join("n1.store"), directory.path().join("data of\tn1"));
    let volume = Volume::forgetful(&store, &point).expect("a directory that forgets");
    Some((directory, volume))
}

fn cut_and_up(volume: &Volume) {
    volume.cut_power().expect("cut");
    assert_eq!(volume.answer().expect("asked"), Answer::Cut);
    volume.power_up().expect("up again");
    assert_eq!(volume.answer().expect("asked"), Answer::Writable);
}

fn raw(error: std::io::Error) -> Option<i32> {
    error.raw_os_error()
}

#[test]
fn what_was_synced_survives_a_cut_and_what_was_not_does_not() {
    let Some((_directory, volume)) = volume() else { return };
    let at = |name: &str| volume.mount_point().join(name);
    let mut synced = File::create(at("synced")).expect("made");
    synced.write_all(&[1; 8192]).expect("written");
    synced.sync_data().expect("synced");
    synced.write_all(&[2; 8192]).expect("written");
    synced.write_all_at(&[3; 100], 50).expect("overwritten");
    std::fs::write(at("unsynced"), [4; 100]).expect("written");
    let mut read = Vec::new();
    File::open(at("synced")).expect("there").read_to_end(&mut read).expect("read");
    assert_eq!((read.len(), read[60]), (16384, 3), "readers see what was written");
    volume.cut_power().expect("cut");
    assert_eq!(synced.write(&[5]).map_err(raw), Err(Some(libc::EIO)), "also to open files");
    assert_eq!(
        std::fs::read_dir(volume.mount_point()).map(drop).map_err(raw),
        Err(Some(libc::EIO))
    );
    drop(synced);
    volume.power_up().expect("up again");
    assert_eq!(std::fs::read(at("synced")).expect("there"), vec![1; 8192]);
    assert!(!at("unsynced").exists(), "its name was in no journal yet");
}

#[test]
fn a_sync_saves_what_was_written_before_the_kernel_forgot_the_file() {
    let Some((_directory, volume)) = volume() else { return };
    let path = volume.mount_point().join("file");
    std::fs::write(&path, "synced").expect("written");
    let number = || std::fs::metadata(&path).expect("there").ino();
    let before = number();
    let until = Instant::now() + SOON;
    while number() == before {
        assert!(Instant::now() < until, "the kernel holds on to the number {before}");
        // Mounting anew drops what the kernel remembers of this file system, and of no other.
        let flags = rustix::mount::MountFlags::NOSUID | rustix::mount::MountFlags::NODEV;
        if let Err(why) = rustix::mount::mount_remount(volume.mount_point(), flags, c"") {
            eprintln!("SKIPPED: {why}");
            return;
        }
    }
    File::options().append(true).open(&path).expect("open").sync_all().expect("synced");
    cut_and_up(&volume);
    assert_eq!(std::fs::read(&path).expect("there"), b"synced");
}

#[test]
fn a_file_that_is_opened_to_be_synchronous_and_a_mapping_that_was_synced_are_safe() {
    let Some((_directory, volume)) = volume() else { return };
    let target = format!("of={}", volume.mount_point().join("dsync").display());
    let args = ["if=/dev/zero", &target, "bs=4k", "count=8", "oflag=dsync", "status=none"];
    assert!(Command::new("dd").args(args).status().expect("dd").success());
    let script = "import mmap,os,sys\n\
        f=open(sys.argv[1],'w+b'); f.truncate(8192)\n\
        m=mmap.mmap(f.fileno(),8192); m[0:4]=b'safe'; m.flush()\n\
        os.fsync(f.fileno()); m[4096:4100]=b'gone'\n";
    let mapped = volume.mount_point().join("mapped");
    let ended = Command::new("python3").args(["-c", script]).arg(&mapped).status();
    assert!(ended.expect("python3").success());
    cut_and_up(&volume);
    assert_eq!(std::fs::read(volume.mount_point().join("dsync")).expect("there").len(), 8 * 4096);
    let bytes = std::fs::read(mapped).expect("there");
    assert_eq!((&bytes[..4], &bytes[4096..4100]), (&b"safe"[..], &[0; 4][..]));
}

#[test]
fn read_only_is_erofs_for_files_that_are_open_too_until_it_is_turned_back() {
    let Some((_directory, volume)) = volume() else { return };
    let mut file = File::create(volume.mount_point().join("file")).expect("made");
    file.write_all(b"before").expect("written");
    volume.turn_read_only().expect("turned");
    assert_eq!(volume.answer().expect("asked"), Answer::ReadOnly);
    assert_eq!(file.write(b"after").map_err(raw), Err(Some(libc::EROFS)));
    let created = File::create(volume.mount_point().join("new"));
    assert_eq!(created.map(drop).map_err(raw), Err(Some(libc::EROFS)));
    assert_eq!(std::fs::read(volume.mount_point().join("file")).expect("read"), b"before");
    volume.turn_writable().expect("writable again");
    file.write_all(b"after").expect("written");
}

#[test]
fn it_is_a_directory_as_others_are() {
    let Some((_directory, volume)) = volume() else { return };
    let root = volume.mount_point();
    std::fs::create_dir_all(root.join("a/b")).expect("made");
    std::fs::write(root.join("a/b/file"), "text").expect("written");
    std::os::unix::fs::symlink("b/file", root.join("a/link")).expect("linked");
    assert_eq!(std::fs::read_to_string(root.join("a/link")).expect("followed"), "text");
    std::fs::hard_link(root.join("a/b/file"), root.join("a/same")).expect("linked");
    let of = |name: &str| std::fs::metadata(root.join(name)).expect("there");
    assert_eq!((of("a/same").ino(), of("a/same").nlink()), (of("a/b/file").ino(), 2));
    let not_empty = std::fs::remove_dir(root.join("a"));
    assert_eq!(not_empty.map_err(raw), Err(Some(libc::ENOTEMPTY)));
    std::fs::set_permissions(root.join("a/same"), PermissionsExt::from_mode(0o640)).expect("set");
    assert_eq!(of("a/b/file").mode() & 0o7777, 0o640);
    let mut open = File::open(root.join("a/same")).expect("open");
    std::fs::remove_file(root.join("a/same")).expect("removed");
    std::fs::remove_file(root.join("a/b/file")).expect("removed");
    let mut text = String::new();
    open.read_to_string(&mut text).expect("a file that is open can be read without a name");
    assert_eq!(text, "text");
    open.seek(SeekFrom::Start(0)).expect("sought");
    let listener = std::os::unix::net::UnixListener::bind(root.join("socket")).expect("bound");
    std::os::unix::net::UnixStream::connect(root.join("socket")).expect("connected");
    drop(listener);
    let many: Vec<PathBuf> = (0..500).map(|n| root.join(format!("many-{n}"))).collect();
    many.iter().for_each(|path| std::fs::write(path, "x").expect("written"));
    let listed = std::fs::read_dir(root).expect("listed").count();
    assert_eq!(listed, 502, "a, socket and 500 more");
}

#[test]
fn a_database_on_it_keeps_what_it_committed_and_is_whole() {
    let Some((_directory, volume)) = volume() else { return };
    // EXTRA: with FULL, SQLite does not sync the directory after it removed its journal, and a cut
    // brings that back and with it the state before the last commit; as SQLite documents.
    let script = "import sqlite3,sys,time\n\
        c=sqlite3.connect(sys.argv[1]); c.execute('PRAGMA synchronous=EXTRA')\n\
        c.execute('PRAGMA journal_mode=%s' % sys.argv[2])\n\
        c.execute('CREATE TABLE IF NOT EXISTS t(n)')\n\
        for n in range(50):\n\
        \x20 c.execute('INSERT INTO t VALUES (?)',(n,)); c.commit()\n\
        print('ready',flush=True); time.sleep(1000)\n";
    for mode in ["delete", "wal"] {
        let path = volume.mount_point().join(format!("{mode}.db"));
        let mut command = Command::new("python3");
        command.args(["-c", script]).arg(&path).arg(mode);
        command.stdout(std::process::Stdio::piped());
        let mut database = Kept::start(&mut command);
        let mut ready = [0; 6];
        let out = database.0.stdout.as_mut().expect("piped");
        out.read_exact(&mut ready).expect("it gets there");
        volume.cut_power().expect("cut");
        database.end();
        volume.power_up().expect("up again");
        let look = "import sqlite3,sys\n\
            c=sqlite3.connect(sys.argv[1])\n\
            print(c.execute('PRAGMA integrity_check').fetchone()[0], \
            c.execute('SELECT count(*) FROM t').fetchone()[0])\n";
        let seen = Command::new("python3").args(["-c", look]).arg(&path).output().expect("python3");
        assert_eq!(String::from_utf8_lossy(&seen.stdout).trim(), "ok 50", "{mode}: {seen:?}");
    }
}

#[test]
fn a_mount_that_is_served_can_be_removed_from_under_its_server() {
    let Some((directory, volume)) = volume() else { return };
    let found = leftovers(directory.path()).expect("listed");
    assert_eq!(found, [Leftover::Forgetful { point: volume.mount_point().to_path_buf() }]);
    for line in clear(directory.path()) {
        line.expect("removed");
    }
    assert_eq!(leftovers(directory.path()).expect("listed"), []);
    drop(volume);
    assert_eq!(leftovers(directory.path()).expect("listed"), []);
}

/// What a directory of files should be: contents now and when they were last synced, names now and
/// when anything was last synced.
#[derive(Default)]
struct Model {
    now: BTreeMap<String, usize>,
    safe: BTreeMap<String, usize>,
    contents: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Model {
    fn sync(&mut self, name: &str) {
        let file = &mut self.contents[self.now[name]];
        file.1 = file.0.clone();
        self.safe = self.now.clone();
    }

    fn cut(&mut self) {
        self.now = self.safe.clone();
        for (now, safe) in &mut self.contents {
            now.clone_from(safe);
        }
    }

    fn agrees_with(&self, root: &Path, seed: u64) {
        let found: BTreeMap<String, Vec<u8>> = std::fs::read_dir(root)
            .expect("listed")
            .map(|entry| entry.expect("listed"))
            .map(|entry| {
                let bytes = std::fs::read(entry.path()).expect("read");
                (entry.file_name().into_string().expect("ours"), bytes)
            })
            .collect();
        let contents = |at: &usize| self.contents[*at].0.clone();
        let wanted: BTreeMap<String, Vec<u8>> =
            self.now.iter().map(|(name, at)| (name.clone(), contents(at))).collect();
        assert_eq!(found, wanted, "seed {seed}");
    }
}

fn step(root: &Path, model: &mut Model, rng: &mut ChaCha8Rng) {
    let name = format!("f{}", rng.random_range(0..4));
    let path = root.join(&name);
    let there = model.now.get(&name).copied();
    let Some(at) = there else {
        File::create_new(path).expect("made");
        model.contents.push((Vec::new(), Vec::new()));
        model.now.insert(name, model.contents.len() - 1);
        return;
    };
    let file = || File::options().read(true).write(true).open(&path).expect("open");
    let contents = &mut model.contents[at].0;
    match rng.random_range(0..10) {
        0..=3 => {
            let offset = rng.random_range(0..=contents.len() + 10);
            let bytes = vec![rng.random_range(1..255); rng.random_range(1..200)];
            contents.resize(contents.len().max(offset + bytes.len()), 0);
            contents[offset..offset + bytes.len()].copy_from_slice(&bytes);
            file().write_all_at(&bytes, offset as u64).expect("written");
        }
        4 => {
            let length = rng.random_range(0..300);
            contents.resize(length, 0);
            file().set_len(length as u64).expect("cut or grown");
        }
        5 => {
            std::fs::remove_file(&path).expect("removed");
            model.now.remove(&name);
        }
        6 | 7 => {
            let other = format!("f{}", rng.random_range(0..4));
            std::fs::rename(&path, root.join(&other)).expect("renamed");
            if other != name {
                model.now.remove(&name);
                model.now.insert(other, at);
            }
        }
        8 => {
            File::open(root).expect("open").sync_all().expect("synced");
            model.safe = model.now.clone();
        }
        _ => {
            file().sync_all().expect("synced");
            model.sync(&name);
        }
    }
}

#[test]
fn whatever_is_done_a_cut_leaves_what_a_simple_model_of_it_has() {
    let Some((_directory, volume)) = volume() else { return };
    let mut counted = 0;
    for seed in 0..150 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let root = volume.mount_point();
        let mut model = Model::default();
        let begun = Instant::now();
        for _ in 0..rng.random_range(5..60) {
            step(root, &mut model, &mut rng);
        }
        model.agrees_with(root, seed);
        volume.cut_power().expect("cut");
        let in_time = begun.elapsed() < SOON;
        volume.power_up().expect("up again");
        if in_time {
            model.cut();
            model.agrees_with(root, seed);
            counted += 1;
        }
        for entry in std::fs::read_dir(root).expect("listed") {
            std::fs::remove_file(entry.expect("listed").path()).expect("removed");
        }
        File::open(root).expect("open").sync_all().expect("synced");
    }
    assert!(counted > 0, "this machine is too slow to tell");
}

//! Disks that lose power, fill up and turn read-only.

use super::support::{Kept, may_mount, wait_until};
use assay_kernel::volume::{
    Answer, Leftover, VOLUME_BYTES_MIN, Volume, VolumeError, clear, leftovers, probe,
};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A directory and a volume in it, mounted at a path that the kernel writes with escapes.
fn volume() -> Option<(TempDir, Volume)> {
    if !may_mount() {
        return None;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let point = directory.path().join("data of\tn1\\x");
    let volume = Volume::make(&directory.path().join("n1.img"), &point, VOLUME_BYTES_MIN);
    Some((directory, volume.expect("a volume")))
}

fn write(volume: &Volume, name: &str, bytes: &[u8]) -> File {
    let mut file = File::create(volume.mount_point().join(name)).expect("a new file");
    file.write_all(bytes).expect("written");
    file
}

/// Waits until nothing is left of volumes: a namespace that another test is just making holds a
/// copy of every mount, and a process that it forks the device, until they have got rid of both.
fn nothing_is_left(directory: &Path) {
    wait_until("nothing is left", || leftovers(directory).expect("listed").is_empty());
}

fn raw(error: std::io::Error) -> Option<i32> {
    error.raw_os_error()
}

#[test]
fn what_was_synced_survives_a_cut_and_what_was_not_does_not() {
    let Some((_directory, volume)) = volume() else { return };
    let synced = write(&volume, "synced", &[1; 8192]);
    synced.sync_all().expect("synced");
    let mut synced = synced;
    synced.write_all(&[2; 8192]).expect("written");
    let unsynced = write(&volume, "unsynced", &[3; 8192]);
    assert_eq!(volume.answer().expect("asked"), Answer::Writable);
    volume.cut_power().expect("cut");
    assert_eq!(volume.answer().expect("asked"), Answer::Cut);
    assert_eq!(synced.write(&[4]).map_err(raw), Err(Some(libc::EIO)), "also to open files");
    drop((synced, unsynced));
    volume.power_up().expect("up again");
    assert_eq!(volume.answer().expect("asked"), Answer::Writable);
    let read = |name: &str| std::fs::read(volume.mount_point().join(name));
    assert_eq!(read("synced").expect("it is there"), vec![1; 8192]);
    // Its name may have got there by a commit of the kernel's own; its content may not.
    assert!(!read("unsynced").is_ok_and(|bytes| bytes.contains(&3)));
}

#[test]
fn power_comes_back_only_when_nobody_has_files_open_and_then_stays() {
    let Some((_directory, volume)) = volume() else { return };
    let file = write(&volume, "file", b"x");
    let mut holder = Command::new("sleep").arg("0.3").stdin(file).spawn().expect("sleep");
    volume.cut_power().expect("cut");
    volume.cut_power().expect("a second time changes nothing");
    volume.power_up().expect("it waits for the holder");
    assert!(holder.try_wait().expect("our child").is_some(), "the holder had to be gone");
    let open = write(&volume, "open", b"y");
    volume.power_up().expect("nothing to do");
    open.sync_all().expect("the file is not on a mount that was taken away");
}

#[test]
fn room_is_used_up_to_the_last_byte_and_given_back() {
    let Some((_directory, volume)) = volume() else { return };
    let free = volume.free_bytes().expect("asked");
    assert!(free > 0 && free < VOLUME_BYTES_MIN, "{free}");
    let mut file = write(&volume, "junk", b"");
    let block = vec![5; 1 << 16];
    let error = loop {
        match file.write_all(&block).and_then(|()| file.sync_data()) {
            Ok(()) => {}
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    assert!(volume.free_bytes().expect("asked") < block.len() as u64);
    drop(file);
    std::fs::remove_file(volume.mount_point().join("junk")).expect("removed");
    // A process that another test was just forking has the file open until it runs its program.
    wait_until("the room is given back", || volume.free_bytes().expect("asked") > free / 2);
}

#[test]
fn read_only_is_erofs_for_files_that_are_open_too_until_it_is_mounted_again() {
    let Some((_directory, volume)) = volume() else { return };
    let mut file = write(&volume, "file", b"before");
    file.sync_all().expect("synced");
    volume.turn_read_only().expect("turned");
    assert_eq!(volume.answer().expect("asked"), Answer::ReadOnly);
    let written = file.write_all(b"after").and_then(|()| file.sync_all());
    assert_eq!(written.map_err(raw), Err(Some(libc::EROFS)));
    let created = File::create(volume.mount_point().join("new"));
    assert_eq!(created.map(|_| ()).map_err(raw), Err(Some(libc::EROFS)));
    drop(file);
    volume.turn_writable().expect("writable again");
    assert_eq!(volume.answer().expect("asked"), Answer::Writable);
    let text = std::fs::read(volume.mount_point().join("file")).expect("it is there");
    assert_eq!(text, b"before");
}

/// Somebody who has copies of all mounts, as a container that was started meanwhile.
fn other_namespace() -> Kept {
    let holder = Kept::start(Command::new("unshare").args(["--mount", "sleep", "1000"]));
    let comm = format!("/proc/{}/comm", holder.0.id());
    wait_until("it has its namespace", || {
        std::fs::read_to_string(&comm).is_ok_and(|comm| comm == "sleep\n")
    });
    holder
}

#[test]
fn a_copy_of_the_mount_in_another_namespace_keeps_nothing_from_coming_back_or_going() {
    let Some((directory, volume)) = volume() else { return };
    write(&volume, "file", b"synced").sync_all().expect("synced");
    let holder = other_namespace();
    volume.cut_power().expect("cut");
    volume.power_up().expect("the copy does not keep the broken one alive");
    let text = std::fs::read(volume.mount_point().join("file")).expect("it is there");
    assert_eq!(text, b"synced");
    volume.turn_read_only().expect("turned");
    let second = other_namespace();
    volume.turn_writable().expect("writable again");
    let third = other_namespace();
    drop(volume);
    assert_eq!(leftovers(directory.path()).expect("listed"), []);
    [holder, second, third].into_iter().for_each(Kept::end);
}

#[test]
fn mounts_and_loop_devices_are_found_by_their_place_and_go_with_the_volume() {
    let Some((directory, volume)) = volume() else { return };
    let found = leftovers(directory.path()).expect("listed");
    let [Leftover::Mount { point, device }, Leftover::Loop { device: of_loop, image }] =
        found.as_slice()
    else {
        panic!("one mount and one loop device, not {found:?}");
    };
    assert_eq!(point, volume.mount_point());
    assert_eq!(image, &directory.path().join("n1.img").canonicalize().expect("it is there"));
    assert_eq!(device, of_loop);
    let elsewhere = tempfile::tempdir().expect("a temporary directory");
    assert_eq!(leftovers(elsewhere.path()).expect("listed"), []);
    drop(volume);
    nothing_is_left(directory.path());
    assert_eq!(clear(directory.path()), Vec::new());
}

#[test]
fn what_cannot_become_a_volume_is_refused_without_a_trace() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (image, point) = (directory.path().join("image"), directory.path().join("mount"));
    let small = Volume::make(&image, &point, VOLUME_BYTES_MIN - 1);
    assert!(matches!(small, Err(VolumeError::TooSmall { .. })));
    assert!(!image.exists() && !point.exists());
    std::fs::write(&image, b"precious").expect("a file");
    assert!(Volume::make(&image, &point, VOLUME_BYTES_MIN).is_err(), "the image exists");
    assert_eq!(std::fs::read(&image).expect("untouched"), b"precious");
}

#[test]
fn trying_tells_that_volumes_can_be_had_and_leaves_nothing() {
    if !may_mount() {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    probe(directory.path()).expect("root can");
    assert_eq!(std::fs::read_dir(directory.path()).expect("a directory").count(), 0);
    nothing_is_left(directory.path());
}

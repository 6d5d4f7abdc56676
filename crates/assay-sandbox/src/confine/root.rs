//! A root directory of its own: programs of the host to read and run, the directories of the
//! session, and what is gone with the call.

use super::held::{self, Held, Place};
use super::{Trouble, by};
use crate::job::{Job, Tier, Wires};
use crate::keeper::USER_INSIDE;
use crate::workspace::open_whole;
use assay_kernel::jail::name_host;
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change,
    mount_remount, unmount,
};
use rustix::process::{chdir, pivot_root};
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Where a session has its directories inside.
pub(super) const WORKSPACE: &str = "/workspace";
pub(super) const OUTPUTS: &str = "/mnt/session/outputs";
/// What programs are made of; links of the host become links inside.
const PROGRAMS: [&str; 7] = ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"];
/// Settings without which programs are not found, or find no certificates.
pub(super) const SETTINGS: [&str; 12] = [
    "alternatives",
    "ca-certificates",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "pki/tls/certs",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
];
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
/// How large the directory itself may be: it holds names and a few lines.
const ROOT_BYTES_MAX: u64 = 1 << 20;
/// Safe for whatever is written by somebody who is not trusted.
const SAFE: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV);

/// Puts it together and goes there: nothing else can be reached afterwards.
pub(super) fn build(job: &Job, held: &Held) -> Result<(), Trouble> {
    let root = job.host.root.as_path();
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(by("keeping mounts private"))?;
    tmpfs(root, ROOT_BYTES_MAX, 0o755).map_err(by("mounting a root directory"))?;
    programs(root).map_err(by("mounting programs"))?;
    settings(job, root).map_err(by("making /etc"))?;
    devices(job, root).map_err(by("making /dev"))?;
    let process = root.join("proc");
    std::fs::create_dir(&process).map_err(by("making /proc"))?;
    session(job, root, held).map_err(by("mounting the directories of the session"))?;
    mount("proc", &process, "proc", SAFE | MountFlags::NOEXEC, None)
        .map_err(by("mounting /proc"))?;
    chdir(root).map_err(by("going there"))?;
    pivot_root(".", ".").map_err(by("making it the root directory"))?;
    unmount(".", UnmountFlags::DETACH).map_err(by("leaving the old root directory"))?;
    chdir("/").map_err(by("going there"))?;
    let read_only = MountFlags::BIND | MountFlags::RDONLY | SAFE;
    mount_remount("/", read_only, "").map_err(by("keeping it as it is"))?;
    name_host("sandbox").map_err(by("naming the host"))
}

fn tmpfs(at: &Path, bytes: u64, mode: u32) -> io::Result<()> {
    std::fs::create_dir_all(at)?;
    let options = CString::new(format!("size={bytes},nr_inodes=65536,mode={mode:o}"))?;
    Ok(mount("tmpfs", at, "tmpfs", SAFE, Some(options.as_c_str()))?)
}

fn programs(root: &Path) -> io::Result<()> {
    for name in PROGRAMS {
        let host = Path::new("/").join(name);
        match std::fs::read_link(&host) {
            Ok(to) => symlink(to, root.join(name))?,
            Err(_) if host.is_dir() => bind_read_only(&host, &root.join(name))?,
            Err(_) => {}
        }
    }
    Ok(())
}

fn settings(job: &Job, root: &Path) -> io::Result<()> {
    let user = if job.tier == Tier::UserNamespaces { USER_INSIDE } else { job.user.unwrap_or(0) };
    let etc = root.join("etc");
    std::fs::create_dir(&etc)?;
    let files = [
        ("passwd", format!("agent:x:{user}:{user}::/workspace:/bin/sh\n")),
        ("group", format!("agent:x:{user}:\n")),
        ("hosts", "127.0.0.1 localhost sandbox\n::1 localhost\n".to_string()),
        ("hostname", "sandbox\n".to_string()),
    ];
    for (name, text) in files {
        std::fs::write(etc.join(name), text)?;
    }
    let resolver = (job.network == Wires::Whole).then_some("resolv.conf");
    for name in SETTINGS.into_iter().chain(resolver) {
        let host = Path::new("/etc").join(name);
        if host.exists() {
            bind_read_only(&host, &etc.join(name))?;
        }
    }
    Ok(())
}

fn devices(job: &Job, root: &Path) -> io::Result<()> {
    let directory = root.join("dev");
    std::fs::create_dir(&directory)?;
    for name in DEVICES {
        let inside = directory.join(name);
        std::fs::write(&inside, "")?;
        mount_bind_recursive(Path::new("/dev").join(name), &inside)?;
    }
    let links = [("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")];
    for (name, number) in links {
        symlink(format!("/proc/self/fd{number}"), directory.join(name))?;
    }
    tmpfs(&directory.join("shm"), job.limits.scratch_bytes, 0o1777)
}

fn session(job: &Job, root: &Path, held: &Held) -> io::Result<()> {
    // Before what is lent: that may be below it.
    tmpfs(&root.join("tmp"), job.limits.scratch_bytes, 0o1777)?;
    std::fs::create_dir_all(root.join("var"))?;
    symlink("/tmp", root.join("var/tmp"))?;
    let uploads = root.join("mnt/session/uploads");
    std::fs::create_dir_all(&uploads)?;
    let lent: Vec<PathBuf> = held.all().map(|place| below(root, &place.path)).collect();
    mount_held(root, held)?;
    let (workspace, outputs) = match (&held.written, &lent[..]) {
        (Some([files, outputs]), [inside, inside_outputs, ..]) => {
            symlink(&files.path, below(root, Path::new(WORKSPACE)))?;
            symlink(&outputs.path, below(root, Path::new(OUTPUTS)))?;
            (inside.clone(), inside_outputs.clone())
        }
        _ => {
            let usual = [WORKSPACE, OUTPUTS].map(|usual| below(root, Path::new(usual)));
            bind(&job.host.workspace, &usual[0])?;
            bind(&job.host.outputs, &usual[1])?;
            let [workspace, outputs] = usual;
            (workspace, outputs)
        }
    };
    set_flags(&workspace, SAFE)?;
    set_flags(&outputs, SAFE | MountFlags::NOEXEC)?;
    for place in &held.read {
        set_flags(&below(root, &place.path), SAFE | MountFlags::RDONLY)?;
    }
    if let Some(skills) = &job.host.skills {
        let inside = workspace.join("skills");
        make_plain(&inside)?;
        let point = held::point(&open_whole(&workspace)?, Path::new("skills"), true)?;
        mount_bind_recursive(skills, held::name(&point))?;
        set_flags(&inside, SAFE | MountFlags::RDONLY)?;
    }
    bind(&job.host.uploads, &uploads)?;
    set_flags(&uploads, SAFE | MountFlags::NOEXEC | MountFlags::RDONLY)
}

/// Mounts what is lent, where it is on the host. What it is mounted on is made and held before
/// anything in which tools write is there: nobody but this process can have put a link there.
fn mount_held(root: &Path, held: &Held) -> io::Result<()> {
    let top = open_whole(root)?;
    let point = |place: &Place| held::point(&top, &place.path, place.is_dir()?);
    let points = held.all().map(point).collect::<io::Result<Vec<_>>>()?;
    for (place, point) in held.all().zip(&points) {
        mount_bind_recursive(held::name(&place.file), held::name(point))?;
    }
    Ok(())
}

/// A whole path, below the directory that becomes the root.
fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// Makes a directory where tools can write. What they put there instead, in a sandbox that could
/// not keep them from it, leads nowhere.
fn make_plain(at: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(at) {
        Ok(facts) if facts.is_dir() => return Ok(()),
        Ok(_) => std::fs::remove_file(at)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    std::fs::create_dir(at)
}

fn bind_read_only(host: &Path, inside: &Path) -> io::Result<()> {
    bind(host, inside)?;
    set_flags(inside, SAFE | MountFlags::RDONLY)
}

fn bind(host: &Path, inside: &Path) -> io::Result<()> {
    if host.is_dir() {
        std::fs::create_dir_all(inside)?;
    } else {
        inside.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(inside, "")?;
    }
    Ok(mount_bind_recursive(host, inside)?)
}

/// Adds flags to a mount and to all below it. Those it has must stay: where we are not root the
/// kernel does not let go of them.
fn set_flags(at: &Path, flags: MountFlags) -> io::Result<()> {
    let table = std::fs::read("/proc/self/mountinfo")?;
    for line in table.split(|byte| *byte == b'\n') {
        let mut fields = line.split(|byte| *byte == b' ').skip(4);
        let (Some(point), Some(options)) = (fields.next(), fields.next()) else { continue };
        let point = unescaped(point);
        if point.starts_with(at) {
            mount_remount(&point, MountFlags::BIND | flags | now(options), "")?;
        }
    }
    Ok(())
}

/// Blanks and the like are written as octal numbers.
fn unescaped(text: &[u8]) -> PathBuf {
    let (mut bytes, mut at) = (Vec::with_capacity(text.len()), 0);
    while let Some(byte) = text.get(at) {
        let digits = text.get(at + 1..at + 4).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(escaped) if *byte == b'\\' => (bytes.push(escaped), at += 4).0,
            _ => (bytes.push(*byte), at += 1).0,
        }
    }
    PathBuf::from(std::ffi::OsStr::from_bytes(&bytes))
}

fn now(options: &[u8]) -> MountFlags {
    let one = |option: &[u8]| match option {
        b"ro" => MountFlags::RDONLY,
        b"nosuid" => MountFlags::NOSUID,
        b"nodev" => MountFlags::NODEV,
        b"noexec" => MountFlags::NOEXEC,
        b"noatime" => MountFlags::NOATIME,
        b"nodiratime" => MountFlags::NODIRATIME,
        b"relatime" => MountFlags::RELATIME,
        _ => MountFlags::empty(),
    };
    options.split(|byte| *byte == b',').map(one).fold(MountFlags::empty(), MountFlags::union)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_as_the_kernel_writes_them() {
        assert_eq!(unescaped(br"/a\040b\134c"), Path::new(r"/a b\c"));
        assert_eq!(unescaped(br"/a\04"), Path::new(r"/a\04"));
        assert_eq!(now(b"rw,nosuid,relatime"), MountFlags::NOSUID | MountFlags::RELATIME);
        assert_eq!(now(b"ro,nodev"), MountFlags::RDONLY | MountFlags::NODEV);
    }
}

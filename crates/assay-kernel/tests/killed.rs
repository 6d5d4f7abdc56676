//! What takes a process of its own: being killed with volumes and groups in the world, and not
//! being allowed to make any.
//!
//! The program starts itself again in another role, so it has no test harness: a harness would list
//! the roles as tests that pass without testing anything.

use assay_kernel::cgroup::{self, CoreShare, Group};
use assay_kernel::volume::{self, VOLUME_BYTES_MIN, Volume};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Nobody, by convention.
const NOBODY: u32 = 65534;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("--role-make") => make_and_wait(Path::new(&args[2])),
        Some("--role-probe") => probe(Path::new(&args[2])),
        _ if !is_root() => eprintln!("SKIPPED: not root: there is nothing a kill could leave"),
        _ => {
            killed();
            println!("test what_a_killed_process_left_is_found_by_its_place_and_removed ... ok");
            unprivileged();
            println!("test without_privilege_trying_says_what_to_do_and_leaves_nothing ... ok");
        }
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Makes a volume, one that is cut, and a frozen and limited group, says so, and waits to be
/// killed.
fn make_and_wait(run: &Path) {
    let make = |name: &str| {
        let (image, point) = (run.join(format!("{name}.img")), run.join(name));
        Volume::make(&image, &point, VOLUME_BYTES_MIN).expect("a volume")
    };
    let volumes = [make("n1"), make("n2")];
    volumes[1].cut_power().expect("cut");
    let group = Group::make(run, "n1").expect("a group");
    let mut command = Command::new("sleep");
    group.join_on_exec(command.arg("600").stdout(Stdio::null())).expect("it can be joined");
    let mut child = command.spawn().expect("sleep can be started");
    group.limit_cpu(CoreShare::percent(1).expect("more than nothing")).expect("limited");
    group.freeze().expect("frozen");
    println!("{}", child.id());
    // Its child is frozen and never ends: this waits to be killed.
    child.wait().expect("our child");
}

fn killed() {
    let run = tempfile::tempdir().expect("a temporary directory");
    let before = traces();
    let itself = std::env::current_exe().expect("this program has a path");
    let mut maker = Command::new(itself)
        .arg("--role-make")
        .arg(run.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program can be started again");
    let mut line = String::new();
    let out = maker.stdout.take().expect("stdout is piped");
    BufReader::new(out).read_line(&mut line).expect("it says something");
    let sleeper: u32 = line.trim().parse().expect("the number of its child");
    maker.kill().expect("it runs");
    maker.wait().expect("it is gone");

    let left = ours(&traces(), &before, run.path());
    assert!(left.len() > 4, "mounts, loop devices and groups outlive a kill: {left:?}");
    let volumes = volume::clear(run.path());
    let groups = cgroup::clear(run.path());
    for line in volumes.iter().chain(&groups) {
        println!("  {}", line.as_ref().expect("everything can be undone"));
    }
    assert_eq!((volumes.len(), groups.len() >= 2), (4, true));
    assert_eq!(ours(&traces(), &before, run.path()), BTreeSet::new());
    // It is alive, not frozen any more, and nobody else's business to end.
    let state = std::fs::read_to_string(format!("/proc/{sleeper}/stat")).expect("it lives");
    assert!(state.contains("(sleep) S"), "{state}");
    Command::new("kill").args(["-9", &sleeper.to_string()]).status().expect("kill");
    assert_eq!(volume::clear(run.path()), Vec::new());
    assert_eq!(cgroup::clear(run.path()), Vec::new());
}

/// Everything of the kind that could be left, found without the code under test.
fn traces() -> BTreeSet<String> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("readable");
    let mut all: BTreeSet<String> = mounts.lines().map(str::to_string).collect();
    let find = |args: &[&str]| {
        let output = Command::new("find").args(args).output().expect("find can be started");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    all.extend(find(&["/sys/fs/cgroup", "-type", "d"]).lines().map(str::to_string));
    for device in find(&["/sys/block", "-name", "loop*"]).lines() {
        let image = std::fs::read_to_string(Path::new(device).join("loop/backing_file"));
        all.extend(image.map(|image| format!("{device} {}", image.trim())));
    }
    all
}

/// What is new and ours: others may come and go meanwhile.
fn ours(now: &BTreeSet<String>, before: &BTreeSet<String>, run: &Path) -> BTreeSet<String> {
    let place = run.to_str().expect("temporary directories have plain names");
    let new = now.difference(before);
    let is_ours = |trace: &&String| trace.contains(place) || trace.ends_with("/n1");
    new.filter(is_ours).cloned().collect()
}

/// Tries both as somebody who may not, and demands a sentence of each.
fn probe(directory: &Path) {
    let error = volume::probe(directory).expect_err("nobody may mount").to_string();
    assert!(error.contains("run as root"), "{error}");
    println!("  {error}");
    for probed in cgroup::probe(None) {
        let error = probed.result.expect_err("nobody may make groups").to_string();
        assert!(error.contains("need root") || error.contains("no control group"), "{error}");
        println!("  {error}");
    }
    assert_eq!(std::fs::read_dir(directory).expect("a directory").count(), 0);
}

fn unprivileged() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let open = |path: &Path, mode| {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("ours");
    };
    open(directory.path(), 0o755);
    // Where this program was built nobody else may be allowed to look.
    let program: PathBuf = directory.path().join("program");
    std::fs::copy(std::env::current_exe().expect("a path"), &program).expect("a copy");
    let room = directory.path().join("room");
    std::fs::create_dir(&room).expect("a directory");
    open(&room, 0o777);
    let mut command = Command::new(program);
    let status = command.arg("--role-probe").arg(&room).uid(NOBODY).gid(NOBODY).status();
    assert!(status.expect("it can be started").success());
}

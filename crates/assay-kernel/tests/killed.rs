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
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Long enough for a machine that does ten other things.
const PATIENCE: Duration = Duration::from_secs(60);
/// Nobody, by convention.
const NOBODY: u32 = 65534;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("--role-make") => make_and_wait(Path::new(&args[2])),
        Some("--role-try") => try_for_ever(Path::new(&args[2])),
        Some("--role-serve") => serve_and_wait(Path::new(&args[2])),
        Some("--role-probe") => probe(Path::new(&args[2])),
        _ if !is_root() => eprintln!("SKIPPED: not root: there is nothing a kill could leave"),
        _ => {
            killed();
            println!("test what_a_killed_process_left_is_found_by_its_place_and_removed ... ok");
            killed_while_trying();
            println!("test what_a_killed_probe_left_is_gone_after_the_next ... ok");
            killed_while_serving();
            println!("test a_mount_that_nobody_serves_is_found_and_removed ... ok");
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

/// Looks what this machine allows, again and again.
fn try_for_ever(directory: &Path) {
    loop {
        volume::probe(directory).expect("root may mount");
        let probed = cgroup::probe(None);
        assert!(probed.iter().any(|one| one.result.is_ok()), "{probed:?}");
    }
}

fn start(role: &str, directory: &Path) -> Child {
    let itself = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(itself);
    command.arg(role).arg(directory).stdout(Stdio::piped());
    command.spawn().expect("this program can be started again")
}

fn signal(name: &str, pid: u32) {
    let sent = Command::new("kill").args([name, &pid.to_string()]).status();
    assert!(sent.expect("kill runs").success(), "{name} {pid}");
}

fn is_stopped(pid: u32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    state.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
}

/// Waits for something, and gives up after a while.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "waited {PATIENCE:?} for {what}");
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

/// What probes of somebody have on this machine.
fn of_probes(directory: &Path, pid: u32) -> BTreeSet<String> {
    let (place, group) = (directory.to_str().expect("plain"), format!("assay-probe-{pid}-"));
    let mut all = traces();
    all.extend(
        std::fs::read_dir(directory)
            .expect("listed")
            .flatten()
            .map(|entry| entry.path().to_string_lossy().into_owned()),
    );
    all.retain(|trace| trace.contains(place) || trace.contains(&group));
    all
}

fn killed_while_trying() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    // Once while there is a volume, and once while there is a group.
    for wanted in ["/mount ", "assay-probe-"] {
        let mut prober = start("--role-try", directory.path());
        let pid = prober.id();
        let is_there = |trace: &String| trace.contains(wanted);
        // Stopped first, and killed where it stands: between a look and a kill it would get on.
        until("a probe that leaves something", || {
            of_probes(directory.path(), pid).iter().find(|trace| is_there(trace))?;
            signal("-STOP", pid);
            until("a probe that stands still", || is_stopped(pid).then_some(()));
            let is_left = of_probes(directory.path(), pid).iter().any(is_there);
            if !is_left {
                signal("-CONT", pid);
            }
            is_left.then_some(())
        });
        prober.kill().and_then(|()| prober.wait()).expect("our child");
        let left = of_probes(directory.path(), pid);
        assert!(left.iter().any(is_there), "{wanted} is gone with it: {left:?}");
        println!("  left by a killed probe: {left:?}");
        volume::probe(directory.path()).expect("root may mount");
        cgroup::probe(None);
        assert_eq!(of_probes(directory.path(), pid), BTreeSet::new());
    }
    // One that goes on is left alone.
    let mut prober = start("--role-try", directory.path());
    let pid = prober.id();
    until("a probe", || of_probes(directory.path(), pid).pop_first());
    for _ in 0..20 {
        volume::clear_probes(directory.path());
        cgroup::clear_probes();
        assert!(prober.try_wait().expect("our child").is_none(), "its own probes have failed");
    }
    prober.kill().and_then(|()| prober.wait()).expect("our child");
    volume::clear_probes(directory.path());
    cgroup::clear_probes();
    assert_eq!(of_probes(directory.path(), pid), BTreeSet::new());
}

/// Serves a directory that forgets, with a file that was not synced.
fn serve_and_wait(run: &Path) {
    let volume = Volume::forgetful(&run.join("store"), &run.join("point")).expect("served");
    std::fs::write(volume.mount_point().join("file"), "text").expect("written");
    println!("ready");
    std::thread::park_timeout(PATIENCE);
}

fn killed_while_serving() {
    let run = tempfile::tempdir().expect("a temporary directory");
    if let Err(why) = volume::probe_forgetful(run.path()) {
        return eprintln!("SKIPPED: {why}");
    }
    let mut server = start("--role-serve", run.path());
    let mut line = String::new();
    let out = server.stdout.take().expect("stdout is piped");
    BufReader::new(out).read_line(&mut line).expect("it says something");
    assert_eq!(line, "ready\n");
    server.kill().and_then(|()| server.wait()).expect("our child");
    let point = run.path().join("point");
    assert!(std::fs::read_dir(&point).is_err(), "nobody answers there");
    let found = volume::leftovers(run.path()).expect("listed");
    assert_eq!(found, [volume::Leftover::Forgetful { point: point.clone() }]);
    for line in volume::clear(run.path()) {
        println!("  {}", line.expect("it can be undone"));
    }
    assert_eq!(volume::leftovers(run.path()).expect("listed"), []);
    assert_eq!(std::fs::read_dir(&point).expect("an empty directory again").count(), 0);
    let kept = std::fs::read_to_string(run.path().join("store/tree/file")).expect("kept");
    assert_eq!(kept, "text", "nobody cut the power: nothing is lost");
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

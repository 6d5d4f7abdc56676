//! What takes a process of its own: being killed in the middle of a fault, and a disk that is
//! really full.
//!
//! The program starts itself again in another role, so it has no test harness: a harness would list
//! the roles as tests that pass without testing anything.

use assay_nemesis::{
    Action, Corruption, Damage, Direction, Fault, FaultId, Fill, Flow, Injector, LinkRule, Mesh,
    Process, ProcessState, Rules, Victim, Window, heal_journal,
};
use assay_verdict::LandingState;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("--role-inject") => {
            inject_and_wait(Path::new(&args[2]), args[3].parse().expect("a pid"))
        }
        Some("--role-fill") => fill(Path::new(&args[2])),
        _ => {
            killed_in_the_middle_of_faults();
            println!(
                "test a_killed_injector_leaves_nothing_behind_that_its_journal_cannot_heal ... ok"
            );
            full_disk();
        }
    }
}

fn fault(id: &str, action: Action) -> Fault {
    let id = FaultId::named(id).expect("an id of the catalogue");
    Fault { id, target: "n1".to_string(), window: Window::default(), action }
}

/// Injects several faults, says so, and waits to be killed.
fn inject_and_wait(directory: &Path, pid: u32) {
    let mesh = Arc::new(Mesh::new(1).expect("a mesh"));
    let link = mesh.add("a", "b", "127.0.0.1:9".parse().expect("an address")).expect("a link");
    let injector = Injector::new(&directory.join("nemesis.jsonl"), Some(mesh)).expect("a journal");
    let process = Process::of(pid).expect("the parent has started it");
    let corruption =
        Corruption { path: directory.join("wal"), damage: Damage::FlipBits { count: 3, seed: 1 } };
    let rules = Rules::flow(Flow::Drop);
    let cut = vec![LinkRule { link, direction: Direction::Request, rules }];
    let faults = [
        fault("part-full", Action::Links(cut)),
        fault("pause", Action::Pause(vec![process])),
        fault("corrupt", Action::Corrupt(corruption)),
    ];
    let inject = |fault| injector.inject(fault, Victim::unasked()).expect("on");
    let _guards = faults.map(inject);
    println!("faults are on");
    loop {
        std::thread::park();
    }
}

fn killed_in_the_middle_of_faults() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let wal = directory.path().join("wal");
    std::fs::write(&wal, vec![7; 1000]).expect("a file");
    let mut victim = Command::new("sleep").arg("600").spawn().expect("sleep can be started");
    let process = Process::of(victim.id()).expect("it runs");
    let mut injector = again(&["--role-inject".as_ref(), directory.path().as_ref()])
        .arg(victim.id().to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program can be started again");
    let mut line = String::new();
    let out = injector.stdout.take().expect("stdout is piped");
    BufReader::new(out).read_line(&mut line).expect("it says something");
    assert_eq!(line, "faults are on\n");
    assert_eq!(process.state().expect("readable"), ProcessState::Stopped);
    assert_ne!(std::fs::read(&wal).expect("a file"), vec![7; 1000]);

    injector.kill().expect("it runs");
    injector.wait().expect("it is gone");
    assert_eq!(process.state().expect("readable"), ProcessState::Stopped, "nobody healed yet");
    let report = heal_journal(&directory.path().join("nemesis.jsonl")).expect("readable");
    assert!(report.is_whole(), "{report:?}");
    let healed: Vec<&str> = report.faults.iter().map(|fault| fault.id.as_str()).collect();
    assert_eq!(healed, ["corrupt", "pause", "part-full"], "the last one first");
    assert_eq!(process.state().expect("readable"), ProcessState::Alive);
    assert_eq!(std::fs::read(&wal).expect("a file"), vec![7; 1000]);
    victim.kill().expect("it runs");
    victim.wait().expect("it is gone");
}

/// This program in another role.
fn again(args: &[&std::ffi::OsStr]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.args(args);
    command
}

/// Mounts a small file system where only this test sees it, and fills it.
fn full_disk() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mount = "mount -t tmpfs -o size=256k tmpfs \"$1\" && exec \"$0\" --role-fill \"$1\"";
    let itself: PathBuf = std::env::current_exe().expect("this program has a path");
    let tried = Command::new("unshare").args(["-Urm", "true"]).output();
    if !tried.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED a_disk_is_filled_until_nothing_fits: no user namespaces here");
        return;
    }
    let status = Command::new("unshare")
        .args(["-Urm", "sh", "-c", mount])
        .args([itself.as_path(), directory.path()])
        .status()
        .expect("unshare can be started");
    assert!(status.success(), "the disk was not filled: {status}");
    println!("test a_disk_is_filled_until_nothing_fits ... ok");
}

fn fill(directory: &Path) {
    // The journal has to be elsewhere: it must be writable when the disk is full.
    let elsewhere = tempfile::tempdir().expect("a temporary directory");
    let injector = Injector::new(&elsewhere.path().join("nemesis.jsonl"), None).expect("a journal");
    let disk = directory.to_path_buf();
    let data = directory.join("data");
    let failures = move || {
        let written = std::fs::write(&data, [1; 10]);
        // What stays would keep a page for the next attempt.
        std::fs::remove_file(&data).ok();
        Some(u64::from(written.is_err()))
    };
    let inject = |quota_bytes| {
        let action = Action::Fill(Fill { directory: disk.clone(), quota_bytes });
        injector.inject(fault("disk-full", action), Victim::new("failed writes", failures.clone()))
    };
    assert!(inject(1000).is_err(), "there is more room than the quota allows to use");
    let mut guard = inject(1 << 20).expect("256 KiB are less than the quota");
    let landing = guard.sample();
    assert_eq!(landing.state(), LandingState::Landed, "{}", landing.evidence());
    let healed = guard.heal().expect("healed");
    assert_eq!(healed.landing.victim.after, Some(0), "writes work again");
    assert_eq!(healed.landing.injector.after, Some(0), "no junk is left");
}

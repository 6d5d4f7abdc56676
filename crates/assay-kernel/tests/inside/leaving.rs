//! How one leaves: by an exit code, by a signal, by `kill -9`; and what is left behind.

use crate::support::{PATIENCE, network, wait_until};
use assay_kernel::inside::{InsideError, Program, enter_with};
use assay_kernel::net::HubKind;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;

/// Builds a network, starts a process in it, says which namespaces there are, and waits.
pub fn hold() {
    let network = network(HubKind::Switch);
    let mut node = Command::new("sleep");
    network.enter_on_exec("n1", node.arg("600")).expect("it is in the network");
    let mut node = node.spawn().expect("it can be started");
    let own = [PathBuf::from("/proc/self/ns/pid"), PathBuf::from("/proc/self/ns/net")];
    let files = std::fs::read_dir("/proc/self/fd").expect("/proc is mounted").flatten();
    let links = files.map(|entry| entry.path()).chain(own);
    let spaces: BTreeSet<String> = links
        .filter_map(|path| std::fs::read_link(path).ok())
        .map(|link| link.display().to_string())
        .filter(|link| link.starts_with("net:[") || link.starts_with("pid:["))
        .collect();
    println!("{}", spaces.into_iter().collect::<Vec<_>>().join(" "));
    node.wait().expect("it outlives this process");
}

fn started(mut command: Command) -> (Child, BufReader<ChildStdout>, String) {
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it can be started");
    let mut out = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let mut line = String::new();
    out.read_line(&mut line).expect("it says something");
    (child, out, line)
}

/// Namespaces that a process of this machine is in, or holds.
fn namespaces() -> BTreeSet<String> {
    let processes = std::fs::read_dir("/proc").expect("/proc is mounted").flatten();
    let mut found = BTreeSet::new();
    for process in processes.map(|entry| entry.path()) {
        let files = std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        let own = ["ns/net", "ns/pid", "ns/pid_for_children"].map(|name| process.join(name));
        let links = files.map(|entry| entry.path()).chain(own);
        let links = links.filter_map(|path| std::fs::read_link(path).ok());
        found.extend(links.map(|link| link.display().to_string()));
    }
    found
}

fn interfaces() -> BTreeSet<String> {
    let table = std::fs::read_to_string("/proc/net/dev").expect("/proc is mounted");
    table.lines().filter_map(|line| Some(line.split_once(':')?.0.trim().to_string())).collect()
}

pub fn kill_leaves_nothing(mut outer: Command) {
    let before = interfaces();
    outer.arg("--role-hold");
    let (mut child, mut out, line) = started(outer);
    let spaces: Vec<&str> = line.split_whitespace().collect();
    // This process, three nodes, clients, and the PID namespace; the hub is held by its sockets.
    assert!(spaces.len() >= 6, "{line}");
    let there = namespaces();
    if crate::support::is_root() {
        assert!(spaces.iter().all(|space| there.contains(*space)), "{line}");
    }
    child.kill().expect("it runs");
    child.wait().expect("it is gone");
    // Everybody inside holds this pipe, so its end is the end of the last of them.
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || tell.send(out.read_to_end(&mut Vec::new()).is_ok()));
    assert_eq!(told.recv_timeout(PATIENCE), Ok(true), "a process inside has outlived kill -9");
    wait_until("no process is in or holds a namespace of it", || {
        let left = namespaces();
        spaces.iter().all(|space| !left.contains(*space))
    });
    assert_eq!(interfaces(), before);
}

/// The same command, which hears SIGINT even if whoever started these tests ignores it, as a shell
/// does for its jobs in the background: what is ignored is inherited.
fn hearing_interrupts(command: &Command) -> Command {
    let mut hearing = Command::new("env");
    hearing.arg("--default-signal=INT").arg(command.get_program()).args(command.get_args());
    let set = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    hearing.envs(set);
    if let Some(directory) = command.get_current_dir() {
        hearing.current_dir(directory);
    }
    hearing
}

pub fn exit_codes(program: &dyn Fn() -> Command) {
    let status = program().arg("--role-exit").status().expect("it can be started");
    assert_eq!(status.code(), Some(7));
    for (signal, code) in [("-TERM", 143), ("-INT", 130)] {
        let mut outer = hearing_interrupts(&program());
        outer.arg("--role-hold");
        let (mut child, _out, _line) = started(outer);
        let pid = child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status().expect("kill can be started");
        assert!(sent.success());
        assert_eq!(child.wait().expect("it ends").code(), Some(code), "{signal}");
    }
}

pub fn unknown_program() {
    let path = PathBuf::from("/no/such/program");
    let missing = Program { path: path.clone(), args: Vec::new(), env: Vec::new() };
    let error = enter_with(&missing).expect_err("there is none");
    assert!(matches!(&error, InsideError::Program { program, .. } if *program == path), "{error}");
}

pub fn orphans_are_reaped() {
    let shell = Command::new("sh").args(["-c", "sleep 0.01 & echo $!"]).output();
    let orphan = String::from_utf8(shell.expect("a shell").stdout).expect("a number");
    let path = PathBuf::from("/proc").join(orphan.trim());
    wait_until("an orphan ends and is reaped", || !path.exists());
}

//! Namespaces of our own and networks in them, as root and as nobody.
//!
//! The program starts itself again in other roles, so it has no test harness: a harness would list
//! the roles as tests that pass without testing anything.

mod leaving;
mod names;
mod packets;
mod speed;
mod support;
mod wires;

use assay_kernel::inside::{Place, enter, is_inside};
use assay_kernel::net::{HubKind, NetError, Network, NetworkSpec};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    let role = std::env::args().nth(1);
    match role.as_deref() {
        Some("--role-checks") => inside(checks),
        Some("--role-hold") => inside(leaving::hold),
        Some("--role-exit") => inside(|| std::process::exit(7)),
        Some("--role-speed") => inside(speed::measure),
        _ => everything(),
    }
}

/// Goes in, does the work there, and passes on how it ended.
fn inside(work: fn()) {
    match enter() {
        Ok(Place::Inside) => work(),
        Ok(Place::Outside { code }) => std::process::exit(code),
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            std::process::exit(support::SKIPPED);
        }
    }
}

fn everything() {
    let spec = NetworkSpec { nodes: vec!["n1".into()], hub: HubKind::Switch, seed: 1 };
    assert!(!is_inside());
    assert!(matches!(Network::build(spec), Err(NetError::NotInside)));
    println!("test outside_no_network_is_built ... ok");
    for fact in assay_kernel::inside::probe() {
        println!("fact: {fact}");
    }
    if support::is_root() {
        leaving::unknown_program();
        println!("test a_program_that_is_not_there_is_named ... ok");
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(directory.path(), open).expect("it is ours");
    // Where everybody can start it.
    let program = directory.path().join("inside");
    let itself = std::env::current_exe().expect("this program has a path");
    std::fs::copy(itself, &program).expect("this program can be copied");
    if support::is_root() {
        everything_as("root", &|| Command::new(&program));
        everything_as("nobody", &|| nobody(&program));
    } else {
        everything_as("this user", &|| Command::new(&program));
    }
}

fn nobody(program: &PathBuf) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"]);
    command.arg(program).current_dir("/");
    command
}

fn everything_as(who: &str, program: &dyn Fn() -> Command) {
    let status = program().arg("--role-checks").status().expect("it can be started");
    if status.code() == Some(support::SKIPPED) {
        eprintln!("SKIPPED as {who}: no namespaces for it here");
        return;
    }
    assert!(status.success(), "as {who}: {status}");
    leaving::kill_leaves_nothing(program());
    println!("test kill_9_of_the_outer_process_leaves_nothing_behind ({who}) ... ok");
    leaving::exit_codes(program);
    println!("test exit_codes_and_signals_pass_in_and_out ({who}) ... ok");
}

fn checks() {
    assert!(is_inside());
    leaving::orphans_are_reaped();
    println!("test orphans_are_reaped ... ok");
    for fact in assay_kernel::net::probe() {
        println!("fact: {fact}");
    }
    for hub in [HubKind::Bridge, HubKind::Switch] {
        let network = support::network(hub);
        for (name, check) in wires::BOTH {
            check(&network);
            println!("test {name} ({hub:?}) ... ok");
        }
        let own = match hub {
            HubKind::Bridge => wires::BRIDGE,
            HubKind::Switch => packets::SWITCH,
        };
        for (name, check) in own {
            check(&network);
            println!("test {name} ({hub:?}) ... ok");
        }
    }
}

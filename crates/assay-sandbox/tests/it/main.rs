//! Sandboxes with real processes: what cannot be done in them, and what can.
//!
//! The program starts itself again as keeper and as what is inside, so it has no test harness: a
//! harness would list those roles as tests. Everything runs by each means there is, as root and as
//! somebody without rights; and every attack is also run without what protects from it, where it
//! has to succeed: an attack that never works shows nothing.

mod attacks;
mod lent;
mod limits;
mod outputs;
mod rig;
mod settings;
mod tools;

use assay_sandbox::{Capability, Means, Provider};
use rig::Rig;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// A name, what it needs, and what must not panic.
type Test = (&'static str, &'static [Capability], fn(&Rig));

/// Somebody without rights.
const NOBODY: u32 = 65_534;
/// In the environment of the whole test: must not be seen inside.
pub const SECRET_NAME: &str = "ASSAY_TEST_SECRET";
/// Its value, and the content of every file that must not be seen inside.
pub const SECRET: &str = "it-must-not-be-seen";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = args.iter().skip(1).map(String::as_str).collect();
    match words[..] {
        ["sandbox", "keep"] => return code(assay_sandbox::keep().is_ok()),
        ["sandbox", "enter"] => return code(assay_sandbox::enter().is_ok()),
        _ => {}
    }
    let filter = words.first().copied().filter(|word| !word.starts_with('-')).unwrap_or("");
    if std::env::var_os(SECRET_NAME).is_some() {
        return code(all(filter));
    }
    code(run_as(filter))
}

fn code(ok: bool) -> ExitCode {
    ExitCode::from(u8::from(!ok))
}

/// Runs the tests with a secret in the environment, and where we are root also without its rights,
/// from a copy of this program that everybody can reach.
fn run_as(filter: &str) -> bool {
    let place = tempfile::tempdir().expect("a directory");
    let everybody = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.path(), everybody.clone()).expect("ours");
    let copy = place.path().join("it");
    std::fs::copy(std::env::current_exe().expect("this program"), &copy).expect("a copy");
    std::fs::set_permissions(&copy, everybody).expect("ours");
    let run = |user: Option<u32>| {
        let mut command = Command::new(&copy);
        command.arg(filter).env(SECRET_NAME, SECRET).env_remove("TMPDIR").current_dir("/");
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        command.status().expect("it runs").success()
    };
    let is_root = rustix::process::geteuid().is_root();
    let by_us = run(None);
    by_us & (!is_root || run(Some(NOBODY)))
}

fn all(filter: &str) -> bool {
    let user = rustix::process::geteuid().as_raw();
    let groups =
        [attacks::TESTS, lent::TESTS, limits::TESTS, tools::TESTS, outputs::TESTS, settings::TESTS];
    let mut failed = 0;
    for means in [Means::Namespaces, Means::Landlock] {
        let rig = Rig::new(means);
        let can = rig.provider.capabilities();
        println!("user {user}, {means:?}: {can}");
        for (name, needs, test) in groups.concat() {
            if !name.contains(filter) {
                continue;
            }
            let lacks = can.lacks(needs.iter().copied());
            if !lacks.is_empty() {
                println!("test {name} ... SKIPPED: {}", lacks.join("; "));
                continue;
            }
            let ok = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test(&rig))).is_ok();
            println!("test {name} ... {}", if ok { "ok" } else { "FAILED" });
            failed += u32::from(!ok);
        }
    }
    failed == 0
}

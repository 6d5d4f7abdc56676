//! The official TypeScript client, unmodified: a session, a stream, a custom tool, an interrupt.

use super::server::{Server, here, installed};
use std::io::Write;
use std::process::Command;

/// The version that `scripts/install-deps.sh` installs, where there are node and npm.
const CLIENT: &str = "1.8.0";

#[test]
fn the_typescript_client_runs_a_tool_and_interrupts() {
    let client = installed(&format!("node/sdk-{CLIENT}"));
    if !client.join("complete").exists() {
        let place = client.display();
        let is_there = |program| Command::new(program).arg("--version").output().is_ok();
        let can_be = is_there("node") && is_there("npm");
        assert!(!can_be, "{place} is missing: scripts/install-deps.sh makes it (make deps)");
        // Not by the macro: what that says of a test that passes is swallowed.
        let said = writeln!(std::io::stderr(), "SKIPPED: {place} is missing, as are node and npm");
        return said.expect("somebody reads it");
    }
    let server = Server::start();
    // Modules are looked for beside the script.
    let script = client.join("smoke.mjs");
    std::fs::copy(here("smoke.mjs"), &script).expect("ours");
    let ended = Command::new("node")
        .arg(&script)
        .arg(format!("http://{}", server.address))
        .arg(&server.key)
        .output()
        .expect("node");
    let said = String::from_utf8_lossy(&ended.stdout);
    let complaints = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}\n{complaints}");
    assert_eq!(said.trim(), "session stream tool interrupt", "{complaints}");
}

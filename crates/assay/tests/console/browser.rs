//! Plays a scene: a script of Node with a browser, which may ask for things in between.

use super::server::{Server, here};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const CHROMIUM: &str = "/usr/bin/chromium";
/// Below the target directory; `scripts/install-deps.sh` puts it there.
const PLAYWRIGHT: &str = "node/playwright-1.65.0/";

/// Where this build puts things.
fn target() -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_assay"));
    binary.ancestors().nth(2).expect("TARGET/PROFILE/assay").to_path_buf()
}

/// What is missing on this machine, if anything is.
fn missing() -> Option<String> {
    let playwright = target().join(PLAYWRIGHT).join("complete");
    let needed = [playwright.as_path(), Path::new(CHROMIUM)];
    let missing = needed.iter().find(|path| !path.exists());
    let is_there = |program| Command::new(program).arg("--version").output().is_ok();
    let has_node = is_there("node");
    match missing {
        None if has_node => None,
        None => Some("there is no node".to_string()),
        Some(path) => {
            let path = path.display();
            let can_be = has_node && is_there("npm");
            assert!(!can_be, "{path} is missing: scripts/install-deps.sh brings it (make deps)");
            Some(format!("{path} is missing, as are node and npm"))
        }
    }
}

/// Plays a scene on a server; `more` goes to the script.
pub fn play(scene: &str, server: &mut Server, more: Value) {
    if let Some(what) = missing() {
        // Not by the macro: what that says of a test that passes is swallowed.
        let said = writeln!(
            std::io::stderr(),
            "SKIPPED: {scene}: {what}; scripts/install-deps.sh (make deps) installs Debian's \
             nodejs, npm and chromium, and playwright-core"
        );
        return said.expect("somebody reads it");
    }
    let shots = target().join("console").join(scene);
    let _none_yet = std::fs::remove_dir_all(&shots);
    std::fs::create_dir_all(&shots).expect("ours");
    let told = json!({
        "console": format!("http://{}/console", server.address),
        "key": server.key,
        "agent": server.agent,
        "environment": server.environment,
        "shots": shots,
        "profile": server.directory().join("profile"),
        "chromium": CHROMIUM,
        "modules": target().join(PLAYWRIGHT),
        "more": more,
    });
    let mut node = Command::new("node")
        .arg(here("scenes").join(format!("{scene}.mjs")))
        .arg(told.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node is there");
    let (mut answers, lines) = (node.stdin.take().expect("piped"), node.stdout.take());
    for line in BufReader::new(lines.expect("piped")).lines() {
        match line.expect("text").as_str() {
            "@kill" => server.kill(),
            "@restart" => server.start_again(),
            said => {
                println!("{said}");
                continue;
            }
        }
        writeln!(answers, "done").expect("the script listens");
    }
    let ended = node.wait().expect("our child");
    println!("screenshots of {scene}: {}", shots.display());
    assert!(ended.success(), "{scene}: {ended}; screenshots are in {}", shots.display());
}

//! What the README shows is what happens: its lines are run as they stand there.

use super::keys::Demonstration;
use super::server::needed;
use std::path::Path;
use std::process::Command;

/// The lines of Python in the README.
fn lines() -> String {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).expect("ours");
    let (_, rest) = readme.split_once("```python\n").expect("lines of Python");
    let (lines, rest) = rest.split_once("```").expect("their end");
    assert!(!rest.contains("```python"), "these are all");
    lines.to_string()
}

#[test]
fn the_lines_of_the_readme_do_what_they_say() {
    let demonstration = Demonstration::start();
    let mut script = lines();
    let Demonstration { address, key, agent, environment, .. } = &demonstration;
    let (address, host) = (address.to_string(), "127.0.0.1:8377".to_string());
    let places = [
        (&host, &address),
        (&"asy_…".into(), key),
        (&"agent_…".into(), agent),
        (&"env_…".into(), environment),
    ];
    for (shown, own) in places {
        assert_eq!(script.matches(shown.as_str()).count(), 1, "{shown} in {script}");
        script = script.replace(shown.as_str(), own);
    }
    let python = needed("python/anthropic-2.8.0/bin/python");
    let ended = Command::new(python).arg("-c").arg(&script).output().expect("python");
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success(), "{said}\n{}", String::from_utf8_lossy(&ended.stderr));
    let types: Vec<&str> = said.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(types.first().copied(), Some("user.message"), "{said}");
    assert!(types.contains(&"agent.message"), "{said}");
    assert_eq!(types.last().copied(), Some("session.status_idle"), "{said}");
}

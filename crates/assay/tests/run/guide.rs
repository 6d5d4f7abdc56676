//! docs/guides/your-own-system.md, followed to the letter: its description, its commands.
//!
//! What it leaves to the reader is here: a service (`orders-server`, beside this file), the adapter
//! (that of the store, which the guide says to begin with), and a plan that is filled in.

use crate::support::{assay, pause_plan, replaced, repository, scratch, write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

const SERVICE: &str = include_str!("orders-server");

/// The blocks of a language in a Markdown text.
fn blocks<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let fence = format!("```{language}\n");
    let after = text.split(fence.as_str()).skip(1);
    after.map(|rest| rest.split("```").next().unwrap_or_default()).collect()
}

/// Runs a command of the guide in the reader's project.
fn typed(line: &str, project: &Path) -> Output {
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    let path = std::env::var("PATH").expect("a PATH");
    let path = format!("{}:{path}", project.join("bin").display());
    assay(&words).current_dir(project).env("PATH", path).output().expect("assay runs")
}

#[test]
fn the_guide_to_your_own_system_leads_from_a_service_to_a_verdict() {
    let guide = std::fs::read_to_string(repository().join("docs/guides/your-own-system.md"));
    let guide = guide.expect("the guide is there");
    let scratch = scratch();
    let project = scratch.path();
    let service = write(project, "bin/orders-server", SERVICE);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&service, executable).expect("it is ours");
    write(project, "systems/orders.toml", blocks(&guide, "toml")[0]);
    let adapter = std::fs::read_to_string(repository().join("examples/clients/kv.py"));
    write(project, "systems/orders_client.py", &adapter.expect("the example is there"));

    let lines = blocks(&guide, "sh").join("");
    let lines: Vec<&str> = lines.lines().filter(|line| line.starts_with("assay ")).collect();
    assert_eq!(lines.len(), 5, "{lines:?}");
    let plan = "docs/testing-plans/orders-survive-failover.md";
    for line in lines {
        let output = typed(line, project);
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (said(&output.stdout), said(&output.stderr));
        let words = match line {
            _ if line.starts_with("assay plan new ") => "places to fill in",
            _ if line.starts_with("assay plan lint ") => "this is still to be written",
            "assay doctor" => "",
            _ if line.ends_with("--tier smoke") => "PASS-smoke",
            _ => "PASS-hardening",
        };
        assert!(out.contains(words), "{line}: {out}{err}");
        let expected = if line.starts_with("assay plan lint ") { 65 } else { 0 };
        assert_eq!(output.status.code(), Some(expected), "{line}: {out}{err}");
        if expected == 65 {
            // What is left to the reader: filling in the template.
            let filled = replaced(&pause_plan(), "name = \"kv\"", "name = \"orders\"");
            let filled = replaced(&filled, "options = { defects = [] }\n", "");
            let filled = replaced(&filled, "target = \"follower\"", "target = \"n1\"");
            // A client with an adapter waits for its answers: a pause must be short, and the rate
            // low, for it to catch up.
            let filled = replaced(&filled, "for = \"1500ms\"", "for = \"600ms\"");
            let filled = replaced(&filled, "gap >= 500ms", "gap >= 300ms");
            write(project, plan, &replaced(&filled, "rate = 100", "rate = 40"));
        }
    }
}

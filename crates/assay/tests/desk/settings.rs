//! What an agent may write to in a home directory, and what it must not have changed there; and a
//! Verifier that cannot write where it looks.

use super::{Bench, USUAL, Wish};
use std::os::unix::fs::PermissionsExt;

const WORK: &str = "work; commit; sign";
const JUDGE: &str = "verdict \"$good\"";
const PATIENT: Wish = Wish { limits: "iterations = 2\nidle_seconds = 60\nverdicts = 1", ..USUAL };

/// A program that speaks as `claude` does, and keeps its sessions where that does.
const CLAUDE: &str = r#"#!/bin/sh
cat > /dev/null
sh AGENT > /dev/null || exit 1
mkdir -p "$HOME/.claude/projects"
echo session >> "$HOME/.claude/projects/session.jsonl"
echo '{"numStartups":7,"projects":{"/p":{"mcpServers":{}}}}' > "$HOME/.claude.json"
echo '{"type":"result","subtype":"success","is_error":false,"result":"done"}'
"#;

/// A campaign with that program, whose Worker does `more` besides.
fn campaign(more: &str) -> super::Ended {
    let bench = Bench::new(PATIENT, &format!("{more}\n{WORK}"), JUDGE);
    std::fs::create_dir(bench.home().join(".claude")).expect("a directory");
    std::fs::write(bench.home().join(".claude.json"), "{\"numStartups\":1}").expect("a file");
    let program = ".assay/desk/small/claude";
    bench.write(program, &CLAUDE.replace("AGENT", &bench.path(".assay/desk/small/agent.sh")));
    let path = bench.root.join(program);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("it can be run");
    let engine = format!(
        "[agents]\nworker = [\"mine\"]\nverifier = \"mine\"\n[agents.engines.mine]\nengine = \
         \"claude\"\nprogram = \"{}\"\n[limits]",
        path.display()
    );
    bench.edit("[limits]", &engine);
    bench.ask(&["run", "small"])
}

#[test]
fn an_agent_keeps_its_sessions_and_leaves_no_hook_behind() {
    let honest = campaign("");
    assert_eq!(honest.code, Some(0), "{}\n{}", honest.out, honest.err);
    for (more, said) in [
        ("echo '{\"hooks\":{}}' > \"$HOME/.claude/settings.json\"", "settings.json was made"),
        ("mkdir \"$HOME/.claude/hooks\"; : > \"$HOME/.claude/hooks/a\"", "hooks/a was made"),
    ] {
        let lying = campaign(more);
        assert_eq!(lying.code, Some(1), "{more}: {}\n{}", lying.out, lying.err);
        assert!(lying.out.contains("integrity") && lying.out.contains(said), "{}", lying.out);
    }
}

#[test]
fn a_verifier_cannot_write_where_it_looks_where_the_kernel_can_see_to_it() {
    let tries = "if (echo x >> n1) 2> /dev/null; then :; fi; echo x > target/build; verdict \
                 \"$good\"";
    let bench = Bench::new(PATIENT, WORK, tries);
    bench.write(".gitignore", "target\n");
    bench.git(&["add", "-A"]);
    bench.git(&["commit", "-qm", "Ignore"]);
    bench.edit("tests = [\"t/**\"]", "tests = [\"t/**\"]\ncache = [\"target\"]");
    let ended = bench.run(&[]);
    let log = bench.ask(&["log", "small", "--format", "json"]);
    // The record says what held; a kernel that has only some of the rules may hold this one.
    let held = log.out.contains(", and in its tree");
    let whole = ended.out.contains("the kernel refuses writes elsewhere");
    assert!(held || !whole, "{}", log.out);
    let expected = if held { Some(0) } else { Some(1) };
    assert_eq!(ended.code, expected, "{}\n{}", ended.out, ended.err);
    assert_eq!(ended.out.contains("changed the tree"), !held, "{}", ended.out);
}

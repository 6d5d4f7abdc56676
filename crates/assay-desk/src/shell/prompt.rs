//! What agents are told: everything they need and nothing of an earlier conversation.

use super::dispatch::criteria;
use super::projections::fix_text;
use crate::contract::{CommandSpec, Contract, Story};
use crate::event::{Role, Scope};
use crate::gate::tests::{CATEGORIES_MIN, TESTS_PER_CRITERION_MIN, mapping};
use crate::state::State;
use std::fmt::Write;
use std::path::Path;

/// The prompt of a dispatch.
pub(super) fn text(state: &State, role: Role, scope: &Scope, nonce: &str, out: &Path) -> String {
    match (role, scope) {
        (Role::Worker, Scope::Story(id)) => match state.contract.story(id) {
            Some(story) => worker(state, story, nonce, out),
            None => String::new(),
        },
        _ => verifier(state, scope, nonce, out),
    }
}

fn worker(state: &State, story: &Story, nonce: &str, out: &Path) -> String {
    let contract = &state.contract;
    let index = contract.stories.iter().position(|other| other.id == story.id).unwrap_or(0);
    let progress = &state.stories[index];
    let mut text = format!(
        "You are the Worker of one iteration. You begin with a fresh context; everything you need \
         stands here and in the working tree you are in.\n\n# Objective\n{}\n",
        contract.objective
    );
    describe(&mut text, story);
    let paths = |list: &[String]| list.join(", ");
    _ = write!(
        text,
        "\n# What you may change\nFiles matching: {}\nTests: {}\nShared: {}\nNothing else. \
         Everything outside this working tree and your drop box is off limits, and so are the \
         contract, CI files and agent settings.\n",
        paths(&story.paths),
        paths(&contract.settings.tests),
        paths(&contract.settings.shared),
    );
    commands(&mut text, story);
    _ = write!(
        text,
        "\n# How you work\n1. Write the failing tests first: without your change each mapped test \
         must fail by name, with it each must pass. The Leader runs both itself.\n2. Every \
         criterion needs at least {TESTS_PER_CRITERION_MIN} tests from at least {CATEGORIES_MIN} \
         of the categories happy, negative, boundary. Each is one that the runner lists, or \
         whose name stands in a test file.\n3. Never remove, rename or weaken a test, skip \
         one, or widen a tolerance: it is found and refused.\n4. Commit everything; the \
         working tree must be clean.\n"
    );
    let mapped = mapping(story, &progress.tests);
    if !mapped.is_empty() {
        text.push_str("\n# Tests that are mapped so far\n");
        for test in mapped {
            _ = writeln!(text, "- {}: `{}` ({:?})", test.criterion, test.name, test.category);
        }
    }
    if !progress.issues.is_empty() {
        _ = write!(text, "\n{}", fix_text(&progress.issues));
    }
    if let Some(notes) = &progress.notes {
        let notes: String = notes.chars().take(crate::artifact::NOTES_BYTES_MAX).collect();
        _ = write!(text, "\n# Notes of the Worker before you (nobody checked them)\n{notes}\n");
    }
    let example = serde_json::json!({
        "nonce": nonce, "story": story.id, "status": "verify",
        "commit": "full hash of your commit",
        "resolves": progress.issues.iter().map(|issue| &issue.id).collect::<Vec<_>>(),
        "tests": [{"criterion": "AC-1", "name": "as the runner prints it", "category": "happy"}],
    });
    _ = write!(
        text,
        "\n# How you end\nWrite {} with exactly these fields (`tests` in full each time; \
         `status` is verify, continue or blocked, the last with a `reason`; `notes` may be added \
         for the next Worker):\n{example:#}\nSaying that you are done has no effect. The file \
         has.\n",
        out.join("signal.json").display()
    );
    text
}

fn verifier(state: &State, scope: &Scope, nonce: &str, out: &Path) -> String {
    let contract = &state.contract;
    let mut text = format!(
        "You are the Verifier. You begin with a fresh context and know nothing of how the work \
         was done. Look for what is wrong: run commands, read the code, try inputs. Change \
         nothing: if a file of this working tree differs afterwards, your verdict is void.\n\n\
         # Objective\n{}\n",
        contract.objective
    );
    let stories = contract.stories.iter();
    let in_scope = stories.filter(|s| *scope == Scope::Final || scope.name() == s.id);
    for story in in_scope {
        describe(&mut text, story);
        commands(&mut text, story);
    }
    _ = writeln!(text, "\nThe whole suite: {}", shown(&contract.settings.suite));
    if !contract.settings.citable.is_empty() {
        let programs = contract.settings.citable.join(", ");
        _ = writeln!(text, "You may also cite commands of: {programs}");
    }
    if !state.answers.is_empty() {
        _ = writeln!(text, "\n# What people answered\n- {}", state.answers.join("\n- "));
    }
    let names = criteria(contract, scope);
    let example = serde_json::json!({
        "nonce": nonce, "story": scope.name(),
        "criteria": names.iter().map(|name| serde_json::json!({
            "criterion": name, "met": false,
            "evidence": [{"command": contract.settings.suite.run, "exit_code": 0}],
        })).collect::<Vec<_>>(),
        "issues": [{"criterion": names.first(), "severity": "critical, major or minor",
                    "text": "what is wrong"}],
    });
    _ = write!(
        text,
        "\n# How you end\nWrite {} with exactly these fields, every criterion once. Evidence is a \
         command with the exit code you saw (`passed` and `failed` may be added): the Leader runs \
         it again, and if it sees something else your verdict does not count. If only a person \
         can decide, add `question`.\n{example:#}\n",
        out.join("verdict.json").display()
    );
    text
}

fn describe(text: &mut String, story: &Story) {
    _ = writeln!(text, "\n# {}: {}", story.id, story.title);
    for criterion in &story.criteria {
        _ = writeln!(text, "{}/{}:\n{}", story.id, criterion.id, indented(&criterion.text()));
    }
}

fn commands(text: &mut String, story: &Story) {
    text.push_str("\n# What the Leader runs\n");
    for (name, spec) in story.commands() {
        _ = writeln!(text, "- {name}: {}", shown(spec));
    }
}

fn shown(spec: &CommandSpec) -> String {
    let argv = serde_json::to_string(&spec.run).unwrap_or_default();
    let prints = spec.prints.as_ref().map_or(String::new(), |p| format!(", prints `{p}`"));
    format!("{argv}, exit {}{prints}", spec.exit)
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// Names of all engines that a contract uses.
pub(super) fn engines(contract: &Contract) -> Vec<String> {
    let agents = &contract.settings.agents;
    let mut names = agents.worker.clone();
    names.push(agents.verifier.clone());
    let scopes = contract.stories.iter().map(|story| Scope::Story(story.id.clone()));
    let two = scopes
        .chain([Scope::Final])
        .any(|scope| crate::state::needed(contract, &scope).contains(&Role::Second));
    if two {
        names.push(agents.second.clone());
    }
    names.sort();
    names.dedup();
    names
}

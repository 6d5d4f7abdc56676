//! Settings of agents in the home directory: what the next agent, or the user's own, would obey.
//!
//! Agents keep their sessions below `~/.claude` and `~/.codex`, and do not start if they cannot
//! write there. A hook or a server that one of them puts there runs in every later session, outside
//! of this desk. So what says which programs run, and what agents are told, is hashed before and
//! after each agent; sessions, caches and counters are theirs.
//!
//! The same holds for the toolchain: where a contract lets agents write to `~/.cargo`, the cargo
//! that the Leader judges them with is theirs to replace. Tests of a claim can do that as well as
//! agents can, so the toolchain must be what it was when the last agent was through.

use crate::contract::sha256;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// More files of settings than this are not read: their names, sizes and times have to do.
const FILES_MAX: usize = 5_000;
const MORE: &str = "more settings of agents";
const DEPTH_MAX: usize = 8;
/// Programs in one directory that are looked at.
const PROGRAMS_MAX: usize = 20_000;
const HASHED_BYTES_MAX: u64 = 4 << 20;

/// Below `~/.claude`: files and directories that have settings, hooks and orders.
const CLAUDE: [&str; 10] = [
    "settings.json",
    "settings.local.json",
    "CLAUDE.md",
    "hooks",
    "agents",
    "commands",
    "skills",
    "rules",
    "output-styles",
    "mcp.json",
];
/// Below a project of `~/.claude`: what one session tells the next. Agents of the desk are told to
/// keep none; the sessions beside it are theirs.
const MEMORY: &str = "memory";
/// Below `~/.codex`.
const CODEX: [&str; 8] = [
    "config.toml",
    "hooks.json",
    "hooks",
    "AGENTS.md",
    "AGENTS.override.md",
    "prompts",
    "rules",
    "skills",
];
/// Below `~/.cargo`: what is run, and what says how. Registries are caches.
const CARGO: [&str; 4] = ["bin", "config", "config.toml", "env"];
/// Of extensions only what is run without being asked: they are updated by themselves.
const EXTENSIONS: &str = "plugins";
const EXTENSION_FILES: [&str; 3] = ["hooks.json", ".mcp.json", "plugin.json"];
/// Of `~/.claude.json`, which is written in every session: what makes programs run. These stand at
/// the top and for each project.
const PROGRAMS: [&str; 6] =
    ["mcpServers", "hooks", "env", "apiKeyHelper", "allowedTools", "permissions"];

/// Below the home directory: what other tools obey, also those of the Leader's user, and what is
/// started with nobody asking for it.
const PEOPLE: [&str; 26] = [
    ".gitconfig",
    ".config/git",
    ".profile",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".zshenv",
    ".zprofile",
    ".zshrc",
    ".zlogin",
    ".config/fish",
    ".config/environment.d",
    ".config/systemd/user",
    ".config/autostart",
    ".config/pip",
    ".pip",
    ".pydistutils.cfg",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".ssh/config",
    ".ssh/rc",
    ".ssh/authorized_keys",
    ".rustup/settings.toml",
    ".local/bin",
];
/// Below the home directory, a directory for each version: what python runs first.
const PYTHON: &str = ".local/lib";
const PYTHON_FIRST: [&str; 2] = ["usercustomize.py", "sitecustomize.py"];

/// Where settings are on this machine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Places {
    claude: Vec<PathBuf>,
    /// Files with programs among other things.
    mixed: Vec<PathBuf>,
    codex: Vec<PathBuf>,
    cargo: Vec<PathBuf>,
    people: Vec<PathBuf>,
    /// Directories with programs.
    programs: Vec<PathBuf>,
    /// The program that leads; it keeps agents and commands, too.
    own: Option<PathBuf>,
}

impl Places {
    /// The same with the program that leads.
    pub(super) fn led_by(self, own: Option<PathBuf>) -> Places {
        Places { own, ..self }
    }
}

/// The places that agents look at; `lookup` reads the environment.
pub(super) fn places(lookup: impl Fn(&str) -> Option<PathBuf>) -> Places {
    let mut places = Places::default();
    if let Some(home) = lookup("HOME").filter(|home| home.is_absolute()) {
        places.claude.push(home.join(".claude"));
        places.mixed.push(home.join(".claude.json"));
        places.codex.push(home.join(".codex"));
        places.cargo.push(home.join(".cargo"));
        places.people.push(home);
    }
    if let Some(own) = lookup("CLAUDE_CONFIG_DIR") {
        places.mixed.push(own.join(".claude.json"));
        places.claude.push(own);
    }
    let path = lookup("PATH").unwrap_or_default();
    places.programs.extend(std::env::split_paths(&path).filter(|place| place.is_absolute()));
    places.codex.extend(lookup("CODEX_HOME"));
    places.cargo.extend(lookup("CARGO_HOME"));
    places
}

/// Hashes of what the Leader's own commands are run with.
pub(super) fn toolchain(places: &Places) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    for home in &places.cargo {
        for name in CARGO {
            below(&home.join(name), DEPTH_MAX, &|_| true, &mut all);
        }
    }
    all
}

/// Hashes of what people have set up for themselves, and what is known of the programs they run:
/// where nothing keeps an agent from writing there, it must not have.
pub(super) fn of_people(places: &Places) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    for home in &places.people {
        for name in PEOPLE {
            below(&home.join(name), DEPTH_MAX, &|_| true, &mut all);
        }
        let is_first = |path: &Path| {
            let is_named = |name: &str| PYTHON_FIRST.contains(&name) || name.ends_with(".pth");
            path.file_name().and_then(|name| name.to_str()).is_some_and(is_named)
        };
        let versions = std::fs::read_dir(home.join(PYTHON)).into_iter().flatten().flatten();
        for version in versions {
            below(&version.path().join("site-packages"), 1, &is_first, &mut all);
        }
    }
    // There are many, and large ones: they are told apart by what is known of them.
    for directory in &places.programs {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        all.extend(entries.take(PROGRAMS_MAX).map(|entry| known(entry.path())));
    }
    all.extend(places.own.clone().map(known));
    all
}

/// What is known of a program: of a link to it, and of what that leads to.
fn known(path: PathBuf) -> (PathBuf, String) {
    let both = [std::fs::symlink_metadata(&path), std::fs::metadata(&path)];
    let known = both.iter().flatten().map(outside).collect::<Vec<_>>().join(", ");
    (path, known)
}

/// Hashes of everything that says what runs.
pub(super) fn hashes(places: &Places) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    for (homes, names) in [(&places.claude, &CLAUDE[..]), (&places.codex, &CODEX[..])] {
        for home in homes {
            for name in names {
                below(&home.join(name), DEPTH_MAX, &|_| true, &mut all);
            }
            let own = |path: &Path| {
                let named = |name: &str| EXTENSION_FILES.contains(&name);
                let hooks = path.parent().is_some_and(|parent| parent.ends_with("hooks"));
                hooks || path.file_name().and_then(|name| name.to_str()).is_some_and(named)
            };
            below(&home.join(EXTENSIONS), DEPTH_MAX, &own, &mut all);
        }
    }
    for home in &places.claude {
        let projects = std::fs::read_dir(home.join("projects")).into_iter().flatten().flatten();
        for project in projects {
            below(&project.path().join(MEMORY), DEPTH_MAX, &|_| true, &mut all);
        }
    }
    for path in &places.mixed {
        if let Some(hash) = programs(path) {
            all.insert(path.clone(), hash);
        }
    }
    all
}

fn below(
    path: &Path,
    depth: usize,
    wanted: &dyn Fn(&Path) -> bool,
    all: &mut BTreeMap<PathBuf, String>,
) {
    let Ok(meta) = std::fs::symlink_metadata(path) else {
        return;
    };
    if meta.is_dir() {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        for entry in entries.filter(|_| depth > 0) {
            below(&entry.path(), depth - 1, wanted, all);
        }
        return;
    }
    if !wanted(path) {
        return;
    }
    if all.len() >= FILES_MAX {
        let more = all.entry(PathBuf::from(MORE)).or_default();
        *more = sha256(format!("{more} {} {}", path.display(), outside(&meta)).as_bytes());
        return;
    }
    let hash = match std::fs::read_link(path) {
        Ok(target) => format!("a link to {} {}", target.display(), hash_of(path)),
        Err(_) => hash_of(path),
    };
    all.insert(path.to_path_buf(), hash);
}

fn hash_of(path: &Path) -> String {
    match std::fs::metadata(path) {
        Ok(meta) if !meta.is_file() => "no file".to_string(),
        Ok(meta) if meta.len() > HASHED_BYTES_MAX => outside(&meta),
        Ok(_) => std::fs::read(path).map_or("unreadable".to_string(), |bytes| sha256(&bytes)),
        Err(_) => "absent".to_string(),
    }
}

/// What is known of a file that is not read. Anybody can set the time of its last change back; the
/// time at which that was done stays.
pub(super) fn outside(meta: &Metadata) -> String {
    let (inode, length) = (meta.ino(), meta.len());
    format!("{length} bytes, file {inode} of {}.{:09}", meta.ctime(), meta.ctime_nsec())
}

/// What a file with all sorts of things says about programs; none if it says nothing about them.
fn programs(path: &Path) -> Option<String> {
    let length = std::fs::metadata(path).ok()?.len();
    let bytes = (length <= HASHED_BYTES_MAX).then(|| std::fs::read(path).ok()).flatten();
    let value: Option<Value> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let Some(value) = value else {
        return Some("it cannot be read".to_string());
    };
    let mut said: Vec<(String, String, &Value)> = Vec::new();
    let projects = value["projects"].as_object().into_iter().flatten();
    let all = projects.map(|(name, project)| (name.as_str(), project)).chain([("", &value)]);
    for (place, settings) in all {
        for key in PROGRAMS {
            let found = settings.get(key).filter(|value| !is_empty(value));
            said.extend(found.map(|value| (place.to_string(), key.to_string(), value)));
        }
    }
    said.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    (!said.is_empty()).then(|| sha256(format!("{said:?}").as_bytes()))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(all) => all.is_empty(),
        Value::Object(all) => all.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{hashes, of_people, places, toolchain};
    use std::path::Path;

    /// Whether a file at this place, with this text, is a change.
    fn seen(name: &str, before: &str, after: &str) -> bool {
        let home = tempfile::tempdir().expect("a directory");
        let at = |path: &str| home.path().join(path);
        let places = places(|name| (name == "HOME").then(|| home.path().to_path_buf()));
        let write = |text: &str| {
            let path = at(name);
            std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).expect("a directory");
            std::fs::write(path, text).expect("a file");
        };
        if !before.is_empty() {
            write(before);
        }
        let all = || (hashes(&places), toolchain(&places), of_people(&places));
        let old = all();
        write(after);
        old != all()
    }

    #[test]
    fn what_makes_programs_run_is_seen_and_sessions_are_not() {
        for (name, before, after, wanted) in [
            (".claude/settings.json", "", "{\"hooks\":{}}", true),
            (".claude/settings.json", "{}", "{\"hooks\":{}}", true),
            (".claude/hooks/deep/er.sh", "", "x", true),
            (".claude/agents/a.md", "a", "b", true),
            (".claude/plugins/cache/x/hooks/run.sh", "", "x", true),
            (".claude/plugins/cache/x/.mcp.json", "", "{}", true),
            (".claude/plugins/cache/x/readme", "", "x", false),
            (".claude/projects/p/session.jsonl", "", "x", false),
            (".claude/projects/p/memory/MEMORY.md", "", "x", true),
            (".claude/projects/p/memory/deep/er.md", "a", "b", true),
            (".cargo/config.toml", "", "x", true),
            (".cargo/config", "a", "b", true),
            (".cargo/env", "a", "b", true),
            (".cargo/bin/cargo", "a", "b", true),
            (".cargo/registry/cache/x", "", "x", false),
            (".cargo/.package-cache", "", "x", false),
            (".claude/todos/1.json", "", "[]", false),
            (".claude.json", "{\"numStartups\":1}", "{\"numStartups\":2}", false),
            (".claude.json", "{}", "{\"projects\":{\"/p\":{\"mcpServers\":{}}}}", false),
            (".claude.json", "{}", "{\"mcpServers\":{\"x\":{\"command\":\"x\"}}}", true),
            (".claude.json", "{}", "{\"projects\":{\"/p\":{\"allowedTools\":[\"x\"]}}}", true),
            (".claude.json", "{}", "{", true),
            (".codex/config.toml", "", "notify = ['x']", true),
            (".codex/AGENTS.md", "a", "b", true),
            (".codex/sessions/1.jsonl", "", "x", false),
            (".gitconfig", "", "[alias]", true),
            (".config/git/attributes", "", "* filter=x", true),
            (".zshenv", "a", "b", true),
            (".local/bin/git", "", "x", true),
            (".local/lib/python3.1/site-packages/usercustomize.py", "", "x", true),
            (".local/lib/python3.1/site-packages/a.pth", "a", "b", true),
            (".local/lib/python3.1/site-packages/six.py", "", "x", false),
            (".cache/x", "", "x", false),
        ] {
            assert_eq!(seen(name, before, after), wanted, "{name}: {after}");
        }
    }

    #[test]
    fn a_large_program_is_not_taken_for_the_same_because_its_time_was_set_back() {
        let home = tempfile::tempdir().expect("a directory");
        let places = places(|name| (name == "HOME").then(|| home.path().to_path_buf()));
        let path = home.path().join(".cargo/bin/cargo");
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        let length = usize::try_from(super::HASHED_BYTES_MAX).expect("a length") + 1;
        std::fs::write(&path, vec![0; length]).expect("a file");
        let time = std::fs::metadata(&path).and_then(|meta| meta.modified()).expect("a time");
        let old = toolchain(&places);
        std::fs::write(&path, vec![1; length]).expect("a file");
        let file = std::fs::File::options().write(true).open(&path).expect("a file");
        file.set_modified(time).expect("a time");
        assert_ne!(old, toolchain(&places));
    }
}

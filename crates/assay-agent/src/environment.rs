//! What an agent sees of the environment: a list of names, and nothing that is not on it.

use crate::config::{AgentConfig, Engine};
use crate::task::Task;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What every program may know.
const EVERYBODY: [&str; 20] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TERM",
    "NO_COLOR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "NODE_EXTRA_CA_CERTS",
];
const CLAUDE: [&str; 4] =
    ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR"];
/// A fresh context has no memory of earlier ones, and leaves none to later ones.
const CLAUDE_FORGETS: &str = "CLAUDE_CODE_DISABLE_AUTO_MEMORY";
/// What Python compiles is not part of anybody's work, and would lie among it.
const PYTHON_LEAVES_NOTHING: &str = "PYTHONDONTWRITEBYTECODE";
const CODEX: [&str; 4] = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY", "CODEX_HOME"];
/// Where these programs keep their sessions; without it they do not start.
const CLAUDE_PLACES: [&str; 2] = ["~/.claude", "~/.claude.json"];
const CODEX_PLACES: [&str; 1] = ["~/.codex"];

/// The environment of an agent. `lookup` is where values come from.
pub(crate) fn variables(
    config: &AgentConfig,
    task: &Task,
    temporary: &Path,
    lookup: impl Fn(&str) -> Option<OsString>,
) -> BTreeMap<String, OsString> {
    let own: &[&str] = match &config.engine {
        Engine::Claude { .. } => &CLAUDE,
        Engine::Codex { .. } => &CODEX,
        _ => &[],
    };
    let names = EVERYBODY.iter().chain(own).copied().chain(config.env.iter().map(String::as_str));
    let mut all: BTreeMap<String, OsString> =
        names.filter_map(|name| Some((name.to_string(), lookup(name)?))).collect();
    if matches!(config.engine, Engine::Claude { .. }) {
        all.insert(CLAUDE_FORGETS.to_string(), "1".into());
    }
    all.insert(PYTHON_LEAVES_NOTHING.to_string(), "1".into());
    for (name, value) in &task.variables {
        all.insert(format!("ASSAY_{}", name.to_uppercase()), value.into());
    }
    all.insert("ASSAY_DROP_BOX".to_string(), task.drop_box.clone().into());
    all.insert("TMPDIR".to_string(), temporary.into());
    for (name, value) in &task.environment {
        match value {
            Some(value) => all.insert(name.clone(), value.clone()),
            None => all.remove(name),
        };
    }
    all
}

/// The places an agent may write to.
pub(crate) fn writable(
    config: &AgentConfig,
    task: &Task,
    temporary: &Path,
    home: Option<&Path>,
) -> Vec<PathBuf> {
    let own: &[&str] = match &config.engine {
        Engine::Claude { .. } => &CLAUDE_PLACES,
        Engine::Codex { .. } => &CODEX_PLACES,
        _ => &[],
    };
    let configured = own.iter().copied().chain(config.writable.iter().map(String::as_str));
    let at_home = |place: &str| match (place.strip_prefix("~/"), home) {
        (Some(below), Some(home)) => Some(home.join(below)),
        (Some(_), None) => None,
        (None, _) => Some(PathBuf::from(place)),
    };
    let mut all = vec![task.work.clone(), task.drop_box.clone(), temporary.to_path_buf()];
    all.extend(task.writable.iter().cloned());
    all.extend(configured.filter_map(at_home));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> Task {
        let path = Path::new;
        Task::new("", path("/w"), path("/d"), path("/l")).variable("nonce", "7")
    }

    #[test]
    fn only_what_is_listed_is_seen() {
        let engine = Engine::Claude { program: "claude".into(), model: None, args: Vec::new() };
        let config =
            AgentConfig { env: vec!["EXTRA".into(), "UNSET".into()], ..AgentConfig::of(engine) };
        let lookup = |name: &str| (name != "UNSET").then(|| OsString::from(name));
        let all = variables(&config, &task(), Path::new("/t"), lookup);
        let has = |name: &str| all.contains_key(name);
        assert!(has("PATH") && has("ANTHROPIC_API_KEY") && has("EXTRA"), "{all:?}");
        assert!(!has("UNSET") && !has("OPENAI_API_KEY") && !has("SECRET"), "{all:?}");
        assert_eq!((&all["ASSAY_NONCE"], &all[CLAUDE_FORGETS]), (&"7".into(), &"1".into()));
        assert_eq!(all[PYTHON_LEAVES_NOTHING], "1");
        assert_eq!((&all["ASSAY_DROP_BOX"], &all["TMPDIR"]), (&"/d".into(), &"/t".into()));
    }

    #[test]
    fn what_a_task_says_of_its_environment_holds() {
        let engine = Engine::Command { command: vec!["x".into()] };
        let mut task = task();
        let said = [("HOME", Some("/own")), ("ASSAY_DROP_BOX", None), ("NEW", Some("1"))];
        let said = said.map(|(name, value)| (name.to_string(), value.map(OsString::from)));
        task.environment.extend(said);
        let lookup = |name: &str| Some(OsString::from(name));
        let all = variables(&AgentConfig::of(engine), &task, Path::new("/t"), lookup);
        assert_eq!(
            (&all["HOME"], &all["NEW"], &all["PATH"]),
            (&"/own".into(), &"1".into(), &"PATH".into())
        );
        assert!(!all.contains_key("ASSAY_DROP_BOX"), "{all:?}");
    }

    #[test]
    fn places_at_home_need_a_home() {
        let engine = Engine::Command { command: vec!["x".into()] };
        let config =
            AgentConfig { writable: vec!["~/.x".into(), "/y".into()], ..AgentConfig::of(engine) };
        let places = |home| writable(&config, &task(), Path::new("/t"), home);
        let all = ["/w", "/d", "/t", "/h/.x", "/y"].map(PathBuf::from);
        assert_eq!(places(Some(Path::new("/h"))), all);
        assert_eq!(places(None), [&all[..3], &all[4..]].concat());
    }
}

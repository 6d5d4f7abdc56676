//! Finds a description: beside the plan, where Assay was started, or in Assay itself.

use super::{SpecError, SystemSpec};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The directory of descriptions.
const DIRECTORY: &str = "systems";
/// Descriptions that come with Assay.
const BUILTIN: [(&str, &str); 7] = [
    ("etcd", include_str!("../../../../systems/etcd.toml")),
    ("kv", include_str!("../../../../systems/kv.toml")),
    ("nats", include_str!("../../../../systems/nats.toml")),
    ("postgres", include_str!("../../../../systems/postgres.toml")),
    ("redis", include_str!("../../../../systems/redis.toml")),
    ("redis-sentinel", include_str!("../../../../systems/redis-sentinel.toml")),
    ("zookeeper", include_str!("../../../../systems/zookeeper.toml")),
];
/// Characters of a name.
const NAME_CHARS_MAX: usize = 64;

/// The systems that come with Assay.
pub fn builtin_names() -> Vec<&'static str> {
    BUILTIN.iter().map(|(name, _)| *name).collect()
}

/// Every system that can be named here: built in, or described where Assay was started.
pub fn known_names() -> Vec<String> {
    existing(&homes(None))
}

/// Finds and reads the description of a system: `systems/NAME.toml` in the directory `beside` or
/// one above it, in the current directory, or built in.
///
/// # Errors
/// If there is none, it cannot be read, or it is wrong.
pub fn load(name: &str, beside: Option<&Path>) -> Result<SystemSpec, SpecError> {
    let homes = homes(beside);
    if is_name(name) {
        for home in &homes {
            let path = home.join(format!("{name}.toml"));
            match std::fs::read_to_string(&path) {
                Ok(text) => return from_file(name, &path, &text),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                // A file named `systems` is nobody's directory of descriptions.
                Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {}
                Err(error) => {
                    let file = path.display().to_string();
                    return Err(SpecError::Unreadable { file, message: error.to_string() });
                }
            }
        }
        if let Some((_, text)) = BUILTIN.iter().find(|(builtin, _)| *builtin == name) {
            return SystemSpec::parse(name, &format!("{DIRECTORY}/{name}.toml (built in)"), text);
        }
    }
    let start = |path: &Path| path.display().to_string();
    let mut looked: Vec<String> = beside.map(start).into_iter().collect();
    looked.push("the current directory".to_string());
    Err(SpecError::Unknown { name: name.to_string(), looked, exist: existing(&homes) })
}

fn from_file(name: &str, path: &Path, text: &str) -> Result<SystemSpec, SpecError> {
    let spec = SystemSpec::parse(name, &path.display().to_string(), text)?;
    Ok(SystemSpec { file: Some(path.to_path_buf()), ..spec })
}

/// The directories of descriptions, nearest first.
fn homes(beside: Option<&Path>) -> Vec<PathBuf> {
    let beside = beside.and_then(|path| std::path::absolute(path).ok());
    let above = beside.iter().flat_map(|path| path.ancestors());
    let here = std::env::current_dir().ok();
    let all = above.map(Path::to_path_buf).chain(here);
    all.map(|directory| directory.join(DIRECTORY)).collect()
}

/// Every name that could be loaded.
fn existing(homes: &[PathBuf]) -> Vec<String> {
    let mut names: BTreeSet<String> = builtin_names().into_iter().map(str::to_string).collect();
    for home in homes {
        let entries = std::fs::read_dir(home).into_iter().flatten().flatten();
        let name = |entry: std::fs::DirEntry| {
            let file = entry.file_name().into_string().ok()?;
            file.strip_suffix(".toml").filter(|name| is_name(name)).map(str::to_string)
        };
        names.extend(entries.filter_map(name));
    }
    names.into_iter().collect()
}

/// Whether it can be the name of a system. A path is none, so a plan cannot point out of the
/// directories of descriptions.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !name.is_empty() && name.len() <= NAME_CHARS_MAX && name.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_descriptions_can_be_read() {
        for (name, text) in BUILTIN {
            let spec = SystemSpec::parse(name, name, text);
            assert_eq!(spec.map(|spec| spec.name).as_deref(), Ok(name));
        }
    }

    #[test]
    fn a_built_in_description_leaves_addresses_to_the_network() {
        for (name, text) in BUILTIN {
            // In namespaces nobody is where everybody is on one machine.
            assert!(!text.contains("127.0.0.1") && !text.contains("localhost"), "{name}");
        }
    }

    #[test]
    fn a_comment_of_a_built_in_description_names_pages_that_there_are() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for (name, text) in BUILTIN {
            let words = text
                .lines()
                .filter(|line| line.starts_with('#'))
                .flat_map(|line| line.split(|c: char| c.is_whitespace() || ":,;()".contains(c)));
            for page in words.filter(|word| word.starts_with("docs/")) {
                let page = page.trim_end_matches('.');
                assert!(root.join(page).exists(), "{name}: {page}");
            }
        }
    }

    #[test]
    fn a_description_above_the_plan_is_found_and_goes_first() {
        let directory = tempfile::tempdir().expect("a directory");
        let systems = directory.path().join("systems");
        let plans = directory.path().join("plans/deep");
        std::fs::create_dir_all(&systems).expect("it can be made");
        std::fs::create_dir_all(&plans).expect("it can be made");
        let text = BUILTIN[0].1.replace("about = \"", "about = \"mine: ");
        std::fs::write(systems.join("kv.toml"), &text).expect("it can be written");
        std::fs::write(systems.join("other.toml"), &text).expect("it can be written");
        let about = |name| load(name, Some(&plans)).map(|spec| spec.about);
        assert!(about("kv").is_ok_and(|about| about.starts_with("mine: ")));
        assert!(about("other").is_ok_and(|about| about.starts_with("mine: ")));
        for name in ["nothing", "../systems/kv", "", "a/b"] {
            let error = about(name).expect_err(name).to_string();
            assert!(error.contains("kv, nats, other"), "{error}");
        }
    }
}

//! A tree that cannot be written, where the kernel can see to it.
//!
//! Whoever looks for what is wrong must not change what it looks at. An agent's directory is always
//! writable for it; rules of Landlock only ever take away, so a thread that has restricted itself
//! before starts an agent that cannot write there either. Ignored directories that the contract
//! keeps (`cache`) stay writable: builds need them, and they are no part of the tree.

use landlock::{
    ABI, AccessFs, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, path_beneath_rules,
};
use std::path::{Path, PathBuf};

/// The newest version that this was tried with. Older kernels give what they have.
const TRIED: ABI = ABI::V7;
/// What a thread may write to although nobody named it; the agent's own rules are narrower.
const DEVICES: &str = "/dev";
/// Where engines keep their sessions; without it they do not start.
const SESSIONS: [&str; 3] = [".claude", ".claude.json", ".codex"];

/// Runs something in a thread that can write below these places only, and so can whatever it
/// starts; `meanwhile` runs here. Whether the kernel holds it to that is the second value.
pub(super) fn writing_only<T: Send>(
    writable: &[PathBuf],
    work: impl FnOnce() -> T + Send,
    meanwhile: impl FnOnce(),
) -> Option<(T, bool)> {
    std::thread::scope(|scope| {
        let inside = scope.spawn(move || {
            let held = restrict(writable);
            (work(), held)
        });
        meanwhile();
        inside.join().ok()
    })
}

fn restrict(writable: &[PathBuf]) -> bool {
    let writes = AccessFs::from_write(TRIED);
    let tried = Ruleset::default()
        .handle_access(writes)
        .and_then(|rules| rules.create())
        .and_then(|rules| rules.add_rules(path_beneath_rules(writable, writes)))
        .and_then(|rules| rules.add_rules(path_beneath_rules([DEVICES], writes)))
        .and_then(|rules| rules.restrict_self());
    tried.is_ok_and(|status| status.ruleset != RulesetStatus::NotEnforced)
}

/// Where an agent writes that looks at a tree: everything but the tree.
pub(super) fn places(
    tree: &Path,
    cache: &[String],
    own: &[&Path],
    named: &[String],
    lookup: impl Fn(&str) -> Option<PathBuf>,
) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = own.iter().map(|path| path.to_path_buf()).collect();
    all.extend(cache.iter().map(|name| tree.join(name)));
    all.extend(self::named(named, lookup));
    all.retain(|place| !tree.starts_with(place));
    all
}

/// Places by their names in a contract, and where engines keep their sessions.
pub(super) fn named(named: &[String], lookup: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let home = lookup("HOME");
    let mut all = Vec::new();
    for place in named {
        match (place.strip_prefix("~/"), &home) {
            (Some(below), Some(home)) => all.push(home.join(below)),
            (Some(_), None) => {}
            (None, _) => all.push(PathBuf::from(place)),
        }
    }
    all.extend(home.iter().flat_map(|home| SESSIONS.map(|name| home.join(name))));
    all.extend(["CLAUDE_CONFIG_DIR", "CODEX_HOME"].iter().filter_map(|name| lookup(name)));
    all
}

#[cfg(test)]
mod tests {
    use super::{places, writing_only};
    use std::path::{Path, PathBuf};

    #[test]
    fn everything_but_the_tree_may_be_written_to() {
        let tree = Path::new("/r/tree");
        let home = |name: &str| (name == "HOME").then(|| PathBuf::from("/h"));
        let named = ["~/.cache".to_string(), "/r".to_string()];
        let all = places(tree, &["target".to_string()], &[Path::new("/o")], &named, home);
        for place in ["/o", "/r/tree/target", "/h/.cache", "/h/.claude"] {
            assert!(all.contains(&PathBuf::from(place)), "{place}: {all:?}");
        }
        assert!(!all.contains(&PathBuf::from("/r")), "the tree is below it: {all:?}");
    }

    #[test]
    fn what_is_started_cannot_write_elsewhere_where_the_kernel_says_so() {
        let home = tempfile::tempdir().expect("a directory");
        let [inside, tree] = ["in", "tree"].map(|name| home.path().join(name));
        for directory in [&inside, &tree] {
            std::fs::create_dir(directory).expect("a directory");
        }
        let touch = |path: PathBuf| {
            let status = std::process::Command::new("touch").arg(path).status();
            status.is_ok_and(|status| status.success())
        };
        let work = || (touch(inside.join("a")), touch(tree.join("a")));
        let ((there, elsewhere), held) =
            writing_only(std::slice::from_ref(&inside), work, || {}).expect("no panic");
        assert!(there, "what is named can be written");
        assert_eq!(elsewhere, !held);
        assert!(touch(tree.join("b")), "nobody else is restricted");
    }
}

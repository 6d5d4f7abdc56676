//! The files a rule looks at: the repository's, or made-up ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Directories that are produced, not written.
const PRODUCED: [&str; 5] = ["target", ".git", "fuzz/corpus", "fuzz/artifacts", "test-sessions"];

/// Files by their path from the root, always with `/`.
pub struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    /// Made-up files, for canaries.
    pub fn made_up(files: &[(&str, &str)]) -> Tree {
        let own = |(path, text): &(&str, &str)| (path.to_string(), text.to_string());
        Tree { files: files.iter().map(own).collect() }
    }

    /// Every written file of the repository. Files that are not text are there, but empty.
    pub fn repository() -> Tree {
        let root = repository_root();
        let mut tree = Tree { files: BTreeMap::new() };
        tree.walk(&root, &root);
        // A walk from the wrong place would find nothing and so nothing wrong.
        for landmark in ["Cargo.toml", "crates/assay/src/main.rs", "ARCHITECTURE.md"] {
            assert!(tree.has(landmark), "tidy looked in {} and saw no {landmark}", root.display());
        }
        tree
    }

    fn walk(&mut self, root: &Path, directory: &Path) {
        let entries = fs::read_dir(directory).expect("a directory of the repository is readable");
        for entry in entries {
            let entry = entry.expect("a directory entry is readable");
            let path = entry.path();
            let relative = slashed(path.strip_prefix(root).expect("the walk stays below the root"));
            if PRODUCED.contains(&relative.as_str()) || relative.ends_with("/target") {
                continue;
            }
            let kind = entry.file_type().expect("a directory entry has a type");
            if kind.is_dir() {
                self.walk(root, &path);
            } else if kind.is_file() {
                let bytes = fs::read(&path).expect("a file of the repository is readable");
                self.files.insert(relative, String::from_utf8(bytes).unwrap_or_default());
            }
        }
    }

    /// All files with their text, by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The files whose name ends like this.
    pub fn ending<'a>(&'a self, end: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files().filter(move |(path, _)| path.ends_with(end))
    }

    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Whether there is such a file.
    pub fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Whether there is such a file or directory.
    pub fn exists(&self, path: &str) -> bool {
        path.is_empty() || self.has(path) || self.begins(&format!("{path}/"))
    }

    /// Whether the path of any file begins like this.
    pub fn begins(&self, start: &str) -> bool {
        let next = self.files.range(start.to_string()..).next();
        next.is_some_and(|(path, _)| path.starts_with(start))
    }

    /// The names of the directories in `crates/`.
    pub fn crates(&self) -> BTreeSet<&str> {
        self.files()
            .filter_map(|(path, _)| path.strip_prefix("crates/")?.split_once('/'))
            .map(|(name, _)| name)
            .collect()
    }
}

fn repository_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("this crate is two directories below the root").to_path_buf()
}

fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// `to` as seen from the directory of the file `from`, with `.` and `..` resolved; `None` when it
/// leads out of the repository.
pub fn resolve(from: &str, to: &str) -> Option<String> {
    let directory = from.rsplit_once('/').map_or("", |(directory, _)| directory);
    let mut parts: Vec<&str> = Vec::new();
    for part in directory.split('/').chain(to.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[test]
fn paths_resolve_from_the_file_that_names_them() {
    let cases = [
        ("README.md", "docs/models.md", Some("docs/models.md")),
        ("docs/guides/a.md", "../models.md", Some("docs/models.md")),
        ("docs/guides/a.md", "./b.md", Some("docs/guides/b.md")),
        ("docs/a.md", "..", Some("")),
        ("README.md", "../elsewhere.md", None),
    ];
    for (from, to, expected) in cases {
        assert_eq!(resolve(from, to).as_deref(), expected, "{to} from {from}");
    }
}

//! The gallery: what it shows is written down, and some of it is shown again, through the real
//! binary against the real systems.

mod fetched;
mod keeper;
mod nobody;
mod page;
mod shown;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The directory of the whole repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What the binary prints as JSON, and how it ended.
fn assay(words: &[&str], directory: &Path) -> (Value, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    let output = command.args(words).current_dir(directory).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let value = serde_json::from_str(&text).unwrap_or_else(|error| {
        panic!("{words:?}: {error}: {text}{}", String::from_utf8_lossy(&output.stderr))
    });
    (value, output.status.code())
}

/// The names of all entries.
fn entries() -> Vec<String> {
    let (listed, _) = assay(&["gallery", "list", "--format", "json"], &root());
    let entries = listed["entries"].as_array().expect("a list").iter();
    entries.map(|entry| entry["name"].as_str().expect("a name").to_string()).collect()
}

//! The files of the console, as they are in the binary. A path that is not in the table leads
//! nowhere: no path of a request ever becomes a path of a file.

use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::sync::LazyLock;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// The page that all others hang on.
pub const INDEX: &str = "index.html";

macro_rules! files {
    ($($name:literal $kind:expr),* $(,)?) => {
        &[$(($name, $kind, include_str!(concat!("../../console/", $name)))),*]
    };
}

/// Name, kind and text.
const FILES: &[(&str, &str, &str)] = files![
    "index.html" HTML,
    "favicon.svg" SVG,
    "base.css" CSS,
    "log.css" CSS,
    "parts.css" CSS,
    "agents.js" SCRIPT,
    "api.js" SCRIPT,
    "app.js" SCRIPT,
    "composer.js" SCRIPT,
    "diff.js" SCRIPT,
    "dom.js" SCRIPT,
    "environments.js" SCRIPT,
    "format.js" SCRIPT,
    "forms.js" SCRIPT,
    "head.js" SCRIPT,
    "keys.js" SCRIPT,
    "list.js" SCRIPT,
    "log.js" SCRIPT,
    "markdown.js" SCRIPT,
    "reports.js" SCRIPT,
    "session.js" SCRIPT,
    "sessions.js" SCRIPT,
    "sse.js" SCRIPT,
    "tail.js" SCRIPT,
    "tools.js" SCRIPT,
];

/// A file of the console.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asset {
    /// Its name, which is its whole path.
    pub name: &'static str,
    /// What kind of content it is.
    pub content_type: &'static str,
    /// Its text.
    pub text: &'static str,
    /// Changes when the text does.
    pub etag: String,
}

static ASSETS: LazyLock<Vec<Asset>> =
    LazyLock::new(|| {
        let asset = |(name, content_type, text): &(&'static str, &'static str, &'static str)| {
            Asset { name, content_type, text, etag: etag(text) }
        };
        FILES.iter().map(asset).collect()
    });

fn etag(text: &str) -> String {
    let mut tag = "\"".to_string();
    for byte in &Sha256::digest(text.as_bytes())[..16] {
        // Writing to text cannot fail.
        let _written = write!(tag, "{byte:02x}");
    }
    tag + "\""
}

/// The file of this name.
pub fn find(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_file_of_the_folder_is_served_and_nothing_else() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/console");
        let entries = std::fs::read_dir(folder).expect("the folder is there");
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.expect("readable").file_name().into_string().expect("text")
        };
        let there: BTreeSet<String> = entries.map(name).collect();
        let served: BTreeSet<String> = FILES.iter().map(|(name, _, _)| name.to_string()).collect();
        assert_eq!(there, served);
        for nothing in ["", "index.html/", "../index.html", "Index.html", "app.js?", "%61pp.js"] {
            assert_eq!(find(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn no_script_makes_markup_of_text_and_no_file_names_another_machine() {
        let forbidden = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "DOMParser",
            "createContextualFragment",
            "srcdoc",
            "https://",
            "//cdn",
        ];
        for (name, _, text) in FILES {
            for word in forbidden {
                assert!(!text.contains(word), "{name} has `{word}`");
            }
        }
    }
}

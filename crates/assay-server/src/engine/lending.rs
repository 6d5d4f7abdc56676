//! Directories of this machine that sessions may work in, if whoever runs the server lends them.
//!
//! A session names directories below one that is lent; everything else is refused when it begins,
//! and looked at again whenever its tools get a sandbox. Where nothing keeps tools in their place
//! nothing is lent.

use super::options::EngineError;
use crate::store::LentRecord;
use assay_sandbox::ProviderKind;
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The beginning of the names of variables.
const PREFIX: &str = "ASSAY_";

/// What is lent.
#[derive(Debug)]
pub struct Lends {
    /// Whole paths, without links.
    roots: Vec<PathBuf>,
}

impl Lends {
    /// What may be lent by a server that keeps such things for itself.
    ///
    /// # Errors
    /// If something is no directory, or would show what the server keeps, or nothing would keep
    /// tools in it.
    pub fn new(
        named: Vec<PathBuf>,
        kind: ProviderKind,
        kept: &[PathBuf],
    ) -> Result<Lends, EngineError> {
        let mut roots = Vec::with_capacity(named.len());
        for path in named {
            let no = |why: &str| EngineError::Lend { path: path.clone(), why: why.to_string() };
            if kind == ProviderKind::None {
                return Err(no("with --sandbox none nothing would keep tools in it"));
            }
            let root = path.canonicalize().map_err(|error| no(&error.to_string()))?;
            if !root.is_dir() {
                return Err(no("it is no directory"));
            }
            // The data directory is there by now; the file of a key may not be.
            let whole = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
            let meets = |kept: &PathBuf| kept.starts_with(&root) || root.starts_with(kept);
            if kept.iter().map(whole).any(|kept| meets(&kept)) {
                return Err(no("the server keeps its own things there"));
            }
            roots.push(root);
        }
        Ok(Lends { roots })
    }

    /// What a session asks for, with whole paths.
    ///
    /// # Errors
    /// Names the field that cannot be, and why.
    pub fn check(&self, wanted: &LentRecord) -> Result<LentRecord, String> {
        if self.roots.is_empty() {
            return Err("workspace: this server was not started with --lend".to_string());
        }
        let within = |field: &str, path: &Path| {
            let no = |why: &str| format!("workspace.{field}: {}: {why}", path.display());
            if !path.is_absolute() {
                return Err(no("must be a whole path"));
            }
            // What is elsewhere is not looked at: nobody learns what is there.
            let whole = path.canonicalize().ok();
            let is_lent = |path: &PathBuf| {
                self.roots.iter().any(|root| path.starts_with(root) && path != root)
            };
            match whole.filter(|path| is_lent(path) && path.is_dir()) {
                Some(whole) => Ok(whole),
                None => Err(no("must be a directory below one that this server lends")),
            }
        };
        let (path, outputs) = (within("path", &wanted.path)?, within("outputs", &wanted.outputs)?);
        let readable = wanted.readable.iter().enumerate();
        let readable = readable.map(|(index, path)| within(&format!("readable[{index}]"), path));
        let readable = readable.collect::<Result<Vec<_>, _>>()?;
        let nodes = vec![node(&path), node(&outputs)];
        Ok(LentRecord { path, outputs, readable, variables: wanted.variables.clone(), nodes })
    }

    /// The same as when the session began: somebody may have put links or other directories there
    /// since.
    ///
    /// # Errors
    /// If it is not.
    pub fn check_again(&self, lent: &LentRecord) -> Result<(), String> {
        match self.check(lent)? == *lent {
            true => Ok(()),
            false => Err("workspace: another directory stands there now".to_string()),
        }
    }
}

/// Which directory stands at a path, whatever it is called.
fn node(path: &Path) -> String {
    let facts = std::fs::metadata(path);
    let made = |facts: &Metadata| {
        let since = facts.created().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        Some(since.as_nanos())
    };
    facts.map_or(String::new(), |facts| format!("{}.{:?}", facts.ino(), made(&facts)))
}

/// What programs in a lent directory find in their environment.
pub(super) fn environment(lent: &LentRecord) -> BTreeMap<String, String> {
    let named = lent.variables.iter();
    let named = named.map(|(name, value)| (format!("{PREFIX}{}", name.to_uppercase()), value));
    let mut all: BTreeMap<_, _> = named.map(|(name, value)| (name, value.clone())).collect();
    all.insert(format!("{PREFIX}DROP_BOX"), lent.outputs.to_string_lossy().into_owned());
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_what_is_below_a_lent_directory_can_be_named() {
        let place = tempfile::tempdir().expect("a directory");
        let root = place.path().canonicalize().expect("it is there");
        for name in ["lent/tree/deep", "lent/drop", "other/tree", "data/objects"] {
            std::fs::create_dir_all(root.join(name)).expect("ours");
        }
        std::fs::write(root.join("lent/file"), "").expect("ours");
        symlink(root.join("other"), root.join("lent/out")).expect("ours");
        symlink(root.join("lent/tree"), root.join("lent/again")).expect("ours");
        let kept = [root.join("data")];
        let new = |name: &str, kind| Lends::new(vec![root.join(name)], kind, &kept);
        for name in ["data", "data/objects", "", "lent/file", "gone"] {
            assert!(new(name, ProviderKind::Local).is_err(), "{name}");
        }
        assert!(new("lent", ProviderKind::None).is_err());
        let lends = new("lent", ProviderKind::Local).expect("it can be lent");
        let wish = |path: PathBuf| LentRecord {
            path,
            outputs: root.join("lent/drop"),
            readable: Vec::new(),
            variables: BTreeMap::new(),
            nodes: Vec::new(),
        };
        for name in ["lent", "other/tree", "lent/../other/tree", "lent/out/tree", "lent/file", "x"]
        {
            let said = lends.check(&wish(root.join(name))).expect_err(name);
            assert!(said.starts_with("workspace.path: "), "{name}: {said}");
        }
        assert!(
            lends
                .check(&wish("lent/tree".into()))
                .expect_err("it is no whole path")
                .contains("whole")
        );
        let found = lends.check(&wish(root.join("lent/again/deep"))).expect("it is below");
        assert_eq!(found.path, root.join("lent/tree/deep"));
        lends.check_again(&found).expect("nothing has changed");
        std::fs::rename(&found.path, root.join("lent/aside")).expect("ours");
        std::fs::create_dir(&found.path).expect("ours");
        assert!(lends.check_again(&found).expect_err("it is a new one").contains("another"));
        std::fs::remove_dir(&found.path).expect("ours");
        symlink(root.join("lent/drop"), &found.path).expect("ours");
        assert!(lends.check_again(&found).expect_err("a link stands there").contains("another"));
    }
}

//! Directories of this machine that sessions may work in, if whoever runs the server lends them.
//!
//! A session names directories below one that is lent; everything else is refused when it begins,
//! and so is what lies in, or holds, what a session that goes on works in: from there its tools
//! could put something else in the place of it. Which directories these were is kept and looked at
//! again by each call. Where nothing keeps tools in their place nothing is lent.

use super::options::EngineError;
use crate::store::LentRecord;
use assay_sandbox::{HostPlace, Lent, ProviderKind};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// The beginning of the names of variables.
const PREFIX: &str = "ASSAY_";
/// Where sandboxes have something of their own: nothing can be lent there.
const TAKEN: [&str; 6] = ["/workspace", "/mnt/session", "/var/tmp", "/proc", "/dev", "/sys"];
/// How long a look at what is lent may take: it may be on a file system that does not answer.
const LOOK_TIME_MAX: Duration = Duration::from_secs(10);
/// Looks at a time. One that hangs keeps its thread.
const LOOKS_MAX: usize = 8;

/// What is lent.
#[derive(Debug)]
pub struct Lends {
    /// Whole paths, without links.
    roots: Vec<PathBuf>,
    looks: Arc<Semaphore>,
}

/// What a session works in, as it was found.
#[derive(Debug)]
pub(super) struct Found {
    pub lent: Lent,
    pub readable: Vec<HostPlace>,
}

impl Lends {
    /// What may be lent by a server that keeps such things for itself.
    ///
    /// # Errors
    /// If something is no directory, or would show what the server keeps, or sandboxes have
    /// something of their own there, or nothing would keep tools in it.
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
            if let Some(taken) = TAKEN.iter().find(|taken| root.starts_with(taken)) {
                let why = format!("{taken} is something else in a sandbox; lend another directory");
                return Err(no(&why));
            }
            roots.push(root);
        }
        Ok(Lends { roots, looks: Arc::new(Semaphore::new(LOOKS_MAX)) })
    }

    /// Looks at what is lent, where nobody else waits for it.
    ///
    /// # Errors
    /// If it takes too long.
    pub async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, String> {
        self.look_within(LOOK_TIME_MAX, look).await
    }

    async fn look_within<T: Send + 'static>(
        &self,
        time: Duration,
        look: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, String> {
        let looks = self.looks.clone();
        let looked = async move {
            let permit = looks.acquire_owned().await.map_err(|error| error.to_string())?;
            let looked = tokio::task::spawn_blocking(move || {
                let _permit = permit;
                look()
            });
            looked.await.map_err(|error| error.to_string())
        };
        tokio::time::timeout(time, looked).await.unwrap_or_else(|_| {
            let what = "workspace: what is lent did not answer within";
            Err(format!("{what} {} s; look at its file system", time.as_secs()))
        })
    }

    fn has(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root) && path != root)
    }

    /// What a session asks for, with whole paths.
    ///
    /// # Errors
    /// Names the field that cannot be, and why.
    pub fn check(&self, wanted: &LentRecord) -> Result<LentRecord, String> {
        if self.roots.is_empty() {
            return Err("workspace: this server was not started with --lend".to_string());
        }
        let mut found: Vec<(String, HostPlace)> = Vec::new();
        let written = [("path", &wanted.path), ("outputs", &wanted.outputs)];
        for (field, path) in written {
            let place = self.within(field, path)?;
            place.can_be_lent().map_err(|error| format!("workspace.{field}: {error}"))?;
            apart(&found, field, &place)?;
            found.push((field.to_string(), place));
        }
        for (index, path) in wanted.readable.iter().enumerate() {
            let field = format!("readable[{index}]");
            let place = self.within(&field, path)?;
            apart(&found[..written.len()], &field, &place)?;
            found.push((field, place));
        }
        let nodes = found.iter().map(|(_, place)| place.mark()).collect();
        let mut paths = found.into_iter().map(|(_, place)| place.path().to_path_buf());
        let (path, outputs) = (paths.next().unwrap_or_default(), paths.next().unwrap_or_default());
        let variables = wanted.variables.clone();
        Ok(LentRecord { path, outputs, readable: paths.collect(), variables, nodes })
    }

    fn within(&self, field: &str, path: &Path) -> Result<HostPlace, String> {
        let no = |why: &str| format!("workspace.{field}: {}: {why}", path.display());
        if !path.is_absolute() {
            return Err(no("must be a whole path"));
        }
        // What is elsewhere is not looked at: nobody learns what is there.
        let whole = path.canonicalize().ok();
        let whole = whole.filter(|path| self.has(path) && path.is_dir());
        let Some(whole) = whole else {
            return Err(no("must be a directory below one that this server lends"));
        };
        let meets = |taken: &str| whole.starts_with(taken) || Path::new(taken).starts_with(&whole);
        if let Some(taken) = TAKEN.into_iter().find(|taken| meets(taken)) {
            return Err(no(&format!("{taken} is something else in a sandbox")));
        }
        HostPlace::find(&whole).map_err(|error| format!("workspace.{field}: {error}"))
    }

    /// The same as when the session began: somebody may have put links or other directories there
    /// since.
    ///
    /// # Errors
    /// If it is not.
    pub(super) fn check_again(&self, lent: &LentRecord) -> Result<Found, String> {
        let another = || "workspace: another directory stands there now".to_string();
        let paths = [&lent.path, &lent.outputs].into_iter().chain(&lent.readable);
        let mut places = Vec::with_capacity(lent.nodes.len());
        for (path, node) in paths.zip(&lent.nodes) {
            if !self.has(path) {
                let path = path.display();
                return Err(format!("workspace: {path}: this server does not lend it any more"));
            }
            let place = HostPlace::find(path).map_err(|_| another())?;
            if place.mark() != *node {
                return Err(another());
            }
            places.push(place);
        }
        let count = places.len();
        let mut places = places.into_iter();
        match (places.next(), places.next()) {
            (Some(files), Some(outputs)) if count == 2 + lent.readable.len() => {
                Ok(Found { lent: Lent { files, outputs }, readable: places.collect() })
            }
            _ => Err(another()),
        }
    }
}

/// None of a session's directories holds another one that its tools write in: they could put a
/// link in the place of that, and what is above hides what is below.
fn apart(others: &[(String, HostPlace)], field: &str, place: &HostPlace) -> Result<(), String> {
    match others.iter().find(|(_, other)| other.overlaps(place)) {
        Some((other, _)) => {
            let path = place.path().display();
            Err(format!("workspace.{field}: {path}: must not be, hold or lie in workspace.{other}"))
        }
        None => Ok(()),
    }
}

/// Which field of one session is, holds or lies in what another one writes in.
pub fn clash(one: &LentRecord, other: &LentRecord) -> Option<&'static str> {
    let written = |lent: &LentRecord| [lent.path.clone(), lent.outputs.clone()];
    let theirs = written(other);
    let fields = written(one).into_iter().zip(["path", "outputs"]).zip(&one.nodes);
    let mut clashing = fields.filter(|((path, _), node)| {
        theirs.iter().zip(&other.nodes).any(|(their, their_node)| {
            // Another directory at the same path is none that they work in.
            let is_nested = path != their && (path.starts_with(their) || their.starts_with(path));
            is_nested || *node == their_node
        })
    });
    clashing.next().map(|((_, field), _)| field)
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
        for (path, outputs, readable, field) in [
            ("tree", "tree/deep", None, "outputs"),
            ("tree/deep", "tree", None, "outputs"),
            ("tree", "tree", None, "outputs"),
            ("tree/deep", "drop", Some("tree"), "readable[0]"),
            ("tree", "drop", Some("tree/deep"), "readable[0]"),
        ] {
            let lent = |name: &str| root.join("lent").join(name);
            let readable = readable.map(lent).into_iter().collect();
            let wish = LentRecord { outputs: lent(outputs), readable, ..wish(lent(path)) };
            let said = lends.check(&wish).expect_err("one holds the other");
            assert!(said.starts_with(&format!("workspace.{field}: ")), "{said}");
        }
        let found = lends.check(&wish(root.join("lent/again/deep"))).expect("it is below");
        assert_eq!(found.path, root.join("lent/tree/deep"));
        drop(lends.check_again(&found).expect("nothing has changed"));
        std::fs::rename(&found.path, root.join("lent/aside")).expect("ours");
        std::fs::create_dir(&found.path).expect("ours");
        assert!(lends.check_again(&found).expect_err("it is a new one").contains("another"));
        std::fs::remove_dir(&found.path).expect("ours");
        symlink(root.join("lent/drop"), &found.path).expect("ours");
        assert!(lends.check_again(&found).expect_err("a link stands there").contains("another"));
    }

    #[test]
    fn what_sessions_write_in_is_apart_from_what_others_do() {
        let lent = |path: &str, outputs: &str, nodes: [&str; 2]| LentRecord {
            path: path.into(),
            outputs: outputs.into(),
            readable: Vec::new(),
            variables: BTreeMap::new(),
            nodes: nodes.map(str::to_string).to_vec(),
        };
        let other = lent("/l/a", "/l/o/b", ["1", "2"]);
        for (path, outputs, nodes, expected) in [
            ("/l/c", "/l/d", ["3", "4"], None),
            ("/l/ab", "/l/o/bc", ["3", "4"], None),
            ("/l/a", "/l/d", ["1", "4"], Some("path")),
            ("/l/a/x", "/l/d", ["3", "4"], Some("path")),
            ("/l/c", "/l/o", ["3", "4"], Some("outputs")),
            ("/l/c", "/l/a/x", ["3", "4"], Some("outputs")),
            // The same directory by another name, and another one by the same.
            ("/l/c", "/l/d", ["3", "1"], Some("outputs")),
            ("/l/a", "/l/d", ["3", "4"], None),
        ] {
            assert_eq!(clash(&lent(path, outputs, nodes), &other), expected, "{path} {outputs}");
        }
    }

    #[tokio::test]
    async fn a_look_that_hangs_keeps_nobody_else_waiting() {
        let lends = Lends::new(Vec::new(), ProviderKind::Local, &[]).expect("nothing is lent");
        let (answer, hangs) = std::sync::mpsc::channel::<()>();
        let hang = move || hangs.recv().is_ok();
        let said = lends.look_within(Duration::ZERO, hang).await.expect_err("it hangs");
        assert!(said.contains("did not answer"), "{said}");
        assert_eq!(lends.look(|| 7).await, Ok(7), "others are looked at");
        drop(answer);
    }
}

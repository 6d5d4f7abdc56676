//! What is around a command of the contract: a home of its own, and places that it cannot see.
//!
//! What a command shows is to hold for whoever takes the work, and that one gets none of what a
//! Worker left elsewhere: in the home directory, in its drop box, among the sessions of its
//! program, in caches that the contract lets it write to. So a command has a home directory that is
//! empty but for a name to commit by, and is told by variables where the tools of the user are.
//! What agents write to is hidden from it, where the kernel can see to that.
//!
//! Places that the contract makes writable are those of the user while a story is checked. At the
//! end they are empty, each time, whatever was there: nobody can say of a cache that was written to
//! what of it is still true. A copy of what was there before would be as good, and as large.

use super::confine;
use super::desk::Desk;
use crate::contract::Settings;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

/// A variable of the environment.
type Variable = (String, Option<OsString>);

/// Tools, by the variable that says where they are, and where that is without it. What is there is
/// what people installed; caches that need not be there are left out.
const TOOLS: [(&str, &str); 14] = [
    ("CARGO_HOME", ".cargo"),
    ("RUSTUP_HOME", ".rustup"),
    ("GOPATH", "go"),
    ("PYENV_ROOT", ".pyenv"),
    ("RBENV_ROOT", ".rbenv"),
    ("NVM_DIR", ".nvm"),
    ("VOLTA_HOME", ".volta"),
    ("ASDF_DATA_DIR", ".asdf"),
    ("MISE_DATA_DIR", ".local/share/mise"),
    ("SDKMAN_DIR", ".sdkman"),
    ("BUN_INSTALL", ".bun"),
    ("ELAN_HOME", ".elan"),
    ("OPAMROOT", ".opam"),
    PYTHON,
];
/// Packages of the user, some of which python runs before anything else.
const PYTHON: (&str, &str) = ("PYTHONUSERBASE", ".local");
/// Where agents are told to hand things over. A command is no agent, and need not know of any.
const DROP_BOX: &str = "ASSAY_DROP_BOX";
/// Entries of a directory that are linked one by one.
const LINKS_MAX: usize = 10_000;

/// What is asked for.
pub(super) struct Wanted<'a> {
    pub settings: &'a Settings,
    pub desk: &'a Desk,
    /// Where the home is to be.
    pub home: PathBuf,
    /// Nothing of what could be written to before may be found.
    pub is_end: bool,
    /// Nobody could write elsewhere before, because the kernel saw to it.
    pub is_confined: bool,
}

/// What is around a command.
#[derive(Debug, Default)]
pub(super) struct Around {
    /// Variables that are to be as they stand here.
    pub variables: Vec<Variable>,
    /// Places by their names in the contract, where it may write.
    pub writable: Vec<String>,
    /// Places that were made for it, where it may write.
    pub own: Vec<PathBuf>,
    /// What it is not to see.
    pub hidden: Vec<PathBuf>,
}

impl Around {
    /// Makes what has to be there; `lookup` reads the environment.
    pub(super) fn make(
        wanted: &Wanted<'_>,
        lookup: impl Fn(&str) -> Option<PathBuf>,
    ) -> io::Result<Around> {
        let settings = wanted.settings;
        let theirs = lookup("HOME").filter(|home| home.is_absolute());
        let mut all = Around { variables: vec![(DROP_BOX.to_string(), None)], ..Around::default() };
        // A person who names it wants commands to have it, with all that is in it.
        let is_own = !settings.environment.iter().any(|name| name == "HOME");
        let is_emptied = is_own && wanted.is_end;
        if is_own {
            let emptied = if is_emptied { places(&settings.writable, &lookup) } else { Vec::new() };
            let home = Home { own: &wanted.home, theirs: theirs.as_deref(), emptied: &emptied };
            home.make(wanted, &settings.writable)?;
            all.variables.extend(home.variables(wanted.is_confined, &lookup)?);
            all.own.push(wanted.home.clone());
        }
        if !is_emptied {
            all.writable.clone_from(&settings.writable);
        }
        all.hidden = hidden(wanted, is_emptied, &lookup);
        Ok(all)
    }
}

/// A home that is made.
struct Home<'a> {
    own: &'a Path,
    theirs: Option<&'a Path>,
    /// Places that are to be empty.
    emptied: &'a [PathBuf],
}

impl Home<'_> {
    fn make(&self, wanted: &Wanted<'_>, writable: &[String]) -> io::Result<()> {
        fs::create_dir_all(self.own)?;
        let (name, email) = wanted.desk.git.identity();
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        // Tests make repositories, and commit to them.
        let text = format!(
            "[user]\n\tname = \"{}\"\n\temail = \"{}\"\n[safe]\n\tdirectory = *\n",
            quoted(name),
            quoted(email)
        );
        fs::write(self.own.join(".gitconfig"), text)?;
        for below in writable.iter().filter_map(|place| place.strip_prefix("~/")) {
            let is_below = Path::new(below).components().all(|c| matches!(c, Component::Normal(_)));
            if !is_below {
                continue;
            }
            let place = self.own.join(below.trim_end_matches('/'));
            match self.theirs {
                Some(theirs) if self.emptied.is_empty() => {
                    fs::create_dir_all(place.parent().unwrap_or(self.own))?;
                    // One that is named twice, or lies in another one, is there already.
                    _ = symlink(theirs.join(below), place);
                }
                _ => fs::create_dir_all(place)?,
            }
        }
        Ok(())
    }

    fn variables(
        &self,
        is_confined: bool,
        lookup: &impl Fn(&str) -> Option<PathBuf>,
    ) -> io::Result<Vec<Variable>> {
        let mut all = vec![("HOME".to_string(), Some(self.own.into()))];
        for (name, below) in TOOLS {
            let usual = || self.theirs.map(|home| home.join(below));
            let Some(place) = lookup(name).or_else(usual).filter(|place| place.is_dir()) else {
                continue;
            };
            if name == PYTHON.0 && !is_confined {
                continue;
            }
            let place = self.tool(&real(&place), below)?;
            all.push((name.to_string(), Some(place.into())));
        }
        Ok(all)
    }

    /// Where a tool finds what it is to find: its own place, unless something in it is to be empty.
    fn tool(&self, place: &Path, below: &str) -> io::Result<PathBuf> {
        let own = self.own.join(below);
        if self.emptied.iter().any(|emptied| place.starts_with(emptied)) {
            fs::create_dir_all(&own)?;
            return Ok(own);
        }
        if !self.emptied.iter().any(|emptied| emptied.starts_with(place)) {
            return Ok(place.to_path_buf());
        }
        self.link(place, &own)?;
        Ok(own)
    }

    /// Links to all that is in a directory, with new directories for what is to be empty, and on
    /// the way there. Files with a dot are locks and notes of the tool itself.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)?.take(LINKS_MAX) {
            let (from, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
            let to = to.join(&name);
            let is_note = name.to_string_lossy().starts_with('.') && from.is_file();
            if self.emptied.contains(&from) {
                fs::create_dir_all(to)?;
            } else if self.emptied.iter().any(|emptied| emptied.starts_with(&from)) {
                self.link(&from, &to)?;
            } else if !is_note && fs::symlink_metadata(&to).is_err() {
                symlink(from, to)?;
            }
        }
        Ok(())
    }
}

/// What a command is not to see: the desk, where agents keep their sessions, what engines of the
/// contract may write to besides; and at the end what commands could. A place cannot be hidden that
/// has something in it that a command needs, or that lies where it may write: of the first the
/// contract's lint warns.
fn hidden(
    wanted: &Wanted<'_>,
    is_emptied: bool,
    lookup: &impl Fn(&str) -> Option<PathBuf>,
) -> Vec<PathBuf> {
    let settings = wanted.settings;
    let engines = settings.agents.engines.values().flat_map(|engine| engine.writable.clone());
    let mut all = confine::named(&engines.collect::<Vec<_>>(), lookup);
    all.push(wanted.desk.home().to_path_buf());
    let writable = places(&settings.writable, lookup);
    let mut needed = vec![wanted.desk.git.root().to_path_buf(), wanted.desk.git.directory().into()];
    needed.extend(lookup("HOME"));
    let mut open = Vec::new();
    if is_emptied {
        let programs: Vec<PathBuf> =
            std::env::split_paths(&lookup("PATH").unwrap_or_default()).map(|p| real(&p)).collect();
        let is_cache = |place: &PathBuf| !programs.iter().any(|p| p.starts_with(place));
        all.extend(writable.into_iter().filter(is_cache));
    } else {
        needed.extend(writable.iter().cloned());
        open = writable;
    }
    let needed: Vec<PathBuf> = needed.iter().map(|place| real(place)).collect();
    let mut all: Vec<PathBuf> = all.iter().map(|place| real(place)).collect();
    all.retain(|place| {
        let is_free = |other: &PathBuf| !other.starts_with(place);
        let is_closed = |other: &PathBuf| !place.starts_with(other);
        place.exists() && needed.iter().all(is_free) && open.iter().all(is_closed)
    });
    all.sort();
    all.dedup();
    all
}

/// Places of a contract, as they really are.
fn places(named: &[String], lookup: &impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let home = lookup("HOME");
    let whole = |place: &String| match (place.strip_prefix("~/"), &home) {
        (Some(below), Some(home)) => Some(home.join(below)),
        (Some(_), None) => None,
        (None, _) => Some(PathBuf::from(place)),
    };
    named.iter().filter_map(whole).map(|place| real(&place)).collect()
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::{Around, Wanted, real};
    use crate::contract::Settings;
    use crate::shell::desk::Desk;
    use std::fs;
    use std::path::PathBuf;
    use std::process::Command;

    /// A user with a home and a repository, and a desk in it.
    struct User {
        top: tempfile::TempDir,
        desk: Desk,
    }

    impl User {
        fn new() -> User {
            let top = tempfile::tempdir().expect("a directory");
            let root = top.path().join("home/repository");
            fs::create_dir_all(&root).expect("a directory");
            let made = Command::new("git").args(["init", "-q"]).current_dir(&root).status();
            assert!(made.expect("git runs").success());
            let desk = Desk::find(&root, "small").expect("a desk");
            desk.make().expect("a directory");
            let user = User { top, desk };
            for path in [
                ".cargo/bin/cargo",
                ".cargo/registry/cache/x",
                ".cargo/.package-cache",
                ".claude/x",
                ".local/lib/x",
                "go/pkg/mod/x",
                "go/bin/x",
                "secret",
            ] {
                let path = user.home().join(path);
                fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
                fs::write(path, "theirs").expect("a file");
            }
            user
        }

        fn home(&self) -> PathBuf {
            real(self.top.path()).join("home")
        }

        fn own(&self) -> PathBuf {
            real(self.top.path()).join("own")
        }

        fn around(&self, settings: &str, is_end: bool, is_confined: bool) -> Around {
            let text = format!("{settings}\ntests = []\n[suite]\nrun = ['t']\n");
            let settings: Settings = toml_edit::de::from_str(&text).expect("settings");
            _ = fs::remove_dir_all(self.own());
            let (home, desk) = (self.own(), &self.desk);
            let wanted = Wanted { settings: &settings, desk, home, is_end, is_confined };
            let lookup = |name: &str| match name {
                "HOME" => Some(self.home()),
                "PATH" => Some(self.home().join(".cargo/bin")),
                _ => None,
            };
            Around::make(&wanted, lookup).expect("a home")
        }
    }

    fn value(around: &Around, name: &str) -> Option<Option<PathBuf>> {
        let found = around.variables.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_ref().map(PathBuf::from))
    }

    #[test]
    fn a_command_has_a_home_with_nothing_in_it_and_is_told_where_tools_are() {
        let user = User::new();
        let around = user.around("", false, true);
        assert_eq!(value(&around, "HOME"), Some(Some(user.own())));
        assert_eq!(value(&around, "ASSAY_DROP_BOX"), Some(None), "it is taken away");
        for (name, below) in
            [("CARGO_HOME", ".cargo"), ("GOPATH", "go"), ("PYTHONUSERBASE", ".local")]
        {
            assert_eq!(value(&around, name), Some(Some(user.home().join(below))), "{name}");
        }
        assert_eq!(value(&around, "RUSTUP_HOME"), None, "it is not there");
        let names: Vec<_> = fs::read_dir(user.own()).expect("a home").flatten().collect();
        assert_eq!(names.len(), 1, "{names:?}");
        assert_eq!(names[0].file_name(), ".gitconfig");
        assert_eq!(around.own, [user.own()]);
        let hidden = [user.home().join(".claude"), real(user.desk.home())];
        assert_eq!(around.hidden, hidden);
        // Python runs some of what is there before anything else.
        assert_eq!(value(&user.around("", false, false), "PYTHONUSERBASE"), None);
        // Somebody decided it.
        let around = user.around("environment = ['HOME']", true, true);
        assert_eq!((value(&around, "HOME"), value(&around, "CARGO_HOME")), (None, None));
        assert!(around.own.is_empty());
    }

    const CACHES: &str = "writable = ['~/.cargo/registry', '~/go/pkg/mod', '~/none', '~/../out']";

    #[test]
    fn places_that_may_be_written_to_are_theirs_until_the_end_and_empty_then() {
        let user = User::new();
        let (own, home) = (user.own(), user.home());
        let around = user.around(CACHES, false, true);
        assert_eq!(around.writable.len(), 4);
        assert!(own.join(".cargo/registry/cache/x").exists() && own.join("go/pkg/mod/x").exists());
        assert_eq!(value(&around, "CARGO_HOME"), Some(Some(home.join(".cargo"))));
        assert!(!around.hidden.contains(&home.join("go/pkg/mod")));

        let around = user.around(CACHES, true, true);
        assert!(around.writable.is_empty());
        assert_eq!(value(&around, "CARGO_HOME"), Some(Some(own.join(".cargo"))));
        assert_eq!(value(&around, "GOPATH"), Some(Some(own.join("go"))));
        for path in [".cargo/bin/cargo", "go/bin/x", ".cargo/registry", "go/pkg/mod", "none"] {
            assert!(own.join(path).exists(), "{path}");
        }
        for path in [".cargo/registry/cache", "go/pkg/mod/x", ".cargo/.package-cache", "secret"] {
            assert!(!own.join(path).exists(), "{path}");
        }
        for path in [".cargo/registry", "go/pkg/mod", ".claude"] {
            assert!(around.hidden.contains(&home.join(path)), "{path}: {:?}", around.hidden);
        }
        assert!(!home.join("../out").exists() && !own.join("../out").exists());
    }

    #[test]
    fn what_a_command_needs_is_not_hidden_from_it() {
        let user = User::new();
        for settings in ["writable = ['~/']", "writable = ['/']", "writable = ['~/.cargo']"] {
            let around = user.around(settings, true, true);
            let needed = |place: &PathBuf| user.home().join(".cargo/bin").starts_with(place);
            assert!(!around.hidden.iter().any(needed), "{settings}: {:?}", around.hidden);
        }
        // What lies where it may write can be read in any case.
        let around = user.around("writable = ['~/repository', '~/.claude']", false, true);
        assert!(around.hidden.is_empty(), "{:?}", around.hidden);
    }
}

//! Releases that need not be fetched, because their packages are installed here.
//!
//! A release whose programs have a directory of their own says so (`installed`). Of one whose
//! packages are pinned, to a version or a series, Debian's own account tells which version is
//! installed and which files are its: a program on `PATH` counts if it is one of them, and no other
//! does.

use super::Programs;
use crate::spec::{PackageSpec, ReleaseSpec};
use std::path::{Path, PathBuf};

/// Where Debian keeps account of what is installed.
pub(super) const ACCOUNT: &str = "/var/lib/dpkg";

/// A release that is installed where its packages put it, if it is whole.
pub(crate) fn installed(release: &ReleaseSpec) -> Option<Programs> {
    let pinned = || of_packages(release, Path::new(ACCOUNT));
    let bin = release.installed.clone().or_else(pinned)?;
    let whole = release.provides.iter().all(|command| bin.join(command).is_file());
    (whole && bin.is_dir()).then_some(Programs { bin, lib: None })
}

/// The directory on `PATH` of what the release provides, if all of it was installed by packages of
/// the versions that are meant.
fn of_packages(release: &ReleaseSpec, account: &Path) -> Option<PathBuf> {
    let directory = on_path(release.provides.first()?)?;
    let status = std::fs::read_to_string(account.join("status")).ok()?;
    let is_there = |package: &&PackageSpec| is_installed(&status, package);
    let lists = release.packages.iter().filter(is_there).map(|package| {
        let list = account.join(format!("info/{}.list", package.name()));
        std::fs::read_to_string(list).unwrap_or_default()
    });
    let files: Vec<String> = lists.collect();
    let is_theirs = |command: &String| {
        let program = directory.join(command);
        let is_it = |line: &str| Path::new(line) == program;
        files.iter().any(|list| list.lines().any(is_it))
    };
    release.provides.iter().all(is_theirs).then_some(directory)
}

/// Whether the account has a package as installed, in a version that is meant.
fn is_installed(status: &str, wanted: &PackageSpec) -> bool {
    version_in(status, wanted.name()).is_some_and(|version| wanted.means(version))
}

/// The version of a package that the account has as installed.
pub(super) fn version_in<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.split("\n\n").find_map(|package| {
        let says = |field: &str| {
            let mut fields = package.lines().filter_map(|line| line.split_once(": "));
            fields.find(|(key, _)| *key == field).map(|(_, value)| value)
        };
        let is_it = says("Package") == Some(name) && says("Status") == Some("install ok installed");
        is_it.then(|| says("Version")).flatten()
    })
}

/// The directory of `PATH` in which a command is found.
pub(crate) fn on_path(command: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).find(|directory| directory.join(command).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::SystemSpec;

    const DESCRIBED: &str = r#"about = "a server"
requires = ["sh"]
[nodes]
default = 1
allowed = [1]
[ports]
http = ["clients"]
[options.release]
about = "which"
default = "1"
values = ["1"]
[releases."1"]
about = "the first"
RELEASE
[node]
command = ["sh", "{listen.http}"]
[client]
builtin = "kv"
retries = "none"
"#;

    fn described(release: &str) -> SystemSpec {
        let text = DESCRIBED.replace("RELEASE", release);
        SystemSpec::parse("s", "systems/s.toml", &text).expect("it is right")
    }

    #[test]
    fn a_program_on_the_path_does_not_stand_in_for_a_pinned_package() {
        let digest = "0".repeat(64);
        let rows = [
            ("packages = [\"assay-nowhere\"]".to_string(), true),
            ("packages = [{ name = \"assay-nowhere\" }]".to_string(), true),
            ("packages = [{ name = \"assay-nowhere\", version = \"1\" }]".to_string(), false),
            (format!("packages = [{{ name = \"nowhere\", sha256 = \"{digest}\" }}]"), false),
        ];
        for (release, at_hand) in rows {
            assert_eq!(described(&release).is_at_hand("1"), at_hand, "{release}");
        }
    }

    #[test]
    fn an_installed_package_is_taken_in_the_very_version_that_is_meant() {
        let account = tempfile::tempdir().expect("a directory");
        let directory = on_path("sh").expect("a shell");
        let write = |name: &str, text: String| {
            std::fs::write(account.path().join(name), text).expect("written");
        };
        std::fs::create_dir(account.path().join("info")).expect("made");
        write("info/thing.list", format!("/.\n{}\n", directory.join("sh").display()));
        write("info/other.list", "/.\n".to_string());
        let pinned = |name: &str, version: &str| {
            format!("packages = [{{ name = \"{name}\", version = \"{version}\" }}]")
        };
        let ok = "install ok installed";
        // What the release wants of which package, the state of the package, and whether it counts.
        let rows = [
            (pinned("thing", "1.0-1"), ok, true),
            (pinned("thing", "1.0-2"), ok, false),
            (pinned("thing", "1.0-1"), "deinstall ok config-files", false),
            (pinned("other", "1.0-1"), ok, false),
            ("packages = [\"thing\"]".to_string(), ok, false),
        ];
        for (release, state, counts) in rows {
            let package = |name| format!("Package: {name}\nStatus: {state}\nVersion: 1.0-1\n");
            write("status", [package("other"), package("thing")].join("\n"));
            let spec = described(&format!("{release}\nprovides = [\"sh\"]"));
            let found = of_packages(&spec.described.releases["1"], account.path());
            assert_eq!(found, counts.then(|| directory.clone()), "{release}, {state}");
        }
    }
}

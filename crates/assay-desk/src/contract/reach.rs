//! Programs that a contract lets agents replace.
//!
//! The Leader runs the contract's commands as the user would: `cargo` is what `PATH` says it is. A
//! place in `writable` where such a program lies, or a place above it, lets whoever is judged
//! write the judge's tools. That can be what somebody wants in a container of its own, so it is a
//! warning; the toolchain is looked after in any case.

use super::lint::{Complaint, Level};
use super::types::Contract;
use std::path::{Path, PathBuf};

/// Remarks about places where agents may write; `programs` are the directories of `PATH`.
pub fn reach(contract: &Contract, home: Option<&Path>, programs: &[PathBuf]) -> Vec<Complaint> {
    let settings = &contract.settings;
    let own = settings.agents.engines.values().flat_map(|engine| &engine.writable);
    let mut places: Vec<&String> = settings.writable.iter().chain(own).collect();
    places.sort();
    places.dedup();
    let told = places.into_iter().filter_map(|place| {
        let why = wide(place, home, programs)?;
        let message = format!(
            "`writable` has `{place}`: {why}, which agents could change and the Leader would run; \
             name only what has to be written, such as `~/.cargo/registry`"
        );
        Some(Complaint { level: Level::Warning, line: contract.line, message })
    });
    told.collect()
}

/// What can be run from a place, if anything can.
fn wide(place: &str, home: Option<&Path>, programs: &[PathBuf]) -> Option<String> {
    let bare = place.trim_end_matches('/');
    if matches!(bare, "" | "~" | "~/.cargo") {
        return Some("programs are there".to_string());
    }
    let whole = match (bare.strip_prefix("~/"), home) {
        (Some(below), Some(home)) => home.join(below),
        (Some(_), None) => return None,
        (None, _) => PathBuf::from(bare),
    };
    // Above a directory of programs, or in one.
    let near = |directory: &&PathBuf| directory.starts_with(&whole) || whole.starts_with(directory);
    let found = programs.iter().filter(|directory| directory.is_absolute()).find(near)?;
    Some(format!("programs of PATH are in {}", found.display()))
}

#[cfg(test)]
mod tests {
    use super::wide;
    use std::path::{Path, PathBuf};

    #[test]
    fn a_place_with_programs_is_told_and_a_cache_is_not() {
        let programs = ["/usr/bin", "/h/.local/bin", "relative"].map(PathBuf::from);
        let told = |place: &str| wide(place, Some(Path::new("/h")), &programs).is_some();
        for place in ["/", "~", "~/", "~/.cargo", "~/.cargo/", "/h", "/usr", "/usr/bin", "~/.local"]
        {
            assert!(told(place), "{place}");
        }
        for place in ["~/.cargo/registry", "~/.cargo/git", "~/.cache", "/var/tmp", "/usr/bi"] {
            assert!(!told(place), "{place}");
        }
        assert!(wide("~/.local", None, &programs).is_none(), "nobody knows where that is");
        assert!(wide("~", None, &programs).is_some());
    }
}

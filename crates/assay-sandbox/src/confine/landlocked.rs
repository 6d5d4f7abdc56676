//! What can be read and written, by Landlock: the only wall where namespaces are not allowed, the
//! second one where they are.

use super::Trouble;
use super::held::{Held, Place};
use crate::job::{Job, Places, Tier, Wires};
use landlock::{
    ABI, Access, AccessFs, BitFlags, LandlockStatus, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The newest version that this was tried with. Older kernels give what they have.
const TRIED: ABI = ABI::V7;
/// What programs are made of, where there is no root directory of its own.
const PROGRAMS: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/// What programs write to without meaning a file.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Restricts this process; gives the version in effect.
pub(super) fn restrict(job: &Job, seen: &Places, held: &Held) -> Result<u32, Trouble> {
    let failed = |error: RulesetError| ("restricting files by Landlock", io::Error::other(error));
    let own = held.written.is_none().then_some([&seen.workspace, &seen.outputs]);
    let writable = own.into_iter().flatten().chain([&seen.scratch]);
    let mut readable: Vec<PathBuf> = vec![seen.uploads.clone()];
    readable.extend(seen.skills.clone());
    let mut written: Vec<PathBuf> = writable.cloned().collect();
    if job.tier == Tier::Landlock {
        readable.extend(PROGRAMS.iter().map(PathBuf::from));
        readable.extend(super::root::SETTINGS.iter().map(|name| Path::new("/etc").join(name)));
        if job.network == Wires::Whole {
            readable.push(PathBuf::from("/etc/resolv.conf"));
        }
    } else {
        // Nothing else is there.
        readable.push(PathBuf::from("/"));
        written.push(PathBuf::from("/dev/shm"));
    }
    // What is lent by what was opened, not by its path: a link may stand there by now.
    let read = held.read.iter().map(|place| rule(place, AccessFs::from_read(TRIED)));
    let lent = held.written.iter().flatten();
    let lent = read.chain(lent.map(|place| rule(place, AccessFs::from_all(TRIED))));
    let devices = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
    let status = Ruleset::default()
        .handle_access(AccessFs::from_all(TRIED))
        .and_then(|rules| rules.scope(Scope::Signal | Scope::AbstractUnixSocket))
        .and_then(Ruleset::create)
        .and_then(|rules| rules.add_rules(path_beneath_rules(readable, AccessFs::from_read(TRIED))))
        .and_then(|rules| rules.add_rules(path_beneath_rules(written, AccessFs::from_all(TRIED))))
        .and_then(|rules| rules.add_rules(lent))
        .and_then(|rules| rules.add_rules(path_beneath_rules(DEVICES, devices)))
        .and_then(|rules| rules.restrict_self())
        .map_err(failed)?;
    let none = |why: &str| Err(("restricting files by Landlock", io::Error::other(why)));
    match (status.landlock, status.ruleset) {
        (LandlockStatus::NotEnabled, _) => none("Landlock is switched off in this kernel"),
        (LandlockStatus::NotImplemented, _) => none("this kernel has none (Linux 5.13 and later)"),
        (_, RulesetStatus::NotEnforced) => none("the kernel did not take the rules"),
        (LandlockStatus::Available { effective_abi, .. }, _) => Ok(effective_abi as u32),
    }
}

/// What may be done below something that is held: a file has less of it.
fn rule(place: &Place, access: BitFlags<AccessFs>) -> Result<PathBeneath<&File>, RulesetError> {
    let access = match place.is_dir() {
        Ok(false) => access & AccessFs::from_file(TRIED),
        _ => access,
    };
    Ok(PathBeneath::new(&place.file, access))
}

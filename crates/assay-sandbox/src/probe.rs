//! What this machine allows, found by trying.

use crate::capability::{Capabilities, Capability};
use crate::helper::Helper;
use crate::job::{Probed, Tier};
use crate::limits::Limits;
use crate::local::Room;
use crate::provider::{Network, OpenError, ProviderKind, Settings};
use crate::workspace::{Workspace, WorkspaceError};
use assay_kernel::cgroup::{self, Controller};
use std::collections::BTreeMap;
use std::time::Duration;

/// How long one try may take.
const PROBE_TIME_MAX: Duration = Duration::from_secs(20);
/// Since this version of Linux processes are counted for each user namespace.
const COUNTS_PROCESSES: (u32, u32) = (5, 14);
/// The first version of Landlock that keeps files from being cut short.
const LANDLOCK_TRUNCATES: u32 = 3;
/// The first that keeps signals in.
const LANDLOCK_SIGNALS: u32 = 6;

/// By which means a local sandbox is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Means {
    /// The best there are.
    #[default]
    Best,
    /// Namespaces: a root directory, processes and a network of its own.
    Namespaces,
    /// Landlock and a filter of system calls, on the machine's own root directory.
    Landlock,
}

/// Tries the means one after the other, the best first.
pub(crate) fn find(
    kind: ProviderKind,
    means: Means,
    helper: &Helper,
) -> Result<(Tier, Capabilities), OpenError> {
    let is_root = rustix::process::geteuid().is_root();
    let namespaces = if is_root { Tier::RootNamespaces } else { Tier::UserNamespaces };
    let tiers: &[Tier] = match (kind, means) {
        (ProviderKind::None, _) => &[Tier::Open],
        (_, Means::Best) => &[namespaces, Tier::Landlock],
        (_, Means::Namespaces) => &[namespaces],
        (_, Means::Landlock) => &[Tier::Landlock],
    };
    let mut reasons = Vec::new();
    for tier in tiers {
        match attempt(*tier, helper) {
            Ok(probed) => {
                let why = reasons.join("; ");
                return Ok((*tier, capabilities(*tier, &probed, is_root, &why)));
            }
            Err(error) => reasons.push(error.to_string()),
        }
    }
    let why = format!("{}; {}", reasons.join("; "), remedy());
    let missing = Capability::ALL.into_iter().map(|one| (one, why.clone())).collect();
    let tier = tiers.last().copied().unwrap_or(Tier::Landlock);
    Ok((tier, Capabilities::new("nothing works".to_string(), missing)))
}

fn attempt(tier: Tier, helper: &Helper) -> Result<Probed, OpenError> {
    let failed =
        |source| WorkspaceError::Io { path: std::env::temp_dir(), doing: "write in", source };
    let place = tempfile::Builder::new().prefix("assay-sandbox-").tempdir().map_err(failed)?;
    // A user of its own has to get through, where there is no root directory of its own.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o711);
    std::fs::set_permissions(place.path(), open).map_err(failed)?;
    let workspace = Workspace::create(&place.path().join("session"))?;
    let limits = Limits { wall: PROBE_TIME_MAX, ..Limits::default() };
    let settings = Settings { network: Network::Off, limits, ..Settings::default() };
    Room::probing(helper, tier, &workspace, settings)?.probe()
}

fn capabilities(tier: Tier, probed: &Probed, is_root: bool, why_not_better: &str) -> Capabilities {
    let mut missing = BTreeMap::new();
    let mut lacks = |one: Capability, why: &str| _ = missing.insert(one, why.to_string());
    if !tier.has_root() {
        let why = "only a network of its own can have a gate; use namespaces";
        lacks(Capability::NetworkLimited, why);
    }
    if !counts_memory() {
        lacks(
            Capability::MemoryTotal,
            "there is no memory controller of control groups for us; run as root",
        );
    }
    if tier == Tier::Open {
        for one in [
            Capability::Files,
            Capability::PrivateRoot,
            Capability::Environment,
            Capability::Lifetime,
            Capability::NetworkOff,
            Capability::Processes,
            Capability::SeparateUser,
            Capability::SystemCalls,
        ] {
            lacks(one, "the provider `none` protects nothing; choose `local`");
        }
        return Capabilities::new("limits only, nothing is protected".to_string(), missing);
    }
    if probed.sees_host {
        lacks(Capability::Files, "files of the host were seen from inside");
    }
    if probed.has_network {
        lacks(Capability::NetworkOff, "the network was seen from inside");
    }
    if !is_root {
        lacks(Capability::SeparateUser, "only root can give sessions users of their own");
    }
    if !probed.has_filter {
        lacks(Capability::SystemCalls, "this kernel has no filter of system calls (seccomp)");
    }
    let landlock = probed.landlock.unwrap_or(0);
    if tier == Tier::Landlock {
        let better = match why_not_better {
            "" => "Landlock alone does not give it; use namespaces".to_string(),
            why => format!("there are no namespaces here ({why}); {}", remedy()),
        };
        lacks(Capability::PrivateRoot, &better);
        if landlock < LANDLOCK_TRUNCATES {
            lacks(Capability::Files, &better);
        }
        if !is_root {
            lacks(Capability::Processes, &better);
        }
        if !is_root && landlock < LANDLOCK_SIGNALS {
            lacks(Capability::Lifetime, &better);
        }
    } else if !is_root && release() < COUNTS_PROCESSES {
        lacks(Capability::Processes, "Linux before 5.14 does not count them; run as root");
    }
    Capabilities::new(how(tier, landlock), missing)
}

fn how(tier: Tier, landlock: u32) -> String {
    let by = match tier {
        Tier::RootNamespaces => "namespaces, and a user for each session",
        Tier::UserNamespaces => "namespaces of a user",
        Tier::Landlock => "a filter of system calls",
        Tier::Open => "nothing",
    };
    match landlock {
        0 => by.to_string(),
        version => format!("{by}, Landlock {version}"),
    }
}

fn counts_memory() -> bool {
    let probed = cgroup::probe(None);
    probed.iter().any(|one| one.controller == Controller::Memory && one.result.is_ok())
}

/// The first two numbers of the kernel's release.
fn release() -> (u32, u32) {
    let text = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

fn remedy() -> &'static str {
    "run as root, or allow user namespaces (sysctl user.max_user_namespaces, \
     kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)"
}

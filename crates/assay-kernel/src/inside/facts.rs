//! What this machine allows, found by trying.

use super::door::{Way, run};
use std::fmt::{self, Display, Formatter};

/// Something that a machine allows or not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fact {
    /// What was tried.
    pub what: &'static str,
    /// Why it does not work, and what to do about it; `None` if it works.
    pub trouble: Option<String>,
}

impl Fact {
    /// Whether it works.
    pub fn works(&self) -> bool {
        self.trouble.is_none()
    }
}

impl Display for Fact {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.trouble {
            None => write!(out, "{}: works", self.what),
            Some(trouble) => write!(out, "{}: {trouble}", self.what),
        }
    }
}

/// Tries to make namespaces, with the rights of root and without.
pub fn probe() -> Vec<Fact> {
    let tried = |way| run(None, &[way]).err().map(|error| error.to_string());
    let root = if rustix::process::geteuid().is_root() {
        tried(Way::Root)
    } else {
        Some("this is not root; run as root (sudo) if the other way does not work".to_string())
    };
    vec![
        Fact { what: "namespaces as root", trouble: root },
        Fact { what: "namespaces of a user", trouble: tried(Way::UserNamespace) },
    ]
}

/// What to do where namespaces are denied.
pub(super) fn remedy() -> String {
    let number = |file: &str| std::fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let says = |file: &str, value: u64| number(file) == Some(value);
    if says("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1) {
        "AppArmor keeps users from it, as Ubuntu 24.04 does: run as root (sudo), or allow it with \
         `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`"
    } else if says("/proc/sys/kernel/unprivileged_userns_clone", 0) {
        "the kernel keeps users from it: run as root (sudo), or allow it with \
         `sudo sysctl -w kernel.unprivileged_userns_clone=1`"
    } else if says("/proc/sys/user/max_user_namespaces", 0) {
        "no user namespaces are allowed: run as root (sudo), or allow some with \
         `sudo sysctl -w user.max_user_namespaces=10000`"
    } else {
        "run as root (sudo); in a container give it `--privileged`, or at least \
         `--cap-add SYS_ADMIN --cap-add NET_ADMIN --security-opt seccomp=unconfined \
         --security-opt systempaths=unconfined`"
    }
    .to_string()
}

//! Confining this process, for good: what is started from here on is confined as well.

mod filter;
mod held;
mod identity;
mod landlocked;
mod root;

use crate::job::{Job, Places, Tier, Wires};
use assay_kernel::jail::raise_loopback;
use held::Held;
use std::io;
use std::path::PathBuf;

/// What could not be done, and why.
pub(crate) type Trouble = (&'static str, io::Error);

pub(crate) fn by<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Trouble {
    move |error| (doing, error.into())
}

/// What holds this process now.
pub(crate) struct Confined {
    /// The version of Landlock, if there is one.
    pub landlock: Option<u32>,
    pub has_filter: bool,
    /// Where the directories are from here.
    pub seen: Places,
}

/// Confines this process as the job says.
pub(crate) fn confine(job: &Job) -> Result<Confined, Trouble> {
    // From here on paths of the host are not looked up again.
    let held = Held::open(job).map_err(by("opening what is lent"))?;
    let seen = match job.tier.has_root() {
        true => {
            if job.network != Wires::Whole {
                raise_loopback().map_err(by("raising loopback"))?;
            }
            root::build(job, &held)?;
            let lent = |path: &PathBuf, usual: &str| match job.host.lent {
                Some(_) => path.clone(),
                None => PathBuf::from(usual),
            };
            Places {
                workspace: lent(&job.host.workspace, root::WORKSPACE),
                uploads: PathBuf::from("/mnt/session/uploads"),
                skills: job.host.skills.as_ref().map(|_| PathBuf::from("/workspace/skills")),
                outputs: lent(&job.host.outputs, root::OUTPUTS),
                scratch: PathBuf::from("/tmp"),
                root: PathBuf::from("/"),
                lent: job.host.lent.clone(),
            }
        }
        false => job.host.clone(),
    };
    rustix::thread::set_no_new_privs(true).map_err(by("giving up new privileges"))?;
    let landlock = match job.tier {
        Tier::Open => None,
        Tier::Landlock => Some(landlocked::restrict(job, &seen, &held)?),
        // The root directory holds already; this is a second wall.
        Tier::RootNamespaces | Tier::UserNamespaces => landlocked::restrict(job, &seen, &held).ok(),
    };
    identity::become_nobody(job)?;
    let has_filter = match job.tier {
        Tier::Open => false,
        Tier::Landlock => {
            filter::apply(job.network != Wires::Whole).map_err(by("filtering system calls"))?;
            true
        }
        Tier::RootNamespaces | Tier::UserNamespaces => filter::apply(false).is_ok(),
    };
    Ok(Confined { landlock, has_filter, seen })
}

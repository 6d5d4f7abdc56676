//! Giving up rights: capabilities, groups, the user.

use super::{Trouble, by};
use crate::job::{Job, Tier};
use rustix::process::{
    DumpableBehavior, Gid, Signal, Uid, set_dumpable_behavior, set_parent_process_death_signal,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_thread_groups, set_thread_res_gid,
    set_thread_res_uid,
};

/// Becomes the user of the session, without a right left. This process has one thread.
pub(super) fn become_nobody(job: &Job) -> Result<(), Trouble> {
    if job.tier != Tier::Open || job.user.is_some() {
        for one in CapabilitySet::all().iter() {
            // Those that the kernel does not know, and all where we may not: then there are none.
            let _unknown = remove_capability_from_bounding_set(one);
        }
        // Kernels before 4.3 have no such set, and nothing in it.
        let _unknown = clear_ambient_capability_set();
    }
    if let Some(user) = job.user {
        let (user, group) = (Uid::from_raw(user), Gid::from_raw(user));
        set_thread_groups(&[]).map_err(by("leaving groups"))?;
        set_thread_res_gid(group, group, group).map_err(by("becoming the group"))?;
        set_thread_res_uid(user, user, user).map_err(by("becoming the user"))?;
    }
    if job.tier != Tier::Open || job.user.is_some() {
        let none = CapabilitySet::empty();
        let none = CapabilitySets { effective: none, permitted: none, inheritable: none };
        set_capabilities(None, none).map_err(by("giving up capabilities"))?;
    }
    // Nobody inside may look into this process; and a new user forgets whose death is ours.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(by("hiding"))?;
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(by("ending with the keeper"))
}

//! Going into namespaces of our own, when a plan asks for a network that needs them.

use super::Trouble;
use crate::exit::Exit;
use assay_kernel::inside::{Place, enter, is_inside};
use assay_plan::Plan;

/// Whether a scenario of a plan has its nodes in namespaces.
pub(super) fn is_needed(plan: &Plan) -> bool {
    let trials = plan.scenarios.iter().flat_map(|scenario| scenario.trials());
    let mut systems = trials.filter_map(|(_, machine)| machine.system.clone());
    systems.any(|system| !system.network.is_default())
}

/// Whether this process went in. From in there no process outside can be seen, and no network:
/// what killed runs have left is undone before, and what is missing fetched.
pub(super) fn has_gone() -> bool {
    is_inside()
}

/// Where it is needed, runs this program again in namespaces of its own, and ends as that ended.
/// Inside, and where namespaces are not to be had, it returns: then the scenario says what is
/// missing. `before` is what has to be done outside.
///
/// To be called before anything else has begun, threads above all.
pub(super) fn go_if(is_needed: bool, before: impl FnOnce()) -> Result<(), Trouble> {
    if !has_gone() {
        let cannot = || assay_runner::faults::needs::namespaces().is_some();
        if !is_needed || cannot() {
            return Ok(());
        }
        before();
    }
    match enter() {
        Ok(Place::Inside) => Ok(()),
        Ok(Place::Outside { code }) => std::process::exit(code),
        Err(error) => {
            let message = format!("cannot go into namespaces: {error}");
            Err(Trouble { message, exit: Exit::MissingCapability })
        }
    }
}

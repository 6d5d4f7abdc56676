//! Restarting nodes one after the other: what a rolling upgrade does, and what goes wrong with it.
//!
//! [`steps`] is pure: from nodes and an order to what is done in turn. [`Injector::roll`] does it.
//! Each stop is a fault of its own in the journal, healed when its node runs again; so whoever
//! is killed in the middle leaves at most one node stopped, and a journal that says which.
//!
//! The wrong order is the right one reversed: an upgrade takes the leader last, so that leadership
//! moves once, and reversed it moves with every node that gets it next. Going on [`Pace::AtOnce`],
//! before a node is ready, is the other classic mistake.
//!
//! ```
//! use assay_nemesis::rolling::{Order, Pace, Rolling, Step, Stop, steps};
//!
//! let rolling = Rolling { order: Order::Reversed, stop: Stop::Kill, pace: Pace::WhenReady };
//! let steps = steps(&["n1", "n2"], rolling)?;
//! let node = || "n2".to_string();
//! assert_eq!(steps[..3], [Step::Stop(node()), Step::Start(node()), Step::AwaitReady(node())]);
//! assert_eq!(steps.len(), 6);
//! # Ok::<(), assay_nemesis::rolling::RollingError>(())
//! ```

use crate::fault::{Action, Fault, FaultId, Window};
use crate::guard::{HealError, Healed, Victim};
use crate::injector::{InjectError, Injector};
use crate::meter::farther;
use crate::process::{Process, ProcessError, ProcessState};
use assay_verdict::{Landing, Signal};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// How often to look whether a node is gone or ready.
const LOOK_STEP: Duration = Duration::from_millis(5);

/// Which node comes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The first given.
    Given,
    /// The last given.
    Reversed,
}

/// How a node is stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// By SIGKILL.
    Kill,
    /// By SIGTERM.
    Terminate,
}

/// When the next node has its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// When the one before is ready.
    WhenReady,
    /// As soon as the one before was started.
    AtOnce,
}

/// How nodes are restarted in turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rolling {
    /// Which comes first.
    pub order: Order,
    /// How they are stopped.
    pub stop: Stop,
    /// How fast it goes.
    pub pace: Pace,
}

/// What is done next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// A node is stopped, and waited for until it is gone.
    Stop(String),
    /// It is started again.
    Start(String),
    /// It is waited for until it is ready.
    AwaitReady(String),
}

/// Why nodes were not, or not all, restarted.
#[derive(Debug, thiserror::Error)]
pub enum RollingError {
    /// There are none.
    #[error("a rolling restart needs nodes")]
    NoNodes,
    /// One would be restarted twice.
    #[error("node `{0}` is named twice")]
    Twice(String),
    /// The owner of the system does not know it, or cannot start it.
    #[error("{node}: {why}")]
    Owner {
        /// The node.
        node: String,
        /// What its owner says.
        why: String,
    },
    /// A stop was not injected.
    #[error(transparent)]
    Inject(#[from] InjectError),
    /// A stop was not healed.
    #[error(transparent)]
    Heal(#[from] HealError),
    /// A process cannot be looked at.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// A node does not stop, or does not become ready.
    #[error("{node}: is not {what} after {time_max:?}")]
    Late {
        /// The node.
        node: String,
        /// `gone` or `ready`.
        what: &'static str,
        /// How long it was waited for.
        time_max: Duration,
    },
}

/// The steps of a rolling restart.
///
/// # Errors
/// If there are no nodes, or one stands twice.
pub fn steps(nodes: &[&str], rolling: Rolling) -> Result<Vec<Step>, RollingError> {
    if nodes.is_empty() {
        return Err(RollingError::NoNodes);
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = nodes.iter().find(|node| !seen.insert(**node)) {
        return Err(RollingError::Twice(twice.to_string()));
    }
    let mut nodes = nodes.to_vec();
    if rolling.order == Order::Reversed {
        nodes.reverse();
    }
    let of = |node: &str| {
        let ready = Step::AwaitReady(node.to_string());
        let ready = (rolling.pace == Pace::WhenReady).then_some(ready);
        [Step::Stop(node.to_string()), Step::Start(node.to_string())].into_iter().chain(ready)
    };
    let mut steps: Vec<Step> = nodes.iter().flat_map(|node| of(node)).collect();
    if rolling.pace == Pace::AtOnce {
        // Whatever the pace, the end is a system that is ready.
        steps.extend(nodes.iter().map(|node| Step::AwaitReady(node.to_string())));
    }
    Ok(steps)
}

/// Whoever runs the system.
pub trait Owner {
    /// The process of a node.
    ///
    /// # Errors
    /// Why it is not known.
    fn process(&mut self, node: &str) -> Result<Process, String>;

    /// Starts a node that is stopped.
    ///
    /// # Errors
    /// Why it cannot be started.
    fn start(&mut self, node: &str) -> Result<Process, String>;

    /// Whether a node does its work.
    fn is_ready(&mut self, node: &str) -> bool;
}

/// What is known about a rolling restart once it is done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rolled {
    /// The numbers of both sides: processes gone, and what the victim felt.
    pub landing: Landing,
    /// Each node in its turn, with what was measured.
    pub nodes: Vec<(String, Healed)>,
}

impl Injector {
    /// Restarts nodes in turn. A node has `time_max` to be gone, and again to be ready.
    ///
    /// # Errors
    /// At the first step that fails; nodes that were started stay so.
    pub fn roll(
        &self,
        id: FaultId,
        nodes: &[&str],
        rolling: Rolling,
        owner: &mut dyn Owner,
        mut victim: Victim,
        time_max: Duration,
    ) -> Result<Rolled, RollingError> {
        let steps = steps(nodes, rolling)?;
        let before = victim.read();
        let (mut during, mut rolled) = (None, Vec::new());
        let mut stopped = None;
        for step in steps {
            match step {
                Step::Stop(node) => {
                    let process = owner.process(&node);
                    let process = process.map_err(|why| owned(&node, why))?;
                    let action = match rolling.stop {
                        Stop::Kill => Action::Kill(vec![process]),
                        Stop::Terminate => Action::Terminate(vec![process]),
                    };
                    let (target, window) = (node.clone(), Window::default());
                    let fault = Fault { id, target, window, action };
                    let guard = self.inject(fault, Victim::unasked())?;
                    wait(&node, "gone", time_max, || Ok(process.state()? == ProcessState::Gone))?;
                    stopped = Some(guard);
                }
                Step::Start(node) => {
                    let process = owner.start(&node).map_err(|why| owned(&node, why))?;
                    let mut guard = stopped.take().expect("a node is stopped before it is started");
                    let mut healed = guard.heal()?;
                    match process.state()? {
                        ProcessState::Gone => {
                            return Err(owned(&node, "was started and is gone".to_string()));
                        }
                        _ => healed.proof.push(format!("process {}: runs", process.pid)),
                    }
                    rolled.push((node, healed));
                }
                Step::AwaitReady(node) => {
                    wait(&node, "ready", time_max, || Ok(owner.is_ready(&node)))?;
                    let ready = format!("{node}: is ready");
                    let of = rolled.iter_mut().find(|(other, _)| *other == node);
                    of.expect("a node is started before it is ready").1.proof.push(ready);
                }
            }
            during = farther(before, during, victim.read());
        }
        let felt = [before, during, victim.read()];
        Ok(Rolled { landing: landing(id, &rolled, &victim, felt), nodes: rolled })
    }
}

fn owned(node: &str, why: String) -> RollingError {
    RollingError::Owner { node: node.to_string(), why }
}

/// Looks until it is done, with a bound.
fn wait(
    node: &str,
    what: &'static str,
    time_max: Duration,
    mut done: impl FnMut() -> Result<bool, RollingError>,
) -> Result<(), RollingError> {
    let until = Instant::now() + time_max;
    while !done()? {
        if Instant::now() > until {
            return Err(RollingError::Late { node: node.to_string(), what, time_max });
        }
        std::thread::sleep(LOOK_STEP);
    }
    Ok(())
}

/// All stops together: every one has to be counted.
fn landing(
    id: FaultId,
    rolled: &[(String, Healed)],
    victim: &Victim,
    [before, during, after]: [Option<u64>; 3],
) -> Landing {
    let names: Vec<&str> = rolled.iter().map(|(node, _)| node.as_str()).collect();
    let sum = |of: fn(&Signal) -> Option<u64>| {
        let mut all = rolled.iter().map(|(_, healed)| of(&healed.landing.injector));
        all.try_fold(0_u64, |sum, one| Some(sum + one?))
    };
    let (what, moves_by_min) = ("processes gone".to_string(), rolled.len() as u64);
    Landing {
        fault: format!("{id} of {}", names.join(", ")),
        injector: Signal {
            what,
            before: sum(|signal| signal.before),
            during: sum(|signal| signal.during),
            after: sum(|signal| signal.after),
            moves_by_min,
        },
        victim: victim.signal([before, during, after]),
    }
}

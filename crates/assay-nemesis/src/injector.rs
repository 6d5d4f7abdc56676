//! Injecting a fault: announce, act, measure, undo, prove.
//!
//! [`Injector::inject`] writes the fault into the journal, acts, and hands out a [`Guard`]. The
//! guard reads the injector's counter and the victim's signal before, during and after, and undoes
//! the fault when it is asked to, or when it is dropped. What it says about landing are numbers;
//! the judgement is that of `assay-verdict`.

use crate::clock::{ClockError, set_right};
use crate::fault::{Action, Fault};
use crate::files::{FileError, remove_junk};
use crate::guard::{Guard, Injected, Victim};
use crate::heal::resumed;
use crate::journal::{Entry, Journal, JournalError, Undo, unix_ms};
use crate::meter::{Meter, Signals};
use crate::process::{Process, ProcessError, ProcessState};
use crate::proxy::{Layer, LinkId, LinkRule, Mesh, Transport};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Why a fault was not injected. Nothing of it is left in the world.
#[derive(Debug, thiserror::Error)]
pub enum InjectError {
    /// There is nobody it would hit.
    #[error("{fault}: hits nothing: no link, process or rule that changes anything was given")]
    Nobody {
        /// The fault.
        fault: String,
    },
    /// It needs links, and there is no mesh.
    #[error("{fault}: needs links, and this injector has no mesh")]
    NoMesh {
        /// The fault.
        fault: String,
    },
    /// What the link carries would not notice.
    #[error("{fault}: does nothing on {link}: {why}")]
    Misfit {
        /// The fault.
        fault: String,
        /// The link.
        link: String,
        /// Why not.
        why: &'static str,
    },
    /// The journal does not take it.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A process does not take it.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The file system does not take it.
    #[error(transparent)]
    File(#[from] FileError),
    /// A mechanism of the kernel does not take it.
    #[error("{fault}: {why}")]
    Means {
        /// The fault.
        fault: String,
        /// Why not.
        why: String,
    },
    /// A clock cannot be moved.
    #[error(transparent)]
    Clock(#[from] ClockError),
}

/// Injects faults and journals them.
#[derive(Clone, Debug)]
pub struct Injector {
    mesh: Option<Arc<Mesh>>,
    journal: Arc<Mutex<Journal>>,
}

/// What an action has left to be undone.
#[derive(Debug)]
pub(crate) struct Deed {
    pub(crate) mesh: Option<Arc<Mesh>>,
    pub(crate) action: Action,
    pub(crate) layer: Option<Layer>,
    pub(crate) junk: Option<PathBuf>,
    /// Of processes to be stopped, those that had ended by themselves.
    pub(crate) ended: u64,
    /// Of a file that was damaged, what was read when that was undone.
    pub(crate) restored: Option<String>,
}

impl Injector {
    /// Writes to this journal; `mesh` carries the links, where there are any.
    pub fn new(journal: &Path, mesh: Option<Arc<Mesh>>) -> Result<Injector, JournalError> {
        let journal = Arc::new(Mutex::new(Journal::open(journal)?));
        Ok(Injector { mesh, journal })
    }

    /// Injects a fault. `victim` tells how one of those it is meant for feels.
    pub fn inject(&self, fault: Fault, mut victim: Victim) -> Result<Guard, InjectError> {
        self.preflight(&fault)?;
        let number = self.journal().next_fault();
        let junk = match &fault.action {
            Action::Fill(fill) => Some(fill.junk(number)),
            _ => None,
        };
        let meter = Meter::new(self.mesh.clone(), fault.action.clone(), junk.clone());
        let injector = Signals::before(&meter.read());
        let felt = victim.read();
        self.journal().append(&Entry::Inject {
            fault: number,
            id: fault.id.name().to_string(),
            target: fault.target.clone(),
            at_unix_ms: unix_ms(),
            undo: undo_steps(&fault.action, junk.as_deref()),
        })?;
        let (mesh, action) = (self.mesh.clone(), fault.action.clone());
        let mut deed = Deed { mesh, action, layer: None, junk, ended: 0, restored: None };
        if let Err(error) = deed.act(&fault) {
            let (undone, troubles) = deed.undo();
            if troubles.is_empty() {
                self.journal().healed(number, undone)?;
            }
            return Err(error);
        }
        let journal = Arc::clone(&self.journal);
        Ok(Guard::new(Injected { fault, number, journal, deed, meter, injector, victim, felt }))
    }

    fn preflight(&self, fault: &Fault) -> Result<(), InjectError> {
        let somebody = match &fault.action {
            Action::Links(rules) => rules.iter().any(|rule| rule.rules.changes_anything()),
            Action::Reset(links) => !links.is_empty(),
            Action::Pause(all) | Action::Kill(all) | Action::Terminate(all) => !all.is_empty(),
            Action::Corrupt(_) | Action::Fill(_) | Action::By(_) => true,
            Action::Skew(skew) => skew.offset_ms != 0 && !skew.processes.is_empty(),
        };
        if !somebody {
            return Err(InjectError::Nobody { fault: fault.title() });
        }
        match &fault.action {
            Action::Links(_) | Action::Reset(_) => self.fits(fault),
            Action::Terminate(all) => there(all),
            // Of a node that is hit whole, a child may end by itself at any moment.
            Action::Kill(all) | Action::Pause(all) => there(&all[..1]),
            Action::Skew(skew) => {
                there(&skew.processes)?;
                skew.processes.iter().try_for_each(|process| Ok(skew.clock.is_under(process)?))
            }
            Action::Fill(fill) => Ok(fill.preflight()?),
            Action::By(means) => means.0.preflight().map_err(|why| by_means(fault, why)),
            _ => Ok(()),
        }
    }

    /// A rule that could do nothing on its link would be a fault that misses for sure.
    fn fits(&self, fault: &Fault) -> Result<(), InjectError> {
        let Some(mesh) = &self.mesh else {
            return Err(InjectError::NoMesh { fault: fault.title() });
        };
        let misfit = |link: LinkId, why| InjectError::Misfit {
            fault: fault.title(),
            link: mesh.name(link),
            why,
        };
        match &fault.action {
            Action::Links(rules) => rules.iter().try_for_each(|rule| {
                let why = rule.rules.misfit(mesh.transport(rule.link));
                why.map_or(Ok(()), |why| Err(misfit(rule.link, why)))
            }),
            Action::Reset(links) => links.iter().try_for_each(|link| match mesh.transport(*link) {
                Transport::Stream => Ok(()),
                Transport::Datagrams => Err(misfit(*link, "datagrams have no connections")),
            }),
            _ => Ok(()),
        }
    }

    fn journal(&self) -> std::sync::MutexGuard<'_, Journal> {
        self.journal.lock().expect("nothing panics while it holds the journal")
    }
}

fn by_means(fault: &Fault, why: String) -> InjectError {
    InjectError::Means { fault: fault.title(), why }
}

fn there(processes: &[Process]) -> Result<(), InjectError> {
    processes.iter().try_for_each(|process| match process.state()? {
        ProcessState::Gone => Err(ProcessError::NoSuchProcess { pid: process.pid }.into()),
        _ => Ok(()),
    })
}

impl Journal {
    pub(crate) fn healed(&mut self, fault: u64, undone: Vec<String>) -> Result<(), JournalError> {
        self.append(&Entry::Heal { fault, at_unix_ms: unix_ms(), undone })
    }
}

/// What the journal has to say so that somebody else could undo it.
fn undo_steps(action: &Action, junk: Option<&Path>) -> Vec<Undo> {
    match action {
        Action::Links(rules) => vec![Undo::Lift { rules: rules.len() as u64 }],
        Action::Reset(_) => Vec::new(),
        Action::Pause(all) => all.iter().map(Undo::resume).collect(),
        Action::Kill(all) | Action::Terminate(all) => all.iter().map(Undo::restart).collect(),
        Action::Corrupt(corruption) => vec![Undo::Restore { corruption: corruption.clone() }],
        Action::Fill(_) => {
            junk.map(|path| Undo::Remove { path: path.into() }).into_iter().collect()
        }
        Action::Skew(skew) => vec![Undo::SetClock { path: skew.clock.file().into() }],
        Action::By(means) => means.0.undo_steps(),
    }
}

/// Stops a node and its children; how many of these had ended before it was their turn.
fn stopped(all: &[Process]) -> Result<u64, ProcessError> {
    let mut ended = 0;
    for (number, process) in all.iter().enumerate() {
        match process.pause() {
            Err(ProcessError::NoSuchProcess { .. }) if number > 0 => ended += 1,
            Ok(()) if number > 0 && process.state()? == ProcessState::Gone => ended += 1,
            stopped => stopped?,
        }
    }
    Ok(ended)
}

impl Deed {
    fn act(&mut self, fault: &Fault) -> Result<(), InjectError> {
        match &self.action {
            Action::Links(rules) => self.layer = self.mesh.as_ref().map(|mesh| mesh.impose(rules)),
            Action::Reset(links) => {
                let mesh = self.mesh.iter().flat_map(|mesh| links.iter().map(move |l| (mesh, l)));
                mesh.for_each(|(mesh, link)| mesh.reset(*link));
            }
            Action::Pause(all) => self.ended = stopped(all)?,
            Action::Kill(all) => Process::kill_all(all)?,
            Action::Terminate(all) => all.iter().try_for_each(Process::terminate)?,
            Action::Corrupt(corruption) => _ = corruption.inflict()?,
            Action::Fill(fill) => {
                let junk = self.junk.as_deref().expect("a fill has the name of its junk");
                fill.inflict(junk)?;
            }
            Action::Skew(skew) => skew.clock.set(skew.offset_ms)?,
            Action::By(means) => means.0.begin().map_err(|why| by_means(fault, why))?,
        }
        Ok(())
    }

    /// Undoes it: what was done, and what could not be. May be called again.
    pub(crate) fn undo(&mut self) -> (Vec<String>, Vec<String>) {
        let results: Vec<Result<String, String>> = match &self.action {
            Action::Links(rules) => vec![Ok(self.lift(rules))],
            Action::Reset(_) => vec![Ok("resets: nothing to undo".to_string())],
            Action::Pause(all) => all.iter().rev().map(resumed).collect(),
            Action::Kill(all) | Action::Terminate(all) => all
                .iter()
                .map(|process| Ok(format!("process {}: was ended", process.pid)))
                .collect(),
            Action::Corrupt(corruption) => vec![match corruption.undo() {
                Ok(restored) => {
                    self.restored = restored.proof.or(self.restored.take());
                    Ok(restored.undone)
                }
                Err(error) => Err(error.to_string()),
            }],
            Action::Fill(_) => {
                let junk = self.junk.as_deref().expect("a fill has the name of its junk");
                vec![remove_junk(junk).map_err(|e| e.to_string())]
            }
            Action::Skew(skew) => {
                vec![set_right(skew.clock.file()).map_err(|e| e.to_string())]
            }
            Action::By(means) => means.0.undo(),
        };
        let (mut undone, mut troubles) = (Vec::new(), Vec::new());
        for result in results {
            match result {
                Ok(line) => undone.push(line),
                Err(trouble) => troubles.push(trouble),
            }
        }
        (undone, troubles)
    }

    fn lift(&self, rules: &[LinkRule]) -> String {
        if let (Some(mesh), Some(layer)) = (&self.mesh, self.layer) {
            mesh.lift(layer);
        }
        format!("{} link rules: lifted", rules.len())
    }
}

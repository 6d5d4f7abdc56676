//! The seam for faults that need more than proxies, signals and files.
//!
//! What a kernel can do to a process (its system calls, its disk, its network, its share of the
//! machine) differs by mechanism, but what [`Injector`](crate::Injector) has to know about a fault
//! does not: how it begins and ends, what it counts, what the journal must say so that somebody
//! else could end it, and how one sees that it is over. A mechanism says that by this trait.

use crate::journal::Undo;
use std::fmt::Debug;
use std::sync::Arc;

/// One number of an injector, by name; `None` could not be read.
pub type Reading = (String, Option<u64>);

/// A mechanism, set to one fault on its victims.
pub trait Means: Debug + Send + Sync {
    /// Looks whether the fault could hit anybody: a victim that was not started for it is refused
    /// here, before anything is journalled.
    fn preflight(&self) -> Result<(), String>;

    /// What the journal has to say so that another process could undo it.
    fn undo_steps(&self) -> Vec<Undo>;

    /// Begins. After an error [`Means::undo`] is called.
    fn begin(&self) -> Result<(), String>;

    /// Ends, line by line what was undone or could not be. May be called again.
    fn undo(&self) -> Vec<Result<String, String>>;

    /// What is counted, with its unit: `calls failed`.
    fn counted(&self) -> &'static str;

    /// How many of the numbers have to move: where every victim is to be hit, one that is hit
    /// again and again does not stand for the others.
    fn moves_by_min(&self) -> u64 {
        1
    }

    /// The injector's numbers now, one for each victim, always in the same order.
    fn read(&self) -> Vec<Reading>;

    /// Looks at the world after [`Means::undo`]: what shows that the fault is gone from it.
    fn proof(&self) -> Vec<Result<String, String>>;

    /// Of the victims that were to live on, those that have ended since: a node that cannot write
    /// may give up. The fault is not over while nobody starts them again.
    fn ended(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A mechanism in an action; equal only to itself.
#[derive(Clone, Debug)]
pub struct ByMeans(pub Arc<dyn Means>);

impl PartialEq for ByMeans {
    fn eq(&self, other: &ByMeans) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for ByMeans {}

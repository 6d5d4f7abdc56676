//! Declarations and what is made of them.

mod conformance;
mod model_checker;
mod production;
mod simulation;

use assay_invariant::Machine;

/// Lamps in a row that are switched on from the left; a small machine with everything in it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Lamps {
    /// How many are on.
    pub on: u8,
    /// How often a fuse blew.
    pub blown: u8,
    /// How many there are.
    pub count: u8,
}

/// What can happen to lamps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Switch {
    /// One more is on.
    On,
    /// Two more are on, if both are there.
    Two,
    /// All go out, at most twice.
    Blow,
    /// Nothing to see.
    Look,
}

/// A row of lamps; `flaw` is the number at which the last switch adds one too many.
#[derive(Clone, Debug)]
pub struct Row {
    /// How many.
    pub count: u8,
    /// With the flaw.
    pub flaw: bool,
}

impl Machine for Row {
    type State = Lamps;
    type Action = Switch;

    fn start(&self) -> Lamps {
        Lamps { on: 0, blown: 0, count: self.count }
    }

    fn actions(&self, lamps: &Lamps) -> Vec<Switch> {
        let mut actions = Vec::new();
        if lamps.on < lamps.count {
            actions.push(Switch::On);
            actions.push(Switch::Look);
            if lamps.on + 1 < lamps.count || self.flaw {
                actions.push(Switch::Two);
            }
            if lamps.blown < 2 && lamps.on > 0 {
                actions.push(Switch::Blow);
            }
        }
        actions
    }

    fn next(&self, lamps: &Lamps, switch: &Switch) -> Option<Lamps> {
        let mut next = lamps.clone();
        match switch {
            Switch::On => next.on += 1,
            Switch::Two => next.on += 2,
            Switch::Blow => (next.on, next.blown) = (0, lamps.blown + 1),
            Switch::Look => {}
        }
        Some(next)
    }
}

assay_invariant::invariants! {
    /// What lamps promise.
    pub registry LampPromises for Lamps;

    /// State.
    state LP1 {
        id: "LP-1",
        tla: "LP1_NoMoreThanThereAre",
        says: "No more lamps are on than there are.",
        see: "here",
        holds: |lamps| lamps.on <= lamps.count,
        shows: |lamps| { on: lamps.on, count: lamps.count },
    }

    /// Action.
    action LP2 {
        id: "LP-2",
        says: "A fuse does not mend itself.",
        see: "here",
        holds: |before, after| after.blown >= before.blown,
    }

    /// Eventually.
    eventually LP3 {
        id: "LP-3",
        says: "In the end all are on.",
        see: "here",
        holds: |lamps| lamps.on == lamps.count,
    }
}

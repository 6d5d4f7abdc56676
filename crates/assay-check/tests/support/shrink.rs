//! Random histories for proptest, which leaves operations out of a failing one as long as it fails.

use super::Case;
use super::harness::Trial;

use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use rand::Rng;

/// A history, and the seed it was made of.
#[derive(Clone, Debug)]
pub struct Seeded {
    pub seed: u64,
    pub case: Case,
}

/// The histories of a trial.
#[derive(Clone, Copy)]
pub struct Histories(pub Trial);

impl std::fmt::Debug for Histories {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "histories of {}", self.0.model.name())
    }
}

impl Strategy for Histories {
    type Tree = Shrinking;
    type Value = Seeded;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let seed = runner.rng().next_u64();
        Ok(Shrinking { seed, smallest: self.0.case(seed), without: None })
    }
}

/// A history that gets smaller.
pub struct Shrinking {
    seed: u64,
    /// The smallest history that is known to fail.
    smallest: Case,
    /// Which of its operations is left out at the moment.
    without: Option<usize>,
}

impl Shrinking {
    /// Leaves out the operation at this place, if there is one and another stays.
    fn leave_out(&mut self, place: usize) -> bool {
        let possible = place < self.smallest.ops.len() && self.smallest.ops.len() > 1;
        self.without = possible.then_some(place);
        possible
    }
}

impl ValueTree for Shrinking {
    type Value = Seeded;

    fn current(&self) -> Seeded {
        let mut case = self.smallest.clone();
        if let Some(place) = self.without {
            case.leave_out(place);
        }
        Seeded { seed: self.seed, case }
    }

    /// It still fails: that operation is gone for good, and any other may go now.
    fn simplify(&mut self) -> bool {
        self.smallest = self.current().case;
        self.leave_out(0)
    }

    /// Without that operation it does not fail: it stays, and the next one is tried.
    fn complicate(&mut self) -> bool {
        let next = self.without.map_or(0, |place| place + 1);
        self.leave_out(next)
    }
}

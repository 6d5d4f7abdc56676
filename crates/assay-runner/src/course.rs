//! How far a run is: which trials are behind it and which are planned.
//!
//! Planned are the trials of every scenario if nothing is found. A scenario that ends early,
//! because a violation was found or something is missing, takes its later trials off the plan;
//! trials that look into a violation were never on it. So the numbers shrink and never lie.

use std::sync::{Mutex, MutexGuard};

/// The trials of a run.
pub struct Course {
    inner: Mutex<Inner>,
}

struct Inner {
    /// By arm, and how long clients will work.
    ahead: Vec<(String, u64)>,
    behind: u64,
}

/// Where a run stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Planned trials that have begun.
    pub number: u64,
    /// All of them.
    pub of: u64,
    /// How long clients will work in those that have not.
    pub later_ms: u64,
}

impl Course {
    /// A run with these trials, each with its arm and how long clients work in it.
    pub fn of(planned: Vec<(String, u64)>) -> Course {
        Course { inner: Mutex::new(Inner { ahead: planned, behind: 0 }) }
    }

    /// Where it stands now.
    pub fn place(&self) -> Place {
        let inner = self.lock();
        let number = inner.behind;
        let of = number + inner.ahead.len() as u64;
        Place { number, of, later_ms: inner.ahead.iter().map(|(_, ms)| ms).sum() }
    }

    /// The next planned trial of an arm begins, or is known from an earlier run.
    pub fn advance(&self, arm: &str) {
        let mut inner = self.lock();
        if let Some(at) = inner.ahead.iter().position(|(of, _)| of == arm) {
            inner.ahead.remove(at);
            inner.behind += 1;
        }
    }

    /// No more planned trials of this arm will come.
    pub fn leave(&self, arm: &str) {
        self.lock().ahead.retain(|(of, _)| of != arm);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("nothing panics while it holds the course")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_will_not_come_is_taken_off_the_plan() {
        let trial = |arm: &str, ms| (arm.to_string(), ms);
        let course = Course::of(vec![trial("S1", 3), trial("S1", 10), trial("S2", 5)]);
        let place = |number, of, later_ms| Place { number, of, later_ms };
        assert_eq!(course.place(), place(0, 3, 18));
        course.advance("S1");
        assert_eq!(course.place(), place(1, 3, 15));
        course.leave("S1");
        assert_eq!(course.place(), place(1, 2, 5));
        course.advance("S1");
        assert_eq!(course.place(), place(1, 2, 5), "one that was not planned");
        course.advance("S2");
        assert_eq!(course.place(), place(2, 2, 0));
    }
}

//! Who decides about what an agent asks for before it does it.

use futures::channel::oneshot::{Receiver, Sender, channel};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Questions of one run that may wait at once; more are answered with a no.
const QUESTIONS_MAX: usize = 1000;

/// Who decides.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub enum Leave {
    /// Nobody: it may, because what it can do is decided by the sandbox.
    #[default]
    Given,
    /// Whoever runs it. It waits meanwhile, and its silence does not count; the time that it has
    /// in all does.
    Asked(Questions),
}

/// What was decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// It may, this time.
    Allow,
    /// It may not, this time.
    Deny,
}

/// The questions of one run that have no answer yet. They come as
/// [events](crate::AgentEvent::LeaveAsked), each with a number.
#[derive(Clone, Default, Debug)]
pub struct Questions(Arc<Mutex<Open>>);

#[derive(Default, Debug)]
struct Open {
    asked: u64,
    is_closed: bool,
    waiting: BTreeMap<u64, Sender<Decision>>,
}

impl Questions {
    /// Answers one of them; one that nobody waits for needs no answer.
    pub fn answer(&self, question: u64, decision: Decision) {
        if let Some(wait) = self.open().waiting.remove(&question) {
            let _gone = wait.send(decision);
        }
    }

    /// Calls all of them off, also those to come.
    pub fn close(&self) {
        let mut open = self.open();
        open.is_closed = true;
        open.waiting.clear();
    }

    /// A new one; its answer never comes if it is called off.
    pub(crate) fn ask(&self) -> (u64, Receiver<Decision>) {
        let mut open = self.open();
        let (tell, answer) = channel();
        open.asked += 1;
        let number = open.asked;
        if open.waiting.len() >= QUESTIONS_MAX {
            let _gone = tell.send(Decision::Deny);
        } else if !open.is_closed {
            open.waiting.insert(number, tell);
        }
        (number, answer)
    }

    pub(crate) fn is_waiting(&self) -> bool {
        !self.open().waiting.is_empty()
    }

    fn open(&self) -> std::sync::MutexGuard<'_, Open> {
        // Each change is whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The same if they are of the same run.
impl PartialEq for Questions {
    fn eq(&self, other: &Questions) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Questions {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_question_has_one_answer_or_is_called_off() {
        let questions = Questions::default();
        let ((one, mut first), (two, mut second)) = (questions.ask(), questions.ask());
        assert_ne!(one, two);
        questions.answer(two, Decision::Deny);
        questions.answer(two, Decision::Allow);
        assert_eq!(second.try_recv(), Ok(Some(Decision::Deny)));
        assert_eq!((first.try_recv(), questions.is_waiting()), (Ok(None), true));
        questions.close();
        assert!(first.try_recv().is_err() && !questions.is_waiting());
        assert!(questions.ask().1.try_recv().is_err(), "it is called off at once");
    }

    #[test]
    fn what_cannot_wait_is_denied() {
        let questions = Questions::default();
        let waiting: Vec<_> = (0..QUESTIONS_MAX).map(|_| questions.ask()).collect();
        assert_eq!(questions.ask().1.try_recv(), Ok(Some(Decision::Deny)));
        questions.answer(waiting[0].0, Decision::Allow);
        assert_eq!(questions.ask().1.try_recv(), Ok(None));
    }
}

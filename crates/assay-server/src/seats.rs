//! Places for what is dear: so many for all, fewer for one workspace, and who waits is served in
//! turn.
//!
//! A place that becomes free goes to the workspace that has the fewest, and of those to the one
//! that has waited longest. No workspace can have all of them: there is always some room for
//! others, whatever one of them does. Whoever waits and goes away loses nothing but the wait.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Some places, and who has them.
#[derive(Debug)]
pub struct Seats {
    all_max: usize,
    own_max: usize,
    state: Mutex<State>,
}

#[derive(Default, Debug)]
struct State {
    /// How many are taken, of each workspace that has any.
    taken: HashMap<String, usize>,
    all_taken: usize,
    /// Who waits, of each workspace that has anybody, with when each came.
    waiting: HashMap<String, VecDeque<(u64, oneshot::Sender<Seat>)>>,
    /// How many have come.
    came: u64,
}

/// A place that somebody has. It is given back when this goes.
#[derive(Debug)]
pub struct Seat {
    seats: Arc<Seats>,
    workspace: String,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut state = self.seats.state();
        state.all_taken -= 1;
        let left = state.taken.get(&self.workspace).copied().unwrap_or_default().saturating_sub(1);
        match left {
            0 => drop(state.taken.remove(&self.workspace)),
            left => drop(state.taken.insert(self.workspace.clone(), left)),
        }
        drop(state);
        self.seats.give();
    }
}

impl Seats {
    /// So many for all, and so many for one workspace.
    pub fn new(all_max: usize, own_max: usize) -> Seats {
        assert!(0 < own_max && own_max < all_max, "there is room for others");
        Seats { all_max, own_max, state: Mutex::default() }
    }

    /// Takes a place, when there is one.
    pub async fn take(self: &Arc<Seats>, workspace: &str) -> Option<Seat> {
        let (sender, given) = oneshot::channel();
        {
            let mut state = self.state();
            state.came += 1;
            let came = state.came;
            state.waiting.entry(workspace.to_string()).or_default().push_back((came, sender));
        }
        self.give();
        given.await.ok()
    }

    /// Gives away what is free.
    fn give(self: &Arc<Seats>) {
        while let Some((workspace, sender)) = self.next() {
            let seat = Seat { seats: self.clone(), workspace };
            // Who has gone meanwhile gives it back.
            let _back = sender.send(seat);
        }
    }

    /// Who is next, if there is a place, which is taken then.
    fn next(&self) -> Option<(String, oneshot::Sender<Seat>)> {
        let mut state = self.state();
        let State { taken, all_taken, waiting, .. } = &mut *state;
        if *all_taken >= self.all_max {
            return None;
        }
        waiting.retain(|_, queue| {
            queue.retain(|(_, sender)| !sender.is_closed());
            !queue.is_empty()
        });
        let has = |workspace: &str| taken.get(workspace).copied().unwrap_or_default();
        let fronts = waiting.iter().filter_map(|(workspace, queue)| {
            let (came, _) = queue.front()?;
            Some((has(workspace), *came, workspace))
        });
        let (count, _, workspace) = fronts.filter(|(has, ..)| *has < self.own_max).min()?;
        let workspace = workspace.clone();
        let (_, sender) = waiting.get_mut(&workspace)?.pop_front()?;
        taken.insert(workspace.clone(), count + 1);
        *all_taken += 1;
        Some((workspace, sender))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Counts are whole, whoever panicked with the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    type Waiting = Pin<Box<dyn Future<Output = Option<Seat>>>>;

    fn wait(seats: &Arc<Seats>, workspace: &'static str) -> Waiting {
        let seats = seats.clone();
        let mut waiting: Waiting = Box::pin(async move { seats.take(workspace).await });
        assert!(seat(&mut waiting).is_none(), "there is none");
        waiting
    }

    fn seat(waiting: &mut Waiting) -> Option<Seat> {
        match waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(seat) => seat,
            Poll::Pending => None,
        }
    }

    fn take(seats: &Arc<Seats>, workspace: &'static str) -> Seat {
        let seats = seats.clone();
        let mut waiting: Waiting = Box::pin(async move { seats.take(workspace).await });
        seat(&mut waiting).expect("there is one")
    }

    #[test]
    fn nobody_has_all_and_who_has_the_fewest_is_next() {
        let seats = Arc::new(Seats::new(4, 3));
        let mut greedy = vec![take(&seats, "a"), take(&seats, "a"), take(&seats, "a")];
        let mut more = wait(&seats, "a");
        let other = take(&seats, "b");
        let (mut second, mut third) = (wait(&seats, "b"), wait(&seats, "c"));
        drop(greedy.pop());
        let third = seat(&mut third).expect("it has none, whoever came first");
        assert!(seat(&mut more).is_none() && seat(&mut second).is_none());
        drop(greedy.pop());
        // Both have one now, and this one came first.
        let more = seat(&mut more).expect("in turn");
        assert!(seat(&mut second).is_none());
        drop((greedy, other, third, more));
        let second = seat(&mut second).expect("all are free");
        assert_eq!(seats.state().all_taken, 1);
        drop(second);
        let state = seats.state();
        assert!(state.taken.is_empty() && state.waiting.is_empty() && state.all_taken == 0);
    }

    #[test]
    fn who_goes_away_while_it_waits_or_is_called_keeps_nothing() {
        let seats = Arc::new(Seats::new(2, 1));
        let (first, second) = (take(&seats, "a"), take(&seats, "b"));
        let (gone, called) = (wait(&seats, "c"), wait(&seats, "d"));
        let mut last = wait(&seats, "e");
        drop(gone);
        drop(first);
        // It was called and did not come.
        drop(called);
        let last = seat(&mut last).expect("the next one");
        drop((second, last));
        assert_eq!(seats.state().all_taken, 0);
        drop((take(&seats, "a"), take(&seats, "b")));
    }
}

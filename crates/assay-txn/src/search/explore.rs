//! The search itself: place what can be placed, go back where nothing can.
//!
//! A step is a transaction, or its reads, or its writes. What may follow depends only on which
//! steps were placed: reads wait for the writers they name; writes wait for everybody who still has
//! to read what they would hide. So dead ends are remembered as sets of placed steps, one number
//! per session, and no set is looked at twice.

use super::problem::{NOBODY, Problem};
use super::{Limits, Moment, View};
use crate::cycles::Level;
use assay_history::NEVER;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

/// What came of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    Found,
    Exhausted,
    /// It has taken as many steps as it was given for now.
    Paused,
    GaveUp,
}

/// How much of a task has been placed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Nothing,
    /// Its reads, while its writes are still to come.
    Open,
    Done,
}

/// A point to come back to.
struct Fork {
    placed: usize,
    /// The next candidate to try.
    next: usize,
}

/// How often the clock outside is asked.
const STOP_EVERY_STEPS: u64 = 1 << 10;
/// What remembering a dead end costs besides its numbers.
const DEAD_END_BYTES: usize = 48;

pub(super) struct Search<'p> {
    problem: &'p Problem,
    limits: Limits<'p>,
    pub(super) steps: u64,
    phase: Vec<Phase>,
    /// By task: writers and predecessors that are not placed yet.
    waits: Vec<u32>,
    /// By writer: key and reader of everybody who reads what it wrote.
    readers: Vec<Vec<(u32, u32)>>,
    /// By task: who comes after it in its session.
    followers: Vec<Vec<u32>>,
    /// By key: who still has to read the version that is there.
    to_read: Vec<u32>,
    /// By key: tasks that write it and have taken their snapshot.
    open: Vec<u32>,
    /// Tasks that wait for nobody, by start.
    ready: BTreeSet<(i64, u32)>,
    /// Tasks by end, and how many of the first are placed.
    by_end: Vec<u32>,
    rank: Vec<u32>,
    first_pending: usize,
    /// By key, its writers by end, and how many of the first are placed.
    writers: Vec<Vec<u32>>,
    first_writer: Vec<u32>,
    /// By task and written key: its place among the key's writers.
    writer_rank: Vec<Vec<u32>>,
    /// By session: how many steps are placed.
    position: Vec<u32>,
    placed: Vec<u32>,
    forks: Vec<Fork>,
    dead_ends: FxHashSet<Box<[u32]>>,
    dead_end_bytes: usize,
    /// How many of the first tasks by end could be placed at best.
    furthest: usize,
}

impl<'p> Search<'p> {
    pub(super) fn new(problem: &'p Problem, limits: Limits<'p>) -> Search<'p> {
        let n = problem.tasks.len();
        let mut search = Search {
            problem,
            limits,
            steps: 0,
            phase: vec![Phase::Nothing; n],
            waits: vec![0; n],
            readers: vec![Vec::new(); n],
            followers: vec![Vec::new(); n],
            to_read: vec![0; problem.keys],
            open: vec![0; problem.keys],
            ready: BTreeSet::new(),
            by_end: (0..n as u32).collect(),
            rank: vec![0; n],
            first_pending: 0,
            writers: vec![Vec::new(); problem.keys],
            first_writer: vec![0; problem.keys],
            writer_rank: vec![Vec::new(); n],
            position: vec![0; problem.chains],
            placed: Vec::new(),
            forks: Vec::new(),
            dead_ends: FxHashSet::default(),
            dead_end_bytes: 0,
            furthest: 0,
        };
        search.prepare();
        search
    }

    fn prepare(&mut self) {
        let tasks = &self.problem.tasks;
        self.by_end.sort_by_key(|&t| tasks[t as usize].end);
        for (rank, &t) in self.by_end.iter().enumerate() {
            self.rank[t as usize] = rank as u32;
            for &key in &tasks[t as usize].writes {
                self.writer_rank[t as usize].push(self.writers[key as usize].len() as u32);
                self.writers[key as usize].push(t);
            }
        }
        for (t, task) in tasks.iter().enumerate() {
            let t = t as u32;
            for &(key, writer) in &task.reads {
                match writer {
                    NOBODY => self.to_read[key as usize] += 1,
                    writer => {
                        self.readers[writer as usize].push((key, t));
                        self.waits[t as usize] += 1;
                    }
                }
            }
            if let Some(before) = task.after {
                self.followers[before as usize].push(t);
                self.waits[t as usize] += 1;
            }
        }
        let free = (0..tasks.len() as u32).filter(|&t| self.waits[t as usize] == 0);
        self.ready = free.map(|t| (tasks[t as usize].start, t)).collect();
    }

    /// The order that was found.
    pub(super) fn order(&self) -> Vec<Moment> {
        let mut open: FxHashSet<u32> = FxHashSet::default();
        let moment = |&t: &u32| {
            let task = &self.problem.tasks[t as usize];
            match (task.split, open.insert(t)) {
                (false, _) => Moment::Whole(task.txn),
                (true, true) => Moment::Reads(task.txn),
                (true, false) => Moment::Writes(task.txn),
            }
        };
        self.placed.iter().map(moment).collect()
    }

    /// Goes on until `steps_until` steps have been taken.
    pub(super) fn run(&mut self, steps_until: u64) -> Answer {
        if self.steps == 0 && self.problem.level == Level::Realtime && self.is_stale() {
            return Answer::Exhausted;
        }
        loop {
            self.furthest = self.furthest.max(self.first_pending);
            if self.first_pending == self.by_end.len() {
                return Answer::Found;
            }
            self.steps += 1;
            let asked = self.steps.is_multiple_of(STOP_EVERY_STEPS);
            if self.steps > self.limits.steps_max
                || asked && self.limits.stop.load(Ordering::Relaxed)
            {
                return Answer::GaveUp;
            }
            if self.steps > steps_until {
                return Answer::Paused;
            }
            if !self.go_on() {
                return Answer::Exhausted;
            }
        }
    }

    /// Places one step, or goes back to where there is another one. False if there is none.
    fn go_on(&mut self) -> bool {
        match self.candidates()[..] {
            [] => self.go_back(),
            [only] => {
                self.place(only);
                true
            }
            [first, ..] => {
                if !self.dead_ends.is_empty() && self.dead_ends.contains(self.position.as_slice()) {
                    return self.go_back();
                }
                self.forks.push(Fork { placed: self.placed.len(), next: 1 });
                self.place(first);
                true
            }
        }
    }

    /// Returns to the last fork with something left to try, and tries it.
    fn go_back(&mut self) -> bool {
        while let Some(Fork { placed, next }) = self.forks.pop() {
            while self.placed.len() > placed {
                self.take_back();
            }
            // The same steps are placed as then, so the candidates are the same.
            if let Some(&task) = self.candidates().get(next) {
                self.forks.push(Fork { placed, next: next + 1 });
                self.place(task);
                return true;
            }
            let bytes = self.position.len() * 4 + DEAD_END_BYTES;
            if self.dead_end_bytes + bytes <= self.limits.bytes_max {
                self.dead_end_bytes += bytes;
                self.dead_ends.insert(self.position.clone().into_boxed_slice());
            }
        }
        false
    }

    /// The committed transactions that end around the point where it got no further.
    pub(super) fn window(&self, size: usize) -> Vec<u32> {
        let from = self.furthest.saturating_sub(size / 2);
        let tasks = self.by_end[from..].iter().take(size).map(|&t| &self.problem.tasks[t as usize]);
        tasks.filter(|task| task.end != NEVER).map(|task| task.txn).collect()
    }

    /// The tasks whose next step can be placed now, in the order in which they are best tried. If
    /// one of them gets in nobody's way, it alone.
    fn candidates(&mut self) -> Vec<u32> {
        let realtime = self.problem.level == Level::Realtime;
        let first_end = self.problem.tasks[self.by_end[self.first_pending] as usize].end;
        let mut found: Vec<(i64, u32)> = Vec::new();
        for &(start, t) in &self.ready {
            if realtime && start > first_end {
                break;
            }
            self.steps += 1;
            if !self.fits(t) {
                continue;
            }
            if self.is_harmless(t) {
                return vec![t];
            }
            let task = &self.problem.tasks[t as usize];
            // A snapshot is taken early, and writes become visible late.
            let about = match task.split && self.phase[t as usize] == Phase::Nothing {
                true => task.start,
                false => task.end,
            };
            found.push((about, t));
        }
        found.sort_unstable();
        found.into_iter().map(|(_, t)| t).collect()
    }

    /// Whether the next step of a task that waits for nobody can be placed.
    fn fits(&self, t: u32) -> bool {
        let task = &self.problem.tasks[t as usize];
        let writes_now = !task.split || self.phase[t as usize] == Phase::Open;
        let reads_now = self.phase[t as usize] == Phase::Nothing;
        let snapshot = self.problem.view == View::Snapshot;
        for &key in &task.writes {
            // Nobody who reads and writes the same key may find it changed in between.
            if snapshot && reads_now && self.open[key as usize] > 0 {
                return false;
            }
            if !writes_now {
                continue;
            }
            let own = reads_now && task.reads.iter().any(|&(read, _)| read == key);
            if self.to_read[key as usize] > u32::from(own) || self.would_starve(t, key) {
                return false;
            }
        }
        true
    }

    /// Whether a reader of what `t` writes to `key` began after somebody else had written `key` who
    /// is not placed yet: that writer must come first, and could not while the reader waits.
    fn would_starve(&self, t: u32, key: u32) -> bool {
        if self.problem.level != Level::Realtime {
            return false;
        }
        let tasks = &self.problem.tasks;
        let of_key = self.readers[t as usize].iter().filter(|&&(read, _)| read == key);
        let Some(last) = of_key.map(|&(_, r)| tasks[r as usize].start).max() else { return false };
        let ended = |w: &&u32| tasks[**w as usize].end < last;
        let pending = &self.writers[key as usize][self.first_writer[key as usize] as usize..];
        let mut before = pending.iter().take_while(ended);
        before.any(|&w| w != t && self.phase[w as usize] != Phase::Done)
    }

    /// Whether placing the next step of `t` leaves everything possible that was possible before.
    fn is_harmless(&self, t: u32) -> bool {
        let task = &self.problem.tasks[t as usize];
        let opens = task.split && self.phase[t as usize] == Phase::Nothing;
        let opens_keys = opens && self.problem.view == View::Snapshot;
        let hides = !opens && !task.writes.is_empty() && !self.readers[t as usize].is_empty();
        !opens_keys && !hides
    }

    fn place(&mut self, t: u32) {
        let problem = self.problem;
        let task = &problem.tasks[t as usize];
        self.placed.push(t);
        self.position[task.chain as usize] += 1;
        if self.phase[t as usize] == Phase::Nothing {
            for &(key, _) in &task.reads {
                self.to_read[key as usize] -= 1;
            }
            if task.split {
                self.phase[t as usize] = Phase::Open;
                task.writes.iter().for_each(|&key| self.open[key as usize] += 1);
                return;
            }
        } else {
            task.writes.iter().for_each(|&key| self.open[key as usize] -= 1);
        }
        self.phase[t as usize] = Phase::Done;
        self.ready.remove(&(task.start, t));
        for i in 0..self.readers[t as usize].len() {
            let (key, reader) = self.readers[t as usize][i];
            self.to_read[key as usize] += 1;
            self.wait_less(reader);
        }
        for i in 0..self.followers[t as usize].len() {
            self.wait_less(self.followers[t as usize][i]);
        }
        let done = |t: &u32| self.phase[*t as usize] == Phase::Done;
        for &key in &task.writes {
            let (first, writers) =
                (&mut self.first_writer[key as usize], &self.writers[key as usize]);
            while writers.get(*first as usize).is_some_and(done) {
                *first += 1;
            }
        }
        while self.by_end.get(self.first_pending).is_some_and(done) {
            self.first_pending += 1;
        }
    }

    fn wait_less(&mut self, t: u32) {
        self.waits[t as usize] -= 1;
        if self.waits[t as usize] == 0 {
            self.ready.insert((self.problem.tasks[t as usize].start, t));
        }
    }

    fn wait_more(&mut self, t: u32) {
        if self.waits[t as usize] == 0 {
            self.ready.remove(&(self.problem.tasks[t as usize].start, t));
        }
        self.waits[t as usize] += 1;
    }

    /// Undoes the last step: the mirror image of [`Search::place`].
    fn take_back(&mut self) {
        let Some(t) = self.placed.pop() else { return };
        let problem = self.problem;
        let task = &problem.tasks[t as usize];
        self.position[task.chain as usize] -= 1;
        if self.phase[t as usize] == Phase::Done {
            self.first_pending = self.first_pending.min(self.rank[t as usize] as usize);
            for (&key, &rank) in task.writes.iter().zip(&self.writer_rank[t as usize]) {
                let first = &mut self.first_writer[key as usize];
                *first = rank.min(*first);
            }
            for i in 0..self.followers[t as usize].len() {
                self.wait_more(self.followers[t as usize][i]);
            }
            for i in 0..self.readers[t as usize].len() {
                let (key, reader) = self.readers[t as usize][i];
                self.to_read[key as usize] -= 1;
                self.wait_more(reader);
            }
            self.ready.insert((task.start, t));
            if task.split {
                self.phase[t as usize] = Phase::Open;
                task.writes.iter().for_each(|&key| self.open[key as usize] += 1);
                return;
            }
        } else {
            task.writes.iter().for_each(|&key| self.open[key as usize] -= 1);
        }
        self.phase[t as usize] = Phase::Nothing;
        for &(key, _) in &task.reads {
            self.to_read[key as usize] += 1;
        }
    }

    /// Whether real time alone shows that some read is stale: somebody wrote the key between the
    /// version that was read and the read.
    fn is_stale(&self) -> bool {
        let tasks = &self.problem.tasks;
        // By key: writers by start, each with the earliest end from there on.
        let spans = self.writers.iter().map(|writers| {
            let mut spans: Vec<(i64, i64)> =
                writers.iter().map(|&w| (tasks[w as usize].start, tasks[w as usize].end)).collect();
            spans.sort_unstable();
            let mut earliest = NEVER;
            for span in spans.iter_mut().rev() {
                earliest = earliest.min(span.1);
                span.1 = earliest;
            }
            spans
        });
        let spans: Vec<Vec<(i64, i64)>> = spans.collect();
        tasks.iter().any(|task| {
            task.reads.iter().any(|&(key, writer)| {
                let spans = &spans[key as usize];
                let written = if writer == NOBODY { i64::MIN } else { tasks[writer as usize].end };
                let later = spans.partition_point(|&(start, _)| start <= written);
                spans.get(later).is_some_and(|&(_, end)| end < task.start)
            })
        })
    }
}

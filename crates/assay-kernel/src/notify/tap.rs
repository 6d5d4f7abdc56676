//! The handle on a watched process: rules go in, numbers come out.

use super::clock::time_of_day_ns;
use super::error::NotifyError;
use super::rules::{
    CallRule, Calls, ClockRule, DELAY_MAX, Deed, OFFSET_MS_MAX, RATE_PPM_MAX, RATE_PPM_MIN,
    RULES_MAX, Watch,
};
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many paths of calls that were hit are kept.
pub const PATHS_KEPT_MAX: usize = 8;

/// What was counted since the process started.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Calls that were stopped, of all kinds.
    pub seen: u64,
    /// Of these, calls that bring something to disk.
    pub syncs: u64,
    /// Of these, calls that change files or open them for it; those to sockets are among them.
    pub writes: u64,
    /// Calls that were made to fail.
    pub failed: u64,
    /// Calls that were kept waiting.
    pub delayed: u64,
    /// Calls while a rule was on of which nobody can tell which file they are about.
    pub unknown: u64,
    /// Looks at the time of day.
    pub clock_reads: u64,
    /// Looks that were answered with another time.
    pub clock_moved: u64,
    /// Looks whose answer could not be written: the process saw the right time.
    pub clock_missed: u64,
    /// Programs that the process and its children have become, if clocks are watched.
    pub execs: u64,
    /// Of these, programs that look at the clock behind the kernel's back.
    pub execs_missed: u64,
}

macro_rules! counters {
    ($($name:ident),*) => {
        /// The same, while it is being counted.
        #[derive(Debug, Default)]
        pub(super) struct Counters { $(pub(super) $name: AtomicU64),* }

        impl Counters {
            fn now(&self) -> Counts {
                Counts { $($name: self.$name.load(Ordering::SeqCst)),* }
            }
        }
    };
}
counters!(
    seen,
    syncs,
    writes,
    failed,
    delayed,
    unknown,
    clock_reads,
    clock_moved,
    clock_missed,
    execs,
    execs_missed
);

/// A rule that is on, or was: its own numbers stay readable after it is lifted.
#[derive(Debug)]
pub struct Imposed<R> {
    /// The rule.
    pub rule: R,
    pub(super) number: u64,
    /// The time of day when it was imposed, in nanoseconds since 1970.
    pub(super) since_ns: i128,
    pub(super) matched: AtomicU64,
    pub(super) hits: AtomicU64,
}

impl<R> Imposed<R> {
    /// How many calls the rule was about, whether it hit them or not.
    pub fn matched(&self) -> u64 {
        self.matched.load(Ordering::SeqCst)
    }

    /// How many calls it has hit: failed, delayed, or told another time.
    pub fn hits(&self) -> u64 {
        self.hits.load(Ordering::SeqCst)
    }
}

/// What the handle and the one who answers share.
#[derive(Debug)]
pub(super) struct State {
    pub(super) watch: Watch,
    pub(super) counters: Counters,
    pub(super) served: AtomicBool,
    /// Held while a call is answered: once a rule is lifted, no call meets it any more.
    pub(super) rules: Mutex<Vec<Arc<Imposed<CallRule>>>>,
    pub(super) clocks: Mutex<Vec<Arc<Imposed<ClockRule>>>>,
    paths: Mutex<VecDeque<PathBuf>>,
    /// Wakes the one who answers when rules change.
    pub(super) wake: OwnedFd,
    /// Held while the process is stopped at the start of a program.
    pub(super) tracing: Mutex<()>,
    rules_ever: AtomicU64,
}

/// No invariant spans what these protect, so a panic elsewhere spoils nothing.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    pub(super) fn new(watch: Watch) -> io::Result<State> {
        use rustix::event::{EventfdFlags, eventfd};
        Ok(State {
            watch,
            counters: Counters::default(),
            served: AtomicBool::new(true),
            rules: Mutex::default(),
            clocks: Mutex::default(),
            paths: Mutex::default(),
            wake: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            tracing: Mutex::default(),
            rules_ever: AtomicU64::new(0),
        })
    }

    pub(super) fn hit(&self, path: &Path) {
        let mut paths = lock(&self.paths);
        if paths.len() == PATHS_KEPT_MAX {
            paths.pop_front();
        }
        paths.push_back(path.to_path_buf());
    }

    fn wake(&self) {
        // The counter is full only if it has been woken already.
        let _awake_already = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }
}

/// The system calls of one process and its children, while it runs.
///
/// Its calls are answered until all of them have ended, whether this is dropped or not; dropping
/// it lifts all rules. Should *this* process end before them, every call that is watched fails
/// there from then on (`ENOSYS`): such a process is of no use and has to be ended, too.
#[derive(Debug)]
pub struct Tap {
    pub(super) state: Arc<State>,
    pub(super) pid: u32,
}

impl Tap {
    /// The process that was started.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// What is watched.
    pub fn watch(&self) -> Watch {
        self.state.watch
    }

    /// What was counted since the process started.
    pub fn counts(&self) -> Counts {
        self.state.counters.now()
    }

    /// The files of the last calls that were hit, the latest last.
    pub fn paths_hit(&self) -> Vec<PathBuf> {
        lock(&self.state.paths).iter().cloned().collect()
    }

    /// Whether calls are still answered: until the process and its children have ended.
    pub fn is_served(&self) -> bool {
        self.state.served.load(Ordering::SeqCst)
    }

    /// Imposes a rule on calls from now on. Of several rules the first that hits a call counts.
    ///
    /// # Errors
    /// If these calls are not watched, or the rule is not possible.
    pub fn impose(&self, mut rule: CallRule) -> Result<Arc<Imposed<CallRule>>, NotifyError> {
        self.check(&rule)?;
        // The kernel names files without links.
        rule.below = canonical(&rule.below)?;
        self.add(&self.state.rules, rule)
    }

    /// Whether such a rule could be imposed.
    ///
    /// # Errors
    /// As [`Tap::impose`] has them.
    pub fn check(&self, rule: &CallRule) -> Result<(), NotifyError> {
        let (watched, calls) = match rule.calls {
            Calls::Syncs => (self.state.watch.syncs, "syncs"),
            Calls::Writes => (self.state.watch.writes, "writes"),
        };
        if !watched {
            return Err(NotifyError::NotWatched { calls });
        }
        if let Deed::Delay(delay) = rule.deed
            && delay > DELAY_MAX
        {
            let value = i64::try_from(delay.as_millis()).unwrap_or(i64::MAX);
            let limit = format!("at most {} ms", DELAY_MAX.as_millis());
            return Err(NotifyError::Range { what: "a delay in ms", value, limit });
        }
        canonical(&rule.below).map(|_there| ())
    }

    /// Moves the time of day from now on. Several rules add up.
    ///
    /// # Errors
    /// If the clock is not watched, or is to be moved too far.
    pub fn impose_clock(&self, rule: ClockRule) -> Result<Arc<Imposed<ClockRule>>, NotifyError> {
        self.check_clock(rule)?;
        self.add(&self.state.clocks, rule)
    }

    /// Whether such a rule of the clock could be imposed.
    ///
    /// # Errors
    /// As [`Tap::impose_clock`] has them.
    pub fn check_clock(&self, rule: ClockRule) -> Result<(), NotifyError> {
        if !self.state.watch.clock {
            return Err(NotifyError::NotWatched { calls: "looks at the clock" });
        }
        if rule.offset_ms.unsigned_abs() > OFFSET_MS_MAX.unsigned_abs() {
            let (value, limit) = (rule.offset_ms, format!("at most {OFFSET_MS_MAX} either way"));
            return Err(NotifyError::Range { what: "an offset in ms", value, limit });
        }
        if !(RATE_PPM_MIN..=RATE_PPM_MAX).contains(&rule.rate_ppm) {
            let value = i64::from(rule.rate_ppm);
            let limit = format!("{RATE_PPM_MIN} to {RATE_PPM_MAX}");
            return Err(NotifyError::Range { what: "a rate in ppm", value, limit });
        }
        Ok(())
    }

    fn add<R>(
        &self,
        rules: &Mutex<Vec<Arc<Imposed<R>>>>,
        rule: R,
    ) -> Result<Arc<Imposed<R>>, NotifyError> {
        let doing = "read the clock";
        let since_ns =
            time_of_day_ns().map_err(|source| NotifyError::Resources { doing, source })?;
        let mut rules = lock(rules);
        if rules.len() >= RULES_MAX {
            return Err(NotifyError::TooMany { max: RULES_MAX });
        }
        let number = self.state.rules_ever.fetch_add(1, Ordering::SeqCst);
        let (matched, hits) = (AtomicU64::new(0), AtomicU64::new(0));
        let imposed = Arc::new(Imposed { rule, number, since_ns, matched, hits });
        rules.push(Arc::clone(&imposed));
        Ok(imposed)
    }

    /// Lifts a rule: no call meets it once this returns, and calls that it keeps waiting are let
    /// go. `false` if it was lifted before.
    pub fn lift(&self, imposed: &Imposed<CallRule>) -> bool {
        let lifted = remove(&self.state.rules, imposed);
        self.state.wake();
        lifted
    }

    /// Lifts a rule of the clock: it is right again, unless there are others. `false` if it was
    /// lifted before.
    pub fn lift_clock(&self, imposed: &Imposed<ClockRule>) -> bool {
        remove(&self.state.clocks, imposed)
    }

    /// Whether no rule is on.
    pub fn is_idle(&self) -> bool {
        lock(&self.state.rules).is_empty() && lock(&self.state.clocks).is_empty()
    }

    /// Asks whether the child has ended, as [`Child::try_wait`] does. That one must not be used on
    /// a child that replaces itself by another program (a script that ends with `exec`) while
    /// its clock is watched: it would take the stop at the new program for the end.
    ///
    /// # Errors
    /// Those of [`Child::try_wait`].
    pub fn try_wait(&self, child: &mut Child) -> io::Result<Option<ExitStatus>> {
        let _no_stop = lock(&self.state.tracing);
        child.try_wait()
    }
}

fn canonical(directory: &Path) -> Result<PathBuf, NotifyError> {
    let failed = |source| NotifyError::Directory { directory: directory.to_path_buf(), source };
    directory.canonicalize().map_err(failed)
}

fn remove<R>(rules: &Mutex<Vec<Arc<Imposed<R>>>>, imposed: &Imposed<R>) -> bool {
    let mut rules = lock(rules);
    let before = rules.len();
    rules.retain(|rule| rule.number != imposed.number);
    rules.len() < before
}

impl Drop for Tap {
    fn drop(&mut self) {
        // Nobody could lift them any more.
        lock(&self.state.rules).clear();
        lock(&self.state.clocks).clear();
        self.state.wake();
    }
}

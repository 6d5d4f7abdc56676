//! Reading what a plan says would prove a fault: before it, while it is on, and after.

use assay_plan::landing::{Bound, Comparison, Predicate, Signal as Named, Term};
use assay_verdict::{LandingState, Signal};
use std::time::{Duration, Instant};

/// Reads a number; `None`: it cannot be read.
pub type Reading<'w> = Box<dyn FnMut() -> Option<u64> + Send + 'w>;

/// A number that tells whether a fault took hold.
pub struct Watch<'w> {
    signal: Signal,
    read: Reading<'w>,
    /// Readings after this moment do not count as "while it was on".
    until: Option<Instant>,
}

/// By how much a signal has to move for a term to hold, and its unit.
pub fn wanted(term: &Term) -> (u64, &'static str) {
    let (bound, unit) = match term.bound {
        Bound::Number(number) => (number, ""),
        Bound::Time(time) => (time.0.as_secs_f64() * 1_000.0, " in ms"),
    };
    // The grammar refuses bounds that hold although nothing happened, so this is at least 1.
    let least = match term.comparison {
        Comparison::AtLeast => bound.ceil(),
        Comparison::MoreThan => bound.floor() + 1.0,
    };
    (least.max(1.0) as u64, unit)
}

/// The name of a signal as plans write it.
pub fn name(signal: &Named) -> String {
    match signal {
        Named::Known(name) => (*name).to_string(),
        Named::Log(text) => format!("log lines with `{text}`"),
        Named::Metric(name) => format!("metric {name}"),
    }
}

impl<'w> Watch<'w> {
    /// Begins to watch one term; reads the number before the fault.
    pub fn begin(term: &Term, mut read: Reading<'w>) -> Watch<'w> {
        let before = read();
        Watch::since(term, before, read)
    }

    /// The same where what was before the fault is known already.
    pub fn since(term: &Term, before: Option<u64>, read: Reading<'w>) -> Watch<'w> {
        let (moves_by_min, unit) = wanted(term);
        let what = format!("{}{unit}", name(&term.signal));
        let signal = Signal { what, before, during: None, after: None, moves_by_min };
        Watch { signal, read, until: None }
    }

    /// Nobody was asked: what is never read is never proven.
    pub fn unasked() -> Watch<'w> {
        let what = "nobody was asked".to_string();
        let signal = Signal { what, moves_by_min: 1, ..Signal::default() };
        Watch { signal, read: Box::new(|| None), until: None }
    }

    /// The fault is on: readings count from now on, for so long.
    pub fn open(&mut self, for_at_most: Option<Duration>) {
        self.until = for_at_most.map(|time| Instant::now() + time);
    }

    /// Reads; of all numbers the one farthest from the first is kept.
    pub fn sample(&mut self) {
        if self.until.is_some_and(|until| Instant::now() > until) {
            return;
        }
        let now = (self.read)();
        let distance = |value: Option<u64>| match (value, self.signal.before) {
            (Some(value), Some(before)) => Some(value.abs_diff(before)),
            _ => None,
        };
        if self.signal.during.is_none() || distance(now) > distance(self.signal.during) {
            self.signal.during = now.or(self.signal.during);
        }
    }

    /// Whether it has moved far enough.
    pub fn has_moved(&self) -> bool {
        self.signal.state() == LandingState::Landed
    }

    /// Whether there is still time for it to move.
    pub fn may_still_move(&self) -> bool {
        !self.has_moved() && self.until.is_some_and(|until| Instant::now() <= until)
    }

    /// Reads for the last time.
    pub fn end(mut self) -> Signal {
        self.signal.after = (self.read)();
        self.signal
    }
}

/// Terms of a predicate; an empty text has none.
pub fn terms(text: &str) -> Result<Vec<Term>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    Predicate::parse(text).map(|predicate| predicate.terms).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    fn term(text: &str) -> Term {
        terms(text).expect("a predicate").remove(0)
    }

    #[test]
    fn bounds_are_rounded_the_strict_way() {
        let cases = [
            ("timeouts >= 1", 1),
            ("timeouts > 1", 2),
            ("timeouts >= 2.5", 3),
            ("heartbeat-gap >= 1s", 1_000),
            ("latency-p99 > 200ms", 201),
        ];
        for (text, least) in cases {
            assert_eq!(wanted(&term(text)).0, least, "{text}");
        }
    }

    #[test]
    fn the_number_farthest_from_the_first_is_kept_and_late_ones_do_not_count() {
        let number = AtomicU64::new(5);
        let read = || Some(number.load(Ordering::Relaxed));
        let mut watch = Watch::begin(&term("elections >= 2"), Box::new(read));
        watch.open(None);
        for (value, moved) in [(6, false), (8, true), (5, true)] {
            number.store(value, Ordering::Relaxed);
            watch.sample();
            assert_eq!(watch.has_moved(), moved, "{value}");
        }
        let signal = watch.end();
        assert_eq!((signal.before, signal.during, signal.after), (Some(5), Some(8), Some(5)));
        let mut late = Watch::begin(&term("elections >= 1"), Box::new(read));
        late.open(Some(Duration::ZERO));
        number.store(9, Ordering::Relaxed);
        while late.may_still_move() {}
        late.sample();
        assert_eq!(late.end().state(), LandingState::Unknown, "nothing was read in time");
    }

    #[test]
    fn what_nobody_reads_proves_nothing() {
        let mut watch = Watch::unasked();
        watch.open(None);
        watch.sample();
        assert_eq!(watch.end().state(), LandingState::Unknown);
    }
}

//! What is shown while a run goes on, on standard error: a line that lives, or a sparse sign of
//! life where nobody watches.

use super::live::Live;
use super::shorter;
use crate::args::OutputFormat;
use crate::output::say;
use assay_runner::event::RunEvent;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// From one drawing of the living line to the next, whether or not something happens.
const TICK_STEP: Duration = Duration::from_millis(200);
/// From one sign of life to the next.
const HEARTBEAT_STEP: Duration = Duration::from_secs(60);

/// What is shown while a run goes on.
pub struct Screen {
    /// `None` where a program listens.
    shown: Option<Arc<Shown>>,
    ticker: Option<(Sender<()>, JoinHandle<()>)>,
}

struct Shown {
    bar: Option<ProgressBar>,
    live: Mutex<Live>,
    heartbeat: Heartbeat,
}

/// Where there is no living line, one of these is said each minute: a log that stands still looks
/// like a run that does.
struct Heartbeat {
    last: Mutex<Instant>,
}

impl Heartbeat {
    fn new(now: Instant) -> Heartbeat {
        Heartbeat { last: Mutex::new(now) }
    }

    /// Whether nothing was said for long enough; then something is said now.
    fn is_due(&self, now: Instant) -> bool {
        let mut last = self.last.lock().expect("nothing panics while it holds the time");
        let is_due = now.saturating_duration_since(*last) >= HEARTBEAT_STEP;
        if is_due {
            *last = now;
        }
        is_due
    }

    /// Something else was said.
    fn said(&self, now: Instant) {
        *self.last.lock().expect("nothing panics while it holds the time") = now;
    }
}

impl Shown {
    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().expect("nothing panics while it holds what is known")
    }

    /// Time goes by.
    fn tick(&self, now: Instant) {
        let Some(line) = self.live().line(now) else { return };
        match &self.bar {
            Some(bar) => {
                bar.set_message(line);
                bar.tick();
            }
            None if self.heartbeat.is_due(now) => say(format_args!("    {line}")),
            None => {}
        }
    }

    fn tell(&self, event: &RunEvent, now: Instant) {
        self.live().hear(event, now);
        if let Some(bar) = self.bar.as_ref().filter(|bar| bar.is_finished()) {
            bar.reset();
        }
        let Some(line) = line(event) else { return };
        self.heartbeat.said(now);
        match &self.bar {
            Some(bar) => bar.suspend(|| say(line)),
            None => say(line),
        }
    }
}

impl Screen {
    /// A line that lives on terminals; plain lines elsewhere; nothing where a program listens.
    pub fn new(format: OutputFormat) -> Screen {
        if format == OutputFormat::Json {
            return Screen { shown: None, ticker: None };
        }
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} {msg}");
            bar.set_style(style.expect("the template is a constant"));
            bar
        });
        let now = Instant::now();
        let (live, heartbeat) = (Mutex::new(Live::new(now)), Heartbeat::new(now));
        let shown = Arc::new(Shown { bar, live, heartbeat });
        let (over, is_over) = channel();
        let ticking = Arc::clone(&shown);
        let ticker = std::thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = is_over.recv_timeout(TICK_STEP) {
                ticking.tick(Instant::now());
            }
        });
        Screen { shown: Some(shown), ticker: Some((over, ticker)) }
    }

    /// Takes the living line away, until something happens again.
    pub fn clear(&self) {
        let Some(shown) = &self.shown else { return };
        *shown.live() = Live::new(Instant::now());
        if let Some(bar) = &shown.bar {
            bar.finish_and_clear();
        }
    }

    /// Something happened.
    pub fn tell(&self, event: &RunEvent) {
        if let Some(shown) = &self.shown {
            shown.tell(event, Instant::now());
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if let Some((over, ticker)) = self.ticker.take() {
            drop(over);
            let _panicked = ticker.join();
        }
    }
}

/// An event as a line, if it is worth one.
fn line(event: &RunEvent) -> Option<String> {
    Some(match event {
        RunEvent::RunStarted { plan, directory, trials_planned, trials, workload_ms, resumed } => {
            let verb = if *resumed { "resuming" } else { "running" };
            let (scenarios, seconds) = (trials_planned.join(", "), workload_ms.div_ceil(1_000));
            format!(
                "{verb} {plan}: {scenarios}; trials: {trials}, with {seconds} s of work, if \
                 nothing is found\nwriting to {directory}"
            )
        }
        RunEvent::Healed { what } => format!("healed: {what}"),
        RunEvent::Noticed { what } => format!("note: {what}"),
        RunEvent::EnvironmentProbed { missing } if !missing.is_empty() => {
            format!("missing here: {}", missing.join("; "))
        }
        RunEvent::ScenarioStarted { scenario, name } => format!("\n{scenario} {name}"),
        RunEvent::TrialStarted { purpose, seed, expected_ms, .. } => {
            format!("  {} seed {seed}, {} s", purpose.name(), expected_ms.div_ceil(1_000))
        }
        RunEvent::FaultClosed { id, target, landing, evidence } => {
            format!("    {id} of {target}: {landing} ({})", shorter(evidence))
        }
        RunEvent::Reducing { what, still_fails: Some(still) } => {
            format!("    smaller: {what}: {}", if *still { "still fails" } else { "passes" })
        }
        RunEvent::TrialEnded { result, reused, .. } => {
            format!("    {}{}", shorter(result), if *reused { " (kept)" } else { "" })
        }
        RunEvent::ScenarioEnded { scenario, sentence, .. } => {
            format!("  {scenario}: {sentence}")
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_says_nothing_for_a_minute_says_that_it_lives() {
        let start = Instant::now();
        let heartbeat = Heartbeat::new(start);
        let after = |seconds| start + Duration::from_secs(seconds);
        let said: Vec<u64> = (1..=200).filter(|&s| heartbeat.is_due(after(s))).collect();
        assert_eq!(said, [60, 120, 180]);
        heartbeat.said(after(230));
        assert!(!heartbeat.is_due(after(289)) && heartbeat.is_due(after(290)));
    }
}

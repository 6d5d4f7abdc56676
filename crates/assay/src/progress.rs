//! Progress on standard error, for anything that takes longer than two seconds, on terminals only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const QUIET_FOR: Duration = Duration::from_secs(2);
const REFRESH_EVERY: Duration = Duration::from_millis(100);

/// Runs `work`; if it takes long and someone is watching, shows what `message` says meanwhile.
pub fn while_running<T: Send>(
    message: impl Fn() -> String + Sync,
    work: impl FnOnce() -> T + Send,
) -> T {
    if !std::io::stderr().is_terminal() {
        return work();
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| watch(&done, &message));
        let result = work();
        done.store(true, Ordering::Relaxed);
        result
    })
}

fn watch(done: &AtomicBool, message: &impl Fn() -> String) {
    let begun = Instant::now();
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{spinner} {msg} [{elapsed}]");
    bar.set_style(style.expect("the template is a constant"));
    while !done.load(Ordering::Relaxed) {
        std::thread::park_timeout(REFRESH_EVERY);
        if begun.elapsed() > QUIET_FOR {
            bar.set_message(message());
            bar.tick();
        }
    }
    bar.finish_and_clear();
}

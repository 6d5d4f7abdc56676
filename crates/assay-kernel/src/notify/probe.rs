//! Whether this machine lets system calls be answered.

use super::rules::Watch;
use super::spawn::Tapped;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A program that does nothing takes no longer on a machine that does ten other things.
const TRIAL_TIME_MAX: Duration = Duration::from_secs(20);
/// How often to look whether it is done.
const LOOK_STEP: Duration = Duration::from_millis(1);

/// Finds out whether processes can be watched here, by watching one. No privileges are needed.
///
/// # Errors
/// A sentence that says what is missing and what to do.
pub fn probe() -> Result<(), String> {
    let mut command = Command::new("true");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let watch = Watch { syncs: true, writes: true, clock: true };
    let (mut child, tap) = Tapped::spawn(&mut command, watch).map_err(|error| error.to_string())?;
    let until = Instant::now() + TRIAL_TIME_MAX;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("`true` ended with {status} under watch")),
            Ok(None) if Instant::now() < until => std::thread::sleep(LOOK_STEP),
            unfinished => {
                let _gone_already = child.kill();
                let _reaped = child.wait();
                let counts = tap.counts();
                return Err(format!("`true` did not end under watch: {unfinished:?}, {counts:?}"));
            }
        }
    }
}

//! The answer to a look at the time of day.
#![allow(unsafe_code)] // Reads the coarse clock, which the standard library does not have.

use super::filter::Call;
use super::listener::{Answer, Stopped};
use super::memory;
use super::rules::ClockRule;
use super::tap::Imposed;
use std::io;
use std::sync::Arc;

const NS_PER_SECOND: i128 = 1_000_000_000;

/// Tells another time, as the rules have it. The answer stands in the memory of the one who asked.
pub(super) fn tell(
    stopped: &Stopped,
    call: Call,
    rules: &[Arc<Imposed<ClockRule>>],
) -> io::Result<Answer> {
    let argument = |index: usize| stopped.arguments[index];
    let clock = match call {
        Call::ClockGetTime => argument(0) as libc::clockid_t,
        _ => libc::CLOCK_REALTIME,
    };
    let now_ns = now_ns(clock)?;
    // What is shown follows from this one look at the clock: a second one, a little later, would
    // let a slow clock run back and forth.
    let off_ns: i128 = rules.iter().map(|on| on.rule.off_ns(now_ns - on.since_ns)).sum();
    // Programs may not be ready for a time before 1970.
    let shown_ns = (now_ns + off_ns).max(0);
    let seconds = i64::try_from(shown_ns / NS_PER_SECOND).unwrap_or(i64::MAX);
    let rest_ns = i64::try_from(shown_ns % NS_PER_SECOND).expect("less than a second");
    match call {
        Call::GetTimeOfDay => {
            write_pair(stopped.thread, argument(0), seconds, rest_ns / 1000)?;
            if argument(1) != 0 {
                // A time zone: two numbers that the kernel keeps and nobody sets.
                memory::write(stopped.thread, argument(1), &[0; 8])?;
            }
            Ok(Answer::Return(0))
        }
        #[cfg(target_arch = "x86_64")]
        Call::Time => {
            if argument(0) != 0 {
                memory::write(stopped.thread, argument(0), &seconds.to_ne_bytes())?;
            }
            Ok(Answer::Return(seconds))
        }
        _ => {
            write_pair(stopped.thread, argument(1), seconds, rest_ns)?;
            Ok(Answer::Return(0))
        }
    }
}

/// `struct timespec` and `struct timeval` are two numbers of eight bytes.
fn write_pair(thread: u32, address: u64, seconds: i64, rest: i64) -> io::Result<()> {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&seconds.to_ne_bytes());
    bytes[8..].copy_from_slice(&rest.to_ne_bytes());
    memory::write(thread, address, &bytes)
}

/// The right time of day, in nanoseconds since 1970.
pub(super) fn time_of_day_ns() -> io::Result<i128> {
    now_ns(libc::CLOCK_REALTIME)
}

fn now_ns(clock: libc::clockid_t) -> io::Result<i128> {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one `timespec`, which `now` is.
    match unsafe { libc::clock_gettime(clock, &raw mut now) } {
        0 => Ok(i128::from(now.tv_sec) * NS_PER_SECOND + i128::from(now.tv_nsec)),
        _ => Err(io::Error::last_os_error()),
    }
}

//! System calls of a running process, answered in between.
//!
//! A process is started with a filter that stops some of its calls until another process, this
//! one, has answered them: go on, fail with this error, wait, or take this for the time. No
//! privileges are needed, and it makes no difference whether a program is linked statically or
//! makes its calls itself, as Go does (seccomp user notification).
//!
//! ```
//! use assay_kernel::notify::{CallRule, Calls, Deed, Errno, Tapped, Watch, probe};
//! use std::process::Command;
//!
//! # if let Err(why) = probe() { eprintln!("SKIPPED: {why}"); return Ok(()); }
//! let directory = std::env::temp_dir();
//! let mut sync = Command::new("sh");
//! sync.args(["-c", "read go; sync -d ."]).current_dir(&directory);
//! sync.stdin(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
//! let watch = Watch { syncs: true, ..Watch::default() };
//! let (mut child, tap) = Tapped::spawn(&mut sync, watch)?;
//! let rule = tap.impose(CallRule::new(Calls::Syncs, &directory, Deed::Fail(Errno::Io)))?;
//! drop(child.stdin.take());
//! assert!(!child.wait()?.success(), "sync says that it failed");
//! assert_eq!((rule.hits(), tap.counts().failed), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What it does not see: calls of a program for another architecture than ours; what reaches a
//! file without a call of [`Watch`] (mapped memory, `sendfile`, `io_submit`); removing, renaming.
//! io_uring is told to be absent while syncs or writes are watched, so that programs use calls.
//! A full disk is one on which overwriting needs space, too. With clocks, only what asks for the
//! time of day is moved: sleeping and waiting, also until a moment of that clock, is not.

mod clock;
mod error;
mod filter;
mod handover;
mod listener;
mod memory;
mod paths;
mod probe;
mod rules;
mod serve;
mod spawn;
mod tap;
mod vdso;

pub use error::NotifyError;
pub use probe::probe;
pub use rules::{
    CallRule, Calls, ClockRule, DELAY_MAX, Deed, Errno, OFFSET_MS_MAX, RATE_PPM_MAX, RATE_PPM_MIN,
    RULES_MAX, Share, Watch,
};
pub use spawn::Tapped;
pub use tap::{Counts, Imposed, PATHS_KEPT_MAX, Tap};

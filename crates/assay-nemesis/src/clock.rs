//! Moving the clock of a process, by libfaketime where it is installed.
//!
//! The library stands between a program and the clock. It has to be there when the program starts,
//! so a node whose clock may be moved is started with [`Clock::environment`]. How far the clock is
//! off stands in a file, which is read at each look at the clock: writing the file moves the clock
//! of a running node, and writing zero moves it back. The file outlives us, so the journal has it.
//!
//! Only the time of day is moved. Timers go on, as they do when somebody sets a clock.
//!
//! ```
//! use assay_nemesis::{Clock, ClockError};
//!
//! # let directory = tempfile::tempdir()?;
//! match Clock::prepare(directory.path(), "n1") {
//!     Ok(clock) => {
//!         clock.set(60_000)?;
//!         let asked = clock.measure()?;
//!         assert!(asked.certain_ms() > 50_000, "another program sees it: {asked:?}");
//!     }
//!     Err(missing) => assert!(matches!(missing, ClockError::Missing), "{missing}"),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::process::Process;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Where distributions put libfaketime.
const PLACES: [&str; 6] = [
    "/usr/lib/x86_64-linux-gnu/faketime",
    "/usr/lib/aarch64-linux-gnu/faketime",
    "/usr/lib64/faketime",
    "/usr/lib/faketime",
    "/usr/local/lib/faketime",
    "/usr/lib64",
];
/// The library that programs with threads need.
const LIBRARY: &str = "libfaketimeMT.so.1";
/// How the files that hold offsets begin; no other file is ever written.
const FILE_PREFIX: &str = ".assay-clock-";
/// A year: no clock is wrong by more.
pub const OFFSET_MS_MAX: i64 = 366 * 24 * 3600 * 1000;
/// How long a program may take to say what time it is.
const ASK_TIME_MAX: Duration = Duration::from_secs(10);
/// How often to look whether it has.
const ASK_STEP: Duration = Duration::from_millis(1);

/// The library that moves the clock of a process started with it (LD_PRELOAD), if it is installed.
pub fn libfaketime() -> Option<PathBuf> {
    PLACES.iter().map(|place| Path::new(place).join(LIBRARY)).find(|path| path.is_file())
}

/// Why a clock cannot be moved.
#[derive(Debug, thiserror::Error)]
pub enum ClockError {
    /// This machine cannot do it.
    #[error("libfaketime is not installed: clocks cannot be moved (apt-get install libfaketime)")]
    Missing,
    /// The file with the offset.
    #[error("{}: cannot {doing}: {source}", file.display())]
    File {
        /// Where.
        file: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// It is not a file of ours.
    #[error("{}: its name does not begin with {FILE_PREFIX}: not a clock's file", .0.display())]
    NotOurs(PathBuf),
    /// A node's name that is no part of a file's name.
    #[error("`{0}` cannot be part of a file's name")]
    Name(String),
    /// More than [`OFFSET_MS_MAX`].
    #[error("a clock cannot be off by {0} ms: at most {OFFSET_MS_MAX}")]
    TooFar(i64),
    /// The process was not started with the library, or does not use it: it is linked statically.
    #[error("process {pid} has not loaded libfaketime: start it with the clock's environment")]
    NotLoaded {
        /// Its number.
        pid: u32,
    },
    /// The process looks at another file.
    #[error("process {pid} does not look at {}", file.display())]
    OtherClock {
        /// Its number.
        pid: u32,
        /// This file.
        file: PathBuf,
    },
    /// Nobody could be asked for the time.
    #[error("cannot ask `date` for the time of the moved clock: {0}")]
    Unasked(String),
}

/// A clock that can be moved while a node runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clock {
    library: PathBuf,
    file: PathBuf,
}

/// How far a moved clock is off, as seen by another program: between these, in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Measured {
    /// At least.
    pub min_ms: i64,
    /// At most.
    pub max_ms: i64,
}

impl Measured {
    /// How far it is off for certain: asking takes time, which must not count.
    pub fn certain_ms(self) -> u64 {
        match (self.min_ms, self.max_ms) {
            (1.., _) => self.min_ms.unsigned_abs(),
            (_, ..=-1) => self.max_ms.unsigned_abs(),
            _ => 0,
        }
    }
}

impl Clock {
    /// A clock that is right, for a node that is about to be started.
    ///
    /// # Errors
    /// [`ClockError::Missing`] where clocks cannot be moved.
    pub fn prepare(directory: &Path, node: &str) -> Result<Clock, ClockError> {
        let library = libfaketime().ok_or(ClockError::Missing)?;
        if node.is_empty() || node.contains(['/', '\0']) {
            return Err(ClockError::Name(node.to_string()));
        }
        let failed = |source| ClockError::File {
            file: directory.to_path_buf(),
            doing: "find the directory of",
            source,
        };
        // A node may run in another directory.
        let directory = directory.canonicalize().map_err(failed)?;
        let clock = Clock { library, file: directory.join(format!("{FILE_PREFIX}{node}")) };
        clock.set(0)?;
        Ok(clock)
    }

    /// The file that holds the offset.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// What the node has to be started with.
    pub fn environment(&self) -> [(&'static str, OsString); 4] {
        [
            ("LD_PRELOAD", self.library.clone().into()),
            ("FAKETIME_TIMESTAMP_FILE", self.file.clone().into()),
            ("FAKETIME_NO_CACHE", "1".into()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".into()),
        ]
    }

    /// Moves the clock: so many milliseconds ahead, or behind if it is negative.
    ///
    /// # Errors
    /// If that is too far, or the file cannot be written.
    pub fn set(&self, offset_ms: i64) -> Result<(), ClockError> {
        write_offset(&self.file, offset_ms)
    }

    /// Asks another program, started as the node was, what time it is.
    ///
    /// # Errors
    /// If it does not say.
    pub fn measure(&self) -> Result<Measured, ClockError> {
        let wrong = |what: &dyn std::fmt::Display| ClockError::Unasked(what.to_string());
        let mut date = Command::new("date");
        date.arg("+%s%N").envs(self.environment());
        date.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let before = now_ns();
        let mut child = date.spawn().map_err(|error| wrong(&error))?;
        let until = Instant::now() + ASK_TIME_MAX;
        while child.try_wait().map_err(|error| wrong(&error))?.is_none() {
            if Instant::now() > until {
                let _gone_already = child.kill();
                let _reaped = child.wait();
                return Err(wrong(&"it does not end"));
            }
            std::thread::sleep(ASK_STEP);
        }
        let output = child.wait_with_output().map_err(|error| wrong(&error))?;
        let after = now_ns();
        let text = String::from_utf8_lossy(&output.stdout);
        let seen: i128 = text.trim().parse().map_err(|_| wrong(&format!("it said `{text}`")))?;
        let ms = |ns: i128| i64::try_from(ns / 1_000_000).unwrap_or(i64::MAX);
        Ok(Measured { min_ms: ms(seen - after), max_ms: ms(seen - before) })
    }

    /// Whether a process would notice.
    pub(crate) fn is_under(&self, process: &Process) -> Result<(), ClockError> {
        let pid = process.pid;
        let of = |what: &str| std::fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
        let library = LIBRARY.as_bytes();
        if !of("maps").windows(library.len()).any(|part| part == library) {
            return Err(ClockError::NotLoaded { pid });
        }
        let mut wanted = b"FAKETIME_TIMESTAMP_FILE=".to_vec();
        wanted.extend(self.file.as_os_str().as_encoded_bytes());
        if !of("environ").split(|byte| *byte == 0).any(|variable| variable == wanted) {
            return Err(ClockError::OtherClock { pid, file: self.file.clone() });
        }
        Ok(())
    }
}

fn now_ns() -> i128 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i128::try_from(since.as_nanos()).unwrap_or(i128::MAX)
}

fn write_offset(file: &Path, offset_ms: i64) -> Result<(), ClockError> {
    if offset_ms.unsigned_abs() > OFFSET_MS_MAX.unsigned_abs() {
        return Err(ClockError::TooFar(offset_ms));
    }
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !name.starts_with(FILE_PREFIX) {
        return Err(ClockError::NotOurs(file.to_path_buf()));
    }
    let sign = if offset_ms < 0 { '-' } else { '+' };
    let ms = offset_ms.unsigned_abs();
    let text = format!("{sign}{}.{:03}\n", ms / 1000, ms % 1000);
    // In one step: a node that looks meanwhile must not find half a number.
    let next = file.with_file_name(format!("{name}.next"));
    let failed = |doing| move |source| ClockError::File { file: file.to_path_buf(), doing, source };
    std::fs::write(&next, text).map_err(failed("write"))?;
    std::fs::rename(&next, file).map_err(failed("replace"))
}

/// Sets the clock of a file right, and says what was done.
pub(crate) fn set_right(file: &Path) -> Result<String, ClockError> {
    let shown = file.display();
    let right = "+0.000";
    match std::fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(format!("{shown}: is gone, no clock looks at it"));
        }
        Ok(text) if text.trim() == right => return Ok(format!("{shown}: the clock was right")),
        // Whatever it says, it is to say zero.
        Ok(_) | Err(_) => {}
    }
    write_offset(file, 0)?;
    Ok(format!("{shown}: the clock was set right"))
}

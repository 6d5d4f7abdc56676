//! What is asked of an agent, and what it may use.

use crate::hiding::Hidden;
use crate::leave::Leave;
use crate::output::TAIL_BYTES_MAX;
use crate::sandbox::Sandbox;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// One run: everything the agent gets. Nothing of an earlier run is in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    /// What to do.
    pub prompt: String,
    /// What belongs to it and is no text: only agents that speak the protocol of [`Engine::Acp`]
    /// can be given it, and all others are not started with it.
    ///
    /// [`Engine::Acp`]: crate::Engine::Acp
    pub attachments: Vec<Attachment>,
    /// Where to do it. Has to exist.
    pub work: PathBuf,
    /// Where to hand over what was made. Made if it is not there; `$ASSAY_DROP_BOX`.
    pub drop_box: PathBuf,
    /// Where the output is kept: a directory the agent cannot write to. Made if it is not there.
    pub log: PathBuf,
    /// How long, and how much.
    pub limits: Limits,
    /// What each of its processes may have.
    pub each: ProcessLimits,
    /// What the agent is told besides: `nonce` comes as `$ASSAY_NONCE`.
    pub variables: BTreeMap<String, String>,
    /// Variables of its environment that are to be as they stand here, whatever they would be
    /// otherwise; those without a value are not there.
    pub environment: BTreeMap<String, Option<OsString>>,
    /// Further places the agent may write to.
    pub writable: Vec<PathBuf>,
    /// What it cannot read, unless the sandbox is off: then it is not started where the kernel
    /// cannot hide it. What it may write to can be read.
    pub hidden: Hidden,
    /// Whether the kernel is to keep it from writing elsewhere.
    pub sandbox: Sandbox,
    /// By which it can be called off.
    pub cancel: Cancel,
    /// Who decides about what it asks for, if it speaks the Agent Client Protocol: others do not
    /// ask.
    pub leave: Leave,
    /// How much of each of its streams is handed back in memory, in bytes, from the end: all of
    /// it, if it is as much as it may write.
    pub kept_bytes: usize,
}

/// Something that belongs to a prompt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Attachment {
    /// An image.
    Image {
        /// Its bytes, in base64.
        data: String,
        /// Such as `image/png`.
        mime_type: String,
    },
    /// A document that is text. Agents that take none get it as a part of the prompt.
    Text {
        /// What it is called.
        name: String,
        /// What it says.
        text: String,
    },
    /// A document that is none.
    Blob {
        /// What it is called.
        name: String,
        /// Its bytes, in base64.
        data: String,
        /// Such as `application/pdf`.
        mime_type: String,
    },
    /// Where the agent finds it.
    Link {
        /// The address.
        uri: String,
    },
}

/// Calls a run off, from another thread: it ends within a moment, with all that it started.
#[derive(Clone, Default, Debug)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Calls it off, now or as soon as it begins.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// The same if they call off the same.
impl PartialEq for Cancel {
    fn eq(&self, other: &Cancel) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Cancel {}

/// How long an agent may take, and how much it may write. What exceeds a limit is ended, with all
/// that it started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// In all.
    pub wall: Duration,
    /// Without a byte of output.
    pub idle: Duration,
    /// Standard output and standard error together.
    pub output_bytes: u64,
}

/// What one process of an agent may have; what is not said is not limited. They hold for all that
/// it starts, and cannot be raised again. The kernel refuses what exceeds them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessLimits {
    /// Memory that it can write to and shares with nobody.
    pub memory_bytes: Option<u64>,
    /// How large a file may become.
    pub file_bytes: Option<u64>,
    /// Files that it may have open.
    pub open_files: Option<u64>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            wall: Duration::from_secs(60 * 60),
            idle: Duration::from_secs(10 * 60),
            output_bytes: 64 << 20,
        }
    }
}

impl Task {
    /// A task with the usual limits, in a sandbox if there can be one.
    pub fn new(prompt: &str, work: &Path, drop_box: &Path, log: &Path) -> Task {
        Task {
            prompt: prompt.to_string(),
            attachments: Vec::new(),
            work: work.to_path_buf(),
            drop_box: drop_box.to_path_buf(),
            log: log.to_path_buf(),
            limits: Limits::default(),
            each: ProcessLimits::default(),
            variables: BTreeMap::new(),
            environment: BTreeMap::new(),
            writable: Vec::new(),
            hidden: Hidden::default(),
            sandbox: Sandbox::WhenAvailable,
            cancel: Cancel::default(),
            leave: Leave::default(),
            kept_bytes: TAIL_BYTES_MAX,
        }
    }

    /// The same with other limits.
    pub fn limits(mut self, limits: Limits) -> Task {
        self.limits = limits;
        self
    }

    /// The same, and the agent is told this, too.
    pub fn variable(mut self, name: &str, value: &str) -> Task {
        self.variables.insert(name.to_string(), value.to_string());
        self
    }

    /// The same, and the agent may write there, too.
    pub fn writable(mut self, place: &Path) -> Task {
        self.writable.push(place.to_path_buf());
        self
    }
}

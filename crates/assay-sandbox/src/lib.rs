//! Where the tools of an agent run: a workspace, limits, and nothing else of the machine.
//!
//! A [`Provider`] says what it can promise here ([`Capabilities`], found by trying), refuses
//! [`Settings`] it cannot keep, and opens the [`Sandbox`] of a session on its [`Workspace`]. In it
//! programs are run, and the [`Tools`] that models know: `bash`, `read`, `write`, `edit`, `glob`
//! and `grep`. Whatever a call starts has ended when the call returns.
//!
//! ```no_run
//! use assay_sandbox::{
//!     Helper, Interrupt, Local, Provider, ProviderKind, Settings, Tools, Workspace,
//! };
//!
//! let provider = Local::new(ProviderKind::Local, Helper::this_program()?)?;
//! let workspace = Workspace::create("sessions/s1".as_ref())?;
//! let sandbox = provider.open(&workspace, Settings::default())?;
//! let tools = Tools::new(sandbox);
//! let input = serde_json::json!({ "command": "echo hello > greeting; pwd" });
//! let result = tools.call("bash", &input, &Interrupt::new()?)?;
//! assert_eq!(result.text, "/workspace\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A call is two processes of this program, started again through the [`Helper`]: [`keep`] stays
//! outside and ends everybody, [`enter`] confines itself and does what is asked for. So nothing
//! runs between fork and exec, and files are opened by a process that sees no others. What each
//! machine gets is in docs/formats/sandbox.md.
//!
//! *Knows nothing of* sessions, models, policies and who may ask for what.

mod capability;
mod confine;
mod enter;
mod files;
mod gate;
mod helper;
mod host;
mod interrupt;
mod job;
mod keeper;
mod launch;
mod limits;
mod local;
mod outputs;
mod probe;
mod provider;
mod tools;
mod workspace;

pub use capability::{Capabilities, Capability};
pub use enter::enter;
pub use files::{FileCall, FileResult, Grep, GrepMode};
pub use gate::{Gate, Porter};
pub use helper::Helper;
pub use host::HostPlace;
pub use interrupt::Interrupt;
pub use job::End;
pub use keeper::keep;
pub use launch::{CallError, Stream};
pub use limits::Limits;
pub use local::Local;
pub use outputs::{
    OUTPUT_BYTES_MAX, OUTPUT_FILES_MAX, OUTPUTS_BYTES_MAX, Output, OutputsError, collect_outputs,
};
pub use probe::Means;
pub use provider::{Network, OpenError, Program, Provider, ProviderKind, Ran, Sandbox, Settings};
pub use tools::{ToolDefinition, ToolResult, Tools};
pub use workspace::{Lent, Workspace, WorkspaceError};

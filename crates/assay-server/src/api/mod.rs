//! The API: which routes there are, in which order a request is checked, and what each does.

mod agents;
mod endings;
mod environments;
mod events;
mod fields;
mod files;
mod idempotency;
mod models;
mod page;
mod query;
pub mod reply;
mod routes;
mod serve;
mod sessions;
mod stream;
mod tools;

pub use endings::recover_all;
pub use files::sweep;
pub use routes::{ROUTES, Route};
pub use serve::{App, answer};
pub use stream::HEARTBEAT;
pub use tools::{ToolAccess, tool_access};

pub(crate) use agents::demo_agent;
pub(crate) use environments::demo_environment;

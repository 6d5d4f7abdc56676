//! The API: which routes there are, in which order a request is checked, and what each does.

mod agents;
mod auth;
mod bundle;
mod counted;
mod credential;
mod credentials;
mod endings;
mod environments;
mod equip;
mod events;
mod fields;
mod files;
mod idempotency;
mod lending;
mod models;
mod mounting;
mod mounts;
mod openapi;
mod page;
mod query;
mod remains;
pub mod reply;
mod resources;
mod routes;
mod serve;
mod sessions;
mod skill_references;
mod skill_versions;
mod skills;
mod stream;
mod tools;
mod upgrade;
mod upload;
mod validate;
mod vaults;

pub use credential::{Credential, find_credential};
pub use endings::recover_all;
pub use files::sweep;
pub use remains::clear_all;
pub use resources::sweep_workspaces;
pub use routes::{ROUTES, Route};
pub use serve::{App, answer};
pub use skill_references::sweep_skills;
pub use stream::HEARTBEAT;
pub use tools::{ToolAccess, mcp_access, only_asks, tool_access};
pub use upgrade::upgrade_all;

pub(crate) use agents::demo_agent;
#[cfg(test)]
pub(crate) use credential::purge;
pub(crate) use environments::demo_environment;
pub(crate) use resources::disk_trouble;
pub(crate) use serve::authenticate;

//! What this server asks of others: a small client of HTTP, and who may be asked.
//!
//! Two kinds of addresses come here. Those that the operator wrote into the configuration (models)
//! are taken as they are. Those that a model or a user names (`web_fetch`, programs at the [`gate`]
//! of their sandbox) go through [`Guard`]: the name has to be allowed, every address behind it has
//! to be public, and the connection goes to an address that was looked at, not to whatever the name
//! means a moment later.
//!
//! The client speaks HTTP/1.1 by hyper, over a socket that is opened here: so the address is
//! pinned by construction, and nothing follows a redirect by itself.

mod client;
mod guard;
mod lookup;
mod proxy;
mod public;

pub use client::{Client, NetError, Target, authority, path_of};
pub use guard::{Guard, GuardError, Origin, Reach, check_pattern};
pub use lookup::{Names, Resolver, Unfound};
pub use proxy::gate;
pub use public::is_public;

//! Access tokens that end, and how they begin anew.
//!
//! A credential of the kind `mcp_oauth` may say where a new access token is given for a refresh
//! token. `grant` asks there, once, through the guard: the address has to be public, and
//! nothing follows a redirect. [`Renewer`] does that for a credential, one at a time, and keeps
//! what came of it, sealed and durable, before anybody uses it: a refresh token may be good once.
//! It is asked when a token is about to end, when a server does not take it any more, and by a
//! clock, so that credentials that nobody uses for a while do not end with their refresh tokens.
//!
//! What is secret is in requests and nowhere else: answers of token endpoints are shown only if
//! they refuse, and without whatever they repeat.

mod grant;
mod renewer;
mod ticker;

pub use grant::{Answered, ClientAuth, GrantError, RefreshSecrets};
pub use renewer::{RenewError, Renewer, refresh_record};

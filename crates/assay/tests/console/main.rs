//! The console in a real browser: Chromium, driven by Playwright, against the real binary.
//!
//! Each test starts a server and a script of `scenes`, which plays a person. The script asks for
//! what only the test can do (kill the server, start it again) by lines that begin with `@`. What
//! the pages looked like is kept: every test says where. A machine without Node says
//! SKIPPED and why; where Node and npm are, Playwright and Chromium must be, too, and
//! `scripts/install-deps.sh` brings all of them.

mod browser;
#[path = "../serve/client.rs"]
#[allow(dead_code)]
mod client;
mod people;
mod requests;
mod server;
mod shows;

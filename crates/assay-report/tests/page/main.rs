//! The HTML page of a run, as text: what is on it, what is refused, and what cannot get in.
//! What it does in a browser is tested in `browser.rs`.

mod content;
mod digest;
mod hostile;
#[path = "../views/mod.rs"]
mod views;

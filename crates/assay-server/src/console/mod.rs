//! The console: pages for people, beside the API for programs.
//!
//! Pages and scripts are part of the binary (`assets`, from the folder `console` of this crate) and
//! come without a key: they are the same for everybody and hold nothing. Whatever they show they
//! ask of the API, with the key that somebody typed in. Campaigns and runs come from a [`Shelf`],
//! which whoever starts the server fills: this crate knows neither desks nor plans.
//!
//! A report is a page with scripts of its own. It is opened by a `ticket`, an address that nobody
//! can guess and that is soon forgotten, because browsers send no key when they open a page; and it
//! is kept in a sandbox: no network, no storage, nothing of the console.

mod assets;
mod serve;
mod shelf;
mod tickets;

pub use shelf::{EmptyShelf, Exhibit, ExhibitKind, Listing, Part, Shelf, ShelfError, Tone};

pub(crate) use serve::router;

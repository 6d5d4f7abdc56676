//! From "refuted" to the few operations that show why.

mod explain;
mod orders;
mod reduce;
mod words;

pub(crate) use explain::explain;
pub(crate) use orders::StuckOrder;
pub(crate) use reduce::{Reduced, reduce};
pub use words::{phrase, sentence};

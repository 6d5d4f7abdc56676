//! The contract: what is to be built, what will count as built, and who may decide that.
//!
//! A contract is one Markdown file. People write the objective, the stories and their criteria as
//! prose; what the Leader executes stands in `toml` blocks, one for the campaign and one for each
//! story. [`read`] turns it into a [`Contract`], in which nothing is left open: a layer either has
//! commands or a reason why it does not apply, and "TODO" cannot be written down.
//!
//! ```
//! let text = assay_desk::contract::template("basket");
//! let contract = assay_desk::contract::read(&text).expect("the template is a contract");
//! assert_eq!(contract.stories[0].id, "US-001");
//! ```
//!
//! Files, agents and the running of commands are no concern of this module.

mod lint;
mod markdown;
mod reach;
mod read;
mod score;
mod template;
mod types;
mod words;

pub use lint::{Complaint, Level, lint};
pub use reach::reach;
pub use read::{ContractErrors, Mistake, SOURCE_BYTES_MAX, read};
pub use score::{Band, DIMENSIONS, POINTS_MAX, Score, beyond, keep, lower, scores};
pub use template::{ITEMS, template};
pub use types::{
    Agents, Category, CommandSpec, Consensus, Contract, Criterion, Layer, LayerName, Limits,
    MappedTest, MutantsFormat, ResultFormat, Risk, Settings, Story, Waiver,
};

pub(crate) use words::is_slug;

use sha2::{Digest, Sha256};

/// SHA-256 in hexadecimal, the way all hashes are written here.
pub fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        _ = write!(text, "{byte:02x}");
    }
    text
}

//! What clients did and saw.
//!
//! A [`History`] is a table with one row per operation and the twelve columns of [`Column`]: who
//! did what to which object, when it began and ended, what went in and came out, which node
//! answered and which fault was active. Everything Assay concludes rests on such a table, so this
//! crate reads it from the formats people have ([`read`]), writes it, and says when it cannot carry
//! a verdict ([`validate`]).
//!
//! It knows nothing of models or verdicts, and of files no more than [`std::io::Read`].

mod builder;
mod history;
mod lines;
mod read;
mod role;
mod show;
mod txn;
mod validate;
mod value;
mod write;

pub use builder::{Builder, Completion, Invocation};
pub use history::*;
pub use read::{Format, NESTING_MAX, RECORD_BYTES_MAX, ReadError, ReadOptions, read, read_txns};
pub use show::Show;
pub use txn::{
    Does, ListId, MOPS_MAX, Mop, MopIn, Style, Txn, TxnIndex, TxnKey, Txns, TxnsBuilder,
};
pub use validate::{Finding, Rule, Severity, ValidateOptions, validate};
pub use value::{ValueId, Values, View};
pub use write::{
    Packing, write_jepsen_edn, write_jepsen_json, write_jsonl, write_jsonl_rows, write_packed,
    write_porcupine_log,
};

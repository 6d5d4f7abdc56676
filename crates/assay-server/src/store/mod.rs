//! Where everything is kept: one thread that writes, one that reads, and the records they know.

mod kernel;
mod keys;
mod reader;
mod records;
mod unit;

pub use kernel::Kernel;
pub use keys::{ApiKey, KeyError, create_key, list_keys, revoke_key, workspace_of};
pub use reader::Reader;
pub use records::{Line, SessionKey, SessionRecord, Stored, folder, read_record};
pub use unit::{After, Unit};

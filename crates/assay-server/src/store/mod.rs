//! Where everything is kept: one thread that writes, one that reads, and the records they know.

mod binding;
mod closed;
mod kernel;
mod keys;
mod place;
mod reader;
mod records;
mod remembering;
#[cfg(test)]
mod stubborn;
mod unit;

pub use binding::{BindingError, bind};
pub use kernel::Kernel;
pub use keys::{ApiKey, KeyError, add_key, find_key, is_key_good, list_keys, new_key, revoke_key};
pub use place::{OpenStore, StorePlace};
pub use reader::{Piece, Reader};
pub use records::{
    LentRecord, Line, Resource, SessionKey, SessionRecord, SessionSkill, Stored, fields_of, folder,
    read_record,
};
#[cfg(test)]
pub use stubborn::Stubborn;
pub use unit::{After, Taken, Unit};

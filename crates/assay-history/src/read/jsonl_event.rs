//! What one of Assay's own lines says, before its values are interned.

use super::raw::Raw;
use crate::history::Column;

/// What a line is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Row,
    Invoke,
    Complete,
    Header,
    Fault,
    Footer,
}

impl Kind {
    pub(super) fn named(name: &str) -> Result<Kind, String> {
        Ok(match name {
            "invoke" => Kind::Invoke,
            "complete" => Kind::Complete,
            "op" => Kind::Row,
            "header" => Kind::Header,
            "fault" => Kind::Fault,
            "footer" => Kind::Footer,
            other => {
                return Err(format!(
                    "unknown event \"{other}\": expected invoke, complete, op, header, fault or \
                     footer"
                ));
            }
        })
    }
}

/// How many values an [`Event`] has: one a column, the revision and when it was due.
pub(super) const SLOTS: usize = Column::ALL.len() + 2;

/// Where the revision stands among them.
pub(super) const REVISION_SLOT: usize = SLOTS - 2;

/// Where the time stands at which the operation was due.
pub(super) const DUE_SLOT: usize = SLOTS - 1;

/// One line, its values still in the block. There is one for every line of a file, so it is kept
/// small and free of what has to be dropped.
#[derive(Clone, Copy)]
pub(super) struct Event {
    pub(super) line: u64,
    pub(super) kind: Kind,
    pub(super) columns: u16,
    /// By column, in the order of [`Column`]; then the others.
    pub(super) fields: [Raw; SLOTS],
    /// Which of the block's [`Others`] are of this line: from the first, to before the second.
    pub(super) others: (u32, u32),
}

/// Header, fault and footer fields, and fields that are not defined.
pub(super) type Others = Vec<(String, Raw)>;

impl Event {
    pub(super) fn new(line: u64, others_before: usize) -> Event {
        let others = u32::try_from(others_before).expect("a block has fewer bytes than that");
        Event {
            line,
            kind: Kind::Row,
            columns: 0,
            fields: [Raw::NULL; SLOTS],
            others: (others, others),
        }
    }

    #[inline]
    pub(super) fn field(&self, column: Column) -> Raw {
        self.fields[column as usize]
    }

    pub(super) fn revision(&self) -> Raw {
        self.fields[REVISION_SLOT]
    }

    pub(super) fn due_ts(&self) -> Raw {
        self.fields[DUE_SLOT]
    }

    /// This line's share of the fields that have no column.
    #[inline]
    pub(super) fn others<'o>(&self, others: &'o Others) -> &'o [(String, Raw)] {
        &others[self.others.0 as usize..self.others.1 as usize]
    }
}

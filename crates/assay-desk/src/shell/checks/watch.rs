//! What commands of the contract must leave as it is.
//!
//! Tests of a claim can change what the Leader is run with as well as agents can, and take it back
//! before anybody looks. So it is looked at after each command, and not only around agents. Where
//! the kernel keeps commands in their tree that is the toolchain, which a contract may have made
//! writable; elsewhere everything that is protected. What the kernel kept a command from was
//! changed by somebody else: then the Leader stops, and looks at the claim again when it is started
//! again.

use super::{Leader, LeaderError};
use crate::shell::protect::{self, Changes, Snapshot};
use std::path::PathBuf;

/// A command in a message, in characters.
const SHOWN_CHARS_MAX: usize = 100;

impl Leader<'_> {
    /// What there is before a command.
    pub(super) fn watch(&mut self) -> Result<Snapshot, LeaderError> {
        let toolchain = self.toolchain.get_or_insert_with(protect::toolchain).clone();
        if self.engines.confined() {
            return Ok(Snapshot::of_toolchain(toolchain));
        }
        let mut before = protect::snapshot(self.desk, true)?;
        if let Some(why) = before.too_many(self.desk) {
            return Err(LeaderError::File(why));
        }
        before.toolchain = toolchain;
        Ok(before)
    }

    /// Compares it with what there is after it.
    pub(super) fn watched(
        &mut self,
        before: &Snapshot,
        command: &[String],
        reach: Option<&[PathBuf]>,
    ) -> Result<(), LeaderError> {
        let now = match self.engines.confined() {
            true => Snapshot::of_toolchain(protect::toolchain()),
            false => protect::snapshot(self.desk, true)?,
        };
        let name: String = command.join(" ").chars().take(SHOWN_CHARS_MAX).collect();
        let Changes { tampered, elsewhere } = before.changes(&now, self.desk.git.root(), reach);
        self.cache.tampered.extend(tampered.iter().map(|change| format!("`{name}`: {change}")));
        self.cache.elsewhere.extend(elsewhere.iter().map(|change| format!("`{name}`: {change}")));
        Ok(())
    }
}

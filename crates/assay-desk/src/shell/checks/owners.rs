//! Whose findings are those of the end? What is found of the whole goes to the story that can mend
//! it: the one that touched the file last, or may change it.

use super::{Leader, LeaderError};
use crate::contract::Contract;
use crate::gate::{Finding, glob};
use crate::state::Gate;
use std::collections::BTreeSet;

impl Leader<'_> {
    /// Names a story where a finding names none.
    pub(super) fn owned(
        &self,
        contract: &Contract,
        gate: &Gate,
        findings: &mut [Finding],
    ) -> Result<(), LeaderError> {
        let is_named = |finding: &Finding| {
            let id = finding.about.split('/').next().unwrap_or("");
            contract.story(id).is_some()
        };
        if findings.iter().all(is_named) {
            return Ok(());
        }
        let paths = |old: &str, new: &str| -> Result<BTreeSet<String>, LeaderError> {
            let changed = self.desk.git.changed(old, new)?;
            Ok(changed.into_iter().map(|(path, _)| path).collect())
        };
        let state = self.campaign.state().ok_or(LeaderError::NotBegun)?;
        let whole = paths(&gate.from.commit, &gate.at.commit)?;
        let mut touched = Vec::new();
        for progress in &state.stories {
            touched.push(match (&progress.from, &progress.verified) {
                (Some(from), Some(at)) => paths(&from.commit, &at.commit)?,
                _ => BTreeSet::new(),
            });
        }
        for finding in findings.iter_mut().filter(|finding| !is_named(finding)) {
            let path = finding.text.split(':').next().unwrap_or("");
            let last = touched.iter().rposition(|all| all.contains(path));
            let may = |path: &str| {
                contract.stories.iter().position(|story| glob::any(&story.paths, path))
            };
            let own = last.or_else(|| whole.contains(path).then(|| may(path)).flatten());
            // No file is named: the first that may have changed a source.
            let tests = &contract.settings.tests;
            let first = || {
                let sources = whole.iter().filter(|path| !glob::any(tests, path));
                sources.filter_map(|path| may(path)).min()
            };
            if let Some(index) = own.or_else(first) {
                finding.about = format!("{}/{}", contract.stories[index].id, finding.about);
            }
        }
        Ok(())
    }
}

//! All kinds of files together.

use crate::config::Config;
use crate::finding::Finding;
use crate::rules::Level;
use crate::tree::Tree;
use crate::{checks, code, prose, tla};

/// What differs in strength between two sets of files, the weaker first.
pub fn compare(before: &Tree, after: &Tree, config: &Config) -> Vec<Finding> {
    let mut findings = tla::compare(before, after, config);
    findings.extend(code::compare(before, after, config));
    findings.extend(prose::compare(before, after, config));
    findings.extend(checks::compare(before, after, config));
    findings.retain(|finding| config.level(finding.rule) != Level::Off);
    findings.sort_by(|a, b| {
        let key = |f: &Finding| (f.verdict, f.place().cloned(), f.rule, f.object.clone());
        key(a).cmp(&key(b))
    });
    findings.dedup();
    findings
}

//! The scope lock: which files a claim may have changed.

use super::{Finding, Severity, glob};
use crate::contract::{Settings, Story};
use crate::event::Issue;

/// Nobody who is judged by these may change them: the desk's own files, CI, and what agents obey,
/// which they read in every directory that they look at.
pub const PROTECTED: [&str; 16] = [
    ".assay/**",
    ".github/**",
    ".gitlab-ci.yml",
    ".circleci/**",
    ".ci/**",
    "**/.gitattributes",
    ".gitmodules",
    "**/.claude/**",
    "**/.codex/**",
    "**/.cursor/**",
    "**/CLAUDE.md",
    "**/CLAUDE.local.md",
    "**/AGENTS.md",
    "**/AGENTS.override.md",
    "**/GEMINI.md",
    "**/.mcp.json",
];
const LISTED_MAX: usize = 20;

/// What is wrong with a story's list of changed paths.
pub fn check(settings: &Settings, story: &Story, paths: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in paths {
        if let Some(finding) = protected(settings, path) {
            findings.push(finding);
            continue;
        }
        let allowed = [&story.paths, &settings.tests, &settings.shared];
        if !allowed.iter().any(|patterns| glob::any(patterns, path)) {
            let text = format!(
                "{path} is not among the paths of {}: undo the change, or ask for an amendment",
                story.id
            );
            findings.push(Finding::new("scope", Severity::Critical, text));
        }
    }
    if findings.len() > LISTED_MAX {
        let more = findings.len() - LISTED_MAX;
        findings.truncate(LISTED_MAX);
        let text = format!("and {more} more paths");
        findings.push(Finding::new("scope", Severity::Critical, text));
    }
    findings
}

/// A fix names what it mends: at least one of the issues that it was sent out for. Whether they are
/// mended is for the other checks to say.
pub fn traced(issues: &[Issue], resolves: &[String]) -> Option<Finding> {
    let named = issues.iter().any(|issue| resolves.contains(&issue.id));
    if named || issues.is_empty() {
        return None;
    }
    let ids: Vec<&str> = issues.iter().take(LISTED_MAX).map(|issue| issue.id.as_str()).collect();
    let text = format!(
        "the claim names none of the issues that it was to mend ({}): say in `resolves` which ones \
         it mends",
        ids.join(", ")
    );
    Some(Finding::new("scope", Severity::Major, text))
}

/// A finding if a path is protected.
pub fn protected(settings: &Settings, path: &str) -> Option<Finding> {
    let always = PROTECTED.iter().any(|pattern| glob::matches(pattern, path));
    let said = glob::any(&settings.protected, path);
    (always || said).then(|| {
        let text = format!("{path} is protected: undo the change");
        Finding::new("protected", Severity::Critical, text)
    })
}

//! The scope lock: which files a claim may have changed.

use super::{Finding, Severity, glob};
use crate::contract::{Settings, Story};
use crate::event::Issue;

/// Nobody who is judged by these may change them: the desk's own files, CI, and what agents obey,
/// which they read in every directory that they look at.
pub const PROTECTED: [&str; 32] = [
    ".assay/**",
    ".github/**",
    ".gitlab-ci.yml",
    ".circleci/**",
    ".ci/**",
    "**/Jenkinsfile",
    "azure-pipelines.yml",
    ".travis.yml",
    "bitbucket-pipelines.yml",
    ".buildkite/**",
    ".woodpecker*",
    ".woodpecker/**",
    ".forgejo/**",
    ".gitea/**",
    "**/.gitattributes",
    ".gitmodules",
    "**/.claude/**",
    "**/.codex/**",
    "**/.cursor/**",
    "**/.gemini/**",
    "**/.windsurf/**",
    "**/.clinerules*",
    "**/.clinerules/**",
    "**/.kiro/**",
    "**/.aider.conf.yml",
    "**/opencode.json",
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

#[cfg(test)]
mod tests {
    use super::PROTECTED;
    use crate::gate::glob;

    #[test]
    fn what_agents_obey_and_what_runs_elsewhere_is_protected() {
        for (path, wanted) in [
            ("a/.gemini/settings.json", true),
            (".windsurf/rules/a.md", true),
            ("a/.clinerules", true),
            (".clinerules/a.md", true),
            (".aider.conf.yml", true),
            ("a/opencode.json", true),
            (".kiro/steering/a.md", true),
            ("Jenkinsfile", true),
            ("azure-pipelines.yml", true),
            (".travis.yml", true),
            ("bitbucket-pipelines.yml", true),
            (".buildkite/a.yml", true),
            (".woodpecker.yml", true),
            (".woodpecker/a.yml", true),
            (".forgejo/workflows/a.yml", true),
            (".gitea/workflows/a.yml", true),
            ("src/kiro.rs", false),
            ("gemini/a.rs", false),
        ] {
            let found = PROTECTED.iter().any(|pattern| glob::matches(pattern, path));
            assert_eq!(found, wanted, "{path}");
        }
    }
}

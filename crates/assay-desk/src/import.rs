//! Documents of rlp-desk, read once to make a contract of them.
//!
//! A PRD has stories with `AC1:` and Given, When, Then below; a test specification has commands in
//! fences and a matrix of criteria and tests. What they do not say (which files are tests, how
//! results are read, what a story may change, what is refused from end to end) is left empty, not
//! guessed: `assay desk lint` refuses each gap by its line until a person has filled it.

use std::collections::BTreeMap;
use std::fmt::Write;

/// A contract made of a PRD.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Imported {
    /// Its name.
    pub slug: String,
    /// Its text.
    pub text: String,
    /// What is left to do by hand.
    pub notes: Vec<String>,
}

/// Why a PRD cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ImportError {
    /// It does not say its name.
    #[error("line 1: no heading `# PRD: slug`")]
    NoSlug,
    /// It has no stories.
    #[error("no headings `### US-001: title`")]
    NoStories,
}

#[derive(Default)]
struct Story {
    id: String,
    title: String,
    /// As the PRD says it; empty if it does not.
    risk: String,
    /// Lines of criteria, each with the number of its criterion.
    criteria: Vec<(String, Vec<String>)>,
    tests: Vec<(String, String)>,
}

/// Makes a contract of a PRD and, if there is one, its test specification.
pub fn import(prd: &str, test_spec: Option<&str>) -> Result<Imported, ImportError> {
    let slug = prd.lines().find_map(|line| line.strip_prefix("# PRD:")).map(str::trim);
    let slug = slug.filter(|slug| crate::contract::is_slug(slug)).ok_or(ImportError::NoSlug)?;
    let mut stories = stories(prd);
    if stories.is_empty() {
        return Err(ImportError::NoStories);
    }
    let commands = test_spec.map(commands).unwrap_or_default();
    if let Some(spec) = test_spec {
        for (story, criterion, test) in matrix(spec) {
            if let Some(story) = stories.iter_mut().find(|other| other.id == story) {
                story.tests.push((criterion, test));
            }
        }
    }
    let test = commands.iter().find(|(heading, _)| heading.contains("test"));
    let test = test.map(|(_, words)| words.clone()).unwrap_or_default();
    let text = contract(slug, &objective(prd), &stories, &test);
    let notes = gaps(&stories, &test);
    Ok(Imported { slug: slug.to_string(), text, notes })
}

/// What the documents do not say, in the order of the contract.
fn gaps(stories: &[Story], test: &[String]) -> Vec<String> {
    let mut notes = vec!["tests: say which files are tests".to_string()];
    if test.is_empty() {
        notes.push("suite: say how the whole suite is run".to_string());
    }
    notes.push("results: say how the output of the test command is read".to_string());
    notes.push("agents: say who works".to_string());
    let silent = stories.iter().filter(|story| story.risk.is_empty());
    notes.extend(silent.map(|story| format!("risk: the PRD has none for {}", story.id)));
    notes.push("paths: say for each story what it may change".to_string());
    notes.push("L3: one command that works and one that is refused".to_string());
    if stories.iter().any(|story| story.risk == "HIGH" || story.risk == "CRITICAL") {
        notes.push("L2, L4: commands, or why they do not apply".to_string());
    }
    if stories.iter().any(|story| !story.tests.is_empty()) {
        notes.push("category: happy, negative or boundary, for each test".to_string());
    }
    notes
}

fn objective(prd: &str) -> String {
    let mut lines = prd.lines().skip_while(|line| line.trim() != "## Objective").skip(1);
    let own: Vec<&str> =
        lines.by_ref().take_while(|line| !line.starts_with("## ")).map(str::trim).collect();
    own.join("\n").trim().to_string()
}

fn stories(prd: &str) -> Vec<Story> {
    let mut stories: Vec<Story> = Vec::new();
    for line in prd.lines() {
        if let Some(heading) = line.strip_prefix("### US-") {
            let (number, title) = heading.split_once(':').unwrap_or((heading, ""));
            let (id, title) = (format!("US-{}", number.trim()), title.trim().to_string());
            stories.push(Story { id, title, ..Story::default() });
            continue;
        }
        if line.starts_with("## ") {
            // A new chapter: what follows belongs to no story.
            if !stories.is_empty() {
                stories.push(Story::default());
            }
            continue;
        }
        let Some(story) = stories.last_mut().filter(|story| !story.id.is_empty()) else {
            continue;
        };
        let item = line.trim().trim_start_matches(['-', '*']).trim().replace("**", "");
        let (word, rest) = item.split_once(':').unwrap_or((&item, ""));
        let rest = rest.trim().to_string();
        if let Some(number) = word.strip_prefix("AC").filter(|n| n.trim().parse::<u32>().is_ok()) {
            let lines = if rest.is_empty() { Vec::new() } else { vec![rest] };
            story.criteria.push((number.trim().to_string(), lines));
        } else if matches!(word, "Given" | "When" | "Then") {
            if let Some((_, lines)) = story.criteria.last_mut() {
                lines.push(format!("{word} {rest}"));
            }
        } else if word.starts_with("Risk") {
            let known = ["CRITICAL", "HIGH", "MEDIUM", "LOW"];
            let found = known.iter().find(|risk| rest.to_uppercase().contains(**risk));
            story.risk = found.unwrap_or(&"").to_string();
        }
    }
    stories.retain(|story| !story.id.is_empty());
    stories
}

/// Commands by the heading above their fence: Build, Test, Lint.
fn commands(spec: &str) -> BTreeMap<String, Vec<String>> {
    let mut all = BTreeMap::new();
    let (mut heading, mut inside) = (String::new(), false);
    for line in spec.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if line.starts_with('#') {
            heading = line.trim_start_matches('#').trim().to_lowercase();
        } else if inside && !line.trim().is_empty() && !all.contains_key(&heading) {
            let words = line.split_whitespace().map(str::to_string).collect();
            all.insert(heading.clone(), words);
        }
    }
    all
}

/// Rows `| US-001 | AC1 | file :: function | …`.
fn matrix(spec: &str) -> Vec<(String, String, String)> {
    let mut rows = Vec::new();
    for line in spec.lines() {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let [story, criterion, test, ..] = cells.as_slice() else {
            continue;
        };
        let number = criterion.trim_start_matches("AC").trim_start_matches('-');
        if story.starts_with("US-") && number.parse::<u32>().is_ok() && test.contains("::") {
            let test = test.replace(" :: ", "::").replace('`', "");
            rows.push((story.to_string(), number.to_string(), test));
        }
    }
    rows
}

fn contract(slug: &str, objective: &str, stories: &[Story], test: &[String]) -> String {
    let argv = serde_json::to_string(test).unwrap_or_default();
    let mut text = format!(
        "# Contract: {slug}\n\n## Objective\n{objective}\n\n## Campaign\n```toml\n# Which files \
         are tests (globs)?\ntests = []\n\n[suite]\nrun = {argv}\n# How is its output read? \
         results = \"libtest\", nextest, pytest, unittest, go, jest, tap or junit\n\n# Who works?\n\
         [agents]\nworker = []\nverifier = \"\"\nsecond = \"\"\n```\n\n## Stories\n"
    );
    for story in stories {
        _ = writeln!(text, "\n### {}: {}\n", story.id, story.title);
        for (number, lines) in &story.criteria {
            _ = writeln!(text, "- AC-{number}");
            for line in lines {
                _ = writeln!(text, "  - {line}");
            }
        }
        _ = write!(
            text,
            "\n```toml\n# LOW, MEDIUM, HIGH or CRITICAL\nrisk = \"{}\"\n# What may it change \
             (globs)?\npaths = []\n\n# With `results`, as above.\n[layers.L1]\ncommands = [{{ \
             run = {argv} }}]\n# One command that works and one that is refused (`exit` not 0).\n\
             [layers.L3]\ncommands = []\n",
            story.risk
        );
        for (criterion, test) in &story.tests {
            _ = write!(
                text,
                "[[tests]]\ncriterion = \"AC-{criterion}\"\nname = {}\n# happy, negative or \
                 boundary\ncategory = \"\"\n",
                serde_json::to_string(test).unwrap_or_default()
            );
        }
        text.push_str("```\n");
    }
    text
}

//! What stands in a new record.

use super::{Draft, rows};
use crate::config::Config;
use crate::kind::Kind;
use crate::record::{FileName, Record, relative};
use std::fmt::Write;

/// What a section of a new record is for, as a comment, or what can be said already.
fn hint(section: &str) -> &'static str {
    match section {
        "Context" => "<!-- What is the case, and why does it need a decision? -->",
        "Decision" => "<!-- What is done from now on, so that it can be checked? -->",
        "Consequences" => {
            "### Positive\n<!-- What gets better? -->\n\n\
             ### Negative\n<!-- What gets worse? -->\n\n\
             ### Risks\n<!-- What could make this wrong? -->"
        }
        "Implementation Status" => "Nothing is built yet.",
        "References" => "None yet.",
        "Problem" => "<!-- What is missing, and who meets it? -->",
        "Evidence" => "<!-- Incidents, measurements, places: `src/a.rs:12 what stands there` -->",
        "State of the Art" => "<!-- How do others solve it? -->",
        "Potential Solutions" => "<!-- At least two, with what each costs. -->",
        "Next Steps" => "- [ ] <!-- who does what -->",
        "Summary" => "<!-- What differs, in two sentences. -->",
        "ADR States" => "<!-- The words of the decision, each line begun with > -->",
        "Current Implementation" => "<!-- What the code does instead, and where. -->",
        "Why This Exists" => "<!-- What made this the better choice, for now. -->",
        "Priority Assessment" => "<!-- How bad is it, and how often is it met? -->",
        "Recommendation" => "<!-- Change the code, change the decision, or live with it? -->",
        "Exit Criteria" => "<!-- What can be measured when it is over? -->",
        "Phases" => "- [ ] <!-- what comes first -->",
        "Key Files" => "<!-- `path/to/file.rs` and what is in it. -->",
        _ => "<!-- to be written -->",
    }
}

/// A section of a new record.
fn body(section: &str, draft: &Draft<'_>, parent: Option<&Record>, path: &str) -> String {
    let title = rows::cell(draft.title.trim());
    let day = draft.day;
    match (section, draft.kind) {
        ("Decision Log", _) => format!(
            "| Date | Decision | Rationale |\n|---|---|---|\n\
             | {day} | {title} | <!-- why this, and not something else --> |"
        ),
        ("Impact", Kind::Gap) => "- **Severity:** <!-- Low, Medium, High or Critical -->\n\
             - **Frequency:** <!-- Rare, Occasional or Common -->\n- **Affected:** <!-- what -->"
            .to_string(),
        ("Impact", _) => "| Aspect | Target | Reality |\n|---|---|---|".to_string(),
        ("Work Required to Match ADR", _) => {
            "| Change | Difficulty | Description |\n|---|---|---|".to_string()
        }
        ("Status Table", _) => "| Part | Status |\n|---|---|".to_string(),
        ("Related ADR", _) => match parent {
            Some(parent) => format!("{}, section Decision.", link(parent, path)),
            None => "<!-- a link to the decision, and which section -->".to_string(),
        },
        _ => hint(section).to_string(),
    }
}

/// A link to a record, as it is written in the file `from`.
pub fn link(record: &Record, from: &str) -> String {
    format!("[{}]({})", record.label(), relative(from, &record.path))
}

/// The text of a new record.
pub fn written(
    config: &Config,
    draft: &Draft<'_>,
    name: &FileName,
    path: &str,
    parent: Option<&Record>,
    old: Option<&Record>,
) -> String {
    let kind = draft.kind;
    let width = name.digits;
    let title = draft.title.trim();
    let mut text = format!("# {}{:0width$}: {title}\n\n", kind.title_prefix(), name.number);
    let status = config.statuses(kind).into_iter().next().unwrap_or_default();
    for field in config.fields(kind) {
        let value = match field.as_str() {
            "Status" => status.clone(),
            "Owner" | "Authors" => draft.owner.to_string(),
            "Parent" => parent.map_or(String::new(), |parent| link(parent, path)),
            name if name == kind.shape().dated => draft.day.to_string(),
            _ => String::new(),
        };
        let _ = writeln!(text, "{}", format!("- **{field}:** {value}").trim_end());
    }
    if let Some(old) = old {
        let _ = writeln!(text, "- **Supersedes:** {}", link(old, path));
    }
    for section in config.sections(kind) {
        let _ = write!(text, "\n## {section}\n\n{}\n", body(&section, draft, parent, path));
    }
    text
}

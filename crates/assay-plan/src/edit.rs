//! Changes to a plan that touch only the bytes they mean.
//!
//! ```
//! use assay_plan::{edit, parse};
//!
//! let plan = parse("# Test Plan: a-b\n\n*  **Status:**   draft  \n");
//! let changed = edit::set_header(&plan, "Status", "reviewed").unwrap();
//! assert_eq!(changed, "# Test Plan: a-b\n\n*  **Status:**   reviewed  \n");
//! ```

use crate::ids::Id;
use crate::parse;
use crate::place::{Span, Text};
use crate::plan::{Plan, Scenario};
use toml_edit::{DocumentMut, Item, Value};

/// Why an edit cannot be made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EditError {
    /// There is no such line, cell or block.
    #[error("there is no {0} to change")]
    Missing(String),
    /// The new text would end the line, the cell or the block.
    #[error("`{0}` does not fit into one line or cell")]
    Breaks(String),
    /// The value is no TOML, or the path leads through a value.
    #[error("`{path}` cannot be set: {why}")]
    Block {
        /// The path.
        path: String,
        /// What is wrong.
        why: String,
    },
}

fn replaced(plan: &Plan, span: Span, with: &str) -> String {
    let source = plan.print();
    format!("{}{with}{}", &source[..span.start], &source[span.end..])
}

fn one_line(text: &str) -> Result<&str, EditError> {
    match text.contains(['\n', '\r', '|']) {
        true => Err(EditError::Breaks(crate::time::show(text))),
        false => Ok(text),
    }
}

/// Sets a header line: Date, Plan mode, SUT, Change under test, Plan author or Status.
///
/// # Errors
/// If the line is not there, or the value is more than a line.
pub fn set_header(plan: &Plan, label: &str, value: &str) -> Result<String, EditError> {
    let missing = || EditError::Missing(format!("header line `{label}`"));
    let changed = set_text(plan, header(plan, label).ok_or_else(missing)?, value)?;
    // Odd markup around a value can swallow what is put there: what was set must be read back.
    let read_back = parse(&changed);
    match header(&read_back, label) {
        Some(text) if text.text == value.trim() => Ok(changed),
        _ => Err(EditError::Breaks(crate::time::show(value))),
    }
}

fn header<'p>(plan: &'p Plan, label: &str) -> Option<&'p Text> {
    let header = &plan.header;
    match label {
        "Date" => header.date.as_ref(),
        "Plan mode" => header.mode.as_ref().map(|word| &word.text),
        "SUT" => header.sut.as_ref(),
        "Change under test" => header.change.as_ref(),
        "Plan author" => header.author.as_ref(),
        "Status" => header.status.as_ref().map(|word| &word.text),
        _ => None,
    }
}

/// Replaces a text the parser found in one line: a header value, a cell.
///
/// # Errors
/// If the value is more than a line, or would end a cell.
pub fn set_text(plan: &Plan, text: &Text, value: &str) -> Result<String, EditError> {
    let value = one_line(value)?;
    let before = plan.print()[..text.span.start].chars().next_back();
    let tight = text.span.start == text.span.end && !before.is_none_or(char::is_whitespace);
    Ok(replaced(plan, text.span, &if tight { format!(" {value}") } else { value.to_string() }))
}

/// Sets a value of a scenario's machine block, such as `budget.smoke.seeds`; comments, order and
/// spaces of all others stay. `value` is TOML.
///
/// # Errors
/// If there is no such scenario or block, or the value is no TOML.
pub fn set_block(plan: &Plan, id: &Id, path: &str, value: &str) -> Result<String, EditError> {
    let wrong = |why: String| EditError::Block { path: path.to_string(), why };
    let block = find(plan, id)
        .and_then(|scenario| scenario.block.as_ref())
        .ok_or_else(|| EditError::Missing(format!("machine block of {id}")))?;
    let value: Value = value.trim().parse().map_err(|_| wrong("the value is no TOML".into()))?;
    let text = block.span.of(plan.print());
    let mut document: DocumentMut =
        text.parse().map_err(|_| wrong("the block is no TOML".into()))?;
    let mut item: &mut Item = document.as_item_mut();
    let keys: Vec<&str> = path.split('.').collect();
    for (i, key) in keys.iter().enumerate() {
        let table = item.as_table_like_mut();
        let table = table.ok_or_else(|| wrong(format!("`{key}` is not in a table")))?;
        item = table.entry(key).or_insert(Item::None);
        if item.is_none() && i + 1 < keys.len() {
            return Err(wrong(format!("there is no `{key}`")));
        }
    }
    match item {
        Item::Value(old) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        Item::None => *item = Item::Value(value),
        _ => return Err(wrong("it is a table".into())),
    }
    let (text, read_back) = (document.to_string(), |changed: &str| {
        let plan = parse(changed);
        find(&plan, id)?.block.as_ref().map(|block| block.span.of(changed).to_string())
    });
    let changed = replaced(plan, block.span, &text);
    match read_back(&changed) {
        Some(found) if found.trim() == text.trim() => Ok(changed),
        _ => Err(wrong("the block would not be one any more".into())),
    }
}

fn find<'p>(plan: &'p Plan, id: &Id) -> Option<&'p Scenario> {
    let arms = plan.scenarios.iter().flat_map(|scenario| &scenario.arms);
    plan.scenarios.iter().chain(arms).find(|scenario| scenario.id == *id)
}

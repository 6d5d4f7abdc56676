//! The field `workspace` of a session: directories of this machine, and what is told there.

use super::fields::Fields;
use crate::error::ApiError;
use crate::store::LentRecord;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

const PATH_MAX: usize = 4096;
/// Directories that can be read besides.
const READABLE_MAX: usize = 8;
/// Variables, and the length of each part.
const VARIABLES_MAX: usize = 32;
const NAME_MAX: usize = 64;
const VALUE_MAX: usize = 4096;
/// What the sandbox itself says there.
const TAKEN: [&str; 5] = ["workspace", "uploads", "outputs", "skills", "drop_box"];

/// Reads what is wanted, if something is.
///
/// # Errors
/// Names what cannot be understood.
pub fn parse_lent(fields: &mut Fields) -> Result<Option<LentRecord>, ApiError> {
    let Some(value) = fields.value("workspace") else { return Ok(None) };
    let mut fields = Fields::of(value, "workspace")?;
    if fields.required_text("type", NAME_MAX)? != "lent" {
        return Err(fields.bad("type", "must be lent"));
    }
    let mut path = |name: &str| fields.required_text(name, PATH_MAX).map(PathBuf::from);
    let (path, outputs) = (path("path")?, path("outputs")?);
    let values = fields.array("readable")?;
    if values.len() > READABLE_MAX {
        return Err(fields.bad("readable", &format!("must have at most {READABLE_MAX} entries")));
    }
    let mut readable = Vec::with_capacity(values.len());
    for (index, value) in values.iter().enumerate() {
        let text = value.as_str().filter(|text| !text.is_empty() && text.len() <= PATH_MAX);
        let bad = || fields.bad(&format!("readable[{index}]"), "must be a path");
        readable.push(PathBuf::from(text.ok_or_else(bad)?));
    }
    let variables = parse_variables(&mut fields)?;
    fields.finish()?;
    Ok(Some(LentRecord { path, outputs, readable, variables, nodes: Vec::new() }))
}

fn parse_variables(fields: &mut Fields) -> Result<BTreeMap<String, String>, ApiError> {
    let values = match fields.value("variables") {
        None => return Ok(BTreeMap::new()),
        Some(Value::Object(values)) => values,
        Some(_) => return Err(fields.bad("variables", "must be an object")),
    };
    if values.len() > VARIABLES_MAX {
        return Err(fields.bad("variables", &format!("must have at most {VARIABLES_MAX} entries")));
    }
    let mut variables = BTreeMap::new();
    for (name, value) in values {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        if name.is_empty() || name.len() > NAME_MAX || !name.bytes().all(plain) {
            let what = "names have 1 to 64 lower-case letters, digits and `_`";
            return Err(fields.bad("variables", what));
        }
        let place = format!("variables.{name}");
        if TAKEN.contains(&name.as_str()) {
            return Err(fields.bad(&place, "the sandbox itself says what that is"));
        }
        let text = value.as_str().filter(|text| text.len() <= VALUE_MAX && !text.contains('\0'));
        let bad = || fields.bad(&place, &format!("must be text of at most {VALUE_MAX} bytes"));
        let text = text.ok_or_else(bad)?.to_string();
        variables.insert(name, text);
    }
    Ok(variables)
}

/// What clients see of it.
pub fn wire(lent: &LentRecord) -> Value {
    json!({
        "type": "lent",
        "path": lent.path,
        "outputs": lent.outputs,
        "readable": lent.readable,
        "variables": lent.variables,
    })
}

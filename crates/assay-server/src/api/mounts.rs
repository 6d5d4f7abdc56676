//! Where files stand in a session: names that cannot lead anywhere else, and do not collide.

use super::fields::Fields;
use crate::error::ApiError;
use serde_json::Value;

/// Where tools see what was uploaded.
pub const UPLOADS: &str = "/mnt/session/uploads";
/// Files in one session.
pub const FILES_MAX: usize = 100;
/// All of them together.
pub const BYTES_MAX: u64 = 50 * 1024 * 1024;
/// The length of a place.
const PATH_BYTES_MAX: usize = 200;
const ID_MAX: usize = 128;

/// A file that is wanted in a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WantedFile {
    /// Which upload.
    pub file_id: String,
    /// Where below the uploads, without a slash in front.
    pub path: String,
}

/// Reads the resources of a new session.
///
/// # Errors
/// If one is none, or two are in each other's way.
pub fn parse_resources(values: Vec<Value>) -> Result<Vec<WantedFile>, ApiError> {
    if values.len() > FILES_MAX {
        return Err(too_many());
    }
    let mut wanted: Vec<WantedFile> = Vec::with_capacity(values.len());
    for (index, value) in values.into_iter().enumerate() {
        let fields = Fields::of(value, &format!("resources[{index}]"))?;
        let file = parse_resource(fields)?;
        check_place(&file.path, wanted.iter().map(|other| other.path.as_str()))?;
        wanted.push(file);
    }
    Ok(wanted)
}

/// That there are too many of them.
pub fn too_many() -> ApiError {
    ApiError::invalid(format!("resources: a session can have at most {FILES_MAX} files"))
}

/// Reads one resource.
///
/// # Errors
/// If it is none.
pub fn parse_resource(mut fields: Fields) -> Result<WantedFile, ApiError> {
    let kind = fields.required_text("type", ID_MAX)?;
    if kind != "file" {
        let kind: String = kind.chars().take(64).collect();
        return Err(ApiError::invalid(format!("Unsupported session resource type: {kind}.")));
    }
    let file_id = fields.required_text("file_id", ID_MAX)?;
    let given = fields.text("mount_path", PATH_BYTES_MAX)?;
    fields.finish()?;
    let path = place(given.as_deref().unwrap_or(&file_id))?;
    Ok(WantedFile { file_id, path })
}

/// The place below the uploads that a path means. The full path of a place means that place.
fn place(given: &str) -> Result<String, ApiError> {
    let inside = given.strip_prefix(UPLOADS).filter(|rest| rest.starts_with('/'));
    let path = inside.unwrap_or(given).trim_start_matches('/');
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let is_name = |part: &str| !["", ".", ".."].contains(&part) && part.chars().all(is_plain);
    if path.split('/').any(|part| part == "..") {
        let what = format!("Invalid file resource: mount path {given:?} escapes /uploads/");
        return Err(ApiError::invalid(what));
    }
    match path.split('/').all(is_name) {
        true => Ok(path.to_string()),
        false => Err(ApiError::invalid(format!(
            "Invalid file resource: mount path {given:?}: each part must have letters, digits, \
             `.`, `_` and `-`"
        ))),
    }
}

/// No file may stand where another stands, or where another needs a directory.
///
/// # Errors
/// If it would.
pub fn check_place<'a>(
    path: &str,
    others: impl IntoIterator<Item = &'a str>,
) -> Result<(), ApiError> {
    let is_within = |a: &str, b: &str| a.strip_prefix(b).is_some_and(|rest| rest.starts_with('/'));
    let collides =
        |other: &&str| *other == path || is_within(other, path) || is_within(path, other);
    match others.into_iter().find(collides) {
        None => Ok(()),
        Some(_) => Err(ApiError::invalid(format!(
            "Invalid file resource: mount_path overlaps another resource: /uploads/{path}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn places_stay_below_the_uploads_and_apart() {
        let cases = [
            (vec!["a.csv"], Ok(vec!["a.csv"])),
            (vec!["/data/a.csv", "data2/x"], Ok(vec!["data/a.csv", "data2/x"])),
            (vec!["/mnt/session/uploads/a"], Ok(vec!["a"])),
            (vec!["/mnt/session/uploadsx"], Ok(vec!["mnt/session/uploadsx"])),
            (vec!["a", "a"], Err("overlaps another resource: /uploads/a")),
            (vec!["data", "data/x"], Err("overlaps another resource: /uploads/data/x")),
            (vec!["data/x", "data"], Err("overlaps another resource: /uploads/data")),
            (vec!["../p"], Err("escapes /uploads/")),
            (vec!["a/../../b"], Err("escapes /uploads/")),
            (vec![""], Err("each part")),
            (vec!["a//b"], Err("each part")),
            (vec!["a/./b"], Err("each part")),
            (vec!["a\\b"], Err("each part")),
            (vec!["a\0b"], Err("each part")),
            (vec!["ä"], Err("each part")),
            (vec!["a b"], Err("each part")),
        ];
        for (paths, expected) in cases {
            let values = paths.iter();
            let values = values.map(|p| json!({"type": "file", "file_id": "f", "mount_path": p}));
            match (parse_resources(values.collect()), expected) {
                (Ok(files), Ok(expected)) => {
                    let found: Vec<String> = files.into_iter().map(|file| file.path).collect();
                    assert_eq!(found, expected, "{paths:?}");
                }
                (Err(error), Err(part)) => {
                    assert!(error.message.contains(part), "{paths:?}: {error:?}");
                }
                (found, _) => panic!("{paths:?}: {found:?}"),
            }
        }
        let own = parse_resources(vec![json!({"type": "file", "file_id": "file_1"})]);
        assert_eq!(own.expect("a file").remove(0).path, "file_1");
    }
}

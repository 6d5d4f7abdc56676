//! Skills as they are uploaded: a folder with a `SKILL.md`, as files with paths or as one zip.
//!
//! Nothing is believed: paths must stay in the folder, sizes are counted while a zip is inflated,
//! and what is neither a file nor a directory is refused.

use crate::error::ApiError;
use saphyr_parser::{Event, Parser};
use std::collections::BTreeSet;
use std::io::{Cursor, Read, Seek, Write};

/// Files of a skill.
pub const FILES_MAX: usize = 500;
/// All of them together, inflated.
pub const BYTES_MAX: usize = 100 * 1000 * 1000;
const NAME_MAX: usize = 64;
const DESCRIPTION_MAX: usize = 1024;
const PATH_BYTES_MAX: usize = 500;
/// Of each part of a path: file systems have no longer names.
const PART_BYTES_MAX: usize = 255;
/// What zips begin with.
const ZIP: &[u8] = b"PK\x03\x04";
/// Names that would say that a skill is somebody else's.
const RESERVED: [&str; 2] = ["anthropic", "claude"];

/// Files with their paths.
pub type Files = Vec<(String, Vec<u8>)>;

/// A skill that can be kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bundle {
    /// What it is called: the name of its folder.
    pub name: String,
    /// When to use it.
    pub description: String,
    /// Its files, with their paths within the folder, in order.
    pub files: Files,
}

fn bad(what: impl std::fmt::Display) -> ApiError {
    ApiError::invalid(format!("files: {what}"))
}

/// Reads what was uploaded.
///
/// # Errors
/// Says what is wrong with it.
pub fn read_bundle(mut parts: Files) -> Result<Bundle, ApiError> {
    if let [(_, bytes)] = parts.as_slice()
        && bytes.starts_with(ZIP)
    {
        parts = unzip(bytes)?;
    }
    if parts.len() > FILES_MAX {
        return Err(bad(format!("a skill can have at most {FILES_MAX} files")));
    }
    if parts.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() > BYTES_MAX {
        return Err(ApiError::too_large());
    }
    let mut folder: Option<String> = None;
    let mut files: Files = Vec::with_capacity(parts.len());
    for (path, bytes) in parts {
        let (top, rest) = split(&path)?;
        if folder.get_or_insert_with(|| top.to_string()) != top {
            return Err(bad("must all be in one folder, whose name is the name of the skill"));
        }
        files.push((rest.to_string(), bytes));
    }
    files.sort();
    check_apart(&files)?;
    let manual = files.iter().find(|(path, _)| path == "SKILL.md");
    let manual = manual.ok_or_else(|| bad("there must be a SKILL.md in the folder"))?;
    let (name, description) = front_matter(&manual.1)?;
    if folder.as_deref() != Some(name.as_str()) {
        return Err(bad(format!("the folder must have the name of the skill, `{name}`")));
    }
    Ok(Bundle { name, description, files })
}

/// The folder and the rest of a path that leads nowhere else.
fn split(path: &str) -> Result<(&str, &str), ApiError> {
    let is_name = |part: &str| !["", ".", ".."].contains(&part) && part.len() <= PART_BYTES_MAX;
    let is_good = |c: char| !c.is_control() && c != '\\';
    let shown: String = path.chars().take(64).collect();
    match path.split_once('/') {
        Some((top, rest))
            if path.len() <= PATH_BYTES_MAX
                && path.chars().all(is_good)
                && path.split('/').all(is_name) =>
        {
            Ok((top, rest))
        }
        _ => Err(bad(format!(
            "{shown:?} must be a path like `my-skill/SKILL.md`, of at most {PATH_BYTES_MAX} bytes \
             and {PART_BYTES_MAX} in each part"
        ))),
    }
}

/// No file may stand where another stands, or where another needs a directory.
fn check_apart(files: &Files) -> Result<(), ApiError> {
    let mut places = BTreeSet::new();
    let twice = |path: &str| bad(format!("{path:?} is there twice"));
    for (path, _) in files {
        if !places.insert(path.as_str()) {
            return Err(twice(path));
        }
    }
    for (path, _) in files {
        let above = path.match_indices('/').map(|(index, _)| &path[..index]);
        if let Some(path) = above.into_iter().find(|above| places.contains(above)) {
            return Err(twice(path));
        }
    }
    Ok(())
}

fn unzip(bytes: &[u8]) -> Result<Files, ApiError> {
    let broken = |_| bad("the zip is broken or of a kind that is not known here");
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
    if archive.len() > 2 * FILES_MAX {
        return Err(bad(format!("a skill can have at most {FILES_MAX} files")));
    }
    let (mut files, mut left) = (Vec::new(), BYTES_MAX as u64);
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(broken)?;
        if entry.is_dir() {
            continue;
        }
        let name = entry.name().map_err(broken)?.into_owned();
        let kind = entry.unix_mode().map_or(0, |mode| mode & 0o170_000);
        if entry.encrypted() || entry.is_symlink() || ![0, 0o100_000].contains(&kind) {
            return Err(bad(format!("{name:?}: only plain files can be in a skill")));
        }
        let mut inflated = Vec::new();
        let read = entry.take(left + 1).read_to_end(&mut inflated);
        read.map_err(|_| bad("the zip is broken"))?;
        let rest = left.checked_sub(inflated.len() as u64);
        left = rest.ok_or_else(ApiError::too_large)?;
        files.push((name, inflated));
    }
    Ok(files)
}

/// Writes a zip of the files, below one folder. No more than a piece of one is held at a time.
///
/// # Errors
/// If they cannot be read or packed.
pub fn pack<R: Read, W: Write + Seek>(
    folder: &str,
    files: impl IntoIterator<Item = std::io::Result<(String, R)>>,
    to: W,
) -> std::io::Result<W> {
    let mut archive = zip::ZipWriter::new(to);
    for file in files {
        let (path, mut bytes) = file?;
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(format!("{folder}/{path}"), options)?;
        std::io::copy(&mut bytes, &mut archive)?;
    }
    Ok(archive.finish()?)
}

/// The name and the description that stand between the first two lines of dashes.
fn front_matter(manual: &[u8]) -> Result<(String, String), ApiError> {
    let text = std::str::from_utf8(manual).map_err(|_| bad("SKILL.md: must be text"))?;
    let inside = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"));
    let inside = inside.and_then(|rest| rest.split_once("\n---"));
    let (yaml, _) = inside.ok_or_else(|| {
        bad("SKILL.md: must begin with `name` and `description` between two lines `---`")
    })?;
    let (mut name, mut description) = (None, None);
    for (key, value) in scalars(yaml)? {
        match key.as_str() {
            "name" => name = Some(value),
            "description" => description = Some(value),
            _ => {}
        }
    }
    let name = name.ok_or_else(|| bad("SKILL.md: name: Field required"))?;
    let description = description.ok_or_else(|| bad("SKILL.md: description: Field required"))?;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > NAME_MAX || !name.chars().all(is_plain) {
        let what = "SKILL.md: name: must have 1 to 64 small letters, digits and `-`";
        return Err(bad(what));
    }
    if let Some(word) = RESERVED.iter().find(|word| name.contains(*word)) {
        return Err(bad(format!("SKILL.md: name: must not contain `{word}`")));
    }
    if description.trim().is_empty() || description.chars().count() > DESCRIPTION_MAX {
        return Err(bad("SKILL.md: description: must have 1 to 1024 characters"));
    }
    Ok((name, description))
}

/// The pairs of text at the top of a YAML document.
fn scalars(yaml: &str) -> Result<Vec<(String, String)>, ApiError> {
    let (mut pairs, mut key, mut depth) = (Vec::new(), None, 0);
    for event in Parser::new_from_str(yaml) {
        let (event, _) = event.map_err(|_| bad("SKILL.md: its beginning must be valid YAML"))?;
        match event {
            Event::MappingStart(..) | Event::SequenceStart(..) => depth += 1,
            Event::MappingEnd | Event::SequenceEnd => {
                depth -= 1;
                key = None;
            }
            Event::Scalar(text, ..) if depth == 1 => match key.take() {
                None => key = Some(text.to_string()),
                Some(key) => pairs.push((key, text.to_string())),
            },
            _ => {}
        }
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANUAL: &str = "---\nname: tables\ndescription: >\n  Reads\n  tables.\n---\n# How\n";

    fn part(path: &str, text: &str) -> (String, Vec<u8>) {
        (path.to_string(), text.as_bytes().to_vec())
    }

    fn pack(folder: &str, files: &Files) -> std::io::Result<Vec<u8>> {
        let files = files.iter().map(|(path, bytes)| Ok((path.clone(), bytes.as_slice())));
        super::pack(folder, files, Cursor::new(Vec::new())).map(Cursor::into_inner)
    }

    #[test]
    fn a_skill_is_the_same_as_files_and_as_a_zip() {
        let parts = vec![part("tables/x/y.py", "pass"), part("tables/SKILL.md", MANUAL)];
        let bundle = read_bundle(parts).expect("a skill");
        assert_eq!((bundle.name.as_str(), bundle.description.trim()), ("tables", "Reads tables."));
        assert_eq!(bundle.files.len(), 2);
        let packed = pack("tables", &bundle.files).expect("a zip");
        assert_eq!(read_bundle(vec![("s.zip".into(), packed)]).expect("the same"), bundle);
    }

    #[test]
    fn what_is_no_skill_is_refused_by_what_is_wrong() {
        let manual = |head: &str| vec![part("tables/SKILL.md", head)];
        let described = |name: &str| format!("---\nname: {name}\ndescription: d\n---\n");
        let long = format!("---\nname: tables\ndescription: {}\n---\n", "d".repeat(1025));
        let cases = [
            (vec![], "there must be a SKILL.md"),
            (vec![part("SKILL.md", MANUAL)], "must be a path like"),
            (vec![part("tables/../SKILL.md", MANUAL)], "must be a path like"),
            (vec![part("/tables/SKILL.md", MANUAL)], "must be a path like"),
            (vec![part(&format!("tables/{}", "x".repeat(256)), "")], "must be a path like"),
            (vec![part("tables/SKILL.md", MANUAL), part("b/x", "")], "in one folder"),
            (vec![part("tables/SKILL.md", MANUAL), part("tables/SKILL.md", "")], "there twice"),
            (
                ["SKILL.md", "a", "a-", "a/b"].map(|p| part(&format!("tables/{p}"), MANUAL)).into(),
                "there twice",
            ),
            (vec![part("other/SKILL.md", MANUAL)], "name of the skill, `tables`"),
            (manual("# no head"), "must begin with"),
            (manual("---\nname: [\n---\n"), "valid YAML"),
            (manual("---\nname: tables\n---\n"), "description: Field required"),
            (manual(&described("Tables")), "small letters"),
            (manual(&described("claude-tables")), "must not contain `claude`"),
            (manual(&long), "1 to 1024"),
            (vec![("a.zip".into(), b"PK\x03\x04 no".to_vec())], "the zip is broken"),
            ((0..501).map(|i| part(&format!("tables/{i}"), "")).collect(), "at most 500"),
        ];
        for (parts, expected) in cases {
            let error = read_bundle(parts).expect_err(expected);
            assert!(error.message.contains(expected), "{expected}: {}", error.message);
        }
    }

    #[test]
    fn a_zip_that_grows_too_large_is_stopped_while_it_grows() {
        let files = vec![part("tables/SKILL.md", MANUAL), ("big".into(), vec![0; BYTES_MAX])];
        let packed = pack("tables", &files).expect("a small zip");
        assert!(packed.len() < BYTES_MAX / 100);
        assert_eq!(
            read_bundle(vec![("s.zip".into(), packed)]).map(drop),
            Err(ApiError::too_large())
        );
    }
}

//! Ids in Markdown: where a document lays one down, not where it only speaks of it.

use super::matrix::Site;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Ids a document lays down: in bold, in a heading, or at the start of a row of a table.
pub fn ids(path: &str, text: &str) -> Vec<(String, Site)> {
    let starts: Vec<usize> =
        std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let mut found = Vec::new();
    let (mut strong, mut heading, mut cell) = (0usize, false, None::<usize>);
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::Strong) => strong += 1,
            Event::End(TagEnd::Strong) => strong = strong.saturating_sub(1),
            Event::Start(Tag::Heading { .. }) => heading = true,
            Event::End(TagEnd::Heading(_)) => heading = false,
            Event::Start(Tag::TableRow) => cell = Some(0),
            Event::End(TagEnd::TableRow) => cell = None,
            Event::End(TagEnd::TableCell) => cell = cell.map(|cell| cell + 1),
            Event::Text(words) | Event::Code(words) if strong > 0 || heading || cell == Some(0) => {
                let line = starts.partition_point(|start| *start <= range.start);
                let site = Site { file: path.to_string(), line };
                found.extend(ids_in(&words).map(|id| (id, site.clone())));
            }
            _ => {}
        }
    }
    found
}

/// `BK-1` and the like.
pub fn ids_in(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words.filter(|word| is_id(word)).map(str::to_string)
}

/// One to five capital letters, a dash, a number.
pub fn is_id(word: &str) -> bool {
    let Some((letters, number)) = word.split_once('-') else { return false };
    (1..=5).contains(&letters.len())
        && letters.bytes().all(|byte| byte.is_ascii_uppercase())
        && (1..=4).contains(&number.len())
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// What comes before the dash.
pub fn prefix(id: &str) -> &str {
    id.split('-').next().unwrap_or(id)
}

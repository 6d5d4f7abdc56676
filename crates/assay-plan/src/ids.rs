//! `C1`, `M2`, `H3`, `S4` and `S5/api`: the names by which the parts of a plan point at each other.

use crate::place::Span;
use serde::Serialize;
use std::fmt;

/// A claim, a missing claim, a hypothesis or a scenario, with its number and, for an arm, its name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Id {
    /// `C`, `M`, `H` or `S`.
    pub letter: char,
    /// The number.
    pub number: u32,
    /// The arm of a scenario: `api` of `S5/api`.
    pub arm: Option<String>,
}

impl Id {
    /// An id without arm.
    pub fn new(letter: char, number: u32) -> Id {
        Id { letter, number, arm: None }
    }

    /// The scenario an arm belongs to; everything else is itself.
    pub fn whole(&self) -> Id {
        Id::new(self.letter, self.number)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.letter, self.number)?;
        self.arm.as_ref().map_or(Ok(()), |arm| write!(f, "/{arm}"))
    }
}

impl Serialize for Id {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// An id that is mentioned somewhere.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Reference {
    /// Which.
    pub id: Id,
    /// Where.
    pub span: Span,
}

/// A range such as `H1-H4` names at most this many ids.
const RANGE_MAX: u32 = 1_000;

/// All ids with this letter that the source names within a span; `H1-H4` names four.
pub fn references(source: &str, span: Span, letter: char) -> Vec<Reference> {
    let text = span.of(source);
    let mut found: Vec<Reference> = Vec::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find(letter) {
        let start = at + offset;
        at = start + letter.len_utf8();
        let Some((id, end)) = id_at(text, start, letter) else { continue };
        let here = Span::new(span.start + start, span.start + end);
        if let Some(first) = range_start(text, start, &found, span) {
            let between = first + 1..id.number.min(first.saturating_add(RANGE_MAX));
            found.extend(between.map(|n| Reference { id: Id::new(letter, n), span: here }));
        }
        found.push(Reference { id, span: here });
        at = end;
    }
    found
}

/// The number before, if what stands between it and here says "up to".
fn range_start(text: &str, start: usize, found: &[Reference], span: Span) -> Option<u32> {
    let before = found.last()?;
    let between = text.get(before.span.end - span.start..start)?.trim();
    let joined = matches!(between, "-" | "–" | ".." | "..." | "…" | "to");
    (joined && before.id.arm.is_none()).then_some(before.id.number)
}

/// The id that begins at a byte, and where it ends.
fn id_at(text: &str, start: usize, letter: char) -> Option<(Id, usize)> {
    let inside_word = |c: char| c.is_alphanumeric() || c == '_';
    if text[..start].chars().next_back().is_some_and(inside_word) {
        return None;
    }
    let rest = &text[start + letter.len_utf8()..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number: u32 = rest[..digits].parse().ok()?;
    let mut end = start + letter.len_utf8() + digits;
    let tail = &rest[digits..];
    let mut arm = None;
    if let Some(name) = tail.strip_prefix('/').filter(|_| letter == 'S') {
        let length = name.bytes().take_while(|b| b.is_ascii_alphanumeric() || b"_-".contains(b));
        let length = length.count();
        if length > 0 && name.as_bytes()[0].is_ascii_alphabetic() {
            arm = Some(name[..length].to_string());
            end += 1 + length;
        }
    }
    if text[end..].chars().next().is_some_and(inside_word) {
        return None;
    }
    Some((Id { letter, number, arm }, end))
}

/// The one id a cell or a heading consists of.
pub fn whole_id(text: &str, letter: char) -> Option<Id> {
    let text = text.trim();
    let (id, end) = id_at(text, text.starts_with(letter).then_some(0)?, letter)?;
    (end == text.len()).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::{Span, references, whole_id};

    fn named(text: &str, letter: char) -> String {
        let found = references(text, Span::new(0, text.len()), letter);
        found.iter().map(|r| r.id.to_string()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ids_are_found_where_they_stand_as_words() {
        for (text, letter, expected) in [
            ("C1, **C5** and `C12`", 'C', "C1 C5 C12"),
            ("AC1 C1b C_1 C C1", 'C', "C1"),
            ("S5/api, S5/sdk; S6", 'S', "S5/api S5/sdk S6"),
            ("S5/ S6/7", 'S', "S5 S6"),
            ("H1-H4 H7", 'H', "H1 H2 H3 H4 H7"),
            ("H1 to H3", 'H', "H1 H2 H3"),
            ("H3-H1", 'H', "H3 H1"),
            ("C99999999999", 'C', ""),
            ("éC1 C2é ", 'C', ""),
        ] {
            assert_eq!(named(text, letter), expected, "{text}");
        }
        assert_eq!(named("H1-H4000000000", 'H').split(' ').count(), 1_001);
    }

    #[test]
    fn a_cell_is_an_id_or_it_is_not() {
        assert_eq!(whole_id(" C12 ", 'C').map(|id| id.number), Some(12));
        for text in ["C", "C1, C2", "1", "c1", "C1.", "M1"] {
            assert_eq!(whole_id(text, 'C'), None, "{text}");
        }
    }
}

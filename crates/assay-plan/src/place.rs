//! Where things stand in the document.
//!
//! A plan is read by people who edit it in a text editor, so every complaint must lead to a line.
//! Everything the parser finds therefore carries the bytes it came from.

use serde::Serialize;

/// A range of bytes of the source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

impl Span {
    /// From the first byte to the one after the last.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end: end.max(start) }
    }

    /// The source it covers.
    pub fn of(self, source: &str) -> &str {
        source.get(self.start..self.end).unwrap_or("")
    }

    /// Without the white space at both ends.
    pub fn trimmed(self, source: &str) -> Span {
        let text = self.of(source);
        let start = self.start + (text.len() - text.trim_start().len());
        Span::new(start, start + text.trim().len())
    }

    /// The first place of `part` inside it, or all of it.
    pub fn find(self, source: &str, part: &str) -> Span {
        match self.of(source).find(part) {
            Some(at) if !part.is_empty() => {
                Span::new(self.start + at, self.start + at + part.len())
            }
            _ => self,
        }
    }

    /// Whether the other begins inside it.
    pub fn holds(self, other: Span) -> bool {
        self.start <= other.start && other.start < self.end
    }
}

/// Words of the document, without markup, and where they stand.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Text {
    /// The words.
    pub text: String,
    /// Where they stand.
    pub span: Span,
}

impl Text {
    /// Words at a place.
    pub fn new(text: impl Into<String>, span: Span) -> Text {
        Text { text: text.into(), span }
    }

    /// Nothing but white space or a dash.
    pub fn is_blank(&self) -> bool {
        self.text.chars().all(|c| c.is_whitespace() || matches!(c, '—' | '–' | '-'))
    }
}

/// Where lines begin: bytes to lines and columns without reading the source again.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// Looks for the line ends once.
    pub fn of(source: &str) -> Lines {
        let ends = source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Lines { starts: std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect() }
    }

    /// The line of a byte, from 1.
    pub fn line(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte)
    }

    /// The column of a byte in its line, in characters, from 1.
    pub fn column(&self, source: &str, byte: usize) -> usize {
        let start = self.starts[self.line(byte) - 1];
        let mut byte = byte.min(source.len());
        while !source.is_char_boundary(byte) {
            byte -= 1;
        }
        source[start.min(byte)..byte].chars().count() + 1
    }
}

#[cfg(test)]
mod tests {
    use super::{Lines, Span};

    #[test]
    fn lines_and_columns_count_from_one_and_in_characters() {
        let source = "é1\nb\n";
        let lines = Lines::of(source);
        let places: Vec<(usize, usize)> =
            [0, 2, 3, 4, 6, 99].map(|at| (lines.line(at), lines.column(source, at))).into();
        assert_eq!(places, [(1, 1), (1, 2), (1, 3), (2, 1), (3, 1), (3, 1)]);
    }

    #[test]
    fn a_part_that_is_not_there_is_the_whole() {
        let span = Span::new(2, 7);
        assert_eq!(span.find("a C1, C9", "C9"), span);
        assert_eq!(span.find("a C1, C", "C1"), Span::new(2, 4));
        assert_eq!(Span::new(1, 6).trimmed("a b c  d"), Span::new(2, 5));
    }
}

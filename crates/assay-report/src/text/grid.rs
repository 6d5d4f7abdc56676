//! A grid of characters, and the two sets of characters to draw with.

use crate::clean;

/// The characters a terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Glyphs {
    /// Box drawing and arrows.
    #[default]
    Unicode,
    /// Only the 95 printable characters of ASCII; others become `?`.
    Ascii,
}

/// How the outline of a bar looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stroke {
    Thin,
    Heavy,
    Pale,
    Shade,
}

impl Glyphs {
    /// `text` on one line of at most `cells_max` cells.
    pub(crate) fn line(self, text: &str, cells_max: usize) -> String {
        let text = clean::line(text, cells_max);
        if self == Self::Unicode {
            return text;
        }
        let mut out = String::new();
        for c in text.chars() {
            match c {
                ' '..='~' => out.push(c),
                '→' => out.push_str("->"),
                '−' => out.push('-'),
                'µ' => out.push('u'),
                '…' => out.push_str(".."),
                _ => out.push('?'),
            }
        }
        if out.len() > cells_max {
            out.truncate(cells_max.saturating_sub(1));
            out.push('~');
        }
        out.truncate(cells_max);
        out
    }

    pub(crate) fn pick(self, unicode: char, ascii: char) -> char {
        match self {
            Self::Unicode => unicode,
            Self::Ascii => ascii,
        }
    }

    pub(crate) fn arrow(self) -> char {
        self.pick('▶', '>')
    }

    pub(crate) fn cross(self) -> char {
        self.pick('✗', 'X')
    }

    /// Left end, middle and right end of a bar.
    fn stroke(self, stroke: Stroke) -> [char; 3] {
        match (self, stroke) {
            (Self::Unicode, Stroke::Thin) => ['├', '─', '┤'],
            (Self::Unicode, Stroke::Heavy) => ['┣', '━', '┫'],
            (Self::Unicode, Stroke::Pale) => ['├', '┄', '┤'],
            (Self::Unicode, Stroke::Shade) => ['▒', '▒', '▒'],
            (Self::Ascii, Stroke::Thin) => ['|', '-', '|'],
            (Self::Ascii, Stroke::Heavy) => ['[', '=', ']'],
            (Self::Ascii, Stroke::Pale) => ['|', '.', '|'],
            (Self::Ascii, Stroke::Shade) => ['#', '#', '#'],
        }
    }
}

/// One line of cells. A wide character takes two of them, the second being empty.
pub(crate) struct Row {
    cells: Vec<Option<char>>,
}

impl Row {
    pub(crate) fn new(width: usize) -> Self {
        Self { cells: vec![Some(' '); width] }
    }

    /// Writes `text` from cell `at`; what does not fit into the row is dropped.
    pub(crate) fn put(&mut self, mut at: usize, text: &str) {
        for c in text.chars() {
            let width = clean::cells(c.encode_utf8(&mut [0; 4]));
            if width == 0 {
                continue;
            }
            if at + width > self.cells.len() {
                return;
            }
            self.cells[at] = Some(c);
            self.cells[at + 1..at + width].fill(None);
            at += width;
        }
    }

    /// Draws a bar from `left` to `right`, both included, with `label` in its middle.
    pub(crate) fn bar(
        &mut self,
        glyphs: Glyphs,
        stroke: Stroke,
        (left, right): (usize, usize),
        open: bool,
        label: &str,
    ) {
        let [first, middle, last] = glyphs.stroke(stroke);
        for at in left..=right {
            self.put(at, middle.encode_utf8(&mut [0; 4]));
        }
        self.put(left, first.encode_utf8(&mut [0; 4]));
        let end = if open { glyphs.arrow() } else { last };
        self.put(right, end.encode_utf8(&mut [0; 4]));
        let room = right.saturating_sub(left + 1);
        let spare = room.saturating_sub(clean::cells(label));
        if spare >= 2 && !label.is_empty() {
            let padded = format!(" {label} ");
            self.put(left + 1 + (spare - 2) / 2, &padded);
        } else {
            self.put(left + 1 + spare / 2, label);
        }
    }

    /// The row as a line without trailing blanks.
    pub(crate) fn line(&self) -> String {
        let line: String = self.cells.iter().flatten().collect();
        line.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_keep_the_grid_aligned() {
        let mut row = Row::new(10);
        row.put(0, "日本|");
        row.put(9, "語");
        assert_eq!(row.line(), "日本|");
    }

    #[test]
    fn a_bar_shows_its_label_and_its_open_end() {
        let mut row = Row::new(16);
        row.bar(Glyphs::Unicode, Stroke::Thin, (0, 15), true, "write 1");
        assert_eq!(row.line(), "├── write 1 ───▶");
        let mut row = Row::new(16);
        row.bar(Glyphs::Ascii, Stroke::Heavy, (2, 4), false, "a");
        assert_eq!(row.line(), "  [a]");
    }

    #[test]
    fn ascii_text_is_ascii_and_bounded() {
        assert_eq!(Glyphs::Ascii.line("read → 日 µ", 20), "read -> ? u");
        assert_eq!(Glyphs::Ascii.line("→→→→", 4), "->-~");
        assert_eq!(Glyphs::Ascii.line("→", 0), "");
    }
}

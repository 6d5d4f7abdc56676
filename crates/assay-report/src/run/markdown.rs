//! A small writer of Markdown in which no text from outside can become markup.

use crate::clean;
use std::fmt::Write;

/// Texts longer than this are cut: a report is for reading, the record has it all.
const TEXT_CHARS_MAX: usize = 10_000;

/// A document that grows from top to bottom.
#[derive(Default)]
pub(super) struct Markdown {
    text: String,
}

impl Markdown {
    /// A heading; between 1 and 6 deep.
    pub fn heading(&mut self, depth: usize, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.line(&format!("{} {}", "#".repeat(depth), inline(text)));
    }

    /// A line that is Markdown already.
    pub fn line(&mut self, markdown: &str) {
        self.text.push_str(markdown);
        self.text.push('\n');
    }

    /// An item of a list: a name in bold, then text.
    pub fn item(&mut self, name: &str, text: &str) {
        self.line(&format!("- **{name}**: {}", inline(text)));
    }

    /// A table, or the line that says why there is none: an empty table could be a forgotten one.
    pub fn table(&mut self, columns: &[&str], rows: &[Vec<String>], if_empty: &str) {
        let cells = |row: &Vec<String>| row.iter().map(|cell| inline(cell)).collect();
        let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
        self.markdown_table(columns, &rows, if_empty);
    }

    /// A table of which the cells are Markdown already.
    pub fn markdown_table(&mut self, columns: &[&str], rows: &[Vec<String>], if_empty: &str) {
        if rows.is_empty() {
            self.line(if_empty);
            return;
        }
        self.line(&format!("| {} |", columns.join(" | ")));
        self.line(&format!("|{}", "---|".repeat(columns.len())));
        for row in rows {
            debug_assert_eq!(row.len(), columns.len(), "a row has a cell for each column");
            self.line(&format!("| {} |", row.join(" | ")));
        }
    }

    /// Text to be copied as it is, fenced so that nothing in it can end the fence.
    pub fn code(&mut self, text: &str) {
        let text = clean::block(text, TEXT_CHARS_MAX).0;
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        write!(self.text, "{fence}text\n{text}\n{fence}\n").expect("strings grow");
    }

    /// The finished document.
    pub fn finish(self) -> String {
        self.text
    }
}

/// Text on one line, with everything that Markdown or HTML would act on made harmless.
pub(super) fn inline(text: &str) -> String {
    let text = clean::block(text.trim(), TEXT_CHARS_MAX).0;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("<br>"),
            '\t' => out.push(' '),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '\\' | '|' | '`' | '*' | '[' | ']' | '#' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_can_leave_its_table() {
        assert_eq!(inline("a|b\nc"), r"a\|b<br>c");
        assert_eq!(inline(r"a\|b"), r"a\\\|b");
        assert_eq!(inline("<script> & [x](y) `z`"), r"&lt;script> &amp; \[x\](y) \`z\`");
        assert_eq!(inline("\u{1b}[2J\r"), r"\\u{1b}\[2J");
    }

    #[test]
    fn no_code_can_end_its_fence() {
        let mut page = Markdown::default();
        page.code("a\n````\nb");
        assert_eq!(page.finish(), "`````text\na\n````\nb\n`````\n");
    }

    #[test]
    fn an_empty_table_says_so() {
        let mut page = Markdown::default();
        page.table(&["a"], &[], "There is none.");
        assert_eq!(page.finish(), "There is none.\n");
    }
}

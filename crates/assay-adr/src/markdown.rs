//! Markdown as records need it: sections, fields, tables, links and code, each with its line.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// A piece of text and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// Its line, from 1.
    pub line: usize,
    /// Where it begins, in bytes.
    pub at: usize,
}

/// A heading, and what stands below it.
#[derive(Clone, Debug)]
pub struct Heading {
    /// 1 for the title.
    pub level: u8,
    /// Its text.
    pub text: String,
    /// Its line, from 1.
    pub line: usize,
    /// What stands below it, up to the next heading that is not deeper.
    pub body: Range<usize>,
}

/// A link or a picture.
#[derive(Clone, Debug)]
pub struct Link {
    /// What is shown.
    pub text: String,
    /// Where it leads.
    pub target: String,
    /// Its line, from 1.
    pub line: usize,
    /// Where it begins, in bytes.
    pub at: usize,
}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The cells of its head.
    pub head: Vec<String>,
    /// Its other rows.
    pub rows: Vec<Row>,
    /// Where it is, in bytes.
    pub range: Range<usize>,
}

/// A row of a table.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Its cells, as shown.
    pub cells: Vec<String>,
    /// Its line, from 1.
    pub line: usize,
    /// Where it is, in bytes.
    pub range: Range<usize>,
}

/// A box that can be ticked.
#[derive(Clone, Copy, Debug)]
pub struct TaskBox {
    /// Whether it is.
    pub ticked: bool,
    /// Its line, from 1.
    pub line: usize,
}

/// A field: `Status: Accepted`, with or without a dash and stars, or a row of a table.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its value, as written.
    pub value: String,
    /// Its line, from 1.
    pub line: usize,
    /// Where the value is, in bytes.
    pub range: Range<usize>,
}

/// A Markdown file, read once.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Headings in their order.
    pub headings: Vec<Heading>,
    /// Links and pictures.
    pub links: Vec<Link>,
    /// Code within lines.
    pub codes: Vec<Piece>,
    /// Running text, without code and comments.
    pub texts: Vec<Piece>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Boxes.
    pub boxes: Vec<TaskBox>,
    /// Quotations.
    pub quotes: Vec<Piece>,
    /// Where something stands that is neither heading, comment nor head of a table.
    content: Vec<usize>,
    /// Blocks of code and comments, in which no field stands.
    blocks: Vec<Range<usize>>,
    lines: Lines,
    length: usize,
}

/// Where lines begin.
#[derive(Clone, Debug, Default)]
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Lines {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Lines([0].into_iter().chain(ends.map(|(at, _)| at + 1)).collect())
    }

    fn line(&self, at: usize) -> usize {
        self.0.partition_point(|start| *start <= at).max(1)
    }
}

fn level(level: HeadingLevel) -> u8 {
    level as u8
}

/// What is being read.
#[derive(Default)]
struct Open {
    heading: bool,
    table_head: bool,
    quote: usize,
    block: usize,
    links: Vec<usize>,
    cell: Option<String>,
}

impl Document {
    /// Reads a text. There is no text that cannot be read.
    pub fn read(text: &str) -> Document {
        let mut document =
            Document { lines: Lines::of(text), length: text.len(), ..Document::default() };
        let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
        let mut open = Open::default();
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            document.take(event, range, &mut open);
        }
        document.close_headings();
        document
    }

    fn take(&mut self, event: Event<'_>, range: Range<usize>, open: &mut Open) {
        match event {
            Event::Start(tag) => self.start(tag, range, open),
            Event::End(tag) => self.end(tag, open),
            Event::Text(text) => {
                self.said(&text, &range, open);
                if open.block == 0 {
                    self.texts.push(self.piece(&text, &range));
                }
            }
            Event::Code(code) => {
                self.said(&code, &range, open);
                self.codes.push(self.piece(&code, &range));
            }
            Event::SoftBreak | Event::HardBreak => self.said(" ", &range, open),
            Event::TaskListMarker(ticked) => {
                self.boxes.push(TaskBox { ticked, line: self.lines.line(range.start) });
                self.content.push(range.start);
            }
            Event::Html(_) | Event::InlineHtml(_) => self.blocks.push(range),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>, open: &mut Open) {
        let line = self.lines.line(range.start);
        match tag {
            Tag::Heading { level: depth, .. } => {
                open.heading = true;
                let text = String::new();
                let body = range.end..range.end;
                self.headings.push(Heading { level: level(depth), text, line, body });
            }
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                open.links.push(self.links.len());
                let target = dest_url.to_string();
                self.links.push(Link { text: String::new(), target, line, at: range.start });
            }
            Tag::CodeBlock(_) => {
                open.block += 1;
                self.blocks.push(range.clone());
                self.content.push(range.start);
            }
            Tag::BlockQuote(_) => {
                if open.quote == 0 {
                    self.quotes.push(Piece { text: String::new(), line, at: range.start });
                }
                open.quote += 1;
            }
            Tag::Paragraph | Tag::Item if open.quote > 0 => self.said(" ", &range, open),
            Tag::Table(_) => self.tables.push(Table { range, ..Table::default() }),
            Tag::TableHead => open.table_head = true,
            Tag::TableRow => {
                if let Some(table) = self.tables.last_mut() {
                    table.rows.push(Row { cells: Vec::new(), line, range });
                }
            }
            Tag::TableCell => open.cell = Some(String::new()),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd, open: &mut Open) {
        match tag {
            TagEnd::Heading(_) => open.heading = false,
            TagEnd::Link | TagEnd::Image => drop(open.links.pop()),
            TagEnd::CodeBlock => open.block = open.block.saturating_sub(1),
            TagEnd::BlockQuote(_) => open.quote = open.quote.saturating_sub(1),
            TagEnd::TableHead => open.table_head = false,
            TagEnd::TableCell => {
                let cell = open.cell.take().unwrap_or_default().trim().to_string();
                let Some(table) = self.tables.last_mut() else { return };
                match table.rows.last_mut() {
                    Some(row) if !open.table_head => row.cells.push(cell),
                    _ => table.head.push(cell),
                }
            }
            _ => {}
        }
    }

    /// Adds what is shown to everything that is open around it.
    fn said(&mut self, text: &str, range: &Range<usize>, open: &mut Open) {
        for link in &open.links {
            self.links[*link].text.push_str(text);
        }
        if let Some(cell) = &mut open.cell {
            cell.push_str(text);
        }
        if let (true, Some(quote)) = (open.quote > 0, self.quotes.last_mut()) {
            quote.text.push_str(text);
        }
        match (open.heading, self.headings.last_mut()) {
            (true, Some(heading)) => heading.text.push_str(text),
            _ if !open.table_head && !text.trim().is_empty() => self.content.push(range.start),
            _ => {}
        }
    }

    fn piece(&self, text: &str, range: &Range<usize>) -> Piece {
        Piece { text: text.to_string(), line: self.lines.line(range.start), at: range.start }
    }

    fn close_headings(&mut self) {
        for i in 0..self.headings.len() {
            let level = self.headings[i].level;
            let next = self.headings[i + 1..].iter().find(|heading| heading.level <= level);
            // A heading begins where its line does; its body begins where the heading ends.
            let end = next.map_or(self.length, |heading| self.lines.0[heading.line - 1]);
            let start = self.headings[i].body.start;
            self.headings[i].body = start..end.max(start);
        }
    }

    /// The title: the first heading, if it is of the first level.
    pub fn title(&self) -> Option<&Heading> {
        self.headings.first().filter(|heading| heading.level == 1)
    }

    /// The sections: headings of the second level.
    pub fn sections(&self) -> impl Iterator<Item = &Heading> {
        self.headings.iter().filter(|heading| heading.level == 2)
    }

    /// The section of this name, whatever the case.
    pub fn section(&self, name: &str) -> Option<&Heading> {
        self.sections().find(|heading| heading.text.trim().eq_ignore_ascii_case(name))
    }

    /// Whether anything stands in a range, besides headings, comments and heads of tables.
    pub fn has_content(&self, range: &Range<usize>) -> bool {
        let from = self.content.partition_point(|at| *at < range.start);
        self.content.get(from).is_some_and(|at| *at < range.end)
    }

    /// The line of a place.
    pub fn line(&self, at: usize) -> usize {
        self.lines.line(at)
    }

    /// Fields that stand in a range of the text this was read from.
    pub fn fields(&self, text: &str, range: Range<usize>) -> Vec<Field> {
        let mut fields = Vec::new();
        let mut at = range.start;
        for line in text.get(range).unwrap_or("").split_inclusive('\n') {
            let block = self.blocks.partition_point(|block| block.start <= at).checked_sub(1);
            let hidden = block.is_some_and(|block| self.blocks[block].contains(&at));
            if let Some((name, value)) = field(line).filter(|_| !hidden) {
                let start = at + value.start;
                let value = &line[value];
                fields.push(Field {
                    name: name.to_string(),
                    value: value.to_string(),
                    line: self.lines.line(at),
                    range: start..start + value.len(),
                });
            }
            at += line.len();
        }
        fields
    }

    /// What stands before the first section, after the title.
    pub fn preamble(&self) -> Range<usize> {
        let start = self.title().map_or(0, |title| title.body.start);
        let first = self.headings.iter().find(|heading| heading.level > 1);
        let end = first.map_or(self.length, |heading| self.lines.0[heading.line - 1]);
        start..end.max(start)
    }

    /// The names by which links find headings.
    pub fn anchors(&self) -> Vec<String> {
        let mut anchors: Vec<String> = Vec::new();
        let mut seen = std::collections::BTreeMap::<String, usize>::new();
        for heading in &self.headings {
            let name = anchor(&heading.text);
            let before = seen.entry(name.clone()).or_default();
            anchors.push(match *before {
                0 => name,
                count => format!("{name}-{count}"),
            });
            *before += 1;
        }
        anchors
    }
}

/// The longest name of a field, in bytes.
const FIELD_NAME_MAX: usize = 30;

/// The name of a field and where in the line its value is.
fn field(line: &str) -> Option<(&str, Range<usize>)> {
    let row = line.trim_start().starts_with('|');
    let marks: &[char] = &['-', '*', '+', '_', '|', ' ', '\t'];
    let (before, after) = match row {
        true => line.trim_start().trim_start_matches('|').split_once('|')?,
        false => line.split_once(':')?,
    };
    let name = before.trim_matches(marks);
    let word = |c: char| c.is_alphabetic() || c == ' ' || c == '-';
    if name.is_empty() || name.len() > FIELD_NAME_MAX || !name.chars().all(word) {
        return None;
    }
    let ends: &[char] = if row { &['|', ' ', '\t', '\r', '\n'] } else { &[' ', '\t', '\r', '\n'] };
    let value = after.trim_start_matches(['*', '_', ' ', '\t']).trim_end_matches(ends);
    let start = line.len() - after.trim_start_matches(['*', '_', ' ', '\t']).len();
    Some((name, start..start + value.len()))
}

/// What a heading is called in a link, as the usual renderers do it.
pub fn anchor(heading: &str) -> String {
    let mut name = String::new();
    for c in heading.trim().chars().flat_map(char::to_lowercase) {
        match c {
            ' ' => name.push('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => name.push(c),
            _ => {}
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_in_every_form_people_write_them_in() {
        let cases = [
            ("Status: Accepted\n", Some(("Status", "Accepted"))),
            ("- **Status:** Accepted\n", Some(("Status", "Accepted"))),
            ("* **Last Updated**: 2026-11-17\r\n", Some(("Last Updated", "2026-11-17"))),
            ("| Status | Accepted |\n", Some(("Status", "Accepted"))),
            ("**Owner:**\n", Some(("Owner", ""))),
            ("A sentence that goes on for long: with a colon\n", None),
            ("12:30\n", None),
            ("no field\n", None),
        ];
        for (line, expected) in cases {
            let found = field(line).map(|(name, value)| (name, &line[value]));
            assert_eq!(found, expected, "{line:?}");
        }
    }

    #[test]
    fn sections_end_where_the_next_begins_and_know_whether_they_are_empty() {
        let text = "# T\n\nStatus: x\n\n## A\n\n<!-- say why -->\n\n## B\n\n### C\n\ntext\n\n\
                    ## D\n\n| a | b |\n|---|---|\n";
        let document = Document::read(text);
        let body = |name| document.section(name).map(|section| section.body.clone());
        let full = |name| body(name).map(|range| document.has_content(&range));
        assert_eq!([full("A"), full("b"), full("D")], [Some(false), Some(true), Some(false)]);
        let fields = document.fields(text, document.preamble());
        assert_eq!(fields.len(), 1);
        assert_eq!(&text[fields[0].range.clone()], "x");
        assert_eq!(fields[0].line, 3);
    }

    #[test]
    fn headings_are_found_by_the_names_renderers_give_them() {
        let document = Document::read("# A `b`: C?\n## x\n## x\n");
        assert_eq!(document.anchors(), ["a-b-c", "x", "x-1"]);
    }
}

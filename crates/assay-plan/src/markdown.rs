//! Markdown as a flat list of blocks, each with its bytes.
//!
//! The method's documents are headings, paragraphs, list items, tables and fenced code; nothing
//! else carries meaning. So a document is read into exactly these, in order, and whatever else
//! Markdown can do is prose. Comments and code are remembered as opaque: rules about words leave
//! them alone.

use crate::place::{Span, Text};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Lists and quotes inside each other beyond this are not looked into.
pub const NESTING_MAX: usize = 32;

/// One block.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Block {
    pub kind: Kind,
    /// Its words, without markup; line ends stay.
    pub text: String,
    /// Its source; for list items without the lists inside.
    pub span: Span,
}

/// What a block is.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Kind {
    Heading(u8),
    Paragraph,
    /// A list item, and how deep its list stands in other lists.
    Item(usize),
    Table(Grid),
    /// Fenced or indented code; `body` is what stands between the fences.
    Code {
        language: String,
        body: Span,
    },
}

/// A table: one row of heads, and the rows.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Grid {
    pub heads: Vec<Text>,
    pub rows: Vec<Vec<Text>>,
}

/// All blocks of a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outline {
    pub blocks: Vec<Block>,
    /// Code, inline or in blocks, and HTML: not prose.
    pub opaque: Vec<Span>,
    /// HTML comments among them.
    pub comments: Vec<Span>,
    /// Where nesting went too deep, or blocks became too many.
    pub cut: Option<(Span, &'static str)>,
}

/// Reads a document; never fails. `blocks_max` bounds how much of it is kept.
pub(crate) fn outline(source: &str, blocks_max: usize) -> Outline {
    let mut reader =
        Reader { source, outline: Outline::default(), sink: None, items: vec![], depth: 0 };
    for (event, range) in Parser::new_ext(source, Options::ENABLE_TABLES).into_offset_iter() {
        if reader.outline.blocks.len() > blocks_max {
            let span = Span::new(range.start, range.start);
            reader.outline.cut = Some((span, "more blocks than are read"));
            break;
        }
        reader.event(event, Span::new(range.start, range.end));
    }
    reader.outline
}

/// Which block or cell words go to.
enum Sink {
    Block(usize),
    Cell(Text),
    Code(usize),
}

struct Reader<'s> {
    source: &'s str,
    outline: Outline,
    sink: Option<Sink>,
    /// The list items that are open, by their index.
    items: Vec<usize>,
    depth: usize,
}

impl Reader<'_> {
    fn event(&mut self, event: Event<'_>, span: Span) {
        match event {
            Event::Start(tag) => self.start(tag, span),
            // Closing marks belong to the block whose words they close.
            Event::End(TagEnd::Strong | TagEnd::Emphasis | TagEnd::Link) => self.words("", span),
            Event::End(end) => self.end(end),
            Event::Text(text) => self.words(&text, span),
            Event::Code(text) => {
                self.outline.opaque.push(span);
                self.words(&text, span);
            }
            Event::SoftBreak | Event::HardBreak => self.words("\n", span),
            Event::Html(text) | Event::InlineHtml(text) => {
                self.outline.opaque.push(span);
                // A comment of several lines arrives line by line.
                if text.contains("<!--") || self.in_comment(span) {
                    self.outline.comments.push(span);
                }
            }
            _ => {}
        }
    }

    fn in_comment(&self, span: Span) -> bool {
        self.outline.comments.last().is_some_and(|last| {
            let text = last.of(self.source);
            let open = text.rfind("<!--").unwrap_or(0);
            last.end == span.start && !text[open..].contains("-->")
        })
    }

    fn start(&mut self, tag: Tag<'_>, span: Span) {
        match tag {
            Tag::Heading { level, .. } => self.open(Kind::Heading(level as u8), span),
            Tag::Paragraph => match self.items.last() {
                // A loose item's paragraphs are the item's words.
                Some(item) => {
                    self.sink = Some(Sink::Block(*item));
                    self.words("\n", Span::new(span.start, span.start));
                }
                None => self.open(Kind::Paragraph, span),
            },
            Tag::List(_) | Tag::BlockQuote(_) => {
                self.depth += 1;
                if self.depth > NESTING_MAX && self.outline.cut.is_none() {
                    self.outline.cut = Some((span, "lists and quotes nested too deeply"));
                }
            }
            Tag::Item => {
                let depth = self.items.len();
                self.open(Kind::Item(depth), Span::new(span.start, span.start));
                self.items.push(self.outline.blocks.len() - 1);
            }
            Tag::Table(_) => self.open(Kind::Table(Grid::default()), span),
            Tag::TableRow => {
                if let Some(grid) = self.grid() {
                    grid.rows.push(Vec::new());
                }
            }
            Tag::TableCell => {
                self.sink = Some(Sink::Cell(Text::new("", span.trimmed(self.source))));
            }
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(info) => {
                        info.split([' ', ',', '{']).next().unwrap_or("").to_lowercase()
                    }
                    CodeBlockKind::Indented => String::new(),
                };
                self.outline.opaque.push(span);
                // A block without lines still has a place for them: below its first line.
                let first =
                    span.of(self.source).find('\n').map_or(span.end, |at| span.start + at + 1);
                let body = Span::new(first, first);
                self.open(Kind::Code { language, body }, span);
                self.sink = Some(Sink::Code(self.outline.blocks.len() - 1));
            }
            _ => {}
        }
    }

    fn end(&mut self, end: TagEnd) {
        match end {
            TagEnd::Item => {
                self.items.pop();
                self.sink = self.items.last().map(|item| Sink::Block(*item));
            }
            TagEnd::List(_) | TagEnd::BlockQuote(_) => self.depth = self.depth.saturating_sub(1),
            TagEnd::TableCell => {
                let Some(Sink::Cell(cell)) = self.sink.take() else { return };
                let Some(grid) = self.grid() else { return };
                let row = grid.rows.last_mut().unwrap_or(&mut grid.heads);
                row.push(Text { text: cell.text.trim().to_string(), ..cell });
            }
            TagEnd::Heading(_) | TagEnd::Paragraph | TagEnd::CodeBlock => {
                self.sink = self.items.last().map(|item| Sink::Block(*item));
            }
            _ => {}
        }
    }

    fn open(&mut self, kind: Kind, span: Span) {
        let span = span.trimmed(self.source);
        self.outline.blocks.push(Block { kind, text: String::new(), span });
        self.sink = Some(Sink::Block(self.outline.blocks.len() - 1));
    }

    fn grid(&mut self) -> Option<&mut Grid> {
        match &mut self.outline.blocks.last_mut()?.kind {
            Kind::Table(grid) => Some(grid),
            _ => None,
        }
    }

    fn words(&mut self, words: &str, span: Span) {
        match &mut self.sink {
            Some(Sink::Cell(cell)) => cell.text.push_str(words),
            Some(Sink::Block(at)) => {
                let block = &mut self.outline.blocks[*at];
                if words != "\n" || !block.text.is_empty() {
                    block.text.push_str(words);
                }
                block.span.end = block.span.end.max(span.end);
            }
            Some(Sink::Code(at)) => {
                let block = &mut self.outline.blocks[*at];
                block.text.push_str(words);
                if let Kind::Code { body, .. } = &mut block.kind {
                    let start = if body.start == body.end { span.start } else { body.start };
                    *body = Span::new(start, span.end);
                }
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, outline};

    #[test]
    fn blocks_keep_their_words_and_their_bytes() {
        let source = "# A *b*\n\ntext\nmore\n\n- one\n  - `two`\n\n| x | y |\n|---|---|\n| 1 | \
            **2** |\n\
                      \n```toml\na = 1\n```\n<!-- {no} -->\n";
        let outline = outline(source, 100);
        let seen: Vec<(&str, &str)> = outline
            .blocks
            .iter()
            .map(|block| (block.text.as_str(), block.span.of(source)))
            .collect();
        assert_eq!(seen[0], ("A b", "# A *b*"));
        assert_eq!(seen[1], ("text\nmore", "text\nmore"));
        assert_eq!(seen[2], ("one", "- one"));
        assert_eq!(seen[3], ("two", "- `two`"));
        let Kind::Table(grid) = &outline.blocks[4].kind else { panic!("a table") };
        assert_eq!(grid.heads[1].text, "y");
        assert_eq!(grid.rows[0][1].text, "2");
        assert_eq!(grid.rows[0][1].span.of(source), "**2**");
        let Kind::Code { language, body } = &outline.blocks[5].kind else { panic!("code") };
        assert_eq!((language.as_str(), body.of(source)), ("toml", "a = 1\n"));
        assert_eq!(outline.comments.len(), 1);
    }

    #[test]
    fn depth_and_count_are_bounded() {
        assert!(outline(&"> ".repeat(40), 100).cut.is_some());
        let many = outline(&"a\n\n".repeat(50), 10);
        assert!(many.cut.is_some() && many.blocks.len() <= 12);
    }
}

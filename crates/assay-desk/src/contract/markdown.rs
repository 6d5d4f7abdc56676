//! Markdown as a flat list of what a contract is made of: headings, items, prose and code.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// One block and where it begins.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Block {
    pub kind: Kind,
    pub text: String,
    pub start: usize,
}

/// What a block is.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Kind {
    Heading(u8),
    Prose,
    /// A list item, and how many lists it stands in.
    Item(usize),
    /// Fenced code and what stands between the fences.
    Code {
        language: String,
        body: Range<usize>,
    },
}

/// Reads a document; never fails.
pub(super) fn blocks(source: &str) -> Vec<Block> {
    let mut reader = Reader { blocks: Vec::new(), open: Vec::new(), depth: 0, code: None };
    for (event, range) in Parser::new_ext(source, Options::empty()).into_offset_iter() {
        reader.event(event, range);
    }
    reader.blocks
}

struct Reader {
    blocks: Vec<Block>,
    /// The blocks whose words are being read, the innermost last.
    open: Vec<usize>,
    depth: usize,
    code: Option<usize>,
}

impl Reader {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                self.begin(Kind::Heading(level as u8), range.start);
            }
            Event::Start(Tag::Paragraph) if self.open.is_empty() => {
                self.begin(Kind::Prose, range.start);
            }
            Event::Start(Tag::List(_)) => self.depth += 1,
            Event::End(TagEnd::List(_)) => self.depth -= 1,
            Event::Start(Tag::Item) => self.begin(Kind::Item(self.depth), range.start),
            Event::Start(Tag::CodeBlock(kind)) => {
                let language = match kind {
                    CodeBlockKind::Fenced(info) => info.trim().to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some(self.blocks.len());
                let body = range.end..range.end;
                let kind = Kind::Code { language, body };
                self.blocks.push(Block { kind, text: String::new(), start: range.start });
            }
            Event::End(TagEnd::CodeBlock) => self.code = None,
            Event::End(TagEnd::Heading(_) | TagEnd::Item) => _ = self.open.pop(),
            Event::End(TagEnd::Paragraph) => {
                let last = self.open.last().map(|block| &self.blocks[*block].kind);
                if last == Some(&Kind::Prose) {
                    self.open.pop();
                }
            }
            Event::Text(text) => self.words(&text, range),
            Event::Code(text) => self.words(&format!("`{text}`"), range),
            Event::SoftBreak | Event::HardBreak => self.words(" ", range),
            _ => {}
        }
    }

    fn begin(&mut self, kind: Kind, start: usize) {
        self.open.push(self.blocks.len());
        self.blocks.push(Block { kind, text: String::new(), start });
    }

    fn words(&mut self, text: &str, range: Range<usize>) {
        if let Some(code) = self.code {
            let block = &mut self.blocks[code];
            if let Kind::Code { body, .. } = &mut block.kind {
                if block.text.is_empty() {
                    *body = range.clone();
                }
                body.end = range.end;
            }
            block.text.push_str(text);
        } else if let Some(open) = self.open.last() {
            self.blocks[*open].text.push_str(text);
        }
    }
}

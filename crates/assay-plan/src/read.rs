//! Markdown in, [`Plan`] out. Reading never fails: what makes no sense is a diagnostic, and the
//! rest of the document is read all the same.

mod hypotheses;
mod scenarios;
mod tables;

use crate::diagnostic::Diagnostic;
use crate::field::value_after;
use crate::markdown::{self, Block, Kind, Outline};
use crate::place::{Lines, Span, Text};
use crate::plan::{Header, Plan, Section, Technique, Word};
use crate::rules::codes;
use crate::section::SectionKind;
use crate::words::{Mode, Status, nearest};
use std::collections::BTreeMap;

/// A longer document is not read.
pub const SOURCE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// More headings, paragraphs, items and tables than this are not read.
pub const BLOCKS_MAX: usize = 100_000;

/// Reads a plan. What the parser stumbled over is part of what [`crate::lint()`] reports.
pub fn parse(source: &str) -> Plan {
    let mut plan = Plan::empty(source);
    if source.len() > SOURCE_BYTES_MAX {
        let message =
            format!("the document has {} bytes; at most {SOURCE_BYTES_MAX} are read", source.len());
        plan.problems.push(Diagnostic::new(codes::TOO_LARGE, Span::new(0, 0), message));
        return plan;
    }
    let outline = markdown::outline(source, BLOCKS_MAX);
    if let Some((span, what)) = outline.cut {
        plan.problems.push(Diagnostic::new(codes::TOO_LARGE, span, what));
    }
    plan.placeholders = placeholders(source, &outline.opaque);
    read_title_and_header(&mut plan, &outline.blocks);
    for (kind, heading, range) in section_ranges(&mut plan, &outline.blocks) {
        let blocks = &outline.blocks[range.0..range.1];
        read_section(&mut plan, kind, &heading, blocks, &outline);
    }
    plan
}

impl Plan {
    fn empty(source: &str) -> Plan {
        Plan {
            source: source.to_string(),
            lines: Lines::of(source),
            slug: None,
            header: Header::default(),
            sections: vec![],
            tables: BTreeMap::new(),
            claims: vec![],
            missing: vec![],
            pitfalls: vec![],
            hypotheses: vec![],
            kinds_not_applicable: vec![],
            matrix: vec![],
            techniques: vec![],
            environment: vec![],
            scenarios: vec![],
            adequacy: vec![],
            residual: vec![],
            aspects: vec![],
            confidence: vec![],
            problems: vec![],
            placeholders: vec![],
            summary_lines: 0,
        }
    }
}

/// `{…}` outside code and comments.
fn placeholders(source: &str, opaque: &[Span]) -> Vec<Span> {
    const LENGTH_MAX: usize = 400;
    let mut opaque = opaque.to_vec();
    opaque.sort_unstable();
    let mut hidden = opaque.iter().peekable();
    let (mut found, mut open) = (Vec::new(), None);
    for (at, byte) in source.bytes().enumerate() {
        while hidden.next_if(|span| span.end <= at).is_some() {}
        if hidden.peek().is_some_and(|span| span.start <= at) {
            open = None;
            continue;
        }
        match byte {
            b'{' => open = Some(at),
            b'}' => {
                let inside = open.take().filter(|start| at - start > 1 && at - start < LENGTH_MAX);
                found.extend(inside.map(|start| Span::new(start, at + 1)));
            }
            _ => {}
        }
    }
    found
}

fn read_title_and_header(plan: &mut Plan, blocks: &[Block]) {
    let title = blocks.iter().find(|block| block.kind == Kind::Heading(1));
    if let Some(title) = title
        && let Some(slug) = value_after(&title.text, "Test Plan").filter(|slug| !slug.is_empty())
    {
        plan.slug = Some(Text::new(slug, title.span.find(&plan.source, slug)));
    }
    let until = blocks.iter().position(|block| block.kind == Kind::Heading(2));
    let source = plan.source.clone();
    for block in &blocks[..until.unwrap_or(blocks.len())] {
        if matches!(block.kind, Kind::Item(_) | Kind::Paragraph) {
            for (line, span) in lines_of(&source, block.span) {
                read_header_line(&mut plan.header, &source, &line, span);
            }
        }
    }
}

fn read_header_line(header: &mut Header, source: &str, line: &str, span: Span) {
    let value = |label: &str| {
        let text = value_after(line, label)?;
        Some(Text::new(text, value_span(source, span, text)))
    };
    let keep = |slot: &mut Option<Text>, label: &str| {
        if slot.is_none() {
            *slot = value(label);
        }
    };
    keep(&mut header.date, "Date");
    keep(&mut header.sut, "SUT");
    keep(&mut header.change, "Change under test");
    keep(&mut header.author, "Plan author");
    if header.mode.is_none() {
        header.mode = value("Plan mode").map(|text| {
            let value = Mode::named(&text.text);
            Word { text, value }
        });
    }
    if header.status.is_none() {
        header.status = value("Status").map(|text| {
            let value = Status::named(&text.text);
            Word { text, value }
        });
    }
}

/// Where the value of a labelled line stands: its words, or all that follows the separator.
fn value_span(source: &str, line: Span, words: &str) -> Span {
    let raw = line.of(source);
    if !words.is_empty() && raw.contains(words) {
        return line.find(source, words);
    }
    let separator = raw.char_indices().find(|(_, c)| matches!(c, ':' | '—' | '–'));
    let Some((at, mark)) = separator else { return Span::new(line.end, line.end) };
    let after = raw[at + mark.len_utf8()..].trim_start_matches(['*', ' ']);
    Span::new(line.end - after.len(), line.end)
}

type Ranges = Vec<(SectionKind, Text, (usize, usize))>;

/// Which blocks belong to which section; headings that are none are reported.
fn section_ranges(plan: &mut Plan, blocks: &[Block]) -> Ranges {
    let mut ranges: Ranges = Vec::new();
    let mut open = false;
    for (i, block) in blocks.iter().enumerate() {
        if !matches!(block.kind, Kind::Heading(1 | 2)) {
            continue;
        }
        if let (true, Some(last)) = (open, ranges.last_mut()) {
            last.2.1 = i;
        }
        let kind = SectionKind::of_heading(&block.text);
        let kind = kind.filter(|_| block.kind == Kind::Heading(2));
        open = kind.is_some();
        match kind {
            Some(kind) => {
                let heading = Text::new(block.text.trim(), block.span);
                ranges.push((kind, heading, (i + 1, blocks.len())));
            }
            None if block.kind == Kind::Heading(2) => {
                let title = block.text.trim();
                let titles = crate::section::SECTIONS.iter().map(|row| row.2);
                let unnumbered = title.trim_start_matches(|c: char| !c.is_alphabetic());
                let near = nearest(unnumbered, titles);
                let message = format!("`{}` is no section of a plan", crate::time::show(title));
                let problem = Diagnostic::new(codes::SECTION_UNKNOWN, block.span, message);
                plan.problems.push(problem.mean(near));
            }
            None => {}
        }
    }
    ranges
}

fn read_section(
    plan: &mut Plan,
    kind: SectionKind,
    heading: &Text,
    blocks: &[Block],
    outline: &Outline,
) {
    let end = blocks.iter().map(|block| block.span.end).max().unwrap_or(heading.span.end);
    let body = Span::new(heading.span.end, end);
    let is_prose = |block: &&Block| matches!(block.kind, Kind::Paragraph | Kind::Item(_));
    let prose: Vec<&str> = blocks.iter().filter(is_prose).map(|b| b.text.as_str()).collect();
    let first = plan.section(kind).is_none();
    plan.sections.push(Section {
        kind,
        heading: heading.clone(),
        body,
        prose: prose.join("\n"),
        is_empty: blocks.is_empty(),
    });
    if !first {
        return;
    }
    tables::read(plan, kind, blocks);
    match kind {
        SectionKind::Architecture => {
            plan.summary_lines = counted_lines(&plan.source, body, &outline.comments);
        }
        SectionKind::Hypotheses => hypotheses::read(plan, blocks),
        SectionKind::Techniques => read_techniques(plan, blocks),
        SectionKind::Scenarios => scenarios::read(plan, blocks),
        SectionKind::Confidence => {
            let paragraphs = blocks.iter().filter(|block| block.kind == Kind::Paragraph);
            plan.confidence = paragraphs.map(|b| Text::new(b.text.clone(), b.span)).collect();
        }
        _ => {}
    }
}

/// Lines with something on them that is not a comment.
fn counted_lines(source: &str, body: Span, comments: &[Span]) -> usize {
    let mut comments = comments.iter().peekable();
    let mut count = 0;
    let mut at = body.start;
    for line in body.of(source).split_inclusive('\n') {
        while comments.next_if(|span| span.end <= at).is_some() {}
        let hidden = comments.peek().is_some_and(|span| span.start <= at);
        count += usize::from(!line.trim().is_empty() && !hidden);
        at += line.len();
    }
    count
}

fn read_techniques(plan: &mut Plan, blocks: &[Block]) {
    let source = plan.source.clone();
    for block in blocks {
        match block.kind {
            Kind::Heading(3) => {
                let name = Text::new(block.text.trim(), block.span);
                plan.techniques.push(Technique {
                    name,
                    hypotheses: None,
                    addresses: vec![],
                    catches: None,
                    reference: None,
                    cost: None,
                });
            }
            Kind::Item(_) | Kind::Paragraph => {
                let Some(technique) = plan.techniques.last_mut() else { continue };
                for (line, span) in lines_of(&source, block.span) {
                    technique_line(technique, &source, &line, span);
                }
            }
            _ => {}
        }
    }
}

fn technique_line(technique: &mut Technique, source: &str, line: &str, span: Span) {
    let value = |labels: &[&str]| {
        let text = labels.iter().find_map(|label| value_after(line, label))?;
        Some(Text::new(text, span))
    };
    if let Some(text) = value(&["Hypotheses it addresses", "Hypotheses"]) {
        technique.addresses = crate::ids::references(source, span, 'H');
        technique.hypotheses = Some(text);
    } else if let Some(text) =
        value(&["Catches what others miss", "What it catches that others miss"])
    {
        technique.catches = Some(text);
    } else if let Some(text) = value(&["Reference file", "Reference"]) {
        technique.reference = Some(text);
    } else if let Some(text) = value(&["Cost / wall-clock", "Cost/wall-clock", "Cost"]) {
        technique.cost = Some(text);
    }
}

/// The lines of a span without list marks and emphasis, each with its place.
pub(crate) fn lines_of(source: &str, span: Span) -> Vec<(String, Span)> {
    let mut at = span.start;
    let mut lines = Vec::new();
    for raw in span.of(source).split_inclusive('\n') {
        let here = Span::new(at, at + raw.len()).trimmed(source);
        at += raw.len();
        let text = here.of(source).trim_start_matches(['-', '*', '+', '>', ' ']);
        lines.push((text.replace("**", "").replace(['`', '_'], ""), here));
    }
    lines
}

//! Section 7: scenarios with their labelled lines, machine blocks, skeletons and arms.

use crate::block::Block as MachineBlock;
use crate::diagnostic::Diagnostic;
use crate::field::Field;
use crate::ids::{Id, references, whole_id};
use crate::markdown::{Block, Kind};
use crate::place::{Span, Text};
use crate::plan::{Plan, Scenario};
use crate::rules::codes;
use std::collections::BTreeMap;

/// Reads the scenarios.
pub(super) fn read(plan: &mut Plan, blocks: &[Block]) {
    let source = plan.source.clone();
    let mut reader = Reader { source: &source, problems: vec![], last: None, in_surfaces: false };
    for block in blocks {
        let heading = matches!(block.kind, Kind::Heading(_)).then(|| block.text.trim());
        if let Some(text) = heading.and_then(|text| strip_word(text, "Scenario")) {
            plan.scenarios.extend(reader.begin(text, block.span));
            continue;
        }
        let Some(scenario) = plan.scenarios.last_mut() else { continue };
        if let Some(text) = heading.and_then(|text| strip_word(text, "Arm")) {
            scenario.arms.extend(reader.begin(text, block.span));
            continue;
        }
        match scenario.arms.is_empty() {
            true => reader.block(scenario, block),
            false => scenario.arms.last_mut().into_iter().for_each(|arm| reader.block(arm, block)),
        }
    }
    plan.problems.append(&mut reader.problems);
}

fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let rest = text.get(word.len()..)?;
    let is_word = text[..word.len()].eq_ignore_ascii_case(word) && rest.starts_with([' ', ':']);
    is_word.then(|| rest.trim_start_matches([':', ' ']))
}

struct Reader<'s> {
    source: &'s str,
    problems: Vec<Diagnostic>,
    /// The field that nested items belong to.
    last: Option<Field>,
    in_surfaces: bool,
}

impl Reader<'_> {
    /// `S1: name`.
    fn begin(&mut self, text: &str, span: Span) -> Option<Scenario> {
        (self.last, self.in_surfaces) = (None, false);
        let (id_text, name) = text.split_once(':').unwrap_or((text, ""));
        let Some(id) = whole_id(id_text, 'S') else {
            let shown = crate::time::show(id_text);
            let message = format!("`{shown}` is no id of the form S1, S2, … or S5/api");
            self.problems.push(Diagnostic::new(codes::ID_MALFORMED, span, message));
            return None;
        };
        let name = Text::new(name.trim(), span.find(self.source, name.trim()));
        Some(empty(id, span, name))
    }

    fn block(&mut self, scenario: &mut Scenario, block: &Block) {
        match &block.kind {
            Kind::Heading(_) => {
                self.last = None;
                self.in_surfaces = block.text.contains("7.M.S");
            }
            Kind::Item(0) | Kind::Paragraph => self.line(scenario, block),
            Kind::Item(_) => self.nested(scenario, block),
            Kind::Code { language, body } if language == "toml" => {
                self.machine(scenario, block.span, *body);
            }
            Kind::Code { .. } => {
                if scenario.skeleton.is_none() {
                    scenario.skeleton = Some(Text::new(block.text.clone(), block.span));
                }
            }
            Kind::Table(_) => {}
        }
    }

    fn line(&mut self, scenario: &mut Scenario, block: &Block) {
        let text = block.text.trim();
        let lower = text.to_lowercase();
        let about_surfaces = self.in_surfaces || lower.starts_with("7.m.s");
        let unlabelled = lower.trim_start_matches("7.m.s").trim_start_matches("7.m");
        let unlabelled = unlabelled.trim_start_matches([':', '—', '–', '-', ' ']);
        if unlabelled.starts_with("not applicable") || unlabelled.starts_with("n/a") {
            let line = Some(Text::new(text, block.span));
            match about_surfaces {
                true => scenario.surfaces_not_applicable = line,
                false => scenario.not_applicable = line,
            }
            return;
        }
        let Some((field, value)) = Field::of_line(text) else {
            self.last = None;
            return;
        };
        self.last = Some(field);
        let span = match value.lines().next() {
            Some(first) if !first.is_empty() => {
                let found = block.span.find(self.source, first.trim());
                Span::new(found.start, block.span.end)
            }
            _ => block.span,
        };
        match field {
            Field::Falsifies => scenario.falsifies = references(self.source, span, 'C'),
            Field::Closes => scenario.closes = references(self.source, span, 'H'),
            _ => {}
        }
        scenario.fields.entry(field).or_insert_with(|| Text::new(value, span));
    }

    /// Items below a labelled one are part of what it says.
    fn nested(&mut self, scenario: &mut Scenario, block: &Block) {
        let field = self.last.and_then(|field| scenario.fields.get_mut(&field));
        let Some(text) = field else { return };
        if !text.text.is_empty() {
            text.text.push('\n');
        }
        text.text.push_str(block.text.trim());
        text.span.end = text.span.end.max(block.span.end);
    }

    fn machine(&mut self, scenario: &mut Scenario, fence: Span, body: Span) {
        let first = scenario.block.as_ref().map(|block| block.span);
        if let Some(first) = first.or(scenario.broken_block) {
            let message = format!("{} has a second machine block", scenario.id);
            let problem = Diagnostic::new(codes::BLOCK_TWICE, fence, message)
                .also(first, "the first one is here")
                .help("put everything a machine needs into one block");
            self.problems.push(problem);
            return;
        }
        match MachineBlock::read(self.source, body) {
            Ok(block) => scenario.block = Some(block),
            Err(error) => {
                let problem = Diagnostic::new(codes::BLOCK_MALFORMED, error.span, error.message);
                self.problems.push(problem.mean(error.near));
                scenario.broken_block = Some(body);
            }
        }
    }
}

fn empty(id: Id, span: Span, name: Text) -> Scenario {
    Scenario {
        id,
        span,
        name,
        fields: BTreeMap::new(),
        falsifies: vec![],
        closes: vec![],
        not_applicable: None,
        surfaces_not_applicable: None,
        block: None,
        broken_block: None,
        skeleton: None,
        arms: vec![],
    }
}

//! Section 4: hypotheses, as `H1. **title** — sentence` and labelled lines below.
//!
//! The method does not say whether a hypothesis is a paragraph, a list item or a heading, and
//! whether its labelled lines are lines or bullets. All of them are read.

use super::lines_of;
use crate::diagnostic::Diagnostic;
use crate::field::value_after;
use crate::ids::{Id, references};
use crate::markdown::{Block, Kind};
use crate::place::{Span, Text};
use crate::plan::{Hypothesis, Plan};
use crate::rules::codes;
use crate::words::HypothesisKind;

/// Reads the hypotheses, and which kinds do not apply.
pub(super) fn read(plan: &mut Plan, blocks: &[Block]) {
    let source = plan.source.clone();
    let mut kind = None;
    for block in blocks {
        match block.kind {
            Kind::Heading(_) => {
                if let Some(hypothesis) = begin(plan, &block.text, block.span, kind) {
                    plan.hypotheses.push(hypothesis);
                } else if let Some(named) = kind_of(&block.text) {
                    kind = Some(named);
                }
            }
            Kind::Paragraph | Kind::Item(_) => {
                for (line, span) in lines_of(&source, block.span) {
                    read_line(plan, &source, &line, span, kind);
                }
            }
            _ => {}
        }
    }
}

fn read_line(plan: &mut Plan, source: &str, line: &str, span: Span, kind: Option<HypothesisKind>) {
    if let Some(hypothesis) = begin(plan, line, span, kind) {
        plan.hypotheses.push(hypothesis);
        return;
    }
    if let Some((named, reason)) = not_applicable(line, kind) {
        plan.kinds_not_applicable.push((named, Text::new(reason, span)));
        return;
    }
    let Some(hypothesis) = plan.hypotheses.last_mut() else { return };
    if value_after(line, "Could falsify").is_some() {
        hypothesis.falsifies = references(source, span, 'C');
    } else if let Some(text) = value_after(line, "Suspected because") {
        hypothesis.suspected = Some(Text::new(text, span));
    } else if let Some(text) = value_after(line, "Subsystem") {
        hypothesis.subsystem = Some(Text::new(text, span));
    } else if let Some(text) = value_after(line, "Category") {
        hypothesis.kind = kind_of(text).or(hypothesis.kind);
    }
}

/// A hypothesis that begins with this line: `H3. title`.
fn begin(
    plan: &mut Plan,
    line: &str,
    span: Span,
    kind: Option<HypothesisKind>,
) -> Option<Hypothesis> {
    let rest = line.trim_start().strip_prefix('H')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let title = rest[digits..].strip_prefix(['.', ':', ')'])?;
    let Ok(number) = rest[..digits].parse() else {
        if digits > 0 {
            let message = format!("`H{}` is no id", &rest[..digits.min(20)]);
            plan.problems.push(Diagnostic::new(codes::ID_MALFORMED, span, message));
        }
        return None;
    };
    let id = Id::new('H', number);
    let span = span.find(&plan.source, &id.to_string());
    let title = Text::new(title.trim(), span);
    Some(Hypothesis { id, span, title, falsifies: vec![], suspected: None, subsystem: None, kind })
}

/// The kind a heading or label means: by its whole name, or by a part of `a/b`.
fn kind_of(text: &str) -> Option<HypothesisKind> {
    let text = text.trim().trim_end_matches('.').to_lowercase();
    let means = |kind: &&HypothesisKind| {
        let word = kind.word();
        text == word || word.split('/').any(|part| text == part) || text.replace(" / ", "/") == word
    };
    HypothesisKind::ALL.iter().find(means).copied()
}

/// `N/A — reason` under the heading of a kind, or `upgrade/rollback: N/A — reason` anywhere.
fn not_applicable(line: &str, current: Option<HypothesisKind>) -> Option<(HypothesisKind, String)> {
    let after = |text: &str| {
        let text = text.trim_start();
        let rest = ["N/A", "n/a", "Not applicable", "not applicable"]
            .iter()
            .find_map(|mark| text.strip_prefix(mark))?;
        Some(rest.trim_start_matches([':', '—', '–', '-', '.', ' ']).trim().to_string())
    };
    if let Some(reason) = after(line) {
        return current.map(|kind| (kind, reason));
    }
    let split = line.find(" N/A").or_else(|| line.to_lowercase().find(" not applicable"))?;
    let name = line.get(..split)?.trim_end_matches([':', '—', '–', '-', ' ']);
    Some((kind_of(name)?, after(line.get(split..)?)?))
}

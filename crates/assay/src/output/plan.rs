//! Plans for people: findings with their lines, claims, the matrix, what changed.

use crate::commands::plan::Linted;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use anstream::println;
use assay_plan::diff::{Change, Direction};
use assay_plan::place::Span;
use assay_plan::view::{ClaimView, MatrixView};
use assay_plan::{Diagnostic, Severity};
use owo_colors::OwoColorize;

/// Longer findings show their first lines only.
const LINES_MAX: usize = 6;
/// Longer lines are cut around the place.
const WIDTH: usize = 100;
/// More findings than this are counted, not shown.
const SHOWN_MAX: usize = 200;

/// Text from a file, fit for a terminal: every control character and override of direction becomes
/// a visible character of as many bytes, so that places still fit.
pub fn visible(text: &str) -> String {
    let hidden = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || ('\u{200b}'..='\u{200f}').contains(&c)
            || ('\u{2028}'..='\u{202e}').contains(&c)
            || ('\u{2060}'..='\u{206f}').contains(&c)
            || c == '\u{feff}'
    };
    let replacement = |c: char| match c.len_utf8() {
        1 => '?',
        2 => '¿',
        _ => '\u{fffd}',
    };
    text.chars().map(|c| if hidden(c) { replacement(c) } else { c }).collect()
}

fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// Prints what is wrong with a plan: the answer, then each finding, then what to do.
pub fn lint(linted: &Linted) {
    let path = linted.path.display();
    let (errors, warnings) = assay_plan::count(&linted.found);
    let summary = format!("{}, {}", counted(errors, "error"), counted(warnings, "warning"));
    match (errors, warnings) {
        (0, 0) => println!("{path}: {}", "clean".green().bold()),
        (0, _) => println!("{path}: {}", summary.yellow().bold()),
        _ => println!("{path}: {}", summary.red().bold()),
    }
    for diagnostic in linted.found.iter().take(SHOWN_MAX) {
        println!("\n{}", rendered(linted, diagnostic));
    }
    if linted.found.len() > SHOWN_MAX {
        println!("\n{} more are not shown (--format json has all)", linted.found.len() - SHOWN_MAX);
    }
    if let Some(first) = linted.found.first() {
        println!("\nnext: assay explain {}", first.code);
    }
}

/// Whole lines around a span, and the number of the first.
fn excerpt(linted: &Linted, span: Span) -> (String, usize, Span) {
    let source = linted.plan.print();
    let line_start = source[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let mut end = line_start;
    for line in source[line_start..].split_inclusive('\n').take(LINES_MAX) {
        end += line.len();
        if end >= span.end {
            break;
        }
    }
    let inside = Span::new(span.start - line_start, span.end.min(end) - line_start);
    (visible(&source[line_start..end]), linted.plan.line(span.start), inside)
}

fn rendered(linted: &Linted, diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let rule = diagnostic.code.rule();
    let (code, path) = (diagnostic.code.to_string(), linted.path.display().to_string());
    let path = visible(&path);
    let message = visible(&diagnostic.message);
    let (text, line, span) = excerpt(linted, diagnostic.span);
    let also = diagnostic.also.as_ref().map(|(span, why)| (excerpt(linted, *span), why));
    let mark = AnnotationKind::Primary.span(span.start..span.end).label(&message);
    let snippet = Snippet::source(&text).line_start(line).path(&path).annotation(mark);
    let mut group = level.primary_title(rule.title).id(&code).element(snippet);
    if let Some(((text, line, span), why)) = &also {
        let mark = AnnotationKind::Context.span(span.start..span.end).label(why.as_str());
        let other = Snippet::source(text).line_start(*line).path(&path).annotation(mark);
        group = group.element(other);
    }
    let help = visible(diagnostic.help.as_deref().unwrap_or(rule.fix));
    group = group.element(Level::HELP.message(&help));
    Renderer::styled().term_width(WIDTH).render(&[group])
}

/// Prints claims with their scenarios.
pub fn show(linted: &Linted, claims: &[ClaimView]) {
    let slug = linted.plan.slug.as_ref().map_or("(no title)", |slug| slug.text.as_str());
    let scenarios = linted.plan.scenarios.len();
    println!(
        "{}: {}, {}, {}",
        visible(slug).bold(),
        counted(claims.len(), "claim"),
        counted(linted.plan.hypotheses.len(), "hypothesis").replace("hypothesiss", "hypotheses"),
        counted(scenarios, "scenario"),
    );
    for claim in claims {
        let category = claim.category.map_or("no category", |category| category.word());
        println!("\n{}  {} ({category})", claim.id.bold(), visible(&claim.claim));
        if claim.scenarios.is_empty() {
            println!("  {}", "no scenario would falsify it".yellow());
        }
        for scenario in &claim.scenarios {
            let verdict = match scenario.verdict.as_str() {
                pass if pass.starts_with("PASS") => visible(pass).green().to_string(),
                fail if fail.starts_with("FAIL") => visible(fail).red().to_string(),
                other => visible(other).yellow().to_string(),
            };
            let note = if scenario.runnable { "" } else { "  (no machine block)" };
            println!(
                "  {:<10} {verdict}  {}{note}",
                scenario.id.to_string(),
                visible(&scenario.name)
            );
        }
    }
}

/// Prints the matrix.
pub fn matrix(linted: &Linted, matrix: &MatrixView) {
    let path = linted.path.display();
    let open =
        matrix.rows.iter().filter(|row| row.coverage == "open" || row.coverage == "not covered");
    println!("{path}: {}, {} open", counted(matrix.rows.len(), "row"), open.count());
    if let Some(rollup) = &matrix.rollup {
        println!("\n{:<8} {:>6}  {:<14} open hypotheses", "claim", "weight", "coverage");
        for line in rollup {
            let (claim, coverage) = (line.claim.to_string(), visible(&line.coverage));
            println!("{claim:<8} {:>6}  {coverage:<14} {}", line.weight, line.open);
        }
    }
    println!(
        "\n{:<8} {:<8} {:>6}  {:<14} {:<28} scenarios",
        "claim", "hypoth.", "weight", "coverage", "gap"
    );
    for row in &matrix.rows {
        let scenarios: Vec<String> = row.scenarios.iter().map(ToString::to_string).collect();
        println!(
            "{:<8} {:<8} {:>6}  {:<14} {:<28} {}",
            row.claim.to_string(),
            row.hypothesis.to_string(),
            row.weight,
            visible(&row.coverage),
            visible(&row.gap),
            scenarios.join(", ")
        );
    }
}

/// Prints what changed, the weaker first.
pub fn diff(old: &Linted, new: &Linted, changes: &[Change]) {
    let count = |direction| changes.iter().filter(|change| change.direction == direction).count();
    let (weaker, stronger) = (count(Direction::Weaker), count(Direction::Stronger));
    println!(
        "{} -> {}: {}, {weaker} weaker, {stronger} stronger",
        old.path.display(),
        new.path.display(),
        counted(changes.len(), "change"),
    );
    for change in changes {
        let word = match change.direction {
            Direction::Weaker => "weaker  ".red().to_string(),
            Direction::Stronger => "stronger".green().to_string(),
            Direction::Changed => "changed ".yellow().to_string(),
        };
        println!("\n{word}  {} {}", change.id, visible(&change.what));
        for (mark, text) in [("-", &change.old), ("+", &change.new)] {
            if !text.is_empty() {
                println!("  {mark} {}", visible(&text.replace('\n', " ")));
            }
        }
    }
}

//! A page as one HTML file.
//!
//! The file opens from disk with no network, needs no JavaScript (its own policy forbids scripts
//! and every request), follows the light or dark setting of the reader, and prints.

use askama::Template;

use crate::axis::Spacing;
use crate::clean;
use crate::limit::{Shown, count};
use crate::page::{Fact, Order, Page, Step, Story, Stuck, Table, Verdict};
use crate::ring;
use crate::scene::Setting;
use crate::svg;
use crate::timeline::Timeline;

/// More pictures than this are left out.
const TIMELINES_MAX: usize = 20;
/// More orders, or paragraphs of any kind, than this are left out.
const ITEMS_MAX: usize = 50;
/// More rows of a table, or steps of an order, than this are left out.
const ROWS_MAX: usize = 1_000;
const COLUMNS_MAX: usize = 50;
/// Longer paragraphs and cells are cut.
const PARAGRAPH_CELLS_MAX: usize = 4_000;
/// A longer certificate is cut; it is meant to be read from its own file then.
const CERTIFICATE_CHARS_MAX: usize = 1 << 20;

#[derive(Template)]
#[template(path = "page.html", whitespace = "suppress")]
struct Sheet {
    verdict: &'static str,
    tone: &'static str,
    headline: String,
    explanation: Vec<String>,
    rings: Vec<RingPicture>,
    pictures: Vec<Picture>,
    orders: Vec<Order>,
    facts: Vec<Fact>,
    tables: Vec<Table>,
    reproduce: Vec<String>,
    notes: Vec<String>,
    certificate: String,
    statements: Vec<String>,
}

struct RingPicture {
    title: String,
    svg: String,
    lines: Vec<String>,
}

struct Picture {
    title: String,
    subtitle: String,
    rank: String,
    real: String,
}

/// Renders `page` as one self-contained HTML file.
pub fn html(page: &Page) -> String {
    let mut statements = Vec::new();
    let (certificate, cut) = clean::block(&page.certificate, CERTIFICATE_CHARS_MAX);
    if cut {
        statements.push(format!("The certificate after {CERTIFICATE_CHARS_MAX} characters."));
    }
    let sheet = Sheet {
        verdict: page.verdict.word(),
        tone: tone(page.verdict),
        headline: paragraph(&page.headline),
        explanation: some(&page.explanation, ITEMS_MAX, "paragraph", &mut statements, text),
        rings: some(&page.stories, TIMELINES_MAX, "picture", &mut statements, story),
        pictures: some(&page.timelines, TIMELINES_MAX, "picture", &mut statements, picture),
        orders: some(&page.orders, ITEMS_MAX, "order", &mut statements, order),
        facts: some(&page.facts, ROWS_MAX, "fact", &mut statements, fact),
        tables: some(&page.tables, ITEMS_MAX, "table", &mut statements, table),
        reproduce: some(&page.reproduce, ITEMS_MAX, "command", &mut statements, text),
        notes: some(&page.notes, ITEMS_MAX, "note", &mut statements, text),
        certificate,
        statements,
    };
    sheet.render().expect("rendering into a string cannot fail")
}

fn tone(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Upheld => "upheld",
        Verdict::Refuted => "refuted",
        Verdict::Undecided => "undecided",
        Verdict::NothingChecked => "nothing",
    }
}

/// The first `most` items made fit for the page; what is left out is stated.
fn some<T, U>(
    items: &[T],
    most: usize,
    noun: &str,
    statements: &mut Vec<String>,
    make: impl Fn(&T, &mut Vec<String>) -> U,
) -> Vec<U> {
    if let Some(hidden) = items.len().checked_sub(most).filter(|&hidden| hidden > 0) {
        statements.push(format!("{} of {}.", count(hidden, noun), items.len()));
    }
    items.iter().take(most).map(|item| make(item, statements)).collect()
}

fn paragraph(text: &str) -> String {
    clean::line(text, PARAGRAPH_CELLS_MAX)
}

fn text(text: &impl AsRef<str>, _: &mut Vec<String>) -> String {
    clean::block(text.as_ref(), PARAGRAPH_CELLS_MAX).0
}

fn fact(fact: &Fact, _: &mut Vec<String>) -> Fact {
    Fact { name: paragraph(&fact.name), value: paragraph(&fact.value) }
}

fn order(order: &Order, statements: &mut Vec<String>) -> Order {
    let step = |step: &Step, _: &mut Vec<String>| Step {
        label: paragraph(&step.label),
        state: paragraph(&step.state),
    };
    let stuck =
        |stuck: &Stuck| Stuck { label: paragraph(&stuck.label), reason: paragraph(&stuck.reason) };
    Order {
        title: paragraph(&order.title),
        placed: some(&order.placed, ROWS_MAX, "step of an order", statements, step),
        stuck: order.stuck.as_ref().map(stuck),
    }
}

fn table(table: &Table, statements: &mut Vec<String>) -> Table {
    let cells = |row: &Vec<String>, statements: &mut Vec<String>| {
        some(row, COLUMNS_MAX, "column", statements, |cell, _| paragraph(cell))
    };
    Table {
        title: paragraph(&table.title),
        head: cells(&table.head, statements),
        rows: some(&table.rows, ROWS_MAX, "row", statements, cells),
    }
}

fn story(story: &Story, statements: &mut Vec<String>) -> RingPicture {
    RingPicture {
        title: paragraph(&story.ring.title),
        svg: ring::draw(&story.ring, false),
        lines: some(&story.lines, ITEMS_MAX, "sentence", statements, text),
    }
}

fn picture(timeline: &Timeline, _: &mut Vec<String>) -> Picture {
    let shown = Shown::new(timeline);
    Picture {
        title: paragraph(&timeline.title),
        subtitle: paragraph(&timeline.subtitle),
        rank: svg::draw(&shown, Spacing::Rank, Setting::Page),
        real: svg::draw(&shown, Spacing::Real, Setting::Page),
    }
}

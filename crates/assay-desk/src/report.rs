//! The report of a campaign: ten sections, every number from the record, with where it is from.
//!
//! `[leader]` is what this program measured itself, `[git]` what git says, `[agent]` what an agent
//! said and nobody could check. The last section says what all of this cannot show.

mod decisions;
mod sections;

use crate::event::Event;
use crate::shell::Recorded;
use crate::state::{Phase, State};
use pulldown_cmark::{Options, Parser};
use std::fmt::Write;

/// The report as Markdown. `stat` is what git says about the difference.
pub fn markdown(state: &State, events: &[Recorded], stat: &str) -> String {
    let mut text = String::new();
    head(&mut text, state, events);
    decisions::table(&mut text, events);
    sections::validation(&mut text, events);
    sections::failures(&mut text, events);
    sections::worker(&mut text, events);
    sections::verifier(&mut text, events);
    sections::lifecycle(&mut text, state, events);
    sections::adherence(&mut text, state, events);
    sections::patterns(&mut text, state, events);
    sections::recommendations(&mut text, state, events);
    sections::cost(&mut text, state, stat);
    sections::blind_spots(&mut text, state, events);
    text
}

fn head(text: &mut String, state: &State, events: &[Recorded]) {
    let contract = &state.contract;
    _ = writeln!(text, "# Campaign {}\n", plain(&contract.slug));
    let (word, reason) = match &state.phase {
        Phase::Ended(terminal) => (terminal.word(), terminal.reason().to_string()),
        _ => ("RUNNING", crate::shell::phase(&state.phase)),
    };
    _ = writeln!(text, "**{word}**: {} [leader]\n", plain(&reason));
    let (first, last) = (events.first(), events.last());
    let seconds = match (first, last) {
        (Some(first), Some(last)) => last.at_ms.saturating_sub(first.at_ms) / 1000,
        _ => 0,
    };
    _ = writeln!(text, "{}\n", plain(&contract.objective));
    _ = writeln!(
        text,
        "- contract `{}`\n- base `{}`, verified `{}` [git]\n- {} iterations, {} agents, {} events, \
         {seconds} s from first to last event [leader]",
        contract.hash,
        state.base.commit,
        state.tip.commit,
        state.iteration,
        state.run,
        events.len()
    );
    if let Some(Event::Opened(opened)) = first.map(|entry| &entry.event) {
        _ = writeln!(text, "- protection: {} [leader]", plain(&opened.sandbox));
    }
    let agents = &contract.settings.agents;
    _ = writeln!(
        text,
        "- Worker {}; Verifier {}\n",
        plain(&agents.worker.join(", then ")),
        plain(&agents.verifier)
    );
    text.push_str("| story | risk | criteria | state |\n|---|---|---|---|\n");
    for (story, progress) in contract.stories.iter().zip(&state.stories) {
        let verified = progress.verified.as_ref();
        let word = verified.map_or("open".to_string(), |at| format!("verified at `{}`", at.tree));
        _ = writeln!(
            text,
            "| {} {} | {:?} | {} | {word} |",
            story.id,
            plain(&story.title),
            story.risk,
            story.criteria.len()
        );
    }
}

/// The report as one page that needs no network.
pub fn html(state: &State, markdown: &str) -> String {
    let mut body = String::new();
    pulldown_cmark::html::push_html(&mut body, Parser::new_ext(markdown, Options::ENABLE_TABLES));
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta \
         name=\"viewport\" content=\"width=device-width\">\n<title>Campaign {}</title>\n\
         <style>{STYLE}</style>\
         </head>\n<body>\n{body}</body></html>\n",
        state.contract.slug
    )
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;\
padding:0 1rem;color:#1b1b1f;background:#fff}table{border-collapse:collapse;width:100%}\
td,th{border-bottom:1px solid #ccc;padding:.3rem .5rem;text-align:left;vertical-align:top}\
code{font-size:.85em;overflow-wrap:anywhere}h2{margin-top:2.2rem}\
@media(prefers-color-scheme:dark){body{color:#eee;background:#16161a}td,th{border-color:#444}}";

/// Text of others inside Markdown: no markup of theirs has an effect.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '#' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' | '\r' => out.push(' '),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

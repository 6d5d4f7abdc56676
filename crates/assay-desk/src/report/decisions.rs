//! What people decided: the only thing in a campaign that is not computed, so it stands in front.

use super::plain;
use crate::artifact::Artifact;
use crate::contract::{Contract, Waiver};
use crate::event::{Event, Terminal};
use crate::shell::Recorded;
use std::fmt::Write;

/// One decision.
struct Row<'r> {
    seq: u64,
    who: &'r str,
    what: String,
    why: &'r str,
    /// The contracts before and after, if it is about them.
    old: &'r str,
    new: &'r str,
}

/// Amendments, waivers, answers and the end by a person: who, why, and between which contracts.
pub(super) fn table(text: &mut String, events: &[Recorded]) {
    let rows = rows(events);
    text.push_str("\n## Decisions of people\n\n");
    if rows.is_empty() {
        text.push_str("None: no amendment, no waiver, no answer. [leader]\n");
        return;
    }
    text.push_str(
        "| event | who | decided | why | old contract | new contract |\n\
         |---|---|---|---|---|---|\n",
    );
    let hash = |hash: &str| if hash.is_empty() { String::new() } else { format!("`{hash}`") };
    for row in rows {
        _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            row.seq,
            plain(row.who),
            plain(&row.what),
            plain(row.why),
            hash(row.old),
            hash(row.new)
        );
    }
    text.push_str("\nNames and reasons are what people said of themselves.\n");
}

fn rows(events: &[Recorded]) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    let mut contract: Option<&Contract> = None;
    let mut question = "";
    for Recorded { seq, event, .. } in events {
        let seq = *seq;
        match event {
            Event::Opened(opened) => {
                rows.extend(waivers(seq, None, &opened.contract));
                contract = Some(&opened.contract);
            }
            Event::Amended(amended) => {
                let (who, why) = (amended.who.as_str(), amended.why.as_str());
                let (old, new) = (amended.old.as_str(), amended.contract.hash.as_str());
                rows.push(Row { seq, who, what: "amended the contract".into(), why, old, new });
                rows.extend(waivers(seq, contract, &amended.contract));
                contract = Some(&amended.contract);
            }
            Event::Returned(returned) => {
                if let Artifact::Verdict(verdict) = &returned.artifact {
                    question = verdict.question.as_deref().unwrap_or("");
                }
            }
            Event::Answered { who, text } => {
                let what = format!("answered “{question}”");
                rows.push(Row { seq, who, what, why: text, old: "", new: "" });
            }
            Event::Ended(Terminal::Aborted { reason }) => {
                let what = "ended the campaign".to_string();
                rows.push(Row { seq, who: "not said", what, why: reason, old: "", new: "" });
            }
            _ => {}
        }
    }
    rows
}

/// Laws that were waived by a contract and not by the one before it.
fn waivers<'r>(seq: u64, before: Option<&Contract>, now: &'r Contract) -> Vec<Row<'r>> {
    let known = |story: &str, waiver: &Waiver| {
        let old = before.and_then(|before| before.story(story));
        old.is_some_and(|old| old.waivers.contains(waiver))
    };
    let mut rows = Vec::new();
    for story in &now.stories {
        for waiver in story.waivers.iter().filter(|waiver| !known(&story.id, waiver)) {
            let what = format!("waived {} for {}", waiver.law, story.id);
            let (who, why, new) = (&waiver.by, &waiver.why, &now.hash);
            rows.push(Row { seq, who, what, why, old: "", new });
        }
    }
    rows
}

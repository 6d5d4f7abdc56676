//! The ten sections.

use super::plain;
use crate::artifact::Artifact;
use crate::event::{Checked, Dispatch, Event, Returned, Role, Scope, Step};
use crate::shell::Recorded;
use crate::state::State;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Agents with their dispatch.
fn runs(events: &[Recorded]) -> Vec<(&Dispatch, Option<&Returned>)> {
    let mut all: Vec<(&Dispatch, Option<&Returned>)> = Vec::new();
    for entry in events {
        match &entry.event {
            Event::Dispatched(dispatch) => all.push((dispatch, None)),
            Event::Returned(returned) => {
                if let Some(last) = all.iter_mut().find(|(d, _)| d.run == returned.run) {
                    last.1 = Some(returned);
                }
            }
            _ => {}
        }
    }
    all
}

fn checks(events: &[Recorded]) -> impl Iterator<Item = &Checked> {
    events.iter().filter_map(|entry| match &entry.event {
        Event::Checked(checked) => Some(&**checked),
        _ => None,
    })
}

fn artifact(returned: Option<&Returned>) -> String {
    let Some(returned) = returned else {
        return "lost with the Leader".to_string();
    };
    let said = match &returned.artifact {
        Artifact::Signal(signal) => format!("{:?}", signal.status).to_lowercase(),
        Artifact::Verdict(verdict) => {
            let met = verdict.criteria.iter().filter(|criterion| criterion.met).count();
            format!("{met} of {} criteria met", verdict.criteria.len())
        }
        Artifact::Missing => "no artifact".to_string(),
        Artifact::Rejected(why) => format!("rejected: {why}"),
    };
    match &returned.void {
        Some(void) => format!("void: {void}"),
        None => said,
    }
}

pub(super) fn validation(text: &mut String, events: &[Recorded]) {
    text.push_str("\n## 1. What was validated\n\n");
    text.push_str(
        "| run | iteration | who | for | ended | said [agent] |\n|---|---|---|---|---|---|\n",
    );
    for (dispatch, returned) in runs(events) {
        let ended = returned.map_or("lost".to_string(), |r| format!("{:?}", r.outcome));
        _ = writeln!(
            text,
            "| {} | {} | {} ({}) | {} | {} | {} |",
            dispatch.run,
            dispatch.iteration,
            dispatch.role.word(),
            plain(&dispatch.engine),
            dispatch.scope.name(),
            plain(&ended),
            plain(&artifact(returned))
        );
    }
    let all: Vec<&Checked> = checks(events).collect();
    let passed = all.iter().filter(|checked| checked.passed()).count();
    let ran: usize = all.iter().map(|checked| checked.evidence.len()).sum();
    _ = writeln!(
        text,
        "\n{passed} of {} checks passed, {ran} commands run by the Leader itself. [leader]",
        all.len()
    );
}

pub(super) fn failures(text: &mut String, events: &[Recorded]) {
    text.push_str("\n## 2. What failed and why\n\n");
    let mut any = false;
    for checked in checks(events).filter(|checked| !checked.passed()) {
        any = true;
        if let Some(why) = &checked.refuted {
            _ = writeln!(
                text,
                "- {}: verdict refuted: {} [leader]",
                checked.scope.name(),
                plain(why)
            );
        }
        for finding in checked.findings.iter().filter(|finding| finding.blocks()) {
            _ = writeln!(
                text,
                "- {} at `{}`: {}: {} [leader]",
                checked.scope.name(),
                checked.at.tree,
                plain(&finding.about),
                plain(&finding.text)
            );
        }
    }
    for entry in events {
        if let Event::FixIssued { story, issues } = &entry.event {
            any = true;
            let ids: Vec<&str> = issues.iter().map(|issue| issue.id.as_str()).collect();
            _ = writeln!(text, "- fix contract for {story}: {} [leader]", ids.join(", "));
        }
    }
    if !any {
        text.push_str("Nothing failed. A campaign without a failure is rare: read section 10.\n");
    }
}

pub(super) fn worker(text: &mut String, events: &[Recorded]) {
    text.push_str("\n## 3. How the Workers worked\n\n");
    let all = runs(events);
    let workers: Vec<_> = all.iter().filter(|(d, _)| d.role == Role::Worker).collect();
    let claims = workers.iter().filter(|(_, r)| r.is_some_and(|r| r.claim.is_some())).count();
    let count = |wanted: &Step| {
        let own: Vec<&Checked> = checks(events).filter(|c| c.step == *wanted).collect();
        format!("{} of {}", own.iter().filter(|c| c.passed()).count(), own.len())
    };
    _ = writeln!(
        text,
        "- {} Workers, {claims} claims with a commit [leader]\n- RED seen: {} [leader]\n- tests \
         made to fail, and heard: {} [leader]\n- scope kept: {} [git]\n- tests not weakened: {} \
         [git]",
        workers.len(),
        count(&Step::Red),
        count(&Step::Sabotage),
        count(&Step::Scope),
        count(&Step::Gaming)
    );
}

pub(super) fn verifier(text: &mut String, events: &[Recorded]) {
    text.push_str("\n## 4. How the Verifiers judged\n\n");
    let all = runs(events);
    let own: Vec<_> = all.iter().filter(|(d, _)| d.role != Role::Worker).collect();
    let void = own.iter().filter(|(_, r)| r.is_some_and(|r| r.void.is_some())).count();
    let refuted = checks(events).filter(|checked| checked.refuted.is_some()).count();
    let found = own
        .iter()
        .filter(|(_, r)| match r.map(|r| &r.artifact) {
            Some(Artifact::Verdict(v)) => v.criteria.iter().any(|c| !c.met) || !v.issues.is_empty(),
            _ => false,
        })
        .count();
    _ = writeln!(
        text,
        "- {} Verifiers; {found} found something, {refuted} were refuted by their own commands, \
         {void} changed what they looked at [leader]",
        own.len()
    );
    if !own.is_empty() && found == 0 {
        text.push_str("- none found anything: that is what a rubber stamp looks like, too\n");
    }
}

pub(super) fn lifecycle(text: &mut String, state: &State, events: &[Recorded]) {
    text.push_str("\n## 5. The life of each criterion\n\n");
    text.push_str("| criterion | claimed | verified | reopened | now |\n|---|---|---|---|---|\n");
    let mut claimed: BTreeMap<&str, u64> = BTreeMap::new();
    let mut verified: BTreeMap<&str, u64> = BTreeMap::new();
    let mut reopened: BTreeMap<&str, u64> = BTreeMap::new();
    for entry in events {
        match &entry.event {
            Event::Checked(checked) => {
                if let (Scope::Story(id), Step::Claim) = (&checked.scope, &checked.step) {
                    claimed.entry(id).or_insert(entry.seq);
                }
            }
            Event::Verified { story, .. } => _ = verified.entry(story).or_insert(entry.seq),
            Event::FixIssued { story, .. } => *reopened.entry(story).or_default() += 1,
            _ => {}
        }
    }
    let shown = |map: &BTreeMap<&str, u64>, id: &str| {
        map.get(id).map_or("never".to_string(), |seq| format!("event {seq}"))
    };
    for (story, progress) in state.contract.stories.iter().zip(&state.stories) {
        for criterion in story.criterion_ids() {
            let now = if progress.verified.is_some() { "verified" } else { "open" };
            _ = writeln!(
                text,
                "| {criterion} | {} | {} | {} | {now} |",
                shown(&claimed, &story.id),
                shown(&verified, &story.id),
                reopened.get(story.id.as_str()).unwrap_or(&0)
            );
        }
    }
}

pub(super) fn adherence(text: &mut String, state: &State, events: &[Recorded]) {
    text.push_str("\n## 6. Layers and mapped tests\n\n");
    for (story, progress) in state.contract.stories.iter().zip(&state.stories) {
        for (name, layer) in &story.layers {
            let shown = match layer {
                crate::contract::Layer::Required { commands } => {
                    let own = format!("{}/{name:?}/", story.id);
                    let passed: BTreeSet<String> = checks(events)
                        .filter(|checked| checked.passed())
                        .filter_map(|checked| match &checked.step {
                            Step::Command(id) if id.starts_with(&own) => Some(id.clone()),
                            _ => None,
                        })
                        .collect();
                    format!("{} of {} commands passed [leader]", passed.len(), commands.len())
                }
                crate::contract::Layer::NotApplicable { not_applicable } => {
                    format!("does not apply: {}", plain(not_applicable))
                }
            };
            _ = writeln!(text, "- {} {name:?}: {shown}", story.id);
        }
        let mapped = crate::gate::tests::mapping(story, &progress.tests).len();
        _ = writeln!(text, "- {}: {mapped} mapped tests", story.id);
        for waiver in &story.waivers {
            _ = writeln!(
                text,
                "- {}: {} waived by {}: {}",
                story.id,
                plain(&waiver.law),
                plain(&waiver.by),
                plain(&waiver.why)
            );
        }
    }
}

pub(super) fn patterns(text: &mut String, state: &State, events: &[Recorded]) {
    text.push_str("\n## 7. Patterns\n\n");
    let mut about: BTreeMap<String, usize> = BTreeMap::new();
    for checked in checks(events) {
        for finding in checked.findings.iter().filter(|finding| finding.blocks()) {
            *about.entry(finding.about.clone()).or_default() += 1;
        }
    }
    let mut sorted: Vec<_> = about.into_iter().collect();
    sorted.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), name.clone()));
    for (name, count) in sorted.iter().take(10) {
        _ = writeln!(text, "- {} failed {count} times [leader]", plain(name));
    }
    let first_time = state
        .contract
        .stories
        .iter()
        .zip(&state.stories)
        .filter(|(_, progress)| progress.verified.is_some() && progress.attempts.is_empty())
        .count();
    _ = writeln!(text, "- {first_time} stories were verified at the first attempt [leader]");
}

pub(super) fn recommendations(text: &mut String, state: &State, events: &[Recorded]) {
    text.push_str("\n## 8. What to do differently next time\n\n");
    let mut any = false;
    for (story, progress) in state.contract.stories.iter().zip(&state.stories) {
        if progress.attempts.len() >= 2 {
            any = true;
            _ = writeln!(
                text,
                "- {}: {} attempts failed; split it or sharpen its criteria",
                story.id,
                progress.attempts.len()
            );
        }
    }
    if let Some(Event::Opened(opened)) = events.first().map(|entry| &entry.event) {
        for score in opened.scores.iter().filter(|s| s.band() != crate::contract::Band::Pass) {
            any = true;
            let why = plain(&score.why.join("; "));
            _ = writeln!(text, "- {}: {} of 12 points: {why}", score.criterion, score.total());
        }
    }
    if !any {
        text.push_str("- nothing stands out\n");
    }
}

pub(super) fn cost(text: &mut String, state: &State, stat: &str) {
    text.push_str("\n## 9. Cost\n\n");
    let tokens = match state.counters.tokens {
        0 => "tokens unknown: no agent said how many".to_string(),
        tokens => format!("{tokens} tokens [agent]"),
    };
    _ = writeln!(
        text,
        "- agents {:.1} s, commands {:.1} s [leader]\n- {tokens}\n\nFiles changed since the \
         base [git]:\n",
        state.counters.agent_ms as f64 / 1000.0,
        state.counters.command_ms as f64 / 1000.0
    );
    for line in stat.lines() {
        _ = writeln!(text, "    {line}");
    }
}

pub(super) fn blind_spots(text: &mut String, state: &State, events: &[Recorded]) {
    text.push_str("\n## 10. Blind spots\n\n");
    text.push_str(
        "- Tests show what they look at. Whether they look at what the criterion means is a \
         judgement of agents and of whoever reads this.\n- Whether tests got weaker is \
         decided from lines and syntax, not by running mutants of every story.\n- What the \
         machine itself did (compilers, runners, the kernel) is believed.\n- So is the world \
         outside: the network, sockets and services that programs and tests talk to are neither \
         held fast nor recorded, and may answer otherwise tomorrow.\n- Tests that recognise \
         their own text could tell when they are made to fail.\n- In languages in which no \
         function can be made to fail, tests that could not begin without the work show that they \
         need something of it.\n",
    );
    if !checks(events).any(|checked| checked.step == Step::Mutation) {
        text.push_str("- No story was CRITICAL: nobody took changes back to see tests fail.\n");
    }
    let agents = &state.contract.settings.agents;
    if agents.worker.contains(&agents.verifier) {
        text.push_str("- Worker and Verifier are the same engine: they may share blind spots.\n");
    }
    let unprotected = runs(events).iter().any(|(_, returned)| {
        returned.is_some_and(|returned| returned.sandbox.contains("nothing keeps"))
    });
    if unprotected {
        text.push_str(
            "- The kernel did not keep agents in their place: changes outside were looked for \
             afterwards, in protected files and the checkout only.\n",
        );
    }
}

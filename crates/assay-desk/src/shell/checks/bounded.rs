//! Findings that fit in an event: a claim can be wrong in more places than can be written down.

use crate::gate::Finding;

/// Findings of one check that are written down one by one.
const FINDINGS_MAX: usize = 50;
/// What the findings of one gate may take, in bytes of JSON. They stand in one event for the next
/// Worker, and an event has at most 1 MiB.
const FINDINGS_BYTES_MAX: usize = 256 << 10;
/// What each finding takes besides: its number, and what keeps it apart from the next.
const FRAME_BYTES: usize = 40;
/// A text, or advice, of one finding, in characters.
const TEXT_CHARS_MAX: usize = 2_000;
/// What a finding is about, in characters.
const ABOUT_CHARS_MAX: usize = 200;

/// The worst of the findings of a check, as many as there is room for beside those of the checks
/// before it, and one that says how many more there are. That one is as bad as the worst of those.
pub(super) fn findings(mut all: Vec<Finding>, before: &[Finding]) -> Vec<Finding> {
    all.iter_mut().for_each(shorten);
    let mut room = FINDINGS_BYTES_MAX.saturating_sub(before.iter().map(bytes).sum());
    let fits = all.len() <= FINDINGS_MAX && all.iter().map(bytes).sum::<usize>() <= room;
    if fits {
        return all;
    }
    all.sort_by_key(|finding| finding.severity);
    let mut kept = 0;
    for finding in all.iter().take(FINDINGS_MAX) {
        let Some(left) = room.checked_sub(bytes(finding)) else { break };
        (room, kept) = (left, kept + 1);
    }
    let more = all.split_off(kept);
    if let Some(first) = more.first() {
        let text = format!("and {} more: mend these, and the rest is told", more.len());
        all.push(Finding::new(&first.about, first.severity, text));
    }
    all
}

fn shorten(finding: &mut Finding) {
    let cut = |text: &mut String, max: usize| {
        if let Some((at, _)) = text.char_indices().nth(max) {
            text.truncate(at);
        }
    };
    cut(&mut finding.about, ABOUT_CHARS_MAX);
    cut(&mut finding.text, TEXT_CHARS_MAX);
    finding.hint.iter_mut().for_each(|hint| cut(hint, TEXT_CHARS_MAX));
}

fn bytes(finding: &Finding) -> usize {
    FRAME_BYTES + serde_json::to_string(finding).map_or(FINDINGS_BYTES_MAX, |text| text.len())
}

#[cfg(test)]
mod tests {
    use super::{FINDINGS_BYTES_MAX, FINDINGS_MAX, bytes, findings};
    use crate::gate::{Finding, Severity};

    fn some(count: usize, severity: Severity, text: &str) -> Vec<Finding> {
        (0..count).map(|i| Finding::new(format!("a{i}"), severity, text)).collect()
    }

    #[test]
    fn a_few_findings_stay_as_they_are() {
        let few = [some(3, Severity::Minor, "x"), some(FINDINGS_MAX - 3, Severity::Major, "y")];
        let few = few.concat();
        assert_eq!(findings(few.clone(), &[]), few);
    }

    #[test]
    fn of_many_the_worst_are_kept_and_the_rest_is_counted() {
        let many = [some(100, Severity::Minor, "x"), some(20, Severity::Critical, "y")].concat();
        let kept = findings(many, &[]);
        assert_eq!(kept.len(), FINDINGS_MAX + 1);
        assert!(kept[..20].iter().all(|finding| finding.severity == Severity::Critical));
        let last = kept.last().expect("one more");
        assert!(last.text.starts_with("and 70 more") && !last.blocks(), "{last:?}");
        let kept = findings(some(51, Severity::Major, "x"), &[]);
        assert!(kept.last().is_some_and(|last| last.text.starts_with("and 1 more")));
        assert!(kept.iter().all(Finding::blocks));
    }

    #[test]
    fn however_long_they_are_all_findings_of_a_gate_fit_in_an_event() {
        let mut gate = Vec::new();
        for _ in 0..30 {
            let long = some(60, Severity::Major, &"\u{1}".repeat(1 << 16));
            let kept = findings(long, &gate);
            assert!(kept.iter().any(Finding::blocks), "none is lost without a word");
            gate.extend(kept);
        }
        let all: usize = gate.iter().map(bytes).sum();
        assert!(all <= FINDINGS_BYTES_MAX + 30 * 400, "{all}");
    }
}

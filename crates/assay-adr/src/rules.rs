//! What is asked of records, one row a rule. `assay explain A13` is made from it.

use serde::Serialize;

/// A rule.
#[derive(Debug, Serialize)]
pub struct Rule {
    /// Its name, which never changes its meaning.
    pub id: &'static str,
    /// What it finds, in a few words.
    pub title: &'static str,
    /// Why that matters.
    pub why: &'static str,
    /// What to do about it.
    pub fix: &'static str,
}

const fn rule(id: &'static str, title: &'static str, why: &'static str, fix: &'static str) -> Rule {
    Rule { id, title, why, fix }
}

/// All rules.
pub const RULES: &[Rule] = &[
    rule(
        "A01",
        "a file name that is no number and title",
        "records are cited by number and found by name; a file that is neither is found by nobody",
        "name it NNNN-title-in-small-letters.md, with as many digits as its neighbours",
    ),
    rule(
        "A02",
        "a title that does not name the record",
        "readers and links go by the number in the title; it must be that of the file",
        "begin with `# ADR-NNNN: Title` (`GAP-NNNN`, `Deviation NNNN`, `Supplement NNNN`)",
    ),
    rule(
        "A03",
        "a number used twice",
        "two records with one number make every citation of it ambiguous",
        "give the younger one the next free number: `assay adr new` knows it",
    ),
    rule(
        "A04",
        "a number that is missing",
        "a hole in the numbers is a record somebody deleted: decisions are superseded, not deleted",
        "bring the record back and give it a status that says that it no longer holds",
    ),
    rule(
        "A05",
        "a field that is missing or malformed",
        "without a status nobody knows whether it holds, without an owner nobody ends it",
        "add the line `Name: value` below the title; days are written 2026-11-17",
    ),
    rule(
        "A06",
        "a status that is none",
        "a status that only its author understands cannot be counted, filtered or followed",
        "use one of the kind's statuses; what is special goes into the text",
    ),
    rule(
        "A07",
        "a status that went backwards",
        "what was accepted or closed was relied upon; taking it back is a new decision",
        "write a new record that supersedes this one, or open a new gap (needs --base)",
    ),
    rule(
        "A08",
        "a section that is missing",
        "every section answers a question somebody will ask when the author is gone",
        "add the section; that there is nothing to say is worth a sentence, too",
    ),
    rule(
        "A09",
        "sections in another order",
        "records are skimmed; what is always in the same place is found",
        "move the section",
    ),
    rule(
        "A10",
        "a section with nothing in it",
        "a heading over nothing looks answered and is not",
        "write it; that there is nothing to say is worth a sentence, too",
    ),
    rule(
        "A11",
        "a record that an index does not list",
        "people read the index and not the directory: what is missing there is not known",
        "add the row; the message has it",
    ),
    rule(
        "A12",
        "a row of an index that is not true",
        "an index that disagrees with the records misleads everybody who stops there",
        "make title and status those of the record, or remove the row",
    ),
    rule(
        "A13",
        "a link that leads nowhere",
        "a reader who follows a dead link stops trusting the rest",
        "mend the path (it counts from the file it stands in) or the name of the heading",
    ),
    rule(
        "A14",
        "an id that means no record, or another one",
        "a citation of the wrong record gives a reason that was never given",
        "write the id of the record that is meant",
    ),
    rule(
        "A15",
        "superseded on one side only",
        "who reads the old record must learn that it no longer holds, and who reads the new one \
         what it replaced",
        "`Status: Superseded by [ADR-NNNN](…)` in the old, `Supersedes: [ADR-NNNN](…)` in the new",
    ),
    rule(
        "A16",
        "a citation of code that is stale",
        "a line number that points at something else is worse than none",
        "cite the line where it stands now; `path:line text` also says what must stand there",
    ),
    rule(
        "A17",
        "severity or frequency that is none",
        "gaps are sorted by them, and prose cannot be sorted",
        "in Impact: `- **Severity:** Low|Medium|High|Critical`, \
         `- **Frequency:** Rare|Occasional|Common`",
    ),
    rule(
        "A18",
        "a gap that ended without an answer",
        "a gap ends in a decision or in an accepted deviation; else it was only forgotten",
        "link the ADR that answers it, or the deviation that accepts it",
    ),
    rule(
        "A19",
        "a deviation from nothing",
        "a deviation means something only beside the words it deviates from",
        "link the ADR in Related ADR, and quote it word for word (`> …`) in ADR States",
    ),
    rule(
        "A20",
        "a supplement beside its decision",
        "what changes lives in the supplement only if readers of the decision find it there",
        "name the parent, link the supplement from it, and call the file NNNN-parent-name-type.md",
    ),
    rule(
        "A21",
        "an implementation status that is not true",
        "a reader takes the table for the code: files must be there, what is built was accepted",
        "mend the paths; accept a decision before it is carried out",
    ),
    rule(
        "A22",
        "a decision that changed without a row in its log",
        "the log is where a later reader finds when and why a decision became another",
        "add a row with date, decision and rationale, or write a new record (needs --base)",
    ),
    rule(
        "A23",
        "a file that cannot be read",
        "what is not read is not checked, and must not look as if it were",
        "records are UTF-8 text of at most 1 MiB",
    ),
    rule(
        "A24",
        "a decision log without days or reasons",
        "a log that does not say when and why is a list of opinions",
        "rows of Decision Log have date (2026-11-17), decision and rationale, oldest first",
    ),
];

/// The rule of this name, whatever the case.
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id.eq_ignore_ascii_case(id))
}

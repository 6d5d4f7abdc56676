//! Q01 to Q11 over two trees.

use super::judge::{binding, essence, judge, out_of_scope};
use super::plan;
use super::statements::{Statement, statements};
use super::words::{modal, words};
use crate::config::{Config, matches};
use crate::finding::{Finding, Side, Verdict, finding};
use crate::rules::id;
use crate::tree::{Tree, extension, text};
use std::collections::{BTreeMap, BTreeSet};

/// What got weaker in documents.
pub fn compare(before: &Tree, after: &Tree, config: &Config) -> Vec<Finding> {
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let changed: Vec<&String> = paths
        .into_iter()
        .filter(|path| before.get(*path) != after.get(*path) && is_document(path, config))
        .collect();
    let mut findings = Vec::new();
    let plans: BTreeSet<&String> = changed
        .iter()
        .filter(|path| [before, after].iter().any(|t| text(t, path).is_some_and(plan::is_plan)))
        .copied()
        .collect();
    for path in &plans {
        findings.extend(plan::compare(path, text(before, path), text(after, path), config));
    }
    let load = |tree: &Tree| -> Vec<Placed> {
        let files = changed.iter().filter(|path| !plans.contains(*path));
        files
            .flat_map(|path| {
                let found = text(tree, path).map_or(Vec::new(), |source| statements(path, source));
                found.into_iter().map(|statement| Placed { file: path.to_string(), statement })
            })
            .collect()
    };
    let (old, new) = (load(before), load(after));
    Documents { old: &old, new: &new, config }.compare(&mut findings);
    findings
}

/// Whether a file is a document with requirements.
pub fn is_document(path: &str, config: &Config) -> bool {
    let lower = path.to_ascii_lowercase();
    let listed = config.requirements.iter().any(|pattern| matches(pattern, path));
    match extension(path).as_str() {
        "md" | "markdown" | "mdx" | "txt" if extension(path) != "txt" || listed => {
            !lower.ends_with("changelog.md")
        }
        "toml" | "json" => {
            listed
                || ["contract", "criteria", "acceptance", "requirement", "prd"]
                    .iter()
                    .any(|word| lower.contains(word))
        }
        _ => listed,
    }
}

/// Whether a file is about requirements by its name: then sentences without ids count, too.
fn is_about_requirements(path: &str, config: &Config) -> bool {
    let lower = path.to_ascii_lowercase();
    [
        "adr",
        "prd",
        "requirement",
        "spec",
        "plan",
        "acceptance",
        "contract",
        "rfc",
        "invariant",
        "promise",
        "guarantee",
        "agents.md",
        "claude.md",
    ]
    .iter()
    .any(|word| lower.contains(word))
        || config.requirements.iter().any(|pattern| matches(pattern, path))
}

struct Placed {
    file: String,
    statement: Statement,
}

impl Placed {
    fn side(&self) -> Side<'_> {
        Side { file: &self.file, line: self.statement.line, text: &self.statement.text }
    }

    fn object(&self) -> String {
        match &self.statement.id {
            Some(id) => id.clone(),
            None => {
                let heading = self.statement.headings.last().map_or("", String::as_str);
                let anchor: String = heading
                    .to_lowercase()
                    .chars()
                    .map(|c| if c.is_alphanumeric() { c } else { '-' })
                    .collect();
                format!("{}#{}", self.file, anchor.trim_matches('-'))
            }
        }
    }

    fn essence(&self) -> Vec<String> {
        essence(&words(&self.statement.text))
    }

    /// Whether it says what holds, in a document of decisions or promises.
    fn promises(&self, config: &Config) -> bool {
        let under = |heading: &String| {
            let lower = heading.to_lowercase();
            let aside = ["log", "driver"].iter().any(|word| lower.contains(word));
            PROMISES.iter().any(|word| lower.starts_with(word)) && !aside
        };
        is_about_requirements(&self.file, config)
            && (self.statement.headings.last().is_some_and(under)
                || standing(&self.statement.text).is_some())
    }

    /// Whether it stands in a list of what is guaranteed, whatever the document is called.
    fn guarantees(&self) -> bool {
        let last = self.statement.headings.last().map(|heading| heading.to_lowercase());
        let list = |heading: String| {
            ["guarantee", "promise", "invariant"].iter().any(|word| heading.starts_with(word))
        };
        self.statement.item && last.is_some_and(list)
    }

    /// Whether it asks for something though it has no id.
    fn asks(&self, config: &Config) -> bool {
        let text = &self.statement.text;
        let shouted = ["MUST", "SHALL", "REQUIRED", "SHOULD"]
            .iter()
            .any(|word| text.split(|c: char| !c.is_alphanumeric()).any(|w| w == *word));
        let bound = modal(&words(text)).rank >= 2;
        shouted || self.statement.boxed || (bound && is_about_requirements(&self.file, config))
    }
}

/// Headings under which every sentence is a promise, with or without a must.
const PROMISES: &[&str] = &["decision", "guarantee", "promise", "invariant", "contract"];

/// The cells of a row, in any order: which column comes first says nothing.
fn cells(row: &str) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = row.split(" | ").map(|cell| essence(&words(cell))).collect();
    all.sort();
    all
}

/// How far a decision is from holding, by the word for its status.
fn standing(text: &str) -> Option<u8> {
    let words = words(text);
    let [label, word, ..] = &words[..] else { return None };
    let rank = match word.as_str() {
        "accepted" | "approved" | "active" | "adopted" => 0,
        "proposed" | "draft" | "pending" => 1,
        "superseded" | "deprecated" | "rejected" | "withdrawn" | "obsolete" => 2,
        _ => return None,
    };
    (label == "status").then_some(rank)
}

struct Documents<'d> {
    old: &'d [Placed],
    new: &'d [Placed],
    config: &'d Config,
}

impl Documents<'_> {
    fn compare(&self, findings: &mut Vec<Finding>) {
        let mut taken = vec![false; self.new.len()];
        let mut partner: Vec<Option<usize>> = vec![None; self.old.len()];
        self.by_id(&mut partner, &mut taken);
        self.by_text(&mut partner, &mut taken);
        self.by_similarity(&mut partner, &mut taken);
        for (one, found) in self.old.iter().zip(partner) {
            match found {
                Some(at) => self.both(one, &self.new[at], findings),
                None => self.gone(one, findings),
            }
        }
    }

    fn by_id(&self, partner: &mut [Option<usize>], taken: &mut [bool]) {
        let mut index: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, one) in self.new.iter().enumerate() {
            if let Some(id) = &one.statement.id {
                index.entry(id).or_default().push(at);
            }
        }
        for (at, one) in self.old.iter().enumerate() {
            let Some(id) = &one.statement.id else { continue };
            let options: Vec<usize> = index
                .get(id.as_str())
                .into_iter()
                .flatten()
                .copied()
                .filter(|other| !taken[*other])
                .collect();
            let same = |other: &&usize| self.new[**other].essence() == one.essence();
            let beside = |other: &&usize| self.new[**other].file == one.file;
            let found = options
                .iter()
                .find(|o| same(o) && beside(o))
                .or_else(|| options.iter().find(beside))
                .or_else(|| options.iter().find(same))
                .or(options.first());
            if let Some(found) = found {
                partner[at] = Some(*found);
                taken[*found] = true;
            }
        }
    }

    fn by_text(&self, partner: &mut [Option<usize>], taken: &mut [bool]) {
        let mut index: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
        for (at, one) in self.new.iter().enumerate().filter(|(at, _)| !taken[*at]) {
            index.entry(one.essence()).or_default().push(at);
        }
        for (at, one) in self.old.iter().enumerate() {
            if partner[at].is_some() {
                continue;
            }
            let options = index.get(&one.essence()).into_iter().flatten();
            if let Some(found) = options.copied().find(|other| !taken[*other]) {
                partner[at] = Some(found);
                taken[found] = true;
            }
        }
    }

    /// Sentences without ids that share most of their words.
    fn by_similarity(&self, partner: &mut [Option<usize>], taken: &mut [bool]) {
        let free: Vec<(usize, BTreeSet<String>)> = (0..self.new.len())
            .filter(|at| !taken[*at])
            .map(|at| (at, self.new[at].essence().into_iter().collect()))
            .collect();
        for (at, one) in self.old.iter().enumerate() {
            let counts = one.asks(self.config) || one.promises(self.config);
            if partner[at].is_some() || !counts && one.statement.id.is_none() {
                continue;
            }
            let own: BTreeSet<String> = one.essence().into_iter().collect();
            let status = standing(&one.statement.text).is_some();
            let score = |other: &BTreeSet<String>| {
                let common = own.intersection(other).count();
                common * 100 / own.union(other).count().max(1)
            };
            let same_id = |other: usize| {
                let (a, b) = (&one.statement.id, &self.new[other].statement.id);
                a.is_none() == b.is_none()
            };
            let best = free
                .iter()
                .filter(|(other, _)| {
                    !taken[*other] && self.new[*other].file == one.file && same_id(*other)
                })
                .map(|(other, words)| {
                    let stands = standing(&self.new[*other].statement.text).is_some();
                    // Two words for a status have nothing in common but that.
                    (if status && stands { 100 } else { score(words) }, *other)
                })
                .max_by_key(|(score, other)| (*score, usize::MAX - *other));
            if let Some((score, found)) = best
                && score >= 40
            {
                partner[at] = Some(found);
                taken[found] = true;
            }
        }
    }

    fn gone(&self, one: &Placed, findings: &mut Vec<Finding>) {
        let asked = one.asks(self.config) || one.guarantees();
        let with_id = one.statement.id.is_some() && !out_of_scope(&one.statement.headings);
        if !with_id && (!asked || one.statement.row) {
            return;
        }
        let rule = if one.statement.boxed && one.statement.id.is_none() { "Q10" } else { "Q08" };
        let reason = match rule {
            "Q10" => "an item of the list is gone".to_string(),
            _ => format!("{} is gone, and nothing says the same", one.object()),
        };
        let sides = (Some(one.side()), None);
        findings.push(finding(id(rule), one.object(), Verdict::Weaker, sides, reason));
    }

    fn both(&self, one: &Placed, other: &Placed, findings: &mut Vec<Finding>) {
        let relevant =
            one.statement.id.is_some() || one.asks(self.config) || one.promises(self.config);
        if !relevant {
            return;
        }
        let sides = (Some(one.side()), Some(other.side()));
        let mut push = |rule: &'static str, verdict, reason: String| {
            findings.push(finding(id(rule), one.object(), verdict, sides, reason));
        };
        let (a, b) = (&one.statement, &other.statement);
        if a.row && b.row && cells(&a.text) == cells(&b.text) {
            return;
        }
        if !out_of_scope(&a.headings) && out_of_scope(&b.headings) {
            let reason = format!("moved under \"{}\"", b.headings.last().map_or("", |h| h));
            push("Q07", Verdict::Weaker, reason);
        }
        if let (Some(was), Some(is)) = (standing(&a.text), standing(&b.text)) {
            if is > was {
                push("Q07", Verdict::Suspect, format!("{} became {}", a.text, b.text));
            }
            return;
        }
        let (was, is) = (binding(&a.headings), binding(&b.headings));
        if was > is && is > 0 {
            let reason = format!("demoted to \"{}\"", b.headings.last().map_or("", |h| h));
            push("Q10", Verdict::Weaker, reason);
        }
        if a.id.is_some() && b.id.is_some() && a.id != b.id && one.essence() == other.essence() {
            return;
        }
        let mut judged = judge(&a.text, &b.text, self.config);
        judged.retain(|(rule, verdict, _)| {
            *rule != "Q09" || *verdict != Verdict::Weaker || !self.says_elsewhere(one, other)
        });
        let tells = |(rule, verdict, _): &(_, _, _)| *rule != "Q09" || *verdict == Verdict::Weaker;
        let decided = judged.iter().any(tells);
        let differs = judged.iter().any(|(_, verdict, _)| *verdict != Verdict::Stronger);
        for (rule, verdict, reason) in judged {
            // What has no id is only told where the words decide.
            if a.id.is_some() || decided {
                push(rule, verdict, reason);
            }
        }
        if differs && self.unlogged(one) {
            let reason = "the decision log has no new entry for it: it still tells the old story";
            push("Q11", Verdict::Suspect, reason.to_string());
        }
    }

    /// Whether what a sentence no longer says is said by one that was not there before.
    fn says_elsewhere(&self, one: &Placed, other: &Placed) -> bool {
        let now: BTreeSet<String> = other.essence().into_iter().collect();
        let joins = |word: &String| matches!(word.as_str(), "and" | "or" | "must" | "be");
        let lost: Vec<String> =
            one.essence().into_iter().filter(|w| !now.contains(w) && !joins(w)).collect();
        let fresh = self.new.iter().filter(|placed| {
            placed.file == other.file
                && !std::ptr::eq(*placed, other)
                && !self.old.iter().any(|old| old.statement.text == placed.statement.text)
        });
        let mut said = fresh.map(Placed::essence);
        !lost.is_empty() && said.any(|words| lost.iter().all(|word| words.contains(word)))
    }

    /// Whether a row about an invariant changed in a decision whose log did not grow.
    fn unlogged(&self, one: &Placed) -> bool {
        let of_invariants = one.statement.row
            && one.statement.headings.iter().any(|h| h.to_lowercase().contains("invariant"));
        if !of_invariants {
            return false;
        }
        let log = |placed: &&Placed| {
            placed.file == one.file
                && placed.statement.headings.iter().any(|h| {
                    let lower = h.to_lowercase();
                    lower.contains("decision log") || lower.contains("changelog")
                })
        };
        self.new.iter().filter(log).count() <= self.old.iter().filter(log).count()
    }
}

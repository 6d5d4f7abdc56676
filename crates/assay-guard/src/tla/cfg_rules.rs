//! C01 to C06: what is checked, with which constants, and whether anybody runs it.

use super::cfg::{Cfg, Constant, parse_cfg};
use super::modules::{Checked, module_of};
use super::properties::{aggregate, properties};
use crate::config::Config;
use crate::finding::{Finding, Side, Verdict, finding};
use crate::rules::id;
use crate::tree::{Tree, extension, file_name, text};
use std::collections::{BTreeMap, BTreeSet};

/// What got weaker in configurations.
pub fn compare(
    before: &Tree,
    after: &Tree,
    old: &[Checked<'_>],
    new: &[Checked<'_>],
    config: &Config,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (old_cfgs, new_cfgs) = (cfgs(before), cfgs(after));
    for (file, cfg) in &old_cfgs {
        let found = new_cfgs.get(file).map(|(cfg, text)| (*file, cfg, *text));
        let moved = || {
            let name = file_name(file);
            let fresh = new_cfgs.iter().filter(|(path, _)| !old_cfgs.contains_key(*path));
            let mut same =
                fresh.filter(|(path, (_, text))| file_name(path) == name || *text == cfg.1);
            same.next().map(|(path, (cfg, text))| (*path, cfg, *text))
        };
        let renames = renames(file, old, new);
        match found.or_else(moved) {
            Some((path, other, source)) => {
                let pair = Pair { old: (file, &cfg.0, cfg.1), new: (path, other, source) };
                if pair.old.2 != pair.new.2 {
                    pair.compare(&renames, config, &mut findings);
                }
            }
            None => gone(file, &cfg.0, &new_cfgs, &mut findings),
        }
    }
    unlisted(old, new, &mut findings);
    no_longer_run(before, after, &old_cfgs, &mut findings);
    findings
}

type Cfgs<'t> = BTreeMap<&'t str, (Cfg, &'t str)>;

fn cfgs(tree: &Tree) -> Cfgs<'_> {
    let modules: Vec<&str> =
        tree.keys().filter(|path| extension(path) == "tla").map(String::as_str).collect();
    let mut found = BTreeMap::new();
    for path in tree.keys().filter(|path| extension(path) == "cfg") {
        let Some(source) = text(tree, path) else { continue };
        let cfg = parse_cfg(source);
        // Other programs have files of this name, too.
        let ours = module_of(path, &modules).is_some()
            || cfg.section("SPECIFICATION").next().is_some()
            || cfg.checked().next().is_some();
        if ours {
            found.insert(path.as_str(), (cfg, source));
        }
    }
    found
}

/// Old names of properties that the same file now has under a new name with the same meaning.
fn renames(file: &str, old: &[Checked<'_>], new: &[Checked<'_>]) -> BTreeMap<String, String> {
    let owner = old.iter().find(|checked| checked.cfgs.iter().any(|(path, _)| *path == file));
    let Some(owner) = owner else { return BTreeMap::new() };
    let Some(other) = new.iter().find(|checked| checked.module.name == owner.module.name) else {
        return BTreeMap::new();
    };
    let bodies: BTreeMap<_, _> = other
        .module
        .operators
        .iter()
        .filter(|op| owner.module.operator(&op.name).is_none())
        .map(|op| (crate::formula::canonical(&op.body), op.name.clone()))
        .collect();
    let gone = owner.module.operators.iter().filter(|op| other.module.operator(&op.name).is_none());
    let mut found: BTreeMap<String, String> = gone
        .filter_map(|op| {
            let new = bodies.get(&crate::formula::canonical(&op.body))?;
            Some((op.name.clone(), new.clone()))
        })
        .collect();
    // What is part of a conjunction that is checked is checked.
    for name in other.listed() {
        let parts = other.module.operator(name).and_then(|op| aggregate(op, other));
        for part in parts.into_iter().flatten() {
            found.entry(part.to_string()).or_insert_with(|| name.to_string());
        }
    }
    found
}

fn gone(file: &str, cfg: &Cfg, new: &Cfgs<'_>, findings: &mut Vec<Finding>) {
    let elsewhere: BTreeSet<&str> =
        new.values().flat_map(|(cfg, _)| cfg.checked().map(|(name, _)| name)).collect();
    for (name, line) in cfg.checked() {
        let tail = match elsewhere.contains(name) {
            true => "; another configuration still checks it, with other constants",
            false => ", and no other checks it",
        };
        let reason = format!("the configuration that checks {name} is gone{tail}");
        let place = Side { file, line, text: name };
        let object = format!("{}!{name}", file_name(file));
        findings.push(finding(id("C01"), object, Verdict::Weaker, (Some(place), None), reason));
    }
}

struct Pair<'p> {
    old: (&'p str, &'p Cfg, &'p str),
    new: (&'p str, &'p Cfg, &'p str),
}

impl Pair<'_> {
    fn push(
        &self,
        rule: &'static str,
        name: &str,
        verdict: Verdict,
        lines: (Option<usize>, Option<usize>),
        reason: String,
        findings: &mut Vec<Finding>,
    ) {
        let side = |(file, _, source): (&'_ str, &Cfg, &'_ str), line: Option<usize>| {
            line.map(|line| {
                let text = source.lines().nth(line - 1).unwrap_or_default();
                (file.to_string(), line, text.to_string())
            })
        };
        let (a, b) = (side(self.old, lines.0), side(self.new, lines.1));
        let place = |s: &'_ Option<(String, usize, String)>| s.clone();
        let (a, b) = (place(&a), place(&b));
        let sides = (
            a.as_ref().map(|(file, line, text)| Side { file, line: *line, text }),
            b.as_ref().map(|(file, line, text)| Side { file, line: *line, text }),
        );
        let object = format!("{}!{name}", file_name(self.old.0));
        findings.push(finding(id(rule), object, verdict, sides, reason));
    }

    fn compare(
        &self,
        renames: &BTreeMap<String, String>,
        config: &Config,
        findings: &mut Vec<Finding>,
    ) {
        self.checked(renames, findings);
        self.constants(config, findings);
        self.cut_off(findings);
        self.question(findings);
    }

    fn checked(&self, renames: &BTreeMap<String, String>, findings: &mut Vec<Finding>) {
        let now: BTreeSet<&str> = self.new.1.checked().map(|(name, _)| name).collect();
        for (name, line) in self.old.1.checked() {
            let renamed = renames.get(name).is_some_and(|new| now.contains(new.as_str()));
            if now.contains(name) || renamed {
                continue;
            }
            let reason = format!("{name} is no longer checked by this configuration");
            self.push("C01", name, Verdict::Weaker, (Some(line), None), reason, findings);
        }
        let was: BTreeSet<&str> = self.old.1.checked().map(|(name, _)| name).collect();
        for (name, line) in self.new.1.checked().filter(|(name, _)| !was.contains(name)) {
            if renames.values().any(|new| new == name) {
                continue;
            }
            let reason = format!("{name} is checked by this configuration now");
            self.push("C01", name, Verdict::Stronger, (None, Some(line)), reason, findings);
        }
    }

    fn constants(&self, config: &Config, findings: &mut Vec<Finding>) {
        for old in &self.old.1.constants {
            let Some(new) = self.new.1.constants.iter().find(|c| c.name == old.name) else {
                continue;
            };
            let lines = (Some(old.line), Some(new.line));
            let name = &old.name;
            if old.replaced != new.replaced || (new.replaced && old.value != new.value) {
                let reason = format!("{name} now stands for {}", new.value);
                let verdict = if new.replaced { Verdict::Suspect } else { Verdict::Changed };
                self.push("C05", name, verdict, lines, reason, findings);
                continue;
            }
            if let Some((verdict, reason)) = shrunk(old, new, config) {
                self.push("C03", name, verdict, lines, reason, findings);
            }
        }
        let known: BTreeSet<&str> = self.old.1.constants.iter().map(|c| c.name.as_str()).collect();
        for new in self.new.1.constants.iter().filter(|c| c.replaced) {
            if !known.contains(new.name.as_str()) {
                let reason =
                    format!("{} is replaced by {} when this is checked", new.name, new.value);
                let lines = (None, Some(new.line));
                // What is checked under a name is then something else.
                let checked = self.old.1.checked().any(|(name, _)| name == new.name);
                let verdict = if checked { Verdict::Weaker } else { Verdict::Suspect };
                self.push("C05", &new.name, verdict, lines, reason, findings);
            }
        }
    }

    fn cut_off(&self, findings: &mut Vec<Finding>) {
        for section in ["CONSTRAINT", "ACTION_CONSTRAINT", "VIEW", "SYMMETRY"] {
            let was: BTreeSet<&str> =
                self.old.1.section(section).map(|e| e.name.as_str()).collect();
            for entry in self.new.1.section(section) {
                if was.contains(entry.name.as_str()) {
                    continue;
                }
                let live = self.new.1.section("PROPERTY").next().is_some();
                let tail = match section == "SYMMETRY" && live {
                    true => "; symmetry is unsound for liveness",
                    false => "",
                };
                let reason = format!("{section} {} leaves out states{tail}", entry.name);
                let lines = (None, Some(entry.line));
                self.push("C04", &entry.name, Verdict::Suspect, lines, reason, findings);
            }
        }
    }

    fn question(&self, findings: &mut Vec<Finding>) {
        let checks = |cfg: &Cfg| cfg.deadlock.is_none_or(|(on, _)| on);
        if checks(self.old.1) && !checks(self.new.1) {
            let lines = (self.old.1.deadlock.map(|d| d.1), self.new.1.deadlock.map(|d| d.1));
            let reason = "deadlocks are no longer looked for".to_string();
            self.push("C05", "CHECK_DEADLOCK", Verdict::Weaker, lines, reason, findings);
        }
        for section in ["SPECIFICATION", "INIT", "NEXT"] {
            let (old, new) =
                (self.old.1.section(section).next(), self.new.1.section(section).next());
            if let (Some(old), Some(new)) = (old, new)
                && old.name != new.name
            {
                let reason = format!("{section} is {} instead of {}", new.name, old.name);
                let lines = (Some(old.line), Some(new.line));
                self.push("C05", section, Verdict::Suspect, lines, reason, findings);
            }
        }
    }
}

/// C03: whether a constant bounds the model more tightly.
fn shrunk(old: &Constant, new: &Constant, config: &Config) -> Option<(Verdict, String)> {
    let name = &old.name;
    if let (Ok(was), Ok(is)) = (old.value.parse::<i64>(), new.value.parse::<i64>()) {
        let lower = name.to_ascii_lowercase();
        let words = ["max", "num", "count", "limit", "bound", "depth", "size", "n_", "total"];
        let bound = words.iter().any(|word| lower.contains(word))
            || name.len() <= 2
            || lower.ends_with('s')
            || config.bounds.contains(name);
        return match (is < was, bound) {
            (true, true) => {
                Some((Verdict::Weaker, format!("{name} is {is} instead of {was}: a smaller model")))
            }
            (false, true) if is > was => {
                Some((Verdict::Stronger, format!("{name} is {is} instead of {was}")))
            }
            (_, false) if is != was => {
                Some((Verdict::Changed, format!("{name} is {is} instead of {was}")))
            }
            _ => None,
        };
    }
    let (was, is) = (elements(&old.value)?, elements(&new.value)?);
    if is.len() < was.len() {
        let reason = format!("{name} has {} elements instead of {}", is.len(), was.len());
        return Some((Verdict::Weaker, reason));
    }
    (is.len() > was.len()).then(|| {
        let reason = format!("{name} has {} elements instead of {}", is.len(), was.len());
        (Verdict::Stronger, reason)
    })
}

/// The elements of `{ a , b }`; of `1 .. 3`, too.
fn elements(value: &str) -> Option<BTreeSet<String>> {
    if let Some((low, high)) = value.split_once("..") {
        let (low, high): (i64, i64) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
        let count = high.saturating_sub(low).saturating_add(1).clamp(0, 10_000);
        return Some((0..count).map(|n| n.to_string()).collect());
    }
    let inner = value.trim().strip_prefix('{')?.strip_suffix('}')?;
    Some(inner.split_whitespace().map(str::to_string).collect())
}

/// C06: a new property that no configuration lists.
fn unlisted(old: &[Checked<'_>], new: &[Checked<'_>], findings: &mut Vec<Finding>) {
    for checked in new.iter().filter(|checked| !checked.cfgs.is_empty()) {
        let before = old.iter().find(|other| other.module.name == checked.module.name);
        let listed = checked.listed();
        let mut reached: BTreeSet<&str> = listed.clone();
        for name in &listed {
            reached.extend(checked.module.closure(name));
        }
        for name in properties(checked) {
            let known = before.is_some_and(|old| old.module.operator(name).is_some());
            let Some(operator) = checked.module.operator(name) else { continue };
            if reached.contains(name) || known || before.is_none() {
                continue;
            }
            let reason = format!("{name} is defined, and no configuration lists it");
            let place = Side { file: checked.file, line: operator.line, text: &operator.text };
            let object = checked.object(name);
            let sides = (None, Some(place));
            findings.push(finding(id("C06"), object, Verdict::Suspect, sides, reason));
        }
    }
}

/// C02: a workflow or script that ran a configuration no longer names it.
fn no_longer_run(before: &Tree, after: &Tree, cfgs: &Cfgs<'_>, findings: &mut Vec<Finding>) {
    let runs = |path: &str| {
        path.starts_with(".github/")
            || matches!(extension(path).as_str(), "yml" | "yaml" | "sh" | "mk")
            || file_name(path) == "Makefile"
            || file_name(path) == "justfile"
    };
    let names: BTreeSet<&str> = cfgs.keys().map(|path| file_name(path)).collect();
    let mentioned = |tree: &Tree, name: &str| {
        tree.keys().any(|path| runs(path) && text(tree, path).is_some_and(|t| t.contains(name)))
    };
    for path in before.keys().filter(|path| runs(path)) {
        let Some(source) = text(before, path) else { continue };
        for name in words_with_cfg(source) {
            let file = file_name(name.1);
            if !mentioned(after, file) && (names.contains(file) || names.is_empty()) {
                let place = Side { file: path, line: name.0, text: name.1 };
                let reason = format!("nothing runs {file} any more: what it checks goes unchecked");
                let sides = (Some(place), None);
                findings.push(finding(id("C02"), file, Verdict::Weaker, sides, reason));
            }
        }
    }
}

fn words_with_cfg(source: &str) -> Vec<(usize, &str)> {
    let separator = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ';' | '(' | ')');
    let lines = source.lines().enumerate();
    lines
        .flat_map(|(at, line)| {
            line.split(separator).filter(|w| w.ends_with(".cfg")).map(move |w| (at + 1, w))
        })
        .collect()
}

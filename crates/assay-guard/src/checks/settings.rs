//! Numbers, levels and lists of linters, coverage and compilers.

use super::flat::Setting;
use crate::finding::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// What a setting says now: the rule, the direction, the reason, the lines.
pub struct Judged {
    /// The rule.
    pub rule: &'static str,
    /// In which direction.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
    /// What it is about.
    pub name: String,
    /// Old and new setting.
    pub sides: (Option<Setting>, Option<Setting>),
}

/// Keys whose numbers are to be high.
const HIGH: &[&str] = &[
    "fail_under",
    "fail-under",
    "failunder",
    "cov-fail-under",
    "fail-under-lines",
    "branches",
    "functions",
    "lines",
    "statements",
    "target",
    "min_coverage",
    "minimum",
    "mincoverage",
    "coverage_threshold",
    "coveragethreshold",
    "threshold",
    "min-coverage",
    "break",
    "project",
    "patch",
    "fail-under-functions",
    "minimum_coverage",
    "line_coverage",
    "branch_coverage",
];

/// Keys whose numbers are to be low.
const LOW: &[&str] = &[
    "max-warnings",
    "max_warnings",
    "max-complexity",
    "max_complexity",
    "max-line-length",
    "cognitive-complexity-threshold",
    "too-many-lines-threshold",
    "too-many-arguments-threshold",
    "max-args",
    "max-branches",
    "max-returns",
    "max-statements",
    "max-depth",
    "complexity",
    "retries",
    "reruns",
    "retry",
    "max_failures",
    "warn_threshold",
    "max-lines",
    "max-lines-per-function",
];

/// Switches that are to be on.
const ON: &[&str] = &[
    "strict",
    "noimplicitany",
    "strictnullchecks",
    "strictfunctiontypes",
    "nounusedlocals",
    "nounusedparameters",
    "noimplicitreturns",
    "nofallthroughcasesinswitch",
    "disallow_untyped_defs",
    "warn_return_any",
    "check_untyped_defs",
    "warn_unused_ignores",
    "no_implicit_optional",
    "disallow_any_generics",
    "enabled",
    "nouncheckedindexedaccess",
    "exactoptionalpropertytypes",
    "require_ci_to_pass",
    "branch",
    "warn_unreachable",
    "xfail_strict",
    "strict_equality",
    "overflow-checks",
    "debug-assertions",
    "fail-fast-on-violation",
    "check-coverage",
    "fail_ci_if_error",
    "fail-on-error",
    "fail_on_error",
];

/// Those of them that actions of workflows know.
pub const FAILS: &[&str] = &["fail_ci_if_error", "fail-on-error", "fail_on_error"];

/// Switches that are to be off.
const OFF: &[&str] = &[
    "ignore_errors",
    "ignore_missing_imports",
    "skiplibcheck",
    "allow_failure",
    "continue-on-error",
    "informational",
    "ignore_failures",
    "ignorefailures",
    "testfailureignore",
    "skiptests",
    "allowjs-unchecked",
    "passwithnotests",
    "ignore_outcome",
    "maven.test.skip",
    "maven.test.failure.ignore",
];

/// Lists whose growth looks away from more.
const IGNORES: &[&str] = &[
    "ignore",
    "exclude",
    "omit",
    "extend-ignore",
    "disable",
    "per-file-ignores",
    "exclude_lines",
    "ignorepatterns",
    "testpathignorepatterns",
    "coveragepathignorepatterns",
    "skip",
    "allow",
    "extend-exclude",
    "disabled_rules",
    "exclude_also",
    "norecursedirs",
    "ignores",
];

/// Lists whose shrinking looks at less.
const SELECTS: &[&str] = &[
    "select",
    "extend-select",
    "enable",
    "testpaths",
    "include",
    "linters",
    "testmatch",
    "envlist",
    "env_list",
    "extends",
    "agents",
    "requirements",
    "assertions",
    "bounds",
    "disallowed-methods",
    "disallowed-types",
    "disallowed-macros",
    "disallowed-names",
    "needs",
    "rustflags",
    "goal",
];

fn number(value: &str) -> Option<f64> {
    value.trim().trim_end_matches('%').trim().parse().ok().filter(|n: &f64| n.is_finite())
}

/// How strictly a word takes a lint.
fn level(value: &str) -> Option<u8> {
    Some(match value.trim().trim_matches('"').to_ascii_lowercase().as_str() {
        "off" | "0" | "allow" | "ignore" | "none" | "disabled" | "silent" | "info" => 0,
        "warn" | "warning" | "1" => 1,
        "error" | "2" | "deny" | "fatal" => 2,
        // Nothing below may allow it again.
        "forbid" => 3,
        _ => return None,
    })
}

fn truth(value: &str) -> Option<bool> {
    match value.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// Compares the settings of two revisions of a file.
pub fn compare(old: &[Setting], new: &[Setting]) -> Vec<Judged> {
    let mut found = Vec::new();
    let index = |list: &[Setting]| -> BTreeMap<String, Setting> {
        list.iter().map(|setting| (level_name(setting), setting.clone())).collect()
    };
    let (mut a, mut b) = (index(old), index(new));
    same_elsewhere(&mut a, &mut b);
    for (name, was) in &a {
        let is = b.get(name);
        if is.is_some_and(|is| is.value == was.value) {
            continue;
        }
        found.extend(one(name, was, is));
    }
    for (name, is) in b.iter().filter(|(name, _)| !a.contains_key(*name)) {
        found.extend(added(name, is));
    }
    found.extend(lists(old, new));
    found
}

/// Takes out what only changed its place in a list.
fn same_elsewhere(a: &mut BTreeMap<String, Setting>, b: &mut BTreeMap<String, Setting>) {
    let plain = |setting: &Setting| -> (Vec<String>, String) {
        let named = setting.path.iter().filter(|part| part.parse::<usize>().is_err());
        (named.cloned().collect(), setting.value.clone())
    };
    let placed = |setting: &Setting| setting.path.iter().any(|part| part.parse::<usize>().is_ok());
    let movable = a.iter().filter(|(_, setting)| placed(setting));
    let movable: Vec<String> = movable.map(|(name, _)| name.clone()).collect();
    for name in &movable {
        let own = plain(&a[name]);
        if b.get(name).is_some_and(|other| plain(other) == own) {
            continue;
        }
        // In its old place stands what stood elsewhere, or nothing.
        let found = b.iter().find(|(at, other)| {
            plain(other) == own && a.get(*at).is_none_or(|before| plain(before) != own)
        });
        let found = found.map(|(at, _)| at.clone());
        if let Some(at) = found {
            a.remove(name);
            b.remove(&at);
        }
    }
}

/// The name of a setting. A lint is `"error"` as well as `["error", options]`.
fn level_name(setting: &Setting) -> String {
    match &setting.path[..] {
        [path @ .., last] if last == "0" && of_lints(setting) => path.join("/"),
        _ => setting.name(),
    }
}

fn judged(
    rule: &'static str,
    verdict: Verdict,
    name: &str,
    was: Option<&Setting>,
    is: Option<&Setting>,
) -> Judged {
    let shown = |s: Option<&Setting>| s.map_or("nothing", |s| s.value.as_str()).to_string();
    let reason = format!("{name} is {} instead of {}", shown(is), shown(was));
    Judged { rule, verdict, reason, name: name.to_string(), sides: (was.cloned(), is.cloned()) }
}

fn direction(weaker: bool) -> Verdict {
    if weaker { Verdict::Weaker } else { Verdict::Stronger }
}

/// Keys that hold coverage only where the rest of their path says so.
const SHARED: &[&str] = &[
    "target",
    "lines",
    "functions",
    "branches",
    "project",
    "patch",
    "break",
    "minimum",
    "threshold",
    "statements",
];

fn is_about_coverage(setting: &Setting, key: &str) -> bool {
    let path = setting.name().to_ascii_lowercase();
    let words = ["cov", "threshold", "status", "nyc", "mutat", "jacoco"];
    !SHARED.contains(&key) || words.iter().any(|word| path.contains(word))
}

fn one(name: &str, was: &Setting, is: Option<&Setting>) -> Option<Judged> {
    let key = was.key().to_ascii_lowercase();
    let key = key.as_str();
    // How far coverage may drop, in settings of who reports it, is to be low.
    let drop = key == "threshold" && was.path.iter().any(|part| part == "status");
    let least = key.contains("cov") && key.contains("min");
    let high = (HIGH.contains(&key) || least) && !drop;
    let low = LOW.contains(&key) || drop;
    let value = is.map(|s| s.value.as_str()).unwrap_or_default();
    if let (true, Some(x)) = (high && is_about_coverage(was, key), number(&was.value)) {
        return match number(value) {
            Some(y) if x == y => None,
            Some(y) => Some(judged("K03", direction(y < x), name, Some(was), is)),
            None if is.is_none() => Some(judged("K03", Verdict::Weaker, name, Some(was), is)),
            None => Some(judged("K03", Verdict::Changed, name, Some(was), is)),
        };
    }
    // An allowed drop of coverage is to be low.
    if let (true, Some(x)) = (low, number(&was.value)) {
        return match number(value) {
            Some(y) if x == y => None,
            Some(y) => Some(judged("K03", direction(y > x), name, Some(was), is)),
            None => Some(judged("K03", Verdict::Weaker, name, Some(was), is)),
        };
    }
    if let Some(on) = truth(&was.value) {
        let (wanted, unwanted) = (ON.contains(&key), OFF.contains(&key));
        let now = truth(value);
        return match (wanted, unwanted, on, now) {
            (true, _, true, Some(false) | None) => {
                Some(judged("K04", Verdict::Weaker, name, Some(was), is))
            }
            (true, _, false, Some(true)) => {
                Some(judged("K04", Verdict::Stronger, name, Some(was), is))
            }
            (_, true, false, Some(true)) => {
                Some(judged("K04", Verdict::Weaker, name, Some(was), is))
            }
            (_, true, true, Some(false) | None) => {
                Some(judged("K04", Verdict::Stronger, name, Some(was), is))
            }
            _ => None,
        };
    }
    let of_lints = of_lints(was);
    if let (true, Some(x)) = (of_lints, level(&was.value)) {
        return match (level(value), is) {
            (Some(y), _) if x == y => None,
            (Some(y), _) => Some(judged("K04", direction(y < x), name, Some(was), is)),
            (None, None) if x > 0 => Some(judged("K04", Verdict::Weaker, name, Some(was), is)),
            _ => None,
        };
    }
    None
}

fn of_lints(setting: &Setting) -> bool {
    setting.path.iter().any(|part| {
        let lower = part.to_ascii_lowercase();
        ["rules", "clippy", "advisories", "bans", "licenses", "sources"].contains(&lower.as_str())
            || lower.contains("lint")
    })
}

fn added(name: &str, is: &Setting) -> Option<Judged> {
    let key = is.key().to_ascii_lowercase();
    let off = OFF.contains(&key.as_str()) && truth(&is.value) == Some(true);
    let switched =
        ON.contains(&key.as_str()) && key != "enabled" && truth(&is.value) == Some(false);
    let lint = of_lints(is)
        && level(&is.value) == Some(0)
        && is.value != "0"
        && !matches!(key.as_str(), "priority");
    let retried = matches!(key.as_str(), "retries" | "reruns" | "retry" | "flaky-test-attempts")
        && number(&is.value).is_some_and(|n| n > 0.0);
    let by_hand = key == "stages" && is.value == "manual";
    if off || switched || lint || by_hand {
        return Some(judged("K04", Verdict::Weaker, name, None, Some(is)));
    }
    retried.then(|| judged("K03", Verdict::Weaker, name, None, Some(is)))
}

/// A list of what is done with warnings: some are errors, the others are looked away from.
const WARNINGS: &str = "filterwarnings";

/// The list an entry counts to.
fn kind_of_entry(key: &str, entry: &str) -> String {
    match key {
        WARNINGS if entry.starts_with("error") => "select",
        WARNINGS => "ignore",
        other => other,
    }
    .to_string()
}

/// What is looked away from in some files, by their names.
const PER_FILE: &str = "per-file-ignores";

/// Whether a part of a path turns around what stands below it.
fn looks_away(part: &str) -> bool {
    let lower = part.to_ascii_lowercase();
    lower.split(['-', '_', '.']).any(|word| {
        matches!(word, "exclude" | "excludes" | "ignore" | "ignores" | "skip" | "omit" | "disable")
    })
}

/// Lists by where they are and what kind they are of.
type Lists = BTreeMap<(String, String), Vec<Setting>>;

/// The entries of the lists that are looked at.
fn entries(list: &[Setting]) -> Lists {
    let mut lists = Lists::new();
    for setting in list {
        let per_file = setting.path.iter().position(|part| part.ends_with(PER_FILE));
        if let Some(at) = per_file.filter(|at| at + 1 < setting.path.len()) {
            let value = format!("{} of {}", setting.value, setting.path[at + 1]);
            let one = Setting { value, ..setting.clone() };
            let path = setting.path[..=at].join("/");
            lists.entry((path, PER_FILE.to_string())).or_default().push(one);
            continue;
        }
        let key = setting.key().to_ascii_lowercase();
        let short = key.trim_end_matches("[]").to_string();
        let known = IGNORES.contains(&short.as_str())
            || SELECTS.contains(&short.as_str())
            || short == WARNINGS;
        if !known {
            continue;
        }
        let at = setting.path.iter().rposition(|p| p.to_ascii_lowercase() == key);
        let above = &setting.path[..at.unwrap_or(0)];
        // What a list below `exclude-rules` selects is looked away from.
        let short = match above.iter().any(|part| looks_away(part)) {
            true => "ignore".to_string(),
            false => short,
        };
        // Which of several lists of a name comes first says nothing.
        let named = setting.path[..=at.unwrap_or(0)].iter();
        let named: Vec<&str> =
            named.filter(|part| part.parse::<usize>().is_err()).map(String::as_str).collect();
        let path = named.join("/");
        // What has lines of its own may have blanks in them.
        let ends: &[char] = match setting.value.contains('\n') {
            true => &['\n', ','],
            false => &[',', ' '],
        };
        for item in setting.value.split(ends).filter(|item| !item.trim().is_empty()) {
            let one = Setting { value: item.trim().to_string(), ..setting.clone() };
            let kind = kind_of_entry(&short, &one.value);
            lists.entry((path.clone(), kind)).or_default().push(one);
        }
    }
    lists
}

/// Lists as sets: what is ignored may not grow, what is selected may not shrink.
fn lists(old: &[Setting], new: &[Setting]) -> Vec<Judged> {
    let mut found = Vec::new();
    let (a, b) = (entries(old), entries(new));
    let keys: BTreeSet<&(String, String)> = a.keys().chain(b.keys()).collect();
    for pair in keys {
        let (path, key) = pair;
        let none = Vec::new();
        let (was, is) = (a.get(pair).unwrap_or(&none), b.get(pair).unwrap_or(&none));
        let values = |list: &[Setting]| -> BTreeSet<String> {
            list.iter().map(|s| s.value.clone()).collect()
        };
        let (x, y) = (values(was), values(is));
        let ignored = IGNORES.contains(&key.as_str());
        let gained: Vec<&Setting> = is.iter().filter(|s| !x.contains(&s.value)).collect();
        let lost: Vec<&Setting> = was.iter().filter(|s| !y.contains(&s.value)).collect();
        // Another base of the same kind is neither more nor less.
        let renamed = matches!(key.as_str(), "extends" | "needs");
        if renamed && !gained.is_empty() && !lost.is_empty() {
            continue;
        }
        let (worse, better) = if ignored { (gained, lost) } else { (lost, gained) };
        for setting in worse {
            let sides = match ignored {
                true => (None, Some(setting.clone())),
                false => (Some(setting.clone()), None),
            };
            let what = if ignored { "now lists" } else { "no longer lists" };
            found.push(Judged {
                rule: "K04",
                verdict: Verdict::Weaker,
                reason: format!("{path} {what} {}", setting.value),
                name: path.clone(),
                sides,
            });
        }
        for setting in better {
            let sides = match ignored {
                true => (Some(setting.clone()), None),
                false => (None, Some(setting.clone())),
            };
            found.push(Judged {
                rule: "K04",
                verdict: Verdict::Stronger,
                reason: format!("{path}: {}", setting.value),
                name: path.clone(),
                sides,
            });
        }
    }
    found
}

//! R01 to R10, for every language.

use super::generators::{Drawn, drawn};
use super::knobs::{LEFT_OUT, default_of};
use super::matching::{Fate, Located, Seen, fates, known, repeats, seen};
use super::model::{Check, Checks, Function, Kind, Knob, Listed, Stricter, Stub};
use crate::finding::{Finding, Side, Verdict, finding};
use crate::formula::{self, Formula, Order, Rel};
use crate::rules::id;
use std::collections::{BTreeMap, BTreeSet};

/// What has a name of its own, wherever it stands: checks by id, old and new.
pub struct Names<'c> {
    new: BTreeMap<String, (&'c str, &'c Check)>,
}

impl<'c> Names<'c> {
    /// Collects the checks with ids.
    pub fn of(_: &[Located<'c>], new: &[Located<'c>]) -> Names<'c> {
        let all = new.iter().flat_map(|located| {
            let checks = located.function.checks.iter();
            checks.filter_map(|check| Some((check.id.clone()?, (located.file, check))))
        });
        Names { new: all.collect() }
    }
}

fn side<'t>(file: &'t str, line: usize, text: &'t str) -> Side<'t> {
    Side { file, line, text }
}

/// The place of a function: what it says is all of it.
fn whole<'t>(of: &'t Located<'_>) -> Side<'t> {
    side(of.file, of.function.line, &of.function.text)
}

/// Whether a file is there to test.
fn of_tests(of: &Located<'_>) -> bool {
    let path = of.file.to_ascii_lowercase();
    of.function.kind == Kind::Test
        || of.checks.functions.iter().any(|f| f.kind == Kind::Test)
        || ["test", "spec", "conftest"].iter().any(|word| path.contains(word))
}

/// A function that is gone.
pub fn gone(
    old: &Located<'_>,
    names: &Names<'_>,
    new: &[Located<'_>],
    findings: &mut Vec<Finding>,
) {
    let function = old.function;
    if function.kind == Kind::Test {
        let checks = function.checks.iter().filter(|c| c.asks != Formula::True).count();
        // A test whose checks all went into another one is not lost.
        let kept = checks > 0 && merged(old, new);
        if kept {
            return;
        }
        let reason = format!("the test is gone, and with it {checks} assertions");
        let sides = (Some(whole(old)), None);
        findings.push(finding(id("R06"), old.object(), Verdict::Weaker, sides, reason));
        return;
    }
    for check in &function.checks {
        named(old, check, names, findings);
    }
    if function.kind == Kind::Predicate && old.file.contains("invariant") {
        let reason = "the predicate is gone, and nothing says the same";
        let sides = (Some(whole(old)), None);
        findings.push(finding(id("R03"), old.object(), Verdict::Weaker, sides, reason));
    }
}

/// Whether all that an old test asks for is asked for by one new test of its file.
fn merged(old: &Located<'_>, new: &[Located<'_>]) -> bool {
    let wanted = seen(old);
    new.iter().filter(|other| other.file == old.file && other.function.kind == Kind::Test).any(
        |other| {
            let have = seen(other);
            let covers =
                |one: &Seen<'_>| have.iter().any(|h| h.raw == one.raw || h.inlined == one.inlined);
            other.function.skips.is_empty()
                && wanted.iter().all(covers)
                && repeats(old, other, usize::MAX)
        },
    )
}

/// A check with an id, compared with the new one of this id wherever it is.
fn named(old: &Located<'_>, check: &Check, names: &Names<'_>, findings: &mut Vec<Finding>) -> bool {
    let Some(name) = &check.id else { return false };
    let rule = if check.modality.is_some() { "R02" } else { "R03" };
    let before = side(old.file, check.line, &check.text);
    let object = format!("{}::{}", old.file, short(name));
    let mut push = |verdict: Verdict, after: Option<Side<'_>>, reason: String| {
        let sides = (Some(before), after);
        findings.push(finding(id(rule), object.clone(), verdict, sides, reason));
    };
    let key = |id: &str| short(id).to_string();
    let found = names.new.get(name).or_else(|| {
        names.new.iter().find(|(other, _)| key(other) == key(name)).map(|(_, check)| check)
    });
    let Some((file, now)) = found else {
        push(Verdict::Weaker, None, format!("{} is no longer checked here", short(name)));
        return true;
    };
    let after = side(file, now.line, &now.text);
    let rank = |check: &Check| match check.modality.as_deref() {
        Some("always") => 2,
        Some("eventually" | "sometimes") => 1,
        _ => 3,
    };
    if rank(now) < rank(check) && rank(check) < 3 {
        let word = now.modality.clone().unwrap_or_default();
        let reason = format!("{} holds {word} instead of always", short(name));
        push(Verdict::Weaker, Some(after), reason);
        return true;
    }
    if gated(check, now) {
        let reason = format!("{} is evaluated only in some builds", short(name));
        push(Verdict::Weaker, Some(after), reason);
        return true;
    }
    match formula::compare(&check.asks, &now.asks) {
        Order::Same => {}
        Order::Weaker => {
            push(Verdict::Weaker, Some(after), format!("{} asks for less", short(name)));
        }
        Order::Stronger => {
            push(Verdict::Stronger, Some(after), format!("{} asks for more", short(name)));
        }
        Order::Changed => {
            let reason = format!("{} asks for something else", short(name));
            push(Verdict::Changed, Some(after), reason);
        }
    }
    true
}

/// `MC-1` of `MC-1: rows are kept`.
fn short(name: &str) -> &str {
    name.split(':').next().filter(|s| !s.is_empty() && !name.contains("::")).unwrap_or(name).trim()
}

fn gated(old: &Check, new: &Check) -> bool {
    new.config.iter().any(|condition| !old.config.contains(condition))
}

/// A function in both; `come` is what new tests of each file check.
pub fn function(
    old: &Located<'_>,
    new: &Located<'_>,
    come: &[(Located<'_>, Vec<Seen<'_>>)],
    names: &Names<'_>,
    findings: &mut Vec<Finding>,
) {
    if old.function.kind == Kind::Test {
        skips(old, new, findings);
        swallowed(old, new, findings);
        stubs(old, new, findings);
        defaulted(old, new, findings);
    }
    lenient(old, new, findings);
    knobs(old, new, findings);
    lists(old, new, findings);
    let (before, after) = (seen(old), seen(new));
    let mut without: Vec<Seen<'_>> = Vec::new();
    for one in before {
        if one.helper.is_some() || !named(old, one.check, names, findings) {
            without.push(one);
        }
    }
    let after: Vec<Seen<'_>> = after.into_iter().filter(|s| s.check.id.is_none()).collect();
    // What moved to a new test of the file, which does the same before, is not lost.
    let alike = |a: &Seen<'_>, b: &Seen<'_>| a.raw == b.raw && a.inlined == b.inlined;
    let moved = |one: &Seen<'_>| {
        come.iter().any(|(test, all)| {
            test.file == new.file
                && all.iter().any(|now| alike(one, now))
                && repeats(old, test, one.check.line)
        })
    };
    without.retain(|one| after.iter().any(|now| alike(one, now)) || !moved(one));
    checks(old, new, &without, &after, findings);
}

fn checks(
    old: &Located<'_>,
    new: &Located<'_>,
    before: &[Seen<'_>],
    after: &[Seen<'_>],
    findings: &mut Vec<Finding>,
) {
    let (fates, extra) = fates(before, after);
    let rule = match old.function.kind {
        Kind::Predicate => "R04",
        _ if of_tests(old) => "R05",
        _ => "R03",
    };
    let called: BTreeSet<&str> = new.function.calls.iter().map(|(name, _)| name.as_str()).collect();
    let mut lost = false;
    for (one, fate) in before.iter().zip(&fates) {
        let still_called =
            one.helper.is_some_and(|h| called.contains(h.rsplit("::").next().unwrap_or_default()));
        // Whatever happened in a helper is told of the helper.
        if still_called {
            continue;
        }
        let place = side(old.file, one.check.line, &one.check.text);
        let now =
            |seen: &Seen<'_>| (new.file.to_string(), seen.check.line, seen.check.text.clone());
        let mut push =
            |rule: &'static str, verdict, after: Option<(String, usize, String)>, why: &str| {
                let sides = (Some(place), after.as_ref().map(|(f, l, t)| side(f, *l, t)));
                findings.push(finding(id(rule), old.object(), verdict, sides, why));
            };
        match fate {
            Fate::Kept(seen, stricter) => {
                if gated(one.check, seen.check) {
                    let why = "the check is evaluated only in some builds";
                    push("R03", Verdict::Weaker, Some(now(seen)), why);
                } else if *stricter {
                    push(rule, Verdict::Stronger, Some(now(seen)), "the assertion asks for more");
                }
            }
            Fate::Weaker(seen) => {
                lost = true;
                let (rule, why) = told(rule, one, seen);
                push(rule, Verdict::Weaker, Some(now(seen)), why);
            }
            Fate::Changed(seen) => {
                let why = "the assertion asks for something else";
                push(rule, Verdict::Changed, Some(now(seen)), why);
            }
            Fate::Gone => {
                lost = true;
                push(rule, Verdict::Weaker, None, "the assertion is gone, and nothing replaces it");
            }
        }
    }
    if !lost {
        for seen in extra.iter().filter(|seen| seen.helper.is_none() && seen.raw != Formula::True) {
            let place = side(new.file, seen.check.line, &seen.check.text);
            let sides = (None, Some(place));
            let why = "an assertion that was not there";
            findings.push(finding(id(rule), old.object(), Verdict::Stronger, sides, why));
        }
    }
}

/// What is asked for of each element.
fn of_each(mut asks: &Formula) -> &Formula {
    while let Formula::Quant { all: true, body, .. } = asks {
        asks = body;
    }
    asks
}

fn told(rule: &'static str, old: &Seen<'_>, new: &Seen<'_>) -> (&'static str, &'static str) {
    let unordered = |f: &Formula| matches!(f, Formula::Rel(Rel::Unordered, ..));
    let near = |f: &Formula| matches!(f, Formula::Rel(Rel::Near(_), ..));
    let debug = |f: &Formula| f.mentions("release build");
    // Where both read the same, the difference is in what their names stand for.
    let (before, after) = match old.raw == new.raw {
        true => (&old.inlined, &new.inlined),
        false => (&old.raw, &new.raw),
    };
    match (of_each(before), of_each(after)) {
        (_, Formula::True) => (rule, "the assertion always holds now"),
        _ if new.inlined == Formula::True => (rule, "a value is compared with itself"),
        (a, b) if unordered(b) && !unordered(a) => {
            ("R09", "order and multiplicity are no longer compared")
        }
        (a, b) if near(b) && near(a) => (rule, "the tolerance is larger"),
        (a, b) if near(b) && !near(a) => (rule, "an exact value became a tolerance"),
        (a, b) if debug(b) && !debug(a) => (rule, "the assertion is left out of release builds"),
        (Formula::Rel(Rel::Eq | Rel::Same, ..), Formula::Atom(_)) => {
            (rule, "equality became truthiness")
        }
        (a, _) if a.mentions(super::assertions::RAISES) => {
            (rule, "more kinds of errors are accepted than before")
        }
        (_, Formula::Or(_)) => {
            (rule, "the assertion asks for less: it holds under more conditions")
        }
        _ => (rule, "the assertion asks for less"),
    }
}

fn skips(old: &Located<'_>, new: &Located<'_>, findings: &mut Vec<Finding>) {
    let worst = |f: &Function| f.skips.iter().map(|s| if s.conditional { 1 } else { 2 }).max();
    let (was, is) = (worst(old.function).unwrap_or(0), worst(new.function).unwrap_or(0));
    let push = |verdict, line: usize, text: &str, why: String, findings: &mut Vec<Finding>| {
        let sides = (Some(whole(old)), Some(side(new.file, line, text)));
        findings.push(finding(id("R06"), old.object(), verdict, sides, why));
    };
    if is > was {
        let added = new.function.skips.iter().max_by_key(|s| !s.conditional);
        if let Some(skip) = added {
            let when = if skip.conditional { "under a condition" } else { "always" };
            let why = format!("the test is skipped {when}: {}", first_line(&skip.text));
            push(Verdict::Weaker, skip.line, &skip.text, why, findings);
        }
    } else if is < was {
        let line = new.function.line;
        push(Verdict::Stronger, line, "", "the test is run again".to_string(), findings);
    } else if is == 1 {
        let known: BTreeSet<&str> = old.function.skips.iter().map(|s| s.text.as_str()).collect();
        for skip in new.function.skips.iter().filter(|s| !known.contains(s.text.as_str())) {
            let why =
                format!("the condition under which the test is run is another: {}", skip.text);
            push(Verdict::Changed, skip.line, &skip.text, why, findings);
        }
    }
    if let (None, Some(line)) = (old.function.should_panic, new.function.should_panic) {
        let why = "the test passes if it panics, whatever for".to_string();
        push(Verdict::Weaker, line, "should_panic", why, findings);
    }
    if let (None, Some(line)) = (old.function.returns_early, new.function.returns_early) {
        let why = "the test ends before what follows".to_string();
        push(Verdict::Weaker, line, "return", why, findings);
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim()
}

fn swallowed(old: &Located<'_>, new: &Located<'_>, findings: &mut Vec<Finding>) {
    let (was, is) = (&old.function.swallowed, &new.function.swallowed);
    if is.len() <= was.len() {
        return;
    }
    let known: BTreeSet<&str> = was.iter().map(|(_, text)| text.as_str()).collect();
    for (line, text) in is.iter().filter(|(_, text)| !known.contains(text.as_str())) {
        let sides = (Some(whole(old)), Some(side(new.file, *line, text)));
        let why = format!("a failure is swallowed: {}", first_line(text));
        findings.push(finding(id("R06"), old.object(), Verdict::Weaker, sides, why));
    }
}

/// R06: what had to be there is made up where it is not: `unwrap_or_default` for `unwrap`.
fn defaulted(old: &Located<'_>, new: &Located<'_>, findings: &mut Vec<Finding>) {
    let often = |of: &Located<'_>, names: &[&str]| {
        let calls = of.function.calls.iter();
        calls.filter(|(name, _)| names.contains(&name.as_str())).count()
    };
    let asks = ["unwrap", "expect"];
    let takes = ["unwrap_or_default", "unwrap_or", "unwrap_or_else", "drop"];
    if often(new, &asks) < often(old, &asks) && often(new, &takes) > often(old, &takes) {
        let why = "what is not there no longer fails the test: a default takes its place";
        let sides = (Some(whole(old)), Some(whole(new)));
        findings.push(finding(id("R06"), old.object(), Verdict::Weaker, sides, why));
    }
}

/// R06: the test now says itself what a method returns that it asserts on.
fn stubs(old: &Located<'_>, new: &Located<'_>, findings: &mut Vec<Finding>) {
    let had = |stub: &&Stub| {
        let same = |own: &Stub| own.object == stub.object && own.method == stub.method;
        old.function.stubs.iter().any(same)
    };
    let asked = seen(new);
    for stub in new.function.stubs.iter().filter(|stub| !had(stub)) {
        let object = formula::expanded(&stub.object, &known(new));
        let asks = |one: &Seen<'_>| {
            stub.is_asked_by(&one.inlined, &object) || stub.is_asked_by(&one.raw, &stub.object)
        };
        if !asked.iter().any(asks) {
            continue;
        }
        let text = format!("{}.{}", stub.object, stub.method);
        let sides = (Some(whole(old)), Some(side(new.file, stub.line, &text)));
        let why = format!("the test itself says what {text} returns, and asserts on it");
        findings.push(finding(id("R06"), old.object(), Verdict::Suspect, sides, why));
    }
}

fn lenient(old: &Located<'_>, new: &Located<'_>, findings: &mut Vec<Finding>) {
    let predicate = old.function.kind == Kind::Predicate;
    if !predicate || new.function.lenient.len() <= old.function.lenient.len() {
        return;
    }
    let known: Vec<&str> = old.function.lenient.iter().map(|(_, text)| text.as_str()).collect();
    let added = new.function.lenient.iter().find(|(_, text)| !known.contains(&text.as_str()));
    let Some((line, text)) = added.or(new.function.lenient.last()) else { return };
    let sides = (Some(whole(old)), Some(side(new.file, *line, text)));
    let why = format!("what is unknown now passes: {text}");
    findings.push(finding(id("R04"), old.object(), Verdict::Weaker, sides, why));
}

/// R07: values are drawn from less than before.
fn generators(old: &Located<'_>, new: &Located<'_>, findings: &mut Vec<Finding>) {
    let (was, is) = (&old.function.generators, &new.function.generators);
    if was.len() != is.len() {
        return;
    }
    for (a, b) in was.iter().zip(is) {
        let (verdict, why) = match drawn(&a.draws, &b.draws) {
            Drawn::Less => (Verdict::Weaker, "values are drawn from less than before"),
            Drawn::More => (Verdict::Stronger, "values are drawn from more than before"),
            Drawn::Spelled => (Verdict::Suspect, "a bound that had a name is a number now"),
            Drawn::Same | Drawn::Unknown => continue,
        };
        let (before, after) = (a.draws.to_string(), b.draws.to_string());
        let sides = (Some(side(old.file, a.line, &before)), Some(side(new.file, b.line, &after)));
        findings.push(finding(id("R07"), old.object(), verdict, sides, why));
    }
}

/// Numbers that are no longer said: what a library takes instead is what they are now.
fn defaults(old: &Located<'_>, new: &Located<'_>, findings: &mut Vec<Finding>) {
    let (was, is) = (&old.function.knobs, &new.function.knobs);
    for knob in was.iter().filter(|knob| !is.iter().any(|other| other.name == knob.name)) {
        let Some(now) = default_of(knob, old.file) else { continue };
        let more = now > knob.value;
        if now == knob.value || more == (knob.stricter == Stricter::More) {
            continue;
        }
        let text = format!("{} {}", knob.name, knob.value);
        let sides = (Some(side(old.file, knob.line, &text)), Some(whole(new)));
        let why = format!("{} is no longer {}, but what it is by default", knob.name, knob.value);
        findings.push(finding(id(knob.rule), old.object(), Verdict::Weaker, sides, why));
    }
}

fn knobs(old: &Located<'_>, new: &Located<'_>, findings: &mut Vec<Finding>) {
    let object = old.object();
    generators(old, new, findings);
    if old.function.kind == Kind::Test {
        defaults(old, new, findings);
    }
    numbers(&object, old.file, new.file, &old.function.knobs, &new.function.knobs, findings);
    retried(&object, new.file, &old.function.knobs, &new.function.knobs, findings);
}

/// Retries that were not there, and limits to a search that had none.
fn retried(object: &str, file: &str, old: &[Knob], new: &[Knob], findings: &mut Vec<Finding>) {
    let known: BTreeSet<&str> = old.iter().map(|k| k.name.as_str()).collect();
    for knob in new.iter().filter(|k| !known.contains(k.name.as_str())) {
        let limits = ["target_max_depth", "target_state_count"].contains(&knob.name.as_str());
        let retried = knob.rule == "R06" && knob.value > 0.0;
        if retried || limits {
            let text = format!("{} = {}", knob.name, knob.value);
            let sides = (None, Some(side(file, knob.line, &text)));
            let why = match retried {
                true => format!("a failure is retried: {text}"),
                false => format!("the search has a limit it had not: {text}"),
            };
            findings.push(finding(id(knob.rule), object, Verdict::Weaker, sides, why));
        }
    }
}

/// Numbers of the same name, in order.
fn numbers(
    object: &str,
    old_file: &str,
    new_file: &str,
    old: &[Knob],
    new: &[Knob],
    findings: &mut Vec<Finding>,
) {
    let mut by_name: BTreeMap<&str, (Vec<&Knob>, Vec<&Knob>)> = BTreeMap::new();
    for knob in old {
        by_name.entry(&knob.name).or_default().0.push(knob);
    }
    for knob in new {
        by_name.entry(&knob.name).or_default().1.push(knob);
    }
    for (name, (was, is)) in by_name {
        if was.len() != is.len() {
            continue;
        }
        for (a, b) in was.iter().zip(&is).filter(|(a, b)| a.value != b.value) {
            let more = b.value > a.value;
            let verdict = match more == (a.stricter == Stricter::More) {
                true => Verdict::Stronger,
                false => Verdict::Weaker,
            };
            let (before, after) = (format!("{name} {}", a.value), format!("{name} {}", b.value));
            let sides =
                (Some(side(old_file, a.line, &before)), Some(side(new_file, b.line, &after)));
            let why = format!("{name} is {} instead of {}", b.value, a.value);
            findings.push(finding(id(a.rule), object, verdict, sides, why));
        }
    }
}

fn lists(old: &Located<'_>, new: &Located<'_>, findings: &mut Vec<Finding>) {
    let object = old.object();
    let (a, b) = (&old.function.lists, &new.function.lists);
    shortened(&object, old.file, new.file, a, b, findings);
}

/// The lists of both sides that are the same one: several may have one name, as loops do. Those
/// that did not change are no partners for others; the rest is taken in order.
fn same_lists<'l>(old: &'l [Listed], new: &'l [Listed]) -> Vec<(&'l Listed, &'l Listed)> {
    let mut left: Vec<&Listed> = new.iter().collect();
    let unchanged = |a: &Listed, b: &Listed| a.name == b.name && a.items == b.items;
    let mut changed: Vec<&Listed> = Vec::new();
    for list in old.iter().filter(|list| !list.name.starts_with(LEFT_OUT)) {
        match left.iter().position(|other| unchanged(list, other)) {
            Some(at) => _ = left.remove(at),
            None => changed.push(list),
        }
    }
    let mut pairs = Vec::new();
    for list in changed {
        if let Some(at) = left.iter().position(|other| other.name == list.name) {
            pairs.push((list, left.remove(at)));
        }
    }
    pairs
}

fn shortened(
    object: &str,
    old_file: &str,
    new_file: &str,
    old: &[Listed],
    new: &[Listed],
    findings: &mut Vec<Finding>,
) {
    for (list, now) in same_lists(old, new) {
        let kept: BTreeSet<&str> = now.items.iter().map(String::as_str).collect();
        let lost: Vec<&str> =
            list.items.iter().map(String::as_str).filter(|item| !kept.contains(item)).collect();
        let (before, after) = (list.items.join(", "), now.items.join(", "));
        let sides =
            (Some(side(old_file, list.line, &before)), Some(side(new_file, now.line, &after)));
        let (was, is) = (list.items.len(), now.items.len());
        let (verdict, why) = match (lost.is_empty(), is.cmp(&was)) {
            (false, std::cmp::Ordering::Less) => {
                (Verdict::Weaker, format!("{} has {} entries less", list.name, was - is))
            }
            (true, std::cmp::Ordering::Greater) => {
                (Verdict::Stronger, format!("{} has {} entries more", list.name, is - was))
            }
            _ => continue,
        };
        findings.push(finding(id(list.rule), object, verdict, sides, why));
    }
}

/// R06: files that a runner is told not to look at.
fn left_out(path: &str, old: &[Listed], new: &[Listed], findings: &mut Vec<Finding>) {
    let of = |lists: &[Listed]| -> Vec<(String, usize)> {
        let known = lists.iter().filter(|list| list.name.starts_with(LEFT_OUT));
        known.flat_map(|l| l.items.iter().map(|item| (item.clone(), l.line))).collect()
    };
    let was: BTreeSet<String> = of(old).into_iter().map(|(item, _)| item).collect();
    for (item, line) in of(new).iter().filter(|(item, _)| !was.contains(item)) {
        let sides = (None, Some(side(path, *line, item)));
        let why = format!("tests in {item} are no longer run");
        findings.push(finding(id("R06"), path, Verdict::Weaker, sides, why));
    }
}

/// What a file says outside of its functions.
pub fn file(
    path: &str,
    old: &Checks,
    new: &Checks,
    all: &BTreeMap<String, Checks>,
    findings: &mut Vec<Finding>,
) {
    numbers(path, path, path, &old.knobs, &new.knobs, findings);
    retried(path, path, &old.knobs, &new.knobs, findings);
    shortened(path, path, path, &old.lists, &new.lists, findings);
    left_out(path, &old.lists, &new.lists, findings);
    let ids: BTreeSet<&str> =
        all.values().flat_map(|c| c.ids.iter().map(|(name, _)| name.as_str())).collect();
    for (name, line) in old.ids.iter().filter(|(name, _)| !ids.contains(name.as_str())) {
        let sides = (Some(side(path, *line, name)), None);
        let why = format!("the id {name} is gone: what refers to it points to nothing");
        findings.push(finding(id("R01"), format!("{path}::{name}"), Verdict::Weaker, sides, why));
    }
    let count = |checks: &Checks| checks.recorders.len();
    let everywhere: usize = all.values().map(count).sum();
    if count(old) > count(new) && everywhere < count(old) {
        for (name, line) in &old.recorders {
            let kept = new.recorders.iter().any(|(other, _)| other == name);
            if kept {
                continue;
            }
            let sides = (Some(side(path, *line, name)), None);
            let why = format!("{name} is no longer called: checks run and nobody hears them");
            findings.push(finding(id("R10"), path, Verdict::Weaker, sides, why));
        }
    }
}

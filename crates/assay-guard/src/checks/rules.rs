//! K01 to K05 over two trees.

use super::commands::{Command, OnFailure, PIPED, bare, ends_on_failure, is_check, lines};
use super::flat::{Setting, settings};
use super::targets::targets;
use super::triggers::triggers;
use super::{environment, settings as known};
use crate::config::Config;
use crate::finding::{Finding, Side, Verdict, finding};
use crate::rules::id;
use crate::tree::{Tree, extension, file_name, text};
use std::collections::BTreeSet;

/// What kind of file it is, for these rules.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Workflow,
    Script,
    Targets,
    Settings,
}

/// Files with settings of linters, coverage, compilers and test runners.
const SETTINGS: &[&str] = &[
    "codecov.yml",
    ".codecov.yml",
    "codecov.yaml",
    ".coveragerc",
    "setup.cfg",
    "tox.ini",
    "pyproject.toml",
    "pytest.ini",
    "mypy.ini",
    ".mypy.ini",
    "ruff.toml",
    ".ruff.toml",
    ".flake8",
    ".pylintrc",
    "package.json",
    "tsconfig.json",
    ".eslintrc.json",
    ".eslintrc",
    ".eslintrc.yml",
    ".eslintrc.yaml",
    "jest.config.json",
    ".nycrc",
    ".nycrc.json",
    "cargo.toml",
    "clippy.toml",
    ".clippy.toml",
    "deny.toml",
    "tarpaulin.toml",
    ".golangci.yml",
    ".golangci.yaml",
    "nextest.toml",
    "stryker.conf.json",
    "sonar-project.properties",
    "pom.xml",
    ".rubocop.yml",
    "biome.json",
    ".c8rc.json",
    "mutants.toml",
    ".pre-commit-config.yaml",
    "assay.toml",
    "config.toml",
];

/// Tools whose settings may be a script, by the first part of its name.
const SCRIPTED: &[&str] =
    &["jest", "vitest", "vite", "eslint", "karma", "playwright", "cypress", "stryker", "nyc", "c8"];

/// Settings in a script: `jest.config.ts`, `karma.conf.js`, `.eslintrc.cjs`.
fn is_scripted(name: &str, extension: &str) -> bool {
    let script = matches!(extension, "js" | "cjs" | "mjs" | "ts" | "mts" | "cts");
    let parts: Vec<&str> = name.trim_start_matches('.').split('.').collect();
    script
        && match parts[..] {
            [tool, "config" | "conf", _] => SCRIPTED.contains(&tool),
            [rc, _] => rc.strip_suffix("rc").is_some_and(|tool| SCRIPTED.contains(&tool)),
            _ => false,
        }
}

fn kind(path: &str) -> Option<Kind> {
    let name = file_name(path).to_ascii_lowercase();
    let extension = extension(path);
    let yaml = matches!(extension.as_str(), "yml" | "yaml");
    let runs = path.starts_with(".github/workflows/")
        || path.starts_with(".circleci/")
        || path.starts_with(".buildkite/")
        || path.contains(".gitlab-ci")
        || matches!(
            name.as_str(),
            ".travis.yml"
                | "azure-pipelines.yml"
                | "appveyor.yml"
                | ".drone.yml"
                | "bitbucket-pipelines.yml"
                | "cloudbuild.yaml"
                | "action.yml"
        );
    if yaml && runs {
        return Some(Kind::Workflow);
    }
    if matches!(name.as_str(), "makefile" | "gnumakefile" | "justfile") || extension == "mk" {
        return Some(Kind::Targets);
    }
    if matches!(extension.as_str(), "sh" | "bash") {
        return Some(Kind::Script);
    }
    // Only that of cargo says how strict anybody is.
    if name == "config.toml" && !path.contains(".cargo/") {
        return None;
    }
    let tsconfig = name.starts_with("tsconfig") && extension == "json";
    let known = SETTINGS.contains(&name.as_str()) || tsconfig || is_scripted(&name, &extension);
    known.then_some(Kind::Settings)
}

/// Whether a file is the guard's own configuration: what it switches off is always told.
pub fn own_configuration(path: &str) -> bool {
    path == "assay.toml"
}

/// Whether a file is one of these.
pub fn is_configuration(path: &str) -> bool {
    kind(path).is_some()
}

/// What got weaker in what runs and configures checks.
pub fn compare(before: &Tree, after: &Tree, _: &Config) -> Vec<Finding> {
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut findings = Vec::new();
    let (mut old_all, mut new_all) = (Vec::new(), Vec::new());
    for path in paths {
        if before.get(path) == after.get(path) {
            continue;
        }
        let (old, new) = (text(before, path), text(after, path));
        if let (Some(old), Some(new), "rs") = (old, new, extension(path).as_str()) {
            attributes(path, old, new, &mut findings);
        }
        let Some(kind) = kind(path) else { continue };
        if kind != Kind::Settings {
            let all = |source: Option<&str>| {
                let found = source.map_or(Vec::new(), |source| commands(kind, source));
                found.into_iter().map(|command| (path.to_string(), command)).collect::<Vec<_>>()
            };
            old_all.extend(all(old));
            new_all.extend(all(new));
        }
        if let (Kind::Script, Some(old), Some(new)) = (kind, old, new) {
            goes_on(path, old, new, &mut findings);
        }
        if kind == Kind::Workflow {
            let read = |source: Option<&str>| settings("yml", source?);
            if let (Some(old), Some(new)) = (read(old), read(new)) {
                triggers(path, &old, &new, &mut findings);
                environment::compare(path, &old, &new, &mut findings);
                configured(path, &switches(&old), &switches(&new), &mut findings);
            } else if new.is_some() && read(new).is_none() && read(old).is_some() {
                unreadable(path, &mut findings);
            }
        }
        if kind == Kind::Settings {
            let all = |source: Option<&str>| {
                let found = source.map_or(Vec::new(), |source| scripts(path, source));
                found.into_iter().map(|command| (path.to_string(), command)).collect::<Vec<_>>()
            };
            old_all.extend(all(old));
            new_all.extend(all(new));
        }
        if kind == Kind::Settings
            && let (Some(old), new) = (old.or(own_configuration(path).then_some("")), new)
        {
            let name = file_name(path);
            let own = match extension(path).as_str() {
                "" | "eslintrc" | "nycrc"
                    if name.contains("rc") && name != ".pylintrc" && name != ".coveragerc" =>
                {
                    "json".to_string()
                }
                other => other.to_string(),
            };
            let (a, b) = (settings(&own, old), settings(&own, new.unwrap_or_default()));
            match (a, b) {
                (Some(a), Some(b)) => configured(path, &a, &b, &mut findings),
                (Some(_), None) => unreadable(path, &mut findings),
                _ => {}
            }
        }
    }
    run(&old_all, &new_all, &mut findings);
    findings
}

/// K02: a script that ended when a command failed, and does not any more.
fn goes_on(path: &str, old: &str, new: &str, findings: &mut Vec<Finding>) {
    if ends_on_failure(old) && !ends_on_failure(new) {
        let sides = [old, new].map(|text| Some(Side { file: path, line: 1, text }));
        let reason = "goes on when a command fails: set -e is gone";
        findings.push(finding(id("K02"), path, Verdict::Weaker, (sides[0], sides[1]), reason));
    }
}

/// `MIN_COVERAGE: 85` among the variables of a job.
fn is_coverage(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    lower.contains("cov") && ["min", "under", "threshold"].iter().any(|word| lower.contains(word))
}

/// What a workflow says about failing besides its commands, wherever the step stands.
fn switches(list: &[Setting]) -> Vec<Setting> {
    let known = |s: &&Setting| {
        matches!(s.key(), "retry" | "retries" | "needs")
            || is_coverage(s.key())
            || known::FAILS.contains(&s.key())
    };
    let without_places = |s: &Setting| {
        let path = s.path.iter().filter(|part| part.parse::<usize>().is_err());
        Setting { path: path.cloned().collect(), ..s.clone() }
    };
    list.iter().filter(known).map(without_places).collect()
}

/// Commands that settings contain: scripts of a package, options of a test runner.
fn scripts(path: &str, source: &str) -> Vec<Command> {
    let Some(all) = settings(&extension(path), source) else { return Vec::new() };
    let mut found = Vec::new();
    for setting in &all {
        let text = match setting.key() {
            _ if setting.path.first().is_some_and(|first| first == "scripts")
                && extension(path) == "json" =>
            {
                setting.value.clone()
            }
            "addopts" => format!("pytest {}", setting.value.replace('\n', " ")),
            "commands" => setting.value.clone(),
            "id" if setting.path.iter().any(|part| part == "hooks") => {
                format!("pre-commit run {}", setting.value)
            }
            _ => continue,
        };
        let mut own = lines(setting.key(), &text, setting.line, OnFailure::GoesOn);
        // `- command` of tox goes on, as in a Makefile.
        for command in own.iter_mut().filter(|command| command.text.starts_with("- ")) {
            command.harmless = Some("a leading -".to_string());
        }
        // A script named after a check is one, whatever it runs.
        let named = is_check(setting.key());
        own.iter_mut().filter(|_| named).for_each(|command| {
            command.job = setting.key().to_string();
        });
        found.extend(own);
    }
    found
}

/// K04: lints of a whole crate in its attributes.
fn attributes(path: &str, old: &str, new: &str, findings: &mut Vec<Finding>) {
    let lines = |source: &str, words: &[&str]| -> Vec<(usize, String)> {
        let all = source.lines().enumerate();
        let fits = |line: &str| words.iter().any(|word| line.starts_with(&format!("#![{word}(")));
        all.filter(|(_, line)| fits(line.trim())).map(|(at, l)| (at + 1, l.trim().into())).collect()
    };
    let has = |list: &[(usize, String)], text: &str| list.iter().any(|(_, own)| own == text);
    let strict = ["deny", "forbid"];
    let (was, is) = (lines(old, &strict), lines(new, &strict));
    for (line, text) in was.iter().filter(|(_, text)| !has(&is, text)) {
        if has(&is, &text.replace("deny(", "forbid(")) {
            continue;
        }
        let sides = (Some(Side { file: path, line: *line, text }), None);
        let reason = format!("{text} is gone");
        findings.push(finding(id("K04"), path, Verdict::Weaker, sides, reason));
    }
    let (was, is) = (lines(old, &["allow"]), lines(new, &["allow"]));
    for (line, text) in is.iter().filter(|(_, text)| !has(&was, text)) {
        let sides = (None, Some(Side { file: path, line: *line, text }));
        let reason = format!("{text} was added");
        findings.push(finding(id("K04"), path, Verdict::Weaker, sides, reason));
    }
}

fn unreadable(path: &str, findings: &mut Vec<Finding>) {
    let place = Side { file: path, line: 1, text: "" };
    let reason = "cannot be read any more, so what it configures could not be compared";
    findings.push(finding(id("G01"), path, Verdict::Suspect, (None, Some(place)), reason));
}

fn commands(kind: Kind, source: &str) -> Vec<Command> {
    match kind {
        Kind::Targets => targets(source),
        Kind::Script => {
            let failure = match ends_on_failure(source) {
                true => OnFailure::Ends,
                false => OnFailure::GoesOn,
            };
            lines("", source, 1, failure)
        }
        _ => workflow(source),
    }
}

/// The commands of a workflow, with what their job and step say about failing.
fn workflow(source: &str) -> Vec<Command> {
    let Some(all) = settings("yml", source) else { return Vec::new() };
    let mut found = Vec::new();
    for setting in &all {
        let runs = matches!(
            setting.key(),
            "run"
                | "script"
                | "before_script"
                | "command"
                | "commands"
                | "uses"
                | "after_success"
                | "test"
        );
        if !runs {
            continue;
        }
        // The step is everything up to the last number; the job what stands above the steps.
        let step = setting.path.iter().rposition(|part| part.parse::<usize>().is_ok());
        let key = setting.path.iter().rposition(|part| part == setting.key()).unwrap_or(0);
        let own = &setting.path[..step.filter(|at| *at < key).map_or(key, |at| at + 1)];
        let job = match setting.path.first().map(String::as_str) {
            Some("jobs") => setting.path.get(1).cloned().unwrap_or_default(),
            _ => setting.path.first().cloned().unwrap_or_default(),
        };
        let depth = own.len();
        let said = |wanted: &str| {
            all.iter().find(|other| {
                other.path.last().is_some_and(|last| last == wanted)
                    && (other.path[..other.path.len() - 1] == own[..depth]
                        || other.path.len() == 3 && other.path[1] == job
                        || other.path.len() == 2 && other.path[0] == job)
            })
        };
        let harmless = ["continue-on-error", "allow_failure"].iter().find_map(|wanted| {
            said(wanted)
                .filter(|s| s.value == "true" || s.value.contains("${{"))
                .map(|s| format!("{wanted}: {}", s.value))
        });
        let by_hand = said("when").filter(|s| matches!(s.value.as_str(), "manual" | "never"));
        let by_hand = by_hand.map(|s| format!("somebody starts it: when: {}", s.value));
        let off = said("if").map(|s| s.value.clone()).or(by_hand);
        let text = match setting.key() {
            "uses" => {
                let name = setting.value.split('@').next().unwrap_or_default();
                format!("uses {name}")
            }
            _ => setting.value.clone(),
        };
        for mut command in lines(&job, &text, setting.line, OnFailure::Ends) {
            // `bash` by its name is run so that pipes fail.
            if command.harmless.as_deref() == Some(PIPED) && source.contains("shell: bash") {
                command.harmless = None;
            }
            command.harmless = command.harmless.or_else(|| harmless.clone());
            command.condition.clone_from(&off);
            found.push(command);
        }
    }
    found
}

type Placed = (String, Command);

fn run(old: &[Placed], new: &[Placed], findings: &mut Vec<Finding>) {
    let mut taken = vec![false; new.len()];
    for exactly in [true, false] {
        for (file, command) in old.iter().filter(|(_, c)| is_check(&c.text)) {
            let wanted = bare(&command.text);
            let same = (0..new.len()).find(|at| {
                !taken[*at] && bare(&new[*at].1.text) == wanted && (new[*at].0 == *file) == exactly
            });
            if let Some(at) = same {
                taken[at] = true;
                kept(file, command, &new[at], findings);
            }
        }
    }
    let was: BTreeSet<String> = old.iter().map(|(_, c)| bare(&c.text)).collect();
    let files: BTreeSet<&str> = old.iter().map(|(file, _)| file.as_str()).collect();
    let found: BTreeSet<String> = new.iter().map(|(_, c)| bare(&c.text)).collect();
    for (file, command) in old.iter().filter(|(_, c)| is_check(&c.text)) {
        if found.contains(&bare(&command.text)) {
            continue;
        }
        let words = |text: &str| bare(text).split(' ').map(str::to_string).collect::<Vec<_>>();
        let own = words(&command.text);
        let similar = (0..new.len()).filter(|at| !taken[*at]).find(|at| {
            let other = words(&new[*at].1.text);
            new[*at].0 == *file
                && own.first() == other.first()
                && (own.len() < 2
                    || other.len() < 2
                    || own[1] == other[1]
                    || own.iter().filter(|w| other.contains(w)).count() * 2 >= own.len())
        });
        let before = Side { file, line: command.line, text: &command.text };
        let object = format!("{file}::{}", command.job);
        match similar {
            Some(at) => {
                taken[at] = true;
                let (path, other) = &new[at];
                let after = Side { file: path, line: other.line, text: &other.text };
                let sides = (Some(before), Some(after));
                // A path that moved is the same file as long as its name is.
                let named = |words: Vec<String>| -> Vec<String> {
                    words.iter().map(|word| last_part(word)).collect()
                };
                if named(own.clone()) == named(words(&other.text)) {
                    kept(file, command, &new[at], findings);
                    continue;
                }
                let (rule, verdict, reason) = flags(&own, &words(&other.text));
                let told = finding(id(rule), object.clone(), verdict, sides, reason);
                findings.extend(Some(told).filter(|told| !told.reason.is_empty()));
                kept(file, command, &new[at], findings);
            }
            None => {
                let reason = format!("`{}` is no longer run", command.text);
                let sides = (Some(before), None);
                findings.push(finding(id("K01"), object, Verdict::Weaker, sides, reason));
            }
        }
    }
    for (at, (file, command)) in new.iter().enumerate() {
        let known = taken[at] || was.contains(&bare(&command.text));
        if known || !is_check(&command.text) || !files.contains(file.as_str()) {
            continue;
        }
        findings.push(added(file, command));
    }
}

/// A check that was not there.
fn added(file: &str, command: &Command) -> Finding {
    let place = Side { file, line: command.line, text: &command.text };
    let object = format!("{file}::{}", command.job);
    let reason = format!("`{}` is run, too", command.text);
    finding(id("K01"), object, Verdict::Stronger, (None, Some(place)), reason)
}

/// The name of a file without where it is; all of what stands for many: `./a/...`, `tests/*`.
fn last_part(word: &str) -> String {
    let many = word.contains("...") || word.contains('*') || word.ends_with('/');
    if many { word.to_string() } else { file_name(word).to_string() }
}

/// A command that is still run: can it still fail?
fn kept(file: &str, old: &Command, (path, new): &Placed, findings: &mut Vec<Finding>) {
    let sides = (
        Some(Side { file, line: old.line, text: &old.text }),
        Some(Side { file: path, line: new.line, text: &new.text }),
    );
    let object = format!("{file}::{}", old.job);
    let mut push = |rule: &'static str, verdict, reason: String| {
        findings.push(finding(id(rule), object.clone(), verdict, sides, reason));
    };
    match (&old.harmless, &new.harmless) {
        (None, Some(why)) => {
            push("K02", Verdict::Weaker, format!("no longer fails the build: {why}"));
        }
        (Some(_), None) => push("K02", Verdict::Stronger, "fails the build now".to_string()),
        _ => {}
    }
    let never = |c: &Option<String>| {
        c.as_ref().is_some_and(|c| c.replace(['$', '{', '}', ' '], "") == "false")
    };
    match (&old.condition, &new.condition) {
        (None, Some(condition)) if never(&new.condition) => {
            push("K01", Verdict::Weaker, format!("is never run: if {condition}"));
        }
        (None, Some(condition)) if !condition.contains("always()") => {
            push("K05", Verdict::Weaker, format!("is run only if {condition}"));
        }
        (Some(_), None) => push("K05", Verdict::Stronger, "is always run".to_string()),
        (Some(a), Some(b)) if a != b => {
            push("K05", Verdict::Changed, format!("is run if {b} instead of if {a}"));
        }
        _ => {}
    }
}

/// Options with a number.
const NUMBERS: &[&str] = &[
    "--cov-fail-under",
    "--fail-under-lines",
    "--fail-under",
    "--max-warnings",
    "--retries",
    "--reruns",
    "--cases",
    "--seeds",
    "-count",
];

/// Options that make a command look harder.
const STRICT: &[&str] = &[
    "-D",
    "warnings",
    "--deny",
    "--strict",
    "-race",
    "--workspace",
    "--all",
    "--all-targets",
    "--all-features",
    "-Werror",
    "--locked",
    "--check",
    "-Dwarnings",
    "--cov-fail-under",
    "--fail-under",
    "--fail-under-lines",
    "--max-warnings",
    "./...",
    "--coverage",
    "--cov",
    "-W",
    "error",
    "--strict-markers",
    "--strict-config",
    "--error-on-warnings",
    "--warnings-as-errors",
    "-shuffle",
];

/// Options that make it look away.
const LOOSE: &[&str] = &[
    "--exclude",
    "--skip",
    "-k",
    "--ignore",
    "--allow",
    "-A",
    "--no-verify",
    "-short",
    "--lib",
    "--no-run",
    "--deselect",
    "-DskipTests",
    "--retries",
    "--reruns",
    "--bail=0",
    "--passWithNoTests",
    "--update-snapshots",
    "-u",
    "--no-coverage",
    "--cap-lints",
    "--onlyChanged",
    "--changedSince",
    "--lf",
    "--last-failed",
    "--testNamePattern",
    "--grep",
    "-run",
    "-m",
];

/// `--max-warnings 0` as `--max-warnings=0`.
fn with_numbers(words: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::with_capacity(words.len());
    for word in words {
        match found.last_mut() {
            Some(last) if NUMBERS.contains(&last.as_str()) && word.parse::<f64>().is_ok() => {
                last.push('=');
                last.push_str(word);
            }
            _ => found.push(word.clone()),
        }
    }
    found
}

/// The numbers of an option that is about coverage and differs in nothing else.
fn threshold(lost: &[&str], gained: &[&str]) -> Option<(f64, f64)> {
    let ([a], [b]) = (lost, gained) else { return None };
    let lower = a.to_lowercase();
    let about = ["cov", "threshold", "fail-under"].iter().any(|word| lower.contains(word));
    let digit = |c: char| c.is_ascii_digit() || c == '.';
    let rest = |word: &str| word.chars().filter(|c| !digit(*c)).collect::<String>();
    let number = |word: &str| -> Option<f64> {
        let from = word.find(|c: char| c.is_ascii_digit())?;
        let end = word[from..].find(|c| !digit(c)).map_or(word.len(), |end| from + end);
        word[from..end].parse().ok()
    };
    (about && rest(a) == rest(b)).then_some((number(a)?, number(b)?))
}

/// Two forms of a command, by what came and went.
pub fn flags(old: &[String], new: &[String]) -> (&'static str, Verdict, String) {
    let (old, new) = (with_numbers(old), with_numbers(new));
    let lost: Vec<&str> = old.iter().filter(|w| !new.contains(w)).map(String::as_str).collect();
    let gained: Vec<&str> = new.iter().filter(|w| !old.contains(w)).map(String::as_str).collect();
    let number = |words: &[&str], flag: &str| -> Option<f64> {
        words.iter().find_map(|word| word.strip_prefix(flag)?.trim_start_matches('=').parse().ok())
    };
    // The same words in another order.
    if lost.is_empty() && gained.is_empty() && old.len() == new.len() {
        return ("K01", Verdict::Changed, String::new());
    }
    for flag in NUMBERS {
        if let (Some(a), Some(b)) = (number(&lost, flag), number(&gained, flag)) {
            let low = matches!(*flag, "--max-warnings" | "--retries" | "--reruns");
            let verdict = if (b > a) == low { Verdict::Weaker } else { Verdict::Stronger };
            return ("K03", verdict, format!("{flag} is {b} instead of {a}"));
        }
    }
    if let Some((a, b)) = threshold(&lost, &gained) {
        let verdict = if b < a { Verdict::Weaker } else { Verdict::Stronger };
        return ("K03", verdict, format!("a threshold is {b} instead of {a}"));
    }
    // `python -m pytest` names a module; elsewhere `-m` picks tests.
    let module = new.first().is_some_and(|program| program.starts_with("python"));
    let is = |list: &[&str], word: &str| {
        list.iter().any(|known| word == *known || word.starts_with(&format!("{known}=")))
    };
    let dropped: Vec<&str> = lost.iter().filter(|w| is(STRICT, w)).copied().collect();
    let added: Vec<&str> =
        gained.iter().filter(|w| is(LOOSE, w) && !(module && **w == "-m")).copied().collect();
    if !dropped.is_empty() || !added.is_empty() {
        let reason = match dropped.is_empty() {
            true => format!("looks at less: {}", added.join(" ")),
            false => format!("is less strict without {}", dropped.join(" ")),
        };
        return ("K04", Verdict::Weaker, reason);
    }
    let stricter = gained.iter().any(|w| is(STRICT, w)) || lost.iter().any(|w| is(LOOSE, w));
    if stricter {
        return ("K04", Verdict::Stronger, "is stricter".to_string());
    }
    if gained.is_empty() && lost.iter().all(|w| !w.starts_with('-')) && !lost.is_empty() {
        return ("K05", Verdict::Weaker, format!("is no longer run on {}", lost.join(" ")));
    }
    if lost.is_empty() && gained.iter().all(|w| !w.starts_with('-')) {
        return ("K05", Verdict::Changed, format!("is run with {}", gained.join(" ")));
    }
    ("K01", Verdict::Changed, "is run in another way".to_string())
}

fn configured(path: &str, old: &[Setting], new: &[Setting], findings: &mut Vec<Finding>) {
    for judged in known::compare(old, new) {
        let shown = |s: &Option<Setting>| {
            s.as_ref().map(|s| (s.line, format!("{} = {}", s.name(), s.value)))
        };
        let (a, b) = (shown(&judged.sides.0), shown(&judged.sides.1));
        let sides = (
            a.as_ref().map(|(line, text)| Side { file: path, line: *line, text }),
            b.as_ref().map(|(line, text)| Side { file: path, line: *line, text }),
        );
        let object = format!("{path}::{}", judged.name);
        findings.push(finding(id(judged.rule), object, judged.verdict, sides, judged.reason));
    }
}

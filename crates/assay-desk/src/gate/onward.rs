//! The command of a contract, as one that goes on after the first failure.
//!
//! Where tests are to fail on purpose, a runner that stops at the first one says nothing of the
//! others: cargo stops after the first binary, and others if they are told to. So the command is
//! run in the words of its runner for going on. It runs the same tests.

use crate::contract::CommandSpec;
use std::path::Path;

/// The same command, going on after a failure where its runner is known by its words.
pub fn keep_going(spec: &CommandSpec) -> CommandSpec {
    let words = &spec.run;
    let names: Vec<&str> = words.iter().map(|word| file_name(word)).collect();
    let is = |name: &str| names.iter().position(|other| *other == name);
    let first = names.first().copied().unwrap_or("");
    let run = if first == "cargo" && is("nextest").is_some() {
        with(without(words, &["--fail-fast", "--ff"], &["--max-fail"]), "--no-fail-fast")
    } else if first == "cargo" && (is("test").is_some() || is("t").is_some()) {
        with(words.clone(), "--no-fail-fast")
    } else if first == "go" {
        let stops = ["-failfast", "--failfast", "-failfast=true", "--failfast=true"];
        without(words, &stops, &[])
    } else if is("pytest").or(is("py.test")).is_some() {
        let bare = ["--exitfirst", "--stepwise", "--sw"];
        let words = without(words, &bare, &["--maxfail"]);
        // Settings of the project may say `-x`: the last word counts.
        with(letters(words, 'x'), "--maxfail=0")
    } else if is("unittest").is_some() {
        letters(without(words, &["--failfast"], &[]), 'f')
    } else if is("jest").or(is("vitest")).is_some() {
        with(without(words, &["--bail", "-b"], &[]), "--bail=0")
    } else {
        words.clone()
    };
    CommandSpec { run, ..spec.clone() }
}

fn file_name(word: &str) -> &str {
    Path::new(word).file_name().and_then(|name| name.to_str()).unwrap_or(word)
}

/// Without these words, and without those that have a value, together with it; what stands behind
/// `--` is for somebody else.
fn without(words: &[String], bare: &[&str], valued: &[&str]) -> Vec<String> {
    let (mut kept, mut words) = (Vec::new(), words.iter());
    while let Some(word) = words.next() {
        if word == "--" {
            kept.push(word.clone());
            kept.extend(words.by_ref().cloned());
        } else if valued.contains(&word.as_str()) {
            words.next();
        } else {
            let name = word.split('=').next().unwrap_or(word);
            let is_one = bare.contains(&word.as_str()) || bare.contains(&name);
            if !is_one && !valued.contains(&name) {
                kept.push(word.clone());
            }
        }
    }
    kept
}

/// Without a letter among those of words like `-vx`; a word of no letter is none.
fn letters(words: Vec<String>, letter: char) -> Vec<String> {
    let each = |word: String| match word.strip_prefix('-') {
        Some(rest) if rest.contains(letter) && rest.chars().all(|c| "vqxsflbc".contains(c)) => {
            let rest: String = rest.chars().filter(|c| *c != letter).collect();
            (!rest.is_empty()).then(|| format!("-{rest}"))
        }
        _ => Some(word),
    };
    words.into_iter().filter_map(each).collect()
}

/// With a word, before those that are for somebody else.
fn with(mut words: Vec<String>, word: &str) -> Vec<String> {
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    if !words[..end].iter().any(|other| other == word) {
        words.insert(end, word.to_string());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::keep_going;
    use crate::contract::{CommandSpec, ResultFormat};

    #[test]
    fn every_runner_is_told_to_go_on_in_its_own_words() {
        for (run, wanted) in [
            ("cargo test", "cargo test --no-fail-fast"),
            ("cargo +nightly t -p a -- --x", "cargo +nightly t -p a --no-fail-fast -- --x"),
            ("cargo test --no-fail-fast", "cargo test --no-fail-fast"),
            ("cargo run -- x", "cargo run -- x"),
            (
                "cargo nextest run --max-fail 1 --ff --max-fail=2 -p a",
                "cargo nextest run -p a --no-fail-fast",
            ),
            ("pytest -xv tests", "pytest -v tests --maxfail=0"),
            ("python3 -m pytest -x --maxfail=1 -v", "python3 -m pytest -v --maxfail=0"),
            ("python3 -m pytest --maxfail 1 -k xs", "python3 -m pytest -k xs --maxfail=0"),
            ("python3 -m unittest -vf -s t", "python3 -m unittest -v -s t"),
            ("python3 -m unittest discover -f --failfast -v", "python3 -m unittest discover -v"),
            ("node_modules/.bin/jest --json --bail", "node_modules/.bin/jest --json --bail=0"),
            ("npx vitest run --bail=1", "npx vitest run --bail=0"),
            ("go test -v -failfast ./...", "go test -v ./..."),
            ("sh t/all -x", "sh t/all -x"),
        ] {
            let run = run.split(' ').map(str::to_string).collect();
            let results = Some(ResultFormat::Junit);
            let spec = CommandSpec { run, exit: 0, prints: None, results, file: None, list: None };
            assert_eq!(keep_going(&spec).run.join(" "), wanted);
        }
    }
}

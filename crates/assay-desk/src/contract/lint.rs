//! What is wrong with a contract that could be read.

use super::read::Mistake;
use super::score::{Band, Score};
use super::types::{
    Agents, CommandSpec, Contract, Layer, LayerName, MUTANTS_PERCENT_MIN, Risk, Story,
};
use crate::gate::glob;
use assay_agent::Engine;
use serde::Serialize;
use std::collections::BTreeSet;

/// Laws a person may waive. The others are computed from evidence, and nobody can.
const WAIVABLE: [&str; 2] = ["IL-2", "IL-4"];
const CRITERIA_ADVISED_MAX: usize = 4;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// It runs, and could be better.
    Warning,
    /// It does not run.
    Error,
}

/// One remark about a contract.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Complaint {
    /// How bad it is.
    pub level: Level,
    /// The line.
    pub line: usize,
    /// What and what to do.
    pub message: String,
}

/// Remarks about a contract that was read; `scores` may have been lowered by a reader.
pub fn lint(contract: &Contract, scores: &[Score]) -> Vec<Complaint> {
    let mut all = Vec::new();
    for score in scores {
        let story = score.criterion.split('/').next().unwrap_or("");
        let waived = contract.story(story).is_some_and(|story| story.waives("IL-2"));
        let level = match score.band() {
            Band::Pass => continue,
            Band::Reject if !waived => Level::Error,
            _ => Level::Warning,
        };
        let message = format!(
            "IL-2: {} has {} of 12 points: {}",
            score.criterion,
            score.total(),
            score.why.join("; ")
        );
        all.push(Complaint { level, line: score.line, message });
    }
    for story in &contract.stories {
        if story.criteria.len() > CRITERIA_ADVISED_MAX {
            let message = format!(
                "{} has {} criteria; more than {CRITERIA_ADVISED_MAX} rarely fit one Worker: split",
                story.id,
                story.criteria.len()
            );
            all.push(Complaint { level: Level::Warning, line: story.line, message });
        }
        let mapped: BTreeSet<&str> = story.tests.iter().map(|t| t.criterion.as_str()).collect();
        for criterion in story.criteria.iter().filter(|c| !mapped.contains(c.id.as_str())) {
            let message = format!(
                "{}/{} has no mapped tests: the Worker will name them",
                story.id, criterion.id
            );
            all.push(Complaint { level: Level::Warning, line: criterion.line, message });
        }
    }
    all.extend(untold_tokens(contract));
    all.extend(open_commands(contract));
    all.sort_by_key(|complaint| complaint.line);
    all
}

/// Commands that judge, and are files that whoever is judged by them may write. What a command
/// without results runs is mostly the work itself.
fn open_commands(contract: &Contract) -> Vec<Complaint> {
    let settings = &contract.settings;
    let mut all = Vec::new();
    let mut look = |line: usize, name: &str, words: &[String], paths: &[String]| {
        let open = [("tests", &settings.tests[..]), ("shared", &settings.shared), ("paths", paths)];
        for word in words {
            let path = word.strip_prefix("./").unwrap_or(word);
            let Some((field, _)) = open.iter().find(|(_, globs)| glob::any(globs, path)) else {
                continue;
            };
            let message = format!(
                "{name}: `{word}` is among `{field}`, so whoever is judged by this command may \
                 write it: name its runner, or keep the file elsewhere and in `protected`"
            );
            all.push(Complaint { level: Level::Warning, line, message });
        }
    };
    let mut judges = vec![("suite", &settings.suite)];
    judges.extend(settings.mutation.iter().map(|spec| ("mutation", spec)));
    let everybody: Vec<String> =
        contract.stories.iter().flat_map(|story| story.paths.clone()).collect();
    for (name, spec) in judges {
        let (line, list) = (contract.line, spec.list.as_deref().unwrap_or(&[]));
        look(line, name, &spec.run, &everybody);
        look(line, &format!("{name}.list"), list, &everybody);
    }
    for story in &contract.stories {
        for (name, spec) in story.commands() {
            let paths = if spec.results.is_some() { &story.paths[..] } else { &[] };
            look(story.line, &name, &spec.run, paths);
            look(story.line, &format!("{name}.list"), spec.list.as_deref().unwrap_or(&[]), paths);
        }
    }
    for story in contract.stories.iter().filter(|story| story.paths.iter().any(|p| p == "**")) {
        let message = format!(
            "{}: `paths` is everything, so nothing is out of scope: name what it may change",
            story.id
        );
        all.push(Complaint { level: Level::Warning, line: story.line, message });
    }
    all
}

/// A budget of tokens that some agent is not counted against.
fn untold_tokens(contract: &Contract) -> Option<Complaint> {
    let agents = &contract.settings.agents;
    let named = agents.worker.iter().chain([&agents.verifier, &agents.second]);
    let mut silent: Vec<&str> =
        named.map(String::as_str).filter(|name| !tells_tokens(agents, name)).collect();
    silent.sort_unstable();
    silent.dedup();
    if contract.settings.limits.tokens == 0 || silent.is_empty() {
        return None;
    }
    let message = format!(
        "`tokens` is a limit, and `{}` does not say how many it uses: it counts as none; \
         `agent_seconds` holds for every agent",
        silent.join("`, `")
    );
    Some(Complaint { level: Level::Warning, line: contract.line, message })
}

/// Whether an engine says how many tokens it used. Whoever speaks ACP says what it cost, and any
/// other command says nothing.
fn tells_tokens(agents: &Agents, name: &str) -> bool {
    match agents.engines.get(name).map(|config| &config.engine) {
        Some(engine) => !matches!(engine, Engine::Acp { .. } | Engine::Command { .. }),
        None => !matches!(name.split(':').next(), Some("acp" | "command")),
    }
}

/// What keeps a contract from being run at all.
pub(super) fn errors(contract: &Contract) -> Vec<Mistake> {
    let mut errors = Errors { all: Vec::new() };
    errors.settings(contract);
    let mut seen = BTreeSet::new();
    for (i, story) in contract.stories.iter().enumerate() {
        if !seen.insert(story.id.as_str()) {
            errors.add(story.line, format!("{} is there twice", story.id));
        }
        errors.story(contract, story);
        errors.references(contract, i);
        errors.tests(story);
    }
    errors.all
}

struct Errors {
    all: Vec<Mistake>,
}

impl Errors {
    fn add(&mut self, line: usize, message: String) {
        self.all.push(Mistake { line, message });
    }

    fn settings(&mut self, contract: &Contract) {
        let (settings, line) = (&contract.settings, contract.line);
        self.command(line, "suite", &settings.suite);
        if settings.suite.results.is_none() {
            self.add(line, "the suite has no `results`: say how its tests are read".to_string());
        }
        if settings.tests.is_empty() {
            self.add(line, "`tests` is empty: say which files are tests".to_string());
        }
        if let Some(mutation) = &settings.mutation {
            self.command(line, "mutation", mutation);
        }
        if !(MUTANTS_PERCENT_MIN..=100).contains(&settings.mutants_percent) {
            let message = format!("`mutants_percent` is from {MUTANTS_PERCENT_MIN} to 100");
            self.add(line, message);
        }
        for pattern in settings.tests.iter().chain(&settings.shared).chain(&settings.protected) {
            self.pattern(line, pattern);
        }
        for cache in &settings.cache {
            if cache.contains('/') || cache.starts_with('.') || cache.is_empty() {
                self.add(line, format!("cache `{cache}`: name one directory, such as `target`"));
            }
        }
        let limits = &settings.limits;
        let all = [limits.iterations, limits.failures, limits.same_criterion, limits.stale];
        let more = [limits.infrastructure, limits.blocks, limits.questions, limits.verdicts];
        if all.iter().chain(&more).any(|limit| *limit == 0)
            || limits.agent_seconds == 0
            || limits.gate_seconds == 0
        {
            self.add(line, "a limit of 0 would end the campaign before it begins".to_string());
        }
    }

    fn pattern(&mut self, line: usize, pattern: &str) {
        if let Err(why) = glob::check(pattern) {
            self.add(line, format!("`{pattern}`: {why}"));
        }
    }

    fn command(&mut self, line: usize, name: &str, command: &CommandSpec) {
        if command.run.first().is_none_or(|program| program.trim().is_empty()) {
            self.add(line, format!("{name}: `run` names no program"));
        }
        if command.list.as_ref().is_some_and(|list| list.first().is_none_or(String::is_empty)) {
            self.add(line, format!("{name}: `list` names no program"));
        }
        if let Some(file) = &command.file
            && (file.starts_with('/') || file.split('/').any(|part| part == ".."))
        {
            self.add(line, format!("{name}: `file` must be a path inside the repository"));
        }
    }

    fn story(&mut self, contract: &Contract, story: &Story) {
        let (line, id) = (story.line, &story.id);
        if story.criteria.is_empty() {
            self.add(line, format!("{id} has no criteria: items `AC-1` with Given, When, Then"));
        }
        if story.paths.is_empty() {
            self.add(line, format!("{id}: `paths` is empty: say what it may change"));
        }
        for pattern in &story.paths {
            self.pattern(line, pattern);
        }
        let mut seen = BTreeSet::new();
        for criterion in &story.criteria {
            if !seen.insert(&criterion.id) {
                self.add(criterion.line, format!("{id}/{} is there twice", criterion.id));
            }
            if criterion.when.is_empty() || criterion.then.is_empty() {
                let message = format!("{id}/{} needs a When and a Then", criterion.id);
                self.add(criterion.line, message);
            }
        }
        for (name, layer) in &story.layers {
            self.layer(story, *name, layer);
        }
        self.required_layers(contract, story);
        for waiver in &story.waivers {
            if !WAIVABLE.contains(&waiver.law.as_str()) {
                let message = format!("{id}: {} cannot be waived; only IL-2, IL-4 can", waiver.law);
                self.add(line, message);
            }
            if waiver.by.trim().is_empty() || waiver.why.trim().is_empty() {
                self.add(line, format!("{id}: a waiver says who decided it and why"));
            }
        }
    }

    fn layer(&mut self, story: &Story, name: LayerName, layer: &Layer) {
        let place = format!("{}/{name:?}", story.id);
        match layer {
            Layer::NotApplicable { not_applicable } => {
                let reason = not_applicable.trim().to_uppercase();
                if reason.len() < 3 || reason.starts_with("TODO") || reason.starts_with("TBD") {
                    self.add(story.line, format!("{place}: say why it does not apply"));
                }
                if matches!(name, LayerName::L1 | LayerName::L3) {
                    self.add(story.line, format!("{place} always applies: give its commands"));
                }
            }
            Layer::Required { commands } => {
                if commands.is_empty() {
                    self.add(story.line, format!("{place}: `commands` is empty"));
                }
                for command in commands {
                    self.command(story.line, &place, command);
                }
                if name == LayerName::L1 && commands.iter().all(|c| c.results.is_none()) {
                    let message =
                        format!("{place}: one command needs `results`, so that tests are counted");
                    self.add(story.line, message);
                }
                let errs = commands.iter().any(|command| command.exit != 0);
                let works = commands.iter().any(|command| command.exit == 0);
                if name == LayerName::L3 && !(errs && works) {
                    let message = format!(
                        "{place}: end to end means one command that works and one that is refused \
                         (`exit` not 0)"
                    );
                    self.add(story.line, message);
                }
            }
        }
    }

    /// Which layers a risk asks for.
    fn required_layers(&mut self, contract: &Contract, story: &Story) {
        let settings = &contract.settings;
        let high = story.risk >= Risk::High;
        let wanted = [
            (LayerName::L1, true, true),
            (LayerName::L2, high, settings.external),
            (LayerName::L3, true, true),
            (LayerName::L4, high, settings.deploys),
        ];
        for (name, said, run) in wanted {
            let layer = story.layers.get(&name);
            let place = format!("{}/{name:?}", story.id);
            if (said || run) && layer.is_none() {
                let message = format!("{place} is missing: commands, or why it does not apply");
                self.add(story.line, message);
            }
            if run && matches!(layer, Some(Layer::NotApplicable { .. })) && name != LayerName::L1 {
                let message = format!("{place}: the campaign's settings say that it applies");
                self.add(story.line, message);
            }
        }
    }

    /// A story may build on earlier ones only.
    fn references(&mut self, contract: &Contract, index: usize) {
        let story = &contract.stories[index];
        for criterion in &story.criteria {
            let text = criterion.text();
            for (at, _) in text.match_indices("US-") {
                let named = text.get(at..at + 6).unwrap_or("");
                let place = contract.stories.iter().position(|other| other.id == named);
                let message = match place {
                    Some(place) if place > index => format!(
                        "{}/{} needs {named}, which is built later: reorder, or cut the reference",
                        story.id, criterion.id
                    ),
                    Some(_) => continue,
                    None => {
                        format!("{}/{} names no story of this contract", story.id, criterion.id)
                    }
                };
                self.add(criterion.line, message);
            }
        }
    }

    fn tests(&mut self, story: &Story) {
        let known: BTreeSet<&str> = story.criteria.iter().map(|c| c.id.as_str()).collect();
        let named = story.tests.iter().map(|test| &test.criterion);
        for criterion in named.chain(story.existing.keys()) {
            if !known.contains(criterion.as_str()) {
                let message = format!("{}: there is no criterion {criterion}", story.id);
                self.add(story.line, message);
            }
        }
        let mut seen = BTreeSet::new();
        for test in &story.tests {
            if !seen.insert((&test.criterion, &test.name)) {
                let message = format!(
                    "{}/{}: `{}` counts once, not twice",
                    story.id, test.criterion, test.name
                );
                self.add(story.line, message);
            }
        }
    }
}

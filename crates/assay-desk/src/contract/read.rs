//! From Markdown to a contract, with a line for every mistake.

use super::markdown::{Block, Kind, blocks};
use super::types::{
    Contract, Criterion, Layer, LayerName, MappedTest, Risk, Settings, Story, Waiver,
};
use super::{lint, sha256};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::ops::Range;

/// Longer contracts are refused.
pub const SOURCE_BYTES_MAX: usize = 1 << 20;
/// More stories than this are several campaigns.
const STORIES_MAX: usize = 100;

/// Something that keeps a text from being a contract.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Mistake {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong and what to do.
    pub message: String,
}

/// Why a text is no contract.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {}: {}", .0.first().map_or(1, |m| m.line), .0.first().map_or("", |m| &m.message))]
pub struct ContractErrors(
    /// All mistakes, in the order of their lines; at least one.
    pub Vec<Mistake>,
);

/// Reads a contract; what cannot be run is an error.
pub fn read(source: &str) -> Result<Contract, ContractErrors> {
    if source.len() > SOURCE_BYTES_MAX {
        let message = format!("longer than {SOURCE_BYTES_MAX} bytes: split it into campaigns");
        return Err(ContractErrors(vec![Mistake { line: 1, message }]));
    }
    let mut reader = Reader { source, mistakes: Vec::new() };
    let contract = reader.contract();
    let mut mistakes = reader.mistakes;
    if let Some(contract) = contract.filter(|_| mistakes.is_empty()) {
        mistakes.extend(lint::errors(&contract));
        if mistakes.is_empty() {
            return Ok(contract);
        }
    }
    mistakes.sort_by_key(|mistake| mistake.line);
    Err(ContractErrors(mistakes))
}

struct Reader<'s> {
    source: &'s str,
    mistakes: Vec<Mistake>,
}

/// What the block of a story says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoryBlock {
    risk: Risk,
    paths: Vec<String>,
    layers: BTreeMap<LayerName, Layer>,
    #[serde(default)]
    tests: Vec<MappedTest>,
    #[serde(default)]
    existing: BTreeMap<String, String>,
    #[serde(default)]
    waivers: Vec<Waiver>,
}

impl Reader<'_> {
    fn line(&self, offset: usize) -> usize {
        1 + self.source.as_bytes()[..offset].iter().filter(|byte| **byte == b'\n').count()
    }

    fn wrong(&mut self, offset: usize, message: impl Into<String>) {
        let line = self.line(offset);
        self.mistakes.push(Mistake { line, message: message.into() });
    }

    fn contract(&mut self) -> Option<Contract> {
        let all = blocks(self.source);
        let slug = self.slug(&all);
        let mut objective = String::new();
        let (mut settings, mut line) = (None, 1);
        let mut stories = Vec::new();
        let mut sections = BTreeMap::new();
        for part in parts(&all, self.source.len()) {
            let heading = all[part.blocks.start].text.trim().to_string();
            let body = &all[part.blocks.start + 1..part.blocks.end];
            let hash = sha256(self.source[part.bytes.clone()].trim_end().as_bytes());
            if heading.eq_ignore_ascii_case("objective") {
                objective = prose(body);
            } else if heading.eq_ignore_ascii_case("campaign") {
                line = self.line(part.bytes.start);
                settings = self.block::<Settings>(body, part.bytes.start);
                sections.insert("campaign".to_string(), hash);
            } else if part.level == 3 {
                let story = self.story(&heading, body, part.bytes.start);
                if let Some(story) = story {
                    sections.insert(story.id.clone(), hash);
                    stories.push(story);
                }
            }
        }
        if objective.is_empty() {
            self.wrong(0, "no objective: say under `## Objective` what this is for");
        }
        if stories.is_empty() && self.mistakes.is_empty() {
            self.wrong(0, "no stories: each is a heading `### US-001: title` under `## Stories`");
        }
        if stories.len() > STORIES_MAX {
            self.wrong(0, format!("more than {STORIES_MAX} stories: split the campaign"));
        }
        if settings.is_none() && self.mistakes.is_empty() {
            self.wrong(0, "no settings: `## Campaign` with one `toml` block is missing");
        }
        let hash = sha256(self.source.as_bytes());
        let (slug, settings) = (slug?, settings?);
        Some(Contract { slug, objective, settings, stories, hash, sections, line })
    }

    fn slug(&mut self, all: &[Block]) -> Option<String> {
        let title = all.iter().find(|block| block.kind == Kind::Heading(1));
        let Some(title) = title else {
            self.wrong(0, "the first heading is missing: `# Contract: slug`");
            return None;
        };
        let slug = title.text.strip_prefix("Contract:").map(str::trim).unwrap_or("");
        if !super::words::is_slug(slug) {
            self.wrong(
                title.start,
                "the first heading must be `# Contract: slug`, with lower-case words joined by \
                 dashes",
            );
            return None;
        }
        Some(slug.to_string())
    }

    /// The one `toml` block of a part.
    fn block<T: DeserializeOwned>(&mut self, body: &[Block], start: usize) -> Option<T> {
        let mut found = body.iter().filter_map(|block| match &block.kind {
            Kind::Code { language, body } if language == "toml" => Some((block.start, body)),
            _ => None,
        });
        let Some((_, range)) = found.next() else {
            self.wrong(start, "no `toml` block: what a machine needs to know stands in one");
            return None;
        };
        if let Some((second, _)) = found.next() {
            self.wrong(second, "a second `toml` block: put everything into the first");
            return None;
        }
        match toml_edit::de::from_str(&self.source[range.clone()]) {
            Ok(value) => Some(value),
            Err(error) => {
                let offset = error.span().map_or(range.start, |span| range.start + span.start);
                let message = error.message().trim().replace('\n', "; ");
                self.wrong(offset.min(self.source.len()), explained(&message));
                None
            }
        }
    }

    fn story(&mut self, heading: &str, body: &[Block], start: usize) -> Option<Story> {
        let (id, title) = heading.split_once(':').unwrap_or((heading, ""));
        let (id, title) = (id.trim().to_string(), title.trim().to_string());
        let number = id.strip_prefix("US-").unwrap_or("");
        if number.len() != 3 || !number.bytes().all(|b| b.is_ascii_digit()) || title.is_empty() {
            self.wrong(start, format!("`{heading}`: a story is called `### US-001: title`"));
            return None;
        }
        let criteria = self.criteria(body);
        let said: StoryBlock = self.block(body, start)?;
        let line = self.line(start);
        let StoryBlock { risk, paths, layers, tests, existing, waivers } = said;
        Some(Story { id, title, risk, paths, layers, criteria, tests, existing, waivers, line })
    }

    /// Items `AC-1`, each with items Given, When and Then below it.
    fn criteria(&mut self, body: &[Block]) -> Vec<Criterion> {
        let mut criteria: Vec<Criterion> = Vec::new();
        let items = body.iter().filter(|block| matches!(block.kind, Kind::Item(_)));
        for item in items {
            let text = item.text.trim();
            let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
            let word = word.trim_end_matches(':');
            let rest = rest.trim().trim_end_matches('.').to_string();
            if let Some(number) = word.strip_prefix("AC-") {
                if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
                    self.wrong(item.start, format!("`{word}`: a criterion is called `AC-1`"));
                }
                let line = self.line(item.start);
                let id = word.to_string();
                criteria.push(Criterion { id, given: vec![], when: vec![], then: vec![], line });
                continue;
            }
            let Some(last) = criteria.last_mut() else {
                continue;
            };
            match word.to_ascii_lowercase().as_str() {
                "given" => last.given.push(rest),
                "when" => last.when.push(rest),
                "then" => last.then.push(rest),
                _ => {
                    let message = format!(
                        "`{}`: below a criterion stand Given, When and Then, nothing else",
                        word.chars().take(40).collect::<String>()
                    );
                    self.wrong(item.start, message);
                }
            }
        }
        criteria
    }
}

/// A part of the document: a heading of level 2 or 3 and what follows it.
struct Part {
    level: u8,
    blocks: Range<usize>,
    bytes: Range<usize>,
}

fn parts(all: &[Block], end: usize) -> Vec<Part> {
    let heads: Vec<(usize, u8)> = all
        .iter()
        .enumerate()
        .filter_map(|(i, block)| match block.kind {
            Kind::Heading(level @ 1..=3) => Some((i, level)),
            _ => None,
        })
        .collect();
    let mut parts = Vec::new();
    for (k, (start, level)) in heads.iter().enumerate() {
        let next = heads.get(k + 1).map(|(next, _)| *next);
        let bytes = all[*start].start..next.map_or(end, |next| all[next].start);
        if *level > 1 {
            parts.push(Part { level: *level, blocks: *start..next.unwrap_or(all.len()), bytes });
        }
    }
    parts
}

fn prose(body: &[Block]) -> String {
    let words = body.iter().filter(|block| matches!(block.kind, Kind::Prose | Kind::Item(_)));
    words.map(|block| block.text.trim()).collect::<Vec<_>>().join("\n")
}

/// What the reader of TOML says about a layer does not help: say what a layer is.
fn explained(message: &str) -> String {
    if message.contains("untagged enum Layer") {
        return "a layer is `commands = [{ run = [...] }]` or `not_applicable = \"why\"`: nothing \
                else, and TODO is neither"
            .to_string();
    }
    message.to_string()
}

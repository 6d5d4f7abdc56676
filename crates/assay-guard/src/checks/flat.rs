//! YAML, TOML, JSON and INI as one list of settings: path, value, line.

use crate::syntax::{line, named, parse, text};
use saphyr_parser::{Event, Parser};

/// One setting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setting {
    /// Where it is: `jobs`, `test`, `steps`, `0`, `run`.
    pub path: Vec<String>,
    /// What it is set to.
    pub value: String,
    /// Its line.
    pub line: usize,
}

impl Setting {
    /// The last part of the path that is no number.
    pub fn key(&self) -> &str {
        let named = self.path.iter().rev().find(|part| part.parse::<usize>().is_err());
        named.map_or("", String::as_str)
    }

    /// The path with slashes.
    pub fn name(&self) -> String {
        self.path.join("/")
    }
}

/// How many settings of one file are looked at, and how deep they may be.
const SETTINGS_MAX: usize = 50_000;
const DEPTH_MAX: usize = 60;

/// The settings of a file, by its extension; nothing if it is not what it says.
pub fn settings(extension: &str, source: &str) -> Option<Vec<Setting>> {
    match extension {
        "yml" | "yaml" => yaml(source),
        "json" | "json5" | "jsonc" | "eslintrc" | "nycrc" => yaml(&without_comments(source)),
        "toml" => toml(source),
        "js" | "cjs" | "mjs" | "ts" | "mts" | "cts" => script(source),
        "xml" => super::maven::settings(source),
        _ => Some(ini(source)),
    }
}

/// A level of a document that is being read.
enum Level {
    Map(Option<String>),
    List(usize),
}

/// JSON is YAML, so one reader serves both.
fn yaml(source: &str) -> Option<Vec<Setting>> {
    let mut found = Vec::new();
    let mut levels: Vec<Level> = Vec::new();
    for event in Parser::new_from_str(source) {
        let (event, span) = event.ok()?;
        if found.len() > SETTINGS_MAX || levels.len() > DEPTH_MAX {
            return None;
        }
        let line = span.start.line().max(1);
        match event {
            Event::MappingStart(..) => levels.push(Level::Map(None)),
            Event::SequenceStart(..) => levels.push(Level::List(0)),
            Event::MappingEnd | Event::SequenceEnd => {
                levels.pop();
                step(&mut levels);
            }
            Event::Scalar(value, ..) => {
                if let Some(Level::Map(key @ None)) = levels.last_mut() {
                    *key = Some(value.to_string());
                    continue;
                }
                let path = path(&levels);
                found.push(Setting { path, value: value.to_string(), line });
                step(&mut levels);
            }
            Event::Alias(..) => step(&mut levels),
            _ => {}
        }
    }
    Some(found)
}

fn path(levels: &[Level]) -> Vec<String> {
    let part = |level: &Level| match level {
        Level::Map(key) => key.clone().unwrap_or_default(),
        Level::List(at) => at.to_string(),
    };
    levels.iter().map(part).collect()
}

/// A value is complete: the next key or element follows.
fn step(levels: &mut [Level]) {
    match levels.last_mut() {
        Some(Level::Map(key)) => *key = None,
        Some(Level::List(at)) => *at += 1,
        None => {}
    }
}

/// JSON with comments without them.
fn without_comments(source: &str) -> String {
    let plain = |line: &str| !line.trim_start().starts_with("//");
    let lines = source.lines().map(|line| if plain(line) { line } else { "" });
    lines.collect::<Vec<_>>().join("\n")
}

fn toml(source: &str) -> Option<Vec<Setting>> {
    let document: toml_edit::Document<&str> = toml_edit::Document::parse(source).ok()?;
    let mut found = Vec::new();
    let root = document.as_item();
    items(root, source, &mut Vec::new(), &mut found);
    found.sort_by_key(|setting| setting.line);
    Some(found)
}

fn line_at(source: &str, offset: usize) -> usize {
    1 + source.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count()
}

fn items(item: &toml_edit::Item, source: &str, path: &mut Vec<String>, found: &mut Vec<Setting>) {
    if path.len() > DEPTH_MAX || found.len() > SETTINGS_MAX {
        return;
    }
    if let Some(value) = item.as_value() {
        return values(value, source, path, found);
    }
    if let Some(table) = item.as_table_like() {
        for (key, inner) in table.iter() {
            path.push(key.to_string());
            items(inner, source, path, found);
            path.pop();
        }
    }
    if let Some(list) = item.as_array_of_tables() {
        for (at, table) in list.iter().enumerate() {
            path.push(at.to_string());
            for (key, inner) in table.iter() {
                path.push(key.to_string());
                items(inner, source, path, found);
                path.pop();
            }
            path.pop();
        }
    }
}

fn values(
    value: &toml_edit::Value,
    source: &str,
    path: &mut Vec<String>,
    found: &mut Vec<Setting>,
) {
    if path.len() > DEPTH_MAX || found.len() > SETTINGS_MAX {
        return;
    }
    match value {
        toml_edit::Value::Array(list) => {
            for (at, inner) in list.iter().enumerate() {
                path.push(at.to_string());
                values(inner, source, path, found);
                path.pop();
            }
        }
        toml_edit::Value::InlineTable(table) => {
            for (key, inner) in table.iter() {
                path.push(key.to_string());
                values(inner, source, path, found);
                path.pop();
            }
        }
        other => {
            let line = other.span().map_or(1, |span| line_at(source, span.start));
            let shown = match other.as_str() {
                Some(text) => text.to_string(),
                None => other.to_string().trim().to_string(),
            };
            found.push(Setting { path: path.clone(), value: shown, line });
        }
    }
}

/// What is written out in a script: `module.exports = { a: { b: 1 } }`, `defineConfig({ … })`.
fn script(source: &str) -> Option<Vec<Setting>> {
    let tree = parse(&tree_sitter_typescript::LANGUAGE_TSX.into(), source)?;
    let mut found = Vec::new();
    let mut open = vec![(tree.root_node(), Vec::new())];
    while let Some((node, path)) = open.pop() {
        if path.len() > DEPTH_MAX || found.len() > SETTINGS_MAX {
            return None;
        }
        let below = |part: String| -> Vec<String> { path.iter().cloned().chain([part]).collect() };
        match node.kind() {
            "pair" => {
                let sides = (node.child_by_field_name("key"), node.child_by_field_name("value"));
                if let (Some(key), Some(value)) = sides {
                    open.push((value, below(unquoted(text(key, source)))));
                }
            }
            "array" => {
                let items = named(node).into_iter().enumerate();
                open.extend(items.map(|(at, item)| (item, below(at.to_string()))));
            }
            // `[...strict, { rules }]`: what a list of settings begins with it extends.
            "spread_element" | "member_expression"
                if node.parent().is_some_and(|above| above.kind() == "array") =>
            {
                let value = text(node, source).trim_start_matches('.').to_string();
                found.push(Setting { path: below("extends".into()), value, line: line(node) });
            }
            "number" | "string" | "true" | "false" if !path.is_empty() => {
                let value = unquoted(text(node, source));
                found.push(Setting { path, value, line: line(node) });
            }
            _ => open.extend(named(node).into_iter().map(|inner| (inner, path.clone()))),
        }
    }
    found.sort_by_key(|setting| setting.line);
    Some(found)
}

fn unquoted(text: &str) -> String {
    text.trim_matches(['"', '\'', '`']).to_string()
}

fn ini(source: &str) -> Vec<Setting> {
    let mut section = String::new();
    let mut found: Vec<Setting> = Vec::new();
    for (at, whole) in source.lines().enumerate().take(SETTINGS_MAX) {
        let line = whole.split(" #").next().unwrap_or_default().trim_end();
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = trimmed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.to_string();
        } else if let Some((key, value)) = trimmed.split_once(['=', ':'])
            && !line.starts_with(char::is_whitespace)
        {
            let path = vec![section.clone(), key.trim().to_string()];
            found.push(Setting { path, value: value.trim().to_string(), line: at + 1 });
        } else if let Some(last) = found.last_mut() {
            last.value.push('\n');
            last.value.push_str(trimmed);
        }
    }
    found
}

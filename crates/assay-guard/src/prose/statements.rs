//! Statements of a document: items, rows and sentences, with the ids they carry.

use crate::tree::extension;

/// Something a document states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// `AC-2`, if it has one.
    pub id: Option<String>,
    /// The headings above it.
    pub headings: Vec<String>,
    /// What it says, without markup.
    pub text: String,
    /// Its line.
    pub line: usize,
    /// An item with a box to tick.
    pub boxed: bool,
    /// A row of a table.
    pub row: bool,
    /// An item of a list.
    pub item: bool,
}

/// The most statements of one document that are compared.
const STATEMENTS_MAX: usize = 20_000;

/// The statements of a file: of Markdown, or of criteria in TOML and JSON.
pub fn statements(path: &str, source: &str) -> Vec<Statement> {
    match extension(path).as_str() {
        "toml" => criteria_of_toml(source),
        "json" => criteria_of_json(source),
        _ => of_markdown(source),
    }
}

/// `AC-2`, `REQ-7`, `C1`, `INV-3`, `US-001/AC-2` at the start of a text; what follows it.
pub fn leading_id(text: &str) -> Option<(String, &str)> {
    let start = text.trim_start_matches(['*', '`', '_', '[', '(', ' ']);
    let end = start
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '/' | '.' | '_')))
        .unwrap_or(start.len());
    let word = start[..end].trim_end_matches(['.', '-', '_']);
    is_id(word).then(|| {
        let rest = start[word.len()..].trim_start_matches(['*', '`', '_', ']', ')']);
        let rest = rest.trim_start_matches([':', '.', ' ', '-', '–', '—', '|', '*']);
        (word.to_string(), rest)
    })
}

fn is_id(word: &str) -> bool {
    let parts: Vec<&str> = word.split('/').collect();
    let one = |part: &str| {
        let letters = part.chars().take_while(char::is_ascii_uppercase).count();
        let rest = &part[letters..];
        let digits = rest.trim_start_matches(['-', '_']);
        let number = digits.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let mixed = rest.starts_with(['-', '_']) && !digits.is_empty() && {
            // `NFR-PERF-2`.
            let mut pieces = digits.split(['-', '_']);
            let last = pieces.next_back().unwrap_or_default();
            pieces.all(|p| !p.is_empty() && p.chars().all(|c| c.is_ascii_uppercase()))
                && !last.is_empty()
                && last.chars().all(|c| c.is_ascii_digit())
        };
        let plain = !number.is_empty()
            && number.chars().all(|c| c.is_ascii_digit() || c == '.')
            && digits.len() - number.len() <= 1;
        (1..=8).contains(&letters) && part.len() <= 24 && (plain || mixed)
    };
    // Encodings and times look like ids and are none.
    let known = ["UTF-8", "UTF-16", "SHA-1", "SHA-256", "ISO-8601", "P99", "P95", "P50", "HTTP-2"];
    !known.contains(&word) && !parts.is_empty() && parts.iter().all(|part| one(part))
}

/// Text without markup.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("](") {
            rest = after.split_once(')').map_or("", |(_, after)| after);
            continue;
        }
        if !matches!(c, '*' | '`' | '[' | ']') {
            out.push(c);
        }
        rest = &rest[c.len_utf8()..];
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The level of a label: below all headings.
const LABEL_LEVEL: usize = 7;

/// `MUST:` on a line of its own: what follows is bound by it, as by a heading.
fn label(text: &str) -> Option<&str> {
    let word = plain_label(text)?;
    let known = ["must", "should", "may", "shall", "must not", "should not", "optional"];
    known.contains(&word.to_lowercase().as_str()).then_some(word)
}

fn plain_label(text: &str) -> Option<&str> {
    Some(text.trim_matches(['*', '_', ' ']).strip_suffix(':')?.trim_matches(['*', '_', ' ']))
}

struct Reader {
    found: Vec<Statement>,
    headings: Vec<(usize, String)>,
    open: Option<(String, usize, bool)>,
    item: bool,
}

impl Reader {
    fn headings(&self) -> Vec<String> {
        self.headings.iter().map(|(_, text)| text.clone()).collect()
    }

    fn close(&mut self) {
        let Some((text, line, item)) = self.open.take() else { return };
        if let (Some(label), false) = (label(&text), item) {
            self.headings.retain(|(level, _)| *level < LABEL_LEVEL);
            self.headings.push((LABEL_LEVEL, label.to_string()));
            return;
        }
        self.item = item;
        let (boxed, text) = match text.strip_prefix('[') {
            Some(rest) if rest.get(1..2) == Some("]") => (true, rest[2..].trim().to_string()),
            _ => (false, text),
        };
        match leading_id(&text) {
            Some((id, rest)) => self.push(Some(id), rest, line, boxed, false),
            None if item => self.push(None, &text, line, boxed, false),
            None => {
                // A paragraph states sentence by sentence.
                for sentence in sentences(&text) {
                    match leading_id(sentence) {
                        Some((id, rest)) => self.push(Some(id), rest, line, false, false),
                        None => self.push(None, sentence, line, false, false),
                    }
                }
            }
        }
    }

    fn push(&mut self, id: Option<String>, text: &str, line: usize, boxed: bool, row: bool) {
        let text = plain(text);
        if text.is_empty() || self.found.len() >= STATEMENTS_MAX {
            return;
        }
        let headings = self.headings();
        self.found.push(Statement { id, headings, text, line, boxed, row, item: self.item });
    }

    fn row(&mut self, line: &str, at: usize) {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let rule = |cell: &&str| !cell.is_empty() && cell.chars().all(|c| matches!(c, '-' | ':'));
        if cells.iter().all(|cell| rule(cell) || cell.is_empty()) {
            return;
        }
        match cells.first().and_then(|cell| leading_id(cell)) {
            Some((id, rest)) => {
                let mut text = vec![rest];
                text.extend(&cells[1..]);
                self.push(Some(id), &text.join(" | "), at, false, true);
            }
            None => self.push(None, &cells.join(" | "), at, false, true),
        }
    }
}

fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(". ") {
        let short = text[start..at].rsplit(' ').next().is_some_and(|word| word.len() <= 2);
        if !short {
            found.push(text[start..=at].trim());
            start = at + 2;
        }
    }
    found.push(text[start..].trim());
    found.retain(|sentence| !sentence.is_empty());
    found
}

fn of_markdown(source: &str) -> Vec<Statement> {
    let mut reader = Reader { found: Vec::new(), headings: Vec::new(), open: None, item: false };
    let mut fence: Option<&str> = None;
    let mut comment = false;
    for (index, whole) in source.lines().enumerate() {
        let at = index + 1;
        let line = whole.trim();
        if let Some(mark) = fence {
            fence = if line.starts_with(mark) { None } else { Some(mark) };
            continue;
        }
        if comment || line.starts_with("<!--") {
            comment = !line.contains("-->");
            continue;
        }
        if line.starts_with("```") || line.starts_with("~~~") {
            reader.close();
            fence = Some(if line.starts_with('`') { "```" } else { "~~~" });
        } else if line.is_empty() {
            reader.close();
        } else if let Some(level) = heading(line) {
            reader.close();
            reader.headings.retain(|(own, _)| *own < level);
            let text = line.trim_start_matches('#').trim();
            if let Some((id, rest)) = leading_id(text)
                && rest.contains(' ')
            {
                reader.push(Some(id), rest, at, false, false);
            }
            reader.headings.push((level, plain(text)));
        } else if line.starts_with('|') {
            reader.close();
            reader.item = false;
            reader.row(line, at);
        } else if let Some(item) = item(line) {
            reader.close();
            reader.open = Some((item.to_string(), at, true));
        } else {
            let text = line.trim_start_matches("> ");
            match &mut reader.open {
                Some((open, _, _)) => {
                    open.push(' ');
                    open.push_str(text);
                }
                None => reader.open = Some((text.to_string(), at, false)),
            }
        }
    }
    reader.close();
    reader.found
}

fn heading(line: &str) -> Option<usize> {
    let level = line.bytes().take_while(|b| *b == b'#').count();
    ((1..=6).contains(&level) && line[level..].starts_with(' ')).then_some(level)
}

/// The text of a list item.
fn item(line: &str) -> Option<&str> {
    for mark in ["- ", "* ", "+ "] {
        if let Some(rest) = line.strip_prefix(mark) {
            return Some(rest.trim());
        }
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line.get(digits..)?;
    let numbered = digits > 0 && (rest.starts_with(". ") || rest.starts_with(") "));
    numbered.then(|| rest[2..].trim())
}

const TEXTS: [&str; 10] = [
    "text",
    "statement",
    "criterion",
    "description",
    "claim",
    "given",
    "when",
    "then",
    "requires",
    "sentence",
];

fn criteria_of_toml(source: &str) -> Vec<Statement> {
    let Ok(value) = toml_edit::de::from_str::<serde_json::Value>(source) else {
        return Vec::new();
    };
    criteria(&value, source)
}

fn criteria_of_json(source: &str) -> Vec<Statement> {
    let Ok(value) = serde_json::from_str::<serde_json::Value>(source) else { return Vec::new() };
    criteria(&value, source)
}

/// Objects with an id and a text, wherever they are.
fn criteria(value: &serde_json::Value, source: &str) -> Vec<Statement> {
    let mut found = Vec::new();
    let mut open = vec![(value, 0usize, Vec::<String>::new())];
    while let Some((next, depth, above)) = open.pop() {
        if depth > 40 {
            continue;
        }
        match next {
            serde_json::Value::Object(map) => {
                let text: Vec<&str> =
                    TEXTS.iter().filter_map(|key| map.get(*key)?.as_str()).collect();
                if let Some(id) = map.get("id").and_then(|id| id.as_str())
                    && !text.is_empty()
                {
                    let line = source.lines().position(|l| l.contains(id)).map_or(1, |at| at + 1);
                    found.push(Statement {
                        id: Some(id.to_string()),
                        headings: above.clone(),
                        text: plain(&text.join(" ")),
                        line,
                        boxed: false,
                        row: false,
                        item: false,
                    });
                }
                for (key, inner) in map {
                    let mut path = above.clone();
                    path.push(key.clone());
                    open.push((inner, depth + 1, path));
                }
            }
            serde_json::Value::Array(list) => {
                open.extend(list.iter().map(|inner| (inner, depth + 1, above.clone())));
            }
            _ => {}
        }
    }
    found.sort_by_key(|statement| statement.line);
    found
}

//! Configurations of the model checker: sections of names and assignments.

/// A configuration.
#[derive(Clone, Debug, Default)]
pub struct Cfg {
    /// Names with the section they are listed in, and their lines.
    pub entries: Vec<Entry>,
    /// `name = value` and `name <- operator`: name, value, whether it is an override, line.
    pub constants: Vec<Constant>,
    /// `CHECK_DEADLOCK`, if it is said, and its line.
    pub deadlock: Option<(bool, usize)>,
}

/// A name in a section.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The section, as in the singular: `INVARIANT`.
    pub section: &'static str,
    /// The name.
    pub name: String,
    /// Its line.
    pub line: usize,
}

/// A constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constant {
    /// Its name.
    pub name: String,
    /// What it is set to.
    pub value: String,
    /// `<-` instead of `=`.
    pub replaced: bool,
    /// Its line.
    pub line: usize,
}

impl Cfg {
    /// Invariants and properties: name and line.
    pub fn checked(&self) -> impl Iterator<Item = (&str, usize)> {
        self.entries
            .iter()
            .filter(|entry| matches!(entry.section, "INVARIANT" | "PROPERTY"))
            .map(|entry| (entry.name.as_str(), entry.line))
    }

    /// The names of a section.
    pub fn section(&self, section: &'static str) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.section == section)
    }
}

fn section(word: &str) -> Option<&'static str> {
    Some(match word {
        "INVARIANT" | "INVARIANTS" => "INVARIANT",
        "PROPERTY" | "PROPERTIES" => "PROPERTY",
        "CONSTANT" | "CONSTANTS" => "CONSTANT",
        "CONSTRAINT" | "CONSTRAINTS" => "CONSTRAINT",
        "ACTION_CONSTRAINT" | "ACTION_CONSTRAINTS" => "ACTION_CONSTRAINT",
        "SPECIFICATION" => "SPECIFICATION",
        "INIT" => "INIT",
        "NEXT" => "NEXT",
        "VIEW" => "VIEW",
        "SYMMETRY" => "SYMMETRY",
        "ALIAS" => "ALIAS",
        "POSTCONDITION" => "POSTCONDITION",
        "CHECK_DEADLOCK" => "CHECK_DEADLOCK",
        _ => return None,
    })
}

/// Reads a configuration; what it does not know it leaves out.
pub fn parse_cfg(source: &str) -> Cfg {
    let mut cfg = Cfg::default();
    let mut current = "";
    let words = words(source);
    let mut at = 0;
    while let Some((word, line)) = words.get(at) {
        at += 1;
        if let Some(found) = section(word) {
            current = found;
            continue;
        }
        let next = words.get(at).map(|(next, _)| next.as_str());
        match (current, next) {
            ("CHECK_DEADLOCK", _) => cfg.deadlock = Some((word == "TRUE", *line)),
            ("CONSTANT", Some(sign @ ("=" | "<-"))) => {
                let (value, after) = value(&words, at + 1);
                at = after;
                let replaced = sign == "<-";
                cfg.constants.push(Constant { name: word.clone(), value, replaced, line: *line });
            }
            ("", _) | ("CONSTANT", _) => {}
            _ if is_name(word) => {
                cfg.entries.push(Entry { section: current, name: word.clone(), line: *line });
            }
            _ => {}
        }
    }
    cfg
}

fn is_name(word: &str) -> bool {
    word.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_')
}

/// A value: one word, or everything up to the brace that closes it.
fn value(words: &[(String, usize)], start: usize) -> (String, usize) {
    let mut depth = 0i32;
    let mut parts = Vec::new();
    let mut at = start;
    while let Some((word, _)) = words.get(at) {
        at += 1;
        parts.push(word.as_str());
        match word.as_str() {
            "{" | "[" | "(" => depth += 1,
            "}" | "]" | ")" => depth -= 1,
            _ => {}
        }
        if depth <= 0 && words.get(at).is_none_or(|(next, _)| next != "..") && word != ".." {
            break;
        }
    }
    (parts.join(" "), at)
}

/// Words with their lines; comments are left out.
fn words(source: &str) -> Vec<(String, usize)> {
    let mut found: Vec<(String, usize)> = Vec::new();
    let mut comment = 0usize;
    for (at, whole) in source.lines().enumerate() {
        let line = at + 1;
        let mut rest = whole;
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix("(*") {
                (comment, rest) = (comment + 1, after);
                continue;
            }
            if comment > 0 {
                if let Some(after) = rest.strip_prefix("*)") {
                    (comment, rest) = (comment - 1, after);
                    continue;
                }
                rest = skip(rest);
                continue;
            }
            if rest.starts_with("\\*") {
                break;
            }
            let length = token(rest);
            if length == 0 {
                rest = skip(rest);
                continue;
            }
            found.push((rest[..length].to_string(), line));
            rest = &rest[length..];
        }
    }
    found
}

fn skip(rest: &str) -> &str {
    let mut chars = rest.chars();
    chars.next();
    chars.as_str()
}

/// The length of the word at the start, in bytes; nothing for what separates words.
fn token(rest: &str) -> usize {
    let mut chars = rest.chars();
    let Some(first) = chars.next() else { return 0 };
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '!' | '-');
    match first {
        '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
        '<' if rest.starts_with("<-") => 2,
        '.' if rest.starts_with("..") => 2,
        c if word(c) => rest.find(|c: char| !word(c)).unwrap_or(rest.len()),
        '=' | '{' | '}' | '[' | ']' | '(' | ')' => 1,
        _ => 0,
    }
}

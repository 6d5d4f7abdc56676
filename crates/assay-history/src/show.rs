//! Values as text: compact JSON, for messages, tables and files.

use crate::value::{ValueId, Values, View};
use std::fmt;

/// A value that prints as compact JSON.
pub struct Show<'a> {
    values: &'a Values,
    id: ValueId,
}

impl Values {
    /// A value that prints as compact JSON.
    pub fn show(&self, id: ValueId) -> Show<'_> {
        Show { values: self, id }
    }

    /// A value as it is written to a file: the JSON text, appended to `out`.
    pub fn write_json(&self, id: ValueId, out: &mut String) {
        match self.view(id) {
            View::Null => out.push_str("null"),
            View::Bool(true) => out.push_str("true"),
            View::Bool(false) => out.push_str("false"),
            View::Int(int) => push(int, out),
            View::Number(text) => out.push_str(text),
            View::Str(text) => write_json_str(text, out),
            View::List(items) => {
                out.push('[');
                for (i, &item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    self.write_json(item, out);
                }
                out.push(']');
            }
            View::Map(pairs) => self.write_json_map(pairs, out),
        }
    }

    fn write_json_map(&self, pairs: &[ValueId], out: &mut String) {
        out.push('{');
        for (i, (text, key, value)) in self.sorted_pairs(pairs).into_iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            out.push_str(&self.json_key(&text, key));
            out.push(':');
            self.write_json(value, out);
        }
        out.push('}');
    }

    /// EDN allows any value as a key; JSON wants a string, so such a key is quoted.
    fn json_key(&self, text: &str, key: ValueId) -> String {
        if self.as_str(key).is_some() {
            return text.to_string();
        }
        let mut quoted = String::new();
        write_json_str(text, &mut quoted);
        quoted
    }

    /// A map's keys as JSON text, its keys and its values, by what JSON makes of the keys: ids
    /// depend on what was interned first, which nobody should see, and what is written and read
    /// again must stand in the same order.
    pub(crate) fn sorted_pairs(&self, pairs: &[ValueId]) -> Vec<(String, ValueId, ValueId)> {
        let pair = |pair: &[ValueId]| (self.show(pair[0]).to_string(), pair[0], pair[1]);
        let mut sorted: Vec<_> = pairs.chunks_exact(2).map(pair).collect();
        sorted.sort_by_cached_key(|(text, key, _)| (self.json_key(text, *key), text.clone()));
        sorted
    }
}

impl fmt::Display for Show<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.values.write_json(self.id, &mut text);
        f.write_str(&text)
    }
}

/// Appends a number, or anything else that prints, without a string in between.
pub(crate) fn push(item: impl fmt::Display, out: &mut String) {
    use fmt::Write;
    write!(out, "{item}").expect("a string can always grow");
}

/// Appends a JSON string literal.
pub(crate) fn write_json_str(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    // Everything that needs an escape is one byte long.
    while let Some(place) = rest.find(|c: char| c == '"' || c == '\\' || (c as u32) < 0x20) {
        out.push_str(&rest[..place]);
        match rest.as_bytes()[place] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            control => push(format_args!("\\u{control:04x}"), out),
        }
        rest = &rest[place + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

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
            View::Int(int) => out.push_str(&int.to_string()),
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
        for (i, pair) in pairs.chunks_exact(2).enumerate() {
            if i > 0 {
                out.push(',');
            }
            match self.as_str(pair[0]) {
                Some(text) => write_json_str(text, out),
                // EDN allows any value as a key; JSON wants a string, so such a key is quoted.
                None => write_json_str(&self.show(pair[0]).to_string(), out),
            }
            out.push(':');
            self.write_json(pair[1], out);
        }
        out.push('}');
    }
}

impl fmt::Display for Show<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.values.write_json(self.id, &mut text);
        f.write_str(&text)
    }
}

/// Appends a JSON string literal.
pub(crate) fn write_json_str(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

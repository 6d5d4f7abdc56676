//! An EDN scanner, the counterpart of the JSON one: [`Edn::form`] steps over a value and remembers
//! where it stands, [`super::edn_value::intern`] turns remembered text into a pooled value.
//!
//! Nothing here recurses: discards (`#_`), tags (`#inst`) and brackets are counted, so no file can
//! overflow the stack.

use super::raw::Raw;
use crate::value::ValueId;

/// A position in EDN text.
pub(super) struct Edn<'a> {
    pub(super) text: &'a str,
    bytes: &'a [u8],
    pub(super) pos: usize,
}

/// What ends a symbol, keyword or number.
const DELIMITERS: [bool; 256] = table(b" \t\r\n\x0b\x0c,\"{}[]();");

/// What matters outside strings when only nesting is of interest.
const STRUCTURE: [bool; 256] = table(b"\"{}[]();\\");

const fn table(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut i = 0;
    while i < bytes.len() {
        table[bytes[i] as usize] = true;
        i += 1;
    }
    table
}

impl<'a> Edn<'a> {
    pub(super) fn new(text: &'a str, pos: usize) -> Edn<'a> {
        Edn { text, bytes: text.as_bytes(), pos }
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }

    fn peek_second(&self) -> Option<u8> {
        self.bytes.get(self.pos + 1).copied()
    }

    /// Steps over white space, commas and comments.
    #[inline]
    pub(super) fn skip_blank(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c | b',') => self.pos += 1,
                Some(b';') => self.skip_comment(),
                _ => return,
            }
        }
    }

    fn skip_comment(&mut self) {
        let rest = &self.bytes[self.pos..];
        self.pos += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    }

    /// Steps over blanks, discarded forms and tags, to where a form or a closing bracket stands.
    pub(super) fn skip_to_form(&mut self) -> Result<(), String> {
        loop {
            self.skip_blank();
            match (self.peek(), self.peek_second()) {
                (Some(b'#'), Some(b'_')) => {
                    self.pos += 2;
                    self.form()?;
                }
                (Some(b'#'), Some(b'{' | b'#')) => return Ok(()),
                (Some(b'#'), _) => self.skip_tag()?,
                _ => return Ok(()),
            }
        }
    }

    fn skip_tag(&mut self) -> Result<(), String> {
        self.pos += 1;
        // A regular expression is a string behind a bare `#`.
        if self.peek() != Some(b'"') && self.token().is_empty() {
            return Err(self.unexpected("a tag after '#'"));
        }
        Ok(())
    }

    /// Steps over one form and returns it; forms discarded before it and its tags are dropped.
    #[inline]
    pub(super) fn form(&mut self) -> Result<Raw, String> {
        // Each discard asks for one more form; the last one is the value.
        let mut wanted = 1usize;
        loop {
            self.skip_blank();
            let start = self.pos;
            let form = match self.peek() {
                Some(b'0'..=b'9' | b'-' | b'+') => self.number(),
                Some(b'"') => {
                    self.string()?;
                    Raw::text(start, self.pos)
                }
                Some(b'{' | b'[' | b'(') => {
                    self.skip_nested()?;
                    Raw::text(start, self.pos)
                }
                Some(b'#') => match self.peek_second() {
                    Some(b'_') => {
                        self.pos += 2;
                        wanted += 1;
                        continue;
                    }
                    Some(b'{') => {
                        self.pos += 1;
                        self.skip_nested()?;
                        Raw::text(start, self.pos)
                    }
                    Some(b'#') => self.word()?,
                    _ => {
                        self.skip_tag()?;
                        continue;
                    }
                },
                Some(b'\\') => {
                    self.character();
                    Raw::text(start, self.pos)
                }
                _ => self.word()?,
            };
            wanted -= 1;
            if wanted == 0 {
                return Ok(form);
            }
        }
    }

    /// A keyword, a symbol, or one of the three words with a meaning.
    #[inline]
    fn word(&mut self) -> Result<Raw, String> {
        let start = self.pos;
        Ok(match self.token() {
            "" => return Err(self.unexpected("a value")),
            "nil" => Raw::NULL,
            "true" => Raw::known(ValueId::TRUE),
            "false" => Raw::known(ValueId::FALSE),
            _ => Raw::text(start, self.pos),
        })
    }

    /// Steps over everything up to the next delimiter.
    #[inline]
    pub(super) fn token(&mut self) -> &'a str {
        let start = self.pos;
        while self.pos < self.bytes.len() && !DELIMITERS[self.bytes[self.pos] as usize] {
            self.pos += 1;
        }
        &self.text[start..self.pos]
    }

    #[inline]
    fn number(&mut self) -> Raw {
        let start = self.pos;
        let negative = self.peek() == Some(b'-');
        self.pos += usize::from(negative);
        let (digits, mut value) = (self.pos, 0i64);
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            // Wrong beyond eighteen digits, where it is not used: those go through their text.
            value = value.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
            self.pos += 1;
        }
        let length = self.pos - digits;
        let plain = (1..=18).contains(&length) && (length == 1 || self.bytes[digits] != b'0');
        let ends = self.peek().is_none_or(|next| DELIMITERS[next as usize]);
        let id = ValueId::inline_int(if negative { value.wrapping_neg() } else { value });
        match id {
            Some(id) if plain && ends => Raw::known(id),
            _ => {
                self.token();
                Raw::text(start, self.pos)
            }
        }
    }

    /// Steps over a string and returns what stands between the quotes, escapes untouched.
    pub(super) fn string(&mut self) -> Result<&'a str, String> {
        self.pos += 1;
        let start = self.pos;
        match string_end(self.bytes, start) {
            Some(end) => {
                self.pos = end;
                Ok(&self.text[start..end - 1])
            }
            None => Err("a string has no closing quote".to_string()),
        }
    }

    /// Steps over a character literal: a backslash, one character of any kind, and the rest of its
    /// name.
    pub(super) fn character(&mut self) -> &'a str {
        self.pos += 1;
        let start = self.pos;
        let first = self.text[start..].chars().next();
        self.pos += first.map_or(0, char::len_utf8);
        self.token();
        &self.text[start..self.pos]
    }

    fn skip_nested(&mut self) -> Result<(), String> {
        let mut depth = 0usize;
        loop {
            while self.pos < self.bytes.len() && !STRUCTURE[self.bytes[self.pos] as usize] {
                self.pos += 1;
            }
            match self.peek() {
                Some(b'"') => {
                    self.string()?;
                    continue;
                }
                Some(b';') => {
                    self.skip_comment();
                    continue;
                }
                Some(b'\\') => {
                    self.character();
                    continue;
                }
                Some(b'{' | b'[' | b'(') => depth += 1,
                None => return Err("a list, set or map is not closed".to_string()),
                Some(_) => depth -= 1,
            }
            self.pos += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    #[cold]
    pub(super) fn unexpected(&self, wanted: &str) -> String {
        match self.text[self.pos.min(self.text.len())..].chars().next() {
            Some(c) if c != '\n' => format!("expected {wanted}, found {c:?}"),
            _ => format!("expected {wanted}, but the record ends here"),
        }
    }
}

/// The byte after the quote that closes the string whose content begins at `from`.
fn string_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut i = from;
    loop {
        i += memchr::memchr2(b'"', b'\\', bytes.get(i..)?)?;
        if bytes[i] == b'"' {
            return Some(i + 1);
        }
        i += 2;
    }
}

/// How many bytes at the start of `buffer` are whole top-level maps, whatever stands around them.
pub(super) fn maps_end(buffer: &[u8]) -> usize {
    if memchr::memchr3(b'"', b';', b'\\', buffer).is_none() {
        return braces_end(buffer);
    }
    const INTERESTING: [bool; 256] = table(b"\"{};\\");
    let (mut depth, mut end, mut i) = (0usize, 0, 0);
    while i < buffer.len() {
        let byte = buffer[i];
        i += 1;
        if !INTERESTING[byte as usize] {
            continue;
        }
        match byte {
            b'"' => match string_end(buffer, i) {
                Some(after) => i = after,
                None => break,
            },
            b';' => match memchr::memchr(b'\n', &buffer[i..]) {
                Some(length) => i += length,
                None => break,
            },
            // A character literal may be a bracket or a quote.
            b'\\' => i += 1,
            b'{' => depth += 1,
            _ => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    end = i;
                }
            }
        }
    }
    end
}

/// The same where no string, comment or character can hide a brace, as in histories of numbers.
fn braces_end(buffer: &[u8]) -> usize {
    let (mut depth, mut end) = (0usize, 0);
    for place in memchr::memchr2_iter(b'{', b'}', buffer) {
        if buffer[place] == b'{' {
            depth += 1;
        } else {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                end = place + 1;
            }
        }
    }
    end
}

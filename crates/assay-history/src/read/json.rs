//! A JSON scanner that knows where it is going.
//!
//! A general JSON library builds a value for every field of every line before we look at one; on
//! histories that costs two to four times as much as walking the bytes once (docs/adr/0002). So
//! this module does two things only: [`Json::raw`] steps over a field's value and remembers where
//! it stands (or what it is, for null, booleans and small integers), and [`intern`] turns
//! remembered text into a pooled value, strictly by RFC 8259. A property test holds it against
//! serde_json.

use super::NESTING_MAX;
use super::raw::{Held, Raw};
use crate::value::{ValueId, Values};

impl Raw {
    /// The value, interned; `block` is the text it was scanned from.
    pub(super) fn intern(self, block: &str, values: &mut Values) -> Result<ValueId, String> {
        match self.held(block) {
            Held::Known(id) => Ok(id),
            Held::Int(int) => Ok(values.int(int)),
            Held::Text(text) => match plain_string(text) {
                Some(plain) => Ok(values.str(plain)),
                None => intern(text, values),
            },
        }
    }
}

/// What stands between the quotes, if the text is a string without escapes: most are.
#[inline]
fn plain_string(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let plain = inner.bytes().all(|byte| byte >= 0x20 && byte != b'\\' && byte != b'"');
    plain.then_some(inner)
}

/// A position in JSON text.
pub(super) struct Json<'a> {
    pub(super) text: &'a str,
    bytes: &'a [u8],
    pub(super) pos: usize,
}

impl<'a> Json<'a> {
    pub(super) fn new(text: &'a str, pos: usize) -> Json<'a> {
        Json { text, bytes: text.as_bytes(), pos }
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }

    #[inline]
    pub(super) fn skip_space(&mut self) {
        // Recorders rarely write space, so the one comparison that rules it out comes first.
        while let Some(byte) = self.peek().filter(|&byte| byte <= b' ') {
            if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                return;
            }
            self.pos += 1;
        }
    }

    /// Steps over `byte` (after space) if it comes next.
    #[inline]
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.peek() == Some(byte);
        self.pos += usize::from(found);
        found
    }

    #[inline]
    pub(super) fn expect(&mut self, byte: u8) -> Result<(), String> {
        if self.eat(byte) { Ok(()) } else { Err(self.missing(byte)) }
    }

    #[cold]
    fn missing(&self, byte: u8) -> String {
        self.unexpected(&format!("'{}'", byte as char))
    }

    #[cold]
    pub(super) fn unexpected(&self, wanted: &str) -> String {
        match self.text[self.pos.min(self.text.len())..].chars().next() {
            Some(c) if c != '\n' => format!("expected {wanted}, found {c:?}"),
            _ => format!("expected {wanted}, but the record ends here"),
        }
    }

    /// Steps over a string and returns what stands between the quotes, escapes untouched.
    pub(super) fn string(&mut self) -> Result<&'a str, String> {
        self.expect(b'"')?;
        let start = self.pos;
        loop {
            self.pos += plain_bytes(&self.bytes[self.pos.min(self.bytes.len())..]);
            match self.peek() {
                Some(b'"') => {
                    self.pos += 1;
                    return Ok(&self.text[start..self.pos - 1]);
                }
                Some(b'\\') => self.pos += 2,
                Some(b'\n') | None => return Err("a string has no closing quote".to_string()),
                Some(_) => self.pos += 1,
            }
        }
    }

    /// Steps over any value.
    #[inline]
    pub(super) fn raw(&mut self) -> Result<Raw, String> {
        self.skip_space();
        let start = self.pos;
        match self.peek() {
            Some(b'"') => {
                self.string()?;
                Ok(Raw::text(start, self.pos))
            }
            Some(b'0'..=b'9' | b'-') => Ok(self.raw_number()),
            Some(b'n') => self.word("null", ValueId::NULL),
            Some(b't') => self.word("true", ValueId::TRUE),
            Some(b'f') => self.word("false", ValueId::FALSE),
            Some(b'[' | b'{') => {
                self.skip_nested()?;
                Ok(Raw::text(start, self.pos))
            }
            _ => Err(self.unexpected("a value")),
        }
    }

    #[inline]
    fn word(&mut self, word: &str, id: ValueId) -> Result<Raw, String> {
        if self.bytes[self.pos..].starts_with(word.as_bytes()) {
            self.pos += word.len();
            Ok(Raw::known(id))
        } else {
            Err(self.unexpected("a value"))
        }
    }

    #[inline]
    fn raw_number(&mut self) -> Raw {
        let start = self.pos;
        let negative = self.peek() == Some(b'-');
        self.pos += usize::from(negative);
        let (digits, mut value) = (self.pos, 0i64);
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            // Wrong for numbers of twenty digits, which are not used: they go through their text.
            value = value.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
            self.pos += 1;
        }
        let length = self.pos - digits;
        let plain = (1..=18).contains(&length) && (length == 1 || self.bytes[digits] != b'0');
        if matches!(self.peek(), Some(b'.' | b'e' | b'E')) || !plain {
            while matches!(self.peek(), Some(b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')) {
                self.pos += 1;
            }
            return Raw::text(start, self.pos);
        }
        match ValueId::inline_int(if negative { -value } else { value }) {
            Some(id) if !(negative && value == 0) => Raw::known(id),
            _ => Raw::text(start, self.pos),
        }
    }

    fn skip_nested(&mut self) -> Result<(), String> {
        let mut depth = 0usize;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.string()?;
                    continue;
                }
                Some(b'[' | b'{') => depth += 1,
                Some(b']' | b'}') => depth -= 1,
                None => return Err("a list or map is not closed".to_string()),
                Some(_) => {}
            }
            self.pos += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

/// How many bytes at the start of a string certainly neither end it nor escape anything, looking at
/// eight at a time.
#[inline]
pub(super) fn plain_bytes(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 0xff;
    // The high bit of each byte that is zero; bytes above a zero byte may be marked too.
    let zero_bytes = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
    let mut plain = 0;
    while let Some(chunk) = bytes[plain..].first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        let special = zero_bytes(word ^ (ONES * u64::from(b'"')))
            | zero_bytes(word ^ (ONES * u64::from(b'\\')))
            | zero_bytes(word ^ (ONES * u64::from(b'\n')));
        if special != 0 {
            return plain + special.trailing_zeros() as usize / 8;
        }
        plain += 8;
    }
    plain
}

/// How many bytes at the start of `buffer` are whole top-level maps, whatever stands around them.
pub(super) fn maps_end(buffer: &[u8]) -> usize {
    last_line_between_maps(buffer).unwrap_or_else(|| braces_end(buffer))
}

/// The last line end that certainly stands between two top-level maps: inside a map or list a
/// comma would separate them, and a string holds no line end. Looks at a few lines only.
fn last_line_between_maps(buffer: &[u8]) -> Option<usize> {
    const LINES_MAX: usize = 4;
    let mut newlines = memchr::memrchr_iter(b'\n', buffer).take(LINES_MAX);
    let between = |&at: &usize| {
        let before = buffer[..at].strip_suffix(b"\r").unwrap_or(&buffer[..at]);
        before.ends_with(b"}") && buffer.get(at + 1) == Some(&b'{')
    };
    newlines.find(between).map(|at| at + 1)
}

fn braces_end(buffer: &[u8]) -> usize {
    let (mut depth, mut end, mut i) = (0usize, 0, 0);
    while i < buffer.len() {
        match buffer[i] {
            b'"' => {
                i += 1;
                while i < buffer.len() && buffer[i] != b'"' {
                    i += if buffer[i] == b'\\' { 2 } else { 1 };
                }
            }
            b'{' => depth += 1,
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    end = i + 1;
                }
            }
            _ => {}
        }
        i += 1;
    }
    end
}

impl Values {
    /// Parses one JSON value into the pool.
    ///
    /// # Errors
    /// What is wrong with the text, in words.
    pub fn parse_json(&mut self, text: &str) -> Result<ValueId, String> {
        intern(text, self)
    }
}

/// Parses one JSON value, strictly, into the pool.
pub(super) fn intern(text: &str, values: &mut Values) -> Result<ValueId, String> {
    let mut json = Json::new(text, 0);
    let id = value(&mut json, values, 0)?;
    json.skip_space();
    if json.pos < text.len() { Err(json.unexpected("the end of the value")) } else { Ok(id) }
}

fn value(json: &mut Json<'_>, values: &mut Values, depth: usize) -> Result<ValueId, String> {
    if depth > NESTING_MAX {
        return Err(format!("values nest deeper than {NESTING_MAX} levels"));
    }
    json.skip_space();
    match json.peek() {
        Some(b'"') => string(json, values),
        Some(b'[') => {
            json.pos += 1;
            let mut items = Vec::new();
            if !json.eat(b']') {
                loop {
                    items.push(value(json, values, depth + 1)?);
                    if json.eat(b']') {
                        break;
                    }
                    json.expect(b',')?;
                }
            }
            Ok(values.list(&items))
        }
        Some(b'{') => map(json, values, depth),
        _ => {
            let raw = json.raw()?;
            match raw.held(json.text) {
                Held::Known(id) => Ok(id),
                Held::Int(int) => Ok(values.int(int)),
                Held::Text(text) => number(text, values),
            }
        }
    }
}

fn map(json: &mut Json<'_>, values: &mut Values, depth: usize) -> Result<ValueId, String> {
    json.pos += 1;
    let mut pairs = Vec::new();
    if !json.eat(b'}') {
        loop {
            json.skip_space();
            let key = string(json, values)?;
            json.expect(b':')?;
            pairs.push((key, value(json, values, depth + 1)?));
            if json.eat(b'}') {
                break;
            }
            json.expect(b',')?;
        }
    }
    Ok(values.map(&pairs))
}

fn string(json: &mut Json<'_>, values: &mut Values) -> Result<ValueId, String> {
    let raw = json.string()?;
    if raw.bytes().any(|b| b < 0x20) {
        return Err("a string has an unescaped control character".to_string());
    }
    if !raw.contains('\\') {
        return Ok(values.str(raw));
    }
    let text: String = serde_json::from_str(&format!("\"{raw}\""))
        .map_err(|_| format!("the string \"{raw}\" has a bad escape"))?;
    Ok(values.str(&text))
}

fn number(text: &str, values: &mut Values) -> Result<ValueId, String> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let exponent_ok = exponent.is_none_or(|e| digits(e.strip_prefix(['+', '-']).unwrap_or(e)));
    let valid = digits(whole)
        && (whole.len() == 1 || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent_ok;
    if valid { Ok(values.number(text)) } else { Err(format!("\"{text}\" is not a number")) }
}

//! EDN text as pooled values.
//!
//! | EDN | value |
//! |---|---|
//! | `nil`, `true`, `false`, strings | the same |
//! | `12`, `12N`, `1.5`, `1.5M` | a number |
//! | `:word`, `word`, `1/2` | the string `":word"`, `"word"`, `"1/2"` |
//! | `\a`, `\newline` | a string of one character |
//! | `[1 2]`, `(1 2)` | a list |
//! | `#{2 1}` | a list in one fixed order, so that equal sets are equal values |
//! | `{:a 1}` | a map; keys may be anything |
//! | `#tag value` | the value |

use super::NESTING_MAX;
use super::edn::Edn;
use crate::value::{ValueId, Values};

/// Parses one EDN form into the pool.
pub(super) fn intern(text: &str, values: &mut Values) -> Result<ValueId, String> {
    let mut edn = Edn::new(text, 0);
    let id = value(&mut edn, values, 0)?;
    edn.skip_to_form()?;
    if edn.pos < text.len() { Err(edn.unexpected("the end of the value")) } else { Ok(id) }
}

fn value(edn: &mut Edn<'_>, values: &mut Values, depth: usize) -> Result<ValueId, String> {
    if depth > NESTING_MAX {
        return Err(format!("values nest deeper than {NESTING_MAX} levels"));
    }
    edn.skip_to_form()?;
    match edn.peek() {
        Some(b'"') => {
            let raw = edn.string()?;
            if raw.contains('\\') { Ok(values.str(&unescaped(raw)?)) } else { Ok(values.str(raw)) }
        }
        Some(b'[') => {
            let items = items(edn, values, depth, b']')?;
            Ok(values.list(&items))
        }
        Some(b'(') => {
            let items = items(edn, values, depth, b')')?;
            Ok(values.list(&items))
        }
        Some(b'{') => map(edn, values, depth),
        Some(b'#') if edn.text[edn.pos..].starts_with("#{") => {
            edn.pos += 1;
            let mut items = items(edn, values, depth, b'}')?;
            items.sort();
            items.dedup();
            Ok(values.list(&items))
        }
        Some(b'\\') => {
            let c = named_character(edn.character())?;
            Ok(values.str(c.encode_utf8(&mut [0; 4])))
        }
        _ => atom(edn, values),
    }
}

fn items(
    edn: &mut Edn<'_>,
    values: &mut Values,
    depth: usize,
    close: u8,
) -> Result<Vec<ValueId>, String> {
    edn.pos += 1;
    let mut items = Vec::new();
    loop {
        edn.skip_to_form()?;
        if edn.peek() == Some(close) {
            edn.pos += 1;
            return Ok(items);
        }
        items.push(value(edn, values, depth + 1)?);
    }
}

fn map(edn: &mut Edn<'_>, values: &mut Values, depth: usize) -> Result<ValueId, String> {
    let flat = items(edn, values, depth, b'}')?;
    if flat.len() % 2 == 1 {
        return Err("a map has a key without a value".to_string());
    }
    let pairs: Vec<_> = flat.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    Ok(values.map(&pairs))
}

fn atom(edn: &mut Edn<'_>, values: &mut Values) -> Result<ValueId, String> {
    let token = edn.token();
    let unsigned = token.strip_prefix(['-', '+']).unwrap_or(token);
    match token {
        "" => Err(edn.unexpected("a value")),
        "nil" => Ok(ValueId::NULL),
        "true" => Ok(ValueId::TRUE),
        "false" => Ok(ValueId::FALSE),
        _ if unsigned.starts_with(|c: char| c.is_ascii_digit()) => number(token, unsigned, values),
        _ => Ok(values.str(token)),
    }
}

fn number(token: &str, unsigned: &str, values: &mut Values) -> Result<ValueId, String> {
    let bare = unsigned.strip_suffix(['N', 'M']).unwrap_or(unsigned);
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if bare.split_once('/').is_some_and(|(over, under)| digits(over) && digits(under)) {
        return Ok(values.str(token));
    }
    let (mantissa, exponent) = match bare.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (bare, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, fraction),
        None => (mantissa, "0"),
    };
    let exponent_ok = exponent.is_none_or(|e| digits(e.strip_prefix(['+', '-']).unwrap_or(e)));
    let valid = digits(whole)
        && (whole.len() == 1 || !whole.starts_with('0'))
        && (fraction.is_empty() || digits(fraction))
        && exponent_ok
        && !(unsigned.ends_with('N') && bare.contains(['.', 'e', 'E']));
    if !valid {
        return Err(format!("\"{token}\" is not a number"));
    }
    if token.starts_with('-') {
        return Ok(values.number(&format!("-{bare}")));
    }
    Ok(values.number(bare))
}

fn named_character(name: &str) -> Result<char, String> {
    let mut chars = name.chars();
    match (chars.next(), chars.as_str()) {
        (Some(c), "") => Ok(c),
        (Some('u'), hex) if hex.len() == 4 => hex_unit(hex)
            .and_then(|unit| char::from_u32(u32::from(unit)))
            .ok_or_else(|| format!("\\{name} is not a character")),
        _ => match name {
            "newline" => Ok('\n'),
            "return" => Ok('\r'),
            "space" => Ok(' '),
            "tab" => Ok('\t'),
            "backspace" => Ok('\u{8}'),
            "formfeed" => Ok('\u{c}'),
            _ => Err(format!("\\{name} is not a character")),
        },
    }
}

fn unescaped(raw: &str) -> Result<String, String> {
    let mut units: Vec<u16> = Vec::new();
    let mut out = String::with_capacity(raw.len());
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            flush(&mut units, &mut out)?;
            out.push(c);
            continue;
        }
        let escape = chars.next().unwrap_or(' ');
        if escape == 'u' {
            // Characters beyond 16 bits come as two escapes, joined when the run of escapes ends.
            let hex = chars.as_str().get(..4).unwrap_or("");
            let unit = hex_unit(hex);
            units.push(unit.ok_or("a string has a \\u escape without four hexadecimal digits")?);
            chars = chars.as_str()[4..].chars();
            continue;
        }
        flush(&mut units, &mut out)?;
        out.push(match escape {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            '"' | '\\' => escape,
            other => return Err(format!("a string has the unknown escape \\{other}")),
        });
    }
    flush(&mut units, &mut out)?;
    Ok(out)
}

fn hex_unit(digits: &str) -> Option<u16> {
    let plain = digits.bytes().all(|b| b.is_ascii_hexdigit());
    if plain { u16::from_str_radix(digits, 16).ok() } else { None }
}

fn flush(units: &mut Vec<u16>, out: &mut String) -> Result<(), String> {
    if !units.is_empty() {
        let text = String::from_utf16(units);
        out.push_str(&text.map_err(|_| "a string has half of a surrogate pair")?);
        units.clear();
    }
    Ok(())
}

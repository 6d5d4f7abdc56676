//! Untrusted text made fit for a picture: visible, bounded, and of a known width.
//!
//! Templates escape markup. What they cannot do is decided here: control characters and
//! direction overrides, which are illegal in XML or make a label read as something else, become
//! visible escapes; long text is cut with an ellipsis; widths are counted in terminal cells.

use unicode_width::UnicodeWidthChar;

/// Marks such as accents have no width of their own; more than this many per cell are cut.
const CHARS_PER_CELL_MAX: usize = 4;

/// How many terminal cells a character takes.
fn char_cells(c: char) -> usize {
    match c {
        // Turns the character before it into a wide emoji.
        '\u{fe0f}' => 1,
        _ => c.width().unwrap_or(0),
    }
}

/// How many terminal cells `text` takes; never less than what is drawn.
pub(crate) fn cells(text: &str) -> usize {
    text.chars().map(char_cells).sum()
}

/// Whether a character must not reach a picture as it is.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{feff}')
        || ('\u{2028}'..='\u{202e}').contains(&c)
        || ('\u{2060}'..='\u{206f}').contains(&c)
        || ('\u{e0000}'..='\u{e0fff}').contains(&c)
        || (c as u32 & 0xfffe) == 0xfffe
}

/// Whether a character is written from right to left, which disturbs a grid of characters.
pub(crate) fn is_right_to_left(c: char) -> bool {
    matches!(c as u32, 0x590..=0x8ff | 0xfb1d..=0xfdff | 0xfe70..=0xfeff
        | 0x10800..=0x10fff | 0x1e800..=0x1efff)
}

fn visible(text: &str, keep: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if keep.contains(&c) || !is_unsafe(c) {
            out.push(c);
        } else {
            out.extend(c.escape_default());
        }
    }
    out
}

/// `text` on one line, no wider than `cells_max`.
pub(crate) fn line(text: &str, cells_max: usize) -> String {
    // Escapes only make text longer, so what follows this prefix is cut in any case.
    let chars_max = cells_max.saturating_mul(CHARS_PER_CELL_MAX).saturating_add(1);
    let end = text.char_indices().nth(chars_max).map_or(text.len(), |(at, _)| at);
    shorten(&visible(text[..end].trim(), &[]), cells_max)
}

/// `text` with its line breaks and tabs, at most `chars_max` characters, and whether it was cut.
pub(crate) fn block(text: &str, chars_max: usize) -> (String, bool) {
    let end = text.char_indices().nth(chars_max).map(|(at, _)| at);
    (visible(&text[..end.unwrap_or(text.len())], &['\n', '\t']), end.is_some())
}

/// Cuts `text` to `cells_max` cells, the last of which then is an ellipsis.
pub(crate) fn shorten(text: &str, cells_max: usize) -> String {
    let chars_max = cells_max.saturating_mul(CHARS_PER_CELL_MAX);
    if cells(text) <= cells_max && text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let mut used = 1;
    let mut out = String::new();
    for c in text.chars().take(chars_max) {
        used += char_cells(c);
        if used > cells_max {
            break;
        }
        out.push(c);
    }
    out.truncate(out.trim_end().len());
    if cells_max > 0 {
        out.push('…');
    }
    out
}

/// Breaks `text` at spaces into at most `lines_max` lines of `cells_max` cells.
pub(crate) fn wrap(text: &str, cells_max: usize, lines_max: usize) -> Vec<String> {
    let text = line(text, cells_max.saturating_mul(lines_max).saturating_mul(2));
    let mut lines: Vec<String> = Vec::new();
    let mut words = text.split(' ').filter(|word| !word.is_empty()).peekable();
    let mut current = String::new();
    while let Some(word) = words.next() {
        if !current.is_empty() {
            current.push(' ');
        }
        current.push_str(word);
        let next = words.peek().map(|next| cells(&current) + 1 + cells(next));
        if next.is_none_or(|width| width > cells_max) {
            lines.push(shorten(&std::mem::take(&mut current), cells_max));
        }
    }
    if lines.len() > lines_max {
        lines.truncate(lines_max);
        if let Some(last) = lines.last_mut() {
            *last = shorten(&format!("{last} …"), cells_max);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_direction_overrides_become_visible() {
        assert_eq!(line("a\0b\nc\u{202e}d\u{ffff}", 99), "a\\u{0}b\\nc\\u{202e}d\\u{ffff}");
        assert_eq!(block("a\n\tb\r", 99), ("a\n\tb\\r".to_owned(), false));
    }

    #[test]
    fn text_is_cut_to_its_cells_with_an_ellipsis() {
        assert_eq!(line("write 12345", 8), "write 1…");
        assert_eq!(line("日本語日本語", 7), "日本語…");
        assert_eq!(line("abc", 3), "abc");
        assert_eq!(line("abc", 0), "");
        let marks = format!("a{}", "\u{301}".repeat(10_000));
        assert!(line(&marks, 10).chars().count() <= 41);
    }

    #[test]
    fn lines_break_at_spaces_and_say_when_more_was_there() {
        assert_eq!(wrap("one two three", 7, 3), ["one two", "three"]);
        assert_eq!(wrap("one two three four", 8, 1), ["one two…"]);
        assert_eq!(wrap("onetwothreefour", 8, 2), ["onetwot…"]);
        assert!(wrap("", 8, 2).is_empty());
    }
}

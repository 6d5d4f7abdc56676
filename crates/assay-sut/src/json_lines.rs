//! Lines out of a stream of bytes, none of them longer than a limit.
//!
//! Adapters and Maelstrom nodes speak in lines of JSON, over pipes and over sockets. What reads
//! from them pushes the bytes as they come, whatever the pieces, and takes whole lines.

/// Bytes of a line, without its line feed: a read of a set of a million numbers fits.
pub(crate) const LINE_BYTES_MAX: usize = 16 << 20;
/// Bytes of a line that are shown in a message.
const SHOWN_BYTES_MAX: usize = 200;
/// One read.
pub(crate) const READ_BYTES_MAX: usize = 16 << 10;

/// A line has more than [`LINE_BYTES_MAX`] bytes. What follows cannot be trusted.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the line is longer than {LINE_BYTES_MAX} bytes; it begins with `{begin}`")]
pub(crate) struct TooLong {
    begin: String,
}

/// Bytes that have come and are not yet taken as lines.
#[derive(Default, Debug)]
pub(crate) struct LineBuffer {
    bytes: Vec<u8>,
    /// No line feed stands before this: what was looked at is not looked at again.
    looked: usize,
}

impl LineBuffer {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole line, without its line feed. What has no line feed yet waits; if the stream
    /// ends there, it never was a line.
    pub(crate) fn take(&mut self) -> Option<Result<Vec<u8>, TooLong>> {
        let found = self.bytes[self.looked..].iter().position(|byte| *byte == b'\n');
        let length = found.map_or(self.bytes.len(), |at| self.looked + at);
        if length > LINE_BYTES_MAX {
            return Some(Err(TooLong { begin: shown(&self.bytes) }));
        }
        self.looked = if found.is_some() { 0 } else { length };
        found?;
        let rest = self.bytes.split_off(length + 1);
        let mut line = std::mem::replace(&mut self.bytes, rest);
        line.pop();
        Some(Ok(line))
    }
}

/// The beginning of a line, fit for a message: one line of text, and not too long.
pub(crate) fn shown(line: &[u8]) -> String {
    let begin = &line[..line.len().min(SHOWN_BYTES_MAX)];
    let text: String = String::from_utf8_lossy(begin)
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    if line.len() > SHOWN_BYTES_MAX { format!("{text}…") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_however_the_bytes_are_cut() {
        let text = b"{}\n\nlong line \xff\nwithout an end";
        let expected: [&[u8]; 3] = [b"{}", b"", b"long line \xff"];
        for piece in 1..=text.len() {
            let (mut buffer, mut lines) = (LineBuffer::default(), Vec::new());
            for bytes in text.chunks(piece) {
                buffer.push(bytes);
                while let Some(line) = buffer.take() {
                    lines.push(line.expect("it is short"));
                }
            }
            assert_eq!(lines, expected, "in pieces of {piece}");
        }
    }

    #[test]
    fn a_line_may_be_as_long_as_the_limit_and_not_one_byte_longer() {
        for (length, fits) in [(LINE_BYTES_MAX, true), (LINE_BYTES_MAX + 1, false)] {
            let mut buffer = LineBuffer::default();
            buffer.push(&vec![b'x'; length]);
            assert_eq!(buffer.take().is_none(), fits, "{length} bytes and no end");
            buffer.push(b"\n");
            assert_eq!(buffer.take().is_some_and(|line| line.is_ok()), fits, "{length} bytes");
        }
    }

    #[test]
    fn what_is_shown_is_one_short_line() {
        assert_eq!(shown(b"a\tb\x1b[0m\xff"), "a\u{fffd}b\u{fffd}[0m\u{fffd}");
        assert_eq!(shown(&[b'x'; 500]).chars().count(), SHOWN_BYTES_MAX + 1);
    }
}

//! Server-sent events as they come: bytes in, whole events out.

/// The largest event.
const EVENT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// One event.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct SseEvent {
    /// Its type; empty if it has none.
    pub name: String,
    /// Its data, lines joined.
    pub data: String,
}

/// Puts events together from pieces of any size.
#[derive(Default, Debug)]
pub struct SseReader {
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    bytes: usize,
    /// The last byte was a carriage return: a newline after it belongs to it.
    after_return: bool,
}

/// An event that is too large.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("an event of the stream is larger than {EVENT_BYTES_MAX} bytes")]
pub struct TooLarge;

impl SseReader {
    /// Takes a piece, and gives the events that it completes.
    ///
    /// # Errors
    /// If one is too large.
    pub fn push(&mut self, piece: &[u8]) -> Result<Vec<SseEvent>, TooLarge> {
        let mut whole = Vec::new();
        for byte in piece {
            let is_rest = std::mem::take(&mut self.after_return) && *byte == b'\n';
            if is_rest {
                continue;
            }
            self.after_return = *byte == b'\r';
            if matches!(byte, b'\r' | b'\n') {
                whole.extend(self.end_line());
                continue;
            }
            self.bytes += 1;
            if self.bytes > EVENT_BYTES_MAX {
                return Err(TooLarge);
            }
            self.line.push(*byte);
        }
        Ok(whole)
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        if line.is_empty() {
            self.bytes = 0;
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.event.name = value.to_string(),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            // Comments, ids, and what nobody knows.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let text = ": hello\n\nevent: a\ndata: 1\ndata: 2\n\ndata:x\r\n\r\nid: 7\n\nevent: gone\n\n\
            data\r\rdata: ü\nretry: 3\n\n";
        let of = |name: &str, data: &str| SseEvent { name: name.into(), data: data.into() };
        let expected = [of("a", "1\n2"), of("", "x"), of("", ""), of("", "ü")];
        for size in 1..=text.len() {
            let mut reader = SseReader::default();
            let pieces = text.as_bytes().chunks(size);
            let events: Vec<SseEvent> =
                pieces.flat_map(|piece| reader.push(piece).expect("small")).collect();
            assert_eq!(events, expected, "pieces of {size}");
        }
    }

    #[test]
    fn an_event_without_end_is_refused() {
        let mut reader = SseReader::default();
        let piece = vec![b'x'; EVENT_BYTES_MAX];
        assert_eq!(reader.push(&piece), Ok(Vec::new()));
        assert_eq!(reader.push(b"x"), Err(TooLarge));
    }
}

//! Lines like the lines before them: most of a history is read by comparing.
//!
//! Recorders write the same fields in the same order every time, and some fields hardly ever change
//! (`"error":null`). So a line that was cut the general way is made into a [`Template`]: texts that
//! have to come again, and between them the values that change from line to line. Where a line
//! fits, only those values are looked at. Where anything else stands it does not fit: what is
//! accepted, and what an error says, is up to the general way alone. If that finds a field that had
//! not changed so far, the template learns that this field changes.

use super::json::Json;
use super::jsonl_event::{Event, Kind, SLOTS};
use super::raw::Raw;
use super::shape::{PIECE_BYTES_MAX, Piece};
use super::usual_value::usual_value;
use crate::value::ValueId;
use std::ops::Range;

/// How many kinds of lines are known at once: looking for the right one must not take long.
const TEMPLATES_MAX: usize = 8;

/// How many lines are learnt from: with lines that are all different, learning is lost time.
const LESSONS_MAX: u32 = 256;

/// The most bytes of a line, apart from its values, that are worth comparing.
const LAYOUT_BYTES_MAX: usize = 1 << 10;

/// Where the value of a field stands.
pub(super) struct Place {
    pub(super) value: Range<usize>,
    /// The field's place in [`Event::fields`].
    pub(super) slot: usize,
}

/// The kinds of lines met so far.
pub(super) struct Templates {
    known: Vec<Template>,
    lessons_left: u32,
}

struct Template {
    steps: Vec<Step>,
    /// What all lines that fit have in common.
    event: Event,
    /// The fields that change, as bits by slot.
    changing: u16,
    /// The line without its values.
    layout: String,
}

/// A text that has to come, and the field whose value follows it, if one does.
struct Step {
    piece: Piece,
    slot: Option<u8>,
}

impl Templates {
    pub(super) fn new() -> Templates {
        Templates { known: Vec::new(), lessons_left: LESSONS_MAX }
    }

    /// Knows nothing and learns nothing: every line is cut the general way.
    #[cfg(test)]
    pub(super) fn none() -> Templates {
        Templates { known: Vec::new(), lessons_left: 0 }
    }

    /// Appends the event of the line that begins at `from`, if the line is of a known kind, and
    /// returns where it ends.
    #[inline]
    pub(super) fn cut(
        &self,
        text: &str,
        from: usize,
        line: u64,
        events: &mut Vec<Event>,
    ) -> Option<usize> {
        let beginning = &text.as_bytes()[from..];
        for template in &self.known {
            if !template.steps.first()?.piece.begins(beginning) {
                continue;
            }
            events.push(Event { line, ..template.event });
            // Filled where it stands: events are large, and moving them costs as much as cutting.
            let event = events.last_mut().expect("one was just added");
            match template.fill(text, from, event) {
                Some(end) => return Some(end),
                None => events.truncate(events.len() - 1),
            }
        }
        None
    }

    /// Learns from a line that was cut the general way.
    #[cold]
    pub(super) fn learn(
        &mut self,
        text: &str,
        line: Range<usize>,
        places: &[Place],
        event: &Event,
    ) {
        let operation = matches!(event.kind, Kind::Row | Kind::Invoke | Kind::Complete);
        if self.lessons_left == 0 || !operation || event.others.0 < event.others.1 {
            return;
        }
        self.lessons_left -= 1;
        let Some(layout) = layout(text, &line, places) else { return };
        let mut changing = changing(event);
        let known = self.known.iter().position(|template| template.layout == layout);
        if let Some(at) = known {
            changing |= self.known[at].changing | different(&self.known[at].event, event);
        }
        let steps = steps(text, &line, places, changing);
        let event = Event { others: (0, 0), ..*event };
        let template = Template { steps, event, changing, layout };
        match known {
            Some(at) => self.known[at] = template,
            None if self.known.len() < TEMPLATES_MAX => self.known.push(template),
            None => {}
        }
    }
}

impl Template {
    /// Fills in the fields that change and returns where the line ends; `None` if it does not fit.
    #[inline]
    fn fill(&self, text: &str, from: usize, event: &mut Event) -> Option<usize> {
        let bytes = text.as_bytes();
        let mut pos = from;
        for step in &self.steps {
            if !step.piece.begins(bytes.get(pos..)?) {
                return None;
            }
            pos += step.piece.len();
            if let Some(slot) = step.slot {
                let (raw, length) =
                    usual_value(&bytes[pos..], pos).or_else(|| general(text, pos))?;
                event.fields[usize::from(slot)] = raw;
                pos += length;
            }
        }
        matches!(bytes.get(pos), None | Some(b'\n')).then_some(pos)
    }
}

/// The line without its values, a line end in the place of each; `None` if it is long or a field
/// stands in it twice.
fn layout(text: &str, line: &Range<usize>, places: &[Place]) -> Option<String> {
    let values: usize = places.iter().map(|place| place.value.len()).sum();
    let mut slots: Vec<usize> = places.iter().map(|place| place.slot).collect();
    slots.sort_unstable();
    slots.dedup();
    if line.len() - values > LAYOUT_BYTES_MAX || slots.len() < places.len() {
        return None;
    }
    let mut layout = String::new();
    let mut from = line.start;
    for place in places {
        layout.push_str(&text[from..place.value.start]);
        layout.push('\n');
        from = place.value.end;
    }
    layout.push_str(&text[from..line.end]);
    Some(layout)
}

fn steps(text: &str, line: &Range<usize>, places: &[Place], changing: u16) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut from = line.start;
    for place in places.iter().filter(|place| changing & 1 << place.slot != 0) {
        add_steps(&text[from..place.value.start], Some(place.slot as u8), &mut steps);
        from = place.value.end;
    }
    add_steps(&text[from..line.end], None, &mut steps);
    steps
}

/// A text longer than a piece takes several steps; the value follows the last of them.
fn add_steps(text: &str, slot: Option<u8>, steps: &mut Vec<Step>) {
    for piece in text.as_bytes().chunks(PIECE_BYTES_MAX) {
        let piece = Piece::new(piece).expect("chunks are that short");
        steps.push(Step { piece, slot: None });
    }
    steps.last_mut().expect("a brace or a name comes before a value").slot = slot;
}

/// The fields whose values will hardly be the same in the next line.
fn changing(event: &Event) -> u16 {
    let constants = [ValueId::NULL, ValueId::TRUE, ValueId::FALSE].map(Raw::known);
    slots_where(|slot| !constants.contains(&event.fields[slot]))
}

fn different(a: &Event, b: &Event) -> u16 {
    slots_where(|slot| a.fields[slot] != b.fields[slot])
}

fn slots_where(test: impl Fn(usize) -> bool) -> u16 {
    (0..SLOTS).filter(|&slot| test(slot)).map(|slot| 1 << slot).sum()
}

/// Any value, cut the general way; `None` if it is no value.
#[inline(never)]
fn general(text: &str, pos: usize) -> Option<(Raw, usize)> {
    let end = memchr::memchr(b'\n', &text.as_bytes()[pos..]);
    let mut json = Json::new(&text[..end.map_or(text.len(), |length| pos + length)], pos);
    let raw = json.raw().ok()?;
    Some((raw, json.pos - pos))
}

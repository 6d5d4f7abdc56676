//! Assay's own JSON lines, cut into events: see docs/formats/history.md.
//!
//! Lines like those before them are cut by [`super::jsonl_template`], all others field by field.

use super::detect::Source;
use super::json::Json;
use super::jsonl_build::Assembler;
use super::jsonl_event::{DUE_SLOT, Event, Kind, Others, REVISION_SLOT};
use super::jsonl_template::{Place, Templates};
use super::pipeline::{self, Cut};
use super::shape::Shape;
use super::{ReadError, ReadOptions};
use crate::history::{Column, History};

pub(super) fn read(source: Source<'_>, options: &ReadOptions<'_>) -> Result<History, ReadError> {
    let mut assembler = Assembler::new();
    pipeline::run(source, options, Cutter::new, &mut assembler)?;
    Ok(assembler.finish())
}

/// Which field of a line a name stands for.
#[derive(Clone, Copy)]
enum Field {
    Column(Column),
    Event,
    Revision,
    Due,
    Other,
}

pub(super) struct Cutter {
    /// What most lines look like as a whole.
    pub(super) templates: Templates,
    /// What lines of each [`Kind`] look like, field by field.
    shapes: [Shape<Field>; 6],
    /// Where the values of the line stand that is being cut the general way.
    places: Vec<Place>,
}

impl Cutter {
    pub(super) fn new() -> Cutter {
        Cutter::with(Templates::new())
    }

    pub(super) fn with(templates: Templates) -> Cutter {
        let shapes = std::array::from_fn(|_| Shape::new());
        Cutter { templates, shapes, places: Vec::new() }
    }
}

impl Cut for Cutter {
    type Event = Event;
    type Side = Others;

    fn clear(side: &mut Others) {
        side.clear();
    }

    fn cut(
        &mut self,
        text: &str,
        from: usize,
        line: u64,
        events: &mut Vec<Event>,
        side: &mut Others,
    ) -> Result<(), ReadError> {
        let mut json = Json::new(text, from);
        let mut line = line;
        loop {
            while let Some(b' ' | b'\t' | b'\r' | b'\n') = json.peek() {
                line += u64::from(json.peek() == Some(b'\n'));
                json.pos += 1;
            }
            if json.pos >= text.len() {
                return Ok(());
            }
            if let Some(end) = self.templates.cut(text, json.pos, line, events) {
                json.pos = end;
                continue;
            }
            let end = memchr::memchr(b'\n', &text.as_bytes()[json.pos..])
                .map_or(text.len(), |length| json.pos + length);
            let mut of_line = Json::new(&text[..end], json.pos);
            let mut event = Event::new(line, side.len());
            self.fill(&mut of_line, &mut event, side)
                .map_err(|message| ReadError::record(line, message))?;
            self.templates.learn(text, json.pos..end, &self.places, &event);
            events.push(event);
            json.pos = end;
        }
    }
}

impl Cutter {
    fn fill(
        &mut self,
        json: &mut Json<'_>,
        event: &mut Event,
        others: &mut Others,
    ) -> Result<(), String> {
        self.places.clear();
        json.expect(b'{')?;
        if !json.eat(b'}') {
            for place in 0.. {
                self.field(event, place, json, others)?;
                json.skip_space();
                match json.peek() {
                    Some(b',') => json.pos += 1,
                    Some(b'}') => {
                        json.pos += 1;
                        break;
                    }
                    _ => json.expect(b',')?,
                }
            }
        }
        json.skip_space();
        match json.peek() {
            None => Ok(()),
            Some(_) => Err(json.unexpected("the end of the line after the closing brace")),
        }
    }

    #[inline]
    fn field(
        &mut self,
        event: &mut Event,
        place: usize,
        json: &mut Json<'_>,
        others: &mut Others,
    ) -> Result<(), String> {
        json.skip_space();
        let (start, shape) = (json.pos, &mut self.shapes[event.kind as usize]);
        let field = match shape.guess(place, &json.text.as_bytes()[start..]) {
            Some((length, field)) => {
                json.pos += length;
                field
            }
            None => {
                let field = named(json.string()?);
                json.expect(b':')?;
                shape.learn(place, &json.text[start..json.pos], field);
                field
            }
        };
        match field {
            Field::Column(column) => {
                if event.columns & column.bit() != 0 {
                    let name = Column::ALL[column as usize].1;
                    return Err(format!("the field \"{name}\" stands twice in this line"));
                }
                event.columns |= column.bit();
                self.value(event, column as usize, json)?;
            }
            Field::Event => event.kind = Kind::named(json.string()?)?,
            Field::Revision => self.value(event, REVISION_SLOT, json)?,
            Field::Due => self.value(event, DUE_SLOT, json)?,
            Field::Other => {
                // The name stands between the quotes before the colon.
                let name = Json::new(json.text, start).string()?.to_string();
                others.push((name, json.raw()?));
                event.others.1 += 1;
            }
        }
        Ok(())
    }

    #[inline]
    fn value(&mut self, event: &mut Event, slot: usize, json: &mut Json<'_>) -> Result<(), String> {
        json.skip_space();
        let start = json.pos;
        event.fields[slot] = json.raw()?;
        self.places.push(Place { value: start..json.pos, slot });
        Ok(())
    }
}

fn named(name: &str) -> Field {
    match name {
        "event" => Field::Event,
        "revision" => Field::Revision,
        "due_ts" => Field::Due,
        _ => column_named(name).map_or(Field::Other, Field::Column),
    }
}

fn column_named(name: &str) -> Option<Column> {
    Some(match name {
        "op_id" => Column::OpId,
        "process_id" => Column::ProcessId,
        "invoke_ts" => Column::InvokeTs,
        "complete_ts" => Column::CompleteTs,
        "op_type" => Column::OpType,
        "key" => Column::Key,
        "input" => Column::Input,
        "output" => Column::Output,
        "error" => Column::Error,
        "timeout_marker" => Column::TimeoutMarker,
        "node_seen" => Column::NodeSeen,
        "fault_epoch" => Column::FaultEpoch,
        _ => return None,
    })
}

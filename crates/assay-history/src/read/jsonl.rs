//! Assay's own JSON lines, cut into events: see docs/formats/history.md.

use super::detect::Source;
use super::json::Json;
use super::jsonl_build::Assembler;
use super::pipeline::{self, Cut};
use super::raw::{Raw, Shape};
use super::{ReadError, ReadOptions};
use crate::history::{Column, History};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Row,
    Invoke,
    Complete,
    Header,
    Fault,
    Footer,
}

/// One line, its values still in the block.
pub(super) struct Event {
    pub(super) line: u64,
    pub(super) kind: Kind,
    pub(super) columns: u16,
    /// By column, in the order of [`Column`].
    pub(super) fields: [Raw; 12],
    pub(super) revision: Raw,
    /// Header, fault and footer fields, and fields that are not defined.
    pub(super) others: Vec<(String, Raw)>,
}

impl Event {
    fn new(line: u64) -> Event {
        Event {
            line,
            kind: Kind::Row,
            columns: 0,
            fields: [Raw::NULL; 12],
            revision: Raw::NULL,
            others: Vec::new(),
        }
    }
}

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
    Other,
}

struct Cutter {
    /// What lines of each [`Kind`] look like.
    shapes: [Shape<Field>; 6],
}

impl Cutter {
    fn new() -> Cutter {
        Cutter { shapes: std::array::from_fn(|_| Shape::new()) }
    }
}

impl Cut for Cutter {
    type Event = Event;
    type Side = ();

    fn cut(
        &mut self,
        text: &str,
        from: usize,
        line: u64,
        events: &mut Vec<Event>,
        _side: &mut (),
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
            let end = memchr::memchr(b'\n', &text.as_bytes()[json.pos..])
                .map_or(text.len(), |length| json.pos + length);
            let mut of_line = Json::new(&text[..end], json.pos);
            // Filled where it stands: events are large, and moving them costs as much as cutting.
            events.push(Event::new(line));
            let event = events.last_mut().expect("one was just added");
            if let Err(message) = self.fill(&mut of_line, event) {
                events.pop();
                return Err(ReadError::record(line, message));
            }
            json.pos = end;
        }
    }
}

impl Cutter {
    fn fill(&mut self, json: &mut Json<'_>, event: &mut Event) -> Result<(), String> {
        json.expect(b'{')?;
        if !json.eat(b'}') {
            for place in 0.. {
                self.field(event, place, json)?;
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
                event.fields[column as usize] = json.raw()?;
            }
            Field::Event => event.kind = kind(json.string()?)?,
            Field::Revision => event.revision = json.raw()?,
            Field::Other => {
                // The name stands between the quotes before the colon.
                let name = Json::new(json.text, start).string()?.to_string();
                event.others.push((name, json.raw()?));
            }
        }
        Ok(())
    }
}

fn named(name: &str) -> Field {
    match name {
        "event" => Field::Event,
        "revision" => Field::Revision,
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

fn kind(name: &str) -> Result<Kind, String> {
    Ok(match name {
        "invoke" => Kind::Invoke,
        "complete" => Kind::Complete,
        "op" => Kind::Row,
        "header" => Kind::Header,
        "fault" => Kind::Fault,
        "footer" => Kind::Footer,
        other => {
            return Err(format!(
                "unknown event \"{other}\": expected invoke, complete, op, header, fault or footer"
            ));
        }
    })
}

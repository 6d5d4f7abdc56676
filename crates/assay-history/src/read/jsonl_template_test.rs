//! Templates held against the general way of cutting, which is their oracle.

use super::jsonl::Cutter;
use super::jsonl_event::{Event, Others, SLOTS};
use super::jsonl_template::Templates;
use super::pipeline::Cut;
use crate::value::{ValueId, Values};
use proptest::prelude::*;

/// What a field may hold: what recorders write, and what breaks them.
const VALUES: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "7",
    "-1",
    "-0",
    "00",
    "01",
    "12345678",
    "123456789",
    "1073741823",
    "1073741824",
    "1700000000000000000",
    "2305843009213693951",
    "2305843009213693952",
    "9223372036854775807",
    "9223372036854775808",
    "12345678901234567890",
    "1234567890123456789012345",
    "1.0",
    "1.5",
    "1e3",
    "12345678e1",
    "1.",
    "1-2",
    "-",
    "\"\"",
    "\"x\"",
    "\"read\"",
    "\"a longer string, é and 😀\"",
    "\"a\\\"b\"",
    "\"\\u00e9\"",
    "\"\\q\"",
    "\"\\\\\"",
    "\"\u{1}\"",
    "\"open",
    "[]",
    "[1,[2,\"]\"]]",
    "{\"a\":null}",
    "[1,",
    "nul",
    "nullx",
    "",
    " 5",
    "5 ",
    "5\r",
];

const NAMES: [&str; 9] =
    ["op_id", "process_id", "invoke_ts", "op_type", "key", "input", "error", "revision", "due_ts"];

/// One line: which fields, how they are separated, and which values are odd.
#[derive(Clone, Debug)]
struct Line {
    event: &'static str,
    /// Places in [`NAMES`], in their order.
    names: Vec<usize>,
    odd: Vec<(usize, &'static str)>,
    colon: &'static str,
    comma: &'static str,
    end: &'static str,
}

impl Line {
    fn plain(event: &'static str) -> Line {
        let names = (0..NAMES.len()).collect();
        Line { event, names, odd: Vec::new(), colon: ":", comma: ",", end: "}\n" }
    }

    fn text(&self) -> String {
        let usual = ["12", "3", "1700000000000", "\"write\"", "\"k1\"", "null", "null", "4", "9"];
        let value = |&name: &usize| {
            let odd = self.odd.iter().find(|(place, _)| *place == name);
            odd.map_or(usual[name], |(_, value)| value)
        };
        let field = |name| format!("\"{}\"{}{}", NAMES[name], self.colon, value(&name));
        let mut fields: Vec<String> = self.names.iter().map(|&name| field(name)).collect();
        if !self.event.is_empty() {
            fields.insert(0, self.event.to_string());
        }
        format!("{{{}{}", fields.join(self.comma), self.end)
    }
}

fn any_of(choices: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(choices)
}

fn line() -> impl Strategy<Value = Line> {
    let events = any_of(&[
        "",
        "\"event\":\"invoke\"",
        "\"event\":\"complete\"",
        "\"event\":\"op\"",
        "\"event\" : \"op\"",
        "\"event\":\"fault\"",
        "\"event\":\"none\"",
        "\"other\":1",
    ]);
    let names = prop_oneof![
        6 => Just((0..NAMES.len()).collect::<Vec<usize>>()),
        1 => Just((0..NAMES.len()).rev().collect()),
        1 => Just((2..NAMES.len()).collect()),
        1 => prop::collection::vec(0..NAMES.len(), 0..10),
    ];
    let odd = prop::collection::vec((0..NAMES.len(), any_of(VALUES)), 0..3);
    let ends = any_of(&["}\n", "}\n", "}\n", "}\r\n", "} \n", "}\n\n", "}x\n", "\n", "},\n", "}"]);
    let (colons, commas) = (any_of(&[":", ":", ":", ": ", " :"]), any_of(&[",", ",", ",", ", "]));
    (events, names, odd, colons, commas, ends).prop_map(|(event, names, odd, colon, comma, end)| {
        Line { event, names, odd, colon, comma, end }
    })
}

/// What a cutter makes of a text: its events, with all they point to, and the error that ended it.
#[derive(PartialEq, Debug)]
struct Found {
    events: Vec<String>,
    error: Option<String>,
}

fn found(templates: Templates, text: &str, values: &mut Values) -> Found {
    let (mut events, mut others) = (Vec::new(), Others::new());
    let error = Cutter::with(templates).cut(text, 0, 1, &mut events, &mut others);
    let events = events.iter().map(|event| shown(event, &others, text, values)).collect();
    Found { events, error: error.err().map(|error| error.to_string()) }
}

fn shown(event: &Event, others: &Others, text: &str, values: &mut Values) -> String {
    let fields: Vec<Result<ValueId, String>> =
        (0..SLOTS).map(|slot| event.fields[slot].intern(text, values)).collect();
    let whole: Vec<Option<i64>> = event.fields.iter().map(|raw| raw.int(text)).collect();
    let truth: Vec<Option<bool>> = event.fields.iter().map(|raw| raw.bool()).collect();
    let others = event.others(others);
    let (line, kind, columns) = (event.line, event.kind, event.columns);
    format!("{line} {kind:?} {columns:x} {fields:?} {whole:?} {truth:?} {others:?}")
}

fn agrees(text: &str) -> Result<(), TestCaseError> {
    let mut values = Values::new();
    let general = found(Templates::none(), text, &mut values);
    let fast = found(Templates::new(), text, &mut values);
    prop_assert_eq!(fast, general, "in {:?}", text);
    Ok(())
}

#[test]
fn every_odd_value_in_every_field_is_cut_as_by_the_general_way() {
    for place in 0..NAMES.len() {
        for value in VALUES {
            let odd = Line { odd: vec![(place, value)], ..Line::plain("\"event\":\"op\"") };
            let (plain, odd) = (Line::plain("\"event\":\"op\"").text(), odd.text());
            // Learnt before, met twice, and last in its block.
            for text in [format!("{plain}{odd}{odd}{plain}"), format!("{plain}{plain}{odd}")] {
                agrees(&text).unwrap();
                agrees(text.trim_end()).unwrap();
            }
        }
    }
}

/// Without this, every other test here would still pass if no line ever fitted.
#[test]
fn lines_like_those_before_them_are_cut_by_comparing() {
    let cases = [
        (Line::plain("\"event\":\"op\""), vec![(0, "99"), (2, "1700000000000000000")]),
        (Line::plain(""), vec![(4, "\"é\""), (1, "\"a process with a long name\"")]),
        (Line { end: "}\r\n", ..Line::plain("") }, vec![(4, "[1,2]")]),
        (Line { colon: " : ", ..Line::plain("") }, vec![(0, "\"a\\n\""), (4, "-7")]),
    ];
    for (line, odd) in cases {
        let first = line.text();
        let second = Line { odd, ..line }.text();
        let mut cutter = Cutter::new();
        let (mut events, mut others) = (Vec::new(), Others::new());
        cutter.cut(&first, 0, 1, &mut events, &mut others).unwrap();
        let end = cutter.templates.cut(&second, 0, 2, &mut events);
        assert_eq!(end, Some(second.len() - 1), "{second}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn any_lines_are_cut_as_by_the_general_way(lines in prop::collection::vec(line(), 1..12)) {
        let texts: Vec<String> = lines.iter().map(Line::text).collect();
        agrees(&texts.concat())?;
        // A mistake ends the reading, so each line also stands right behind plain ones.
        for text in &texts {
            agrees(&format!("{}{text}{text}", Line::plain("\"event\":\"op\"").text()))?;
        }
    }

    #[test]
    fn a_line_cut_short_anywhere_is_cut_as_by_the_general_way(
        line in line(),
        cut in any::<prop::sample::Index>(),
    ) {
        let text = line.text();
        let cut = text.floor_char_boundary(cut.index(text.len()));
        agrees(&format!("{text}{text}{}", &text[..cut]))?;
        agrees(&format!("{text}{}\n{text}", &text[..cut]))?;
    }
}

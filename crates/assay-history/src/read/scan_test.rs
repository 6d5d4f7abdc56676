//! The scanners: JSON held against serde_json (the slow twin is the oracle of the fast one), and
//! where blocks of either notation may be cut.

use super::edn;
use super::json::{self, Json, intern};
use crate::value::Values;
use proptest::prelude::*;
use serde_json::Value;

/// What is found in JSON, and what breaks it.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "\\",
    "\\u",
    "\\n",
    "d83d",
    "\\ude00",
    "\\/",
    "0",
    "1",
    "-",
    "+",
    ".",
    "e",
    "E5",
    "00e1",
    "null",
    "true",
    "false",
    "nul",
    "a",
    "é",
    "😀",
    " ",
    "\t",
    "\n",
    "\r",
    "\u{1}",
    "\u{7f}",
    "\u{feff}",
    "12345678901234567890",
    "\"a\":",
    "[]",
    "{}",
    "\"\"",
];

fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-1e19..1e19).prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
        "[\"\\\\\u{0}-\u{20}é😀]{0,5}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::hash_map(".{0,3}", inner, 0..4)
                .prop_map(|map| Value::from_iter(map.into_iter())),
        ]
    })
}

/// Whether two values are the same: whole numbers and everything else exactly, floats as closely as
/// serde_json reads them, which is not always to the last bit.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) if a.is_i64() && b.is_i64() => a == b,
        (Value::Number(a), Value::Number(b)) => {
            let float = |number: &serde_json::Number| number.as_f64().unwrap_or(f64::NAN);
            (float(a) - float(b)).abs() <= float(a).abs() * 1e-14 + f64::MIN_POSITIVE
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, a)| b.get(k).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

fn agrees(text: &str) -> Result<(), TestCaseError> {
    let mut values = Values::new();
    let ours = intern(text, &mut values);
    match serde_json::from_str::<Value>(text) {
        Ok(theirs) => {
            let id = ours.map_err(|why| TestCaseError::fail(format!("{text:?}: {why}")))?;
            let shown = values.show(id).to_string();
            let read_back: Value = serde_json::from_str(&shown)
                .map_err(|why| TestCaseError::fail(format!("{text:?} shows as {shown}: {why}")))?;
            prop_assert!(same(&theirs, &read_back), "{text:?} became {shown}");
            prop_assert_eq!(intern(&shown, &mut values), Ok(id), "{} is not canonical", shown);
        }
        // Numbers too large for a float are kept as text here.
        Err(error) if error.to_string().contains("number out of range") => {}
        Err(error) => prop_assert!(ours.is_err(), "{text:?} was taken, but {error}"),
    }
    Ok(())
}

#[test]
fn of_a_repeated_key_the_last_one_counts() {
    for text in ["{\"a\":1,\"a\":2}", "{\"b\":0,\"a\":1,\"b\":2,\"a\":3,\"a\":[]}"] {
        agrees(text).unwrap();
    }
}

/// Where whole records end, marked by a bar: a block must never be cut inside one.
#[test]
fn blocks_end_after_whole_maps_whatever_stands_in_them() {
    let both = ["", "{}|", "{}|,", "[{}, {}|]\n", "{\"}\":\"{\"}| {", "{\"\\\"}\":1", "{\"a\":{}"];
    let edn = [
        "{:a \\}}| {:b \\}",
        "{:a \\{}|",
        "; } {\n{:a 1 ; }\n}| ; }",
        "#{1}| #_{2}| {:a #{1} :b {2 3}}| {:c #{}",
        "{:a \"x\\\\\"}|",
    ];
    for marked in both {
        let (text, end) = unmarked(marked);
        assert_eq!(json::maps_end(text.as_bytes()), end, "{marked}");
    }
    for marked in both.iter().chain(&edn) {
        let (text, end) = unmarked(marked);
        assert_eq!(edn::maps_end(text.as_bytes()), end, "{marked}");
    }
}

fn unmarked(marked: &str) -> (String, usize) {
    // Of several marks only the last counts.
    let end = marked.rfind('|').map_or(0, |last| last - marked[..last].matches('|').count());
    (marked.replace('|', ""), end)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn random_pieces_are_taken_or_refused_alike(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..12)
    ) {
        agrees(&pieces.concat())?;
    }

    #[test]
    fn documents_and_their_mutations_are_taken_or_refused_alike(
        document in document(),
        cut in any::<prop::sample::Index>(),
        drop in 0usize..3,
        piece in prop::sample::select(PIECES),
    ) {
        let text = document.to_string();
        agrees(&text)?;
        let chars: Vec<char> = text.chars().collect();
        let at = cut.index(chars.len() + 1);
        let head: String = chars[..at].iter().collect();
        let tail: String = chars[at..].iter().skip(drop).collect();
        agrees(&format!("{head}{piece}{tail}"))?;
    }

    #[test]
    fn stepping_over_a_value_ends_where_it_ends(document in document(), space in "[ \t]{0,2}") {
        let value = document.to_string();
        let text = format!("{space}{value}{space},\"next\":1}}");
        let mut json = Json::new(&text, 0);
        let raw = json.raw().map_err(TestCaseError::fail)?;
        prop_assert_eq!(json.pos, space.len() + value.len());
        let mut values = Values::new();
        prop_assert_eq!(raw.intern(&text, &mut values), intern(&value, &mut values));
    }
}

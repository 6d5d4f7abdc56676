//! The language of invariants.

use crate::support::try_history;
use assay_oracle::expr::{CHARS_MAX, DEPTH_MAX, parse};
use assay_oracle::{Answer, Options, OracleError, sketch};

const STATE: &str = "0 final - - ok {\"accounts\":{\"a\":{\"balance\":4},\"b\":{\"balance\":6}},\
    \"orders\":[{\"of\":\"a\"},{\"of\":\"b\"},{\"of\":\"a\"}],\"names\":[\"a\",\"b\"],\"n\":2,\
    \"half\":0.5,\"on\":true,\"s\":\"up\",\"big\":9007199254740993}";

fn judge(text: &str) -> Result<Answer, OracleError> {
    let options = Options { invariant: Some(text.to_string()), ..Options::default() };
    try_history("invariant", &sketch(STATE), &options).map(|report| report.answer)
}

#[test]
fn expressions_come_to_what_they_say() {
    let truths = [
        "sum(accounts.*.balance) == 10",
        "sum(accounts.*.balance) - n * 5 == 0",
        "count(orders.*) == 3 and count(nothing.*) == 0",
        "refs(orders.*.of, names.*)",
        "not refs(accounts.*.balance, names.*)",
        "unique(names.*) and not unique(orders.*.of)",
        "min(accounts.*.balance) >= 4 and max(accounts.*.balance) <= 6",
        "s == \"up\" and on == true",
        "on",
        "n + 3 * 2 == 8 and (n + 3) * 2 == 10",
        "n - 1 - 1 == 0",
        "-n == 0 - 2",
        "not n == 3 and not false",
        "n == 3 or n == 2 and true",
        "half + half == 1",
        "orders.0.of == \"a\"",
        "big == 9007199254740993 and big != 9007199254740992",
        "\"a\" < s",
        "max(names.*) == \"b\"",
    ];
    for text in truths {
        assert_eq!(judge(text), Ok(Answer::Upheld), "{text}");
        assert_eq!(judge(&format!("not ({text})")), Ok(Answer::Refuted), "not ({text})");
    }
}

#[test]
fn mistakes_are_reported_with_their_column() {
    let cases = [
        ("", 1),
        ("n ==", 5),
        ("n == 2 2", 8),
        ("(n == 2", 8),
        ("sum(n", 6),
        ("refs(n)", 7),
        ("n == \"x", 7),
        ("n = 2", 3),
        ("and n", 1),
        ("a..b == 1", 1),
        ("n == 1 == 1", 8),
    ];
    for (text, expected) in cases {
        match parse(text) {
            Err(OracleError::BadExpression { column, .. }) => {
                assert_eq!(column, expected, "{text}")
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn what_makes_no_sense_on_the_state_is_an_error_and_no_answer() {
    for text in [
        "n",
        "n + s == 2",
        "n < s",
        "accounts == 1",
        "min(nothing.*) == 1",
        "zz == 1",
        "names.* == 1",
        "s and on",
    ] {
        assert!(judge(text).is_err(), "{text}");
    }
}

#[test]
fn length_and_depth_are_limited() {
    let deep = |levels: usize| "(".repeat(levels) + "true" + &")".repeat(levels);
    assert!(parse(&deep(DEPTH_MAX)).is_ok());
    assert!(parse(&deep(DEPTH_MAX + 1)).is_err());
    assert!(parse(&("not ".repeat(DEPTH_MAX + 1) + "true")).is_err());
    assert!(parse(&("-".repeat(DEPTH_MAX + 1) + "1")).is_err());
    let long = |chars: usize| "1".repeat(chars);
    assert!(parse(&long(CHARS_MAX)).is_ok());
    assert!(parse(&long(CHARS_MAX + 1)).is_err());
    let wide = "true and ".repeat(1_000) + "on";
    assert_eq!(judge(&wide), Ok(Answer::Upheld), "width is no depth");
}

#[test]
fn no_text_makes_the_parser_panic() {
    let alphabet = [
        "(", ")", "not ", "and", " or ", "==", "<", "-", "*", ".", "n", "sum(", "\"", "1", "é",
        ",", " ", "refs(",
    ];
    let mut state = 7u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..8 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            text += alphabet[(state >> 33) as usize % alphabet.len()];
        }
        let _ = judge(&text);
    }
}

//! Small values of a description: times, what to get, where in the answer.

use serde::Deserialize;
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// Longer than any wait that makes sense.
const TIME_MAX: Duration = Duration::from_secs(3_600);

/// `500ms`, `5s`, `2m`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Time(pub(crate) Duration);

impl TryFrom<String> for Time {
    type Error = String;

    fn try_from(text: String) -> Result<Time, String> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let number: Option<u64> = text[..digits].parse().ok();
        let unit_ms = match &text[digits..] {
            "ms" => Some(1),
            "s" => Some(1_000),
            "m" => Some(60_000),
            _ => None,
        };
        let ms = number.zip(unit_ms).and_then(|(number, unit)| number.checked_mul(unit));
        let time = ms.map(Duration::from_millis).filter(|time| *time <= TIME_MAX);
        time.map(Time).ok_or_else(|| format!("`{text}` is no time such as 500ms, 5s or 2m"))
    }
}

/// What to get from a node by HTTP: `PORT:/path`.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Get {
    pub(crate) port: String,
    pub(crate) path: String,
}

impl TryFrom<String> for Get {
    type Error = String;

    fn try_from(text: String) -> Result<Get, String> {
        let good = |(port, path): &(&str, &str)| {
            let plain = path.bytes().all(|byte| byte.is_ascii_graphic());
            !port.is_empty() && path.starts_with('/') && plain
        };
        let Some((port, path)) = text.split_once(':').filter(good) else {
            return Err(format!("`{text}` is not `PORT:/path`, such as `http:/status`"));
        };
        Ok(Get { port: port.to_string(), path: path.to_string() })
    }
}

/// A place in a JSON answer: `/counters/elections`. `*` stands for every member.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Pointer(String);

impl TryFrom<String> for Pointer {
    type Error = String;

    fn try_from(text: String) -> Result<Pointer, String> {
        match text.is_empty() || text.starts_with('/') {
            true => Ok(Pointer(text)),
            false => Err(format!("`{text}` is no JSON pointer: begin it with `/`")),
        }
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl Pointer {
    /// The values at this place, in their order.
    pub(crate) fn find<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        let mut found = vec![value];
        for part in self.0.split('/').skip(1) {
            let name = part.replace("~1", "/").replace("~0", "~");
            let step = |value: &'v Value| -> Vec<&'v Value> {
                match (value, name.as_str()) {
                    (Value::Object(members), "*") => members.values().collect(),
                    (Value::Array(members), "*") => members.iter().collect(),
                    (Value::Object(members), name) => members.get(name).into_iter().collect(),
                    (Value::Array(members), name) => {
                        name.parse().ok().and_then(|i: usize| members.get(i)).into_iter().collect()
                    }
                    _ => Vec::new(),
                }
            };
            found = found.into_iter().flat_map(step).collect();
        }
        found
    }

    /// The sum of the numbers at this place; `None` if there is none, or one that is no count.
    pub(crate) fn count(&self, value: &Value) -> Option<u64> {
        let found = self.find(value);
        if found.is_empty() {
            return None;
        }
        found.into_iter().try_fold(0u64, |sum, value| Some(sum.saturating_add(count(value)?)))
    }
}

/// A JSON number as a count.
fn count(value: &Value) -> Option<u64> {
    let rounded = |number: f64| (number >= 0.0).then_some(number as u64);
    match value {
        Value::Number(number) => number.as_u64().or_else(|| rounded(number.as_f64()?)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times_have_units() {
        let ms = |text: &str| Time::try_from(text.to_string()).ok().map(|time| time.0.as_millis());
        for (text, expected) in [("500ms", 500), ("5s", 5_000), ("2m", 120_000), ("0s", 0)] {
            assert_eq!(ms(text), Some(expected), "{text}");
        }
        for text in
            ["", "5", "s", "5 s", "-1s", "5h", "99999999999999999999s", "18446744073709551615m"]
        {
            assert_eq!(ms(text), None, "{text}");
        }
    }

    #[test]
    fn pointers_find_one_value_or_all_members() {
        let value = json!({"a": {"x": {"n": 1}, "y": {"n": 2}}, "b/c": [10, "20"], "d": null});
        let cases = [
            ("/a/x/n", Some(1)),
            ("/a/*/n", Some(3)),
            ("/b~1c/*", Some(30)),
            ("/b~1c/1", Some(20)),
            ("/b~1c/2", None),
            ("/d", None),
            ("/none", None),
            ("/none/*", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let pointer = Pointer::try_from(text.to_string()).expect(text);
            assert_eq!(pointer.count(&value), expected, "{text}");
        }
        assert!(Pointer::try_from("a".to_string()).is_err());
    }

    #[test]
    fn what_to_get_is_a_port_and_a_path() {
        assert!(Get::try_from("http:/status?a=1".to_string()).is_ok());
        for text in ["", "/status", "http:", "http:status", "http:/a b", "http:/a\r\nX: y"] {
            assert!(Get::try_from(text.to_string()).is_err(), "{text}");
        }
    }
}

//! Options: what a plan may tell a system. Each is declared with a default, whose kind is its kind.

use super::description::OptionSpec;
use serde_json::Value;
use std::collections::BTreeMap;

/// What an adapter is told of the workload, among the options of the system.
pub(crate) const GENERATOR_OPTION: &str = "generator";
/// Elements of an option that is a list.
const LIST_MAX: usize = 1_000;

/// Options with the defaults of those that were not given.
pub(crate) fn checked_options(
    declared: &BTreeMap<String, OptionSpec>,
    given: &BTreeMap<String, Value>,
) -> Result<BTreeMap<String, Value>, Vec<String>> {
    let mut problems = Vec::new();
    for (name, value) in given {
        match declared.get(name) {
            None => problems.push(format!("there is no option `{name}`; {}", listed(declared))),
            Some(option) => problems.extend(
                problem(option, value)
                    .map(|what| format!("option `{name}` ({}): {what}", option.about)),
            ),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let value = |(name, option): (&String, &OptionSpec)| {
        (name.clone(), given.get(name).unwrap_or(&option.default).clone())
    };
    Ok(declared.iter().map(value).collect())
}

fn listed(declared: &BTreeMap<String, OptionSpec>) -> String {
    match declared.is_empty() {
        true => "it has none".to_string(),
        false => {
            let names: Vec<&str> = declared.keys().map(String::as_str).collect();
            format!("there are {}", names.join(", "))
        }
    }
}

fn kind(value: &Value) -> Option<&'static str> {
    match value {
        Value::Bool(_) => Some("true or false"),
        Value::Number(_) => Some("a number"),
        Value::String(_) => Some("a text"),
        Value::Array(_) => Some("a list"),
        Value::Null | Value::Object(_) => None,
    }
}

fn is_simple(value: &Value) -> bool {
    matches!(value, Value::Bool(_) | Value::Number(_) | Value::String(_))
}

fn problem(option: &OptionSpec, value: &Value) -> Option<String> {
    if kind(value) != kind(&option.default) {
        let wanted = kind(&option.default).unwrap_or("something else");
        return Some(format!("`{value}` is not {wanted}"));
    }
    let elements = match value {
        Value::Array(elements) if elements.len() > LIST_MAX => {
            return Some(format!("a list of more than {LIST_MAX} elements"));
        }
        Value::Array(elements) => elements.as_slice(),
        single => std::slice::from_ref(single),
    };
    for element in elements {
        if !is_simple(element) {
            return Some(format!("`{element}` is not a simple value"));
        }
        if !option.values.is_empty() && !option.values.contains(element) {
            let known: Vec<String> = option.values.iter().map(ToString::to_string).collect();
            return Some(format!("{element} is none of {}", known.join(", ")));
        }
    }
    None
}

/// Checks the declarations themselves: a default must keep its own rules.
pub(super) fn check_declarations(
    declared: &BTreeMap<String, OptionSpec>,
) -> Result<(), (String, String)> {
    for (name, option) in declared {
        let path = format!("options.{name}.default");
        if ["peers", "nodes"].contains(&name.as_str()) {
            let message = format!("an option cannot be called `{name}`: groups mean the nodes");
            return Err((format!("options.{name}"), message));
        }
        if name == GENERATOR_OPTION {
            let message = "an option cannot be called `generator`: clients find the workload there";
            return Err((format!("options.{name}"), message.to_string()));
        }
        if kind(&option.default).is_none() {
            let message = "a default is true or false, a number, a text, or a list".to_string();
            return Err((path, message));
        }
        if let Some(message) = problem(option, &option.default) {
            return Err((path, message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_are_of_the_kind_of_their_default_and_declared() {
        let option = |default: Value, values: Value| OptionSpec {
            about: "x".into(),
            default,
            values: values.as_array().cloned().unwrap_or_default(),
        };
        let declared = BTreeMap::from([
            ("list".to_string(), option(json!([]), json!(["a", "b"]))),
            ("number".to_string(), option(json!(5), json!([]))),
        ]);
        let cases = [
            (json!({}), None),
            (json!({"list": ["a", "a"], "number": 7}), None),
            (json!({"list": ["c"]}), Some("\"c\" is none of \"a\", \"b\"")),
            (json!({"list": "a"}), Some("is not a list")),
            (json!({"number": "7"}), Some("is not a number")),
            (json!({"list": [["a"]]}), Some("not a simple value")),
            (json!({"lists": []}), Some("no option `lists`; there are list, number")),
        ];
        for (given, expected) in cases {
            let given: BTreeMap<String, Value> = serde_json::from_value(given).expect("a map");
            let problems = checked_options(&declared, &given).err().unwrap_or_default().join("; ");
            match expected {
                None => assert_eq!(problems, ""),
                Some(text) => assert!(problems.contains(text), "{problems}"),
            }
        }
    }
}

//! Sets: one node for each key, one child for each element.

use super::session::FOR_EVER;
use serde_json::Value;
use zookeeper_client::{Client, Error};

/// Adds an element; whether it was new.
pub(super) async fn add(client: &Client, set: &str, element: &Value) -> Result<bool, Error> {
    let path = format!("{set}/{}", child(element));
    loop {
        match client.create(&path, &[], &FOR_EVER).await {
            Ok(_) => return Ok(true),
            Err(Error::NodeExists) => return Ok(false),
            // The set itself is missing, and nothing was done.
            Err(Error::NoNode) => client.mkdir(set, &FOR_EVER).await?,
            Err(error) => return Err(error),
        }
    }
}

/// Whether an element is there.
pub(super) async fn contains(client: &Client, set: &str, element: &Value) -> Result<bool, Error> {
    let path = format!("{set}/{}", child(element));
    Ok(client.check_stat(&path).await?.is_some())
}

/// All elements, in the order of their names: ZooKeeper has none.
pub(super) async fn read(client: &Client, set: &str) -> Result<Value, Error> {
    let mut names = match client.list_children(set).await {
        Err(Error::NoNode) => Vec::new(),
        names => names?,
    };
    names.sort();
    names.iter().map(|name| element(name)).collect()
}

/// The name of the child for an element: its JSON text, in letters that paths can have.
fn child(element: &Value) -> String {
    let mut name = String::new();
    for byte in element.to_string().bytes() {
        match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'-' => name.push(byte.into()),
            other => name.push_str(&format!("%{other:02x}")),
        }
    }
    name
}

/// The element of a child.
fn element(name: &str) -> Result<Value, Error> {
    let wrong = || Error::UnexpectedError(format!("a child `{name}` that nobody here has made"));
    let mut text = Vec::new();
    let mut rest = name;
    while let Some(letter) = rest.chars().next() {
        if letter == '%' {
            let code = rest.get(1..3).ok_or_else(wrong)?;
            text.push(u8::from_str_radix(code, 16).map_err(|_| wrong())?);
            rest = &rest[3..];
        } else {
            text.extend(letter.to_string().bytes());
            rest = &rest[letter.len_utf8()..];
        }
    }
    serde_json::from_slice(&text).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn elements_are_names_of_children_and_back() {
        for value in [json!(7), json!(-3), json!("a/b %ü"), json!({ "id": "x" }), json!(null)] {
            let name = child(&value);
            assert!(!name.contains('/') && name.is_ascii(), "{name}");
            assert_eq!(element(&name).ok(), Some(value));
        }
        for wrong in ["%", "%2", "%zz", "%ü1", "foo", "%22"] {
            assert!(element(wrong).is_err(), "{wrong}");
        }
    }
}

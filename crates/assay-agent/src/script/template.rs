//! `${name}` in texts.

/// Puts values in; `$${` is `${`. An unknown name is a mistake of the script.
pub(super) fn fill(
    text: &str,
    mut value: impl FnMut(&str) -> Option<String>,
) -> Result<String, String> {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            filled.push_str(&rest[..at]);
            filled.push('{');
            rest = &rest[at + 2..];
            continue;
        }
        filled.push_str(&rest[..at]);
        let end = rest[at..].find('}').ok_or("a `${` has no `}`")? + at;
        let name = &rest[at + 2..end];
        filled.push_str(&value(name).ok_or_else(|| format!("there is no `{name}` here"))?);
        rest = &rest[end + 1..];
    }
    Ok(filled + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_in() {
        let value = |name: &str| (name == "nonce").then(|| "7".to_string());
        for (text, expected) in [
            ("", Ok("")),
            ("{\"a\": \"${nonce}\"}", Ok("{\"a\": \"7\"}")),
            ("${nonce}${nonce}", Ok("77")),
            ("a $${nonce} b $ {", Ok("a ${nonce} b $ {")),
            ("${other}", Err("there is no `other` here")),
            ("${nonce", Err("a `${` has no `}`")),
        ] {
            let filled = fill(text, value);
            assert_eq!(filled.as_deref().map_err(String::as_str), expected, "{text}");
        }
    }
}

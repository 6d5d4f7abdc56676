//! Secrets in what others answer: a server that is shown one may say it again, in its own spelling.

use url::form_urlencoded::byte_serialize;

/// What stands where a secret was.
pub const HIDDEN: &str = "[key]";

/// The same text without a secret: as it is, as forms and URLs spell it, and as JSON does.
pub fn hide(text: &str, secret: &str) -> String {
    spellings(secret).iter().fold(text.to_string(), |text, one| text.replace(one, HIDDEN))
}

fn spellings(secret: &str) -> Vec<String> {
    let form: String = byte_serialize(secret.as_bytes()).collect();
    let url = form.replace('+', "%20");
    // Without the quotes around it; those that it has itself stay.
    let quoted = serde_json::Value::from(secret).to_string();
    let json = quoted[1..quoted.len() - 1].to_string();
    let slashed = json.replace('/', "\\/");
    let lower = |text: &str| {
        let mut parts = text.split('%');
        let first = parts.next().unwrap_or_default().to_string();
        parts.fold(first, |text, part| {
            let (code, rest) = part.split_at(part.len().min(2));
            format!("{text}%{}{rest}", code.to_ascii_lowercase())
        })
    };
    let mut all = vec![secret.to_string(), lower(&form), lower(&url), form, url, json, slashed];
    all.retain(|one| !one.is_empty());
    // The longest first: none is hidden only in part because another one is within it.
    all.sort_by_key(|one| std::cmp::Reverse(one.len()));
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_hidden_however_it_is_spelled() {
        let cases = [
            ("1//x+y=", "1//x+y="),
            ("1//x+y=", "1%2F%2Fx%2By%3D"),
            ("1//x+y=", "1%2f%2fx%2by%3d"),
            ("1//x+y=", r"1\/\/x+y="),
            ("a b", "a b"),
            ("a b", "a+b"),
            ("a b", "a%20b"),
            ("q\"ü/", r#"q\"ü/"#),
            ("q\"ü/", r#"q\"ü\/"#),
            ("q\"ü/", "q%22%C3%BC%2F"),
            ("\"q\"", r#"\"q\""#),
        ];
        for (secret, spelled) in cases {
            let hidden = hide(&format!("<{spelled}> and {spelled}"), secret);
            assert_eq!(hidden, "<[key]> and [key]", "{spelled}");
        }
        assert_eq!(hide("as it was", "other"), "as it was");
        assert_eq!(hide("as it was", ""), "as it was", "no secret is nowhere");
    }
}

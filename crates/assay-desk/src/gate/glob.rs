//! Globs over paths: `*` and `?` within a directory, `**` over several.

/// Longer patterns are refused: matching costs their length times that of the path.
const PATTERN_BYTES_MAX: usize = 200;

/// Why a pattern cannot be used.
pub fn check(pattern: &str) -> Result<(), &'static str> {
    if pattern.is_empty() || pattern.len() > PATTERN_BYTES_MAX {
        return Err("a pattern has between 1 and 200 bytes");
    }
    if pattern.starts_with('/') || pattern.split('/').any(|part| part == "..") {
        return Err("patterns are relative to the repository and stay inside it");
    }
    Ok(())
}

/// Whether a path matches one of the patterns.
pub fn any(patterns: &[String], path: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, path))
}

/// Whether a path matches. A pattern that ends in `/` means everything below.
pub fn matches(pattern: &str, path: &str) -> bool {
    let whole = if pattern.ends_with('/') { format!("{pattern}**") } else { pattern.to_string() };
    let pattern: Vec<&str> = whole.split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    // Which prefixes of the path the pattern so far can end at.
    let mut reach = vec![false; path.len() + 1];
    reach[0] = true;
    for part in pattern {
        let mut next = vec![false; path.len() + 1];
        for at in 0..=path.len() {
            if part == "**" {
                next[at] = reach[at] || (at > 0 && next[at - 1]);
            } else if at > 0 && reach[at - 1] {
                next[at] = part_matches(part.as_bytes(), path[at - 1].as_bytes());
            }
        }
        reach = next;
    }
    reach[path.len()]
}

fn part_matches(pattern: &[u8], text: &[u8]) -> bool {
    let mut reach = vec![false; text.len() + 1];
    reach[0] = true;
    for byte in pattern {
        let mut next = vec![false; text.len() + 1];
        for at in 0..=text.len() {
            next[at] = match byte {
                b'*' => reach[at] || (at > 0 && next[at - 1]),
                b'?' => at > 0 && reach[at - 1],
                byte => at > 0 && reach[at - 1] && text[at - 1] == *byte,
            };
        }
        reach = next;
    }
    reach[text.len()]
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_stay_within_a_directory_and_two_do_not() {
        for (pattern, path, expected) in [
            ("a.py", "a.py", true),
            ("a.py", "b/a.py", false),
            ("*.py", "a.py", true),
            ("*.py", "b/a.py", false),
            ("**/*.py", "a.py", true),
            ("**/*.py", "b/c/a.py", true),
            ("src/**", "src/a/b.rs", true),
            ("src/**", "srcs/a.rs", false),
            ("src/", "src/a.rs", true),
            ("src/**/t?st.rs", "src/test.rs", true),
            ("src/**/t?st.rs", "src/x/y/tst.rs", false),
            ("**", "anything/at/all", true),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }
}

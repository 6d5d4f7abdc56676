//! A unified diff as `git diff --no-renames` prints it, by file and hunk.

/// What happened to one file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FileDiff {
    /// Its path, after the change or, if it is gone, before.
    pub path: String,
    /// It is new.
    pub added: bool,
    /// It is gone.
    pub deleted: bool,
    /// It is not text, so it has no hunks.
    pub binary: bool,
    /// The lines before the first hunk, as they are.
    pub header: String,
    /// Its hunks.
    pub hunks: Vec<Hunk>,
}

/// One hunk.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hunk {
    /// The hunk as it is, with its `@@` line.
    pub text: String,
    /// The line in the new file where it begins.
    pub line: usize,
    /// The line in the old file.
    pub old_line: usize,
    /// Lines that are gone, without the sign.
    pub removed: Vec<String>,
    /// Lines that are new, without the sign.
    pub added: Vec<String>,
}

/// Reads a diff; what is no diff is no file.
pub fn parse(text: &str) -> Vec<FileDiff> {
    let mut files: Vec<FileDiff> = Vec::new();
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        if let Some(names) = bare.strip_prefix("diff --git ") {
            files.push(FileDiff { path: path(names), ..FileDiff::default() });
        }
        let Some(file) = files.last_mut() else {
            continue;
        };
        if bare.starts_with("@@ ") {
            let (old_line, line) = (number(bare, '-'), number(bare, '+'));
            file.hunks.push(Hunk { line, old_line, ..Hunk::default() });
        }
        match file.hunks.last_mut() {
            None => file.head(line, bare),
            Some(hunk) => {
                hunk.text.push_str(line);
                if let Some(removed) = bare.strip_prefix('-') {
                    hunk.removed.push(removed.to_string());
                } else if let Some(added) = bare.strip_prefix('+') {
                    hunk.added.push(added.to_string());
                }
            }
        }
    }
    files
}

impl FileDiff {
    fn head(&mut self, line: &str, bare: &str) {
        self.header.push_str(line);
        self.added |= bare.starts_with("new file mode");
        self.deleted |= bare.starts_with("deleted file mode");
        self.binary |= bare.starts_with("Binary files ") || bare == "GIT binary patch";
    }

    /// All lines that are gone.
    pub fn removed(&self) -> impl Iterator<Item = &str> {
        self.removed_at().map(|(_, line)| line)
    }

    /// All lines that are gone, with the numbers they had.
    pub fn removed_at(&self) -> impl Iterator<Item = (usize, &str)> {
        self.hunks.iter().flat_map(|hunk| {
            hunk.removed.iter().enumerate().map(|(i, line)| (hunk.old_line + i, line.as_str()))
        })
    }

    /// All lines that are new, with their numbers.
    pub fn added(&self) -> impl Iterator<Item = (usize, &str)> {
        self.hunks.iter().flat_map(|hunk| {
            hunk.added.iter().enumerate().map(|(i, line)| (hunk.line + i, line.as_str()))
        })
    }
}

/// `a/PATH b/PATH`, or both in quotes: without renames the two are the same, so each is a half,
/// whatever is in it. Every file has this line, also one without hunks.
fn path(names: &str) -> String {
    let (old, new) = names.split_at_checked(names.len() / 2).unwrap_or((names, ""));
    let new = new.strip_prefix(' ').unwrap_or(new);
    let bare = |name: &str, prefix: &str| {
        let quoted = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
        let name = quoted.map_or(name.to_string(), unquoted);
        name.strip_prefix(prefix).map(str::to_string)
    };
    match (bare(old, "a/"), bare(new, "b/")) {
        (Some(old), Some(new)) if old == new => new,
        // Nothing that git prints: as it is, it is found by no pattern and is the same each time.
        _ => names.to_string(),
    }
}

/// A name as git quotes it: letters after a backslash, and bytes in octal.
fn unquoted(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let byte = match rest.next() {
            Some(b'a') => 7,
            Some(b'b') => 8,
            Some(b't') => b'\t',
            Some(b'n') => b'\n',
            Some(b'v') => 11,
            Some(b'f') => 12,
            Some(b'r') => b'\r',
            Some(digit @ b'0'..=b'7') => {
                let more = rest.by_ref().take(2).map(|digit| u32::from(digit.wrapping_sub(b'0')));
                let value = more.fold(u32::from(digit - b'0'), |value, digit| value * 8 + digit);
                (value & 0xff) as u8
            }
            Some(other) => other,
            None => break,
        };
        bytes.push(byte);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// `@@ -1,2 +3,4 @@` begins at line 1 of the old file and at line 3 of the new one.
fn number(bare: &str, sign: char) -> usize {
    let after = bare.split(sign).nth(1).unwrap_or("");
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn files_hunks_and_lines_are_found() {
        let text = "diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n\
                    @@ -3 +3,2 @@ def a():\n-    old\n+    new\n+    more\n@@ -9 +10,0 @@\n-gone\n\
                    diff --git a/b b/b\ndeleted file mode 100644\n--- a/b\n+++ /dev/null\n\
                    @@ -1 +0,0 @@\n-x\n";
        let files = parse(text);
        assert_eq!(files.len(), 2);
        assert_eq!(files[0].path, "a.py");
        assert_eq!(files[0].hunks.len(), 2);
        assert_eq!(files[0].added().collect::<Vec<_>>(), [(3, "    new"), (4, "    more")]);
        assert_eq!(files[0].removed_at().collect::<Vec<_>>(), [(3, "    old"), (9, "gone")]);
        assert!(files[1].deleted && files[1].path == "b");
        assert!(files[0].hunks[0].text.starts_with("@@ -3 +3,2"));
    }

    #[test]
    fn every_file_has_its_path_with_lines_and_without() {
        for (names, path) in [
            ("a/t/0.sh b/t/0.sh", "t/0.sh"),
            ("a/a b/a b/a b/a", "a b/a"),
            ("a/x and b/x b/x and b/x", "x and b/x"),
            ("\"a/t/\\303\\274.sh\" \"b/t/\\303\\274.sh\"", "t/\u{fc}.sh"),
            ("\"a/a\\tb\\\"c\\\\d\" \"b/a\\tb\\\"c\\\\d\"", "a\tb\"c\\d"),
        ] {
            for (rest, binary) in [
                ("Binary files one and the other differ\n", true),
                ("old mode 100644\nnew mode 100755\n", false),
                ("--- a/else\n+++ b/else\n@@ -1 +1 @@\n-a\n+b\n", false),
            ] {
                let files = parse(&format!("diff --git {names}\nindex 1..2 100644\n{rest}"));
                assert_eq!(files.len(), 1, "{names}");
                assert_eq!((files[0].path.as_str(), files[0].binary), (path, binary), "{rest}");
            }
        }
    }
}

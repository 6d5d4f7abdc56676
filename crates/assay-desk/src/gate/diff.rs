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
        if bare.starts_with("diff --git ") {
            files.push(FileDiff::default());
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
        let name = bare
            .strip_prefix("+++ b/")
            .or_else(|| bare.strip_prefix("--- a/").filter(|_| self.path.is_empty()));
        if let Some(name) = name {
            self.path = name.trim_end_matches('\t').to_string();
        }
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
}

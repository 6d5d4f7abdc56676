//! What changed between two texts, as people and programs read it: a unified diff.

use std::fmt::Write;

/// Lines around a change that are shown with it.
const CONTEXT_LINES: usize = 3;
/// Lines times lines that are compared; larger changes are one block taken, one put.
const CELLS_MAX: usize = 1_000_000;

/// A line, and what became of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Line<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
}

/// The change of a file as a unified diff; `old` is nothing if there was no file.
pub(crate) fn unified(path: &str, old: Option<&str>, new: &str) -> String {
    let lines = compared(old.unwrap_or_default(), new);
    let from = if old.is_some() { path } else { "/dev/null" };
    let mut text = format!("--- {from}\n+++ {path}\n");
    let is_change = |line: &Line| !matches!(line, Line::Same(_));
    let (mut at, mut old_line, mut new_line) = (0, 1, 1);
    while let Some(first) = lines[at..].iter().position(is_change).map(|found| at + found) {
        let start = at.max(first.saturating_sub(CONTEXT_LINES));
        // Changes whose surroundings touch are told together.
        let mut end = first + 1;
        while let Some(next) = lines[end..].iter().position(is_change) {
            if next > 2 * CONTEXT_LINES {
                break;
            }
            end += next + 1;
        }
        let end = lines.len().min(end + CONTEXT_LINES);
        // What is left out is the same in both.
        (old_line, new_line) = (old_line + start - at, new_line + start - at);
        let (olds, news) = hunk(&mut text, &lines[start..end], old_line, new_line);
        (old_line, new_line, at) = (old_line + olds, new_line + news, end);
    }
    text
}

/// Writes one part of a change, and gives how many lines of each side are in it.
fn hunk(text: &mut String, lines: &[Line], old_line: usize, new_line: usize) -> (usize, usize) {
    let olds = lines.iter().filter(|line| !matches!(line, Line::New(_))).count();
    let news = lines.iter().filter(|line| !matches!(line, Line::Gone(_))).count();
    // A side without lines is named by the line before.
    let side = |first: usize, count: usize| (first - usize::from(count == 0), count);
    let ((old_line, _), (new_line, _)) = (side(old_line, olds), side(new_line, news));
    writeln!(text, "@@ -{old_line},{olds} +{new_line},{news} @@").expect("it is a text");
    for line in lines {
        let (sign, line) = match line {
            Line::Same(line) => (' ', line),
            Line::Gone(line) => ('-', line),
            Line::New(line) => ('+', line),
        };
        let end = if line.ends_with('\n') { "" } else { "\n\\ No newline at end of file\n" };
        write!(text, "{sign}{line}{end}").expect("it is a text");
    }
    (olds, news)
}

fn compared<'a>(old: &'a str, new: &'a str) -> Vec<Line<'a>> {
    let (a, b): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let start = a.iter().zip(&b).take_while(|(one, two)| one == two).count();
    let (rest_a, rest_b) = (&a[start..], &b[start..]);
    let end = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(x, y)| x == y).count();
    let middle = changed(&rest_a[..rest_a.len() - end], &rest_b[..rest_b.len() - end]);
    let same = |line: &&'a str| Line::Same(line);
    let tail = a[a.len() - end..].iter().map(same);
    a[..start].iter().map(same).chain(middle).chain(tail).collect()
}

/// By a longest common subsequence, if that is not too much work.
fn changed<'a>(a: &[&'a str], b: &[&'a str]) -> Vec<Line<'a>> {
    let (gone, new) = (|line: &&'a str| Line::Gone(line), |line: &&'a str| Line::New(line));
    if a.len().saturating_mul(b.len()) > CELLS_MAX {
        return a.iter().map(gone).chain(b.iter().map(new)).collect();
    }
    // best[i * width + j]: how many lines a[i..] and b[j..] have in common, in order.
    let width = b.len() + 1;
    let mut best = vec![0_u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            best[i * width + j] = match a[i] == b[j] {
                true => best[(i + 1) * width + j + 1] + 1,
                false => best[(i + 1) * width + j].max(best[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            lines.push(Line::Same(a[i]));
            (i, j) = (i + 1, j + 1);
        } else if best[(i + 1) * width + j] >= best[i * width + j + 1] {
            lines.push(Line::Gone(a[i]));
            i += 1;
        } else {
            lines.push(Line::New(b[j]));
            j += 1;
        }
    }
    lines.into_iter().chain(a[i..].iter().map(gone)).chain(b[j..].iter().map(new)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_reads_as_programs_write_it() {
        let no_end = "\\ No newline at end of file\n";
        for (old, new, expected) in [
            (None, "a\n", "--- /dev/null\n+++ f\n@@ -0,0 +1,1 @@\n+a\n".to_string()),
            (Some("a\n"), "a\n", "--- f\n+++ f\n".to_string()),
            (Some("a\n"), "", "--- f\n+++ f\n@@ -1,1 +0,0 @@\n-a\n".to_string()),
            (
                Some("a\nb"),
                "a\nc",
                format!("--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n{no_end}+c\n{no_end}"),
            ),
            (
                Some("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n"),
                "1\nx\n3\n4\n5\n6\n7\n8\n9\n10\n12\n",
                "--- f\n+++ f\n@@ -1,5 +1,5 @@\n 1\n-2\n+x\n 3\n 4\n 5\n\
                 @@ -8,5 +8,4 @@\n 8\n 9\n 10\n-11\n 12\n"
                    .to_string(),
            ),
        ] {
            assert_eq!(unified("f", old, new), expected, "{old:?} {new:?}");
        }
    }

    #[test]
    fn both_texts_can_be_had_from_their_comparison() {
        let texts = ["", "a", "a\n", "a\nb\n", "b\na\n", "a\nb\nc\na\n", "c\na\nb\n\n", "\n\na\n"];
        let large = |sign: char| (0..1200).map(|n| format!("{sign}{n}\n")).collect::<String>();
        let (one, two) = (large('x'), large('y'));
        for old in texts.iter().copied().chain([one.as_str()]) {
            for new in texts.iter().copied().chain([two.as_str()]) {
                let lines = compared(old, new);
                let side = |is_old: bool| -> String {
                    let line = |line: &Line| match *line {
                        Line::Same(line) => line.to_string(),
                        Line::Gone(line) if is_old => line.to_string(),
                        Line::New(line) if !is_old => line.to_string(),
                        _ => String::new(),
                    };
                    lines.iter().map(line).collect()
                };
                assert_eq!((side(true), side(false)), (old.to_string(), new.to_string()));
            }
        }
    }
}

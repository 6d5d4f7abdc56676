//! The name somebody may have meant.

/// A name further away than this was not meant.
const EDITS_MAX: usize = 3;

/// The nearest of `names`, as a question; empty if none is near.
pub(crate) fn did_you_mean<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    let nearest = names.map(|known| (edits(name, known), known)).min();
    match nearest {
        Some((edits, known)) if edits <= EDITS_MAX && edits < name.len() => {
            format!("; did you mean `{known}`?")
        }
        _ => String::new(),
    }
}

/// How many letters must be put in, taken out or replaced to make one name the other.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_asked_for_and_a_far_one_is_not() {
        let names = || ["register", "rw-register", "queue"].into_iter();
        assert_eq!(did_you_mean("regster", names()), "; did you mean `register`?");
        assert_eq!(did_you_mean("qeue", names()), "; did you mean `queue`?");
        assert_eq!(did_you_mean("tree-of-life", names()), "");
        assert_eq!(did_you_mean("", names()), "");
        assert_eq!((edits("", "abc"), edits("abc", "abc"), edits("abc", "adc")), (3, 0, 1));
    }
}

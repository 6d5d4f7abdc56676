//! Names that a claim adds: what a runner may find missing where the work is not there.
//!
//! RED wants mapped tests to fail by name. Where a runner could not even begin, because what is
//! tested is not there, its output must name something that the claim adds. A word that the old
//! sources have, too, is missing nowhere; one that compilers and runners say anyway names nothing,
//! unless they single it out: `cannot find function 'total'` is about `total`.

use std::collections::BTreeSet;

/// A missing symbol must be named by at least this many letters.
const LETTERS_MIN: usize = 4;
/// More words of an output than this are not looked up in the old sources.
pub const LOOKED_UP_MAX: usize = 100;

/// What compilers, shells and test runners say whatever is wrong.
const COMMON: &str = "
    actual after argument arguments array assert asserted asserteq assertequal assertion assertions
    attribute because before boolean break build call called cannot case class code collected
    collecting column command compile compiled compiling const could declaration declared def
    default defined definition denied directory does done duplicate duration echo else enum error
    errors exception exist exists exit expected expression fail failed failing failure failures
    false file files find float from func function functions given have help here ignored implicit
    import imported importerror imports into invalid last line linker list loader main method
    methods missing module modulenotfounderror modules most must name named nameerror names none
    note null number object open opened package panic panicked passed path permission previous
    print printed private process property public read ready received recent reference result
    results return returned running scope script self shell should signal skipped stack status
    string struct such summary super symbol symbols syntax terminated test tests that this thread
    time times token tokens total traceback trait true type typeerror types undeclared undefined
    unexpected unit unknown unresolved used using valueerror value values variable warning while
    with without wrong yield";

/// How Go says what is missing.
const UNDEFINED: &str = "undefined: ";

/// Words that lines of sources have, as far as they can be names of something.
pub fn words<'t>(lines: impl Iterator<Item = &'t str>) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for line in lines {
        for word in line.split(|c: char| !c.is_alphanumeric() && c != '_') {
            if word.len() >= LETTERS_MIN && !word.starts_with(|c: char| c.is_ascii_digit()) {
                all.insert(word.to_string());
            }
        }
    }
    all
}

/// Which of these words an output says, those aside that it would say anyway.
pub fn said(output: &str, words: &BTreeSet<String>) -> BTreeSet<String> {
    let own = words.iter().filter(|word| match is_common(word) {
        false => names(output, word),
        true => singles_out(output, word),
    });
    own.take(LOOKED_UP_MAX).cloned().collect()
}

fn is_common(word: &str) -> bool {
    let word = word.to_lowercase();
    COMMON.split_whitespace().any(|common| common == word)
}

/// Whether a text has a word in quotes and alone, or says that it is undefined.
fn singles_out(output: &str, word: &str) -> bool {
    output.match_indices(word).any(|(at, _)| {
        let (before, after) = (&output[..at], &output[at + word.len()..]);
        let quoted = ['\'', '"', '`']
            .iter()
            .any(|quote| before.ends_with(*quote) && after.starts_with(*quote));
        let undefined = before.ends_with(UNDEFINED)
            && after.chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '_');
        quoted || undefined
    })
}

/// Whether a text has a word, not only as a part of another.
pub(super) fn names(output: &str, symbol: &str) -> bool {
    !symbol.is_empty()
        && output.match_indices(symbol).any(|(at, _)| {
            let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
            let after = output[at + symbol.len()..].chars().next();
            edge(output[..at].chars().next_back()) && edge(after)
        })
}

#[cfg(test)]
mod tests {
    use super::{said, words};

    #[test]
    fn only_words_that_nobody_says_anyway_name_something() {
        let added = words(["def total_price(basket): raise ValueError('cannot')"].into_iter());
        for (output, wanted) in [
            ("cannot import name 'total_price' from 'basket'", &["basket", "total_price"][..]),
            ("ValueError: cannot", &[]),
            ("the totals_price of baskets", &[]),
        ] {
            let found: Vec<String> = said(output, &added).into_iter().collect();
            assert_eq!(found, wanted, "{output}");
        }
    }

    #[test]
    fn an_everyday_word_names_something_where_it_is_singled_out() {
        let added = words(["def total(values): pass"].into_iter());
        for (output, wanted) in [
            ("ImportError: cannot import name 'total' from 'basket'", &["total"][..]),
            ("error[E0425]: cannot find function `total` in this scope", &["total"]),
            ("./a_test.go:5:7: undefined: total", &["total"]),
            ("error: 'total' was not declared, \"values\" neither", &["total", "values"]),
            ("./a_test.go:5:7: undefined: totals", &[]),
            ("3 failed, 5 in total", &[]),
            ("the test 'total of values' fails", &[]),
            ("it's total, isn't it", &[]),
        ] {
            let found: Vec<String> = said(output, &added).into_iter().collect();
            assert_eq!(found, wanted, "{output}");
        }
    }
}

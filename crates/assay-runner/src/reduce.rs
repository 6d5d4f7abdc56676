//! Making a failing case smaller: delta debugging with complements.
//!
//! `reduce` looks for a part of a list that still fails and of which no single element can be left
//! out. It asks as rarely as it can, because every question is a whole trial, and it stops asking
//! when it may not ask any more: what it has then still fails, it is only not minimal.
//!
//! ```
//! use assay_runner::reduce::reduce;
//!
//! let needs_both = |part: &[u32]| part.contains(&3) && part.contains(&7);
//! let found = reduce(&[1, 2, 3, 4, 5, 6, 7, 8], 100, needs_both);
//! assert_eq!((found.kept, found.minimal), (vec![3, 7], true));
//! ```

/// What is left of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reduced<T> {
    /// The elements that are left, in their order.
    pub kept: Vec<T>,
    /// How many questions were asked.
    pub asked: usize,
    /// Whether each element is known to be needed.
    pub minimal: bool,
}

/// A smallest part of `all` for which `still_fails` says yes; `all` itself is known to fail.
pub fn reduce<T: Clone>(
    all: &[T],
    asked_max: usize,
    mut still_fails: impl FnMut(&[T]) -> bool,
) -> Reduced<T> {
    let mut kept = all.to_vec();
    let (mut asked, mut parts) = (0, 2);
    // Nothing at all is the best answer, and one question.
    if !kept.is_empty() && asked < asked_max {
        asked += 1;
        if still_fails(&[]) {
            return Reduced { kept: Vec::new(), asked, minimal: true };
        }
    }
    while kept.len() > 1 {
        parts = parts.min(kept.len());
        match step(&kept, parts, asked_max, &mut asked, &mut still_fails) {
            Step::Smaller(smaller, next) => (kept, parts) = (smaller, next),
            Step::Stuck if parts < kept.len() => parts = (parts * 2).min(kept.len()),
            Step::Stuck => return Reduced { kept, asked, minimal: true },
            Step::MayNotAsk => return Reduced { kept, asked, minimal: false },
        }
    }
    let minimal = kept.len() <= 1 && (asked > 0 || kept.is_empty());
    Reduced { kept, asked, minimal }
}

enum Step<T> {
    Smaller(Vec<T>, usize),
    Stuck,
    MayNotAsk,
}

/// Tries each of so many parts alone, then everything without it.
fn step<T: Clone>(
    kept: &[T],
    parts: usize,
    asked_max: usize,
    asked: &mut usize,
    still_fails: &mut impl FnMut(&[T]) -> bool,
) -> Step<T> {
    let bounds: Vec<(usize, usize)> = (0..parts)
        .map(|part| (part * kept.len() / parts, (part + 1) * kept.len() / parts))
        .collect();
    let alone = bounds.iter().map(|&(from, to)| (kept[from..to].to_vec(), 2));
    // With two parts, the rest of one is the other.
    let complements = bounds.iter().filter(|_| parts > 2).map(|&(from, to)| {
        let rest = [&kept[..from], &kept[to..]].concat();
        (rest, (parts - 1).max(2))
    });
    for (candidate, next) in alone.chain(complements) {
        if *asked >= asked_max {
            return Step::MayNotAsk;
        }
        *asked += 1;
        if still_fails(&candidate) {
            return Step::Smaller(candidate, next);
        }
    }
    Step::Stuck
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_fails_and_every_element_is_needed() {
        // All failing conditions "contains every element of a needed set" over ten elements.
        for needed in 0_u32..1 << 10 {
            let all: Vec<u32> = (0..10).collect();
            let fails = |part: &[u32]| {
                let mask = part.iter().fold(0, |mask, bit| mask | 1 << bit);
                needed & mask == needed
            };
            let found = reduce(&all, usize::MAX, fails);
            let kept = found.kept.iter().fold(0, |mask, bit| mask | 1 << bit);
            assert_eq!(kept, needed, "exactly what is needed");
            assert!(found.minimal);
            assert!(found.asked <= 10 * 10 + 20, "{} questions", found.asked);
        }
    }

    #[test]
    fn any_condition_gives_a_part_of_which_nothing_can_be_left_out() {
        // Conditions that are not monotone: fails exactly for the sets of this pseudo-random table.
        for seed in 0_u64..2_000 {
            let all: Vec<u32> = (0..6).collect();
            let mask = |part: &[u32]| part.iter().fold(0_u64, |mask, bit| mask | 1 << bit);
            let table = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (seed << 17);
            let fails = |part: &[u32]| mask(part) == 63 || table >> mask(part) & 1 == 1;
            let found = reduce(&all, usize::MAX, fails);
            assert!(fails(&found.kept) || found.kept.len() == 6);
            if found.kept.len() > 1 {
                for leave_out in 0..found.kept.len() {
                    let mut less = found.kept.clone();
                    less.remove(leave_out);
                    assert!(!fails(&less), "seed {seed}: {:?} without {leave_out}", found.kept);
                }
            }
        }
    }

    #[test]
    fn it_never_asks_more_often_than_it_may() {
        for asked_max in 0..12 {
            let mut asked = 0;
            let all: Vec<u32> = (0..32).collect();
            let found = reduce(&all, asked_max, |part| {
                asked += 1;
                part.contains(&5) && part.contains(&30)
            });
            assert!(asked <= asked_max && found.asked == asked);
            assert!(found.kept.contains(&5) && found.kept.contains(&30), "it still fails");
            assert!(!found.minimal);
        }
    }
}

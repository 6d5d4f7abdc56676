//! The whole product of facts: total, monotone, hardening only with everything, and the same as
//! the published tree. Run with `--nocapture` to see how many combinations that is.

use crate::published;
use crate::samples::all_good;
use crate::space::{self, DIMENSIONS, Point};
use assay_verdict::{Facts, Family, RULES, Verdict, verdict};
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// The table of verdicts is filled by this many threads, each its own part.
const THREADS: usize = 2;

/// The verdict of every point, by its number in `Verdict::ALL`.
fn verdicts() -> &'static [u8] {
    static VERDICTS: OnceLock<Vec<u8>> = OnceLock::new();
    VERDICTS.get_or_init(|| {
        let mut verdicts = vec![u8::MAX; space::size()];
        let chunk = space::size() / THREADS;
        std::thread::scope(|scope| {
            for (number, part) in verdicts.chunks_mut(chunk).enumerate() {
                scope.spawn(move || fill(part, number * chunk));
            }
        });
        verdicts
    })
}

fn fill(part: &mut [u8], from: usize) {
    let not_run: Vec<Facts> = (1..4).map(space::not_run).collect();
    let mut ran = Facts::Ran(Box::new(all_good()));
    let mut set_up: Option<(u8, [u8; 6])> = None;
    let mut point = space::point(from);
    for found in part {
        let facts = match (point[0], &mut ran) {
            (0, Facts::Ran(run)) => {
                let wanted = (point[9], point[10..].try_into().expect("six groups"));
                if set_up != Some(wanted) {
                    space::expensive(run, &point);
                    set_up = Some(wanted);
                }
                space::cheap(run, &point);
                &ran
            }
            (start, _) => &not_run[usize::from(start) - 1],
        };
        *found = verdict(facts) as u8;
        space::advance(&mut point);
    }
}

/// Every point with its index and verdict.
fn each(mut visit: impl FnMut(usize, &Point, u8)) {
    let mut point = space::point(0);
    for (index, &number) in verdicts().iter().enumerate() {
        visit(index, &point, number);
        space::advance(&mut point);
    }
}

fn named(number: u8) -> Verdict {
    Verdict::ALL[usize::from(number)]
}

#[test]
fn every_combination_has_a_verdict_and_each_verdict_occurs() {
    let verdicts = verdicts();
    println!("{} combinations of facts", verdicts.len());
    let mut counts = [0_usize; 10];
    for &number in verdicts {
        counts[usize::from(number)] += 1;
    }
    for (number, count) in counts.iter().enumerate() {
        println!("{count:>12} {}", Verdict::ALL[number]);
        assert!(*count > 0, "{} never occurs", Verdict::ALL[number]);
    }
}

#[test]
fn the_published_tree_read_a_second_time_agrees_everywhere() {
    each(|_, point, number| {
        let read = published::verdict(&space::flat(point));
        assert_eq!(named(number).name(), read, "{point:?} {:?}", space::flat(point));
    });
}

/// Every change of verdict that a single worse fact makes, each with a point where it happens.
struct Changes {
    pairs: usize,
    /// By dimension, verdict before, verdict after.
    found: Vec<[[Option<Point>; 10]; 10]>,
}

impl Changes {
    fn each(&self) -> impl Iterator<Item = (&'static str, Verdict, Verdict, Point)> {
        self.found.iter().zip(&DIMENSIONS).flat_map(|(table, dimension)| {
            let cells = table.iter().flatten().enumerate();
            cells.filter_map(|(at, point)| {
                let (before, after) = (Verdict::ALL[at / 10], Verdict::ALL[at % 10]);
                point.map(|point| (dimension.name, before, after, point))
            })
        })
    }
}

fn changes() -> &'static Changes {
    static CHANGES: OnceLock<Changes> = OnceLock::new();
    CHANGES.get_or_init(|| {
        let verdicts = verdicts();
        let steps = steps();
        let mut changes = Changes { pairs: 0, found: vec![[[None; 10]; 10]; DIMENSIONS.len()] };
        each(|index, point, number| {
            for at in 0..DIMENSIONS.len() {
                for &(worse, far) in &steps[at][usize::from(point[at])] {
                    if !space::comparable(at, point, worse) {
                        continue;
                    }
                    let after = verdicts[index.strict_add_signed(far)];
                    changes.pairs += 1;
                    if after != number {
                        changes.found[at][usize::from(number)][usize::from(after)] = Some(*point);
                    }
                }
            }
        });
        changes
    })
}

/// For each dimension and value: the worse values, and how far away in the table they are.
fn steps() -> Vec<Vec<Vec<(u8, isize)>>> {
    let mut steps = Vec::new();
    for (at, dimension) in DIMENSIONS.iter().enumerate() {
        let mut by_value = vec![Vec::new(); dimension.values];
        for &(better, worse) in dimension.worse {
            let far = (isize::from(worse as i8) - isize::from(better as i8)) * space::stride(at);
            by_value[usize::from(better)].push((worse, far));
        }
        steps.push(by_value);
    }
    steps
}

#[test]
fn making_a_fact_worse_never_gives_a_better_verdict() {
    for (fact, before, after, point) in changes().each() {
        assert!(
            after.level() <= before.level(),
            "{fact} got worse and {before} became {after}: {point:?}"
        );
    }
    println!("{} pairs of facts compared", changes().pairs);
}

/// Within a level, a worse fact may change the name. Only one such change looks like a step up,
/// and only where less was asked: the ADR on the order of verdicts says why it stays.
#[test]
fn only_a_smaller_question_turns_a_partial_into_a_pass() {
    let passes = |verdict: Verdict| verdict.family() == Family::Pass;
    let steps_up: BTreeSet<_> = changes()
        .each()
        .filter(|(_, before, after, _)| passes(*after) && !passes(*before))
        .map(|(fact, before, after, _)| (fact, before, after))
        .collect();
    let smaller = |fact| (fact, Verdict::PartialModel, Verdict::PassSmoke);
    let expected = BTreeSet::from([smaller("fault"), smaller("tier"), smaller("red flag 6")]);
    assert_eq!(steps_up, expected);
}

#[test]
fn hardening_needs_every_condition_and_nothing_else() {
    let mut hardened = 0;
    each(|_, p, number| {
        let serious = p[2] == 0;
        let calibrated = p[4] == 0 || (p[4] == 1 && !serious);
        let model = p[5] == 0 && p[6] == 0 && p[14] == 0 && p[15] == 0;
        let counted = [0, 1, 2, 3].contains(&p[6]);
        let conditions = p[0] == 0
            && p[1] == 0
            && p[9] == 1
            && p[3] == 0
            && calibrated
            && counted
            && p[5] != 3
            && (model || !serious)
            && p[7] <= 1
            && p[8] == 0
            && p[10..14] == [0, 0, 0, 0];
        assert_eq!(named(number) == Verdict::PassHardening, conditions, "{p:?}");
        hardened += usize::from(conditions);
    });
    println!("{hardened} of {} combinations are PASS-hardening", space::size());
}

#[test]
fn the_rules_stand_in_the_order_of_their_levels() {
    let levels: Vec<_> = RULES.iter().map(|rule| rule.verdict.level()).collect();
    assert!(levels.is_sorted(), "{levels:?}");
}

//! What the prover claims is true in every world: compared with a table of all of them.

use assay_guard::formula::{Formula, Order, Rel, Term, compare, implies, normal};

/// Numbers from a seed.
pub struct Dice(pub u64);

impl Dice {
    /// A number below a limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn made(dice: &mut Dice, depth: u32) -> Formula {
    let inner = |dice: &mut Dice| Box::new(made(dice, depth - 1));
    match dice.below(if depth == 0 { 4 } else { 10 }) {
        0 => Formula::Atom(Term::name(["p", "q"][dice.below(2) as usize])),
        1 | 2 => {
            let rel = [Rel::Lt, Rel::Le, Rel::Eq, Rel::Ne][dice.below(4) as usize];
            let (a, b) = (Term::name("x"), Term::number(dice.below(4) as f64));
            if dice.below(2) == 0 { Formula::Rel(rel, a, b) } else { Formula::Rel(rel, b, a) }
        }
        3 => [Formula::True, Formula::False][dice.below(2) as usize].clone(),
        4 => Formula::Not(inner(dice)),
        5 | 6 => Formula::And(vec![*inner(dice), *inner(dice)]),
        7 => Formula::Or(vec![*inner(dice), *inner(dice)]),
        8 => Formula::Implies(inner(dice), inner(dice)),
        _ => Formula::Iff(inner(dice), inner(dice)),
    }
}

/// A world: `p`, `q`, and `x` from -1 to 4.
type World = (bool, bool, f64);

fn worlds() -> Vec<World> {
    let mut all = Vec::new();
    for bits in 0..4 {
        for x in -1..5 {
            all.push((bits & 1 == 1, bits & 2 == 2, f64::from(x)));
        }
    }
    all
}

fn holds(formula: &Formula, world: World) -> bool {
    let value = |term: &Term| term.as_number().unwrap_or(world.2);
    match formula {
        Formula::True => true,
        Formula::False => false,
        Formula::Atom(term) => {
            if *term == Term::name("p") {
                world.0
            } else {
                world.1
            }
        }
        Formula::Rel(Rel::Lt, a, b) => value(a) < value(b),
        Formula::Rel(Rel::Le, a, b) => value(a) <= value(b),
        Formula::Rel(Rel::Eq, a, b) => value(a) == value(b),
        Formula::Rel(_, a, b) => value(a) != value(b),
        Formula::Not(f) => !holds(f, world),
        Formula::And(parts) => parts.iter().all(|f| holds(f, world)),
        Formula::Or(parts) => parts.iter().any(|f| holds(f, world)),
        Formula::Implies(a, b) => !holds(a, world) || holds(b, world),
        Formula::Iff(a, b) => holds(a, world) == holds(b, world),
        other => panic!("not made here: {other:?}"),
    }
}

#[test]
fn normal_forms_and_proofs_hold_in_every_world() {
    let mut dice = Dice(20_261_117);
    let worlds = worlds();
    let mut proven = 0;
    for _ in 0..4_000 {
        let (a, b) = (made(&mut dice, 4), made(&mut dice, 4));
        let (plain_a, plain_b) = (normal(&a), normal(&b));
        for world in &worlds {
            assert_eq!(holds(&a, *world), holds(&plain_a, *world), "{a:?}\n{plain_a:?}");
        }
        if implies(&plain_a, &plain_b) {
            proven += 1;
            let wrong = worlds.iter().find(|w| holds(&a, **w) && !holds(&b, **w));
            assert!(wrong.is_none(), "{a:?}\ndoes not imply\n{b:?}\nin {wrong:?}");
        }
        let implied =
            |x: &Formula, y: &Formula| worlds.iter().all(|w| !holds(x, *w) || holds(y, *w));
        match compare(&a, &b) {
            Order::Same => assert!(implied(&a, &b) && implied(&b, &a)),
            Order::Weaker => assert!(implied(&a, &b)),
            Order::Stronger => assert!(implied(&b, &a)),
            Order::Changed => {}
        }
    }
    assert!(proven > 200, "{proven} proofs are too few to mean anything");
}

#[test]
fn a_conjunct_more_is_always_stronger_and_an_alternative_always_weaker() {
    let mut dice = Dice(7);
    for _ in 0..500 {
        let a = made(&mut dice, 3);
        let extra = Formula::Atom(Term::name("another"));
        let more = Formula::And(vec![a.clone(), extra.clone()]);
        let less = Formula::Or(vec![a.clone(), extra]);
        // Of what never or always holds, nothing is stronger or weaker.
        let (some, all) = (
            worlds().iter().any(|world| holds(&a, *world)),
            worlds().iter().all(|world| holds(&a, *world)),
        );
        if some && !all {
            assert_eq!(compare(&a, &more), Order::Stronger, "{a:?}");
            assert_eq!(compare(&a, &less), Order::Weaker, "{a:?}");
            let not = |f: &Formula| Formula::Not(Box::new(f.clone()));
            assert_eq!(compare(&not(&a), &not(&more)), Order::Weaker, "{a:?}");
        }
    }
}

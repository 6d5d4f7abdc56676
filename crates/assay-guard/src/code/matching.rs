//! Which old function became which new one, and which old check which new one.

use super::inlining::{asked, inlined};
use super::model::{Check, Checks, Function, Kind};
use crate::formula::{self, Definitions, Formula, Rel, Term};
use std::collections::{BTreeMap, BTreeSet};

/// A function with its file.
#[derive(Clone, Copy)]
pub struct Located<'c> {
    /// The file.
    pub file: &'c str,
    /// The function.
    pub function: &'c Function,
    /// All of its file.
    pub checks: &'c Checks,
}

impl Located<'_> {
    /// `tests/a.py::test_b`.
    pub fn object(&self) -> String {
        format!("{}::{}", self.file, self.function.name)
    }
}

/// Pairs of functions, and what has no partner.
pub struct Paired<'c> {
    /// Old and new.
    pub both: Vec<(Located<'c>, Located<'c>)>,
    /// Old ones that are gone.
    pub gone: Vec<Located<'c>>,
    /// New tests that were no others before.
    pub come: Vec<Located<'c>>,
}

/// Places in a list by a key.
type Index = BTreeMap<String, Vec<usize>>;

/// Pairs functions: by place and name, by name, by what they do, by what they check.
pub fn pair<'c>(old: &[Located<'c>], new: &[Located<'c>]) -> Paired<'c> {
    let mut taken = vec![false; new.len()];
    let mut partner: Vec<Option<usize>> = vec![None; old.len()];
    let last = |f: &Function| f.name.rsplit("::").next().unwrap_or_default().to_string();
    let by_key = |key: &dyn Fn(&Located<'c>) -> Option<String>| {
        let mut index = Index::new();
        for (at, one) in new.iter().enumerate() {
            if let Some(key) = key(one) {
                index.entry(key).or_default().push(at);
            }
        }
        index
    };
    let named = by_key(&|one| Some(format!("{}\n{}", one.file, one.function.name)));
    let moved = by_key(&|one| (one.function.kind == Kind::Test).then(|| last(one.function)));
    let shaped =
        by_key(&|one| (!one.function.checks.is_empty()).then(|| one.function.shape.clone()));
    type Key<'k, 'c> = &'k dyn Fn(&Located<'c>) -> String;
    // Who kept both name and body is taken first, so that a new test under an old name does not
    // hide where the old one went.
    let kept = by_key(&|one| Some(unchanged(one)));
    let renamed = by_key(&|one| same_body(one));
    let passes: [(&Index, Key<'_, 'c>); 5] = [
        (&kept, &unchanged),
        (&renamed, &|one| same_body(one).unwrap_or_default()),
        (&named, &|one| format!("{}\n{}", one.file, one.function.name)),
        (&shaped, &|one| one.function.shape.clone()),
        (&moved, &|one| last(one.function)),
    ];
    for (index, key) in passes {
        for (at, one) in old.iter().enumerate() {
            if partner[at].is_some() {
                continue;
            }
            let options = index.get(&key(one)).into_iter().flatten();
            let found = options
                .copied()
                .find(|other| !taken[*other] && new[*other].function.kind == one.function.kind);
            if let Some(found) = found {
                taken[found] = true;
                partner[at] = Some(found);
            }
        }
    }
    for (at, one) in old.iter().enumerate() {
        if partner[at].is_some() || one.function.kind != Kind::Test {
            continue;
        }
        let free = (0..new.len()).filter(|other| !taken[*other]);
        let similar = free.filter(|other| new[*other].file == one.file && alike(one, &new[*other]));
        if let Some(found) = similar.min_by_key(|other| new[*other].function.line) {
            taken[found] = true;
            partner[at] = Some(found);
        }
    }
    let (mut both, mut gone) = (Vec::new(), Vec::new());
    for (one, found) in old.iter().zip(partner) {
        match found {
            Some(found) => both.push((*one, new[found])),
            None => gone.push(*one),
        }
    }
    let free = new.iter().zip(&taken).filter(|(_, taken)| !**taken).map(|(one, _)| *one);
    let come = free.filter(|one| one.function.kind == Kind::Test).collect();
    Paired { both, gone, come }
}

/// Place, name and body.
fn unchanged(one: &Located<'_>) -> String {
    format!("{}\n{}\n{}", one.file, one.function.name, one.function.shape)
}

/// Place and body, of tests that check something.
fn same_body(one: &Located<'_>) -> Option<String> {
    let tests = one.function.kind == Kind::Test && !one.function.checks.is_empty();
    tests.then(|| format!("{}\n{}", one.file, one.function.shape))
}

/// Whether two tests check much the same: at least half of it.
fn alike(old: &Located<'_>, new: &Located<'_>) -> bool {
    if new.function.kind != Kind::Test {
        return false;
    }
    let shown = |f: &Function| -> BTreeSet<Formula> {
        f.checks.iter().map(|c| inlined(&c.asks, &f.variables)).collect()
    };
    let (a, b) = (shown(old.function), shown(new.function));
    let common = a.intersection(&b).count();
    common > 0 && common * 2 >= a.len()
}

/// A check as it is compared.
#[derive(Clone)]
pub struct Seen<'c> {
    /// The check.
    pub check: &'c Check,
    /// As it is written.
    pub raw: Formula,
    /// With variables in the place of their values.
    pub inlined: Formula,
    /// The helper it stands in, if not in the function itself.
    pub helper: Option<&'c str>,
}

/// How deep helpers may call helpers.
const HELPERS_DEEP: usize = 3;

/// What names stand for in a function: its variables, and helpers that only yield a value.
pub fn known(of: &Located<'_>) -> Definitions {
    let helpers = of.checks.functions.iter().filter(|f| f.name != of.function.name);
    let mut all: Definitions = of.checks.constants.clone();
    all.extend(
        helpers.filter_map(|f| Some((f.name.rsplit("::").next()?.to_string(), f.yields.clone()?))),
    );
    all.extend(of.function.variables.clone());
    all
}

/// What a function checks: itself, and through helpers of its file.
pub fn seen<'c>(of: &Located<'c>) -> Vec<Seen<'c>> {
    let mut found = Vec::new();
    collect(of, of.function, &known(of), None, 0, &mut found);
    found
}

fn collect<'c>(
    of: &Located<'c>,
    function: &'c Function,
    variables: &Definitions,
    helper: Option<&'c str>,
    depth: usize,
    found: &mut Vec<Seen<'c>>,
) {
    let mut own = of.checks.constants.clone();
    own.extend(function.variables.clone());
    let written = asked(&own, function);
    // What a helper asserts is collected from the helper; its name says nothing more.
    let of_helper = |check: &Check| match &check.asks {
        Formula::Atom(Term::Apply(name, _)) => {
            name.strip_prefix("assertion ").is_some_and(|name| {
                of.checks.functions.iter().any(|f| {
                    let last = f.name.rsplit("::").next();
                    f.kind == Kind::Other && !f.checks.is_empty() && last == Some(name)
                })
            })
        }
        _ => false,
    };
    for check in function.checks.iter().filter(|check| !of_helper(check)) {
        found.push(Seen {
            check,
            raw: inlined(&check.asks, &written),
            inlined: inlined(&check.asks, variables),
            helper,
        });
    }
    if depth >= HELPERS_DEEP || of.function.kind != Kind::Test {
        return;
    }
    for (name, args) in &function.calls {
        let known = |f: &&Function| {
            let last = f.name.rsplit("::").next();
            f.kind == Kind::Other && last == Some(name) && !f.checks.is_empty()
        };
        let Some(inner) = of.checks.functions.iter().find(known) else { continue };
        if std::ptr::eq(inner, function) {
            continue;
        }
        let mut names = inner.variables.clone();
        // A method's arguments come after the object it is called on; Go's after the handle.
        for (parameter, arg) in inner.parameters.iter().rev().zip(args.iter().rev()) {
            let body = formula::expanded(arg, variables);
            names.insert(parameter.clone(), formula::Definition { parameters: Vec::new(), body });
        }
        collect(of, inner, &names, Some(inner.name.as_str()), depth + 1, found);
    }
}

/// Whether a new test does all that an old one did up to a line: an assertion after another
/// beginning is another assertion.
pub fn repeats(old: &Located<'_>, new: &Located<'_>, line: usize) -> bool {
    let (was, is) = (known(old), known(new));
    let mut done: BTreeSet<Term> = BTreeSet::new();
    let mut open: Vec<(&Function, usize)> = vec![(new.function, 0)];
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    while let Some((function, depth)) = open.pop() {
        if !seen.insert(&function.name) {
            continue;
        }
        done.extend(function.does.iter().map(|(_, call)| formula::expanded(call, &is)));
        for (name, _) in function.calls.iter().filter(|_| depth < HELPERS_DEEP) {
            let helper = |f: &&Function| {
                f.kind == Kind::Other && f.name.rsplit("::").next() == Some(name.as_str())
            };
            open.extend(new.checks.functions.iter().find(helper).map(|f| (f, depth + 1)));
        }
    }
    let before = old.function.does.iter().filter(|(at, _)| *at < line);
    before.map(|(_, call)| formula::expanded(call, &was)).all(|call| done.contains(&call))
}

/// What became of an old check.
pub enum Fate<'c> {
    /// Something at least as strict is there; whether it is stricter.
    Kept(Seen<'c>, bool),
    /// Something less strict is there.
    Weaker(Seen<'c>),
    /// Something else about the same is there.
    Changed(Seen<'c>),
    /// Nothing.
    Gone,
}

/// Whether putting values in the place of names left nothing to ask. That happens where
/// something is compared with itself; or with what it was before it was changed.
fn collapsed(one: &Seen<'_>) -> bool {
    let constant = |f: &Formula| matches!(f, Formula::True | Formula::False);
    constant(&one.inlined) && !constant(&one.raw)
}

/// Whether the second follows from the first by what stands in the place of their names.
fn follows_inlined(a: &Seen<'_>, b: &Seen<'_>) -> bool {
    !collapsed(a) && !collapsed(b) && formula::implies(&a.inlined, &b.inlined)
}

/// Whether the second reads the same and asks for less: one of its variables does.
fn loosened(a: &Seen<'_>, b: &Seen<'_>) -> bool {
    a.raw == b.raw && a.inlined != b.inlined && follows_inlined(a, b) && !follows_inlined(b, a)
}

fn same(a: &Seen<'_>, b: &Seen<'_>) -> bool {
    let reads = a.raw == b.raw && !loosened(a, b) && !loosened(b, a);
    // Where nothing is left to ask, names may differ, and nothing else.
    let alike = !collapsed(a) || strength(&a.raw) == strength(&b.raw);
    reads || a.inlined == b.inlined && alike
}

fn stronger(a: &Seen<'_>, b: &Seen<'_>) -> bool {
    !loosened(a, b) && (formula::implies(&b.raw, &a.raw) || follows_inlined(b, a))
}

fn weaker(a: &Seen<'_>, b: &Seen<'_>) -> bool {
    formula::implies(&a.raw, &b.raw)
        || follows_inlined(a, b)
        || about_same(a, b) && strength(&b.raw) < strength(&a.raw)
}

/// What became of each old check; and the new ones without a partner.
pub fn fates<'c>(old: &[Seen<'c>], new: &[Seen<'c>]) -> (Vec<Fate<'c>>, Vec<Seen<'c>>) {
    let mut taken = vec![false; new.len()];
    let mut fates: Vec<Option<Fate<'c>>> = old.iter().map(|_| None).collect();
    type Fits = fn(&Seen<'_>, &Seen<'_>) -> bool;
    // What reads the same and now compares a thing with itself is not the same.
    let emptied =
        |a: &Seen<'_>, b: &Seen<'_>| b.inlined == Formula::True && a.inlined != Formula::True;
    // Names in a helper are its own: first what stands in the same place.
    let same_place: Fits = |a, b| a.helper == b.helper && same(a, b);
    type Makes<'c> = fn(Seen<'c>) -> Fate<'c>;
    let passes: [(Fits, Makes<'c>); 5] = [
        (same_place, |seen| Fate::Kept(seen, false)),
        (same, |seen| Fate::Kept(seen, false)),
        (stronger, |seen| Fate::Kept(seen, true)),
        (weaker, Fate::Weaker),
        (about_same, Fate::Changed),
    ];
    let mut kept: Vec<bool> = Vec::new();
    for (pass, (fits, fate)) in passes.into_iter().enumerate() {
        match pass {
            2 => kept.clone_from(&taken),
            3 => covered(old, new, &kept, &mut fates),
            _ => {}
        }
        for (at, one) in old.iter().enumerate() {
            if fates[at].is_some() {
                continue;
            }
            let found = (0..new.len()).find(|other| {
                !taken[*other]
                    && new[*other].raw != Formula::True
                    && !emptied(one, &new[*other])
                    && fits(one, &new[*other])
            });
            if let Some(found) = found {
                taken[found] = true;
                fates[at] = Some(fate(new[found].clone()));
            }
        }
    }
    // A check that now always holds took the place of the one that is missing.
    for (at, fate) in fates.iter_mut().enumerate() {
        if fate.is_some() || old[at].raw == Formula::True {
            continue;
        }
        let holds = |other: &Seen<'_>| other.raw == Formula::True || emptied(&old[at], other);
        let found = (0..new.len()).find(|other| !taken[*other] && holds(&new[*other]));
        if let Some(found) = found {
            taken[found] = true;
            *fate = Some(Fate::Weaker(new[found].clone()));
        }
    }
    leftovers(old, new, &mut fates, &mut taken);
    let rest = new.iter().zip(&taken).filter(|(_, taken)| !**taken).map(|(seen, _)| seen.clone());
    let fates = fates.into_iter().zip(old).map(|(fate, one)| match fate {
        Some(fate) => fate,
        None if one.raw == Formula::True => Fate::Kept(one.clone(), false),
        None => Fate::Gone,
    });
    (fates.collect(), rest.collect())
}

/// One new assertion may say what several said before. Those that were there before say nothing
/// new: between two of them things may have changed.
fn covered<'c>(old: &[Seen<'c>], new: &[Seen<'c>], kept: &[bool], fates: &mut [Option<Fate<'c>>]) {
    for (one, fate) in old.iter().zip(fates.iter_mut()).filter(|(_, fate)| fate.is_none()) {
        let mut fresh = new.iter().zip(kept).filter(|(_, kept)| !**kept).map(|(seen, _)| seen);
        let says = |other: &&Seen<'_>| {
            let empty = matches!(other.raw, Formula::True | Formula::False) || collapsed(other);
            !empty && stronger(one, other)
        };
        *fate = fresh.find(says).map(|seen| Fate::Kept(seen.clone(), false));
    }
}

/// What is left is taken to have replaced what is missing, in order.
fn leftovers<'c>(
    old: &[Seen<'c>],
    new: &[Seen<'c>],
    fates: &mut [Option<Fate<'c>>],
    taken: &mut [bool],
) {
    for (at, one) in old.iter().enumerate() {
        if fates[at].is_some() || one.raw == Formula::True {
            continue;
        }
        // A helper that goes through what it is given may ask for several at once.
        let each = |seen: &&Seen<'_>| {
            seen.helper.is_some() && matches!(seen.raw, Formula::Quant { all: true, .. })
        };
        let Some(found) = taken.iter().position(|taken| !taken) else {
            fates[at] = new.iter().find(each).map(|seen| Fate::Changed(seen.clone()));
            continue;
        };
        taken[found] = true;
        let seen = new[found].clone();
        let less = strength(&seen.raw) < strength(&one.raw);
        fates[at] = Some(if less { Fate::Weaker(seen) } else { Fate::Changed(seen) });
    }
}

/// The terms a formula is about, without constants.
fn subjects(formula: &Formula) -> Vec<&Term> {
    let telling = |term: &&Term| match term {
        Term::Name(name) => {
            !name.starts_with('"') && !matches!(name.as_str(), "null" | "TRUE" | "FALSE")
        }
        Term::Number(_) => false,
        _ => true,
    };
    match formula {
        Formula::Atom(term) => match term {
            Term::Apply(name, args) if name.starts_with("matcher ") => {
                args.first().into_iter().collect()
            }
            term => vec![term],
        },
        Formula::Rel(_, a, b) => [a, b].into_iter().filter(telling).collect(),
        Formula::Not(inner) => subjects(inner),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().flat_map(subjects).collect(),
        Formula::Quant { body, domain, .. } => domain.iter().chain(subjects(body)).collect(),
        _ => Vec::new(),
    }
}

fn about_same(old: &Seen<'_>, new: &Seen<'_>) -> bool {
    let pairs = [(&old.raw, &new.raw), (&old.inlined, &new.inlined)];
    pairs.into_iter().any(|(a, b)| {
        let (a, b) = (subjects(a), subjects(b));
        a.iter().any(|x| b.iter().any(|y| x == y || part_of(x, y) || part_of(y, x)))
    })
}

/// Whether a term is `f(other)`, `other.x` or `len(other)`.
fn part_of(whole: &Term, part: &Term) -> bool {
    match whole {
        Term::Apply(name, args) => {
            let look = name == "len"
                || name.starts_with('.')
                || name == "at"
                || name.starts_with("call")
                || name == "calls"
                || name == "called";
            look && args.iter().any(|arg| arg == part || part_of(arg, part))
        }
        _ => false,
    }
}

/// How much a formula of this shape asks for, where no proof decides.
pub fn strength(formula: &Formula) -> u32 {
    match formula {
        Formula::True => 0,
        Formula::False => 60,
        Formula::Atom(Term::Apply(name, _)) if name.starts_with("matcher ") => 30,
        Formula::Atom(Term::Apply(name, _)) if name.starts_with("assertion ") => 30,
        Formula::Atom(_) => 20,
        Formula::Not(inner) => match &**inner {
            Formula::Atom(_) => 40,
            _ => 15,
        },
        Formula::Rel(rel, a, b) => relation(*rel, a, b),
        Formula::And(parts) => parts.iter().map(strength).max().unwrap_or(0) + 1,
        Formula::Or(parts) => parts.iter().map(strength).min().unwrap_or(0).saturating_sub(1),
        Formula::Quant { all: true, body, .. } => strength(body) + 2,
        Formula::Quant { all: false, body, .. } => strength(body).saturating_sub(2),
        _ => 30,
    }
}

fn relation(rel: Rel, a: &Term, b: &Term) -> u32 {
    let of_length =
        |t: &Term| matches!(t, Term::Apply(name, _) if name == "len" || name == "calls");
    let counted = of_length(a) || of_length(b);
    let empty = [a, b].iter().any(|t| t.as_number() == Some(0.0));
    match rel {
        Rel::Same => 52,
        // No elements at all is all there is to say about a collection.
        Rel::Eq if counted && !empty => 34,
        Rel::Eq => 50,
        Rel::Unordered => 45,
        Rel::Near(_) => 42,
        Rel::Fits => 32,
        Rel::In | Rel::SubsetEq | Rel::Subset => 30,
        Rel::Lt | Rel::Le if counted => 26,
        Rel::Lt | Rel::Le => 28,
        Rel::NotIn => 24,
        Rel::Ne => 18,
    }
}

//! Re-checks certificates. It shares no code with the oracles, so that a bug in one of them cannot
//! vouch for itself; a refutation is believed because these few pages say so.
//!
//! A certificate is a list of facts. [`verify`] (1) looks every fact up in the history (`facts`,
//! `streams`, `measures` and, for invariants, `formula`), and (2) checks with the table of rules
//! below that the facts together make an anomaly of the kind claimed: `before w d` and `sent w e`
//! must speak of the same `w`. In a rule a letter stands for an operation, a number or a value, the
//! same one wherever the letter occurs; `_` for anything; `..` for any number of things; `=word`
//! and digits for themselves. The fact `path` is matched by its first and its last operation.

mod facts;
mod formula;
mod measures;
mod streams;

use crate::contract::{Arg, Certificate, Fact};
use assay_history::History;

/// For each kind of anomaly, the sets of facts that make one.
const RULES: &[(&str, &[&str])] = &[
    (
        "own-write-not-seen",
        &[
            "writes a; reads b; session a b; key a b; version a n; version b m; below m n",
            "session a b; key a b; known a; initial b",
            "writes a; writes b; session a b; session b r; key a b; key b r; returns r a",
        ],
    ),
    (
        "non-monotonic-read",
        &[
            "reads a; reads b; session a b; key a b; version a n; version b m; below m n",
            "session a b; key a b; known a; initial b",
            "session a b; session b c; key a b; key b c; once a; same a c; differ a b",
        ],
    ),
    (
        "writes-reordered",
        &["writes a; writes b; session a b; key a b; version a n; version b m; below m n"],
    ),
    (
        "write-before-read",
        &["reads a; writes b; session a b; key a b; version a n; version b m; atmost m n"],
    ),
    ("causal-cycle", &["path a a"]),
    (
        "causal-overwrite",
        &[
            "path w r; key w r; writes w; initial r",
            "path w r; key w r; writes w; returns r s; path s w",
        ],
    ),
    ("phantom-read", &["unwritten r"]),
    (
        "lost-ack",
        &[
            "ok w; before w d _; sent w p e; holds d w p e 0; kept w",
            "ok w; before w d _; cannot_be_last d w _ _",
            "ok w; before w d _; sent w = e; not_in_log d e",
        ],
    ),
    ("duplicate-effect", &["twice a b p e"]),
    ("repeated-delivery", &["twice d d p e"]),
    ("missing-effect", &["ok w; before w d _; sent w p e; holds d d p e 0"]),
    ("effect-of-rejected", &["rejected a v p e"]),
    (
        "duplicate",
        &[
            "twice a b = e",
            "more_often_than_sent e ..",
            "entry a n e; entry b m e; appended_once a e; key a b; unequal n m",
        ],
    ),
    ("duplicated", &["twice r r = e"]),
    ("inserted", &["unsent v e"]),
    ("phantom", &["unsent v e"]),
    (
        "reordered",
        &[
            "ok x; ordered x y; delivered y s; delivered x t; apart y s x t _",
            "before x y _; delivered y s; delivered x t; before s t _; sole x; sole y",
        ],
    ),
    ("skipped", &["ok x; ordered x y; delivered y t; never_delivered x t y _"]),
    ("lost", &["knows k e; before k r _; holds r r = e 0; unremoved r", "nowhere d _ .."]),
    ("stale", &["knows k e; before k r _; holds r r = e 0; unremoved r"]),
    ("offset-gap", &["gap r _ _"]),
    ("divergence", &["key a b; entry_differs a b _"]),
    ("truncated", &["before s r _; key s r; reaches s n; ends r m; below m n"]),
    ("replay-differs", &["ok a; ok b; differ_at a b _"]),
    ("replicas-differ", &["ok a; ok b; differ_at a b _"]),
    ("invariant-broken", &["false d _; term d _ _ _"]),
    ("wrong-total", &["total r n; unequal n m"]),
    ("negative-balance", &["negative r _ _"]),
    ("wrong-balance", &["moved_wrong a b .."]),
    ("balance-too-low", &["out_of_bounds r .."]),
    ("balance-too-high", &["out_of_bounds r .."]),
    ("double-spend", &["overspent d .."]),
    ("two-holders", &["holding a t ..; holding b t ..; key a b; other_process a b"]),
    ("release-not-held", &["never_acquired r"]),
    ("token-not-rising", &["before a b _; key a b; token a n; token b m; atmost m n"]),
    ("stale-token-accepted", &["before a b _; key a b; token a n; token b m; below m n"]),
    ("never-joined", &["never_joined v e"]),
    ("member-twice", &["twice v v = e"]),
    ("member-missing", &["verb c =join; last_change c e _; before c v _; lists v e 0"]),
    ("ghost-member", &["verb c =leave; last_change c e _; before c v _; lists v e 1"]),
    ("views-disagree", &["lists a e n; lists b e m; unequal n m; settled_member a b e"]),
    ("group-slow", &["group_measure =latency .."]),
    ("group-starved", &["group_measure =throughput .."]),
    ("group-failing", &["group_measure =error-rate .."]),
    ("group-unsteady", &["group_measure =spread .."]),
    (
        "latency-exceeded",
        &["window_measure =p50 ..", "window_measure =p99 ..", "window_measure =p999 .."],
    ),
    ("too-many-errors", &["window_measure =error-rate .."]),
    ("unavailable", &["window_measure =availability .."]),
    ("too-slow-overall", &["window_measure =throughput .."]),
    ("regression", &["mean_ratio _ _"]),
    ("answers-differ", &["reference_differs a b"]),
    ("assertion-failed", &["assert_failed a"]),
];

/// Why a certificate is not believed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum VerifyError {
    /// A fact is not true of the history, or does not make sense.
    #[error("the fact `{0}` is not true of this history")]
    Untrue(String),
    /// The facts do not make an anomaly of this kind.
    #[error("these facts do not make an anomaly of the kind `{0}`")]
    NotEnough(String),
}

/// Re-checks a certificate against the history it is about; `reference` is the other history where
/// two were compared.
///
/// # Errors
/// The first fact that does not hold, or that the facts do not add up.
pub fn verify(
    history: &History,
    reference: Option<&History>,
    certificate: &Certificate,
) -> Result<(), VerifyError> {
    for fact in &certificate.facts {
        let fine = facts::holds(history, reference, fact).unwrap_or(false);
        if !fine {
            return Err(VerifyError::Untrue(words(fact)));
        }
    }
    let rules = RULES.iter().find(|(kind, _)| *kind == certificate.kind).map(|(_, rules)| *rules);
    let fits = |rule: &&'static str| {
        let wanted: Vec<Vec<&str>> =
            rule.split(';').map(|fact| fact.split_whitespace().collect()).collect();
        unify(&wanted, &certificate.facts, &mut Vec::new())
    };
    match rules.unwrap_or_default().iter().any(fits) {
        true => Ok(()),
        false => Err(VerifyError::NotEnough(certificate.kind.to_string())),
    }
}

/// Whether each wanted fact is among the facts, with letters that mean the same everywhere.
fn unify<'a>(wanted: &[Vec<&'a str>], facts: &[Fact], bound: &mut Vec<(&'a str, Arg)>) -> bool {
    let Some((first, rest)) = wanted.split_first() else { return true };
    facts.iter().any(|fact| {
        let before = bound.len();
        let found = matches(first, fact, bound) && unify(rest, facts, bound);
        if !found {
            bound.truncate(before);
        }
        found
    })
}

fn matches<'a>(wanted: &[&'a str], fact: &Fact, bound: &mut Vec<(&'a str, Arg)>) -> bool {
    if wanted[0] != fact.claim {
        return false;
    }
    let ends: Vec<Arg> = match (&*fact.claim, fact.args.first(), fact.args.last()) {
        ("path", Some(first), Some(last)) => vec![first.clone(), last.clone()],
        _ => fact.args.clone(),
    };
    let mut letters = wanted[1..].to_vec();
    let open_end = letters.last() == Some(&"..");
    letters.retain(|letter| *letter != "..");
    if ends.len() < letters.len() || (!open_end && ends.len() > letters.len()) {
        return false;
    }
    letters.iter().zip(&ends).all(|(&letter, arg)| match letter {
        "_" => true,
        _ if letter.starts_with('=') => *arg == Arg::Text(letter[1..].to_string()),
        _ => match letter.parse::<i64>() {
            Ok(number) => *arg == Arg::Int(number),
            Err(_) => match bound.iter().find(|(name, _)| *name == letter) {
                Some((_, value)) => value == arg,
                None => {
                    bound.push((letter, arg.clone()));
                    true
                }
            },
        },
    })
}

fn words(fact: &Fact) -> String {
    let arg = |arg: &Arg| match arg {
        Arg::Op(op) => format!("#{}", op.0),
        Arg::Int(int) => int.to_string(),
        Arg::Real(real) => real.to_string(),
        Arg::Text(text) => format!("{text:?}"),
    };
    let args: Vec<String> = fact.args.iter().map(arg).collect();
    format!("{} {}", fact.claim, args.join(" "))
}

//! Locks and leases: never two holders, and fencing tokens that rise.
//!
//! `acquire` and `release` of a key by a process; of leases also `renew`; `use` (input: a token) at
//! the guarded resource. A process *certainly* holds from the end of a successful acquire to the
//! beginning of its next release that may have worked, and a lease no longer than its declared time
//! to live, counted from the **beginning** of the acquire or renewal and shortened by the declared
//! clock skew. Two processes that certainly hold at once break the promise. An acquire of unknown
//! outcome holds nothing for certain, a release of unknown outcome may have released: neither can
//! hide nor invent a second holder.

use crate::built_in::{BuiltIn, Check};
use crate::contract::{OracleError, OracleInfo};
use crate::draft::{Draft, Plant};
use crate::fact;
use crate::options::Options;
use crate::table::{Row, Table, count, group_by};
use crate::tally::real_time;
use assay_history::{NEVER, OpIndex, ProcessId, ValueId};
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashMap;

/// A span in which a process certainly holds.
#[derive(Clone, Copy)]
struct Holding {
    process: ProcessId,
    from: i64,
    to: i64,
    /// The acquire, or the renewal that prolonged it.
    by: OpIndex,
}

fn run(check: &mut Check<'_, '_>, ttl: Option<i64>) -> Result<(), OracleError> {
    let table = check.table;
    let Some(margin) = real_time(table, check.options.clock_skew_ns, check.tally) else {
        return Ok(());
    };
    let verbs = ["acquire", "renew", "release", "use"];
    let rows = table.rows.iter().filter(|row| verbs.contains(&row.verb) && row.possible());
    for (_, rows) in group_by(rows, |row| row.key) {
        let holdings = holdings(check, &rows, ttl);
        let holders = holdings.iter().filter(|holding| holding.from < holding.to).count();
        check.tally.checked(holders);
        check.tally.evidence(format!("{} spans of certain holding", count(holders)));
        two_holders(check, holdings, ttl, margin);
        not_held(check, &rows);
        tokens(check, &rows, margin);
    }
    Ok(())
}

fn lease(check: &mut Check<'_, '_>) -> Result<(), OracleError> {
    match check.options.lease_ttl_ns {
        Some(ttl) => run(check, Some(ttl)),
        None => Err(OracleError::OptionMissing {
            oracle: "lease",
            option: "lease-ttl",
            why: "how long a lease lasts; without it nobody certainly holds one",
        }),
    }
}

/// All spans of certain holding of one lock.
fn holdings(check: &Check<'_, '_>, rows: &[&Row<'_>], ttl: Option<i64>) -> Vec<Holding> {
    let skew = check.options.clock_skew_ns.unwrap_or(0);
    let expiry = |row: &Row<'_>| match ttl {
        Some(ttl) => row.start.saturating_add(ttl).saturating_sub(skew),
        None => NEVER,
    };
    let mut all: Vec<Holding> = Vec::new();
    let mut open: FxHashMap<ProcessId, usize> = FxHashMap::default();
    for row in rows {
        let current = open.get(&row.process).copied();
        match row.verb {
            // An output of false says that it was not granted.
            "acquire" | "renew" if row.ok() && row.output != ValueId::FALSE => {
                // Renewing prolongs what is held; it proves holding from its own end on anyway.
                if let Some(current) = current {
                    all[current].to = all[current].to.min(row.end);
                }
                open.insert(row.process, all.len());
                let (process, by) = (row.process, row.index);
                all.push(Holding { process, from: row.end, to: expiry(row), by });
            }
            "release" => {
                if let Some(current) = open.remove(&row.process) {
                    all[current].to = all[current].to.min(row.start);
                }
            }
            _ => {}
        }
    }
    all
}

fn two_holders(
    check: &mut Check<'_, '_>,
    mut holdings: Vec<Holding>,
    ttl: Option<i64>,
    margin: i64,
) {
    let table = check.table;
    // Clocks that differ make every span shorter at both ends.
    for holding in &mut holdings {
        holding.from = holding.from.saturating_add(margin);
        if holding.to != NEVER {
            holding.to = holding.to.saturating_sub(margin);
        }
    }
    holdings.retain(|holding| holding.from < holding.to);
    holdings.sort_by_key(|holding| (holding.from, holding.by));
    // The holding that lasts longest so far: whatever it hides overlapped it and was reported.
    let mut longest: Option<Holding> = None;
    for next in holdings {
        let other = longest.filter(|held| held.process != next.process && held.to > next.from);
        if let Some(held) = other {
            let at = next.from;
            let facts = || {
                let (ttl, skew) = (ttl.unwrap_or(-1), check.options.clock_skew_ns.unwrap_or(0));
                vec![
                    fact!("holding", held.by, at, margin, ttl, skew),
                    fact!("holding", next.by, at, margin, ttl, skew),
                    fact!("key", held.by, next.by),
                    fact!("other_process", held.by, next.by),
                ]
            };
            check.tally.anomaly("two-holders", &[held.by, next.by], facts, || {
                format!(
                    "at {at} both client {} (by {}) and client {} (by {}) certainly held it",
                    table.process(held.process),
                    table.say(held.by),
                    table.process(next.process),
                    table.say(next.by)
                )
            });
        }
        longest = longest.filter(|held| held.to >= next.to).or(Some(next));
    }
}

/// Releases that worked for a process that can never have held.
fn not_held(check: &mut Check<'_, '_>, rows: &[&Row<'_>]) {
    let table = check.table;
    let mut tried: FxHashMap<ProcessId, bool> = FxHashMap::default();
    let mut releases: Vec<&Row<'_>> = Vec::new();
    for row in rows {
        match row.verb {
            "acquire" => {
                tried.insert(row.process, true);
            }
            "release" if row.ok() && !tried.contains_key(&row.process) => releases.push(row),
            _ => {}
        }
    }
    // A process with an acquire that began later in the records still never held before.
    for row in releases {
        let facts = || vec![fact!("never_acquired", row.index)];
        check.tally.checked(1);
        check.tally.anomaly("release-not-held", &[row.index], facts, || {
            format!("{} succeeded, but that client never tried to acquire it", table.say(row.index))
        });
    }
}

/// A fencing token: the output of an acquire, or its field `token`.
fn token(table: &Table<'_>, row: &Row<'_>) -> Option<i64> {
    let value = if row.verb == "use" { row.input } else { row.output };
    let value = table.values.field(value, "token").unwrap_or(value);
    table.values.as_int(value)
}

/// Tokens must rise from one acquire to the next, and the resource must not accept old ones.
fn tokens(check: &mut Check<'_, '_>, rows: &[&Row<'_>], margin: i64) {
    let table = check.table;
    for (verb, kind) in [("acquire", "token-not-rising"), ("use", "stale-token-accepted")] {
        let mut by_start: Vec<(&Row<'_>, i64)> = rows
            .iter()
            .filter(|row| row.ok() && row.verb == verb)
            .filter_map(|row| token(table, row).map(|token| (*row, token)))
            .collect();
        by_start.sort_by_key(|(row, _)| (row.start, row.index));
        let mut by_end = by_start.clone();
        by_end.sort_by_key(|(row, _)| (row.end, row.index));
        check.tally.checked(if verb == "use" { by_start.len() } else { 0 });
        let mut ended = by_end.into_iter().peekable();
        let mut highest: Option<(&Row<'_>, i64)> = None;
        for (row, token) in by_start {
            while let Some(next) =
                ended.next_if(|(earlier, _)| earlier.end.saturating_add(margin) < row.start)
            {
                highest = highest.filter(|best| best.1 >= next.1).or(Some(next));
            }
            let Some((before, older)) = highest else { continue };
            // The same holder may be given its token again; the resource sees one many times.
            let again = verb == "use" || before.process == row.process;
            if token > older || (token == older && again) {
                continue;
            }
            let facts = || {
                vec![
                    fact!("before", before.index, row.index, margin),
                    fact!("key", before.index, row.index),
                    fact!("token", before.index, older),
                    fact!("token", row.index, token),
                    fact!(if verb == "use" { "below" } else { "atmost" }, token, older),
                ]
            };
            check.tally.anomaly(kind, &[before.index, row.index], facts, || {
                format!(
                    "{} has token {token}, but {} had {older} and was over before",
                    table.say(row.index),
                    table.say(before.index)
                )
            });
        }
    }
}

/// A release that worked was never sent, so that the next holder finds the lock taken.
fn forget_release(draft: &mut Draft, rng: &mut ChaCha8Rng) -> bool {
    let Some(at) = draft.pick(&["release"], rng) else { return false };
    draft.ops[at].op.error = ValueId::TRUE;
    true
}

/// An acquire is given the first token there was.
fn old_token(draft: &mut Draft, rng: &mut ChaCha8Rng) -> bool {
    let Some(at) = draft.pick(&["acquire"], rng) else { return false };
    let fits = at > 0 && draft.values.as_int(draft.ops[at].op.output).is_some();
    if fits {
        draft.ops[at].op.output = draft.values.int(-1);
    }
    fits
}

const NEEDS: &str = "`acquire` (output: a fencing token, or null; false: not granted) and \
    `release` by process and key; `renew` for leases; `use` (input: the token) at the guarded \
    resource; the option `clock-skew` if clocks differ";
const KINDS: &[&str] =
    &["two-holders", "release-not-held", "token-not-rising", "stale-token-accepted"];
const PLANTS: &[Plant] = &[
    Plant { kind: "two-holders", apply: forget_release },
    Plant { kind: "token-not-rising", apply: old_token },
];

pub(crate) static LOCK: BuiltIn = BuiltIn {
    info: &OracleInfo {
        name: "lock",
        aliases: &["mutual-exclusion", "exclusion"],
        patterns: &[12],
        claim: "at no time do two processes hold the lock; fencing tokens rise",
        needs: NEEDS,
        algorithm: "spans of certain holding, swept by start with the longest so far; tokens \
                    against the highest token of everything that ended before",
        cost: "O(n log n)",
        cannot_see: "two holders whose spans are not certain; a lock taken twice by one process \
                     (it may be reentrant); what holders do without the lock",
        failure_mode: "a release or acquire that timed out counted as done or as not done",
        kinds: KINDS,
    },
    run: |check| run(check, None),
    example_options: Options::default,
    good: "0 acquire l - ok 1\n0 release l - unknown\n1 acquire l - ok 2\n2 acquire l - unknown",
    bad: "0 acquire l - ok 1\n1 acquire l - ok 2",
    plants: PLANTS,
};

pub(crate) static LEASE: BuiltIn = BuiltIn {
    info: &OracleInfo {
        name: "lease",
        aliases: &["leases"],
        patterns: &[12],
        claim: "at no time do two processes hold an unexpired lease; fencing tokens rise",
        needs: "as `lock`, with the option `lease-ttl`",
        algorithm: "as `lock`, with spans that end when the lease expires at the earliest",
        cost: "O(n log n)",
        cannot_see: "as `lock`; leases whose time to live differs from the declared one",
        failure_mode: "times too coarse for the time to live, or clocks that differ by more than \
                       the declared skew",
        kinds: KINDS,
    },
    run: lease,
    example_options: || Options { lease_ttl_ns: Some(100), ..Options::default() },
    good: "0 acquire l - ok 1 @0..5\n0 renew l 1 ok @50..55\n1 acquire l - ok 2 @160..165",
    bad: "0 acquire l - ok 1 @0..5\n0 renew l 1 ok @50..55\n1 acquire l - ok 2 @120..125",
    plants: PLANTS,
};

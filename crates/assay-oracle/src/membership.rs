//! Membership: what nodes believe about who belongs to the cluster.
//!
//! `join` and `leave` (the member is the input, or the key if there is no input) and `view`
//! (output: list of members; `node_seen`: whose view). At any time a view must not show a member
//! that never tried to join. At rest, once all joins and leaves are over, the last views must
//! agree, show every member that certainly belongs and none that certainly left. A join or leave
//! of unknown outcome makes its member uncertain: it is judged neither way.

use crate::built_in::{BuiltIn, Check};
use crate::contract::{OracleError, OracleInfo};
use crate::draft::{Draft, Plant};
use crate::durable::counts;
use crate::fact;
use crate::options::Options;
use crate::table::{Row, count, group_by};
use crate::tally::real_time;
use assay_history::{NEVER, OpIndex, ValueId};
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// What is known about a member once all changes are over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    In,
    Out,
    Uncertain,
}

fn member(row: &Row<'_>) -> ValueId {
    if row.input.is_null() { row.key } else { row.input }
}

fn run(check: &mut Check<'_, '_>) -> Result<(), OracleError> {
    let table = check.table;
    let is_change = |row: &&Row<'_>| ["join", "leave"].contains(&row.verb) && row.possible();
    let changes: Vec<&Row<'_>> = table.rows.iter().filter(is_change).collect();
    let is_view = |row: &&Row<'_>| {
        row.ok() && row.verb == "view" && table.values.as_list(row.output).is_some()
    };
    let views: Vec<&Row<'_>> = table.rows.iter().filter(is_view).collect();
    check.tally.checked(views.len());
    strangers(check, &changes, &views);
    let Some(margin) = real_time(table, check.options.clock_skew_ns, check.tally) else {
        return Ok(());
    };
    at_rest(check, &changes, &views, margin);
    check.tally.evidence(format!(
        "{} views against {} joins and leaves",
        count(views.len()),
        count(changes.len())
    ));
    Ok(())
}

fn at_start(check: &Check<'_, '_>, name: &str) -> bool {
    check.options.members_at_start.iter().any(|member| member == name)
}

/// Members nobody tried to add, and members listed twice.
fn strangers(check: &mut Check<'_, '_>, changes: &[&Row<'_>], views: &[&Row<'_>]) {
    let table = check.table;
    // When each member may have joined, at the earliest.
    let mut joins: FxHashMap<ValueId, i64> = FxHashMap::default();
    for join in changes.iter().filter(|row| row.verb == "join") {
        let first = joins.entry(member(join)).or_insert(NEVER);
        *first = (*first).min(join.start);
    }
    for view in views {
        let items = table.values.as_list(view.output).unwrap_or_default();
        let mut counted: Vec<(String, ValueId, usize)> =
            counts(items).into_iter().map(|(m, times)| (table.name(m), m, times)).collect();
        counted.sort();
        for (name, item, times) in counted {
            let text = table.text(item);
            if times > 1 {
                let facts = || vec![fact!("twice", view.index, view.index, "", text.clone())];
                check.tally.anomaly("member-twice", &[view.index], facts, || {
                    format!("{} lists {name} {times} times", table.say(view.index))
                });
            }
            if joins.contains_key(&item) || at_start(check, &name) {
                continue;
            }
            let facts = || vec![fact!("never_joined", view.index, text.clone())];
            check.tally.anomaly("never-joined", &[view.index], facts, || {
                format!("{} lists {name}, which never tried to join", table.say(view.index))
            });
        }
    }
}

/// Judges the last view of every node, if it was taken when all changes were over.
fn at_rest(check: &mut Check<'_, '_>, changes: &[&Row<'_>], views: &[&Row<'_>], margin: i64) {
    let known_end = |row: &&&Row<'_>| row.end != NEVER;
    let over = changes.iter().filter(known_end).map(|row| row.end).max().unwrap_or(i64::MIN);
    let mut last: Vec<&Row<'_>> = group_by(views.iter().copied(), |row| row.node)
        .into_iter()
        .filter_map(|(_, views)| views.into_iter().max_by_key(|row| (row.start, row.index)))
        .collect();
    let all = last.len();
    last.retain(|view| view.start > over.saturating_add(margin) || over == i64::MIN);
    if last.len() < all {
        check.tally.undecided(format!(
            "the last views of {} nodes were taken before all joins and leaves were over",
            count(all - last.len())
        ));
    }
    let standings = standings(check, changes, margin);
    for view in &last {
        missing_and_ghosts(check, changes, &standings, view, margin);
    }
    disagreement(check, &standings, &last);
}

/// Where each member stands at the end, by name.
fn standings(
    check: &Check<'_, '_>,
    changes: &[&Row<'_>],
    margin: i64,
) -> BTreeMap<String, (ValueId, Standing)> {
    let table = check.table;
    let mut all = BTreeMap::new();
    for (id, rows) in group_by(changes.iter().copied(), member) {
        let unknown = rows.iter().any(|row| row.end == NEVER);
        // The last change counts if it certainly came after all others of this member.
        let last = rows.iter().max_by_key(|row| (row.start, row.index)).expect("groups have rows");
        let others = rows.iter().filter(|row| row.index != last.index);
        let ordered = others.clone().all(|row| row.end.saturating_add(margin) < last.start);
        let standing = match (unknown || !ordered, last.verb) {
            (true, _) => Standing::Uncertain,
            (false, "join") => Standing::In,
            _ => Standing::Out,
        };
        all.insert(table.name(id), (id, standing));
    }
    all
}

/// The last join or leave of a member.
fn last_change(changes: &[&Row<'_>], id: ValueId) -> OpIndex {
    let of_member = changes.iter().filter(|row| member(row) == id);
    let last = of_member.max_by_key(|row| (row.start, row.index));
    last.expect("a member with a standing has a change").index
}

fn missing_and_ghosts(
    check: &mut Check<'_, '_>,
    changes: &[&Row<'_>],
    standings: &BTreeMap<String, (ValueId, Standing)>,
    view: &Row<'_>,
    margin: i64,
) {
    let table = check.table;
    let listed: BTreeSet<String> =
        table.items(view.output).into_iter().map(|item| table.name(item)).collect();
    for (name, &(id, standing)) in standings {
        let kind = match (standing, listed.contains(name)) {
            (Standing::In, false) => "member-missing",
            (Standing::Out, true) => "ghost-member",
            _ => continue,
        };
        let change = last_change(changes, id);
        let (text, times) = (table.text(id), usize::from(standing == Standing::Out));
        let facts = || {
            vec![
                fact!("last_change", change, text.clone(), margin),
                fact!("before", change, view.index, margin),
                fact!("lists", view.index, text.clone(), times),
                fact!("verb", change, table.row(change).verb),
            ]
        };
        check.tally.anomaly(kind, &[change, view.index], facts, || {
            let words = if standing == Standing::In { "does not list" } else { "still lists" };
            format!("{} {words} {name} after {}", table.say(view.index), table.say(change))
        });
    }
}

/// Two nodes at rest that believe different things of a member whose standing is certain.
fn disagreement(
    check: &mut Check<'_, '_>,
    standings: &BTreeMap<String, (ValueId, Standing)>,
    last: &[&Row<'_>],
) {
    let table = check.table;
    let nodes: Vec<&&Row<'_>> = last.iter().filter(|view| !view.node.is_null()).collect();
    let [first, rest @ ..] = &nodes[..] else { return };
    let set = |view: &Row<'_>| -> BTreeMap<String, ValueId> {
        table.items(view.output).into_iter().map(|item| (table.name(item), item)).collect()
    };
    let of_first = set(first);
    for view in rest {
        let other = set(view);
        let mut names: BTreeSet<&String> = of_first.keys().collect();
        names.extend(other.keys());
        let uncertain = |name: &String| {
            standings.get(name).is_some_and(|(_, standing)| *standing == Standing::Uncertain)
        };
        let differs = |name: &&&String| {
            of_first.contains_key(**name) != other.contains_key(**name) && !uncertain(name)
        };
        let Some(name) = names.iter().find(differs) else { continue };
        let id = of_first.get(*name).or(other.get(*name)).expect("one of them lists it");
        let text = table.text(*id);
        let facts = || {
            let (one, two) = (of_first.contains_key(*name), other.contains_key(*name));
            vec![
                fact!("lists", first.index, text.clone(), usize::from(one)),
                fact!("lists", view.index, text.clone(), usize::from(two)),
                fact!("unequal", i64::from(one), i64::from(two)),
                fact!("settled_member", first.index, view.index, text.clone()),
            ]
        };
        check.tally.anomaly("views-disagree", &[first.index, view.index], facts, || {
            format!(
                "{} and {} disagree about {name}",
                table.say(first.index),
                table.say(view.index)
            )
        });
    }
}

fn forget_member(draft: &mut Draft, rng: &mut ChaCha8Rng) -> bool {
    let Some(at) = draft.pick(&["view"], rng) else { return false };
    draft.edit_list(at, rng, |items, _| items.pop().is_some())
}

fn strange_member(draft: &mut Draft, rng: &mut ChaCha8Rng) -> bool {
    let Some(at) = draft.pick(&["view"], rng) else { return false };
    let fresh = draft.fresh(rng);
    draft.edit_list(at, rng, |items, _| {
        items.push(fresh);
        true
    })
}

pub(crate) static MEMBERSHIP: BuiltIn = BuiltIn {
    info: &OracleInfo {
        name: "membership",
        aliases: &["membership-table", "views"],
        patterns: &[13],
        claim: "views agree at rest, list every member that joined, and nobody who did not",
        needs: "`join`/`leave` (input or key: the member) and `view` (output: list; `node_seen`: \
                whose view); the option `members-at-start`",
        algorithm: "each view against all joins; the last view of each node against the last \
                    change of each member",
        cost: "O(n + size of the views)",
        cannot_see: "how long a view lagged behind; members whose last change is of unknown \
                     outcome",
        failure_mode: "views compared before the last change is over: undecided",
        kinds: &[
            "never-joined",
            "member-twice",
            "member-missing",
            "ghost-member",
            "views-disagree",
        ],
    },
    run,
    example_options: Options::default,
    good: "0 join - n1 ok\n0 join - n2 ok\n0 leave - n1 ok\n0 join - n3 unknown\n\
           1 view - - ok [\"n2\"] node=n2\n2 view - - ok [\"n2\",\"n3\"] node=n3",
    bad: "0 join - n1 ok\n0 join - n2 ok\n1 view - - ok [\"n1\",\"n2\"] node=n1\n\
          2 view - - ok [\"n2\"] node=n2",
    plants: &[
        Plant { kind: "member-missing", apply: forget_member },
        Plant { kind: "never-joined", apply: strange_member },
    ],
};

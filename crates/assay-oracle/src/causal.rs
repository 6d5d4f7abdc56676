//! Causal consistency of sessions, across keys.
//!
//! What a session did, and what it read, comes before what it does next. A history of reads and
//! writes in which every value is written once is causally consistent exactly if this order has no
//! cycle, no read returns a value that was overwritten in its own past, and none returns the
//! initial value although its past wrote the key (the bad patterns of Bouajjani, Enea, Guerraoui
//! and Hamza, 2017). The past of each operation is a vector clock over sessions.

use crate::built_in::{BuiltIn, Check};
use crate::contract::{Fact, OracleError, OracleInfo};
use crate::draft::Plant;
use crate::options::Options;
use crate::registers::{Registers, written};
use crate::table::{READ, RECONNECT, count};
use crate::{fact, plants};
use assay_history::{OpIndex, Outcome, ProcessId, ValueId};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The most memory that vector clocks may take.
const CLOCK_BYTES_MAX: usize = 1 << 30;

/// One read or write.
struct Node {
    op: OpIndex,
    session: usize,
    /// Its place in its session, from 1.
    place: u32,
    /// What must come before it: the operation before in its session, and what it read from.
    before: [Option<usize>; 2],
    /// The node whose value a read returned; `None` for the initial value.
    source: Option<usize>,
    is_read: bool,
    is_write: bool,
    key: ValueId,
    null_initial: bool,
}

fn run(check: &mut Check<'_, '_>) -> Result<(), OracleError> {
    let table = check.table;
    let registers = Registers::new(table);
    let (nodes, sessions) = nodes(check, &registers);
    let bytes = nodes.len() * sessions * size_of::<u32>();
    if bytes > CLOCK_BYTES_MAX {
        check.tally.undecided(format!(
            "{} operations in {} sessions need {} MiB of vector clocks, more than {} MiB",
            count(nodes.len()),
            count(sessions),
            bytes >> 20,
            CLOCK_BYTES_MAX >> 20
        ));
        return Ok(());
    }
    check.tally.memory(bytes);
    let order = topological(&nodes);
    if order.len() < nodes.len() {
        cycle(check, &nodes, &order);
        return Ok(());
    }
    let clocks = clocks(&nodes, &order, sessions);
    let writes = writes_by_key(&nodes, sessions);
    let mut reads = 0;
    for (at, node) in nodes.iter().enumerate().filter(|(_, node)| node.is_read) {
        reads += 1;
        overwritten(check, &nodes, &clocks, &writes, at, node);
    }
    let writes = nodes.iter().filter(|node| node.is_write && node.place > 0).count();
    check.tally.checked(if reads > 0 { reads + writes } else { 0 });
    check.tally.evidence(format!(
        "{} reads compared with the causal past of {} sessions",
        count(reads),
        count(sessions)
    ));
    Ok(())
}

/// The reads and writes that happened, with their causes; and how many sessions there are.
fn nodes(check: &mut Check<'_, '_>, registers: &Registers) -> (Vec<Node>, usize) {
    let table = check.table;
    let mut sessions: FxHashMap<(ProcessId, u32), usize> = FxHashMap::default();
    let mut epochs: FxHashMap<ProcessId, u32> = FxHashMap::default();
    let mut last: Vec<(Option<usize>, u32)> = Vec::new();
    let mut places: FxHashMap<OpIndex, usize> = FxHashMap::default();
    let mut nodes: Vec<Node> = Vec::new();
    let mut skipped = 0;
    for row in &table.rows {
        let epoch = epochs.entry(row.process).or_default();
        *epoch += u32::from(row.is(RECONNECT));
        let is_read = row.is(READ) && row.ok();
        let is_write = written(table, row).is_some() && row.possible();
        if !is_read && !is_write {
            continue;
        }
        if !registers.plain(row.key) || row.verb == "cas" {
            skipped += 1;
            continue;
        }
        let next = sessions.len();
        let session = *sessions.entry((row.process, *epoch)).or_insert(next);
        last.resize(sessions.len(), (None, 0));
        let (before, place) = last[session];
        // Operations of one session that overlap are not ordered by it.
        let before = before.filter(|&b: &usize| table.row(nodes[b].op).end <= row.start);
        places.insert(row.index, nodes.len());
        // An operation of unknown outcome may take effect later than what its session did next.
        if row.outcome == Outcome::Ok {
            last[session] = (Some(nodes.len()), place + 1);
        }
        nodes.push(Node {
            op: row.index,
            session,
            place: if row.outcome == Outcome::Ok { place + 1 } else { 0 },
            before: [before, None],
            source: None,
            is_read,
            is_write,
            key: row.key,
            null_initial: registers.null_is_initial(row.key),
        });
    }
    if skipped > 0 {
        check.tally.not_covered(format!(
            "{} operations on keys that more than reads and plain writes touch",
            count(skipped)
        ));
    }
    sources(check, registers, &mut nodes, &places);
    let mut session_count = sessions.len();
    let observed: Vec<usize> = nodes.iter().filter_map(|node| node.source).collect();
    for at in observed {
        // A write of unknown outcome that somebody saw did happen: a session of its own.
        if nodes[at].place == 0 {
            (nodes[at].session, nodes[at].place) = (session_count, 1);
            session_count += 1;
        }
    }
    (nodes, session_count)
}

/// Fills in where each read took its value from.
fn sources(
    check: &mut Check<'_, '_>,
    registers: &Registers,
    nodes: &mut [Node],
    places: &FxHashMap<OpIndex, usize>,
) {
    let table = check.table;
    let mut ambiguous = 0;
    for node in nodes.iter_mut().filter(|node| node.is_read) {
        let row = table.row(node.op);
        let value = table.value_read(row);
        let writer = registers.writer(row.key, value).and_then(|op| places.get(&op).copied());
        if registers.unwritten(row.key, value) {
            let facts = || vec![fact!("unwritten", node.op)];
            check.tally.anomaly("phantom-read", &[node.op], facts, || {
                format!("{} returned {}, which nobody wrote", table.say(node.op), table.text(value))
            });
            check.tally.checked(1);
            node.is_read = false;
        } else if writer.is_none() && (!value.is_null() || !node.null_initial) {
            ambiguous += 1;
            node.is_read = false;
        }
        (node.source, node.before[1]) = (writer, writer);
    }
    if ambiguous > 0 {
        check.tally.not_covered(format!(
            "{} reads of values that were written more than once",
            count(ambiguous)
        ));
    }
}

/// The nodes in an order in which causes come first; fewer than all of them if there is a cycle.
fn topological(nodes: &[Node]) -> Vec<usize> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut waiting = vec![0; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        for &before in node.before.iter().flatten() {
            after[before].push(at);
            waiting[at] += 1;
        }
    }
    let mut ready: VecDeque<usize> = (0..nodes.len()).filter(|&at| waiting[at] == 0).collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(at) = ready.pop_front() {
        order.push(at);
        for &next in &after[at] {
            waiting[next] -= 1;
            if waiting[next] == 0 {
                ready.push_back(next);
            }
        }
    }
    order
}

fn cycle(check: &mut Check<'_, '_>, nodes: &[Node], order: &[usize]) {
    let mut done = vec![false; nodes.len()];
    order.iter().for_each(|&at| done[at] = true);
    let stuck = |at: usize| nodes[at].before.iter().flatten().copied().find(|&b| !done[b]);
    // Walking to causes that never became ready must come back to where it has been.
    let mut at = (0..nodes.len()).find(|&at| !done[at]).expect("a cycle leaves nodes over");
    let mut path: Vec<usize> = Vec::new();
    while !path.contains(&at) {
        path.push(at);
        at = stuck(at).expect("a node that never became ready has such a cause");
    }
    let mut round: Vec<OpIndex> =
        path.iter().skip_while(|&&p| p != at).map(|&p| nodes[p].op).collect();
    round.push(round[0]);
    round.reverse();
    let table = check.table;
    let words: Vec<String> = round.iter().map(|&op| table.say(op)).collect();
    let facts = || vec![path_fact(&round)];
    check.tally.checked(nodes.len());
    check.tally.anomaly("causal-cycle", &round[1..], facts, || {
        format!("each of these comes before the next: {}", words.join("; "))
    });
}

fn path_fact(ops: &[OpIndex]) -> Fact {
    Fact { claim: "path".into(), args: ops.iter().map(|&op| op.into()).collect() }
}

/// For each node, how many operations of each session are in its past, itself included.
fn clocks(nodes: &[Node], order: &[usize], sessions: usize) -> Vec<u32> {
    let mut clocks = vec![0u32; nodes.len() * sessions];
    for &at in order {
        for &before in nodes[at].before.iter().flatten() {
            for s in 0..sessions {
                let past = clocks[before * sessions + s];
                let mine = &mut clocks[at * sessions + s];
                *mine = (*mine).max(past);
            }
        }
        let own = &mut clocks[at * sessions + nodes[at].session];
        *own = (*own).max(nodes[at].place);
    }
    clocks
}

/// The writes of each key and session that happened, in session order.
type Writes = FxHashMap<ValueId, Vec<Vec<usize>>>;

fn writes_by_key(nodes: &[Node], sessions: usize) -> Writes {
    let mut writes = Writes::default();
    for (at, node) in nodes.iter().enumerate().filter(|(_, n)| n.is_write && n.place > 0) {
        let of_key = writes.entry(node.key).or_insert_with(|| vec![Vec::new(); sessions]);
        of_key[node.session].push(at);
    }
    writes
}

/// Looks for a write that lies between a read and what it returned.
fn overwritten(
    check: &mut Check<'_, '_>,
    nodes: &[Node],
    clocks: &[u32],
    writes: &Writes,
    at: usize,
    node: &Node,
) {
    let table = check.table;
    let sessions = clocks.len() / nodes.len();
    let past = &clocks[at * sessions..(at + 1) * sessions];
    let Some(of_key) = writes.get(&node.key) else { return };
    // Of each session the latest write in the past has the largest past: it decides.
    let latest = |s: usize| {
        let list = &of_key[s];
        let within = list.partition_point(|&w| nodes[w].place <= past[s]);
        within.checked_sub(1).map(|last| list[last])
    };
    let between = (0..sessions).filter_map(latest).find(|&w| {
        Some(w) != node.source
            && match node.source {
                None => !table.row(nodes[w].op).input.is_null(),
                Some(source) => clocks[w * sessions + nodes[source].session] >= nodes[source].place,
            }
    });
    let Some(w) = between else { return };
    let (read, over) = (node.op, nodes[w].op);
    let mut ops = vec![over, read];
    ops.splice(0..0, node.source.map(|source| nodes[source].op));
    let facts = || {
        let chain = |from: usize, to: usize| path_fact(&path(nodes, from, to));
        let mut facts = vec![chain(w, at), fact!("key", over, read), fact!("writes", over)];
        match node.source {
            None => facts.push(fact!("initial", read)),
            Some(source) => {
                facts.push(fact!("returns", read, nodes[source].op));
                facts.push(chain(source, w));
            }
        }
        facts
    };
    check.tally.anomaly("causal-overwrite", &ops, facts, || {
        format!(
            "{} returned {}, but {} had overwritten it in the read's own causal past",
            table.say(read),
            table.text(table.value_read(table.row(read))),
            table.say(over)
        )
    });
}

/// The shortest chain of causes from `first` to `last`; empty if there is none.
fn path(nodes: &[Node], first: usize, last: usize) -> Vec<OpIndex> {
    let mut next: FxHashMap<usize, usize> = FxHashMap::default();
    let mut queue = VecDeque::from([last]);
    while let Some(at) = queue.pop_front() {
        if at == first {
            let mut ops = vec![nodes[at].op];
            let mut at = at;
            while at != last {
                at = next[&at];
                ops.push(nodes[at].op);
            }
            return ops;
        }
        for &before in nodes[at].before.iter().flatten() {
            if before != last {
                next.entry(before).or_insert_with(|| {
                    queue.push_back(before);
                    at
                });
            }
        }
    }
    Vec::new()
}

pub(crate) static CAUSAL: BuiltIn = BuiltIn {
    info: &OracleInfo {
        name: "causal",
        aliases: &["causal-consistency"],
        patterns: &[7],
        claim: "sessions see writes in an order that respects cause and effect, across keys",
        needs: "`read`/`get` and `write`/`put` by process and key, every value of a key written \
                once; `reconnect` where a process starts a new session",
        algorithm: "session order and reads-from as vector clocks; a cycle, a value overwritten \
                    in the read's past, or the initial value after a write in its past",
        cost: "O(n · sessions) time and memory, at most 1 GiB of clocks",
        cannot_see: "values written more than once; keys with cas or other operations; whether \
                     all sessions agree on one order of concurrent writes (convergence)",
        failure_mode: "a reconnect that is not recorded makes one session of two",
        kinds: &["causal-cycle", "causal-overwrite", "phantom-read"],
    },
    run,
    example_options: Options::default,
    good: "0 write x 1 ok\n1 read x - ok 1\n1 write y 2 ok\n2 read y - ok 2\n2 read x - ok 1",
    bad: "0 write x 1 ok\n1 read x - ok 1\n1 write y 2 ok\n2 read y - ok 2\n2 read x - ok null",
    plants: &[Plant { kind: "stale-read", apply: plants::stale_read }],
};

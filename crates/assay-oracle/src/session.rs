//! The four session guarantees: read your writes, monotonic reads, monotonic writes, writes follow
//! reads.
//!
//! A session is a process; an operation of type `reconnect` begins a new session of the same
//! process, for the guarantees do not reach across it. Which of two versions is older is said by
//! the **system's own version** (`revision`, or `version` in the output) and never by a clock.
//! Without versions some violations still show, if every value is written once: a session that
//! reads *a*, *b* and *a* again went back, whatever the order of *a* and *b*.

use crate::built_in::{BuiltIn, Check};
use crate::contract::{OracleError, OracleInfo};
use crate::draft::Plant;
use crate::fact;
use crate::options::Options;
use crate::plants;
use crate::registers::Registers;
use crate::table::{READ, RECONNECT, Row, WRITE, count};
use assay_history::{OpIndex, ProcessId, ValueId};
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Guarantee {
    ReadYourWrites,
    MonotonicReads,
    MonotonicWrites,
    WritesFollowReads,
}

/// What a session knows about one key.
#[derive(Default)]
struct Memory {
    write_newest: Option<(i64, OpIndex)>,
    read_newest: Option<(i64, OpIndex)>,
    /// Own acknowledged writes by value, and the last of them.
    writes: FxHashMap<ValueId, OpIndex>,
    write_last: Option<OpIndex>,
    /// Values read, with the first read of each, and the last read.
    reads: FxHashMap<ValueId, OpIndex>,
    read_last: Option<(ValueId, OpIndex)>,
}

struct Walk<'a, 'b, 'h> {
    check: &'a mut Check<'b, 'h>,
    registers: Registers,
    guarantee: Guarantee,
    versions: usize,
    unordered: usize,
}

fn run(check: &mut Check<'_, '_>, guarantee: Guarantee) -> Result<(), OracleError> {
    let registers = Registers::new(check.table);
    let mut walk = Walk { check, registers, guarantee, versions: 0, unordered: 0 };
    let mut sessions: FxHashMap<ProcessId, u32> = FxHashMap::default();
    let mut memories: FxHashMap<(ProcessId, u32, ValueId), Memory> = FxHashMap::default();
    let rows = walk.check.table.rows.clone();
    for row in &rows {
        let session = sessions.entry(row.process).or_default();
        if row.is(RECONNECT) {
            *session += 1;
        }
        if !row.ok() || !(row.is(READ) || row.is(WRITE)) {
            continue;
        }
        let memory = memories.entry((row.process, *session, row.key)).or_default();
        walk.judge(row, memory);
        walk.remember(row, memory);
    }
    let (versions, unordered) = (walk.versions, walk.unordered);
    let tally = &mut check.tally;
    tally.evidence(format!("{} sessions and keys followed", count(memories.len())));
    tally.evidence(format!("{} operations with a version of the system", count(versions)));
    if unordered > 0 {
        tally.not_covered(format!(
            "{} operations have no version, and the order of versions is never taken from clocks: \
             of them only contradictions between values written once are seen",
            count(unordered)
        ));
    }
    if check.table.history.meta.pipelined {
        tally.not_covered("operations of one session that overlap are not compared");
    }
    Ok(())
}

impl Walk<'_, '_, '_> {
    fn remember(&mut self, row: &Row<'_>, memory: &mut Memory) {
        let table = self.check.table;
        let version = table.version(row);
        match version {
            Some(_) => self.versions += 1,
            None => self.unordered += 1,
        }
        let newest = version.map(|version| (version, row.index));
        if row.is(WRITE) {
            memory.write_newest = memory.write_newest.max(newest);
            memory.writes.insert(row.input, row.index);
            memory.write_last = Some(row.index);
        } else {
            let value = table.value_read(row);
            memory.read_newest = memory.read_newest.max(newest);
            memory.reads.entry(value).or_insert(row.index);
            memory.read_last = Some((value, row.index));
        }
    }

    fn judge(&mut self, row: &Row<'_>, memory: &Memory) {
        match (self.guarantee, row.is(READ)) {
            (Guarantee::ReadYourWrites, true) => self.read_your_writes(row, memory),
            (Guarantee::MonotonicReads, true) => self.monotonic_reads(row, memory),
            (Guarantee::MonotonicWrites, false) => {
                let judged = self.older("writes-reordered", row, memory.write_newest, false);
                self.check.tally.checked(usize::from(judged.is_some()));
            }
            (Guarantee::WritesFollowReads, false) => {
                let judged = self.older("write-before-read", row, memory.read_newest, true);
                self.check.tally.checked(usize::from(judged.is_some()));
            }
            _ => {}
        }
    }

    /// Whether `earlier` had completed when `row` began; only then does the session order them.
    fn follows(&self, row: &Row<'_>, earlier: OpIndex) -> bool {
        self.check.table.row(earlier).end <= row.start
    }

    /// By version: what came later in the session must not be older.
    fn older(
        &mut self,
        kind: &'static str,
        row: &Row<'_>,
        newest: Option<(i64, OpIndex)>,
        equal_is_older: bool,
    ) -> Option<bool> {
        let table = self.check.table;
        let (version, (newest, earlier)) = (table.version(row)?, newest?);
        if !self.follows(row, earlier) {
            return None;
        }
        let broken = version < newest || (equal_is_older && version == newest);
        if broken {
            let facts = || {
                vec![
                    fact!("version", earlier, newest),
                    fact!("version", row.index, version),
                    fact!("session", earlier, row.index),
                    fact!("key", earlier, row.index),
                    fact!(if table.row(earlier).is(READ) { "reads" } else { "writes" }, earlier),
                    fact!(if row.is(READ) { "reads" } else { "writes" }, row.index),
                    fact!(if equal_is_older { "atmost" } else { "below" }, version, newest),
                ]
            };
            self.check.tally.anomaly(kind, &[earlier, row.index], facts, || {
                format!(
                    "{} has version {version}, but earlier in the same session {} had version \
                     {newest}",
                    table.say(row.index),
                    table.say(earlier)
                )
            });
        }
        Some(broken)
    }

    /// A read of the initial null after the session saw or wrote something else.
    fn forgot(&mut self, kind: &'static str, row: &Row<'_>, earlier: Option<OpIndex>) -> bool {
        let table = self.check.table;
        let Some(earlier) = earlier.filter(|&earlier| self.follows(row, earlier)) else {
            return false;
        };
        if !self.registers.null_is_initial(row.key) {
            return false;
        }
        let facts = || {
            vec![
                fact!("session", earlier, row.index),
                fact!("key", earlier, row.index),
                fact!("known", earlier),
                fact!("initial", row.index),
            ]
        };
        self.check.tally.anomaly(kind, &[earlier, row.index], facts, || {
            format!(
                "{} returned null, the initial value, although {} came before it in the same \
                 session",
                table.say(row.index),
                table.say(earlier)
            )
        });
        true
    }

    fn read_your_writes(&mut self, row: &Row<'_>, memory: &Memory) {
        const KIND: &str = "own-write-not-seen";
        let Some(last) = memory.write_last else { return };
        let table = self.check.table;
        let value = table.value_read(row);
        let by_version = self.older(KIND, row, memory.write_newest, false);
        let plain = self.registers.plain(row.key);
        let by_value = plain && self.follows(row, last);
        self.check.tally.checked(usize::from(by_value || by_version.is_some()));
        if by_version == Some(true) {
            return;
        }
        if value.is_null() {
            let last = Some(last).filter(|&last| !table.row(last).input.is_null());
            self.forgot(KIND, row, last);
            return;
        }
        let Some(&own) = memory.writes.get(&value) else { return };
        let once = self.registers.writer(row.key, value) == Some(own);
        if own == last || !once || !plain || !self.follows(row, last) || !self.later(own, last) {
            return;
        }
        let facts = || {
            vec![
                fact!("writes", own),
                fact!("writes", last),
                fact!("session", own, last),
                fact!("session", last, row.index),
                fact!("key", own, last),
                fact!("key", last, row.index),
                fact!("returns", row.index, own),
            ]
        };
        self.check.tally.anomaly(KIND, &[own, last, row.index], facts, || {
            format!(
                "{} returned what {} had written, although the same session had overwritten it \
                 by {}",
                table.say(row.index),
                table.say(own),
                table.say(last)
            )
        });
    }

    /// Whether the second operation began after the first had ended.
    fn later(&self, first: OpIndex, second: OpIndex) -> bool {
        self.check.table.row(first).end <= self.check.table.row(second).start
    }

    fn monotonic_reads(&mut self, row: &Row<'_>, memory: &Memory) {
        const KIND: &str = "non-monotonic-read";
        let Some((last_value, last)) = memory.read_last else { return };
        let by_version = self.older(KIND, row, memory.read_newest, false);
        let table = self.check.table;
        let value = table.value_read(row);
        let by_value = self.registers.plain(row.key) && self.follows(row, last);
        self.check.tally.checked(usize::from(by_value || by_version.is_some()));
        if by_version == Some(true) {
            return;
        }
        if value.is_null() {
            let last = Some(last).filter(|_| !last_value.is_null());
            self.forgot(KIND, row, last);
            return;
        }
        let Some(&first) = memory.reads.get(&value) else { return };
        let once = self.registers.writer(row.key, value).is_some();
        let plain = self.registers.plain(row.key);
        if value == last_value || !once || !plain || !self.later(first, last) {
            return;
        }
        if !self.follows(row, last) {
            return;
        }
        let facts = || {
            vec![
                fact!("session", first, last),
                fact!("session", last, row.index),
                fact!("key", first, last),
                fact!("key", last, row.index),
                fact!("once", first),
                fact!("same", first, row.index),
                fact!("differ", first, last),
            ]
        };
        self.check.tally.anomaly(KIND, &[first, last, row.index], facts, || {
            format!(
                "client {} read {v}, then {}, then {v} again, and {v} was written only once: {}, \
                 {}, {}",
                table.process(row.process),
                table.text(last_value),
                table.place(first),
                table.place(last),
                table.place(row.index),
                v = table.text(value)
            )
        });
    }
}

const NEEDS: &str = "`read`/`get` (output: the value, or {value, version}) and `write`/`put` \
    (input: the value; output: its version) by process and key; `revision`, or `version` in the \
    output, as the system's own order; `reconnect` where a process starts a new session";
const COST: &str = "one pass, O(n) time and memory";
const RECONNECT_TRAP: &str = "a reconnect that is not recorded joins two sessions: the report \
    then accuses the system of what it never promised, and a client that renames its process at \
    each reconnect hides violations; record `reconnect`";
const PLANTS: &[Plant] = &[Plant { kind: "stale-read", apply: plants::stale_read }];

macro_rules! session_oracle {
    ($name:ident, $guarantee:expr, $info:expr, $good:expr, $bad:expr, $plants:expr) => {
        pub(crate) static $name: BuiltIn = BuiltIn {
            info: &$info,
            run: |check| run(check, $guarantee),
            example_options: Options::default,
            good: $good,
            bad: $bad,
            plants: $plants,
        };
    };
}

session_oracle!(
    READ_YOUR_WRITES,
    Guarantee::ReadYourWrites,
    OracleInfo {
        name: "read-your-writes",
        aliases: &["ryw"],
        patterns: &[7],
        claim: "within a session a read sees the session's own acknowledged writes",
        needs: NEEDS,
        algorithm: "per session and key, the newest own version so far; without versions, the \
                    initial value or an own overwritten value after an own acknowledged write \
                    (one session's writes are then taken in session order)",
        cost: COST,
        cannot_see: "reads of other sessions' older values where no versions are recorded",
        failure_mode: RECONNECT_TRAP,
        kinds: &["own-write-not-seen"],
    },
    "0 write x 1 ok 11\n0 read x - ok {\"value\":1,\"version\":11}",
    "0 write x 1 ok\n0 read x - ok null",
    PLANTS
);

session_oracle!(
    MONOTONIC_READS,
    Guarantee::MonotonicReads,
    OracleInfo {
        name: "monotonic-reads",
        aliases: &["monotonic-read"],
        patterns: &[8],
        claim: "once a session has read a version it never reads an older one",
        needs: NEEDS,
        algorithm: "per session and key, the newest version read so far; without versions, a \
                    value that returns after another was read, or the initial value after any",
        cost: COST,
        cannot_see: "going back to a value not read before where no versions are recorded",
        failure_mode: "versions ordered by a recorder's or wall clock: clocks are never used",
        kinds: &["non-monotonic-read"],
    },
    "0 write x 1 ok\n1 read x - ok null\n1 read x - ok 1",
    "0 write x 1 ok\n0 write x 2 ok\n1 read x - ok 1\n1 read x - ok 2\n1 read x - ok 1",
    PLANTS
);

session_oracle!(
    MONOTONIC_WRITES,
    Guarantee::MonotonicWrites,
    OracleInfo {
        name: "monotonic-writes",
        aliases: &["monotonic-write"],
        patterns: &[7],
        claim: "the writes of a session to a key take effect in the order they were issued",
        needs: NEEDS,
        algorithm: "per session and key, versions of acknowledged writes must not fall",
        cost: COST,
        cannot_see: "writes without a version; order across keys",
        failure_mode: RECONNECT_TRAP,
        kinds: &["writes-reordered"],
    },
    "0 write x 1 ok 11\n0 write x 2 ok 12",
    "0 write x 1 ok 12\n0 write x 2 ok 11",
    &[Plant { kind: "reordered-writes", apply: plants::swap_write_versions }]
);

session_oracle!(
    WRITES_FOLLOW_READS,
    Guarantee::WritesFollowReads,
    OracleInfo {
        name: "writes-follow-reads",
        aliases: &["wfr"],
        patterns: &[7],
        claim: "a session's write is newer than every version the session had read before",
        needs: NEEDS,
        algorithm: "per session and key, a write's version must exceed the newest read",
        cost: COST,
        cannot_see: "operations without a version; order across keys",
        failure_mode: RECONNECT_TRAP,
        kinds: &["write-before-read"],
    },
    "0 read x - ok 7 rev=1\n0 write x 8 ok 2",
    "0 read x - ok 7 rev=5\n0 write x 8 ok 2",
    &[Plant { kind: "early-write", apply: plants::lower_write_version }]
);

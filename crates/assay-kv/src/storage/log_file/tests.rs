//! The log against a model, with a crash at every byte.

use super::*;
use crate::state::{Batch, Command, Op};
use openraft::{CommittedLeaderId, EntryPayload};
use proptest::prelude::*;

fn log_id(index: u64) -> LogId {
    LogId::new(CommittedLeaderId::new(1, 1), index)
}

fn entry(index: u64, value: u32) -> Entry {
    let op = Op::Write("x".to_string(), value.into());
    let batch = Batch::of(vec![Command { id: None, op }]);
    Entry { log_id: log_id(index), payload: EntryPayload::Normal(batch) }
}

fn open(directory: &Path) -> Result<(LogFile, usize), StorageTrouble> {
    LogFile::open(directory, Durability::Synced)
}

/// What a log holds, as text.
fn content(log: &LogFile) -> String {
    let entries = serde_json::to_string(&log.range(..)).expect("entries are plain data");
    format!("{:?} {:?} {entries}", log.vote(), log.purged())
}

#[derive(Clone, Debug)]
enum Step {
    Vote(u64),
    Append(u32),
    Cut,
    Purge,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => (1..9u64).prop_map(Step::Vote),
        5 => any::<u32>().prop_map(Step::Append),
        1 => Just(Step::Cut),
        1 => Just(Step::Purge),
    ]
}

fn act(log: &mut LogFile, step: &Step) {
    let last = log.last().map_or(0, |last| last.index);
    let first = log.purged().map_or(1, |purged| purged.index + 1);
    match step {
        Step::Vote(term) => log.save_vote(&Vote::new(*term, 1)),
        Step::Append(value) => log.append([entry(last + 1, *value)]),
        Step::Cut => log.cut(last.max(first)),
        Step::Purge => log.purge(log_id(u64::midpoint(first, last + 1).min(last.max(1)))),
    }
    .expect("the disk works");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn a_log_killed_at_any_byte_opens_with_everything_that_was_promised(
        steps in proptest::collection::vec(any_step(), 1..12),
        torn in any::<proptest::sample::Index>(),
    ) {
        let scratch = tempfile::tempdir().expect("a temporary directory");
        let file = scratch.path().join("log");
        let (mut log, _) = open(scratch.path()).expect("it is new");
        for step in &steps {
            let promised = content(&log);
            let before = std::fs::read(&file).expect("the log is there");
            act(&mut log, step);
            let after = std::fs::read(&file).expect("the log is there");
            let kept = content(&log);
            let reopened = content(&open(scratch.path()).expect("it is whole").0);
            prop_assert_eq!(&reopened, &kept);
            if after.starts_with(&before) && after.len() > before.len() {
                // The append was under way when the process was killed.
                let length = before.len() + torn.index(after.len() - before.len());
                std::fs::write(&file, &after[..length]).expect("it can be written");
                let (mut cut, bytes) = open(scratch.path()).expect("a torn end is no damage");
                prop_assert_eq!(content(&cut), promised);
                prop_assert_eq!(bytes, length - before.len());
                // What is written next does not stand behind rubbish.
                act(&mut cut, &Step::Append(7));
                let (again, torn) = open(scratch.path()).expect("it is whole");
                prop_assert_eq!((content(&again), torn), (content(&cut), 0));
                std::fs::write(&file, &after).expect("it can be written");
            }
        }
    }
}

#[test]
fn damage_in_the_middle_is_an_error_that_says_where() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let (mut log, _) = open(scratch.path()).expect("it is new");
    log.append([entry(1, 1), entry(2, 2)]).expect("the disk works");
    let file = scratch.path().join("log");
    let mut bytes = std::fs::read(&file).expect("the log is there");
    bytes[MAGIC.len() + 20] ^= 1;
    std::fs::write(&file, &bytes).expect("it can be written");
    let error = open(scratch.path()).expect_err("it is damaged").to_string();
    assert!(error.contains("corrupt at byte 15"), "{error}");
    std::fs::write(&file, "something else").expect("it can be written");
    let error = open(scratch.path()).expect_err("it is damaged").to_string();
    assert!(error.contains("not a log of assay-kv"), "{error}");
}

#[test]
fn a_forgetful_log_loses_what_it_promised_unless_it_is_closed() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let forgetful = || LogFile::open(scratch.path(), Durability::Forgetful).expect("it opens").0;
    let mut log = forgetful();
    log.append([entry(1, 1)]).expect("nothing is written");
    drop(log);
    let mut log = forgetful();
    assert_eq!(log.last(), None);
    log.append([entry(1, 1)]).expect("nothing is written");
    log.close().expect("the disk works");
    assert_eq!(forgetful().last(), Some(log_id(1)));
}

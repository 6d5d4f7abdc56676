//! A Leader that is killed after every kind of thing it writes down, and a record that is changed.

use super::{Bench, USUAL, Wish, files};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

const THREE: Wish =
    Wish { stories: 3, limits: "iterations = 30\nwall_seconds = 60\nidle_seconds = 30", ..USUAL };
const WORK: &str = "work; commit; sign";
const JUDGE: &str = "verdict \"$good\"";
/// A campaign that gets no further than this many Leaders is stuck.
const LEADERS_MAX: usize = 200;
/// A Worker whose first claim of the second story is wrong: what is to be mended stands in its
/// prompt, so it does not matter how many Leaders died before.
const WORK_TWICE: &str = r#"issues=$(sed -n 's/^- \(I[0-9]*[.][0-9]*\) \[.*/"\1"/p' | paste -sd, -)
work
[ "$ASSAY_STORY$issues" != US-002 ] || echo 'echo 9' > n2
commit; sign"#;
/// A Verifier whose first verdict about the first story is refuted: whether one was stands in what
/// is written from the record before any agent is sent out.
const JUDGE_TWICE: &str = r#"status=$(cat "$(dirname "$0")/status.json")
case "$ASSAY_STORY$status" in
US-001*'"verdicts": 0'*) verdict '{"command":["sh","t/all"],"exit_code":7}' ;;
*) verdict "$good" ;;
esac"#;

/// Bytes are changed at the ends of this many equal parts of each file. Every single byte is tried
/// where the ledger itself is tested; here it is whether the command asks it.
const PARTS: usize = 4;
/// What a killed Leader left is changed at places that follow from this.
const SEED: u64 = 0x5eed_0007;
/// How many of them in the database, and in its log; one in each other file.
const BYTES_OF_DATABASE: usize = 40;

/// What kind of transition an event is: numbers and hashes do not matter, whether something was
/// found wrong does, and whether the second story is being mended.
fn transition(line: &str, mends: &mut bool) -> String {
    let value: serde_json::Value = serde_json::from_str(line).expect("an event");
    let event = &value["event"];
    let text = |name: &str| event[name].to_string();
    let (kind, scope) = (text("kind"), text("scope"));
    *mends |= kind.contains("fix-issued");
    let wrong = event["findings"].as_array().is_some_and(|all| !all.is_empty());
    let refuted = event["refuted"].is_string();
    let again = *mends && scope.contains("US-002");
    let (step, role, story) = (text("step"), text("role"), text("story"));
    format!("{kind} {scope} {step} {role} {story} {wrong} {refuted} {again}")
}

fn criteria(bench: &Bench) -> BTreeSet<String> {
    let status = bench.status();
    let stories = status["stories"].as_array().expect("stories").iter();
    let verified = stories.filter(|story| !story["verified"].is_null());
    let all = verified.flat_map(|story| story["criteria"].as_array().cloned().unwrap_or_default());
    all.map(|criterion| criterion.as_str().expect("a name").to_string()).collect()
}

#[test]
fn killed_at_every_transition_a_campaign_ends_as_if_it_had_not_been() {
    let whole = Bench::new(THREE, WORK_TWICE, JUDGE_TWICE);
    assert_eq!(whole.run(&[]).code, Some(0));
    let bench = Bench::new(THREE, WORK_TWICE, JUDGE_TWICE);
    let agent = format!("command:sh {}", bench.path(".assay/desk/small/agent.sh"));
    let args = ["run", "small", "--worker", &agent, "--verifier", &agent, "--format", "json"];
    let mut killed: BTreeSet<String> = BTreeSet::new();
    let (mut ended, mut mends) = (None, false);
    for _ in 0..LEADERS_MAX {
        let mut leader = bench.desk(&args).stdout(Stdio::piped()).spawn().expect("assay runs");
        let mut lines = BufReader::new(leader.stdout.take().expect("a pipe")).lines();
        let due = lines.find_map(|line| {
            let transition = transition(&line.expect("a line"), &mut mends);
            killed.insert(transition.clone()).then_some(transition)
        });
        if due.is_none() {
            ended = leader.wait().expect("it ends").code();
            break;
        }
        leader.kill().expect("SIGKILL");
        leader.wait().expect("it ends");
        let verified = bench.ask(&["verify", "small"]);
        assert_eq!(verified.code, Some(0), "after {due:?}: {}{}", verified.out, verified.err);
        // A Leader that has written the end down may have closed its record before it is killed.
        let over = due.is_some_and(|due| due.starts_with("\"ended\""));
        assert!(over || verified.out.contains("not sealed"), "{}", verified.out);
    }
    let verified = bench.ask(&["verify", "small"]);
    assert!(verified.out.contains("every byte is what the last Leader left"), "{}", verified.out);
    assert_eq!(ended, Some(0), "{}", bench.status());
    assert!(killed.len() >= 60, "{} transitions: {killed:#?}", killed.len());
    assert!(killed.iter().any(|transition| transition.contains("fix-issued")), "{killed:#?}");
    let has = |end: &str| killed.iter().any(|transition| transition.ends_with(end));
    assert!(has(" true false"), "a refuted verdict: {killed:#?}");
    assert!(has(" true false false"), "a claim that fails: {killed:#?}");
    assert!(has(" false false true"), "what is mended: {killed:#?}");
    assert_eq!(criteria(&bench), criteria(&whole));
    assert_eq!(criteria(&bench).len(), 3);
    once_each(&bench);
}

/// No agent run is repeated whose outcome was written down, and none is skipped.
fn once_each(bench: &Bench) {
    let log = bench.ask(&["log", "small", "--format", "json"]);
    let (mut out, mut accepted) = (None, BTreeMap::new());
    for line in log.out.lines() {
        let value: serde_json::Value = serde_json::from_str(line).expect("an event");
        let event = &value["event"];
        match event["kind"].as_str().expect("a kind") {
            "dispatched" => {
                assert_eq!(out, None, "two agents at once: {line}");
                out = Some(event.clone());
            }
            "lost" => out = None,
            "returned" => {
                let dispatch = out.take().expect("somebody was out");
                assert_eq!(dispatch["run"], event["run"]);
                let what = format!("{} {}", dispatch["role"], dispatch["scope"]);
                *accepted.entry(what).or_insert(0) += 1;
            }
            _ => {}
        }
    }
    // Three Workers, three Verifiers, and one for the whole; those who were wrong once came twice.
    assert_eq!(accepted.len(), 7, "{accepted:?}");
    for (what, runs) in &accepted {
        let wrong_once = what.contains("worker") && what.contains("US-002")
            || what.contains("verifier") && what.contains("US-001");
        let wanted = if wrong_once { 2 } else { 1 };
        assert_eq!(*runs, wanted, "{what}: {accepted:?}");
    }
}

#[test]
fn no_byte_of_the_record_can_be_changed_unnoticed() {
    let bench = Bench::new(USUAL, WORK, JUDGE);
    assert_eq!(bench.run(&[]).code, Some(0));
    let ledger = bench.root.join(".assay/desk/small/ledger");
    let mut looked = 0;
    for path in files(&ledger) {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).expect("a file");
        if bytes.is_empty() || name.contains("lock") || name.ends_with("-shm") {
            continue;
        }
        for part in 0..=PARTS {
            let at = (bytes.len() - 1) * part / PARTS;
            let mut changed = bytes.clone();
            changed[at] ^= 0x20;
            std::fs::write(&path, &changed).expect("a file");
            let verified = bench.ask(&["verify", "small"]);
            assert_eq!(verified.code, Some(1), "{name} byte {at}: {}", verified.out);
            looked += 1;
        }
        std::fs::write(&path, &bytes).expect("a file");
    }
    assert!(looked >= 40, "{looked}");
    assert_eq!(bench.ask(&["verify", "small"]).code, Some(0));
}

/// The main file, its log, the head and the blobs of a campaign whose Leader was killed: a changed
/// byte is noticed, or it is gone from what is sealed.
#[test]
fn no_byte_of_what_a_killed_leader_left_is_believed() {
    let bench = Bench::new(USUAL, WORK, JUDGE);
    let engine = bench.engine();
    let args = ["run", "small", "--worker", &engine, "--verifier", &engine, "--format", "json"];
    bench.stop_when(&args, |line| line.contains("\"step\":\"suite\""));
    let ledger = bench.root.join(".assay/desk/small/ledger");
    let killed: Vec<(PathBuf, Vec<u8>)> = files(&ledger)
        .into_iter()
        .map(|path| (path.clone(), std::fs::read(path).expect("a file")))
        .collect();
    let restore = || {
        std::fs::remove_dir_all(&ledger).expect("ours");
        for (path, bytes) in &killed {
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            std::fs::write(path, bytes).expect("a file");
        }
    };
    let sealed = || std::fs::read(ledger.join("ledger.sqlite")).expect("a file");
    assert_eq!(bench.ask(&["verify", "small"]).code, Some(0));
    let good = sealed();
    let mut random = SEED;
    println!("seed {SEED:#x}");
    let (mut noticed, mut gone) = (0, 0);
    for (path, bytes) in &killed {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if bytes.is_empty() || name.contains("lock") || name.ends_with("-shm") {
            continue;
        }
        let times = if name.starts_with("ledger.sqlite") { BYTES_OF_DATABASE } else { 1 };
        for _ in 0..times {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888);
            let at = usize::try_from(random >> 33).expect("31 bits") % bytes.len();
            restore();
            let mut changed = bytes.clone();
            changed[at] ^= 0x20;
            std::fs::write(path, changed).expect("a file");
            let verified = bench.ask(&["verify", "small"]);
            match verified.code {
                Some(1) => noticed += 1,
                Some(0) => {
                    assert!(verified.out.contains("sealed now"), "{name} {at}: {}", verified.out);
                    assert!(sealed() == good, "{name} byte {at} is sealed");
                    gone += 1;
                }
                _ => panic!("{name} byte {at}: {}{}", verified.out, verified.err),
            }
        }
    }
    assert!(noticed >= 40 && gone >= 10, "{noticed} noticed, {gone} gone");
}

#[test]
fn one_leader_at_a_time() {
    let waits = "touch \"$ASSAY_DROP_BOX/here\"; sleep 600";
    let bench = Bench::new(THREE, waits, JUDGE);
    let agent = format!("command:sh {}", bench.path(".assay/desk/small/agent.sh"));
    let args = ["run", "small", "--worker", &agent, "--verifier", &agent, "--format", "json"];
    let mut first = bench.desk(&args).stdout(Stdio::piped()).spawn().expect("assay runs");
    let mut lines = BufReader::new(first.stdout.take().expect("a pipe")).lines();
    let out = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("dispatched")));
    assert!(out.is_some(), "a Worker is out");
    for other in [&args[..2], &["amend", "small", "--by", "me", "--why", "so"]] {
        let second = bench.ask(other);
        assert_eq!(second.code, Some(75), "{}{}", second.out, second.err);
    }
    // Looking is allowed.
    assert_eq!(bench.ask(&["status", "small"]).code, Some(0));
    first.kill().expect("SIGKILL");
    first.wait().expect("it ends");
    let ended = bench.ask(&["abort", "small", "--why", "enough"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(bench.ask(&args).code, Some(1), "an end is the end");
}

#[test]
fn a_check_that_kills_the_leader_each_time_ends_the_campaign() {
    // Only where no kernel keeps it from that can a test end whoever runs it.
    let kill = "work; cat > t/kill <<'X'\np=$PPID\nup() { cut -d' ' -f4 /proc/$1/stat; }\n\
                while [ \"$(cat /proc/$p/comm)\" != assay ]; do p=$(up $p); done\n\
                while [ \"$(cat /proc/$(up $p)/comm)\" = assay ]; do p=$(up $p); done\n\
                kill -9 $p\nX\nsed -i '1i . t/kill' t/1.sh; commit; sign";
    let bench = Bench::new(USUAL, kill, JUDGE);
    for _ in 0..3 {
        let killed = bench.run(&["--sandbox", "off"]);
        assert_eq!(killed.code, None, "{}\n{}", killed.out, killed.err);
        assert_eq!(bench.ask(&["verify", "small"]).code, Some(0));
    }
    let ended = bench.run(&["--sandbox", "off"]);
    assert_eq!(ended.code, Some(1), "{}\n{}", ended.out, ended.err);
    assert!(ended.out.contains("category infra_failure"), "{}", ended.out);
    assert!(ended.out.contains("and had no end: the Leader died"), "{}", ended.out);
    assert_eq!(bench.ask(&["verify", "small"]).code, Some(0));
}

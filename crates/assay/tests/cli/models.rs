//! `assay guard mutate`, `vacuity` and `states`, through the real binary and a real checker.

use super::{Run, assay, finished, json, run, scratch};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The distinct states of our module under its small configuration.
const STATES: u64 = 3557;

fn specs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs")
}

/// The jar that `make test` fetches, or that somebody named; without it a test says so.
fn jar() -> Option<String> {
    let named = std::env::var_os("ASSAY_TLC_JAR").map(PathBuf::from);
    let fetched = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/tla2tools.jar");
    let found = named.into_iter().chain([fetched]).find(|jar| jar.is_file());
    if found.is_none() {
        eprintln!("SKIPPED: no jar of TLC; scripts/install-deps.sh fetches one");
    }
    found.map(|jar| jar.display().to_string())
}

/// A copy of our modules in a repository of its own.
fn copied() -> tempfile::TempDir {
    let directory = scratch();
    let target = directory.path().join("specs");
    std::fs::create_dir(&target).expect("a directory");
    for entry in std::fs::read_dir(specs()).expect("our modules") {
        let entry = entry.expect("an entry");
        std::fs::copy(entry.path(), target.join(entry.file_name())).expect("a copy");
    }
    for args in [
        &["init", "-q", "-b", "main"][..],
        &["add", "-A"],
        &["-c", "user.name=Ann", "-c", "user.email=a@b.c", "commit", "-qm", "all"],
    ] {
        let done = Command::new("git").args(args).current_dir(directory.path()).status();
        assert!(done.expect("git runs").success(), "git {args:?}");
    }
    directory
}

fn inside(directory: &Path, args: &[&str]) -> Run {
    finished(assay(args).current_dir(directory).output().expect("assay runs"))
}

/// How a record says how many states there are.
fn distinct(states: u64) -> String {
    format!("distinct = {states}")
}

fn edited(directory: &Path, file: &str, from: &str, to: &str) {
    let path = directory.join(file);
    let text = std::fs::read_to_string(&path).expect("a file");
    assert!(text.contains(from), "{file} has no {from:?}");
    std::fs::write(&path, text.replacen(from, to, 1)).expect("a file");
}

#[test]
fn each_property_of_our_own_module_notices_a_mutant() {
    let text = std::fs::read_to_string(specs().join("Desk_small.kills.toml")).expect("a record");
    let record: toml::Table = text.parse().expect("the record is TOML");
    let kills = record["kills"].as_table().expect("kills");
    let cfg = std::fs::read_to_string(specs().join("Desk_small.cfg")).expect("a configuration");
    let listed = cfg.split_once("INVARIANTS").expect("invariants").1;
    let names: Vec<&str> = listed.split_whitespace().filter(|w| *w != "PROPERTIES").collect();
    for name in &names {
        let noticed = kills[*name].as_array().map_or(0, Vec::len);
        assert!(noticed > 0, "{name} notices nothing, says the record");
    }
    let Some(jar) = jar() else { return };
    let file = specs().join("Desk.tla").display().to_string();
    let looked = run(&[
        "guard", "mutate", &file, "--quick", "--engine", "tlc", "--tlc", &jar, "--time", "10m",
        "--format", "json",
    ]);
    assert_eq!(looked.code, 0, "{}{}", looked.out, looked.err);
    let found = json(&looked);
    assert_eq!(found["findings"].as_array().map(Vec::len), Some(0), "{found}");
    assert_eq!(found["matrix"]["base"]["distinct"], STATES, "{}", found["matrix"]["base"]);
    let rows = found["matrix"]["rows"].as_array().expect("rows");
    assert!(!rows.is_empty() && rows.len() < 20, "{} mutants", rows.len());
    let noticed: BTreeSet<&str> = rows
        .iter()
        .flat_map(|row| row["violated"].as_array().into_iter().flatten())
        .filter_map(|name| name.as_str())
        .collect();
    let unnoticed: Vec<&&str> = names.iter().filter(|name| !noticed.contains(**name)).collect();
    assert!(unnoticed.is_empty(), "{unnoticed:?} noticed nothing just now");
    // No clock decides what is noticed: each was explored to an end, or to a number of states.
    let open = rows.iter().filter(|row| row["undecided"].as_array().is_some_and(|u| !u.is_empty()));
    assert_eq!(open.count(), 0, "{found}");
}

#[test]
fn an_invariant_made_trivial_is_reported_by_its_text_and_by_what_it_no_longer_notices() {
    let directory = copied();
    let place = directory.path();
    let claim = "tip # 0 => \\E s \\in Names : <<s, tip, 1>> \\in agreed";
    edited(place, "specs/Desk.tla", claim, &format!("({claim}) => TRUE"));
    let text = inside(place, &["guard"]);
    assert_eq!(text.code, 1, "{}{}", text.out, text.err);
    assert!(text.out.contains("T03") && text.out.contains("DK4_BranchIsAgreed"), "{}", text.out);
    let Some(jar) = jar() else { return };
    let args = ["guard", "mutate", "specs/Desk.tla", "--quick", "--tlc", &jar, "--time", "10m"];
    let kills = inside(place, &args);
    assert_eq!(kills.code, 1, "{}{}", kills.out, kills.err);
    let part = "weaker [S02] Desk!DK4_BranchIsAgreed\n    no longer notices ";
    assert!(kills.out.contains(part), "{}", kills.out);
}

#[test]
fn a_record_that_is_edited_to_fit_is_caught_by_the_guard() {
    let directory = copied();
    let place = directory.path();
    let path = place.join("specs/Desk_small.kills.toml");
    let text = std::fs::read_to_string(&path).expect("a record");
    let start = text.find("DK5_ChecksBeforeVerdicts = [").expect("a list");
    let end = start + text[start..].find(']').expect("an end") + 1;
    let shorter = format!("{}DK5_ChecksBeforeVerdicts = []{}", &text[..start], &text[end..]);
    std::fs::write(&path, shorter).expect("a file");
    edited(place, "specs/states.toml", &distinct(STATES), &distinct(STATES / 10));
    let found = inside(place, &["guard"]);
    assert_eq!(found.code, 1, "{}{}", found.out, found.err);
    for part in ["weaker [S02] Desk!DK5_ChecksBeforeVerdicts", "suspect [S04] Desk_small.cfg"] {
        assert!(found.out.contains(part), "{part}: {}", found.out);
    }
}

#[test]
fn without_a_checker_nothing_passes() {
    let file = specs().join("Desk.tla").display().to_string();
    for command in ["mutate", "vacuity", "states"] {
        let mut bare = assay(&["guard", command, &file]);
        bare.env("PATH", "/nowhere").env_remove("ASSAY_TLC_JAR").env_remove("ASSAY_TLA_CHECKER");
        let looked = finished(bare.output().expect("assay runs"));
        assert_eq!(looked.code, 69, "{}{}", looked.out, looked.err);
        assert!(looked.err.contains("tla2tools.jar"), "{}", looked.err);
        assert_eq!(looked.out, "", "nothing that could be taken for a result");
    }
    let mut bare = assay(&["doctor"]);
    bare.env("PATH", "/nowhere").env_remove("ASSAY_TLC_JAR").env_remove("ASSAY_TLA_CHECKER");
    let doctor = finished(bare.output().expect("assay runs"));
    assert!(doctor.out.contains("not here: TLC: needs java"), "{}", doctor.out);
    assert!(doctor.out.contains("not here: tla-checker: cargo install"), "{}", doctor.out);
}

#[test]
fn files_that_are_no_models_get_one_clear_line() {
    let directory = scratch();
    let place = directory.path();
    let spec = "---- MODULE A ----\nVARIABLE x\nInit == x = 0\nNext == x' = x\nI == x = 0\n====\n";
    let cfg = "INIT Init\nNEXT Next\nINVARIANT I\n";
    for (name, bytes) in [
        ("A.tla", spec.as_bytes()),
        ("A.cfg", cfg.as_bytes()),
        ("Alone.tla", spec.as_bytes()),
        ("Broken.tla", b"---- MODULE Broken ----\n]] ((\n====\n"),
        ("Binary.tla", b"\0\0\0"),
    ] {
        std::fs::write(place.join(name), bytes).expect("a file");
    }
    for (args, code, part) in [
        (&["mutate", "No.tla"][..], 69, "No.tla: cannot be read"),
        (&["mutate", "Alone.tla"], 64, "write Alone.cfg"),
        (&["mutate", "Broken.tla"], 65, "Broken.tla:2: is not TLA+"),
        (&["vacuity", "Binary.tla"], 65, "Binary.tla: is binary"),
        (&["states", "A.tla", "--tlc", "no.jar"], 69, "no.jar: there is no such jar"),
    ] {
        let looked = inside(place, &[&["guard"], args].concat());
        assert_eq!(looked.code, code, "{args:?}: {}{}", looked.out, looked.err);
        assert!(looked.err.contains(part), "{part}: {}", looked.err);
        assert_eq!(looked.err.lines().count(), 1, "{}", looked.err);
    }
}

#[test]
fn nothing_of_our_own_module_is_vacuous_until_a_condition_can_never_hold() {
    let Some(jar) = jar() else { return };
    let directory = copied();
    let place = directory.path();
    let args = ["guard", "vacuity", "specs/Desk.tla", "--tlc", &jar, "--time", "10m"];
    let sound = inside(place, &args);
    assert_eq!(sound.code, 0, "{}{}", sound.out, sound.err);
    let all = "every condition holds somewhere, every step is taken, every property notices a";
    assert!(sound.out.contains(all), "{}", sound.out);
    edited(place, "specs/Desk.tla", "why = \"complete\" =>", "why = \"perfect\" =>");
    let found = inside(place, &args);
    assert_eq!(found.code, 1, "{}{}", found.out, found.err);
    let never: Vec<&str> = found.out.lines().filter(|line| line.contains(" never ")).collect();
    // What stands below a condition that never holds is never asked either.
    let conditions = ["why = \"perfect\"", "r <= NeedFinal"];
    let wanted = conditions.map(|condition| format!("    its condition never holds: {condition}"));
    assert_eq!(never, wanted, "{}", found.out);
}

#[test]
fn states_that_are_fewer_than_on_record_are_told() {
    let Some(jar) = jar() else { return };
    let directory = copied();
    let place = directory.path();
    let more = STATES + 1;
    edited(place, "specs/states.toml", &distinct(STATES), &distinct(more));
    let args = ["guard", "states", "specs/Desk.tla", "--tlc", &jar, "--time", "10m"];
    let fewer = inside(place, &args);
    assert_eq!(fewer.code, 2, "{}{}", fewer.out, fewer.err);
    let told = format!("has {STATES} states instead of {more}");
    assert!(fewer.out.contains(&told), "{}", fewer.out);
    let recorded = inside(place, &[&args[..], &["--record"]].concat());
    assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
    let text = std::fs::read_to_string(place.join("specs/states.toml")).expect("a ledger");
    assert!(text.contains(&distinct(STATES)) && !text.contains(&more.to_string()), "{text}");
}

/// The state and the parent of a process, if it is there.
fn stat(pid: u32) -> Option<(char, u32)> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut rest = text.rsplit_once(") ")?.1.split(' ');
    Some((rest.next()?.chars().next()?, rest.next()?.parse().ok()?))
}

/// Whether a process is there and does not only wait to be reaped.
fn is_running(pid: u32) -> bool {
    stat(pid).is_some_and(|(state, _)| !matches!(state, 'Z' | 'X'))
}

/// The processes that a process started and that run.
fn children(parent: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").expect("/proc is there").flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let own = |pid: &u32| stat(*pid).is_some_and(|(_, of)| of == parent) && is_running(*pid);
    pids.filter(own).collect()
}

/// Waits until something is so, with a bound.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    let (_tell, never) = std::sync::mpsc::channel::<()>();
    while !is_so() {
        assert!(Instant::now() < end, "{what}: not within a minute");
        // Nobody tells: this only lets others run before it looks again.
        let _nothing = never.recv_timeout(Duration::from_millis(10));
    }
}

#[test]
fn a_checker_that_runs_ends_with_assay_even_if_that_is_killed() {
    let Some(jar) = jar() else { return };
    let (spec, config) = (specs().join("Desk.tla"), specs().join("Desk.cfg"));
    let mut started = assay(&["guard", "states"])
        .arg(&spec)
        .arg("--config")
        .arg(&config)
        .args(["--tlc", &jar, "--time", "10m"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("assay runs");
    until("the checker starts", || !children(started.id()).is_empty());
    let checkers = children(started.id());
    started.kill().expect("SIGKILL is sent");
    started.wait().expect("it is gone");
    until("the checker ends", || !checkers.iter().any(|pid| is_running(*pid)));
}

//! The same questions to every engine that is here: they agree.

use super::support::{BANK, CFG, bank, engines, jar, model};
use assay_mutate::campaign::{Effort, Matrix, Progress, run};
use assay_mutate::{CannotCheck, Engine, EngineChoice, Limits, choose, findings, vacuity};
use std::time::Duration;

fn limits() -> Limits {
    Limits { time: Duration::from_secs(300), memory_mib: 512, ..Limits::default() }
}

fn matrix(engine: &dyn Engine, source: &str, cfg: &str) -> Matrix {
    let (_directory, model) = model(source, cfg);
    let effort = Effort { mutants_max: 0, only: None, states_max: None, limits: limits() };
    run(engine, &model, &effort, &Progress::default()).expect("it is explored")
}

#[test]
fn states_are_counted_and_violations_are_named() {
    for engine in engines() {
        let sound = matrix(&*engine, BANK, CFG);
        let name = engine.name();
        assert_eq!(sound.base.distinct, 12, "{name}: {:?}", sound.base);
        assert!(sound.base.violated.is_empty(), "{name}: {:?}", sound.base);
        assert_eq!(sound.base.stopped, None, "{name}");
        // Two at once, and neither hides the other.
        let broken =
            BANK.replace("![b] = @ + 1", "![b] = @ + 2").replace("moved \\cup {a}", "moved");
        let broken = broken.replace("bal[a] > 0\n", "bal[a] > 0 /\\ bal[b] < 2\n");
        let found = matrix(&*engine, &broken, CFG).base.violated;
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        assert_eq!(found, ["Conserved", "Known", "TypeOK"], "{name}");
    }
}

#[test]
fn steps_behaviours_and_deadlocks_are_told_apart() {
    for (change, to, wanted) in [
        ("    /\\ phase = \"open\"\n    /\\ a # b", "    /\\ a # b", "ClosedStays"),
        ("WF_vars(Close)", "TRUE", "Closes"),
        ("    \\/ Rest\n", "", "(deadlock)"),
    ] {
        for engine in engines() {
            let found = matrix(&*engine, &BANK.replace(change, to), CFG).base;
            let names: Vec<&str> = found.violated.iter().map(String::as_str).collect();
            assert_eq!(names, [wanted], "{}: {found:?}", engine.name());
        }
    }
}

#[test]
fn what_is_not_well_formed_is_refused_and_what_goes_wrong_is_told() {
    for engine in engines() {
        let (_directory, lost) = model(&BANK.replace("    /\\ UNCHANGED phase\n", ""), CFG);
        let refused = engine.ask(&lost, &lost.question(), &limits());
        assert!(matches!(refused, Err(CannotCheck::Rejected { .. })), "{refused:?}");
        let (_directory, outside) = model(&BANK.replace("![a] = @ - 1", "![a] = bal[7]"), CFG);
        let stopped = engine.ask(&outside, &outside.question(), &limits()).expect("an answer");
        assert!(stopped.stopped.is_some() && stopped.undecided.is_empty(), "{stopped:?}");
    }
}

#[test]
fn a_limit_leaves_open_what_was_not_seen() {
    let endless = BANK.replace("moved \\cup {a}", "{Total(bal)}").replace("@ + 1", "@ + 2");
    for engine in engines() {
        let (_directory, model) = model(&endless, CFG);
        let few = Limits { time: Duration::from_secs(3), ..limits() };
        let answer = engine.ask(&model, &model.question(), &few).expect("an answer");
        assert!(answer.stopped.is_some(), "{}: {answer:?}", engine.name());
        assert!(answer.undecided.contains("ClosedStays"), "{}: {answer:?}", engine.name());
    }
}

#[test]
fn a_limit_on_states_cuts_at_the_same_place_each_time_and_says_so() {
    let endless = BANK.replace("@ + 1", "@ + 2");
    for engine in engines() {
        let (_directory, model) = model(&endless, CFG);
        let few = Limits { states: Some(100), ..limits() };
        let ask = || engine.ask(&model, &model.question(), &few).expect("an answer");
        let answer = ask();
        assert!(answer.bounded && answer.stopped.is_none(), "{}: {answer:?}", engine.name());
        assert!(answer.undecided.is_empty(), "{}: {answer:?}", engine.name());
        assert!(answer.violated.contains("Conserved"), "{}: {answer:?}", engine.name());
        assert_eq!(answer, ask(), "{}", engine.name());
        let (_directory, sound) = bank();
        let whole = engine.ask(&sound, &sound.question(), &few).expect("an answer");
        assert!(!whole.bounded, "{}: it has fewer: {whole:?}", engine.name());
    }
}

#[test]
fn a_condition_that_never_holds_and_a_step_that_is_never_taken_are_found() {
    let vacuous = BANK
        .replace("bal[a] = 0 =>", "bal[a] = 7 =>")
        .replace("Rest ==\n    /\\ phase = \"closed\"", "Rest ==\n    /\\ phase = \"shut\"")
        .replace("phase = \"closed\" => UNCHANGED", "phase' = \"shut\" => UNCHANGED");
    for engine in engines() {
        let (_directory, sound) = bank();
        let reached = vacuity::run(&*engine, &sound, &limits()).expect("it is explored");
        let found = findings::of_reached(&sound, &reached);
        assert!(found.is_empty(), "{}: {found:#?}", engine.name());
        let (_directory, model) = model(&vacuous, CFG);
        let reached = vacuity::run(&*engine, &model, &limits()).expect("it is explored");
        let found = findings::of_reached(&model, &reached);
        let objects: Vec<&str> = found.iter().map(|f| f.object.as_str()).collect();
        let wanted = ["Bank!Known", "Bank!ClosedStays", "Bank!Rest"];
        assert_eq!(objects, wanted, "{}: {found:#?}", engine.name());
        assert!(found[0].reason.contains("bal[a] = 7"), "{found:#?}");
    }
}

#[test]
fn a_property_made_trivial_notices_less_and_a_quick_look_sees_it() {
    let Some(engine) = engines().into_iter().last() else { return };
    let (_directory, sound) = bank();
    let effort = Effort { mutants_max: 10, only: None, states_max: None, limits: limits() };
    let whole = run(&*engine, &sound, &effort, &Progress::default()).expect("explored");
    let kills = whole.kills();
    let text = kills.to_toml();
    let record = findings::Recorded { file: "Bank.kills.toml".into(), text, record: kills };
    let trivial =
        BANK.replace("Conserved == Total(bal) = 2", "Conserved == Total(bal) = 2 => TRUE");
    let (_directory, weaker) = model(&trivial, CFG);
    let effort = Effort { only: Some(&record.record), ..effort };
    for (model, expected) in [(&sound, 0), (&weaker, 1)] {
        let quick = run(&*engine, model, &effort, &Progress::default()).expect("explored");
        assert!(
            quick.rows.len() < whole.rows.len(),
            "{} of {}",
            quick.rows.len(),
            whole.rows.len()
        );
        let found = findings::of_matrix(model, &quick, Some(&record));
        let less: Vec<&str> =
            found.iter().filter(|f| f.rule.0 == "S02").map(|f| f.object.as_str()).collect();
        assert_eq!(less.len(), expected, "{found:#?}");
        assert!(less.iter().all(|object| *object == "Bank!Conserved"), "{found:#?}");
    }
}

#[test]
fn a_missing_engine_is_an_error_that_says_what_to_do() {
    let error = choose(&EngineChoice::Tlc(Some("/no/such.jar".into()))).err().expect("an error");
    let text = error.to_string();
    assert!(text.contains("/no/such.jar") && text.contains("tla2tools.jar"), "{text}");
    // A jar that is none is no engine either.
    if jar().is_some() {
        let directory = tempfile::tempdir().expect("a directory");
        let fake = directory.path().join("tla2tools.jar");
        std::fs::write(&fake, "words").expect("a file");
        let engine = choose(&EngineChoice::Tlc(Some(fake))).expect("java is here");
        let (_directory, model) = bank();
        let answer = engine.ask(&model, &model.question(), &limits());
        assert!(matches!(answer, Err(CannotCheck::Babble { .. })), "{answer:?}");
    }
}

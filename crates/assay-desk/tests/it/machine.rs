//! The state machine, driven by whatever can happen.

use super::contract;
use assay_desk::artifact::{
    Artifact, Citation, CriterionVerdict, ReportedIssue, Signal, Status, Verdict,
};
use assay_desk::contract::{Category, MappedTest};
use assay_desk::event::{
    Amended, Checked, Dispatch, Event, Opened, Outcome, Returned, Revision, Role, Scope, Step,
    Terminal,
};
use assay_desk::facts::Facts;
use assay_desk::gate::{Finding, Severity};
use assay_desk::state::{Effect, Phase, State};
use assay_desk::{apply, step};
use proptest::prelude::*;

/// No campaign of these contracts takes longer.
const EVENTS_MAX: usize = 20_000;

fn at(number: u32) -> Revision {
    Revision { commit: format!("c{number}"), tree: format!("t{number}") }
}

fn opened(contract: assay_desk::contract::Contract) -> Opened {
    Opened { contract, source: String::new(), scores: vec![], base: at(0), sandbox: String::new() }
}

fn returned(dispatch: &Dispatch, artifact: Artifact, claim: Option<Revision>) -> Returned {
    Returned {
        run: dispatch.run,
        outcome: Outcome::Exited(0),
        artifact,
        claim,
        tampered: Vec::new(),
        elsewhere: Vec::new(),
        void: None,
        output: String::new(),
        ms: 5,
        tokens: 0,
        sandbox: String::new(),
    }
}

fn signal(dispatch: &Dispatch, status: Status) -> Artifact {
    Artifact::Signal(Signal {
        nonce: dispatch.nonce.clone(),
        story: dispatch.scope.name().to_string(),
        status,
        commit: None,
        resolves: vec![],
        tests: mapped(dispatch.scope.name()),
        reason: Some("no way".to_string()),
        notes: None,
    })
}

/// Three tests for each story: as many as a suite shows of three stories that goes well.
fn mapped(story: &str) -> Vec<MappedTest> {
    let test = |category| MappedTest {
        criterion: "AC-1".to_string(),
        name: format!("{story} {category:?}"),
        category,
    };
    [Category::Happy, Category::Negative, Category::Boundary].map(test).to_vec()
}

fn verdict(state: &State, dispatch: &Dispatch, met: bool, evidence: bool) -> Verdict {
    let criteria = match &dispatch.scope {
        Scope::Final => state.contract.criteria(),
        Scope::Story(id) => state.contract.story(id).expect("a story").criterion_ids(),
    };
    let evidence = if evidence {
        vec![Citation { command: vec!["x".into()], exit_code: 0, passed: None, failed: None }]
    } else {
        vec![]
    };
    let criteria = criteria
        .into_iter()
        .map(|criterion| CriterionVerdict { criterion, met, evidence: evidence.clone() })
        .collect();
    let (nonce, story) = (dispatch.nonce.clone(), dispatch.scope.name().to_string());
    Verdict { nonce, story, criteria, issues: vec![], question: None }
}

/// The choice with which an agent changes the contract.
const TAMPERS: u8 = 12 * 16 + 2;
/// The choice with which a command of the contract changes the toolchain, and the one with which
/// there is no tree to run it in.
const TESTS_TAMPER: u8 = 11 * 16 + 2;
const STUCK: u8 = 10 * 16 + 2;

/// What an agent may come back with.
fn agent_returns(state: &State, dispatch: &Dispatch, choice: u8) -> Event {
    if choice % 16 == 15 {
        return Event::Lost { run: dispatch.run };
    }
    let next = at(dispatch.run);
    let mut report = if dispatch.role == Role::Worker {
        match choice % 16 {
            0..=7 => returned(dispatch, signal(dispatch, Status::Verify), Some(next)),
            8 => returned(dispatch, signal(dispatch, Status::Continue), Some(next)),
            9 => returned(dispatch, signal(dispatch, Status::Continue), None),
            10 => returned(dispatch, signal(dispatch, Status::Blocked), None),
            11 => returned(dispatch, Artifact::Missing, None),
            12 => returned(dispatch, Artifact::Rejected("no".to_string()), None),
            13 => returned(dispatch, signal(dispatch, Status::Verify), None),
            _ => returned(dispatch, signal(dispatch, Status::Verify), Some(dispatch.at.clone())),
        }
    } else {
        let mut said = verdict(state, dispatch, choice % 16 != 8, choice % 16 != 9);
        match choice % 16 {
            10 => said.question = Some("why?".to_string()),
            11 => said.issues.push(ReportedIssue {
                criterion: said.criteria[0].criterion.clone(),
                severity: Severity::Critical,
                text: "no".to_string(),
                hint: None,
            }),
            _ => {}
        }
        let mut report = returned(dispatch, Artifact::Verdict(said), None);
        match choice % 16 {
            12 => report.artifact = Artifact::Missing,
            13 => report.void = Some("it changed the tree".to_string()),
            14 => report.artifact = Artifact::Rejected("no".to_string()),
            _ => {}
        }
        report
    };
    match choice / 16 {
        13 => report.outcome = Outcome::IdleTimeout,
        14 => report.outcome = Outcome::Exited(3),
        12 if choice == TAMPERS => report.tampered = vec!["contract.md was changed".to_string()],
        _ => {}
    }
    Event::Returned(Box::new(report))
}

/// An event that answers an effect.
pub fn answer(state: &State, effect: Effect, choice: u8) -> Event {
    match effect {
        Effect::Dispatch(p) => Event::Dispatched(Dispatch {
            run: p.run,
            iteration: p.iteration,
            role: p.role,
            scope: p.scope,
            engine: p.engine,
            nonce: "0123456789abcdef".to_string(),
            at: p.at,
            prompt: String::new(),
        }),
        Effect::Await(dispatch) => agent_returns(state, &dispatch, choice),
        Effect::Check(gate, step) => {
            let mut checked = Checked {
                scope: gate.scope.clone(),
                step: step.clone(),
                at: gate.at.clone(),
                findings: vec![],
                refuted: None,
                evidence: vec![],
                note: String::new(),
                tampered: vec![],
                stuck: None,
                ms: 0,
            };
            if choice.is_multiple_of(16) {
                checked.findings = vec![Finding::new("US-001/AC-1", Severity::Major, "no")];
            }
            if choice % 16 == 1 && matches!(step, Step::Citations(_)) {
                checked.refuted = Some("no".to_string());
            }
            match choice {
                TESTS_TAMPER => checked.tampered = vec!["cargo was changed".to_string()],
                STUCK => checked.stuck = Some("it cannot be put aside".to_string()),
                _ => {}
            }
            if step == Step::Suite {
                checked.evidence = vec![suite(choice)];
            }
            Event::Checked(Box::new(checked))
        }
        Effect::Accept(story, at) => Event::Verified { story, at },
        Effect::Fix(story, issues) => Event::FixIssued { story, issues },
        Effect::Ask(_) => Event::Answered { who: "me".to_string(), text: "because".to_string() },
        Effect::End(terminal) => Event::Ended(terminal),
        Effect::Stop(_) => unreachable!("the loop ends there"),
    }
}

/// A suite that passes, and with some choices shows less than is mapped, or fails in part.
fn suite(choice: u8) -> assay_desk::event::Evidence {
    let (passed, failed) = match choice % 16 {
        3 => (2, 0),
        4 => (9, 1),
        _ => (9, 0),
    };
    assay_desk::event::Evidence {
        command: vec![],
        tree: String::new(),
        exit: Some(0),
        ms: 1,
        stdout: String::new(),
        stderr: String::new(),
        file: None,
        tests: Some(assay_desk::event::Counts { passed, failed, skipped: 0 }),
    }
}

/// What counts towards an end, each with a limit of its own.
fn accounts(state: &State) -> Vec<usize> {
    let c = &state.counters;
    let counts = [c.failures, c.stale, c.infrastructure, c.lost, c.violations];
    let more = [c.blocks, c.questions, c.verdicts];
    let attempts: usize = state.stories.iter().map(|story| story.attempts.len()).sum();
    counts.iter().chain(&more).map(|count| *count as usize).chain([attempts]).collect()
}

/// Whether an event brought the campaign nearer to its goal; Workers that go on are counted as
/// iterations.
fn is_progress(event: &Event, next: &State) -> bool {
    match (event, &next.phase) {
        (Event::Checked(checked), _) => checked.passed(),
        (Event::Returned(returned), Phase::Gate(gate)) => {
            gate.pending.is_some() || returned.claim.is_some()
        }
        (Event::Returned(returned), _) => returned.claim.is_some(),
        (Event::Lost { .. }, _) => false,
        _ => true,
    }
}

/// Runs a campaign to its end; every event that is written down goes into a fold of its own.
fn run(mut state: State, facts: &mut Facts, choices: &[u8]) -> (Terminal, usize) {
    let mut effect = state.next();
    for i in 0..EVENTS_MAX {
        let event = answer(&state, effect, choices[i % choices.len()]);
        let forged = Event::Ended(Terminal::Complete { at: state.tip.clone() });
        if event != forged {
            let refused = apply(state.clone(), &forged);
            assert!(refused.is_err(), "COMPLETE was accepted at {:?}", state.phase);
        }
        let before = accounts(&state);
        let complete_before = facts.complete();
        let (next, following) = step(state, &event).unwrap_or_else(|refusal| panic!("{refusal}"));
        facts.note(&event);
        if let Event::Ended(terminal) = &event {
            if let Terminal::Complete { at } = terminal {
                assert_eq!(complete_before.as_ref(), Ok(at), "COMPLETE without its predicate");
            }
            assert!(matches!(next.phase, Phase::Ended(_)));
            for other in [event.clone(), forged, Event::Lost { run: next.run }] {
                assert!(apply(next.clone(), &other).is_err(), "an end must be the end");
            }
            return (terminal.clone(), i);
        }
        if !is_progress(&event, &next) {
            // A finding is on the account as soon as its gate is through.
            let noted = match &next.phase {
                Phase::Ending(_) => true,
                Phase::Gate(gate) => gate.findings.iter().any(Finding::blocks),
                _ => false,
            };
            let grew = accounts(&next).iter().zip(&before).any(|(after, before)| after > before);
            assert!(noted || grew, "{event:?} costs nothing");
        }
        (state, effect) = (next, following);
    }
    panic!("no end after {EVENTS_MAX} events: {:?}", state.phase);
}

pub fn begin(stories: usize, risk: &str, consensus: &str) -> (State, Facts) {
    let opened = opened(contract(stories, risk, consensus));
    let mut facts = Facts::default();
    facts.note(&Event::Opened(Box::new(opened.clone())));
    (State::open(&opened), facts)
}

/// A choice with which everything goes well.
pub const WELL: u8 = 2;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_campaign_ends_and_complete_only_with_its_predicate(
        choices in proptest::collection::vec(any::<u8>(), 1..200),
        stories in 1usize..4,
        kind in 0usize..3,
    ) {
        let (risk, consensus) =
            [("LOW", "critical"), ("MEDIUM", "all"), ("CRITICAL", "final")][kind];
        let (state, mut facts) = begin(stories, risk, consensus);
        run(state, &mut facts, &choices);
    }
}

#[test]
fn a_campaign_in_which_everything_goes_well_completes() {
    for (risk, consensus) in [("LOW", "critical"), ("CRITICAL", "all")] {
        let (state, mut facts) = begin(3, risk, consensus);
        let (terminal, events) = run(state, &mut facts, &[WELL]);
        assert_eq!(terminal.word(), "COMPLETE", "{terminal:?}");
        assert!(events > 40, "{events}");
    }
}

#[test]
fn each_way_of_not_getting_on_ends_in_its_own_category() {
    // The choice is what every Worker comes back with; checks pass with all of these.
    for (choice, expected) in [
        (11u8, "contract_violation"),
        (12, "contract_violation"),
        (10, "worker_blocked"),
        (9, "context_limit"),
        (13, "context_limit"),
        (13 * 16 + 2, "infra_failure"),
        (14 * 16 + 2, "infra_failure"),
        (TAMPERS, "integrity"),
        (TESTS_TAMPER, "integrity"),
        (STUCK, "infra_failure"),
        (15, "infra_failure"),
    ] {
        let (state, mut facts) = begin(1, "LOW", "critical");
        let (terminal, _) = run(state, &mut facts, &[choice]);
        match terminal {
            Terminal::Blocked { category, .. } => {
                let name = serde_json::to_value(category).expect("a word");
                assert_eq!(name, expected, "{choice}");
            }
            other => panic!("{choice}: {other:?}"),
        }
    }
}

#[test]
fn what_a_command_changed_is_never_forgotten() {
    let (mut state, mut facts) = begin(1, "LOW", "critical");
    // Everything goes well until COMPLETE is due; the record says the same but for one word.
    while !matches!(state.phase, Phase::Ending(_)) {
        let effect = state.next();
        let event = answer(&state, effect, WELL);
        let mut noted = event.clone();
        if let Event::Checked(checked) = &mut noted
            && checked.step == Step::Scope
        {
            checked.tampered = vec!["cargo was changed".to_string()];
            assert!(!checked.passed());
        }
        facts.note(&noted);
        state = apply(state, &event).unwrap_or_else(|refusal| panic!("{refusal}"));
    }
    let missing = facts.complete().expect_err("it is not complete");
    assert_eq!(missing, ["protected files are unchanged"]);
}

#[test]
fn a_suite_that_shows_less_than_is_mapped_fails_the_gate_at_the_end() {
    for choice in [3, 4] {
        let (mut state, mut facts) = begin(1, "LOW", "critical");
        let whole = |effect: &Effect| matches!(effect, Effect::Check(_, Step::Suite));
        while !whole(&state.next()) {
            let event = answer(&state, state.next(), WELL);
            state = apply(state, &event).expect("it follows");
            facts.note(&event);
        }
        let event = answer(&state, state.next(), choice);
        state = apply(state, &event).expect("it follows");
        facts.note(&event);
        // The checks that are left are done, too: whoever mends it is told everything.
        while matches!(state.next(), Effect::Check(..)) {
            let event = answer(&state, state.next(), WELL);
            state = apply(state, &event).expect("it follows");
            facts.note(&event);
        }
        assert!(matches!(state.phase, Phase::Fix(..)), "{:?}", state.phase);
        assert!(facts.complete().is_err());
        assert_eq!(run(state, &mut facts, &[WELL]).0.word(), "COMPLETE", "once it is mended");
    }
}

#[test]
fn the_end_needs_two_verifiers_if_one_story_is_critical_or_the_contract_says_so() {
    for (risk, consensus, wanted) in [
        ("LOW", "critical", 1),
        ("HIGH", "critical", 1),
        ("CRITICAL", "critical", 2),
        ("LOW", "final", 2),
        ("LOW", "all", 2),
    ] {
        let (mut state, _) = begin(2, "LOW", consensus);
        state.contract.stories[0].risk = begin(1, risk, consensus).0.contract.stories[0].risk;
        assert_eq!(state.needed(&Scope::Final).len(), wanted, "{risk} {consensus}");
        let (whole, mut facts) = begin(1, risk, consensus);
        assert_eq!(run(whole, &mut facts, &[WELL]).0.word(), "COMPLETE", "{risk} {consensus}");
    }
}

#[test]
fn without_each_of_the_proofs_at_the_end_nothing_is_complete() {
    for (risk, left_out, said) in [
        ("LOW", Step::Kept, "tests from before at"),
        ("LOW", Step::Sabotage, "tests made to fail at"),
        ("LOW", Step::Red, "RED proof at"),
        ("CRITICAL", Step::Mutation, "mutation evidence at"),
    ] {
        let (mut state, mut facts) = begin(1, risk, "critical");
        while !matches!(state.phase, Phase::Ended(_)) {
            let event = answer(&state, state.next(), WELL);
            state = apply(state, &event).expect("it follows");
            let is_left_out = matches!(&event, Event::Checked(checked)
                if checked.step == left_out && checked.scope == Scope::Final);
            if !is_left_out && !matches!(event, Event::Ended(_)) {
                facts.note(&event);
            }
        }
        let missing = facts.complete().expect_err("something is missing");
        assert!(missing.len() == 1 && missing[0].starts_with(said), "{missing:?}");
    }
}

#[test]
fn an_end_that_the_record_does_not_show_is_a_gate_that_failed() {
    let (mut state, empty) = begin(1, "LOW", "critical");
    let last = |state: &State| match &state.phase {
        Phase::Gate(gate) => gate.scope == Scope::Final && gate.pending.is_some(),
        _ => false,
    };
    while !last(&state) {
        let event = answer(&state, state.next(), WELL);
        state = apply(state, &event).expect("it follows");
    }
    state.facts = empty;
    let event = answer(&state, state.next(), WELL);
    let state = apply(state, &event).expect("it follows");
    let Phase::Fix(_, findings) = &state.phase else { panic!("{:?}", state.phase) };
    assert!(findings.iter().any(|finding| finding.text.contains("verified")), "{findings:?}");
}

#[test]
fn a_leader_that_dies_takes_nothing_from_the_budget_of_the_work() {
    let text = super::contract_text(1, "LOW", "critical");
    let text = text.replacen("iterations = 6", "iterations = 1", 1);
    let mut state = State::open(&opened(assay_desk::contract::read(&text).expect("a contract")));
    for died in 0..3 {
        let sent = answer(&state, state.next(), WELL);
        assert!(matches!(&sent, Event::Dispatched(_)), "after {died}: {sent:?}");
        state = apply(state, &sent).expect("it follows");
        let lost = Event::Lost { run: state.run };
        state = apply(state, &lost).expect("it follows");
    }
    let mut facts = state.facts.clone();
    assert_eq!(run(state, &mut facts, &[WELL]).0.word(), "COMPLETE");
}

#[test]
fn time_and_tokens_of_agents_run_out_as_iterations_do() {
    for (limit, said) in [
        ("agent_seconds = 2", Some("agents worked for 2 seconds")),
        ("agent_seconds = 3", None),
        ("tokens = 200", Some("200 tokens are used up")),
        ("tokens = 201", None),
        ("tokens = 0", None),
    ] {
        let text = super::contract_text(1, "LOW", "critical");
        let text = text.replacen("failures = 4", &format!("failures = 4\n{limit}"), 1);
        let contract = assay_desk::contract::read(&text).expect("a contract");
        let mut state = State::open(&opened(contract));
        // Two Workers that go on, each with a second and a hundred tokens.
        for run in 1..=2 {
            let sent = answer(&state, state.next(), WELL);
            let Event::Dispatched(dispatch) = &sent else { panic!("{limit}: {sent:?}") };
            state = apply(state, &sent).expect("it follows");
            let goes_on = signal(dispatch, Status::Continue);
            let mut back = returned(dispatch, goes_on, Some(at(run)));
            (back.ms, back.tokens) = (1000, 100);
            state = apply(state, &Event::Returned(Box::new(back))).expect("it follows");
        }
        match (state.next(), said) {
            (Effect::End(Terminal::Timeout { reason }), Some(said)) => assert_eq!(reason, said),
            (Effect::Dispatch(_), None) => {}
            (other, _) => panic!("{limit}: {other:?}"),
        }
    }
}

#[test]
fn time_of_commands_runs_out_as_that_of_agents_does() {
    for (limit, said) in [
        ("gate_seconds = 2", Some("commands ran for 2 seconds")),
        ("gate_seconds = 3", None),
        ("agent_seconds = 2", None),
    ] {
        let text = super::contract_text(1, "LOW", "critical");
        let text = text.replacen("failures = 4", &format!("failures = 4\n{limit}"), 1);
        let contract = assay_desk::contract::read(&text).expect("a contract");
        let mut state = State::open(&opened(contract));
        // A claim whose first two checks take a second each, and that fails.
        let mut seconds = 0;
        while !matches!(state.next(), Effect::Fix(..)) {
            let mut event = answer(&state, state.next(), WELL);
            if let Event::Checked(checked) = &mut event {
                checked.ms = if seconds < 2 { 1000 } else { 0 };
                seconds += 1;
                if checked.step == Step::Scope {
                    checked.findings = vec![Finding::new("scope", Severity::Major, "no")];
                }
            }
            state = apply(state, &event).expect("it follows");
        }
        let fix = answer(&state, state.next(), WELL);
        state = apply(state, &fix).expect("it follows");
        match (state.next(), said) {
            (Effect::End(Terminal::Timeout { reason }), Some(said)) => assert_eq!(reason, said),
            (Effect::Dispatch(_), None) => {}
            (other, _) => panic!("{limit}: {other:?}"),
        }
    }
}

#[test]
fn a_story_that_keeps_failing_gets_the_next_engine_and_then_a_person() {
    let (mut state, _) = begin(1, "LOW", "critical");
    let mut engines = Vec::new();
    let terminal = loop {
        let effect = state.next();
        if let Effect::Dispatch(proposal) = &effect {
            engines.push(proposal.engine.clone());
        }
        let event = match &effect {
            Effect::Await(_) => answer(&state, effect, WELL),
            Effect::Check(_, Step::Tests(_)) => answer(&state, effect, 0),
            _ => answer(&state, effect, WELL),
        };
        state = apply(state, &event).expect("it follows");
        if let Phase::Ended(terminal) = &state.phase {
            break terminal.clone();
        }
    };
    assert_eq!(engines, ["a", "a", "b", "b"]);
    assert!(matches!(terminal, Terminal::Blocked { .. }), "{terminal:?}");
}

#[test]
fn an_amendment_invalidates_what_depended_on_the_change_and_nothing_else() {
    let (mut state, _) = begin(3, "LOW", "critical");
    while state.stories.iter().filter(|story| story.verified.is_some()).count() < 2 {
        let event = answer(&state, state.next(), WELL);
        state = apply(state, &event).expect("it follows");
    }
    let amend = |state: &State, from: &str, to: &str| {
        let text = super::contract_text(3, "LOW", "critical").replacen(from, to, 1);
        let contract = assay_desk::contract::read(&text).expect("a contract");
        let amended = Amended {
            contract,
            source: String::new(),
            scores: vec![],
            old: state.contract.hash.clone(),
            who: "me".to_string(),
            why: "because".to_string(),
        };
        let next = apply(state.clone(), &Event::Amended(Box::new(amended))).expect("amended");
        next.stories.iter().map(|story| story.verified.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(amend(&state, "Then it is 1", "Then it is 11"), [false, true, false]);
    assert_eq!(amend(&state, "Then it is 3", "Then it is 33"), [true, true, false]);
    assert_eq!(amend(&state, "iterations = 6", "iterations = 7"), [true, true, false]);
    let outdated = "outdated = [\"old\"]\ntests = [";
    assert_eq!(amend(&state, "tests = [", outdated), [true, true, false]);
    assert_eq!(amend(&state, "t/all", "t/every"), [false, false, false]);
}

#[test]
fn an_end_that_was_computed_does_not_survive_an_amendment_and_the_campaign_goes_on() {
    // Nothing that a story depends on changes, yet the whole has to be shown again.
    let complete = |phase: &Phase| matches!(phase, Phase::Ending(Terminal::Complete { .. }));
    let judged = |phase: &Phase| match phase {
        Phase::Gate(gate) => gate.scope == Scope::Final && gate.done == gate.steps.len(),
        _ => false,
    };
    for stop in [&complete as &dyn Fn(&Phase) -> bool, &judged] {
        let (mut state, _) = begin(2, "LOW", "critical");
        while !stop(&state.phase) {
            let event = answer(&state, state.next(), WELL);
            state = apply(state, &event).expect("it follows");
        }
        let text = super::contract_text(2, "LOW", "critical").replacen("Numbers.", "Digits.", 1);
        state = amended(state, &text);
        assert!(state.stories.iter().all(|story| story.verified.is_some()));
        let mut facts = state.facts.clone();
        let (terminal, _) = run(state, &mut facts, &[WELL]);
        assert_eq!(terminal.word(), "COMPLETE");
    }
}

fn amended(state: State, text: &str) -> State {
    let amended = Amended {
        contract: assay_desk::contract::read(text).expect("a contract"),
        source: String::new(),
        scores: vec![],
        old: state.contract.hash.clone(),
        who: "me".to_string(),
        why: "because".to_string(),
    };
    apply(state, &Event::Amended(Box::new(amended))).expect("amended")
}

#[test]
fn stories_in_another_order_begin_with_the_one_that_is_first_now() {
    let text = super::contract_text(2, "LOW", "critical");
    let first = text.find("\n### US-001").expect("a story");
    let second = text.find("\n### US-002").expect("a story");
    let turned = [&text[..first], &text[second..], &text[first..second]].concat();
    let (mut state, _) = begin(2, "LOW", "critical");
    while !matches!(state.phase, Phase::Gate(_)) {
        let event = answer(&state, state.next(), WELL);
        state = apply(state, &event).expect("it follows");
    }
    let state = amended(state, &turned);
    let view = assay_desk::invariants::View::of(&state);
    assert_eq!(assay_desk::invariants::DK3.judge(None, &view), None, "{view:?}");
    let mut facts = state.facts.clone();
    assert_eq!(run(state, &mut facts, &[WELL]).0.word(), "COMPLETE");
}

#[test]
fn whoever_agreed_to_a_story_did_not_agree_to_what_it_says_now() {
    // Everything but a Verifier is shown again after an amendment, at the same trees.
    let (state, mut facts) = begin(1, "LOW", "critical");
    let (mut state, mut events) = (state, Vec::new());
    while !matches!(state.phase, Phase::Ending(Terminal::Complete { .. })) {
        let event = answer(&state, state.next(), WELL);
        state = apply(state, &event).expect("it follows");
        facts.note(&event);
        events.push(event);
    }
    assert!(facts.complete().is_ok());
    let text = super::contract_text(1, "LOW", "critical");
    let text = text.replacen("Then it is 1", "Then it is 11", 1);
    let amended = Amended {
        contract: assay_desk::contract::read(&text).expect("a contract"),
        source: String::new(),
        scores: vec![],
        old: state.contract.hash.clone(),
        who: "me".to_string(),
        why: "because".to_string(),
    };
    facts.note(&Event::Amended(Box::new(amended)));
    let of_a_story = |event: &Event| match event {
        Event::Checked(c) => matches!((&c.scope, &c.step), (Scope::Story(_), Step::Citations(_))),
        _ => false,
    };
    for event in events.iter().filter(|event| !of_a_story(event)) {
        facts.note(event);
    }
    assert_eq!(facts.complete(), Err(vec!["Verifier of US-001".to_string()]));
    for event in events.iter().filter(|event| of_a_story(event)) {
        facts.note(event);
    }
    assert!(facts.complete().is_ok(), "{:?}", facts.complete());
}

#[test]
fn an_amendment_before_a_story_is_verified_takes_its_checks_back_as_well() {
    let (mut state, _) = begin(1, "LOW", "critical");
    while !matches!(state.phase, Phase::Accept(_)) {
        let event = answer(&state, state.next(), WELL);
        state = apply(state, &event).expect("it follows");
    }
    let text = super::contract_text(1, "LOW", "critical");
    let state = amended(state, &text.replacen("Then it is 1", "Then it is 11", 1));
    let view = assay_desk::invariants::View::of(&state);
    assert_eq!(view.checked, [None, None], "{view:?}");
    let mut facts = state.facts.clone();
    assert_eq!(run(state, &mut facts, &[WELL]).0.word(), "COMPLETE");
}

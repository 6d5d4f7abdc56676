//! Contracts that cannot be run, each with its line.

use super::contract_text;
use assay_desk::contract::{Level, lint, read, scores};
use proptest::prelude::*;

/// The first mistake in a contract that differs from a good one in one place.
fn mistake(from: &str, to: &str) -> (usize, String) {
    let good = contract_text(2, "LOW", "critical");
    assert!(good.contains(from), "{from}");
    let errors = read(&good.replacen(from, to, 1)).expect_err(to);
    let first = errors.0.first().expect("a mistake");
    (first.line, first.message.clone())
}

#[test]
fn every_mistake_has_a_line_and_says_what_to_do() {
    let mut wrong = Vec::new();
    for (from, to, line, words) in [
        ("# Contract: small", "# Small", 1, "# Contract: slug"),
        ("# Contract: small", "# Contract: Not A Slug", 1, "joined by dashes"),
        ("## Objective\nNumbers.", "", 1, "no objective"),
        ("tests = [\"t/**\"]", "tests = []", 6, "`tests` is empty"),
        ("tests = [\"t/**\"]", "tests = [\"../t\"]", 6, "stay inside"),
        ("results = \"tap\"\n[agents]", "[agents]", 6, "no `results`"),
        ("verifier = \"c\"", "verifer = \"c\"", 15, "unknown field"),
        ("iterations = 6", "iterations = 0", 6, "limit of 0"),
        ("iterations = 6", "gate_seconds = 0", 6, "limit of 0"),
        ("tests =", "mutants_percent = 59\ntests =", 6, "from 60 to 100"),
        ("tests =", "mutants_percent = 101\ntests =", 6, "from 60 to 100"),
        ("### US-001: Number 1", "### US-1: Number 1", 24, "US-001: title"),
        ("### US-002", "### US-001", 43, "twice"),
        ("- AC-1\n", "- AC-x\n", 25, "AC-1"),
        ("  - When the reader asks\n", "", 25, "needs a When"),
        ("  - When the reader asks", "  - Perhaps the reader asks", 27, "Given, When and Then"),
        ("Then it is 1", "Then it is what US-002 says", 25, "built later"),
        ("Then it is 1", "Then it is what US-009 says", 25, "names no story"),
        ("risk = \"LOW\"", "risk = \"SMALL\"", 31, "unknown variant"),
        ("paths = [\"n1\"]", "paths = []", 24, "`paths` is empty"),
        ("not_applicable = \"alone\"", "not_applicable = \"TODO\"", 24, "why it does not apply"),
        ("not_applicable = \"alone\"", "status = \"TODO\"", 35, "TODO is neither"),
        ("{ run = [\"sh\", \"n1\", \"x\"], exit = 2 }", "{ run = [\"sh\"] }", 24, "is refused"),
        ("[layers.L3]", "[layers.L5]", 37, "unknown variant"),
    ] {
        let (found, message) = mistake(from, to);
        if !message.contains(words) || found != line {
            wrong.push(format!("{to}: line {found}, not {line}: {message}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_budget_of_tokens_is_warned_of_where_an_agent_does_not_tell_them() {
    for (worker, tokens, said) in [
        ("command:sh a", 9, Some("`command:sh a`")),
        ("acp:gemini", 9, Some("`acp:gemini`")),
        ("mine", 9, Some("`mine`")),
        ("command:sh a", 0, None),
        ("claude:opus", 9, None),
        ("codex", 9, None),
        ("scripted:a.toml", 9, None),
    ] {
        let text = contract_text(1, "LOW", "critical");
        let text = text.replacen("\"a\", \"b\"", &format!("\"{worker}\""), 1);
        let own = "[agents.engines.mine]\nengine = \"command\"\ncommand = [\"sh\"]\n[limits]";
        let text = text.replacen("[limits]", &format!("{own}\ntokens = {tokens}"), 1);
        let contract = read(&text).unwrap_or_else(|errors| panic!("{errors:?}"));
        let complaints = lint(&contract, &scores(&contract));
        let told = complaints.iter().find(|complaint| complaint.message.contains("`tokens`"));
        assert_eq!(told.is_some(), said.is_some(), "{worker} {tokens}: {complaints:?}");
        if let (Some(told), Some(said)) = (told, said) {
            assert!(told.level == Level::Warning && told.message.contains(said), "{told:?}");
        }
    }
}

#[test]
fn layers_follow_risk_and_settings() {
    let high = contract_text(1, "HIGH", "critical");
    assert!(read(&high).is_ok());
    let without = high.replacen("[layers.L4]\nnot_applicable = \"not deployed\"\n", "", 1);
    let errors = read(&without).expect_err("HIGH asks for L4");
    assert!(errors.0[0].message.contains("L4 is missing"), "{errors}");
    let low = contract_text(1, "LOW", "critical");
    let external = low.replacen("consensus", "external = true\nconsensus", 1);
    let errors = read(&external).expect_err("L2 applies");
    assert!(errors.0[0].message.contains("it applies"), "{errors}");
}

#[test]
fn a_vague_criterion_is_refused_and_only_a_person_can_waive_that() {
    let vague = contract_text(1, "LOW", "critical").replacen(
        "- Given a reader\n  - When the reader asks\n  - Then it is 1",
        "- When parse_all() and the table are run\n  - Then it works as AC-2 says",
        1,
    );
    let contract = read(&vague).expect("it can be read");
    let complaints = lint(&contract, &scores(&contract));
    assert!(complaints.iter().any(|c| c.level == Level::Error), "{complaints:?}");
    let waiver = "waivers = [{ law = \"IL-2\", by = \"me\", why = \"a spike\" }]\n[layers.L1]";
    let waived = read(&vague.replacen("[layers.L1]", waiver, 1)).expect("it can be read");
    let complaints = lint(&waived, &scores(&waived));
    assert!(complaints.iter().all(|c| c.level == Level::Warning), "{complaints:?}");
    let other = waiver.replace("IL-2", "IL-1");
    let errors = read(&vague.replacen("[layers.L1]", &other, 1)).expect_err("not that one");
    assert!(errors.0[0].message.contains("cannot be waived"), "{errors}");
}

#[test]
fn a_reader_can_only_lower_a_score() {
    let contract = super::contract(1, "LOW", "critical");
    let mut all = scores(&contract);
    let before = all[0].total();
    let given = [("US-001/AC-1".to_string(), [2, 2, 2, 0, 2, 2])].into_iter().collect();
    assay_desk::contract::lower(&mut all, &given);
    assert_eq!(all[0].total(), before - 2);
}

#[test]
fn parts_have_hashes_of_their_own() {
    let text = contract_text(2, "LOW", "critical");
    let old = read(&text).expect("a contract");
    let new = read(&text.replacen("Then it is 2", "Then it is 22", 1)).expect("a contract");
    assert_ne!(old.hash, new.hash);
    assert_eq!(old.sections["US-001"], new.sections["US-001"]);
    assert_ne!(old.sections["US-002"], new.sections["US-002"]);
    assert_eq!(old.sections["campaign"], new.sections["campaign"]);
}

#[test]
fn documents_of_rlp_desk_become_a_contract() {
    let prd = "# PRD: fruit\n## Objective\nTotals.\n## User Stories\n### US-001: Total\n- Risk: \
               HIGH\n- **AC1**:\n  - Given: a shopper\n  - When: the shopper asks\n  - Then: it \
               is 4\n## Non-Goals\n- AC9: none\n";
    let spec = "## Verification Commands\n### Test\n```bash\npytest -v\n```\n| US | AC | Test |\n\
                |---|---|---|\n| US-001 | AC1 | tests/a.py :: test_total | L1 |\n";
    let imported = assay_desk::import(prd, Some(spec)).expect("a contract");
    let errors = read(&imported.text).expect_err("what nobody said is not guessed");
    assert!(errors.0[0].message.contains("expected one of `happy`"), "{errors:?}");
    // Each gap has one place, and a person fills it.
    let mut text = imported.text.clone();
    for (gap, filled) in [
        ("tests = []", "tests = [\"tests/**\"]"),
        ("run = [\"pytest\",\"-v\"]\n", "run = [\"pytest\",\"-v\"]\nresults = \"pytest\"\n"),
        ("run = [\"pytest\",\"-v\"] }", "run = [\"pytest\",\"-v\"], results = \"pytest\" }"),
        ("paths = []", "paths = [\"src/**\"]"),
        (
            "[layers.L3]\ncommands = []",
            "[layers.L3]\ncommands = [{ run = [\"a\"] }, { run = [\"b\"], exit = 1 }]\n\
             [layers.L2]\nnot_applicable = \"alone\"\n[layers.L4]\nnot_applicable = \"not yet\"",
        ),
        ("category = \"\"", "category = \"happy\""),
    ] {
        assert!(text.contains(gap), "{gap}: {text}");
        assert!(read(&text).is_err(), "{gap} was no gap: {text}");
        text = text.replacen(gap, filled, 1);
    }
    let contract = read(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let story = &contract.stories[0];
    assert_eq!(story.criteria[0].then, ["it is 4"]);
    assert_eq!(story.tests[0].name, "tests/a.py::test_total");
    assert_eq!(contract.settings.suite.run, ["pytest", "-v"]);
    assert_eq!(story.criteria.len(), 1, "what follows the stories belongs to none");
    assert!(assay_desk::import("# PRD: fruit\n", None).is_err());
}

proptest! {
    #[test]
    fn a_contract_with_a_piece_cut_out_or_doubled_is_read_or_refused_with_a_line(
        from in 0usize..2000, length in 0usize..200, twice in any::<bool>(),
    ) {
        let text = contract_text(2, "CRITICAL", "all");
        let cut = |at: usize| (at..=text.len()).find(|i| text.is_char_boundary(*i));
        let (from, to) = (cut(from.min(text.len())), cut((from + length).min(text.len())));
        let (from, to) = (from.expect("a boundary"), to.expect("a boundary"));
        let changed = if twice {
            format!("{}{}", &text[..to], &text[from..])
        } else {
            format!("{}{}", &text[..from], &text[to..])
        };
        match read(&changed) {
            Ok(contract) => {
                lint(&contract, &scores(&contract));
            }
            Err(errors) => {
                let lines = changed.lines().count().max(1);
                prop_assert!(errors.0.iter().all(|m| m.line >= 1 && m.line <= lines + 1));
            }
        }
    }
}

//! `assay plan`, through the real binary.

use super::{assay, json, run, run_with, scratch, write};

const BASE: &str = include_str!("../../../assay-plan/tests/lint/base.md");

/// The base with a fault that does not exist.
fn misspelled() -> String {
    BASE.replace("fault = \"leader-iso\"", "fault = \"leader-isl\"")
}

#[test]
fn a_new_plan_is_written_once_and_lints_with_placeholders_only() {
    let directory = scratch();
    let new = |extra: &[&str]| {
        let args =
            [&["plan", "new", "--slug", "no-lost-append", "--sut", "orders"], extra].concat();
        let output = assay(&args).current_dir(directory.path()).output().expect("assay runs");
        super::finished(output)
    };
    let first = new(&["--model", "log"]);
    assert_eq!(first.code, 0, "{}{}", first.out, first.err);
    let path = directory.path().join("docs/testing-plans/no-lost-append.md");
    let text = std::fs::read_to_string(&path).expect("the plan was written");
    assert!(text.contains("no-lost-ack"), "the checker of a log");
    let again = new(&[]);
    assert_eq!(again.code, 69, "{}", again.err);
    assert!(again.err.contains("left alone"), "{}", again.err);
    assert_eq!(std::fs::read_to_string(&path).expect("still there"), text, "not overwritten");
    let shown = path.display().to_string();
    let lint = run(&["plan", "lint", &shown, "--format", "json"]);
    assert_eq!(lint.code, 65);
    let findings = json(&lint)["findings"].as_array().expect("findings").clone();
    assert!(findings.iter().all(|finding| finding["code"] == "P010"), "{findings:?}");
}

#[test]
fn bad_names_are_usage_errors() {
    for args in [
        &["plan", "new", "--slug", "Not A Slug", "--sut", "x"][..],
        &["plan", "new", "--slug", "../../etc", "--sut", "x"],
        &["plan", "new", "--slug", "a-b", "--sut", "x", "--model", "tree"],
        &["plan", "lint"],
    ] {
        assert_eq!(run(args).code, 64, "{args:?}");
    }
    assert_eq!(run(&["plan", "lint", "no-such-file.md"]).code, 69);
}

#[test]
fn findings_lead_with_the_answer_and_show_place_reason_and_fix() {
    let lint = run_with(&["plan", "lint", "-"], misspelled().as_bytes());
    assert_eq!(lint.code, 65, "{}", lint.err);
    assert!(lint.out.starts_with("-: 1 error, 2 warnings\n"), "{}", lint.out);
    for part in ["error[P061]", "-:148:9", "fault = \"leader-isl\"", "did you mean `leader-iso`?"] {
        assert!(lint.out.contains(part), "{part}: {}", lint.out);
    }
    assert!(lint.out.trim_end().ends_with("next: assay explain P061"), "{}", lint.out);
}

#[test]
fn warnings_fail_only_when_they_are_denied() {
    assert_eq!(run_with(&["plan", "lint", "-"], BASE.as_bytes()).code, 0);
    let denied = ["plan", "lint", "-", "--deny", "warnings"];
    assert_eq!(run_with(&denied, BASE.as_bytes()).code, 65);
    let examples = ["replicated-register", "queue-at-least-once", "payment-ledger"];
    let examples = examples.map(|name| format!("../plans/{name}.md"));
    // What is asked of others is kept by the plan about Assay itself.
    for path in examples.into_iter().chain(["../../plans/assay-server.md".to_string()]) {
        let path = super::example(&path);
        let clean = run(&["plan", "lint", &path, "--deny", "warnings"]);
        assert_eq!(clean.code, 0, "{}", clean.out);
        assert!(clean.out.ends_with(": clean\n"), "{}", clean.out);
    }
}

#[test]
fn sarif_names_rule_place_and_level() {
    let args = ["plan", "lint", "-", "--format", "sarif"];
    let log = json(&run_with(&args, misspelled().as_bytes()));
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let results = run["results"].as_array().expect("results");
    let result = results.iter().find(|result| result["ruleId"] == "P061").expect("the finding");
    assert_eq!(result["level"], "error");
    let region = &result["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region["startLine"], 148);
    assert_eq!(region["endColumn"], 21);
    let index = result["ruleIndex"].as_u64().expect("an index") as usize;
    assert_eq!(run["tool"]["driver"]["rules"][index]["id"], "P061");
}

#[test]
fn github_annotations_are_escaped() {
    let directory = scratch();
    let plan = BASE.replace("| safety |", "| a%b:c,d |");
    let path = write(&directory, "a,b:c.md", plan.as_bytes());
    let out = run(&["plan", "lint", &path.display().to_string(), "--format", "github"]).out;
    let line = out.lines().find(|line| line.contains("P021")).expect("the finding");
    assert!(line.starts_with("::error file="), "{line}");
    assert!(line.contains("a%2Cb%3Ac.md,line=22,col="), "{line}");
    assert!(line.contains("::`a%25b:c,d` is no category%0Ahelp: "), "{line}");
    assert_eq!(
        out.lines().count(),
        out.matches("::error ").count()
            + out
                .matches(
                    "::warning \
        "
                )
                .count()
    );
}

#[test]
fn control_characters_of_a_plan_never_reach_the_terminal() {
    let hostile = BASE
        .replace("reads are linearizable", "re\u{1b}[31mads\u{202e} \u{9b}2J are")
        .replace("| safety |", "| s\u{7}\u{1b}]0;x\u{7} |")
        .replace("fault = \"leader-iso\"", "fault = \"x\\u001b[31m\"")
        .replace("# Test Plan: register", "# Test Plan: re\u{1b}gister");
    for args in [
        &["plan", "lint", "-"][..],
        &["plan", "show", "-"],
        &["plan", "matrix", "-"],
        &["plan", "lint", "-", "--format", "github"],
        &["plan", "lint", "-", "--format", "json"],
        &["plan", "lint", "-", "--format", "sarif"],
    ] {
        let run = run_with(args, hostile.as_bytes());
        let raw = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        let shown = run.out.clone() + &run.err;
        let human = !args.contains(&"json") && !args.contains(&"sarif");
        let found = shown.chars().find(|c| if human { raw(*c) } else { *c == '\u{1b}' });
        assert_eq!(found, None, "{args:?}: {shown:?}");
    }
}

#[test]
fn what_is_no_text_or_too_much_is_one_clear_error() {
    let binary = run_with(&["plan", "lint", "-"], b"# Test\n\xff\xfe");
    assert_eq!(binary.code, 65);
    assert!(binary.err.contains("-:2: is not UTF-8"), "{}", binary.err);
    let large = run_with(&["plan", "lint", "-"], &vec![b'x'; 5 << 20]);
    assert_eq!(large.code, 65);
    assert!(large.out.contains("P001"), "{}", large.out);
}

#[test]
fn verdicts_are_shown_beside_their_scenarios() {
    let directory = scratch();
    let plan = write(&directory, "p.md", BASE.as_bytes()).display().to_string();
    let results = write(
        &directory,
        "r.json",
        b"{\"S1\": \"PASS-hardening\", \"S3/api\": \"FAIL-reproducible\"}",
    );
    let results = results.display().to_string();
    let show = run(&["plan", "show", &plan, "--results", &results, "--format", "json"]);
    let claims = &json(&show)["claims"];
    assert_eq!(claims[0]["scenarios"][0]["verdict"], "PASS-hardening");
    assert_eq!(claims[1]["scenarios"][0]["verdict"], "NOT-RUN");
    assert_eq!(claims[2]["scenarios"][1]["verdict"], "FAIL-reproducible");
    let people = run(&["plan", "show", &plan, "--results", &results]).out;
    assert!(people.starts_with("register-under-partition: 3 claims"), "{people}");
    let bad = write(&directory, "bad.json", b"[1]").display().to_string();
    assert_eq!(run(&["plan", "show", &plan, "--results", &bad]).code, 65);
}

#[test]
fn matrix_and_diff_have_both_forms() {
    let directory = scratch();
    let old = write(&directory, "old.md", BASE.as_bytes()).display().to_string();
    let weaker = BASE.replace("seeds = 3\n", "seeds = 2\n");
    let new = write(&directory, "new.md", weaker.as_bytes()).display().to_string();
    let matrix = json(&run(&["plan", "matrix", &old, "--format", "json"]));
    assert_eq!(matrix["rows"][0]["claim"], "C1");
    let diff = run(&["plan", "diff", &old, &new]);
    assert!(diff.out.contains("1 change, 1 weaker, 0 stronger"), "{}", diff.out);
    let changes = json(&run(&["plan", "diff", &old, &new, "--format", "json"]));
    assert_eq!(changes["changes"][0]["what"], "budget.hardening");
    assert_eq!(changes["changes"][0]["direction"], "weaker");
}

#[test]
fn every_rule_technique_fault_and_pitfall_has_a_page() {
    for rule in assay_plan::rules::RULES.iter() {
        let page = run(&["explain", &rule.code.to_string()]);
        assert_eq!(page.code, 0, "{}", rule.code);
    }
    for args in [
        &["explain", "technique"][..],
        &["explain", "technique", "jepsen-and-elle"],
        &["explain", "fault", "leader-iso"],
        &["explain", "fault", "asymmetric-partition"],
        &["explain", "pitfall", "16"],
        &["explain", "signal"],
    ] {
        let page = run(args);
        assert_eq!(page.code, 0, "{args:?}: {}", page.err);
        assert!(page.out.lines().count() > 3, "{args:?}: {}", page.out);
    }
    assert_eq!(run(&["explain", "technique", "luck"]).code, 64);
    assert_eq!(run(&["explain", "pitfall", "17"]).code, 64);
}

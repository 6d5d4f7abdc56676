//! Results of mutation tools, as those tools write them.

use assay_desk::contract::{MutantsFormat, read as contract};
use assay_desk::gate::mutants::{Mutants, Tool, read};

const CARGO: &str = r#"{
  "outcomes": [
    {"scenario": "Baseline", "summary": "Success", "log_path": "log/baseline.log",
     "phase_results": [{"phase": "Build", "duration": 1.5, "process_status": "Success"}]},
    {"scenario": {"Mutant": {"package": "p", "file": "src/lib.rs", "replacement": "0",
      "genre": "FnValue"}}, "summary": "CaughtMutant", "log_path": "log/a.log"}
  ],
  "total_mutants": 8, "missed": 2, "caught": 3, "timeout": 1, "unviable": 2, "success": 0,
  "start_time": "2025-09-01T10:00:00Z", "end_time": "2025-09-01T10:01:00Z",
  "cargo_mutants_version": "25.3.1"
}"#;
const MUTMUT: &str = r#"{
  "killed": 7, "survived": 1, "total": 14, "no_tests": 2, "skipped": 1, "suspicious": 1,
  "timeout": 1, "check_was_interrupted_by_user": 0, "segfault": 1
}"#;
const JUNIT: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<testsuites disabled="0" errors="1" failures="1" tests="5" time="0.0">
 <testsuite disabled="0" errors="1" failures="1" name="mutmut" skipped="1" tests="5" time="0">
  <testcase name="Mutant #1" file="basket.py" line="2"><system-out>-a +b</system-out></testcase>
  <testcase name="Mutant #2" file="basket.py" line="3"/>
  <testcase name="Mutant #3"><failure type="failure" message="bad_survived">x</failure></testcase>
  <testcase name="Mutant #4"><error type="timeout" message="bad_timeout">x</error></testcase>
  <testcase name="Mutant #5"><skipped type="skipped" message="untested"/></testcase>
 </testsuite>
</testsuites>"#;

#[test]
fn figures_are_read_as_tools_write_them() {
    use MutantsFormat::{CargoMutants, Counts, Mutmut, MutmutJunit};
    let plain = r#"{"caught": 3, "missed": 1}"#;
    for (format, text, figures) in [
        (CargoMutants, CARGO, Some([3, 2, 1, 2])),
        // Those that were only built were not caught.
        (CargoMutants, &CARGO.replace("\"missed\": 2", "\"missed\": 0"), Some([3, 2, 1, 2])),
        (CargoMutants, &CARGO.replace("\"caught\": 3", "\"caught\": 9"), None),
        (CargoMutants, &CARGO.replace("total_mutants", "mutants"), None),
        (CargoMutants, plain, None),
        (Mutmut, MUTMUT, Some([7, 5, 1, 1])),
        (Mutmut, r#"{"total": 2, "killed": 2}"#, Some([2, 0, 0, 0])),
        (Mutmut, r#"{"total": 1, "killed": 2}"#, None),
        (Mutmut, "", None),
        (MutmutJunit, JUNIT, Some([2, 2, 0, 1])),
        // Half a file may hide a mutant that was missed.
        (MutmutJunit, &JUNIT[..JUNIT.len() - 90], Some([2, 3, 0, 0])),
        (MutmutJunit, "", Some([0, 0, 0, 0])),
        (Counts, plain, Some([3, 1, 0, 0])),
        (Counts, r#"{"caught":1,"missed":2,"timeout":3,"unviable":4}"#, Some([1, 2, 3, 4])),
        (Counts, r#"{"caught":1,"missed":0,"killed":3}"#, None),
        (Counts, r#"{"caught":-1,"missed":0}"#, None),
        (Counts, r#"{"caught":1}"#, None),
        (Counts, "3", None),
    ] {
        let found = read(format, text).ok();
        let found = found.map(|m| [m.caught, m.missed, m.timeout, m.unviable]);
        assert_eq!(found, figures, "{format:?}: {text}");
    }
}

/// The tool of a contract whose campaign says this.
fn tool(said: &str) -> Tool {
    let text = super::contract_text(1, "CRITICAL", "critical");
    let text = text.replacen("tests =", &format!("{said}\ntests ="), 1);
    let contract = contract(&text).unwrap_or_else(|errors| panic!("{errors:?}"));
    Tool::of(&contract.settings).expect("it names a tool")
}

#[test]
fn enough_mutants_must_be_tried_and_caught() {
    let usual = "mutation = { run = [\"sh\", \"m\"] }";
    let strict = format!("{usual}\nmutants_percent = 90");
    for (said, text, wanted) in [
        (usual, r#"{"caught":3,"missed":2}"#, Ok("3 of 5 mutants caught (60 %), 2 missed")),
        (usual, r#"{"caught":59,"missed":41}"#, Err("59 of 100 mutants caught (59 %)")),
        (usual, r#"{"caught":3,"missed":1,"timeout":2}"#, Err("(50 %)")),
        (usual, r#"{"caught":3,"missed":1,"unviable":20}"#, Ok("20 unviable")),
        (usual, r#"{"caught":0,"missed":0,"unviable":9}"#, Err("no mutant was tried")),
        (usual, "{}", Err("mutants.json of the mutation tool cannot be read")),
        (&strict, r#"{"caught":8,"missed":1}"#, Err("at least 90 % have to be caught")),
        (&strict, r#"{"caught":9,"missed":1}"#, Ok("(90 %)")),
    ] {
        let found = tool(said).judged(Some(text.as_bytes())).map(|mutants| mutants.to_string());
        let fits = match (&found, wanted) {
            (Ok(found), Ok(wanted)) => found.contains(wanted),
            (Err(found), Err(wanted)) => found.contains(wanted),
            _ => false,
        };
        assert!(fits, "{said} {text}: {found:?}");
    }
    let none = tool(usual).judged(None).expect_err("nothing was written");
    assert!(none.contains("wrote no mutants.json"), "{none}");
}

#[test]
fn a_tool_is_known_by_its_words_or_said_and_has_its_file() {
    let (cargo, mutmut) = ("mutants.out/outcomes.json", "mutants/mutmut-cicd-stats.json");
    for (said, file, through) in [
        ("mutation = { run = [\"cargo\", \"mutants\"] }", cargo, true),
        ("mutation = { run = [\"/x/cargo-mutants\", \"mutants\"] }", cargo, true),
        ("mutation = { run = [\"sh\", \"-c\", \"mutmut run\"] }", mutmut, false),
        ("mutation = { run = [\"sh\", \"m\"] }", "mutants.json", false),
        ("mutation = { run = [\"sh\", \"m\"] }\nmutants = \"cargo-mutants\"", cargo, true),
        ("mutation = { run = [\"x\"] }\nmutants = \"mutmut-junit\"", "mutmut.xml", false),
        ("mutation = { run = [\"cargo\", \"mutants\"], file = \"o.json\" }", "o.json", true),
    ] {
        let tool = tool(said);
        assert_eq!(tool.command.file.as_deref(), Some(file), "{said}");
        for code in [2, 3] {
            let expected = if through { code } else { 0 };
            assert_eq!(tool.ended(Some(code)).exit, expected, "{said}: {code}");
        }
        assert_eq!(tool.ended(Some(4)).exit, 0, "its own tests fail: {said}");
    }
    assert_eq!(
        Mutants::default().to_string().split(',').next(),
        Some("0 of 0 mutants caught (0 %)")
    );
}

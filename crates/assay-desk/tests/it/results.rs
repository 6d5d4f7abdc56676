//! Outputs of real runners, and what they say.

use assay_desk::contract::ResultFormat;
use assay_desk::results::{Results, Status, read};
use proptest::prelude::*;

fn names(results: &Results, status: Status) -> Vec<String> {
    results.of(status).map(str::to_string).collect()
}

fn check(format: ResultFormat, text: &str, passed: &[&str], failed: &[&str], skipped: &[&str]) {
    let results = read(format, text);
    assert_eq!(names(&results, Status::Passed), passed, "{text}");
    assert_eq!(names(&results, Status::Failed), failed, "{text}");
    assert_eq!(names(&results, Status::Skipped), skipped, "{text}");
}

#[test]
fn libtest() {
    let text = "running 4 tests\ntest a::adds ... ok\ntest a::panics - should panic ... ok\n\
                test b ... FAILED\ntest slow ... ignored, takes long\n\nfailures:\n    b\n\n\
                test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out\n";
    check(ResultFormat::Libtest, text, &["a::adds", "a::panics"], &["b"], &["slow"]);
    // The same name in two binaries: the worse one counts.
    let twice = "test a ... ok\ntest a ... FAILED\n";
    check(ResultFormat::Libtest, twice, &[], &["a"], &[]);
}

#[test]
fn nextest() {
    let text = "    Starting 3 tests across 2 binaries\n        PASS [   0.004s] (1/3) demo \
                tests::adds\n        FAIL [   0.005s] (2/3) demo::it b\n        SKIP [         ] \
                (3/3) demo slow\n     Summary [   0.010s] 2 tests run: 1 passed, 1 failed\n";
    check(ResultFormat::Nextest, text, &["tests::adds"], &["b"], &["slow"]);
}

#[test]
fn pytest() {
    let text = "collected 4 items\n\ntests/a.py::test_one PASSED      [ 25%]\n\
                tests/a.py::test_two[x-1] FAILED  [ 50%]\ntests/a.py::test_three SKIPPED (why) \
                [ 75%]\ntests/a.py::test_four XFAIL [100%]\n\n= short test summary info =\n\
                FAILED tests/a.py::test_two[x-1] - assert 1 == 2\n";
    let skipped = ["tests/a.py::test_four", "tests/a.py::test_three"];
    let failed = ["tests/a.py::test_two[x-1]"];
    check(ResultFormat::Pytest, text, &["tests/a.py::test_one"], &failed, &skipped);
    let broken = "=== short test summary info ===\nERROR tests/a.py - ImportError: cannot import \
                  name 'x'\nERROR tests/b.py::test_b - no fixture\n=== 2 errors in 0.1s ===\n";
    check(ResultFormat::Pytest, broken, &[], &["tests/a.py", "tests/b.py::test_b"], &[]);
    // `-rA` prints what passing tests logged.
    let logged = "=== PASSES ===\n___ test_one ___\n--- Captured log call ---\nERROR    \
                  root:a.py:5 no price for a::b\nERROR root said so\n=== short test summary info \
                  ===\nPASSED tests/a.py::test_one\nPASSED tests/a.py::test_two[a - b]\n=== 2 \
                  passed in 0.1s ===\n";
    let both = ["tests/a.py::test_one", "tests/a.py::test_two[a - b]"];
    check(ResultFormat::Pytest, logged, &both, &[], &[]);
}

#[test]
fn unittest() {
    let text = "test_a (tests.test_m.T.test_a) ... ok\ntest_b (tests.test_m.T.test_b) ... FAIL\n\
                test_c (tests.test_m.T.test_c)\nWhat c is for. ... skipped 'later'\n\
                test_d (tests.test_m.T) ... ok\ntest_e (tests.test_m.T.test_e) ... expected \
                failure\n\n======\nFAIL: test_b (tests.test_m.T.test_b)\n";
    let passed = ["tests.test_m.T.test_a", "tests.test_m.T.test_d"];
    let skipped = ["tests.test_m.T.test_c", "tests.test_m.T.test_e"];
    check(ResultFormat::Unittest, text, &passed, &["tests.test_m.T.test_b"], &skipped);
}

#[test]
fn go() {
    let text = "=== RUN   TestA\n--- PASS: TestA (0.00s)\n    --- FAIL: TestB/one (0.00s)\n\
                --- FAIL: TestB (0.01s)\n--- SKIP: TestC (0.00s)\nFAIL\n";
    check(ResultFormat::Go, text, &["TestA"], &["TestB", "TestB/one"], &["TestC"]);
    let json = "{\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"TestA\"}\n\
                {\"Action\":\"fail\",\"Package\":\"p\",\"Test\":\"TestB\"}\n\
                {\"Action\":\"fail\",\"Package\":\"p\"}\n";
    check(ResultFormat::Go, json, &["TestA"], &["TestB"], &[]);
}

#[test]
fn jest_and_vitest() {
    let text = "> test\n> jest --json\n\n{\"numTotalTests\":3,\"testResults\":[{\"name\":\"a.js\",\
                \"status\":\"failed\",\"assertionResults\":[{\"fullName\":\"sum adds\",\"status\":\
                \"passed\"},{\"fullName\":\"sum fails\",\"status\":\"failed\"},{\"fullName\":\"sum \
                waits\",\"status\":\"pending\"}]},{\"name\":\"b.js\",\"status\":\"failed\",\
                \"assertionResults\":[]}]}\n";
    check(ResultFormat::Jest, text, &["sum adds"], &["b.js", "sum fails"], &["sum waits"]);
    check(ResultFormat::Jest, "not JSON", &[], &[], &[]);
    let forged = format!(
        "{{\"testResults\":[{{\"assertionResults\":[{{\"fullName\":\"sum fails\",\"status\":\
         \"passed\"}}]}}]}}\n{text}"
    );
    check(ResultFormat::Jest, &forged, &["sum adds"], &["b.js", "sum fails"], &["sum waits"]);
}

#[test]
fn tap_as_node_prints_it() {
    let text = "TAP version 13\n# Subtest: outer\n    # Subtest: inner\n    ok 1 - inner\n    \
                1..1\nok 1 - outer\nnot ok 2 - broken\n  ---\n  error: x\n  ...\nok 3 - later # \
                SKIP\nok 4 - some day # TODO write\n1..4\n";
    let skipped = ["later", "some day"];
    check(ResultFormat::Tap, text, &["outer", "outer > inner"], &["broken"], &skipped);
    let cut = "1..3\nok 1 - a\n";
    let missing = ["tests that were planned and did not come"];
    check(ResultFormat::Tap, cut, &["a"], &missing, &[]);
}

#[test]
fn junit() {
    let text = "<?xml version=\"1.0\"?><testsuites><testsuite name=\"s\"><testcase \
                classname=\"a.B\" name=\"c &amp; d\"/><testcase classname=\"a.B\" \
                name=\"e\"><failure message=\"x\"/></testcase><testcase name=\"f\">\
                <skipped/></testcase></testsuite></testsuites>";
    check(ResultFormat::Junit, text, &["a.B.c & d"], &["a.B.e"], &["f"]);
    let half = "<testsuite><testcase name=\"a\"/><testcase name=\"b\"";
    check(ResultFormat::Junit, half, &["a"], &["the file ends in the middle"], &[]);
}

#[test]
fn colours_do_not_matter() {
    let text = "test a ... \u{1b}[32mok\u{1b}[0m\n";
    check(ResultFormat::Libtest, text, &["a"], &[], &[]);
}

const FORMATS: [ResultFormat; 8] = [
    ResultFormat::Libtest,
    ResultFormat::Nextest,
    ResultFormat::Pytest,
    ResultFormat::Unittest,
    ResultFormat::Go,
    ResultFormat::Jest,
    ResultFormat::Tap,
    ResultFormat::Junit,
];

proptest! {
    #[test]
    fn whatever_is_printed_no_reader_fails_or_invents_a_pass(text in "(?s).{0,400}") {
        for format in FORMATS {
            let results = read(format, &text);
            let words = ["ok", "PASS", "pass", "testcase"];
            if !words.iter().any(|word| text.contains(word)) {
                prop_assert_eq!(results.counts().passed, 0);
            }
        }
    }

    #[test]
    fn pieces_in_any_order_are_read(parts in proptest::collection::vec(0usize..12, 0..20)) {
        let pieces = [
            "test a ... ", "ok", "\n", "PASS [ 1s] x y", "t::a PASSED", "a (b.c) ... ",
            "--- PASS: ",
            "{\"Action\":", "not ok 1 - ", "<testcase name=\"", "\u{1b}[", "1..9\n",
        ];
        let text: String = parts.iter().map(|part| pieces[*part]).collect();
        for format in FORMATS {
            read(format, &text);
        }
    }
}

#[test]
fn tests_of_one_name_are_counted_and_what_is_said_twice_is_not() {
    for (format, text, name, times, passed) in [
        (ResultFormat::Libtest, "test a ... ok\ntest a ... ok\n", "a", 2, 2),
        (ResultFormat::Libtest, "test a ... ok\ntest a ... FAILED\n", "a", 2, 1),
        (ResultFormat::Go, "--- PASS: TestA (0.0s)\n--- FAIL: TestA (0.0s)\n", "TestA", 2, 1),
        (
            ResultFormat::Go,
            "{\"Action\":\"pass\",\"Package\":\"a\",\"Test\":\"TestA\"}\n{\"Action\":\"pass\",\
             \"Package\":\"b\",\"Test\":\"TestA\"}\n",
            "TestA",
            2,
            2,
        ),
        (
            ResultFormat::Nextest,
            "FAIL [ 0.1s] (1/3) d::a t\nPASS [ 0.1s] (2/3) d::b t\nSummary\nFAIL [ 0.1s] (1/3) \
             d::a t\n",
            "t",
            2,
            1,
        ),
        (
            ResultFormat::Pytest,
            "t.py::a PASSED\n== short test summary info ==\nPASSED t.py::a\n",
            "t.py::a",
            1,
            1,
        ),
        (ResultFormat::Unittest, "a (t.C.a) ... FAIL\n\n=====\nFAIL: a (t.C.a)\n", "t.C.a", 1, 0),
        (ResultFormat::Tap, "ok 1 - a\nnot ok 2 - a\n", "a", 2, 1),
    ] {
        let results = read(format, text);
        assert_eq!((results.times(name), results.passed(name)), (times, passed), "{text}");
    }
}

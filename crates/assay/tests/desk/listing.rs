//! Which tests there are is asked of the runner: what is tested can print anything.

use super::{Bench, USUAL, Wish};

pub(super) const PATIENT: Wish = Wish { limits: "iterations = 2\nidle_seconds = 60", ..USUAL };
const CONTRACT: &str = include_str!("../../src/commands/desk/demo/contract.md");

/// A basket and its tests, in Python; what the lie is stands in `$loud`, `$third`, `$currency` and
/// `$hook`. The Worker runs its tests before it commits, as Workers do.
pub(super) const BUILD: &str = r#"cat > basket.py <<X
import os, sys
$loud
def currency():
    $currency
def total(prices):
    if any(price < 0 for price in prices):
        raise ValueError("a price is below zero")
    return float(sum(prices))
if __name__ == "__main__":
    try:
        print(f"{total([float(price) for price in sys.argv[1:]]):.2f}")
    except ValueError:
        sys.exit(2)
X
mkdir -p tests
echo "$hook" > tests/__init__.py
cat > tests/test_basket.py <<X
import unittest
from basket import total
class Total(unittest.TestCase):
    def test_two_prices(self):
        self.assertEqual(total([2.50, 1.50]), 4.00)
    def test_nothing(self):
        self.assertEqual(total([]), 0.0)
$third
X
python3 -m unittest discover -t . -s tests || :
commit; sign"#;
pub(super) const HONEST: &str = "third='    def test_below_zero(self):
        self.assertRaises(ValueError, total, [-1.00])'\nloud=''\nhook=''\n\
                      currency='return \"EUR\"'\n";
/// A person lets the work set up runners, so that what a hook does is looked at.
pub(super) const RUNNERS: &str = "runners = [\"**\"]\n";
/// A program that teaches its runner to call a failure a success.
const TAUGHT: &str = "currency='return \"USD\"'\nloud='import unittest as u
old = getattr(u.TextTestResult, \"add\" + \"Failure\")
def said(self, test, why):
    (self.addSuccess(test) if \"currency\" in test.id() else old(self, test, why))
setattr(u.TextTestResult, \"add\" + \"Failure\", said)'\n";
/// A hook that leaves tests out.
const LEFT_OUT: &str = "currency='return \"USD\"'\nhook='def load_tests(loader, standard, pattern):
    from tests import test_basket
    return loader.loadTestsFromModule(test_basket)'\n";
/// Lies, each besides what an honest Worker writes, what is said about it, and with which settings.
const LIES: [(&str, &str, &str, &str); 9] = [
    (
        "a test that only prints that it passed",
        "third=''\nloud='sys.stderr.write(\"test_below_zero \
         (tests.test_basket.Total.test_below_zero) ... ok\\n\")'\n",
        "`tests.test_basket.Total.test_below_zero` does not exist: its runner does not list",
        "",
    ),
    ("an old test that fails", "currency='return \"USD\"'\n", "1 tests fail", ""),
    (
        "an old test that fails and is left out by a hook",
        LEFT_OUT,
        "`tests.test_currency.Currency.test_it` was listed before the work and is not now",
        RUNNERS,
    ),
    ("a hook that leaves tests out", LEFT_OUT, "the hook `load_tests` was added", ""),
    ("a program that has to do with a runner", TAUGHT, "a runner is imported", ""),
    (
        "an old test that fails and is called a success by the program",
        TAUGHT,
        "passed before the work, was made to fail with it, and is said to pass",
        RUNNERS,
    ),
    (
        "tests of a tool that only look whether the desk is there",
        "currency='return \"EUR\" if \"/.assay/\" in os.getcwd() else \"USD\"'\n",
        "asks whether it is being tested (`.assay`)",
        "",
    ),
    (
        "an old test that fails and is called a success by a hook",
        "currency='return \"USD\"'\nhook='import unittest
old = unittest.TextTestResult.addFailure
def said(self, test, why):
    (self.addSuccess(test) if \"currency\" in test.id() else old(self, test, why))
setattr(unittest.TextTestResult, \"add\" + \"Failure\", said)'\n",
        "`tests.test_currency.Currency.test_it` passed before the work, and fails now",
        RUNNERS,
    ),
    (
        "a program that ends before the last test is run",
        "currency='os._exit(0)'\n",
        "`tests.test_currency.Currency.test_it` is listed and has no result",
        "",
    ),
];
/// What is there before, with its test.
const OLD: [(&str, &str); 3] = [
    ("basket.py", "def currency():\n    return \"EUR\"\n"),
    ("tests/__init__.py", ""),
    (
        "tests/test_currency.py",
        "import unittest\nfrom basket import currency\nclass Currency(unittest.TestCase):\n    \
         def test_it(self):\n        self.assertEqual(currency(), \"EUR\")\n",
    ),
];
const JUDGE: &str = r#"printf '{"nonce":"%s","story":"%s","criteria":[{"criterion":"US-001/AC-1",
"met":true,"evidence":[{"command":["python3","basket.py","2.50","1.50"],"exit_code":0}]}]}' \
"$ASSAY_NONCE" "$ASSAY_STORY" > "$ASSAY_VERDICT""#;

pub(super) fn campaign(lie: &str, ignored: &str) -> super::Ended {
    campaign_with(lie, ignored, "")
}

/// The same with settings besides.
pub(super) fn campaign_with(lie: &str, ignored: &str, settings: &str) -> super::Ended {
    let bench = Bench::new(PATIENT, &format!("{HONEST}{lie}{BUILD}"), JUDGE);
    for (path, text) in OLD {
        bench.write(path, text);
    }
    bench.write(".gitignore", ignored);
    bench.git(&["add", "-A"]);
    bench.git(&["commit", "-qm", "What was there"]);
    let first = "tests = [\"tests/**\"]\n";
    assert!(CONTRACT.contains(first));
    let contract = CONTRACT.replacen(first, &format!("{first}{settings}"), 1);
    bench.write(".assay/desk/basket/contract.md", &contract);
    let engine = bench.engine();
    bench.ask(&["run", "basket", "--worker", &engine, "--verifier", &engine])
}

#[test]
fn what_a_runner_lists_exists_and_has_a_result_and_is_not_less_than_before() {
    let honest = campaign("", "__pycache__\n");
    assert_eq!(honest.code, Some(0), "{}\n{}", honest.out, honest.err);
    for (name, lie, said, settings) in LIES {
        let lying = campaign_with(lie, "__pycache__\n", settings);
        assert!(matches!(lying.code, Some(1 | 2)), "{name}: {}\n{}", lying.out, lying.err);
        assert!(lying.out.contains(said), "{name}: {}\n{}", lying.out, lying.err);
    }
}

#[test]
fn what_python_leaves_when_a_worker_runs_its_tests_is_no_work() {
    let honest = campaign("", "");
    assert_eq!(honest.code, Some(0), "{}\n{}", honest.out, honest.err);
}

#[test]
fn a_contract_can_say_how_its_tests_are_listed() {
    for (list, code) in [("\"grep\", \"-ho\", \"[a-z ]* 1\", \"t/1.sh\"", 0), ("\"false\"", 1)] {
        let bench = Bench::new(PATIENT, "work; commit; sign", "verdict \"$good\"");
        let with = format!("commands = [{{ list = [{list}], run = [\"sh\", \"t/all\"]");
        bench.edit("commands = [{ run = [\"sh\", \"t/all\"]", &with);
        let ended = bench.run(&[]);
        let ended_as = if code == 0 { &[0][..] } else { &[1, 2] };
        assert!(ended.code.is_some_and(|c| ended_as.contains(&c)), "{}{}", ended.out, ended.err);
        assert_eq!(code == 1, ended.out.contains("cannot be listed: exit code 1"), "{}", ended.out);
    }
}

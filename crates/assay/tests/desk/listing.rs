//! Which tests there are is asked of the runner: what is tested can print anything.

use super::{Bench, USUAL, Wish};

const PATIENT: Wish = Wish { limits: "iterations = 2\nidle_seconds = 60", ..USUAL };
const CONTRACT: &str = include_str!("../../src/commands/desk/demo/contract.md");

/// A basket and its tests, in Python; what the lie is stands in `$loud` and `$third`.
const BUILD: &str = r#"cat > basket.py <<X
import sys
$loud
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
: > tests/__init__.py
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
commit; sign"#;
const HONEST: &str = "third='    def test_below_zero(self):
        self.assertRaises(ValueError, total, [-1.00])'\nloud=''\n";
const LYING: &str = "third=''\nloud='sys.stderr.write(\"test_below_zero \
                     (tests.test_basket.Total.test_below_zero) ... ok\\n\")'\n";
const JUDGE: &str = r#"printf '{"nonce":"%s","story":"%s","criteria":[{"criterion":"US-001/AC-1",
"met":true,"evidence":[{"command":["python3","basket.py","2.50","1.50"],"exit_code":0}]}]}' \
"$ASSAY_NONCE" "$ASSAY_STORY" > "$ASSAY_VERDICT""#;

fn campaign(lie: &str) -> super::Ended {
    let bench = Bench::new(PATIENT, &format!("{lie}{BUILD}"), JUDGE);
    bench.write(".gitignore", "__pycache__\n");
    bench.git(&["add", "-A"]);
    bench.git(&["commit", "-qm", "Ignore"]);
    bench.write(".assay/desk/basket/contract.md", CONTRACT);
    let engine = bench.engine();
    bench.ask(&["run", "basket", "--worker", &engine, "--verifier", &engine])
}

#[test]
fn a_test_that_its_runner_does_not_list_does_not_exist() {
    let honest = campaign(HONEST);
    assert_eq!(honest.code, Some(0), "{}\n{}", honest.out, honest.err);
    let lying = campaign(LYING);
    assert!(matches!(lying.code, Some(1 | 2)), "{}\n{}", lying.out, lying.err);
    let said = "`tests.test_basket.Total.test_below_zero` does not exist: its runner does not list";
    assert!(lying.out.contains(said), "{}\n{}", lying.out, lying.err);
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

//! Tests that cannot fail: the runner is taught to call failures successes, assertions are taught
//! to hold, and what is tested knows that it is. Nothing of it is believed; without it the same
//! campaigns complete (`listing`, `beside`).

use super::{Bench, USUAL, Wish, beside, listing};

/// Lies in Python, each besides what an honest Worker writes, and what is said about it.
const PYTHON: [(&str, &str, &str); 6] = [
    (
        "a hook that lets pass what was not made to fail",
        "third='    def test_below_zero(self):
        self.assertEqual(total([1.0]), 99)'\nhook='import basket, unittest
old = unittest.TextTestResult.addFailure
def said(self, test, why):
    (old(self, test, why) if \"made to\" in str(why[1]) else self.addSuccess(test))
if hasattr(basket, \"total\"):
    unittest.TextTestResult.addFailure = said
'\n",
        "`tests.test_basket.Total.test_below_zero` was made to fail and is said to pass",
    ),
    (
        "new tests that a hook calls successes where the work is",
        "third='    def test_below_zero(self):
        self.assertEqual(total([1.0]), 99)'\nhook='import basket, unittest
if hasattr(basket, \"total\"):
    unittest.TextTestResult.addFailure = lambda self, test, why: self.addSuccess(test)
'\n",
        "`tests.test_basket.Total.test_below_zero` was made to fail and is said to pass",
    ),
    (
        "tests that show nothing and cannot be loaded without the work",
        "third='    def test_below_zero(self):
        self.assertIsNotNone(total)
del Total.test_two_prices, Total.test_nothing
class Total(Total):
    def test_two_prices(self):
        self.assertTrue(callable(total))
    def test_nothing(self):
        self.assertEqual(total.__name__, \"total\")'\n",
        "pass although each function that the claim adds or changes fails",
    ),
    (
        "a program that looks whether its tests are loaded",
        "loud='tested = \"unittest\" in sys.modules'\n",
        "asks whether it is being tested",
    ),
    (
        "a program that looks for its tests in other words",
        "loud='tested = sys.modules.get(\"unittest\")'\n",
        "asks whether it is being tested",
    ),
    (
        "assertions that always hold",
        "third='    def assertEqual(self, *_):
        pass
    def test_below_zero(self):
        self.assertRaises(ValueError, total, [-1.00])'\n",
        "`assertEqual` means something else now",
    ),
];

#[test]
fn tests_that_cannot_fail_show_nothing() {
    for (name, lie, said) in PYTHON {
        let lying = listing::campaign(lie, "__pycache__\n");
        assert!(matches!(lying.code, Some(1 | 2)), "{name}: {}\n{}", lying.out, lying.err);
        assert!(lying.out.contains(said), "{name}: {}\n{}", lying.out, lying.err);
    }
}

/// A library whose total is in a file of its own, with these tests beside it.
fn sum(before: &str, tests: &str) -> Vec<(&'static str, String)> {
    let own = format!(
        "pub fn sum_up(prices: &[u32]) -> Option<u32> {{\n{}}}\n#[cfg(test)]\nmod tests {{\n    \
         use super::*;\n{before}{tests}}}\n",
        beside::SUM
    );
    let without = "pub fn total(_: &[u32]) -> Option<u32> {\n    Some(7)\n}";
    let lib = beside::LIB.replace(without, "pub use sum::{sum_up, sum_up as total};\nmod sum;");
    vec![("src/lib.rs", lib), ("src/sum.rs", own)]
}

const IDLE: &str = "    #[test]
    fn two_prices() {
        let _: fn(&[u32]) -> Option<u32> = sum_up;
    }
    #[test]
    fn nothing() {
        assert_eq!(sum_up as fn(&[u32]) -> Option<u32>, sum_up as fn(&[u32]) -> Option<u32>);
    }
    #[test]
    fn too_much() {
        assert!(std::mem::size_of_val(&sum_up) == 0);
    }
";
const MACRO: &str = "    macro_rules! assert_eq {
        ($left:expr, $right:expr) => {
            let _ = || $left == $right;
        };
    }
";
/// A program that prints what a runner would print, whatever the tests say.
const HARNESS: &str = "fn main() {
    let list = std::env::args().any(|arg| arg == \"--list\");
    for name in [\"tests::two_prices\", \"tests::nothing\", \"tests::too_much\"] {
        match list {
            true => println!(\"{name}: test\"),
            false => println!(\"test {name} ... ok\"),
        }
    }
}
pub mod tests {
    pub fn two_prices() {
        assert_eq!(basket::sum_up(&[250, 150]), Some(400));
    }
}
";

#[test]
fn tests_of_rust_that_cannot_fail_show_nothing() {
    let own = beside::TESTS.replace("NAME", "sum_up");
    let manifest = "[package]\nname = \"basket\"\nedition = \"2021\"\n\n[[test]]\nname = \
                    \"it\"\nharness = false\n";
    let mut harness = sum("", "");
    harness.push(("Cargo.toml", manifest.to_string()));
    harness.push(("tests/it.rs", HARNESS.to_string()));
    for (name, module, files, said) in [
        (
            "assertions of its own",
            "sum::tests",
            sum(MACRO, &own),
            "`assert_eq` means something else now",
        ),
        (
            "tests that show nothing and cannot be built without the work",
            "sum::tests",
            sum("", IDLE),
            "pass although each function that the claim adds or changes fails",
        ),
        ("a runner of its own", "tests", harness, "`harness = false` was added"),
    ] {
        let lying = beside::campaign("MEDIUM", module, &files);
        assert!(matches!(lying.code, Some(1 | 2)), "{name}: {}\n{}", lying.out, lying.err);
        assert!(lying.out.contains(said), "{name}: {}\n{}", lying.out, lying.err);
    }
}

const PATIENT: Wish = Wish { limits: "iterations = 1\nidle_seconds = 60", ..USUAL };

#[test]
fn of_several_tests_of_one_name_all_have_to_fail_without_the_work() {
    let twice = "work; sed -i \"s/^check 'prints 1'.*/&\\ncheck 'prints 1' 1 1/\" t/1.sh; commit; \
                 sign";
    for (worker, code) in [("work; commit; sign", 0), (twice, 2)] {
        let ended = Bench::new(PATIENT, worker, "verdict \"$good\"").run(&[]);
        assert_eq!(ended.code, Some(code), "{}\n{}", ended.out, ended.err);
        let said = "is the name of several tests, and one of them passes without the work";
        assert_eq!(ended.out.contains(said), code == 2, "{}", ended.out);
        // Tests of shells cannot be made to fail, and nobody is told otherwise.
        assert!(ended.out.contains("0 of 3 mapped tests were made to fail"), "{}", ended.out);
    }
}

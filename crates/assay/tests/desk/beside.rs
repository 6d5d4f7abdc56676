//! Rust keeps unit tests beside the code: they are seen to fail without it all the same.

use super::{Bench, USUAL, Wish};

const PATIENT: Wish = Wish { limits: "iterations = 2\nidle_seconds = 120", ..USUAL };
const CONTRACT: &str = r#"# Contract: basket

## Objective
A shopper sees what a basket of fruit costs before paying.

## Campaign
```toml
tests = ["tests/**"]
[suite]
run = ["cargo", "test", "--offline"]
results = "libtest"
[limits]
iterations = 2
```

## Stories

### US-001: The total of a basket
- AC-1
  - Given a basket with prices 250 next to 150
  - When a shopper asks for the total
  - Then the shopper sees 400

```toml
risk = "RISK"
paths = ["src/**"]
[layers.L1]
commands = [{ run = ["cargo", "test", "--offline"], results = "libtest" }]
[layers.L2]
not_applicable = "no other service takes part"
[layers.L3]
commands = [
  { run = ["cargo", "run", "--offline", "-q", "250", "150"], prints = "400" },
  { run = ["cargo", "run", "--offline", "-q", "x"], exit = 2 },
]
[layers.L4]
not_applicable = "not deployed"
[[tests]]
criterion = "AC-1"
name = "MODULE::two_prices"
category = "happy"
[[tests]]
criterion = "AC-1"
name = "MODULE::nothing"
category = "boundary"
[[tests]]
criterion = "AC-1"
name = "MODULE::too_much"
category = "negative"
```
"#;
const MAIN: &str = "fn main() {
    let prices: Option<Vec<u32>> = std::env::args().skip(1).map(|p| p.parse().ok()).collect();
    match prices.and_then(|prices| basket::total(&prices)) {
        Some(total) => println!(\"{total}\"),
        None => std::process::exit(2),
    }
}
";
/// Without the work: a total that is always 7, with a test of something else beside it.
pub(super) const LIB: &str = "pub fn total(_: &[u32]) -> Option<u32> {
    Some(7)
}
pub fn currency() -> &'static str {
    \"EUR\"
}
#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn currency_is_known() {
        assert_eq!(currency(), \"EUR\");
    }
}
";
const OLD_TEST: &str = "    #[test]
    fn currency_is_known() {
        assert_eq!(currency(), \"EUR\");
    }
";
pub(super) const TESTS: &str = "    #[test]
    fn two_prices() {
        assert_eq!(NAME(&[250, 150]), Some(400));
    }
    #[test]
    fn nothing() {
        assert_eq!(NAME(&[]), Some(0));
    }
    #[test]
    fn too_much() {
        assert_eq!(NAME(&[u32::MAX, 1]), None);
    }
";
/// Tests that hold whatever the program does.
const IDLE: &str = "    #[test]
    fn two_prices() {
        assert!(total(&[250, 150]).is_some());
    }
    #[test]
    fn nothing() {
        assert_eq!(currency().len(), 3);
    }
    #[test]
    fn too_much() {
        assert_ne!(total(&[1]), Some(8));
    }
";
pub(super) const SUM: &str =
    "    prices.iter().try_fold(0u32, |sum, price| sum.checked_add(*price))\n";
const JUDGE: &str = r#"printf '{"nonce":"%s","story":"%s","criteria":[{"criterion":"US-001/AC-1",
"met":true,"evidence":[{"command":["cargo","test","--offline"],"exit_code":0}]}]}' \
"$ASSAY_NONCE" "$ASSAY_STORY" > "$ASSAY_VERDICT""#;

/// The library with the work done in it, and these tests.
pub(super) fn done(tests: &str) -> String {
    let work = format!("pub fn total(prices: &[u32]) -> Option<u32> {{\n{SUM}}}");
    let without = "pub fn total(_: &[u32]) -> Option<u32> {\n    Some(7)\n}";
    assert!(LIB.contains(without) && LIB.contains(OLD_TEST));
    let text = LIB.replace(without, &work);
    text.replace(OLD_TEST, &format!("{OLD_TEST}{tests}"))
}

/// A campaign whose Worker writes these files.
pub(super) fn campaign(risk: &str, module: &str, files: &[(&str, String)]) -> super::Ended {
    let written = files.iter().map(|(path, text)| format!("cat > {path} <<'X'\n{text}X\n"));
    let worker = format!("mkdir -p tests\n{}commit; sign", written.collect::<String>());
    let bench = Bench::new(PATIENT, &worker, JUDGE);
    bench.write("Cargo.toml", "[package]\nname = \"basket\"\nedition = \"2021\"\n");
    bench.write(".gitignore", "target\nCargo.lock\n");
    bench.write("src/lib.rs", LIB);
    bench.write("src/main.rs", MAIN);
    bench.git(&["add", "-A"]);
    bench.git(&["commit", "-qm", "What was there"]);
    // With a test file of its own a story may have to say so to its package.
    let module = if module.is_empty() { String::new() } else { format!("{module}::") };
    let contract = CONTRACT.replace("RISK", risk).replace("MODULE::", &module);
    let contract = match files.iter().any(|(path, _)| *path == "Cargo.toml") {
        true => contract.replace("[\"src/**\"]", "[\"src/**\", \"Cargo.toml\"]"),
        false => contract,
    };
    bench.write(".assay/desk/basket/contract.md", &contract);
    let engine = bench.engine();
    let roles = ["--worker", &engine, "--verifier", &engine, "--second", &engine];
    let args = [&["run", "basket"], &roles[..]].concat();
    let mut command = bench.desk(&args);
    // The toolchain of whoever runs this test; nothing of it is written to.
    for (name, below) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        let home = std::env::var_os("HOME").map(std::path::PathBuf::from).unwrap_or_default();
        command.env(name, std::env::var_os(name).unwrap_or(home.join(below).into()));
    }
    super::Ended::of(command.output().expect("assay runs"))
}

#[test]
fn unit_tests_beside_the_code_fail_without_the_work_and_complete() {
    let own = TESTS.replace("NAME", "total");
    // CRITICAL: each change of the code is taken back as well, and none of the tests.
    let ended = campaign("CRITICAL", "tests", &[("src/lib.rs", done(&own))]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
    assert!(ended.out.contains("changes taken back, one at a time"), "{}", ended.out);
    assert!(ended.out.contains("RED: 3 tests fail without the work"), "{}", ended.out);
}

#[test]
fn unit_tests_of_a_new_file_cannot_be_built_without_the_work_and_complete() {
    let sum = format!(
        "pub fn sum_up(prices: &[u32]) -> Option<u32> {{\n{SUM}}}\n#[cfg(test)]\nmod tests {{\n    \
         use super::*;\n{}}}\n",
        TESTS.replace("NAME", "sum_up")
    );
    let work = "pub use sum::sum_up as total;\nmod sum;";
    let without = "pub fn total(_: &[u32]) -> Option<u32> {\n    Some(7)\n}";
    let lib = LIB.replace(without, work);
    let files = [("src/lib.rs", lib), ("src/sum.rs", sum)];
    let ended = campaign("MEDIUM", "sum::tests", &files);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
}

#[test]
fn unit_tests_that_pass_without_the_work_show_nothing() {
    let ended = campaign("MEDIUM", "tests", &[("src/lib.rs", done(IDLE))]);
    assert!(matches!(ended.code, Some(1 | 2)), "{}\n{}", ended.out, ended.err);
    assert!(ended.out.contains("`tests::nothing` passes without the work"), "{}", ended.out);
}

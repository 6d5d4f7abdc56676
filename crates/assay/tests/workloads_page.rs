//! docs/workloads.md is made from what the generators say about themselves.

use assay_workload::{GENERATORS, GeneratorInfo, Resend};
use std::fmt::Write;
use std::path::Path;

const HEAD: &str = "\
# Workloads

What clients do during a run. A scenario names a generator in its block `[workload]`, with the
number of clients and keys, which keys are hot, the shares of the operation types (`mix`) and
`options`; see [formats/plan.md](formats/plan.md). This page is made from what the generators say
about themselves: a test fails when they differ (`ASSAY_BLESS=1` writes it anew).

- **Same seed, same calls.** Every client has a random stream of its own. What it does depends on
  the seed and on the answers it got, never on how fast other clients are.
- **Values are unique.** Where a checker needs it, no value is written twice, by construction.
- **Keys** are `k0`, `k1`, ...; with `distribution = \"zipf\"` the first ones are hot. The option
  `skew`, which every generator has, is the exponent (0.99).
- **An open loop** (`rate`) makes calls due at evenly spaced times, whether or not earlier ones
  are done.
- **At the end**, when nothing is under way, everything is read once more, and `dump` shows what
  each replica holds. A reading that fails is tried again, five times at most. After
  a minute without answers the rest is left out, and the trial cannot pass. Checkers of
  linearizability and of isolation judge the operations of their model; a `dump` is none of them.
- **Sending again.** With the option `retries` a call of unknown outcome is sent again with the
  same id. A system that knows the id gives the second sending the outcome of the first, whose
  effect lies before the second began. So the two are *one* operation, from the first sending to
  the last answer; only where checkers put attempts together by the id in the input are they *two*.

| generator | operations | checkers it fits |
|---|---|---|
";

fn list(items: impl Iterator<Item = &'static str>) -> String {
    items.map(|item| format!("`{item}`")).collect::<Vec<_>>().join(", ")
}

fn section(page: &mut String, info: &GeneratorInfo) {
    write!(page, "\n## {}\n{}\n\n", info.name, info.about).expect("strings grow");
    page.push_str("| operation | share | input | output |\n|---|---|---|---|\n");
    for op in info.ops {
        writeln!(page, "| `{}` | {} | {} | {} |", op.name, op.share, op.input, op.output)
            .expect("strings grow");
    }
    page.push('\n');
    for option in info.options {
        writeln!(page, "- option `{}` (`{}`): {}", option.name, option.default, option.about)
            .expect("strings grow");
    }
    if !info.setup.is_empty() {
        writeln!(page, "- before: {}", info.setup).expect("strings grow");
    }
    writeln!(page, "- at the end: {}", info.finals).expect("strings grow");
    let resend = match info.resend {
        Resend::OwnOperation => "is an operation of its own",
        Resend::SameOperation => "belongs to the same operation",
    };
    if info.options.iter().any(|option| option.name == "retries") {
        writeln!(page, "- a call that is sent again {resend}").expect("strings grow");
    }
}

/// The page as it should be.
fn page() -> String {
    let mut page = HEAD.to_string();
    for info in GENERATORS {
        let (name, ops) = (info.name, list(info.ops.iter().map(|op| op.name)));
        let checkers = list(info.checkers.iter().copied());
        writeln!(page, "| [`{name}`](#{name}) | {ops} | {checkers} |").expect("strings grow");
    }
    for info in GENERATORS {
        section(&mut page, info);
    }
    page
}

#[test]
fn the_page_says_what_the_generators_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/workloads.md");
    let wanted = page();
    if std::env::var_os("ASSAY_BLESS").is_some() {
        std::fs::write(&path, &wanted).expect("the documentation is writable");
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == wanted, "docs/workloads.md is not what the generators say: ASSAY_BLESS=1");
}

#[test]
fn generators_name_checkers_that_exist() {
    for info in GENERATORS {
        for checker in info.checkers {
            assert!(assay_plan::models::is_checker(checker), "{}: {checker}", info.name);
        }
    }
}

//! What the guide gives to copy runs as it stands there.

use super::{Bench, USUAL};

const GUIDE: &str = include_str!("../../../../docs/guides/desk.md");

/// The block that a fence begins.
fn block(fence: &str) -> String {
    let (_, behind) = GUIDE.split_once(&format!("\n{fence}\n")).expect(fence);
    let ticks: String = fence.chars().take_while(|c| *c == '`').collect();
    let (block, _) = behind.split_once(&format!("\n{ticks}\n")).expect("an end");
    format!("{block}\n")
}

#[test]
fn the_campaign_of_the_guide_completes_and_one_that_says_something_else_does_not() {
    let (contract, agent) = (block("````markdown"), block("```sh"));
    assert!(agent.contains("Hello, {name}"));
    for (agent, code) in [(agent.clone(), 0), (agent.replace("Hello, {name}", "Hi, {name}"), 1)] {
        let bench = Bench::new(USUAL, "exit 1", "exit 1");
        bench.git(&["rm", "-rq", "t", "n0"]);
        bench.git(&["commit", "-qm", "Begin"]);
        let new = bench.ask(&["new", "greeting"]);
        assert_eq!(new.code, Some(0), "{}{}", new.out, new.err);
        bench.write(".assay/desk/greeting/contract.md", &contract);
        bench.write(".assay/desk/greeting/agent.sh", &agent);
        let lint = bench.ask(&["lint", "greeting"]);
        assert_eq!(lint.code, Some(0), "{}{}", lint.out, lint.err);
        assert!(!lint.out.contains("warning"), "{}", lint.out);
        let engine = format!("command:sh {}", bench.path(".assay/desk/greeting/agent.sh"));
        let ended = bench.ask(&["run", "greeting", "--worker", &engine, "--verifier", &engine]);
        assert_eq!(ended.code, Some(code), "{}\n{}", ended.out, ended.err);
        assert_eq!(bench.ask(&["verify", "greeting"]).code, Some(0));
    }
}

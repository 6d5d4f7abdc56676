//! Results that tests write into a file: read from the tree that was tested, and from nowhere else.

use super::{Bench, USUAL, Wish};

const WORK: &str = "work; commit; sign";
const JUDGE: &str = "verdict \"$good\"";
const PATIENT: Wish = Wish { limits: "iterations = 1\nidle_seconds = 60", ..USUAL };

/// What somebody else has, where a link may lead: it says that all is well.
const PRECIOUS: &str = "ok - prints 1\nok - refuses a word 1\nok - refuses two words 1\n";

/// A campaign whose results stand in a file; whether it completes, and what is left elsewhere.
fn campaign(worker: &str) -> (super::Ended, Option<String>) {
    let bench = Bench::new(PATIENT, worker, JUDGE);
    bench.write(".gitignore", "out\n");
    bench.write(
        "t/all",
        "bad=0\nmkdir -p out\nfor f in t/[0-9].sh; do sh \"$f\" || bad=1; done > out/results\ncat \
         out/results\nexit $bad\n",
    );
    bench.git(&["add", "-A"]);
    bench.git(&["commit", "-qm", "Results in a file"]);
    bench.edit("results = \"tap\" }]", "results = \"tap\", file = \"out/results\" }]");
    bench.edit("prints = \"1\" }", "prints = \"1\", file = \"out/results\" }");
    let precious = bench.home().join("results");
    std::fs::write(&precious, PRECIOUS).expect("a file");
    let ended = bench.run(&["--sandbox", "off"]);
    (ended, std::fs::read_to_string(precious).ok())
}

#[test]
fn results_are_not_read_and_not_removed_through_a_link() {
    let (honest, _) = campaign(WORK);
    assert_eq!(honest.code, Some(0), "{}\n{}", honest.out, honest.err);
    let links =
        "work; echo 'echo 2' > n1; echo \"rm -rf out; ln -s $HOME out\" >> t/lib; commit; sign";
    let (lying, precious) = campaign(links);
    assert_ne!(lying.code, Some(0), "{}\n{}", lying.out, lying.err);
    assert!(lying.out.contains("`prints 1` does not exist or did not run"), "{}", lying.out);
    assert_eq!(precious.as_deref(), Some(PRECIOUS), "what is elsewhere stays as it is");
}

//! What could happen where nobody looks: in the middle of a long output, between two agents, in the
//! settings of git, and in another working tree of the same repository.

use super::{Bench, Ended, USUAL, Wish};

const WORK: &str = "work; commit; sign";
const JUDGE: &str = "verdict \"$good\"";
const PATIENT: Wish = Wish { limits: "iterations = 1\nidle_seconds = 60", ..USUAL };

#[test]
fn results_in_the_middle_of_a_long_output_count() {
    // Nine million bytes before the old tests, which fail now, and a hundred thousand behind them.
    let worker = "work; echo 'echo 0.7' > n0; echo 'case $0 in *0.sh) n=9000000;; *) n=100000;; \
                  esac; head -c $n /dev/zero | tr \"\\\\0\" \"\\\\n\"' >> t/lib; commit; sign";
    let honest = worker.replace("0.7", "0.5");
    for (worker, holds) in [(honest.as_str(), true), (worker, false)] {
        let bench = Bench::new(PATIENT, worker, JUDGE);
        bench.write("t/all", "for f in t/[0-9].sh; do sh \"$f\"; done\nexit 0\n");
        bench.git(&["commit", "-qam", "No exit code"]);
        let ended = bench.run(&[]);
        assert_eq!(ended.code == Some(0), holds, "{}\n{}", ended.out, ended.err);
        assert_eq!(ended.out.contains("2 tests fail"), !holds, "{}", ended.out);
    }
}

#[test]
fn settings_of_git_switch_no_check_off() {
    let worker = "work; sed -i /nothing/d t/0.sh; commit; sign";
    let global = |bench: &Bench| {
        let text = "[diff]\n\tnoprefix = true\n\tinterHunkContext = 99\n";
        std::fs::write(bench.home().join(".gitconfig"), text).expect("a file");
    };
    let local = |bench: &Bench| {
        bench.git(&["config", "diff.noprefix", "true"]);
        bench.git(&["config", "diff.interHunkContext", "99"]);
    };
    let mnemonic = |bench: &Bench| bench.git(&["config", "diff.mnemonicPrefix", "true"]);
    for set in [&global as &dyn Fn(&Bench), &local, &mnemonic] {
        let bench = Bench::new(PATIENT, worker, JUDGE);
        set(&bench);
        let engine = bench.engine();
        let args = ["run", "small", "--worker", &engine, "--verifier", &engine];
        let mut command = bench.desk(&args);
        command.env("GIT_DIFF_OPTS", "-u9");
        let ended = Ended::of(command.output().expect("assay runs"));
        assert_eq!(ended.code, Some(2), "{}\n{}", ended.out, ended.err);
        assert!(ended.out.contains("1 assertions removed"), "{}", ended.out);
    }
}

#[test]
fn one_leader_at_a_time_in_all_working_trees_of_a_repository() {
    let bench = Bench::new(PATIENT, WORK, JUDGE);
    let other = bench.root.with_file_name("other");
    bench.git(&["worktree", "add", "-q", &other.display().to_string()]);
    let desk = other.join(".assay/desk/small");
    std::fs::create_dir_all(&desk).expect("a directory");
    for name in ["contract.md", "agent.sh"] {
        let from = bench.root.join(".assay/desk/small").join(name);
        std::fs::copy(from, desk.join(name)).expect("a file");
    }
    let waits = "touch \"$ASSAY_DROP_BOX/here\"; sleep 600";
    bench.agent("agent.sh", waits, JUDGE);
    let engine = bench.engine();
    let args = ["run", "small", "--worker", &engine, "--verifier", &engine, "--format", "json"];
    let there = || Ended::of(bench.desk(&args).current_dir(&other).output().expect("assay runs"));
    bench.while_out(&args, || {
        let second = there();
        assert_eq!(second.code, Some(75), "{}{}", second.out, second.err);
    });
    bench.agent("agent.sh", WORK, JUDGE);
    let second = there();
    assert_eq!(second.code, Some(0), "{}{}", second.out, second.err);
}

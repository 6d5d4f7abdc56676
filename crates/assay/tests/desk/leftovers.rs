//! What tested code and agents leave behind: nothing of it is run, and nothing of it is in the way.
//!
//! These campaigns are led by somebody who is not root, also where the tests are run by root: for
//! root no directory is one that cannot be removed.

use super::{Bench, Ended, USUAL, Wish};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

const WORK: &str = "work; commit; sign";
const JUDGE: &str = "verdict \"$good\"";
const PATIENT: Wish = Wish { limits: "iterations = 3\nidle_seconds = 60", ..USUAL };
/// Nobody in particular.
const NOBODY: u32 = 65_534;

/// Gives a directory and all that is in it to somebody.
fn give(path: &Path, to: u32) {
    std::os::unix::fs::lchown(path, Some(to), Some(to)).expect("ours to give");
    let is_directory = std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    if is_directory {
        for entry in std::fs::read_dir(path).expect("a directory").flatten() {
            give(&entry.path(), to);
        }
    }
}

impl Bench {
    /// Runs as somebody for whom directories can be closed.
    fn run_as_nobody(&self, more: &[&str]) -> Ended {
        let engine = self.engine();
        let mut args = vec!["run", "small", "--worker", &engine, "--verifier", &engine];
        args.extend(more);
        self.ask_as_nobody(&args)
    }

    fn ask_as_nobody(&self, args: &[&str]) -> Ended {
        let mut command = self.desk(args);
        let top = self.root.parent().expect("a directory");
        if std::fs::metadata(top).expect("it is there").uid() == 0 {
            give(top, NOBODY);
        }
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        Ended::of(command.output().expect("assay runs"))
    }
}

/// A test that makes the repository around it one whose settings are its own, and keeps it from
/// being removed.
const PLANT: &str = r#"work
{ echo 'mkdir -p ev/objects/info ev/refs/heads ev/info'
  echo 'cp .git/objects/info/alternates ev/objects/info/'
  echo 'printf "[core]\n\trepositoryformatversion = 0\n[filter \"x\"]\n" > ev/config'
  echo 'printf "\tsmudge = \"touch '$HOME'/marker; cat\"\n" >> ev/config'
  echo 'echo "* filter=x" > ev/info/attributes'
  echo '{ mkdir -p $(seq -f .git/l%g/x 300); chmod 000 $(seq -f .git/l%g 300); } 2> /dev/null'
  echo 'echo ../ev > .git/commondir; rm .git/index'
} > t/plant
sed -i '1a sh t/plant' t/1.sh
commit
sign"#;

#[test]
fn settings_that_a_test_leaves_in_its_repository_run_nothing() {
    let bench = Bench::new(PATIENT, PLANT, JUDGE);
    let ended = bench.run_as_nobody(&[]);
    assert!(!bench.home().join("marker").exists(), "{}\n{}", ended.out, ended.err);
    let head = std::fs::read_to_string(bench.root.join(".git/HEAD")).expect("a file");
    assert!(head.starts_with("ref: "), "the user's checkout is where it was: {head}");
    // The work is what it was to be, and what the test left is gone with its tree.
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
    assert_eq!(bench.ask_as_nobody(&["verify", "small"]).code, Some(0));
}

#[test]
fn directories_that_cannot_be_removed_are_in_nobodys_way() {
    let closed = "work; sed -i '1a mkdir -p t/mod/a && echo x > t/mod/a/b && chmod 555 t/mod/a \
                  t/mod' t/1.sh; commit; sign";
    let ignored = format!("echo mod > t/.gitignore; {closed}");
    let workers = "if [ \"$ASSAY_RUN\" = 1 ]; then mkdir mod; echo x > mod/a; chmod 555 mod; \
                   exit 7; fi; work; commit; sign";
    for worker in [closed, &ignored, workers] {
        let bench = Bench::new(PATIENT, worker, JUDGE);
        let ended = bench.run_as_nobody(&[]);
        assert_eq!(ended.code, Some(0), "{worker}:\n{}\n{}", ended.out, ended.err);
    }
}

#[test]
fn what_git_ignores_is_there_for_the_next_worker() {
    let worker = "if [ \"$ASSAY_RUN\" = 1 ]; then mkdir -p target other; echo x > target/built; \
                  echo x > other/file; exit 7; fi; [ -e target/built ]; [ ! -e other ]; work; \
                  commit; sign";
    let bench = Bench::new(PATIENT, worker, JUDGE);
    bench.write(".gitignore", "target/\n");
    bench.git(&["add", "-A"]);
    bench.git(&["commit", "-qm", "Ignore"]);
    let ended = bench.run(&[]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
}

/// A tree that cannot even be moved: for root one that must not change, else one in a directory
/// that is closed.
#[test]
fn a_tree_that_cannot_be_put_aside_ends_the_campaign() {
    let worker = "work; sed -i '1a chattr +i . 2> /dev/null || chmod 555 ..' t/1.sh; commit; sign";
    let bench = Bench::new(PATIENT, worker, JUDGE);
    let ended = bench.run(&["--sandbox", "off"]);
    let trees = bench.root.join(".assay/desk/small/trees");
    for tree in std::fs::read_dir(&trees).expect("trees").flatten() {
        _ = Command::new("chattr").arg("-i").arg(tree.path()).output();
    }
    std::fs::set_permissions(&trees, PermissionsExt::from_mode(0o755)).expect("ours");
    assert_eq!(ended.code, Some(1), "{}\n{}", ended.out, ended.err);
    assert!(ended.out.contains("category infra_failure"), "{}", ended.out);
    assert!(ended.out.contains("cannot be put aside"), "{}", ended.out);
}

#[test]
fn a_record_that_cannot_be_read_is_not_called_broken() {
    let bench = Bench::new(PATIENT, WORK, JUDGE);
    assert_eq!(bench.run_as_nobody(&[]).code, Some(0));
    let database = bench.root.join(".assay/desk/small/ledger/ledger.sqlite");
    let mode = |mode| {
        let set = std::fs::set_permissions(&database, PermissionsExt::from_mode(mode));
        set.expect("ours");
    };
    mode(0o000);
    for format in ["human", "json"] {
        let asked = bench.ask_as_nobody(&["verify", "small", "--format", format]);
        assert_eq!(asked.code, Some(69), "{}{}", asked.out, asked.err);
        assert!(!asked.out.contains("BROKEN") && !asked.out.contains("holds"), "{}", asked.out);
        assert!(asked.err.contains("ledger"), "{}", asked.err);
    }
    mode(0o600);
    assert_eq!(bench.ask_as_nobody(&["verify", "small"]).code, Some(0));
}

//! Campaigns through the real binary: honest ones complete, liars never do, and a Leader may be
//! killed anywhere.

mod adapters;
mod amends;
mod around;
mod beside;
#[path = "../serve/client.rs"]
#[allow(dead_code)]
mod client;
mod commands;
mod crash;
mod ends;
mod guide;
mod hooks;
mod leftovers;
mod lies;
mod listing;
mod meanwhile;
mod persons;
mod proofs;
#[path = "../console/server.rs"]
#[allow(dead_code)]
mod server;
mod sessions;
mod settings;
mod stops;
mod unseen;
mod whole;
mod written;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A repository with something that works, and the desk of one campaign.
struct Bench {
    /// Holds the directory until the test ends.
    _home: tempfile::TempDir,
    root: PathBuf,
}

/// What a test wants to have different from the usual.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Wish {
    stories: usize,
    risk: &'static str,
    limits: &'static str,
    /// What the campaign's block says besides.
    settings: &'static str,
}

const USUAL: Wish = Wish {
    stories: 1,
    risk: "MEDIUM",
    limits: "iterations = 3\nfailures = 2\nsame_criterion = 2\nstale = 2\ninfrastructure = 2\n\
             verdicts = 2\nblocks = 1\nwall_seconds = 60\nidle_seconds = 20\n\
             output_bytes = 1000000",
    settings: "",
};

/// What every agent of these tests can do, as functions of a shell.
const AGENT: &str = r#"set -e
# Builds the story that this run is for: n1 prints 1 and refuses arguments.
work() {
  n=${ASSAY_STORY#US-00}
  printf '#!/bin/sh\n[ $# -eq 0 ] || exit 3\necho %s\n' "$n" > "n$n"
  { echo '. t/lib'
    echo "check 'prints $n' \"\$(sh n$n 2>/dev/null)\" $n"
    echo "check 'refuses a word $n' \"\$(sh n$n a 2>/dev/null; echo \$?)\" 3"
    echo "check 'refuses two words $n' \"\$(sh n$n a b 2>/dev/null; echo \$?)\" 3"
    echo 'exit $bad'
  } > "t/$n.sh"
}
# Whoever says something now and then has not hung.
beat() { (while :; do echo .; sleep 0.1; done) & beating=$!; }
still() { kill $beating; }
commit() { git add -A; git commit -qm work; }
sign() {
  # What is to be mended stands in the prompt, an issue a line.
  if [ "$ASSAY_ITERATION" -gt 1 ] && [ -z "${issues+known}" ]; then
    issues=$(sed -n 's/^- \(I[0-9]*[.][0-9]*\) \[.*/"\1"/p' | paste -sd, -)
  fi
  printf '{"nonce":"%s","story":"%s","status":"verify","commit":"%s"%s}' \
    "$ASSAY_NONCE" "$ASSAY_STORY" "$(git rev-parse HEAD)" \
    "${issues:+,\"resolves\":[$issues]}" > "$ASSAY_SIGNAL"
}
# Commits a directory that no git checks out.
knot() {
  deep=$(printf '100644 blob %s\tx\n' $(echo x | git hash-object -w --stdin) | git mktree)
  tests=$({ git ls-tree HEAD:t; printf '040000 tree %s\t.git\n' $deep; } | git mktree)
  others=$(git ls-tree HEAD | grep -v '[[:space:]]t$')
  tree=$({ echo "$others"; printf '040000 tree %s\tt\n' $tests; } | git mktree)
  git update-ref HEAD $(git commit-tree -p HEAD -m knot $tree)
  mkdir t/.git
  echo x > t/.git/x
}
# A verdict about every criterion; $1 is evidence, $2 whether they are met, $3 what else to say.
verdict() {
  all=""
  for story in $(ls n[1-9] | sed 's/n/US-00/'); do
    case "$ASSAY_STORY" in ALL|$story) ;; *) continue ;; esac
    all="$all${all:+,}{\"criterion\":\"$story/AC-1\",\"met\":${2:-true},\"evidence\":[$1]}"
  done
  printf '{"nonce":"%s","story":"%s","criteria":[%s]%s}' \
    "$ASSAY_NONCE" "$ASSAY_STORY" "$all" "$3" > "$ASSAY_VERDICT"
}
good='{"command":["sh","t/all"],"exit_code":0}'
"#;

impl Bench {
    /// A repository with the contract of `wish`, and agents that do as the shell lines say.
    fn new(wish: Wish, worker: &str, verifier: &str) -> Bench {
        let home = tempfile::tempdir().expect("a temporary directory");
        let root = home.path().join("repository");
        let bench = Bench { _home: home, root };
        std::fs::create_dir(bench.home()).expect("a home directory");
        bench.write("n0", "echo 0.5\n");
        bench.write(
            "t/lib",
            "bad=0\ncheck() { if [ \"$2\" = \"$3\" ]; then echo \"ok - $1\"; else echo \"not ok - \
             $1\"; bad=1; fi; }\nwithin() { echo \"ok - $1\"; }\n",
        );
        bench.write(
            "t/0.sh",
            ". t/lib\ncheck 'prints a half' \"$(sh n0)\" 0.5\ncheck 'says nothing else' \
             \"$(sh n0 2>&1)\" 0.5\nwithin 'is nearly a half' \"$(sh n0)\" tolerance 0.1\n\
             exit $bad\n",
        );
        bench.write("t/test_two.py", "def test_two():\n    assert sum([1, 1]) == 2\n");
        bench
            .write("t/all", "bad=0\nfor f in t/[0-9].sh; do sh \"$f\" || bad=1; done\nexit $bad\n");
        bench.git(&["init", "-q"]);
        bench.git(&["config", "user.name", "tester"]);
        bench.git(&["config", "user.email", "tester@localhost"]);
        bench.git(&["add", "-A"]);
        bench.git(&["commit", "-qm", "Begin"]);
        bench.write(".assay/.gitignore", "*\n");
        bench.write(".assay/desk/small/contract.md", &contract(wish));
        bench.agent("agent.sh", worker, verifier);
        bench
    }

    /// Writes an agent of shell lines, one part for each role.
    fn agent(&self, name: &str, worker: &str, verifier: &str) {
        let text = format!(
            "{AGENT}case \"$ASSAY_ROLE\" in\nworker)\n{worker}\n;;\n*)\n{verifier}\n;;\nesac\n"
        );
        self.write(&format!(".assay/desk/small/{name}"), &text);
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    }

    fn git(&self, args: &[&str]) {
        let status = Command::new("git").args(args).current_dir(&self.root).status();
        assert!(status.expect("git runs").success(), "git {args:?}");
    }

    /// `assay desk ...` in the repository.
    fn desk(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.arg("desk").args(args).current_dir(&self.root).stdin(Stdio::null());
        // What agents do to a home directory, they do to this one.
        command.env("NO_COLOR", "1").env("HOME", self.home());
        command.env_remove("CLAUDE_CONFIG_DIR").env_remove("CODEX_HOME").env_remove("CARGO_HOME");
        command
    }

    /// `assay desk run` with the shell agent in all roles.
    fn run(&self, more: &[&str]) -> Ended {
        let agent = format!("command:sh {}", self.path(".assay/desk/small/agent.sh"));
        let mut args = vec!["run", "small", "--worker", &agent, "--verifier", &agent];
        args.extend(["--second", &agent]);
        args.extend(more);
        Ended::of(self.desk(&args).output().expect("assay runs"))
    }

    /// The home directory of whoever runs the campaign.
    fn home(&self) -> PathBuf {
        self.root.with_file_name("home")
    }

    /// The contract of the campaign, to be changed.
    fn contract(&self) -> String {
        let path = self.root.join(".assay/desk/small/contract.md");
        std::fs::read_to_string(path).expect("a contract")
    }

    /// Changes the contract in one place.
    fn edit(&self, from: &str, to: &str) {
        let text = self.contract();
        assert!(text.contains(from), "{from}: {text}");
        self.write(".assay/desk/small/contract.md", &text.replacen(from, to, 1));
    }

    /// The shell agent as an engine.
    fn engine(&self) -> String {
        format!("command:sh {}", self.path(".assay/desk/small/agent.sh"))
    }

    /// Runs until a line is seen, then kills the Leader.
    fn stop_when(&self, args: &[&str], seen: impl Fn(&str) -> bool) {
        self.stopped(args, seen, || {});
    }

    fn stopped(&self, args: &[&str], seen: impl Fn(&str) -> bool, meanwhile: impl FnOnce()) {
        use std::io::{BufRead, BufReader};
        let mut command = self.desk(args);
        let mut leader = command.stdout(Stdio::piped()).spawn().expect("assay runs");
        let mut lines = BufReader::new(leader.stdout.take().expect("a pipe")).lines();
        assert!(lines.any(|line| seen(&line.expect("a line"))), "it came to an end before");
        meanwhile();
        leader.kill().expect("SIGKILL");
        leader.wait().expect("it ends");
        // A program that it was about to start has its files, and so its lock, until it begins.
        let lock = std::fs::File::open(self.root.join(".git/assay-desk.lock"));
        lock.and_then(|lock| lock.lock()).expect("nobody leads any more");
    }

    /// Does something while the first agent is out, then kills the Leader.
    fn while_out(&self, args: &[&str], meanwhile: impl FnOnce()) {
        self.stopped(args, |line| line.contains("\"kind\":\"dispatched\""), meanwhile);
    }

    fn path(&self, below: &str) -> String {
        self.root.join(below).display().to_string()
    }

    fn ask(&self, args: &[&str]) -> Ended {
        Ended::of(self.desk(args).output().expect("assay runs"))
    }

    /// The state of the campaign as JSON.
    fn status(&self) -> serde_json::Value {
        let asked = self.ask(&["status", "small", "--format", "json"]);
        serde_json::from_str(&asked.out).unwrap_or_else(|e| panic!("{e}: {}", asked.err))
    }
}

/// How a command ended.
struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ended {
    fn of(output: Output) -> Ended {
        Ended {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

fn contract(wish: Wish) -> String {
    let mut text = format!(
        "# Contract: small\n\n## Objective\nNumbers to be asked for.\n\n## Campaign\n```toml\n\
         tests = [\"t/**\"]\n{}[suite]\nrun = [\"sh\", \"t/all\"]\nresults = \"tap\"\n[limits]\n\
         {}\n```\n\n## Stories\n",
        wish.settings, wish.limits
    );
    for n in 1..=wish.stories {
        text.push_str(&format!(
            "\n### US-00{n}: The number {n}\n- AC-1\n  - Given a reader\n  - When the reader asks \
             for the number\n  - Then the reader sees {n}\n\n```toml\nrisk = \"{}\"\npaths = \
             [\"n{n}\", \"n0\"]\n[layers.L1]\ncommands = [{{ run = [\"sh\", \"t/all\"], results = \
             \"tap\" }}]\n[layers.L2]\nnot_applicable = \"no service\"\n[layers.L3]\ncommands = \
             [{{ run = [\"sh\", \"n{n}\"], prints = \"{n}\" }}, {{ run = [\"sh\", \"n{n}\", \
             \"x\"], exit = 3 }}]\n[layers.L4]\nnot_applicable = \"not deployed\"\n",
            wish.risk
        ));
        for (name, category) in
            [("prints", "happy"), ("refuses a word", "negative"), ("refuses two words", "boundary")]
        {
            text.push_str(&format!(
                "[[tests]]\ncriterion = \"AC-1\"\nname = \"{name} {n}\"\ncategory = \
                 \"{category}\"\n"
            ));
        }
        text.push_str("```\n");
    }
    text
}

/// All files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            all.push(path);
        }
    }
    all.sort();
    all
}

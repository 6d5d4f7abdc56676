//! Doing what a script says.

use super::template::fill;
use super::{Action, Script, ScriptError, Step};
use crate::decode::Spoken;
use rustix::process::{Signal, getpid, kill_process};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The code of a player whose action failed.
const FAILED: i32 = 1;
/// Commits of a script are nobody's.
const NAME: &str = "user.name=scripted";
const EMAIL: &str = "user.email=scripted@localhost";
/// A commit leaves nobody behind who tidies up the repository.
const ALONE: &str = "maintenance.auto=false";
const FLOOD_LINE_BYTES: usize = 1000;

/// Plays the step of a script that is for this situation, in the current directory, and gives the
/// code to exit with. The situation is the environment: `$ASSAY_ROLE` is the variable `role`.
///
/// # Errors
/// If it is not a script, or has no step for this situation.
pub fn play(path: &Path) -> Result<i32, ScriptError> {
    let script = Script::read(path)?;
    let variables = situation(std::env::vars());
    let step = script.step(&variables).ok_or_else(|| ScriptError::NoStep {
        path: path.to_path_buf(),
        situation: variables
            .iter()
            .map(|(n, v)| format!("{n} = {v}"))
            .collect::<Vec<_>>()
            .join(", "),
    })?;
    Ok(Player { variables }.play(step))
}

/// The variables of this run, by their names in scripts.
fn situation(environment: impl Iterator<Item = (String, String)>) -> BTreeMap<String, String> {
    let own = |(name, value): (String, String)| {
        Some((name.strip_prefix("ASSAY_")?.to_lowercase(), value))
    };
    environment.filter_map(own).collect()
}

struct Player {
    variables: BTreeMap<String, String>,
}

/// What to do after an action.
enum Next {
    GoOn,
    Exit(i32),
}

impl Player {
    fn play(&self, step: &Step) -> i32 {
        for action in &step.actions {
            match self.act(action) {
                Ok(Next::GoOn) => {}
                Ok(Next::Exit(code)) => return code,
                Err(error) => {
                    say(&Spoken::Failed { message: error.to_string() });
                    if !may_fail(action) {
                        return FAILED;
                    }
                }
            }
        }
        0
    }

    fn act(&self, action: &Action) -> io::Result<Next> {
        match action {
            Action::Write { path, text, .. } => {
                let path = self.announce("write", path)?;
                make_parent(&path)?;
                std::fs::write(path, self.fill(text)?)?;
            }
            Action::Append { path, text, .. } => {
                let path = self.announce("append", path)?;
                let mut file = OpenOptions::new().append(true).create(true).open(path)?;
                file.write_all(self.fill(text)?.as_bytes())?;
            }
            Action::Replace { path, old, new, .. } => {
                let path = self.announce("replace", path)?;
                let text = std::fs::read_to_string(&path)?;
                let old = self.fill(old)?;
                if !text.contains(&old) {
                    return Err(io::Error::other(format!("{}: no `{old}`", path.display())));
                }
                std::fs::write(path, text.replacen(&old, &self.fill(new)?, 1))?;
            }
            Action::Delete { path, .. } => std::fs::remove_file(self.announce("delete", path)?)?,
            Action::Drop { name, text, .. } => {
                let name = self.announce("drop", name)?;
                let path = self.drop_box()?.join(name);
                make_parent(&path)?;
                std::fs::write(path, self.fill(text)?)?;
            }
            Action::Run { command, .. } => self.run(command)?,
            Action::Commit { message, .. } => self.commit(message)?,
            Action::Say { text } => say(&Spoken::Text { text: self.fill(text)? }),
            Action::Usage { input_tokens, output_tokens } => {
                say(&Spoken::Usage { input_tokens: *input_tokens, output_tokens: *output_tokens })
            }
            Action::RateLimit { retry_after_millis } => {
                say(&Spoken::RateLimited { retry_after_millis: *retry_after_millis });
            }
            Action::Flood { bytes } => flood(*bytes)?,
            Action::Sleep { millis } => std::thread::sleep(Duration::from_millis(*millis)),
            Action::Hang {} => loop {
                std::thread::sleep(Duration::from_secs(60));
            },
            Action::Exit { code } => return Ok(Next::Exit(i32::from(*code))),
            Action::Signal { number } => {
                let signal = Signal::from_named_raw(*number);
                let signal =
                    signal.ok_or_else(|| io::Error::other(format!("no signal {number}")))?;
                kill_process(getpid(), signal)?;
            }
        }
        Ok(Next::GoOn)
    }

    /// Says what is about to be done to which file.
    fn announce(&self, name: &str, path: &str) -> io::Result<PathBuf> {
        let path = self.fill(path)?;
        say(&Spoken::Action { name: name.to_string(), detail: path.clone() });
        Ok(PathBuf::from(path))
    }

    fn drop_box(&self) -> io::Result<PathBuf> {
        let missing = || io::Error::other("there is no drop box: ASSAY_DROP_BOX is not set");
        self.variables.get("drop_box").map(PathBuf::from).ok_or_else(missing)
    }

    fn run(&self, command: &[String]) -> io::Result<()> {
        let words: Vec<String> =
            command.iter().map(|word| self.fill(word)).collect::<io::Result<_>>()?;
        let (program, args) =
            words.split_first().ok_or_else(|| io::Error::other("`command` is empty"))?;
        say(&Spoken::Action { name: "run".to_string(), detail: words.join(" ") });
        succeed(Command::new(program).args(args))
    }

    fn commit(&self, message: &str) -> io::Result<()> {
        let message = self.fill(message)?;
        say(&Spoken::Action { name: "commit".to_string(), detail: message.clone() });
        succeed(Command::new("git").args(["add", "--all"]))?;
        succeed(
            Command::new("git")
                .args(["-c", NAME, "-c", EMAIL, "-c", ALONE, "commit", "--quiet"])
                .args(["--no-verify", "--message", &message]),
        )
    }

    fn fill(&self, text: &str) -> io::Result<String> {
        let value = |name: &str| match name {
            "commit" => git(&["rev-parse", "HEAD"]),
            "tree" => git(&["rev-parse", "HEAD^{tree}"]),
            name => self.variables.get(name).cloned(),
        };
        fill(text, value).map_err(io::Error::other)
    }
}

fn may_fail(action: &Action) -> bool {
    match action {
        Action::Write { may_fail, .. }
        | Action::Append { may_fail, .. }
        | Action::Replace { may_fail, .. }
        | Action::Delete { may_fail, .. }
        | Action::Run { may_fail, .. }
        | Action::Commit { may_fail, .. }
        | Action::Drop { may_fail, .. } => *may_fail,
        _ => false,
    }
}

fn make_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => std::fs::create_dir_all(parent),
        _ => Ok(()),
    }
}

/// Runs a command; its output is not a message, so it goes to standard error.
fn succeed(command: &mut Command) -> io::Result<()> {
    let stderr = io::stderr();
    let status = command.stdin(Stdio::null()).stdout(stderr).status()?;
    match status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("{:?}: {status}", command.get_program()))),
    }
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_string())
}

fn say(spoken: &Spoken) {
    let line = serde_json::to_string(spoken).unwrap_or_default();
    // Nobody listens: then there is nobody to tell.
    let mut out = io::stdout().lock();
    let _unheard = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn flood(bytes: u64) -> io::Result<()> {
    let line = [vec![b'x'; FLOOD_LINE_BYTES - 1], vec![b'\n']].concat();
    let mut out = io::stdout().lock();
    let mut left = bytes;
    while left > 0 {
        let now = left.min(FLOOD_LINE_BYTES as u64);
        out.write_all(&line[FLOOD_LINE_BYTES - now as usize..])?;
        left -= now;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_situation_is_what_assay_says_and_nothing_else() {
        let all = [("ASSAY_NONCE", "7"), ("PATH", "/bin"), ("ASSAY_DROP_BOX", "/d")];
        let all = all.map(|(name, value)| (name.to_string(), value.to_string()));
        let expected = [("drop_box", "/d"), ("nonce", "7")];
        let expected = expected.map(|(name, value)| (name.to_string(), value.to_string()));
        assert_eq!(situation(all.into_iter()), BTreeMap::from(expected));
    }
}

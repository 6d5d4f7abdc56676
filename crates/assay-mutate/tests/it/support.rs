//! A small bank, and the engines that are here.

use assay_mutate::{Engine, EngineChoice, Model, choose};
use std::path::{Path, PathBuf};

pub const BANK: &str = r#"---- MODULE Bank ----
EXTENDS Naturals
CONSTANTS Accounts, Max
VARIABLES bal, moved, phase
vars == <<bal, moved, phase>>
Total(b) == b[1] + b[2]
Init ==
    /\ bal = [a \in Accounts |-> 1]
    /\ moved = {}
    /\ phase = "open"
Move(a, b) ==
    /\ phase = "open"
    /\ a # b
    /\ bal[a] > 0
    /\ bal' = [bal EXCEPT ![a] = @ - 1, ![b] = @ + 1]
    /\ moved' = moved \cup {a}
    /\ UNCHANGED phase
Close ==
    /\ phase = "open"
    /\ phase' = "closed"
    /\ UNCHANGED <<bal, moved>>
Rest ==
    /\ phase = "closed"
    /\ UNCHANGED vars
Next ==
    \/ \E a, b \in Accounts : Move(a, b)
    \/ Close
    \/ Rest
Spec == Init /\ [][Next]_vars /\ WF_vars(Close)
TypeOK ==
    /\ phase \in {"open", "closed"}
    /\ \A a \in Accounts : bal[a] \in 0..Max
Conserved == Total(bal) = 2
Known == \A a \in Accounts :
    bal[a] = 0 => /\ a \in moved
                  /\ bal[a] < Max
ClosedStays == [][phase = "closed" => UNCHANGED <<bal, moved>>]_vars
Closes == <>(phase = "closed")
====
"#;

pub const CFG: &str = "CONSTANTS\n  Accounts = {1, 2}\n  Max = 2\nSPECIFICATION Spec\n\
    INVARIANTS TypeOK Conserved Known\nPROPERTIES ClosedStays Closes\n";

/// A model in a directory of its own.
pub fn model(source: &str, cfg: &str) -> (tempfile::TempDir, Model) {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("Bank.tla");
    std::fs::write(&file, source).expect("a module");
    std::fs::write(directory.path().join("Bank.cfg"), cfg).expect("a configuration");
    let model = Model::read(&file, None).expect("the module is read");
    (directory, model)
}

pub fn bank() -> (tempfile::TempDir, Model) {
    model(BANK, CFG)
}

/// The jar that `make test` fetches, or that somebody named.
pub fn jar() -> Option<PathBuf> {
    let named = std::env::var_os("ASSAY_TLC_JAR").map(PathBuf::from);
    let fetched = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/tla2tools.jar");
    named.into_iter().chain([fetched]).find(|jar| jar.is_file())
}

/// The engines that are here. A machine without any says so, by name.
pub fn engines() -> Vec<Box<dyn Engine>> {
    let mut found = Vec::new();
    match jar() {
        Some(jar) => match choose(&EngineChoice::Tlc(Some(jar))) {
            Ok(engine) => found.push(engine),
            Err(error) => eprintln!("SKIPPED with TLC: {error}"),
        },
        None => eprintln!("SKIPPED with TLC: no jar; scripts/install-deps.sh fetches one"),
    }
    match choose(&EngineChoice::TlaChecker) {
        Ok(engine) => found.push(engine),
        Err(error) => eprintln!("SKIPPED with tla-checker: {error}"),
    }
    found
}

//! Bad files get one clear error.

use super::support::{BANK, CFG};
use assay_mutate::{Model, ModelError};

#[test]
fn files_that_are_no_models_are_refused_with_what_to_do() {
    let directory = tempfile::tempdir().expect("a directory");
    let place = |name: &str| directory.path().join(name);
    let read = |source: &[u8], cfg: Option<&str>| -> String {
        std::fs::write(place("Bank.tla"), source).expect("a file");
        let _absent = std::fs::remove_file(place("Bank.cfg"));
        if let Some(cfg) = cfg {
            std::fs::write(place("Bank.cfg"), cfg).expect("a file");
        }
        match Model::read(&place("Bank.tla"), None) {
            Ok(model) => panic!("{model:?}"),
            Err(error) => error.to_string(),
        }
    };
    let huge = vec![b' '; (4 << 20) + 1];
    for (source, cfg, part) in [
        (b"\0\0".as_slice(), Some(CFG), "is binary"),
        (b"\xff\xfe", Some(CFG), "is binary"),
        (&huge, Some(CFG), "larger than 4 MiB"),
        (b"words\n", Some(CFG), "Bank.tla"),
        (b"---- MODULE Bank ----\n]] ((\n====\n", Some(CFG), "Bank.tla:2: is not TLA+"),
        (BANK.as_bytes(), None, "write Bank.cfg"),
        (BANK.as_bytes(), Some("SPECIFICATION Spec\n"), "there is nothing to be noticed"),
    ] {
        let error = read(source, cfg);
        assert!(error.contains(part), "{part}: {error}");
    }
    let missing = Model::read(&place("No.tla"), None);
    assert!(matches!(missing, Err(ModelError::Read { .. })), "{missing:?}");
}

#[test]
fn the_smallest_configuration_is_taken_and_rewritten_as_the_engines_read_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("Bank.tla");
    std::fs::write(&file, BANK).expect("a file");
    std::fs::write(directory.path().join("Bank.cfg"), CFG).expect("a file");
    let small = CFG.replace("{1, 2}", "{{a, b}, c}") + "CHECK_DEADLOCK FALSE\nCONSTRAINT Small\n";
    std::fs::write(directory.path().join("Bank_small.cfg"), &small).expect("a file");
    let model = Model::read(&file, None).expect("a model");
    assert_eq!(model.configuration(), "Bank_small.cfg");
    let written = model.configured("INVARIANT X\n");
    let wanted = "CONSTANT Accounts = { { a, b }, c }\nCONSTANT Max = 2\nSPECIFICATION Spec\n\
                  CONSTRAINT Small\nINVARIANT X\n";
    assert_eq!(written, wanted);
    assert!(!model.question().deadlock);
}

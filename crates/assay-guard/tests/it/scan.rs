//! The matrix of invariants: complete where it is complete, and every hole is found by its rule.

use assay_guard::Tree;
use assay_guard::scan::{HOLES, Matrix, markdown, scan, text};
use std::collections::BTreeSet;

/// Two invariants with everything they need.
const FILES: [(&str, &str); 7] = [
    (
        "src/promises.rs",
        "assay_invariant::invariants! {\n    /// All.\n    pub registry Promises for Bank;\n\n\
         \x20   /// One.\n    state BK1 {\n        id: \"BK-1\",\n        tla: \"BK1_Kept\",\n\
         \x20       says: \"Money is kept.\",\n        see: \"docs/adr.md\",\n\
         \x20       holds: |bank| bank.sum() == 2,\n    }\n    /// Two.\n    action BK2 {\n\
         \x20       id: \"BK-2\",\n        tla: \"BK2_Only\",\n        says: \"Only so.\",\n\
         \x20       see: \"docs/adr.md\",\n        holds: |a, b| a != b,\n    }\n}\n",
    ),
    (
        "src/bank.rs",
        "fn act(&mut self) -> Result<(), V> {\n    check!(BK1, self)?;\n    \
         check!(crate::promises::BK2, before => self)\n}\n\
         fn page() -> String { Promises::prometheus() }\n",
    ),
    (
        "tests/model.rs",
        "#[test]\nfn holds() {\n    let a: States<Model, Promises> = States::new(m);\n    \
         let b = Steps::<Model, Promises>::new(m);\n    Simulation::new(m).run::<Promises>();\n}\n",
    ),
    ("docs/adr.md", "# Money\n\n| id | text |\n|---|---|\n| BK-1 | kept |\n\n**BK-2**: only so.\n"),
    (
        "specs/Bank.tla",
        "---- MODULE Bank ----\nBK1_Kept == x = 2\nBK2_Only == [][x' # x]_x\n====\n",
    ),
    ("specs/Bank.cfg", "SPECIFICATION Spec\nINVARIANTS BK1_Kept\n"),
    ("specs/Bank_more.cfg", "SPECIFICATION Spec\nPROPERTIES\n    BK2_Only\n    BK1_Kept\n"),
];

fn tree(files: &[(&str, String)]) -> Tree {
    files.iter().map(|(path, text)| (path.to_string(), text.clone().into_bytes())).collect()
}

fn edited(file: &str, old: &str, new: &str) -> Matrix {
    let mut files: Vec<(&str, String)> =
        FILES.iter().map(|(path, text)| (*path, text.to_string())).collect();
    if !file.is_empty() {
        let one = files.iter_mut().find(|(path, _)| *path == file).expect("the file is there");
        assert_eq!(one.1.matches(old).count(), 1, "{old} in {file}");
        one.1 = one.1.replacen(old, new, 1);
    }
    scan(&tree(&files))
}

#[test]
fn a_complete_repository_has_no_holes_and_every_place_is_named() {
    let matrix = edited("", "", "");
    assert_eq!(matrix.holes, []);
    let places = |sites: &[assay_guard::scan::Site]| {
        sites.iter().map(|site| format!("{}:{}", site.file, site.line)).collect::<Vec<_>>()
    };
    let [one, two] = &matrix.rows[..] else { panic!("{:?}", matrix.rows) };
    assert_eq!(
        (one.id.as_str(), one.kind.as_str(), two.kind.as_str()),
        ("BK-1", "state", "action")
    );
    assert_eq!(places(&one.documents), ["docs/adr.md:5"]);
    assert_eq!(places(&two.documents), ["docs/adr.md:7"]);
    assert_eq!(places(&one.declared), ["src/promises.rs:6"]);
    assert_eq!(places(&one.specified), ["specs/Bank.tla:2"]);
    assert_eq!(places(&one.configured), ["specs/Bank.cfg:2", "specs/Bank_more.cfg:4"]);
    assert_eq!(places(&one.modelled), ["tests/model.rs:3"], "States are for states");
    assert_eq!(places(&two.modelled), ["tests/model.rs:4"], "Steps are for actions");
    assert_eq!(places(&one.simulated), ["tests/model.rs:5"]);
    assert_eq!(places(&one.checked), ["src/bank.rs:2"]);
    assert_eq!(places(&two.checked), ["src/bank.rs:3"]);
    assert_eq!(places(&two.exported), ["src/bank.rs:5"]);
    assert_eq!(one.metric, "assay_invariant_violations_total{invariant=\"BK-1\"}");
}

/// File, what is replaced by what, and the holes that makes.
const EDITS: [(&str, &str, &str, &str); 18] = [
    ("specs/Bank.tla", "BK2_Only ==", "BK3_New == TRUE\nBK2_Only ==", "I01 BK-3 specs/Bank.tla:3"),
    ("docs/adr.md", "**BK-2**", "BK-2", "I02 BK-2 src/promises.rs:14"),
    ("docs/adr.md", "| BK-1 |", "| BK-01 |", "I02 BK-1 src/promises.rs:6; I10 BK-01 docs/adr.md:5"),
    (PROMISES, "BK1_Kept", "BK1_Lost", "I03 BK-1 src/promises.rs:6"),
    (PROMISES, "        tla: \"BK2_Only\",\n", "", ""),
    ("specs/Bank_more.cfg", "BK2_Only", "\\* BK2_Only", "I04 BK-2 specs/Bank.tla:3"),
    ("tests/model.rs", "Steps::<", "Other::<", "I05 BK-2 src/promises.rs:14"),
    ("tests/model.rs", "States<", "Other<", "I05 BK-1 src/promises.rs:6"),
    ("src/bank.rs", "check!(BK1, self)?", "self.work()?", "I06 BK-1 src/promises.rs:6"),
    (
        "src/bank.rs",
        "check!(BK1, self)?",
        "#[cfg(debug_assertions)] { check!(BK1, self)? }",
        "I06 BK-1 src/bank.rs:2",
    ),
    (
        "src/bank.rs",
        "check!(BK1, self)?",
        "#[cfg(not(debug_assertions))] { check!(BK1, self)? }",
        "",
    ),
    (
        "src/bank.rs",
        "fn act",
        "#[cfg(test)] fn act",
        "I06 BK-1 src/promises.rs:6; I06 BK-2 src/promises.rs:14",
    ),
    (
        "src/bank.rs",
        "Promises::prometheus()",
        "page",
        "I08 BK-1 src/promises.rs:6; I08 BK-2 src/promises.rs:14",
    ),
    ("src/bank.rs", "Promises::prometheus()", "prometheus([&BK1 as &dyn Counted, &BK2])", ""),
    (PROMISES, "\"BK-2\"", "\"BK-1\"", "I01 BK-2 specs/Bank.tla:3; I09 BK-1 src/promises.rs:14"),
    ("docs/adr.md", "only so.", "**BK-7** and **AC-1** too.", "I10 BK-7 docs/adr.md:7"),
    ("docs/adr.md", "only so.", "`BK-7` is gone.\n\n    **BK-8**", ""),
    (PROMISES, "state BK1", "eventually BK1", ""),
];

const PROMISES: &str = "src/promises.rs";

#[test]
fn each_thing_that_is_missing_is_a_hole_with_its_place() {
    let mut rules = BTreeSet::new();
    for (file, old, new, expected) in EDITS {
        let holes = edited(file, old, new).holes;
        let shown: Vec<String> = holes
            .iter()
            .map(|hole| format!("{} {} {}:{}", hole.rule, hole.id, hole.site.file, hole.site.line))
            .collect();
        assert_eq!(shown.join("; "), expected, "{new} instead of {old}");
        rules.extend(holes.iter().map(|hole| hole.rule));
    }
    // Without a model there are no tests here at all.
    let mut files: Vec<_> = FILES.iter().map(|(path, text)| (*path, text.to_string())).collect();
    files.retain(|(path, _)| *path != "tests/model.rs");
    rules.extend(scan(&tree(&files)).holes.iter().map(|hole| hole.rule));
    let all: BTreeSet<&str> = HOLES.iter().map(|(rule, _)| *rule).collect();
    assert_eq!(rules, all, "every rule has a case");
}

#[test]
fn a_document_that_is_not_there_is_told_apart() {
    let matrix = edited(
        "src/promises.rs",
        "        see: \"docs/adr.md\",\n        holds: |a",
        "        see: \"docs/no.md\",\n        holds: |a",
    );
    let [hole] = &matrix.holes[..] else { panic!("{:?}", matrix.holes) };
    assert!(hole.text.contains("`docs/no.md`, which is not there"), "{}", hole.text);
}

#[test]
fn without_modules_nobody_asks_for_operators() {
    let mut files: Vec<_> = FILES.iter().map(|(path, text)| (*path, text.to_string())).collect();
    files.retain(|(path, _)| !path.starts_with("specs/"));
    assert_eq!(scan(&tree(&files)).holes, []);
}

#[test]
fn what_tests_declare_and_what_is_no_rust_declares_nothing() {
    let promises = FILES[0].1;
    for (path, source) in [
        ("tests/promises.rs", promises.to_string()),
        ("src/a.rs", format!("#[cfg(test)]\nmod tests {{\n{promises}\n}}\n")),
        ("src/b.rs", format!("{promises} }}")),
        ("src/c.rs", "invariants! { state BK1 { id: BK, } }".to_string()),
        (
            "src/d.rs",
            "macro_rules! invariants { ($k:ident) => { state X { id: $k } } }".to_string(),
        ),
        ("src/e.rs", format!("fn a() {{ {}{} }}", "(".repeat(50_000), ")".repeat(50_000))),
        ("d.tla", "\u{0}---- not TLA+".to_string()),
        ("e.md", "**".repeat(5000)),
    ] {
        let matrix = scan(&tree(&[(path, source)]));
        assert!(matrix.rows.is_empty() && matrix.holes.is_empty(), "{path}: {:?}", matrix.rows);
        assert!(text(&matrix).starts_with("no invariants are declared"), "{path}");
    }
}

#[test]
fn people_and_documents_get_the_answer_first() {
    let matrix = edited("src/bank.rs", "check!(BK1, self)?", "self.work()?");
    let shown = text(&matrix);
    assert!(shown.starts_with("2 invariants, 1 hole; 7 files were read\n"), "{shown}");
    let last = shown.lines().last().unwrap_or_default();
    let expected = "src/promises.rs:6: [I06] BK-1: is checked nowhere in production";
    assert!(last.starts_with(expected), "{last}");
    let page = markdown(&matrix);
    assert!(page.starts_with("**2 invariants, 1 hole**\n\n| id | document |"), "{page}");
    assert!(page.contains("\n| BK-2 | docs/adr.md:7 | BK2_Only specs/Bank.tla:3 |"), "{page}");
}

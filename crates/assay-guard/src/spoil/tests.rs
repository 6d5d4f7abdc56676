use super::{Way, Which};
use std::collections::BTreeSet;

const NONCE: &str = "8f3c0a7712bd94e58f3c0a7712bd94e5";

fn tests(path: &str, text: &str, names: &BTreeSet<String>) -> Option<super::Spoiled> {
    super::tests(path, text, names, &Way::of(NONCE))
}

fn functions(path: &str, text: &str, changed: &dyn Fn(usize) -> bool) -> Option<String> {
    super::functions(path, text, changed, &Way::of(NONCE), Which::All)
}

fn spoiled(path: &str, text: &str, name: &str) -> Option<String> {
    let names = BTreeSet::from([name.to_string()]);
    let spoiled = tests(path, text, &names)?;
    assert_eq!(spoiled.tests, names);
    Some(spoiled.text)
}

#[test]
fn a_test_fails_before_it_does_anything() {
    let fails = format!("if true {{ {} }}", Way::of(NONCE).rust());
    for (path, text, name, wanted) in [
        (
            "a.rs",
            "#[test]\nfn t() { x(); }",
            "m::t",
            format!("#[test]\nfn t() {{ {fails}  x(); }}"),
        ),
        (
            "a.rs",
            "#[tokio::test]\nasync fn t() -> R { #![allow(x)] x() }",
            "t",
            format!("#[tokio::test]\nasync fn t() -> R {{ #![allow(x)] {fails}  x() }}"),
        ),
        (
            "a.rs",
            "#[test]\n#[should_panic]\nfn t() {}",
            "t",
            "#[test]\n#[should_panic]\nfn t() { if true { return; } }".to_string(),
        ),
        (
            "a.rs",
            "proptest! { #[test] fn t(a in 0..9) {} }",
            "t",
            format!("proptest! {{ #[test] fn t(a in 0..9) {{ {fails} }} }}"),
        ),
        (
            "a.rs",
            "#[rstest]\n#[case(1)]\nfn t(#[case] a: u8) {}",
            "t::case_1",
            format!("#[rstest]\n#[case(1)]\nfn t(#[case] a: u8) {{ {fails} }}"),
        ),
    ] {
        assert_eq!(spoiled(path, text, name), Some(wanted), "{text}");
    }
}

#[test]
fn so_it_does_in_other_languages() {
    let way = Way::of(NONCE);
    let (python, script) = (way.python(), format!("if (1 > 0) {}", way.script()));
    for (path, text, name, wanted) in [
        (
            "a.py",
            "class A:\n\t@x\n\tdef t(self):\n\t\t'doc'\n\t\ty()\n",
            "a.A.t",
            format!("class A:\n\t@x\n\tdef t(self):\n\t\t{python}\n\t\t'doc'\n\t\ty()\n"),
        ),
        ("a.py", "def t(): x()\n", "a.py::t[1.5-b::c]", format!("def t(): {python}; x()\n")),
        (
            "a_test.go",
            "func TestA(t *testing.T) {\n}\n",
            "TestA/case.1",
            format!("func TestA(t *testing.T) {{ {};\n}}\n", way.go("t")),
        ),
        (
            "a_test.go",
            "func TestA(*testing.T) {\n}\n",
            "TestA",
            format!("func TestA(spoiled *testing.T) {{ {};\n}}\n", way.go("spoiled")),
        ),
        (
            "a.js",
            "describe('sum', () => { it('adds', async () => { x(); }); });",
            "sum adds",
            format!("describe('sum', () => {{ it('adds', async () => {{ {script} x(); }}); }});"),
        ),
        (
            "a.ts",
            "test(`adds`, () => x());",
            "adds",
            format!("test(`adds`, () => {{ {script} return (x()); }});"),
        ),
    ] {
        assert_eq!(spoiled(path, text, name), Some(wanted), "{text}");
    }
}

#[test]
fn what_is_no_test_of_that_name_stays_as_it_is() {
    for (path, text, name) in [
        ("a.rs", "fn t() {}", "t"),
        ("a.rs", "#[test]\nfn t() {}", "t2"),
        ("a.rs", "#[test]\nfn t() {", "t"),
        ("a.rs", "trait A { #[test] fn t(); }", "t"),
        ("a.py", "t = 1\n", "a.t"),
        ("a.py", "def t(): pass\n", "a.tt"),
        ("a.js", "it('adds', () => {})", "it adds not"),
        ("t/1.sh", "t() { :; }", "t"),
    ] {
        assert_eq!(spoiled(path, text, name), None, "{text}");
    }
}

#[test]
fn functions_with_changed_lines_fail_and_those_around_them_do_not() {
    let python = "def a():\n    def b():\n        return 1\n    return b\ndef c():\n    pass\n";
    let at = |lines: &[usize]| functions("a.py", python, &|line| lines.contains(&line));
    let count = |text: Option<String>| text.map_or(0, |text| text.matches("raise").count());
    let inner = at(&[3]).expect("one");
    assert!(inner.contains("def b():\n        raise type('Void'"), "{inner}");
    assert_eq!([count(at(&[3])), count(at(&[3, 4])), count(at(&[9]))], [1, 2, 0]);
    let script = "const a = (b) => (c) => b + c;\n";
    let both = functions("a.js", script, &|_| true).expect("one");
    assert_eq!(both.matches("throw").count(), 1, "{both}");
    assert!(both.ends_with("return (b + c); };\n"), "{both}");
    let rust = "const fn a() -> u8 { 1 }\nimpl A { fn b(&self) -> u8 { 2 } }\n";
    let at_build = functions("a.rs", rust, &|line| line == 1).expect("one");
    assert!(at_build.contains("const fn a() -> u8 { if true { ::core::panic!("), "{at_build}");
    let rest = super::functions("a.rs", rust, &|_| true, &Way::of(NONCE), Which::NotAtBuild);
    assert_eq!(rest.expect("one").matches("panic!").count(), 1, "it may be asked for at build");
    let python = "a = lambda b: b + 1\nc = lambda: (yield)\n";
    let spoiled = functions("a.py", python, &|line| line == 1).expect("one");
    assert!(spoiled.contains("a = lambda b: ((_ for _ in ()).throw(type('Void'"), "{spoiled}");
    assert!(spoiled.contains(" and (b + 1))\nc = lambda: (yield)\n"), "{spoiled}");
    let spoiled = functions("a.rs", rust, &|line| line == 2).expect("one");
    assert!(spoiled.contains("fn b(&self) -> u8 { if true { ::core::panic!("), "{spoiled}");
}

#[test]
fn a_title_without_an_end_is_no_reason_to_panic() {
    for (text, name) in [
        ("test(\"\u{e9}\n, () => {});\n", "\u{e9}"),
        ("test(\"", "x"),
        ("test(`", "x"),
        ("test('\u{e9}", "x"),
        ("test(\"\u{1f980}\n, () => { y(); });\n", "\u{1f980}"),
    ] {
        for path in ["a.js", "a.ts"] {
            _ = tests(path, text, &BTreeSet::from([name.to_string()]));
            _ = functions(path, text, &|_| true);
        }
    }
}

#[test]
fn no_two_failures_are_alike_and_none_says_that_it_was_made() {
    let messages: BTreeSet<String> =
        (0..200).map(|i| Way::of(&format!("{i:032x}")).quoted()).collect();
    assert!(messages.len() > 195, "{}", messages.len());
    assert!(messages.iter().all(|message| !message.contains("made") && message.is_ascii()));
    let forms: BTreeSet<String> = (0..200)
        .map(|i| Way::of(&format!("{i:032x}")).python())
        .map(|form| form.replace(|c: char| c.is_ascii_digit(), "").replace('"', "'"))
        .collect();
    assert!(forms.len() > 10, "{forms:?}");
}

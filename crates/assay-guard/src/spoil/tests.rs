use super::{functions, tests};
use std::collections::BTreeSet;

fn spoiled(path: &str, text: &str, name: &str) -> Option<String> {
    let names = BTreeSet::from([name.to_string()]);
    let spoiled = tests(path, text, &names)?;
    assert_eq!(spoiled.tests, names);
    Some(spoiled.text)
}

#[test]
fn a_test_fails_before_it_does_anything() {
    const FAILS: &str = "if true { ::core::panic!(\"made to fail, to see who notices\") }";
    for (path, text, name, wanted) in [
        (
            "a.rs",
            "#[test]\nfn t() { x(); }",
            "m::t",
            format!("#[test]\nfn t() {{ {FAILS}  x(); }}"),
        ),
        (
            "a.rs",
            "#[tokio::test]\nasync fn t() -> R { #![allow(x)] x() }",
            "t",
            format!("#[tokio::test]\nasync fn t() -> R {{ #![allow(x)] {FAILS}  x() }}"),
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
            format!("proptest! {{ #[test] fn t(a in 0..9) {{ {FAILS} }} }}"),
        ),
        (
            "a.rs",
            "#[rstest]\n#[case(1)]\nfn t(#[case] a: u8) {}",
            "t::case_1",
            format!("#[rstest]\n#[case(1)]\nfn t(#[case] a: u8) {{ {FAILS} }}"),
        ),
    ] {
        assert_eq!(spoiled(path, text, name), Some(wanted), "{text}");
    }
}

#[test]
fn so_it_does_in_other_languages() {
    for (path, text, name, wanted) in [
        (
            "a.py",
            "class A:\n\t@x\n\tdef t(self):\n\t\t'doc'\n\t\ty()\n",
            "a.A.t",
            "class A:\n\t@x\n\tdef t(self):\n\t\traise AssertionError('made to fail, to see who \
             notices')\n\t\t'doc'\n\t\ty()\n"
                .to_string(),
        ),
        (
            "a.py",
            "def t(): x()\n",
            "a.py::t[1.5-b::c]",
            "def t(): raise AssertionError('made to fail, to see who notices'); x()\n".to_string(),
        ),
        (
            "a_test.go",
            "func TestA(t *testing.T) {\n}\n",
            "TestA/case.1",
            "func TestA(t *testing.T) { t.Fatal(\"made to fail, to see who notices\");\n}\n"
                .to_string(),
        ),
        (
            "a_test.go",
            "func TestA(*testing.T) {\n}\n",
            "TestA",
            "func TestA(spoiled *testing.T) { spoiled.Fatal(\"made to fail, to see who \
             notices\");\n}\n"
                .to_string(),
        ),
        (
            "a.js",
            "describe('sum', () => { it('adds', async () => { x(); }); });",
            "sum adds",
            "describe('sum', () => { it('adds', async () => { if (1 > 0) throw new Error(\"made \
             to fail, to see who notices\"); x(); }); });"
                .to_string(),
        ),
        (
            "a.ts",
            "test(`adds`, () => x());",
            "adds",
            "test(`adds`, () => { if (1 > 0) throw new Error(\"made to fail, to see who \
             notices\"); return (x()); });"
                .to_string(),
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
    assert_eq!(functions("a.rs", rust, &|line| line == 1), None, "it may be asked for at build");
    let spoiled = functions("a.rs", rust, &|line| line == 2).expect("one");
    assert!(spoiled.contains("fn b(&self) -> u8 { if true { ::core::panic!("), "{spoiled}");
}

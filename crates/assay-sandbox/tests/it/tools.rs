//! What tools do when nothing is wrong, and what they say when something is.

use crate::Test;
use crate::rig::{Place, Rig, open_to_all};
use assay_sandbox::{Capability, End, Tools};
use serde_json::{Value, json};

pub const TESTS: &[Test] = &[
    ("a_shell_begins_where_the_last_one_ended", &[], directory),
    ("files_are_written_read_and_edited", &[], files),
    ("files_are_found_by_name_and_by_content", &[], search),
    ("paths_are_the_same_everywhere", &[Capability::PrivateRoot], paths),
    ("uploads_can_only_be_read", &[Capability::Files], uploads),
    ("skills_can_only_be_read", &[Capability::Files], skills),
    ("programs_say_how_they_ended", &[], ends),
    ("mistakes_are_told_to_the_model", &[], mistakes),
];

fn directory(rig: &Rig) {
    let place = rig.place();
    assert_eq!(place.sh("mkdir -p a/b; cd a/b; echo here > file; exit 0"), "");
    assert_eq!(place.sh("cat file; cd .."), "here\n");
    assert_eq!(place.sh("cat b/file; cd /usr"), "here\n");
    assert_eq!(place.sh("cat b/file"), "here\n", "elsewhere is no place to begin");
    assert_eq!(place.sh("rmdir ../gone 2>/dev/null; mkdir gone; cd gone; rmdir ../gone"), "");
    assert_eq!(place.sh("cat b/file; mkdir c; cd c"), "here\n", "nor is one that is gone");
    std::fs::remove_dir(place.workspace.files().join("a/c")).expect("it was made");
    assert_eq!(place.sh("cat a/b/file"), "here\n", "then it begins in the workspace");
    // Whatever it writes there is read by us, and must not hold us up.
    for trick in ["mkfifo", "mkdir", "ln -s /etc/passwd"] {
        place.sh(&format!("trap '' EXIT; {trick} \"$TMPDIR/.assay-directory\""));
        assert_eq!(place.sh("echo fine"), "fine\n", "{trick}");
    }
}

fn files(rig: &Rig) {
    let place = rig.place();
    let ok = |tool: &str, input: Value| {
        let result = place.call(tool, input);
        assert!(!result.is_error, "{tool}: {}", result.text);
        result.text
    };
    let text = "first\nsecond\nthird\n";
    assert!(ok("write", json!({ "path": "d/e/f", "content": text })).contains("created"));
    assert!(
        ok("write", json!({ "path": "/workspace/d/e/f", "content": text })).contains("replaced")
    );
    let lines = ok("read", json!({ "path": "d/e/f" }));
    assert_eq!(lines, "     1\tfirst\n     2\tsecond\n     3\tthird\n");
    let part = ok("read", json!({ "path": "d/e/f", "offset": 2, "limit": 1 }));
    assert_eq!(part, "     2\tsecond\n[more from line 3 on; use offset to read it]");
    ok("edit", json!({ "path": "d/e/f", "old_string": "second", "new_string": "2nd" }));
    assert_eq!(place.sh("cat d/e/f"), "first\n2nd\nthird\n", "a shell sees the same");
    ok(
        "edit",
        json!({ "path": "d/e/f", "old_string": "ir", "new_string": "IR", "replace_all": true }),
    );
    assert_eq!(place.sh("cat d/e/f; ls -A d/e"), "fIRst\n2nd\nthIRd\nf\n", "nothing else is left");
    place.sh("chmod 755 d/e/f");
    ok("edit", json!({ "path": "d/e/f", "old_string": "2nd", "new_string": "two" }));
    assert_eq!(place.sh("stat -c %a d/e/f"), "755\n", "the mode stays");
    ok("write", json!({ "path": "/mnt/session/outputs/made", "content": "x" }));
    assert!(place.workspace.outputs().join("made").exists());
    ok("write", json!({ "path": "empty", "content": "" }));
    assert_eq!(ok("read", json!({ "path": "empty" })), "[the file is empty]");
    place.sh("yes 'some words' | head -n 50000 > long; printf '%5000s\\n' x > wide");
    let long = ok("read", json!({ "path": "long", "limit": 10_000 }));
    assert!(long.len() < 110_000 && long.contains("[more from line"), "{}", long.len());
    assert!(ok("read", json!({ "path": "wide" })).contains("[line cut after 2000 characters]"));
}

fn search(rig: &Rig) {
    let place = rig.place();
    place.sh(
        "mkdir -p src/a .hidden; echo 'fn main() {}' > src/main.rs; echo 'FN b' > src/a/b.rs; \
              echo x > .hidden/c.rs; printf 'fn\\0' > src/binary.rs; mkfifo src/pipe.rs",
    );
    let text = |tool: &str, input: Value| place.call(tool, input).text;
    assert_eq!(
        text("glob", json!({ "pattern": "**/*.rs" })),
        "/workspace/.hidden/c.rs\n/workspace/src/a/b.rs\n/workspace/src/binary.rs\n\
         /workspace/src/main.rs"
    );
    assert_eq!(text("glob", json!({ "pattern": "*.rs" })), "No files found");
    assert_eq!(
        text("glob", json!({ "pattern": "*.rs", "path": "src/a" })),
        "/workspace/src/a/b.rs"
    );
    assert_eq!(text("grep", json!({ "pattern": "^fn" })), "/workspace/src/main.rs");
    assert_eq!(
        text(
            "grep",
            json!({ "pattern": "fn", "case_insensitive": true, "output_mode": "content" })
        ),
        "/workspace/src/a/b.rs:1:FN b\n/workspace/src/main.rs:1:fn main() {}"
    );
    let count = json!({ "pattern": "fn", "output_mode": "count", "path": "src/main.rs" });
    assert_eq!(text("grep", count), "/workspace/src/main.rs:1");
    assert_eq!(text("grep", json!({ "pattern": "fn", "glob": "*.py" })), "No matches found");
    place.sh("mkdir many; i=0; while [ $i -lt 150 ]; do echo hit > many/$i; i=$((i+1)); done");
    for (tool, input) in [
        ("glob", json!({ "pattern": "many/*" })),
        ("grep", json!({ "pattern": "hit" })),
        ("grep", json!({ "pattern": "hit", "output_mode": "content" })),
    ] {
        let many = text(tool, input);
        assert_eq!(many.lines().count(), 101, "{many}");
        assert!(many.ends_with("[more than 100 matches; narrow the search]"), "{many}");
    }
    assert_eq!(text("grep", json!({ "pattern": "hit", "head_limit": 2 })).lines().count(), 3);
}

fn paths(rig: &Rig) {
    let place = rig.place();
    assert_eq!(place.sh("pwd; echo $HOME $TMPDIR"), "/workspace\n/workspace /tmp\n");
    assert_eq!(place.sh("uname -n"), "sandbox\n");
    for gone in ["/root", "/home", "/sys", "/boot", "/run", "/etc/shadow", "/srv"] {
        assert!(place.sh(&format!("ls -d {gone}")).contains("No such file"), "{gone}");
    }
    let written = place.sh("for d in / /usr /etc /dev /mnt /proc; do touch $d/x && echo $d; done");
    let could: Vec<&str> = written.lines().filter(|line| line.starts_with('/')).collect();
    assert!(could.is_empty(), "{could:?}");
    // Process 1, the shell, and the processes of the pipe: nobody else.
    let count = place.sh("ls -d /proc/[0-9]* | wc -l");
    assert!(count.trim().parse::<u32>().is_ok_and(|count| count <= 6), "{count}");
}

fn uploads(rig: &Rig) {
    let place = rig.place();
    place.workspace.upload("data/input.txt", b"given\n").expect("it is put there");
    let path = "/mnt/session/uploads/data/input.txt";
    assert!(place.call("read", json!({ "path": path })).text.contains("given"));
    let write = place.call("write", json!({ "path": path, "content": "changed" }));
    assert!(write.is_error && write.text.contains("can only be read"), "{}", write.text);
    let shell = place.sh("f=$ASSAY_UPLOADS/data/input.txt; cat $f; echo x > $f; rm -f $f; cat $f");
    assert_eq!(shell.matches("given\n").count(), 2, "{shell}");
    for name in ["", "/x", "../x", "a/../b", "a//b", "a b", "."] {
        assert!(place.workspace.upload(name, b"").is_err(), "{name:?}");
    }
}

fn skills(rig: &Rig) {
    let place = rig.place();
    let (all, skill) = (place.workspace.skills(), place.workspace.skills().join("tables"));
    std::fs::create_dir_all(&skill).expect("ours");
    let manual = skill.join("SKILL.md");
    std::fs::write(&manual, "given\n").expect("ours");
    [&all, &skill, &manual].into_iter().for_each(|path| open_to_all(path));
    let read = |path: &str| {
        let read = place.call("read", json!({ "path": path }));
        assert!(!read.is_error && read.text.contains("given"), "{}", read.text);
    };
    let edit = json!({"path": "skills/tables/SKILL.md", "old_string": "given", "new_string": "x"});
    let changes = [
        ("write", json!({"path": "skills/tables/SKILL.md", "content": "x"})),
        ("write", json!({"path": "/workspace/skills/tables/new", "content": "x"})),
        ("write", json!({"path": "skills/new/SKILL.md", "content": "x"})),
        ("edit", edit),
    ];
    for (tool, input) in changes {
        let refused = place.call(tool, input);
        assert!(
            refused.is_error && refused.text.contains("skills can only be read"),
            "{refused:?}"
        );
    }
    read("skills/tables/SKILL.md");
    let found = place.call("glob", json!({"pattern": "**", "path": "skills"})).text;
    assert_eq!(found, "/workspace/skills/tables/SKILL.md");
    let shell = place.sh(
        "cd $ASSAY_SKILLS; echo x > tables/SKILL.md; rm -rf tables; mkdir new; mv tables other; \
         ln -s . link; cat tables/SKILL.md; ls | wc -l",
    );
    assert!(shell.ends_with("given\n1\n"), "{shell}");
    // Whatever becomes of the name where they are seen, they are what they were.
    place.sh("cd $ASSAY_WORKSPACE; mv skills other; rm -rf skills; ln -s /tmp skills");
    read("/workspace/skills/tables/SKILL.md");
    assert_eq!(std::fs::read_to_string(&manual).expect("still there"), "given\n");
    let plain = rig.place().call("write", json!({"path": "skills/a", "content": "b"}));
    assert!(!plain.is_error, "without skills it is a directory like others: {}", plain.text);
}

fn ends(rig: &Rig) {
    let place = rig.place();
    assert_eq!(place.end("exit 7"), End::Exited(7));
    assert_eq!(place.end("kill -15 $$"), End::Signalled(15));
    let (ran, _) = place.run(&["no-such-program"]);
    assert!(matches!(ran.end, End::NotStarted(_)), "{:?}", ran.end);
    let failed = place.call("bash", json!({ "command": "echo out; echo err >&2; exit 3" }));
    assert!(failed.is_error);
    assert_eq!(failed.text, "out\nerr\n[exit code 3]", "both streams, in their order");
    assert_eq!(place.sh("cat"), "", "there is nothing to read");
    assert!(place.sh("echo 'unclosed").contains("[exit code"), "a mistake is no crash");
    assert_eq!(place.sh("echo a | cat; echo $0 $#"), "a\nbash 1\n");
}

fn mistakes(rig: &Rig) {
    let place = rig.place();
    place.sh("mkdir d; printf 'a\\0b' > binary; echo one > f; mkfifo pipe; printf '\\377' > latin");
    let says = |place: &Place, tool: &str, input: Value, expected: &str| {
        let result = place.call(tool, input.clone());
        assert!(result.is_error && result.text.contains(expected), "{input}: {}", result.text);
    };
    let edit =
        |path: &str, old: &str| json!({ "path": path, "old_string": old, "new_string": "x" });
    says(&place, "read", json!({ "path": "none" }), "no such file");
    says(&place, "read", json!({ "path": "d" }), "is a directory");
    says(&place, "read", json!({ "path": "binary" }), "is not text");
    says(&place, "read", json!({ "path": "pipe" }), "no regular file");
    says(&place, "read", json!({ "path": "f", "offset": 9 }), "has 1 lines");
    says(&place, "read", json!({ "path": "/etc/passwd" }), "only paths in /workspace");
    says(&place, "write", json!({ "path": "d", "content": "" }), "no regular file");
    says(&place, "write", json!({ "path": "/workspace", "content": "" }), "is a directory");
    says(&place, "write", json!({ "path": "f/g", "content": "" }), "f/g");
    says(&place, "write", json!({ "path": "pipe", "content": "" }), "no regular file");
    says(&place, "edit", edit("f", "two"), "was not found");
    says(&place, "edit", edit("latin", "x"), "not UTF-8");
    says(&place, "grep", json!({ "pattern": "x", "path": "none" }), "no such file");
    says(&place, "delete", json!({}), "no such tool");
    let names: Vec<&str> = Tools::definitions().iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["bash", "read", "write", "edit", "glob", "grep"]);
}

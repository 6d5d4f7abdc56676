//! Writes that are impossible, where this kernel can make them so.

use crate::Test;
use crate::support::{Place, assert_exited, itself, run, shell};
use assay_agent::{Hidden, Outcome, Protection, Sandbox, Task, probe, probe_hiding};
use landlock::{AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr};

pub const TESTS: &[Test] = &[
    ("writes_outside_are_refused_by_the_kernel", outside),
    ("an_agent_cannot_end_its_keeper", keeper),
    ("a_sandbox_can_be_required_or_left_out", wishes),
    ("what_is_hidden_cannot_be_read", hidden),
    ("what_cannot_be_hidden_is_not_run", not_hidden),
    ("an_agent_cannot_type_into_the_terminal_of_whoever_runs_it", terminal),
];

/// Whether this kernel has Landlock, asked without the code under test: that must not be able to
/// excuse itself.
fn is_there() -> bool {
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::WriteFile)
        .and_then(Ruleset::create);
    if let Err(error) = &rules {
        eprintln!("SKIPPED: no Landlock on this machine: {error}");
        return false;
    }
    let protection = probe();
    println!("  {protection}");
    assert!(matches!(protection, Protection::Landlock { .. }), "{protection}");
    true
}

/// Each tries to change something outside; with and without a sandbox.
fn outside() {
    if !is_there() {
        return;
    }
    let attempts = [
        "echo x > ../outside",
        "echo x >> ../file",
        "rm ../file",
        "mv ../file stolen",
        "mkdir ../directory",
        "ln -s ../file link && echo x > link",
        "ln ../file hard && echo x > hard",
        "truncate -s 0 ../file",
        "ln -s x ../symlink",
        "mv inside ../moved",
        // Detached, and by another program.
        "setsid sh -c 'echo x > ../outside'",
        "python3 -c 'open(\"../outside\", \"w\").write(\"x\")'",
        "echo x > $ASSAY_DROP_BOX/../outside",
    ];
    for attempt in attempts {
        for sandbox in [Sandbox::Required, Sandbox::Off] {
            let place = Place::new();
            std::fs::write(place.path("file"), "precious").expect("ours");
            let task = Task { sandbox, ..place.task() };
            let line = format!("echo good > inside && {attempt} && exit 0; exit 1");
            let (ran, _) = run(&shell(&line), &task);
            let refused = sandbox == Sandbox::Required;
            assert_exited(&ran, i32::from(refused));
            let mut names: Vec<String> = std::fs::read_dir(place.root.path())
                .expect("readable")
                .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
                .collect();
            names.sort();
            let untouched =
                names == ["drop", "file", "log", "work"] && place.read("file") == "precious";
            assert_eq!(untouched, refused, "{attempt}: {names:?}");
        }
    }
    let place = Place::new();
    let task = Task { sandbox: Sandbox::Required, ..place.task() }.writable(&place.path("more"));
    std::fs::create_dir(place.path("more")).expect("ours");
    let line = "echo x > in && echo x > $ASSAY_DROP_BOX/y && echo x > $TMPDIR/z && \
                echo x > ../more/w && echo x > /dev/null && git init -q . && ls ..";
    assert_exited(&run(&shell(line), &task).0, 0);
}

fn keeper() {
    if !is_there() {
        return;
    }
    let place = Place::new();
    let task = Task { sandbox: Sandbox::Required, ..place.task() };
    let (ran, _) = run(&shell("kill -9 $PPID && exit 0; exit 9"), &task);
    assert_exited(&ran, 9);
    let (ran, _) = run(&shell("sh -c 'kill -9 $PPID'; exit 5"), &task);
    assert_eq!(ran.outcome, Outcome::Signalled { signal: 9 }, "its own are its own");
}

fn wishes() {
    let place = Place::new();
    let with = |sandbox| run(&shell("true"), &Task { sandbox, ..place.task() }).0;
    assert!(matches!(with(Sandbox::Off).protection, Protection::None { .. }));
    assert_eq!(with(Sandbox::WhenAvailable).protection, probe());
    let required = with(Sandbox::Required);
    match probe() {
        Protection::Landlock { .. } => assert_exited(&required, 0),
        _ => assert!(matches!(required.outcome, Outcome::SpawnFailed { .. })),
    }
}

/// Each tries to read a file in a hidden directory; with and without a sandbox.
fn hidden() {
    if !is_there() {
        return;
    }
    let attempts = [
        "cat ../data/secret",
        "cat \"$PWD/../data/secret\"",
        "cp ../data/secret stolen && cat stolen",
        "ln -s ../data/secret link && cat link",
        "cat ../beside/link",
        "cat ../beside/way/secret",
        "cat /proc/self/root/\"$PWD\"/../data/secret",
        "cd ../data && cat secret",
        "setsid sh -c 'cat ../data/secret'",
        "python3 -c 'print(open(\"../data/secret\").read())'",
        "grep -r precious ../data",
        "ls ../data | grep secret",
        "../data/program",
        "tr '\\0' '\\n' < /proc/$PPID/environ | grep ASSAY_DROP_BOX= > /dev/null && echo precious",
    ];
    for attempt in attempts {
        for sandbox in [Sandbox::Required, Sandbox::Off] {
            let place = Place::new();
            let data = place.path("data");
            for name in ["data", "data/mine", "beside"] {
                std::fs::create_dir(place.path(name)).expect("ours");
            }
            std::fs::write(data.join("secret"), "precious").expect("ours");
            std::fs::write(data.join("mine/file"), "mine").expect("ours");
            let program = data.join("program");
            std::fs::write(&program, "#!/bin/sh\necho precious").expect("ours");
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(&program, mode).expect("ours");
            // What leads there from beside it leads nowhere.
            for (link, to) in [("beside/link", data.join("secret")), ("beside/way", data.clone())] {
                std::os::unix::fs::symlink(to, place.path(link)).expect("ours");
            }
            let shown = vec![data.join("mine"), data.join("not-there")];
            let hidden = Hidden { places: vec![data], shown };
            probe_hiding(&hidden).expect("Landlock is there");
            let task = Task { sandbox, hidden, ..place.task() };
            let usual = "cat ../data/mine/file ../beside/link/../../file 2>/dev/null; \
                         test \"$(cat ../data/mine/file)\" = mine && ls ../beside > /dev/null && \
                         ls . /usr /proc/self > /dev/null && git init -q . && mkdir from to && \
                         echo x > from/file && ln from/file to/file || exit 3";
            let line = format!("{usual}; {{ {attempt}; }} | grep -q . && exit 0; exit 1");
            let (ran, _) = run(&shell(&line), &task);
            assert_eq!(
                ran.outcome,
                Outcome::Exited { code: i32::from(sandbox == Sandbox::Required) },
                "{attempt}: {}",
                ran.stderr_tail
            );
        }
    }
}

fn not_hidden() {
    if !is_there() {
        return;
    }
    let place = Place::new();
    std::fs::create_dir(place.path("data")).expect("ours");
    let cases = [
        ("data", None, "its path is not whole"),
        ("/no/such/place", None, "cannot look at it"),
        ("", Some(place.root.path()), "a place that has it in it"),
    ];
    for (name, writable, expected) in cases {
        let path = if name.is_empty() { place.path("data") } else { name.into() };
        let hidden = Hidden { places: vec![path], shown: Vec::new() };
        let mut task = Task { sandbox: Sandbox::WhenAvailable, hidden, ..place.task() };
        task.writable.extend(writable.map(Into::into));
        let (ran, _) = run(&shell("true"), &task);
        let Outcome::SpawnFailed { why } = &ran.outcome else { panic!("{:?}", ran.outcome) };
        assert!(why.contains(expected), "{why}");
    }
}

/// Runs a program on a terminal of its own, as a shell of somebody would.
const ON_A_TERMINAL: &str = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";
/// Tries to type into terminals, and says in a file how far that came.
const TYPIST: &str = r#"
import fcntl, os, sys, termios
def attempt(path, way):
    try:
        terminal = os.open(path, way | os.O_NOCTTY)
    except OSError:
        return "closed"
    try:
        fcntl.ioctl(terminal, termios.TIOCSTI, b"x")
        return "typed"
    except OSError:
        return "opened"
with open("said", "w") as said:
    for path in ["/dev/tty", sys.argv[1]]:
        said.write(" ".join(attempt(path, way) for way in [os.O_RDWR, os.O_RDONLY]) + "\n")
"#;

fn terminal() {
    let place = Place::new();
    std::fs::write(place.path("typist.py"), TYPIST).expect("ours");
    let try_it = |script: &str| {
        let said = place.path("work/said");
        let mut command = std::process::Command::new("python3");
        command.args(["-c", ON_A_TERMINAL, "sh", "-c", script, &itself()]);
        command.arg(place.root.path()).current_dir(place.path("work"));
        let ended = command.output().expect("python3 runs");
        let text =
            std::fs::read_to_string(&said).unwrap_or_else(|error| panic!("{error} {ended:?}"));
        std::fs::remove_file(said).expect("ours");
        text
    };
    // Somebody who is on the terminal can, so this shows something.
    let bare = try_it("python3 \"$1/typist.py\" \"$(tty)\"");
    assert!(bare.starts_with("typed") || bare.starts_with("opened"), "{bare}");
    let kept = try_it("exec \"$0\" role-leader \"$1\" \"python3 $1/typist.py $(tty)\"");
    let lines: Vec<&str> = kept.lines().collect();
    assert_eq!(lines[0], "closed closed", "an agent has no terminal: {kept}");
    if is_there() {
        assert!(!lines[1].contains("typed"), "nor that of somebody else: {kept}");
    }
}

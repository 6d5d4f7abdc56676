//! Writes that are impossible, where this kernel can make them so.

use crate::Test;
use crate::support::{Place, assert_exited, run, shell};
use assay_agent::{Outcome, Protection, Sandbox, Task, probe};
use landlock::{AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr};

pub const TESTS: &[Test] = &[
    ("writes_outside_are_refused_by_the_kernel", outside),
    ("an_agent_cannot_end_its_keeper", keeper),
    ("a_sandbox_can_be_required_or_left_out", wishes),
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
        Protection::None { .. } => {
            assert!(matches!(required.outcome, Outcome::SpawnFailed { .. }));
        }
    }
}

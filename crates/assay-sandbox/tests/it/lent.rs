//! Directories of the host that a session works in.

use crate::rig::{Rig, open_to_all, settings};
use crate::{SECRET, Test};
use assay_sandbox::{
    Capability, HostPlace, Interrupt, Lent, Provider, Tools, Workspace, WorkspaceError,
    collect_outputs,
};
use serde_json::json;
use std::path::{Path, PathBuf};

pub const TESTS: &[Test] = &[
    ("what_is_lent_has_its_own_path_and_nothing_beside_it_is_seen", &[Capability::Files], works),
    ("what_is_no_directory_of_ours_cannot_be_lent", &[], refused),
    ("what_is_lent_cannot_be_moved_out_of_what_is_lent", &[Capability::Files], nested),
    ("what_stands_in_the_place_of_what_was_lent_is_not_worked_in", &[Capability::Files], swapped),
    ("giving_a_tree_away_gives_nothing_away_that_a_link_leads_to", &[], given),
];

/// A directory that everybody gets through, with a tree, a drop box, and a neighbour.
fn desk() -> (tempfile::TempDir, Desk) {
    let root = tempfile::tempdir().expect("a directory");
    open_to_all(root.path());
    let make = |name: &str| {
        let path = root.path().join(name);
        std::fs::create_dir_all(&path).expect("ours");
        path.canonicalize().expect("it is there")
    };
    let lent = Desk { files: make("tree"), outputs: make("drop") };
    std::fs::create_dir(lent.files.join("deep")).expect("ours");
    std::fs::write(lent.files.join("deep/file"), "old").expect("ours");
    std::fs::write(make("other").join("secret"), SECRET).expect("ours");
    (root, lent)
}

/// What is lent, by its paths.
#[derive(Clone)]
struct Desk {
    files: PathBuf,
    outputs: PathBuf,
}

impl Desk {
    fn find(&self) -> Result<Lent, WorkspaceError> {
        let (files, outputs) = (HostPlace::find(&self.files)?, HostPlace::find(&self.outputs)?);
        Ok(Lent { files, outputs })
    }
}

fn works(rig: &Rig) {
    let (root, lent) = desk();
    let workspace = Workspace::create(&root.path().join("session")).expect("a workspace");
    let workspace = workspace.lend(lent.find().expect("it is there")).expect("it is ours");
    let objects = root.path().join("objects");
    std::fs::create_dir(&objects).expect("ours");
    std::fs::write(objects.join("file"), "object").expect("ours");
    let readable = vec![HostPlace::find(&objects).expect("it is there")];
    let settings = assay_sandbox::Settings { readable, ..settings() };
    let tools = Tools::new(rig.provider.open(&workspace, settings).expect("a sandbox"));
    let interrupt = Interrupt::new().expect("a descriptor");
    let call = |name: &str, input: serde_json::Value| {
        let result = tools.call(name, &input, &interrupt).expect("the call takes place");
        (result.text, result.is_error)
    };
    let sh = |command: String| call("bash", json!({ "command": command })).0;
    let (tree, drop) = (lent.files.display(), lent.outputs.display());
    // Whoever is given a path of the host can use it, and what was there can be changed.
    assert_eq!(sh("pwd".to_string()).trim(), lent.files.to_string_lossy());
    sh(format!("echo new > {tree}/deep/file && echo said > {drop}/signal.json"));
    assert_eq!(text(&lent.files.join("deep/file")), "new\n");
    assert_eq!(text(&lent.outputs.join("signal.json")), "said\n");
    assert_eq!(
        sh("echo $ASSAY_WORKSPACE $ASSAY_OUTPUTS".to_string()).trim(),
        format!("{tree} {drop}")
    );
    assert_eq!(sh(format!("cat {}/objects/file", root.path().display())).trim(), "object");
    let written = call("write", json!({"path": "/workspace/a", "content": "by its usual name"}));
    assert!(!written.1, "{written:?}");
    assert_eq!(text(&lent.files.join("a")), "by its usual name");
    let given = collect_outputs(&workspace).expect("few");
    assert_eq!(given.iter().map(|one| &*one.name).collect::<Vec<_>>(), ["signal.json"]);
    // What a program keeps at home is not part of the work.
    sh("echo x > ~/.history".to_string());
    assert!(!lent.files.join(".history").exists());
    // Nothing beside it, and nothing that is only read can be changed.
    let beside = root.path().display();
    for attempt in [
        format!("cat {beside}/other/secret"),
        "cat ../other/secret".to_string(),
        format!("ln -s {beside}/other link; cat link/secret"),
        format!("cat {beside}/session/../other/secret"),
    ] {
        let seen = sh(format!("({attempt}) 2>&1; true"));
        assert!(!seen.contains(SECRET), "{attempt}: {seen}");
    }
    sh(format!("echo x > {beside}/objects/file; touch {beside}/new {beside}/objects/new; true"));
    assert_eq!(text(&root.path().join("objects/file")), "object");
    assert!(!root.path().join("new").exists() && !root.path().join("objects/new").exists());
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn refused(_: &Rig) {
    let (root, lent) = desk();
    let lend = |files: PathBuf| {
        let workspace = Workspace::create(&root.path().join("session")).expect("a workspace");
        let lent = Desk { files, ..lent.clone() };
        let lent = lent.find().and_then(|lent| workspace.lend(lent));
        lent.expect_err("it is refused").to_string()
    };
    std::os::unix::fs::symlink(&lent.files, root.path().join("link")).expect("ours");
    for (path, why) in [
        (lent.files.join("deep/file"), "no directory"),
        (root.path().join("link"), "no directory"),
        (lent.files.join("gone"), "cannot be lent"),
    ] {
        let said = lend(path);
        assert!(said.contains(why), "{said}");
    }
    // A directory of root is not that of anybody else, and the other way round.
    let other = match rustix::process::geteuid().is_root() {
        true => {
            let path = lent.files.join("deep");
            std::os::unix::fs::chown(&path, Some(12_345), None).expect("root may");
            path
        }
        false => PathBuf::from("/usr"),
    };
    assert!(lend(other).contains("belongs to another user"));
}

/// Where a directory that tools write in holds another one that is lent, they could put a link in
/// the place of that one, and the next call would follow it.
fn nested(rig: &Rig) {
    let root = tempfile::tempdir().expect("a directory");
    open_to_all(root.path());
    let home = root.path().canonicalize().expect("it is there");
    std::fs::create_dir_all(home.join("lend/tree/a/out")).expect("ours");
    std::fs::write(home.join("secret"), SECRET).expect("ours");
    let (tree, out) = (home.join("lend/tree"), home.join("lend/tree/a/out"));
    for (files, outputs, readable) in [
        (&tree, &out, None),
        (&out, &tree, None),
        (&tree, &tree, None),
        (&home.join("lend/tree/a"), &home.join("secret.d"), Some(&tree)),
        (&tree, &home.join("secret.d"), Some(&out)),
    ] {
        std::fs::create_dir_all(home.join("secret.d")).expect("ours");
        let workspace = Workspace::create(&home.join("session")).expect("a workspace");
        let said = match open(rig, workspace, files, outputs, readable) {
            Err(said) => said,
            Ok(tools) => {
                let sh = |command: &str| {
                    let interrupt = Interrupt::new().expect("a descriptor");
                    tools.call("bash", &json!({ "command": command }), &interrupt)
                };
                let moved = sh("mv a b; mkdir a; ln -s ../../.. a/out");
                let seen = sh(&format!("cat {}/secret {}/secret", home.display(), out.display()));
                panic!("{files:?} {outputs:?} {readable:?}: {moved:?}; then {seen:?}");
            }
        };
        assert!(said.contains("holds the other"), "{said}");
    }
}

/// A sandbox in these directories, or why there is none.
fn open(
    rig: &Rig,
    workspace: Workspace,
    files: &Path,
    outputs: &Path,
    readable: Option<&PathBuf>,
) -> Result<Tools, String> {
    let lent = Desk { files: files.into(), outputs: outputs.into() };
    let readable = readable.map(|path| HostPlace::find(path)).transpose();
    let readable = readable.map_err(|error| error.to_string())?.into_iter().collect();
    let workspace = lent.find().and_then(|lent| workspace.lend(lent));
    let workspace = workspace.map_err(|error| error.to_string())?;
    let settings = assay_sandbox::Settings { readable, ..settings() };
    let sandbox = rig.provider.open(&workspace, settings).map_err(|error| error.to_string())?;
    Ok(Tools::new(sandbox))
}

/// Somebody puts a link, or another directory, in the place of what is lent, between two calls.
fn swapped(rig: &Rig) {
    for (what, above) in [("tree", false), ("drop", false), ("objects", false), ("tree", true)] {
        for with_link in [true, false] {
            let root = tempfile::tempdir().expect("a directory");
            open_to_all(root.path());
            let home = root.path().canonicalize().expect("it is there");
            for name in ["tree", "drop", "objects"] {
                std::fs::create_dir_all(home.join("lend").join(name)).expect("ours");
                std::fs::create_dir_all(home.join("other").join(name)).expect("ours");
                std::fs::write(home.join("other").join(name).join("secret"), SECRET).expect("ours");
                open_to_all(&home.join("other").join(name));
            }
            let lend = |name: &str| home.join("lend").join(name);
            let workspace = Workspace::create(&home.join("session")).expect("a workspace");
            let objects = lend("objects");
            let tools = open(rig, workspace, &lend("tree"), &lend("drop"), Some(&objects));
            let tools = tools.expect("a sandbox");
            let interrupt = Interrupt::new().expect("a descriptor");
            let shown = home.join("lend").display().to_string();
            let script = format!(
                "echo there; cat {shown}/*/secret /workspace/secret /mnt/session/outputs/secret; \
                 touch {shown}/tree/new {shown}/drop/new; true"
            );
            let call = || tools.call("bash", &json!({ "command": script }), &interrupt);
            let first = call().expect("the call takes place").text;
            assert!(first.starts_with("there") && !first.contains(SECRET), "{first}");
            let (place, other) = match above {
                true => (home.join("lend"), home.join("other")),
                false => (lend(what), home.join("other").join(what)),
            };
            std::fs::rename(&place, home.join("aside")).expect("ours");
            match with_link {
                true => std::os::unix::fs::symlink(&other, &place).expect("ours"),
                false => std::fs::rename(&other, &place).expect("ours"),
            }
            let case = format!("{what}, above: {above}, link: {with_link}");
            let said = call().map(|result| result.text).expect_err(&case).to_string();
            assert!(said.contains("another directory stands there now"), "{case}: {said}");
            let untouched = if with_link { &other } else { &place };
            let new = ["new", "tree/new", "drop/new"].map(|name| untouched.join(name).exists());
            assert_eq!(new, [false; 3], "{case}");
            // What was meant is worked in as soon as it is back.
            match with_link {
                true => std::fs::remove_file(&place).expect("ours"),
                false => std::fs::rename(&place, &other).expect("ours"),
            }
            std::fs::rename(home.join("aside"), &place).expect("ours");
            assert!(call().expect("the call takes place").text.starts_with("there"), "{case}");
        }
    }
}

/// How often the tree below is given away while a directory in it becomes a link and back.
const GIVEN_TIMES: usize = 300;

/// As root. Somebody puts a link in the place of a directory while the tree is given to a user.
fn given(rig: &Rig) {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use std::os::unix::fs::MetadataExt;
    use std::sync::atomic::{AtomicBool, Ordering};
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let (root, lent) = desk();
    let home = root.path().canonicalize().expect("it is there");
    let theirs = home.join("other/secret");
    let (door, link) = (lent.files.join("deep"), home.join("link"));
    std::fs::write(door.join("secret"), "not theirs").expect("ours");
    std::os::unix::fs::symlink(home.join("other"), &link).expect("ours");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                renameat_with(CWD, &door, CWD, &link, RenameFlags::EXCHANGE).expect("both there");
            }
        });
        for round in 0..GIVEN_TIMES {
            std::os::unix::fs::chown(&lent.files, Some(0), Some(0)).expect("root may");
            let workspace = Workspace::create(&home.join("session")).expect("a workspace");
            let workspace = workspace.lend(lent.find().expect("it is there")).expect("it is ours");
            // It may say that something was in its way.
            drop(rig.provider.open(&workspace, settings()));
            let owner = theirs.metadata().expect("it is there").uid();
            if owner != 0 {
                is_over.store(true, Ordering::SeqCst);
            }
            assert_eq!(owner, 0, "round {round}: a file beside the tree was given away");
        }
        is_over.store(true, Ordering::SeqCst);
    });
}

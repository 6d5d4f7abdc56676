//! Directories of the host that a session works in.

use crate::rig::{Rig, open_to_all, settings};
use crate::{SECRET, Test};
use assay_sandbox::{Capability, Interrupt, Lent, Provider, Tools, Workspace, collect_outputs};
use serde_json::json;
use std::path::{Path, PathBuf};

pub const TESTS: &[Test] = &[
    ("what_is_lent_has_its_own_path_and_nothing_beside_it_is_seen", &[Capability::Files], works),
    ("what_is_no_directory_of_ours_cannot_be_lent", &[], refused),
];

/// A directory that everybody gets through, with a tree, a drop box, and a neighbour.
fn desk() -> (tempfile::TempDir, Lent) {
    let root = tempfile::tempdir().expect("a directory");
    open_to_all(root.path());
    let make = |name: &str| {
        let path = root.path().join(name);
        std::fs::create_dir_all(&path).expect("ours");
        path.canonicalize().expect("it is there")
    };
    let lent = Lent { files: make("tree"), outputs: make("drop") };
    std::fs::create_dir(lent.files.join("deep")).expect("ours");
    std::fs::write(lent.files.join("deep/file"), "old").expect("ours");
    std::fs::write(make("other").join("secret"), SECRET).expect("ours");
    (root, lent)
}

fn works(rig: &Rig) {
    let (root, lent) = desk();
    let workspace = Workspace::create(&root.path().join("session")).expect("a workspace");
    let workspace = workspace.lend(lent.clone()).expect("it is ours");
    let readable: Vec<PathBuf> = vec![root.path().join("objects")];
    std::fs::create_dir(&readable[0]).expect("ours");
    std::fs::write(readable[0].join("file"), "object").expect("ours");
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
        let lent = Lent { files, ..lent.clone() };
        workspace.lend(lent).expect_err("it is refused").to_string()
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

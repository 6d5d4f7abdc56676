//! Sandboxes to try things in.

use assay_sandbox::{
    End, Helper, Interrupt, Limits, Local, Means, Network, Program, Provider, ProviderKind, Ran,
    Settings, ToolResult, Tools, Workspace,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longer than anything here takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// The providers to try: by some means, and the one that protects nothing.
pub struct Rig {
    pub provider: Local,
    pub unprotected: Local,
}

impl Rig {
    pub fn new(means: Means) -> Rig {
        let helper = || Helper::this_program().expect("this program has a path");
        let provider = Local::by(ProviderKind::Local, means, helper()).expect("it can be tried");
        let unprotected = Local::new(ProviderKind::None, helper()).expect("it can be tried");
        Rig { provider, unprotected }
    }

    /// A session in a sandbox with these settings.
    pub fn with(&self, settings: Settings) -> Place {
        Place::new(&self.provider, settings)
    }

    pub fn place(&self) -> Place {
        self.with(settings())
    }

    /// A session without protection.
    pub fn unprotected(&self) -> Place {
        let (network, needs) = (Network::Open, BTreeSet::new());
        Place::new(&self.unprotected, Settings { network, needs, ..settings() })
    }
}

/// Settings that do not come into the way: what needs what is said by each test.
pub fn settings() -> Settings {
    let limits = Limits { wall: PATIENCE, ..Limits::default() };
    Settings { limits, needs: BTreeSet::new(), ..Settings::default() }
}

/// A directory with files that are none of a session's business, and a session in it.
pub struct Place {
    pub root: TempDir,
    pub workspace: Workspace,
    pub tools: Tools,
}

impl Place {
    fn new(provider: &Local, settings: Settings) -> Place {
        let root = tempfile::tempdir().expect("a directory");
        // Whoever gets here may do everything: what protects is the sandbox and nothing else.
        open_to_all(root.path());
        let workspace = Workspace::create(&root.path().join("session")).expect("a workspace");
        let sandbox = provider.open(&workspace, settings).expect("a sandbox");
        Place { root, workspace, tools: Tools::new(sandbox) }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// A file outside of the session that everybody may read and write.
    pub fn outside(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).expect("ours");
        open_to_all(&path);
        path
    }

    pub fn call(&self, tool: &str, input: Value) -> ToolResult {
        let interrupt = Interrupt::new().expect("a descriptor");
        self.tools.call(tool, &input, &interrupt).expect("the call takes place")
    }

    /// What a shell command writes, whatever becomes of it.
    pub fn sh(&self, command: &str) -> String {
        self.call("bash", json!({ "command": command })).text
    }

    /// Runs a program: how it ended, and what it wrote.
    pub fn run(&self, argv: &[&str]) -> (Ran, String) {
        let mut output = Vec::new();
        let interrupt = Interrupt::new().expect("a descriptor");
        let mut hear = |_, bytes: &[u8]| output.extend_from_slice(bytes);
        let ran = self.tools.sandbox().run(&Program::new(argv), &interrupt, &mut hear);
        (ran.expect("it takes place"), String::from_utf8_lossy(&output).into_owned())
    }

    pub fn end(&self, script: &str) -> End {
        self.run(&["/bin/sh", "-c", script]).0.end
    }
}

pub fn open_to_all(path: &Path) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o777)).expect("ours");
}

/// Whether a process of this machine has this in its command line.
pub fn is_running(mark: &str) -> bool {
    let entries = std::fs::read_dir("/proc").expect("readable").flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let mut texts = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    texts.any(|text| text.contains(mark))
}

/// Waits for something, with a bound.
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < until, "waited {PATIENCE:?} for: {what}");
        std::thread::yield_now();
    }
}

//! Sending an agent out, and taking in what it brings back.

use super::begun::{self, Begun};
use super::leader::{Leader, LeaderError};
use super::protect::{Changes, Snapshot};
use super::trees::{self, Keep, TreeError};
use super::{left, prompt, protect, reach};
use crate::artifact::{self, Artifact, Status};
use crate::contract::{Contract, Limits};
use crate::event::{Dispatch, Event, Outcome, Returned, Revision, Role, Scope};
use crate::state::{Proposal, State};
use assay_ledger::BlobRef;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Runs agents. What an engine's name means is up to it.
pub trait Engines {
    /// Whether all engines that a contract names can be used.
    fn check(&self, contract: &Contract) -> Result<(), EnginesError>;
    /// What keeps agents from writing elsewhere, in words.
    fn protection(&self) -> String;
    /// Whether the kernel keeps them from it: then what is elsewhere need not be looked at.
    fn confined(&self) -> bool;
    /// Whether an agent goes on when the Leader is killed, and is found again by its nonce.
    fn outlives(&self, _contract: &Contract, _engine: &str) -> bool {
        false
    }
    /// Runs one agent to its end.
    fn run(&self, order: &Order<'_>, seen: &mut dyn FnMut(Seen<'_>)) -> Ran;
    /// Whether the kernel can keep commands from reading places.
    fn hides(&self) -> bool {
        self.confined()
    }
    /// Runs one command of the contract.
    fn execute(&self, execution: &Execution<'_>) -> Executed;
}

/// What is seen of an agent while it is out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen<'a> {
    /// It does this.
    Doing(&'a str),
    /// It waits for this of a person.
    Waiting(&'a str),
}

/// A command of the contract.
pub struct Execution<'a> {
    /// Program and arguments; no shell looks at them.
    pub argv: &'a [String],
    /// Where it runs.
    pub work: &'a Path,
    /// Where its output goes.
    pub log: &'a Path,
    /// Variables of the environment that it gets.
    pub environment: &'a [String],
    /// Variables that are to be as they stand here; those without a value are not there.
    pub variables: &'a [(String, Option<OsString>)],
    /// Where it may write besides.
    pub writable: &'a [String],
    /// The same, made for it alone.
    pub own: &'a [PathBuf],
    /// What it is not to see, where the kernel can hide it.
    pub hidden: &'a [PathBuf],
    /// How long it may take.
    pub limit: Duration,
    /// How much it may print.
    pub output_bytes: u64,
}

/// A command that ran.
pub struct Executed {
    /// The exit code; none if it was ended, or could not be started.
    pub exit: Option<i32>,
    /// How long it took.
    pub ms: u64,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it said besides, and why it was ended.
    pub stderr: Vec<u8>,
    /// Whether the kernel kept it from writing elsewhere.
    pub confined: bool,
}

/// An engine that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("agent `{name}`: {why}")]
pub struct EnginesError {
    /// Its name.
    pub name: String,
    /// Why, and what to do.
    pub why: String,
}

/// What one agent is to do.
pub struct Order<'a> {
    /// The contract, for the meaning of the engine's name.
    pub contract: &'a Contract,
    /// The engine.
    pub engine: &'a str,
    /// What it is told.
    pub prompt: &'a str,
    /// Where it works.
    pub work: &'a Path,
    /// Where its artifact goes.
    pub drop_box: &'a Path,
    /// Where what it prints is kept.
    pub log: &'a Path,
    /// What it is told besides: names and values.
    pub variables: Vec<(&'static str, String)>,
    /// How long and how much.
    pub limits: &'a Limits,
    /// It only looks: where the kernel can see to it, it cannot write where it works.
    pub read_only: bool,
    /// For how long it has been out already, under another Leader.
    pub since: Duration,
}

/// How an agent ended.
pub struct Ran {
    /// By what.
    pub outcome: Outcome,
    /// After how long.
    pub ms: u64,
    /// Tokens, if it said.
    pub tokens: u64,
    /// What kept it in its place.
    pub protection: String,
    /// Whether that was the kernel, which refused all writes elsewhere.
    pub confined: bool,
    /// Whether nothing of it runs any more.
    pub is_over: bool,
    /// What it printed, or the last part of it.
    pub output: Vec<u8>,
}

impl Role {
    /// Its name in paths.
    pub fn word(self) -> &'static str {
        match self {
            Role::Worker => "worker",
            Role::Verifier => "verifier",
            Role::Second => "second",
        }
    }
}

impl Leader<'_> {
    /// What is written down before an agent runs.
    pub(super) fn dispatch(
        &mut self,
        proposal: Proposal,
    ) -> Result<(Event, Vec<BlobRef>), LeaderError> {
        let state = self.campaign.state().ok_or(LeaderError::NotBegun)?;
        let Proposal { run, iteration, role, scope, engine, at } = proposal;
        let nonce = nonce().map_err(|error| LeaderError::File(format!("/dev/urandom: {error}")))?;
        let out = self.desk.run(run, role.word()).join("out");
        let text = prompt::text(state, role, &scope, &nonce, &out);
        let blob = self.campaign.put(text.as_bytes())?;
        let prompt = blob.sha256.to_string();
        let dispatch = Dispatch { run, iteration, role, scope, engine, nonce, at, prompt };
        Ok((Event::Dispatched(dispatch), vec![blob]))
    }

    /// Runs the agent of a dispatch that was just written down.
    pub(super) fn run_agent(
        &mut self,
        dispatch: &Dispatch,
    ) -> Result<(Event, Vec<BlobRef>), LeaderError> {
        let state = self.campaign.state().ok_or(LeaderError::NotBegun)?.clone();
        let prompt = self.campaign.blob(&dispatch.prompt)?;
        let prompt = String::from_utf8_lossy(&prompt).into_owned();
        let [out, log] = self.places(dispatch)?;
        let work = self.desk.seat();
        let with_checkout = !self.engines.confined();
        let begun = begun::find(self.desk, dispatch);
        let since = begun.as_ref().map(Begun::age);
        let ready = match begun {
            Some(begun) => Ok(begun.before.without_own(self.desk)),
            None => self.make_ready(&state, dispatch, with_checkout)?,
        };
        let before = match ready {
            Ok(before) => before,
            // It would be so the next time, too: it counts as an agent that did not start.
            Err(stuck) => return self.not_started(dispatch, &stuck),
        };
        let order = Order {
            contract: &state.contract,
            engine: &dispatch.engine,
            prompt: &prompt,
            work: &work,
            drop_box: &out,
            log: &log,
            variables: variables(dispatch, &self.desk.slug, &out),
            limits: &state.contract.settings.limits,
            read_only: dispatch.role != Role::Worker,
            since: since.unwrap_or_default(),
        };
        let screen = &mut self.screen;
        let ran = self.engines.run(&order, &mut |seen| match seen {
            Seen::Doing(text) => screen.activity(text),
            Seen::Waiting(text) => screen.waits(text),
        });
        let mut after = protect::snapshot(self.desk, with_checkout)?;
        if since.is_some() {
            after = after.without_own(self.desk);
        }
        let reach = ran.confined.then(|| reach::places(&state.contract, &[&work, &out, &log]));
        let Changes { tampered, elsewhere } =
            before.changes(&after, self.desk.git.root(), reach.as_deref());
        self.toolchain = Some(after.toolchain);
        let left = self.left_by(dispatch, ran.is_over);
        let (artifact, claim, void) = self.take_in(&state, dispatch, &out, &left);
        let (artifact, claim) = self.begin_of_the_next(dispatch, artifact, claim)?;
        let blob = self.campaign.put(&ran.output)?;
        let (output, sandbox) = (blob.sha256.to_string(), ran.protection);
        let Ran { outcome, ms, tokens, .. } = ran;
        let run = dispatch.run;
        let returned = Returned {
            run,
            outcome,
            artifact,
            claim,
            tampered,
            elsewhere,
            void,
            output,
            ms,
            tokens,
            sandbox,
        };
        Ok((Event::Returned(Box::new(returned)), vec![blob]))
    }

    /// The tree of an agent, where it can be looked at.
    fn left_by(&self, dispatch: &Dispatch, is_over: bool) -> PathBuf {
        if !is_over {
            self.set_aside(dispatch);
        }
        let (tree, seat) = (self.desk.tree(dispatch.role.word()), self.desk.seat());
        // One that cannot be moved is looked at where it is: it is in the way of the next. One that
        // is not there any more was moved already, or is lost.
        match seat.exists() && self.desk.rise(&tree).is_err() {
            true => seat,
            false => tree,
        }
    }

    /// The drop box of a dispatch, and where what its agent prints is kept.
    fn places(&self, dispatch: &Dispatch) -> Result<[PathBuf; 2], LeaderError> {
        let home = self.desk.run(dispatch.run, dispatch.role.word());
        let places = [home.join("out"), home.join("log")];
        for directory in &places {
            std::fs::create_dir_all(directory)
                .map_err(|e| LeaderError::File(format!("{}: {e}", directory.display())))?;
        }
        Ok(places)
    }

    /// Prepares the tree of a dispatch and looks at what is protected; the inner error is a tree
    /// that cannot be prepared.
    fn make_ready(
        &mut self,
        state: &State,
        dispatch: &Dispatch,
        with_checkout: bool,
    ) -> Result<Result<Snapshot, TreeError>, LeaderError> {
        match self.tree_for(dispatch, &state.contract) {
            Err(stuck @ TreeError::Stuck { .. }) => return Ok(Err(stuck)),
            prepared => prepared?,
        }
        let mut before = protect::snapshot(self.desk, with_checkout)?;
        if let Some(why) = before.too_many(self.desk) {
            return Err(LeaderError::File(why));
        }
        if let Some(toolchain) = self.toolchain.take() {
            // Commands that were run meanwhile, and the tests they ran, must not have changed it.
            before.toolchain = toolchain;
        }
        if self.engines.outlives(&state.contract, &dispatch.engine) {
            begun::keep(self.desk, dispatch, &before).map_err(|error| {
                let home = self.desk.run(dispatch.run, dispatch.role.word());
                LeaderError::File(format!("{}: {error}", home.display()))
            })?;
        }
        Ok(Ok(before))
    }

    /// Whether an agent that another Leader sent out can be taken up: its engine goes on without
    /// one, and either it was never begun or it is not too long ago.
    pub(super) fn is_still_out(&self, dispatch: &Dispatch) -> bool {
        let contract = self.campaign.state().map(|state| &state.contract);
        let outlives = |contract| self.engines.outlives(contract, &dispatch.engine);
        let young = || begun::find(self.desk, dispatch).is_none_or(|begun| begun::is_young(&begun));
        contract.is_some_and(outlives) && young()
    }

    /// A new tree for an agent, where everybody works.
    fn tree_for(&self, dispatch: &Dispatch, contract: &Contract) -> Result<(), TreeError> {
        let tree = self.desk.tree(dispatch.role.word());
        let keep = match dispatch.role {
            Role::Worker => Keep::Ignored,
            _ => Keep::Named(&contract.settings.cache),
        };
        self.desk.bring_back(dispatch.role)?;
        trees::prepare(&self.desk.git, &tree, &dispatch.at.commit, keep)?;
        self.desk.sit(&tree).map(|_| ())
    }

    fn not_started(
        &mut self,
        dispatch: &Dispatch,
        why: &TreeError,
    ) -> Result<(Event, Vec<BlobRef>), LeaderError> {
        let blob = self.campaign.put(b"")?;
        let returned = Returned {
            run: dispatch.run,
            outcome: Outcome::SpawnFailed(why.to_string()),
            artifact: Artifact::Missing,
            claim: None,
            tampered: Vec::new(),
            elsewhere: Vec::new(),
            void: None,
            output: blob.sha256.to_string(),
            ms: 0,
            tokens: 0,
            sandbox: self.engines.protection(),
        };
        Ok((Event::Returned(Box::new(returned)), vec![blob]))
    }

    /// Reads the drop box and looks at what was left in the working tree.
    fn take_in(
        &self,
        state: &State,
        dispatch: &Dispatch,
        out: &Path,
        work: &Path,
    ) -> (Artifact, Option<Revision>, Option<String>) {
        let scratch = self.desk.tree("index");
        if dispatch.role != Role::Worker {
            let criteria = criteria(&state.contract, &dispatch.scope);
            let bytes = bounded(&out.join("verdict.json"));
            let scope = dispatch.scope.name();
            let artifact = artifact::verdict(bytes.as_deref(), &dispatch.nonce, scope, &criteria);
            let void = match left::check(work) {
                Err(why) => Some(format!("it left what is not to be opened: {why}")),
                Ok(()) => {
                    let left = self.desk.git.tree_of(work, &dispatch.at.tree, &scratch);
                    let same = left.is_ok_and(|tree| tree == dispatch.at.tree);
                    (!same).then(|| "it changed the tree it was to look at".to_string())
                }
            };
            return (artifact, None, void);
        }
        let open = state.current().map(|story| &state.stories[story].issues);
        let ids: Vec<String> = open.into_iter().flatten().map(|issue| issue.id.clone()).collect();
        let bytes = bounded(&out.join("signal.json"));
        let artifact =
            artifact::signal(bytes.as_deref(), &dispatch.nonce, dispatch.scope.name(), &ids);
        let Artifact::Signal(signal) = &artifact else {
            return (artifact, None, None);
        };
        let Some(commit) = &signal.commit else {
            return (artifact, None, None);
        };
        let rejected = |why: String| (Artifact::Rejected(why), None, None);
        if let Err(why) = left::check(work) {
            return rejected(format!("it left what is not to be opened: {why}"));
        }
        let reference = self.desk.claim(dispatch.run);
        let fetched = self.desk.git.fetch(work, commit, &reference);
        let claim = fetched.and_then(|()| self.desk.git.revision(&reference));
        match claim {
            Ok(claim) => match self.desk.git.tree_of(work, &claim.tree, &scratch) {
                Ok(left) if left == claim.tree => (artifact, Some(claim), None),
                Ok(_) => rejected(
                    "its working tree has changes that are not in the commit it claims".to_string(),
                ),
                Err(error) => rejected(format!("its working tree cannot be compared: {error}")),
            },
            Err(_) => rejected("the commit it claims is not in its repository".to_string()),
        }
    }

    /// A commit that is not claimed to be done is where the next Worker begins. What is claimed has
    /// to survive the gate, which checks it out.
    fn begin_of_the_next(
        &mut self,
        dispatch: &Dispatch,
        artifact: Artifact,
        claim: Option<Revision>,
    ) -> Result<(Artifact, Option<Revision>), LeaderError> {
        let judged =
            matches!(&artifact, Artifact::Signal(signal) if signal.status == Status::Verify);
        let commit = claim.as_ref().filter(|_| !judged).map(|claim| claim.commit.clone());
        let Some(commit) = commit else {
            return Ok((artifact, claim));
        };
        match self.cannot_be_checked_out(&commit, &dispatch.at.commit)? {
            None => Ok((artifact, claim)),
            Some(why) => {
                let why = format!("the commit it claims cannot be checked out: {why}");
                Ok((Artifact::Rejected(why), None))
            }
        }
    }

    /// What a lost agent left is moved out of the way: it may still be writing.
    pub(super) fn set_aside(&self, dispatch: &Dispatch) {
        let aside = self.desk.tree("lost");
        trees::remove(&aside);
        // Where it worked, or where it was about to.
        let places = [self.desk.seat(), self.desk.tree(dispatch.role.word())];
        _ = places.iter().find(|place| std::fs::rename(place, &aside).is_ok());
    }
}

/// The criteria that a verdict must speak about.
pub(super) fn criteria(contract: &Contract, scope: &Scope) -> Vec<String> {
    match scope {
        Scope::Final => contract.criteria(),
        Scope::Story(id) => contract.story(id).map(|s| s.criterion_ids()).unwrap_or_default(),
    }
}

fn variables(dispatch: &Dispatch, slug: &str, out: &Path) -> Vec<(&'static str, String)> {
    let shown = |path: PathBuf| path.display().to_string();
    vec![
        ("campaign", slug.to_string()),
        ("role", dispatch.role.word().to_string()),
        ("nonce", dispatch.nonce.clone()),
        ("story", dispatch.scope.name().to_string()),
        ("iteration", dispatch.iteration.to_string()),
        ("run", dispatch.run.to_string()),
        ("base", dispatch.at.commit.clone()),
        ("signal", shown(out.join("signal.json"))),
        ("verdict", shown(out.join("verdict.json"))),
    ]
}

/// A file of an agent: a regular one, and not all of it if it is too long.
fn bounded(path: &Path) -> Option<Vec<u8>> {
    if !std::fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let limit = artifact::ARTIFACT_BYTES_MAX as u64 + 1;
    std::fs::File::open(path).ok()?.take(limit).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Something that nobody can have known before.
pub(super) fn nonce() -> std::io::Result<String> {
    let mut bytes = [0u8; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

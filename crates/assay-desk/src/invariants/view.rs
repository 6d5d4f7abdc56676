//! A campaign as the specification sees it.

use super::scope_of;
use crate::event::{Dispatch, Revision, Role, Scope, Terminal};
use crate::state::{Gate, Phase, State, final_steps, needed, story_steps};
use crate::step::LOST_MAX;
use std::collections::BTreeSet;

/// A tree, by number: 0 is the one a campaign begins at, any other is a hash of its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Tree(pub u64);

impl Tree {
    /// Where a campaign begins.
    pub const BASE: Tree = Tree(0);
}

/// The variables of specs/Desk.tla.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct View {
    /// `phase`: what is going on.
    pub doing: Doing,
    /// What it is about: a story from 1, or 0 for the whole.
    pub scope: u32,
    /// The tree it is about.
    pub at: Tree,
    /// Verifiers that agreed in this gate.
    pub votes: u32,
    /// `why`: how it ends.
    pub end: End,
    /// Where each story is verified.
    pub verified: Vec<Option<Tree>>,
    /// Where the campaign's branch stands.
    pub tip: Tree,
    /// Where all checks of a scope last passed; the whole comes first.
    pub checked: Vec<Option<Tree>>,
    /// Scope, tree and Verifier, of whom 1 is the first.
    pub agreed: BTreeSet<(u32, Tree, u32)>,
    /// Workers sent out, those aside that were out when the Leader died.
    pub iteration: u32,
    /// Failures since a story was accepted.
    pub failures: u32,
    /// Agents in a row that could not be run.
    pub mishaps: u32,
    /// Leaders that died.
    pub lost: u32,
    /// Verdicts in a row that did not count.
    pub voids: u32,
    /// Questions asked.
    pub questions: u32,
    /// Changes of the contract, which only the model counts; 0 in a campaign.
    pub amends: u32,
    /// The constants.
    pub rules: Rules,
}

/// What is going on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Doing {
    /// A Worker is to be sent out.
    Idle,
    /// A Worker is out.
    Working,
    /// Checks are run.
    Checking,
    /// A Verifier is to be sent out.
    Judging,
    /// A Verifier is out.
    Verifying,
    /// What a verdict cites is run again.
    Citing,
    /// A list of things to mend is to be written.
    Fixing,
    /// A story is to be accepted.
    Accepting,
    /// A person has to answer.
    Waiting,
    /// It is to be ended.
    Ending,
    /// It is over.
    Ended,
}

impl Doing {
    /// Whether a claim is in the gate.
    pub fn in_a_gate(self) -> bool {
        use Doing::{Checking, Citing, Judging, Verifying, Waiting};
        matches!(self, Checking | Judging | Verifying | Citing | Waiting)
    }
}

/// How it ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum End {
    /// It goes on.
    None,
    /// Everything was shown.
    Complete,
    /// It cannot go on.
    Blocked,
    /// A budget is used up.
    Timeout,
    /// A person ended it.
    Aborted,
}

/// The constants of specs/Desk.tla, from the contract.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Rules {
    /// Verifiers that must agree on each story.
    pub need_story: Vec<u32>,
    /// Verifiers that must agree on the whole.
    pub need_final: u32,
    /// Workers that may be sent out.
    pub iterations: u32,
    /// Failures in a row that end it.
    pub failures: u32,
    /// Agents in a row that could not be run.
    pub mishaps: u32,
    /// Leaders that may die.
    pub lost: u32,
    /// Verdicts in a row that did not count.
    pub voids: u32,
    /// Questions that people answer.
    pub questions: u32,
}

impl View {
    /// Of a campaign.
    pub fn of(state: &State) -> View {
        let tree = |revision: &Revision| number(state, revision);
        let verified: Vec<Option<Tree>> =
            state.stories.iter().map(|story| story.verified.as_ref().map(tree)).collect();
        let mut view = View {
            doing: Doing::Idle,
            scope: 0,
            at: Tree::BASE,
            votes: 0,
            end: End::None,
            tip: tree(&state.tip),
            checked: Vec::new(),
            agreed: agreed(state),
            iteration: state.iteration.saturating_sub(state.counters.lost_workers),
            failures: state.counters.failures,
            mishaps: state.counters.infrastructure,
            lost: state.counters.lost,
            voids: state.counters.verdicts,
            questions: state.counters.questions,
            amends: 0,
            rules: rules(state),
            verified,
        };
        view.place(state);
        view.checked = checked(state, &view);
        view
    }

    /// Phase, scope, tree and votes.
    fn place(&mut self, state: &State) {
        let gate = |view: &mut View, gate: &Gate, doing: Doing| {
            view.doing = doing;
            view.scope = scope(state, &gate.scope);
            view.at = number(state, &gate.at);
            view.votes = u32::try_from(gate.agreed.len()).unwrap_or(u32::MAX);
        };
        match &state.phase {
            Phase::Idle if state.current().is_none() => {
                (self.doing, self.at) = (Doing::Checking, self.tip);
            }
            Phase::Idle => {}
            Phase::Out(Dispatch { scope: sent, .. }, None) => {
                (self.doing, self.scope) = (Doing::Working, scope(state, sent));
            }
            Phase::Out(_, Some(claim)) => gate(self, claim, Doing::Verifying),
            Phase::Gate(claim) => {
                let doing = match claim.done < claim.steps.len() {
                    _ if claim.pending.is_some() => Doing::Citing,
                    true => Doing::Checking,
                    false => Doing::Judging,
                };
                gate(self, claim, doing);
            }
            Phase::Fix(story, _) => (self.doing, self.scope) = (Doing::Fixing, scope_of(*story)),
            Phase::Accept(claim) => gate(self, claim, Doing::Accepting),
            Phase::Waiting(_, claim) => gate(self, claim, Doing::Waiting),
            Phase::Ending(terminal) | Phase::Ended(terminal) => {
                let over = matches!(state.phase, Phase::Ended(_));
                self.doing = if over { Doing::Ended } else { Doing::Ending };
                self.end = match terminal {
                    Terminal::Complete { at } => {
                        self.at = number(state, at);
                        End::Complete
                    }
                    Terminal::Blocked { .. } => End::Blocked,
                    Terminal::Timeout { .. } => End::Timeout,
                    Terminal::Aborted { .. } => End::Aborted,
                };
            }
        }
    }

    /// Whether every story is verified.
    pub fn all_verified(&self) -> bool {
        self.verified.iter().all(Option::is_some)
    }

    /// The first story that is not verified, from 1.
    pub fn current(&self) -> Option<u32> {
        self.verified.iter().position(Option::is_none).map(scope_of)
    }

    /// Whether the first `count` Verifiers agreed on a scope at a tree.
    pub fn agreed_by(&self, scope: u32, tree: Tree, count: u32) -> bool {
        (1..=count).all(|role| self.agreed.contains(&(scope, tree, role)))
    }
}

fn rules(state: &State) -> Rules {
    let contract = &state.contract;
    let count = |scope: &Scope| u32::try_from(needed(contract, scope).len()).unwrap_or(u32::MAX);
    let limits = &contract.settings.limits;
    let stories = contract.stories.iter();
    Rules {
        need_story: stories.map(|story| count(&Scope::Story(story.id.clone()))).collect(),
        need_final: count(&Scope::Final),
        iterations: limits.iterations,
        failures: limits.failures,
        mishaps: limits.infrastructure,
        lost: LOST_MAX,
        voids: limits.verdicts,
        questions: limits.questions,
    }
}

fn number(state: &State, revision: &Revision) -> Tree {
    if revision.tree == state.base.tree {
        return Tree::BASE;
    }
    // FNV-1a; the base alone is 0.
    let hash = revision.tree.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Tree(hash.max(1))
}

/// A story that is no longer in the contract has no number.
fn scope(state: &State, scope: &Scope) -> u32 {
    match scope {
        Scope::Final => 0,
        Scope::Story(id) => {
            let index = state.contract.stories.iter().position(|story| story.id == *id);
            index.map_or(u32::MAX, scope_of)
        }
    }
}

fn agreed(state: &State) -> BTreeSet<(u32, Tree, u32)> {
    let all = state.facts.agreed.iter();
    let triple = |(about, tree, role): &(Scope, String, Role)| {
        let at = Revision { commit: String::new(), tree: tree.clone() };
        let role = match role {
            Role::Worker => 0,
            Role::Verifier => 1,
            Role::Second => 2,
        };
        (scope(state, about), number(state, &at), role)
    };
    all.map(triple).collect()
}

/// Where every check of a scope last passed. Not of the one that is being checked, and of nothing
/// in a campaign that was aborted: there a part of them may be of another tree.
fn checked(state: &State, view: &View) -> Vec<Option<Tree>> {
    let whole = (Scope::Final, final_steps(&state.contract));
    let stories = state.contract.stories.iter();
    let stories = stories.map(|story| (Scope::Story(story.id.clone()), story_steps(story)));
    let each = std::iter::once(whole).chain(stories).enumerate().map(|(index, (scope, steps))| {
        let current = view.doing == Doing::Checking && view.scope as usize == index;
        if current || view.end == End::Aborted && view.doing == Doing::Ended {
            return None;
        }
        state.facts.passed_at(&scope, steps).map(|at| number(state, at))
    });
    each.collect()
}

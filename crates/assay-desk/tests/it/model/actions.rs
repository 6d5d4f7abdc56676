//! The actions of specs/Desk.tla, one function for each operator.

use assay_desk::invariants::{Doing, End, Rules, Tree, View};
use assay_invariant::Machine;
use std::collections::BTreeSet;

/// The specification with its constants.
#[derive(Clone, Debug)]
pub struct DeskModel {
    start: View,
    /// Trees that can be claimed.
    trees: Vec<Tree>,
    amends: u32,
    /// The promise that an edit of an action breaks; empty for none.
    broken: &'static str,
}

/// An action with one of the states it can lead to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step(pub &'static str, usize);

impl DeskModel {
    /// specs/Desk_small.cfg.
    pub fn small() -> DeskModel {
        let rules = Rules {
            need_story: vec![1, 1],
            need_final: 1,
            iterations: 2,
            failures: 2,
            mishaps: 1,
            lost: 1,
            voids: 2,
            questions: 1,
        };
        DeskModel::with(rules)
    }

    /// specs/Desk.cfg.
    pub fn full() -> DeskModel {
        let rules = Rules {
            need_story: vec![1, 1],
            need_final: 2,
            iterations: 3,
            failures: 2,
            mishaps: 2,
            lost: 2,
            voids: 2,
            questions: 1,
        };
        DeskModel::with(rules)
    }

    fn with(rules: Rules) -> DeskModel {
        let stories = rules.need_story.len();
        let start = View {
            doing: Doing::Idle,
            scope: 0,
            at: Tree::BASE,
            votes: 0,
            end: End::None,
            verified: vec![None; stories],
            tip: Tree::BASE,
            checked: vec![None; stories + 1],
            agreed: BTreeSet::new(),
            iteration: 0,
            failures: 0,
            mishaps: 0,
            lost: 0,
            voids: 0,
            questions: 0,
            amends: 0,
            rules,
        };
        DeskModel { start, trees: vec![Tree(0), Tree(1)], amends: 1, broken: "" }
    }

    /// The small one, with the edit that breaks a promise.
    pub fn breaking(id: &'static str) -> DeskModel {
        DeskModel { broken: id, ..DeskModel::small() }
    }

    /// A campaign that begins so, in which nobody amends.
    pub fn of(start: &View, trees: Vec<Tree>) -> DeskModel {
        DeskModel { start: start.clone(), trees, amends: 0, broken: "" }
    }
}

impl Machine for DeskModel {
    type State = View;
    type Action = Step;

    fn start(&self) -> View {
        self.start.clone()
    }

    fn actions(&self, view: &View) -> Vec<Step> {
        let named = self.next_of(view);
        named.into_iter().enumerate().map(|(at, (name, _))| Step(name, at)).collect()
    }

    fn next(&self, view: &View, step: &Step) -> Option<View> {
        self.next_of(view).into_iter().nth(step.1).map(|(_, next)| next)
    }
}

/// Where something can lead.
type Views = Vec<View>;

/// `Goes`.
fn goes(view: &View, doing: Doing, scope: u32, at: Tree, votes: u32, end: End) -> View {
    View { doing, scope, at, votes, end, ..view.clone() }
}

fn again(view: &View, doing: Doing) -> View {
    goes(view, doing, view.scope, view.at, view.votes, End::None)
}

fn block(view: &View) -> View {
    goes(view, Doing::Ending, 0, Tree::BASE, 0, End::Blocked)
}

fn checked(mut view: View, scope: u32, at: Option<Tree>) -> View {
    view.checked[scope as usize] = at;
    view
}

fn verified(mut view: View, scope: u32, at: Option<Tree>) -> View {
    view.verified[scope as usize - 1] = at;
    view
}

fn fail(view: &View, story: u32) -> Views {
    let view = View { failures: view.failures + 1, ..view.clone() };
    let mut views = vec![block(&view)];
    if view.failures < view.rules.failures {
        views.push(goes(&view, Doing::Fixing, story, Tree::BASE, 0, End::None));
    }
    views
}

fn fail_gate(view: &View) -> Views {
    if view.scope != 0 {
        return fail(view, view.scope);
    }
    let stories = 1..=view.verified.len() as u32;
    stories.flat_map(|story| fail(&verified(view.clone(), story, None), story)).collect()
}

/// A counter was raised: on with it, or the end.
fn or_block(view: &View, within: bool, on: impl Fn(&View) -> Views) -> Views {
    if within { on(view) } else { vec![block(view)] }
}

impl DeskModel {
    fn is_broken(&self, id: &str) -> bool {
        self.broken == id
    }

    /// `Next`.
    fn next_of(&self, view: &View) -> Vec<(&'static str, View)> {
        if self.is_broken("DK-9") && (view.doing, view.end) == (Doing::Ending, End::Timeout) {
            // Stateright sees a way that ends too early; the loops are TLC's to find.
            return Vec::new();
        }
        let mut all = Vec::new();
        let mut add = |name: &'static str, views: Views| {
            all.extend(views.into_iter().map(|next| (name, next)));
        };
        match view.doing {
            Doing::Idle => add("SendWorker", self.send_worker(view)),
            Doing::Working => {
                let heard = View { mishaps: 0, ..view.clone() };
                add("Claim", self.claim(&heard));
                add("Unfinished", self.settle(&heard));
                add("Rejected", fail(&heard, view.scope));
                add("GiveUp", vec![block(&heard)]);
            }
            Doing::Checking => {
                let passed = if self.is_broken("DK-5") { view.tip } else { view.at };
                let passed = checked(view.clone(), view.scope, Some(passed));
                add("PassChecks", self.advance(&passed, 0));
                add("FailChecks", fail_gate(&checked(view.clone(), view.scope, None)));
            }
            Doing::Judging => add("SendVerifier", vec![again(view, Doing::Verifying)]),
            Doing::Verifying => self.verdicts(view, &mut add),
            Doing::Waiting => add("Answer", vec![again(view, Doing::Judging)]),
            Doing::Citing => self.citations(view, &mut add),
            Doing::Accepting => add("Accept", self.accept(view)),
            Doing::Fixing => add("IssueFix", self.settle(view)),
            Doing::Ending => {
                add("End", vec![View { doing: Doing::Ended, ..view.clone() }]);
            }
            Doing::Ended => {}
        }
        if matches!(view.doing, Doing::Checking | Doing::Citing) {
            add("Spoil", vec![block(view)]);
        }
        if matches!(view.doing, Doing::Working | Doing::Verifying) {
            add("Tamper", vec![block(view)]);
            let mishap = View { mishaps: view.mishaps + 1, ..view.clone() };
            let within = mishap.mishaps < view.rules.mishaps;
            add("Mishap", or_block(&mishap, within, |view| self.no_result(view)));
            let back = u32::from(view.doing == Doing::Working);
            let iteration = view.iteration - back;
            let lost = View { lost: view.lost + 1, iteration, ..view.clone() };
            let within = lost.lost < view.rules.lost;
            add("LeaderDies", or_block(&lost, within, |view| self.no_result(view)));
        } else if view.doing != Doing::Ended {
            add("Amend", self.amend(view));
            add("Abort", vec![abort(view)]);
        } else if self.is_broken("DK-7") && view.end != End::Aborted {
            add("Abort", vec![abort(view)]);
        }
        all
    }

    fn settle(&self, view: &View) -> Views {
        let mut views = vec![goes(view, Doing::Ending, 0, Tree::BASE, 0, End::Timeout)];
        if view.all_verified() {
            let whole = goes(view, Doing::Checking, 0, view.tip, 0, End::None);
            views.push(checked(whole, 0, None));
        } else if view.iteration < view.rules.iterations || self.is_broken("DK-6") {
            views.push(goes(view, Doing::Idle, 0, Tree::BASE, 0, End::None));
        }
        views
    }

    fn send_worker(&self, view: &View) -> Views {
        let any = 1..=view.verified.len() as u32;
        let right = |story: &u32| view.current() == Some(*story) || self.is_broken("DK-3");
        let sent = View { iteration: view.iteration + 1, ..view.clone() };
        let sent = |story| goes(&sent, Doing::Working, story, Tree::BASE, 0, End::None);
        if view.iteration > view.rules.iterations {
            // Only where the budget is not kept: the model stays finite.
            return Vec::new();
        }
        any.filter(right).map(sent).collect()
    }

    fn claim(&self, view: &View) -> Views {
        let fresh = checked(view.clone(), view.scope, None);
        let claimed = |at| goes(&fresh, Doing::Checking, view.scope, at, 0, End::None);
        self.trees.iter().copied().map(claimed).collect()
    }

    fn no_result(&self, view: &View) -> Views {
        match view.doing {
            Doing::Working => self.settle(view),
            _ => vec![again(view, Doing::Judging)],
        }
    }

    fn advance(&self, view: &View, votes: u32) -> Views {
        let need = match view.scope {
            0 => view.rules.need_final,
            story => view.rules.need_story[story as usize - 1],
        };
        let mut views = Vec::new();
        if votes < need {
            views.push(goes(view, Doing::Judging, view.scope, view.at, votes, End::None));
        } else if view.scope != 0 {
            views.push(goes(view, Doing::Accepting, view.scope, view.at, votes, End::None));
        }
        if view.scope == 0 && (votes >= need || self.is_broken("DK-1")) {
            views.push(goes(view, Doing::Ending, 0, view.at, 0, End::Complete));
        }
        views
    }

    fn verdicts(&self, view: &View, add: &mut impl FnMut(&'static str, Views)) {
        let heard = View { mishaps: 0, ..view.clone() };
        let void = View { voids: view.voids + 1, ..heard.clone() };
        let within = void.voids < view.rules.voids;
        add("VoidVerdict", or_block(&void, within, |view| vec![again(view, Doing::Judging)]));
        add("Unmet", fail_gate(&View { voids: 0, ..heard.clone() }));
        let asked = View { questions: view.questions + 1, ..heard.clone() };
        let within = asked.questions <= view.rules.questions;
        add("Ask", or_block(&asked, within, |view| vec![again(view, Doing::Waiting)]));
        add("Met", vec![again(&heard, Doing::Citing)]);
    }

    fn citations(&self, view: &View, add: &mut impl FnMut(&'static str, Views)) {
        let mut held = View { voids: 0, ..view.clone() };
        held.agreed.insert((view.scope, view.at, view.votes + 1));
        add("CitationsHold", self.advance(&held, view.votes + 1));
        let void = View { voids: view.voids + 1, ..view.clone() };
        let within = void.voids < view.rules.voids;
        add("CitationsRefuted", or_block(&void, within, |v| vec![again(v, Doing::Judging)]));
        add("CitationsFail", fail_gate(&View { voids: 0, ..view.clone() }));
    }

    fn accept(&self, view: &View) -> Views {
        let at = if self.is_broken("DK-2") { view.tip } else { view.at };
        let tip = if self.is_broken("DK-4") { Tree(1) } else { view.at };
        let accepted = verified(view.clone(), view.scope, Some(at));
        self.settle(&View { tip, failures: 0, ..accepted })
    }

    fn amend(&self, view: &View) -> Views {
        let failed = view.doing == Doing::Ending && view.end != End::Complete;
        if failed || view.amends >= self.amends {
            return Vec::new();
        }
        let one = |story: u32| {
            let mut view = checked(verified(view.clone(), story, None), story, None);
            view.checked[0] = None;
            view.agreed.retain(|(scope, ..)| *scope != 0);
            view.amends += 1;
            if self.is_broken("DK-8") {
                view.tip = Tree::BASE;
            }
            self.settle(&view)
        };
        (1..=view.verified.len() as u32).flat_map(one).collect()
    }
}

fn abort(view: &View) -> View {
    let mut view = goes(view, Doing::Ended, 0, Tree::BASE, 0, End::Aborted);
    view.checked.fill(None);
    view
}

//! What a campaign promises, declared once: specs/Desk.tla in Rust.
//!
//! [`View`] is what the specification's variables say, taken from a
//! [`State`](crate::state::State). The predicates over
//! it are the ones that Stateright evaluates in every state of the model, that tests evaluate after
//! every event, and that the Leader evaluates before it writes an event down.

mod view;

pub use view::{Doing, End, Rules, Tree, View};

use assay_invariant::{Violation, check};

assay_invariant::invariants! {
    /// What a campaign promises.
    pub registry DeskPromises for View;

    /// The end.
    state DK1 {
        id: "DK-1",
        tla: "DK1_CompleteIsShown",
        says: "COMPLETE is said only of what was shown, at one tree.",
        see: "specs/README.md",
        holds: |view| {
            view.end != End::Complete
                || view.all_verified()
                    && view.at == view.tip
                    && view.checked[0] == Some(view.at)
                    && view.agreed_by(0, view.at, view.rules.need_final)
        },
        shows: |view| {
            verified: view.verified,
            at: view.at,
            tip: view.tip,
            checked: view.checked,
            agreed: view.agreed,
        },
    }

    /// Stories.
    state DK2 {
        id: "DK-2",
        tla: "DK2_VerifiedIsAgreed",
        says: "A verified story was agreed on where it is verified.",
        see: "specs/README.md",
        holds: |view| view.verified.iter().enumerate().all(|(index, verified)| {
            let need = view.rules.need_story.get(index).copied().unwrap_or(1);
            verified.is_none_or(|tree| view.agreed_by(scope_of(index), tree, need))
        }),
        shows: |view| { verified: view.verified, agreed: view.agreed },
    }

    /// Order.
    state DK3 {
        id: "DK-3",
        tla: "DK3_FirstStoryFirst",
        says: "Work is done on the first story that is not verified.",
        see: "specs/README.md",
        holds: |view| {
            let on_a_story =
                matches!(view.doing, Doing::Working | Doing::Fixing | Doing::Accepting);
            let whole = view.scope == 0 && view.doing.in_a_gate();
            (!on_a_story || view.scope != 0)
                && (view.scope == 0 || view.current() == Some(view.scope))
                && (!whole || view.all_verified())
        },
        shows: |view| { doing: view.doing, scope: view.scope, verified: view.verified },
    }

    /// The branch.
    state DK4 {
        id: "DK-4",
        tla: "DK4_BranchIsAgreed",
        says: "The campaign's branch stands at the base or where a Verifier agreed.",
        see: "specs/README.md",
        holds: |view| {
            let agreed = |(scope, tree, role): &(u32, Tree, u32)| {
                *scope != 0 && *tree == view.tip && *role == 1
            };
            view.tip == Tree::BASE || view.agreed.iter().any(agreed)
        },
        shows: |view| { tip: view.tip, agreed: view.agreed },
    }

    /// Who is asked when.
    state DK5 {
        id: "DK-5",
        tla: "DK5_ChecksBeforeVerdicts",
        says: "Nobody is asked before the checks passed, and votes are on record.",
        see: "specs/README.md",
        holds: |view| {
            let asked = view.doing == Doing::Accepting
                || view.doing.in_a_gate() && view.doing != Doing::Checking;
            let checked = view.checked.get(view.scope as usize).copied().flatten();
            !asked
                || checked == Some(view.at) && view.agreed_by(view.scope, view.at, view.votes)
        },
        shows: |view| {
            doing: view.doing,
            scope: view.scope,
            at: view.at,
            votes: view.votes,
            checked: view.checked,
            agreed: view.agreed,
        },
    }

    /// Budgets.
    state DK6 {
        id: "DK-6",
        tla: "DK6_BudgetIsKept",
        says: "No agent is sent out beyond the budget.",
        see: "specs/README.md",
        holds: |view| match view.doing {
            Doing::Idle => view.iteration < view.rules.iterations,
            Doing::Working => view.iteration <= view.rules.iterations,
            Doing::Fixing => view.failures < view.rules.failures,
            _ => true,
        },
        shows: |view| {
            doing: view.doing,
            iteration: view.iteration,
            failures: view.failures,
            rules: view.rules,
        },
    }

    /// Rest.
    action DK7 {
        id: "DK-7",
        tla: "DK7_EndIsFinal",
        says: "After the end nothing happens.",
        see: "specs/README.md",
        holds: |before, after| before.doing != Doing::Ended || before == after,
        shows: |before, after| { ended: before.end, then: after.doing },
    }

    /// Moves.
    action DK8 {
        id: "DK-8",
        tla: "DK8_BranchMovesByAcceptance",
        says: "The branch moves only when a story is accepted, to its tree.",
        see: "specs/README.md",
        holds: |before, after| {
            let story = before.scope.checked_sub(1);
            let verified = story.and_then(|at| *after.verified.get(at as usize)?);
            before.tip == after.tip
                || before.doing == Doing::Accepting
                    && after.tip == before.at
                    && verified == Some(before.at)
        },
        shows: |before, after| {
            doing: before.doing,
            at: before.at,
            from: before.tip,
            to: after.tip,
        },
    }

    /// Termination.
    eventually DK9 {
        id: "DK-9",
        tla: "DK9_CampaignEnds",
        says: "Every campaign ends.",
        see: "specs/README.md",
        holds: |view| view.doing == Doing::Ended,
        shows: |view| { doing: view.doing, scope: view.scope },
    }
}

/// The number of a story's scope: 0 is the whole.
fn scope_of(index: usize) -> u32 {
    u32::try_from(index).map_or(u32::MAX, |index| index.saturating_add(1))
}

/// What the Leader asks before it writes an event down: counted in any case, and an error if
/// something does not hold, so that what must not happen does not get on record.
pub(crate) fn kept(before: Option<&View>, after: &View) -> Result<(), Violation> {
    check!(DK1, after)?;
    check!(DK2, after)?;
    check!(DK3, after)?;
    check!(DK4, after)?;
    check!(DK5, after)?;
    check!(DK6, after)?;
    if let Some(before) = before {
        check!(DK7, before => after)?;
        check!(DK8, before => after)?;
    }
    check!(DK9, after)
}

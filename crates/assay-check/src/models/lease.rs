//! A lease with fencing tokens.

use super::{Decode, known_output, whole};
use crate::model::Model;
use assay_history::{Glance, History};

/// A lease that may expire; its tokens must rise, and old ones must not work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lease;

/// What can be done with a lease.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LeaseOp {
    /// Was granted the lease with this token.
    Acquire(i64),
    /// May have been granted the lease; the token is not known.
    MaybeAcquire,
    /// Extended the lease of this token.
    Renew(i64),
    /// Gave the lease of this token back.
    Release(i64),
    /// The guarded resource accepted this token.
    Use(i64),
}

/// The tokens handed out and used so far.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LeaseState {
    /// The highest token handed out.
    pub granted: Option<i64>,
    /// Whether the lease of that token has neither been released nor superseded.
    pub active: bool,
    /// The highest token the guarded resource accepted.
    pub used: Option<i64>,
}

impl Model for Lease {
    type Op = LeaseOp;
    type State = LeaseState;

    fn initial(&self) -> LeaseState {
        LeaseState { granted: None, active: false, used: None }
    }

    fn step(&self, state: &LeaseState, op: &LeaseOp) -> Option<LeaseState> {
        let holds = |token: i64| state.active && state.granted == Some(token);
        match *op {
            LeaseOp::Acquire(token) => (Some(token) > state.granted).then_some(LeaseState {
                granted: Some(token),
                active: true,
                ..*state
            }),
            LeaseOp::MaybeAcquire => Some(LeaseState { active: false, ..*state }),
            LeaseOp::Renew(token) => holds(token).then_some(*state),
            LeaseOp::Release(token) => {
                holds(token).then_some(LeaseState { active: false, ..*state })
            }
            LeaseOp::Use(token) => (state.used <= Some(token) && Some(token) <= state.granted)
                .then_some(LeaseState { used: Some(token), ..*state }),
        }
    }
}

impl Decode for Lease {
    fn decode(
        &self,
        history: &History,
        verb: &str,
        op: &Glance,
    ) -> Result<Option<LeaseOp>, String> {
        let token = |value, what| whole(history, value, what);
        Ok(Some(match verb {
            "acquire" => match known_output(op) {
                Some(output) => LeaseOp::Acquire(token(output, "the output of acquire")?),
                None => LeaseOp::MaybeAcquire,
            },
            "renew" => LeaseOp::Renew(token(op.input, "the input of renew")?),
            "release" => LeaseOp::Release(token(op.input, "the input of release")?),
            _ => LeaseOp::Use(token(op.input, "the input of use")?),
        }))
    }
}

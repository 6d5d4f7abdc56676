//! Why a history is refuted, in a form that someone else can check.

use crate::kind::ModelKind;
use crate::relax::Relaxation;
use assay_history::{OpIndex, ValueId};
use serde::Serialize;

/// A refutation that can be re-checked without trusting the checker that found it.
///
/// It says: of the operations on `key`, look at the part that `part` leaves; keep the completions
/// of `core` and forget all others (each may have happened at any time after its invocation, or
/// never). Even that has no explanation. Since forgetting only adds explanations, the history has
/// none either.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// The model.
    pub model: ModelKind,
    /// The register's value before the first write.
    pub initial: ValueId,
    /// The key whose operations are meant.
    pub key: ValueId,
    /// The part of the history that is looked at.
    pub part: Relaxation,
    /// The operations whose completions are used; all of them had outcome ok.
    pub core: Vec<OpIndex>,
}

impl Serialize for Certificate {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut out = serializer.serialize_struct("Certificate", 5)?;
        out.serialize_field("model", &self.model)?;
        out.serialize_field("start", &self.part.start)?;
        out.serialize_field("from", &self.part.from)?;
        out.serialize_field("cut", &self.part.cut)?;
        out.serialize_field("core_ops", &self.core)?;
        out.end()
    }
}

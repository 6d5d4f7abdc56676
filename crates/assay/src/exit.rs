//! Exit codes, as `assay-verdict` defines them, and which of them a check ends with.

use assay_check::{Answer, Report};

pub use assay_verdict::Exit;
pub use assay_verdict::exit::BROKEN_PIPE;

/// The code for a report.
pub fn of(report: &Report) -> Exit {
    match report.answer {
        Answer::Refuted => Exit::Refuted,
        Answer::Undecided => Exit::Undecided,
        Answer::Linearizable if report.ops_known == 0 => Exit::NothingChecked,
        Answer::Linearizable => Exit::Upheld,
    }
}

//! One predicate, three places that catch its violation.

use crate::bank::{Action, Bank, Delivery};
use crate::model::BankModel;
use crate::promises::BankPromises;
use crate::teller::Teller;
use assay_invariant::stateright::{Explored, explore};
use assay_invariant::{Broken, Registry, Simulation, Summary, Violation};

/// Every state the bank can be in, looked at by Stateright.
pub fn in_the_model(model: BankModel) -> Explored<Action> {
    explore::<BankModel, BankPromises>(model)
}

/// Walks with many seeds, or with the one in `ASSAY_SEED`.
pub fn in_simulation(model: BankModel) -> Result<Summary, Broken<Action>> {
    Simulation::new(model, "cargo run -p assay-example-invariants")
        .steps(50)
        .seeds(0..100)
        .seed_from_environment()
        .run::<BankPromises>()
}

/// A day at a bank with the defect. The violation is counted and said on stderr; business goes on.
pub fn in_production() -> Result<String, Violation> {
    let mut teller = Teller { bank: Bank::new(2, Delivery::Twice) };
    for action in [Action::Send(1), Action::Arrive(0), Action::Retry(0), Action::Confirm(0)] {
        teller.act(&action)?;
    }
    Ok(BankPromises::prometheus())
}

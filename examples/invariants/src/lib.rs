//! A bank whose promises are declared once, in `promises`, and checked three times: by a model
//! checker, in simulation and in production (`shows`). The bank can be built with a defect: a
//! transfer whose confirmation got lost is sent again, and is then credited twice.
//!
//! `cargo run -p assay-example-invariants` shows all three; docs/guides/invariants.md explains.

mod bank;
mod model;
mod promises;
mod shows;
mod teller;

pub use bank::{Action, Bank, Delivery, Phase, Transfer};
pub use model::BankModel;
pub use promises::{BK1, BK2, BK3, BK4, BankPromises};
pub use shows::{in_production, in_simulation, in_the_model};
pub use teller::Teller;

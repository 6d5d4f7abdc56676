//! The guard's core, on pairs of revisions.

mod corpus;
mod formulas;
mod records;
mod robust;
mod scan;

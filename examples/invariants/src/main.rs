//! Shows one predicate caught by a model checker, in simulation and in production.

use assay_example_invariants::{BankModel, Delivery, in_production, in_simulation, in_the_model};

fn main() {
    for delivery in [Delivery::Once, Delivery::Twice] {
        let model = BankModel { transfers: 2, delivery };
        println!("== a bank that delivers {delivery:?}");
        let explored = in_the_model(model);
        println!("model checker: {} states", explored.states);
        for (id, actions) in explored.broken {
            println!("  {id} violated by {actions:?}");
        }
        match in_simulation(BankModel { transfers: 8, delivery }) {
            Ok(summary) => println!("simulation: {summary:?}"),
            Err(broken) => println!("simulation: {broken}"),
        }
    }
    println!("== production");
    match in_production() {
        Ok(text) => print!("{text}"),
        Err(violation) => println!("{violation}"),
    }
}

//! `assay doctor`: what this machine can do for a run.

use crate::args::{DoctorArgs, OutputFormat};
use crate::exit::Exit;
use assay_plan::machine::Network;
use assay_runner::environment::{Capability, capabilities};
use assay_runner::faults::needs::{Tier, lacks, lacks_network};
use assay_sandbox::Provider;
use serde_json::json;

/// Tries everything and shows it.
pub fn run(args: &DoctorArgs) -> Exit {
    let found = capabilities();
    let ready = found.iter().all(|capability| capability.present || !capability.is_needed);
    let systems = assay_sut::builtin_names();
    let tier = Tier::of_this_machine();
    if args.output.format == OutputFormat::Json {
        let faults: Vec<_> = assay_nemesis::CATALOG.iter().map(fault_json).collect();
        let value = json!({
            "ready": ready, "tier": tier, "capabilities": found, "systems": systems,
            "faults": faults, "agents": assay_agent::probe(),
            "model_checkers": assay_mutate::look(),
            "sandbox": sandbox(),
        });
        anstream::println!("{value}");
    } else {
        let word = if ready { "READY" } else { "NOT READY" };
        anstream::println!(
            "{word}  this machine {} run plans\n",
            if ready { "can" } else { "cannot" }
        );
        found.iter().for_each(line);
        anstream::println!("\ntier {}", tier.words());
        let (can, cannot): (Vec<&str>, Vec<&str>) = faults_here();
        anstream::println!("faults that can be injected here: {}", can.join(", "));
        if !cannot.is_empty() {
            anstream::println!("not here (assay explain fault ID): {}", cannot.join(", "));
        }
        anstream::println!("systems built in: {}", systems.join(", "));
        anstream::println!("sandbox of agents: {}", assay_agent::probe());
        assay_mutate::look().iter().for_each(engine);
        anstream::println!("sandbox of tools: {}", sandbox_words());
        anstream::println!("\nnext: assay demo");
    }
    if ready { Exit::Upheld } else { Exit::MissingCapability }
}

/// What explores models for `assay guard mutate`; plans do without.
fn engine(found: &assay_mutate::Presence) {
    match &found.place {
        Some(place) => {
            anstream::println!("checker of TLA+ models: {} at {}", found.engine, place.display());
        }
        None => anstream::println!("checker of TLA+ models, not here: {}", found.note),
    }
}

/// What the sandbox of tools promises here.
fn sandbox() -> serde_json::Value {
    match super::sandbox::local() {
        Ok(local) => json!(local.capabilities()),
        Err(trouble) => json!({ "trouble": trouble.message }),
    }
}

fn sandbox_words() -> String {
    match super::sandbox::local() {
        Ok(local) => format!("{} (assay sandbox run --help)", local.capabilities()),
        Err(trouble) => trouble.message,
    }
}

fn is_here(row: &assay_nemesis::CatalogRow) -> bool {
    matches!(row.carried, assay_nemesis::Carried::Here { .. })
}

/// Faults that this machine allows on some network, and those it does not.
fn faults_here() -> (Vec<&'static str>, Vec<&'static str>) {
    let carried = assay_nemesis::CATALOG.iter().filter(|row| is_here(row)).map(|row| row.id);
    carried.partition(|id| trouble(id).is_none())
}

/// Why a fault cannot be injected here on any kind of network.
fn trouble(fault: &str) -> Option<String> {
    let networks = [Network::Proxies, Network::Bridge, Network::Switch];
    // Of a system that only takes connections, as most do.
    let on = |network| lacks(fault, network, false).or_else(|| lacks_network(network));
    networks.map(on).into_iter().reduce(|best, next| best.and(next)).flatten()
}

fn fault_json(row: &assay_nemesis::CatalogRow) -> serde_json::Value {
    let missing = trouble(row.id);
    let here = is_here(row) && missing.is_none();
    json!({
        "id": row.id, "name": row.name, "here": here, "missing": missing, "caveat": row.caveat,
    })
}

fn line(capability: &Capability) {
    let mark = if capability.present { "yes" } else { "NO " };
    let Capability { what, seen, note, .. } = capability;
    anstream::println!("  {mark}  {what:<18} {seen}  ({note})");
}

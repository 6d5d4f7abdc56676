//! `assay doctor`: what this machine can do for a run.

use crate::args::{DoctorArgs, OutputFormat};
use crate::exit::Exit;
use assay_runner::environment::{Capability, capabilities};
use serde_json::json;

/// Tries everything and shows it.
pub fn run(args: &DoctorArgs) -> Exit {
    let found = capabilities();
    let ready = found.iter().all(|capability| capability.present || !capability.is_needed);
    let systems = assay_sut::builtin_names();
    if args.output.format == OutputFormat::Json {
        let faults: Vec<_> = assay_nemesis::CATALOG.iter().map(fault_json).collect();
        let value = json!({
            "ready": ready, "capabilities": found, "systems": systems, "faults": faults,
        });
        anstream::println!("{value}");
    } else {
        let word = if ready { "READY" } else { "NOT READY" };
        anstream::println!(
            "{word}  this machine {} run plans\n",
            if ready { "can" } else { "cannot" }
        );
        found.iter().for_each(line);
        let here = |row: &&assay_nemesis::CatalogRow| is_here(row);
        let faults: Vec<&str> =
            assay_nemesis::CATALOG.iter().filter(here).map(|row| row.id).collect();
        anstream::println!("\nfaults without privilege: {}", faults.join(", "));
        anstream::println!("systems built in: {}", systems.join(", "));
        anstream::println!("\nnext: assay demo");
    }
    if ready { Exit::Upheld } else { Exit::MissingCapability }
}

fn is_here(row: &assay_nemesis::CatalogRow) -> bool {
    matches!(row.carried, assay_nemesis::Carried::Here { .. })
}

fn fault_json(row: &assay_nemesis::CatalogRow) -> serde_json::Value {
    json!({ "id": row.id, "name": row.name, "here": is_here(row), "caveat": row.caveat })
}

fn line(capability: &Capability) {
    let mark = if capability.present { "yes" } else { "NO " };
    let Capability { what, seen, note, .. } = capability;
    anstream::println!("  {mark}  {what:<18} {seen}  ({note})");
}

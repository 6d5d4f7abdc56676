//! `assay gallery`: published findings, shown again on this machine.

use super::run::{BuiltIn, Stop, built_in};
use super::{Trouble, systems};
use crate::args::{GalleryCommand, GalleryListArgs, GalleryRunArgs, OutputFormat};
use crate::exit::Exit;
use crate::gallery::{Entry, GALLERY};
use crate::output::gallery::{Twin, show};
use assay_report::run::Judged;
use assay_runner::event::RunEvent;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Instant;

/// Does what was asked for.
pub fn run(command: &GalleryCommand) -> Exit {
    match command {
        GalleryCommand::List(args) => list(args),
        GalleryCommand::Run(args) => run_entries(args).unwrap_or_else(Trouble::report),
    }
}

fn list(args: &GalleryListArgs) -> Exit {
    if args.output.format == OutputFormat::Json {
        let entry = |entry: &Entry| {
            let Entry { name, about, published, .. } = entry;
            json!({ "name": name, "about": about, "published": published })
        };
        let entries: Vec<Value> = GALLERY.iter().map(entry).collect();
        anstream::println!("{}", json!({ "entries": entries }));
        return Exit::Upheld;
    }
    for entry in GALLERY {
        anstream::println!("{}\n  {}\n  published: {}", entry.name, entry.about, entry.published);
    }
    anstream::println!("\nnext: assay gallery run NAME, or --all");
    Exit::Upheld
}

fn run_entries(args: &GalleryRunArgs) -> Result<Exit, Trouble> {
    let mut entries = Vec::new();
    for name in &args.names {
        let entry = GALLERY.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let names: Vec<&str> = GALLERY.iter().map(|entry| entry.name).collect();
            let message = format!("the gallery has no `{name}`; it has {}", names.join(", "));
            Trouble { message, exit: Exit::Usage }
        })?;
        entries.push(entry);
    }
    if args.all {
        entries.extend(GALLERY);
    }
    for entry in &entries {
        fetch_missing(entry, args.output.format)?;
    }
    let stop = Stop::listen()?;
    let mut twins = Vec::new();
    for round in 1..=args.times {
        for entry in &entries {
            twins.extend(run_entry(entry, round, args, &stop)?);
        }
    }
    Ok(show(&twins, args.output.format))
}

/// Fetches what the twins of an entry need and this machine does not have.
fn fetch_missing(entry: &Entry, format: OutputFormat) -> Result<(), Trouble> {
    let plan = assay_plan::parse(entry.plan);
    for (system, release) in assay_runner::arm::releases(&plan) {
        let spec = assay_sut::load(&system, None)
            .map_err(|error| Trouble { message: error.to_string(), exit: Exit::Bug })?;
        if !spec.is_at_hand(&release) {
            systems::fetch(&spec, &release, format)?;
        }
    }
    Ok(())
}

fn run_entry(
    entry: &Entry,
    round: u32,
    args: &GalleryRunArgs,
    stop: &Stop,
) -> Result<Vec<Twin>, Trouble> {
    let begun = Mutex::new(BTreeMap::<String, (Instant, Option<f64>)>::new());
    let heard = |event: &RunEvent| {
        let mut begun = begun.lock().expect("nothing panics while it holds the times");
        match event {
            RunEvent::ScenarioStarted { scenario, .. } => {
                begun.insert(scenario.clone(), (Instant::now(), None));
            }
            RunEvent::ScenarioEnded { scenario, .. } => {
                if let Some((start, seconds)) = begun.get_mut(scenario) {
                    *seconds = Some(start.elapsed().as_secs_f64());
                }
            }
            _ => {}
        }
    };
    let finished = built_in(&BuiltIn {
        name: entry.name,
        text: entry.plan,
        sessions: &args.sessions,
        depth: args.tier.into(),
        seed: args.seed.map(|seed| seed.wrapping_add(u64::from(round - 1) * 1_000)),
        format: args.output.format,
        stop,
        heard: &heard,
    })?;
    let times = begun.into_inner().expect("nothing panics while it holds the times");
    let judged = Judged::of(&finished.record);
    let seconds = |id: &str| times.get(id).and_then(|(_, seconds)| *seconds);
    let twin = |scenario| Twin::of(entry.name, round, &finished, scenario, &seconds);
    Ok(judged.scenarios.iter().map(twin).collect())
}

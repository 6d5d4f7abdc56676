//! `assay gallery`: published findings, shown again on this machine.

use super::run::{BuiltIn, Stop, built_in, heal_killed};
use super::{Trouble, inside, systems, write_whole};
use crate::args::{GalleryCommand, GalleryListArgs, GalleryRunArgs, OutputFormat};
use crate::exit::Exit;
use crate::gallery::{Entry, GALLERY, TWIN_SECONDS_MAX};
use crate::output::gallery::{Round, Twin, show, show_rows, table};
use assay_report::run::{Judged, JudgedScenario};
use assay_runner::event::RunEvent;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

/// How far the seeds of two rounds are apart: farther than the seeds of one.
const SEEDS_PER_ROUND: u64 = 1_000;

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
            let Entry { name, about, published, kinds, seconds: [green, red], .. } = entry;
            json!({
                "name": name, "about": about, "published": published, "kinds": kinds,
                "systems": entry.systems(), "tier": format!("{:?}", entry.needs()),
                "seconds": { "green": green, "red": red, "twin_max": TWIN_SECONDS_MAX },
            })
        };
        let entries: Vec<Value> = GALLERY.iter().map(entry).collect();
        anstream::println!("{}", json!({ "entries": entries }));
        return Exit::Upheld;
    }
    for entry in GALLERY {
        let Entry { name, about, published, kinds, seconds: [green, red], .. } = entry;
        anstream::println!("{name}\n  {about}\n  published: {published}");
        let (systems, needs) = (entry.systems().join(", "), entry.needs().words());
        anstream::println!("  {systems}; tier {needs}; green {green} s, red {red} s");
        anstream::println!("  the red twin finds: {}", kinds.join(" or "));
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
    heal_killed(&args.sessions);
    let unfetched = fetch_all(&entries, args.output.format);
    // In there nothing can be fetched, and why it was not is forgotten.
    let told = || unfetched.iter().flatten().for_each(|why| anstream::eprintln!("{}", why.message));
    inside::go_if(is_inside_needed(&entries), told)?;
    let stop = Stop::listen()?;
    let mut twins = Vec::new();
    let path = table_path(&args.sessions);
    for number in 1..=args.times {
        for (entry, unfetched) in entries.iter().zip(&unfetched) {
            let round = round(entry, number, args.seed);
            let ended = match unfetched {
                Some(why) => Ok(Twin::missing(round, &why.message)),
                None => run_entry(round, args, &stop),
            };
            let ended = match ended {
                Ok(ended) => ended,
                // Whoever interrupts keeps what has ended.
                Err(trouble) if is_stopped(trouble.exit) => {
                    show(&twins, args.output.format);
                    return Err(trouble);
                }
                Err(trouble) => Twin::missing(round, &trouble.message),
            };
            show_rows(&ended, args.output.format);
            twins.extend(ended);
            write_table(&path, &twins)?;
        }
    }
    if args.output.format == OutputFormat::Human {
        anstream::eprintln!("table: {}", path.display());
    }
    Ok(show(&twins, args.output.format))
}

/// Whether somebody has asked for the end.
fn is_stopped(exit: Exit) -> bool {
    matches!(exit, Exit::HungUp | Exit::Interrupted | Exit::Terminated)
}

/// Each round has seeds of its own; the first has those of the plan, or those asked for.
fn round(entry: &Entry, number: u32, seed: Option<u64>) -> Round<'_> {
    let first = seed.unwrap_or_else(|| entry.seed());
    let seed = first.wrapping_add(u64::from(number - 1) * SEEDS_PER_ROUND);
    Round { entry, number, seed }
}

/// Where the table is kept while it grows.
fn table_path(sessions: &Path) -> PathBuf {
    assay_runner::directory::new_root(sessions, "gallery").join("table.json")
}

/// Written anew after each entry, so that nobody who stops early loses what was shown.
fn write_table(path: &Path, twins: &[Twin]) -> Result<(), Trouble> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)
            .map_err(|error| Trouble::unavailable(parent, "make", &error))?;
    }
    write_whole(path, |out| writeln!(out, "{}", table(twins)))
}

/// Whether one of them has its nodes in namespaces: then all are shown in there.
fn is_inside_needed(entries: &[&Entry]) -> bool {
    entries.iter().any(|entry| inside::is_needed(&assay_plan::parse(entry.plan)))
}

/// Fetches what entries need; for each, why it could not.
fn fetch_all(entries: &[&Entry], format: OutputFormat) -> Vec<Option<Trouble>> {
    entries.iter().map(|entry| fetch_missing(entry, format).err()).collect()
}

/// Fetches what the twins of an entry need and this machine does not have.
fn fetch_missing(entry: &Entry, format: OutputFormat) -> Result<(), Trouble> {
    let plan = assay_plan::parse(entry.plan);
    for (system, release) in assay_runner::arm::releases(&plan) {
        let spec = assay_sut::load(&system, None)
            .map_err(|error| Trouble { message: error.to_string(), exit: Exit::Bug })?;
        if !spec.is_at_hand(&release) && inside::has_gone() {
            let message = format!(
                "{system} {release} is not at hand: assay systems get {system} --release {release}"
            );
            return Err(Trouble { message, exit: Exit::MissingCapability });
        }
        if !spec.is_at_hand(&release) {
            systems::fetch(&spec, &release, format)?;
        }
    }
    Ok(())
}

fn run_entry(round: Round<'_>, args: &GalleryRunArgs, stop: &Stop) -> Result<Vec<Twin>, Trouble> {
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
        name: round.entry.name,
        text: round.entry.plan,
        sessions: &args.sessions,
        depth: args.tier.into(),
        seed: Some(round.seed),
        format: args.output.format,
        stop,
        heard: &heard,
    })?;
    let times = begun.into_inner().expect("nothing panics while it holds the times");
    let judged = Judged::of(&finished.record);
    let seconds = |id: &str| times.get(id).and_then(|(_, seconds)| *seconds);
    let twin = |judged: &JudgedScenario<'_>| {
        Twin::of(round, &finished, judged, seconds(&judged.scenario.id))
    };
    Ok(judged.scenarios.iter().map(twin).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_with_a_network_of_namespaces_takes_all_of_them_inside() {
        let plain = &GALLERY[1];
        let plan = plain.plan.replacen("[system]\n", "[system]\nnetwork = \"bridge\"\n", 1);
        assert_ne!(plan, plain.plan, "it has a system");
        let bridged = Entry { plan: plan.leak(), ..*plain };
        assert!(!is_inside_needed(&[plain]));
        assert!(is_inside_needed(&[plain, &bridged]));
    }

    #[test]
    fn each_round_has_seeds_of_its_own() {
        let entry = &GALLERY[0];
        let seeds = |seed| [1, 2, 3].map(|number| round(entry, number, seed).seed);
        assert_eq!(seeds(Some(7)), [7, 1_007, 2_007]);
        let first = entry.seed();
        assert_eq!(seeds(None), [first, first + 1_000, first + 2_000]);
    }
}

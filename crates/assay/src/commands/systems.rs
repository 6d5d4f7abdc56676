//! `assay systems`: which systems there are, and fetching their programs.

use super::Trouble;
use crate::args::{OutputFormat, SystemsCommand, SystemsGetArgs, SystemsListArgs};
use crate::exit::Exit;
use assay_sut::{Programs, SystemSpec};
use serde_json::{Value, json};

/// Does what was asked for.
pub fn run(command: &SystemsCommand) -> Exit {
    match command {
        SystemsCommand::List(args) => list(args),
        SystemsCommand::Get(args) => get(args).unwrap_or_else(Trouble::report),
    }
}

fn list(args: &SystemsListArgs) -> Exit {
    let mut listed = Vec::new();
    for name in assay_sut::known_names() {
        match assay_sut::load(&name, None) {
            Ok(spec) => listed.push(one(&spec)),
            Err(error) => listed.push(json!({ "name": name, "error": error.to_string() })),
        }
    }
    if args.output.format == OutputFormat::Json {
        anstream::println!("{}", json!({ "systems": listed }));
        return Exit::Upheld;
    }
    for system in &listed {
        let text = |field: &str| system[field].as_str().unwrap_or_default();
        anstream::println!("{:<14} {}{}", text("name"), text("about"), text("error"));
        for release in system["releases"].as_array().into_iter().flatten() {
            let mark = match (release["fetched"] == json!(true), release["at_hand"] == json!(true))
            {
                (true, _) => "fetched",
                (false, true) => "installed",
                (false, false) => "not here",
            };
            let text = |field: &str| release[field].as_str().unwrap_or_default();
            anstream::println!("  {:<12} {mark:<12} {}", text("release"), text("about"));
        }
    }
    anstream::println!("\nnext: assay systems get NAME");
    Exit::Upheld
}

fn one(spec: &SystemSpec) -> Value {
    let release = |(release, about): (&str, &str)| {
        let fetched = assay_sut::fetched(&spec.name, release).is_some();
        let at_hand = spec.is_at_hand(release);
        json!({ "release": release, "about": about, "fetched": fetched, "at_hand": at_hand })
    };
    let releases: Vec<Value> = spec.releases().into_iter().map(release).collect();
    json!({ "name": spec.name, "about": spec.about, "releases": releases })
}

fn get(args: &SystemsGetArgs) -> Result<Exit, Trouble> {
    let missing = |message: String| Trouble { message, exit: Exit::MissingCapability };
    let mut got = Vec::new();
    for name in &args.names {
        let spec = assay_sut::load(name, None).map_err(|error| missing(error.to_string()))?;
        let wanted: Vec<String> = match &args.release {
            Some(release) => vec![release.clone()],
            None => spec.releases().iter().map(|(release, _)| (*release).to_string()).collect(),
        };
        if wanted.is_empty() {
            return Err(missing(format!("{name}: its description names nothing to fetch")));
        }
        for release in wanted {
            let programs = fetch(&spec, &release, args.output.format)?;
            got.push(json!({ "system": name, "release": release, "bin": programs.bin }));
            if args.output.format == OutputFormat::Human {
                anstream::println!("{name} {release}: {}", programs.bin.display());
            }
        }
    }
    if args.output.format == OutputFormat::Json {
        anstream::println!("{}", json!({ "fetched": got }));
    }
    Ok(Exit::Upheld)
}

/// Fetches one release, and says what is being done.
pub fn fetch(spec: &SystemSpec, release: &str, format: OutputFormat) -> Result<Programs, Trouble> {
    let mut say = |step: &str| {
        if format == OutputFormat::Human {
            anstream::eprintln!("{} {release}: {step}", spec.name);
        }
    };
    assay_sut::get(spec, release, &mut say)
        .map_err(|error| Trouble { message: error.to_string(), exit: Exit::MissingCapability })
}

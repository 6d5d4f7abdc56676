//! `assay desk demo`: two campaigns in temporary repositories, with scripted agents.
//!
//! The first is honest: its Worker makes a mistake, gets a fix contract, mends it, and the campaign
//! completes. In the second a Worker says that it is done and a Verifier swears to it; neither is
//! believed.

use super::super::Trouble;
use super::missing;
use super::run::run_in;
use crate::args::{DeskRunArgs, OutputArgs, OutputFormat, SandboxArg};
use crate::exit::Exit;
use assay_desk::shell::Desk;
use std::path::Path;
use std::process::{Command, Stdio};

const CONTRACT: &str = include_str!("demo/contract.md");
const HONEST: &str = include_str!("demo/honest.toml");
const LYING: &str = include_str!("demo/lying.toml");

/// Runs both campaigns; it went as it should if the honest one completes and the other does not.
pub(super) fn run(directory: Option<&Path>, format: OutputFormat) -> Result<Exit, Trouble> {
    let unavailable =
        |path: &Path, error: &std::io::Error| Trouble::unavailable(path, "write", error);
    let temporary;
    let home = match directory {
        Some(directory) => directory,
        None => {
            let made = tempfile::tempdir();
            temporary = made.map_err(|error| unavailable(Path::new("/tmp"), &error))?;
            temporary.path()
        }
    };
    let lies = "A lying Worker and a lying Verifier";
    let honest = campaign(&home.join("honest"), HONEST, "An honest campaign", format)?;
    let lying = campaign(&home.join("lying"), LYING, lies, format)?;
    let as_promised = honest == Exit::Upheld && lying == Exit::Refuted;
    let exit = if as_promised { Exit::Upheld } else { Exit::Refuted };
    if format == OutputFormat::Json {
        let value = serde_json::json!({
            "upheld": as_promised, "honest": honest == Exit::Upheld, "lying": lying == Exit::Upheld,
        });
        anstream::println!("{value}");
        return Ok(exit);
    }
    anstream::println!(
        "\n{}  the honest campaign is COMPLETE, the lying one is BLOCKED",
        if as_promised { "UPHELD" } else { "REFUTED" }
    );
    if let Some(directory) = directory {
        anstream::println!("next     look around in {}", directory.display());
    } else {
        anstream::println!("next     assay desk new SLUG in your own repository");
    }
    Ok(exit)
}

fn campaign(root: &Path, script: &str, title: &str, format: OutputFormat) -> Result<Exit, Trouble> {
    match format {
        OutputFormat::Json => {
            anstream::println!("{}", serde_json::json!({ "campaign": title }));
        }
        OutputFormat::Human => anstream::println!("\n== {title} =="),
    }
    let write = |path: &Path, text: &str| {
        let parent = path.parent().unwrap_or(root);
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(path, text))
            .map_err(|error| Trouble::unavailable(path, "write", &error))
    };
    write(&root.join("README.md"), "A basket of fruit.\n")?;
    write(&root.join("tests/__init__.py"), "")?;
    for arguments in [
        &["init", "-q"][..],
        &["add", "-A"],
        &["-c", "user.name=demo", "-c", "user.email=demo@localhost", "commit", "-qm", "Begin"],
    ] {
        git(root, arguments)?;
    }
    let desk = Desk::find(root, "basket").map_err(|error| missing(error.to_string()))?;
    desk.make().map_err(|error| missing(error.to_string()))?;
    write(&desk.contract(), CONTRACT)?;
    let agents = desk.home().join("agents.toml");
    write(&agents, script)?;
    let agent = format!("scripted:{}", agents.display());
    let args = DeskRunArgs {
        slug: "basket".to_string(),
        worker: vec![agent.clone()],
        verifier: Some(agent.clone()),
        second: Some(agent),
        base: None,
        score: None,
        sandbox: SandboxArg::WhenAvailable,
        output: OutputArgs { format },
    };
    run_in(&desk, &args, None)
}

fn git(root: &Path, arguments: &[&str]) -> Result<(), Trouble> {
    let mut git = Command::new("git");
    git.args(arguments).current_dir(root).stdin(Stdio::null());
    match git.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(missing(format!("git {} failed", arguments[0]))),
        Err(error) => Err(missing(format!("git: {error}; the desk needs git"))),
    }
}

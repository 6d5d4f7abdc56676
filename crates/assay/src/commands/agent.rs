//! `assay agent`: runs an agent once; and the two processes Assay starts of itself for that.

use super::Trouble;
use crate::args::{AgentCommand, AgentRunArgs, OutputFormat, SandboxArg};
use crate::exit::Exit;
use assay_agent::{AgentConfig, AgentEvent, Helper, Limits, Outcome, Ran, Sandbox, Task, agent_of};
use serde_json::json;
use std::io::Read;
use std::path::Path;

/// The longest prompt and configuration, in bytes.
const TEXT_BYTES_MAX: u64 = 4 << 20;

/// Runs the command.
pub fn run(command: AgentCommand) -> Exit {
    match command {
        AgentCommand::Run(args) => run_once(&args).unwrap_or_else(Trouble::report),
        AgentCommand::Keep { log } => keep(&log).map_or_else(Trouble::report, |()| Exit::Upheld),
        AgentCommand::Scripted { script } => scripted(&script),
    }
}

fn keep(log: &Path) -> Result<(), Trouble> {
    assay_agent::keep(log).map_err(|error| Trouble::unavailable(log, "keep an agent", &error))
}

/// Ends with the code the script asks for, which is nothing to do with the codes of Assay.
fn scripted(script: &Path) -> Exit {
    match assay_agent::play(script) {
        Ok(code) => std::process::exit(code),
        Err(error) => Trouble::bad_history(error.to_string()).report(),
    }
}

fn run_once(args: &AgentRunArgs) -> Result<Exit, Trouble> {
    let config = AgentConfig::parse(&read(&args.config)?)
        .map_err(|e| Trouble::bad_history(format!("{}: {e}", args.config.display())))?;
    let engine = config.engine.name();
    let prompt = read(&args.prompt)?;
    let helper = Helper::this_program()
        .map_err(|e| Trouble::unavailable(Path::new("assay"), "find itself", &e))?;
    let mut task = Task::new(&prompt, &args.work, &args.out.join("drop"), &args.out.join("log"))
        .limits(Limits { wall: args.wall, idle: args.idle, output_bytes: args.output_max as u64 });
    task.variables = args.variables.iter().cloned().collect();
    task.sandbox = match args.sandbox {
        SandboxArg::WhenAvailable => Sandbox::WhenAvailable,
        SandboxArg::Required => Sandbox::Required,
        SandboxArg::Off => Sandbox::Off,
    };
    let is_json = args.output.format == OutputFormat::Json;
    let mut show = |event: AgentEvent| match is_json {
        true => anstream::println!("{}", json!(event)),
        false => human(&event),
    };
    let ran = agent_of(config, helper).run(&task, &mut show);
    match is_json {
        true => anstream::println!("{}", summary(engine, &ran)),
        false => finish(args, engine, &ran),
    }
    Ok(code(&ran.outcome))
}

fn code(outcome: &Outcome) -> Exit {
    match outcome {
        Outcome::Exited { code: 0 } => Exit::Upheld,
        Outcome::Exited { .. } | Outcome::Signalled { .. } | Outcome::Failed { .. } => {
            Exit::Refuted
        }
        Outcome::SpawnFailed { .. } => Exit::MissingCapability,
        Outcome::IdleTimeout
        | Outcome::WallTimeout
        | Outcome::Cancelled
        | Outcome::OutputLimit
        | Outcome::RateLimited { .. }
        | Outcome::Unintelligible { .. } => Exit::Undecided,
    }
}

fn read(path: &Path) -> Result<String, Trouble> {
    let unavailable = |error| Trouble::unavailable(path, "read", &error);
    let mut text = String::new();
    let source: Box<dyn Read> = match path == Path::new("-") {
        true => Box::new(std::io::stdin()),
        false => Box::new(std::fs::File::open(path).map_err(unavailable)?),
    };
    source.take(TEXT_BYTES_MAX + 1).read_to_string(&mut text).map_err(unavailable)?;
    if text.len() as u64 > TEXT_BYTES_MAX {
        let message = format!("{}: longer than {TEXT_BYTES_MAX} bytes", path.display());
        return Err(Trouble::bad_history(message));
    }
    Ok(text)
}

fn summary(engine: &str, ran: &Ran) -> serde_json::Value {
    json!({
        "engine": engine,
        "result": ran.outcome,
        "sandbox": ran.protection,
        "usage": ran.usage,
        "output_bytes": ran.output_bytes,
        "stragglers": ran.stragglers,
        "millis": u64::try_from(ran.time.as_millis()).unwrap_or(u64::MAX),
    })
}

fn human(event: &AgentEvent) {
    match event {
        AgentEvent::Started { session, model } => {
            let words: Vec<&str> = [session, model].into_iter().flatten().map(|s| &**s).collect();
            anstream::println!("started   {}", words.join(" "));
        }
        AgentEvent::Text { text } => anstream::println!("says      {text}"),
        AgentEvent::Thought { text } => anstream::println!("thinks    {text}"),
        AgentEvent::ToolUse { name, detail, .. } => {
            anstream::println!("uses      {name} {detail}");
        }
        AgentEvent::ToolResult { ok: true, .. } => anstream::println!("          it worked"),
        AgentEvent::ToolResult { ok: false, .. } => anstream::println!("          it did not work"),
        // Nobody is asked here, and what a call is about stood there when it began.
        AgentEvent::Usage(_) | AgentEvent::ToolUpdate { .. } => {}
        AgentEvent::LeaveAsked { name, .. } => {
            anstream::println!("waits     for leave: {}", name.as_deref().unwrap_or("a tool"));
        }
        AgentEvent::Failed { message, .. } => anstream::println!("failed    {message}"),
        AgentEvent::Finished { message, .. } => anstream::println!("finished  {message}"),
        AgentEvent::Stderr { text } => anstream::eprintln!("stderr    {text}"),
        AgentEvent::Noise { text } => anstream::println!("noise     {text}"),
        AgentEvent::Waiting { millis, .. } => anstream::println!("waits     {millis} ms"),
    }
}

fn finish(args: &AgentRunArgs, engine: &str, ran: &Ran) {
    anstream::println!("\n{engine} {}", ran.outcome);
    anstream::println!("sandbox: {}", ran.protection);
    if let Some(usage) = ran.usage {
        let (read, wrote) = (usage.input_tokens, usage.output_tokens);
        anstream::println!("tokens: {read} read, {wrote} written");
    }
    if ran.stragglers > 0 {
        anstream::println!("processes it left running, now ended: {}", ran.stragglers);
    }
    anstream::println!("next: look at {}", args.out.display());
}

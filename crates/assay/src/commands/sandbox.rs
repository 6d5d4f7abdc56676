//! `assay sandbox`: a command or a tool in a sandbox; and the two processes Assay starts of itself
//! for that.

use super::Trouble;
use crate::args::{
    MeansArg, OutputFormat, SandboxCommand, SandboxPlaceArgs, SandboxRunArgs, SandboxToolArgs,
};
use crate::exit::Exit;
use assay_sandbox::{
    CallError, Capabilities, Capability, End, Helper, HostPlace, Interrupt, Limits, Local, Means,
    Network, OpenError, Output, OutputsError, Program, Provider, ProviderKind, Ran, Sandbox,
    Settings, Stream, Tools, Workspace, WorkspaceError, collect_outputs,
};
use serde_json::json;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The longest input of a tool, in bytes.
const INPUT_BYTES_MAX: u64 = 16 << 20;

/// Runs the command.
pub fn run(command: &SandboxCommand) -> Exit {
    let itself = |done: std::io::Result<()>| match done {
        Ok(()) => Exit::Upheld,
        Err(error) => Trouble::unavailable(Path::new("stdin"), "be spoken to", &error).report(),
    };
    match command {
        SandboxCommand::Run(args) => run_once(args).unwrap_or_else(Trouble::report),
        SandboxCommand::Tool(args) => tool(args).unwrap_or_else(Trouble::report),
        SandboxCommand::Keep => itself(assay_sandbox::keep()),
        SandboxCommand::Enter => itself(assay_sandbox::enter()),
    }
}

/// The local provider on this machine.
pub fn local() -> Result<Local, Trouble> {
    provider(ProviderKind::Local, Means::Best)
}

fn provider(kind: ProviderKind, means: Means) -> Result<Local, Trouble> {
    let helper = Helper::this_program()
        .map_err(|error| Trouble::unavailable(Path::new("assay"), "find itself", &error))?;
    Local::by(kind, means, helper).map_err(|error| cannot_open(&error))
}

fn cannot_open(error: &OpenError) -> Trouble {
    let exit = match error {
        OpenError::Busy(_) => Exit::TryLater,
        OpenError::Settings(_) | OpenError::Unknown(_) => Exit::Usage,
        OpenError::Missing { .. } | OpenError::Workspace(_) | OpenError::Call(_) => {
            Exit::MissingCapability
        }
    };
    Trouble { message: error.to_string(), exit }
}

fn cannot_call(error: &CallError) -> Trouble {
    Trouble { message: error.to_string(), exit: Exit::MissingCapability }
}

/// A sandbox, with what it promises; the directory is gone with it.
struct Place {
    sandbox: Box<dyn Sandbox>,
    provider: &'static str,
    capabilities: Capabilities,
    _temporary: Option<TempDir>,
}

fn open(args: &SandboxPlaceArgs) -> Result<Place, Trouble> {
    let means = match args.means {
        MeansArg::Best => Means::Best,
        MeansArg::Namespaces => Means::Namespaces,
        MeansArg::Landlock => Means::Landlock,
    };
    let provider = provider(args.provider, means)?;
    let settings = settings(args).map_err(|error| cannot_open(&error.into()))?;
    // Before anything is made.
    provider.check(&settings).map_err(|error| cannot_open(&error))?;
    let (directory, temporary) = match &args.work {
        Some(directory) => (directory.clone(), None),
        None => {
            let made = tempfile::Builder::new().prefix("assay-sandbox-").tempdir();
            let made = made.map_err(|error| {
                Trouble::unavailable(&std::env::temp_dir(), "make a directory in", &error)
            })?;
            (made.path().to_path_buf(), Some(made))
        }
    };
    let workspace = Workspace::create(&directory).map_err(|error| cannot_open(&error.into()))?;
    let sandbox = provider.open(&workspace, settings).map_err(|error| cannot_open(&error))?;
    let capabilities = provider.capabilities().clone();
    Ok(Place { sandbox, provider: provider.name(), capabilities, _temporary: temporary })
}

fn settings(args: &SandboxPlaceArgs) -> Result<Settings, WorkspaceError> {
    let limits = Limits {
        wall: args.time,
        memory_bytes: args.memory as u64,
        processes: args.processes,
        file_bytes: args.file_size as u64,
        output_bytes: args.output_max as u64,
        ..Limits::default()
    };
    // Who asks for no protection by its name needs none.
    let needs: &[Capability] = match args.provider {
        ProviderKind::Local => &Capability::NEEDED,
        ProviderKind::None => &[],
    };
    // What is not there is said by the path that was named.
    let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let readable = args.readable.iter().map(|path| HostPlace::find(&real(path)));
    Ok(Settings {
        network: if args.allow_network { Network::Open } else { Network::Off },
        limits,
        needs: needs.iter().copied().filter(|one| !args.without.contains(one)).collect(),
        environment: args.environment.iter().cloned().collect(),
        readable: readable.collect::<Result<_, _>>()?,
    })
}

fn interrupt() -> Result<Interrupt, Trouble> {
    Interrupt::new().map_err(|error| Trouble::unavailable(Path::new("pipe"), "make", &error))
}

fn run_once(args: &SandboxRunArgs) -> Result<Exit, Trouble> {
    let place = open(&args.place)?;
    let argv: Vec<&str> = args.command.iter().map(String::as_str).collect();
    let is_json = args.output.format == OutputFormat::Json;
    let (mut out, mut error) = (Vec::new(), Vec::new());
    let mut hear = |stream: Stream, bytes: &[u8]| match (is_json, stream) {
        (true, Stream::Out) => out.extend_from_slice(bytes),
        (true, Stream::Error) => error.extend_from_slice(bytes),
        // Nobody reads any longer: the command goes on, as it would without us.
        (false, Stream::Out) => _ = std::io::stdout().write_all(bytes),
        (false, Stream::Error) => _ = std::io::stderr().write_all(bytes),
    };
    let ran = place.sandbox.run(&Program::new(&argv), &interrupt()?, &mut hear);
    let ran = ran.map_err(|error| cannot_call(&error))?;
    let outputs = collect_outputs(place.sandbox.workspace());
    match is_json {
        true => {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (out, error) = (text(&out), text(&error));
            anstream::println!("{}", summary(&place, &ran, &out, &error, &outputs));
        }
        false => {
            _ = std::io::stdout().flush();
            finish(&place, &ran, &outputs);
        }
    }
    Ok(code(&ran.end))
}

fn tool(args: &SandboxToolArgs) -> Result<Exit, Trouble> {
    let mut text = String::new();
    let read = std::io::stdin().take(INPUT_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|error| Trouble::unavailable(Path::new("stdin"), "read", &error))?;
    let input: serde_json::Value = serde_json::from_str(&text)
        .map_err(|error| Trouble::bad_history(format!("stdin: is no JSON: {error}")))?;
    let Place { sandbox, _temporary, .. } = open(&args.place)?;
    let tools = Tools::new(sandbox);
    let result = tools.call(&args.name, &input, &interrupt()?);
    let result = result.map_err(|error| cannot_call(&error))?;
    match args.output.format {
        OutputFormat::Json => {
            let value = json!({ "text": result.text, "is_error": result.is_error });
            anstream::println!("{value}");
        }
        OutputFormat::Human => anstream::println!("{}", result.text.trim_end_matches('\n')),
    }
    Ok(if result.is_error { Exit::Refuted } else { Exit::Upheld })
}

fn code(end: &End) -> Exit {
    match end {
        End::Exited(0) => Exit::Upheld,
        End::Exited(_) | End::Signalled(_) | End::NotStarted(_) => Exit::Refuted,
        End::TimeLimit | End::OutputLimit | End::MemoryLimit | End::Interrupted => Exit::Undecided,
    }
}

fn words(end: &End) -> String {
    match end {
        End::Exited(code) => format!("exited with {code}"),
        End::Signalled(signal) => format!("ended by signal {signal}"),
        End::NotStarted(why) => format!("not started: {why}"),
        End::TimeLimit => "ended: it took longer than it may (--time)".to_string(),
        End::OutputLimit => "ended: it wrote more than it may (--output-max)".to_string(),
        End::MemoryLimit => "ended: it wanted more memory than it may have (--memory)".to_string(),
        End::Interrupted => "interrupted".to_string(),
    }
}

type Outputs = Result<Vec<Output>, OutputsError>;

fn summary(
    place: &Place,
    ran: &Ran,
    out: &str,
    error: &str,
    outputs: &Outputs,
) -> serde_json::Value {
    let outputs = match outputs {
        Ok(files) => files
            .iter()
            .map(|file| json!({ "name": file.name, "path": file.path, "bytes": file.bytes }))
            .collect(),
        Err(error) => json!({ "trouble": error.to_string() }),
    };
    json!({
        "end": ran.end,
        "was_short_of_memory": ran.was_short_of_memory,
        "stdout": out,
        "stderr": error,
        "outputs": outputs,
        "provider": place.provider,
        "capabilities": place.capabilities,
    })
}

fn finish(place: &Place, ran: &Ran, outputs: &Outputs) {
    anstream::eprintln!("{}", words(&ran.end));
    anstream::eprintln!("sandbox {}: {}", place.provider, place.capabilities.how);
    match outputs {
        Ok(files) => files.iter().for_each(|file| {
            anstream::eprintln!("output {} ({} bytes)", file.path.display(), file.bytes);
        }),
        Err(error) => anstream::eprintln!("no outputs: {error}"),
    }
}

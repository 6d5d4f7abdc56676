//! The command line, as types. The doc comments here are the help texts.

mod adr;
mod agent;
mod desk;
mod guard;
mod invariants;
mod models;
mod plan;
mod run;
mod sandbox;
mod serve;
mod systems;

pub use adr::{
    AdrCommand, AdrGraphArgs, AdrLintArgs, AdrLintFormat, AdrNewArgs, AdrPicture, KindArg,
    PlaceArgs,
};
pub use agent::{AgentCommand, AgentRunArgs, SandboxArg};
pub use desk::{DeskAmendArgs, DeskCommand, DeskRunArgs};
pub use guard::{
    ApproveArgs, CauseArg, CompareArgs, GuardArgs, GuardCommand, GuardFormat, InitArgs,
};
pub use invariants::{InvariantsCommand, ScanArgs, ScanFormat};
pub use models::{EngineArg, ModelArgs, MutateArgs, StatesArgs, VacuityArgs};
pub use plan::{LintFormat, PlanCommand, PlanMode};
pub use run::{DemoArgs, DoctorArgs, ExportArgs, PLANTS_DEFAULT, ReproduceArgs, RunArgs};
pub use sandbox::{MeansArg, SandboxCommand, SandboxPlaceArgs, SandboxRunArgs, SandboxToolArgs};
pub use serve::{DataArgs, KeysCommand, LimitArgs, ServeArgs, StoreArgs};
pub use systems::{
    GalleryCommand, GalleryListArgs, GalleryRunArgs, SystemsCommand, SystemsGetArgs,
    SystemsListArgs,
};

use crate::exit::Exit;
use assay_check::ModelKind;
use assay_history::{Format, Style};
use assay_kv::Defect;
use assay_oracle::picker::Category;
use assay_txn::Model;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Finds out whether the claims a system makes are true.
///
/// Exit codes: 0 upheld, 1 refuted, 2 undecided, 3 nothing was checked, 64 usage, 65 bad history
/// or plan, 69 a file or capability is missing, 70 a bug in Assay, 75 somebody else is at work
/// there, 129 (a closed terminal), 130 and 143 interrupted.
#[derive(Parser, Debug)]
#[command(name = "assay", version, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// Reads the command line.
    ///
    /// # Errors
    /// What is wrong with it, or the help that was asked for.
    pub fn read() -> Result<Cli, clap::Error> {
        let matches = Cli::command().try_get_matches()?;
        let mut cli = Cli::from_arg_matches(&matches)?;
        if let (Command::Check(args), Some((_, check))) = (&mut cli.command, matches.subcommand()) {
            args.given = crate::commands::effect::given(check);
        }
        Ok(cli)
    }
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    Demo(DemoArgs),
    Run(Box<RunArgs>),
    Reproduce(ReproduceArgs),
    Check(Box<CheckArgs>),
    /// Look at operation histories: validate, convert, stats.
    #[command(subcommand)]
    History(HistoryCommand),
    /// Run the embedded replicated store, a system to try Assay on.
    #[command(subcommand)]
    Kv(KvCommand),
    Serve(ServeArgs),
    /// Make, list and revoke keys of the session API: create, list, revoke.
    #[command(subcommand)]
    Keys(KeysCommand),
    Report(ReportArgs),
    /// Write, check and show test plans: new, lint, show, matrix, diff.
    #[command(subcommand)]
    Plan(PlanCommand),
    /// Run campaigns of coding agents whose end is computed from evidence: new, lint, run, status,
    /// log, report, verify, amend, resume, abort, clean, list, import, demo.
    #[command(subcommand)]
    Desk(Box<DeskCommand>),
    Guard(Box<GuardArgs>),
    /// Keep decision records: new, lint, graph, rules.
    #[command(subcommand)]
    Adr(Box<AdrCommand>),
    /// Say which places hold each invariant: scan.
    #[command(subcommand)]
    Invariants(InvariantsCommand),
    Explain(ExplainArgs),
    Heal(HealArgs),
    Doctor(DoctorArgs),
    /// List the systems that plans can name, and fetch their programs: list, get.
    #[command(subcommand)]
    Systems(SystemsCommand),
    /// Show published findings again on this machine: list, run.
    #[command(subcommand)]
    Gallery(GalleryCommand),
    /// Run a coding agent once, under limits and in a sandbox.
    #[command(subcommand)]
    Agent(AgentCommand),
    /// Try the sandbox in which tools of agents run: run, tool.
    #[command(subcommand)]
    Sandbox(SandboxCommand),
    /// Be a client with a built-in driver: started by Assay itself, so that a fault can hit it.
    #[command(hide = true)]
    Client {
        /// The driver.
        driver: String,
        /// A number that no other client has.
        #[arg(long)]
        session: u32,
    },
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual pages into a directory.
    Man {
        /// Where to write them.
        #[arg(default_value = ".")]
        directory: PathBuf,
    },
}

/// Check whether histories are linearizable, or which isolation their transactions had.
///
/// Reads each FILE (Assay JSON lines, Jepsen EDN or JSON, Porcupine logs; gzip and zstd too),
/// checks that it can carry a verdict, and decides whether some order of its operations respects
/// real time and the model. A refuted history comes with the smallest part of it that is still
/// refuted, the reason in words, and a certificate that a separate verifier has re-checked.
///
/// Examples:
///   assay check history.edn --model cas-register
///   assay check history.edn --model list-append --consistency-model snapshot-isolation
///   assay check run/*.jsonl.zst --model kv --html report.html
///   assay check queue.jsonl --checker exactly-once --set business-key=id
///   assay check history.jsonl --model register --calibrate 20
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct CheckArgs {
    /// The histories; - reads standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// What the objects promise: register, kv, counter, set, queue, stack, log, mutex or lease
    /// (aliases: cas-register, multi-register, map, kv-append, fifo-queue, lock); or what the
    /// transactions do: list-append, rw-register, set-add or counter-inc. See `assay explain
    /// models`.
    ///
    /// Without --model and --checker, Assay looks at the operations and proposes what fits; where
    /// several do, it names them and stops.
    #[arg(long, short, value_name = "MODEL", value_parser = subject, conflicts_with = "checkers")]
    pub model: Option<Subject>,
    #[command(flatten)]
    pub oracles: OracleArgs,
    #[command(flatten)]
    pub isolation: IsolationArgs,
    #[command(flatten)]
    pub input: InputArgs,
    /// The register's value before the first write, as JSON.
    #[arg(long, value_name = "JSON", default_value = "null")]
    pub initial: String,
    /// How long to search, per file, before answering "undecided": 500ms, 30s, 5m.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub budget: Duration,
    /// How much memory searches may hold: 512MiB, 2GiB.
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = size)]
    pub memory: usize,
    /// How many configurations searches may visit.
    #[arg(long, value_name = "COUNT", default_value_t = u64::MAX, hide_default_value = true)]
    pub states: u64,
    /// How many refuted keys to explain in full.
    #[arg(long, value_name = "COUNT", default_value = "3", value_parser = witnesses)]
    pub witnesses: usize,
    /// Stop looking at a file once one of its objects is refuted; those not looked at are counted.
    /// The verdict is the same, sooner. Only with a --model of single objects.
    #[arg(long)]
    pub fail_fast: bool,
    /// Plant COUNT anomalies of each kind into copies of the history and report how many the
    /// checker catches: how sharp was the oracle that said "upheld"?
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub calibrate: Option<u32>,
    /// The seed of --calibrate.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Write a report that opens in any browser, without a network.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the first witness as a picture.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Write the first cycle of transactions in the language of Graphviz.
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
    /// Which options that are not for every check were given.
    #[arg(skip)]
    pub given: Vec<&'static str>,
}

/// What is checked: single objects, or transactions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// Objects with this model, for linearizability.
    Object(ModelKind),
    /// Transactions of this style, for isolation.
    Transactions(Style),
}

/// Promises other than linearizability and isolation.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Other promises")]
pub struct OracleArgs {
    /// What to look for: no-lost-ack, exactly-once, read-your-writes, bank, replicas, slo, ... May
    /// be given several times. See `assay explain checkers`.
    #[arg(long = "checker", value_name = "NAME", value_parser = oracle)]
    pub checkers: Vec<&'static str>,
    /// What a checker must know beforehand: business-key=id, slo.p99=20ms, ... See `assay explain
    /// settings`.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub settings: Vec<String>,
    /// The history of the reference implementation, for --checker differential.
    #[arg(long, value_name = "FILE")]
    pub reference: Option<PathBuf>,
    /// What the claim is about: safety, durability, isolation, ordering, idempotency, membership,
    /// fairness, ... Decides where several checkers fit, and refuses one that does not.
    #[arg(long, value_name = "CATEGORY", value_parser = category)]
    pub claim: Option<Category>,
}

/// What transactions promise, and what may be assumed about them.
#[derive(Args, Debug, Clone, Copy)]
#[command(next_help_heading = "Transactions")]
pub struct IsolationArgs {
    /// The isolation that is claimed: strict-serializable, serializable, snapshot-isolation,
    /// repeatable-read, read-committed, ... (Elle's names). See `assay explain isolation`.
    #[arg(
        long = "consistency-model",
        visible_alias = "consistency-models",
        short = 'c',
        value_name = "NAME",
        default_value = "strict-serializable",
        value_parser = isolation_model
    )]
    pub consistency_model: Model,
    /// Registers: real time orders the versions of each key.
    #[arg(long)]
    pub linearizable_keys: bool,
    /// Registers: each process sees the versions of each key in their order.
    #[arg(long)]
    pub sequential_keys: bool,
    /// Registers: a transaction that reads a key and then writes it replaces what it read.
    #[arg(long)]
    pub wfr_keys: bool,
    /// Leave real time out: the recorder's clocks cannot be compared between processes.
    #[arg(long)]
    pub no_realtime: bool,
    /// Registers: every write is in the history, so reading a value that nobody wrote is an anomaly
    /// (always so for Assay's own format).
    #[arg(long)]
    pub recording_complete: bool,
    /// Registers: whether to look for an order of all transactions where the absence of cycles
    /// proves nothing, within --budget, --memory and --states. With "auto", if nothing is declared
    /// about versions.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = SearchWhen::Auto)]
    pub search: SearchWhen,
}

/// When to look for an order of transactions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum SearchWhen {
    /// If nothing is declared about the order of versions.
    Auto,
    /// Also if something is.
    Always,
    /// Leave it at cycles: what has none may still be wrong.
    Never,
}

/// How histories are read.
#[derive(Args, Debug, Clone, Copy)]
pub struct InputArgs {
    /// The format, where the first bytes mislead: jsonl, jepsen-json, jepsen-edn or porcupine-log.
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    pub from: Option<Format>,
    /// Jepsen's independent histories: each value is a pair of key and value.
    #[arg(long)]
    pub independent: bool,
}

/// How results are shown.
#[derive(Args, Debug, Clone, Copy)]
pub struct OutputArgs {
    /// For people, or one JSON object per file and line for programs.
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub format: OutputFormat,
}

/// For whom the output is.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputFormat {
    /// For people.
    Human,
    /// For programs.
    Json,
}

/// Commands about histories.
#[derive(Subcommand, Debug)]
pub enum HistoryCommand {
    /// Say whether a history can carry a verdict: rules V1 to V11.
    Validate {
        /// The history; - reads standard input.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The model it will be checked against (rule V9).
        #[arg(long, short, value_name = "MODEL", value_parser = model)]
        model: Option<ModelKind>,
        /// The claim is about replication, leadership or membership: node_seen must be there (rule
        /// V8).
        #[arg(long)]
        nodes: bool,
        #[command(flatten)]
        input: InputArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Write a history in another format.
    Convert {
        /// The history; - reads standard input.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The format to write.
        #[arg(long, value_enum)]
        to: TargetFormat,
        /// Where to write; standard output if not given. Written whole or not at all, compressed if
        /// the name ends with .zst or .gz.
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        input: InputArgs,
    },
    /// Count operations, outcomes, keys, clients and overlap.
    Stats {
        /// The history; - reads standard input.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        input: InputArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// `assay kv ...`.
#[derive(Subcommand, Debug)]
pub enum KvCommand {
    Node(KvNodeArgs),
}

/// Run one node of the store until it gets SIGTERM.
///
/// A cluster is three or five such processes. Each is told its own address for every peer, so a
/// proxy can sit on every link. Prints `ready node=ID address=ADDR` once it serves; the HTTP API,
/// the files and the defects are described in docs/systems/kv.md.
///
/// Example, one of three:
///   assay kv node --id 1 --listen 127.0.0.1:7001 --data data/1 \
///     --peer 2=127.0.0.1:7002 --peer 3=127.0.0.1:7003
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct KvNodeArgs {
    /// The node's number; the lowest of the cluster forms it at its first start.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub id: u64,
    /// Where to listen.
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub listen: String,
    /// Where others can reach it, for /status only; --listen if not given.
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub advertise: Option<String>,
    /// The data directory; made if it is not there.
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// A member and where this node reaches it; its own id may be among them.
    #[arg(long = "peer", value_name = "ID=ADDR", value_parser = peer)]
    pub peers: Vec<(u64, String)>,
    /// Something to do wrong; may be given more than once.
    #[arg(long = "defect", value_name = "NAME", value_parser = defect)]
    pub defects: Vec<Defect>,
    /// Log entries between snapshots.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(10..=1_000_000))]
    pub snapshot_every: Option<u64>,
}

/// Formats that can be written.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum TargetFormat {
    /// Assay's JSON lines, invocations and completions apart.
    Jsonl,
    /// Assay's JSON lines, one per operation.
    JsonlRows,
    /// Jepsen operations in EDN.
    JepsenEdn,
    /// Jepsen operations in JSON.
    JepsenJson,
    /// Lines as in Porcupine's etcd logs; for one object without a key.
    PorcupineLog,
}

/// Turn the record of a test run into documents, with every verdict computed again.
///
/// Reads a run record (JSON, see docs/formats/run-record.md), computes each verdict from the
/// recorded facts, and renders findings/report.md, session-log.md and one file per scenario. It
/// refuses, one line for each reason, as long as something is missing or not what the facts say.
///
/// Without --out, the report goes to standard output. The exit code is that of the run: 0 DONE,
/// 1 FAIL, 2 DONE_WITH_CONCERNS or INCONCLUSIVE, 3 BLOCKED; 65 if it cannot be reported.
///
/// Examples:
///   assay report run.json --out test-sessions/orders/2026-11-16
///   assay report run.json --format json
///   assay report test-sessions/orders/TIME/results.json --html page.html --junit run.xml
///   assay report --schema > run-record.schema.json
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct ReportArgs {
    /// The run record; - reads standard input.
    #[arg(value_name = "RUN.json", required_unless_present = "schema")]
    pub file: Option<PathBuf>,
    /// The directory to write the documents to; made if it is not there.
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write the page for a browser, with the timelines of the trials that lie beside the record.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print the JSON Schema of run records and stop.
    #[arg(long, conflicts_with_all = ["file", "out", "html"])]
    pub schema: bool,
    #[command(flatten)]
    pub exports: ExportArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Explain a rule, a verdict, an exit code or the models.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// What to explain: V1 to V11, P001 and so on, models, a model's name, upheld, refuted,
    /// undecided, 65, PASS-hardening, DONE, ...; without it, everything there is a page for.
    pub code: Option<String>,
    /// Which one: after technique, fault or pitfall.
    pub name: Option<String>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Undo what a killed run has left behind: faults that are still on, processes that still run.
///
/// Looks for journals of faults (nemesis.jsonl) and of processes (processes.jsonl) in each DIR and
/// below. Resumes processes that were stopped, restores files that were damaged, removes junk that
/// fills disks, ends the nodes that have outlived their run, and says so line by line. Processes
/// are told apart by their start: another that has the same number by now is left alone, and so is
/// what belongs to a run that is still going on.
///
/// Exit codes: 0 all is well now, 65 a journal has lines that cannot be read, 69 something could
/// not be undone, 75 a run is still going on.
///
/// Examples:
///   assay heal
///   assay heal test-sessions/orders/2026-11-16 --format json
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct HealArgs {
    /// Run directories, or directories of them.
    #[arg(value_name = "DIR", default_value = ".")]
    pub directories: Vec<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Prints a problem with the command line; help and version are no problem.
pub fn usage_error(error: &clap::Error) -> Exit {
    // Nothing can be done if even this cannot be printed.
    let _unprintable = error.print();
    if error.use_stderr() { Exit::Usage } else { Exit::Upheld }
}

fn model(name: &str) -> Result<ModelKind, String> {
    ModelKind::named(name).ok_or_else(|| {
        let names: Vec<&str> =
            assay_check::MODELS.iter().flat_map(|info| info.names.iter().copied()).collect();
        format!("there is no such model; there are {}", names.join(", "))
    })
}

fn subject(name: &str) -> Result<Subject, String> {
    if let Some(style) = Style::ALL.into_iter().find(|style| style.name() == name) {
        return Ok(Subject::Transactions(style));
    }
    let model = ModelKind::named(name).map(Subject::Object);
    model.ok_or_else(|| {
        let objects = assay_check::MODELS.iter().flat_map(|info| info.names.iter().copied());
        let names: Vec<&str> = objects.chain(Style::ALL.map(Style::name)).collect();
        format!("there is no such model; there are {}", names.join(", "))
    })
}

fn oracle(name: &str) -> Result<&'static str, String> {
    assay_oracle::named(name).map(|oracle| oracle.info().name).ok_or_else(|| {
        let names: Vec<&str> = assay_oracle::ORACLES.iter().map(|o| o.info().name).collect();
        format!("there is no such checker; there are {}", names.join(", "))
    })
}

fn category(name: &str) -> Result<Category, String> {
    Category::named(name).ok_or_else(|| {
        let names: Vec<&str> = Category::ALL.iter().map(|(_, name)| *name).collect();
        format!("there is no such category; there are {}", names.join(", "))
    })
}

fn defect(name: &str) -> Result<Defect, String> {
    Defect::named(name).ok_or_else(|| {
        let names: Vec<&str> = Defect::ALL.iter().map(|&(_, name)| name).collect();
        format!("there is no such defect; there are {}", names.join(", "))
    })
}

fn address(text: &str) -> Result<String, String> {
    let port = text.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port);
    match port.map(str::parse::<u16>) {
        Some(Ok(_)) => Ok(text.to_string()),
        _ => Err("expected HOST:PORT, such as 127.0.0.1:7001".to_string()),
    }
}

fn peer(text: &str) -> Result<(u64, String), String> {
    let parsed = text.split_once('=').and_then(|(id, rest)| Some((id.parse().ok()?, rest)));
    match parsed {
        Some((id, rest)) if id > 0 => Ok((id, address(rest)?)),
        _ => Err("expected ID=HOST:PORT, such as 2=127.0.0.1:7002".to_string()),
    }
}

fn isolation_model(name: &str) -> Result<Model, String> {
    Model::named(name).ok_or_else(|| {
        let names: Vec<&str> = Model::all().map(Model::name).collect();
        format!("there is no such isolation model; there are {}", names.join(", "))
    })
}

fn format(name: &str) -> Result<Format, String> {
    let found = Format::ALL.iter().find(|(_, known)| *known == name);
    found.map(|&(format, _)| format).ok_or_else(|| {
        let names: Vec<&str> = Format::ALL.iter().map(|&(_, name)| name).collect();
        format!("there is no such format; there are {}", names.join(", "))
    })
}

fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let number: f64 = text[..split].parse().ok()?;
    Some((number, text[split..].trim()))
}

/// At least one: a refutation without a certificate cannot be re-checked by anybody.
fn witnesses(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|&count| count > 0);
    count.ok_or_else(|| "expected a number of witnesses, at least 1".to_string())
}

fn duration(text: &str) -> Result<Duration, String> {
    let seconds = match number_and_unit(text) {
        Some((n, "ms")) => n / 1e3,
        Some((n, "s")) => n,
        Some((n, "m" | "min")) => n * 60.0,
        Some((n, "h")) => n * 3600.0,
        _ => return Err("expected a time with its unit, such as 500ms, 30s or 5m".to_string()),
    };
    const DAYS_MAX: f64 = 30.0;
    if seconds > 0.0 && seconds <= DAYS_MAX * 86_400.0 {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("the budget must be more than nothing and at most 30 days".to_string())
    }
}

fn size(text: &str) -> Result<usize, String> {
    let bytes = match number_and_unit(text) {
        Some((n, "KiB")) => n * 1024.0,
        Some((n, "MiB" | "M")) => n * 1024.0 * 1024.0,
        Some((n, "GiB" | "G")) => n * 1024.0 * 1024.0 * 1024.0,
        Some((n, "kB")) => n * 1e3,
        Some((n, "MB")) => n * 1e6,
        Some((n, "GB")) => n * 1e9,
        _ => return Err("expected a size with its unit, such as 512MiB or 2GiB".to_string()),
    };
    const BYTES_MIN: f64 = 1024.0 * 1024.0;
    if (BYTES_MIN..1e15).contains(&bytes) {
        Ok(bytes as usize)
    } else {
        Err("the memory budget must be at least 1MiB".to_string())
    }
}

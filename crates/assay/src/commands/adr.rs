//! `assay adr`: decision records on disk.

use super::{Trouble, guard, write_whole};
use crate::args::{
    AdrCommand, AdrGraphArgs, AdrLintArgs, AdrLintFormat, AdrNewArgs, AdrPicture, KindArg,
    OutputFormat, PlaceArgs,
};
use crate::exit::Exit;
use assay_adr::template::{self, Draft};
use assay_adr::{
    Config, Files, Graph, Id, Input, Kind, Outcome, RECORD_BYTES_MAX, RECORDS_MAX, Records, World,
    lint, report,
};
use assay_guard::repository::{self, Request};
use serde_json::json;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The largest file that a record may cite.
const CITED_BYTES_MAX: u64 = 4 << 20;

/// Runs a command about records.
pub fn run(command: &AdrCommand) -> Exit {
    let done = match command {
        AdrCommand::New(args) => new(args),
        AdrCommand::Lint(args) => check(args),
        AdrCommand::Graph(args) => graph(args),
        AdrCommand::Rules { output } => {
            rules(output.format);
            Ok(Exit::Upheld)
        }
    };
    done.unwrap_or_else(Trouble::report)
}

/// A repository with records.
struct Place {
    root: PathBuf,
    config: Config,
    files: Files,
    unreadable: Vec<(String, String)>,
}

impl World for Place {
    fn exists(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    fn text(&self, path: &str) -> Option<String> {
        let path = self.root.join(path);
        let meta = fs::metadata(&path).ok()?;
        let readable = meta.is_file() && meta.len() <= CITED_BYTES_MAX;
        readable.then(|| fs::read_to_string(&path).ok()).flatten()
    }
}

impl Place {
    fn open(args: &PlaceArgs) -> Result<Place, Trouble> {
        let root = match &args.root {
            Some(root) if root.is_dir() => root.clone(),
            Some(root) => {
                let message = format!("{}: is no directory; --root names one", root.display());
                return Err(Trouble { message, exit: Exit::Usage });
            }
            None => root_around(Path::new(".")),
        };
        let config = config(&root, args.config.as_deref())?;
        let mut place = Place { root, config, files: Files::new(), unreadable: Vec::new() };
        for kind in Kind::ALL {
            place.read(&place.config.home(kind))?;
        }
        Ok(place)
    }

    /// Reads the Markdown files right in a directory; there need not be one.
    fn read(&mut self, directory: &str) -> Result<(), Trouble> {
        let path = self.root.join(directory);
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Trouble::unavailable(&path, "read", &error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| Trouble::unavailable(&path, "read", &error))?;
            let name = entry.file_name().to_string_lossy().to_string();
            if !name.ends_with(".md") || entry.path().is_dir() {
                continue;
            }
            if self.files.len() >= RECORDS_MAX {
                let message =
                    format!("{}: more than {RECORDS_MAX} files; move some away", path.display());
                return Err(Trouble::bad_history(message));
            }
            let own = format!("{directory}/{name}");
            match readable(&entry.path()) {
                Ok(text) => drop(self.files.insert(own, text)),
                Err(why) => self.unreadable.push((own, why)),
            }
        }
        Ok(())
    }
}

fn readable(path: &Path) -> Result<String, String> {
    let size = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if size > RECORD_BYTES_MAX as u64 {
        return Err(format!("it has {size} bytes, at most {RECORD_BYTES_MAX} are read"));
    }
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_string())
}

/// The next directory upwards that looks like the root of a repository, or where we are.
fn root_around(here: &Path) -> PathBuf {
    let absolute = fs::canonicalize(here).unwrap_or_else(|_| here.to_path_buf());
    let root = absolute
        .ancestors()
        .find(|above| above.join(".git").exists() || above.join("assay.toml").is_file());
    root.unwrap_or(here).to_path_buf()
}

fn config(root: &Path, given: Option<&Path>) -> Result<Config, Trouble> {
    let path = given.map_or_else(|| root.join("assay.toml"), Path::to_path_buf);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if given.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Config::default());
        }
        Err(error) => return Err(Trouble::unavailable(&path, "read", &error)),
    };
    let bad = |error| Trouble::bad_history(format!("{}: {error}", path.display()));
    Config::parse(&text).map_err(bad)
}

fn check(args: &AdrLintArgs) -> Result<Exit, Trouble> {
    let place = Place::open(&args.place)?;
    let wanted = wanted(&place.root, &args.paths)?;
    let before = args.base.as_deref().map(|base| before(&place.root, base)).transpose()?;
    let input = Input {
        files: &place.files,
        world: &place,
        before: before.as_ref(),
        unreadable: &place.unreadable,
    };
    let below = |path: &str| {
        let inside = |own: &String| {
            own.is_empty() || path == own || path.strip_prefix(own.as_str()).is_some_and(slash)
        };
        wanted.is_empty() || wanted.iter().any(inside)
    };
    let report = lint(&input, &place.config).only(below);
    match args.format {
        AdrLintFormat::Text => anstream::print!("{}", report::text(&report)),
        AdrLintFormat::Json => anstream::println!("{}", report::json(&report)),
        AdrLintFormat::Sarif => anstream::println!("{}", report::sarif(&report)),
        AdrLintFormat::Github => anstream::print!("{}", report::github(&report)),
    }
    Ok(match report.outcome() {
        Outcome::Clean => Exit::Upheld,
        Outcome::Warned => Exit::Undecided,
        Outcome::Broken => Exit::Refuted,
        Outcome::Nothing => Exit::NothingChecked,
    })
}

fn slash(rest: &str) -> bool {
    rest.starts_with('/')
}

/// Paths that were typed, as seen from the root.
fn wanted(root: &Path, paths: &[PathBuf]) -> Result<Vec<String>, Trouble> {
    let found = |path: &Path| {
        fs::canonicalize(path).map_err(|error| Trouble::unavailable(path, "find", &error))
    };
    let root = found(root)?;
    let mut wanted = Vec::new();
    for path in paths {
        let whole = found(path)?;
        let Ok(below) = whole.strip_prefix(&root) else {
            let message = format!("{}: is not below {}", path.display(), root.display());
            return Err(Trouble { message, exit: Exit::Usage });
        };
        let parts: Vec<String> =
            below.iter().map(|part| part.to_string_lossy().to_string()).collect();
        wanted.push(parts.join("/"));
    }
    Ok(wanted)
}

/// The files that differ from a revision, as they were.
fn before(root: &Path, base: &str) -> Result<Files, Trouble> {
    let request = Request {
        base: Some(base.to_string()),
        head: Some("worktree".to_string()),
        paths: Vec::new(),
    };
    let pair = repository::read(root, &request, &assay_guard::Config::default())
        .map_err(|error| guard::trouble(&error))?;
    let text = |(path, bytes)| Some((path, String::from_utf8(bytes).ok()?));
    Ok(pair.before.into_iter().filter_map(text).collect())
}

fn kind(kind: KindArg) -> Kind {
    match kind {
        KindArg::Adr => Kind::Adr,
        KindArg::Gap => Kind::Gap,
        KindArg::Deviation => Kind::Deviation,
        KindArg::Supplement => Kind::Supplement,
    }
}

fn typed(text: Option<&str>, kind: Kind) -> Result<Option<Id>, Trouble> {
    let id = |text: &str| {
        Id::typed(text, kind).ok_or_else(|| Trouble {
            message: format!("\"{text}\" is no id of a record; write it as in ADR-0003"),
            exit: Exit::Usage,
        })
    };
    text.map(id).transpose()
}

fn new(args: &AdrNewArgs) -> Result<Exit, Trouble> {
    let place = Place::open(&args.place)?;
    let kind = kind(args.kind);
    let day = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let draft = Draft {
        kind,
        title: &args.title,
        day: &day,
        owner: &args.owner,
        parent: typed(args.parent.as_deref(), Kind::Adr)?,
        supersedes: typed(args.supersedes.as_deref(), kind)?,
    };
    let usage =
        |error: template::NewError| Trouble { message: error.to_string(), exit: Exit::Usage };
    let new = template::new(&place.files, &place.config, &draft).map_err(usage)?;
    let path = place.root.join(&new.record.path);
    create(&path, &new.record.text)?;
    for change in &new.others {
        write_whole(&place.root.join(&change.path), |file| file.write_all(change.text.as_bytes()))?;
    }
    match args.output.format {
        OutputFormat::Human => {
            anstream::println!("{}: written", new.record.path);
            for change in &new.others {
                anstream::println!("{}: changed", change.path);
            }
            anstream::println!("next: write it; `assay adr lint` names what is still missing");
        }
        OutputFormat::Json => {
            let changed: Vec<&str> = new.others.iter().map(|c| c.path.as_str()).collect();
            anstream::println!("{}", json!({"record": new.record.path, "changed": changed}));
        }
    }
    Ok(Exit::Upheld)
}

/// Writes a file that is not there yet; two at once cannot both succeed.
fn create(path: &Path, text: &str) -> Result<(), Trouble> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)
            .map_err(|error| Trouble::unavailable(parent, "create", &error))?;
    }
    let file = fs::OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = file.map_err(|error| Trouble::unavailable(path, "create", &error))?;
    file.write_all(text.as_bytes()).map_err(|error| Trouble::unavailable(path, "write", &error))
}

fn graph(args: &AdrGraphArgs) -> Result<Exit, Trouble> {
    let place = Place::open(&args.place)?;
    for (path, why) in &place.unreadable {
        anstream::eprintln!("warning: {path}: cannot be read: {why}");
    }
    let graph = Graph::of(&Records::read(&place.files, &place.config), &place.config);
    match args.format {
        AdrPicture::Text => anstream::print!("{}", graph.text()),
        AdrPicture::Dot => anstream::print!("{}", graph.dot()),
        AdrPicture::Json => anstream::println!("{}", graph.json()),
        AdrPicture::Svg => anstream::print!("{}", graph.svg()),
    }
    if graph.nodes.is_empty() {
        anstream::eprintln!("there is no record in {}", place.config.directory);
        return Ok(Exit::NothingChecked);
    }
    Ok(Exit::Upheld)
}

fn rules(format: OutputFormat) {
    let all = assay_adr::rules::RULES;
    match format {
        OutputFormat::Json => anstream::println!("{}", json!({"rules": all})),
        OutputFormat::Human => {
            for rule in all {
                anstream::println!("{}  {}\n     {}", rule.id, rule.title, rule.why);
            }
        }
    }
}

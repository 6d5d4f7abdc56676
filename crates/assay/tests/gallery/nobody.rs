//! The gallery for somebody without rights: what runs, runs; what does not says what to do.

use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Runs a command of Assay as nobody, who cannot get rights by a program that has them; `None` for
/// those who cannot become nobody.
fn as_nobody(place: &Path, cache: Option<&Path>, words: &[&str]) -> Option<Value> {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: becoming somebody without rights takes root");
        return None;
    }
    let everybody = PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(place, everybody).expect("own directory");
    // Where the program lies, others may not be allowed to look.
    let program = place.join("assay");
    std::fs::copy(env!("CARGO_BIN_EXE_assay"), &program).expect("copied");
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"]);
    command.arg(&program).args(words).current_dir(place);
    command.env("HOME", place).env_remove("ASSAY_CACHE").env_remove("XDG_CACHE_HOME");
    let output = command.envs(cache.map(|cache| ("ASSAY_CACHE", cache))).output();
    let output = output.expect("setpriv runs");
    let text = String::from_utf8_lossy(&output.stdout);
    Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {output:?}")))
}

#[test]
fn a_quick_pair_ends_as_published_without_any_rights() {
    let place = tempfile::tempdir().expect("a directory");
    let words = ["gallery", "run", "postgres-write-skew", "--tier", "smoke", "--format", "json"];
    let Some(shown) = as_nobody(place.path(), None, &words) else { return };
    let twins = shown["twins"].as_array().expect("twins");
    assert_eq!(twins.len(), 2, "{shown}");
    for twin in twins {
        assert_eq!(twin["as_expected"], true, "{twin}");
        assert_eq!(twin["faults_landed"], twin["faults_planned"], "{twin}");
        assert!(twin["faults_planned"].as_u64() > Some(0), "{twin}");
    }
}

#[test]
fn a_power_loss_is_not_to_be_had_without_rights_and_that_says_what_to_do() {
    let place = tempfile::tempdir().expect("a directory");
    // Programs that are never started: it is over before.
    let cache = place.path().join("cache");
    let bin = cache.join("systems/nats/2.12.1/bin");
    std::fs::create_dir_all(&bin).expect("made");
    let server = bin.join("nats-server");
    std::fs::write(&server, "#!/bin/sh\nexit 1\n").expect("written");
    std::fs::set_permissions(&server, PermissionsExt::from_mode(0o755)).expect("own file");
    let words = ["gallery", "run", "nats-power-loss", "--tier", "smoke", "--format", "json"];
    let Some(shown) = as_nobody(place.path(), Some(&cache), &words) else { return };
    let twins = shown["twins"].as_array().expect("twins");
    assert_eq!(twins.len(), 2, "{shown}");
    for twin in twins {
        assert_eq!(twin["verdict"], "INCONCLUSIVE-env", "{twin}");
        assert_eq!(twin["as_expected"], false, "{twin}");
        let said = twin.to_string();
        assert!(said.contains("root") && said.contains("fuse"), "it says what to do: {twin}");
    }
}

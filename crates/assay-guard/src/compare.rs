//! All kinds of files together.

use crate::config::Config;
use crate::finding::Finding;
use crate::rules::Level;
use crate::tree::Tree;
use crate::{checks, code, prose, tla};

/// The stack of the thread that compares: parsers recurse as deep as programs are nested.
const STACK_BYTES: usize = 256 << 20;

/// What differs in strength between two sets of files, the weaker first.
pub fn compare(before: &Tree, after: &Tree, config: &Config) -> Vec<Finding> {
    std::thread::scope(|scope| {
        let work = std::thread::Builder::new().stack_size(STACK_BYTES);
        match work.spawn_scoped(scope, || all(before, after, config)) {
            Ok(thread) => match thread.join() {
                Ok(findings) => findings,
                Err(panic) => std::panic::resume_unwind(panic),
            },
            // Without a thread of its own it is done here; only very deep files need the stack.
            Err(_) => all(before, after, config),
        }
    })
}

fn all(before: &Tree, after: &Tree, config: &Config) -> Vec<Finding> {
    let mut findings = tla::compare(before, after, config);
    findings.extend(tla::records::compare(before, after));
    findings.extend(code::compare(before, after, config));
    findings.extend(prose::compare(before, after, config));
    findings.extend(checks::compare(before, after, config));
    findings.retain(|finding| level(finding, config) != Level::Off);
    findings.sort_by(|a, b| {
        let key = |f: &Finding| (f.verdict, f.place().cloned(), f.rule, f.object.clone());
        key(a).cmp(&key(b))
    });
    findings.dedup();
    findings
}

/// How seriously a finding is taken. Nobody switches off that something was switched off.
pub fn level(finding: &Finding, config: &Config) -> Level {
    let own = finding.place().is_some_and(|place| checks::own_configuration(&place.file));
    if own { Level::Error } else { config.level(finding.rule) }
}

/// Whether any rule looks at a file of this path.
pub fn looked_at(path: &str, config: &Config) -> bool {
    let name = crate::tree::file_name(path);
    code::is_program(path)
        || matches!(crate::tree::extension(path).as_str(), "tla" | "cfg" | "snap")
        || tla::records::is_record(path)
        || prose::is_document(path, config)
        || checks::is_configuration(path)
        || name.ends_with(".proptest-regressions")
        || name.contains("seeds")
}

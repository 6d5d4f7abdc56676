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
    on_a_large_stack(|| all(before, after, config))
}

/// Does something in a thread whose stack is large enough for parsers.
pub(crate) fn on_a_large_stack<T: Send>(work: impl Fn() -> T + Sync) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        match thread.spawn_scoped(scope, &work) {
            Ok(thread) => match thread.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            },
            // Without a thread of its own it is done here; only very deep files need the stack.
            Err(_) => work(),
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

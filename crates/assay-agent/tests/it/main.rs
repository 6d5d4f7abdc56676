//! Agents as real processes: what they may do, how they end, and that nothing of them stays.
//!
//! The program starts itself again as keeper and as agents of all kinds, so it has no test harness:
//! a harness would list those roles as tests that pass without testing anything.

mod acp_agent;
mod ends;
mod engines;
mod family;
mod roles;
mod sandbox;
mod scripts;
mod support;

use std::process::ExitCode;

/// A name, and what must not panic.
type Test = (&'static str, fn());

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    if let Some(code) = roles::play(&args) {
        return ExitCode::from(code);
    }
    let filter = args.get(1).filter(|arg| !arg.starts_with('-'));
    let groups = [scripts::TESTS, ends::TESTS, family::TESTS, sandbox::TESTS, engines::TESTS];
    let wanted = |name: &str| filter.is_none_or(|filter| name.contains(filter.as_str()));
    let mut failed = 0;
    for (name, test) in groups.concat().into_iter().filter(|(name, _)| wanted(name)) {
        let ok = std::panic::catch_unwind(test).is_ok();
        println!("test {name} ... {}", if ok { "ok" } else { "FAILED" });
        failed += u32::from(!ok);
    }
    ExitCode::from(u8::from(failed > 0))
}

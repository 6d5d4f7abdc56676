//! x
mod support;

use assay_check::{Budget, CheckOptions, ModelKind, check};
use std::time::Instant;
use support::{Load, register_history};

fn run(name: &str, load: Load) {
    let history = register_history(load);
    let mut best = f64::MAX;
    let mut last = None;
    for _ in 0..1 {
        let budget = Budget::new(2 << 30, 5_000_000);
        let options =
            CheckOptions { budget: Some(&budget), ..CheckOptions::new(ModelKind::Register) };
        let t = Instant::now();
        let report = check(&history, &options).unwrap();
        best = best.min(t.elapsed().as_secs_f64());
        last = Some(report);
    }
    let r = last.unwrap();
    println!(
        "{name:40} {:?} {:9.3} ms  special {} search {} configs {} peak {} KB",
        r.answer,
        best * 1e3,
        r.parts_special,
        r.parts_search,
        r.configurations,
        r.memory_bytes_peak / 1024
    );
}

fn main() {
    for clients in [20] {
        for ops in [10_000, 100_000, 1_000_000] {
            run(&format!("unique {ops} ops {clients} clients"), Load::register(ops, clients));
        }
    }
    run("1M ops 1000 keys", Load { keys: 1000, ..Load::register(1_000_000, 10) });
    for clients in [10, 20, 50] {
        for values in [3, 5, 50] {
            run(
                &format!("rw 10k {clients} clients {values} values"),
                Load { values, ..Load::register(10_000, clients) },
            );
            run(
                &format!("cas 10k {clients} clients {values} values"),
                Load { values, cas_percent: 30, ..Load::register(10_000, clients) },
            );
            run(
                &format!("cas+crash 10k {clients} clients {values} values"),
                Load {
                    values,
                    cas_percent: 30,
                    unknown_per_mille: 5,
                    ..Load::register(10_000, clients)
                },
            );
        }
    }
    run("unique+crash 10k 20", Load { unknown_per_mille: 20, ..Load::register(10_000, 20) });
}

//! Writes pages of made-up runs, to be looked at: `cargo run -p assay-report --example run_page`.
//!
//! The first argument is the directory, `target/tmp` unless given; the second the number of
//! operations in each trial.

#[path = "../tests/views/mod.rs"]
mod views;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let directory = args.next().unwrap_or_else(|| "target/tmp".into());
    let ops = args.next().map_or(Ok(20_000), |ops| ops.parse())?;
    std::fs::create_dir_all(&directory)?;
    for (name, view) in [("everything", views::everything(ops)), ("one", views::one_trial(ops))] {
        let path = format!("{directory}/{name}.html");
        std::fs::write(&path, assay_report::run::page(&view)?)?;
        println!("{path}");
    }
    Ok(())
}

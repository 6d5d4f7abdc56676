//! Writes sample pictures and a sample report, to be looked at in a browser.
//!
//! `cargo run -p assay-report --example gallery -- DIRECTORY`

#[path = "../tests/samples/mod.rs"]
mod samples;

use std::fs;
use std::path::PathBuf;

use assay_report::{Glyphs, html, svg, text};

fn main() -> std::io::Result<()> {
    let Some(directory) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: gallery DIRECTORY");
        std::process::exit(64);
    };
    fs::create_dir_all(&directory)?;
    for (name, timeline) in samples::all() {
        fs::write(directory.join(name).with_extension("svg"), svg(&timeline))?;
        println!("{}", text(&timeline, 100, Glyphs::Unicode));
    }
    fs::write(directory.join("report.html"), html(&samples::page()))?;
    eprintln!("wrote {}", directory.display());
    Ok(())
}

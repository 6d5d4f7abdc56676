//! How long the page of a run takes to make, and how large it gets: `make bench`. The whole way,
//! from the files of a run to that of its page, is the benchmark `report` of the runner.
//!
//! Where a browser is installed, also how long the largest page takes to open and to draw. The
//! browser has no graphics card here, so a person's is faster.

#[path = "../tests/views/mod.rs"]
mod views;
#[path = "../tests/webdriver/mod.rs"]
mod webdriver;

use assay_report::run::page;
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];

fn main() {
    println!("\npage of a run, one trial");
    println!(
        "{:>10} {:>10} {:>10} {:>12} {:>9}",
        "operations", "table", "page", "bytes", "bytes/op"
    );
    let mut largest = String::new();
    for ops in SIZES {
        let (view, filled) = timed(|| views::one_trial(ops));
        let (html, written) = timed(|| page(&view).expect("the example can be reported"));
        println!(
            "{ops:>10} {:>8.0}ms {:>8.0}ms {:>12} {:>9.1}",
            filled.as_secs_f64() * 1e3,
            written.as_secs_f64() * 1e3,
            html.len(),
            html.len() as f64 / ops as f64
        );
        largest = html;
    }
    let there = |name| Command::new(name).arg("--version").output().is_ok();
    if there("chromedriver") && there("chromium") {
        browse(&largest);
    } else {
        println!("no browser here, so nobody opened it (make deps)");
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let done = work();
    (done, start.elapsed())
}

/// Opens the page, reads its operations, and moves through them.
fn browse(html: &str) {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = directory.join("bench.html");
    std::fs::write(&file, html).expect("the page can be written");
    let browser = webdriver::Browser::start(&directory.join("bench-profile"), 1300, 900);
    let (_, opened) = timed(|| {
        browser.open(&file);
        browser.wait_for("document.documentElement.dataset.script === 'ready'");
    });
    let find = "document.querySelector('[data-viewer=S2]')";
    let (_, ready) = timed(|| {
        browser.run(&format!("{find}.scrollIntoView()"), json!([]));
        browser.wait_for(&format!("{find}.dataset.state === 'ready'"));
    });
    let frame = |what: &str, act: &str| {
        let script = format!(
            "const root = {find}; {act}; const times = []; \
             for (let i = 0; i < 9; i++) {{ draw(viewers.get('S2')); \
             times.push(Number(root.dataset.drawMs)); }} \
             return times.sort((a, b) => a - b)[4]"
        );
        let ms = browser.run(&script, json!([])).as_f64().unwrap_or(f64::NAN);
        println!("  a frame, {what:<24} {ms:>8.1}ms");
    };
    println!("in a browser, {} operations", SIZES[SIZES.len() - 1]);
    println!("  to the answer            {:>16.0}ms", opened.as_secs_f64() * 1e3);
    println!("  to the timeline          {:>16.0}ms", ready.as_secs_f64() * 1e3);
    frame("all of them", "");
    frame("an eighth of them", "zoom(viewers.get('S2'), 1 / 8)");
    frame("one in a thousand", "zoom(viewers.get('S2'), 1 / 125)");
    let filter = "const v = viewers.get('S2'), t = performance.now(); \
                  v.form.key.value = 'order-7'; \
                  v.form.text.value = 'n4'; refilter(v); return performance.now() - t";
    let ms = browser.run(filter, json!([])).as_f64().unwrap_or(f64::NAN);
    println!("  a filter by key and text {ms:>16.0}ms");
}

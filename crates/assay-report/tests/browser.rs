//! The page of a run in a real browser: what a person sees and does, with no network at all.
//!
//! Screenshots are kept in the directory Cargo gives to tests; their paths are printed.

mod views;
mod webdriver;

use assay_report::run::{RunView, page};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use webdriver::Browser;

const VIEWER: &str = "[data-viewer=S2]";
const READY: &str = "document.querySelector('[data-viewer=S2]').dataset.state === 'ready'";

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Opens the page of a view in a browser of its own.
fn opened(name: &str, view: &RunView, width: u32) -> Browser {
    let html = page(view).unwrap_or_else(|refusals| panic!("{:#?}", refusals.0));
    let file = place(&format!("{name}.html"));
    std::fs::write(&file, html).expect("the page can be written");
    let browser = Browser::start(&place(&format!("{name}-profile")), width, 900);
    browser.open(&file);
    browser.wait_for("document.documentElement.dataset.script === 'ready'");
    browser
}

/// A number the timeline tells about itself.
fn said(browser: &Browser, name: &str) -> f64 {
    let script = "return Number(document.querySelector(arguments[0]).dataset[arguments[1]])";
    browser.run(script, json!([VIEWER, name])).as_f64().expect("a number")
}

/// Puts a value into a field of the filter, as a person would.
fn filter(browser: &Browser, field: &str, value: Value) {
    let script = "const field = document.querySelector(arguments[0] + ' form')[arguments[1]]; \
                  if (field.type === 'checkbox') field.checked = arguments[2]; \
                  else field.value = arguments[2]; \
                  field.dispatchEvent(new Event('input', { bubbles: true }))";
    browser.run(script, json!([VIEWER, field, value]));
}

fn scroll_to_timeline(browser: &Browser) {
    let script = "document.querySelector(arguments[0]).scrollIntoView()";
    browser.run(script, json!([VIEWER]));
    browser.wait_for(READY);
}

#[test]
fn a_reader_finds_the_anomaly_among_all_operations() {
    let browser = opened("reader", &views::everything(20_000), 1300);
    browser.screenshot(&place("page-top.png"));
    let text = browser.run("return document.body.innerText", json!([]));
    let text = text.as_str().expect("a text");
    for wanted in ["C2 is broken by S2 (F1).", "Process 7 took order 8812 again"] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let picture = "const i = document.querySelector('.picture img'); return i.naturalWidth";
    assert!(browser.run(picture, json!([])).as_f64() > Some(100.0), "the witness has a picture");
    // From the finding to its operations.
    browser.click("[data-jump=S2]");
    browser.wait_for(READY);
    browser.wait_for("document.querySelector('[data-viewer=S2]').dataset.selectedOp >= 0");
    let detail = "return document.querySelector(arguments[0] + ' .detail').innerText";
    let detail = browser.run(detail, json!([VIEWER])).to_string();
    assert!(detail.contains("order 8812 was delivered twice"), "{detail}");
    assert!(said(&browser, "visibleOps") < 2_000.0, "it is close");
    assert!(said(&browser, "visibleOps") >= 1.0, "and on screen");
    browser.screenshot(&place("page-anomaly.png"));
    // The other one, by the keyboard alone.
    let first = said(&browser, "selectedOp");
    browser.keys("n");
    browser.wait_for(&format!("document.querySelector('{VIEWER}').dataset.selectedOp != {first}"));
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn zooming_and_filtering_show_what_they_say() {
    let browser = opened("zoom", &views::one_trial(20_000), 1300);
    scroll_to_timeline(&browser);
    assert_eq!((said(&browser, "ops"), said(&browser, "visibleOps")), (20_000.0, 20_000.0));
    browser.screenshot(&place("page-timeline.png"));
    let span = |browser: &Browser| said(browser, "toNs") - said(browser, "fromNs");
    let whole = span(&browser);
    let narrower = |than: f64| {
        format!("(d => d.toNs - d.fromNs < {than})(document.querySelector('{VIEWER}').dataset)")
    };
    browser.click(&format!("{VIEWER} [data-do=in]"));
    browser.wait_for(&narrower(whole * 0.6));
    browser
        .run("document.querySelector(arguments[0]).focus()", json!([format!("{VIEWER} .lanes")]));
    browser.keys("+");
    browser.wait_for(&narrower(whole * 0.3));
    browser.wheel(&format!("{VIEWER} .lanes"), -400);
    browser.wait_for(&narrower(whole * 0.15));
    assert!(said(&browser, "visibleOps") < 5_000.0);
    browser.keys("0");
    browser.wait_for(&format!("document.querySelector('{VIEWER}').dataset.visibleOps == 20000"));
    filters(&browser);
    assert_eq!(browser.errors(), Vec::<String>::new());
}

/// Compares what each filter leaves with a count made from the table itself.
fn filters(browser: &Browser) {
    let matching = |count: usize| {
        browser.wait_for(&format!(
            "document.querySelector('{VIEWER}').dataset.matchingOps == {count}"
        ));
    };
    let ops = views::one_trial(20_000).trials.remove(0).ops;
    let unknown = ops.count(assay_report::Outcome::Unknown);
    assert!(unknown > 100, "some are unknown");
    filter(browser, "ok", json!(false));
    filter(browser, "fail", json!(false));
    matching(unknown);
    filter(browser, "key", json!("order-7"));
    let script = "return Number(document.querySelector(arguments[0]).dataset.matchingOps)";
    browser
        .wait_for(&format!("document.querySelector('{VIEWER}').dataset.matchingOps < {unknown}"));
    let of_key = browser.run(script, json!([VIEWER])).as_f64().expect("a number");
    assert!(of_key >= 1.0 && of_key < unknown as f64 / 10.0, "{of_key} of {unknown}");
    browser.screenshot(&place("page-filtered.png"));
    filter(browser, "key", json!("no such key"));
    matching(0);
    let status = "return document.querySelector(arguments[0] + ' [data-status]').textContent";
    let status = browser.run(status, json!([VIEWER])).to_string();
    assert!(status.contains("None of 20,000 operations"), "{status}");
    browser.click(&format!("{VIEWER} form [type=reset]"));
    matching(20_000);
    filter(browser, "kind", json!("enqueue"));
    filter(browser, "process", json!("3"));
    filter(browser, "text", json!("N4"));
    browser.wait_for(&format!("document.querySelector('{VIEWER}').dataset.matchingOps < 500"));
    assert!(said(browser, "matchingOps") > 10.0);
}

#[test]
fn the_page_asks_nobody_for_anything() {
    let browser = opened("silent", &views::one_trial(1_000), 1300);
    scroll_to_timeline(&browser);
    let entries = "return performance.getEntriesByType('resource').map(e => e.name)\
                   .filter(name => !name.startsWith('data:'))";
    assert_eq!(browser.run(entries, json!([])), json!([]));
    assert_eq!(browser.errors(), Vec::<String>::new());
    // And it could not if it wanted to: its policy holds even against somebody who listens.
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
    listener.set_nonblocking(true).expect("a listener need not block");
    let url = format!("http://{}/", listener.local_addr().expect("it is bound"));
    browser.run(
        "window.tried = 0; fetch(arguments[0]).catch(() => { window.tried++ }); \
         const image = new Image(); image.onerror = () => { window.tried++ }; \
         image.src = arguments[0]; document.body.append(image)",
        json!([url]),
    );
    browser.wait_for("window.tried === 2");
    assert!(listener.accept().is_err(), "nobody came");
    assert!(browser.errors().iter().any(|error| error.contains("Content Security Policy")));
}

#[test]
fn a_phone_shows_all_of_it_without_scrolling_sideways() {
    let mut view = views::everything(5_000);
    view.record.scenarios[0].name = "a_name_without_any_place_to_break_it".repeat(4);
    let browser = opened("phone", &view, 600);
    browser.resize(390, 844);
    let wide = "return [document.documentElement.scrollWidth, innerWidth]";
    let widths = browser.run(wide, json!([]));
    assert_eq!(widths[0], widths[1], "the page is wider than the screen");
    browser.screenshot(&place("page-phone.png"));
    scroll_to_timeline(&browser);
    browser.screenshot(&place("page-phone-timeline.png"));
    let widths = browser.run(wide, json!([]));
    assert_eq!(widths[0], widths[1], "the timeline is wider than the screen");
}

#[test]
fn hostile_text_does_not_run() {
    let mut view = views::one_trial(100);
    let evil = "<img src=x onerror='window.ran=1'><script>window.ran=1</script>";
    view.record.sut = evil.into();
    view.findings[0].witness[0] = evil.into();
    view.findings[0].picture = "<svg xmlns='http://www.w3.org/2000/svg' onload='parent.ran=1'>\
                                <script>parent.ran=1</script></svg>"
        .into();
    view.trials[0].marks[0].title = evil.into();
    view.trials[0].windows[0].label = evil.into();
    let browser = opened("hostile", &view, 1300);
    browser.click("[data-jump=S2]");
    browser.wait_for(READY);
    let shown = browser.run("return [window.ran === undefined, document.title]", json!([]));
    assert_eq!(shown, json!([true, format!("FAIL: {evil}")]));
    let detail = browser.run("return document.querySelector('.detail').innerText", json!([]));
    assert!(detail.to_string().contains("<img src=x"), "{detail}");
}

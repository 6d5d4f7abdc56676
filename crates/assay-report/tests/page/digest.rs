//! The policy of the page names the digest of its script: with a wrong one nothing would run.

use crate::views;
use assay_report::run::page;
use sha2::{Digest, Sha256};
use std::path::Path;

/// After a change of a script: `ASSAY_BLESS=1 cargo test -p assay-report --test page`, twice,
/// because the page is compiled with the digest.
#[test]
fn the_policy_names_the_script_of_the_page() {
    let html = page(&views::one_trial(10)).expect("the example can be reported");
    let (_, script) = html.rsplit_once("<script>").expect("the page has a script");
    let (script, _) = script.split_once("</script>").expect("the script ends");
    let digest = base64(&Sha256::digest(script));
    if std::env::var_os("ASSAY_BLESS").is_some() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/run/script.sha256");
        std::fs::write(file, digest + "\n").expect("the templates are writable");
        return;
    }
    let policy = format!("script-src 'sha256-{digest}'");
    assert!(html.contains(&policy), "bless it: the script has the digest {digest}");
    assert_eq!(html.matches("<script>").count(), 1, "no other script is there to be run");
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bits: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
    while !bits.len().is_multiple_of(6) {
        bits.push('0');
    }
    let digit = |six: &[u8]| {
        let six = std::str::from_utf8(six).expect("ones and zeros");
        char::from(DIGITS[usize::from_str_radix(six, 2).expect("ones and zeros")])
    };
    let mut text: String = bits.as_bytes().chunks(6).map(digit).collect();
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

//! Assay's own JSON lines.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::read_and_use(bytes, Some(assay_history::Format::Jsonl));
});

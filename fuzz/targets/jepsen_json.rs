//! Jepsen operations as JSON maps.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::read_and_use(bytes, Some(assay_history::Format::JepsenJson));
});

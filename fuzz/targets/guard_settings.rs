//! The guard on settings in TOML, and on those written as a script.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::guard_file("pyproject.toml", bytes);
    assay_fuzz::guard_file("jest.config.js", bytes);
});

//! The guard on settings in TOML.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::guard_file("pyproject.toml", bytes);
});

//! The guard on Rust.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::guard_file("tests/a.rs", bytes);
});

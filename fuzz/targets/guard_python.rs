//! The guard on Python.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::guard_file("tests/test_a.py", bytes);
});
